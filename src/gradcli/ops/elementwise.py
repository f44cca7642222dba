"""Functions of one number that have a derivative wherever they have a value, and a few of two.

Slopes that plain formulas lose stand before them: near their zeros, near 0, and where a function is saturated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import BEYOND, Keeps, Piecewise, Symmetry, Text, Torch, beyond, in_one_step
from gradcli.ops.links import Array, Axes, Mask, Number
from gradcli.ops.vocabulary import BY_NUMPY, COUNTED, FLOATS, Kinds, Made, Spelled, elementwise
from gradcli.records import replace

_erf, _erfc = (np.frompyfunc(rule, 1, 1) for rule in (math.erf, math.erfc))


@in_one_step
def erf(x: Array) -> Array:
    """Return the error function of each entry; numpy has none, so the C library's is called entry by entry."""
    return np.asarray(_erf(x), dtype=np.float64)[()]


def normal_share(x: Array) -> Array:
    """Return Φ(x) by erf, as PyTorch has it: far below 0 that is nearly -1, and no digit is left."""
    return (1 + erf(x * math.sqrt(0.5))) / 2


@in_one_step
def erfc(x: Array) -> Array:
    """Return 1 - erf(x) of each entry, with its digits where erf(x) is nearly 1."""
    return np.asarray(_erfc(x), dtype=np.float64)[()]


@in_one_step
def sigmoid(x: Number) -> Number:
    """Return 1/(1 + exp(-x)): 0 below -709, where exp(-x) overflows, as PyTorch's."""
    return 1 / (1 + np.exp(-x))


@in_one_step
def sigmoid_slope(x: Number) -> Number:
    """Return sigmoid(x)·sigmoid(-x) = 1/((1 + exp(x))·(1 + exp(-x)))."""
    return 1 / (2 + 2 * np.cosh(x))


@in_one_step
def asin_slope(x: Number) -> Number:
    """Return 1/√(1 - x²)."""
    return 1 / np.sqrt((1 - x) * (1 + x))


@in_one_step
def tanh_slope(x: Number) -> Number:
    """Return 1/cosh²x."""
    return 1 / np.cosh(x) ** 2


def log_of_sum(terms: Array, dim: int | Axes) -> Array:
    """Return log Σ of terms of which the largest is 1; where the others are small, as log1p of what is beside it."""
    total = np.sum(terms, axis=dim, keepdims=True)
    if not np.any((total > 1 - 1e-9) & (total < 1.001)):
        return np.log(total)
    beside = np.sum(np.where(terms == 1, 0.0, terms), axis=dim, keepdims=True)
    return np.where(total < 1.001, np.log1p(beside), np.log(total))


@in_one_step
def recomputed(slopes: Array, lost: Mask, x: Array, rule: Callable[[Any, Any], Any]) -> Array:
    """Return slopes with those that have ``lost`` digits by ``rule(mpmath, x)``, in 50 digits."""
    if not np.any(lost):
        return slopes
    import mpmath  # few programs come this near to a root of a slope

    slopes = np.array(slopes)
    with mpmath.workdps(50):
        for i in np.flatnonzero(lost):
            slopes.flat[i] = float(rule(mpmath, mpmath.mpf(float(np.ravel(x)[i]))))
    return slopes[()]


def normal_density(x: Array) -> Array:
    """Return exp(-x²/2)/√(2π)."""
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


@in_one_step
def sinpi(x: Array) -> Array:
    """Return sin πx, exactly 0 at integers."""
    whole = np.round(x)
    return np.where(whole % 2 == 0, 1.0, -1.0) * np.sin(np.pi * (x - whole))


@in_one_step
def cospi(x: Array) -> Array:
    """Return cos πx, exactly 0 midway between integers."""
    return sinpi(0.5 - np.abs(x - 2 * np.round(x / 2)))


def sinc(x: Array) -> Array:
    """Return sin(πx)/(πx), and 1 at 0."""
    return np.where(x == 0, 1.0, sinpi(x) / (np.pi * np.where(x == 0, 1.0, x)))[()]


NEAR_ZERO = 0.25
"""Up to here the derivative of sinc is its series."""
CANCELS = 1e-3
"""Relative size of a difference below which it is taken in more digits."""


def sinc_slope(x: Array) -> Array:
    """Return (πx·cos πx - sin πx)/(πx²), by its series near 0, and in more digits near its zeros."""
    close = np.abs(x) < NEAR_ZERO
    far = np.where(close, 1.0, x)
    left, right = cospi(far) / far, sinpi(far) / (np.pi * far) / far
    slopes = np.where(close, sinc_series(np.where(close, x, 0.0)), left - right)
    lost = ~close & (np.abs(slopes) < CANCELS * np.abs(left)) & (np.abs(x) < 1e15)
    return recomputed(slopes, lost, x, lambda mp, x: (mp.cospi(x) - mp.sinpi(x) / (mp.pi * x)) / x)


