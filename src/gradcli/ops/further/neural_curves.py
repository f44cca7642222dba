"""Values and vjps of activations that few programs call, with PyTorch's choice where two pieces meet."""

from __future__ import annotations

import numpy as np

from gradcli.ops.signatures import Array, Expression, Indices, Symbols
from gradcli.ops.slopes import sigmoid

SATURATED = 20.0
"""From here on tanh(log(1 + exp(x))) is 1 to the last digit of a double."""
LEVELS = 12
"""Levels of the continued fraction of tanh that give all digits of a double up to 1."""


def tanhshrink(x: Array) -> Array:
    """Return x - tanh(x): up to 1 as x·c/(1 + c) of the continued fraction tanh(x) = x/(1 + c), which cancels nothing.

    >>> tanhshrink(np.float64(1e-5))
    3.333333333200001e-16
    """
    squared = np.minimum(x * x, 1.0)
    rest = 0.0 * squared
    for odd in range(2 * LEVELS + 1, 1, -2):
        rest = squared / (odd + rest)
    return np.where(np.abs(x) < 1, x * rest / (1 + rest), x - np.tanh(x))[()]


def hardtanh(x: Array, min_val: float, max_val: float) -> Array:
    """Return x between two bounds."""
    return np.clip(x, min_val, max_val)


def softshrink(x: Array, lambd: float) -> Array:
    """Return x moved towards 0 by lambd, and 0 where it is no further away."""
    return np.where(np.abs(x) <= lambd, 0 * x, np.where(x > lambd, x - lambd, x + lambd))[()]


def softshrink_on(piece: Indices, x: Array, lambd: float) -> Array:
    """Return the value on the piece left of, between or right of -lambd and lambd."""
    return np.where(piece == 0, 0, x - piece * lambd)


def celu(x: Array, alpha: float) -> Array:
    """Return x, and alpha·(exp(x/alpha) - 1) below 0."""
    return np.where(x < 0, alpha * np.expm1(np.where(x < 0, x, 0.0) / alpha), x)[()]


def celu_vjp(g: Array, _y: Array, x: Array, *, alpha: float) -> Array:
    """Return g, and g·exp(x/alpha) below 0."""
    return np.where(x <= 0, g * np.exp(np.where(x < 0, x, 0.0) / alpha), g)


def side(x: Array, min_val: float, max_val: float) -> Indices:
    """Return -1 at and below the lower bound, 1 at and above the upper one, 0 between."""
    return np.where(x <= min_val, -1, np.asarray(x >= max_val, dtype=int))


def mish(x: Array) -> Array:
    """Return x·tanh(log(1 + exp(x))) = x·(e² + 2e)/(e² + 2e + 2) with e = exp(x), from 20 on x itself."""
    e = np.exp(np.minimum(x, SATURATED))
    more = e * (e + 2)
    return np.where(x > SATURATED, x, x * (more / (more + 2)))[()]


def mish_vjp(g: Array, _y: Array, x: Array) -> Array:
    """Return g·(t + x·sigmoid(x)·(1 - t²)) for t = tanh(log(1 + exp(x))), 1 - t² as the square of 1/cosh."""
    e = np.exp(np.minimum(x, SATURATED))
    more = e * (e + 2)
    rest = np.where(x > SATURATED, 0.0, (2 * (1 + e) / (more + 2)) ** 2)
    return g * (more / (more + 2) + x * sigmoid(x) * rest)


def mish_slope(s: Symbols, x: Expression) -> tuple[Expression]:
    """Return t + x·sigmoid(x)·(1 - t²) with the square of 1/cosh, which cancels nothing."""
    inner = s.log1p(s.exp(x))
    return (s.tanh(inner) + x * s.sigmoid(x) / s.cosh(inner) ** 2,)


def hardswish_vjp(g: Array, _y: Array, x: Array) -> Array:
    """Return g·(2x + 3)/6 between -3 and 3, 0 on the left and g on the right."""
    return np.where(x <= -3, 0.0, np.where(x < 3, g * ((2 * x + 3) / 6), g))
