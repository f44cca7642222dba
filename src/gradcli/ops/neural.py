"""Softmax and its logarithm, losses of scores for classes, and layers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.activations import (
    log_softmax,
    log_softmax_local,
    log_softmax_vjp,
    softmax,
    softmax_local,
    softmax_vjp,
)
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, SUB
from gradcli.ops.axes import number, one_axis
from gradcli.ops.backward_texts import softmax_text_back
from gradcli.ops.declare import OPS, Apply, Op, declare, value_of
from gradcli.ops.indexing import INDEX
from gradcli.ops.linear_algebra import MATMUL, require_product
from gradcli.ops.losses import as_numbers, how_reduced, reduce_loss, total, without_derivative
from gradcli.ops.making import held_numbers
from gradcli.ops.parts import Paired
from gradcli.ops.piecewise import WHERE
from gradcli.ops.reductions import MEAN, SUM
from gradcli.ops.shaping import CLONE, RESHAPE, TRANSPOSE
from gradcli.ops.signatures import Array, Axes, Index, Indices, Library, Mask, Static, Tensor
from gradcli.ops.spread import VAR, unit_of
from gradcli.ops.vocabulary import function

SOFTMAX = declare(
    Op(
        "softmax",
        softmax,
        (softmax_vjp,),
        softmax_local,
        exactly=lambda x, dim: np.exp(x - exactly.logsumexp(x, dim, keepdim=True)),
        index=Paired("{y}[{i}]*(where({i} == {j}, 1, 0) - {y}[{j}])"),
        backward_text=softmax_text_back,
    )
)
LOG_SOFTMAX = declare(
    Op(
        "log_softmax",
        log_softmax,
        (log_softmax_vjp,),
        log_softmax_local,
        exactly=lambda x, dim: x - exactly.logsumexp(x, dim, keepdim=True),
        shaped=True,
        digits=lambda y, x, dim: 1 + np.exp(y),
        index=Paired("where({i} == {j}, 1, 0) - exp({y}[{j}])"),
    )
)


def normalised(f: Apply, op: Op, x: Tensor, dim: Static, library: str) -> Tensor:
    """Return softmax or its logarithm along ``dim``, which only a vector may leave out."""
    if dim is None and x.ndim < 2 and library != "F":
        f.remark("torch-refuses", f"{op.name} without dim: PyTorch needs it, but under the name F.{op.name}.")
    if not x.ndim:
        return f(RESHAPE, f(op, f(RESHAPE, x, shape=(1,)), dim=0), shape=())
    if dim is None and x.ndim > 1:
        raise GradcliError(
            "value", f"{op.name} of shape {x.shape} needs dim", hint=f"write {op.name}(..., dim=-1) for each row"
        )
    axis = one_axis(-1 if dim is None else dim, x.ndim)
    if not x.shape[axis]:
        return f(CLONE, x)
    return f(op, x, dim=axis)


@function("softmax", "torch functional special method dtype", "neural", op=SOFTMAX, kinds="no no yes")
def build_softmax(f: Apply, x: Tensor, dim: Static = None, library: Library = "torch") -> Tensor:
    """exp(x)/sum(exp(x)) along dim, which a vector may leave out"""
    return normalised(f, SOFTMAX, x, dim, library)


@function("log_softmax", "torch functional special method dtype", "neural", op=LOG_SOFTMAX, kinds="no no yes")
def build_log_softmax(f: Apply, x: Tensor, dim: Static = None, library: Library = "torch") -> Tensor:
    """log(softmax(x)) along dim, which a vector may leave out"""
    return normalised(f, LOG_SOFTMAX, x, dim, library)


class Classes(NamedTuple):
    """The ``classes`` of a target, 0 for those that are not ``kept``; ``key`` picks theirs from the scores."""

    classes: Indices
    key: Index
    kept: Mask


def read_classes(f: Apply, x: Tensor, target: Tensor, ignore_index: Static, name: str) -> Classes:
    """Return the classes of a target; raises ``shape`` where they do not fit the scores, ``value`` for others."""
    classes, axis = held_numbers(f, target), class_axis(x, name)
    if classes.shape != x.shape[:axis] + x.shape[axis + 1 :]:
        raise GradcliError(
            "shape", f"{name}: scores of shape {x.shape} and classes of shape {classes.shape} do not fit"
        )
    kept = np.asarray(classes != number(ignore_index, "ignore_index"))
    if np.any(kept & ((classes != np.floor(classes)) | (classes < 0) | (classes >= x.shape[axis]))):
        raise GradcliError("value", f"{name}: classes must be integers from 0 to {x.shape[axis] - 1}")
    whole = np.where(kept, classes, 0).astype(np.intp)
    if x.ndim == 1:
        return Classes(whole, (int(whole),), kept)
    first, *others = np.indices(whole.shape)
    return Classes(whole, (np.asarray(first), whole, *map(np.asarray, others)), kept)


def class_axis(x: Tensor, name: str) -> int:
    """Return the axis of the classes: the second, or that of a vector; raises ``shape`` for one number."""
    if not x.ndim:
        raise GradcliError("shape", f"{name} takes scores for each class, not one number")
    return 0 if x.ndim == 1 else 1


def class_weights(x: Tensor, weight: Tensor, name: str) -> None:
    """Refuse weights that are not one for each class."""
    count = x.shape[class_axis(x, name)]
    if weight.shape != (count,):
        raise GradcliError("shape", f"{name}: weight has shape {weight.shape}, and there are {count} classes")


def unless_ignored(f: Apply, losses: Tensor, kept: Mask) -> Tensor:
    """Return losses with 0 where the class is ignored."""
    return losses if np.all(kept) else f(WHERE, as_numbers(kept), losses, np.float64(0))


def picked_loss(f: Apply, logs: Tensor, target: Classes, weight: Tensor | None, how: Static) -> Tensor:
    """Return minus the logarithms at the target's classes, weighed; the mean is over the weights of what is kept."""
    losses = f(NEG, f(INDEX, logs, key=target.key))
    if weight is None:
        losses = unless_ignored(f, losses, target.kept)
        if how == "mean" and not np.all(target.kept):
            return f(DIV, total(f, losses), np.float64(np.sum(target.kept)))
        return reduce_loss(f, losses, how)
    own = f(INDEX, weight, key=target.classes if target.classes.ndim else int(target.classes))
    losses = unless_ignored(f, f(MUL, losses, own), target.kept)
    if how == "mean":
        return f(DIV, total(f, losses), total(f, unless_ignored(f, own, target.kept)))
    return reduce_loss(f, losses, how)


