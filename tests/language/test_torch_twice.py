"""A second backward, inputs without a gradient, integers: where PyTorch refuses an answer says so, and nowhere else."""

import re

import numpy as np
import pytest

import gradcli
from backward_rows import CONSTANT, INPUTS, QUESTIONS, names_of, recorded
from gradcli.errors import GradcliError
from oracles import ask, cases, portion_of_rows

TABLES = cases("torch_twice.json")

try:
    import torch
except ImportError:
    torch = None

SECOND, NONE = recorded("torch_second.json"), recorded("torch_none.json")
TWICE = "A second backward raises in PyTorch"


def explained(text, calls, **asked):
    """Return the answer for a row with so many calls of backward."""
    names = names_of(text)
    inputs = {name: np.asarray(INPUTS[name], dtype=float)[()] for name in names}
    program = f"{text.replace('tensor(', '(')}\ny"
    ones = np.ones(gradcli.function(program, wrt=()).value(**inputs).shape)
    return gradcli.explain(program, inputs=inputs, calls=[ones] * calls, **asked)


def said(found, start):
    return [note.message for note in found.notes if note.message.startswith(start)]


def differentiated(text):
    return [name for name in names_of(text) if name not in CONSTANT]


@pytest.mark.parametrize(("text", "raises"), portion_of_rows(SECOND.items(), 14))
def test_a_second_backward_is_noted_where_torch_raises(text, raises):
    wrt = differentiated(text)
    assert bool(said(explained(text, 2, wrt=wrt), TWICE)) == raises
    assert not said(explained(text, 1, wrt=wrt), TWICE)
    if not raises:
        explained(text, 2, wrt=wrt, strict=True)
        return
    with pytest.raises(GradcliError) as caught:
        explained(text, 2, wrt=wrt, strict=True)
    assert caught.value.kind == "torch-refuses"


@pytest.mark.parametrize(("text", "none"), portion_of_rows(NONE.items(), 2))
def test_a_gradient_that_torch_leaves_none_is_noted(text, none):
    found = explained(text, 1)
    told = [name for note in found.notes for name in re.findall(r"PyTorch leaves (\w+)\.grad None", note.message)]
    assert sorted(told) == sorted(none or [])
    constant = [note.message for note in found.notes if note.kind == "constant-output"]
    assert [bool(re.search("backward of PyTorch raises", message)) for message in constant] == [True] * (none is None)
    if none is None:
        with pytest.raises(GradcliError) as caught:
            explained(text, 1, strict=True)
        assert caught.value.kind == "constant-output"
    else:
        explained(text, 1, strict=True)


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_what_was_recorded_is_what_torch_does():
    for name, question in QUESTIONS.items():
        assert {text: question(text) for text in recorded(name)} == recorded(name)


KEPT = TABLES["KEPT"]


@pytest.mark.parametrize(("program", "inputs", "words"), KEPT)
def test_what_is_kept_has_its_name(program, inputs, words):
    found = gradcli.explain(program, inputs=inputs, calls=[1, 1])
    assert words in said(found, TWICE)[0]


@pytest.mark.parametrize("x", [3, [1, 2], [[1, 2], [3, 4]], True])
def test_integers_cannot_require_grad(x):
    if torch is not None:
        with pytest.raises(RuntimeError):
            torch.tensor(x, requires_grad=True)
    if x is True:
        return
    first = float(np.ravel(x)[0])
    note = gradcli.explain("sum(x)", x=x).notes[0]
    assert (note.kind, note.message) == (
        "integers-as-floats", f"x is given in integers, read as floats: PyTorch wants {first} for a gradient."
    )  # fmt: skip
    with pytest.raises(GradcliError) as caught:
        gradcli.explain("sum(x)", x=x, strict=True)
    assert (caught.value.kind, caught.value.hint) == ("integers-as-floats", f"write {first}, or leave out --strict")


def test_strict_refuses_on_the_command_line():
    assert ask("explain", "x**2", "--x", "3", "--strict").code == 2
    assert ask("explain", "x**2", "--x", "3.5", "--v", "1", "--v", "2", "--strict").code == 2
    assert ask("grad", "x**2", "--x", "3.5", "--v", "1", "--v", "2", "--strict").code == 2
    assert ask("explain", "x + 1", "--x", "3.5", "--v", "1", "--v", "2", "--strict").code == 0
