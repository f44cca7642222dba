"""Functions with kinks, steps and flat pieces; PyTorch's choice of derivative at each kink."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.arithmetic import zero
from gradcli.ops.declare import (
    NO_TORCH,
    Apply,
    Chosen,
    Entries,
    Keeps,
    Kink,
    Op,
    Piecewise,
    Text,
    Torch,
    declare,
    in_one_step,
    no_links,
)
from gradcli.ops.elementwise import erfc, normal_density, normal_share, recomputed, sigmoid, sigmoid_slope
from gradcli.ops.exactly import decided, is_nan, sign_of
from gradcli.ops.links import Array, At, Expression, Forward, Indices, Links, Mask, Number, Symbols, Tensor, Test
from gradcli.ops.values import Value, clamp_min, common_shape, require, where
from gradcli.ops.vocabulary import (
    KEPT,
    OF_FLOATS,
    OF_NUMBERS,
    Beside,
    Kinds,
    Made,
    Spelled,
    builder,
    elementwise,
    enter,
    function,
)
from gradcli.ops.writing import with_numbers
from gradcli.records import replace


@in_one_step
def sign(x: Array) -> Array:
    """Return -1, 0 or 1; 0 for nan, as PyTorch does."""
    return np.where(np.isnan(x), 0.0, np.sign(x))[()]


def is_zero(x: Array, **_options: Any) -> Mask:
    """Return where an argument is 0."""
    return x == 0


def softplus(x: Array, beta: float, threshold: float) -> Array:
    """Return log(1 + exp(βx))/β, and x itself above the threshold."""
    inner = np.log1p(np.exp(x * beta)) if threshold < 700 else -logsigmoid(-x * beta)
    return np.where(x * beta > threshold, x, inner / beta)[()]


def softplus_vjp(g: Array, _y: Array, x: Array, *, beta: float, threshold: float) -> Array:
    """Return g·sigmoid(βx), and g above the threshold."""
    return np.where(x * beta > threshold, g, g * sigmoid(np.where(x * beta >= threshold, threshold, x * beta)))


def logsigmoid(x: Array) -> Array:
    """Return log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|))."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def logsigmoid_vjp(g: Array, _y: Array, x: Array) -> Array:
    """Return g·sigmoid(-x), from exp(-|x|) on both sides."""
    z = np.exp(-np.abs(x))
    return g * np.where(x < 0, 1 - z / (1 + z), z / (1 + z))


def elu(x: Array, alpha: float) -> Array:
    """Return x, and α·(exp(x) - 1) below 0."""
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)[()]


def at_least(x: Array, low: Number) -> Array:
    """Return the larger of each pair; x itself at the bound, so that -0 stays -0."""
    return np.where(x == low, x, np.maximum(x, low))[()]


def at_most(x: Array, high: Number) -> Array:
    """Return the smaller of each pair; x itself at the bound."""
    return np.where(x == high, x, np.minimum(x, high))[()]


NEAR_ROOT = 1e-3
"""The distance from its root up to which a slope is taken in more digits."""
SILU_ROOT, GELU_ROOT, GELU_TANH_ROOT = -1.2784645427610737, -0.7517915246935645, -0.7524614220710163
"""Where x·sigmoid(x), x·Φ(x) and its approximation by tanh are least."""


def near(x: Array, root: float) -> Mask:
    """Return which entries are near to a root."""
    return np.abs(x - root) < NEAR_ROOT


def silu_slope(x: Array) -> Array:
    """Return σ(x)·(1 + x·(1 - σ(x)))."""
    slopes = sigmoid(x) * (1 + x * sigmoid(-x))
    return recomputed(slopes, near(x, SILU_ROOT), x, lambda mp, x: (1 + x / (1 + mp.exp(x))) / (1 + mp.exp(-x)))


def gelu_slope(x: Array) -> Array:
    """Return Φ(x) + x·φ(x)."""
    slopes = 0.5 * erfc(-x / math.sqrt(2)) + x * normal_density(x)
    return recomputed(slopes, near(x, GELU_ROOT), x, lambda mp, x: mp.ncdf(x) + x * mp.npdf(x))


GELU_TANH = 2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715
"""a and b of v = a·x + b·x³, with which gelu by tanh is x·sigmoid(v)."""
SATURATED = 1e9
"""Beyond, the slope of gelu is 0 or 1, and x³ may be no double."""


def gelu_tanh_inner(x: Number) -> Number:
    """Return v = a·x + b·x³."""
    return x * (GELU_TANH[0] + GELU_TANH[1] * (x * x))


