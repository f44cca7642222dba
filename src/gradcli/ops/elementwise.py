"""Functions of one number that have a derivative wherever they have a value, and a few of two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.declare import BEYOND, beyond
from gradcli.ops.entrywise import elementwise
from gradcli.ops.slopes import sinc, sinc_slope

LN2, LN10 = math.log(2.0), math.log(10.0)
_erf = np.frompyfunc(math.erf, 1, 1)


def erf(x: Any) -> Any:
    """Return the error function of each entry; numpy has none, so the C library's is called entry by entry."""
    return np.asarray(_erf(x), dtype=np.float64)[()]


def per_square(a: Any, y: Any, x: Any) -> Any:
    """Return a/(x² + y²), and 0 at the origin, as PyTorch does; no square is taken, which may be no double."""
    size = np.hypot(x, y)
    return np.where(size == 0, 0.0, a / size / size)


def xlogy(x: Any, y: Any) -> Any:
    """Return x·log y, and 0 where x is 0 and y is not nan."""
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))[()]


FAR: dict[str, Any] = {"differs": beyond, "says": BEYOND}
OUTSIDE: dict[str, Any] = {
    "differs": lambda y, x: np.isnan(y),
    "says": "outside of its domain a function has no derivative, and reverse mode what its formula gives there",
}

_AT_ZERO = lambda k, x: x == 0  # noqa: E731

# fmt: off
elementwise("sin",    np.sin,    lambda g, y, x: g * np.cos(x),                  lambda s, x: s.sin(x),    of="tnm.")
elementwise("cos",    np.cos,    lambda g, y, x: g * -np.sin(x),                 lambda s, x: s.cos(x),    of="tnm.")
elementwise("tan",    np.tan,    lambda g, y, x: g * (1 + y * y),                lambda s, x: s.tan(x),    of="tnm.", domain=((-1.2, 1.2),))
elementwise("asin",   np.arcsin, lambda g, y, x: g / np.sqrt((1 - x) * (1 + x)),  lambda s, x: s.asin(x),   of="tnm.", also="arcsin", **OUTSIDE, domain=((-0.9, 0.9),))
elementwise("acos",   np.arccos, lambda g, y, x: -g / np.sqrt((1 - x) * (1 + x)), lambda s, x: s.acos(x),   of="tnm.", also="arccos", **OUTSIDE, domain=((-0.9, 0.9),))
elementwise("atan",   np.arctan, lambda g, y, x: g / (x * x + 1),                lambda s, x: s.atan(x),   of="tnm.", also="arctan")
elementwise("sinh",   np.sinh,   lambda g, y, x: g * np.cosh(x),                 lambda s, x: s.sinh(x),   of="tnm.")
elementwise("cosh",   np.cosh,   lambda g, y, x: g * np.sinh(x),                 lambda s, x: s.cosh(x),   of="tnm.")
elementwise("tanh",   np.tanh,   lambda g, y, x: g / np.cosh(x) ** 2,             lambda s, x: s.tanh(x),   of="tnmf.", torch_saves=("output",))
elementwise("asinh",  np.arcsinh, lambda g, y, x: g / np.hypot(x, 1),              lambda s, x: s.asinh(x),  of="tnm.", also="arcsinh")
elementwise("acosh",  np.arccosh, lambda g, y, x: g / np.sqrt(abs(x) - 1) / np.sqrt(abs(x) + 1),  lambda s, x: s.acosh(x),  of="tnm.", also="arccosh", **OUTSIDE, domain=((1.1, 3),))
elementwise("atanh",  np.arctanh, lambda g, y, x: g / ((1 - x) * (1 + x)),        lambda s, x: s.atanh(x),  of="tnm.", also="arctanh", domain=((-0.9, 0.9),))
elementwise("exp",    np.exp,    lambda g, y, x: g * y,                          lambda s, x: s.exp(x),    of="tnm.")
elementwise("expm1",  np.expm1,  lambda g, y, x: g * np.exp(x),                   lambda s, x: s.expm1(x),  of="tnms.", torch_saves=("output",))
elementwise("exp2",   np.exp2,   lambda g, y, x: g * y * LN2,                    lambda s, x: s.exp2(x),   of="tnms.")
elementwise("log",    np.log,    lambda g, y, x: g / x,                          lambda s, x: s.log(x),    of="tnm.", also="ln", **FAR, domain=((0.2, 3),))
elementwise("log2",   np.log2,   lambda g, y, x: g / (x * LN2),                  lambda s, x: s.log2(x),   of="tnm.", domain=((0.2, 3),))
elementwise("log10",  np.log10,  lambda g, y, x: g / (x * LN10),                 lambda s, x: s.log10(x),  of="tnm.", domain=((0.2, 3),))
elementwise("log1p",  np.log1p,  lambda g, y, x: g / (x + 1),                    lambda s, x: s.log1p(x),  of="tnms.", domain=((-0.8, 3),))
elementwise("sqrt",   np.sqrt,   lambda g, y, x: g / (2 * y),                    lambda s, x: s.sqrt(x),   of="tnm.", **FAR, domain=((0.2, 3),))
elementwise("rsqrt",  lambda x: 1 / np.sqrt(x), lambda g, y, x: -0.5 * g * y**3, lambda s, x: s.rsqrt(x),  of="t.", splits_zero=_AT_ZERO, domain=((0.2, 3),), doc="1/sqrt(x)")
elementwise("cbrt",   np.cbrt,   lambda g, y, x: g / (3 * y * y),                lambda s, x: s.cbrt(x),   of="nm.", domain=((0.2, 3),), doc="the real cube root")
elementwise("square", np.square, lambda g, y, x: g * (2 * x),                    lambda s, x: x**2,        of="tn.", doc="x**2")
elementwise("reciprocal", lambda x: 1 / x, lambda g, y, x: -g * (y * y),           lambda s, x: 1 / x,       of="tn.", splits_zero=_AT_ZERO, domain=((0.3, 3),), doc="1/x")
elementwise("erf",    erf,       lambda g, y, x: 2 / math.sqrt(math.pi) * np.exp(-x * x) * g, lambda s, x: s.erf(x), of="tms.", doc="the error function")
elementwise("sinc",   sinc,      lambda g, y, x: np.where(x == 0, 0.0, g * sinc_slope(x)),     lambda s, x: s.sinc(x),   of="tns.", domain=((0.2, 1.8),), zero_at=lambda k, x: x == 0, zero_text=("{0} == 0",), doc="sin(πx)/(πx), 1 at 0")

