"""The graph of a run, its clock, and reverse mode."""
