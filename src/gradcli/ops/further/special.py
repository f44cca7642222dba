"""Special functions: of gamma, of the error function and of the normal distribution.

numpy has none of them: mpmath works their values out entry by entry, in more digits than a double has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.declare import OUTPUT, RULES, Exactly, Keeps, Text, Torch, in_one_step
from gradcli.ops.elementwise import erfc, normal_density, normal_share
from gradcli.ops.links import Array, Expression, Static, Symbols
from gradcli.ops.piecewise import CLIP
from gradcli.ops.tracing import applied, numbers
from gradcli.ops.values import Value, require
from gradcli.ops.vocabulary import Spelled, elementwise, function

Slopes = tuple[Expression, ...]
STEEPEST = 2 / math.sqrt(math.pi)
DIGITS = 30
"""Digits in which a double is worked out."""
MOST_DIGITS = 1_800
"""Digits up to which mpmath has the Bernoulli numbers of Stirling's series in about a second."""
HIGHEST = 170
"""The last n whose n! is a double."""


def by_mpmath(rule: Callable[..., Any]) -> Callable[..., Array]:
    """Return the function of doubles that ``rule(mpmath, *entries)`` is, nan where an entry is or the rule has none."""

    def at(*entries: float) -> float:
        import mpmath

        if any(map(math.isnan, entries)):
            return math.nan
        with mpmath.workdps(DIGITS):
            return float(rule(mpmath, *map(mpmath.mpf, entries)))

    @in_one_step
    def function(*arrays: Array | float) -> Array:
        each = np.frompyfunc(at, len(arrays), 1)
        return np.asarray(each(*(np.asarray(x, dtype=np.float64) for x in arrays)), dtype=np.float64)[()]

    return function


# --- in mpmath's digits ---


def require_few_digits(mp: Any) -> None:
    """Raise ``budget`` where Γ or ψ would take many seconds at one number."""
    if mp.mp.dps > MOST_DIGITS:
        raise GradcliError("budget", f"the gamma function in more than {MOST_DIGITS:,} digits takes too long")


def is_pole(mp: Any, x: Any) -> bool:
    """Return whether Γ has a pole at x, or x is -inf."""
    return bool(x <= 0 and x == mp.floor(x))


def log_gamma(mp: Any, x: Any) -> Any:
    """Return log |Γ(x)|, inf at the poles."""
    require_few_digits(mp)
    if mp.isinf(x) or is_pole(mp, x):
        return mp.inf
    if x > 3:
        return mp.loggamma(x)
    if x < -3:
        return mp.log(mp.pi / abs(mp.sinpi(x - mp.nint(x)))) - mp.loggamma(1 - x)
    if abs(x) < 0.25:
        return mp.log(mp.gamma(1 + x)) - mp.log(abs(x))
    with mp.workdps(2 * mp.mp.dps):  # around its zeros at 1 and 2, where mpmath's loggamma takes seconds
        return -mp.log(abs(mp.rgamma(x)))


def psi(mp: Any, order: Any, x: Any) -> Any:
    """Return a derivative of ψ, nan at the poles; mpmath's own takes a step for each integer up to 0.

    https://dlmf.nist.gov/5.15.E6: ψₙ(x) = (-1)ⁿ·ψₙ(1 - x) - dⁿ/dxⁿ π·cot(πx).
    """
    require_few_digits(mp)
    n = int(order)
    if mp.isinf(x) or is_pole(mp, x):
        return x if mp.isinf(x) and x > 0 and n == 0 else mp.mpf(0) if x > 0 else mp.nan
    if abs(x) < 1:
        return mp.psi(n, 1 + x) - (-1) ** n * mp.factorial(n) / x ** (n + 1)
    if x > 0:
        return mp.psi(n, x)
    part = x - mp.nint(x)
    return (-1) ** n * mp.psi(n, 1 - x) - mp.pi ** (n + 1) * cotangent_slope(n, mp.cospi(part) / mp.sinpi(part))


