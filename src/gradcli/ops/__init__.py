"""The table of ops and the vocabulary of functions: importing this package fills both."""

from gradcli.ops import (
    arithmetic,
    elementwise,
    linear_algebra,
    making,
    neural,
    piecewise,
    reductions,
    selection,
    shaping,
)
from gradcli.ops.declare import FUNCTIONS, METHODS, OPS, SPELLINGS, Function, Op, Pair

__all__ = [
    "FUNCTIONS",
    "METHODS",
    "OPS",
    "SPELLINGS",
    "Function",
    "Op",
    "Pair",
    "arithmetic",
    "elementwise",
    "linear_algebra",
    "making",
    "neural",
    "piecewise",
    "reductions",
    "selection",
    "shaping",
]
