"""Activations that few programs call, with PyTorch's choice of derivative where two pieces meet."""

from __future__ import annotations

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import MUL, NEG
from gradcli.ops.axes import number, one_axis
from gradcli.ops.declare import OPERATORS, Apply
from gradcli.ops.entrywise import elementwise, elementwise_table
from gradcli.ops.exactly import sign_of
from gradcli.ops.further.neural_curves import (
    celu,
    celu_vjp,
    hardswish_vjp,
    hardtanh,
    mish,
    mish_slope,
    mish_vjp,
    side,
    softshrink,
    softshrink_on,
    tanhshrink,
)
from gradcli.ops.indexing import INDEX
from gradcli.ops.neural import SOFTMAX, normalised
from gradcli.ops.parts import Kink, Piecewise
from gradcli.ops.piecewise import BENT, WHERE, WITH_OPTIONS
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.signatures import Static, Tensor, Test
from gradcli.ops.vocabulary import Spelled, function
from gradcli.ops.writing import with_numbers

SMOOTH = "no no yes"


def at(*places: float) -> Test:
    """Return the test whether a number is one of these."""
    return lambda x: np.isin(x, places)


# fmt: off
BENT_FURTHER = elementwise_table({
    # op           forward   vjp and formula
    "hardtanh":    (hardtanh,
                    lambda g, _y, x, *, min_val, max_val: np.where((x <= min_val) | (x >= max_val), 0.0, g),
                    lambda s, x, min_val, max_val: s.clamp_max(s.clamp_min(x, min_val), max_val)),
    "hardsigmoid": (lambda x: np.clip(x + 3, 0.0, 6.0) / 6,
                    lambda g, _y, x: np.where((x > -3) & (x < 3), g / 6, 0.0),
                    lambda s, x: s.clamp_max(s.clamp_min(x + 3, 0), 6) / 6),
    "hardswish":   (lambda x: x * (np.clip(x + 3, 0.0, 6.0) / 6), hardswish_vjp,
                    lambda s, x: x * s.clamp_max(s.clamp_min(x + 3, 0), 6) / 6),
    "hardshrink":  (lambda x, lambd: np.where(np.abs(x) <= lambd, 0.0, x)[()],
                    lambda g, _y, x, *, lambd: np.where(np.abs(x) <= lambd, 0.0, g),
                    lambda s, x, lambd: s.where_gt(s.abs(x), lambd, x, 0)),
    "softshrink":  (softshrink, lambda g, _y, x, *, lambd: np.where(np.abs(x) <= lambd, 0.0, g),
                    lambda s, x, lambd: s.where_gt(s.abs(x), lambd, x - lambd * s.sign(x), 0)),
    "tanhshrink":  (tanhshrink, lambda g, _y, x: g * np.tanh(x) ** 2, lambda s, x: x - s.tanh(x)),
    "celu":        (celu, celu_vjp, lambda s, x, alpha: s.where_gt(x, 0, x, alpha * s.expm1(x / alpha))),
    "mish":        (mish, mish_vjp, lambda s, x: x * s.tanh(s.log1p(s.exp(x)))),
}, {
    "hardsigmoid": Spelled("functional", "jax.nn.hard_sigmoid",
                           "relu6(x + 3)/6: 0 up to -3, 1 from 3 on, a straight line between", "neural", SMOOTH),
    "hardswish":   Spelled("functional", "jax.nn.hard_swish jax.nn.hard_silu", "x*hardsigmoid(x)", "neural", SMOOTH),
    "hardshrink":  Spelled("torch functional method", "", "x, and 0 where it is no further from 0 than lambd",
                           "neural", SMOOTH),
    "tanhshrink":  Spelled("functional", "", "x - tanh(x)", "neural", "no float yes"),
    "mish":        Spelled("functional", "", "x*tanh(softplus(x))", "neural", SMOOTH),
}, {
    "hardtanh":    {
        "defaults": {"min_val": -1.0, "max_val": 1.0}, "write": with_numbers,
        "kink": Kink(lambda x, min_val, max_val: (x == min_val) | (x == max_val), "0 is taken"),
    },
    "hardsigmoid": {"kink": Kink(at(-3, 3), "0 is taken")},
    "hardswish":   {"kink": Kink(at(-3, 3), "the slope of the piece outside is taken")},
    "hardshrink":  {
        "defaults": {"lambd": 0.5}, "write": with_numbers,
        "kink": Kink(lambda x, lambd: np.abs(x) == lambd, "0 is taken"),
    },
    "softshrink":  {
        "defaults": {"lambd": 0.5}, "write": with_numbers,
        "kink": Kink(lambda x, lambd: np.abs(x) == lambd, "0 is taken"),
    },
    "tanhshrink":  {
        "exactly": lambda x: x - np.tanh(x), "torch_saves": ("own",),
        "torch_doubles": lambda y, x: (x - np.tanh(x), 1 - (1 - np.tanh(x) ** 2)),
    },
    "celu":        {"defaults": {"alpha": 1.0}, "write": with_numbers},
    "mish":        {"exactly": lambda x: x * np.tanh(np.log1p(np.exp(x)))},
}, slopes={
    "hardtanh":    lambda s, x, min_val, max_val: (s.where_gt(x, min_val, s.where_gt(max_val, x, 1, 0), 0),),
    "hardsigmoid": lambda s, x: (s.where_gt(3, s.abs(x), s.number(1) / 6, 0),),
    "hardswish":   lambda s, x: (s.where_gt(x, -3, s.where_gt(3, x, (2 * x + 3) / 6, 1), 0),),
    "softshrink":  lambda s, x, lambd: (s.where_gt(s.abs(x), lambd, 1, 0),),
    "tanhshrink":  lambda s, x: (s.tanh(x)**2,),
    "celu":        lambda s, x, alpha: (s.where_gt(x, 0, 1, s.exp(x / alpha)),),
    "mish":        mish_slope,
}, pieces={
    "hardtanh":    Piecewise(side, lambda piece, x, min_val, max_val:
                             np.where(piece < 0, min_val, np.where(piece > 0, max_val, x))),
    "hardsigmoid": Piecewise(lambda x: side(x, -3, 3), lambda piece, x:
                             np.where(piece < 0, 0, np.where(piece > 0, 1, (x + 3) / 6))),
    "hardswish":   Piecewise(lambda x: side(x, -3, 3), lambda piece, x:
                             np.where(piece < 0, 0, np.where(piece > 0, x, x * (x + 3) / 6))),
    "hardshrink":  Piecewise(lambda x, lambd: abs(x) > lambd, lambda piece, x, lambd: np.where(piece, x, 0)),
    "softshrink":  Piecewise(lambda x, lambd: np.where(abs(x) > lambd, sign_of(x), 0), softshrink_on),
    "celu":        Piecewise(lambda x, alpha: x > 0, lambda piece, x, alpha:
                             np.where(piece, x, alpha * np.expm1(x / alpha))),
})
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
ELU, LEAKY_RELU, SIGMOID = WITH_OPTIONS["elu"], WITH_OPTIONS["leaky_relu"], BENT["sigmoid"]
HARDTANH, SOFTSHRINK, CELU = (BENT_FURTHER[name] for name in ("hardtanh", "softshrink", "celu"))
AT_MOST = OPERATORS["<=", 2]
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
"""Of the paper that selu comes from, as PyTorch has them."""


