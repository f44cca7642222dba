"""The functions that formulas are made of: sympy's own where they fit, ours where a convention or stability matters.

Each class of ours carries its derivative in ``fdiff``. sympy's Abs, Max and Heaviside have other conventions at
kinks than PyTorch; its tanh, log and power derivatives lose digits or divide 0 by 0 where ours do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
import sympy
from sympy import (
    Add,
    Expr,
    Float,
    Function,
    Integer,
    Mul,
    Pow,
    Rational,
    Symbol,
    acosh,
    exp,
    log,
    pi,
    sqrt,
)
from sympy.core.parameters import distribute
from sympy.printing.precedence import PRECEDENCE

from gradcli.jacobian import refined as ways


def signed(function: Any) -> Any:
    """Return an even or odd function of sympy's, which looks for a sign that it can take out of its argument.

    Where numbers stay outside of sums, -x - 1 is -(x + 1) is -x - 1, and the search has no end.
    """

    def apply(x: Any) -> Any:
        with distribute(True):
            return function(x)

    return apply


atan, cos, cosh, erf, sin, sinh, tan = map(
    signed, (sympy.atan, sympy.cos, sympy.cosh, sympy.erf, sympy.sin, sympy.sinh, sympy.tan)
)
HALF = Rational(1, 2)


def number(value: float) -> Expr:
    """Return a number as an exact sympy number where that is short (integers, sixteenths), else as a Float."""
    value = float(value)
    if -1e15 < value < 1e15 and (value * 16).is_integer():
        return Rational(int(value * 16), 16)
    return Float(value, 17)


def replaced(expression: Any, chosen: Mapping[Any, Any]) -> Any:
    """Return an expression with others for some of its symbols.

    An even or odd function of sympy's looks for a sign that it can take out of its argument. While numbers stay outside
    of sums, -x - 1 is -(x + 1) is -x - 1, and the search has no end: then numbers go into the sums.
    """
    try:
        return expression.xreplace(chosen)
    except RecursionError:
        with distribute(True):
            return expression.xreplace(chosen)


def product(factors: Sequence[Any]) -> Any:
    """Return the product of the factors, taken at once: one after the other costs the square of their number."""
    return Mul(*factors)


def total(terms: Sequence[Any]) -> Any:
    """Return the sum of the terms, taken at once as the product is."""
    return Add(*terms)


class Own(Function):  # type: ignore[misc]
    """A real function of ours; ``rules`` has one derivative for each argument."""

    is_real = True
    rules: ClassVar[Callable[..., tuple[Any, ...]]]

    def fdiff(self, argindex: int = 1) -> Any:
        """Return the derivative by one argument."""
        return self.rules(*self.args)[argindex - 1]

    def _eval_evalf(self, prec: int) -> None:
        """Leave numbers as they stand: sympy would ask mpmath by the name, whose sinc has no π in it."""


class Refined(Own):
    """A derivative that loses digits as it is ``written``; ``numbers`` works it out by another way.

    It is printed as it is written: ``written_out`` takes it away.
    """

    written: ClassVar[Callable[..., Any]]
    numbers: ClassVar[Callable[..., Any]]


def undecided(*_: Any) -> tuple[Any, ...]:
    """Refuse a derivative: formulas of values hold no such function, derivatives alone do."""
    raise NotImplementedError("this function stands in derivatives alone")


def refined(name: str, written: Callable[..., Any], numbers: Callable[..., Any]) -> Any:
    """Return a function class for a derivative that is written one way and worked out another."""
    methods = {"written": written, "numbers": numbers, "rules": undecided}
    return type(name, (Refined,), {key: staticmethod(method) for key, method in methods.items()})


def written_out(expression: Expr) -> Expr:
    """Return a formula as it is written, with nothing refined in it."""
    if not expression.has(Refined):
        return expression
    return expression.replace(lambda part: isinstance(part, Refined), lambda part: part.written(*part.args))


# The options of a function, such as a slope, are numbers: their derivatives are never asked for.
def own(name: str, rules: Any) -> Any:
    """Return a function class called ``name`` with these derivatives."""
    return type(name, (Own,), {"rules": staticmethod(rules)})


# fmt: off
_asin: Any = refined("asin slope", lambda x: 1 / sqrt(1 - x**2), lambda x: 1 / np.sqrt(1 - x) / np.sqrt(1 + x))
_asinh: Any = refined("asinh slope", lambda x: 1 / sqrt(x**2 + 1), ways.asinh)
_atanh: Any = refined("atanh slope", lambda x: 1 / (1 - x**2), lambda x: 1 / (1 - x) / (1 + x))
_sinc: Any = refined("sinc slope", lambda x: cos(pi * x) / x - sin(pi * x) / (pi * x**2), ways.sinc)
_tanh: Any = refined("tanh slope", lambda x: 1 - tanh(x)**2, lambda x: 1 / np.cosh(x) / np.cosh(x))
_rest: Any = refined("rest of sigmoid", lambda x: 1 - sigmoid(x), lambda x: ways.sigmoid(-x))
_silu: Any = refined("silu slope", lambda x: sigmoid(x) + x * sigmoid(x) * (1 - sigmoid(x)), ways.silu)
_gelu: Any = refined(
    "gelu slope", lambda x: (1 + erf(x / sqrt(2))) / 2 + x * exp(-(x**2) / 2) / sqrt(2 * pi), ways.gelu)
_gelu_tanh: Any = refined(
    "gelu_tanh slope",
    lambda x: HALF + tanh(_bend(x)) / 2 + x * _bend(x).diff(x) / (2 * cosh(_bend(x)) ** 2),
    ways.gelu_tanh)
_atan2: Any = refined("atan2 slope", lambda a, y, x: a / (x**2 + y**2), ways.over_squares)
bce_slope: Any = refined("bce slope", lambda x, t: (1 - t) / (1 - x) - t / x, ways.bce)
bce_target_slope: Any = refined("bce_target slope", lambda x: log(1 - x) - log(x), ways.bce_by_target)
logits_slope: Any = refined("logits slope", lambda x, t: sigmoid(x) - t, ways.logits)
# fmt: on

# fmt: off
where_gt: Any = own("where_gt",  lambda x, y, a, b: (
    Integer(0), Integer(0), where_gt(x, y, Integer(1), Integer(0)), where_gt(x, y, Integer(0), Integer(1))))
where_ge: Any = own("where_ge",  undecided)
sign: Any = own("sign",      lambda x: (Integer(0),))
floor: Any = own("floor",     lambda x: (Integer(0),))
floor_divide: Any = own("floor_divide", lambda a, b: (Integer(0), Integer(0)))
heaviside: Any = own("heaviside", lambda x, half: (Integer(0), Integer(0)))
abs: Any = own("abs",       lambda x: (sign(x),))  # noqa: A001
sigmoid: Any = own("sigmoid",   lambda x: (sigmoid(x) * _rest(x),))
tanh: Any = own("tanh",      lambda x: (_tanh(x),))
relu: Any = own("relu",      lambda x: (where_gt(x, 0, 1, 0),))
expm1: Any = own("expm1",     lambda x: (exp(x),))
exp2: Any = own("exp2",      lambda x: (exp2(x) * log(2),))
log2: Any = own("log2",      lambda x: (1 / (x * log(2)),))
log10: Any = own("log10",     lambda x: (1 / (x * log(10)),))
log1p: Any = own("log1p",     lambda x: (1 / (1 + x),))
rsqrt: Any = own("rsqrt",     lambda x: (-rsqrt(x) ** 3 / 2,))
cbrt: Any = own("cbrt",      lambda x: (1 / (3 * cbrt(x) ** 2),))
asin: Any = own("asin",      lambda x: (_asin(x),))
acos: Any = own("acos",      lambda x: (-_asin(x),))
asinh: Any = own("asinh",     lambda x: (_asinh(x),))
atanh: Any = own("atanh",     lambda x: (_atanh(x),))
sinc: Any = own("sinc",      lambda x: (_sinc(x),))
silu: Any = own("silu",      lambda x: (_silu(x),))
softsign: Any = own("softsign",  lambda x: (1 / (1 + abs(x)) ** 2,))
logsigmoid: Any = own("logsigmoid", lambda x: (sigmoid(-x),))
gelu: Any = own("gelu",      lambda x: (_gelu(x),))
gelu_tanh: Any = own("gelu_tanh", lambda x: (_gelu_tanh(x),))
maximum: Any = own("maximum",   lambda a, b: (heaviside(a - b, HALF), heaviside(b - a, HALF)))
minimum: Any = own("minimum",   lambda a, b: (heaviside(b - a, HALF), heaviside(a - b, HALF)))
clamp_min: Any = own("clamp_min", lambda x, low: (where_ge(x, low, 1, 0), where_ge(x, low, 0, 1)))
clamp_max: Any = own("clamp_max", lambda x, high: (where_ge(high, x, 1, 0), where_ge(high, x, 0, 1)))
remainder: Any = own("remainder", lambda a, b: (Integer(1), -floor_divide(a, b)))
hypot: Any = own("hypot",     lambda x, y: (x / hypot(x, y), y / hypot(x, y)))
atan2: Any = own("atan2",     lambda y, x: (_atan2(x, y, x), -_atan2(y, y, x)))
xlogy: Any = own("xlogy",     lambda x, y: (log(y), x / y))
logaddexp: Any = own("logaddexp", lambda a, b: (sigmoid(a - b), sigmoid(b - a)))
leaky_relu_: Any = own("leaky_relu", lambda x, slope: (where_gt(x, 0, 1, slope), Integer(0)))
elu_: Any = own("elu",       lambda x, alpha: (where_gt(x, 0, 1, alpha * exp(x)), Integer(0)))
softplus_: Any = own("softplus",  lambda x, beta, threshold: (
    where_gt(beta * x, threshold, 1, sigmoid(beta * x)), Integer(0), Integer(0)))
# fmt: on


def written_as(name: str, formula: Any, rules: Any) -> Any:
    """Return a value that is printed as ``formula``, with derivatives of its own."""
    return type(name, (Refined,), {"written": staticmethod(formula), "rules": staticmethod(rules)})


@lru_cache(maxsize=256)
def with_slopes(
    module: Any, name: str, formula: Any, slopes: Any, options: tuple[tuple[str, Any], ...]
) -> Callable[..., Any]:
    """Return a value that is printed as the formula of an op, with the derivatives that the op declares."""
    written, rules = (partial(of, module, **dict(options)) for of in (formula, slopes))
    return written_as(name, written, rules)  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def named(module: Any, name: str, slopes: Any) -> Any:
    """Return a function that is written as a call of its name, with the derivatives ``slopes(s, *symbols)``."""
    return own(name, partial(slopes, module))


@lru_cache(maxsize=256)
def closely(module: Any, name: str, written: Any, exact: Any) -> Any:
    """Return a derivative that is written as ``written(s, *symbols)`` and worked out as ``exact(mpmath, *numbers)``."""
    return refined(name, partial(written, module), partial(ways.in_digits, exact))


def _bend(x: Any) -> Any:
    return sqrt(2 / pi) * (x + number(0.044715) * x**3)


class PowerOf(Own):
    """x**p where sympy's own power would lose the value at x = 0: its derivative by x is p·x**(p-1)."""

    precedence = PRECEDENCE["Pow"]
    """How tightly it binds where it is printed: as ``**`` does, and not as a call."""

    @classmethod
    def eval(cls, x: Any, p: Any) -> Any:
        """Return sympy's power where the exponent is a number or the base a positive one."""
        if p.is_Number or (x.is_Number and x.is_positive):
            return Pow(x, p)
        return None

    @staticmethod
    def rules(*args: Any) -> tuple[Any, ...]:
        """Return p·x**(p-1) and x**p·log x."""
        x, p = args
        return (p * PowerOf(x, p - 1), PowerOf(x, p) * log(x, evaluate=False))


