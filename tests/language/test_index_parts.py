"""Indices that are one value with a part for each axis: tuples, what functions give as several, lists of lists."""

import warnings

import numpy as np
import pytest

import gradcli
from oracles import needs_torch

MATRIX = np.arange(9.0).reshape(3, 3) + 0.5
NESTED = "A list of lists, or of tensors, as an index"
PROGRAMS = [
    ("y = M[torch.triu_indices(3, 3, 1).unbind()]", ""),
    ("y = M[torch.meshgrid(torch.arange(2), torch.arange(2), indexing='ij')]", ""),
    ("y = M[torch.tensor([[0, 1], [1, 2]]).unbind(1)]", ""),
    ("y = M[torch.tensor([[0, 1], [1, 0]]).split(1)]", ""),
    ("y = M[[[0, 1], [1, 0]]]", NESTED),
    ("y = M[[[0, 1]]]", NESTED),
    ("p = [[0, 1], [1, 0]]\ny = M[p]", NESTED),
    ("y = M[[[0, 1], [1, 0]],]", ""),
    ("i = (0, 1)\ny = M*1\ny[i] = 5.", ""),
    ("i = ((0, 1), (1, 0))\ny = M*1\ny[i] = 5.", ""),
    ("i = [[0, 1], [1, 0]]\ny = M*1\ny[i] = 5.", NESTED),
    ("y = M*1\ny[[[0, 1], [1, 0]]] += 5.", NESTED),
    ("i = (0, 1)\ny = M*1\ny[i] *= 5.", ""),
    ("i = torch.where(M > 4)\ny = M*1\ny[i] = 2.", ""),
    ("y = M*1\ny[torch.triu_indices(3, 3, 1).unbind()] = 0.", ""),
    ("p = torch.tensor([[0, 1], [1, 0]])\na, b = p.unbind()\ny = M[a, b]", ""),
    ("y = torch.stack(torch.tensor([[0, 1], [1, 0]]).unbind())*M[:2, :2]", ""),
    ("y = M[0]*torch.cat(torch.tensor([1, 2, 3]).split(2))", ""),
    ("y = M[:2]*torch.stack((M[0] > 1).unbind())", ""),
]


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
