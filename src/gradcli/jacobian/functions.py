"""The functions that formulas are made of: sympy's own where they fit, ours where a convention or stability matters.

Each class of ours carries its derivative in ``fdiff``. sympy's Abs, Max and Heaviside have other conventions at
kinks than PyTorch; its tanh, log and power derivatives lose digits or divide 0 by 0 where ours do not. Its even and odd
functions, and Abs, are not made for ``distribute(False)``, where numbers stay outside of sums: ours are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from sympy import Abs, Add, Expr, Float, Function, Integer, Mul, Pow, Rational, Symbol, exp, log, pi
from sympy.core.parameters import distribute
from sympy.printing.precedence import PRECEDENCE

from gradcli.jacobian import refined as ways
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
        found = template.xreplace(chosen)
    return found.xreplace({part: abs(*part.args) for part in found.atoms(Abs)})


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


# The options of a function, such as a slope, are numbers: their derivatives are never asked for.
def own(name: str, rules: Rules, kind: type[Own] = Own) -> type[Own]:
    """Return a function class called ``name`` with these derivatives."""
    return type(name, (kind,), {"rules": staticmethod(rules)})


# fmt: off
_asin = refined("asin slope", lambda x: 1 / sqrt(1 - x**2), lambda x: 1 / np.sqrt(1 - x) / np.sqrt(1 + x))
_asinh = refined("asinh slope", lambda x: 1 / sqrt(x**2 + 1), ways.asinh)
_atanh = refined("atanh slope", lambda x: 1 / (1 - x**2), lambda x: 1 / (1 - x) / (1 + x))
_sinc = refined("sinc slope", lambda x: cos(pi * x) / x - sin(pi * x) / (pi * x**2), ways.sinc)
_tanh = refined("tanh slope", lambda x: 1 - tanh(x)**2, lambda x: 1 / np.cosh(x) / np.cosh(x))
_rest = refined("rest of sigmoid", lambda x: 1 - sigmoid(x), lambda x: ways.sigmoid(-x))
_silu = refined("silu slope", lambda x: sigmoid(x) + x * sigmoid(x) * (1 - sigmoid(x)), ways.silu)
_gelu = refined(
    "gelu slope", lambda x: (1 + erf(x / sqrt(2))) / 2 + x * exp(-(x**2) / 2) / sqrt(2 * pi), ways.gelu)
_gelu_tanh = refined(
    "gelu_tanh slope",
    lambda x: HALF + tanh(_bend(x)) / 2 + x * _bend(x).diff(x) / (2 * cosh(_bend(x)) ** 2),
    ways.gelu_tanh)
_atan2 = refined("atan2 slope", lambda a, y, x: a / (x**2 + y**2), ways.over_squares)
bce_slope = refined("bce slope", lambda x, t: (1 - t) / (1 - x) - t / x, ways.bce)
bce_target_slope = refined("bce_target slope", lambda x: log(1 - x) - log(x), ways.bce_by_target)
logits_slope = refined("logits slope", lambda x, t: sigmoid(x) - t, ways.logits)

where_gt: type[Own] = own("where_gt", lambda x, y, a, b: (
    Integer(0), Integer(0), where_gt(x, y, Integer(1), Integer(0)), where_gt(x, y, Integer(0), Integer(1))))
where_ge = own("where_ge", undecided)
sign = own("sign", lambda x: (Integer(0),))
floor = own("floor", lambda x: (Integer(0),))
floor_divide = own("floor_divide", lambda a, b: (Integer(0), Integer(0)))
heaviside = own("heaviside", lambda x, half: (Integer(0), Integer(0)))
abs = own("abs", lambda x: (sign(x),))  # noqa: A001
sigmoid: type[Own] = own("sigmoid", lambda x: (sigmoid(x) * _rest(x),))
tanh: type[Own] = own("tanh", lambda x: (_tanh(x),))
relu = own("relu", lambda x: (where_gt(x, 0, 1, 0),))
expm1 = own("expm1", lambda x: (exp(x),))
exp2: type[Own] = own("exp2", lambda x: (exp2(x) * log(2),))
log2 = own("log2", lambda x: (1 / (x * log(2)),))
log10 = own("log10", lambda x: (1 / (x * log(10)),))
log1p = own("log1p", lambda x: (1 / (1 + x),))
rsqrt: type[Own] = own("rsqrt", lambda x: (-rsqrt(x) ** 3 / 2,))
cbrt: type[Own] = own("cbrt", lambda x: (1 / (3 * cbrt(x) ** 2),))
sin: type[Own] = own("sin", lambda x: (cos(x),), Odd)
cos: type[Own] = own("cos", lambda x: (-sin(x),), Even)
tan: type[Own] = own("tan", lambda x: (tan(x)**2 + 1,), Odd)
sinh: type[Own] = own("sinh", lambda x: (cosh(x),), Odd)
cosh: type[Own] = own("cosh", lambda x: (sinh(x),), Even)
atan = own("atan", lambda x: (1 / (x**2 + 1),), Odd)
erf: type[Own] = own("erf", lambda x: (2 * exp(-(x**2)) / sqrt(pi),), Odd)
acosh = own("acosh", lambda x: (1 / (sqrt(x - 1) * sqrt(x + 1)),))
asin = own("asin", lambda x: (_asin(x),))
acos = own("acos", lambda x: (-_asin(x),))
asinh = own("asinh", lambda x: (_asinh(x),))
atanh = own("atanh", lambda x: (_atanh(x),))
sinc = own("sinc", lambda x: (_sinc(x),))
silu = own("silu", lambda x: (_silu(x),))
softsign = own("softsign", lambda x: (1 / (1 + abs(x)) ** 2,))
logsigmoid = own("logsigmoid", lambda x: (sigmoid(-x),))
gelu = own("gelu", lambda x: (_gelu(x),))
gelu_tanh = own("gelu_tanh", lambda x: (_gelu_tanh(x),))
maximum = own("maximum", lambda a, b: (heaviside(a - b, HALF), heaviside(b - a, HALF)))
minimum = own("minimum", lambda a, b: (heaviside(b - a, HALF), heaviside(a - b, HALF)))
clamp_min = own("clamp_min", lambda x, low: (where_ge(x, low, 1, 0), where_ge(x, low, 0, 1)))
clamp_max = own("clamp_max", lambda x, high: (where_ge(high, x, 1, 0), where_ge(high, x, 0, 1)))
remainder = own("remainder", lambda a, b: (Integer(1), -floor_divide(a, b)))
hypot: type[Own] = own("hypot", lambda x, y: (x / hypot(x, y), y / hypot(x, y)))
atan2 = own("atan2", lambda y, x: (_atan2(x, y, x), -_atan2(y, y, x)))
xlogy = own("xlogy", lambda x, y: (log(y), x / y))
logaddexp = own("logaddexp", lambda a, b: (sigmoid(a - b), sigmoid(b - a)))
leaky_relu_ = own("leaky_relu", lambda x, slope: (where_gt(x, 0, 1, slope), Integer(0)))
elu_ = own("elu", lambda x, alpha: (where_gt(x, 0, 1, alpha * exp(x)), Integer(0)))
softplus_ = own("softplus", lambda x, beta, threshold: (
    where_gt(beta * x, threshold, 1, sigmoid(beta * x)), Integer(0), Integer(0)))
# fmt: on


@lru_cache(maxsize=256)
def with_slopes(
    module: Symbols, name: str, formula: Formula, slopes: Rules, options: tuple[tuple[str, Any], ...]
) -> type[Refined]:
    """Return a value that is printed as the formula of an op, with the derivatives that the op declares."""
    written, rules = (partial(of, module, **dict(options)) for of in (formula, slopes))
    return type(name, (Refined,), {"written": staticmethod(written), "rules": staticmethod(rules)})


@lru_cache(maxsize=256)
def named(module: Symbols, name: str, slopes: Rules) -> type[Own]:
    """Return a function that is written as a call of its name, with the derivatives ``slopes(s, *symbols)``."""
    return own(name, partial(slopes, module))


def _bend(x: Expr) -> Expr:
    return sqrt(2 / pi) * (x + number(0.044715) * x**3)


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


def leaky_relu(x: Expr, slope: float) -> Expr:
    """Return leaky_relu with its slope as a number."""
    return leaky_relu_(x, number(slope))


def elu(x: Expr, alpha: float) -> Expr:
    """Return elu with its alpha as a number."""
    return elu_(x, number(alpha))


def softplus(x: Expr, beta: float, threshold: float) -> Expr:
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
    "bce_target_slope", "cbrt", "clamp_max", "clamp_min", "cos", "cosh", "elu", "erf", "exp", "exp2",
    "expm1", "floor", "gelu", "gelu_tanh", "heaviside", "hypot", "leaky_relu", "log", "log1p", "log2", "log10",
    "logaddexp", "logits_slope", "logsigmoid", "maximum", "minimum", "named", "number", "pi", "power", "product",
    "relu", "remainder", "rsqrt", "sigmoid", "sign", "silu", "sin", "sinc", "sinh", "softplus", "softsign", "sqrt",
    "symbol", "tan", "tanh", "total", "where_ge", "where_gt", "with_slopes", "written_out", "xlogy",
]
# fmt: on
