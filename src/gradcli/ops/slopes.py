"""Derivatives that plain formulas lose: near their zeros, near 0, and where a function is saturated.

Each is written so that no two nearly equal numbers are subtracted. A root r of a derivative is held in two doubles,
and x - r is taken from both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from gradcli.ops.dispatch import in_one_step
from gradcli.ops.signatures import Array, Axes, Mask, Number

_erf, _erfc = (np.frompyfunc(rule, 1, 1) for rule in (math.erf, math.erfc))


@cache
def gauss() -> tuple[Array, Array]:
    """Return twelve nodes from -1 to 1 and their weights, for the integral of what is smooth."""
    return np.polynomial.legendre.leggauss(12)


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


def beyond_root(x: Array, root: tuple[float, float]) -> Array:
    """Return x - r for a root r that two doubles add up to."""
    return (x - root[0]) - root[1]


def mended(found: Array, x: Array, root: tuple[float, float], around: Callable[[Array, Array], Array]) -> Array:
    """Return a slope with the entries that lie near its root taken from ``around(x, x - root)``."""
    near = np.abs(x - root[0]) < 0.02
    if not np.any(near):
        return found
    there = np.where(near, x, root[0])
    return np.where(near, around(there, beyond_root(there, root)), found)[()]


SILU_ROOT = (-1.2784645427610737, -1.0946994183093437e-16)
"""r with 1 + r + exp(r) = 0, where x·sigmoid(x) is least."""


def silu_slope(x: Array) -> Array:
    """Return σ(x)·(1 + x·(1 - σ(x))); around r from 1 + x + exp(x) = d - (1 + r)·(exp(d) - 1) with d = x - r."""
    y = sigmoid(x)
    return mended(
        y * (1 + x * sigmoid(-x)), x, SILU_ROOT, lambda x, d: sigmoid_slope(x) * (d - (1 + SILU_ROOT[0]) * np.expm1(d))
    )


GELU_ROOT = (-0.7517915246935645, 1.4956759177009883e-17)
"""Where x·Φ(x) is least."""


def normal_density(x: Array) -> Array:
    """Return exp(-x²/2)/√(2π)."""
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def gelu_slope(x: Array) -> Array:
    """Return Φ(x) + x·φ(x); around its root r as the integral of φ(s)·(2 - s²) from r to x, by Gauss's rule."""
    return mended(0.5 * erfc(-x / math.sqrt(2)) + x * normal_density(x), x, GELU_ROOT, gelu_around)


def gelu_around(x: Array, d: Array) -> Array:
    """Return the derivative of gelu at x = r + d."""
    del x
    nodes, weights = gauss()
    half = d[..., None] / 2
    s = GELU_ROOT[0] + half * (1 + nodes)
    return np.sum(half * weights * normal_density(s) * (2 - s * s), axis=-1)


BENT = 2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715
"""a and b of v = a·x + b·x³, with which gelu by tanh is x·sigmoid(v)."""
BENT_ROOT = (-0.7524614220710163, 3.4358218314355225e-17)
"""r with 1 + exp(v) + r·v' = 0."""
STEEP = 1e9
"""Beyond, the slope of gelu is 0 or 1, and x³ may be no double."""


def bent(x: Number) -> Number:
    """Return v = a·x + b·x³."""
    return x * (BENT[0] + BENT[1] * (x * x))


def bent_slope(x: Array) -> Array:
    """Return σ(v)·(1 + x·v'·σ(-v)); around its root r with d = x - r, as for silu."""
    short = np.where(np.isinf(x), x, np.clip(x, -STEEP, STEEP))
    v = bent(short)
    return mended(
        sigmoid(v) * (1 + short * (BENT[0] + 3 * BENT[1] * short * short) * sigmoid(-v)), x, BENT_ROOT, bent_around
    )


def bent_around(x: Array, d: Array) -> Array:
    """Return the derivative of gelu by tanh at x = r + d."""
    squares = x * x + x * BENT_ROOT[0] + BENT_ROOT[0] ** 2
    rise = d * (BENT[0] + 3 * BENT[1] * squares)
    rise = rise + math.exp(bent(BENT_ROOT[0])) * np.expm1(d * (BENT[0] + BENT[1] * squares))
    return sigmoid_slope(bent(x)) * rise


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
    """Return (πx·cos πx - sin πx)/(πx²), by its series near 0, and by decimals near its zeros."""
    near = np.abs(x) < NEAR_ZERO
    far = np.where(near, 1.0, x)
    left, right = cospi(far) / far, sinpi(far) / (np.pi * far) / far
    found = np.where(near, sinc_series(np.where(near, x, 0.0)), left - right)
    return with_decimals(found, ~near & (np.abs(found) < CANCELS * np.abs(left)) & (np.abs(x) < 1e15), x)


@in_one_step
def with_decimals(found: Array, lost: Mask, x: Array) -> Array:
    """Return slopes of sinc with those that have ``lost`` digits taken from decimals."""
    for i in np.flatnonzero(lost):
        found.flat[i] = sinc_slope_decimal(float(np.ravel(x)[i]))
    return found[()]


def sinc_series(x: Array) -> Array:
    """Return Σ (-1)^n·2n·π·(πx)^(2n-1)/(2n + 1)!, for x near 0."""
    square = (np.pi * x) ** 2
    total: Number = 0.0
    for n in range(10, 0, -1):
        total = total * -square + 2 * n / math.factorial(2 * n + 1)
    return -np.pi * (np.pi * x) * total


PI = "3.14159265358979323846264338327950288419716939937510582097494459"


def sinc_slope_decimal(x: float) -> float:
    """Return the derivative of sinc at one number, from sines and cosines of 50 digits."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 50
        exact, whole, pi = Decimal(x), round(x), Decimal(PI)
        u, t = pi * (exact - whole), pi * exact
        terms = [Decimal(1)]
        for n in range(1, 40):
            terms.append(terms[-1] * u / n)
        cosine = sum(term * (-1) ** k for k, term in enumerate(terms[::2]))
        sine = sum(term * (-1) ** k for k, term in enumerate(terms[1::2]))
        return float((t * cosine - sine) / (t * exact)) * (-1.0 if whole % 2 else 1.0)
