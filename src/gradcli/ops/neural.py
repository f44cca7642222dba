"""Softmax and its logarithm, layers and losses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, SUB
from gradcli.ops.axes import number, one_axis
from gradcli.ops.declare import OPS, Apply, Explicit, Library, Links, Op, Static, Tensor, declare, function, value_of
from gradcli.ops.entrywise import elementwise
from gradcli.ops.indexing import INDEX
from gradcli.ops.linear_algebra import MATMUL, require_product
from gradcli.ops.piecewise import ABS, HUBER
from gradcli.ops.reductions import MEAN, SUM, all_entries
from gradcli.ops.shaping import RESHAPE, TRANSPOSE
from gradcli.ops.slopes import log_of_sum, sigmoid
from gradcli.ops.spread import VAR


def softmax(x: Any, dim: int) -> Any:
    """Return exp x / Σ exp x, shifted so that nothing overflows."""
    shifted = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return shifted / np.sum(shifted, axis=dim, keepdims=True)


def pairs_along(x: Any, dim: int) -> tuple[Any, Any]:
    """Return the flat indices of all pairs of entries that share a line along ``dim``, the output's first."""
    index = np.moveaxis(all_entries(x).reshape(np.shape(x)), dim, -1).reshape(-1, np.shape(x)[dim])
    count = index.shape[1]
    return np.repeat(index, count, axis=1).ravel(), np.tile(index, (1, count)).ravel()


NEARLY = 0.999
"""From here on, 1 - y of an entry y of softmax is taken as the sum of the others."""


