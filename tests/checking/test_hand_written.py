"""Backward passes by hand, as courses have them: each gradient's verdict, and where a planted fault is.

``tests/data/hand_backward.jsonl`` has 54 of them, right, and two faults of each, of sixteen kinds. They were written
without a look at gradcli; what is truly wrong in a faulty one was computed by PyTorch from another forward pass.
"""

import json
from pathlib import Path

import pytest

import gradcli
from oracles import portion

DATA = Path(__file__).parents[1] / "data" / "hand_backward.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def planted(row, fault):
    """Return the script with one of its faults."""
    lines = row["source"].split("\n")
    first, last = fault["lines"]
    return "\n".join([*lines[:first], *fault["with"], *lines[last:]])


RIGHT = [pytest.param(row, id=row["id"]) for row in ROWS]
WRONG = [pytest.param(row, fault, id=f"{row['id']}: {fault['fault']}") for row in ROWS for fault in row["faults"]]


@pytest.mark.parametrize("row", portion(RIGHT, 6))
def test_a_right_backward_pass_is_right(row):
    found = gradcli.check(row["source"], of=row["of"], expect=row["pairs"])
    assert {one.variable: one.verdict for one in found.expected} == dict.fromkeys(row["pairs"], "right")
    assert found.verdict == "right"
    assert (
        min(one.digits for one in found.expected) >= 6 or row["id"] == "makemore_backprop"
    )  # db1 is 0 but for rounding


@pytest.mark.long
@pytest.mark.parametrize("row", portion([r for r in RIGHT if r.values[0]["named"]], 6))
def test_gradients_are_found_by_their_names(row):
    found = gradcli.check(row["source"], of=row["of"])
    verdicts = {one.variable.removesuffix(".data"): one.verdict for one in found.expected}
    assert {name: verdicts.get(name.removesuffix(".data")) for name in row["named"]} == dict.fromkeys(
        row["named"], "right"
    )
    assert found.verdict == "right"


@pytest.mark.parametrize(("row", "fault"), portion(WRONG, 12))
def test_a_planted_fault_is_seen(row, fault):
    found = gradcli.check(planted(row, fault), of=row["of"], expect=row["pairs"])
    verdicts = {one.variable: one.verdict for one in found.expected}
    assert verdicts == {name: "wrong" if name in fault["wrong"] else "right" for name in row["pairs"]}
    assert found.verdict == "wrong"


NOT_A_NUMBER = """import numpy as np
X, W = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[0.3], [-0.2]])
h = np.tanh(X @ W)
loss = np.sum(h**2)
dh = 2*h + np.array([[0.0], [np.nan]])
dW = X.T @ (dh*(1 - h**2))
"""


def test_a_gradient_with_nan_is_wrong_inside_too():
    found = gradcli.check(NOT_A_NUMBER)
    assert {one.text: one.verdict for one in found.expected} == {"dh": "wrong", "dW": "wrong"}
    assert [one.first_wrong for one in found.expected if one.text == "dW"] == ["dh"]


def test_a_wrong_gradient_that_an_object_has_from_an_input_alone_is_seen():
    found = gradcli.check("class V: pass\na = V(); a.data = 2.0\nloss = a.data**2\na.grad = 7.0 * a.data")
    assert found.verdict == "wrong"
