"""The operators: ``+ - * / // % **``, unary minus, the comparisons, and what they make of masks and integers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import (
    BEYOND,
    Apply,
    Bits,
    Entries,
    Keeps,
    Kink,
    Op,
    Piecewise,
    Text,
    Torch,
    Whole,
    beyond,
    declare,
    in_one_step,
    no_links,
    on_none,
    on_others,
)
from gradcli.ops.exactly import decided, is_nan, one_like, order_of, rest_of
from gradcli.ops.links import Array, Forward, Integers, Mask, Number, Rule, Static
from gradcli.ops.values import Value, number, require
from gradcli.ops.vocabulary import COUNTED, KEPT, OF_NUMBERS, Kinds, Made, Spelled, elementwise, function


def only_numpy(f: Apply, what: str, hint: str = "(...).float() makes numbers of them for both") -> None:
    """Remark that PyTorch refuses an operation that NumPy answers."""
    f.remark("numpy-only", f"{what}: this is NumPy's answer, PyTorch refuses; {hint}.")


def as_integers(x: Number | Mask | Integers) -> Number | Integers:
    """Return integers for a mask, and integers as they are."""
    return x if type(x) is int else np.asarray(x).astype(np.int64)[()]


def is_mask(x: object) -> bool:
    """Return whether numbers are truth values."""
    return type(x) is bool or getattr(x, "dtype", None) == np.bool_


def divided(f: Apply, rule: Forward, x: Number | Integers, y: Number | Integers, sign: str) -> Array:
    """Return a quotient or a rest of integers; remarks on one by 0."""
    x, y = as_integers(x), as_integers(y)
    if np.any(np.equal(y, 0)):
        only_numpy(f, f"{sign} of integers by 0", "float division by 0 is inf or nan in both")
    return rule(x, y)


def power_of_integers(f: Apply, x: Number | Integers, p: Number | Integers) -> Array:
    """Return a power of masks or integers; one below 0 is 0 in PyTorch, but for 1 and -1, and refused by NumPy."""
    if is_mask(x) and type(p) is bool:
        return np.power(as_integers(x), int(p)).astype(np.bool_)
    if is_mask(x) and is_mask(p):
        only_numpy(f, "** of truth values")
    x, p = as_integers(x), as_integers(p)
    if not np.any(np.less(p, 0)):
        return np.power(x, p)
    if type(p) is int:
        raise GradcliError(
            "value", "an array of integers to a negative power: neither PyTorch nor NumPy does that",
            hint="(...).float() makes numbers of it",
        )  # fmt: skip
    f.remark(
        "torch-only",
        "A negative power of integers is rounded towards 0 in PyTorch, and refused by NumPy; (...).float() makes "
        "numbers of them for both.",
    )
    size = np.where(np.abs(x) == 1, np.power(x, np.abs(p)), 0)
    return np.where(np.less(p, 0), size, np.power(x, np.maximum(p, 0)))[()]


# fmt: off
SUM = Whole(operator.add, lambda f, x, y: np.add(x, y))
PRODUCT = Whole(operator.mul, lambda f, x, y: np.multiply(x, y))
DIFFERENCE = Whole(operator.sub, lambda f, x, y: np.subtract(as_integers(x), as_integers(y)),
                   masks="neither", mixed="numpy", beside="numpy")
QUOTIENT = Whole(None, lambda f, x, y: np.true_divide(x, y))
WHOLE_QUOTIENT = Whole(lambda a, b: a // b if b else None,
                       lambda f, x, y: divided(f, np.floor_divide, x, y, "//"), masks="numpy")
REST = Whole(lambda a, b: a % b if b else None,
             lambda f, x, y: divided(f, np.remainder, x, y, "%"), masks="numpy")
POWERS = Whole(lambda a, b: a**b if b >= 0 and (b <= 64 or abs(a) <= 1) else None, power_of_integers,
               in_place="a power of truth values is an integer in NumPy, which refuses it here")
MATRICES = Whole(None, lambda f, x, y: np.matmul(x, y),
                 masks="numpy", mixed="numpy", beside="numpy", beside_integers="numpy")
# fmt: on

BITS = {
    sign: Bits(rule, ("type", f"'{sign}' joins masks or integers, not floats", f"(x > 0) {sign} (x < 1), or '{word}'"))
    for sign, rule, word in (("&", operator.and_, "and"), ("|", operator.or_, "or"))
}
BITS["^"] = Bits(operator.xor, ("not-allowed", "'^' is not the power", "write **"), of_integers=False)


# --- operators ---

SHORT_POWERS: dict[float, Forward] = {
    0.5: np.sqrt,
    -0.5: lambda x: 1 / np.sqrt(x),
    -1.0: lambda x: np.float64(1) / x,
    -2.0: lambda x: np.float64(1) / (x * x),
    1.0: lambda x: x * 1,
    2.0: lambda x: x * x,
}
"""The powers that PyTorch takes by a shorter way where the exponent is one number: others at -0, at -inf, and where
x·x overflows."""


@in_one_step
def power(x: Number, p: Number) -> Number:
    """Return x to the power p."""
    short = None if getattr(p, "ndim", 0) else SHORT_POWERS.get(float(p))
    return np.power(x, p) if short is None else short(np.float64(x) if type(x) in (int, float) else x)


def power_vjp_base(g: Array, _y: Array, x: Array, p: Number) -> Array:
    """Return g·p·x^(p-1), and 0 where p is 0 even at x = 0 (PyTorch's ``pow_backward``)."""
    if getattr(p, "ndim", 0):
        return np.where(p == 0, 0.0, g * (p * power(x, p - 1)))
    return g * (p * power(x, p - 1)) if p != 0 else np.zeros(np.shape(g))


def quotient(a: Number, b: Number) -> Number:
    """Return a/b."""
    return a * (1 / b) if type(a) in (int, float) else a / b


def remainder(a: Array, b: Array) -> Array:
    """Return a % b with the sign of b; an exact 0 keeps the sign of a, as in PyTorch."""
    left = np.fmod(a, b)
    return np.where((left != 0) & ((b < 0) != (left < 0)), left + b, left)[()]


def ties(g: Array, x: Number, other: Number) -> Array:
    """Return g where ``x > other``, half of it at a tie, 0 elsewhere; nan counts as larger."""
    return np.where(x == other, g / 2, np.where(x < other, 0.0, g))


def passed(g: Array, _y: Array, _a: Array, _b: Array) -> Array:
    """Return g: the cotangent of each term of a sum."""
    return g


def is_first(a: Array, b: Array) -> Mask:
    """Return where ``fmax`` takes a: b is no larger, or nan."""
    return (a >= b) | np.isnan(b)


def is_least(a: Array, b: Array) -> Mask:
    """Return where ``fmin`` takes a: b is no smaller, or nan."""
    return (a <= b) | np.isnan(b)


def are_equal(a: Array, b: Array) -> Mask:
    """Return where two arrays are equal."""
    return a == b


HALF_EACH = Kink(are_equal, "each argument gets half")
FIRST = Kink(are_equal, "the first argument gets all")

OF_BASE = "{g}*{1}*{0}**({1} - 1)"
OF_TENSORS = "torch numpy method tensors"
NAN_AND_TIES = "nan only where both are; a tie gives the first the gradient"

# fmt: off
# name, forward, a vjp for each argument, formula or slopes: what else the record holds
ADD = elementwise("add", operator.add, passed, passed, formula=lambda s, a, b: a + b,
    text=Text(operator="+", template="{} + {}", precedence=60, cancels="sum", rule="sum"),
    entries=Entries(mentions=on_none), whole=SUM, spelled=None)
SUB = elementwise("sub", operator.sub, passed, lambda g, _y, _a, _b: -g, formula=lambda s, a, b: a - b,
    text=Text(operator="-", template="{} - {}", precedence=60, cancels="difference", rule="difference"),
    entries=Entries(mentions=on_none), whole=DIFFERENCE, spelled=None)
MUL = elementwise("mul", operator.mul, lambda g, _y, _a, b: g * b, lambda g, _y, a, _b: g * a,
    formula=lambda s, a, b: a * b,
    text=Text(operator="*", template="{}*{}", precedence=70,
              rule=lambda active: "product" if len(active) > 1 else "constant factor"),
    entries=Entries(mentions=on_others), whole=PRODUCT,
    spelled=Spelled(also="multiply", doc="x*other, entry by entry"))
DIV = elementwise("div", quotient, lambda g, _y, _a, b: g / b, lambda g, _y, a, b: -g * (a / b / b),
    formula=lambda s, a, b: a / b,
    text=Text(operator="/", template="{}/{}", precedence=70,
              rule=lambda active: "constant factor" if [*active] == [0] else "quotient"),
    entries=Entries(mentions=lambda k, active: k == 1 or 1 in active), whole=QUOTIENT, exactly=lambda a, b: a / b,
    domain=((-2, 2), (0.5, 2)),
    torch=Torch(saves=((1,), (Keeps.OWN,)), saves_of_arrays=((), (0, 1)), differs=beyond, says=BEYOND),
    splits_zero=lambda k, a, b: b == 0 if k == 1 else False, spelled=None)
REMAINDER = elementwise("remainder", remainder, passed, lambda g, _y, a, b: -g * np.floor_divide(a, b),
    slopes=lambda s, a, b: (s.number(1), -s.floor_divide(a, b)),
    text=Text(operator="%", template="{} % {}", precedence=70), whole=REST, pieces=Piecewise(np.floor_divide, rest_of),
    domain=((0.1, 0.9), (1, 2)),
    spelled=Spelled(also="mod", doc="x % other, with the sign of other"))
NEG = elementwise("neg", operator.neg, lambda g, _y, _x: -g, formula=lambda s, x: -x,
    text=Text(operator="-", template="-{}", precedence=80, rule="constant factor"), entries=Entries(mentions=on_none),
    spelled=Spelled(also="negative", doc="-x", kinds=OF_NUMBERS))
POW = elementwise("pow", power, power_vjp_base,
    lambda g, y, x, p: g * np.where((x == 0) & (p >= 0), 0.0, y * np.log(x)), formula=lambda s, x, p: s.power(x, p),
    text=Text(operator="**", template="{}**{}", precedence=90, right=True,
              backward=((OF_BASE, f"where({{1}} == 0, 0, {OF_BASE})"), "{g}*{y}*log({0})"),
              rule=lambda active: "power" if 1 not in active else "general power" if 0 in active else "exponential"),
    whole=POWERS, exactly=lambda x, p: np.asarray(x) ** p if isinstance(x, np.ndarray) else one_like(p) * x**p,
    edge=lambda x, p: (x == 0) & ((p < 1) | (p % 1 != 0)), domain=((0.2, 2), (-2, 2)),
    torch=Torch(saves=((0, 1), (0, 1, Keeps.OUTPUT)), saves_of_arrays=((Keeps.OUTPUT,), ())),
    zero_at=lambda k, x, p: (x == 0) & (p >= 0) if k else p == 0, zero_text=("{1} == 0", "({0} == 0) & ({1} >= 0)"),
    splits_zero=lambda k, x, p: (x == 0) & (p < 0) if k == 0 else False,
    spelled=Spelled("torch numpy math method", also="power float_power", doc="x to the power other"))
MAXIMUM = elementwise("maximum", np.maximum, lambda g, _y, a, b: ties(g, a, b), lambda g, _y, a, b: ties(g, b, a),
    slopes=lambda s, a, b: (s.heaviside(a - b, s.HALF), s.heaviside(b - a, s.HALF)),
    kink=HALF_EACH,
    pieces=Piecewise(order_of, lambda piece, a, b: np.where(piece > 0, a, np.where(piece < 0, b, (a + b) / 2))),
    spelled=Spelled(OF_TENSORS, "", "the larger of each pair; a tie gives each half of the gradient", kinds=KEPT))
MINIMUM = elementwise("minimum", np.minimum, lambda g, _y, a, b: ties(g, b, a), lambda g, _y, a, b: ties(g, a, b),
    slopes=lambda s, a, b: (s.heaviside(b - a, s.HALF), s.heaviside(a - b, s.HALF)),
    kink=HALF_EACH,
    pieces=Piecewise(order_of, lambda piece, a, b: np.where(piece < 0, a, np.where(piece > 0, b, (a + b) / 2))),
    spelled=Spelled(OF_TENSORS, "", "the smaller of each pair; a tie gives each half of the gradient", kinds=KEPT))
elementwise("fmax", np.fmax, lambda g, _y, a, b: np.where(is_first(a, b), g, 0.0),
    lambda g, _y, a, b: np.where(is_first(a, b), 0.0, g), formula=lambda s, a, b: s.clamp_min(a, b),
    kink=FIRST, pieces=Piecewise(lambda a, b: (a >= b) | is_nan(b), np.where),
    spelled=Spelled(OF_TENSORS, "", f"the larger of each pair, {NAN_AND_TIES}", kinds=KEPT))
elementwise("fmin", np.fmin, lambda g, _y, a, b: np.where(is_least(a, b), g, 0.0),
    lambda g, _y, a, b: np.where(is_least(a, b), 0.0, g), formula=lambda s, a, b: s.clamp_max(a, b),
    kink=FIRST, pieces=Piecewise(lambda a, b: (a <= b) | is_nan(b), np.where),
    spelled=Spelled(OF_TENSORS, "", f"the smaller of each pair, {NAN_AND_TIES}", kinds=KEPT))
# fmt: on


def scaled(x: Value, alpha: Static) -> Value:
    """Return alpha·x for a plain number alpha."""
    return x if alpha == 1 else number(alpha, "alpha") * x


@function("add plus", "torch numpy method", "elementwise", op=ADD, kinds=COUNTED)
def build_add(x: Value, other: Value, alpha: Static = 1) -> Value:
    """x + other, or x + alpha*other"""
    return x + scaled(other, alpha)


@function("sub subtract", "torch numpy method", "elementwise", op=SUB, kinds=Kinds(Made.NO, Made.INTEGER))
def build_sub(x: Value, other: Value, alpha: Static = 1) -> Value:
    """x - other, or x - alpha*other"""
    return x - scaled(other, alpha)


@function("div divide true_divide", "torch numpy method", "elementwise", op=DIV)
def build_div(x: Value, other: Value, rounding_mode: Static = None) -> Value:
    """x/other, rounded down for rounding_mode="floor", towards 0 for "trunc"; then it is flat"""
    said = f"div: rounding_mode is 'floor', 'trunc' or None, not {rounding_mode!r}"
    require(rounding_mode in (None, "floor", "trunc"), "value", said)
    return x / other if rounding_mode is None else x.of(ROUNDED_DIV, other, rounding_mode=rounding_mode)


def rounded_quotient(a: Array, b: Array, rounding_mode: str) -> Array:
    """Return a/b rounded down or towards 0."""
    return np.floor_divide(a, b) if rounding_mode == "floor" else np.trunc(a / b)


def zero(g: Array, *_: Array, **_options: Any) -> Array:
    """Return zeros: what PyTorch sends back through a step, so that 0·inf further on is nan there too."""
    return np.zeros(np.shape(g))


def without_slope(name: str, forward: Rule, count: int = 1, **record: Any) -> Op:
    """Declare an op without a derivative: if the record does not say otherwise, its value tells its pieces apart."""
    record = {"pieces": decided(forward), **record}
    return declare(name, forward, (None,) * count, no_links, **record)


# fmt: off
ROUNDED_DIV = declare(
    "rounded_div", rounded_quotient, (zero, zero), no_links, step=True,
    kink=Kink(
        lambda a, b, rounding_mode: (np.fmod(a, b) == 0) & ((rounding_mode == "floor") | (a != 0)), "0 is taken"),
    pieces=decided(rounded_quotient), torch=Torch(saves=((),)), text=Text(spelled="div"))
FLOOR_DIVIDE = without_slope(
    "floor_divide", np.floor_divide, 2, flat=True, step=True, whole=WHOLE_QUOTIENT, torch=Torch(raises=True),
    text=Text(operator="//", template="{}//{}", precedence=70))
# fmt: on
COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
LOGIC = {"&": (np.bitwise_and, 50), "^": (np.bitwise_xor, 45), "|": (np.bitwise_or, 40)}
for _sign, _compare in COMPARISONS.items():
    _text = Text(operator=_sign, template=f"{{}} {_sign} {{}}", precedence=30)
    without_slope(_sign, _compare, 2, edge=are_equal, text=_text)
for _sign, (_logic, _rank) in LOGIC.items():
    _text = Text(operator=_sign, template=f"{{}} {_sign} {{}}", precedence=_rank)
    without_slope(_sign, _logic, 2, bits=BITS[_sign], pieces=None, text=_text)
without_slope("~", np.logical_not, pieces=None, text=Text(operator="~", template="~{}", precedence=80))
