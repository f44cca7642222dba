"""Values, vjps and local readings of functions of neural networks, with PyTorch's choice where two pieces meet."""

from __future__ import annotations

import math

import numpy as np

from gradcli.ops.contractions import pairs_along
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Links, Order
from gradcli.ops.reductions import all_entries
from gradcli.ops.signatures import Array, Indices, Number, Options
from gradcli.ops.slopes import bent, bent_slope, erfc, gelu_slope, log_of_sum, normal_share, sigmoid


def softplus(x: Array, beta: float, threshold: float) -> Array:
    """Return log(1 + exp(βx))/β, and x itself above the threshold."""
    inner = np.log1p(np.exp(x * beta)) if threshold < 700 else -logsigmoid(-x * beta)
    return np.where(x * beta > threshold, x, inner / beta)[()]


def softplus_vjp(g: Array, _y: Array, x: Array, *, beta: float, threshold: float) -> Array:
    """Return g·sigmoid(βx), and g above the threshold."""
    return np.where(x * beta > threshold, g, g * sigmoid(np.where(x * beta >= threshold, threshold, x * beta)))


def logsigmoid(x: Array) -> Array:
    """Return log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|))."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def logsigmoid_vjp(g: Array, _y: Array, x: Array) -> Array:
    """Return g·sigmoid(-x), from exp(-|x|) on both sides."""
    z = np.exp(-np.abs(x))
    return g * np.where(x < 0, 1 - z / (1 + z), z / (1 + z))


def elu(x: Array, alpha: float) -> Array:
    """Return x, and α·(exp(x) - 1) below 0."""
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)[()]


def at_least(x: Array, low: Number) -> Array:
    """Return the larger of each pair; x itself at the bound, so that -0 stays -0."""
    return np.where(x == low, x, np.maximum(x, low))[()]


def at_most(x: Array, high: Number) -> Array:
    """Return the smaller of each pair; x itself at the bound."""
    return np.where(x == high, x, np.minimum(x, high))[()]


def gelu(x: Array, approximate: str) -> Array:
    """Return x·Φ(x), or the approximation of Φ by tanh, which is a sigmoid."""
    return x * sigmoid(bent(x)) if approximate == "tanh" else 0.5 * x * erfc(-x / math.sqrt(2))


def gelu_vjp(g: Array, _y: Array, x: Array, *, approximate: str) -> Array:
    """Return g·(Φ(x) + x·φ(x)), or the derivative of the approximation."""
    return g * (bent_slope(x) if approximate == "tanh" else gelu_slope(x))


def gelu_in_torch(y: Array, x: Array, *, approximate: str) -> tuple[Array, Array | None]:
    """Return x·Φ(x) and its slope by PyTorch's Φ."""
    if approximate == "tanh":
        return y, None
    share = normal_share(x)
    return x * share, share + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def elu_vjp(g: Array, _y: Array, x: Array, *, alpha: float) -> Array:
    """Return g, and g·α·exp(x) up to 0."""
    return np.where(x <= 0, g * alpha * np.exp(np.where(x < 0, x, 0.0)), g)


def softmax(x: Array, dim: int) -> Array:
    """Return exp x / Σ exp x, shifted so that nothing overflows."""
    shifted = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return shifted / np.sum(shifted, axis=dim, keepdims=True)


NEARLY = 0.999
"""From here on, 1 - y of an entry y of softmax is taken as the sum of the others."""


def softmax_vjp(g: Array, y: Array, _x: Array, *, dim: int) -> Array:
    """Return y·(g - Σ g·y); where one entry is nearly 1, for the distances of g from its own."""
    if np.any(y > NEARLY):
        own = np.take_along_axis(g, np.argmax(y, axis=dim, keepdims=True), axis=dim)
        g = g - np.where(np.isfinite(own), own, 0.0)
    return y * (g - np.sum(g * y, axis=dim, keepdims=True))


def sum_of_others(x: Array, dim: int) -> Array:
    """Return 1 - softmax(x): for the largest entry the sum of the others."""
    top = np.argmax(x, axis=dim, keepdims=True)
    shifted = np.exp(x - np.take_along_axis(x, top, axis=dim))
    others = shifted.copy()
    np.put_along_axis(others, top, 0.0, axis=dim)
    rest, total = (np.sum(part, axis=dim, keepdims=True) for part in (others, shifted))
    found = 1 - shifted / total
    np.put_along_axis(found, top, rest / total, axis=dim)
    return found


