"""Special functions: of gamma, of the normal distribution and of entropy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.axes import number
from gradcli.ops.clipping import build_clip
from gradcli.ops.declare import Apply
from gradcli.ops.dispatch import RULES, in_one_step
from gradcli.ops.entrywise import elementwise
from gradcli.ops.further import special_values as values
from gradcli.ops.signatures import Array, Expression, Static, Symbols, Tensor
from gradcli.ops.slopes import erfc, normal_density
from gradcli.ops.tracing import applied, numbers
from gradcli.ops.vocabulary import Spelled, function

Slopes = tuple[Expression, ...]
STEEPEST = 2 / math.sqrt(math.pi)


# --- the error function and the normal distribution ---


def erfcx_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return 2x·erfcx(x) - 2/√π."""
    return (s.closely(s, "erfcx slope", erfcx_slope_written, erfcx_slope_in_digits)(x),)


def erfcx_slope_written(s: Symbols, x: Expression) -> Expression:
    """Write 2x·erfcx(x) - 2/√π."""
    return 2 * x * s.named(s, "erfcx", erfcx_slopes)(x) - 2 / s.sqrt(s.pi)


def erfcx_slope_in_digits(mp: Any, x: Any) -> Any:
    """Return 2x·exp(x²)·erfc(x) - 2/√π in mpmath's digits, of which x² are lost; far out by its series."""
    if x > 1e8:
        return -1 / (mp.sqrt(mp.pi) * x * x)
    mp.mp.dps += 20
    found = 2 * x * mp.exp(x * x) * mp.erfc(x) - 2 / mp.sqrt(mp.pi)
    mp.mp.dps -= 20
    return found


def normal_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return exp(-x²/2)/√(2π)."""
    return (s.exp(-(x**2) / 2) / s.sqrt(2 * s.pi),)


def log_ndtr_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return φ(x)/Φ(x) as √(2/π)/erfcx(-x/√2), which neither overflows nor underflows on the way."""
    return (s.sqrt(2 / s.pi) / s.named(s, "erfcx", erfcx_slopes)(-x / s.sqrt(2)),)


def erfinv_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return √π/2·exp(y²), y the value."""
    return (s.sqrt(s.pi) / 2 * s.exp(s.named(s, "erfinv", erfinv_slopes)(x) ** 2),)


def ndtri_slopes(s: Symbols, p: Expression) -> Slopes:
    """Return √(2π)·exp(y²/2), y the value."""
    return (s.sqrt(2 * s.pi) * s.exp(s.named(s, "ndtri", ndtri_slopes)(p) ** 2 / 2),)


def normal_quantile(mp: Any, p: Any) -> Any:
    """Return the x with Φ(x) = p in mpmath's digits, by Newton's method on the smaller tail."""
    if p in (0, 1):
        return mp.inf if p else -mp.inf
    if not 0 < p < 1:
        return mp.nan
    tail = p if p < 0.5 else 1 - p
    x = mp.mpf(float(values.ndtri(np.asarray(max(float(tail), 1e-300)))))
    for _ in range(80):
        below = mp.ncdf(x)
        step = mp.log(below / tail) * below / mp.npdf(x)
        x -= step
        if abs(step) <= abs(x) * mp.eps * 16 or x == 0:
            break
    return x if p < 0.5 else -x


def error_quantile(mp: Any, x: Any) -> Any:
    """Return the y with erf(y) = x in mpmath's digits."""
    return mp.erfinv(x) if abs(x) <= 1 else mp.nan


