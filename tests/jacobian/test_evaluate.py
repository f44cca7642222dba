"""Numbers for formulas, and the sizes of the terms that they add up."""

import numpy as np
import pytest
from sympy import I, zoo

from gradcli.jacobian import functions as s
from gradcli.jacobian.evaluate import evaluator, magnitude
from gradcli.jacobian.local import constant_of

X, Y = s.symbol("x"), s.symbol("y")
PLACES = {X: 0, Y: 1}
POINT = [np.array([0.5, -2.0]), np.array([3.0, 0.25])]
x, y = POINT
LEFT = 1 / (1 + np.exp(x))

FORMULAS = {  # a formula, its value, and the size of its terms, None where that is the absolute value
    X: (x, None),
    X * Y * 2: (2 * x * y, None),
    X - Y: (x - y, abs(x) + abs(y)),
    (X - Y) ** 3: ((x - y) ** 3, (abs(x) + abs(y)) ** 3),
    2 * Y * (X - 1): (2 * y * (x - 1), 2 * y * (abs(x) + 1)),
    1 / (X - Y): (1 / (x - y), None),
    (X * Y) ** 2: ((x * y) ** 2, None),
    (X * Y) ** -2: (1 / (x * y) ** 2, None),
    s.sqrt(Y): (np.sqrt(y), None),
    s.power(Y, X): (y**x, None),
    1 - s.sigmoid(X): (LEFT, 1 + 1 / (1 + np.exp(-x))),
    s.abs(X) + s.sin(Y): (abs(x) + np.sin(y), abs(x) + abs(np.sin(y))),
    s.where_gt(X, 0, Y, X): (np.where(x > 0, y, x), None),
    s.where_ge(X, 0, Y, X): (np.where(x >= 0, y, x), None),
    s.floor(X) * s.sign(X): (np.floor(x) * np.sign(x), None),
}


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_a_formula_has_its_value_and_the_size_of_its_terms(formula):
    value, size = FORMULAS[formula]
    np.testing.assert_allclose(evaluator(formula, PLACES)(POINT), value, rtol=1e-15)
    found = magnitude(formula, PLACES)
    assert (found is None) == (size is None)
    if found is not None:
        np.testing.assert_allclose(found(POINT), size, rtol=1e-15)


@pytest.mark.parametrize("formula", [I, zoo], ids=str)
def test_what_is_no_real_number_is_nan(formula):
    assert np.isnan(evaluator(formula, {})([]))


def test_a_constant_is_one_finite_number():
    given = [2, 2.5, np.float64(-0.0), np.array(3.0), np.array([[4.0]]), True, np.inf, np.array(np.nan), np.ones(2)]
    assert [constant_of(value) for value in given] == [2.0, 2.5, 0.0, 3.0, 4.0, 1.0, None, None, None]
