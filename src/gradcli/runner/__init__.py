"""Scripts as they are: run from the first line to the last, on the graph of the engine."""
