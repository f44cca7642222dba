"""Losses that few programs call, composed as PyTorch composes them, so that kinks and edges are PyTorch's."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from gradcli.ops.declare import OPS
from gradcli.ops.losses import DISTANCE, HUBER, as_numbers, same_shapes, without_derivative
from gradcli.ops.making import held_numbers
from gradcli.ops.neural import class_weights, read_classes
from gradcli.ops.signatures import Indices, Static
from gradcli.ops.spread import norm
from gradcli.ops.values import (
    MEAN,
    Reduction,
    Value,
    clamp_min,
    exp,
    how_reduced,
    log,
    logsigmoid,
    relu,
    require,
    sqrt,
    square,
    where,
)
from gradcli.ops.vocabulary import function

loss = partial(function, where="functional", family="neural")


def broadcast(name: str, *arrays: Value) -> None:
    """Refuse arrays whose shapes do not broadcast."""
    shapes = [x.shape for x in arrays]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        require(False, "shape", f"{name}: shapes {', '.join(map(str, shapes))} do not fit")


def require_as_many_axes(name: str, a: Value, b: Value, c: Value) -> None:
    """Refuse three arrays that do not have as many axes each."""
    shapes = f"{a.shape}, {b.shape} and {c.shape}"
    require(a.ndim == b.ndim == c.ndim, "shape", f"{name} takes arrays with as many axes each, not shapes {shapes}")


@loss("smooth_l1_loss", kinds="no no target")
def smooth_l1_loss(x: Value, target: Value, how: Reduction = MEAN, beta: float = 1.0) -> Value:
    """half the square of a difference over beta below beta, the difference less beta/2 above"""
    same_shapes(x, target, "smooth_l1_loss")
    require(beta >= 0, "value", f"smooth_l1_loss: beta cannot be negative, as {beta} is")
    return how(x.of(DISTANCE, target).of(HUBER, beta) / beta if beta else abs(x - target))


@loss("kl_div", kinds="no no yes")
def kl_div(x: Value, target: Value, how: Reduction = MEAN, log_target: bool = False) -> Value:
    """target*(log(target) - x), x being log-probabilities; with log_target the target too"""
    broadcast("kl_div", x, target)
    losses = exp(target) * (target - x) if log_target else target.of(OPS["xlogy"], target) - target * x
    if how.word != "batchmean":
        return how(losses)
    return losses.total() / x.shape[0] if x.ndim else losses.total()


@loss("poisson_nll_loss", kinds="no no yes")
def poisson_nll_loss(
    x: Value, target: Value, log_input: bool = True, full: bool = False,
    size_average: Static = None, eps: float = 1e-8, reduce: Static = None, reduction: Static = "mean",
) -> Value:  # fmt: skip
    """exp(x) - target*x, x being the log of the rate; without log_input x - target*log(x + eps)"""
    broadcast("poisson_nll_loss", x, target)
    losses = exp(x) - target * x if log_input else x - target * log(x + eps)
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        losses = losses + where(target <= 1, 0, stirling)
    return how_reduced(size_average, reduce, reduction)(losses)


@loss("gaussian_nll_loss", kinds="no no yes")
def gaussian_nll_loss(
    x: Value, target: Value, var: Value, full: bool = False, eps: float = 1e-6, reduction: Reduction = MEAN
) -> Value:
    """(log(var) + (x - target)**2/var)/2; a var below eps is eps, and its derivative is as if it were not"""
    broadcast("gaussian_nll_loss", x, target)
    require(not np.any(var.raw < 0), "value", "gaussian_nll_loss: a variance cannot be negative")
    var = spread_like(x, var)
    if np.any(var.raw < np.float64(eps)):
        var = var + clamp_min(eps - var, 0).detach()
    losses = 0.5 * (log(var) + square(x - target) / var)
    return reduction(losses + 0.5 * math.log(2 * math.pi) if full else losses)


def spread_like(x: Value, var: Value) -> Value:
    """Return variances in a shape that broadcasts to that of x: one for each entry or row; raises ``shape``."""
    if not isinstance(var.raw, np.ndarray) or var.shape == x.shape:
        return var
    if var.shape == x.shape[:-1]:
        return var.reshape(*var.shape, 1)
    lengths = [own for own, other in zip(x.shape, var.shape, strict=False) if own != other]
    fits = var.ndim == x.ndim and sum(lengths) > 0 and all(n in (1, m) for n, m in zip(var.shape, x.shape, strict=True))
    require(fits, "shape", f"gaussian_nll_loss: input has shape {x.shape}, var has shape {var.shape}")
    return var


@loss("hinge_embedding_loss", kinds="no no yes")
def hinge_embedding_loss(x: Value, target: Value, margin: float = 1.0, how: Reduction = MEAN) -> Value:
    """x where the target is 1, max(margin - x, 0) where it is -1, both where it is neither"""
    broadcast("hinge_embedding_loss", x, target)
    gap = clamp_min(margin - x, 0)
    return how(where(target == 1, 0, gap) + where(target == -1, 0, x))


@loss("margin_ranking_loss", kinds="no no yes")
def margin_ranking_loss(
    input1: Value, input2: Value, target: Value, margin: float = 0.0, how: Reduction = MEAN
) -> Value:
    """max(-target*(input1 - input2) + margin, 0)"""
    require_as_many_axes("margin_ranking_loss", input1, input2, target)
    broadcast("margin_ranking_loss", input1, input2, target)
    return how(clamp_min(-target * (input1 - input2) + margin, 0))


@loss("triplet_margin_loss", kinds="no no yes")
def triplet_margin_loss(
    anchor: Value, positive: Value, negative: Value, margin: float = 1.0, p: Static = 2.0, eps: float = 1e-6,
    swap: bool = False, how: Reduction = MEAN,
) -> Value:  # fmt: skip
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0), d being a norm of the difference"""
    require_as_many_axes("triplet_margin_loss", anchor, positive, negative)
    require(anchor.ndim, "shape", "triplet_margin_loss takes vectors or batches of them, not one number")
    require(margin > 0, "value", f"triplet_margin_loss: margin must be above 0, not {margin}")
    broadcast("triplet_margin_loss", anchor, positive, negative)

    def distance(x: Value, other: Value) -> Value:
        return norm(x - other + eps, p, -1)

    near, far = distance(anchor, positive), distance(anchor, negative)
    far = far.of(OPS["minimum"], distance(positive, negative)) if swap else far
    return how(clamp_min(margin + near - far, 0))


