"""J by its numbers: local Jacobians, multiplied along the graph."""
