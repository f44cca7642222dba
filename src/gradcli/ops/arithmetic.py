"""The operators: ``+ - * / // % **``, unary minus, and the comparisons."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import number
from gradcli.ops.declare import BEYOND, Apply, Op, beyond, declare, no_links
from gradcli.ops.dispatch import in_one_step
from gradcli.ops.entrywise import elementwise_table
from gradcli.ops.exactly import decided, is_nan, one_like, order_of, rest_of
from gradcli.ops.integers import BITS, DIFFERENCE, POWERS, PRODUCT, QUOTIENT, REST, SUM, WHOLE_QUOTIENT
from gradcli.ops.parts import Kink, Piecewise, on_none, on_others
from gradcli.ops.signatures import Array, Forward, Mask, Number, Static, Tensor
from gradcli.ops.vocabulary import Spelled, function

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


def power_vjp_exponent(g: Array, y: Array, x: Number, p: Number) -> Array:
    """Return g·y·log x, and 0 at x = 0 for p ≥ 0 (PyTorch's ``pow_backward_exponent``)."""
    return g * np.where((x == 0) & (p >= 0), 0.0, y * np.log(x))


def quotient_vjp_divisor(g: Array, _y: Array, a: Array, b: Array) -> Array:
    """Return -g·a/b²; the square is not taken, which may be no double."""
    return -g * (a / b / b)


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


def exact_power(x: Array, p: Number) -> Array:
    """Return x to the power p in exact numbers."""
    return np.asarray(x) ** p if isinstance(x, np.ndarray) else one_like(p) * x**p


def at_root(x: Array, p: Number) -> Mask:
    """Return where x is 0 and its power has no derivative of each order: p is below 1, or no integer."""
    return (x == 0) & ((p < 1) | (p % 1 != 0))


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

# fmt: off
MATHEMATICS = {
    # op         forward       vjps and formula
    "add":       (operator.add, passed, passed, lambda s, a, b: a + b),
    "sub":       (operator.sub, passed, lambda g, _y, _a, _b: -g, lambda s, a, b: a - b),
    "mul":       (operator.mul, lambda g, _y, _a, b: g * b, lambda g, _y, a, _b: g * a, lambda s, a, b: a * b),
    "div":       (quotient, lambda g, _y, _a, b: g / b, quotient_vjp_divisor, lambda s, a, b: a / b),
    "remainder": (remainder, passed, lambda g, _y, a, b: -g * np.floor_divide(a, b), lambda s, a, b: s.remainder(a, b)),
    "neg":       (operator.neg, lambda g, _y, _x: -g, lambda s, x: -x),
    "pow":       (power, power_vjp_base, power_vjp_exponent, lambda s, x, p: s.power(x, p)),
    "maximum":   (np.maximum, lambda g, _y, a, b: ties(g, a, b), lambda g, _y, a, b: ties(g, b, a),
                  lambda s, a, b: s.maximum(a, b)),
    "minimum":   (np.minimum, lambda g, _y, a, b: ties(g, b, a), lambda g, _y, a, b: ties(g, a, b),
                  lambda s, a, b: s.minimum(a, b)),
    "fmax":      (np.fmax, lambda g, _y, a, b: np.where(is_first(a, b), g, 0.0),
                  lambda g, _y, a, b: np.where(is_first(a, b), 0.0, g), lambda s, a, b: s.clamp_min(a, b)),
    "fmin":      (np.fmin, lambda g, _y, a, b: np.where(is_least(a, b), g, 0.0),
                  lambda g, _y, a, b: np.where(is_least(a, b), 0.0, g), lambda s, a, b: s.clamp_max(a, b)),
}
EXACTLY = {"pow": exact_power, "div": lambda a, b: a / b}
PIECES = {
    "remainder": Piecewise(np.floor_divide, rest_of),
    "maximum":   Piecewise(order_of, lambda piece, a, b: np.where(piece > 0, a, np.where(piece < 0, b, (a + b) / 2))),
    "minimum":   Piecewise(order_of, lambda piece, a, b: np.where(piece < 0, a, np.where(piece > 0, b, (a + b) / 2))),
    "fmax":      Piecewise(lambda a, b: (a >= b) | is_nan(b), np.where),
    "fmin":      Piecewise(lambda a, b: (a <= b) | is_nan(b), np.where),
}
CONVENTIONS = {
    "div": {
        "torch_saves": ("1", "own arrays: 0 1"), "splits_zero": lambda k, a, b: b == 0 if k == 1 else False,
        "differs": beyond, "says": BEYOND,
    },
    "pow": {
        "torch_saves": ("0 1 arrays: output", "0 1 output"), "edge": at_root,
        "zero_at": lambda k, x, p: (x == 0) & (p >= 0) if k else p == 0,
        "zero_text": ("{1} == 0", "({0} == 0) & ({1} >= 0)"),
        "splits_zero": lambda k, x, p: (x == 0) & (p < 0) if k == 0 else False,
    },
}
KINKS = {"maximum": HALF_EACH, "minimum": HALF_EACH, "fmax": FIRST, "fmin": FIRST}
DOMAINS = {
    "div": ((-2, 2), (0.5, 2)), "remainder": ((0.1, 0.9), (1, 2)), "pow": ((0.2, 2), (-2, 2)),
}
OF_BASE = "{g}*{1}*{0}**({1} - 1)"
BACKWARD_TEXTS = {"pow": ((OF_BASE, f"where({{1}} == 0, 0, {OF_BASE})"), "{g}*{y}*log({0})")}
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "remainder": "%", "neg": "-", "pow": "**"}
TEXTS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{}*{}", "div": "{}/{}", "remainder": "{} % {}", "neg": "-{}",
    "pow": "{}**{}",
}
PRECEDENCE = {"add": 60, "sub": 60, "mul": 70, "div": 70, "remainder": 70, "neg": 80, "pow": 90}
MENTIONS = {
    "add": on_none, "sub": on_none, "neg": on_none, "mul": on_others, "div": lambda k, active: k == 1 or 1 in active,
}
WHOLE = {
    "add": SUM, "sub": DIFFERENCE, "mul": PRODUCT, "div": QUOTIENT, "remainder": REST, "pow": POWERS,
}
OF_TENSORS, SAME = "torch numpy method tensors", "same same yes"
NAN_AND_TIES = "nan only where both are; a tie gives the first the gradient"
SPELLED = {
    "mul":       Spelled(also="multiply", doc="a * b"),
    "remainder": Spelled(also="mod", doc="a % b, with the sign of b"),
    "neg":       Spelled(also="negative", doc="-x", kinds="no same yes"),
    "pow":       Spelled("torch numpy math method", also="power float_power", doc="x to the power p"),
    "maximum":   Spelled(OF_TENSORS, "", "the larger of each pair; a tie gives each half of the gradient", kinds=SAME),
    "minimum":   Spelled(OF_TENSORS, "", "the smaller of each pair; a tie gives each half of the gradient", kinds=SAME),
    "fmax":      Spelled(OF_TENSORS, "", f"the larger of each pair, {NAN_AND_TIES}", kinds=SAME),
    "fmin":      Spelled(OF_TENSORS, "", f"the smaller of each pair, {NAN_AND_TIES}", kinds=SAME),
}
# fmt: on
OF_TWO = elementwise_table(
    MATHEMATICS,
    SPELLED,
    CONVENTIONS,
    exactly=EXACTLY,
    pieces=PIECES,
    kink=KINKS,
    domain=DOMAINS,
    operator=OPERATORS,
    text=TEXTS,
    precedence=PRECEDENCE,
    right={"pow": True},
    cancels={"add": "sum", "sub": "difference"},
    mentions=MENTIONS,
    whole=WHOLE,
    backward_text=BACKWARD_TEXTS,
)
ADD, SUB, MUL, DIV, NEG = (OF_TWO[name] for name in ("add", "sub", "mul", "div", "neg"))
MAXIMUM, MINIMUM = OF_TWO["maximum"], OF_TWO["minimum"]


