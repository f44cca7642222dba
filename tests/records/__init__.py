"""The tests' register of ops and functions: importing this package fills it."""

from records import elementwise, linear_algebra, making, neural, reductions, shaping
from records.record import RECORDS, Edges, Record, has_derivative, missing_of_function, missing_of_op

__all__ = [
    "RECORDS",
    "Edges",
    "Record",
    "elementwise",
    "has_derivative",
    "linear_algebra",
    "making",
    "missing_of_function",
    "missing_of_op",
    "neural",
    "reductions",
    "shaping",
]
