"""A derivative in another shape than the true one is wrong, and right where only axes of length 1 differ."""

import numpy as np
import pytest

import gradcli

X = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
W = [[1.0, 2.0, 3.0], [3.0, -4.0, 1.0]]
LINEAR = ("sum(X @ w + b)", {"X": X, "w": [1.0, 2.0], "b": 0.5})
SQUARES = ("sum((W @ x)**2)", {"W": W, "x": [1.0, 2.0, 3.0]})
WRONG = [  # program, inputs, variable, v, what is expected, what the line says
    (*SQUARES, "W", None, "2*outer(x, W @ x)", "has shape (3, 2) and truly (2, 3): it is transposed"),
    (*SQUARES, "W", None, "outer(x, W @ x)", "it may be transposed"),
    (*SQUARES, "W", None, "sum(2*outer(W @ x, x), 0)", "it is summed over axis 0, of length 2"),
    (*SQUARES, "W", None, "sum(2*outer(W @ x, x), 1, keepdims=True)", "it is summed over axis 1, of length 3"),
    (*SQUARES, "x", 1.0, "sum(2*W.T @ (W @ x))", "has shape () and truly (3,): it is summed over"),
    (*LINEAR, "w", None, "X", "it is the gradient before its sum over axis 0, of length 3"),
    (*LINEAR, "b", None, "[1, 1, 1]", "it is the gradient before its sum over axis 0, of length 3"),
    (*LINEAR, "X", None, "[[1, 2, 3], [1, 2, 3]]", "it may be transposed"),
    (*LINEAR, "w", None, "[1, 2, 3]", "has shape (3,) and truly (2,)"),
    ("x**3", {"x": [1.0, 2.0]}, "x", None, "3", "has shape () and truly (2, 2)"),
    ("x**2", {"x": [1.0, 2.0]}, "x", None, "x[:1]", "has shape (1,) and truly (2, 2)"),
    ("sum(x**2)", {"x": [1.0, 2.0]}, "x", None, "x[0]", "has shape () and truly (2,)"),
    ("x**2", {"x": [1.0, 2.0]}, "x", [1.0, 1.0], "diag(2*x)", "it is the gradient before its sum over axis 0"),
    ("W @ x", SQUARES[1], "x", None, "[1, 2, 3]", "with --v it is the gradient, in the shape (3,) of x"),
    ("softmax(x)", {"x": [1.0, 2.0]}, "x", None, "y*(1 - y)", "it has the shape of the diagonal, and J has entries be"),
]


@pytest.mark.parametrize(("program", "inputs", "variable", "v", "expect", "says"), WRONG)
def test_another_shape_is_wrong_and_the_line_says_what_may_have_happened(program, inputs, variable, v, expect, says):
    found = gradcli.check(program, inputs=inputs, v=v, wrt=[variable], expect=expect)
    assert not found.agree
    assert says in str(found)
    assert says in found.comparisons[-1].misfit
    assert found.to_dict()["check"]["comparisons"][-1]["misfit"] == found.comparisons[-1].misfit
    assert found.digits["--expect"] == 0


LOOSE = [  # program, inputs, variable, v, an array in a shape that differs in axes of length 1
    (*LINEAR, "w", None, [[9.0], [13.0]]),
    (*LINEAR, "w", 1.0, [[9.0, 13.0]]),
    (*LINEAR, "b", None, [[3.0]]),
    ("x**3", {"x": [[1.0], [2.0]]}, "x", [[1.0], [1.0]], [3.0, 12.0]),
    ("x**3", {"x": [1.0, 2.0]}, "x", None, [[3.0], [12.0]]),
    ("(W @ x)[None]", SQUARES[1], "x", None, W),
]


@pytest.mark.parametrize(("program", "inputs", "variable", "v", "expect"), LOOSE)
def test_axes_of_length_1_are_a_note(program, inputs, variable, v, expect):
    found = gradcli.check(program, inputs=inputs, v=v, wrt=[variable], expect=expect)
    assert found.agree, found
    [message] = [note.message for note in found.notes if note.kind == "expect-shape"]
    assert "only axes of length 1 differ" in message
    assert str(np.shape(expect)) in message
    wrong = gradcli.check(program, inputs=inputs, v=v, wrt=[variable], expect=np.array(expect) * 2)
    assert not wrong.agree, "in whatever shape"


def test_the_shape_that_fits_has_no_note():
    found = gradcli.check(LINEAR[0], inputs=LINEAR[1], wrt=["w"], expect=[9.0, 13.0])
    assert found.agree
    assert [note.kind for note in found.notes if note.kind == "expect-shape"] == []
