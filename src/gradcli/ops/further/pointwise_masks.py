"""Comparisons, logic and tests of entries, by their names: what they give are masks, counts, and no derivative."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import FLOOR_DIVIDE
from gradcli.ops.axes import number, read_axes, whole
from gradcli.ops.declare import OPERATORS, Apply, Op, declare, no_links, value_of
from gradcli.ops.exactly import decided, true
from gradcli.ops.parts import Piecewise
from gradcli.ops.piecewise import applied, step
from gradcli.ops.selection import ALL
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.signatures import Array, Axes, Forward, Mask, Static, Tensor
from gradcli.ops.vocabulary import Spelled, enter, function

MASKED = "mask mask yes"
EVERYWHERE = "torch numpy method"


# --- comparisons and operators by their names ---

COMPARED = {
    "eq": ("==", "np.equal numpy.equal jnp.equal"),
    "ne": ("!=", "not_equal"),
    "gt": (">", "greater"),
    "ge": (">=", "greater_equal"),
    "lt": ("<", "less"),
    "le": ("<=", "less_equal"),
}
for _name, (_sign, _also) in COMPARED.items():
    enter(
        _name,
        Spelled(EVERYWHERE, _also, f"whether x {_sign} other, entry by entry", kinds=MASKED),
        op=OPERATORS[_sign, 2], build=applied(OPERATORS[_sign, 2]),
    )  # fmt: skip
BITWISE = {
    "bitwise_and": ("&", "a mask where both are true"),
    "bitwise_or": ("|", "a mask where one is true"),
    "bitwise_xor": ("^", "a mask where one alone is true"),
}
for _name, (_sign, _words) in BITWISE.items():
    enter(
        _name,
        Spelled(EVERYWHERE, "", f"{_words}, or integers bit by bit", kinds="same same no"),
        op=OPERATORS[_sign, 2], build=applied(OPERATORS[_sign, 2]),
    )  # fmt: skip
enter(
    "bitwise_not",
    Spelled(EVERYWHERE, "invert", "a mask turned round, or integers bit by bit", kinds="same same no"),
    op=OPERATORS["~", 1], build=applied(OPERATORS["~", 1]),
)  # fmt: skip
enter(
    "floor_divide",
    Spelled(EVERYWHERE, "", "the quotient, rounded down; flat"),
    op=FLOOR_DIVIDE, build=applied(FLOOR_DIVIDE),
)  # fmt: skip


# --- logic of masks and numbers ---


def logic(name: str, rule: Callable[..., Mask], words: str, arguments: int = 2) -> None:
    """Declare and enter a function of truth values, which numbers other than 0 are true in."""

    def forward(*values: Array) -> Mask:
        return rule(*map(true, values))

    op = declare(Op(name, forward, (None,) * arguments, no_links, pieces=decided(forward)))
    enter(
        name,
        Spelled(f"{EVERYWHERE} tensors", "", f"true where {words}", kinds=MASKED),
        op=op,
        build=applied(op),
    )


logic("logical_and", np.logical_and, "both are true")
logic("logical_or", np.logical_or, "one is true")
logic("logical_xor", np.logical_xor, "one alone is true")
logic("logical_not", np.logical_not, "it is false", 1)

# --- tests of numbers ---


def below_zero(x: Array) -> Mask:
    """Return where a number is below 0 or -0, for numbers of every kind."""
    return (x < 0) | ((x == 0) & (1 / np.where(x == 0, x, 1) < 0))


TESTS: dict[str, tuple[Forward, Callable[..., Mask], str]] = {
    "isfinite": (np.isfinite, lambda x: abs(x) < inf, "an entry is neither infinite nor nan"),
    "isinf": (np.isinf, lambda x: abs(x) == inf, "an entry is inf or -inf"),
    "isposinf": (np.isposinf, lambda x: x == inf, "an entry is inf"),
    "isneginf": (np.isneginf, lambda x: x == -inf, "an entry is -inf"),
    "signbit": (np.signbit, below_zero, "an entry is below 0, or -0"),
}
for _name, (_forward, _exact, _words) in TESTS.items():
    step(
        _name, _forward, decided(_exact),
        Spelled(EVERYWHERE, "", f"true where {_words}", kinds=MASKED),
    )  # fmt: skip


def close(x: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> Mask:
    """Return where two numbers differ by no more than atol + rtol·|other|."""
    apart = abs(x - other)
    both_nan = (x != x) & (other != other) if equal_nan else False  # noqa: PLR0124 - nan alone differs from itself
    return (x == other) | ((apart < inf) & (apart <= atol + abs(rtol * other))) | both_nan


TOLERANCES = {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}
ISCLOSE = declare(Op("isclose", close, (None, None), no_links, pieces=decided(close), defaults=TOLERANCES))


@function("isclose", f"{EVERYWHERE} tensors", "elementwise", op=ISCLOSE, kinds="mask mask yes")
def build_isclose(
    f: Apply, x: Tensor, other: Tensor, rtol: Static = 1e-5, atol: Static = 1e-8, equal_nan: Static = False
) -> Tensor:
    """whether two numbers are nearly equal, entry by entry"""
    tolerances = {"rtol": number(rtol, "rtol"), "atol": number(atol, "atol")}
    if min(tolerances.values()) < 0:
        raise GradcliError("value", "isclose: a tolerance cannot be negative")
    return f(ISCLOSE, x, other, **tolerances, equal_nan=bool(equal_nan))


def all_axes(x: Tensor) -> Axes:
    """Return the numbers of all axes."""
    return tuple(range(x.ndim))


@function("allclose", f"{EVERYWHERE} tensors", "reductions", kinds="mask mask yes")
def build_allclose(
    f: Apply, x: Tensor, other: Tensor, rtol: Static = 1e-5, atol: Static = 1e-8, equal_nan: Static = False
) -> Tensor:
    """whether all entries of two arrays are nearly equal"""
    near = build_isclose(f, x, other, rtol, atol, equal_nan)
    return f(ALL, near, dim=all_axes(near), keepdim=False)


@function(
    "equal np.array_equal numpy.array_equal jnp.array_equal",
    "torch method tensors",
    "reductions",
    kinds="mask mask yes",
)
def build_equal(f: Apply, x: Tensor, other: Tensor) -> Tensor:
    """whether two arrays have one shape and equal entries (np.equal: entry by entry)"""
    if x.shape != other.shape:
        return np.zeros((), dtype=np.bool_)
    same = f(OPERATORS["==", 2], x, other)
    return f(ALL, same, dim=all_axes(same), keepdim=False)


# --- counts ---


def count_nonzero(x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return how many entries along some axes are not 0."""
    return np.sum(true(x), axis=dim, keepdims=keepdim, dtype=np.int64)


