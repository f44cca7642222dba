"""Indices that are one value with a part for each axis: tuples, what functions give as several, lists of lists."""

import warnings

import numpy as np
import pytest

import gradcli
from oracles import cases, needs_torch

TABLES = cases("index_parts.json")

MATRIX = np.arange(9.0).reshape(3, 3) + 0.5
NESTED = "A list of lists, or of tensors, as an index"
PROGRAMS = TABLES["PROGRAMS"]


@needs_torch
@pytest.mark.parametrize(("program", "said"), PROGRAMS)
def test_an_index_of_several_parts_is_that_of_pytorch(program, said):
    import torch

    matrix = torch.tensor(MATRIX, requires_grad=True)
    names = {"M": matrix, "torch": torch}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of lists of lists
        exec(program, names)  # noqa: S102 - our own programs
    weights = torch.arange(1.0, names["y"].numel() + 1, dtype=torch.float64).reshape(names["y"].shape)
    (names["y"] ** 2 * weights).sum().backward()
    found = gradcli.explain(f"{program}\nsum(y**2*arange(1, y.numel() + 1).reshape(y.shape))", M=MATRIX)
    np.testing.assert_allclose(found.grad["M"], matrix.grad.numpy(), rtol=1e-12)
    assert any(note.kind == "numpy-differs" and said in note.message for note in found.notes) is bool(said)