def sinc_series(x: Array) -> Array:
    """Return Σ (-1)^n·2n·π·(πx)^(2n-1)/(2n + 1)!, for x near 0."""
    square = (np.pi * x) ** 2
    total: Number = 0.0
    for n in range(10, 0, -1):
        total = total * -square + 2 * n / math.factorial(2 * n + 1)
    return -np.pi * (np.pi * x) * total


LN2, LN10 = math.log(2.0), math.log(10.0)


def per_square(a: Array, y: Array, x: Array) -> Array:
    """Return a/(x² + y²), and 0 at the origin, as PyTorch does; no square is taken, which may be no double."""
    size = np.hypot(x, y)
    return np.where(size == 0, 0.0, a / size / size)


@in_one_step
def xlogy(x: Array, y: Array) -> Array:
    """Return x·log y, and 0 where x is 0 and y is not nan."""
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))[()]


LARGE = 1e6
"""Arguments of waves from which a double says little about where on the wave they are."""


def is_far(x: Array) -> Mask:
    """Return where an argument of a wave is large."""
    return np.abs(x) > LARGE


def at_zero(k: int, x: Array) -> Mask:
    """Return where an argument is 0."""
    del k
    return x == 0


ERF_STEEPEST = 2 / math.sqrt(math.pi)
AT_ORIGIN = "({0} == 0) & ({1} == 0)"
FAR = Torch(beyond, BEYOND)
OUTSIDE = Torch(
    lambda y, x: np.isnan(y),
    "outside of its domain a function has no derivative, and reverse mode what its formula gives there",
)

EVERYWHERE, UNLIKE_NUMPY = "torch numpy math method", Kinds(Made.OTHER_FLOAT, Made.FLOAT)
SPECIAL = "torch numpy math special method"
SINC_BACK = (
    "where({0} == 0, 0, {g}*(cos(pi*{0}) - {y})/{0})",
    "where(abs({0}) < 0.03, -{g}*pi**2*{0}/3*(1 - (pi*{0})**2/10 + (pi*{0})**4/280), {g}*(cos(pi*{0}) - {y})/{0})",
)


def sinc_in_torch(y: Array, x: Array) -> tuple[Array, Array]:
    """Return PyTorch's sinc and its slope."""
    value = np.where(x == 0, y, np.sin(np.pi * x) / (np.pi * x))
    slope = (np.cos(np.pi * x) * np.pi * x - np.sin(np.pi * x)) / (np.pi * x * x)
    return value, np.where(np.pi * x * x == 0, 0, slope)


def spelled(doc: str, where: str = EVERYWHERE, also: str = "", kinds: Kinds = FLOATS) -> Spelled:
    """Return how a function is spelled, which most are everywhere."""
    return Spelled(where, also, doc, kinds=kinds)


# fmt: off
# name, forward, a vjp for each argument, formula or slopes: what else the record holds
elementwise("sin", np.sin, lambda g, _y, x: g * np.cos(x), slopes=lambda s, x: (s.cos(x),),
    symmetry=Symmetry.ODD, edge=is_far, spelled=spelled("the sine of an angle in radians", kinds=UNLIKE_NUMPY))
elementwise("cos", np.cos, lambda g, _y, x: g * -np.sin(x), slopes=lambda s, x: (-s.sin(x),),
    symmetry=Symmetry.EVEN, edge=is_far, spelled=spelled("the cosine of an angle in radians", kinds=UNLIKE_NUMPY))
elementwise("tan", np.tan, lambda g, y, _x: g * (1 + y * y), slopes=lambda s, x: (s.tan(x) ** 2 + 1,),
    symmetry=Symmetry.ODD, edge=is_far, domain=((-1.2, 1.2),),
    spelled=spelled("the tangent of an angle in radians", kinds=UNLIKE_NUMPY))
elementwise("asin", np.arcsin, lambda g, _y, x: g / np.sqrt((1 - x) * (1 + x)), slopes=lambda s, x: (s.asin_slope(x),),
    double_vjps=(lambda g, _y, x: g * asin_slope(x),),
    torch=OUTSIDE, domain=((-0.9, 0.9),),
    spelled=spelled("the angle whose sine is x", also="arcsin", kinds=UNLIKE_NUMPY))
elementwise("acos", np.arccos, lambda g, _y, x: -g / np.sqrt((1 - x) * (1 + x)),
    slopes=lambda s, x: (-s.asin_slope(x),), double_vjps=(lambda g, _y, x: -g * asin_slope(x),),
    torch=OUTSIDE, domain=((-0.9, 0.9),),
    spelled=spelled("the angle whose cosine is x", also="arccos", kinds=UNLIKE_NUMPY))
