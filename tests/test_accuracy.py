"""Digits at hard points: tiny and huge numbers, edges of domains, saturation, and zeros of derivatives.

Wherever the inputs, the true value and the true derivative are normal doubles, an op's forward, its vjp and its formula
have at least 12 digits right.
"""

from itertools import product
from math import pi

import numpy as np
import pytest
from mpmath import mp

import gradcli
from exactly import derivative, value
from oracles import applied, portion_of_rows, symbolic_jacobians
from records import OPS, RECORDS
from records.constants import LINE, PLANE

DIGITS = 1e-12
SEEDS = (1.0, -3e-200, 2e200)
SMALLEST, LARGEST = 2.3e-308, 1.7e308


def points(name):
    """Return the hard points of an op as columns, one for each argument."""
    if len(OPS[name].vjps) == 2:
        return [list(column) for column in zip(*product(*(RECORDS[name].hard_pairs or (PLANE, PLANE))), strict=True)]
    low, high = RECORDS[name].within
    return [[x for x in (*LINE, *RECORDS[name].zeros) if low < x < high]]


def wrong(found, exact):
    """Return whether a number has fewer than 12 digits of one that is a normal double, or is not 0 where that is."""
    if exact == 0:
        return found != 0
    if not SMALLEST < abs(exact) < LARGEST:
        return False
    return not np.isfinite(found) or abs(mp.mpf(float(found)) - exact) > DIGITS * abs(exact)


CASES = [
    (name, static)
    for name, known in RECORDS.items()
    if known.derivatives
    for static in known.hard_options or known.options
]


@pytest.mark.parametrize(("name", "static"), portion_of_rows(CASES, 6))
def test_twelve_digits_are_right_at_hard_points(name, static):
    op, columns = OPS[name], points(name)
    values = [np.array(column) for column in columns]
    _, output, leaves = applied(op, values, static)
    rows = list(zip(*columns, strict=True))
    faults = [("y", row, y) for row, y in zip(rows, output.value, strict=True) if wrong(y, value(name, row, **static))]
    for k, (by_sympy, _) in enumerate(symbolic_jacobians(output, leaves)):
        exact = [derivative(name, k, row, **static) for row in rows]
        entries = zip(rows, np.diag(by_sympy), exact, strict=True)
        faults += [("J", k, row, float(entry)) for row, entry, true in entries if wrong(entry, true)]
        for g in SEEDS:
            with np.errstate(all="ignore"):
                found = np.broadcast_to(op.vjp(k)(np.full(len(rows), g), output.value, *values, **static), len(rows))
            faults += [("vjp", k, g, row, float(entry)) for row, entry, true in zip(rows, found, exact, strict=True)
                       if SMALLEST < abs(true) < LARGEST and wrong(entry, g * true)]  # fmt: skip
    assert not faults


ROOT, THIRD = 2**0.5, 2 ** (1 / 3)
REDUCED = [  # a program, x, the value, the gradient: what is too large or small for doubles on the way alone
    ("norm(x)", [1e-200, 1e-200], ROOT * 1e-200, [1 / ROOT, 1 / ROOT]),
    ("norm(x)", [3e200, -4e200], 5e200, [0.6, -0.8]),
    ("norm(x, 3)", [1e-120, 1e-120], THIRD * 1e-120, [THIRD**-2, THIRD**-2]),
    ("norm(x, 3)", [1e200, -1e-100], 1e200, [1.0, -0.0]),
    ("norm(x, 1.5)", [1e300, 0.0], 1e300, [1.0, 0.0]),
    ("norm(x, 0.5)", [1e200, 1e-200], 1e200, [1.0, 1e200]),
    ("hypot(x[0], x[1])", [3e-200, 4e-200], 5e-200, [0.6, 0.8]),
    ("mean(x)", [1.5e308, 1.7e308], 1.6e308, [0.5, 0.5]),
    ("logsumexp(x, 0)", [0.0, -50.0], np.exp(-50.0), [1.0, np.exp(-50.0)]),
    ("log_softmax(x)[0]", [0.0, -50.0], -np.exp(-50.0), [np.exp(-50.0), -np.exp(-50.0)]),
]


@pytest.mark.parametrize(("program", "x", "y", "gradient"), REDUCED)
def test_what_is_no_double_on_the_way_alone_costs_no_digit(program, x, y, gradient):
    found = gradcli.explain(program, x=x)
    np.testing.assert_allclose(found.output, y, DIGITS)
    np.testing.assert_allclose(found.grad["x"], gradient, DIGITS)
    np.testing.assert_allclose(found.vjp["x"], gradient, DIGITS)
    assert found.agreement.agree


def test_zeros_of_sinc_and_of_its_slope_are_exact():
    whole, small = np.array([1.0, -3.0, 20.0, 1e16]), np.array([1e-150, -1e-20])
    assert not np.any(OPS["sinc"].forward(whole))
    np.testing.assert_allclose(gradcli.explain("sinc(x)", x=small, v=[1, 1]).grad["x"], -(pi**2) / 3 * small, DIGITS)
    assert gradcli.explain("sinc(sinc(x))", x=3.0).grad["x"] == 0
