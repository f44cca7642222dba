"""Losses, with what PyTorch's take: weights, classes to ignore, smoothed labels, and ways to reduce."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.activations import (
    BCE_FLOOR,
    bce,
    bce_logits,
    bce_logits_digits,
    bce_logits_vjp,
    bce_on,
    bce_vjp,
    bce_vjp_target,
)
from gradcli.ops.arithmetic import ADD, DIV, MUL, SUB
from gradcli.ops.axes import number
from gradcli.ops.declare import OPS, Apply, Op, declare
from gradcli.ops.entrywise import broadcast_index, elementwise
from gradcli.ops.links import Links, Partial
from gradcli.ops.making import held_numbers
from gradcli.ops.parts import Piecewise
from gradcli.ops.piecewise import ABS, BENT
from gradcli.ops.reductions import MEAN, SUM
from gradcli.ops.signatures import Array, Expression, Mask, Options, Static, Symbols, Tensor
from gradcli.ops.vocabulary import function
from gradcli.ops.writing import each_loss


def how_reduced(reduction: Static, size_average: Static, reduce: Static) -> Static:
    """Return ``reduction``, or what PyTorch's older flags say in its place; raises ``value`` for a word among these."""
    if isinstance(size_average, str) or isinstance(reduce, str):
        word = size_average if isinstance(size_average, str) else reduce
        raise GradcliError("value", f"{word!r} stands where size_average does", hint=f'write reduction="{word}"')
    if size_average is None and reduce is None:
        return reduction
    if reduce is not None and not reduce:
        return "none"
    return "mean" if size_average is None or size_average else "sum"


def reduce_loss(
    f: Apply, losses: Tensor, reduction: Static, size_average: Static = None, reduce: Static = None
) -> Tensor:
    """Return the mean, the sum, or the losses as they are."""
    how = how_reduced(reduction, size_average, reduce)
    if how == "none":
        return losses
    if how not in ("mean", "sum"):
        raise GradcliError("value", f"reduction must be 'mean', 'sum' or 'none', not {how!r}")
    return f(MEAN if how == "mean" else SUM, losses, dim=tuple(range(losses.ndim)), keepdim=False)


def total(f: Apply, x: Tensor) -> Tensor:
    """Return the sum of all entries."""
    return f(SUM, x, dim=tuple(range(x.ndim)), keepdim=False)


def as_numbers(mask: Mask) -> Array:
    """Return a constant condition as ones and zeros, as formulas list it."""
    return mask.astype(np.float64)


def huber(d: Array, delta: Array) -> Array:
    """Return d²/2 for a difference below delta, and the straight line δ·(|d| - δ/2) beyond."""
    size = np.abs(d)
    return np.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))[()]


def huber_vjp(g: Array, _y: Array, d: Array, delta: Array) -> Array:
    """Return g·d, and ±g·δ where the line is straight."""
    return np.where(d <= -delta, -g * delta, np.where(d >= delta, g * delta, d * g))


def huber_vjp_delta(g: Array, _y: Array, d: Array, delta: Array) -> Array:
    """Return 0, and g·(|d| - δ) where the line is straight."""
    return np.where(np.abs(d) < delta, 0.0, g * (np.abs(d) - delta))


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
        (huber_vjp, huber_vjp_delta),
        huber_local,
        lambda s, d, delta: s.where_gt(delta, s.abs(d), parabola(s, d, delta), straight(s, d, delta)),
        pieces=Piecewise(
            exactly.huber_piece,
            lambda piece, d, delta: np.where(piece == 0, d * d / 2, delta * (piece * d - delta / 2)),
        ),
        text="where(abs({0}) < {1}, 0.5*{0}**2, {1}*(abs({0}) - 0.5*{1}))",
        precedence=99,
        domain=((1.2, 2), (0.3, 1)),
    )
)


DISTANCE = replace(SUB, torch_saves=("0 1",))
"""The difference in a loss: PyTorch keeps what it is the difference of."""


def same_shapes(x: Tensor, target: Tensor, name: str, what: str = "target") -> None:
    """Refuse a target of another shape than the prediction: PyTorch's broadcasting there is a known trap."""
    if x.shape != target.shape:
        raise GradcliError("shape", f"{name}: input has shape {x.shape}, {what} has shape {target.shape}")


def without_derivative(f: Apply, name: str, **given: Tensor | None) -> None:
    """Remark on an argument that PyTorch refuses to differentiate by; its derivative here is the mathematical one."""
    for what, value in given.items():
        if getattr(value, "active", False):
            f.remark("torch-refuses", f"{name}: PyTorch has no derivative by {what}, and takes it as a constant alone.")


