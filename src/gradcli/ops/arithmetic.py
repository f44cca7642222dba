"""The operators: ``+ - * / // % **``, unary minus, and the comparisons."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradcli.ops.declare import BEYOND, Kink, Op, beyond, declare, no_links
from gradcli.ops.entrywise import elementwise

SHORT_POWERS: dict[float, Any] = {
    0.5: np.sqrt,
    -0.5: lambda x: 1 / np.sqrt(x),
    -1.0: lambda x: np.float64(1) / x,
    -2.0: lambda x: np.float64(1) / (x * x),
    1.0: lambda x: x,
    2.0: lambda x: x * x,
}
"""The powers that PyTorch takes by a shorter way where the exponent is one number: others at -0, at -inf, and where
x·x overflows."""


def power(x: Any, p: Any) -> Any:
    """Return x to the power p."""
    short = None if type(p) is np.ndarray and p.ndim else SHORT_POWERS.get(float(p))
    return np.power(x, p) if short is None else short(np.float64(x) if type(x) is int else x)


def power_vjp_base(g: Any, y: Any, x: Any, p: Any) -> Any:
    """Return g·p·x^(p-1), and 0 where p is 0 even at x = 0 (PyTorch's ``pow_backward``)."""
    del y
    if type(p) is np.ndarray and p.ndim:
        return np.where(p == 0, 0.0, g * (p * power(x, p - 1)))
    return g * (p * power(x, p - 1)) if p != 0 else np.zeros(np.shape(g))


def power_vjp_exponent(g: Any, y: Any, x: Any, p: Any) -> Any:
    """Return g·y·log x, and 0 at x = 0 for p ≥ 0 (PyTorch's ``pow_backward_exponent``)."""
    return g * np.where((x == 0) & (p >= 0), 0.0, y * np.log(x))


def quotient_vjp_divisor(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Return -g·a/b²; the square is not taken, which may be no double."""
    del y
    return -g * (a / b / b)


def quotient(a: Any, b: Any) -> Any:
    """Return a/b."""
    return a * (1 / b) if type(a) in (int, float) else a / b


def remainder(a: Any, b: Any) -> Any:
    """Return a % b with the sign of b; an exact 0 keeps the sign of a, as in PyTorch."""
    left = np.fmod(a, b)
    return np.where((left != 0) & ((b < 0) != (left < 0)), left + b, left)[()]


def ties(g: Any, x: Any, other: Any) -> Any:
    """Return g where ``x > other``, half of it at a tie, 0 elsewhere; nan counts as larger."""
    return np.where(x == other, g / 2, np.where(x < other, 0.0, g))


# fmt: off
ADD       = elementwise("add", operator.add,       lambda g, y, a, b: g,          lambda g, y, a, b: g,                lambda s, a, b: a + b, also="plus", text="{} + {}", precedence=60, doc="a + b")
SUB       = elementwise("sub", operator.sub,       lambda g, y, a, b: g,          lambda g, y, a, b: -g,               lambda s, a, b: a - b, also="subtract", text="{} - {}", precedence=60, doc="a - b")
MUL       = elementwise("mul", operator.mul,       lambda g, y, a, b: g * b,      lambda g, y, a, b: g * a,            lambda s, a, b: a * b, also="multiply", text="{}*{}", precedence=70, doc="a * b")
DIV       = elementwise("div", quotient,         lambda g, y, a, b: g / b,      quotient_vjp_divisor, lambda s, a, b: a / b, also="divide true_divide", text="{}/{}", precedence=70, torch_saves=("1", "arrays: 0 1"), domain=((-2, 2), (0.5, 2)), splits_zero=lambda k, a, b: (b == 0) & (k == 1), differs=beyond, says=BEYOND, doc="a / b")
REMAINDER = elementwise("remainder", remainder, lambda g, y, a, b: g,          lambda g, y, a, b: -g * np.floor_divide(a, b), lambda s, a, b: s.remainder(a, b), also="mod", text="{} % {}", precedence=70, domain=((0.1, 0.9), (1, 2)), doc="a % b, with the sign of b")
NEG       = elementwise("neg", operator.neg,       lambda g, y, x: -g,            lambda s, x: -x, also="negative", text="-{}", precedence=80, doc="-x")
POW       = elementwise("pow", power,          power_vjp_base,                power_vjp_exponent,                  lambda s, x, p: s.power(x, p), also="power float_power", of="tnm.", torch_saves=("0 1 arrays: output", "0 1 output"), zero_at=lambda k, x, p: (x == 0) & (p >= 0) if k else p == 0, zero_text=("{1} == 0", "({0} == 0) & ({1} >= 0)"), splits_zero=lambda k, x, p: (x == 0) & (p < 0) & (k == 0), text="{}**{}", precedence=90, domain=((0.2, 2), (-2, 2)), doc="x to the power p")
MAXIMUM   = elementwise("maximum", np.maximum,    lambda g, y, a, b: ties(g, a, b), lambda g, y, a, b: ties(g, b, a), lambda s, a, b: s.maximum(a, b), doc="the larger of each pair; a tie gives each half of the gradient",
                        kink=Kink(lambda a, b: a == b, "each argument gets half"))
MINIMUM   = elementwise("minimum", np.minimum,    lambda g, y, a, b: ties(g, b, a), lambda g, y, a, b: ties(g, a, b), lambda s, a, b: s.minimum(a, b), doc="the smaller of each pair; a tie gives each half of the gradient",
                        kink=Kink(lambda a, b: a == b, "each argument gets half"))
FMAX      = elementwise("fmax", np.fmax,          lambda g, y, a, b: np.where((a >= b) | np.isnan(b), g, 0.0), lambda g, y, a, b: np.where((a >= b) | np.isnan(b), 0.0, g), lambda s, a, b: s.clamp_min(a, b), doc="the larger of each pair, nan only where both are; a tie gives the first the gradient",
                        kink=Kink(lambda a, b: a == b, "the first argument gets all"))
FMIN      = elementwise("fmin", np.fmin,          lambda g, y, a, b: np.where((a <= b) | np.isnan(b), g, 0.0), lambda g, y, a, b: np.where((a <= b) | np.isnan(b), 0.0, g), lambda s, a, b: s.clamp_max(a, b), doc="the smaller of each pair, nan only where both are; a tie gives the first the gradient",
                        kink=Kink(lambda a, b: a == b, "the first argument gets all"))
# fmt: on

FLOOR_DIVIDE = declare(
    Op(
        "floor_divide",
        np.floor_divide,
        (None, None),
        local=no_links,
        text="{}//{}",
        precedence=70,
        flat=True,
        step=True,
        torch_raises=True,
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
LOGIC = {"&": (np.bitwise_and, 50), "^": (np.bitwise_xor, 45), "|": (np.bitwise_or, 40)}

for _symbol, _ufunc in COMPARISONS.items():
    declare(Op(_symbol, _ufunc, (None, None), local=no_links, text=f"{{}} {_symbol} {{}}", precedence=30))
for _symbol, (_logic, _rank) in LOGIC.items():
    declare(Op(_symbol, _logic, (None, None), local=no_links, text=f"{{}} {_symbol} {{}}", precedence=_rank))
INVERT = declare(Op("~", np.logical_not, (None,), local=no_links, text="~{}", precedence=80))