@loss("soft_margin_loss", kinds="no no yes")
def soft_margin_loss(x: Value, target: Value, how: Reduction = MEAN) -> Value:
    """log(1 + exp(-target*x)), targets being 1 and -1"""
    broadcast("soft_margin_loss", x, target)
    without_derivative("soft_margin_loss", target=target)
    return how(-logsigmoid(target * x))


@loss("cosine_embedding_loss", kinds="no no yes")
def cosine_embedding_loss(
    input1: Value, input2: Value, target: Value, margin: float = 0.0, how: Reduction = MEAN
) -> Value:
    """1 - cos of the angle where the target is 1, max(cos - margin, 0) where it is -1"""
    shapes = f"{input1.shape} and {input2.shape}"
    fits = target.ndim < 2 and input1.ndim == input2.ndim == target.ndim + 1 and target.shape in ((), input1.shape[:1])
    require(
        fits, "shape",
        f"cosine_embedding_loss takes vectors and a target for each, not shapes {shapes}, targets of shape "
        f"{target.shape}",
    )  # fmt: skip
    require(input1.shape == input2.shape, "shape", f"cosine_embedding_loss: shapes {shapes} do not fit")
    left, right = ((x * x).sum(x.ndim - 1) + 1e-12 for x in (input1, input2))
    cosine = (input1 * input2).sum(input1.ndim - 1) / sqrt(left * right)
    apart, near = clamp_min(cosine - margin, 0), 1 - cosine
    return how(where(target == 1, near, 0) + where(target == -1, apart, 0))