def softmax_vjp(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Return y·(g - Σ g·y); where one entry is nearly 1, for the distances of g from its own: then nothing cancels."""
    del x
    if np.any(y > NEARLY):
        own = np.take_along_axis(g, np.argmax(y, axis=dim, keepdims=True), axis=dim)
        g = g - np.where(np.isfinite(own), own, 0.0)
    return y * (g - np.sum(g * y, axis=dim, keepdims=True))


def sum_of_others(x: Any, dim: int) -> Any:
    """Return 1 - softmax(x): for the largest entry the sum of the others."""
    top = np.argmax(x, axis=dim, keepdims=True)
    shifted = np.exp(x - np.take_along_axis(x, top, axis=dim))
    others = shifted.copy()
    np.put_along_axis(others, top, 0.0, axis=dim)
    rest, total = (np.sum(part, axis=dim, keepdims=True) for part in (others, shifted))
    found = 1 - shifted / total
    np.put_along_axis(found, top, rest / total, axis=dim)
    return found


def softmax_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link y[i] to x[i] with y[i]·(1 - y[i]) and to x[j] with -y[i]·y[j]."""
    del argument
    dim = static["dim"]
    rows, columns = pairs_along(out, dim)
    same = rows == columns
    own, i, j = rows[same], rows[~same], columns[~same]
    itself = Links(own, own, 1.0, Explicit(lambda s, y: y * (1 - y)), ((-1, own),))
    if np.any(out > NEARLY):
        text = "(1 - softmax({}))" if np.ndim(out) == 1 else f"(1 - softmax({{}}, dim={dim}))"
        bound = ((-1, own), (-2, own))
        auxiliary = (text, sum_of_others(values[0], dim))
        itself = Links(own, own, 1.0, Explicit(lambda s, y, rest: y * rest), bound, auxiliary)
    return [itself, Links(i, j, -1.0, Explicit(lambda s, y, other: y * other), ((-1, i), (-1, j)))]


def log_softmax_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link y[i] to x[i] with -(exp(y[i]) - 1) and to x[j] with -exp(y[j])."""
    del argument, values
    rows, columns = pairs_along(out, static["dim"])
    same = rows == columns
    own, i, j = rows[same], rows[~same], columns[~same]
    return [
        Links(own, own, 1.0, Explicit(lambda s, y: -s.expm1(y)), ((-1, own),)),
        Links(i, j, -1.0, Explicit(lambda s, other: s.exp(other)), ((-1, j),)),
    ]


def log_softmax(x: Any, dim: int) -> Any:
    """Return x - logsumexp(x), shifted first as PyTorch does: an infinite x gives nan."""
    shifted = x - np.max(x, axis=dim, keepdims=True)
    return shifted - log_of_sum(np.exp(shifted), dim)


def log_softmax_vjp(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Return g - exp(y)·Σg; where exp(y) is nearly 1, g·(1 - exp(y)) and the other g by themselves."""
    del x
    total = np.sum(g, axis=dim, keepdims=True)
    if not np.any(y > -1e-3):
        return g - np.exp(y) * total
    return g * -np.expm1(y) - np.exp(y) * (total - g)


# fmt: off
SOFTMAX     = declare(Op("softmax", softmax, (softmax_vjp,), local=softmax_local, terms=lambda x, dim: np.size(x) * np.shape(x)[dim]))
LOG_SOFTMAX = declare(Op("log_softmax", log_softmax, (log_softmax_vjp,), local=log_softmax_local, shaped=True, terms=lambda x, dim: np.size(x) * np.shape(x)[dim], digits=lambda y, x, dim: 1 + np.exp(y)))
# fmt: on


def normalised(f: Apply, op: Op, x: Any, dim: Any, library: str) -> Any:
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
        raise GradcliError("shape", f"{op.name} of no entries: the array has shape {x.shape}")
    return f(op, x, dim=axis)


@function("softmax", "tfs.", "neural", op=SOFTMAX)
def build_softmax(f: Apply, x: Tensor, dim: Static = None, library: Library = "torch") -> Any:
    """exp(x)/sum(exp(x)) along dim, which a vector may leave out"""
    return normalised(f, SOFTMAX, x, dim, library)


@function("log_softmax", "tfs.", "neural", op=LOG_SOFTMAX)
def build_log_softmax(f: Apply, x: Tensor, dim: Static = None, library: Library = "torch") -> Any:
    """log(softmax(x)) along dim, which a vector may leave out"""
    return normalised(f, LOG_SOFTMAX, x, dim, library)


def reduce_loss(f: Apply, losses: Any, reduction: Any) -> Any:
    """Return the mean, the sum, or the losses as they are."""
    axes = tuple(range(losses.ndim))
    if reduction == "none":
        return losses
    if reduction not in ("mean", "sum"):
        raise GradcliError("value", f"reduction must be 'mean', 'sum' or 'none', not {reduction!r}")
    return f(MEAN if reduction == "mean" else SUM, losses, dim=axes, keepdim=False)


DISTANCE = replace(SUB, torch_saves=("0 1",))
"""The difference in a loss: PyTorch keeps what it is the difference of."""


def same_shapes(x: Any, target: Any, name: str) -> None:
    """Refuse a target of another shape than the prediction: PyTorch's broadcasting there is a known trap."""
    if x.shape != target.shape:
        raise GradcliError("shape", f"{name}: input has shape {x.shape}, target has shape {target.shape}")


@function("mse_loss", "f", "neural")
def build_mse_loss(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Any:
    """the mean squared difference"""
    same_shapes(x, target, "mse_loss")
    return reduce_loss(f, f(OPS["square"], f(DISTANCE, x, target)), reduction)


@function("l1_loss", "f", "neural")
def build_l1_loss(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Any:
    """the mean absolute difference"""
    same_shapes(x, target, "l1_loss")
    return reduce_loss(f, f(ABS, f(SUB, x, target)), reduction)


@function("huber_loss", "f", "neural")
def build_huber_loss(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean", delta: Static = 1.0) -> Any:
    """half the square of a difference below delta, a straight line above"""
    same_shapes(x, target, "huber_loss")
    return reduce_loss(f, f(HUBER, f(DISTANCE, x, target), np.float64(number(delta, "delta"))), reduction)


BCE_FLOOR = float(np.float32(1e-12))
"""What PyTorch's ``binary_cross_entropy_backward`` does not let x·(1 - x) fall below: a float32 in its source."""


def bce(x: Any, t: Any) -> Any:
    """Return -t·log x - (1 - t)·log(1 - x), no logarithm below -100, as PyTorch takes it."""
    return (t - 1) * np.maximum(np.log1p(-x), -100.0) - t * np.maximum(np.log(x), -100.0)


def bce_vjp_target(g: Any, y: Any, x: Any, t: Any) -> Any:
    """Return g·log((1 - x)/x), around a half by atanh(1 - 2x)."""
    del y, t
    middle = np.abs(x - 0.5) < 0.25
    return g * np.where(middle, 2 * np.arctanh(1 - 2 * np.where(middle, x, 0.5)), np.log1p(-x) - np.log(x))


def bce_logits(x: Any, t: Any) -> Any:
    """Return (1 - t)·x + log(1 + exp(-x)), with x split off where it is negative."""
    return np.where(x < 0, -t * x, (1 - t) * x) + np.log1p(np.exp(-np.abs(x)))


def bce_logits_vjp(g: Any, y: Any, x: Any, t: Any) -> Any:
    """Return g·(sigmoid(x) - t): from the other end where both are nearly 1, from the middle where x is small."""
    del y
    middle = (0.5 - t) + 0.5 * np.tanh(0.5 * x)
    return g * np.where(np.abs(x) < 1, middle, np.where(t > 0.5, (1 - t) - sigmoid(-x), sigmoid(x) - t))


# fmt: off
BCE        = elementwise("bce", bce, lambda g, y, x, t: g * (x - t) / np.maximum((1 - x) * x, BCE_FLOOR), bce_vjp_target, lambda s, x, t: s.bce(x, t), of="", domain=((0.1, 0.9), (0, 1)), differs=lambda y, x, t: (1 - x) * x < BCE_FLOOR, says="its binary_cross_entropy keeps x*(1 - x) from below 1e-12, and logarithms from below -100")
BCE_LOGITS = elementwise("bce_with_logits", bce_logits, bce_logits_vjp, lambda g, y, x, t: -x * g, lambda s, x, t: s.bce_logits(x, t), of="", digits=lambda y, x, t: np.where(t > 0.5, np.abs(1 - t) + sigmoid(-x), sigmoid(x) + np.abs(t)))
# fmt: on


def probabilities(x: Any) -> bool:
    """Return whether all entries lie between 0 and 1."""
    return bool(np.all((x >= 0) & (x <= 1)))


@function("bce binary_cross_entropy", "f", "neural")
def build_bce(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Any:
    """the binary cross entropy of probabilities"""
    same_shapes(x, target, "binary_cross_entropy")
    if not (probabilities(value_of(x)) and probabilities(value_of(target))):
        raise GradcliError(
            "value",
            "binary_cross_entropy takes probabilities and targets from 0 to 1",
            hint="for scores use binary_cross_entropy_with_logits",
        )
    return reduce_loss(f, f(BCE, x, target), reduction)


@function("binary_cross_entropy_with_logits bce_with_logits", "f", "neural")
def build_bce_logits(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Any:
    """the binary cross entropy of scores, (1 - t)*x + softplus(-x)"""
    same_shapes(x, target, "binary_cross_entropy_with_logits")
    return reduce_loss(f, f(BCE_LOGITS, x, target), reduction)


def picked_classes(x: Any, target: Any, name: str) -> Any:
    """Return the index that picks the target's class from each row; raises ``shape`` or ``value``."""
    classes, axis = np.asarray(value_of(target), dtype=np.float64), class_axis(x, name)
    if classes.shape != x.shape[:axis] + x.shape[axis + 1 :]:
        raise GradcliError(
            "shape", f"{name}: scores of shape {x.shape} and classes of shape {classes.shape} do not fit"
        )
    if np.any(classes != np.floor(classes)) or np.any(classes < 0) or np.any(classes >= x.shape[axis]):
        raise GradcliError("value", f"{name}: classes must be integers from 0 to {x.shape[axis] - 1}")
    whole = classes.astype(np.intp)
    if x.ndim == 1:
        return (int(whole),)
    first, *others = np.indices(whole.shape)
    return (first, whole, *others)


def class_axis(x: Any, name: str) -> int:
    """Return the axis of the classes: the second, or that of a vector; raises ``shape`` for one number."""
    if not x.ndim:
        raise GradcliError("shape", f"{name} takes scores for each class, not one number")
    return 0 if x.ndim == 1 else 1


@function("nll_loss", "f", "neural")
def build_nll_loss(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Any:
    """minus the log-probability of the target's class"""
    return reduce_loss(f, f(NEG, f(INDEX, x, key=picked_classes(x, target, "nll_loss"))), reduction)


@function("cross_entropy", "f", "neural")
def build_cross_entropy(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Any:
    """minus the log-softmax of the scores at the target's class, or weighed by the target's probabilities"""
    axis = class_axis(x, "cross_entropy")
    logs = normalised(f, LOG_SOFTMAX, x, axis, "F")
    if target.shape != x.shape:
        return build_nll_loss(f, logs, target, reduction)
    total = f(NEG, f(SUM, f(MUL, target, logs), dim=(axis,), keepdim=False))
    return reduce_loss(f, total, reduction)


@function("linear", "f", "neural")
def build_linear(f: Apply, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """x @ weight.T + bias"""
    turned = f(TRANSPOSE, weight, dims=tuple(reversed(range(weight.ndim))))
    require_product(x, turned, "linear")
    product = f(MATMUL, x, turned)
    return product if bias is None else f(ADD, product, bias)


@function("layer_norm", "tf", "neural")
def build_layer_norm(
    f: Apply,
    x: Tensor,
    normalized_shape: Static,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Static = 1e-5,
) -> Any:
    """(x - mean)/sqrt(var + eps) over the last axes, times weight plus bias"""
    wanted = normalized_shape if isinstance(normalized_shape, tuple) else (normalized_shape,)
    if not wanted or not all(type(length) is int for length in wanted) or x.shape[-len(wanted) :] != wanted:
        raise GradcliError("shape", f"layer_norm over {wanted}: the array has shape {x.shape}")
    axes = tuple(range(x.ndim - len(wanted), x.ndim))
    centred = f(SUB, x, f(MEAN, x, dim=axes, keepdim=True))
    scale = f(OPS["sqrt"], f(ADD, f(VAR, x, dim=axes, keepdim=True, correction=0.0), np.float64(number(eps, "eps"))))
    result = f(DIV, centred, scale)
    result = result if weight is None else f(MUL, result, weight)
    return result if bias is None else f(ADD, result, bias)
