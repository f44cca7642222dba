"""Losses, with what PyTorch's take: weights, classes to ignore, smoothed labels, and ways to reduce."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.arithmetic import SUB
from gradcli.ops.declare import Op, declare
from gradcli.ops.entrywise import broadcast_index, elementwise
from gradcli.ops.links import Links, Partial
from gradcli.ops.making import held_numbers
from gradcli.ops.parts import Piecewise
from gradcli.ops.signatures import Array, Expression, Indices, Mask, Options, Symbols
from gradcli.ops.slopes import sigmoid
from gradcli.ops.values import MEAN, Reduction, Value, logsigmoid, require, square
from gradcli.ops.vocabulary import function
from gradcli.ops.writing import each_loss


def as_numbers(mask: Mask) -> Array:
    """Return a constant condition as ones and zeros, as formulas list it."""
    return mask.astype(np.float64)


def huber(d: Array, delta: Array) -> Array:
    """Return d²/2 for a difference below delta, and the straight line δ·(|d| - δ/2) beyond."""
    size = np.abs(d)
    return np.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))[()]


def parabola(s: Symbols, d: Expression, delta: Expression) -> Expression:  # noqa: ARG001
    """Return the formula of the Huber loss around 0."""
    return d**2 / 2


def straight(s: Symbols, d: Expression, delta: Expression) -> Expression:
    """Return the formula of the Huber loss beyond delta."""
    return delta * (s.abs(d) - delta / 2)


def huber_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each entry by the derivative of the piece that it lies on."""
    del static
    near = np.broadcast_to(np.abs(values[0]) < values[1], np.shape(out)).ravel()
    links = []
    for piece, rows in ((parabola, np.flatnonzero(near)), (straight, np.flatnonzero(~near))):
        bound = tuple((k, broadcast_index(out, values, k)[rows]) for k in (0, 1))
        links.append(Links(rows, bound[argument][1], 1.0, Partial(piece, argument), bound))
    return links


HUBER = declare(
    Op(
        "huber",
        huber,
        (
            lambda g, _y, d, delta: np.where(d <= -delta, -g * delta, np.where(d >= delta, g * delta, d * g)),
            lambda g, _y, d, delta: np.where(np.abs(d) < delta, 0.0, g * (np.abs(d) - delta)),
        ),
        huber_local,
        lambda s, d, delta: s.where_gt(delta, s.abs(d), parabola(s, d, delta), straight(s, d, delta)),
        pieces=Piecewise(
            exactly.huber_piece,
            lambda piece, d, delta: np.where(piece == 0, d * d / 2, delta * (piece * d - delta / 2)),
        ),
        text="where(abs({0}) < {1}, 0.5*{0}**2, {1}*(abs({0}) - 0.5*{1}))",
        precedence=99,
        domain=((1.2, 2), (0.3, 1)),
        backward_text=("{g}*where(abs({0}) < {1}, {0}, {1}*sign({0}))",),
    )
)


DISTANCE = replace(SUB, torch_saves=("0 1",))
"""The difference in a loss: PyTorch keeps what it is the difference of."""


def same_shapes(x: Value, target: Value, name: str, what: str = "target") -> None:
    """Refuse a target of another shape than the prediction: PyTorch's broadcasting there is a known trap."""
    require(x.shape == target.shape, "shape", f"{name}: input has shape {x.shape}, {what} has shape {target.shape}")


def without_derivative(name: str, **given: Value | None) -> None:
    """Remark on an argument that PyTorch refuses to differentiate by; its derivative here is the mathematical one."""
    for what, value in given.items():
        if value is not None and value.active:
            said = f"{name}: PyTorch has no derivative by {what}, and takes it as a constant alone."
            value.f.remark("torch-refuses", said)


def weighed(losses: Value, weight: Value | None, name: str, how: Reduction) -> Value:
    """Return losses reduced; with weights of their shape they count by these, whose sum their mean is over."""
    if weight is None:
        return how(losses)
    same_shapes(losses, weight, name, "weight")
    weighted = losses * weight
    return weighted.total() / weight.total() if how.word == "mean" else how(weighted)


@function("mse_loss", "functional", "neural", kinds="no no yes")
def mse_loss(x: Value, target: Value, how: Reduction = MEAN, weight: Value | None = None) -> Value:
    """the mean squared difference"""
    same_shapes(x, target, "mse_loss")
    return weighed(square(x.of(DISTANCE, target)), weight, "mse_loss", how)


@function("l1_loss", "functional", "neural", kinds="no no unmasked")
def l1_loss(x: Value, target: Value, how: Reduction = MEAN, weight: Value | None = None) -> Value:
    """the mean absolute difference"""
    same_shapes(x, target, "l1_loss")
    return weighed(abs(x - target), weight, "l1_loss", how)


@function("huber_loss", "functional", "neural", kinds="no no target")
def huber_loss(
    x: Value, target: Value, reduction: Reduction = MEAN, delta: float = 1.0, weight: Value | None = None
) -> Value:
    """half the square of a difference below delta, a straight line above"""
    same_shapes(x, target, "huber_loss")
    require(delta > 0, "value", f"huber_loss: delta must be above 0, not {delta}")
    losses = x.of(DISTANCE, target).of(HUBER, delta)
    if weight is not None:
        same_shapes(x, weight, "huber_loss", "weight")
    return reduction(losses if weight is None else losses * weight)


