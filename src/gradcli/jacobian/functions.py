"""The functions that formulas are made of: sympy's own where they fit, ours where a convention or stability matters.

A class of ours has its derivatives from the record of the op that it is a call of, by ``fdiff``. sympy's Abs, Max and
Heaviside have other conventions at kinks than PyTorch; its tanh, log and power derivatives lose digits or divide 0 by 0
where ours do not. Its even and odd functions, and Abs, are not made for ``distribute(False)``, where numbers stay
outside of sums: ours are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from sympy import Abs, Add, Expr, Float, Function, Integer, Mul, Pow, Rational, Symbol, exp, log, pi
from sympy.core.parameters import distribute
from sympy.printing.precedence import PRECEDENCE

from gradcli.jacobian import refined as ways
from gradcli.ops import OPS
from gradcli.ops.declare import Symmetry
from gradcli.ops.links import Array, Formula, Symbols

Rules = Callable[..., tuple[Expr, ...]]
"""What gives one derivative for each argument."""
HALF = Rational(1, 2)


def number(value: float) -> Expr:
    """Return a number as an exact sympy number where that is short (integers, sixteenths), else as a Float."""
    value = float(value)
    if -1e15 < value < 1e15 and (value * 16).is_integer():
        return Rational(int(value * 16), 16)
    return Float(value, 17)


def replaced(template: Expr, chosen: Mapping[Expr, Expr]) -> Expr:
    """Return a formula with others in the place of its symbols; sympy makes Abs of a root of a square, and we abs."""
    if all(part.is_Symbol for part in chosen.values()) or not any(map(is_root, template.atoms(Pow))):
        return template.xreplace(chosen)
    with distribute(True):
        result = template.xreplace(chosen)
    return result.xreplace({part: s.abs(*part.args) for part in result.atoms(Abs)})


def is_root(power: Pow) -> bool:
    """Return whether a power has an exponent that is no integer, and a base that is no number."""
    return not power.args[1].is_Integer and bool(power.args[0].free_symbols)


def sqrt(x: Expr | float, p: Expr = HALF) -> Expr:
    """Return the square root, or x to the power of another fraction."""
    base = symbol("x")
    return replaced(Pow(base, p), {base: as_expression(x)})


def product(factors: Sequence[Expr]) -> Expr:
    """Return the product of the factors, taken at once: one after the other costs the square of their number."""
    return Mul(*factors)


def total(terms: Sequence[Expr]) -> Expr:
    """Return the sum of the terms, taken at once as the product is."""
    return Add(*terms)


class Own(Function):  # type: ignore[misc]
    """A real function of ours; ``rules`` has one derivative for each argument."""

    is_real = True
    rules: ClassVar[Rules]

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return the derivative by one argument."""
        return self.rules(*self.args)[argindex - 1]

    def _eval_evalf(self, prec: int) -> None:
        """Leave numbers as they stand: sympy would ask mpmath by the name, whose sinc has no π in it."""


