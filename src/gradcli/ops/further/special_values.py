"""Values of special functions in double precision, which numpy does not have: of gamma, and of the normal distribution.

Each has twelve right digits wherever it is a normal double. Where a function has zeros that no series here is made
for, the few entries so near are taken in mpmath's digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import RULES, in_one_step
from gradcli.ops.elementwise import erf, erfc, normal_share, sinpi
from gradcli.ops.links import Array, Mask

EULER = 0.57721566490153286061
SQRT_PI = math.sqrt(math.pi)


@in_one_step
def worked_out(found: Array, where: Mask, rule: Callable[..., Any], *arguments: Array | float) -> Array:
    """Return ``found`` with the entries that lie ``where`` taken from ``rule(mpmath, *numbers)``, in 40 digits."""
    if not np.any(where):
        return found
    import mpmath

    result = np.array(found, dtype=np.float64)
    columns = [np.broadcast_to(x, result.shape) for x in arguments]
    with mpmath.workdps(40):
        for place in map(tuple, np.argwhere(where)):
            result[place] = float(mpmath.re(rule(mpmath, *(mpmath.mpf(float(x[place])) for x in columns))))
    return result[()]


MOST_DIGITS = 1_800
"""Digits up to which mpmath has the Bernoulli numbers of Stirling's series in about a second."""


def require_few_digits(mp: Any) -> None:
    """Raise ``budget`` where Γ or ψ would take many seconds at one number."""
    if mp.mp.dps > MOST_DIGITS:
        raise GradcliError("budget", f"the gamma function in more than {MOST_DIGITS:,} digits takes too long")


def psi(mp: Any, order: Any, x: Any) -> Any:
    """Return a derivative of ψ in mpmath's digits, nan at the poles; its own takes a step for each integer up to 0.

    https://dlmf.nist.gov/5.15.E6: ψₙ(x) = (-1)ⁿ·ψₙ(1 - x) - dⁿ/dxⁿ π·cot(πx).
    """
    require_few_digits(mp)
    n = int(order)
    if mp.isinf(x) or (x <= 0 and x == mp.floor(x)):
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


def zeta_rest(k: int, start: int = 2) -> float:
    """Return Σ n^-k from ``start`` on, by Euler's and Maclaurin's formula from n = 200 on."""
    last = 200
    head = math.fsum(n**-k for n in range(start, last))
    tail = last ** (1 - k) / (k - 1) + last**-k / 2 + k * last ** (-k - 1) / 12
    return head + tail - k * (k + 1) * (k + 2) * last ** (-k - 3) / 720


AROUND_TWO = (0.0, 1 - EULER, *((-1) ** k * zeta_rest(k) / k for k in range(2, 32)))
"""The series of log Γ(2 + w) in powers of w."""


def log_gamma_around_two(w: Array) -> Array:
    """Return log Γ(2 + w) for w from -1/2 to 1/2."""
    total: Any = 0.0
    for coefficient in reversed(AROUND_TWO):
        total = total * w + coefficient
    return total


def log_gamma_of(x: float) -> float:
    """Return log |Γ(x)| of one number, inf at the poles and where it overflows."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


_log_gamma = np.frompyfunc(log_gamma_of, 1, 1)


def lgamma(x: Array) -> Array:
    """Return log |Γ(x)|; around its zeros at 1 and 2 by its series."""
    found = np.asarray(_log_gamma(x), dtype=np.float64)
    near_two, near_one = np.abs(x - 2) <= 0.5, np.abs(x - 1) < 0.5
    found = np.where(near_two, log_gamma_around_two(np.where(near_two, x - 2, 0.0)), found)
    z = np.where(near_one, x - 1, 0.0)
    found = np.where(near_one, log_gamma_around_two(z) - np.log1p(z), found)
    return worked_out(found, (x < 0) & (np.abs(found) < 0.1), lambda mp, x: mp.loggamma(x), x)


ASYMPTOTIC = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""The numbers B(2k)/(2k) of ψ(x) = log x - 1/(2x) - Σ B(2k)/(2k)·x^(-2k)."""