@function("hardtanh jax.nn.hard_tanh", "functional", "neural", op=HARDTANH, kinds="no same yes")
def build_hardtanh(f: Apply, x: Tensor, min_val: Static = -1.0, max_val: Static = 1.0) -> Tensor:
    """x between two bounds; its derivative at a bound is 0"""
    low, high = number(min_val, "min_val"), number(max_val, "max_val")
    if low > high:
        raise GradcliError("value", f"hardtanh: min_val is {low}, and max_val is less, {high}")
    return f(HARDTANH, x, min_val=low, max_val=high)


@function("relu6", "functional", "neural", kinds="no same yes")
def build_relu6(f: Apply, x: Tensor) -> Tensor:
    """x between 0 and 6; its derivative at both is 0"""
    return f(HARDTANH, x, min_val=0.0, max_val=6.0)


@function("softshrink", "functional", "neural", op=SOFTSHRINK, kinds=SMOOTH)
def build_softshrink(f: Apply, x: Tensor, lambd: Static = 0.5) -> Tensor:
    """x moved towards 0 by lambd, and 0 where it is no further from it"""
    if number(lambd, "lambd") < 0:
        raise GradcliError("value", f"softshrink: lambd cannot be negative, as {lambd} is")
    return f(SOFTSHRINK, x, lambd=number(lambd, "lambd"))


