"""Lines of notebooks: y and x.grad as PyTorch, NumPy, SciPy and JAX have them."""

import math

import numpy as np
import pytest

import gradcli
from notebook_lines import INPUTS, names_of, of_torch, recorded, seed_of
from oracles import portion

LINES = recorded()
BY_TORCH = [line for line in LINES if line["by"] == "torch"]
RTOL = {"torch": 1e-9, "numpy": 2e-6, "jax": 2e-6}
"""PyTorch has its digits, the differences of the others six of them."""


def text_of(line):
    return line["program"]


def test_there_are_lines_of_each_library():
    counts = {by: sum(line["by"] == by for line in LINES) for by in RTOL}
    assert counts["torch"] > 1000
    assert counts["numpy"] > 400
    assert counts["jax"] > 150


@pytest.mark.parametrize("line", portion(LINES, 12), ids=text_of)
def test_a_line_is_what_its_library_gives(line):
    inputs = {name: INPUTS[name] for name in names_of(line["program"])}
    f = gradcli.function(line["program"], wrt=list(inputs))
    value = np.asarray(f.value(**inputs))
    assert value.shape == np.shape(line["y"])
    np.testing.assert_allclose(value, line["y"], rtol=1e-9, atol=1e-11)
    found = f.grad(v=seed_of(value.shape), **inputs)
    for name, expected in line["grad"].items():
        tolerance = RTOL[line["by"]]
        np.testing.assert_allclose(found[name], expected, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("line", portion(BY_TORCH, 40), ids=text_of)
def test_pytorch_gives_what_was_recorded(line):
    pytest.importorskip("torch")
    y, grad = of_torch(line["program"])
    np.testing.assert_allclose(y, line["y"], rtol=1e-11, atol=1e-11)
    for name, expected in line["grad"].items():
        np.testing.assert_allclose(grad[name], expected, rtol=1e-9, atol=math.ulp(1e4))
