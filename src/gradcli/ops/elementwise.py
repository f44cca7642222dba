"""Functions of one number that have a derivative wherever they have a value, and a few of two."""

from __future__ import annotations

import math

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import BEYOND, beyond
from gradcli.ops.dispatch import in_one_step
from gradcli.ops.entrywise import elementwise_table
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


def on_cut(k: int, y: Array, x: Array) -> Mask:
    """Return where the sign of a zero counts for the angle of (x, y)."""
    return (y == 0) & ((x == 0) | ((x < 0) & (k == 0)))


ERF_STEEPEST = 2 / math.sqrt(math.pi)
AT_ORIGIN = "({0} == 0) & ({1} == 0)"
FAR: Record = {"differs": beyond, "says": BEYOND}
OUTSIDE: Record = {
    "differs": lambda y, x: np.isnan(y),
    "says": "outside of its domain a function has no derivative, and reverse mode what its formula gives there",
}

# fmt: off
MATHEMATICS = {
    # op        forward     vjps and formula
    "sin":     (np.sin,     lambda g, _y, x: g * np.cos(x),                                lambda s, x: s.sin(x)),
    "cos":     (np.cos,     lambda g, _y, x: g * -np.sin(x),                               lambda s, x: s.cos(x)),
    "tan":     (np.tan,     lambda g, y, _x: g * (1 + y * y),                              lambda s, x: s.tan(x)),
    "asin":    (np.arcsin,  lambda g, _y, x: g / np.sqrt((1 - x) * (1 + x)),               lambda s, x: s.asin(x)),
    "acos":    (np.arccos,  lambda g, _y, x: -g / np.sqrt((1 - x) * (1 + x)),              lambda s, x: s.acos(x)),
    "atan":    (np.arctan,  lambda g, _y, x: g / (x * x + 1),                              lambda s, x: s.atan(x)),
    "sinh":    (np.sinh,    lambda g, _y, x: g * np.cosh(x),                               lambda s, x: s.sinh(x)),
    "cosh":    (np.cosh,    lambda g, _y, x: g * np.sinh(x),                               lambda s, x: s.cosh(x)),
    "tanh":    (np.tanh,    lambda g, _y, x: g / np.cosh(x) ** 2,                          lambda s, x: s.tanh(x)),
    "asinh":   (np.arcsinh, lambda g, _y, x: g / np.hypot(x, 1),                           lambda s, x: s.asinh(x)),
    "acosh":   (np.arccosh, lambda g, _y, x: g / np.sqrt(abs(x) - 1) / np.sqrt(abs(x) + 1), lambda s, x: s.acosh(x)),
    "atanh":   (np.arctanh, lambda g, _y, x: g / ((1 - x) * (1 + x)),                      lambda s, x: s.atanh(x)),
    "exp":     (np.exp,     lambda g, y, _x: g * y,                                        lambda s, x: s.exp(x)),
    "expm1":   (np.expm1,   lambda g, _y, x: g * np.exp(x),                                lambda s, x: s.expm1(x)),
    "exp2":    (np.exp2,    lambda g, y, _x: g * y * LN2,                                  lambda s, x: s.exp2(x)),
    "log":     (np.log,     lambda g, _y, x: g / x,                                        lambda s, x: s.log(x)),
    "log2":    (np.log2,    lambda g, _y, x: g / (x * LN2),                                lambda s, x: s.log2(x)),
    "log10":   (np.log10,   lambda g, _y, x: g / (x * LN10),                               lambda s, x: s.log10(x)),
    "log1p":   (np.log1p,   lambda g, _y, x: g / (x + 1),                                  lambda s, x: s.log1p(x)),
    "sqrt":    (np.sqrt,    lambda g, y, _x: g / (2 * y),                                  lambda s, x: s.sqrt(x)),
    "rsqrt":   (lambda x: 1 / np.sqrt(x), lambda g, y, _x: -0.5 * g * y**3,                lambda s, x: s.rsqrt(x)),
    "cbrt":    (np.cbrt,    lambda g, y, _x: g / (3 * y * y),                              lambda s, x: s.cbrt(x)),
    "square":  (np.square,  lambda g, _y, x: g * (2 * x),                                  lambda s, x: x**2),
    "reciprocal": (lambda x: 1 / x, lambda g, y, _x: -g * (y * y),                         lambda s, x: 1 / x),
    "erf":     (erf,        lambda g, _y, x: ERF_STEEPEST * np.exp(-x * x) * g,            lambda s, x: s.erf(x)),
    "sinc":    (sinc,       lambda g, _y, x: np.where(x == 0, 0.0, g * sinc_slope(x)),     lambda s, x: s.sinc(x)),
    "hypot":   (np.hypot,   lambda g, z, x, _y: g * (x / z), lambda g, z, _x, y: g * (y / z),
                lambda s, x, y: s.hypot(x, y)),
    "atan2":   (np.arctan2, lambda g, _z, y, x: g * per_square(x, y, x), lambda g, _z, y, x: -g * per_square(y, y, x),
                lambda s, y, x: s.atan2(y, x)),
    "xlogy":   (xlogy,      lambda g, _z, x, y: np.where((x == 0) & (y <= 0), 0.0, xlogy(g, y)),
                lambda g, _z, x, y: g * (x / y), lambda s, x, y: s.xlogy(x, y)),
    "logaddexp": (np.logaddexp, lambda g, _z, a, b: g / (1 + np.exp(b - a)),
                  lambda g, _z, a, b: g / (1 + np.exp(a - b)), lambda s, a, b: s.logaddexp(a, b)),
}
EXACTLY = {
    "erf": exactly.each("erf"), "sinc": exactly.each("sinc"),
    "hypot": lambda x, y: np.sqrt(x * x + y * y), "logaddexp": exactly.logaddexp,
    "xlogy": lambda x, y: np.where((x == 0) & ~exactly.is_nan(y), 0, x * np.log(y)),
}
CONVENTIONS: dict[str, Record] = {
    "asin": {**OUTSIDE, "again": (lambda g, _y, x: g * asin_slope(x),)},
    "acos": {**OUTSIDE, "again": (lambda g, _y, x: -g * asin_slope(x),)}, "acosh": OUTSIDE, "log": FAR, "sqrt": FAR,
    "sin": {"edge": is_far}, "cos": {"edge": is_far}, "tan": {"edge": is_far},
    "tanh": {"torch_saves": ("output",), "again": (lambda g, _y, x: g * tanh_slope(x),)},
    "expm1": {"torch_saves": ("output",)},
    "rsqrt": {"splits_zero": at_zero}, "reciprocal": {"splits_zero": at_zero},
    "sinc": {
        "edge": is_far, "zero_at": at_zero, "zero_text": ("{0} == 0",),
        "again": (lambda g, _y, x: g * sinc_slope(x),),
    },
    "atan2": {
        **FAR, "pieces": Piecewise(exactly.cut_side, exactly.angle_on), "splits_zero": on_cut,
        "zero_at": lambda k, y, x: (x == 0) & (y == 0), "zero_text": (AT_ORIGIN, AT_ORIGIN),
    },
    "xlogy": {
        "zero_at": lambda k, x, y: (x == 0) & (y <= 0) & (k == 0), "zero_text": ("({0} == 0) & ({1} <= 0)",),
    },
}
IN_TORCH = {  # value and slope
    "tanh":  lambda y, x: (None, 1 - y * y),
    "expm1": lambda y, x: (None, y + 1),
    "asinh": lambda y, x: (None, 1 / np.sqrt(x * x + 1)),
    "acosh": lambda y, x: (None, 1 / np.sqrt(x * x - 1)),
    "sinc":  lambda y, x: (
        np.where(x == 0, y, np.sin(np.pi * x) / (np.pi * x)),
        np.where(np.pi * x * x == 0, 0, (np.cos(np.pi * x) * np.pi * x - np.sin(np.pi * x)) / (np.pi * x * x)),
    ),
}
DOMAINS = {
    "tan": ((-1.2, 1.2),), "asin": ((-0.9, 0.9),), "acos": ((-0.9, 0.9),), "acosh": ((1.1, 3),),
    "atanh": ((-0.9, 0.9),), "log": ((0.2, 3),), "log2": ((0.2, 3),), "log10": ((0.2, 3),), "log1p": ((-0.8, 3),),
    "sqrt": ((0.2, 3),), "rsqrt": ((0.2, 3),), "cbrt": ((0.2, 3),), "reciprocal": ((0.3, 3),), "sinc": ((0.2, 1.8),),
    "hypot": ((0.3, 2), (0.3, 2)), "atan2": ((0.3, 2), (0.3, 2)), "xlogy": ((0.2, 2), (0.2, 2)),
}
BACKWARD_TEXTS = {
    "tanh": ("{g}*(1 - {y}**2)",), "xlogy": ("{g}*log({1})", "{g}*{0}/{1}"),
    "sinc": (("where({0} == 0, 0, {g}*(cos(pi*{0}) - {y})/{0})",
              "where(abs({0}) < 0.03, -{g}*pi**2*{0}/3*(1 - (pi*{0})**2/10 + (pi*{0})**4/280), "
              "{g}*(cos(pi*{0}) - {y})/{0})"),),
}
EVERYWHERE, UNLIKE_NUMPY = "torch numpy math method", "other-float float yes"
SPELLED = {
    **{name: Spelled(EVERYWHERE, doc=doc, kinds=UNLIKE_NUMPY) for name, doc in (
        ("sin", "the sine of an angle in radians"), ("cos", "the cosine of an angle in radians"),
        ("tan", "the tangent of an angle in radians"), ("sinh", "the hyperbolic sine"),
        ("cosh", "the hyperbolic cosine"), ("exp", "e**x"))},
    **{name: Spelled(EVERYWHERE, doc=doc) for name, doc in (
        ("log2", "the logarithm to base 2"), ("log10", "the logarithm to base 10"), ("sqrt", "the square root"))},
    "asin":  Spelled(EVERYWHERE, "arcsin", doc="the angle whose sine is x", kinds=UNLIKE_NUMPY),
    "acos":  Spelled(EVERYWHERE, "arccos", doc="the angle whose cosine is x", kinds=UNLIKE_NUMPY),
    "atan":  Spelled(EVERYWHERE, "arctan", doc="the angle whose tangent is x", kinds=UNLIKE_NUMPY),
    "tanh":  Spelled("torch numpy math functional method", doc="the hyperbolic tangent", kinds=UNLIKE_NUMPY),
    "asinh": Spelled(EVERYWHERE, "arcsinh", doc="the inverse of sinh", kinds=UNLIKE_NUMPY),
    "acosh": Spelled(EVERYWHERE, "arccosh", doc="the inverse of cosh"),
    "atanh": Spelled(EVERYWHERE, "arctanh", doc="the inverse of tanh"),
    "expm1": Spelled("torch numpy math special method", doc="exp(x) - 1", kinds=UNLIKE_NUMPY),
    "exp2":  Spelled("torch numpy math special method", doc="2**x"),
    "log":   Spelled(EVERYWHERE, "ln", doc="the natural logarithm"),
    "log1p": Spelled("torch numpy math special method", doc="log(1 + x)", kinds=UNLIKE_NUMPY),
    "rsqrt": Spelled("torch method", doc="1/sqrt(x)"),
    "cbrt":  Spelled("numpy math method", doc="the real cube root"),
    "square": Spelled(doc="x**2", kinds="integer integer yes"),
    "reciprocal": Spelled(doc="1/x", kinds="other-float other-float yes"),
    "erf":   Spelled("torch math special method", doc="the error function"),
    "sinc":  Spelled("torch numpy special method", doc="sin(πx)/(πx), 1 at 0"),
    "hypot": Spelled(f"{EVERYWHERE} tensors", doc="sqrt(x**2 + y**2)", kinds="numpy-float numpy-float yes"),
    "atan2": Spelled(f"{EVERYWHERE} tensors", "arctan2", "the angle of the point (x, y), given y first",
                     kinds=UNLIKE_NUMPY),
    "xlogy": Spelled("torch special method", doc="x*log(y), 0 where x is 0"),
    "logaddexp": Spelled("torch numpy method tensors", doc="log(exp(a) + exp(b))", kinds="numpy-float numpy-float yes"),
}
# fmt: on
SMOOTH = elementwise_table(
    MATHEMATICS,
    SPELLED,
    CONVENTIONS,
    exactly=EXACTLY,
    domain=DOMAINS,
    backward_text=BACKWARD_TEXTS,
    torch_doubles=IN_TORCH,
)
