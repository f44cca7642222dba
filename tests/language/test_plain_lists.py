"""A list with a name is an array in a program that is no snippet: a note stands wherever Python's list would differ."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from oracles import needs_torch

X = [1.0, 2.0, 3.0, 4.0]
OTHERWISE = [  # a program that PyTorch has another number for
    "a = x.clone()\nL = [a, a]\na.mul_(2)\nL[0].sum()",
    "L = [x, x*2]\nL[0], L[1] = L[1], L[0]\n(L[0]*L[0]).sum() + L[1].sum()",
    "w = [x[:2]*1, x[2:]*1]\nold = w[0]\nw[0] = w[0]*2\n(old*w[0]).sum()",
    "s = [x[0]*1, x[1]*1]\nprev = s[0]\ns[0] = prev + s[1]\ns[1] = prev\ns[0]*s[1]",
    "L = [x[0], x[1]]\nL += [x[2]]\nsum(L)*len(L)",
    "L = [x[0], x[1]]\nM = [x[2], x[3]]\nN = L + M\nN[0]*N[-1]",
    "w, L = x, [x[0], x[1]]\nL += [x[2], x[3]]\nL[0]*w[0]",
    "L = [x[0], x[1]]\nM = L + [x[2]]\nM[0]*M[-1]",
    "a = x.clone()\nL = [a, a*2]\nL[0] *= 2\na.sum()",
    "a = x.clone()\nL = (a[:2], a[2:])\na[0] = 5.\nL[0].sum()",
    "L = [x*1, x*2]\nL2 = L[:]\nL2[0] = x*5\nL[0].sum()",
    "L = [x[:2]*1, x[2:]*1]\nM = [L[0], L[1]]\nM[0] *= 3\nL[0].prod()",
]
ALIKE = [
    "h = [x, x**2]\nh[0].sum()*h[1].sum()",
    "L = [x[0], x[1]]\nL[0] = x[2]*2\nL[1] = x[0]*x[3]\nL[0]*L[1]",
    "w = x*1\nL = [w, w*2]\nt = 0.0\nfor i in range(2):\n    t = t + L[i].sum()\nt",
    "L = [i*x for i in range(3)]\nL[1].sum() + L[2].sum()",
    "a = x*1\na.mul_(2)\nL = [a, a*3]\nL[1].sum()",
]


def has_note(program: str) -> bool:
    return any(note.kind == "list-as-array" for note in gradcli.explain(program, x=X).notes)


@pytest.mark.parametrize("program", OTHERWISE)
def test_a_list_that_is_otherwise_in_python_has_a_note(program):
    assert has_note(program)


@pytest.mark.parametrize("program", ALIKE)
def test_a_list_that_is_the_same_has_none(program):
    assert not has_note(program)


@needs_torch
@pytest.mark.parametrize("program", OTHERWISE + ALIKE)
def test_what_is_otherwise_is_so_in_pytorch(program):
    import torch

    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    lines, _, last = program.rpartition("\n")
    names = {"x": x}
    exec(f"{lines}\ny = {last}", names)  # noqa: S102 - constants of this file
    names["y"].backward()
    assert np.allclose(gradcli.explain(program, x=X).grad["x"], x.grad.numpy()) is (program in ALIKE)