def times_weight(f: Apply, losses: Tensor, weight: Tensor | None) -> Tensor:
    """Return losses times their weights, where there are any."""
    return losses if weight is None else f(MUL, losses, weight)


def weighed(
    f: Apply, losses: Tensor, weight: Tensor | None, name: str, reduction: Static, size_average: Static, reduce: Static
) -> Tensor:
    """Return losses reduced; with weights of their shape they count by these, whose sum their mean is over."""
    if weight is None:
        return reduce_loss(f, losses, reduction, size_average, reduce)
    same_shapes(losses, weight, name, "weight")
    how, weighted = how_reduced(reduction, size_average, reduce), f(MUL, losses, weight)
    if how == "mean":
        return f(DIV, total(f, weighted), total(f, weight))
    return reduce_loss(f, weighted, how)


@function("mse_loss", "functional", "neural", kinds="no no yes")
def build_mse_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """the mean squared difference"""
    same_shapes(x, target, "mse_loss")
    squares = f(OPS["square"], f(DISTANCE, x, target))
    return weighed(f, squares, weight, "mse_loss", reduction, size_average, reduce)


@function("l1_loss", "functional", "neural", kinds="no no unmasked")
def build_l1_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """the mean absolute difference"""
    same_shapes(x, target, "l1_loss")
    return weighed(f, f(ABS, f(SUB, x, target)), weight, "l1_loss", reduction, size_average, reduce)


@function("huber_loss", "functional", "neural", kinds="no no target")
def build_huber_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    reduction: Static = "mean",
    delta: Static = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """half the square of a difference below delta, a straight line above"""
    same_shapes(x, target, "huber_loss")
    if not number(delta, "delta") > 0:
        raise GradcliError("value", f"huber_loss: delta must be above 0, not {delta}")
    losses = f(HUBER, f(DISTANCE, x, target), np.float64(number(delta, "delta")))
    if weight is not None:
        same_shapes(x, weight, "huber_loss", "weight")
    return reduce_loss(f, times_weight(f, losses, weight), reduction)


BCE = elementwise(
    "bce",
    bce,
    bce_vjp,
    bce_vjp_target,
    lambda s, x, t: -t * s.log(x) - (1 - t) * s.log(1 - x),
    spelled=None,
    slopes=lambda s, x, t: (s.bce_slope(x, t), s.bce_target_slope(x)),
    pieces=Piecewise(lambda x, t: exactly.sign_of(x) - exactly.sign_of(1 - x), bce_on),
    domain=((0.1, 0.9), (0, 1)),
    differs=lambda y, x, t: (1 - x) * x < BCE_FLOOR,
    says="its binary_cross_entropy keeps x*(1 - x) from below 1e-12, and logarithms from below -100",
    write=each_loss,
)
BCE_LOGITS = elementwise(
    "bce_with_logits",
    bce_logits,
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


def probabilities(f: Apply, x: Tensor) -> bool:
    """Return whether all entries lie between 0 and 1: beside a target of 1 the loss goes on."""
    values = held_numbers(f, x)
    return bool(np.all((values >= 0) & (values <= 1)))


@function("bce binary_cross_entropy", "functional", "neural", kinds="no no no")
def build_bce(
    f: Apply,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """the binary cross entropy of probabilities"""
    same_shapes(x, target, "binary_cross_entropy")
    if not (probabilities(f, x) and probabilities(f, target)):
        raise GradcliError(
            "value",
            "binary_cross_entropy takes probabilities and targets from 0 to 1",
            hint="for scores use binary_cross_entropy_with_logits",
        )
    without_derivative(f, "binary_cross_entropy", weight=weight)
    losses = f(BCE, x, target)
    return reduce_loss(f, times_weight(f, losses, weight), reduction, size_average, reduce)


@function("binary_cross_entropy_with_logits bce_with_logits", "functional", "neural", kinds="no no no")
def build_bce_logits(
    f: Apply,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """the binary cross entropy of scores, (1 - t)*x + softplus(-x)"""
    name = "binary_cross_entropy_with_logits"
    same_shapes(x, target, name)
    without_derivative(f, name, weight=weight, pos_weight=pos_weight)
    if pos_weight is None:
        losses = f(BCE_LOGITS, x, target)
    else:
        one = np.float64(1)
        share = f(ADD, f(MUL, f(SUB, pos_weight, one), target), one)
        losses = f(SUB, f(MUL, f(SUB, one, target), x), f(MUL, share, f(BENT["logsigmoid"], x)))
    return reduce_loss(f, times_weight(f, losses, weight), reduction, size_average, reduce)
