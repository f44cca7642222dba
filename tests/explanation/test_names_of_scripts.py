"""Forward and Backward of a script speak its own names: constants, what was computed from them, calls, modules."""

import numpy as np
import pytest

import gradcli
from gradcli.explanation.parts import Value
from gradcli.explanation.rereading import Reader
from oracles import cases, named

TORCH = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
X = "X = torch.tensor([[0.5, 1.2], [1.5, -0.3], [-1.0, 0.8]])\n"
PROGRAMS = cases("names_of_scripts.toml")["PROGRAMS"]  # scripts, and their lines of Forward


def formulas_of(found):
    """Return the lines of Forward as a document has them, with the program's own ways to its values."""
    return [f"{value['name']} = {value['formula']}" for value in found.to_dict()["forward"] if value["formula"]]


@pytest.mark.parametrize(("text", "lines"), named(PROGRAMS))
def test_lines_are_those_of_the_script(text, lines):
    assert formulas_of(gradcli.explain(text)) == lines


@pytest.mark.parametrize(("text", "lines"), named(PROGRAMS))
def test_formulas_read_names_before_them(text, lines):
    found = gradcli.explain(text)
    values = [event for event in found.forward if isinstance(event, Value)]
    reader = Reader({value.name: value.value for value in values if value.role in ("input", "constant")}, {})
    for value in values:
        if value.formula is not None:
            np.testing.assert_allclose(reader.evaluate(value.formula), value.value, rtol=1e-12)
        reader.add(value.name, value.value)
    assert sum(value.formula is not None for value in values) == len(lines)
    back = Reader(reader.names | found.constants, {rule.name: rule.value for rule in found.rules})
    for rule in reversed(found.rules):
        if rule.made is not None:
            back.add(rule.name, back.evaluate(rule.made))
    for rule in found.rules[1:]:
        given = np.broadcast_to(back.evaluate(rule.text), rule.value.shape)
        np.testing.assert_allclose(given, rule.value, rtol=1e-9, atol=1e-12)


def test_names_in_other_letters_keep_their_formulas():
    script = (
        f"{TORCH}θ = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\nx = torch.ones(2, requires_grad=True)\n"
    )
    answer = gradcli.explain(f"{script}torch.tanh(θ @ x).sum().backward()")
    assert {rule.text for rule in answer.rules} >= {"outer(1 - tanh(θ @ x)**2, x)", "θ.T @ (1 - tanh(θ @ x)**2)"}


def test_backward_has_the_names_of_constants():
    found = gradcli.explain(PROGRAMS["rows of a constant"]["script"])
    lines = {rule.name: rule.text for rule in found.rules}
    assert "X[1]" in lines["W"]
    assert "X[0]" in lines["W"]


def test_a_constant_that_is_written_to_later_has_the_numbers_that_were_read():
    text = (
        f"{TORCH}w = torch.tensor([1., 2.], requires_grad=True)\nt = torch.tensor([1., 0.])\ny = w*(1 - t)\n"
        "t += 1\nloss = y.sum()\nloss.backward()"
    )
    found = gradcli.explain(text)
    assert formulas_of(found) == ["y = w*(1 - t)", "loss = sum(y)"]
    assert [value["value"] for value in found.to_dict()["forward"] if value["name"] == "t"] == [[1.0, 0.0]]


def test_a_transposed_matrix_needs_no_name():
    text = (
        f"{TORCH}{X}a_long_weight = torch.ones(3, 2, requires_grad=True)\n"
        "loss = ((X @ a_long_weight.T).tanh() @ a_long_weight).exp().sum()\nloss.backward()"
    )
    assert "a_long_weight.T" not in [rule.made for rule in gradcli.explain(text).rules]
