"""Activations, layers that normalise, attention and losses that few programs call, and those of jax.nn.

They are composed as PyTorch composes them, so that kinks and edges are PyTorch's.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import OPS, Keeps, Kink, Op, Piecewise, Text, Torch
from gradcli.ops.elementwise import sigmoid as sigmoid_of
from gradcli.ops.exactly import sign_of
from gradcli.ops.links import Array, Expression, Indices, Mask, Raw, Static, Symbols
from gradcli.ops.making import held_numbers
from gradcli.ops.neural import (
    DISTANCE,
    HUBER,
    LOG_SOFTMAX,
    SOFTMAX,
    as_numbers,
    class_weights,
    normalised,
    read_classes,
    require_last_axes,
    same_shapes,
    standardised,
    without_derivative,
)
from gradcli.ops.piecewise import ELU, GELU, LEAKY_RELU, SOFTPLUS
from gradcli.ops.reductions import LOGSUMEXP
from gradcli.ops.statistics import norm
from gradcli.ops.values import (
    ALL,
    MEAN,
    Around,
    Axes,
    Axis,
    Reduction,
    Value,
    clamp_min,
    common_shape,
    einsum,
    exp,
    log,
    logsigmoid,
    relu,
    require,
    require_entries,
    sigmoid,
    sqrt,
    square,
    where,
)
from gradcli.ops.vocabulary import OF_FLOATS, OF_NUMBERS, STRICT, Beside, Kinds, Made, Spelled, elementwise, function
from gradcli.ops.writing import with_numbers

SATURATED = 20.0
"""From here on tanh(log(1 + exp(x))) is 1 to the last digit of a double."""
LEVELS = 12
"""Levels of the continued fraction of tanh that give all digits of a double up to 1."""


def tanhshrink(x: Array) -> Array:
    """Return x - tanh(x): up to 1 as x·c/(1 + c) of the continued fraction tanh(x) = x/(1 + c), which cancels nothing.

    >>> tanhshrink(np.float64(1e-5))
    3.333333333200001e-16
    """
    squared = np.minimum(x * x, 1.0)
    rest = 0.0 * squared
    for odd in range(2 * LEVELS + 1, 1, -2):
        rest = squared / (odd + rest)
    return np.where(np.abs(x) < 1, x * rest / (1 + rest), x - np.tanh(x))[()]


def side(x: Array, min_val: float, max_val: float) -> Indices:
    """Return -1 at and below the lower bound, 1 at and above the upper one, 0 between."""
    return np.where(x <= min_val, -1, np.asarray(x >= max_val, dtype=int))


def mish(x: Array) -> Array:
    """Return x·tanh(log(1 + exp(x))) = x·(e² + 2e)/(e² + 2e + 2) with e = exp(x), from 20 on x itself."""
    e = np.exp(np.minimum(x, SATURATED))
    more = e * (e + 2)
    return np.where(x > SATURATED, x, x * (more / (more + 2)))[()]


def mish_vjp(g: Array, _y: Array, x: Array) -> Array:
    """Return g·(t + x·sigmoid(x)·(1 - t²)) for t = tanh(log(1 + exp(x))), 1 - t² as the square of 1/cosh."""
    e = np.exp(np.minimum(x, SATURATED))
    more = e * (e + 2)
    rest = np.where(x > SATURATED, 0.0, (2 * (1 + e) / (more + 2)) ** 2)
    return g * (more / (more + 2) + x * sigmoid_of(x) * rest)


def mish_slope(s: Symbols, x: Expression) -> tuple[Expression]:
    """Return t + x·sigmoid(x)·(1 - t²) with the square of 1/cosh, which cancels nothing."""
    inner = s.log1p(s.exp(x))
    return (s.tanh(inner) + x * s.sigmoid(x) / s.cosh(inner) ** 2,)


def neural(doc: str, where: str = "functional", also: str = "", kinds: Kinds = OF_FLOATS) -> Spelled:
    """Return how an activation is spelled."""
    return Spelled(where, also, doc, "neural", kinds)


# fmt: off
HARDTANH = elementwise("hardtanh", lambda x, min_val, max_val: np.clip(x, a_min=min_val, a_max=max_val),
    lambda g, _y, x, *, min_val, max_val: np.where((x <= min_val) | (x >= max_val), 0.0, g),
    formula=lambda s, x, min_val, max_val: s.clamp_max(s.clamp_min(x, min_val), max_val),
    slopes=lambda s, x, min_val, max_val: (s.where_gt(x, min_val, s.where_gt(max_val, x, 1, 0), 0),),
    kink=Kink(lambda x, min_val, max_val: (x == min_val) | (x == max_val), "0 is taken"),
    pieces=Piecewise(
        side, lambda piece, x, min_val, max_val: np.where(piece < 0, min_val, np.where(piece > 0, max_val, x))),
    text=Text(defaults={"min_val": -1.0, "max_val": 1.0}, write=with_numbers), spelled=None)
elementwise("hardsigmoid", lambda x: np.clip(x + 3, 0.0, 6.0) / 6,
    lambda g, _y, x: np.where((x > -3) & (x < 3), g / 6, 0.0),
    formula=lambda s, x: s.clamp_max(s.clamp_min(x + 3, 0), 6) / 6,
    slopes=lambda s, x: (s.where_gt(3, s.abs(x), s.number(1) / 6, 0),),
    kink=Kink(lambda x: np.isin(x, (-3, 3)), "0 is taken"),
    pieces=Piecewise(
        lambda x: side(x, -3, 3), lambda piece, x: np.where(piece < 0, 0, np.where(piece > 0, 1, (x + 3) / 6))),
    spelled=neural("relu6(x + 3)/6: 0 up to -3, 1 from 3 on, a straight line between", also="jax.nn.hard_sigmoid"))
elementwise("hardswish", lambda x: x * (np.clip(x + 3, 0.0, 6.0) / 6),
    lambda g, _y, x: np.where(x <= -3, 0.0, np.where(x < 3, g * ((2 * x + 3) / 6), g)),
    formula=lambda s, x: x * s.clamp_max(s.clamp_min(x + 3, 0), 6) / 6,
    slopes=lambda s, x: (s.where_gt(x, -3, s.where_gt(3, x, (2 * x + 3) / 6, 1), 0),),
    kink=Kink(lambda x: np.isin(x, (-3, 3)), "the slope of the piece outside is taken"),
    pieces=Piecewise(
        lambda x: side(x, -3, 3), lambda piece, x: np.where(piece < 0, 0, np.where(piece > 0, x, x * (x + 3) / 6))),
    spelled=neural("x*hardsigmoid(x)", also="jax.nn.hard_swish jax.nn.hard_silu"))
elementwise("hardshrink", lambda x, lambd: np.where(np.abs(x) <= lambd, 0.0, x)[()],
    lambda g, _y, x, *, lambd: np.where(np.abs(x) <= lambd, 0.0, g),
    formula=lambda s, x, lambd: s.where_gt(s.abs(x), lambd, x, 0),
    kink=Kink(lambda x, lambd: np.abs(x) == lambd, "0 is taken"),
    text=Text(defaults={"lambd": 0.5}, write=with_numbers),
    pieces=Piecewise(lambda x, lambd: abs(x) > lambd, lambda piece, x, lambd: np.where(piece, x, 0)),
    spelled=neural("x, and 0 where it is no further from 0 than lambd", "torch functional method"))
SOFTSHRINK = elementwise("softshrink",
    lambda x, lambd: np.where(np.abs(x) <= lambd, 0 * x, np.where(x > lambd, x - lambd, x + lambd))[()],
    lambda g, _y, x, *, lambd: np.where(np.abs(x) <= lambd, 0.0, g),
    formula=lambda s, x, lambd: s.where_gt(s.abs(x), lambd, x - lambd * s.sign(x), 0),
    slopes=lambda s, x, lambd: (s.where_gt(s.abs(x), lambd, 1, 0),),
    kink=Kink(lambda x, lambd: np.abs(x) == lambd, "0 is taken"),
    text=Text(defaults={"lambd": 0.5}, write=with_numbers),
    pieces=Piecewise(
        lambda x, lambd: np.where(abs(x) > lambd, sign_of(x), 0),
        lambda piece, x, lambd: np.where(piece == 0, 0, x - piece * lambd)),
    spelled=None)
elementwise("tanhshrink", tanhshrink, lambda g, _y, x: g * np.tanh(x) ** 2, formula=lambda s, x: x - s.tanh(x),
    slopes=lambda s, x: (s.tanh(x)**2,),
    exactly=lambda x: x - np.tanh(x),
    torch=Torch(saves=((Keeps.OWN,),), rounding=lambda y, x: (x - np.tanh(x), 1 - (1 - np.tanh(x) ** 2))),
    spelled=neural("x - tanh(x)", kinds=Kinds(Made.NO, Made.FLOAT)))
CELU = elementwise("celu", lambda x, alpha: np.where(x < 0, alpha * np.expm1(np.where(x < 0, x, 0.0) / alpha), x)[()],
    lambda g, _y, x, *, alpha: np.where(x <= 0, g * np.exp(np.where(x < 0, x, 0.0) / alpha), g),
    formula=lambda s, x, alpha: s.where_gt(x, 0, x, alpha * s.expm1(x / alpha)),
    slopes=lambda s, x, alpha: (s.where_gt(x, 0, 1, s.exp(x / alpha)),),
    text=Text(defaults={"alpha": 1.0}, write=with_numbers),
    pieces=Piecewise(lambda x, alpha: x > 0, lambda piece, x, alpha: np.where(piece, x, alpha * np.expm1(x / alpha))),
    spelled=None)
elementwise("mish", mish, mish_vjp, formula=lambda s, x: x * s.tanh(s.log1p(s.exp(x))), slopes=mish_slope,
    exactly=lambda x: x * np.tanh(np.log1p(np.exp(x))), spelled=neural("x*tanh(softplus(x))"))
PRELU = elementwise("prelu", lambda x, weight: np.where(x > 0, x, weight * x)[()],
    lambda g, _y, x, weight: np.where(x > 0, g, g * weight), lambda g, _y, x, _weight: np.where(x > 0, 0.0, g * x),
    formula=lambda s, x, weight: s.where_gt(x, 0, x, weight * x),
    slopes=lambda s, x, weight: (s.where_gt(x, 0, 1, weight), s.where_gt(x, 0, 0, x)),
    kink=Kink(lambda x, weight: (x == 0) & (weight != 1), "the slope on the left is taken"),
    pieces=Piecewise(lambda x, weight: x > 0, lambda piece, x, weight: np.where(piece, x, weight * x)),
    text=Text(template="where({0} > 0, {0}, {1}*{0})", precedence=99), spelled=None)
# fmt: on
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
"""Of the paper that selu comes from, as PyTorch has them."""


@function("hardtanh jax.nn.hard_tanh", "functional", "neural", op=HARDTANH, kinds=OF_NUMBERS)
def hardtanh(x: Value, min_val: float = -1.0, max_val: float = 1.0) -> Value:
    """x between two bounds; its derivative at a bound is 0"""
    require(min_val <= max_val, "value", f"hardtanh: min_val is {min_val}, and max_val is less, {max_val}")
    return x.of(HARDTANH, min_val=min_val, max_val=max_val)


@function("relu6", "functional", "neural", kinds=OF_NUMBERS)
def relu6(x: Value) -> Value:
    """x between 0 and 6; its derivative at both is 0"""
    return x.of(HARDTANH, min_val=0.0, max_val=6.0)


@function("softshrink", "functional", "neural", op=SOFTSHRINK, kinds=OF_FLOATS)
def build_softshrink(x: Value, lambd: float = 0.5) -> Value:
    """x moved towards 0 by lambd, and 0 where it is no further from it"""
    require(lambd >= 0, "value", f"softshrink: lambd cannot be negative, as {lambd} is")
    return x.of(SOFTSHRINK, lambd=lambd)


@function("celu", "torch functional", "neural", op=CELU, kinds=OF_FLOATS)
def build_celu(x: Value, alpha: float = 1.0) -> Value:
    """x above 0, alpha*(exp(x/alpha) - 1) below"""
    require(alpha, "value", "celu: alpha cannot be 0, x is divided by it")
    return x.of(CELU, alpha=alpha)


@function("selu", "torch functional", "neural", kinds=OF_FLOATS)
def selu(x: Value) -> Value:
    """elu with alpha = 1.6733, times 1.0507: both keep the variance of what passes through"""
    return SELU_SCALE * x.of(ELU, alpha=SELU_ALPHA)


@function("rrelu", "torch functional", "neural", kinds=OF_FLOATS)
def rrelu(x: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Value:
    """leaky_relu with the mean of two slopes; in training PyTorch draws one at random"""
    require(lower <= upper, "value", f"rrelu: lower is {lower}, and upper is less, {upper}")
    require(not training, "value", "rrelu with training=True draws its slopes at random", hint="leave training out")
    return x.of(LEAKY_RELU, negative_slope=(lower + upper) / 2)


@function("prelu", "torch functional method", "neural", op=PRELU, kinds=STRICT)
def prelu(x: Value, weight: Value) -> Value:
    """x above 0, weight*x below and at 0; weight is one number, or one for each channel on axis 1"""
    require(weight.ndim < 2, "shape", f"prelu: weight is a number or a vector, not of shape {weight.shape}")
    if weight.shape in ((), (1,)):
        return x.of(PRELU, weight.reshape() if weight.ndim else weight)
    channels = x.shape[1] if x.ndim > 1 else 1
    said = f"prelu: weight has shape {weight.shape}, x of shape {x.shape} {channels} channels"
    require(weight.shape == (channels,), "shape", said)
    return x.of(PRELU, weight.reshape(channels, *(1,) * (x.ndim - 2)))


@function("threshold", "torch functional", "neural", kinds=OF_NUMBERS)
def build_threshold(x: Value, threshold: float, value: float) -> Value:
    """x above the threshold, value at it and below"""
    return where(x <= threshold, value, x)


@function("glu", "functional", "neural", kinds=OF_FLOATS)
def glu(x: Value, dim: Axis = -1) -> Value:
    """the first half of the entries along dim, times the sigmoid of the second half"""
    require(x.ndim, "shape", "glu takes an array with an axis to halve, not one number")
    half, odd = divmod(x.shape[dim], 2)
    said = f"glu halves axis {dim}, which has {x.shape[dim]} entries: an even number fits"
    require(not odd, "shape", said)
    first, second = x.along(dim, slice(0, half)), x.along(dim, slice(half, None))
    return first * sigmoid(second)


@function("softmin", "functional", "neural", kinds=OF_FLOATS)
def softmin(x: Value, dim: Static = None) -> Value:
    """exp(-x)/sum(exp(-x)) along dim, which a vector may leave out"""
    return normalised(SOFTMAX, -x, dim, "F")


# --- what means something else in jax.nn than under the same name in PyTorch ---


@function("jax.nn.softplus", "", "neural", kinds=OF_FLOATS)
def jax_softplus(x: Value) -> Value:
    """log(1 + exp(x)), also where PyTorch takes x itself"""
    return x.of(SOFTPLUS, beta=1.0, threshold=np.inf)


@function("jax.nn.gelu", "", "neural", kinds=OF_FLOATS)
def jax_gelu(x: Value, approximate: Static = True) -> Value:
    """x times the normal distribution function of x, approximated by tanh unless approximate=False"""
    return x.of(GELU, approximate="tanh" if approximate else "none")


def along_last(name: str, op: Op) -> None:
    """Enter softmax or its logarithm as JAX has it: along the last axis unless another is named."""

    @function(name, "", "neural", kinds=OF_FLOATS, doc=f"{op.name} along axis, the last one unless said otherwise")
    def build(x: Value, axis: Static = -1) -> Value:
        return normalised(op, x, axis, "F")


along_last("jax.nn.softmax", SOFTMAX)
along_last("jax.nn.log_softmax", LOG_SOFTMAX)


@function(
    "jax.nn.logsumexp scipy.special.logsumexp sp.special.logsumexp jax.scipy.special.logsumexp jsp.special.logsumexp",
    "", "neural", kinds=OF_FLOATS,
)  # fmt: skip
def jax_logsumexp(x: Value, axis: Axes = ALL, b: Value | None = None, keepdims: bool = False) -> Value:
    """log(sum(exp(x))) of all entries or along axis, each term times b where that is given"""
    require_entries(x, axis, "logsumexp")
    if b is None:
        return x.of(LOGSUMEXP, dim=axis, keepdim=keepdims)
    numbers = np.asarray(x.raw)
    largest = np.max(numbers, axis=axis, keepdims=True)
    total = (exp(x - largest) * b).sum(*axis, keepdim=keepdims)
    return log(total) + (largest if keepdims else np.max(numbers, axis=axis))


# --- layers that normalise, dropout, and attention ---

layer = partial(function, family="neural", kinds=STRICT)


def scaled(x: Value, weight: Value | None, bias: Value | None, name: str) -> Value:
    """Return x times a weight plus a bias for each channel on axis 1."""
    x = x if weight is None else x * channelwise(x, weight, name, "weight")
    return x if bias is None else x + channelwise(x, bias, name, "bias")


def channelwise(x: Value, numbers: Value, name: str, what: str) -> Value:
    """Return one number for each channel with axes that broadcast along x; raises ``shape``."""
    said = f"{name}: {what} has shape {numbers.shape}, x of shape {x.shape} {x.shape[1]} channels"
    require(numbers.shape == (x.shape[1],), "shape", said)
    return numbers.reshape(-1, *(1,) * (x.ndim - 2))


def by_channels(x: Value, axes: Axes | None, mean: Value | None, var: Value | None, eps: float, name: str) -> Value:
    """Return (x - mean)/sqrt(var + eps): of the entries along ``axes``, or for None of running statistics."""
    if axes is not None:
        several = math.prod(x.shape[axis] for axis in axes) > 1
        require(several, "shape", f"{name} needs two numbers or more for each channel, not shape {x.shape}")
        return standardised(x, axes, eps)
    if mean is None or var is None:
        raise GradcliError("value", f"{name} needs running_mean and running_var, or training=True")
    middle, spread = (channelwise(x, numbers, name, "a running statistic") for numbers in (mean, var))
    return (x - middle) / sqrt(spread + eps)


@layer("batch_norm", "functional")
def batch_norm(
    x: Value,
    running_mean: Value | None,
    running_var: Value | None,
    weight: Value | None = None,
    bias: Value | None = None,
    training: bool = False,
    momentum: Static = 0.1,
    eps: float = 1e-5,
) -> Value:
    """(x - mean)/sqrt(var + eps) for each channel: of the batch in training, else of the running statistics"""
    del momentum  # it moves the running statistics, which this value does not show
    require(x.ndim > 1, "shape", f"batch_norm takes a batch with channels on axis 1, not shape {x.shape}")
    axes = (0, *range(2, x.ndim)) if training else None
    middle = by_channels(x, axes, running_mean, running_var, eps, "batch_norm")
    without_derivative("batch_norm", running_mean=running_mean, running_var=running_var)
    return scaled(middle, weight, bias, "batch_norm")


@layer("instance_norm", "functional")
def instance_norm(
    x: Value,
    running_mean: Value | None = None,
    running_var: Value | None = None,
    weight: Value | None = None,
    bias: Value | None = None,
    use_input_stats: bool = True,
    momentum: Static = 0.1,
    eps: float = 1e-5,
) -> Value:
    """(x - mean)/sqrt(var + eps) for each channel of each of the batch"""
    del momentum
    require(x.ndim > 2, "shape", f"instance_norm takes a batch of channels with axes of their own, not {x.shape}")
    axes = tuple(range(2, x.ndim)) if use_input_stats else None
    middle = by_channels(x, axes, running_mean, running_var, eps, "instance_norm")
    if not use_input_stats:
        without_derivative("instance_norm", running_mean=running_mean, running_var=running_var)
    return scaled(middle, weight, bias, "instance_norm")


@layer("group_norm", "torch functional")
def group_norm(
    x: Value, num_groups: Static, weight: Value | None = None, bias: Value | None = None, eps: float = 1e-5
) -> Value:
    """(x - mean)/sqrt(var + eps) for each group of channels of each of the batch"""
    if x.ndim < 2 or type(num_groups) is not int or num_groups < 1 or x.shape[1] % num_groups:
        said = f"group_norm: {num_groups} groups do not divide the channels of shape {x.shape}"
        raise GradcliError("shape", said)
    groups = x.reshape(x.shape[0], num_groups, x.shape[1] // num_groups * math.prod(x.shape[2:]))
    return scaled(standardised(groups, (2,), eps).reshape(*x.shape), weight, bias, "group_norm")


@layer("rms_norm", "torch functional")
def rms_norm(x: Value, normalized_shape: Static, weight: Value | None = None, eps: float | None = None) -> Value:
    """x/sqrt(mean(x**2) + eps) over the last axes, times weight; eps is 2**-52 unless given"""
    axes = require_last_axes(x, normalized_shape, "rms_norm")
    least = float(np.finfo(np.float64).eps) if eps is None else eps
    result = x / sqrt(square(x).mean(*axes, keepdim=True) + least)
    return result if weight is None else result * weight


@function(
    "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout", "torch functional shares", "neural",
    kinds=OF_FLOATS,
)  # fmt: skip
def dropout(x: Value, p: float = 0.5, training: bool = True) -> Value:
    """x itself: with training=True and p above 0 PyTorch draws entries at random, which is refused here"""
    require(0 <= p <= 1, "value", f"dropout: p is a probability from 0 to 1, not {p}")
    hint = "write training=False, or multiply by a mask of your own over 1 - p"
    require(not (training and p), "value", "dropout with training=True draws entries at random", hint)
    return x


@layer("scaled_dot_product_attention", "functional")
def attention(
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Raw = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    """softmax(query @ key.T*scale + mask) @ value; a mask of truth values leaves out what is False"""
    name, shapes = "scaled_dot_product_attention", f"{query.shape}, {key.shape}, {value.shape}"
    matrices = min(query.ndim, key.ndim, value.ndim) > 1
    require(matrices, "shape", f"{name} takes matrices, not shapes {shapes}")
    what = "dropout_p above 0 draws at random" if dropout_p else "enable_gqa is not supported"
    require(not (dropout_p or enable_gqa), "value", f"{name}: {what}", hint="leave it out")
    one = not is_causal or attn_mask is None
    require(one, "value", f"{name} takes a mask or is_causal=True, not both")
    fits = query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2]
    require(fits, "shape", f"{name}: shapes {shapes} do not fit")
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    allowed = np.tri(*scores.shape[-2:], dtype=np.bool_) if is_causal else None
    if attn_mask is not None:
        mask = np.asarray(getattr(attn_mask, "value", attn_mask))
        allowed = mask if mask.dtype == np.bool_ else None
        scores = scores if allowed is not None else scores + Value(scores.f, attn_mask)
    return allowed_softmax(scores, allowed) @ value


def allowed_softmax(scores: Value, allowed: Mask | None) -> Value:
    """Return softmax along the last axis among what is allowed, and 0 for a row of which nothing is."""
    last = scores.ndim - 1
    if allowed is None:
        return scores.of(SOFTMAX, dim=last)
    some = np.any(allowed, axis=-1, keepdims=True)
    shares = where(as_numbers(allowed | ~some), scores, -math.inf).of(SOFTMAX, dim=last)
    return shares if np.all(some) else where(as_numbers(some), shares, 0)


@layer("bilinear", "torch functional")
def bilinear(input1: Value, input2: Value, weight: Value, bias: Value | None = None) -> Value:
    """sum of input1[i]*weight[k, i, j]*input2[j] over i and j, plus bias"""
    batch = input1.shape[:-1]
    fits = weight.ndim == 3 and input1.shape[-1:] == weight.shape[1:2] and input2.shape[-1:] == weight.shape[2:]
    shapes = f"{input1.shape}, {input2.shape} and {weight.shape}"
    require(fits and batch == input2.shape[:-1], "shape", f"bilinear: shapes {shapes} do not fit")
    left, right = (x.reshape(-1, x.shape[-1]) for x in (input1, input2))
    sums = einsum("ni,kij,nj->nk", left, weight, right).reshape(*batch, weight.shape[0])
    return sums if bias is None else sums + bias


# --- losses ---

loss = partial(function, where="functional", family="neural")


def broadcast(name: str, *arrays: Value) -> None:
    """Refuse arrays whose shapes do not broadcast."""
    shapes = [x.shape for x in arrays]
    common_shape(f"{name}: shapes {', '.join(map(str, shapes))} do not fit", *shapes)


def require_as_many_axes(name: str, a: Value, b: Value, c: Value) -> None:
    """Refuse three arrays that do not have as many axes each."""
    shapes = f"{a.shape}, {b.shape} and {c.shape}"
    require(a.ndim == b.ndim == c.ndim, "shape", f"{name} takes arrays with as many axes each, not shapes {shapes}")


@loss("smooth_l1_loss", kinds=Kinds(Made.NO, Made.NO, Beside.TARGET))
def smooth_l1_loss(x: Value, target: Value, how: Reduction = MEAN, beta: float = 1.0) -> Value:
    """half the square of a difference over beta below beta, the difference less beta/2 above"""
    same_shapes(x, target, "smooth_l1_loss")
    require(beta >= 0, "value", f"smooth_l1_loss: beta cannot be negative, as {beta} is")
    return how(x.of(DISTANCE, target).of(HUBER, beta) / beta if beta else abs(x - target))


@loss("kl_div", kinds=OF_FLOATS)
def kl_div(x: Value, target: Value, how: Reduction = MEAN, log_target: bool = False) -> Value:
    """target*(log(target) - x), x being log-probabilities; with log_target the target too"""
    broadcast("kl_div", x, target)
    losses = exp(target) * (target - x) if log_target else target.of(OPS["xlogy"], target) - target * x
    if how.word != "batchmean":
        return how(losses)
    return losses.total() / x.shape[0] if x.ndim else losses.total()


@loss("poisson_nll_loss", kinds=OF_FLOATS)
def poisson_nll_loss(
    x: Value, target: Value, log_input: bool = True, full: bool = False, how: Around = MEAN, eps: float = 1e-8
) -> Value:
    """exp(x) - target*x, x being the log of the rate; without log_input x - target*log(x + eps)"""
    broadcast("poisson_nll_loss", x, target)
    losses = exp(x) - target * x if log_input else x - target * log(x + eps)
    if full:
        stirling = target * log(target) - target + 0.5 * log(2 * math.pi * target)
        losses = losses + where(target <= 1, 0, stirling)
    return how(losses)


@loss("gaussian_nll_loss", kinds=OF_FLOATS)
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
    lengths = [length for length, other in zip(x.shape, var.shape, strict=False) if length != other]
    fits = var.ndim == x.ndim and sum(lengths) > 0 and all(n in (1, m) for n, m in zip(var.shape, x.shape, strict=True))
    require(fits, "shape", f"gaussian_nll_loss: input has shape {x.shape}, var has shape {var.shape}")
    return var


@loss("hinge_embedding_loss", kinds=OF_FLOATS)
def hinge_embedding_loss(x: Value, target: Value, margin: float = 1.0, how: Reduction = MEAN) -> Value:
    """x where the target is 1, max(margin - x, 0) where it is -1, both where it is neither"""
    broadcast("hinge_embedding_loss", x, target)
    gap = clamp_min(margin - x, 0)
    return how(where(target == 1, 0, gap) + where(target == -1, 0, x))


@loss("margin_ranking_loss", kinds=OF_FLOATS)
def margin_ranking_loss(
    input1: Value, input2: Value, target: Value, margin: float = 0.0, how: Reduction = MEAN
) -> Value:
    """max(-target*(input1 - input2) + margin, 0)"""
    require_as_many_axes("margin_ranking_loss", input1, input2, target)
    broadcast("margin_ranking_loss", input1, input2, target)
    return how(clamp_min(-target * (input1 - input2) + margin, 0))


@loss("triplet_margin_loss", kinds=OF_FLOATS)
def triplet_margin_loss(
    anchor: Value,
    positive: Value,
    negative: Value,
    margin: float = 1.0,
    p: Static = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    how: Reduction = MEAN,
) -> Value:
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


@loss("soft_margin_loss", kinds=OF_FLOATS)
def soft_margin_loss(x: Value, target: Value, how: Reduction = MEAN) -> Value:
    """log(1 + exp(-target*x)), targets being 1 and -1"""
    broadcast("soft_margin_loss", x, target)
    without_derivative("soft_margin_loss", target=target)
    return how(-logsigmoid(target * x))


@loss("cosine_embedding_loss", kinds=OF_FLOATS)
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


@loss("multi_margin_loss", kinds=Kinds(Made.NO, Made.NO, Beside.INTEGERS))
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
    scores = x[classes.key]
    gaps = relu(margin - scores.reshape(*scores.shape, 1) + x)
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


@loss("multilabel_margin_loss", kinds=Kinds(Made.NO, Made.NO, Beside.INTEGERS))
def multilabel_margin_loss(x: Value, target: Value, how: Reduction = MEAN) -> Value:
    """the sum of max(1 - x[label] + x, 0) over the labels and all other classes, over the number of classes"""
    count = x.shape[-1] if x.ndim else 0
    labels = read_labels(x, target).reshape(-1, count)
    rows = x.reshape(-1, count)
    is_label = (labels[:, :, None] == np.arange(count)).any(axis=1)
    scores = rows[np.arange(len(labels))[:, None], np.maximum(labels, 0)]
    gaps = relu(1 - scores.reshape(-1, count, 1) + rows.reshape(-1, 1, count))
    counts = (labels >= 0)[:, :, None] & ~is_label[:, None, :]
    return how((where(as_numbers(counts), gaps, 0).sum(1, 2) / count).reshape(*x.shape[:-1]))


@loss("multilabel_soft_margin_loss", kinds=OF_FLOATS)
def multilabel_soft_margin_loss(x: Value, target: Value, weight: Value | None = None, how: Reduction = MEAN) -> Value:
    """the binary cross entropy of the scores of each label, in the mean over the labels"""
    require(x.ndim, "shape", "multilabel_soft_margin_loss takes scores for each label, not one number")
    losses = -(target * logsigmoid(x) + (1 - target) * logsigmoid(-x))
    losses = losses if weight is None else losses * weight
    return how(losses.sum(losses.ndim - 1) / x.shape[-1])
