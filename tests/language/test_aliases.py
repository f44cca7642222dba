"""Random programs of writes and reads through tensors that share memory: values, gradients, and what PyTorch refuses.

GRADCLI_SEED and GRADCLI_ALIASES in the environment change which programs and how many.
"""

import os
import re

import numpy as np
import pytest

import gradcli
from generator.aliases import random_writes
from gradcli.explanation.evaluation import Function
from oracles import by_torch, cases, portion

TABLES = cases("alias_forms.toml")

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:The use of .x.T. on tensors of dimension other than 2")
SEED, COUNT = int(os.environ.get("GRADCLI_SEED", "1")), int(os.environ.get("GRADCLI_ALIASES", "1000"))
NUMBERS = portion(range(COUNT), 4)
EXPLAINED = 20
"""Of so many programs one is explained, which takes a hundred times as long."""
REFUSED = {"share memory, but not its derivative": "detach", "shows one number as several entries": "expand"}
"""What is refused where PyTorch answers, and the word that such a program holds."""


@pytest.fixture(autouse=True)
def doubles():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def in_torch(lines, last, inputs):
    """Return PyTorch's value and gradient, None in place of the gradient where it raises."""
    try:
        value, grads = by_torch("\n".join([*lines, last]), inputs, wrt=["x"])
    except RuntimeError:
        return None, None
    return value.item(), grads["x"]


def remarks_of(function, given):
    """Return the kinds of remarks that a run leaves, and the message of the error that it raises, if it does."""
    try:
        return {kind for kind, _ in function.evaluate(given).graph.remarks}, ""
    except gradcli.GradcliError as error:
        return set(), error.message


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"seed {SEED}, number {number}")
def test_writes_reach_what_they_reach_in_torch(number):
    lines, last, inputs = random_writes(SEED, number, torch)
    program = "\n".join([*lines, last])
    given = {name: np.array(value) for name, value in inputs.items() if re.search(rf"\b{name}\b", program)}
    function = Function(program, ["x"])
    remarks, refusal = remarks_of(function, given)
    if refusal:
        assert any(words in refusal and word in program for words, word in REFUSED.items()), (refusal, program)
        return
    value, gradient = in_torch(lines, last, inputs)
    assert ("torch-refuses" in remarks) == (gradient is None), program
    if gradient is None or "overlapping-write" in remarks:
        return
    assert function.value(**given) == pytest.approx(value, rel=1e-9, abs=1e-9), program
    assert function.grad(**given)["x"] == pytest.approx(gradient, rel=1e-9, abs=1e-9), program
    if number % EXPLAINED == 0:
        found = gradcli.explain(program, wrt=["x"], inputs=given)
        assert found.agreement.agree, program
        assert found.grad["x"] == pytest.approx(gradient, rel=1e-9, abs=1e-9), program


def test_few_programs_are_refused():
    refused = []
    for number in range(100):
        lines, last, inputs = random_writes(SEED, number, torch)
        program = "\n".join([*lines, last])
        given = {name: np.array(value) for name, value in inputs.items() if re.search(rf"\b{name}\b", program)}
        refused += [number] if remarks_of(Function(program, ["x"]), given)[1] else []
    assert len(refused) <= 8


STATED = TABLES["EXPRESSIONS"]
NUMBERS_OF = {"x": [0.5, -1.25, 2.0, 3.0, -0.5, 1.5], "c": [0.75, 2.0, -1.0]}


@pytest.mark.parametrize("text", STATED)
def test_a_write_inside_of_an_expression_is_what_it_is_in_torch(text):
    *lines, last = text.split("; ")
    value, gradient = in_torch(lines, last, NUMBERS_OF)
    given = {name: np.array(one) for name, one in NUMBERS_OF.items() if re.search(rf"\b{name}\b", text)}
    for program in ("\n".join([*lines, last]), "\n".join(["import torch", *lines, last])):
        found = gradcli.explain(program, wrt=["x"], inputs=given)
        assert found.agreement.agree
        assert found.output == pytest.approx(value, rel=1e-12), program
        assert found.grad["x"] == pytest.approx(gradient, rel=1e-12), program
    assert gradcli.check(program, wrt=["x"], inputs=given).agree


@pytest.mark.parametrize(("program", "z"), [
    ("y = x*2\nz = (y*3).add_(1)*2\nz.sum()", "view2*2"), ("y = x*2\nz = y.mul_(2).add_(1) + y\nz.sum()", "y3 + y3"),
    ("y = x*2\nz = y*2 + y.add_(1)\nz.sum()", None),
])  # fmt: skip
def test_a_formula_names_what_was_written_to(program, z):
    found = {value.name: value.formula for value in gradcli.explain(program, x=[1.0, 2.0]).values}
    assert found["z"] == z


@pytest.mark.parametrize(("line", "differs"), [
    ("a[0], a[1] = a[1], a[0]", True), ("a[0], a[1] = a[1]*1, a[0]*1", False), ("a[:1], a[1:] = a[1:], a[:1]", False),
])  # fmt: skip
def test_a_swap_that_numpy_does_and_torch_does_not_is_told(line, differs):
    found = gradcli.explain(f"a = x*1\n{line}\n(a*x).sum()", x=[1.0, 2.0])
    assert ("numpy-differs" in {note.kind for note in found.notes}) == differs
    assert found.output == (6.0 if "*" not in line else 4.0)
