"""Random programs of writes and reads through tensors that share memory: values, gradients, and what PyTorch refuses.

GRADCLI_SEED and GRADCLI_ALIASES in the environment change which programs and how many.
"""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

import gradcli
from generator.aliases import leaves, random_writes
from gradcli.explanation.evaluation import Function
from oracles import portion

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
    scope = leaves(torch, inputs)
    exec("\n".join(lines), scope)  # noqa: S102 - a text of the generator
    try:
        output = eval(last, scope)  # noqa: S307
        value = output.item()
        output.backward()
    except RuntimeError:
        return None, None
    return value, scope["x"].grad.numpy()


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