def cotangent_slope(n: int, c: Any) -> Any:
    """Return the n-th derivative of cot where it is c: a polynomial in c, as that of cⁿ is -n·(cⁿ⁻¹ + cⁿ⁺¹)."""
    powers = [0, 1]
    for _ in range(n):
        slope = [k * a for k, a in enumerate(powers)][1:]
        powers = [-(a + b) for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return sum(a * c**k for k, a in enumerate(powers))


def polygamma_in_torch(mp: Any, n: Any, x: Any) -> Any:
    """Return the n-th derivative of ψ, at its poles the infinity that PyTorch has there."""
    if not is_pole(mp, x) or mp.isinf(x):
        return psi(mp, n, x)
    if n:
        return (-1) ** (int(n) + 1) * mp.inf
    return mp.nan if x else -mp.inf


erfinv = by_mpmath(lambda mp, x: mp.erfinv(x) if abs(x) <= 1 else mp.nan)
polygamma = by_mpmath(polygamma_in_torch)


@in_one_step
def digamma(x: Array) -> Array:
    """Return ψ(x) = d/dx log Γ(x): ∓inf at ±0, and nan at the poles below."""
    return np.where(x == 0, -1 / x, polygamma(0.0, x))[()]


# --- the error function and the normal distribution ---


def erfinv_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return √π/2·exp(y²), y the value."""
    return (s.sqrt(s.pi) / 2 * s.exp(s.erfinv(x) ** 2),)


# fmt: off
elementwise(
    "erfc", erfc, lambda g, _y, x: -STEEPEST * np.exp(-x * x) * g, None,
    slopes=lambda s, x: (-2 / s.sqrt(s.pi) * s.exp(-(x**2)),), text=Text(backward=("-2/sqrt(pi)*exp(-{0}**2)*{g}",)),
    exact=Exactly(value=exactly.in_mpmath(lambda mp, x: mp.erfc(x))),
    spelled=Spelled("torch math special method", "", "1 - erf(x), with its digits where erf(x) is nearly 1"))
elementwise(
    "erfinv", erfinv, lambda g, y, _x: g * (np.exp(y * y) / STEEPEST), None,
    slopes=erfinv_slopes, text=Text(backward=("{g}*sqrt(pi)/2*exp({y}**2)",)), torch=Torch(saves=((0,),)),
    domain=((-0.9, 0.9),),
    exact=Exactly(value=exactly.in_mpmath(lambda mp, x: mp.erfinv(x) if abs(x) <= 1 else mp.nan)),
    spelled=Spelled("torch special method", "", "the number whose erf is x"), reads=OUTPUT)
elementwise(
    "ndtr", lambda x: erfc(-x * math.sqrt(0.5)) / 2, lambda g, _y, x: g * normal_density(x), None,
    slopes=lambda s, x: (s.exp(-(x**2) / 2) / s.sqrt(2 * s.pi),),
    text=Text(backward=("{g}*exp(-{0}**2/2)/sqrt(2*pi)",)),
    torch=Torch(saves=((Keeps.OWN,),), doubles=lambda y, x: (normal_share(x), None)),
    exact=Exactly(value=exactly.in_mpmath(lambda mp, x: mp.ncdf(x))),
    spelled=Spelled("special", "", "the normal distribution function"))
# fmt: on


# --- gamma ---


def digamma_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return ψ'(x)."""
    return (s.polygamma(s.number(1), x),)


def polygamma_slopes(s: Symbols, n: Expression, x: Expression) -> Slopes:
    """Return that of the next order by x; by n there is none."""
    return s.number(0), s.polygamma(n + 1, x)


# fmt: off
elementwise(
    "lgamma", by_mpmath(log_gamma), lambda g, _y, x: g * digamma(x), None,
    slopes=lambda s, x: (s.digamma(x),), text=Text(backward=("{g}*digamma({0})",)),
    exact=Exactly(value=exactly.in_mpmath(log_gamma)), domain=((0.3, 4),),
    spelled=Spelled("torch special method", "gammaln math.lgamma", "the logarithm of the gamma function"))
DIGAMMA = elementwise(
    "digamma", digamma, lambda g, _y, x: g * polygamma(1, x), None,
    slopes=digamma_slopes, text=Text(backward=("{g}*polygamma(1, {0})",)),
    exact=Exactly(value=exactly.in_mpmath(lambda mp, x: psi(mp, 0, x))), domain=((0.3, 4),),
    spelled=Spelled("torch special method", "psi", "the derivative of lgamma"))
POLYGAMMA = elementwise(
    "polygamma", polygamma, None, lambda g, _y, n, x: g * polygamma(n + 1, x), None,
    slopes=polygamma_slopes, text=Text(backward=("", "{g}*polygamma({0} + 1, {1})")),
    exact=Exactly(value=exactly.in_mpmath(psi, 2)), domain=((1, 1), (0.3, 4)), spelled=None)
# fmt: on
RULES[polygamma] = lambda f, n, x: applied(f, POLYGAMMA, np.float64(float(numbers(n))), x)


@function("polygamma", "torch special", "elementwise", op=POLYGAMMA)
def build_polygamma(n: Static, x: Value) -> Value:
    """the n-th derivative of digamma"""
    plain = isinstance(n, int | float) and not isinstance(n, bool)
    fits = plain and 0 <= n <= HIGHEST and n == int(n)  # type: ignore[operator,arg-type] # of a plain one
    require(fits, "value", f"polygamma: n is an integer from 0 to {HIGHEST}, not {n!r}", "polygamma(1, x)")
    return x.of(DIGAMMA) if n == 0 else x.apply(POLYGAMMA, n, x)


# --- logit ---


def logit(x: Array) -> Array:
    """Return log(x/(1 - x)), around its zero at 1/2 by atanh."""
    middle = np.abs(x - 0.5) < 0.25
    return np.where(middle, 2 * np.arctanh(np.where(middle, 2 * x - 1, 0.0)), np.log(x / (1 - x)))[()]


# fmt: off
LOGIT = elementwise(
    "logit", logit, lambda g, _y, x: np.where((x < 0) | (x > 1), np.nan, g / (x * (1 - x))), None,
    slopes=lambda s, x: (1 / (x * (1 - x)),), text=Text(backward=("{g}/({0}*(1 - {0}))",)),
    exact=Exactly(value=lambda x: np.log(x / (1 - x))), domain=((0.1, 0.9),), spelled=None)
# fmt: on


@function("logit", "torch special method", "elementwise", op=LOGIT)
def build_logit(x: Value, eps: float | None = None) -> Value:
    """log(x/(1 - x)), of x between eps and 1 - eps where eps is given"""
    if eps is None:
        return x.of(LOGIT)
    require(eps <= 0.5, "value", f"logit: eps is 0.5 or less, not {eps}")
    return x.of(CLIP, low=eps, high=1 - eps).of(LOGIT)
