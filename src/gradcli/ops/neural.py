"""Losses with what PyTorch's take, softmax and its logarithm, and layers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.arithmetic import SUB
from gradcli.ops.declare import Entries, Op, Paired, Piecewise, Text, Torch, declare, variant
from gradcli.ops.elementwise import log_of_sum, sigmoid
from gradcli.ops.linear_algebra import pairs_along, require_product
from gradcli.ops.links import (
    AUXILIARY,
    OUT,
    Array,
    At,
    Axes,
    Contraction,
    Explicit,
    Expression,
    Index,
    Indices,
    Library,
    Links,
    Mask,
    Order,
    Partial,
    Static,
    Symbols,
)
from gradcli.ops.making import held_numbers
from gradcli.ops.reductions import all_entries
from gradcli.ops.statistics import VAR
from gradcli.ops.values import (
    MEAN,
    Around,
    Reduction,
    Value,
    logsigmoid,
    number,
    one_axis,
    require,
    sqrt,
    square,
    where,
)
from gradcli.ops.vocabulary import OF_FLOATS, STRICT, Beside, Kinds, Made, elementwise, function
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


def huber_local(at: At) -> list[Links]:
    """Link each entry by the derivative of the piece that it lies on."""
    near = np.broadcast_to(np.abs(at.x) < at.values[1], np.shape(at.out)).ravel()
    links = []
    for piece, rows in ((parabola, np.flatnonzero(near)), (straight, np.flatnonzero(~near))):
        bound = tuple((k, at.places(k, all_entries(at.out))[rows]) for k in (0, 1))
        links.append(Links(rows, bound[at.argument][1], 1.0, Partial(piece, at.argument), bound))
    return links


HUBER = declare(
    "huber",
    huber,
    (
        lambda g, _y, d, delta: np.where(d <= -delta, -g * delta, np.where(d >= delta, g * delta, d * g)),
        lambda g, _y, d, delta: np.where(np.abs(d) < delta, 0.0, g * (np.abs(d) - delta)),
    ),
    huber_local,
    lambda s, d, delta: s.where_gt(delta, s.abs(d), parabola(s, d, delta), straight(s, d, delta)),
    pieces=Piecewise(
        lambda d, delta: np.where(abs(d) < delta, 0, exactly.sign_of(d)),
        lambda piece, d, delta: np.where(piece == 0, d * d / 2, delta * (piece * d - delta / 2)),
    ),
    text=Text(
        template="where(abs({0}) < {1}, 0.5*{0}**2, {1}*(abs({0}) - 0.5*{1}))",
        precedence=99,
        backward=("{g}*where(abs({0}) < {1}, {0}, {1}*sign({0}))",),
    ),
    domain=((1.2, 2), (0.3, 1)),
)


DISTANCE = variant(SUB, "distance", torch=Torch(saves=((0, 1),)))
"""The difference in a loss: PyTorch keeps what it is the difference of."""


def same_shapes(x: Value, target: Value, name: str, what: str = "target") -> None:
    """Refuse a target of another shape than the prediction: PyTorch's broadcasting there is a known trap."""
    require(x.shape == target.shape, "shape", f"{name}: input has shape {x.shape}, {what} has shape {target.shape}")


def without_derivative(name: str, **arguments: Value | None) -> None:
    """Remark on an argument that PyTorch refuses to differentiate by; its derivative here is the mathematical one."""
    for what, value in arguments.items():
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


@function("mse_loss", "functional", "neural", kinds=OF_FLOATS)
def mse_loss(x: Value, target: Value, how: Reduction = MEAN, weight: Value | None = None) -> Value:
    """the mean squared difference"""
    same_shapes(x, target, "mse_loss")
    return weighed(square(x.of(DISTANCE, target)), weight, "mse_loss", how)


@function("l1_loss", "functional", "neural", kinds=Kinds(Made.NO, Made.NO, Beside.UNMASKED))
def l1_loss(x: Value, target: Value, how: Reduction = MEAN, weight: Value | None = None) -> Value:
    """the mean absolute difference"""
    same_shapes(x, target, "l1_loss")
    return weighed(abs(x - target), weight, "l1_loss", how)


