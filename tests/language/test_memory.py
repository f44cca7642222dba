"""Writes to tensors that share memory reach every variable, as in PyTorch; plain numbers share nothing."""

import itertools
import re

import numpy as np
import pytest

import gradcli
from gradcli.language.arithmetic import is_tensor
from gradcli.language.program import compile_program
from oracles import by_torch, cases, portion
from programs import PROGRAMS, inputs_of

INPUTS = {"x": 3.0, "c": [1.0, 2.0], "s": 1.5}
TABLES = cases("memory.json")
SHARED = TABLES["SHARED"]
CONSTANT_INPUTS = TABLES["CONSTANT_INPUTS"]
DIFFERENTIATED = TABLES["DIFFERENTIATED"]
LEAVES = {
    "x += 1; x*s": "the input 'x'",
    "y = x; y[...] = 1; x*s": "the input 'x'",
    "y = x.view(1); y[0] = 1; x*s": "'y', a view of the input 'x'",
}
APART = ["y = x*2; w = y.detach(); w += 1; x*y", "y = x.detach(); y += 1; x*y"]
"""Writes that change numbers in PyTorch and not their derivative: a detached tensor shows a differentiated one."""
DOUBTFUL = [
    "y = torch.linalg.inv(torch.eye(2)*x); w = y.reshape(-1); w[0] = 5; y.sum()",
    "y = torch.eye(2)*x; y = y.T + y; w = y.reshape(-1); y[0] = 5; w.sum()",
    "y = torch.einsum('ij,j->ji', torch.ones(2, 3), x*torch.ones(3)); w = y.flatten(); y += 1; w.sum()",
]
"""Whether a reshape copied depends on how PyTorch lays out its argument, which is not known of every operation."""
PLAIN = TABLES["PLAIN"]
OVERLAPPING = ["y = torch.tensor(2.).expand(3); y += 5; x*y[1]", "y = torch.tensor([2.]).expand(3); y[:2] = 5; x*y[2]"]
"""Writes to one number that shows as several."""
ANSWERED = TABLES["ANSWERED"]  # nothing is shared: the derivative by x

TABLE = SHARED | CONSTANT_INPUTS | DIFFERENTIATED | ANSWERED


def used(program):
    return {name: value for name, value in INPUTS.items() if re.search(rf"\b{name}\b", program)}


def answers(program):
    """Yield what each way to ask says of the derivative by x."""
    yield lambda: gradcli.explain(program, wrt=["x"], inputs=used(program)).grad["x"]
    yield lambda: gradcli.function(program, wrt=["x"]).grad(**used(program))["x"]
    yield lambda: gradcli.check(program, wrt=["x"], inputs=used(program))


def refusals(program):
    for ask in answers(program):
        with pytest.raises(gradcli.GradcliError) as raised:
            ask()
        assert raised.value.kind == "in-place"
        yield raised.value.message


@pytest.mark.parametrize("program", LEAVES)
def test_no_differentiated_input_is_written_to(program):
    wanted = f"to {LEAVES[program]}: PyTorch refuses to change a leaf in place"
    assert all(wanted in message for message in refusals(program))


@pytest.mark.parametrize("program", APART)
def test_no_number_changes_without_its_derivative(program):
    assert all("share memory, but not its derivative" in message for message in refusals(program))


@pytest.mark.parametrize("program", DOUBTFUL)
def test_no_write_is_done_of_which_it_is_not_known_what_it_reaches(program):
    assert all("depends on how PyTorch lays out in memory" in message for message in refusals(program))


@pytest.mark.parametrize("program", PLAIN)
def test_what_python_cannot_write_to_is_refused(program):
    assert all(f"to 'y', which {PLAIN[program]}: Python" in message for message in refusals(program))


@pytest.mark.parametrize("program", OVERLAPPING)
def test_one_number_that_shows_as_several_is_not_written_to(program):
    assert all("shows one number as several entries" in message for message in refusals(program))


@pytest.mark.parametrize("program", portion(TABLE, 3))
def test_every_way_to_ask_has_the_derivative_of_the_table(program):
    [explained, swept, checked] = [ask() for ask in answers(program)]
    assert explained == swept == TABLE[program]
    assert checked.verdict == "right"


@pytest.mark.parametrize("program", TABLE)
def test_torch_has_the_derivative_of_the_table(program):
    assert by_torch(program, used(program), wrt=["x"])[1]["x"] == pytest.approx(TABLE[program], rel=1e-6)


@pytest.mark.parametrize("program", [*PLAIN, *OVERLAPPING])
def test_python_and_torch_refuse_what_is_refused_here(program):
    pytest.importorskip("torch")
    with pytest.raises((TypeError, RuntimeError)):
        by_torch(program, used(program), wrt=["x"])


def test_every_function_makes_tensors_of_tensors():
    for program in itertools.chain.from_iterable(PROGRAMS.values()):
        found = compile_program(program)
        given = inputs_of(program, found.inputs).items()
        values = {key: np.asarray(value, dtype=np.float64)[()] for key, value in given}
        _, output, _ = found.evaluate(values, frozenset(), record=False)
        assert not found.inputs or is_tensor(output), program
