"""J by its formulas: what the numbers are called, and the rules of large Jacobians."""
