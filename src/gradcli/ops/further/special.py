"""Special functions: of gamma, of the error function and of the normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import OUTPUT, RULES, Exactly, Keeps, Text, Torch
from gradcli.ops.elementwise import erfc, normal_density
from gradcli.ops.further import special_values as values
from gradcli.ops.links import Expression, Static, Symbols
from gradcli.ops.piecewise import CLIP
from gradcli.ops.tracing import applied, numbers
from gradcli.ops.values import Value, require
from gradcli.ops.vocabulary import Spelled, elementwise, function

Slopes = tuple[Expression, ...]
STEEPEST = 2 / math.sqrt(math.pi)


# --- the error function and the normal distribution ---


def erfinv_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return √π/2·exp(y²), y the value."""
    return (s.sqrt(s.pi) / 2 * s.exp(s.named(s, "erfinv", erfinv_slopes)(x) ** 2),)


# fmt: off
elementwise(
    "erfc", erfc,
    lambda g, _y, x: -STEEPEST * np.exp(-x * x) * g, None,
    slopes=lambda s, x: (-2 / s.sqrt(s.pi) * s.exp(-(x**2)),),
    text=Text(backward=("-2/sqrt(pi)*exp(-{0}**2)*{g}",)),
    exact=Exactly(value=exactly.in_mpmath(lambda mp, x: mp.erfc(x))),
    spelled=Spelled("torch math special method", "", "1 - erf(x), with its digits where erf(x) is nearly 1"),
)
elementwise(
    "erfinv", values.erfinv,
    lambda g, y, _x: g * (np.exp(y * y) / STEEPEST), None, slopes=erfinv_slopes,
    text=Text(backward=("{g}*sqrt(pi)/2*exp({y}**2)",)),
    torch=Torch(saves=((0,),)),
    exact=Exactly(value=exactly.in_mpmath(lambda mp, x: mp.erfinv(x) if abs(x) <= 1 else mp.nan)),
    domain=((-0.9, 0.9),),
    spelled=Spelled("torch special method", "", "the number whose erf is x"), reads=OUTPUT
)
elementwise(
    "ndtr", values.ndtr,
    lambda g, _y, x: g * normal_density(x), None, slopes=lambda s, x: (s.exp(-(x**2) / 2) / s.sqrt(2 * s.pi),),
    text=Text(backward=("{g}*exp(-{0}**2/2)/sqrt(2*pi)",)),
    torch=Torch(saves=((Keeps.OWN,),), doubles=values.ndtr_in_torch),
    exact=Exactly(value=exactly.in_mpmath(lambda mp, x: mp.ncdf(x))),
    spelled=Spelled("special", "", "the normal distribution function"),
)
# fmt: on


# --- gamma ---


def digamma_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return ψ'(x)."""
    return (s.named(s, "polygamma", polygamma_slopes)(s.number(1), x),)


def polygamma_slopes(s: Symbols, n: Expression, x: Expression) -> Slopes:
    """Return that of the next order by x; by n there is none."""
    return s.number(0), s.named(s, "polygamma", polygamma_slopes)(n + 1, x)


def gamma_in_digits(mp: Any, x: Any) -> Any:
    """Return log |Γ(x)| in mpmath's digits, inf at the poles."""
    values.require_few_digits(mp)
    if mp.isinf(x) or (x <= 0 and x == mp.floor(x)):
        return mp.inf
    if x > 3:
        return mp.loggamma(x)
    if x < -3:
        return mp.log(mp.pi / abs(mp.sinpi(x - mp.nint(x)))) - mp.loggamma(1 - x)
    if abs(x) < 0.25:
        return mp.log(mp.gamma(1 + x)) - mp.log(abs(x))
    with mp.workdps(2 * mp.mp.dps):  # around its zeros at 1 and 2, where mpmath's loggamma takes seconds
        return -mp.log(abs(mp.rgamma(x)))


# fmt: off
elementwise(
    "lgamma", values.lgamma,
    lambda g, _y, x: g * values.digamma(x), None, slopes=lambda s, x: (s.named(s, "digamma", digamma_slopes)(x),),
    text=Text(backward=("{g}*digamma({0})",)),
    exact=Exactly(value=exactly.in_mpmath(gamma_in_digits)), domain=((0.3, 4),),
    spelled=Spelled("torch special method", "gammaln math.lgamma", "the logarithm of the gamma function"),
)
DIGAMMA = elementwise(
    "digamma", values.digamma,
    lambda g, _y, x: g * values.polygamma(1, x), None, slopes=digamma_slopes,
    text=Text(backward=("{g}*polygamma(1, {0})",)),
    exact=Exactly(value=exactly.in_mpmath(lambda mp, x: values.psi(mp, 0, x))), domain=((0.3, 4),),
    spelled=Spelled("torch special method", "psi", "the derivative of lgamma"),
)
POLYGAMMA = elementwise(
    "polygamma", values.polygamma,
    None, lambda g, _y, n, x: g * values.polygamma(n + 1, x), None, slopes=polygamma_slopes,
    text=Text(backward=("", "{g}*polygamma({0} + 1, {1})")),
    exact=Exactly(value=exactly.in_mpmath(values.psi, 2)), domain=((1, 1), (0.3, 4)), spelled=None,
)
# fmt: on
RULES[values.polygamma] = lambda f, n, x: applied(f, POLYGAMMA, np.float64(float(numbers(n))), x)


@function("polygamma", "torch special", "elementwise", op=POLYGAMMA)
def build_polygamma(n: Static, x: Value) -> Value:
    """the n-th derivative of digamma"""
    plain = isinstance(n, int | float) and not isinstance(n, bool)
    fits = plain and 0 <= n <= values.HIGHEST and n == int(n)  # type: ignore[operator,arg-type] # of a plain one
    require(fits, "value", f"polygamma: n is an integer from 0 to {values.HIGHEST}, not {n!r}", "polygamma(1, x)")
    return x.of(DIGAMMA) if n == 0 else x.apply(POLYGAMMA, n, x)


# --- logit ---


# fmt: off
LOGIT = elementwise(
    "logit", values.logit,
    lambda g, _y, x: np.where((x < 0) | (x > 1), np.nan, g / (x * (1 - x))), None,
    slopes=lambda s, x: (1 / (x * (1 - x)),),
    text=Text(backward=("{g}/({0}*(1 - {0}))",)),
    exact=Exactly(value=lambda x: np.log(x / (1 - x))), domain=((0.1, 0.9),), spelled=None,
)
# fmt: on


@function("logit", "torch special method", "elementwise", op=LOGIT)
def build_logit(x: Value, eps: float | None = None) -> Value:
    """log(x/(1 - x)), of x between eps and 1 - eps where eps is given"""
    if eps is None:
        return x.of(LOGIT)
    require(eps <= 0.5, "value", f"logit: eps is 0.5 or less, not {eps}")
    return x.of(CLIP, low=eps, high=1 - eps).of(LOGIT)
