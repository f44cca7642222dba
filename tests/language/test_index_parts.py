"""Indices that are one value with a part for each axis: tuples, what functions give as several, lists of lists."""

import numpy as np
import pytest

import gradcli
from oracles import by_torch, cases

TABLES = cases("index_parts.json")

MATRIX = np.arange(9.0).reshape(3, 3) + 0.5
NESTED = "A list of lists, or of tensors, as an index"
PROGRAMS = TABLES["PROGRAMS"]


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of lists of lists
@pytest.mark.parametrize(("program", "said"), PROGRAMS)
def test_an_index_of_several_parts_is_that_of_pytorch(program, said):
    program = f"{program}\n(y**2*torch.arange(1, y.numel() + 1).reshape(y.shape)).sum()"
    found = gradcli.explain(program, M=MATRIX)
    np.testing.assert_allclose(found.grad["M"], by_torch(program, {"M": MATRIX})[1]["M"], rtol=1e-12)
    assert any(note.kind == "numpy-differs" and said in note.message for note in found.notes) is bool(said)