elementwise("atan", np.arctan, lambda g, _y, x: g / (x * x + 1), slopes=lambda s, x: (1 / (x**2 + 1),),
    symmetry=Symmetry.ODD, spelled=spelled("the angle whose tangent is x", also="arctan", kinds=UNLIKE_NUMPY))
elementwise("sinh", np.sinh, lambda g, _y, x: g * np.cosh(x), slopes=lambda s, x: (s.cosh(x),),
    symmetry=Symmetry.ODD, spelled=spelled("the hyperbolic sine", kinds=UNLIKE_NUMPY))
elementwise("cosh", np.cosh, lambda g, _y, x: g * np.sinh(x), slopes=lambda s, x: (s.sinh(x),),
    symmetry=Symmetry.EVEN, spelled=spelled("the hyperbolic cosine", kinds=UNLIKE_NUMPY))
elementwise("tanh", np.tanh, lambda g, _y, x: g / np.cosh(x) ** 2, slopes=lambda s, x: (s.tanh_slope(x),),
    double_vjps=(lambda g, _y, x: g * tanh_slope(x),),
    torch=Torch(saves=((Keeps.OUTPUT,),), rounding=lambda y, x: (None, 1 - y * y)),
    text=Text(backward=("{g}*(1 - {y}**2)",)),
    spelled=spelled("the hyperbolic tangent", "torch numpy math functional method", kinds=UNLIKE_NUMPY))
elementwise("asinh", np.arcsinh, lambda g, _y, x: g / np.hypot(x, 1), slopes=lambda s, x: (s.asinh_slope(x),),
    torch=Torch(rounding=lambda y, x: (None, 1 / np.sqrt(x * x + 1))),
    spelled=spelled("the inverse of sinh", also="arcsinh", kinds=UNLIKE_NUMPY))
elementwise("acosh", np.arccosh, lambda g, _y, x: g / np.sqrt(abs(x) - 1) / np.sqrt(abs(x) + 1),
    slopes=lambda s, x: (1 / (s.sqrt(x - 1) * s.sqrt(x + 1)),),
    domain=((1.1, 3),), torch=replace(OUTSIDE, rounding=lambda y, x: (None, 1 / np.sqrt(x * x - 1))),
    spelled=spelled("the inverse of cosh", also="arccosh"))
elementwise("atanh", np.arctanh, lambda g, _y, x: g / ((1 - x) * (1 + x)), slopes=lambda s, x: (s.atanh_slope(x),),
    domain=((-0.9, 0.9),), spelled=spelled("the inverse of tanh", also="arctanh"))
elementwise("exp", np.exp, lambda g, y, _x: g * y, formula=lambda s, x: s.exp(x),
    spelled=spelled("e**x", kinds=UNLIKE_NUMPY))
elementwise("expm1", np.expm1, lambda g, _y, x: g * np.exp(x), slopes=lambda s, x: (s.exp(x),),
    torch=Torch(saves=((Keeps.OUTPUT,),), rounding=lambda y, x: (None, y + 1)),
    spelled=spelled("exp(x) - 1", SPECIAL, kinds=UNLIKE_NUMPY))
elementwise("exp2", np.exp2, lambda g, y, _x: g * y * LN2, slopes=lambda s, x: (s.exp2(x) * s.log(2),),
    spelled=spelled("2**x", SPECIAL))
elementwise("log", np.log, lambda g, _y, x: g / x, formula=lambda s, x: s.log(x),
    torch=FAR, domain=((0.2, 3),), spelled=spelled("the natural logarithm", also="ln"))
elementwise("log2", np.log2, lambda g, _y, x: g / (x * LN2), slopes=lambda s, x: (1 / (x * s.log(2)),),
    domain=((0.2, 3),), spelled=spelled("the logarithm to base 2"))
elementwise("log10", np.log10, lambda g, _y, x: g / (x * LN10), slopes=lambda s, x: (1 / (x * s.log(10)),),
    domain=((0.2, 3),), spelled=spelled("the logarithm to base 10"))
elementwise("log1p", np.log1p, lambda g, _y, x: g / (x + 1), slopes=lambda s, x: (1 / (1 + x),),
    domain=((-0.8, 3),), spelled=spelled("log(1 + x)", SPECIAL, kinds=UNLIKE_NUMPY))
elementwise("sqrt", np.sqrt, lambda g, y, _x: g / (2 * y), formula=lambda s, x: s.sqrt(x),
    torch=FAR, domain=((0.2, 3),), spelled=spelled("the square root"))