def gelu_tanh_slope(x: Array) -> Array:
    """Return σ(v)·(1 + x·v'·σ(-v))."""
    short = np.where(np.isinf(x), x, np.clip(x, -SATURATED, SATURATED))
    v = gelu_tanh_inner(short)
    slopes = sigmoid(v) * (1 + short * (GELU_TANH[0] + 3 * GELU_TANH[1] * short * short) * sigmoid(-v))
    return recomputed(slopes, near(x, GELU_TANH_ROOT), x, gelu_tanh_in_mpmath)


def gelu_tanh_in_mpmath(mp: Any, x: Any) -> Any:
    """Return the slope of gelu by tanh at one number."""
    a, cube = mp.sqrt(8 / mp.pi), mp.mpf(0.044715)
    share = 1 / (1 + mp.exp(-a * (x + cube * x**3)))
    return share * (1 + x * a * (1 + 3 * cube * x**2) * (1 - share))


def gelu(x: Array, approximate: str) -> Array:
    """Return x·Φ(x), or the approximation of Φ by tanh, which is a sigmoid."""
    return x * sigmoid(gelu_tanh_inner(x)) if approximate == "tanh" else 0.5 * x * erfc(-x / math.sqrt(2))


def gelu_in_torch(y: Array, x: Array, *, approximate: str) -> tuple[Array, Array | None]:
    """Return x·Φ(x) and its slope by PyTorch's Φ."""
    if approximate == "tanh":
        return y, None
    share = normal_share(x)
    return x * share, share + x * normal_density(x)


NO_DERIVATIVE = Kink(is_zero, "0 is taken")
AT_BOUND = Kink(lambda x, bound: x == bound, "1 is taken")

# fmt: off
# name, forward, a vjp for each argument, formula or slopes: what else the record holds
ABS = elementwise("abs", np.abs, lambda g, _y, x: g * sign(x), slopes=lambda s, x: (s.sign(x),),
    kink=NO_DERIVATIVE, pieces=Piecewise(sign_of, lambda piece, x: piece * x), text=Text(backward=("{g}*sign({0})",)),
    spelled=Spelled("torch numpy math method", "absolute fabs", "the absolute value; its derivative at 0 is 0",
                    kinds=Kinds(Made.NUMPY_SAME, Made.SAME)))
SIGMOID = elementwise("sigmoid", sigmoid, lambda g, y, x: g * (y / (1 + np.exp(x))),
    slopes=lambda s, x: (s.sigmoid(x) * s.rest_of_sigmoid(x),), double_vjps=(lambda g, _y, x: g * sigmoid_slope(x),),
    torch=Torch(saves=((Keeps.OUTPUT,),), rounding=lambda y, x: (None, (1 - y) * y)),
    exactly=lambda x: 1 / (1 + np.exp(-x)), text=Text(backward=("{g}*{y}*(1 - {y})",)),
    spelled=Spelled("torch functional special method", "expit", "1/(1 + exp(-x))", "neural"))
elementwise("relu", lambda x: at_least(x, 0.0), lambda g, y, _x: np.where(y <= 0, 0.0, g),
    slopes=lambda s, x: (s.where_gt(x, 0, 1, 0),),
    kink=NO_DERIVATIVE, text=Text(backward=("where({y} > 0, {g}, 0)",)),
    pieces=Piecewise(sign_of, lambda piece, x: np.where(piece > 0, x, np.where(piece < 0, 0, 0 * x))),
    spelled=Spelled("torch functional method", "", "max(x, 0); its derivative at 0 is 0", "neural", OF_NUMBERS))
elementwise("logsigmoid", logsigmoid, logsigmoid_vjp, slopes=lambda s, x: (s.sigmoid(-x),),
    double_vjps=(lambda g, _y, x: g * sigmoid(-x),),
    exactly=exactly.logsigmoid, text=Text(backward=("{g}*sigmoid(-{0})",)),
    spelled=Spelled("functional", "jax.nn.log_sigmoid", "log(sigmoid(x))", "neural", OF_FLOATS))
elementwise("silu", lambda x: x / (1 + np.exp(-x)), lambda g, _y, x: g * silu_slope(x),
    slopes=lambda s, x: (s.silu_slope(x),),
    text=Text(backward=("{g}*sigmoid({0})*(1 + {0}*(1 - sigmoid({0})))",)),
    spelled=Spelled("functional", "swish", "x*sigmoid(x)", "neural", OF_FLOATS))
