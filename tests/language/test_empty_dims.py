"""The empty tuple as ``dim``: refused where PyTorch refuses it under its names; under NumPy's, nothing is reduced."""

import numpy as np
import pytest

from gradcli.errors import GradcliError
from gradcli.explanation.evaluation import Function
from oracles import cases

A = np.array([[2.0, 1.0, 0.5], [0.3, 3.0, -1.0]])
TABLES = cases("empty_dims.json")
REFUSED = TABLES["REFUSED"]
NUMPY_REFUSES = ("argmax", "argmin", "cumsum", "sort", "linalg.norm")
NUMPY_TAKES = ("sum", "mean", "prod", "max", "min", "median", "var", "std", "squeeze", "any", "all", "flip")

try:
    import torch
except ImportError:
    torch = None


def refused(program):
    try:
        Function(program).evaluate({"x": A})
    except GradcliError as error:
        return bool(error.message and error.span)
    return False


@pytest.mark.parametrize("empty", ["()", "[]"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_torch_refuses_is_refused_under_its_names(name, empty):
    bare = f"sum({name}(x, dim={empty})*1.0)"
    assert refused(bare)
    assert refused(bare.replace(name, f"torch.{name}", 1))


@pytest.mark.parametrize("name", NUMPY_REFUSES)
def test_what_numpy_refuses_is_refused_under_its_names(name):
    assert refused(f"np.{name}(x, axis=())*1.0")


@pytest.mark.parametrize("name", NUMPY_TAKES)
def test_numpy_reduces_nothing(name):
    value = Function(f"np.{name}(x, axis=())*1.0").evaluate({"x": A}).value
    np.testing.assert_array_equal(value, getattr(np, name)(A, axis=()) * 1.0)


@pytest.mark.parametrize("name", ["var", "std"])
def test_a_variance_over_no_axis_is_that_over_all_and_a_note_says_what_torch_does_in_backward(name):
    function = Function(f"torch.{name}(x, dim=())")
    whole = Function(f"torch.{name}(x)")
    np.testing.assert_array_equal(function.grad(x=A)["x"], whole.grad(x=A)["x"])
    assert [kind for kind, _ in function.evaluate({"x": A}).graph.remarks] == ["torch-differs"]
    if torch is not None:
        x = torch.tensor(A, requires_grad=True)
        getattr(torch, name)(x, dim=()).backward()
        assert not bool(torch.isfinite(x.grad).any())


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", REFUSED)
def test_torch_refuses_it(name):
    function = torch.linalg.norm if name == "linalg.norm" else getattr(torch, name)
    with pytest.raises((TypeError, RuntimeError)):
        function(torch.tensor(A), dim=())


@pytest.mark.parametrize("program", ["softmax(x)", "F.log_softmax(x, dim=0)", "softmax(reshape(x, 3, 0), dim=1)"])
def test_a_softmax_of_nothing_is_nothing(program):
    y = Function(program).value(x=np.zeros(0))
    assert y.size == 0
    assert Function(program).grad(v=np.zeros(y.shape), x=np.zeros(0))["x"].shape == (0,)
