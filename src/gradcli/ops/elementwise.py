"""Functions of one number that have a derivative wherever they have a value, and a few of two."""

from __future__ import annotations

import math

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import BEYOND, beyond
from gradcli.ops.dispatch import in_one_step
from gradcli.ops.entrywise import elementwise
from gradcli.ops.parts import Piecewise
from gradcli.ops.signatures import Array, Mask, Record
from gradcli.ops.slopes import asin_slope, erf, sinc, sinc_slope, tanh_slope
from gradcli.ops.vocabulary import Spelled

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
FAR: Record = {"differs": beyond, "says": BEYOND}
OUTSIDE: Record = {
    "differs": lambda y, x: np.isnan(y),
    "says": "outside of its domain a function has no derivative, and reverse mode what its formula gives there",
}

EVERYWHERE, UNLIKE_NUMPY = "torch numpy math method", "other-float float yes"
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


def spelled(doc: str, where: str = EVERYWHERE, also: str = "", kinds: str = "") -> Spelled:
    """Return how a function is spelled, which most are everywhere."""
    return Spelled(where, also, doc, kinds=kinds)


# fmt: off
# name, forward, vjps, formula, spelled: what else the record holds
elementwise("sin", np.sin, lambda g, _y, x: g * np.cos(x), lambda s, x: s.sin(x), edge=is_far,
            spelled=spelled("the sine of an angle in radians", kinds=UNLIKE_NUMPY))
elementwise("cos", np.cos, lambda g, _y, x: g * -np.sin(x), lambda s, x: s.cos(x), edge=is_far,
            spelled=spelled("the cosine of an angle in radians", kinds=UNLIKE_NUMPY))
elementwise("tan", np.tan, lambda g, y, _x: g * (1 + y * y), lambda s, x: s.tan(x), edge=is_far, domain=((-1.2, 1.2),),
            spelled=spelled("the tangent of an angle in radians", kinds=UNLIKE_NUMPY))
elementwise("asin", np.arcsin, lambda g, _y, x: g / np.sqrt((1 - x) * (1 + x)), lambda s, x: s.asin(x), **OUTSIDE,
            again=(lambda g, _y, x: g * asin_slope(x),), domain=((-0.9, 0.9),),
            spelled=spelled("the angle whose sine is x", also="arcsin", kinds=UNLIKE_NUMPY))
elementwise("acos", np.arccos, lambda g, _y, x: -g / np.sqrt((1 - x) * (1 + x)), lambda s, x: s.acos(x), **OUTSIDE,
            again=(lambda g, _y, x: -g * asin_slope(x),), domain=((-0.9, 0.9),),
            spelled=spelled("the angle whose cosine is x", also="arccos", kinds=UNLIKE_NUMPY))
elementwise("atan", np.arctan, lambda g, _y, x: g / (x * x + 1), lambda s, x: s.atan(x),
            spelled=spelled("the angle whose tangent is x", also="arctan", kinds=UNLIKE_NUMPY))
elementwise("sinh", np.sinh, lambda g, _y, x: g * np.cosh(x), lambda s, x: s.sinh(x),
            spelled=spelled("the hyperbolic sine", kinds=UNLIKE_NUMPY))
elementwise("cosh", np.cosh, lambda g, _y, x: g * np.sinh(x), lambda s, x: s.cosh(x),
            spelled=spelled("the hyperbolic cosine", kinds=UNLIKE_NUMPY))
elementwise("tanh", np.tanh, lambda g, _y, x: g / np.cosh(x) ** 2, lambda s, x: s.tanh(x), torch_saves=("output",),
            again=(lambda g, _y, x: g * tanh_slope(x),), torch_doubles=lambda y, x: (None, 1 - y * y),
            backward_text=("{g}*(1 - {y}**2)",),
            spelled=spelled("the hyperbolic tangent", "torch numpy math functional method", kinds=UNLIKE_NUMPY))
elementwise("asinh", np.arcsinh, lambda g, _y, x: g / np.hypot(x, 1), lambda s, x: s.asinh(x),
            torch_doubles=lambda y, x: (None, 1 / np.sqrt(x * x + 1)),
            spelled=spelled("the inverse of sinh", also="arcsinh", kinds=UNLIKE_NUMPY))
elementwise("acosh", np.arccosh, lambda g, _y, x: g / np.sqrt(abs(x) - 1) / np.sqrt(abs(x) + 1),
            lambda s, x: s.acosh(x), **OUTSIDE, domain=((1.1, 3),),
            torch_doubles=lambda y, x: (None, 1 / np.sqrt(x * x - 1)),
            spelled=spelled("the inverse of cosh", also="arccosh"))
elementwise("atanh", np.arctanh, lambda g, _y, x: g / ((1 - x) * (1 + x)), lambda s, x: s.atanh(x),
            domain=((-0.9, 0.9),), spelled=spelled("the inverse of tanh", also="arctanh"))
elementwise("exp", np.exp, lambda g, y, _x: g * y, lambda s, x: s.exp(x), spelled=spelled("e**x", kinds=UNLIKE_NUMPY))
elementwise("expm1", np.expm1, lambda g, _y, x: g * np.exp(x), lambda s, x: s.expm1(x), torch_saves=("output",),
            torch_doubles=lambda y, x: (None, y + 1), spelled=spelled("exp(x) - 1", SPECIAL, kinds=UNLIKE_NUMPY))
