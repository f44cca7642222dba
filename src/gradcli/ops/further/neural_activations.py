"""Activations that few programs call, with PyTorch's choice of derivative at kinks, and those of jax.nn."""

from __future__ import annotations

import numpy as np

from gradcli.ops.axes import require_entries
from gradcli.ops.declare import Op
from gradcli.ops.entrywise import elementwise
from gradcli.ops.exactly import sign_of
from gradcli.ops.neural import LOG_SOFTMAX, SOFTMAX, normalised
from gradcli.ops.parts import Kink, Piecewise
from gradcli.ops.piecewise import ELU, GELU, LEAKY_RELU, SOFTPLUS
from gradcli.ops.reductions import LOGSUMEXP
from gradcli.ops.signatures import Array, Expression, Indices, Static, Symbols
from gradcli.ops.slopes import sigmoid as sigmoid_of
from gradcli.ops.values import ALL, Axes, Axis, Value, exp, log, require, sigmoid, where
from gradcli.ops.vocabulary import Spelled, function
from gradcli.ops.writing import with_numbers

SMOOTH = "no no yes"

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


def softshrink(x: Array, lambd: float) -> Array:
    """Return x moved towards 0 by lambd, and 0 where it is no further away."""
    return np.where(np.abs(x) <= lambd, 0 * x, np.where(x > lambd, x - lambd, x + lambd))[()]


def celu(x: Array, alpha: float) -> Array:
    """Return x, and alpha·(exp(x/alpha) - 1) below 0."""
    return np.where(x < 0, alpha * np.expm1(np.where(x < 0, x, 0.0) / alpha), x)[()]


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


def neural(doc: str, where: str = "functional", also: str = "", kinds: str = SMOOTH) -> Spelled:
    """Return how an activation is spelled."""
    return Spelled(where, also, doc, "neural", kinds)


# fmt: off
HARDTANH = elementwise(
    "hardtanh", lambda x, min_val, max_val: np.clip(x, a_min=min_val, a_max=max_val),
    lambda g, _y, x, *, min_val, max_val: np.where((x <= min_val) | (x >= max_val), 0.0, g),
    lambda s, x, min_val, max_val: s.clamp_max(s.clamp_min(x, min_val), max_val), spelled=None,
    slopes=lambda s, x, min_val, max_val: (s.where_gt(x, min_val, s.where_gt(max_val, x, 1, 0), 0),),
    kink=Kink(lambda x, min_val, max_val: (x == min_val) | (x == max_val), "0 is taken"),
    pieces=Piecewise(side, lambda piece, x, min_val, max_val:
                     np.where(piece < 0, min_val, np.where(piece > 0, max_val, x))),
    defaults={"min_val": -1.0, "max_val": 1.0}, write=with_numbers)
elementwise(
    "hardsigmoid", lambda x: np.clip(x + 3, 0.0, 6.0) / 6, lambda g, _y, x: np.where((x > -3) & (x < 3), g / 6, 0.0),
    lambda s, x: s.clamp_max(s.clamp_min(x + 3, 0), 6) / 6,
    slopes=lambda s, x: (s.where_gt(3, s.abs(x), s.number(1) / 6, 0),),
    kink=Kink(lambda x: np.isin(x, (-3, 3)), "0 is taken"),
    pieces=Piecewise(lambda x: side(x, -3, 3), lambda piece, x:
                     np.where(piece < 0, 0, np.where(piece > 0, 1, (x + 3) / 6))),
    spelled=neural("relu6(x + 3)/6: 0 up to -3, 1 from 3 on, a straight line between", also="jax.nn.hard_sigmoid"))
elementwise(
    "hardswish", lambda x: x * (np.clip(x + 3, 0.0, 6.0) / 6),
    lambda g, _y, x: np.where(x <= -3, 0.0, np.where(x < 3, g * ((2 * x + 3) / 6), g)),
    lambda s, x: x * s.clamp_max(s.clamp_min(x + 3, 0), 6) / 6,
    slopes=lambda s, x: (s.where_gt(x, -3, s.where_gt(3, x, (2 * x + 3) / 6, 1), 0),),
    kink=Kink(lambda x: np.isin(x, (-3, 3)), "the slope of the piece outside is taken"),
    pieces=Piecewise(lambda x: side(x, -3, 3), lambda piece, x:
                     np.where(piece < 0, 0, np.where(piece > 0, x, x * (x + 3) / 6))),
    spelled=neural("x*hardsigmoid(x)", also="jax.nn.hard_swish jax.nn.hard_silu"))