# fmt: off
elementwise(
    "erfc", erfc,
    lambda g, _y, x: -STEEPEST * np.exp(-x * x) * g, None,
    slopes=lambda s, x: (-2 / s.sqrt(s.pi) * s.exp(-(x**2)),),
    backward_text=("-2/sqrt(pi)*exp(-{0}**2)*{g}",),
    exactly=exactly.in_mpmath(lambda mp, x: mp.erfc(x)),
    spelled=Spelled("torch math special method", "", "1 - erf(x), with its digits where erf(x) is nearly 1"),
)
elementwise(
    "erfcx", values.erfcx,
    lambda g, _y, x: g * values.erfcx_slope(x), None, slopes=erfcx_slopes,
    backward_text=("{g}*(2*{0}*{y} - 2/sqrt(pi))",),
    torch_saves=("0 output",), torch_doubles=lambda y, x: (None, 2 * x * y - STEEPEST),
    exactly=exactly.in_mpmath(lambda mp, x: 0 if x == mp.inf else mp.exp(x * x) * mp.erfc(x)),
    spelled=Spelled("special", "", "exp(x**2)*erfc(x)"),
)
elementwise(
    "erfinv", values.erfinv,
    lambda g, y, _x: g * (np.exp(y * y) / STEEPEST), None, slopes=erfinv_slopes,
    backward_text=("{g}*sqrt(pi)/2*exp({y}**2)",),
    torch_saves=("0",),
    exactly=exactly.in_mpmath(error_quantile), domain=((-0.9, 0.9),),
    spelled=Spelled("torch special method", "", "the number whose erf is x"),
)
elementwise(
    "ndtr", values.ndtr,
    lambda g, _y, x: g * normal_density(x), None, slopes=normal_slopes,
    backward_text=("{g}*exp(-{0}**2/2)/sqrt(2*pi)",),
    torch_saves=("own",), torch_doubles=values.ndtr_in_torch,
    exactly=exactly.in_mpmath(lambda mp, x: mp.ncdf(x)),
    spelled=Spelled("special", "", "the normal distribution function"),
)
elementwise(
    "log_ndtr", values.log_ndtr,
    lambda g, _y, x: g * (math.sqrt(2 / math.pi) / values.erfcx(-x * math.sqrt(0.5))), None, slopes=log_ndtr_slopes,
    backward_text=("{g}*sqrt(2/pi)/erfcx(-{0}/sqrt(2))",),
    torch_saves=("0 output",), again=(lambda g, _y, x: g * values.log_ndtr_slope(x),),
    exactly=exactly.in_mpmath(lambda mp, x: mp.log(mp.ncdf(x)) if x < 0 else mp.log1p(-mp.ncdf(-x))),
    spelled=Spelled("special", "", "the logarithm of the normal distribution function"),
)
elementwise(
    "ndtri", values.ndtri,
    lambda g, y, _p: g * (math.sqrt(2 * math.pi) * np.exp(y * y / 2)), None, slopes=ndtri_slopes,
    backward_text=("{g}*sqrt(2*pi)*exp({y}**2/2)",),
    exactly=exactly.in_mpmath(normal_quantile), domain=((0.1, 0.9),),
    spelled=Spelled("special", "", "the number that a normal one is below with probability x"),
)
# fmt: on


# --- gamma ---


