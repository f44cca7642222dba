"""Functions with kinks, steps and flat pieces; PyTorch's choice of derivative at each kink."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import number
from gradcli.ops.declare import (
    Apply,
    Indices,
    Kink,
    Links,
    Op,
    Partial,
    Static,
    Tensor,
    declare,
    function,
    no_links,
    value_of,
)
from gradcli.ops.entrywise import broadcast_index, elementwise
from gradcli.ops.slopes import bent, bent_slope, erfc, gelu_slope, sigmoid, silu_slope


def sign(x: Any) -> Any:
    """Return -1, 0 or 1; 0 for nan, as PyTorch does."""
    return np.where(np.isnan(x), 0.0, np.sign(x))[()]


def softplus(x: Any, beta: float, threshold: float) -> Any:
    """Return log(1 + exp(βx))/β, and x itself above the threshold."""
    inner = np.log1p(np.exp(x * beta)) if threshold < 700 else -logsigmoid(-x * beta)
    return np.where(x * beta > threshold, x, inner / beta)[()]


def softplus_vjp(g: Any, y: Any, x: Any, *, beta: float, threshold: float) -> Any:
    """Return g·sigmoid(βx), and g above the threshold."""
    del y
    return np.where(x * beta > threshold, g, g * sigmoid(x * beta))


def logsigmoid(x: Any) -> Any:
    """Return log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|))."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def logsigmoid_vjp(g: Any, y: Any, x: Any) -> Any:
    """Return g·sigmoid(-x), from exp(-|x|) on both sides."""
    del y
    z = np.exp(-np.abs(x))
    return g * np.where(x < 0, 1 - z / (1 + z), z / (1 + z))


def elu(x: Any, alpha: float) -> Any:
    """Return x, and α·(exp(x) - 1) below 0."""
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)[()]


def at_least(x: Any, low: Any) -> Any:
    """Return the larger of each pair; x itself at the bound, so that -0 stays -0."""
    return np.where(x == low, x, np.maximum(x, low))[()]


def at_most(x: Any, high: Any) -> Any:
    """Return the smaller of each pair; x itself at the bound."""
    return np.where(x == high, x, np.minimum(x, high))[()]


def huber(d: Any, delta: Any) -> Any:
    """Return d²/2 for a difference below delta, and the straight line δ·(|d| - δ/2) beyond."""
    size = np.abs(d)
    return np.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))[()]


def huber_vjp(g: Any, y: Any, d: Any, delta: Any) -> Any:
    """Return g·d, and ±g·δ where the line is straight."""
    del y
    return np.where(d <= -delta, -g * delta, np.where(d >= delta, g * delta, d * g))


def huber_vjp_delta(g: Any, y: Any, d: Any, delta: Any) -> Any:
    """Return 0, and g·(|d| - δ) where the line is straight."""
    del y
    return np.where(np.abs(d) < delta, 0.0, g * (np.abs(d) - delta))


def gelu(x: Any, approximate: str) -> Any:
    """Return x·Φ(x), or the approximation of Φ by tanh, which is a sigmoid."""
    return x * sigmoid(bent(x)) if approximate == "tanh" else 0.5 * x * erfc(-x / math.sqrt(2))


def gelu_vjp(g: Any, y: Any, x: Any, *, approximate: str) -> Any:
    """Return g·(Φ(x) + x·φ(x)), or the derivative of the approximation."""
    del y
    return g * (bent_slope(x) if approximate == "tanh" else gelu_slope(x))


_AT_ZERO = lambda x, **static: x == 0  # noqa: E731

# fmt: off
ABS     = elementwise("abs", np.abs,           lambda g, y, x: g * sign(x),              lambda s, x: s.abs(x), also="absolute fabs", of="tnm.", doc="the absolute value; its derivative at 0 is 0", kink=Kink(_AT_ZERO, "0 is taken"))
SIGMOID = elementwise("sigmoid", sigmoid,      lambda g, y, x: g * (y / (1 + np.exp(x))), lambda s, x: s.sigmoid(x), also="expit", of="tfs.", torch_saves=("output",), doc="1/(1 + exp(-x))", family="neural")
RELU    = elementwise("relu", lambda x: at_least(x, 0.0), lambda g, y, x: np.where(y <= 0, 0.0, g), lambda s, x: s.relu(x), of="tf.", doc="max(x, 0); its derivative at 0 is 0", family="neural", kink=Kink(_AT_ZERO, "0 is taken"))
LOGSIGMOID = elementwise("logsigmoid", logsigmoid, logsigmoid_vjp, lambda s, x: s.logsigmoid(x), of="f", doc="log(sigmoid(x))", family="neural")
SILU    = elementwise("silu", lambda x: x / (1 + np.exp(-x)), lambda g, y, x: g * silu_slope(x), lambda s, x: s.silu(x), also="swish", of="f", doc="x*sigmoid(x)", family="neural")
SOFTSIGN = elementwise("softsign", lambda x: x / (1 + np.abs(x)), lambda g, y, x: g / (1 + np.abs(x)) ** 2 + 0 * x, lambda s, x: s.softsign(x), of="f", torch_saves=("0",), doc="x/(1 + |x|)", family="neural")
LEAKY   = elementwise("leaky_relu", lambda x, slope: np.where(x > 0, x, x * slope)[()], lambda g, y, x, *, slope: np.where(x > 0, g, g * slope), lambda s, x, slope: s.leaky_relu(x, slope), of="", kink=Kink(_AT_ZERO, "the slope on the left is taken"))
ELU     = elementwise("elu", elu, lambda g, y, x, *, alpha: np.where(x <= 0, g * alpha * np.exp(np.minimum(x, 0)), g), lambda s, x, alpha: s.elu(x, alpha), of="", kink=Kink(lambda x, alpha: (x == 0) & (alpha != 1), "alpha is taken"))
SOFTPLUS = elementwise("softplus", softplus, softplus_vjp, lambda s, x, beta, threshold: s.softplus(x, beta, threshold), of="")
GELU    = elementwise("gelu", gelu, gelu_vjp, lambda s, x, approximate: s.gelu_tanh(x) if approximate == "tanh" else s.gelu(x), of="")
CLAMP_MIN = elementwise("clamp_min", at_least, lambda g, y, x, low: np.where(x >= low, g, 0.0), lambda g, y, x, low: np.where(x < low, g, 0.0), lambda s, x, low: s.clamp_min(x, low), of="t.", doc="x, but at least low; its derivative at the bound is 1", kink=Kink(lambda x, low: x == low, "1 is taken"))
CLAMP_MAX = elementwise("clamp_max", at_most, lambda g, y, x, high: np.where(x <= high, g, 0.0), lambda g, y, x, high: np.where(x > high, g, 0.0), lambda s, x, high: s.clamp_max(x, high), of="t.", doc="x, but at most high; its derivative at the bound is 1", kink=Kink(lambda x, high: x == high, "1 is taken"))
# fmt: on


def parabola(s: Any, d: Any, delta: Any) -> Any:  # noqa: ARG001
    """Return the formula of the Huber loss around 0."""
    return d**2 / 2


def straight(s: Any, d: Any, delta: Any) -> Any:
    """Return the formula of the Huber loss beyond delta."""
    return delta * (s.abs(d) - delta / 2)


def huber_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link each entry by the derivative of the piece that it lies on."""
    del static
    near = np.broadcast_to(np.abs(values[0]) < values[1], np.shape(out)).ravel()
    links = []
    for piece, rows in ((parabola, np.flatnonzero(near)), (straight, np.flatnonzero(~near))):
        bound = tuple((k, broadcast_index(out, values, k)[rows]) for k in (0, 1))
        links.append(Links(rows, bound[argument][1], 1.0, Partial(piece, argument), bound))
    return links


HUBER = declare(
    Op(
        "huber",
        huber,
        (huber_vjp, huber_vjp_delta),
        local=huber_local,
        formula=lambda s, d, delta: s.where_gt(delta, s.abs(d), parabola(s, d, delta), straight(s, d, delta)),
        text="where(abs({0}) < {1}, 0.5*{0}**2, {1}*(abs({0}) - 0.5*{1}))",
        precedence=99,
        domain=((1.2, 2), (0.3, 1)),
    )
)


def zero(g: Any, *_: Any) -> Any:
    """Return zeros: what PyTorch sends back through a step, so that 0·inf further on is nan there too."""
    return np.zeros(np.shape(g))


def step(
    name: str, forward: Any, of: str, doc: str, also: str = "", at: Any = None, arguments: int = 1, **options: Any
) -> Op:
    """Declare a function that is flat: its derivative is 0 wherever it has one."""
    kink = Kink(at, "0 is taken") if at else None
    options = {"torch_saves": ("",), **options}
    op = declare(
        Op(
            name,
            forward,
            (zero if at else None,) * arguments,
            local=no_links,
            flat=at is None,
            step=True,
            kink=kink,
            **options,
        )
    )
    build = (lambda f, x: f(op, x)) if arguments == 1 else (lambda f, x, other: f(op, x, other))
    build.__annotations__ = {"x": "Tensor", "other": "Tensor"}
    build.__doc__ = doc
    function(f"{name} {also}", of, "elementwise", op=op)(build)
    return op


_WHOLE = lambda x: x == np.floor(x)  # noqa: E731
SIGN = step("sign", sign, "tn.", "-1, 0 or 1; flat, its derivative is 0", "sgn", _AT_ZERO)
FLOOR = step("floor", np.floor, "tnm.", "the largest integer that is not above; flat", "", _WHOLE)
CEIL = step("ceil", np.ceil, "tnm.", "the smallest integer that is not below; flat", "", _WHOLE)
TRUNC = step("trunc", np.trunc, "tnm.", "the integer part; flat", "fix", _WHOLE)
ROUND = step(
    "round", np.round, "tn.", "the nearest integer, halves to even; flat", "rint", lambda x: np.abs(x % 1) == 0.5
)
HEAVISIDE = step(
    "heaviside",
    np.heaviside,
    "tn.",
    "0 below 0, 1 above, the second argument at 0; flat",
    arguments=2,
    torch_raises=True,
)
ISNAN = step("isnan", np.isnan, "tnm.", "true where an entry is not a number")


def where_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link each entry of the output to the branch that it was taken from; no derivative flows to the condition."""
    del static
    mask = np.broadcast_to(values[0], np.shape(out)).ravel().astype(bool)
    rows: Indices = np.flatnonzero(mask if argument == 1 else ~mask)
    return [Links(rows, broadcast_index(out, values, argument)[rows])]


WHERE = declare(
    Op(
        "where",
        np.where,
        (None, lambda g, y, c, a, b: np.where(c, g, 0.0), lambda g, y, c, a, b: np.where(c, 0.0, g)),
        local=where_local,
        moves=True,
        torch_saves=("0",),
    )
)


@function("where", "tn", "elementwise", op=WHERE)
def build_where(f: Apply, condition: Tensor, x: Tensor, other: Tensor) -> Any:
    """x where the condition holds, other elsewhere"""
    return f(WHERE, condition, x, other)


@function("leaky_relu", "f", "neural", op=LEAKY)
def build_leaky_relu(f: Apply, x: Tensor, negative_slope: Static = 0.01) -> Any:
    """x above 0, negative_slope*x below and at 0"""
    return f(LEAKY, x, slope=number(negative_slope, "negative_slope"))


@function("elu", "f", "neural", op=ELU)
def build_elu(f: Apply, x: Tensor, alpha: Static = 1.0) -> Any:
    """x above 0, alpha*(exp(x) - 1) below"""
    return f(ELU, x, alpha=number(alpha, "alpha"))


@function("softplus", "f", "neural", op=SOFTPLUS)
def build_softplus(f: Apply, x: Tensor, beta: Static = 1.0, threshold: Static = 20.0) -> Any:
    """log(1 + exp(beta*x))/beta, and x itself where beta*x is above the threshold"""
    return f(SOFTPLUS, x, beta=number(beta, "beta"), threshold=number(threshold, "threshold"))


@function("gelu", "f", "neural", op=GELU)
def build_gelu(f: Apply, x: Tensor, approximate: Static = "none") -> Any:
    """x times the normal distribution function of x; approximate="tanh" for the approximation"""
    return f(GELU, x, approximate=approximate)


@function("clip clamp", "tn.", "elementwise")
def build_clip(f: Apply, x: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Any:  # noqa: A002
    """x between min and max; its derivative at a bound is 1"""
    if min is None or max is None:
        low = x if min is None else f(CLAMP_MIN, x, min)
        return low if max is None else f(CLAMP_MAX, low, max)
    try:
        np.broadcast_shapes(x.shape, min.shape, max.shape)
    except ValueError:
        shapes = f"{x.shape}, {min.shape} and {max.shape}"
        raise GradcliError("shape", f"clip: shapes {shapes} of x, min and max do not fit") from None
    return f(CLAMP_MAX, f(CLAMP_MIN, x, bound_below(f, min, max)), max)


def bound_below(f: Apply, low: Any, high: Any) -> Any:
    """Return the lower bound, without its gradient where both bounds are equal: PyTorch gives neither any there."""
    if not np.any(value_of(low) == value_of(high)):
        return low
    return f(WHERE, value_of(low) == value_of(high), np.array(value_of(low)), low)
