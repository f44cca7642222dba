"""Softmax and its logarithm, layers and losses."""

from __future__ import annotations

from dataclasses import replace

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
from gradcli.ops.entrywise import elementwise
from gradcli.ops.huber import HUBER
from gradcli.ops.indexing import INDEX
from gradcli.ops.linear_algebra import MATMUL, require_product
from gradcli.ops.parts import Paired, Piecewise
from gradcli.ops.piecewise import ABS
from gradcli.ops.reductions import MEAN, SUM
from gradcli.ops.shaping import CLONE, RESHAPE, TRANSPOSE
from gradcli.ops.signatures import Array, Index, Indices, Library, Static, Tensor
from gradcli.ops.slopes import sigmoid
from gradcli.ops.spread import VAR
from gradcli.ops.vocabulary import function
from gradcli.ops.writing import each_loss

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


def reduce_loss(f: Apply, losses: Tensor, reduction: Static) -> Tensor:
    """Return the mean, the sum, or the losses as they are."""
    axes = tuple(range(losses.ndim))
    if reduction == "none":
        return losses
    if reduction not in ("mean", "sum"):
        raise GradcliError("value", f"reduction must be 'mean', 'sum' or 'none', not {reduction!r}")
    return f(MEAN if reduction == "mean" else SUM, losses, dim=axes, keepdim=False)


DISTANCE = replace(SUB, torch_saves=("0 1",))
"""The difference in a loss: PyTorch keeps what it is the difference of."""


def same_shapes(x: Tensor, target: Tensor, name: str) -> None:
    """Refuse a target of another shape than the prediction: PyTorch's broadcasting there is a known trap."""
    if x.shape != target.shape:
        raise GradcliError("shape", f"{name}: input has shape {x.shape}, target has shape {target.shape}")


@function("mse_loss", "functional", "neural", kinds="no no yes")
def build_mse_loss(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Tensor:
    """the mean squared difference"""
    same_shapes(x, target, "mse_loss")
    return reduce_loss(f, f(OPS["square"], f(DISTANCE, x, target)), reduction)


@function("l1_loss", "functional", "neural", kinds="no no unmasked")
def build_l1_loss(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Tensor:
    """the mean absolute difference"""
    same_shapes(x, target, "l1_loss")
    return reduce_loss(f, f(ABS, f(SUB, x, target)), reduction)


@function("huber_loss", "functional", "neural", kinds="no no target")
def build_huber_loss(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean", delta: Static = 1.0) -> Tensor:
    """half the square of a difference below delta, a straight line above"""
    same_shapes(x, target, "huber_loss")
    return reduce_loss(f, f(HUBER, f(DISTANCE, x, target), np.float64(number(delta, "delta"))), reduction)


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
    exactly=lambda x, t: (1 - t) * x + exactly.logaddexp(0 * x, -x),
    digits=bce_logits_digits,
    write=each_loss,
    backward_text=("{g}*(sigmoid({0}) - {1})", "-{g}*{0}"),
)


def probabilities(x: Array) -> bool:
    """Return whether all entries lie between 0 and 1."""
    return bool(np.all((x >= 0) & (x <= 1)))


@function("bce binary_cross_entropy", "functional", "neural", kinds="no no no")
def build_bce(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Tensor:
    """the binary cross entropy of probabilities"""
    same_shapes(x, target, "binary_cross_entropy")
    if not (probabilities(value_of(x)) and probabilities(value_of(target))):
        raise GradcliError(
            "value",
            "binary_cross_entropy takes probabilities and targets from 0 to 1",
            hint="for scores use binary_cross_entropy_with_logits",
        )
    return reduce_loss(f, f(BCE, x, target), reduction)


@function("binary_cross_entropy_with_logits bce_with_logits", "functional", "neural", kinds="no no no")
def build_bce_logits(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Tensor:
    """the binary cross entropy of scores, (1 - t)*x + softplus(-x)"""
    same_shapes(x, target, "binary_cross_entropy_with_logits")
    return reduce_loss(f, f(BCE_LOGITS, x, target), reduction)


def picked_classes(x: Tensor, target: Tensor, name: str) -> Index:
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
    return (np.asarray(first), whole, *map(np.asarray, others))


def class_axis(x: Tensor, name: str) -> int:
    """Return the axis of the classes: the second, or that of a vector; raises ``shape`` for one number."""
    if not x.ndim:
        raise GradcliError("shape", f"{name} takes scores for each class, not one number")
    return 0 if x.ndim == 1 else 1


@function("nll_loss", "functional", "neural", kinds="no no integers")
def build_nll_loss(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Tensor:
    """minus the log-probability of the target's class"""
    return reduce_loss(f, f(NEG, f(INDEX, x, key=picked_classes(x, target, "nll_loss"))), reduction)


@function("cross_entropy", "functional", "neural", kinds="no no integers")
def build_cross_entropy(f: Apply, x: Tensor, target: Tensor, reduction: Static = "mean") -> Tensor:
    """minus the log-softmax of the scores at the target's class, or weighed by the target's probabilities"""
    axis = class_axis(x, "cross_entropy")
    logs = normalised(f, LOG_SOFTMAX, x, axis, "F")
    if target.shape != x.shape:
        return build_nll_loss(f, logs, target, reduction)
    total = f(NEG, f(SUM, f(MUL, target, logs), dim=(axis,), keepdim=False))
    return reduce_loss(f, total, reduction)


@function("linear", "functional", "neural", kinds="no same no")
def build_linear(f: Apply, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias"""
    turned = f(TRANSPOSE, weight, dims=tuple(reversed(range(weight.ndim))))
    require_product(x, turned, "linear")
    product = f(MATMUL, x, turned)
    return product if bias is None else f(ADD, product, bias)


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
    wanted = normalized_shape if isinstance(normalized_shape, tuple) else (normalized_shape,)
    if not wanted or not all(type(length) is int for length in wanted) or x.shape[-len(wanted) :] != wanted:
        raise GradcliError("shape", f"layer_norm over {wanted}: the array has shape {x.shape}")
    axes = tuple(range(x.ndim - len(wanted), x.ndim))
    centred = f(SUB, x, f(MEAN, x, dim=axes, keepdim=True))
    scale = f(OPS["sqrt"], f(ADD, f(VAR, x, dim=axes, keepdim=True, correction=0.0), np.float64(number(eps, "eps"))))
    result = f(DIV, centred, scale)
    result = result if weight is None else f(MUL, result, weight)
    return result if bias is None else f(ADD, result, bias)
