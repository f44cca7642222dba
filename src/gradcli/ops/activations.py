"""Values and vjps of functions of neural networks, with PyTorch's choice where two pieces meet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.slopes import bent, bent_slope, erfc, gelu_slope, sigmoid


def softplus(x: Any, beta: float, threshold: float) -> Any:
    """Return log(1 + exp(βx))/β, and x itself above the threshold."""
    inner = np.log1p(np.exp(x * beta)) if threshold < 700 else -logsigmoid(-x * beta)
    return np.where(x * beta > threshold, x, inner / beta)[()]


def softplus_vjp(g: Any, _y: Any, x: Any, *, beta: float, threshold: float) -> Any:
    """Return g·sigmoid(βx), and g above the threshold."""
    return np.where(x * beta > threshold, g, g * sigmoid(x * beta))


def logsigmoid(x: Any) -> Any:
    """Return log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|))."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def logsigmoid_vjp(g: Any, _y: Any, x: Any) -> Any:
    """Return g·sigmoid(-x), from exp(-|x|) on both sides."""
    z = np.exp(-np.abs(x))
    return g * np.where(x < 0, 1 - z / (1 + z), z / (1 + z))


def elu(x: Any, alpha: float) -> Any:
    """Return x, and α·(exp(x) - 1) below 0."""
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)[()]


def at_least(x: Any, low: Any) -> Any:
    """Return the larger of each pair; x itself at the bound, so that -0 stays -0."""
    return np.where(x == low, x, np.maximum(x, low))[()]


def at_most(x: Any, high: Any) -> Any:
    """Return the smaller of each pair; x itself at the bound."""
    return np.where(x == high, x, np.minimum(x, high))[()]


def gelu(x: Any, approximate: str) -> Any:
    """Return x·Φ(x), or the approximation of Φ by tanh, which is a sigmoid."""
    return x * sigmoid(bent(x)) if approximate == "tanh" else 0.5 * x * erfc(-x / math.sqrt(2))


def gelu_vjp(g: Any, _y: Any, x: Any, *, approximate: str) -> Any:
    """Return g·(Φ(x) + x·φ(x)), or the derivative of the approximation."""
    return g * (bent_slope(x) if approximate == "tanh" else gelu_slope(x))


def elu_vjp(g: Any, _y: Any, x: Any, *, alpha: float) -> Any:
    """Return g, and g·α·exp(x) up to 0."""
    return np.where(x <= 0, g * alpha * np.exp(np.minimum(x, 0)), g)
