"""Softmax and its logarithm, losses of scores for classes, and layers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.axes import number, one_axis
from gradcli.ops.contractions import pairs_along
from gradcli.ops.declare import Op, declare
from gradcli.ops.linear_algebra import require_product
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Links, Order
from gradcli.ops.losses import as_numbers, without_derivative
from gradcli.ops.making import held_numbers
from gradcli.ops.parts import Paired
from gradcli.ops.reductions import all_entries
from gradcli.ops.signatures import Array, Axes, Index, Indices, Library, Mask, Options, Static
from gradcli.ops.slopes import log_of_sum
from gradcli.ops.spread import VAR, unit_of
from gradcli.ops.values import Reduction, Value, how_reduced, require, sqrt, where
from gradcli.ops.vocabulary import function


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


def log_softmax_text_back(_k: int, _out: Array, x: Array, *, dim: int) -> tuple[str, str]:
    """Return the text of g - softmax(x)·Σg, and of that for the other g by themselves."""
    option = "" if np.ndim(x) == 1 else f", dim={dim}"
    return f"{{g}} - softmax({{0}}{option})*{{S}}", "-{g}*expm1({y}) - exp({y})*({S} - {g})"


def softmax_text_back(_k: int, _out: Array, x: Array, *, dim: int) -> tuple[str, str]:
    """Return the text of y·(g - Σ g·y), and of that for the distances of g from its entry where y is largest."""
    options = "" if np.ndim(x) == 1 else f", dim={dim}, keepdim=True"
    own = f"sum(where({{0}} == amax({{0}}, dim={dim}, keepdim=True), {{g}}, 0){options})"
    plain = f"{{y}}*({{g}} - sum({{g}}*{{y}}{options}))"
    return plain, plain.replace("{g}", f"({{g}} - {own})")


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
        backward_text=log_softmax_text_back,
    )
)


def normalised(op: Op, x: Value, dim: Static, library: str) -> Value:
    """Return softmax or its logarithm along ``dim``, which only a vector may leave out."""
    if dim is None and x.ndim < 2 and library != "F":
        x.f.remark("torch-refuses", f"{op.name} without dim: PyTorch needs it, but under the name F.{op.name}.")
    if not x.ndim:
        return x.reshape(1).of(op, dim=0).reshape()
    hint = f"write {op.name}(..., dim=-1) for each row"
    require(dim is not None or x.ndim == 1, "value", f"{op.name} of shape {x.shape} needs dim", hint)
    axis = one_axis(-1 if dim is None else dim, x.ndim)
    return x.of(op, dim=axis) if x.shape[axis] else x.clone()


@function("softmax", "torch functional special method dtype", "neural", op=SOFTMAX, kinds="no no yes")
def build_softmax(x: Value, dim: Static = None, library: Library = "torch") -> Value:
    """exp(x)/sum(exp(x)) along dim, which a vector may leave out"""
    return normalised(SOFTMAX, x, dim, library)


@function("log_softmax", "torch functional special method dtype", "neural", op=LOG_SOFTMAX, kinds="no no yes")
def build_log_softmax(x: Value, dim: Static = None, library: Library = "torch") -> Value:
    """log(softmax(x)) along dim, which a vector may leave out"""
    return normalised(LOG_SOFTMAX, x, dim, library)


class Classes(NamedTuple):
    """The ``classes`` of a target, 0 for those that are not ``kept``; ``key`` picks theirs from the scores."""

    classes: Indices
    key: Index
    kept: Mask

    def weights(self, weight: Value) -> Value:
        """Return the weight of each class."""
        return weight[self.classes if self.classes.ndim else int(self.classes)]

    def unless_ignored(self, losses: Value) -> Value:
        """Return losses with 0 where the class is ignored."""
        return losses if np.all(self.kept) else where(as_numbers(self.kept), losses, 0)


def read_classes(x: Value, target: Value, ignore_index: Static, name: str) -> Classes:
    """Return the classes of a target; raises ``shape`` where they do not fit the scores, ``value`` for others."""
    classes, axis = held_numbers(target), class_axis(x, name)
    fits = classes.shape == x.shape[:axis] + x.shape[axis + 1 :]
    require(fits, "shape", f"{name}: scores of shape {x.shape} and classes of shape {classes.shape} do not fit")
    kept = np.asarray(classes != number(ignore_index, "ignore_index"))
    odd = kept & ((classes != np.floor(classes)) | (classes < 0) | (classes >= x.shape[axis]))
    require(not np.any(odd), "value", f"{name}: classes must be integers from 0 to {x.shape[axis] - 1}")
    whole = np.where(kept, classes, 0).astype(np.intp)
    if x.ndim == 1:
        return Classes(whole, (int(whole),), kept)
    first, *others = np.indices(whole.shape)
    return Classes(whole, (np.asarray(first), whole, *map(np.asarray, others)), kept)


def class_axis(x: Value, name: str) -> int:
    """Return the axis of the classes: the second, or that of a vector; raises ``shape`` for one number."""
    require(x.ndim, "shape", f"{name} takes scores for each class, not one number")
    return 0 if x.ndim == 1 else 1


def class_weights(x: Value, weight: Value, name: str) -> None:
    """Refuse weights that are not one for each class."""
    count = x.shape[class_axis(x, name)]
    said = f"{name}: weight has shape {weight.shape}, and there are {count} classes"
    require(weight.shape == (count,), "shape", said)


def picked_loss(logs: Value, target: Classes, weight: Value | None, how: Reduction) -> Value:
    """Return minus the logarithms at the target's classes, weighed; the mean is over the weights of what is kept."""
    losses = -logs[target.key]
    if weight is None:
        losses = target.unless_ignored(losses)
        if how.word == "mean" and not np.all(target.kept):
            return losses.total() / np.float64(np.sum(target.kept))
        return how(losses)
    own = target.weights(weight)
    losses = target.unless_ignored(losses * own)
    return losses.total() / target.unless_ignored(own).total() if how.word == "mean" else how(losses)