elementwise("hypot",  np.hypot,  lambda g, z, x, y: g * (x / z),  lambda g, z, x, y: g * (y / z),       lambda s, x, y: s.hypot(x, y), of="tnm.", domain=((0.3, 2), (0.3, 2)), doc="sqrt(x**2 + y**2)")
elementwise("atan2",  np.arctan2, lambda g, z, y, x: g * per_square(x, y, x), lambda g, z, y, x: -g * per_square(y, y, x), lambda s, y, x: s.atan2(y, x), of="tnm.", also="arctan2", splits_zero=lambda k, y, x: (y == 0) & ((x == 0) | ((x < 0) & (k == 0))), zero_at=lambda k, y, x: (x == 0) & (y == 0), zero_text=("({0} == 0) & ({1} == 0)",) * 2, **FAR, domain=((0.3, 2), (0.3, 2)), doc="the angle of the point (x, y), given y first")
elementwise("xlogy",  xlogy,     lambda g, z, x, y: np.where((x == 0) & (y <= 0), 0.0, xlogy(g, y)), lambda g, z, x, y: g * (x / y), lambda s, x, y: s.xlogy(x, y), of="ts.", zero_at=lambda k, x, y: (x == 0) & (y <= 0) & (k == 0), zero_text=("({0} == 0) & ({1} <= 0)",), domain=((0.2, 2), (0.2, 2)), doc="x*log(y), 0 where x is 0")
elementwise("logaddexp", np.logaddexp, lambda g, z, a, b: g / (1 + np.exp(b - a)), lambda g, z, a, b: g / (1 + np.exp(a - b)), lambda s, a, b: s.logaddexp(a, b), of="tn.", doc="log(exp(a) + exp(b))")
# fmt: on