def scaled(f: Apply, x: Tensor, alpha: Static, name: str = "alpha") -> Tensor:
    """Return alpha·x for a plain number alpha."""
    return x if alpha == 1 else f(MUL, number(alpha, name), x)


@function("add plus", "torch numpy method", "elementwise", op=ADD, kinds="integer integer yes")
def build_add(f: Apply, x: Tensor, other: Tensor, alpha: Static = 1) -> Tensor:
    """a + b, or a + alpha*b"""
    return f(ADD, x, scaled(f, other, alpha))


@function("sub subtract", "torch numpy method", "elementwise", op=SUB, kinds="no integer yes")
def build_sub(f: Apply, x: Tensor, other: Tensor, alpha: Static = 1) -> Tensor:
    """a - b, or a - alpha*b"""
    return f(SUB, x, scaled(f, other, alpha))


@function("div divide true_divide", "torch numpy method", "elementwise", op=DIV)
def build_div(f: Apply, x: Tensor, other: Tensor, rounding_mode: Static = None) -> Tensor:
    """a / b, rounded down for rounding_mode="floor", towards 0 for "trunc"; then it is flat"""
    if rounding_mode not in (None, "floor", "trunc"):
        raise GradcliError("value", f"div: rounding_mode is 'floor', 'trunc' or None, not {rounding_mode!r}")
    return f(DIV, x, other) if rounding_mode is None else f(ROUNDED_DIV, x, other, rounding_mode=rounding_mode)