@in_one_step
def digamma(x: Array) -> Array:
    """Return ψ(x) = d/dx log Γ(x): ∓inf at ±0, and nan at the poles below."""
    x = np.asarray(x, dtype=np.float64)
    turned = x < 0
    z = np.where(turned, 1 - x, x)
    total = np.zeros(np.shape(z))
    for _ in range(12):
        total, z = np.where(z < 12, total - 1 / z, total), np.where(z < 12, z + 1, z)
    square = 1 / z / z
    series = np.zeros(np.shape(z))
    for coefficient in reversed(ASYMPTOTIC):
        series = (series + coefficient) * square
    high = np.log(z) - 0.5 / z - series
    found = high + total
    half = x - np.round(x)
    reflected = np.where(half == 0, np.nan, np.pi * sinpi(0.5 - np.abs(half)) / sinpi(half))
    found = np.where(turned, found - reflected, np.where(x == 0, -1 / x, found))
    lost = np.isfinite(found) & (np.abs(found) < 1e-2 * np.abs(high))
    return worked_out(found, lost, lambda mp, x: psi(mp, 0, x), x)


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


HIGHEST = 170
"""The last n whose n! is a double."""
SMALLEST = 1e-290
"""Sums below this have lost digits, or all of them."""


@in_one_step
def polygamma(n: Array | float, x: Array) -> Array:
    """Return the n-th derivative of ψ, for an n that is a plain number: (-1)^(n+1)·n!·Σ (x + k)^-(n+1).

    Below -30, and where n! or the sum leave double precision, ``psi`` takes over.
    """
    order = int(np.asarray(n))
    if order == 0:
        return digamma(x)
    x = np.asarray(x, dtype=np.float64)
    far = (x < -30) & np.isfinite(x)
    z, s, total = np.where(far, 1.0, x), order + 1, np.zeros(np.shape(x))
    largest = 20.0 + order
    for _ in range(order + 52):
        low = z < largest
        total, z = np.where(low, total + np.power(z, -float(s)), total), np.where(low, z + 1, z)
    tail = np.power(z, 1.0 - s) / order + np.power(z, -float(s)) / 2
    factor = 1.0
    for k, bernoulli in enumerate(BERNOULLI, 1):
        factor = s / 2 if k == 1 else factor * (s + 2 * k - 3) * (s + 2 * k - 2) / ((2 * k - 1) * (2 * k))
        tail = tail + bernoulli * factor * np.power(z, float(1 - s - 2 * k))
    found = (-1.0) ** (order + 1) * (total + tail) * (math.factorial(order) if order <= HIGHEST else np.inf)
    pole = (x <= 0) & (x == np.floor(x))
    found = np.where(pole, np.where(np.isinf(x), np.nan, (-1.0) ** (order + 1) * np.inf), found)
    lost = (order > HIGHEST) | (np.abs(total + tail) < SMALLEST) | np.isinf(total + tail)
    return worked_out(found[()], (far | lost) & ~pole & np.isfinite(x), lambda mp, x: psi(mp, order, x), x)


def first_inverse(product: Array) -> Array:
    """Return about the y ≥ 0 with 1 - erf(y)² = ``product``, to two digits."""
    level, a = np.log(product), 0.147
    t = 2 / (np.pi * a) + level / 2
    return np.sqrt(-level / a / (np.sqrt(t * t - level / a) + t))


def erfinv(x: Array) -> Array:
    """Return the y with erf(y) = x, by three steps of Halley's method; erfc takes over where erf is nearly 1."""
    x = np.asarray(x, dtype=np.float64)
    size = np.abs(x)
    inside = np.where(size < 1, size, 0.0)
    y = first_inverse((1 - inside) * (1 + inside))
    for _ in range(3):
        low = erf(y) - inside
        off = np.where(inside < 0.5, low, (1 - inside) - erfc(y)) * (SQRT_PI / 2) * np.exp(y * y)
        y = y - off / (1 + y * off)
    found = np.where(size < 1, y, np.where(size == 1, np.inf, np.nan))
    return np.copysign(found, x)[()]


def ndtr(x: Array) -> Array:
    """Return Φ(x), the normal distribution function."""
    return erfc(-x * math.sqrt(0.5)) / 2


def ndtr_in_torch(_y: Array, x: Array) -> tuple[Array, None]:
    """Return PyTorch's Φ(x)."""
    return normal_share(x), None


def logit(x: Array) -> Array:
    """Return log(x/(1 - x)), around its zero at 1/2 by atanh."""
    middle = np.abs(x - 0.5) < 0.25
    return np.where(middle, 2 * np.arctanh(np.where(middle, 2 * x - 1, 0.0)), np.log(x / (1 - x)))[()]


RULES[worked_out] = lambda _f, found, *_: found
