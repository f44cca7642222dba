"""The table of ops and the vocabulary of functions: importing this package fills both."""

from gradcli.ops import (
    arithmetic,
    elementwise,
    indexing,
    joining,
    linear_algebra,
    making,
    matrices,
    neural,
    piecewise,
    reductions,
    selection,
    shaping,
    spread,
)
from gradcli.ops.declare import OPERATORS, OPS, Op, Pair
from gradcli.ops.vocabulary import FUNCTIONS, METHODS, SPELLINGS, Function

__all__ = [
    "FUNCTIONS",
    "METHODS",
    "OPERATORS",
    "OPS",
    "SPELLINGS",
    "Function",
    "Op",
    "Pair",
    "arithmetic",
    "elementwise",
    "indexing",
    "joining",
    "linear_algebra",
    "making",
    "matrices",
    "neural",
    "piecewise",
    "reductions",
    "selection",
    "shaping",
    "spread",
]