@function("nll_loss", "functional", "neural", kinds="no no integers")
def nll_loss(
    x: Value, target: Value, weight: Value | None = None, size_average: Static = None, ignore_index: Static = -100,
    reduce: Static = None, reduction: Static = "mean",
) -> Value:  # fmt: skip
    """minus the log-probability of the target's class"""
    if weight is not None:
        class_weights(x, weight, "nll_loss")
        without_derivative("nll_loss", weight=weight)
    classes = read_classes(x, target, ignore_index, "nll_loss")
    return picked_loss(x, classes, weight, how_reduced(size_average, reduce, reduction))


@function("cross_entropy", "functional", "neural", kinds="no no integers")
def cross_entropy(
    x: Value, target: Value, weight: Value | None = None, size_average: Static = None, ignore_index: Static = -100,
    reduce: Static = None, reduction: Static = "mean", label_smoothing: float = 0.0,
) -> Value:  # fmt: skip
    """minus the log-softmax of the scores at the target's class, or weighed by the target's probabilities"""
    axis, smoothing = class_axis(x, "cross_entropy"), label_smoothing
    require(smoothing <= 1, "value", f"cross_entropy: label_smoothing is from 0 to 1, not {smoothing}")
    if weight is not None:
        class_weights(x, weight, "cross_entropy")
    how = how_reduced(size_average, reduce, reduction)
    logs = normalised(LOG_SOFTMAX, x, axis, "F")
    if target.shape == x.shape:
        none = ignore_index in (-100, None) or number(ignore_index, "ignore_index") < 0
        require(none, "value", "cross_entropy: ignore_index goes with classes, not with probabilities")
        return shared_loss(logs, target, weight, how, smoothing)
    without_derivative("cross_entropy", weight=weight)
    classes = read_classes(x, target, ignore_index, "cross_entropy")
    picked = picked_loss(logs, classes, weight, how)
    if smoothing <= 0:
        return picked
    smooth = smooth_loss(logs, classes, weight, how)
    return (1 - smoothing) * picked + smooth * (smoothing / x.shape[axis])


def along_classes(logs: Value, weight: Value) -> Value:
    """Return weights of classes with the axes that broadcast along the scores."""
    return weight.reshape(-1, *(1,) * (logs.ndim - 1 - class_axis(logs, "cross_entropy")))


def smooth_loss(logs: Value, target: Classes, weight: Value | None, how: Reduction) -> Value:
    """Return minus the sum of the logarithms of all classes, weighed: what smoothing takes beside the target's."""
    terms = logs if weight is None else logs * along_classes(logs, weight)
    losses = target.unless_ignored(-terms.sum(class_axis(logs, "cross_entropy")))
    if how.word != "mean":
        return how(losses)
    if weight is None:
        return losses.total() / np.float64(np.sum(target.kept))
    own = target.weights(weight)
    return losses.total() / target.unless_ignored(own).total()


def shared_loss(logs: Value, target: Value, weight: Value | None, how: Reduction, smoothing: float) -> Value:
    """Return minus the logarithms weighed by the target's probabilities, which smoothing draws to each other."""
    axis = class_axis(logs, "cross_entropy")
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / logs.shape[axis]
    terms = target * logs
    terms = terms if weight is None else terms * along_classes(logs, weight)
    return how(-terms.sum(axis))


@function("linear", "functional", "neural", kinds="no same no")
def linear(x: Value, weight: Value, bias: Value | None = None) -> Value:
    """x @ weight.T + bias"""
    turned = weight.permute(*reversed(range(weight.ndim)))
    require_product(x, turned, "linear")
    return x @ turned if bias is None else x @ turned + bias


def require_last_axes(x: Value, normalized_shape: Static, name: str) -> Axes:
    """Return the last axes, whose lengths have to be those given; raises ``shape``."""
    wanted = normalized_shape if isinstance(normalized_shape, tuple) else (normalized_shape,)
    fits = wanted and all(type(length) is int for length in wanted) and x.shape[-len(wanted) :] == wanted
    require(fits, "shape", f"{name} over {wanted}: the array has shape {x.shape}")
    return tuple(range(x.ndim - len(wanted), x.ndim))


def standardised(x: Value, axes: Axes, eps: float) -> Value:
    """Return (x - mean)/sqrt(var + eps) over axes."""

    def parts(x: Value) -> tuple[Value, Value]:
        centred = x - x.mean(*axes, keepdim=True)
        return centred, x.of(VAR, dim=axes, keepdim=True, correction=0.0)

    centred, spread = parts(x)
    least: Array | np.float64 = np.float64(eps)
    unit = unit_beside(least, x.raw, spread.raw, axes)
    if unit is not None:
        centred, spread = parts(x / unit)
        least = least / unit / unit
    return centred / sqrt(spread + least)


def unit_beside(least: Array | np.float64, x: Array, squares: Array, axes: Axes) -> Array | None:
    """Return units in which squares of the entries, and ``least``, are doubles; None where they are as they stand."""
    unit = unit_of(x, squares, axes)
    if unit is None or not least:
        return unit
    unit = np.maximum(unit, 1.0)
    return unit if np.any(unit > 1) else None


@function("layer_norm", "torch functional", "neural", kinds="no no no")
def layer_norm(
    x: Value, normalized_shape: Static, weight: Value | None = None, bias: Value | None = None, eps: float = 1e-5
) -> Value:
    """(x - mean)/sqrt(var + eps) over the last axes, times weight plus bias"""
    result = standardised(x, require_last_axes(x, normalized_shape, "layer_norm"), eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias
