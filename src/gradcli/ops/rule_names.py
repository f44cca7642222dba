"""What people call the rules of differentiation, for lines that say which one was used."""

from __future__ import annotations

from collections.abc import Collection

from gradcli.ops.declare import Op

RULES = {
    "add": "sum", "sub": "difference", "mul": "product", "div": "quotient", "pow": "power", "neg": "constant factor",
    "square": "power", "reciprocal": "power", "matmul": "matrix product", "einsum": "sum of products",
    "sum": "sum of entries", "mean": "mean of entries", "index": "entries", "pick": "entries", "where": "choice",
    "stack": "list", "cat": "list",
}  # fmt: skip
"""The rules that have a name of their own; that of any other function is the function's."""


def rule_of(op: Op, active: Collection[int]) -> str:
    """Return what the rule of an operation is called where derivatives flow to the arguments ``active``.

    >>> from gradcli.ops import OPS
    >>> rule_of(OPS["mul"], [0, 1]), rule_of(OPS["mul"], [1]), rule_of(OPS["pow"], [1]), rule_of(OPS["tanh"], [0])
    ('product', 'constant factor', 'exponential', 'tanh')
    """
    alone = len(active) == 1
    if alone and (op.name == "mul" or (op.name == "div" and 0 in active)):
        return "constant factor"
    if op.name == "pow" and 1 in active:
        return "exponential" if alone else "general power"
    return RULES.get(op.name) or op.spelled or op.name