@function("nll_loss", "functional", "neural", kinds="no no integers")
def build_nll_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Static = None,
    ignore_index: Static = -100,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """minus the log-probability of the target's class"""
    if weight is not None:
        class_weights(x, weight, "nll_loss")
        without_derivative(f, "nll_loss", weight=weight)
    classes = read_classes(f, x, target, ignore_index, "nll_loss")
    return picked_loss(f, x, classes, weight, how_reduced(reduction, size_average, reduce))


@function("cross_entropy", "functional", "neural", kinds="no no integers")
def build_cross_entropy(
    f: Apply,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Static = None,
    ignore_index: Static = -100,
    reduce: Static = None,
    reduction: Static = "mean",
    label_smoothing: Static = 0.0,
) -> Tensor:
    """minus the log-softmax of the scores at the target's class, or weighed by the target's probabilities"""
    axis, smoothing = class_axis(x, "cross_entropy"), number(label_smoothing, "label_smoothing")
    if smoothing > 1:
        raise GradcliError("value", f"cross_entropy: label_smoothing is from 0 to 1, not {smoothing}")
    if weight is not None:
        class_weights(x, weight, "cross_entropy")
    how = how_reduced(reduction, size_average, reduce)
    logs = normalised(f, LOG_SOFTMAX, x, axis, "F")
    if target.shape == x.shape:
        if ignore_index not in (-100, None) and number(ignore_index, "ignore_index") >= 0:
            raise GradcliError("value", "cross_entropy: ignore_index goes with classes, not with probabilities")
        return shared_loss(f, logs, target, weight, how, smoothing)
    without_derivative(f, "cross_entropy", weight=weight)
    classes = read_classes(f, x, target, ignore_index, "cross_entropy")
    picked = picked_loss(f, logs, classes, weight, how)
    if smoothing <= 0:
        return picked
    smooth = smooth_loss(f, logs, classes, weight, how)
    return f(ADD, f(MUL, np.float64(1 - smoothing), picked), f(MUL, smooth, np.float64(smoothing / x.shape[axis])))


