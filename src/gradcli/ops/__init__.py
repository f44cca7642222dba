"""The table of ops and the vocabulary of functions: importing this package fills both with what programs often call.

``gradcli.ops.further`` has the rest; of it, the module is imported that has the name of a call (``find``).
"""

from gradcli.ops import (
    arithmetic,
    elementwise,
    joining,
    linear_algebra,
    making,
    matrices,
    neural,
    piecewise,
    reductions,
    shaping,
    statistics,
)
from gradcli.ops.declare import OPERATORS, OPS, Op, Pair, Parts
from gradcli.ops.vocabulary import (
    FUNCTIONS,
    METHODS,
    SPELLINGS,
    Function,
    find,
    load,
    load_all,
    methods,
    rows,
    spellings,
)

RESERVED = frozenset(SPELLINGS)
"""Names that formulas never give to a value; those of further functions are not among them, loaded or not."""

__all__ = [
    "FUNCTIONS",
    "METHODS",
    "OPERATORS",
    "OPS",
    "RESERVED",
    "SPELLINGS",
    "Function",
    "Op",
    "Pair",
    "Parts",
    "arithmetic",
    "elementwise",
    "find",
    "joining",
    "linear_algebra",
    "load",
    "load_all",
    "making",
    "matrices",
    "methods",
    "neural",
    "piecewise",
    "reductions",
    "rows",
    "shaping",
    "spellings",
    "statistics",
]