def gamma_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return ψ(x)."""
    return (s.named(s, "digamma", digamma_slopes)(x),)


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
    lambda g, _y, x: g * values.digamma(x), None, slopes=gamma_slopes,
    backward_text=("{g}*digamma({0})",),
    exactly=exactly.in_mpmath(gamma_in_digits), domain=((0.3, 4),),
    spelled=Spelled("torch special method", "gammaln math.lgamma", "the logarithm of the gamma function"),
)
DIGAMMA = elementwise(
    "digamma", values.digamma,
    lambda g, _y, x: g * values.polygamma(1, x), None, slopes=digamma_slopes,
    backward_text=("{g}*polygamma(1, {0})",),
    exactly=exactly.in_mpmath(lambda mp, x: values.psi(mp, 0, x)), domain=((0.3, 4),),
    spelled=Spelled("torch special method", "psi", "the derivative of lgamma"),
)
POLYGAMMA = elementwise(
    "polygamma", values.polygamma,
    None, lambda g, _y, n, x: g * values.polygamma(n + 1, x), None, slopes=polygamma_slopes,
    backward_text=("", "{g}*polygamma({0} + 1, {1})"),
    exactly=exactly.in_mpmath(values.psi, 2), domain=((1, 1), (0.3, 4)), spelled=None,
)
# fmt: on
RULES[values.polygamma] = lambda f, n, x: applied(f, POLYGAMMA, np.float64(float(numbers(n))), x)


@function("polygamma", "torch special", "elementwise", op=POLYGAMMA)
def build_polygamma(f: Apply, n: Static, x: Tensor) -> Tensor:
    """the n-th derivative of digamma"""
    if isinstance(n, bool) or not isinstance(n, int | float) or not 0 <= n <= values.HIGHEST or n != int(n):
        message = f"polygamma: n is an integer from 0 to {values.HIGHEST}, not {n!r}"
        raise GradcliError("value", message, hint="polygamma(1, x)")
    return f(DIGAMMA, x) if n == 0 else f(POLYGAMMA, np.float64(n), x)


# --- entropy ---


def entr_slopes(s: Symbols, x: Expression) -> Slopes:
    """Return -1 - log x."""
    return (s.closely(s, "entr slope", entr_slope_written, entr_slope_in_digits)(x),)


def entr_slope_written(s: Symbols, x: Expression) -> Expression:
    """Write -1 - log x."""
    return -1 - s.log(x)


def entr_slope_in_digits(mp: Any, x: Any) -> Any:
    """Return -1 - log x in mpmath's digits: inf at 0, and nan below, as PyTorch has it."""
    return -1 - mp.log(x) if x > 0 else mp.inf if x == 0 else mp.nan


def entr_in_digits(mp: Any, x: Any) -> Any:
    """Return -x·log x in mpmath's digits: 0 at 0, and -inf below."""
    return mp.mpf(0) if x == 0 else -mp.inf if x < 0 else -x * mp.log(x)


@in_one_step
def xlog1py(x: Array, y: Array) -> Array:
    """Return x·log(1 + y), and 0 where x is 0 and y is not nan."""
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))[()]


# fmt: off
elementwise(
    "entr", values.entr,
    lambda g, _y, x: g * values.entr_slope(x), None, slopes=entr_slopes,
    backward_text=("{g}*(-1 - log({0}))",),
    exactly=exactly.in_mpmath(entr_in_digits), domain=((0.5, 3),),
    spelled=Spelled("special", "", "-x*log(x): 0 at 0, and -inf below"),
)
elementwise(
    "xlog1py", xlog1py,
    lambda g, _z, x, y: np.where((x == 0) & (y <= -1), 0.0, xlog1py(g, y)),
    lambda g, _z, x, y: g * (x / (y + 1)), None, slopes=lambda s, x, y: (s.log1p(y), x / (y + 1)),
    backward_text=("{g}*log1p({1})", "{g}*{0}/({1} + 1)"),
    exactly=lambda x, y: np.where((x == 0) & ~exactly.is_nan(y), 0, x * np.log1p(y)),
    domain=((0.2, 2), (0.2, 2)),
    zero_at=lambda k, x, y: (x == 0) & (y <= -1) & (k == 0), zero_text=("({0} == 0) & ({1} <= -1)",),
    spelled=Spelled("special", "", "x*log(1 + y), 0 where x is 0"),
)
LOGIT = elementwise(
    "logit", values.logit,
    lambda g, _y, x: np.where((x < 0) | (x > 1), np.nan, g / (x * (1 - x))), None,
    slopes=lambda s, x: (1 / (x * (1 - x)),),
    backward_text=("{g}/({0}*(1 - {0}))",),
    exactly=lambda x: np.log(x / (1 - x)), domain=((0.1, 0.9),), spelled=None,
)
# fmt: on


@function("logit", "torch special method", "elementwise", op=LOGIT)
def build_logit(f: Apply, x: Tensor, eps: Static = None) -> Tensor:
    """log(x/(1 - x)), of x between eps and 1 - eps where eps is given"""
    if eps is None:
        return f(LOGIT, x)
    low = number(eps, "eps")
    if low > 0.5:
        raise GradcliError("value", f"logit: eps is 0.5 or less, not {low}")
    return f(LOGIT, build_clip(f, x, np.float64(low), np.float64(1 - low)))
