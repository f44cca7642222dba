"""Lists in formulas are arrays; where Python's would differ, the text is a script, in which they are Python's."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.runner.reading import is_script
from oracles import needs_torch

X = [1.0, 2.0, 3.0, 4.0]
OF_PYTHON = [  # each has another gradient with arrays
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
    "L = [x[0], x[1]]\nL[0] = x[2]*2\nL[1] = x[0]*x[3]\nL[0]*L[1]",
    "L = [i*x for i in range(3)]\nL[1].sum() + L[2].sum()",
]
ARRAYS = [
    "h = [x, x**2]\nh[0].sum()*h[1].sum()",
    "w = x*1\nL = [w, w*2]\nt = 0.0\nfor i in range(2):\n    t = t + L[i].sum()\nt",
    "a = x*1\na = a*2\nL = [a, a*3]\nL[1].sum()",
    "w = [2.0, 3.0, 1.0, 0.5]\ns = 0.0\nfor i in range(4):\n    s += w[i]*x[i]\ns",
]


@needs_torch
@pytest.mark.parametrize("program", OF_PYTHON + ARRAYS)
def test_a_program_with_lists_has_the_gradient_of_pytorch(program):
    import torch

    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    lines, _, last = program.rpartition("\n")
    names = {"x": x}
    exec(f"{lines}\ny = {last}", names)  # noqa: S102 - constants of this file
    names["y"].backward()
    found = gradcli.explain(program, x=X)
    assert found.agreement.agree
    np.testing.assert_allclose(found.grad["x"], x.grad.numpy(), rtol=1e-12)
    assert is_script(program) is (program in OF_PYTHON)


@pytest.mark.parametrize(("program", "grad"), [
    ("M = [[x[0], x[1]], [x[1], x[0]]]\nsum(M @ [1.0, 2.0])", [3, 3, 0, 0]),
    ("w = [x[0], 2*x[1]]\nsum(torch.exp(w) - w)", [1.718281828459045, 107.19630006628847, 0, 0]),
    ("b = jnp.copy([[x, x], [x, x]] - x*x); b += 1; b.sum()", [-4, -12, -20, -28]),
    ("y = [x[0], x[1]]; y @ y", [2, 4, 0, 0]),
])  # fmt: skip
def test_a_list_is_an_array_otherwise(program, grad):
    assert not is_script(program)
    assert gradcli.explain(program, x=X).grad["x"] == pytest.approx(np.array(grad), rel=1e-14)
