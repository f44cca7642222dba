"""What numpy's functions of single entries are in the language."""

from __future__ import annotations

from collections.abc import Callable

from gradcli.formulas import expression as e
from gradcli.formulas.expression import Expression


def called(name: str) -> Callable[..., Expression]:
    """Return the rule of a function that is called."""
    return lambda *parts: e.call(name, *parts)


def between(sign: str, rank: int) -> Callable[..., Expression]:
    """Return the rule of an operator."""
    return lambda left, right: e.infix(sign, rank, left, right)


def compared(sign: str) -> Callable[..., Expression]:
    """Return the rule of a comparison."""
    return lambda left, right: e.compare(sign, left, right)


COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
CALLED = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sqrt"),
    *("cbrt", "hypot", "logaddexp", "maximum", "minimum", "sign", "isnan", "floor", "trunc"),
)
"""Functions that have the same name in both."""
UFUNCS: dict[str, Callable[..., Expression]] = {
    "add": e.add,
    "subtract": e.subtract,
    "multiply": e.multiply,
    "divide": e.divide,
    "negative": e.negate,
    "power": e.raise_to,
    "square": lambda x: e.raise_to(x, e.number(2)),
    "invert": lambda x: Expression(f"~{x.within(e.NEGATED - 1)}", e.NEGATED),
    "logical_not": lambda x: Expression(f"~{x.within(e.NEGATED - 1)}", e.NEGATED),
    "floor_divide": between("//", 70),
    "remainder": between("%", 70),
    "bitwise_and": between("&", 50),
    "bitwise_or": between("|", 40),
    **{name: compared(sign) for name, sign in COMPARISONS.items()},
    "absolute": called("abs"),
    **{f"arc{name}": called(f"a{name}") for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    **{name: called(name) for name in CALLED},
}
"""What the ufuncs of numpy are in the language."""