elementwise(
    "hardshrink", lambda x, lambd: np.where(np.abs(x) <= lambd, 0.0, x)[()],
    lambda g, _y, x, *, lambd: np.where(np.abs(x) <= lambd, 0.0, g),
    lambda s, x, lambd: s.where_gt(s.abs(x), lambd, x, 0),
    kink=Kink(lambda x, lambd: np.abs(x) == lambd, "0 is taken"), defaults={"lambd": 0.5}, write=with_numbers,
    pieces=Piecewise(lambda x, lambd: abs(x) > lambd, lambda piece, x, lambd: np.where(piece, x, 0)),
    spelled=neural("x, and 0 where it is no further from 0 than lambd", "torch functional method"))
SOFTSHRINK = elementwise(
    "softshrink", softshrink, lambda g, _y, x, *, lambd: np.where(np.abs(x) <= lambd, 0.0, g),
    lambda s, x, lambd: s.where_gt(s.abs(x), lambd, x - lambd * s.sign(x), 0), spelled=None,
    slopes=lambda s, x, lambd: (s.where_gt(s.abs(x), lambd, 1, 0),),
    kink=Kink(lambda x, lambd: np.abs(x) == lambd, "0 is taken"), defaults={"lambd": 0.5}, write=with_numbers,
    pieces=Piecewise(lambda x, lambd: np.where(abs(x) > lambd, sign_of(x), 0),
                     lambda piece, x, lambd: np.where(piece == 0, 0, x - piece * lambd)))
elementwise(
    "tanhshrink", tanhshrink, lambda g, _y, x: g * np.tanh(x) ** 2, lambda s, x: x - s.tanh(x),
    slopes=lambda s, x: (s.tanh(x)**2,), exactly=lambda x: x - np.tanh(x), torch_saves=("own",),
    torch_doubles=lambda y, x: (x - np.tanh(x), 1 - (1 - np.tanh(x) ** 2)),
    spelled=neural("x - tanh(x)", kinds="no float yes"))
CELU = elementwise(
    "celu", celu, lambda g, _y, x, *, alpha: np.where(x <= 0, g * np.exp(np.where(x < 0, x, 0.0) / alpha), g),
    lambda s, x, alpha: s.where_gt(x, 0, x, alpha * s.expm1(x / alpha)), spelled=None,
    slopes=lambda s, x, alpha: (s.where_gt(x, 0, 1, s.exp(x / alpha)),), defaults={"alpha": 1.0}, write=with_numbers,
    pieces=Piecewise(lambda x, alpha: x > 0, lambda piece, x, alpha: np.where(piece, x, alpha * np.expm1(x / alpha))))
elementwise(
    "mish", mish, mish_vjp, lambda s, x: x * s.tanh(s.log1p(s.exp(x))), slopes=mish_slope,
    exactly=lambda x: x * np.tanh(np.log1p(np.exp(x))), spelled=neural("x*tanh(softplus(x))"))
PRELU = elementwise(
    "prelu",
    lambda x, weight: np.where(x > 0, x, weight * x)[()],
    lambda g, _y, x, weight: np.where(x > 0, g, g * weight),
    lambda g, _y, x, _weight: np.where(x > 0, 0.0, g * x),
    lambda s, x, weight: s.where_gt(x, 0, x, weight * x),
    spelled=None,
    slopes=lambda s, x, weight: (s.where_gt(x, 0, 1, weight), s.where_gt(x, 0, 0, x)),
    kink=Kink(lambda x, weight: (x == 0) & (weight != 1), "the slope on the left is taken"),
    pieces=Piecewise(lambda x, weight: x > 0, lambda piece, x, weight: np.where(piece, x, weight * x)),
    text="where({0} > 0, {0}, {1}*{0})",
    precedence=99,
)
# fmt: on
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
"""Of the paper that selu comes from, as PyTorch has them."""


@function("hardtanh jax.nn.hard_tanh", "functional", "neural", op=HARDTANH, kinds="no same yes")
def hardtanh(x: Value, min_val: float = -1.0, max_val: float = 1.0) -> Value:
    """x between two bounds; its derivative at a bound is 0"""
    require(min_val <= max_val, "value", f"hardtanh: min_val is {min_val}, and max_val is less, {max_val}")
    return x.of(HARDTANH, min_val=min_val, max_val=max_val)


@function("relu6", "functional", "neural", kinds="no same yes")
def relu6(x: Value) -> Value:
    """x between 0 and 6; its derivative at both is 0"""
    return x.of(HARDTANH, min_val=0.0, max_val=6.0)