elementwise("softsign", lambda x: x / (1 + np.abs(x)), lambda g, _y, x: g / (1 + np.abs(x)) ** 2 + 0 * x,
    slopes=lambda s, x: (1 / (1 + s.abs(x)) ** 2,),
    exactly=lambda x: x / (1 + abs(x)),
    torch=Torch(saves=((0,),), rounding=lambda y, x: (
        None, 1 / (1 + abs(x)) - x / (1 + abs(x)) / (1 + abs(x)) * np.sign(x))),
    spelled=Spelled("functional", "jax.nn.soft_sign", "x/(1 + |x|)", "neural", Kinds(Made.NO, Made.FLOAT)))
CLAMP_MIN = elementwise("clamp_min", at_least, lambda g, _y, x, low: np.where(x >= low, g, 0.0),
    lambda g, _y, x, low: np.where(x < low, g, 0.0),
    slopes=lambda s, x, low: (s.where_ge(x, low, 1, 0), s.where_ge(x, low, 0, 1)),
    kink=AT_BOUND, pieces=Piecewise(lambda x, low: (x >= low) | is_nan(x), np.where),
    spelled=Spelled("torch method", "", "the larger of x and other; its derivative at the bound is 1", kinds=KEPT))
CLAMP_MAX = elementwise("clamp_max", at_most, lambda g, _y, x, high: np.where(x <= high, g, 0.0),
    lambda g, _y, x, high: np.where(x > high, g, 0.0),
    slopes=lambda s, x, high: (s.where_ge(high, x, 1, 0), s.where_ge(high, x, 0, 1)),
    kink=AT_BOUND, pieces=Piecewise(lambda x, high: (x <= high) | is_nan(x), np.where),
    spelled=Spelled("torch method", "", "the smaller of x and other; its derivative at the bound is 1", kinds=KEPT))
# fmt: on


def step(
    name: str,
    forward: Forward,
    pieces: Piecewise,
    spelled: Spelled | None,
    at: Test | None = None,
    arguments: int = 1,
    **record: Any,
) -> Op:
    """Declare a function that is flat: its derivative is 0 wherever it has one; ``spelled`` None enters none."""
    op = declare(
        name, forward, (zero if at else None,) * arguments, no_links, flat=at is None,
        step=True, kink=Kink(at, "0 is taken") if at else None, pieces=pieces,
        torch=replace(record.pop("torch", NO_TORCH), saves=((),)), **record,
    )  # fmt: skip
    if spelled is not None:
        enter(name, spelled, op=op, build=builder(op, arguments))
    return op


def is_whole(x: Array) -> Mask:
    """Return where a number is an integer."""
    return x == np.floor(x)


# fmt: off
ROUNDED, ANYWHERE = Kinds(Made.NUMPY_SAME, Made.SAME), "torch numpy math method"
SIGN  = step("sign", sign, Piecewise(sign_of, lambda piece, x: np.asarray(piece, dtype=object)),
             Spelled(also="sgn", doc="-1, 0 or 1; flat, its derivative is 0", kinds=Kinds(Made.TORCH_SAME, Made.SAME)),
             is_zero)
FLOOR = step("floor", np.floor, decided(np.floor),
             Spelled(ANYWHERE, doc="the largest integer that is not above x; flat", kinds=ROUNDED), is_whole)
CEIL  = step("ceil", np.ceil, decided(np.ceil),
             Spelled(ANYWHERE, doc="the smallest integer that is not below x; flat", kinds=ROUNDED), is_whole)
TRUNC = step("trunc", np.trunc, decided(np.trunc),
             Spelled(ANYWHERE, "fix", "the integer part; flat", kinds=ROUNDED), is_whole)
ROUND = step("round", np.round, decided(np.rint), None, lambda x: np.abs(x % 1) == 0.5)
HEAVISIDE = step("heaviside", np.heaviside,
                 Piecewise(lambda x, y: sign_of(x), lambda piece, x, y:
                           np.where(piece < 0, 0, np.where(piece > 0, 1, np.where(is_nan(x), x, y)))),

                 Spelled("torch numpy method tensors", doc="0 where x is below 0, 1 above, other at 0; flat",
                         kinds=Kinds(Made.SAME, Made.SAME, Beside.FLOATS)), arguments=2, torch=Torch(raises=True))
ISNAN = step("isnan", np.isnan, decided(exactly.is_nan),
             Spelled(ANYWHERE, doc="true where an entry is not a number", kinds=Kinds(Made.MASK, Made.MASK)))
