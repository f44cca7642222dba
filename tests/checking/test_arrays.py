"""Arrays that were computed elsewhere, in a type: right but for its rounding, and one wrong entry among many."""

import numpy as np
import pytest

import gradcli

TYPES = [np.float64, np.float32, np.float16]
POINTS = {"tanh": np.linspace(-6, 6, 25), "sigmoid": np.linspace(-10, 10, 25)}
RNG = np.random.default_rng(5)
W, X, T = RNG.normal(size=(20, 60)), RNG.normal(size=60), RNG.normal(size=20)
"""A layer whose weights nobody has scaled: most of its units are saturated."""
LAYER = "sum((tanh(W @ x) - t)**2)"


def slopes(name, x):
    """Return the derivative of a function as libraries compute it, from the value that was rounded."""
    if name == "tanh":
        return 1 - np.tanh(x) ** 2
    s = 1 / (1 + np.exp(-x))
    return s * (1 - s)


def of_layer(dtype=np.float64):
    """Return the gradient of the layer by W, whose backward pass is computed in a type."""
    h, t = np.tanh(W @ X).astype(dtype), T.astype(dtype)
    return np.outer(2 * (h - t) * (1 - h * h), X.astype(dtype)).astype(dtype)


def check_layer(expect, **more):
    return gradcli.check(LAYER, W=W, x=X, t=T, wrt=["W"], expect=expect, **more)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_slopes_of_saturated_units_are_right_in_their_type(name, dtype):
    x = POINTS[name]
    found = gradcli.check(f"sum({name}(x))", x=x, expect=slopes(name, x.astype(dtype)))
    assert found.verdict == "right", found


def test_slopes_are_right_as_a_diagonal_too():
    assert gradcli.check("tanh(x)", x=POINTS["tanh"], expect=slopes("tanh", POINTS["tanh"])).verdict == "right"


@pytest.mark.parametrize("dtype", TYPES)
def test_the_gradient_of_a_saturated_layer_is_right_in_its_type(dtype):
    found = check_layer(of_layer(dtype))
    assert found.verdict == "right", found
    assert min(np.abs(of_layer()).ravel()) < 1e-12, "some entries are below the rounding of the largest"


@pytest.mark.parametrize(("dtype", "factor"), [(np.float64, 1 + 1e-9), (np.float32, 1.001), (np.float16, 1.5)])
def test_one_wrong_entry_among_many_is_found_and_named(dtype, factor):
    expect = of_layer(dtype)
    i, j = np.unravel_index(np.argmax(np.abs(expect)), expect.shape)
    expect[i, j] *= dtype(factor)
    found = check_layer(expect)
    assert found.verdict == "wrong"
    assert f"dy/dW[{i},{j}]" in str(found)
    assert f": only [{i},{j}] is wrong" in str(found)


def test_one_wrong_entry_that_is_not_the_largest_is_found():
    expect = of_layer()
    places = np.argwhere((np.abs(expect) > 1e-6) & (np.abs(expect) < 1e-4))
    i, j = places[0]
    expect[i, j] *= 1.01
    assert f": only [{i},{j}] is wrong" in str(check_layer(expect))


@pytest.mark.long
@pytest.mark.parametrize("size", [5, 7, 8])
def test_rounding_inside_of_values_is_right_and_an_error_above_it_is_not(size):
    k = np.arange(size)
    hilbert = 1 / (k[:, None] + k + 1.0)
    inverse = np.linalg.inv(hilbert).T
    assert gradcli.check("log(det(A))", A=hilbert, expect=inverse).verdict == "right"
    assert gradcli.check("log(det(A))", A=hilbert, expect=inverse * (1 + 1e-5)).verdict == "wrong"


def test_where_rounding_is_most_of_all_entries_the_digits_are_said():
    found = gradcli.check("sum(tanh(x))", x=[9.0, 9.0], expect=slopes("tanh", np.array([9.0, 9.0])))
    assert found.hint == "it agrees to 8 digits; --digits 8 accepts that"