@function("softshrink", "functional", "neural", op=SOFTSHRINK, kinds=SMOOTH)
def build_softshrink(x: Value, lambd: float = 0.5) -> Value:
    """x moved towards 0 by lambd, and 0 where it is no further from it"""
    require(lambd >= 0, "value", f"softshrink: lambd cannot be negative, as {lambd} is")
    return x.of(SOFTSHRINK, lambd=lambd)


@function("celu", "torch functional", "neural", op=CELU, kinds=SMOOTH)
def build_celu(x: Value, alpha: float = 1.0) -> Value:
    """x above 0, alpha*(exp(x/alpha) - 1) below"""
    require(alpha, "value", "celu: alpha cannot be 0, x is divided by it")
    return x.of(CELU, alpha=alpha)


@function("selu", "torch functional", "neural", kinds=SMOOTH)
def selu(x: Value) -> Value:
    """elu with alpha = 1.6733, times 1.0507: both keep the variance of what passes through"""
    return SELU_SCALE * x.of(ELU, alpha=SELU_ALPHA)


@function("rrelu", "torch functional", "neural", kinds=SMOOTH)
def rrelu(x: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Value:
    """leaky_relu with the mean of two slopes; in training PyTorch draws one at random"""
    require(lower <= upper, "value", f"rrelu: lower is {lower}, and upper is less, {upper}")
    require(not training, "value", "rrelu with training=True draws its slopes at random", hint="leave training out")
    return x.of(LEAKY_RELU, negative_slope=(lower + upper) / 2)


@function("prelu", "torch functional method", "neural", op=PRELU, kinds="no no no")
def prelu(x: Value, weight: Value) -> Value:
    """x above 0, weight*x below and at 0; weight is one number, or one for each channel on axis 1"""
    require(weight.ndim < 2, "shape", f"prelu: weight is a number or a vector, not of shape {weight.shape}")
    if weight.shape in ((), (1,)):
        return x.of(PRELU, weight.reshape() if weight.ndim else weight)
    channels = x.shape[1] if x.ndim > 1 else 1
    said = f"prelu: weight has shape {weight.shape}, x of shape {x.shape} {channels} channels"
    require(weight.shape == (channels,), "shape", said)
    return x.of(PRELU, weight.reshape(channels, *(1,) * (x.ndim - 2)))


@function("threshold", "torch functional", "neural", kinds="no same yes")
def build_threshold(x: Value, threshold: float, value: float) -> Value:
    """x above the threshold, value at it and below"""
    return where(x <= threshold, value, x)


@function("glu", "functional", "neural", kinds=SMOOTH)
def glu(x: Value, dim: Axis = -1) -> Value:
    """the first half of the entries along dim, times the sigmoid of the second half"""
    require(x.ndim, "shape", "glu takes an array with an axis to halve, not one number")
    half, odd = divmod(x.shape[dim], 2)
    said = f"glu halves axis {dim}, which has {x.shape[dim]} entries: an even number fits"
    require(not odd, "shape", said)
    first, second = x.along(dim, slice(0, half)), x.along(dim, slice(half, None))
    return first * sigmoid(second)


@function("softmin", "functional", "neural", kinds=SMOOTH)
def softmin(x: Value, dim: Static = None) -> Value:
    """exp(-x)/sum(exp(-x)) along dim, which a vector may leave out"""
    return normalised(SOFTMAX, -x, dim, "F")


# --- what means something else in jax.nn than under the same name in PyTorch ---


@function("jax.nn.softplus", "", "neural", kinds=SMOOTH)
def jax_softplus(x: Value) -> Value:
    """log(1 + exp(x)), also where PyTorch takes x itself"""
    return x.of(SOFTPLUS, beta=1.0, threshold=np.inf)


@function("jax.nn.gelu", "", "neural", kinds=SMOOTH)
def jax_gelu(x: Value, approximate: Static = True) -> Value:
    """x times the normal distribution function of x, approximated by tanh unless approximate=False"""
    return x.of(GELU, approximate="tanh" if approximate else "none")


def along_last(name: str, op: Op) -> None:
    """Enter softmax or its logarithm as JAX has it: along the last axis unless another is named."""

    def build(x: Value, axis: Static = -1) -> Value:
        return normalised(op, x, axis, "F")

    build.__doc__ = f"{op.name} along axis, the last one unless said otherwise"
    function(name, "", "neural", kinds=SMOOTH)(build)


along_last("jax.nn.softmax", SOFTMAX)
along_last("jax.nn.log_softmax", LOG_SOFTMAX)


@function(
    "jax.nn.logsumexp scipy.special.logsumexp sp.special.logsumexp jax.scipy.special.logsumexp jsp.special.logsumexp",
    "", "neural", kinds=SMOOTH,
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