def rounded_quotient(a: Array, b: Array, rounding_mode: str) -> Array:
    """Return a/b rounded down or towards 0."""
    return np.floor_divide(a, b) if rounding_mode == "floor" else np.trunc(a / b)


def zero(g: Array, *_: Array, **_options: Any) -> Array:
    """Return zeros: what PyTorch sends back through a step, so that 0·inf further on is nan there too."""
    return np.zeros(np.shape(g))


def is_whole_quotient(a: Array, b: Array, rounding_mode: str) -> Mask:
    """Return where a/b is an integer, at which its rounding jumps; towards 0 it does not at 0."""
    return (np.fmod(a, b) == 0) & ((rounding_mode == "floor") | (a != 0))


ROUNDED_DIV = declare(
    Op(
        "rounded_div",
        rounded_quotient,
        (zero, zero),
        no_links,
        pieces=decided(rounded_quotient),
        kink=Kink(is_whole_quotient, "0 is taken"),
        spelled="div",
        step=True,
        torch_saves=("",),
    )
)
FLOOR_DIVIDE = declare(
    Op(
        "floor_divide",
        np.floor_divide,
        (None, None),
        no_links,
        pieces=decided(np.floor_divide),
        operator="//",
        text="{}//{}",
        precedence=70,
        flat=True,
        step=True,
        torch_raises=True,
        whole=WHOLE_QUOTIENT,
    )
)
COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
for _sign, _compare in COMPARISONS.items():
    declare(
        Op(
            _sign,
            _compare,
            (None, None),
            no_links,
            pieces=decided(_compare),
            edge=are_equal,
            operator=_sign,
            text=f"{{}} {_sign} {{}}",
            precedence=30,
        )
    )
LOGIC = {"&": (np.bitwise_and, 50), "^": (np.bitwise_xor, 45), "|": (np.bitwise_or, 40)}
for _sign, (_logic, _rank) in LOGIC.items():
    declare(
        Op(
            _sign,
            _logic,
            (None, None),
            no_links,
            operator=_sign,
            text=f"{{}} {_sign} {{}}",
            precedence=_rank,
            bits=BITS[_sign],
        )
    )
declare(Op("~", np.logical_not, (None,), no_links, operator="~", text="~{}", precedence=80))
