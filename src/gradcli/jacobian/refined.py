"""Numbers for derivatives that lose their digits as they are written: the same values by ways that lose none.

No way is one of ``ops``: the two routes share no derivative. Where a formula vanishes it is worked out in mpmath's
digits, at the few entries that lie so near.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.elementwise import erfc, recomputed
from gradcli.ops.links import Array, Mask

NEAR = 1e-3
"""How near a zero of a derivative an entry must lie, relative to it, to be worked out in more digits."""


def around(x: Array, root: float) -> Mask:
    """Return where x lies near a root."""
    return np.abs(x - root) < NEAR * abs(root)


def sigmoid(x: Array) -> Array:
    """Return 1/(1 + exp(-x)) from exp(-|x|)."""
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1 + small)


def asinh(x: Array) -> Array:
    """Return 1/sqrt(x² + 1), which is 1/|x| far out."""
    far = np.abs(x) > 1e9
    return np.where(far, 1 / np.abs(x), 1 / np.sqrt(np.where(far, 0.0, x) ** 2 + 1))[()]


def sinc(x: Array) -> Array:
    """Return (πx·cos πx - sin πx)/(πx²); up to 1/2 as -π times the integral of s·sin πxs over s from 0 to 1."""
    near = np.abs(x) <= 0.5
    nodes, weights = np.polynomial.legendre.leggauss(16)
    s = (1 + nodes) / 2
    short = np.where(near, x, 0.0)
    integral = np.sum(weights / 2 * s * np.sin(np.pi * np.multiply.outer(short, s)), axis=-1)
    far = np.where(near, 1.0, x)
    turns = far - 2 * np.round(far / 2)
    left, right = cosine(turns) / far, sine(turns) / (np.pi * far) / far
    result = np.where(near, -np.pi * integral, left - right)
    lost = ~near & (np.abs(result) < NEAR * np.abs(left))
    return recomputed(result, lost, x, lambda mp, x: (mp.cospi(x) - mp.sinpi(x) / (mp.pi * x)) / x)


def sine(turns: Array) -> Array:
    """Return sin πt for t from -1 to 1."""
    folded = np.where(np.abs(turns) > 0.5, np.copysign(1.0, turns) - turns, turns)
    return np.sin(np.pi * folded)


def cosine(turns: Array) -> Array:
    """Return cos πt for t from -1 to 1."""
    return np.sin(np.pi * (0.5 - np.abs(turns)))


def silu(x: Array) -> Array:
    """Return σ(x)·(1 + x·σ(-x))."""
    result = sigmoid(x) * (1 + np.where(np.isfinite(x), x, 0.0) * sigmoid(-x)) + 0 * x
    root = around(x, -1.2784645427610738)
    return recomputed(result, root, x, lambda mp, x: (1 + x / (1 + mp.exp(x))) / (1 + mp.exp(-x)))


def gelu(x: Array) -> Array:
    """Return Φ(x) + x·φ(x)."""
    result = erfc(-x * np.sqrt(0.5)) / 2 + x * np.exp(-(x * x) / 2) / np.sqrt(2 * np.pi)
    return recomputed(result, around(x, -0.7517915246935645), x, lambda mp, x: mp.ncdf(x) + x * mp.npdf(x))


def gelu_tanh(x: Array) -> Array:
    """Return σ(v)·(1 + x·v'·σ(-v)) for v = a·x + b·x³."""
    a = np.sqrt(8 / np.pi)
    b = a * 0.044715
    short = np.clip(x, -1e3, 1e3)
    v = a * short + b * short**3
    result = sigmoid(v) * (1 + (a * short + 3 * b * short**3) * sigmoid(-v)) + 0 * x
    return recomputed(result, around(x, -0.7524614220710163), x, gelu_tanh_in_digits)


def gelu_tanh_in_digits(mp: Any, x: Any) -> Any:
    """Return the same in mpmath's digits."""
    a = mp.sqrt(8 / mp.pi)
    b = a * mp.mpf(0.044715)
    v = a * x + b * x**3
    return (1 + (a * x + 3 * b * x**3) / (1 + mp.exp(v))) / (1 + mp.exp(-v))


def over_squares(a: Array, y: Array, x: Array) -> Array:
    """Return a/(x² + y²), in units of the larger of x and y."""
    unit = np.maximum(np.abs(x), np.abs(y))
    return a / unit / ((x / unit) ** 2 + (y / unit) ** 2) / unit


def bce(x: Array, t: Array) -> Array:
    """Return (x - t)/(x·(1 - x))."""
    return (x - t) / x / (1 - x)


def bce_by_target(x: Array) -> Array:
    """Return log(1 - x) - log(x)."""
    return recomputed(np.log1p(-x) - np.log(x), around(x, 0.5), x, lambda mp, x: mp.log(1 - x) - mp.log(x))


def logits(x: Array, t: Array) -> Array:
    """Return σ(x) - t."""
    short = np.where(np.abs(x) < 1, x, 0.0)
    middle = (0.5 - t) + np.expm1(short) / (2 + 2 * np.exp(short))
    return np.where(np.abs(x) < 1, middle, np.where(x < 0, sigmoid(x) - t, (1 - t) - sigmoid(-x)))
