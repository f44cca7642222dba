"""Entries of the backward pass by index: as a text, and as the number that the engine has there."""

import re

import numpy as np
import pytest

import gradcli
from gradcli.explanation.rereading import Reader, entry_of
from oracles import cases

SHAPES = {"z.grad": (2,), "h": (2,), "x": (3,), "W": (2, 3), "y.grad": (), "A.grad": (2, 3)}
WRITTEN = cases("by_index.json")["WRITTEN"]  # a rule, the shape of what it makes, its entry


@pytest.mark.parametrize(("text", "shape", "entry"), WRITTEN, ids=[row[0] for row in WRITTEN])
def test_an_entry_of_a_rule_is_written(text, shape, entry):
    assert entry_of(text, tuple(shape), SHAPES) == entry


def test_an_index_is_no_name_of_the_program():
    assert entry_of("i*z.grad", (2,), {**SHAPES, "i": ()}) is None


GIVEN = {"W": [[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]], "x": [0.3, -0.2, 0.7], "b": [0.1, 0.4]}
PROGRAMS = [
    "h = tanh(W @ x + b); sum((h - 1)**2)",
    "z = W @ x; y = sigmoid(z)*b; y @ y",
    "h = b*2 + 1; s = sum(h*h); exp(s/9)*h[0]",
    "h = outer(b, x); sum((h - W)**2/2)",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_entry_is_the_gradient_there(program):
    inputs = {name: GIVEN[name] for name in gradcli.function(program).inputs}
    found = gradcli.explain(program, inputs=inputs)
    values = {value.name: value.value for value in found.values}
    reader = Reader({**found.inputs, **values}, {rule.name: rule.value for rule in found.rules})
    entries = {name: found.backward_pass.entry(name) for name in found.differentiated}
    written = {name: entry for name, entry in entries.items() if entry}
    assert written
    for name, entry in written.items():
        grad = found.grad[name]
        for place in np.ndindex(grad.shape):
            text = entry
            for letter, index in zip("ij", place, strict=False):
                text = re.sub(rf"\b{letter}\b", str(index), text)
            assert reader.evaluate(text) == pytest.approx(grad[place], rel=1e-13)
