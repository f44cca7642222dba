"""The symbolic reading of a graph: local derivatives by sympy, composed into an explicit Jacobian."""
