"""Derivatives that are written one way and worked out another: both are one function."""

import numpy as np
import pytest
import sympy
from sympy.core.parameters import distribute

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
    getattr(functions, name): getattr(sympy, name)
    for name in ("atan", "cos", "cosh", "erf", "sin", "sinh", "tan", "tanh")
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


def test_sympy_evaluates_no_function_of_formulas_but_two():
    classes = {name: one for name in functions.__all__ if isinstance(one := getattr(functions, name), type)}
    theirs = {name for name, one in classes.items() if not issubclass(one, functions.Own)}
    assert theirs == {"exp", "log"}, "any other may have no end where numbers stay outside of sums"


X, Z = sympy.symbols("x z", real=True)


@pytest.mark.parametrize("terms", [(X, -Z), (-X, Z), (1, -X), (-1, X), (1, -X, -Z), (-2, X, Z), (-X,), (-2 * X, -Z)])
@pytest.mark.parametrize("name", ["sin", "cos", "tan", "sinh", "cosh", "atan", "erf"])
def test_a_minus_sign_is_taken_out_as_sympy_does(name, terms):
    own, total = getattr(functions, name), sympy.Add(*terms)
    wanted, opposite = getattr(sympy, name)(total), own(sympy.Add(*(-term for term in terms)))
    for flag in (True, False):
        with distribute(flag):
            plain, turned = own(total), own(sympy.Mul(-1, total, evaluate=False))
        assert (in_sympy(plain), turned) == (wanted, opposite)