elementwise("exp2", np.exp2, lambda g, y, _x: g * y * LN2, lambda s, x: s.exp2(x), spelled=spelled("2**x", SPECIAL))
elementwise("log", np.log, lambda g, _y, x: g / x, lambda s, x: s.log(x), **FAR, domain=((0.2, 3),),
            spelled=spelled("the natural logarithm", also="ln"))
elementwise("log2", np.log2, lambda g, _y, x: g / (x * LN2), lambda s, x: s.log2(x), domain=((0.2, 3),),
            spelled=spelled("the logarithm to base 2"))
elementwise("log10", np.log10, lambda g, _y, x: g / (x * LN10), lambda s, x: s.log10(x), domain=((0.2, 3),),
            spelled=spelled("the logarithm to base 10"))
elementwise("log1p", np.log1p, lambda g, _y, x: g / (x + 1), lambda s, x: s.log1p(x), domain=((-0.8, 3),),
            spelled=spelled("log(1 + x)", SPECIAL, kinds=UNLIKE_NUMPY))
elementwise("sqrt", np.sqrt, lambda g, y, _x: g / (2 * y), lambda s, x: s.sqrt(x), **FAR, domain=((0.2, 3),),
            spelled=spelled("the square root"))
elementwise("rsqrt", lambda x: 1 / np.sqrt(x), lambda g, y, _x: -0.5 * g * y**3, lambda s, x: s.rsqrt(x),
            splits_zero=at_zero, domain=((0.2, 3),), spelled=spelled("1/sqrt(x)", "torch method"))
elementwise("cbrt", np.cbrt, lambda g, y, _x: g / (3 * y * y), lambda s, x: s.cbrt(x), domain=((0.2, 3),),
            spelled=spelled("the real cube root", "numpy math method"))
elementwise("square", np.square, lambda g, _y, x: g * (2 * x), lambda s, x: x**2,
            spelled=spelled("x**2", "torch numpy method", kinds="integer integer yes"))
elementwise("reciprocal", lambda x: 1 / x, lambda g, y, _x: -g * (y * y), lambda s, x: 1 / x, splits_zero=at_zero,
            domain=((0.3, 3),), spelled=spelled("1/x", "torch numpy method", kinds="other-float other-float yes"))
elementwise("erf", erf, lambda g, _y, x: ERF_STEEPEST * np.exp(-x * x) * g, lambda s, x: s.erf(x),
            exactly=exactly.each("erf"), spelled=spelled("the error function", "torch math special method"))
elementwise("sinc", sinc, lambda g, _y, x: np.where(x == 0, 0.0, g * sinc_slope(x)), lambda s, x: s.sinc(x),
            edge=is_far, zero_at=at_zero, zero_text=("{0} == 0",), again=(lambda g, _y, x: g * sinc_slope(x),),
            exactly=exactly.each("sinc"), domain=((0.2, 1.8),), backward_text=(SINC_BACK,),
            torch_doubles=sinc_in_torch, spelled=spelled("sin(πx)/(πx), 1 at 0", "torch numpy special method"))
elementwise("hypot", np.hypot, lambda g, z, x, _y: g * (x / z), lambda g, z, _x, y: g * (y / z),
            lambda s, x, y: s.hypot(x, y), exactly=lambda x, y: np.sqrt(x * x + y * y), domain=((0.3, 2), (0.3, 2)),
            spelled=spelled("sqrt(x**2 + other**2)", f"{EVERYWHERE} tensors", kinds="numpy-float numpy-float yes"))
elementwise("atan2", np.arctan2, lambda g, _z, y, x: g * per_square(x, y, x),
            lambda g, _z, y, x: -g * per_square(y, y, x), lambda s, y, x: s.atan2(y, x), **FAR,
            pieces=Piecewise(exactly.cut_side, exactly.angle_on), domain=((0.3, 2), (0.3, 2)),
            splits_zero=lambda k, y, x: (y == 0) & ((x == 0) | ((x < 0) & (k == 0))),
            zero_at=lambda k, y, x: (x == 0) & (y == 0), zero_text=(AT_ORIGIN, AT_ORIGIN),
            spelled=spelled("the angle of the point (other, x), as atan2(y, x)", f"{EVERYWHERE} tensors", "arctan2",
                            UNLIKE_NUMPY))
elementwise("xlogy", xlogy, lambda g, _z, x, y: np.where((x == 0) & (y <= 0), 0.0, xlogy(g, y)),
            lambda g, _z, x, y: g * (x / y), lambda s, x, y: s.xlogy(x, y),
            exactly=lambda x, y: np.where((x == 0) & ~exactly.is_nan(y), 0, x * np.log(y)),
            zero_at=lambda k, x, y: (x == 0) & (y <= 0) & (k == 0), zero_text=("({0} == 0) & ({1} <= 0)",),
            domain=((0.2, 2), (0.2, 2)), backward_text=("{g}*log({1})", "{g}*{0}/{1}"),
            spelled=spelled("x*log(other), 0 where x is 0", "torch special method"))
elementwise("logaddexp", np.logaddexp, lambda g, _z, a, b: g / (1 + np.exp(b - a)),
            lambda g, _z, a, b: g / (1 + np.exp(a - b)), lambda s, a, b: s.logaddexp(a, b), exactly=exactly.logaddexp,
            spelled=spelled("log(exp(x) + exp(other))", "torch numpy method tensors",
                            kinds="numpy-float numpy-float yes"))
# fmt: on