@function("huber_loss", "functional", "neural", kinds=Kinds(Made.NO, Made.NO, Beside.TARGET))
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
    formula=lambda s, x, t: -t * s.log(x) - (1 - t) * s.log(1 - x),
    slopes=lambda s, x, t: (s.bce_slope(x, t), s.bce_target_slope(x)),
    pieces=Piecewise(lambda x, t: exactly.sign_of(x) - exactly.sign_of(1 - x), bce_on),
    domain=((0.1, 0.9), (0, 1)),
    text=Text(
        backward=(
            ("{g}*({0} - {1})/({0}*(1 - {0}))", f"{{g}}*({{0}} - {{1}})/maximum((1 - {{0}})*{{0}}, {BCE_FLOOR!r})"),
            "{g}*(log(1 - {0}) - log({0}))",
        ),
        write=each_loss,
    ),
    torch=Torch(
        differs=lambda y, x, t: (1 - x) * x < BCE_FLOOR,
        says="its binary_cross_entropy keeps x*(1 - x) from below 1e-12, and logarithms from below -100",
    ),
    spelled=None,
)
BCE_LOGITS = elementwise(
    "bce_with_logits",
    lambda x, t: np.where(x < 0, -t * x, (1 - t) * x) + np.log1p(np.exp(-np.abs(x))),
    bce_logits_vjp,
    lambda g, _y, x, _t: -x * g,
    formula=lambda s, x, t: (1 - t) * x - s.logsigmoid(x),
    slopes=lambda s, x, t: (s.logits_slope(x, t), -x),
    exactly=lambda x, t: (1 - t) * x - exactly.logsigmoid(x),
    digits=bce_logits_digits,
    text=Text(write=each_loss, backward=("{g}*(sigmoid({0}) - {1})", "-{g}*{0}")),
    spelled=None,
)


def are_probabilities(x: Value) -> bool:
    """Return whether all entries lie between 0 and 1: beside a target of 1 the loss goes on."""
    values = held_numbers(x)
    return bool(np.all((values >= 0) & (values <= 1)))


@function("bce binary_cross_entropy", "functional", "neural", kinds=STRICT)
def bce_loss(x: Value, target: Value, weight: Value | None = None, how: Reduction = MEAN) -> Value:
    """the binary cross entropy of probabilities"""
    same_shapes(x, target, "binary_cross_entropy")
    said = "binary_cross_entropy takes probabilities and targets from 0 to 1"
    fits = are_probabilities(x) and are_probabilities(target)
    require(fits, "value", said, hint="for scores use binary_cross_entropy_with_logits")
    without_derivative("binary_cross_entropy", weight=weight)
    losses = x.of(BCE, target)
    return how(losses if weight is None else losses * weight)


@function("binary_cross_entropy_with_logits bce_with_logits", "functional", "neural", kinds=STRICT)
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


# --- scores for classes, and layers ---


def softmax(x: Array, dim: int) -> Array:
    """Return exp x / Σ exp x, shifted so that nothing overflows."""
    shifted = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return shifted / np.sum(shifted, axis=dim, keepdims=True)


NEARLY = 0.999
"""From here on, 1 - y of an entry y of softmax is taken as the sum of the others."""


def softmax_vjp(g: Array, y: Array, _x: Array, *, dim: int) -> Array:
    """Return y·(g - Σ g·y); where one entry is nearly 1, for the distances of g from its own."""
    if np.any(y > NEARLY):
        peak = np.take_along_axis(g, np.argmax(y, axis=dim, keepdims=True), axis=dim)
        g = g - np.where(np.isfinite(peak), peak, 0.0)
    return y * (g - np.sum(g * y, axis=dim, keepdims=True))


def sum_of_others(x: Array, dim: int) -> Array:
    """Return 1 - softmax(x): for the largest entry the sum of the others."""
    top = np.argmax(x, axis=dim, keepdims=True)
    shifted = np.exp(x - np.take_along_axis(x, top, axis=dim))
    others = shifted.copy()
    np.put_along_axis(others, top, 0.0, axis=dim)
    rest, total = (np.sum(part, axis=dim, keepdims=True) for part in (others, shifted))
    result = 1 - shifted / total
    np.put_along_axis(result, top, rest / total, axis=dim)
    return result


def softmax_local(at: At) -> list[Links | Contraction]:
    """Link y[i] to x[i] with y[i]·(1 - y[i]) and to x[j] with -y[i]·y[j]."""
    dim, flat = at.static["dim"], all_entries(at.out)
    itself = Links(flat, flat, 1.0, Explicit(lambda s, y: y * (1 - y)), ((OUT, flat),))
    if np.any(at.out > NEARLY):
        text = "(1 - softmax({}))" if np.ndim(at.out) == 1 else f"(1 - softmax({{}}, dim={dim}))"
        auxiliary = (text, sum_of_others(at.x, dim))
        itself = Links(
            flat, flat, 1.0, Explicit(lambda s, y, rest: y * rest), ((OUT, flat), (AUXILIARY, flat)), auxiliary
        )
    return [
        itself,
        pairs_along(
            at.out, dim, Order.OTHER, -1.0, Explicit(lambda s, y, other: y * other), (OUT, "row"), (OUT, "column")
        ),
    ]