def softmax_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links | Contraction]:
    """Link y[i] to x[i] with y[i]·(1 - y[i]) and to x[j] with -y[i]·y[j]."""
    del argument
    dim, own = static["dim"], all_entries(out)
    itself = Links(own, own, 1.0, Explicit(lambda s, y: y * (1 - y)), ((OUT, own),))
    if np.any(out > NEARLY):
        text = "(1 - softmax({}))" if np.ndim(out) == 1 else f"(1 - softmax({{}}, dim={dim}))"
        auxiliary = (text, sum_of_others(values[0], dim))
        itself = Links(own, own, 1.0, Explicit(lambda s, y, rest: y * rest), ((OUT, own), (AUXILIARY, own)), auxiliary)
    return [
        itself,
        pairs_along(
            out, dim, Order.OTHER, -1.0, Explicit(lambda s, y, other: y * other), (OUT, "row"), (OUT, "column")
        ),
    ]


def log_softmax_local(
    argument: int, out: Array, values: tuple[Array, ...], static: Options
) -> list[Links | Contraction]:
    """Link y[i] to x[i] with -(exp(y[i]) - 1) and to x[j] with -exp(y[j])."""
    del argument, values
    own = all_entries(out)
    return [
        Links(own, own, 1.0, Explicit(lambda s, y: -s.expm1(y)), ((OUT, own),)),
        pairs_along(out, static["dim"], Order.OTHER, -1.0, Explicit(lambda s, other: s.exp(other)), (OUT, "column")),
    ]


def log_softmax(x: Array, dim: int) -> Array:
    """Return x - logsumexp(x), shifted first as PyTorch does: an infinite x gives nan."""
    shifted = x - np.max(x, axis=dim, keepdims=True)
    return shifted - log_of_sum(np.exp(shifted), dim)


def log_softmax_vjp(g: Array, y: Array, _x: Array, *, dim: int) -> Array:
    """Return g - exp(y)·Σg; where exp(y) is nearly 1, g·(1 - exp(y)) and the other g by themselves."""
    total = np.sum(g, axis=dim, keepdims=True)
    if not np.any(y > -1e-3):
        return g - np.exp(y) * total
    return g * -np.expm1(y) - np.exp(y) * (total - g)


BCE_FLOOR = float(np.float32(1e-12))
"""What PyTorch's ``binary_cross_entropy_backward`` does not let x·(1 - x) fall below: a float32 in its source."""


def bce(x: Array, t: Array) -> Array:
    """Return -t·log x - (1 - t)·log(1 - x), no logarithm below -100, as PyTorch takes it."""
    return (t - 1) * np.maximum(np.log1p(-x), -100.0) - t * np.maximum(np.log(x), -100.0)


def bce_vjp_target(g: Array, _y: Array, x: Array, _t: Array) -> Array:
    """Return g·log((1 - x)/x), around a half by atanh(1 - 2x)."""
    middle = np.abs(x - 0.5) < 0.25
    return g * np.where(middle, 2 * np.arctanh(1 - 2 * np.where(middle, x, 0.5)), np.log1p(-x) - np.log(x))


def bce_logits(x: Array, t: Array) -> Array:
    """Return (1 - t)·x + log(1 + exp(-x)), with x split off where it is negative."""
    return np.where(x < 0, -t * x, (1 - t) * x) + np.log1p(np.exp(-np.abs(x)))


def bce_logits_vjp(g: Array, _y: Array, x: Array, t: Array) -> Array:
    """Return g·(sigmoid(x) - t): from the other end where both are nearly 1, from the middle where x is small."""
    middle = (0.5 - t) + 0.5 * np.tanh(0.5 * x)
    return g * np.where(np.abs(x) < 1, middle, np.where(t > 0.5, (1 - t) - sigmoid(-x), sigmoid(x) - t))


def bce_vjp(g: Array, _y: Array, x: Array, t: Array) -> Array:
    """Return g·(x - t)/(x·(1 - x)), that product no smaller than PyTorch has it."""
    return g * (x - t) / np.maximum((1 - x) * x, BCE_FLOOR)


def bce_on(_ends: Indices, x: Array, t: Array) -> Array:
    """Return the cross entropy in exact numbers, with a logarithm of -100 at either end."""
    log_x, log_rest = np.where(x == 0, -100, np.log(x)), np.where(x == 1, -100, np.log1p(-x))
    return -t * log_x - (1 - t) * log_rest


def bce_logits_digits(_y: Array, x: Array, t: Array) -> Array:
    """Return the size of what sigmoid(x) - t is the difference of, from the end at which it is taken."""
    return np.where(t > 0.5, np.abs(1 - t) + sigmoid(-x), sigmoid(x) + np.abs(t))
