"""What formulas and rules look like: as a person writes them, in the program's order, with its factors and names."""

import numpy as np
import pytest

import gradcli
from gradcli.formulas.readback import read_back
from oracles import cases, portion_of_rows
from readback_programs import in_doubles

GIVEN = {
    "x": 0.5, "s": 1.0, "t": 2.0, "p": 2.0, "m": 1.0, "a": 0.7, "b": 2.0, "c": 3.0, "w": 1.2, "y": 0.4, "k": 0.3,
    "v": [0.3, 0.5, 0.9], "u": [0.7, 0.2, 0.4], "M": [[0.5, -0.3], [0.2, 0.8]], "w2": [0.4, 0.9], "t2": [0.1, 0.6],
    "q": [0.1, 0.2, 0.3, 0.4], "r": [0.5, 0.1, 0.9, 0.2], "D": np.arange(16.0).reshape(4, 4) / 10 - 0.7,
    "E": [[0.5, -0.3, 0.2]], "X2": [[0.1, 0.2, 0.3], [0.4, 0.6, 0.8]], "T2": [[0.0, 1.0]],
}  # fmt: skip
TABLES = cases("formula_texts.json")
TEXTS = TABLES["TEXTS"]


def answer(text, **inputs):
    program = text.replace("; ", "\n")
    function = gradcli.function(program)
    values = {name: np.array({**GIVEN, **inputs}[name]) for name in function.inputs}
    y = function.value(**values)
    return gradcli.explain(program, v=np.cos(np.arange(y.size) + 1.0).reshape(y.shape), inputs=values)


@pytest.mark.parametrize(("text", "name", "wanted"), portion_of_rows(TEXTS, 3))
def test_a_formula_is_written_as_a_person_writes_it(text, name, wanted):
    found = answer(text)
    jacobian = found.jacobian[name]
    assert (jacobian.rules or list(dict.fromkeys(jacobian.formulas))) == wanted
    count, wrong = read_back(found, in_doubles)
    assert (count >= len(jacobian.formulas), wrong) == (True, [])


OUTPUTS = TABLES["OUTPUTS"]


@pytest.mark.parametrize("text", OUTPUTS)
def test_an_output_is_written_in_the_order_of_the_program(text):
    assert answer(text).output_formulas == OUTPUTS[text]


DEFINITIONS = TABLES["DEFINITIONS"]


@pytest.mark.parametrize("text", DEFINITIONS)
def test_names_in_formulas_are_those_of_the_program(text):
    found = answer(text)
    wanted = DEFINITIONS[text]
    assert {name: body for name, body in found.definitions.items() if name in wanted} == wanted
    assert not [name for name in found.definitions if name.startswith("h") and name not in wanted], "none is made"
    assert read_back(found, in_doubles)[1] == []


@pytest.mark.parametrize(
    ("text", "name"), [("sort(x).values", "sort"), ("max(x, dim=0).values", "max"), ("relu(x)", "relu")]
)
def test_a_kink_goes_by_the_name_of_its_function(text, name):
    [note] = [note for note in answer(text, x=[0.0, 0.0, -1.0]).notes if note.kind == "kink"]
    assert note.message.startswith(f"{name} has a kink")