def log_softmax_local(at: At) -> list[Links | Contraction]:
    """Link y[i] to x[i] with -(exp(y[i]) - 1) and to x[j] with -exp(y[j])."""
    flat = all_entries(at.out)
    return [
        Links(flat, flat, 1.0, Explicit(lambda s, y: -s.expm1(y)), ((OUT, flat),)),
        pairs_along(
            at.out, at.static["dim"], Order.OTHER, -1.0, Explicit(lambda s, other: s.exp(other)), (OUT, "column")
        ),
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
    peak = f"sum(where({{0}} == amax({{0}}, dim={dim}, keepdim=True), {{g}}, 0){options})"
    plain = f"{{y}}*({{g}} - sum({{g}}*{{y}}{options}))"
    return plain, plain.replace("{g}", f"({{g}} - {peak})")


SOFTMAX = declare(
    "softmax",
    softmax,
    (softmax_vjp,),
    softmax_local,
    exactly=lambda x, dim: np.exp(x - exactly.logsumexp(x, dim, keepdim=True)),
    entries=Entries(index=Paired("{y}[{i}]*(where({i} == {j}, 1, 0) - {y}[{j}])")),
    text=Text(backward=softmax_text_back),
)
LOG_SOFTMAX = declare(
    "log_softmax",
    log_softmax,
    (log_softmax_vjp,),
    log_softmax_local,
    exactly=lambda x, dim: x - exactly.logsumexp(x, dim, keepdim=True),
    entries=Entries(shaped=True, index=Paired("where({i} == {j}, 1, 0) - exp({y}[{j}])")),
    digits=lambda y, x, dim: 1 + np.exp(y),
    text=Text(backward=log_softmax_text_back),
)


def normalised(op: Op, x: Value, dim: Static, library: str) -> Value:
    """Return softmax or its logarithm along ``dim``, which only a vector may leave out."""
    if dim is None and x.ndim < 2 and library != "F":
        x.f.remark("torch-refuses", f"{op.name} without dim: of PyTorch's, only F.{op.name} goes without it.")
    if not x.ndim:
        return x.reshape(1).of(op, dim=0).reshape()
    hint = f"write {op.name}(..., dim=-1) for each row"
    require(dim is not None or x.ndim == 1, "value", f"{op.name} of shape {x.shape} needs dim", hint)
    axis = one_axis(-1 if dim is None else dim, x.ndim)
    return x.of(op, dim=axis) if x.shape[axis] else x.clone()


def enter_normalised(op: Op, words: str) -> None:
    """Enter softmax or its logarithm."""
    doc = f"{words} along dim, which a vector may leave out"

    @function(op.name, "torch functional special method dtype", "neural", op=op, kinds=OF_FLOATS, doc=doc)
    def build(x: Value, dim: Static = None, library: Library = "torch") -> Value:
        return normalised(op, x, dim, library)


enter_normalised(SOFTMAX, "exp(x)/sum(exp(x))")
enter_normalised(LOG_SOFTMAX, "log(softmax(x))")


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
    shares = target.weights(weight)
    losses = target.unless_ignored(losses * shares)
    return losses.total() / target.unless_ignored(shares).total() if how.word == "mean" else how(losses)


@function("nll_loss", "functional", "neural", kinds=Kinds(Made.NO, Made.NO, Beside.INTEGERS))
def nll_loss(
    x: Value, target: Value, weight: Value | None = None, how: Around = MEAN, ignore_index: Static = -100
) -> Value:
    """minus the log-probability of the target's class"""
    if weight is not None:
        class_weights(x, weight, "nll_loss")
        without_derivative("nll_loss", weight=weight)
    classes = read_classes(x, target, ignore_index, "nll_loss")
    return picked_loss(x, classes, weight, how)


@function("cross_entropy", "functional", "neural", kinds=Kinds(Made.NO, Made.NO, Beside.INTEGERS))
def cross_entropy(
    x: Value,
    target: Value,
    weight: Value | None = None,
    how: Around = MEAN,
    ignore_index: Static = -100,
    label_smoothing: float = 0.0,
) -> Value:
    """minus the log-softmax of the scores at the target's class, or weighed by the target's probabilities"""
    axis, smoothing = class_axis(x, "cross_entropy"), label_smoothing
    require(smoothing <= 1, "value", f"cross_entropy: label_smoothing is from 0 to 1, not {smoothing}")
    if weight is not None:
        class_weights(x, weight, "cross_entropy")
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
    shares = target.weights(weight)
    return losses.total() / target.unless_ignored(shares).total()


def shared_loss(logs: Value, target: Value, weight: Value | None, how: Reduction, smoothing: float) -> Value:
    """Return minus the logarithms weighed by the target's probabilities, which smoothing draws to each other."""
    axis = class_axis(logs, "cross_entropy")
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / logs.shape[axis]
    terms = target * logs
    terms = terms if weight is None else terms * along_classes(logs, weight)
    return how(-terms.sum(axis))


@function("linear", "functional", "neural", kinds=Kinds(Made.NO, Made.SAME, Beside.NO))
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
    centred = x - x.mean(*axes, keepdim=True)
    return centred / sqrt(x.of(VAR, dim=axes, keepdim=True, correction=0.0) + eps)


@function("layer_norm", "torch functional", "neural", kinds=STRICT)
def layer_norm(
    x: Value, normalized_shape: Static, weight: Value | None = None, bias: Value | None = None, eps: float = 1e-5
) -> Value:
    """(x - mean)/sqrt(var + eps) over the last axes, times weight plus bias"""
    result = standardised(x, require_last_axes(x, normalized_shape, "layer_norm"), eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias
