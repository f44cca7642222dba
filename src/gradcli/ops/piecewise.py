"""Functions with kinks, steps and flat pieces; PyTorch's choice of derivative at each kink."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.activations import (
    at_least,
    at_most,
    elu,
    elu_vjp,
    gelu,
    gelu_in_torch,
    gelu_vjp,
    logsigmoid,
    logsigmoid_vjp,
    softplus,
    softplus_vjp,
)
from gradcli.ops.arithmetic import DIV, MUL, zero
from gradcli.ops.axes import whole
from gradcli.ops.declare import Apply, Op, declare, no_links
from gradcli.ops.dispatch import in_one_step
from gradcli.ops.entrywise import broadcast_index, elementwise_table
from gradcli.ops.exactly import decided, is_nan, sign_of
from gradcli.ops.links import Links
from gradcli.ops.parts import Chosen, Kink, Piecewise
from gradcli.ops.signatures import Array, Forward, Indices, Mask, Number, Options, Record, Static, Tensor, Test
from gradcli.ops.slopes import sigmoid, sigmoid_slope, silu_slope
from gradcli.ops.vocabulary import Builder, Spelled, enter, function
from gradcli.ops.writing import with_numbers


@in_one_step
def sign(x: Array) -> Array:
    """Return -1, 0 or 1; 0 for nan, as PyTorch does."""
    return np.where(np.isnan(x), 0.0, np.sign(x))[()]


def is_zero(x: Array, **_options: Any) -> Mask:
    """Return where an argument is 0."""
    return x == 0


def is_equal(x: Array, bound: Number) -> Mask:
    """Return where an argument is at its bound."""
    return x == bound


NO_DERIVATIVE = Kink(is_zero, "0 is taken")
AT_BOUND = Kink(is_equal, "1 is taken")

# fmt: off
MATHEMATICS = {
    # op          forward   vjps and formula
    "abs":        (np.abs,  lambda g, _y, x: g * sign(x), lambda s, x: s.abs(x)),
    "sigmoid":    (sigmoid, lambda g, y, x: g * (y / (1 + np.exp(x))), lambda s, x: s.sigmoid(x)),
    "relu":       (lambda x: at_least(x, 0.0), lambda g, y, _x: np.where(y <= 0, 0.0, g), lambda s, x: s.relu(x)),
    "logsigmoid": (logsigmoid, logsigmoid_vjp, lambda s, x: s.logsigmoid(x)),
    "silu":       (lambda x: x / (1 + np.exp(-x)), lambda g, _y, x: g * silu_slope(x), lambda s, x: s.silu(x)),
    "softsign":   (lambda x: x / (1 + np.abs(x)), lambda g, _y, x: g / (1 + np.abs(x)) ** 2 + 0 * x,
                   lambda s, x: s.softsign(x)),
    "clamp_min":  (at_least, lambda g, _y, x, low: np.where(x >= low, g, 0.0),
                   lambda g, _y, x, low: np.where(x < low, g, 0.0), lambda s, x, low: s.clamp_min(x, low)),
    "clamp_max":  (at_most, lambda g, _y, x, high: np.where(x <= high, g, 0.0),
                   lambda g, _y, x, high: np.where(x > high, g, 0.0), lambda s, x, high: s.clamp_max(x, high)),
}
EXACTLY = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "logsigmoid": exactly.logsigmoid,
    "softsign": lambda x: x / (1 + abs(x)),
}
PIECES = {
    "abs":        Piecewise(sign_of, lambda piece, x: piece * x),
    "relu":       Piecewise(sign_of, lambda piece, x: np.where(piece > 0, x, np.where(piece < 0, 0, 0 * x))),
    "clamp_min":  Piecewise(lambda x, low: (x >= low) | is_nan(x), np.where),
    "clamp_max":  Piecewise(lambda x, high: (x <= high) | is_nan(x), np.where),
}
KINKS = {"abs": NO_DERIVATIVE, "relu": NO_DERIVATIVE, "clamp_min": AT_BOUND, "clamp_max": AT_BOUND}
BACKWARD_TEXTS = {
    "sigmoid": ("{g}*{y}*(1 - {y})",), "relu": ("where({y} > 0, {g}, 0)",), "logsigmoid": ("{g}*sigmoid(-{0})",),
    "silu": ("{g}*sigmoid({0})*(1 + {0}*(1 - sigmoid({0})))",),
    "abs": ("{g}*sign({0})",),
}
CONVENTIONS: dict[str, Record] = {
    "sigmoid": {
        "torch_saves": ("output",), "torch_doubles": lambda y, x: (None, (1 - y) * y),
        "again": (lambda g, _y, x: g * sigmoid_slope(x),),
    },
    "logsigmoid": {"again": (lambda g, _y, x: g * sigmoid(-x),)},
    "softsign": {
        "torch_saves": ("0",),
        "torch_doubles": lambda y, x: (None, 1 / (1 + abs(x)) - x / (1 + abs(x)) / (1 + abs(x)) * np.sign(x)),
    },
}
SMOOTH = "no no yes"
SPELLED = {
    "abs":        Spelled("torch numpy math method", "absolute fabs", "the absolute value; its derivative at 0 is 0",
                          kinds="numpy-same same yes"),
    "sigmoid":    Spelled("torch functional special method", "expit", "1/(1 + exp(-x))", "neural"),
    "relu":       Spelled("torch functional method", "", "max(x, 0); its derivative at 0 is 0", "neural",
                          "no same yes"),
    "logsigmoid": Spelled("functional", "jax.nn.log_sigmoid", "log(sigmoid(x))", "neural", SMOOTH),
    "silu":       Spelled("functional", "swish", "x*sigmoid(x)", "neural", SMOOTH),
    "softsign":   Spelled("functional", "jax.nn.soft_sign", "x/(1 + |x|)", "neural", "no float yes"),
    "clamp_min":  Spelled("torch method", "", "x, but at least low; its derivative at the bound is 1",
                          kinds="same same yes"),
    "clamp_max":  Spelled("torch method", "", "x, but at most high; its derivative at the bound is 1",
                          kinds="same same yes"),
}
# fmt: on
BENT = elementwise_table(
    MATHEMATICS, SPELLED, CONVENTIONS, exactly=EXACTLY, pieces=PIECES, kink=KINKS, backward_text=BACKWARD_TEXTS
)
ABS, CLAMP_MIN, CLAMP_MAX = BENT["abs"], BENT["clamp_min"], BENT["clamp_max"]


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
        Op(
            name,
            forward,
            (zero if at else None,) * arguments,
            no_links,
            flat=at is None,
            step=True,
            kink=Kink(at, "0 is taken") if at else None,
            pieces=pieces,
            **{"torch_saves": ("",), **record},
        )
    )
    if spelled is not None:
        enter(name, spelled, op=op, build=applied(op))
    return op


def applied(op: Op) -> Builder:
    """Return the builder of a function of one array, or of two, that is an op."""

    def build(f: Apply, x: Tensor) -> Tensor:
        return f(op, x)

    def build_of_two(f: Apply, x: Tensor, other: Tensor) -> Tensor:
        return f(op, x, other)

    return build if callable(op.vjps) or len(op.vjps) == 1 else build_of_two


def is_whole(x: Array) -> Mask:
    """Return where a number is an integer."""
    return x == np.floor(x)


def is_half(x: Array) -> Mask:
    """Return where a number lies midway between two integers."""
    return np.abs(x % 1) == 0.5


def heaviside_on(piece: Indices, x: Array, y: Array) -> Array:
    """Return 0 below 0, 1 above, y at 0, and nan of nan."""
    return np.where(piece < 0, 0, np.where(piece > 0, 1, np.where(is_nan(x), x, y)))


# fmt: off
ROUNDED, ANYWHERE = "numpy-same same yes", "torch numpy math method"
SIGN  = step("sign", sign, Piecewise(sign_of, lambda piece, x: np.asarray(piece, dtype=object)),
             Spelled(also="sgn", doc="-1, 0 or 1; flat, its derivative is 0", kinds="torch-same same yes"), is_zero)
FLOOR = step("floor", np.floor, decided(np.floor),
             Spelled(ANYWHERE, doc="the largest integer that is not above; flat", kinds=ROUNDED), is_whole)
CEIL  = step("ceil", np.ceil, decided(np.ceil),
             Spelled(ANYWHERE, doc="the smallest integer that is not below; flat", kinds=ROUNDED), is_whole)
TRUNC = step("trunc", np.trunc, decided(np.trunc),
             Spelled(ANYWHERE, "fix", "the integer part; flat", kinds=ROUNDED), is_whole)
ROUND = step("round", np.round, decided(np.rint), None, is_half)
HEAVISIDE = step("heaviside", np.heaviside, Piecewise(lambda x, y: sign_of(x), heaviside_on),
                 Spelled("torch numpy method tensors", doc="0 below 0, 1 above, the second argument at 0; flat",
                         kinds="same same floats"), arguments=2, torch_raises=True)
ISNAN = step("isnan", np.isnan, decided(exactly.is_nan),
             Spelled(ANYWHERE, doc="true where an entry is not a number", kinds="mask mask yes"))
# fmt: on


MOST_PLACES = 308
"""Decimals beyond which a power of ten is no double."""


@function(
    "round rint around torch.special.round special.round", "torch numpy method", "elementwise", op=ROUND,
    kinds="numpy-float same yes",
)  # fmt: skip
def build_round(f: Apply, x: Tensor, decimals: Static = 0) -> Tensor:
    """the nearest integer, halves to even, or the nearest number of so many decimals; flat"""
    places = whole(decimals, "decimals")
    if places == 0:
        return f(ROUND, x)
    if abs(places) > MOST_PLACES:
        message = f"round: decimals is at most {MOST_PLACES} and at least -{MOST_PLACES}, not {places}"
        raise GradcliError("value", message, hint="a double has no more")
    unit = 10.0 ** abs(places)
    there, back = (MUL, DIV) if places > 0 else (DIV, MUL)
    return f(back, f(ROUND, f(there, x, unit)), unit)


def where_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each entry of the output to the branch that it was taken from; no derivative flows to the condition."""
    del static
    if argument == 0:
        return []
    mask = np.broadcast_to(values[0], np.shape(out)).ravel().astype(bool)
    rows: Indices = np.flatnonzero(mask if argument == 1 else ~mask)
    return [Links(rows, broadcast_index(out, values, argument)[rows])]


def by_condition(piece: Mask, _condition: Array, a: Array, b: Array) -> Array:
    """Return the entries of the branches that were taken."""
    return np.where(piece, a, b)


def gelu_text_back(_k: int, _out: Array, _x: Array, *, approximate: str) -> str:
    """Return the text of g times the slope of gelu, or of its approximation by tanh."""
    if approximate == "none":
        return "{g}*((1 + erf({0}/sqrt(2)))/2 + {0}*exp(-{0}**2/2)/sqrt(2*pi))"
    share = "sigmoid(sqrt(8/pi)*({0} + 0.044715*{0}**3))"
    return f"{{g}}*{share}*(1 + {{0}}*sqrt(8/pi)*(1 + 0.134145*{{0}}**2)*(1 - {share}))"


WHERE = declare(
    Op(
        "where",
        np.where,
        (None, lambda g, _y, c, _a, _b: np.where(c, g, 0.0), lambda g, _y, c, _a, _b: np.where(c, 0.0, g)),
        where_local,
        pieces=Piecewise(lambda c, a, b: exactly.true(c), by_condition),
        index=Chosen(("", "where({0}, 1, 0)", "where({0}, 0, 1)")),
        chooses=True,
        moves=True,
        torch_saves=("0",),
    )
)


@function("where", "torch numpy", "elementwise", op=WHERE, kinds="same same plain")
def build_where(f: Apply, condition: Tensor, x: Tensor | None = None, other: Tensor | None = None) -> Any:
    """x where the condition holds, other elsewhere; of a condition alone the places where it holds"""
    if x is None or other is None:
        from gradcli.ops.further.positions import places_where

        return places_where(f, condition, alone=x is other)
    return f(WHERE, condition, x, other)


# fmt: off
WITH_OPTIONS = elementwise_table({
    # op          forward   vjp and formula
    "leaky_relu": (lambda x, negative_slope: np.where(x > 0, x, x * negative_slope)[()],
                   lambda g, _y, x, *, negative_slope: np.where(x > 0, g, g * negative_slope),
                   lambda s, x, negative_slope: s.leaky_relu(x, negative_slope)),
    "elu":        (elu, elu_vjp, lambda s, x, alpha: s.elu(x, alpha)),
    "softplus":   (softplus, softplus_vjp, lambda s, x, beta, threshold: s.softplus(x, beta, threshold)),
    "gelu":       (gelu, gelu_vjp, lambda s, x, approximate: s.gelu_tanh(x) if approximate == "tanh" else s.gelu(x)),
}, {
    "leaky_relu": Spelled("functional", "", "x above 0, negative_slope*x below and at 0", "neural", SMOOTH),
    "elu":        Spelled("functional", "", "x above 0, alpha*(exp(x) - 1) below", "neural", SMOOTH),
    "softplus":   Spelled("functional", "",
                          "log(1 + exp(beta*x))/beta, and x itself where beta*x is above the threshold",
                          "neural", SMOOTH),
    "gelu":       Spelled("functional", "",
                          'x times the normal distribution function of x; approximate="tanh" for the approximation',
                          "neural", SMOOTH),
}, {
    "leaky_relu": {
        "defaults": {"negative_slope": 0.01}, "write": with_numbers,
        "kink": Kink(is_zero, "the slope on the left is taken"),
    },
    "elu":        {
        "defaults": {"alpha": 1.0}, "write": with_numbers,
        "kink": Kink(lambda x, alpha: (x == 0) & (alpha != 1), "alpha is taken"),
    },
    "softplus":   {"defaults": {"beta": 1.0, "threshold": 20.0}},
    "gelu":       {"defaults": {"approximate": "none"}, "exactly": exactly.gelu, "torch_doubles": gelu_in_torch},
}, pieces={
    "leaky_relu": Piecewise(lambda x, negative_slope: x > 0,
                            lambda piece, x, negative_slope: np.where(piece, x, negative_slope * x)),
    "elu":        Piecewise(lambda x, alpha: x > 0, lambda piece, x, alpha: np.where(piece, x, alpha * np.expm1(x))),
    "softplus":   Piecewise(lambda x, beta, threshold: x * beta > threshold,
                            lambda piece, x, beta, threshold: np.where(piece, x, np.log1p(np.exp(x * beta)) / beta)),
}, backward_text={
    "elu": ("where({0} > 0, {g}, {g}*{alpha}*exp({0}))",), "softplus": ("{g}*sigmoid({beta}*{0})",),
    "gelu": gelu_text_back,
})
# fmt: on
