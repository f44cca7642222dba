"""Numbers for formulas: a sympy expression walked once, into functions of numpy that are run as often as needed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sympy import Add, Expr, Integer, Mul, Pow, Symbol

from gradcli.jacobian import functions as s
from gradcli.ops import OPS
from gradcli.ops.arithmetic import power
from gradcli.ops.elementwise import sigmoid
from gradcli.ops.links import NORMAL

Rule = Callable[[Sequence[Any]], Any]
"""What a formula makes of the values of its symbols, each an array or a number, in the order of their places."""
Places = Mapping[Symbol, int]

SPECIAL: dict[str, Callable[..., Any]] = {
    "where_gt": lambda x, y, a, b: np.where(x > y, a, b),
    "where_ge": lambda x, y, a, b: np.where(x >= y, a, b),
    "floor": np.floor,
    "sign": np.sign,
    "Abs": np.abs,
    "PowerOf": power,
}


def evaluator(expression: Expr, places: Places) -> Rule:
    """Return what works out the value of a formula.

    What is no real number (a division of 0 by 0 on paper, a complex root) is nan.
    """
    if isinstance(expression, Symbol):
        place = places[expression]
        return lambda values: values[place]
    if expression.is_number and not expression.args:
        number = np.float64(np.nan)
        with suppress(TypeError, ValueError, OverflowError):
            number = np.float64(float(expression))
        return lambda values: number
    if isinstance(expression, Add):
        return _sum(expression, places)
    if isinstance(expression, Mul):
        return _divided(expression.args, places)
    if isinstance(expression, Pow):
        return _power(expression, places)
    return _call(expression, places)


def _call(expression: Expr, places: Places) -> Rule:
    name = type(expression).__name__
    arguments = [evaluator(argument, places) for argument in expression.args]
    special = type(expression).numbers if isinstance(expression, s.Refined) else SPECIAL.get(name)
    if special is not None:
        return lambda values: special(*(argument(values) for argument in arguments))
    op = OPS[name]
    return lambda values: op.forward(*(argument(values) for argument in arguments))


def _sum(expression: Add, places: Places) -> Rule:
    terms = list(expression.args)
    # 1 - sigmoid(z) keeps its digits as sigmoid(-z).
    if len(terms) == 2 and Integer(1) in terms:
        other = -(terms[1] if terms[0] == 1 else terms[0])
        if type(other) is s.sigmoid:
            inner = evaluator(other.args[0], places)
            return lambda values: sigmoid(-inner(values))
    return _joined(operator.add, [evaluator(term, places) for term in terms])


def _joined(join: Callable[[Any, Any], Any], rules: Sequence[Rule]) -> Rule:
    first, *others = rules

    def joined(values: Sequence[Any]) -> Any:
        result = first(values)
        for rule in others:
            result = join(result, rule(values))
        return result

    return joined


def _divided(factors: Sequence[Expr], places: Places) -> Rule:
    """Return a product; what is raised to -2 divides twice, and a^p·b^-p is (a/b)^p: neither power need be a double."""
    powers = {factor: factor.args[1] for factor in factors if isinstance(factor, Pow) and factor.args[1].is_Number}
    below = [factor for factor, p in powers.items() if p < 0 and p != -1]
    pairs = [(a, b) for b in below for a, p in powers.items() if p == -powers[b] and p > 1]
    if not pairs and not any(powers[b] == -2 for b in below):
        return _product([evaluator(factor, places) for factor in factors])
    paired = {part for pair in pairs[:1] for part in pair}
    rules = [evaluator(factor, places) for factor in factors if factor not in paired and powers.get(factor) != -2]
    for a, b in pairs[:1]:
        rules.append(_ratio(evaluator(a.args[0], places), evaluator(b.args[0], places), float(powers[a])))
    twice = [evaluator(b.args[0], places) for b in below if powers[b] == -2 and b not in paired]
    above = _product(rules) if rules else lambda values: np.float64(1)
    return _joined(lambda result, number: result / number / number, [above, *twice])


def _ratio(a: Rule, b: Rule, p: float) -> Rule:
    return lambda values: np.power(np.asarray(a(values) / b(values), dtype=np.float64), p)


def _product(factors: Sequence[Rule]) -> Rule:
    multiplied = _joined(operator.mul, factors)

    def carried(values: Sequence[Any]) -> Any:
        result = multiplied(values)
        size = np.abs(result)
        if np.all((size >= NORMAL) & (size < np.inf)):
            return result
        arrays = np.broadcast_arrays(*[np.asarray(factor(values), dtype=np.float64) for factor in factors])
        usual = np.logical_and.reduce([np.isfinite(factor) & (factor != 0) for factor in arrays])
        return np.where(usual, in_powers_of_two(arrays), result)[()]

    return multiplied if len(factors) < 3 else carried


def in_powers_of_two(factors: Sequence[Any]) -> Any:
    """Return the product of arrays, some of which may be too large or small for a double on the way."""
    total, powers = np.float64(1), np.int64(0)
    for factor in factors:
        mantissa, power = np.frexp(factor)
        total, shift = np.frexp(total * mantissa)
        powers = powers + power + shift
    return np.ldexp(total, np.clip(powers, -5000, 5000).astype(np.int32))


def _power(expression: Pow, places: Places) -> Rule:
    base, exponent = expression.args
    x = evaluator(base, places)
    if exponent == -1:
        return lambda values: 1 / x(values)
    if exponent == s.HALF:
        return lambda values: np.sqrt(x(values))
    p = evaluator(exponent, places)
    return lambda values: np.power(np.asarray(x(values), dtype=np.float64), p(values))


def magnitude(expression: Expr, places: Places) -> Rule | None:
    """Return what works out the size of the terms that a formula adds up: its rounding error is proportional to it.

    None stands for the absolute value of the formula, where it adds up nothing.
    """
    if not _adds(expression):
        return None
    if isinstance(expression, Add):
        return _joined(operator.add, [_size(term, places) for term in expression.args])
    if isinstance(expression, Mul):
        return _product([_size(factor, places) for factor in expression.args])
    base, power = _size(expression.args[0], places), float(expression.args[1])
    return lambda values: np.power(base(values), power)


def _adds(expression: Expr) -> bool:
    """Return whether a formula is a sum, or a product or power of sums."""
    if isinstance(expression, Pow):
        return bool(expression.args[1].is_Integer and expression.args[1] > 0) and _adds(expression.args[0])
    return isinstance(expression, Add) or (isinstance(expression, Mul) and any(map(_adds, expression.args)))


def _size(expression: Expr, places: Places) -> Rule:
    result = magnitude(expression, places)
    if result is not None:
        return result
    value = evaluator(expression, places)
    return lambda values: np.abs(value(values))
