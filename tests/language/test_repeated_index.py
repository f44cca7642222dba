"""Assignments that write an entry more than once: the last value stays, and PyTorch's backward counts each of them."""

import json

import numpy as np
import pytest

import gradcli
from gradcli.batch.answers import answer
from oracles import ask, by_torch, cases, flags

TABLES = cases("repeated_index.toml")

V = {"x": [1.0, 2.0, 3.0]}
M = {"x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}
REPEATED = TABLES[
    "REPEATED"
]  # an assignment to a = x*1, the input, x.grad by PyTorch, v.J of the mathematics, the entry and how often
ONCE = [("a[[2, 0]] -= 1.5", V), ("a[x > 1] *= x[1:]", V), ("a[x > 2] += 1.5", M), ("a[1:] = x[:2]", V),
        ("a[[0, 1], [1, 1]] = x[1]", M), ("a[0] = x[1]", M), ("a[[2, 2]] = 5", V), ("b = a[[2, 2]]", V)]  # fmt: skip


def program(assignment):
    return f"a = x*1\n{assignment}\na"


def exact(array):
    return np.array(array, dtype=np.float64)


@pytest.mark.parametrize(("assignment", "inputs", "theirs", "true", "entry"), REPEATED)
def test_both_gradients_are_given_with_the_reason(assignment, inputs, theirs, true, entry):
    found = gradcli.explain(program(assignment), inputs=inputs, v=np.ones(np.shape(inputs["x"])))
    np.testing.assert_allclose(found.grad["x"], exact(theirs), 1e-15)
    np.testing.assert_allclose(found.vjp["x"], exact(true), 1e-15)
    [message] = [note.message for note in found.notes if note.kind == "routes-differ"]
    assert f"writes entry {entry}" in message
    assert "PyTorch's backward" in message
    assert len(message) < 260
    assert not found.agreement.agree


@pytest.mark.parametrize(("assignment", "inputs", "theirs"), [row[:3] for row in REPEATED])
def test_the_gradient_is_that_of_pytorch(assignment, inputs, theirs):
    gradient = by_torch(f"{program(assignment)}.sum()", inputs, wrt=["x"])[1]["x"]
    np.testing.assert_allclose(gradient, exact(theirs), 1e-15)


@pytest.mark.parametrize(("assignment", "inputs", "theirs", "entry"), [(*row[:3], row[4]) for row in REPEATED])
def test_reverse_mode_alone_says_so_too(assignment, inputs, theirs, entry):
    ones = np.ones(np.shape(inputs["x"])).tolist()
    given = [*flags(inputs), "--v", json.dumps(ones)]
    found = ask("grad", program(assignment), *given)
    assert f"note: The gradient is PyTorch's, and not the derivative: one assignment writes entry {entry}" in found.err
    assert found.code == 0
    assert ask("grad", program(assignment), "--quiet", *given).err == ""
    record = answer({"program": program(assignment), "inputs": inputs, "v": ones}, symbolic=False)
    assert [note["kind"] for note in record["notes"]] == ["repeated-index"]
    assert record["grad"]["x"] == theirs


@pytest.mark.parametrize(("assignment", "inputs"), ONCE)
def test_what_is_written_once_or_is_constant_has_no_note(assignment, inputs):
    asked = {"program": program(assignment), "inputs": inputs, "v": np.ones(np.shape(inputs["x"])).tolist()}
    whole, reverse = (answer(asked, symbolic=symbolic) for symbolic in (True, False))
    assert whole["agreement"]["agree"]
    assert reverse["grad"] == whole["grad"]
    for record in (whole, reverse):
        assert not [note for note in record["notes"] if note["kind"] in ("routes-differ", "repeated-index")]
