"""What functions of notebooks refuse: an argument or a shape that has no meaning, told by name.

PyTorch, where it is installed and has the function, refuses each of them too.
"""

import math

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import cases, needs_torch
from torch_rows import Row, theirs

TABLES = cases("misuses.json")
INPUTS = TABLES["INPUTS"]
"""The point at which every row is read; each gets the variables that it names."""

IN_BOTH = [row for name in ("LAYERS", "LOSSES", "ALGEBRA", "PLACES") for row in TABLES[name]]
ONLY_HERE = TABLES["ONLY_HERE"]
"""What PyTorch or NumPy has, and gradcli tells that it has not; or what only NumPy refuses."""


def given(program):
    """Return the inputs that a program names, a value for each."""
    return {name: np.asarray(INPUTS[name], dtype=float) for name in gradcli.function(program).inputs}


def refused(program):
    """Return the error of a program, which must raise one."""
    with pytest.raises(GradcliError) as caught:
        gradcli.function(program)(**given(program))
    return caught.value


@pytest.mark.parametrize(("program", "words"), [*IN_BOTH, *ONLY_HERE])
def test_a_misuse_is_told(program, words):
    error = refused(program)
    assert words in f"{error.message} {error.hint or ''}"
    assert error.span is not None


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [program for program, _ in IN_BOTH])
def test_pytorch_refuses_it_too(program):
    import torch

    names = {name: torch.tensor(value, dtype=torch.float64) for name, value in INPUTS.items()}
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError, AssertionError, ArithmeticError)):
        eval(program, {"torch": torch, "F": torch.nn.functional, "math": math, **names})  # noqa: S307 - our own rows


EDGES = TABLES["EDGES"]
"""Calls at the edge of what has a meaning, which PyTorch answers."""


@pytest.mark.parametrize("part", [0, 1])
def test_a_factor_of_a_singular_matrix_has_no_derivative(part):
    with pytest.raises(GradcliError, match="no derivative"):
        gradcli.explain(f"torch.linalg.qr(A)[{part}]", A=[[1.0, 1.0], [1.0, 1.0]], v=[[1.0, 2.0], [3.0, 4.0]])


def test_an_integer_apart_from_a_list_of_places_is_told():
    T = np.arange(24.0).reshape(2, 3, 4)
    found = gradcli.explain("T[0, :, [0, 1]]", T=T, v=np.ones((2, 3)))
    assert "torch-differs" in [note.kind for note in found.notes]
    for same in ("T[0][:, [0, 1]]", "T[[0, 1], :, 0]", "T[:, 0, [0, 1]]"):
        y = gradcli.function(same).value(T=T)
        assert "torch-differs" not in [note.kind for note in gradcli.explain(same, T=T, v=np.ones(y.shape)).notes]


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", EDGES)
def test_an_edge_is_what_pytorch_has(program):
    point = given(program)
    y, *gradients = theirs(Row(program, program, point))
    answer = gradcli.explain(program, inputs=point, v=np.ones(y.shape))
    np.testing.assert_allclose(answer.output, y, rtol=1e-12)
    for name, gradient in zip(point, gradients, strict=True):  # PyTorch's trigamma has ten digits
        np.testing.assert_allclose(answer.grad[name], gradient, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(("dtype", "end"), [("uint8", "255, and as an index they are a mask"), ("int8", "127")])
def test_integers_that_wrap_around_in_pytorch_are_told(dtype, end):
    found = gradcli.explain(f"a = torch.tensor([1, 2], dtype=torch.{dtype})\na*x", x=np.ones(2), v=np.ones(2))
    assert [note.kind for note in found.notes if f"beyond {end}" in note.message] == ["torch-differs"]
    for plain in ("int32", "long", "float64"):
        assert not gradcli.explain(f"torch.tensor([1, 2], dtype=torch.{plain})*x", x=np.ones(2), v=np.ones(2)).notes