# fmt: on


MOST_PLACES = 308
"""Decimals beyond which a power of ten is no double."""


@function(
    "round rint around torch.special.round special.round", "torch numpy method", "elementwise", op=ROUND,
    kinds=Kinds(Made.NUMPY_FLOAT, Made.SAME),
)  # fmt: skip
def build_round(x: Value, decimals: int = 0) -> Value:
    """the nearest integer, halves to even, or the nearest number of so many decimals; flat"""
    if decimals == 0:
        return x.of(ROUND)
    said = f"round: decimals is at most {MOST_PLACES} and at least -{MOST_PLACES}, not {decimals}"
    require(abs(decimals) <= MOST_PLACES, "value", said, "a double has no more")
    unit = 10.0 ** abs(decimals)
    return (x * unit).of(ROUND) / unit if decimals > 0 else (x / unit).of(ROUND) * unit


def where_local(at: At) -> list[Links]:
    """Link each entry of the output to the branch that it was taken from; no derivative flows to the condition."""
    if at.argument == 0:
        return []
    mask = np.broadcast_to(at.x, np.shape(at.out)).ravel().astype(bool)
    rows: Indices = np.flatnonzero(mask if at.argument == 1 else ~mask)
    return [Links(rows, at.places(at.argument, np.arange(np.size(at.out)))[rows])]


def gelu_text_back(_k: int, _out: Array, _x: Array, *, approximate: str) -> str:
    """Return the text of g times the slope of gelu, or of its approximation by tanh."""
    if approximate == "none":
        return "{g}*((1 + erf({0}/sqrt(2)))/2 + {0}*exp(-{0}**2/2)/sqrt(2*pi))"
    share = "sigmoid(sqrt(8/pi)*({0} + 0.044715*{0}**3))"
    return f"{{g}}*{share}*(1 + {{0}}*sqrt(8/pi)*(1 + 0.134145*{{0}}**2)*(1 - {share}))"


WHERE = declare(
    "where",
    np.where,
    (None, lambda g, _y, c, _a, _b: np.where(c, g, 0.0), lambda g, _y, c, _a, _b: np.where(c, 0.0, g)),
    where_local,
    pieces=Piecewise(lambda c, a, b: exactly.true(c), lambda piece, c, a, b: np.asarray(np.where(piece, a, b))),
    entries=Entries(index=Chosen(("", "where({0}, 1, 0)", "where({0}, 0, 1)")), moves=True),
    chooses=True,
    torch=Torch(saves=((0,),)),
    text=Text(rule="choice"),
)


@function("where", "torch numpy", "elementwise", op=WHERE, kinds=Kinds(Made.SAME, Made.SAME, Beside.PLAIN))
def build_where(f: Apply, condition: Tensor, x: Tensor | None = None, other: Tensor | None = None) -> Any:
    """x where the condition holds, other elsewhere; of a condition alone the places where it holds"""
    if x is None or other is None:
        from gradcli.ops.further.casting import build_nonzero

        require(x is other, "arguments", "where takes a condition alone, or two values with it")
        return build_nonzero(f, condition, as_tuple=True)
    return f(WHERE, condition, x, other)


def softplus_formula(s: Symbols, x: Expression, beta: float, threshold: float) -> Expression:
    """Return softplus; without a threshold it is -logsigmoid(-x)."""
    if threshold == math.inf:
        return -s.logsigmoid(-s.number(beta) * x) / s.number(beta)
    return s.softplus(x, s.number(beta), s.number(threshold))


# fmt: off
LEAKY_RELU = elementwise("leaky_relu", lambda x, negative_slope: np.where(x > 0, x, x * negative_slope)[()],
    lambda g, _y, x, *, negative_slope: np.where(x > 0, g, g * negative_slope),
    formula=lambda s, x, negative_slope: s.leaky_relu(x, s.number(negative_slope)),
    derivatives=lambda s, x, slope: (s.where_gt(x, 0, 1, slope),),
    kink=Kink(is_zero, "the slope on the left is taken"),
    text=Text(defaults={"negative_slope": 0.01}, write=with_numbers),
    pieces=Piecewise(
        lambda x, negative_slope: x > 0, lambda piece, x, negative_slope: np.where(piece, x, negative_slope * x)),
    spelled=Spelled("functional", "", "x above 0, negative_slope*x below and at 0", "neural", OF_FLOATS))
