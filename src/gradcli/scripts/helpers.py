"""Functions that numpy and jax.numpy lack, as scripts bring them along: plain numpy, one that can be read.

A script takes the text of those that it calls, and of those that they call. They are written for numbers of ordinary
size; the engine's own rules, which keep their digits everywhere, stand in ``gradcli.ops``.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

Array = Any
Pair = namedtuple("Pair", "values indices")


def sigmoid(x: Array) -> Array:
    """Return 1/(1 + exp(-x)), from the side on which exp does not overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def relu(x: Array) -> Array:
    """Return x where it is above 0, else 0."""
    return np.where(x > 0, x, 0.0)


def softplus(x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """Return log(1 + exp(beta*x))/beta, and x where beta*x is above the threshold."""
    return np.where(beta * x > threshold, x, np.logaddexp(0, beta * x) / beta)


def logsigmoid(x: Array) -> Array:
    """Return log(sigmoid(x))."""
    return -np.logaddexp(0, -x)


def silu(x: Array) -> Array:
    """Return x*sigmoid(x)."""
    return x * sigmoid(x)


def softsign(x: Array) -> Array:
    """Return x/(1 + |x|)."""
    return x / (1 + np.abs(x))


def leaky_relu(x: Array, negative_slope: float = 0.01) -> Array:
    """Return x where it is above 0, else negative_slope*x."""
    return np.where(x > 0, x, negative_slope * x)


def elu(x: Array, alpha: float = 1.0) -> Array:
    """Return x where it is above 0, else alpha*(exp(x) - 1)."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def erf(x: Array) -> Array:
    """Return the error function of every entry."""
    return np.vectorize(math.erf, otypes=[float])(x)[()]


def gelu(x: Array, approximate: str = "none") -> Array:
    """Return x times the normal distribution function of x."""
    if approximate == "tanh":
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + erf(x / math.sqrt(2)))


def xlogy(x: Array, other: Array) -> Array:
    """Return x*log(other), and 0 where x is 0."""
    return np.where(x == 0, 0.0, x * np.log(np.where(x == 0, 1.0, other)))


def logsumexp(x: Array, dim: Any = None, keepdim: bool = False) -> Array:
    """Return log(sum(exp(x))), the largest entry taken out first."""
    top = np.max(x, axis=dim, keepdims=True)
    result = top + np.log(np.sum(np.exp(x - top), axis=dim, keepdims=True))
    return result if keepdim else np.squeeze(result, axis=dim)


def softmax(x: Array, dim: Any = None) -> Array:
    """Return exp(x)/sum(exp(x)) along an axis."""
    dim = default_axis(x) if dim is None else dim
    e = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return e / np.sum(e, axis=dim, keepdims=True)


def log_softmax(x: Array, dim: Any = None) -> Array:
    """Return the logarithm of softmax."""
    dim = default_axis(x) if dim is None else dim
    return x - logsumexp(x, dim, True)


def default_axis(x: Array) -> Any:
    """Return the axis that softmax runs along where none is named."""
    return None if np.ndim(x) == 0 else 0 if np.ndim(x) in (1, 3) else 1


def norm(x: Array, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Array:
    """Return the p-norm of all entries, or along an axis."""
    size = np.abs(x)
    if p == math.inf:
        return np.max(size, axis=dim, keepdims=keepdim)
    if p == -math.inf:
        return np.min(size, axis=dim, keepdims=keepdim)
    if p == 0:
        return np.sum(size != 0, axis=dim, keepdims=keepdim) * 1.0
    power = 2 if p in ("fro", None) else p
    return safe_power(np.sum(size**power, axis=dim, keepdims=keepdim), 1 / power)


def safe_power(x: Array, power: float) -> Array:
    """Return x**power, and at 0 a constant 0: its slope there is infinite."""
    return np.where(x == 0, 0.0, np.where(x == 0, 1.0, x) ** power)[()]


def var(x: Array, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: Any = None) -> Array:
    """Return the variance, over n - 1 unless correction or unbiased says otherwise."""
    return np.var(x, axis=dim, ddof=int(unbiased) if correction is None else correction, keepdims=keepdim)


def std(x: Array, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: Any = None) -> Array:
    """Return the square root of the variance."""
    return safe_power(var(x, dim, unbiased, keepdim, correction), 0.5)


def expand(x: Array, shape: Any) -> Array:
    """Return x repeated along axes of length 1 and new axes; -1 keeps a length."""
    lead = len(shape) - np.ndim(x)
    return np.broadcast_to(x, [n if n != -1 else np.shape(x)[k - lead] for k, n in enumerate(shape)])


def flatten(x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    """Return the axes from start_dim to end_dim made one."""
    shape = np.shape(x) or (1,)
    first, last = start_dim % len(shape), end_dim % len(shape)
    return np.reshape(x, (*shape[:first], -1, *shape[last + 1 :]))


def max_along(x: Array, dim: int, keepdim: bool = False) -> Pair:
    """Return the largest entries along an axis, and where the first of them stands."""
    return Pair(np.max(x, axis=dim, keepdims=keepdim), np.argmax(x, axis=dim, keepdims=keepdim))


def min_along(x: Array, dim: int, keepdim: bool = False) -> Pair:
    """Return the smallest entries along an axis, and where the first of them stands."""
    return Pair(np.min(x, axis=dim, keepdims=keepdim), np.argmin(x, axis=dim, keepdims=keepdim))


def sort(x: Array, dim: int = -1, descending: bool = False) -> Pair:
    """Return the entries in order along an axis, and where they stood."""
    order = np.argsort(-x if descending else x, axis=dim, stable=True)
    return Pair(np.take_along_axis(x, order, axis=dim), order)


def one_hot(classes: Array, count: int = -1) -> Array:
    """Return rows that are 1 at the class and 0 elsewhere, as many as classes where no count is given."""
    classes = np.asarray(classes).astype(int)
    return np.eye(int(np.max(classes)) + 1 if count == -1 else count)[classes]


def huber_loss(x: Array, target: Array, delta: float = 1.0) -> Array:
    """Return half the square of what is small, and delta*(|d| - delta/2) of what is large."""
    d = np.abs(x - target)
    return np.where(d <= delta, d**2 / 2, delta * (d - delta / 2))


def reduced(loss: Array, reduction: str = "mean") -> Array:
    """Return the mean or the sum of losses, or all of them."""
    return np.mean(loss) if reduction == "mean" else np.sum(loss) if reduction == "sum" else loss


def layer_norm(x: Array, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Array:
    """Return x less its mean, over its deviation, along its last axes."""
    axes = tuple(range(-len(shape), 0))
    centred = x - np.mean(x, axis=axes, keepdims=True)
    result = centred / np.sqrt(np.mean(centred**2, axis=axes, keepdims=True) + eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def nll_loss(x: Array, target: Array) -> Array:
    """Return -x at the class of each row."""
    rows, classes = np.atleast_2d(x), np.ravel(np.asarray(target)).astype(int)
    picked = -rows[np.arange(len(rows)), classes]
    return picked if np.ndim(x) > 1 else picked[0]


def cross_entropy(x: Array, target: Array) -> Array:
    """Return the negative log of softmax at the class of each row, or weighed by probabilities."""
    if np.shape(x) == np.shape(target):
        return -np.sum(target * log_softmax(x), axis=default_axis(x))
    return nll_loss(log_softmax(x), target)