class Odd(Own):
    """A function with f(-x) = -f(x): its argument has no minus sign in front.

    sympy's own would take the minus out of 1 - x again and again where numbers stay outside of sums: -(1 - x) has one.
    """

    at_zero, sign = Integer(0), Integer(-1)

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Return the function without the minus sign of its argument, if that has one."""
        turned = Add(*(-term for term in x.args)) if isinstance(x, Add) else -x
        return cls.at_zero if x == 0 else cls.sign * cls(turned) if is_turned(x, turned) else None


class Even(Odd):
    """A function with f(-x) = f(x) and f(0) = 1."""

    at_zero = sign = Integer(1)


def is_turned(x: Expr, turned: Expr) -> bool:
    """Return whether ``turned``, which is -x, has fewer minus signs than x, or as many and comes later."""
    if not isinstance(x, Add):
        return bool(x.could_extract_minus_sign())
    balance = 2 * sum(term.could_extract_minus_sign() for term in x.args) - len(x.args)
    return balance > 0 or (balance == 0 and bool(x.sort_key() < turned.sort_key()))


class Refined(Own):
    """A derivative that loses digits as it is ``written``; ``numbers`` works it out by another way.

    It is printed as it is written: ``written_out`` takes it away.
    """

    written: ClassVar[Callable[..., Expr]]
    numbers: ClassVar[Callable[..., Array]]


def undecided(*_: Expr) -> tuple[Expr, ...]:
    """Refuse a derivative: formulas of values hold no such function, derivatives alone do."""
    raise NotImplementedError("this function stands in derivatives alone")


def refined(name: str, written: Callable[..., Expr], numbers: Callable[..., Array]) -> type[Refined]:
    """Return a function class for a derivative that is written one way and worked out another."""
    methods = {"written": written, "numbers": numbers, "rules": undecided}
    return type(name, (Refined,), {key: staticmethod(method) for key, method in methods.items()})


def written_out(expression: Expr) -> Expr:
    """Return a formula as it is written, with nothing refined in it."""
    if not expression.has(Refined):
        return expression
    return expression.replace(lambda part: isinstance(part, Refined), lambda part: part.written(*part.args))


def function_class(name: str, rules: Rules, kind: type[Own] = Own) -> type[Own]:
    """Return a function class called ``name`` with these derivatives."""
    return type(name, (kind,), {"rules": staticmethod(rules)})


def __getattr__(name: str) -> Any:
    """Return the function that is written as a call of an op's name, with the derivatives of the op's record."""
    op = OPS.get(name)
    if op is None or op.derivatives is None:
        raise AttributeError(name)
    kind = {None: Own, Symmetry.ODD: Odd, Symmetry.EVEN: Even}[op.symmetry]
    globals()[name] = result = function_class(name, partial(op.derivatives, s), kind)
    return result


s: Any = sys.modules[__name__]
"""What formulas are made of: the functions here, and by their names those of ops."""

# fmt: off
asin_slope = refined("asin slope", lambda x: 1 / sqrt(1 - x**2), lambda x: 1 / np.sqrt(1 - x) / np.sqrt(1 + x))
asinh_slope = refined("asinh slope", lambda x: 1 / sqrt(x**2 + 1), ways.asinh)
atanh_slope = refined("atanh slope", lambda x: 1 / (1 - x**2), lambda x: 1 / (1 - x) / (1 + x))
sinc_slope = refined("sinc slope", lambda x: s.cos(pi * x) / x - s.sin(pi * x) / (pi * x**2), ways.sinc)
tanh_slope = refined("tanh slope", lambda x: 1 - s.tanh(x)**2, lambda x: 1 / np.cosh(x) / np.cosh(x))
rest_of_sigmoid = refined("rest of sigmoid", lambda x: 1 - s.sigmoid(x), lambda x: ways.sigmoid(-x))
silu_slope = refined(
    "silu slope", lambda x: s.sigmoid(x) + x * s.sigmoid(x) * (1 - s.sigmoid(x)), ways.silu)
gelu_slope = refined(
    "gelu slope", lambda x: (1 + s.erf(x / sqrt(2))) / 2 + x * exp(-(x**2) / 2) / sqrt(2 * pi), ways.gelu)
gelu_tanh_slope = refined(
    "gelu_tanh slope",
    lambda x: HALF + s.tanh(bend(x)) / 2 + x * bend(x).diff(x) / (2 * s.cosh(bend(x)) ** 2),
    ways.gelu_tanh)
over_squares = refined("atan2 slope", lambda a, y, x: a / (x**2 + y**2), ways.over_squares)
bce_slope = refined("bce slope", lambda x, t: (1 - t) / (1 - x) - t / x, ways.bce)
bce_target_slope = refined("bce_target slope", lambda x: log(1 - x) - log(x), ways.bce_by_target)
logits_slope = refined("logits slope", lambda x, t: s.sigmoid(x) - t, ways.logits)

where_gt: type[Own] = function_class("where_gt", lambda x, y, a, b: (
    Integer(0), Integer(0), where_gt(x, y, Integer(1), Integer(0)), where_gt(x, y, Integer(0), Integer(1))))
where_ge = function_class("where_ge", undecided)
heaviside = function_class("heaviside", lambda x, half: (Integer(0), Integer(0)))
floor_divide = function_class("floor_divide", lambda a, b: (Integer(0), Integer(0)))
sign, floor, trunc = (function_class(name, lambda x: (Integer(0),)) for name in ("sign", "floor", "trunc"))
gelu = function_class("gelu", lambda x: (gelu_slope(x),))
gelu_tanh = function_class("gelu_tanh", lambda x: (gelu_tanh_slope(x),))
# fmt: on


def bend(x: Expr) -> Expr:
    """Return what gelu by tanh takes the tanh of."""
    return sqrt(2 / pi) * (x + number(0.044715) * x**3)


@lru_cache(maxsize=256)
def with_slopes(
    module: Symbols, name: str, formula: Formula, slopes: Rules, options: tuple[tuple[str, Any], ...]
) -> type[Refined]:
    """Return a value that is printed as the formula of an op, with the derivatives that the op declares."""
    written, rules = (partial(of, module, **dict(options)) for of in (formula, slopes))
    return type(name, (Refined,), {"written": staticmethod(written), "rules": staticmethod(rules)})


class PowerOf(Own):
    """x**p where sympy's own power would lose the value at x = 0: its derivative by x is p·x**(p-1)."""

    precedence = PRECEDENCE["Pow"]
    """How tightly it binds where it is printed: as ``**`` does, and not as a call."""

    @classmethod
    def eval(cls, x: Expr, p: Expr) -> Expr | None:
        """Return sympy's power where the exponent is a number or the base a positive one."""
        if p.is_Integer or (x.is_Number and x.is_positive):
            return Pow(x, p)
        return sqrt(x, p) if p.is_Number else None

    @staticmethod
    def rules(*args: Expr) -> tuple[Expr, ...]:
        """Return p·x**(p-1) and x**p·log x."""
        x, p = args
        return (p * PowerOf(x, p - 1), PowerOf(x, p) * log(x, evaluate=False))


def as_expression(value: Expr | float) -> Expr:
    """Return an expression; plain numbers become sympy's."""
    return value if isinstance(value, Expr) else number(value)


def power(x: Expr | float, p: Expr | float) -> Expr:
    """Return x to the power p."""
    return PowerOf(as_expression(x), as_expression(p))


def symbol(name: str) -> Symbol:
    """Return a real symbol; its name is the text that formulas show for it."""
    return Symbol(name, real=True)


__all__ = ["exp", "log", "pi"]
