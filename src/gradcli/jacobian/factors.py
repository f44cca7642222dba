"""The factors of local Jacobians: formulas in symbols of their own, differentiated once, and how to work them out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from types import FunctionType
from typing import Any

from sympy import Add, Dummy, Expr, Mul, Pow, Symbol, powsimp

from gradcli.jacobian import functions as s
from gradcli.jacobian.evaluate import Rule, evaluator, magnitude
from gradcli.jacobian.kinds import Constant
from gradcli.ops.links import Contraction, Implicit, Links, Partial
from gradcli.ops.signatures import Formula
from gradcli.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A formula in ``symbols``, one for each bound item; ``used`` are the places of those that it holds.

    ``value`` and ``size`` work it out and the size of the terms that it adds up, None where that is its absolute
    value. ``adds`` says that it adds up terms at all, which may cancel.
    """

    expression: Expr
    symbols: tuple[Symbol, ...]
    used: tuple[int, ...]
    value: Rule
    size: Rule | None
    adds: bool


def template(expression: Expr, symbols: tuple[Symbol, ...]) -> Template:
    """Return a formula with what works it out."""
    places = {symbol: k for k, symbol in enumerate(symbols)}
    used = tuple(k for k, symbol in enumerate(symbols) if symbol in expression.free_symbols)
    adds = bool(expression.has(Add))
    value, size = evaluator(expression, places), magnitude(expression, places)
    return Template(s.written_out(expression), symbols, used, value, size, adds)


ONE = template(s.number(1), ())


def template_of(links: Links | Contraction, constants: tuple[Constant, ...]) -> Template:
    """Return the formula of a link's factor; ``constants`` has the arguments that are plain numbers."""
    factor = links.factor
    if factor is None:
        return ONE
    if isinstance(factor, Partial):
        return derivative(factor.formula, factor.argument, constants)
    if isinstance(factor, Implicit):
        return recalled(quotient, factor.inner, factor.outer)
    return recalled(explicit, factor.formula, len(links.bound))


@lru_cache(maxsize=4096)
def derivative(formula: Formula, argument: int, constants: tuple[Constant, ...]) -> Template:
    """Return the derivative of a formula by one argument, the constants among the others written out."""
    symbols = tuple(Dummy(f"a{k}", real=True) for k in range(len(constants)))
    given = [x if c is None else s.number(c) for x, c in zip(symbols, constants, strict=True)]
    given[argument] = symbols[argument]
    return template(s.as_expression(formula(s, *given)).diff(symbols[argument]), symbols)


@lru_cache(maxsize=1024)
def separated(found: Template) -> tuple[float, list[Template]] | None:
    """Return a number and one formula for each symbol, whose product a formula is; None where it is none."""
    number, each = s.number(1), [s.number(1)] * len(found.symbols)
    for factor in Mul.make_args(found.expression):
        used = [k for k, symbol in enumerate(found.symbols) if symbol in factor.free_symbols]
        if len(used) > 1:
            return None
        if used:
            each[used[0]] *= factor
        else:
            number *= factor
    return float(number), [template(part, (symbol,)) for part, symbol in zip(each, found.symbols, strict=True)]


def quotient(inner: Formula, outer: Formula) -> Template:
    """Return inner'(x) / outer'(y)."""
    x, y = Dummy("x", real=True), Dummy("y", real=True)
    found = s.as_expression(inner(s, x)).diff(x) / s.as_expression(outer(s, y)).diff(y)
    # exp(x - y) and not exp(x)*exp(-y), which overflows where the whole does not.
    return template(powsimp(found, combine="exp") if found.has(s.exp) else found, (x, y))


def explicit(formula: Formula, count: int) -> Template:
    """Return a formula as it stands, in ``count`` symbols."""
    symbols = tuple(Dummy(f"b{k}", real=True) for k in range(count))
    return template(s.as_expression(formula(s, *symbols)), symbols)


def is_plain(expression: Expr) -> bool:
    """Return whether a formula is made of products and whole powers alone, so that numbers may stand for its symbols.

    Elsewhere a constant that is written out gives another formula: the derivative of x**2 is 2*x, and not 2*x**(2 - 1).
    """
    if isinstance(expression, Mul):
        return all(map(is_plain, expression.args))
    if isinstance(expression, Pow):
        return bool(expression.args[1].is_Integer) and is_plain(expression.args[0])
    return bool(expression.is_Symbol or expression.is_Integer)


@lru_cache(maxsize=1024)
def has_plain_derivative(formula: Formula, argument: int, count: int) -> bool:
    """Return whether the derivative of a formula by one of ``count`` arguments is plain."""
    return is_plain(derivative(formula, argument, (None,) * count).expression)


MOST_RECALLED = 4096
_RECALLED: dict[Hashable, Template] = {}


def recalled(make: Callable[..., Template], *given: Any) -> Template:
    """Return ``make(*given)``, made once for functions that are the same text over the same values.

    The local reading of an op makes its formulas anew whenever it is asked.
    """
    try:
        key = (make, *map(text_of, given))
        found = _RECALLED.get(key)
    except TypeError:  # a value that has no hash
        return make(*given)
    if found is None:
        if len(_RECALLED) >= MOST_RECALLED:
            _RECALLED.clear()
        found = _RECALLED[key] = make(*given)
    return found


def text_of(formula: Formula) -> Hashable:
    """Return what makes two functions the same: their code, and the values that they close over."""
    if type(formula) is not FunctionType or formula.__kwdefaults__:
        return type(formula), formula
    cells = formula.__closure__ or ()
    return (
        formula.__module__,
        formula.__code__,
        formula.__defaults__,
        tuple(text_of(cell.cell_contents) for cell in cells),
    )
