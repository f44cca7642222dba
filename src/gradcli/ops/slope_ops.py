"""Slopes as ops of their own, where the formula of a slope loses its own slope: by overflow, or at a bend of a part.

No program calls them. They stand in graphs that a sweep leaves (``engine/again.py``), under the names of the functions
in ``slopes`` that they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import Op
from gradcli.ops.entrywise import elementwise_local
from gradcli.ops.signatures import Formula, Rule, Vjp
from gradcli.ops.slopes import asin_slope, cospi, sigmoid_slope, sinpi, tanh_slope


def slope_op(forward: Any, vjp: Vjp, formula: Formula, text: str, exact: Rule | None = None) -> Op:
    """Return the op of a function of ``slopes``, which is written as ``text``: x itself, or X before an operator."""
    plain = forward.__wrapped__
    return Op(
        plain.__name__, plain, (vjp,), elementwise_local(formula, None), formula, shaped=True, exactly=exact,
        write=lambda call: text.format(x=call.texts[0], X=call.tight[0]),
    )  # fmt: skip


# fmt: off
SLOPES = {
    asin_slope: slope_op(
        asin_slope, lambda g, y, x: g * (x * (y * y * y)), lambda s, x: 1 / s.sqrt(1 - x**2),
        "(1/sqrt(1 - {X}**2))"),
    tanh_slope: slope_op(
        tanh_slope, lambda g, y, x: -2 * g * np.tanh(x) * y, lambda s, x: 1 / s.cosh(x)**2,
        "(1 - tanh({x})**2)"),
    sigmoid_slope: slope_op(
        sigmoid_slope, lambda g, y, x: -g * np.tanh(0.5 * x) * y, lambda s, x: 1 / (2 + 2 * s.cosh(x)),
        "(sigmoid({x})*(1 - sigmoid({x})))"),
    sinpi: slope_op(
        sinpi, lambda g, _y, x: g * (np.pi * cospi(x)), lambda s, x: s.sin(s.pi * x),
        "sin(pi*{X})", exactly.in_mpmath(lambda mp, x: mp.sinpi(x))),
    cospi: slope_op(
        cospi, lambda g, _y, x: -g * (np.pi * sinpi(x)), lambda s, x: s.cos(s.pi * x),
        "cos(pi*{X})", exactly.in_mpmath(lambda mp, x: mp.cospi(x))),
}
# fmt: on
"""By function: the op that an array which is traced takes in its place."""
