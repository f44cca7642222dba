"""Numbers for formulas: a sympy expression evaluated in numpy by a walk of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sympy import Add, Expr, Integer, Mul, Pow, Symbol

from gradcli.ops import OPS
from gradcli.symbolic import functions as s

Values = Mapping[Symbol, Any]

NAMES = {"Abs": "abs", "PowerOf": "pow"}
SPECIAL: dict[str, Callable[..., Any]] = {
    "where_gt": lambda x, y, a, b: np.where(x > y, a, b),
    "where_ge": lambda x, y, a, b: np.where(x >= y, a, b),
    "floor": np.floor,
    "sign": np.sign,
}


def evaluate(expression: Expr, values: Values) -> Any:
    """Return the value of a formula; every symbol has an array or a number in ``values``.

    What is no real number (a division of 0 by 0 on paper, a complex root) is nan.
    """
    if isinstance(expression, Symbol):
        return values[expression]
    if expression.is_number and not expression.args:
        return _constant(expression)
    if isinstance(expression, Add):
        return _sum(expression, values)
    if isinstance(expression, Mul):
        result: Any = np.float64(1.0)
        for factor in expression.args:
            result = result * evaluate(factor, values)
        return result
    if isinstance(expression, Pow):
        return _power(expression, values)
    name = NAMES.get(type(expression).__name__, type(expression).__name__)
    rule = SPECIAL.get(name) or OPS[name].forward
    return rule(*(evaluate(argument, values) for argument in expression.args))


def _constant(expression: Expr) -> Any:
    try:
        return np.float64(float(expression))
    except (TypeError, ValueError, OverflowError):
        return np.float64(np.nan)


def _sum(expression: Add, values: Values) -> Any:
    terms = list(expression.args)
    # 1 - sigmoid(z) keeps its digits as sigmoid(-z).
    if len(terms) == 2 and Integer(1) in terms:
        other = -(terms[1] if terms[0] == 1 else terms[0])
        if type(other) is s.sigmoid:
            return OPS["sigmoid"].forward(-evaluate(other.args[0], values))
    result: Any = evaluate(terms[0], values)
    for term in terms[1:]:
        result = result + evaluate(term, values)
    return result


def _power(expression: Pow, values: Values) -> Any:
    base, exponent = expression.args
    x = evaluate(base, values)
    if exponent == -1:
        return 1 / x
    if exponent == s.HALF:
        return np.sqrt(x)
    return np.power(np.asarray(x, dtype=np.float64), evaluate(exponent, values))


def magnitude(expression: Expr, values: Values) -> Any:
    """Return the size of the terms that a formula adds up: what its rounding error is proportional to."""
    if isinstance(expression, Add):
        return sum(magnitude(term, values) for term in expression.args)
    if isinstance(expression, Mul):
        result: Any = np.float64(1.0)
        for factor in expression.args:
            result = result * magnitude(factor, values)
        return result
    if isinstance(expression, Pow) and expression.args[1].is_Integer and expression.args[1] > 0:
        return np.power(magnitude(expression.args[0], values), float(expression.args[1]))
    return np.abs(evaluate(expression, values))
