"""What each function of the language computes, beside the same written in numpy or by the definitions in mpmath."""

import math

import numpy as np
import pytest

import gradcli
from definitions import elementwise as defined
from oracles import assert_close, numbers
from programs import OWN, PROGRAMS, ROWS, inputs_of
from records import FUNCTIONS

TOLERANCE = 1e-13
ELEMENTWISE = [(name, program) for name in PROGRAMS if not OWN[name] for program in PROGRAMS[name]]


@pytest.mark.parametrize("name", dict.fromkeys(row["function"] for row in ROWS))
def test_a_function_has_the_value_that_numpy_gives(name):
    for row in [row for row in ROWS if row["function"] == name]:
        f = gradcli.function(row["program"])
        value = f.value(**inputs_of(row["program"], f.inputs))
        assert_close(value, numbers(row["y"]), TOLERANCE, row["program"])


@pytest.mark.parametrize(("name", "program"), sorted(ELEMENTWISE))
def test_an_elementwise_function_has_the_value_of_its_definition(name, program):
    f = gradcli.function(program)
    inputs = inputs_of(program, f.inputs)
    u, w = inputs["u"], inputs.get("w")
    if len(FUNCTIONS[name].op.vjps) == 2:
        want = defined(FUNCTIONS[name].op.name, u, w[0] if program.endswith("w[0])") else w)
    else:
        want = defined(FUNCTIONS[name].op.name, u) + (u if program.endswith("+ u") else 0)
    assert_close(f.value(**inputs), want, TOLERANCE, program)


@pytest.mark.parametrize(("text", "numbers"), [("0.1,2.5", [0.1, 2.5]), ("3", 3.0), ("1/3,;pi,", [[1 / 3], [math.pi]])])
def test_a_value_that_is_a_text_is_its_numbers(text, numbers):
    v = np.ones(np.shape(numbers)).tolist()
    found = gradcli.answer({"program": "-x", "inputs": {"x": text}, "v": v}, symbolic=False)
    assert found["output"]["value"] == np.negative(numbers).tolist()
