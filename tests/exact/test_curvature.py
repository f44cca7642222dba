"""Second derivatives in many digits, without a rule: against what is known, at kinks, at edges, beside 1."""

import mpmath
import numpy as np
import pytest

from gradcli.exact.real import digits
from gradcli.exact.slopes import Exact, curvature
from gradcli.language.program import compile_program


def second(text, x, sought=1.0):
    """Return the second derivative of a program of one number at x, and whether it changes pieces there."""
    exact = Exact(compile_program(text), {"x": np.float64(x)}, ["x"])
    one = {"x": np.float64(1.0)}
    with digits(60):
        found = curvature(exact, np.ones(()), one, one, sought)
    return found.value, found.bends


SMOOTH = {  # a program, x, and what it is
    "x**3": (2.0, lambda x: 6 * x),
    "sin(x)": (0.3, lambda x: -mpmath.sin(x)),
    "exp(x)": (-700.0, mpmath.exp),
    "1 + exp(x)": (-600.0, mpmath.exp),
    "log(x)": (0.01, lambda x: -1 / x**2),
    "tanh(x)*x": (0.7, lambda x: mpmath.diff(lambda t: mpmath.tanh(t) * t, x, 2)),
    "x**2.5": (1.5, lambda x: mpmath.mpf("3.75") * mpmath.sqrt(x)),
}


@pytest.mark.parametrize("text", SMOOTH)
def test_it_is_the_second_derivative_to_sixteen_digits(text):
    x, known = SMOOTH[text]
    value, bends = second(text, x)
    with mpmath.workdps(50):
        wanted = known(mpmath.mpf(x))
        assert abs(mpmath.mpf(str(value)) - wanted) <= abs(wanted) * mpmath.mpf("1e-16")
    assert not bends


@pytest.mark.parametrize(("text", "x", "sought", "value", "bends"), [
    ("3*x + 1", 2.0, 0.0, 0, False), ("x**4", 0.0, 0.0, 0, False), ("x**2.5", 0.0, 0.0, 0, False),
    ("relu(x)", 0.0, 0.0, 0, True), ("relu(x)**2", 0.0, 0.0, 0, True), ("abs(x)*x", 0.0, 0.0, 0, True),
    ("where(x > 1, x**2, 3*x)", 1.0, 0.0, 0, True), ("relu(x)**2", 1.0, 2.0, 2, False),
])  # fmt: skip
def test_zeros_and_pieces(text, x, sought, value, bends):
    found = second(text, x, sought)
    assert (abs(found[0] - value) < 1e-19, found[1]) == (True, bends)


@pytest.mark.parametrize(("text", "x"), [("sqrt(x)", 0.0), ("x**1.5", 0.0), ("log(x)", 0.0)])
def test_where_there_is_none_it_says_so(text, x):
    assert second(text, x)[0].is_nan()


def test_a_wrong_number_is_seen_to_be_wrong():
    assert second("x**4", 0.0, sought=12.0)[0] == 0
