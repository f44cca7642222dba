"""Derivatives that are written one way and worked out another: both are one function."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from gradcli.jacobian import functions

REFINED = {
    found.__name__: found
    for found in vars(functions).values()
    if isinstance(found, type) and issubclass(found, functions.Refined) and hasattr(found, "numbers")
}
POINTS = {
    "atan2 slope": [(0.3, 0.7, -1.2), (2.5, -0.4, 0.9)],
    "bce slope": [(0.3, 0.8), (0.9, 0.25)],
    "logits slope": [(0.6, 0.8), (-1.5, 0.25)],
}
IN_SYMPY = {functions.sigmoid: lambda x: 1 / (1 + sympy.exp(-x))} | {
    getattr(functions, name): getattr(sympy, name) for name in ("cos", "cosh", "erf", "sin", "tanh")
}


def in_sympy(expression):
    """Return an expression of functions that sympy can evaluate."""
    for own, theirs in IN_SYMPY.items():
        expression = expression.replace(own, theirs)
    return expression


@pytest.mark.parametrize("name", REFINED)
def test_what_is_printed_is_what_is_worked_out(name):
    points = POINTS.get(name, [(0.3,), (0.85,)])
    symbols = sympy.symbols(f"x:{len(points[0])}", real=True)
    written = in_sympy(REFINED[name].written(*symbols))
    for point in points:
        wanted = written.evalf(30, subs=dict(zip(symbols, point, strict=True)))
        got = float(np.ravel(REFINED[name].numbers(*map(np.float64, point)))[0])
        assert got == pytest.approx(float(wanted), rel=1e-13), point
