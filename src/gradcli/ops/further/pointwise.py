"""Functions of numbers, entry by entry, that are made of others or that few programs call."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.arithmetic import ADD, DIV, MUL, OF_TWO, SUB, scaled, zero
from gradcli.ops.axes import number
from gradcli.ops.declare import Apply, value_of
from gradcli.ops.entrywise import elementwise
from gradcli.ops.exactly import is_nan
from gradcli.ops.parts import Kink, Piecewise
from gradcli.ops.piecewise import TRUNC, WHERE
from gradcli.ops.shaping import CLONE
from gradcli.ops.signatures import Array, Expression, Indices, Library, Mask, Static, Symbols, Tensor
from gradcli.ops.vocabulary import Spelled, function

LN2 = math.log(2)
EVERYWHERE = "torch numpy method"
UNLIKE_NUMPY = "other-float float yes"


# --- made of others ---

TURN = replace(MUL, torch_saves=("",))
"""``*`` by a number that PyTorch does not keep: it knows the function."""


@function("deg2rad radians np.radians numpy.radians math.radians", EVERYWHERE, "elementwise", kinds=UNLIKE_NUMPY)
def build_deg2rad(f: Apply, x: Tensor) -> Tensor:
    """an angle in degrees, in radians"""
    return f(TURN, x, np.float64(math.pi / 180))


@function("rad2deg degrees math.degrees", EVERYWHERE, "elementwise", kinds=UNLIKE_NUMPY)
def build_rad2deg(f: Apply, x: Tensor) -> Tensor:
    """an angle in radians, in degrees"""
    return f(TURN, x, np.float64(180 / math.pi))


@function("frac", "torch method", "elementwise", kinds="no no yes")
def build_frac(f: Apply, x: Tensor) -> Tensor:
    """x without its integer part, with the sign of x"""
    return f(SUB, x, f(TRUNC, x))


@function("positive real conj", f"{EVERYWHERE} shares", "elementwise", kinds="no same yes")
def build_positive(f: Apply, x: Tensor, library: Library = "torch") -> Tensor:
    """x itself, in NumPy a copy"""
    return x if library == "torch" else f(CLONE, x)


@function("rsub", "torch", "elementwise", kinds="no integer yes")
def build_rsub(f: Apply, x: Tensor, other: Tensor, alpha: Static = 1) -> Tensor:
    """other - x, or other - alpha*x"""
    return f(SUB, other, scaled(f, x, alpha))


@function("ldexp", f"{EVERYWHERE} tensors", "elementwise")
def build_ldexp(f: Apply, x: Tensor, other: Tensor) -> Tensor:
    """x*2**other"""
    return f(MUL, x, f(OF_TWO["pow"], 2.0, other))


@function("addcmul", "torch method", "elementwise", kinds="no same yes")
def build_addcmul(f: Apply, x: Tensor, tensor1: Tensor, tensor2: Tensor, value: Static = 1) -> Tensor:
    """x + value*tensor1*tensor2"""
    left = scaled(f, tensor1, value, "value")
    return f(ADD, x, f(MUL, left, tensor2))


@function("addcdiv", "torch method", "elementwise")
def build_addcdiv(f: Apply, x: Tensor, tensor1: Tensor, tensor2: Tensor, value: Static = 1) -> Tensor:
    """x + value*tensor1/tensor2"""
    left = scaled(f, tensor1, value, "value")
    return f(ADD, x, f(DIV, left, tensor2))


LARGEST = float(np.finfo(np.float64).max)


@function("nan_to_num", "torch method", "elementwise", kinds="same same yes")
def build_nan_to_num(f: Apply, x: Tensor, nan: Static = 0.0, posinf: Static = None, neginf: Static = None) -> Tensor:
    """x with numbers in the place of nan, inf and -inf; there the derivative is 0"""
    fills = (
        number(0.0 if nan is None else nan, "nan"),
        number(LARGEST if posinf is None else posinf, "posinf"),
        number(-LARGEST if neginf is None else neginf, "neginf"),
    )
    values, found = value_of(x), x
    for where, fill in zip((is_nan(values), values == np.inf, values == -np.inf), fills, strict=True):
        if np.any(where):
            found = f(WHERE, np.asarray(where, dtype=bool), np.float64(fill), found)
    return f(CLONE, x) if found is x else found


@function("np.nan_to_num numpy.nan_to_num jnp.nan_to_num", "", "elementwise", kinds="same same yes")
def build_numpy_nan_to_num(
    f: Apply, x: Tensor, copy: Static = True, nan: Static = 0.0, posinf: Static = None, neginf: Static = None
) -> Tensor:
    """x with numbers in the place of nan, inf and -inf, as numpy has it: the second argument says where they go"""
    if not isinstance(copy, bool):
        raise GradcliError("arguments", f"copy is True or False, not {copy!r}", hint="give the number by name: nan=...")
    if not copy:
        raise GradcliError("arguments", "copy=False writes into the argument, which this call does not")
    return build_nan_to_num(f, x, nan, posinf, neginf)


# --- with a rule of their own ---


def lerp(x: Array, end: Array, weight: Array) -> Array:
    """Return x + weight·(end - x), from the nearer end."""
    return np.where(np.abs(weight) < 0.5, x + weight * (end - x), end - (end - x) * (1 - weight))[()]


def fmod_slopes(s: Symbols, a: Expression, b: Expression) -> tuple[Expression, ...]:
    """Return 1 and minus the quotient rounded towards 0."""
    return s.number(1), -s.named(s, "trunc", no_slopes)(a / b)


def no_slopes(s: Symbols, *_: Expression) -> tuple[Expression, ...]:
    """Return 0."""
    return (s.number(0),)


def sign_bit(x: Array) -> Mask:
    """Return where a number is below 0 or -0, for numbers of every kind."""
    with np.errstate(divide="ignore"):
        return (x < 0) | ((x == 0) & (1 / np.where(x == 0, x, 1) < 0))


def turn(x: Array, other: Array) -> Indices:
    """Return 1 or -1 as x keeps its sign or changes it for that of ``other``, and 0 where x is 0."""
    return exactly.sign_of(x) * np.where(sign_bit(other), -1, 1)


def copysign_vjp(g: Array, y: Array, x: Array, _other: Array) -> Array:
    """Return g times the sign that x is given, by a quotient; 0 where x is 0 (``copysign_tensor_self_backward``)."""
    return np.where(x == 0, 0.0, g * (y / x))


def copysign_slopes(s: Symbols, x: Expression, other: Expression) -> tuple[Expression, ...]:
    """Return the sign of x times that of ``other``, and 0."""
    return s.sign(x) * s.named(s, "copysign", copysign_slopes)(s.number(1), other), s.number(0)


LERP = elementwise(
    "lerp", lerp,
    lambda g, _y, _x, _end, w: g * (1 - w), lambda g, _y, _x, _end, w: g * w, lambda g, _y, x, end, _w: g * (end - x),
    lambda s, x, end, w: x + w * (end - x),
    slopes=lambda s, x, end, w: (1 - w, w, end - x),
    exactly=lambda x, end, w: x + w * (end - x), spelled=None,
)  # fmt: skip


@function("lerp", "torch method", "elementwise", op=LERP)
def build_lerp(f: Apply, x: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    """the point between x and end that weight names, x for 0 and end for 1"""
    return f(LERP, x, end, weight)


# fmt: off
FMOD = elementwise(
    "fmod", np.fmod,
    lambda g, _y, _a, _b: g, lambda g, _y, a, b: -g * np.trunc(a / b), None, slopes=fmod_slopes,
    pieces=Piecewise(lambda a, b: np.trunc(a / b), exactly.rest_of),
    domain=((0.1, 0.9), (1, 2)),
    spelled=Spelled(EVERYWHERE, "math.fmod", "what is left of a/b, with the sign of a", kinds="same same yes"),
)
elementwise(
    "copysign", np.copysign,
    copysign_vjp, zero, None, slopes=copysign_slopes,
    pieces=Piecewise(turn, lambda piece, x, other: piece * x),
    kink=Kink(lambda x, other: (x == 0) | (other == 0), "0 is taken where x is 0"),
    splits_zero=lambda k, x, other: (other == 0) & (k == 1),
    spelled=Spelled("torch numpy math method", "", "x with the sign of other"),
)
elementwise(
    "logaddexp2", np.logaddexp2,
    lambda g, _y, a, b: g / (1 + np.exp2(b - a)), lambda g, _y, a, b: g / (1 + np.exp2(a - b)), None,
    slopes=lambda s, a, b: (s.sigmoid((a - b) * s.log(2)), s.sigmoid((b - a) * s.log(2))),
    exactly=lambda a, b: np.maximum(a, b) + np.log2(1 + np.exp2(-exactly.gap(a, b))),
    spelled=Spelled("torch numpy method tensors", "", "log2(2**a + 2**b)"),
)
# fmt: on
