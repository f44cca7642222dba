"""A derivative in another shape than the true one is wrong, and right where only axes of length 1 differ."""

import numpy as np
import pytest

import gradcli
from oracles import cases

TABLES = cases("shapes.json")

X = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
W = [[1.0, 2.0, 3.0], [3.0, -4.0, 1.0]]
LINEAR = ("sum(X @ w + b)", {"X": X, "w": [1.0, 2.0], "b": 0.5})
WRONG = TABLES["WRONG"]  # program, inputs, variable, v, what is expected, what the line says


@pytest.mark.parametrize(("program", "inputs", "variable", "v", "expect", "says"), WRONG)
def test_another_shape_is_wrong_and_the_line_says_what_may_have_happened(program, inputs, variable, v, expect, says):
    found = gradcli.check(program, inputs=inputs, v=v, wrt=[variable], expect=expect)
    assert not found.agree
    assert says in str(found)
    assert says in found.comparisons[-1].misfit
    assert found.to_dict()["check"]["comparisons"][-1]["misfit"] == found.comparisons[-1].misfit
    assert found.digits["--expect"] == 0


LOOSE = TABLES["LOOSE"]  # program, inputs, variable, v, an array in a shape that differs in axes of length 1


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