COUNT = declare(
    Op("count_nonzero", count_nonzero, (None,), no_links, pieces=decided(count_nonzero), defaults={"keepdim": False})
)


@function("count_nonzero", EVERYWHERE, "reductions", op=COUNT, kinds="integer integer yes")
def build_count_nonzero(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
    """how many entries are not 0, also along dim"""
    return f(COUNT, x, dim=read_axes(dim, x.ndim), keepdim=bool(keepdim))


def histc(x: Array, bins: int, low: float, high: float) -> Array:
    """Return how many entries lie in each of ``bins`` equal stretches from low to high, the last with its end."""
    inside = x[np.asarray((x >= low) & (x <= high), dtype=bool)]
    quotients = np.floor((inside - low) * bins / (high - low)).astype(np.float64)
    places = np.minimum(quotients.astype(np.intp), bins - 1)
    return np.bincount(places, minlength=bins).astype(np.float64)


HISTC = declare(
    Op(
        "histc", histc, (None,), no_links, torch_raises=True,
        pieces=Piecewise(histc, lambda piece, x, bins, low, high: np.asarray(piece, dtype=object)),
        size=lambda x, bins, low, high: max(bins, np.size(x)), words={"low": "min", "high": "max"},
    )
)  # fmt: skip


@function("histc", "torch method", "reductions", op=HISTC, kinds="no no yes")
def build_histc(f: Apply, x: Tensor, bins: Static = 100, min: Static = 0, max: Static = 0) -> Tensor:
    """how many entries lie in each of equal stretches from min to max, or from the smallest entry to the largest"""
    count, low, high = whole(bins, "bins"), number(min, "min"), number(max, "max")
    if count < 1 or low > high:
        raise GradcliError("value", "histc: bins is 1 or more, and min no larger than max")
    numbers = np.asarray(value_of(x), dtype=np.float64)
    if low == high and numbers.size:
        low, high = float(np.min(numbers)), float(np.max(numbers))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise GradcliError("value", f"histc: from {low} to {high} is no finite stretch")
    if low == high:
        low, high = low - 1, high + 1
    flat_x = f(RESHAPE, x, shape=(-1,))
    return f(HISTC, flat_x, bins=count, low=low, high=high)