elementwise("rsqrt", lambda x: 1 / np.sqrt(x), lambda g, y, _x: -0.5 * g * y**3,
    slopes=lambda s, x: (-(s.rsqrt(x) ** 3) / 2,),
    splits_zero=at_zero, domain=((0.2, 3),), spelled=spelled("1/sqrt(x)", "torch method"))
elementwise("cbrt", np.cbrt, lambda g, y, _x: g / (3 * y * y), slopes=lambda s, x: (1 / (3 * s.cbrt(x) ** 2),),
    domain=((0.2, 3),), spelled=spelled("the real cube root", "numpy math method"))
elementwise("square", np.square, lambda g, _y, x: g * (2 * x), formula=lambda s, x: x**2,
    text=Text(rule="power"), spelled=spelled("x**2", "torch numpy method", kinds=COUNTED))
elementwise("reciprocal", lambda x: 1 / x, lambda g, y, _x: -g * (y * y), formula=lambda s, x: 1 / x,
    splits_zero=at_zero, domain=((0.3, 3),), text=Text(rule="power"),
    spelled=spelled("1/x", "torch numpy method", kinds=Kinds(Made.OTHER_FLOAT, Made.OTHER_FLOAT)))
elementwise("erf", erf, lambda g, _y, x: ERF_STEEPEST * np.exp(-x * x) * g,
    slopes=lambda s, x: (2 * s.exp(-(x**2)) / s.sqrt(s.pi),),
    symmetry=Symmetry.ODD, exactly=exactly.each("erf"),
    spelled=spelled("the error function", "torch math special method"))
elementwise("sinc", sinc, lambda g, _y, x: np.where(x == 0, 0.0, g * sinc_slope(x)),
    slopes=lambda s, x: (s.sinc_slope(x),), double_vjps=(lambda g, _y, x: g * sinc_slope(x),),
    edge=is_far, zero_at=at_zero, zero_text=("{0} == 0",), exactly=exactly.each("sinc"), domain=((0.2, 1.8),),
    text=Text(backward=(SINC_BACK,)), torch=Torch(rounding=sinc_in_torch),
    spelled=spelled("sin(πx)/(πx), 1 at 0", "torch numpy special method"))
elementwise("hypot", np.hypot, lambda g, z, x, _y: g * (x / z), lambda g, z, _x, y: g * (y / z),
    slopes=lambda s, x, y: (x / s.hypot(x, y), y / s.hypot(x, y)),
    exactly=lambda x, y: np.sqrt(x * x + y * y), domain=((0.3, 2), (0.3, 2)),
    spelled=spelled("sqrt(x**2 + other**2)", f"{EVERYWHERE} tensors", kinds=BY_NUMPY))
elementwise("atan2", np.arctan2, lambda g, _z, y, x: g * per_square(x, y, x),
    lambda g, _z, y, x: -g * per_square(y, y, x),
    slopes=lambda s, y, x: (s.over_squares(x, y, x), -s.over_squares(y, y, x)),
    torch=FAR, pieces=Piecewise(exactly.cut_side, exactly.angle_on), domain=((0.3, 2), (0.3, 2)),
    splits_zero=lambda k, y, x: (y == 0) & ((x == 0) | ((x < 0) & (k == 0))),
    zero_at=lambda k, y, x: (x == 0) & (y == 0), zero_text=(AT_ORIGIN, AT_ORIGIN),
    spelled=spelled("the angle of the point (other, x), as atan2(y, x)", f"{EVERYWHERE} tensors", "arctan2",
                    UNLIKE_NUMPY))
elementwise("xlogy", xlogy, lambda g, _z, x, y: np.where((x == 0) & (y <= 0), 0.0, xlogy(g, y)),
    lambda g, _z, x, y: g * (x / y), slopes=lambda s, x, y: (s.log(y), x / y),
    exactly=lambda x, y: np.where((x == 0) & ~exactly.is_nan(y), 0, x * np.log(y)),
    zero_at=lambda k, x, y: (x == 0) & (y <= 0) & (k == 0), zero_text=("({0} == 0) & ({1} <= 0)", ""),
    domain=((0.2, 2), (0.2, 2)), text=Text(backward=("{g}*log({1})", "{g}*{0}/{1}")),
    spelled=spelled("x*log(other), 0 where x is 0", "torch special method"))
elementwise("logaddexp", np.logaddexp, lambda g, _z, a, b: g / (1 + np.exp(b - a)),
    lambda g, _z, a, b: g / (1 + np.exp(a - b)), slopes=lambda s, a, b: (s.sigmoid(a - b), s.sigmoid(b - a)),
    exactly=exactly.logaddexp,
    spelled=spelled("log(exp(x) + exp(other))", "torch numpy method tensors", kinds=BY_NUMPY))
# fmt: on
