"""Layers of ``torch.nn`` without random weights: value and gradients of each are PyTorch's, and so are its mistakes."""

import re

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import by_torch, cases

pytest.importorskip("torch")
from generator.in_torch import doubles

TABLES = cases("layers.toml")
INPUTS = {
    "x": np.array([[0.3, -0.5, 1.2, 0.1], [2.0, 0.25, -1.0, 0.7]]),
    "t": np.array([[0.2, 0.5, 0.3, 0.9], [0.1, 0.4, 0.6, 0.8]]),
}
PROGRAMS = TABLES["PROGRAMS"]


def seed_of(shape):
    return np.cos(np.arange(np.prod(shape, dtype=float))).reshape(shape)


def in_torch(program):
    """Return y and the gradients by PyTorch for the sum of y times cosines."""
    with doubles():
        return by_torch(program, INPUTS, seed_of)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_layer_is_what_it_is_in_pytorch(program):
    y, grads = in_torch(program)
    used = [name for name in INPUTS if re.search(rf"\b{name}\b", program)]
    found = gradcli.explain(program, v=seed_of(y.shape), inputs={name: INPUTS[name] for name in used})
    assert found.agreement.agree
    np.testing.assert_allclose(found.output, y, rtol=1e-12, atol=1e-14)
    for name in used:
        np.testing.assert_allclose(found.grad[name], grads[name], rtol=1e-10, atol=1e-14)


MISTAKES = TABLES["MISTAKES"]


@pytest.mark.parametrize("program", MISTAKES)
def test_a_mistake_is_the_exception_that_pytorch_raises(program):
    with pytest.raises(Exception) as wanted:  # noqa: PT011 - of any type
        in_torch(program)
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(program, inputs={"x": INPUTS["x"]} if "x)" in program or "*x" in program else {})
    assert (caught.value.kind, caught.value.message.partition(":")[0]) == ("script", wanted.type.__name__)
