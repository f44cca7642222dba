"""A gradient that is 0 because its terms cancel is said to be 0, and why."""

import numpy as np
import pytest

import gradcli


def note_of(found):
    return next((note.message for note in found.notes if note.kind == "zero-gradient"), "")


WEIGHTS = np.cos(np.arange(10_000.0)).reshape(100, 100).round(3)
CONSTANT = {
    "softmax": ("softmax(x)", {"x": [0.1, 0.7, -0.4]}, np.ones(3), "v·y is 1 here"),
    "softmax-of-many": ("softmax(W @ x)", {"W": WEIGHTS, "x": np.sin(np.arange(100.0))}, np.ones(100), "v·y is 1 here"),
    "log-softmax": ("logsumexp(log_softmax(x))", {"x": [0.1, 0.7, -0.4]}, None, "y is 0 here"),
    "mean-removed": ("sum(x - mean(x))", {"x": [0.1, 0.7, -0.4]}, None, "y is 0 here"),
    "two-paths": ("[x, 2 - x]", {"x": 0.3}, [1.0, 1.0], "v·y is 2 here"),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_a_sum_that_is_the_same_for_every_input(name):
    program, inputs, v, says = CONSTANT[name]
    found = gradcli.explain(program, v=v, inputs=inputs)
    assert found.agreement.verdict == "agree"
    assert note_of(found).startswith(f"{says} and at a random other input: the terms of ")
    assert found.effect.nudge is None  # a move by what rounding leaves would say otherwise


@pytest.mark.parametrize(
    ("program", "x", "v"),
    [
        ("[x**2, -2*x]", 1.0, [1.0, 1.0]),
        ("[abs(x - 1), abs(x + 1)]", 0.0, [1.0, 1.0]),
        ("[x.detach()*2 + x, -x]", 2.0, [1.0, 1.0]),
    ],
)
def test_a_point_where_the_terms_cancel_is_no_constant(program, x, v):
    found = gradcli.explain(program, x=x, v=v)
    assert note_of(found) == "v·y stands still here: the terms of x.grad cancel, so that it is truly 0."


@pytest.mark.parametrize(
    ("program", "x", "v"),
    [
        ("softmax(x)", [0.1, 0.7], [1.0, 2.0]),  # the gradient is not 0
        ("softmax(x)", [0.1, 0.7], [0.0, 0.0]),  # v asks for nothing
        ("relu(x)", [-1.0, -2.0], [1.0, 1.0]),  # J is 0 itself
        ("sin(1/x)*x", 0.0, None),  # y is not finite
        ("maximum(x, -x)", 0.0, None),  # a kink: 0 is PyTorch's choice
    ],
)
def test_nothing_is_said_elsewhere(program, x, v):
    assert not note_of(gradcli.explain(program, x=x, v=v))


def test_a_number_that_rounding_made_is_not_called_0():
    found = gradcli.explain("b*((c + 1e16) - 1e16 - c)", b=1.0, c=0.7)
    assert (found.agreement.verdict, note_of(found)) == ("digits-lost", "")