@function("celu", "torch functional", "neural", op=CELU, kinds=SMOOTH)
def build_celu(f: Apply, x: Tensor, alpha: Static = 1.0) -> Tensor:
    """x above 0, alpha*(exp(x/alpha) - 1) below"""
    if not number(alpha, "alpha"):
        raise GradcliError("value", "celu: alpha cannot be 0, x is divided by it")
    return f(CELU, x, alpha=number(alpha, "alpha"))


@function("selu", "torch functional", "neural", kinds=SMOOTH)
def build_selu(f: Apply, x: Tensor) -> Tensor:
    """elu with alpha = 1.6733, times 1.0507: both keep the variance of what passes through"""
    return f(MUL, np.float64(SELU_SCALE), f(ELU, x, alpha=SELU_ALPHA))


@function("rrelu", "torch functional", "neural", kinds=SMOOTH)
def build_rrelu(f: Apply, x: Tensor, lower: Static = 1 / 8, upper: Static = 1 / 3, training: Static = False) -> Tensor:
    """leaky_relu with the mean of two slopes; in training PyTorch draws one at random"""
    low, high = number(lower, "lower"), number(upper, "upper")
    if low > high:
        raise GradcliError("value", f"rrelu: lower is {low}, and upper is less, {high}")
    if training:
        raise GradcliError("value", "rrelu with training=True draws its slopes at random", hint="leave training out")
    return f(LEAKY_RELU, x, negative_slope=(low + high) / 2)


@function("prelu", "torch functional method", "neural", op=PRELU, kinds="no no no")
def build_prelu(f: Apply, x: Tensor, weight: Tensor) -> Tensor:
    """x above 0, weight*x below and at 0; weight is one number, or one for each channel on axis 1"""
    if weight.ndim > 1:
        raise GradcliError("shape", f"prelu: weight is a number or a vector, not of shape {weight.shape}")
    if weight.shape in ((), (1,)):
        return f(PRELU, x, weight if not weight.ndim else f(RESHAPE, weight, shape=()))
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.shape != (channels,):
        raise GradcliError("shape", f"prelu: weight has shape {weight.shape}, x of shape {x.shape} {channels} channels")
    return f(PRELU, x, f(RESHAPE, weight, shape=(channels, *(1,) * (x.ndim - 2))))


@function("threshold", "torch functional", "neural", kinds="no same yes")
def build_threshold(f: Apply, x: Tensor, threshold: Static, value: Static) -> Tensor:
    """x above the threshold, value at it and below"""
    low = f(AT_MOST, x, np.float64(number(threshold, "threshold")))
    return f(WHERE, low, np.float64(number(value, "value")), x)


@function("glu", "functional", "neural", kinds=SMOOTH)
def build_glu(f: Apply, x: Tensor, dim: Static = -1) -> Tensor:
    """the first half of the entries along dim, times the sigmoid of the second half"""
    if not x.ndim:
        raise GradcliError("shape", "glu takes an array with an axis to halve, not one number")
    axis = one_axis(dim, x.ndim)
    half, odd = divmod(x.shape[axis], 2)
    if odd:
        raise GradcliError("shape", f"glu halves axis {axis}, which has {x.shape[axis]} entries: an even number fits")
    before = (slice(None),) * axis
    first, second = (f(INDEX, x, key=(*before, part)) for part in (slice(0, half), slice(half, None)))
    return f(MUL, first, f(SIGMOID, second))


@function("softmin", "functional", "neural", kinds=SMOOTH)
def build_softmin(f: Apply, x: Tensor, dim: Static = None) -> Tensor:
    """exp(-x)/sum(exp(-x)) along dim, which a vector may leave out"""
    return normalised(f, SOFTMAX, f(NEG, x), dim, "F")