ELU = elementwise("elu", elu,
    lambda g, _y, x, *, alpha: np.where(x <= 0, g * alpha * np.exp(np.where(x < 0, x, 0.0)), g),
    formula=lambda s, x, alpha: s.elu(x, s.number(alpha)),
    derivatives=lambda s, x, alpha: (s.where_gt(x, 0, 1, alpha * s.exp(x)),),
    text=Text(defaults={"alpha": 1.0}, write=with_numbers, backward=("where({0} > 0, {g}, {g}*{alpha}*exp({0}))",)),
    kink=Kink(lambda x, alpha: (x == 0) & (alpha != 1), "alpha is taken"),
    pieces=Piecewise(lambda x, alpha: x > 0, lambda piece, x, alpha: np.where(piece, x, alpha * np.expm1(x))),
    spelled=Spelled("functional", "", "x above 0, alpha*(exp(x) - 1) below", "neural", OF_FLOATS))
SOFTPLUS = elementwise("softplus", softplus, softplus_vjp, formula=softplus_formula,
    derivatives=lambda s, x, beta, threshold: (s.where_gt(beta * x, threshold, 1, s.sigmoid(beta * x)),),
    text=Text(defaults={"beta": 1.0, "threshold": 20.0}, backward=("{g}*sigmoid({beta}*{0})",)),
    pieces=Piecewise(
        lambda x, beta, threshold: x * beta > threshold,
        lambda piece, x, beta, threshold: np.where(piece, x, np.log1p(np.exp(x * beta)) / beta)),
    spelled=Spelled("functional", "", "log(1 + exp(beta*x))/beta, and x itself where beta*x is above the threshold",
                    "neural", OF_FLOATS))
GELU = elementwise("gelu", gelu,
    lambda g, _y, x, *, approximate: g * (gelu_tanh_slope(x) if approximate == "tanh" else gelu_slope(x)),
    formula=lambda s, x, approximate: s.gelu_tanh(x) if approximate == "tanh" else s.gelu(x),
    text=Text(defaults={"approximate": "none"}, backward=gelu_text_back), exactly=exactly.gelu,
    torch=Torch(rounding=gelu_in_torch),
    spelled=Spelled("functional", "",
                    'x times the normal distribution function of x; approximate="tanh" for the approximation',
                    "neural", OF_FLOATS))
# fmt: on


# --- between two bounds ---


def between(x: Array, low: float, high: float) -> Array:
    """Return x, but at least the lower bound, and then at most the upper one."""
    return at_most(at_least(x, low), high)


def side_of(x: Array, low: float, high: float) -> Indices:
    """Return -1 below the lower bound, 1 above the upper one, 0 between and at a bound."""
    return np.where(x < low, -1, np.asarray(x > high, dtype=int))


CLIP = elementwise(
    "clip",
    between,
    lambda g, _y, x, *, low, high: np.where((x >= low) & (x <= high), g, 0.0),
    formula=lambda s, x, low, high: s.clamp_max(s.clamp_min(x, low), high),
    text=Text(defaults={"low": -1.0, "high": 1.0}, write=with_numbers),
    kink=Kink(lambda x, low, high: (x == low) | (x == high), "1 is taken"),
    pieces=Piecewise(
        side_of, lambda piece, x, low, high: np.where(piece < 0, min(low, high), np.where(piece > 0, high, x))
    ),
    spelled=None,
)


@function("clip clamp", "torch numpy method", "elementwise", kinds=KEPT)
def build_clip(x: Value, min: Value | None = None, max: Value | None = None) -> Value:
    """x between min and max; its derivative at a bound is 1"""
    if min is None or max is None:
        low = x if min is None else clamp_min(x, min)
        return low if max is None else low.of(CLAMP_MAX, max)
    if is_plain(min) and is_plain(max):
        return x.of(CLIP, low=np.asarray(min.raw).item(), high=np.asarray(max.raw).item())
    said = f"clip: {x.shape}, {min.shape}, {max.shape} of x, min, max do not fit"
    common_shape(said, x.shape, min.shape, max.shape)
    return clamp_min(x, bound_below(min, max)).of(CLAMP_MAX, max)


def is_plain(bound: Value) -> bool:
    """Return whether a bound is one number that depends on no input."""
    return bound.raw is bound.node and np.ndim(bound.node) == 0


def bound_below(low: Value, high: Value) -> Value:
    """Return the lower bound, without its gradient where both bounds are equal: PyTorch gives neither any there."""
    equal = low.raw == high.raw
    return where(equal, np.array(low.raw), low) if np.any(equal) else low