BCE_FLOOR = float(np.float32(1e-12))
"""What PyTorch's ``binary_cross_entropy_backward`` does not let x·(1 - x) fall below: a float32 in its source."""


def bce(x: Array, t: Array) -> Array:
    """Return -t·log x - (1 - t)·log(1 - x), no logarithm below -100, as PyTorch takes it."""
    return (t - 1) * np.maximum(np.log1p(-x), -100.0) - t * np.maximum(np.log(x), -100.0)


def bce_vjp_target(g: Array, _y: Array, x: Array, _t: Array) -> Array:
    """Return g·log((1 - x)/x), around a half by atanh(1 - 2x)."""
    middle = np.abs(x - 0.5) < 0.25
    return g * np.where(middle, 2 * np.arctanh(1 - 2 * np.where(middle, x, 0.5)), np.log1p(-x) - np.log(x))


def bce_logits_vjp(g: Array, _y: Array, x: Array, t: Array) -> Array:
    """Return g·(sigmoid(x) - t): from the other end where both are nearly 1, from the middle where x is small."""
    middle = (0.5 - t) + 0.5 * np.tanh(0.5 * x)
    return g * np.where(np.abs(x) < 1, middle, np.where(t > 0.5, (1 - t) - sigmoid(-x), sigmoid(x) - t))


def bce_on(_ends: Indices, x: Array, t: Array) -> Array:
    """Return the cross entropy in exact numbers, with a logarithm of -100 at either end."""
    log_x, log_rest = np.where(x == 0, -100, np.log(x)), np.where(x == 1, -100, np.log1p(-x))
    return -t * log_x - (1 - t) * log_rest


def bce_logits_digits(_y: Array, x: Array, t: Array) -> Array:
    """Return the size of what sigmoid(x) - t is the difference of, from the end at which it is taken."""
    return np.where(t > 0.5, np.abs(1 - t) + sigmoid(-x), sigmoid(x) + np.abs(t))


BCE = elementwise(
    "bce",
    bce,
    lambda g, _y, x, t: g * (x - t) / np.maximum((1 - x) * x, BCE_FLOOR),
    bce_vjp_target,
    lambda s, x, t: -t * s.log(x) - (1 - t) * s.log(1 - x),
    spelled=None,
    slopes=lambda s, x, t: (s.bce_slope(x, t), s.bce_target_slope(x)),
    pieces=Piecewise(lambda x, t: exactly.sign_of(x) - exactly.sign_of(1 - x), bce_on),
    domain=((0.1, 0.9), (0, 1)),
    backward_text=(
        ("{g}*({0} - {1})/({0}*(1 - {0}))", f"{{g}}*({{0}} - {{1}})/maximum((1 - {{0}})*{{0}}, {BCE_FLOOR!r})"),
        "{g}*(log(1 - {0}) - log({0}))",
    ),
    differs=lambda y, x, t: (1 - x) * x < BCE_FLOOR,
    says="its binary_cross_entropy keeps x*(1 - x) from below 1e-12, and logarithms from below -100",
    write=each_loss,
)
BCE_LOGITS = elementwise(
    "bce_with_logits",
    lambda x, t: np.where(x < 0, -t * x, (1 - t) * x) + np.log1p(np.exp(-np.abs(x))),
    bce_logits_vjp,
    lambda g, _y, x, _t: -x * g,
    lambda s, x, t: (1 - t) * x - s.logsigmoid(x),
    spelled=None,
    slopes=lambda s, x, t: (s.logits_slope(x, t), -x),
    exactly=lambda x, t: (1 - t) * x - exactly.logsigmoid(x),
    digits=bce_logits_digits,
    write=each_loss,
    backward_text=("{g}*(sigmoid({0}) - {1})", "-{g}*{0}"),
)


def are_probabilities(x: Value) -> bool:
    """Return whether all entries lie between 0 and 1: beside a target of 1 the loss goes on."""
    values = held_numbers(x)
    return bool(np.all((values >= 0) & (values <= 1)))


@function("bce binary_cross_entropy", "functional", "neural", kinds="no no no")
def bce_loss(x: Value, target: Value, weight: Value | None = None, how: Reduction = MEAN) -> Value:
    """the binary cross entropy of probabilities"""
    same_shapes(x, target, "binary_cross_entropy")
    said = "binary_cross_entropy takes probabilities and targets from 0 to 1"
    fits = are_probabilities(x) and are_probabilities(target)
    require(fits, "value", said, hint="for scores use binary_cross_entropy_with_logits")
    without_derivative("binary_cross_entropy", weight=weight)
    losses = x.of(BCE, target)
    return how(losses if weight is None else losses * weight)


@function("binary_cross_entropy_with_logits bce_with_logits", "functional", "neural", kinds="no no no")
def bce_loss_of_scores(
    x: Value, target: Value, weight: Value | None = None, how: Reduction = MEAN, pos_weight: Value | None = None
) -> Value:
    """the binary cross entropy of scores, (1 - target)*x + softplus(-x)"""
    name = "binary_cross_entropy_with_logits"
    same_shapes(x, target, name)
    without_derivative(name, weight=weight, pos_weight=pos_weight)
    if pos_weight is None:
        losses = x.of(BCE_LOGITS, target)
    else:
        share = (pos_weight - 1) * target + 1
        losses = (1 - target) * x - share * logsigmoid(x)
    return how(losses if weight is None else losses * weight)
