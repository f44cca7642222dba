"""Lists of Python's that are one: by another name, in another list, or longer than they were when a loop began."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch

START = "import torch\nx = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)\n"
PAIR = "h = [x*1, x*2]\n"
ROWS = "K = [h, [x*3, x*4]]\n"
REFUSED = [  # a snippet whose gradient here would be another one than in PyTorch
    "p = []\nfor i in range(3):\n    p.append(x*i)\n    q = [u for u in p]\ny = sum(q)",
    "p = [x]\nfor i in range(3):\n    p.append(sum([u*2 for u in p]))\ny = p[3]",
    "p = [x]\nif x.sum() > 0:\n    p.append(x*2)\n    y = sum(u*2 for u in p)\nelse:\n    y = x",
    "p = [x]\ni = 0\nwhile i < 2:\n    p.append(x*2)\n    y = sum(u*v for u, v in zip(p, p))\n    i += 1",
    "p = [x]\nfor i in range(3):\n    p.append(x*2)\n    y = sum(p[k] for k in range(len(p)))",
    "p = [x]\nq = [p]\nfor i in range(2):\n    p.append(x*2)\n    y = sum([u for u in q[0]])",
    "a = b = []\na.append(x*3)\ny = sum(b)*x",
    "m = [x]\np = [x*2]\na, b = m, p\na.append(x*3)\ny = m[-1]*x",
    "def f(v):\n    a = b = [v]\n    a.append(v*3)\n    return b[-1]*v\ny = f(x)",
    "(a, b) = [m, n] = [x], [x*2]\na.append(x*3)\ny = m[-1]*x",
    PAIR + ROWS + "h[0] = x*5\ny = K[0][0]",
    PAIR + ROWS + "K[0][0] = x*5\ny = h[0]",
    PAIR + "K = [[x*3, x*4]]\nK.append(h)\nh[0] = x*5\ny = K[1][0]",
    PAIR + "r = [h for _ in range(2)]\nr[0][0] = x*7\ny = r[1][0]",
    PAIR + "hs = []\nfor i in range(2):\n    h[0] = h[0]*2\n    hs.append(h)\ny = hs[0][0]",
    "memo = [0.0, 0.0]\ntable = [memo, memo]\ntable[0][1] = x.sum()\ny = x*table[1][1]",
    "def f(v):\n    s = [v*1, v*2]\n    return [s, s]\nr = f(x)\nr[0][0] = x*7\ny = r[1][0]",
    "h = [x*1]\nK = [h]\nh.append(x*2)\ny = K[0][-1]",
    "n = [1.0, 2.0]\nM = [n, [3.0, 4.0]]\nn.append(3.0)\ny = x*len(M[0])",
    "L = [[x*1, x*2], [x*3, x*4]]\nL[1] = L[0]\nL[0][1] = x*9\ny = L[1][1]",
    PAIR + ROWS + "c = x*7\nK[1] = [c, x]\nc[0] = 5.0\ny = K[1][0]",
    "z = x*2\na = [z][0]\nz += 1\ny = a*x",
    "z = x*2\na = (z, x)[0]\nz += 1\ny = a*x",
    "def f(v):\n    return (v, v*2)[0]\nz = x*2\na = f(z)\nz += 1\ny = a*x",
    "z = x*2\n[z][0].add_(1)\ny = z*x",
    "z = x*2\n[z][0][0] = 5.0\ny = z*x",
]
ANSWERED = [
    "p = []\nfor i in range(3):\n    p.append(x*i)\ny = sum([u for u in p])",
    "p = [x]\np.append(x*2)\nfor i in range(2):\n    y = sum([u for u in p])*i",
    "p = [x]\nfor i in range(2):\n    y = sum([u for u in p])*i\np.append(y)\ny = p[1]",
    "K = []\nfor i in range(3):\n    r = []\n    for q in x:\n        r.append(x[i]*q)\n    K.append(r)\ny = K[1][2]",
    "hs = []\nfor i in range(2):\n    h = [x*1, x*2]\n    h[0] = h[0]*2\n    hs.append(h)\ny = hs[0][0]",
    "r = [[x*1, x*2] for _ in range(2)]\nr[0][0] = x*7\ny = r[1][0] + r[0][0]",
    PAIR + ROWS + "h = [x*7, x*8]\nh[0] = x*5\ny = K[0][0]",
    "L = [x*1, x*2]\nfor q in L:\n    q.mul_(2)\nM = L[:]\nL[0] = x*7\ny = M[0]",
    "L = M = [x, x*2]\nM[0] = x*3\ny = L[0]",
]


def theirs(text):
    names = {}
    exec(START + text, names)  # noqa: S102 - written above
    names["y"].sum().backward()
    return names["x"].grad.numpy()


@pytest.mark.parametrize("text", REFUSED)
def test_where_python_has_one_list_and_the_language_two_it_is_refused(text):
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(f"{START}{text}\ny.sum().backward()")
    assert caught.value.kind == "not-allowed"


@needs_torch
@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_is_valid_in_pytorch(text):
    assert np.isfinite(theirs(text)).all()


@needs_torch
@pytest.mark.parametrize("text", ANSWERED)
def test_lists_that_nobody_else_has_are_as_in_pytorch(text):
    found = gradcli.explain(f"{START}{text}\ny.sum().backward()")
    np.testing.assert_allclose(found.grad["x"], theirs(text), rtol=1e-12)


RAISING = [  # what PyTorch refuses, at the write or in backward
    "l = [torch.exp(x), x*2]\nl[0] += 1\ny = l[0]*l[1]",
    "l = []\nl.append(torch.exp(x))\nl[0] += 1\ny = l[0]*x",
    "A = torch.stack([x, x*2])\na, b = A\nA.mul_(2)\ny = a*x",
]


@needs_torch
@pytest.mark.parametrize("text", RAISING)
def test_where_pytorch_raises_a_note_says_so(text):
    with pytest.raises(RuntimeError):
        theirs(text)
    found = gradcli.explain(f"{START}{text}\ny.sum().backward()")
    assert "torch-refuses" in {note.kind for note in found.notes}


@needs_torch
def test_views_of_a_detached_tensor_are_written_to():
    text = "A = torch.stack([x, x*2]).detach()\na, b = A\nA.mul_(2)\ny = a*x"
    found = gradcli.explain(f"{START}{text}\ny.sum().backward()")
    np.testing.assert_allclose(found.grad["x"], theirs(text), rtol=1e-12)
    assert found.notes == []


@pytest.mark.parametrize("write", ["t[0] = x*3", "t.append(x)"])
def test_a_tuple_is_not_changed(write):
    with pytest.raises(GradcliError, match="'t' is a tuple"):
        gradcli.explain(f"{START}t = (x, x*2)\n{write}\ny = t[0]\ny.sum().backward()")


def test_a_list_that_holds_what_others_hold_is_looked_at_once():
    turns = "for i in range(40):\n    h[0] = h[1]*1\n    hs.append(h[0])"
    found = gradcli.explain(f"{START}{PAIR}hs = []\n{turns}\ny = hs[3] + hs[4]\ny.sum().backward()")
    assert found.grad["x"].tolist() == [4.0, 4.0, 4.0]