@loss("multi_margin_loss", kinds="no no integers")
def multi_margin_loss(
    x: Value, target: Value, p: Static = 1, margin: float = 1.0, weight: Value | None = None, how: Reduction = MEAN
) -> Value:
    """the mean over the classes of max(margin - x[target] + x, 0)**p, the target's own left out"""
    require(p in (1, 2), "value", f"multi_margin_loss: p is 1 or 2, not {p!r}")
    require(x.ndim <= 2, "shape", f"multi_margin_loss takes a vector or a matrix of scores, not shape {x.shape}")
    if x.ndim == 1 and target.shape == (1,):
        x = x.reshape(1, -1)
    if weight is not None:
        class_weights(x, weight, "multi_margin_loss")
        without_derivative("multi_margin_loss", weight=weight)
    classes = read_classes(x, target, np.nan, "multi_margin_loss")
    own = x[classes.key]
    gaps = relu(margin - own.reshape(*own.shape, 1) + x)
    gaps = square(gaps) if p == 2 else gaps
    if weight is not None:
        picked = weight[classes.classes if x.ndim > 1 else int(classes.classes)]
        gaps = gaps * picked.reshape(*picked.shape, 1)
    is_own = np.arange(x.shape[-1]) == classes.classes[..., None]
    return how(where(as_numbers(is_own), 0, gaps).sum(gaps.ndim - 1) / x.shape[-1])


def read_labels(x: Value, target: Value) -> Indices:
    """Return the labels of each row up to the first -1, and -1 from there on; raises ``shape`` or ``value``."""
    labels, name = held_numbers(target), "multilabel_margin_loss"
    fits = labels.shape == x.shape and 1 <= x.ndim <= 2
    require(fits, "shape", f"{name}: input has shape {x.shape}, target has {labels.shape}")
    odd = (labels != np.floor(labels)) | (labels < -1) | (labels >= x.shape[-1])
    require(not np.any(odd), "value", f"{name}: labels must be integers from -1 to {x.shape[-1] - 1}")
    return np.where(np.cumsum(labels == -1, axis=-1) > 0, -1, labels).astype(np.intp)


@loss("multilabel_margin_loss", kinds="no no integers")
def multilabel_margin_loss(x: Value, target: Value, how: Reduction = MEAN) -> Value:
    """the sum of max(1 - x[label] + x, 0) over the labels and all other classes, over the number of classes"""
    count = x.shape[-1] if x.ndim else 0
    labels = read_labels(x, target).reshape(-1, count)
    rows = x.reshape(-1, count)
    is_label = (labels[:, :, None] == np.arange(count)).any(axis=1)
    own = rows[np.arange(len(labels))[:, None], np.maximum(labels, 0)]
    gaps = relu(1 - own.reshape(-1, count, 1) + rows.reshape(-1, 1, count))
    counts = (labels >= 0)[:, :, None] & ~is_label[:, None, :]
    return how((where(as_numbers(counts), gaps, 0).sum(1, 2) / count).reshape(*x.shape[:-1]))


@loss("multilabel_soft_margin_loss", kinds="no no yes")
def multilabel_soft_margin_loss(x: Value, target: Value, weight: Value | None = None, how: Reduction = MEAN) -> Value:
    """the binary cross entropy of the scores of each label, in the mean over the labels"""
    require(x.ndim, "shape", "multilabel_soft_margin_loss takes scores for each label, not one number")
    losses = -(target * logsigmoid(x) + (1 - target) * logsigmoid(-x))
    losses = losses if weight is None else losses * weight
    return how(losses.sum(losses.ndim - 1) / x.shape[-1])
