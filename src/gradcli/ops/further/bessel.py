"""Modified Bessel functions of the first kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import Apply
from gradcli.ops.dispatch import in_one_step, rule_for
from gradcli.ops.entrywise import elementwise
from gradcli.ops.signatures import Array, Expression, Symbols
from gradcli.ops.tracing import applied
from gradcli.ops.vocabulary import Spelled

FAR = 30.0
"""From here on the terms of the asymptotic series become small enough."""
SERIES = tuple([1 / (math.factorial(k) * math.factorial(k + n)) for k in range(70)] for n in (0, 1))
"""The coefficients of I_n(x)/(x/2)^n in powers of x²/4: all terms are positive."""


def asymptotic(order: int) -> list[float]:
    """Return the coefficients of I_n(x)·√(2πx)/eˣ in powers of 1/x."""
    found = [1.0]
    for k in range(1, 30):
        found.append(-found[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return found


BEYOND = tuple(asymptotic(order) for order in (0, 1))


def power_series(coefficients: list[float], x: Array) -> Array:
    """Return Σ c_k·xᵏ."""
    total: Any = 0.0
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


@in_one_step
def bessel(order: int, x: Array) -> Array:
    """Return I_n(x) for n = 0 or 1: its series up to 30, and the asymptotic one beyond."""
    size = np.abs(np.asarray(x, dtype=np.float64))
    near, far = np.where(size < FAR, size, 0.0), np.where(size < FAR, FAR, size)
    low = power_series(SERIES[order], near * near / 4) * (near / 2) ** order
    half = np.exp(far / 2)  # its square may overflow where the value does not
    high = half * (half / (np.sqrt(2 * np.pi) * np.sqrt(far)) * power_series(BEYOND[order], 1 / far))
    found = np.where(size < FAR, low, np.where(np.isinf(far), np.inf, high))
    found = np.where(np.isnan(size), np.nan, found)
    return (np.copysign(found, x) if order else found)[()]


def slope_of_first(x: Array) -> Array:
    """Return I₁'(x) = I₀(x) - I₁(x)/x, of which the last is 1/2 near 0."""
    near = np.abs(x) < 1e-8
    ratio = np.where(near, 0.5 + x * x / 16, bessel(1, x) / np.where(near, 1.0, x))
    zeroth = bessel(0, x)
    return np.where(np.isinf(zeroth), np.inf, zeroth - ratio)[()]


def zeroth_slopes(s: Symbols, x: Expression) -> tuple[Expression, ...]:
    """Return I₁."""
    return (s.named(s, "i1", first_slopes)(x),)


def first_slopes(s: Symbols, x: Expression) -> tuple[Expression, ...]:
    """Return I₀ - I₁/x."""
    return (s.closely(s, "i1 slope", first_slope_written, first_slope_in_digits)(x),)


def first_slope_written(s: Symbols, x: Expression) -> Expression:
    """Write I₀(x) - I₁(x)/x."""
    return s.named(s, "i0", zeroth_slopes)(x) - s.named(s, "i1", first_slopes)(x) / x


def first_slope_in_digits(mp: Any, x: Any) -> Any:
    """Return I₁'(x) in mpmath's digits."""
    return (mp.besseli(0, x) + mp.besseli(2, x)) / 2


def in_digits(order: int) -> Any:
    """Return how I_n is computed in many digits."""

    def value(mp: Any, x: Any) -> Any:
        if mp.isinf(x):
            return mp.inf if x > 0 or not order else -mp.inf
        return mp.besseli(order, x)

    return exactly.in_mpmath(value)


def overflowing(y: Array, x: Array) -> tuple[Array, None]:
    """Return I₀ or I₁ as eˣ times the rest, which is infinite too early."""
    return np.where(np.isinf(np.exp(np.abs(x))), np.copysign(np.inf, y), y), None


def overflowing_twice(y: Array, x: Array) -> tuple[Array, Array]:
    """Return I₀ and its slope I₁, both infinite too early."""
    return overflowing(y, x)[0], overflowing(bessel(1, x), x)[0]


# fmt: off
I0 = elementwise(
    "i0", lambda x: bessel(0, x),
    lambda g, _y, x: g * bessel(1, x), None, slopes=zeroth_slopes,
    backward_text=("{g}*i1({0})",), exactly=in_digits(0), torch_doubles=overflowing_twice,
    spelled=Spelled("torch special method", "np.i0 numpy.i0", "the modified Bessel function of order 0"),
)
I1 = elementwise(
    "i1", lambda x: bessel(1, x),
    lambda g, _y, x: g * slope_of_first(x), None, slopes=first_slopes,
    backward_text=("{g}*(i0({0}) - {y}/{0})",), torch_saves=("0 output",), exactly=in_digits(1),
    torch_doubles=overflowing,
    spelled=Spelled("special", "", "the modified Bessel function of order 1, the derivative of i0"),
)
# fmt: on


@rule_for(bessel)
def bessel_traced(f: Apply, order: int, x: Any) -> Any:
    """Return I_n(x) as an op."""
    return applied(f, I1 if order else I0, x)