def as_expression(value: Any) -> Expr:
    """Return an expression; plain numbers become sympy's."""
    return value if isinstance(value, Expr) else number(value)


def power(x: Any, p: Any) -> Any:
    """Return x to the power p."""
    return PowerOf(as_expression(x), as_expression(p))


def leaky_relu(x: Any, slope: float) -> Any:
    """Return leaky_relu with its slope as a number."""
    return leaky_relu_(x, number(slope))


def elu(x: Any, alpha: float) -> Any:
    """Return elu with its alpha as a number."""
    return elu_(x, number(alpha))


def softplus(x: Any, beta: float, threshold: float) -> Any:
    """Return softplus; without a threshold it is -logsigmoid(-x)."""
    if threshold == float("inf"):
        return -logsigmoid(-number(beta) * x) / number(beta)
    return softplus_(x, number(beta), number(threshold))


def symbol(name: str) -> Symbol:
    """Return a real symbol; its name is the text that formulas show for it."""
    return Symbol(name, real=True)


# fmt: off
__all__ = [
    "Own", "PowerOf", "Refined", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bce_slope",
    "bce_target_slope", "cbrt", "clamp_max", "clamp_min", "closely", "cos", "cosh", "elu", "erf", "exp", "exp2",
    "expm1", "floor", "gelu", "gelu_tanh", "heaviside", "hypot", "leaky_relu", "log", "log1p", "log2", "log10",
    "logaddexp", "logits_slope", "logsigmoid", "maximum", "minimum", "named", "number", "pi", "power", "product",
    "relu", "remainder", "rsqrt", "sigmoid", "sign", "silu", "sin", "sinc", "sinh", "softplus", "softsign", "sqrt",
    "symbol", "tan", "tanh", "total", "where_ge", "where_gt", "with_slopes", "written_out", "xlogy",
]
# fmt: on
