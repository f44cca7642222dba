"""Losses of several classes or labels by margins, and of the angle between vectors."""

from __future__ import annotations

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, SUB
from gradcli.ops.axes import number
from gradcli.ops.declare import OPS, Apply
from gradcli.ops.further.neural_losses import LOGSIGMOID, ONE, SQUARE, ZERO, positive_part, where_is
from gradcli.ops.indexing import INDEX
from gradcli.ops.losses import as_numbers, reduce_loss, without_derivative
from gradcli.ops.making import held_numbers
from gradcli.ops.neural import class_weights, read_classes
from gradcli.ops.piecewise import BENT, WHERE
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.signatures import Indices, Static, Tensor
from gradcli.ops.vocabulary import function

RELU = BENT["relu"]
MAGNITUDE_EPS = np.float64(1e-12)
"""What PyTorch's cosine_embedding_loss adds to the squared length of a vector."""


def along_rows(f: Apply, x: Tensor) -> Tensor:
    """Return the sum along the last axis."""
    return f(SUM, x, dim=(x.ndim - 1,), keepdim=False)


@function("cosine_embedding_loss", "functional", "neural", kinds="no no yes")
def build_cosine_embedding_loss(
    f: Apply,
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: Static = 0.0,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """1 - cos of the angle where the target is 1, max(cos - margin, 0) where it is -1"""
    axes = target.ndim + 1
    if target.ndim > 1 or input1.ndim != axes or input2.ndim != axes or target.shape not in ((), input1.shape[:1]):
        shapes = f"{input1.shape} and {input2.shape}, targets of shape {target.shape}"
        raise GradcliError("shape", f"cosine_embedding_loss takes vectors and a target for each, not shapes {shapes}")
    if input1.shape != input2.shape:
        raise GradcliError("shape", f"cosine_embedding_loss: shapes {input1.shape} and {input2.shape} do not fit")
    sizes = [f(ADD, along_rows(f, f(MUL, x, x)), MAGNITUDE_EPS) for x in (input1, input2)]
    cosine = f(DIV, along_rows(f, f(MUL, input1, input2)), f(OPS["sqrt"], f(MUL, *sizes)))
    apart = positive_part(f, f(SUB, cosine, np.float64(number(margin, "margin"))))
    losses = f(ADD, where_is(f, target, 1, f(SUB, ONE, cosine)), where_is(f, target, -1, apart))
    return reduce_loss(f, losses, reduction, size_average, reduce)


@function("multi_margin_loss", "functional", "neural", kinds="no no integers")
def build_multi_margin_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    p: Static = 1,
    margin: Static = 1.0,
    weight: Tensor | None = None,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """the mean over the classes of max(margin - x[target] + x, 0)**p, the target's own left out"""
    if p not in (1, 2):
        raise GradcliError("value", f"multi_margin_loss: p is 1 or 2, not {p!r}")
    if x.ndim > 2:
        raise GradcliError("shape", f"multi_margin_loss takes a vector or a matrix of scores, not shape {x.shape}")
    if x.ndim == 1 and target.shape == (1,):
        x = f(RESHAPE, x, shape=(1, -1))
    if weight is not None:
        class_weights(x, weight, "multi_margin_loss")
        without_derivative(f, "multi_margin_loss", weight=weight)
    classes = read_classes(f, x, target, np.nan, "multi_margin_loss")
    own = f(INDEX, x, key=classes.key)
    own = f(RESHAPE, own, shape=(*own.shape, 1))
    gaps = f(RELU, f(ADD, f(SUB, np.float64(number(margin, "margin")), own), x))
    gaps = f(SQUARE, gaps) if p == 2 else gaps
    if weight is not None:
        picked = f(INDEX, weight, key=classes.classes if x.ndim > 1 else int(classes.classes))
        gaps = f(MUL, gaps, f(RESHAPE, picked, shape=(*picked.shape, 1)))
    is_own = np.arange(x.shape[-1]) == classes.classes[..., None]
    losses = f(DIV, along_rows(f, f(WHERE, as_numbers(is_own), ZERO, gaps)), np.float64(x.shape[-1]))
    return reduce_loss(f, losses, reduction, size_average, reduce)


def read_labels(f: Apply, x: Tensor, target: Tensor) -> Indices:
    """Return the labels of each row up to the first -1, and -1 from there on; raises ``shape`` or ``value``."""
    labels = held_numbers(f, target)
    if labels.shape != x.shape or not 1 <= x.ndim <= 2:
        raise GradcliError("shape", f"multilabel_margin_loss: input has shape {x.shape}, target has {labels.shape}")
    if np.any((labels != np.floor(labels)) | (labels < -1) | (labels >= x.shape[-1])):
        raise GradcliError("value", f"multilabel_margin_loss: labels must be integers from -1 to {x.shape[-1] - 1}")
    ended = np.cumsum(labels == -1, axis=-1) > 0
    return np.where(ended, -1, labels).astype(np.intp)


@function("multilabel_margin_loss", "functional", "neural", kinds="no no integers")
def build_multilabel_margin_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """the sum of max(1 - x[label] + x, 0) over the labels and all other classes, over the number of classes"""
    labels = read_labels(f, x, target)
    count = x.shape[-1]
    rows = f(RESHAPE, x, shape=(-1, count))
    flat = labels.reshape(-1, count)
    is_label = (flat[:, :, None] == np.arange(count)).any(axis=1)
    own = f(INDEX, rows, key=(np.arange(len(flat))[:, None], np.maximum(flat, 0)))
    gaps = f(RELU, f(ADD, f(SUB, ONE, f(RESHAPE, own, shape=(-1, count, 1))), f(RESHAPE, rows, shape=(-1, 1, count))))
    counts = (flat >= 0)[:, :, None] & ~is_label[:, None, :]
    sums = f(SUM, f(WHERE, as_numbers(counts), gaps, ZERO), dim=(1, 2), keepdim=False)
    losses = f(RESHAPE, f(DIV, sums, np.float64(count)), shape=x.shape[:-1])
    return reduce_loss(f, losses, reduction, size_average, reduce)


@function("multilabel_soft_margin_loss", "functional", "neural", kinds="no no yes")
def build_multilabel_soft_margin_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """the binary cross entropy of the scores of each label, in the mean over the labels"""
    if not x.ndim:
        raise GradcliError("shape", "multilabel_soft_margin_loss takes scores for each label, not one number")
    terms = [f(MUL, target, f(LOGSIGMOID, x)), f(MUL, f(SUB, ONE, target), f(LOGSIGMOID, f(NEG, x)))]
    losses = f(NEG, f(ADD, *terms))
    losses = losses if weight is None else f(MUL, losses, weight)
    return reduce_loss(f, f(DIV, along_rows(f, losses), np.float64(x.shape[-1])), reduction, size_average, reduce)