def along_classes(f: Apply, logs: Tensor, weight: Tensor) -> Tensor:
    """Return weights of classes with the axes that broadcast along the scores."""
    axis = class_axis(logs, "cross_entropy")
    return f(RESHAPE, weight, shape=(-1, *(1,) * (logs.ndim - 1 - axis)))


def smooth_loss(f: Apply, logs: Tensor, target: Classes, weight: Tensor | None, how: Static) -> Tensor:
    """Return minus the sum of the logarithms of all classes, weighed: what smoothing takes beside the target's."""
    axis = class_axis(logs, "cross_entropy")
    terms = logs if weight is None else f(MUL, logs, along_classes(f, logs, weight))
    losses = unless_ignored(f, f(NEG, f(SUM, terms, dim=(axis,), keepdim=False)), target.kept)
    if how != "mean":
        return reduce_loss(f, losses, how)
    if weight is None:
        return f(DIV, total(f, losses), np.float64(np.sum(target.kept)))
    own = f(INDEX, weight, key=target.classes if target.classes.ndim else int(target.classes))
    return f(DIV, total(f, losses), total(f, unless_ignored(f, own, target.kept)))


def shared_loss(f: Apply, logs: Tensor, target: Tensor, weight: Tensor | None, how: Static, smoothing: float) -> Tensor:
    """Return minus the logarithms weighed by the target's probabilities, which smoothing draws to each other."""
    axis = class_axis(logs, "cross_entropy")
    if smoothing > 0:
        even = np.float64(smoothing / logs.shape[axis])
        target = f(ADD, f(MUL, target, np.float64(1 - smoothing)), even)
    terms = f(MUL, target, logs)
    if weight is not None:
        terms = f(MUL, terms, along_classes(f, logs, weight))
    return reduce_loss(f, f(NEG, f(SUM, terms, dim=(axis,), keepdim=False)), how)


@function("linear", "functional", "neural", kinds="no same no")
def build_linear(f: Apply, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias"""
    turned = f(TRANSPOSE, weight, dims=tuple(reversed(range(weight.ndim))))
    require_product(x, turned, "linear")
    product = f(MATMUL, x, turned)
    return product if bias is None else f(ADD, product, bias)


def require_last_axes(x: Tensor, normalized_shape: Static, name: str) -> Axes:
    """Return the last axes, whose lengths have to be those given; raises ``shape``."""
    wanted = normalized_shape if isinstance(normalized_shape, tuple) else (normalized_shape,)
    if not wanted or not all(type(length) is int for length in wanted) or x.shape[-len(wanted) :] != wanted:
        raise GradcliError("shape", f"{name} over {wanted}: the array has shape {x.shape}")
    return tuple(range(x.ndim - len(wanted), x.ndim))


def standardised(f: Apply, x: Tensor, axes: Axes, eps: Static) -> Tensor:
    """Return (x - mean)/sqrt(var + eps) over axes."""

    def parts(x: Tensor) -> tuple[Tensor, Tensor]:
        centred = f(SUB, x, f(MEAN, x, dim=axes, keepdim=True))
        return centred, f(VAR, x, dim=axes, keepdim=True, correction=0.0)

    centred, spread = parts(x)
    least: Array | np.float64 = np.float64(number(eps, "eps"))
    unit = unit_beside(least, value_of(x), value_of(spread), axes)
    if unit is not None:
        centred, spread = parts(f(DIV, x, unit))
        least = least / unit / unit
    return f(DIV, centred, f(OPS["sqrt"], f(ADD, spread, least)))


def unit_beside(least: Array | np.float64, x: Array, squares: Array, axes: Axes) -> Array | None:
    """Return units in which squares of the entries, and ``least``, are doubles; None where they are as they stand."""
    unit = unit_of(x, squares, axes)
    if unit is None or not least:
        return unit
    unit = np.maximum(unit, 1.0)
    return unit if np.any(unit > 1) else None


@function("layer_norm", "torch functional", "neural", kinds="no no no")
def build_layer_norm(
    f: Apply,
    x: Tensor,
    normalized_shape: Static,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Static = 1e-5,
) -> Tensor:
    """(x - mean)/sqrt(var + eps) over the last axes, times weight plus bias"""
    axes = require_last_axes(x, normalized_shape, "layer_norm")
    result = standardised(f, x, axes, eps)
    result = result if weight is None else f(MUL, result, weight)
    return result if bias is None else f(ADD, result, bias)