def test_rows_of_a_jacobian_have_their_own_largest_entry():
    jacobian = np.array([[1e20, 2e20], [3.0, 4.0]])
    assert gradcli.check("A @ x", A=jacobian, x=[1.0, 1.0], wrt=["x"], expect=jacobian).verdict == "right"
    wrong = jacobian + np.array([[0.0, 0.0], [0.0, 1.0]])
    assert gradcli.check("A @ x", A=jacobian, x=[1.0, 1.0], wrt=["x"], expect=wrong).verdict == "wrong"


def test_numbers_of_finite_differences_are_said_to_have_few_digits():
    x, h = np.array([0.3, 1.2, 2.1, 2.9]), 1e-6
    expect = (np.sin(x + h) * (x + h) - np.sin(x - h) * (x - h)) / (2 * h)
    found = gradcli.check("sum(sin(x)*x)", x=x, expect=expect)
    assert found.verdict == "wrong"
    digits = int(found.hint.split("--digits ")[1].split()[0])
    assert found.hint == f"it agrees to {digits} digits; --digits {digits} accepts that"
    assert gradcli.check("sum(sin(x)*x)", x=x, expect=expect, digits=digits).verdict == "right"


def test_the_digits_that_are_said_are_the_fewest_of_an_entry():
    expect = of_layer()
    expect[np.unravel_index(np.argmax(np.abs(expect)), expect.shape)] *= 1.02
    found = check_layer(expect, digits=1)
    assert str(found).startswith("right: --expect agrees with the true derivative by W to 1 digit (held to 1 digit)")


OF_FEW_DIGITS = [
    (lambda g: 2 * g, "it is twice the true one everywhere: a factor 2 is too many"),
    (lambda g: -g, "its sign is wrong"),
    (lambda g: g.T, "it is transposed"),
    (lambda g: g * 1.5, "it is 3/2 times the true one everywhere"),
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("mistake", "text"), OF_FEW_DIGITS)
def test_a_usual_mistake_is_named_whatever_the_type(mistake, text, dtype):
    a = np.array([[0.3, -1.7, 0.9], [2.1, 0.4, -0.6], [0.11, 1.9, 0.77]])
    expect = mistake(np.cos(a)).astype(dtype)
    assert gradcli.check("sum(sin(A))", A=a, expect=expect).hint == text


def test_entries_are_named_before_lines_and_lines_before_counts():
    a = np.arange(1.0, 31.0).reshape(5, 6)
    for places, text in (
        ([(2, 3)], "only [2,3] is wrong"),
        ([(2, 3), (2, 4)], "only [2,3], [2,4] are wrong"),
        ([(2, k) for k in range(4)], "only entries of [2, :] are wrong"),
        ([(0, 1), (1, 2), (2, 3), (3, 4)], ""),
    ):
        expect = 2 * a
        for place in places:
            expect[place] += 1.0
        found = gradcli.check("sum(A**2)", A=a, expect=expect)
        assert found.hint == text
        assert ("(3 more entries too)" in str(found)) is (not text)


SENTENCES = [  # a program, inputs, what is expected, and how the sentence begins
    ("x**2", {"x": 3.0}, {"x": "x"}, "wrong: dy/dx is 3.0 by x and truly 6.0"),
    ("h = x**2\nh*h", {"x": 3.0}, {"x": "h"}, "wrong: dy/dx is 9.0 by h and truly 108.0"),
    ("trace(A @ B)", {"A": [[2.0, 1.0], [1.0, 3.0]], "B": [[1.0, 4.0], [0.0, 2.0]]}, {"A": "B"},
     "wrong: dy/dA[0,1] is 4.0 by B and truly 0.0: it is transposed"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "inputs", "expect", "text"), SENTENCES)
def test_a_value_of_the_program_is_no_name_of_a_derivative(program, inputs, expect, text):
    found = gradcli.check(program, inputs=inputs, wrt=list(expect), expect=expect)
    assert str(found).startswith(text)


def test_points_are_counted_where_it_is_wrong_at_several():
    found = gradcli.check("x*log(x)", x=1.5, expect="log(x)", samples=6)
    assert "(6 more points too)" in str(found)
    assert found.expected[0].worst.point == {"x": 1.5}, "the point that was given"
