"""Snippets in which a list, a generator or the numbers of a tensor have a second name: as in PyTorch, or refused."""

from __future__ import annotations

import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch
from snippet_rows import assert_as_pytorch

HEAD = """import torch
import numpy as np
x = torch.tensor([1., 2., 3.], requires_grad=True)
w = torch.tensor([[1., 2., 3.], [4., 5., 6.], [7., 8., 9.]], requires_grad=True)
"""
END = "\n(y*1).sum().backward()"
THREE = "L = [x[0], x[1], x[2]]\n"
LOOPS = [  # each turn has the entry that the list holds then, whatever the list gets afterwards
    THREE + "y = 0\nfor i, t in enumerate(L):\n    L[i] = t*2\n    y = y + t",
    THREE + "y = 0\nfor i, t in enumerate(L):\n    L[i] = t*2\ny = t",
    THREE + "s = 0\nfor t in L:\n    L[0] = L[0]*2\n    L[2] = t**2\n    s = s + t\ny = s + L[0]",
    THREE + "y = 0\nfor a, b in zip(L, L[::-1]):\n    L[0] = a*b\n    y = y + a*b",
    THREE + "y = 0\nfor t in L[1:]:\n    L[1] = t*3\n    L[2] = t*5\n    y = y + t",
    THREE + "for i in range(1, 3):\n    t = x[i]\n    L[i] = L[i-1]*t\ny = L[2]",
    "hs = [x*1, x*2]\ny = 0\nfor i, h in enumerate(hs):\n    hs[i] = torch.tanh(h)\n    y = y + h*hs[i]",
    "hs = [x*1, x*2]\nfor h in hs:\n    hs[1] = h*3\ny = sum(hs)",
]
ANSWERED = [
    *LOOPS,
    # a list, a mask or a tensor as an index makes a copy: a method that writes to it changes nothing else
    "y = x*1\ny[[0, 1]].mul_(5)",
    "y = x*1\ny[y > 2].mul_(5)",
    "y = x*1\ny[torch.tensor([0, 1])].add_(1)",
    "y = x*1\ny[[0, 1]].mul_(2).add_(1)",
    "y = x*1\ny[1:].mul_(5)\ny[-1].add_(2)",
    "y = x*1\nfor i in range(2):\n    y[i].mul_(2)",
    # a list that grows, and not while a loop runs over it
    "ys = [x[0]]\nfor v in ys[:]:\n    ys.append(v*1.5)\ny = sum(ys)",
    "ys = [x[0]]\nfor i in range(3):\n    ys.append(ys[-1]*1.5)\ny = sum(ys)",
    # a cast that is written to, where nothing else of it is read
    "h = x*2\ny = h.double()\ny[0] = 3.",
    "y = (x*2).float()\ny *= 3",
    "y = sum(i*a for i, a in enumerate(x, start=1))",
    "y = sum([i*a for i, a in enumerate(x, 2)])",
    "g = (h*2 for h in x)\ny = sum(g)",
    "z = x.expand(3, 3).clone()\nz.view(-1)[0] = 5.\ny = z*z",
    "z = x[None].expand(2, 3).clone()\nz.flatten()[1] = 5.\ny = z*z",
    "z = w[:, ::2].clone()\nz.view(-1)[1] = 5.\ny = z*z",
    "z = w.T[:2].clone().T\nz.view(-1)[1] = 5.\ny = z*z",
    "z = x.expand(2, 3).T.clone()\nz.view(-1)[1] = 5.\ny = z*z",
    "z = w[:, :1].expand(3, 4).T[None].clone()\nz.view(-1)[1] = 5.\ny = z*z",
    "z = x.expand(3, 3).clone()\nu = z.T.flatten()[1]\nz /= 2\ny = u + z",
    "k = torch.tensor([1., 2., 3.])\nb = k.to(torch.float64, copy=True)\nb[0] = 9.\ny = k*x",
    "k = torch.tensor([1, 2, 3])\nb = k.to(torch.int64, copy=True)\nb[0] = 9\ny = k*x",
    "a = np.array([[1., 2.], [3., 4.]])\nb = a.flatten()\nb[0] = 9.\ny = torch.from_numpy(a)[0, 0]*x",
    "a = np.array([1., 2., 3.])\nb = a.astype(np.float64)\nb[0] = 9.\ny = torch.from_numpy(a)*x",
    "c = torch.ones(3)\nc.data.mul_(2)\ny = c*x",
    "c = torch.ones(3)\nc.data.mul_(2)\nprint(c)\nc.data[0] = 5.\ny = c*x",
    "n = 0.5\nL = [n, n]\nn = 2.\ny = sum(L)*x",
    "def layer(t):\n    return torch.tanh(t*2)\nhs = []\nh = x*1\nfor i in range(2):\n    out = layer(h)\n"
    "    hs.append(out)\n    h += out\ny = hs[0] + h",
    "a = x*1\nL = [x*2, x*3]\nL[0] = a.clone()\na *= 2\ny = L[0] + a",
    "a = x*1\ndef f(u):\n    w = u*2\n    return w\nL = [f(a)]\na *= 2\ny = L[0] + a",
]


@needs_torch
@pytest.mark.parametrize("text", ANSWERED)
def test_a_snippet_has_the_gradients_of_pytorch(text):
    assert_as_pytorch(HEAD + text + END)


JOINED, ENTRY = "Python joins lists", "in Python both are one tensor"
GROWS, CHANGED, PAST = "is one list with another name", "is changed in it", "written to past its gradient"
LENGTH = "a list changes its length while a loop runs over it"
DTYPES = "depends on the dtypes: a cast may be a copy"
ONE = "in Python both are one tensor"
GROWN = "def f(q):\n    q.append(x[0])\n    return q\nL = [x[1]]\n"
REFUSED = [
    ("ys = [x[0]]\nfor v in ys:\n    if len(ys) < 4: ys.append(v*1.5)\ny = sum(ys)", LENGTH),
    ("ys = [x[0]]\nfor i, v in enumerate(ys):\n    if len(ys) < 4: ys.append(v*1.5)\ny = sum(ys)", LENGTH),
    ("ys = [x[0]]\nzs = [x[1]]\nfor u, v in zip(zs, ys):\n    if len(ys) < 4: ys.append(u*v)\ny = sum(ys)", LENGTH),
    ("y = x*2\na = y.double()\na[0] = 3.", DTYPES),
    ("y = x*2\na = y.to(torch.float64)\na[0] = 3.", DTYPES),
    ("y = x*2\na = y.float()\ny[0] = 3.\ny = a", DTYPES),
    ("y = x*2\ny.double().mul_(5)", DTYPES),
    ("t = torch.tensor([1, 2, 3])\nu = t.int()\nu[0] = 0\ny = x*t", DTYPES),
    ("a = np.ones(3)\nb = a.astype(np.float32, copy=False)\nb[0] = 5\ny = x*torch.tensor(a)", DTYPES),
    (THREE + "y = sum([t*t for t in L[:2] + L[1:]])", JOINED),
    (THREE + "y = sum([t*t for t in L[1:] + [x[0]]])", JOINED),
    (THREE + "R = L[::-1]\ny = 0\nfor t in R + L:\n    y = y*2 + t", JOINED),
    (THREE + "Z = L[:]\nV = Z + [x[2]]\ny = sum(V)", JOINED),
    (THREE + "y = sum(L.copy()*2)", JOINED),
    (THREE + "Z = L.copy()\ny = sum(Z*2)", JOINED),
    ("L = list(a*2 for a in x)\nL += [x[0]]\ny = sum(L)", JOINED),
    ("y = x*len(w.shape + x.shape)", JOINED),
    ("y = x*(x.shape*2)[0]", JOINED),
    (THREE + "Z = L\nZ.append(x[2])\ny = sum(L)", GROWS),
    (THREE + "Z = L\nL.append(x[2])\ny = sum(Z)", GROWS),
    (GROWN + "f(L)\ny = sum(L)", CHANGED),
    (GROWN + "u = f(L)\ny = sum(L)", CHANGED),
    ("def f(q):\n    q += [q[0]]\nL = [x[1]]\nu = f(L)\ny = sum(L)", "returns no value"),
    ("z = x*1\nxs = [z for _ in range(2)]\nxs[0] *= 2\ny = xs[0] + xs[1]", ENTRY),
    ("z = w*1\na = [z[i] for i in range(2)]\na[0] *= 2\ny = z", ENTRY),
    ("t = torch.zeros(3)\nhs = [t for _ in range(3)]\nhs[0][0] = x[0]\ny = torch.stack(hs)", ENTRY),
    (THREE + "L[1:] = [x[0]]\ny = sum(L)", "a slice of a list is assigned"),
    ("k = 2\ng = (h*k for h in x)\nk = 3\ny = sum(g)", "'k' changes before it runs"),
    ("hs = [x[0], x[1]]\ng = (h for h in hs)\nhs[1] = x[2]\ny = sum(g)", "'hs' changes before it runs"),
    ("g = (h*2 for h in x)\ny = sum(g) + sum(g)", "is read again"),
    ("c = torch.tensor([1., 2., 3.])\ny = c*x\nc.data.mul_(3)", PAST),
    ("c = torch.tensor([1., 2., 3.]); y = c*x; c.data.mul_(3)", PAST),
    ("c = torch.tensor([0, 1])\ny = x[c]\nc.data[0] = 2", PAST),
    ("c = torch.tensor([1., 2., 3.])\ny = c*x\nc.numpy()[0] = 9.", PAST),
    ("a = np.array([1., 2., 3.])\nc = torch.from_numpy(a)\ny = c*x\na *= 3", PAST),
    ("k = torch.ones(3)\np = k.detach().requires_grad_()\nk.mul_(2)\ny = p*k", "which an input was made of"),
    ("k = torch.ones(3)\np = torch.nn.Parameter(k.data)\nk.mul_(2)\ny = p*p", "which an input was made of"),
    ("k = torch.ones(3); p = k.view(3).requires_grad_(); k.mul_(2); y = p*k", "which an input was made of"),
    ("a = x*1\nb = a.view(3)\nL = [a]\nb[0] = 5.\ny = L[0]", ONE),
    ("a = x*1\nL = [a]\nb = a\nb[0] = 5.\ny = L[0]", ONE),
    ("a = x*1\nb = a[:]\nL = []\nL.append(a)\nb.mul_(3)\ny = L[0]", ONE),
    ("a = x*1\nm = torch.reshape(a, (3, 1))\nL = [a[0], a[1]]\nm.T[0] += 1\ny = L[0]*m.sum()", ONE),
    ("a = x*1\ndef f(t):\n    return t.view(-1)\nL = [a]\nb = f(a)\nb[0] = 5.\ny = L[0]", ONE),
    ("a = x*1\nL = [a, x*1]\nq = L[0][:1]\nq += 1\ny = a", "in Python both are one tensor"),
    ("a = x*1\nL = [a, x*1]\nc = L[0]\nd = c\nd += 1\ny = a", "in Python both are one tensor"),
    ("a = x*1\nL = [a, x*1]\nc, d = L[0], L[1]\nc += d\ny = a", "in Python both are one tensor"),
    ("a = x*1\nL = [a]\nfor q in L:\n    w = q.view(-1)\n    w += 1\ny = a", "in Python both are one tensor"),
    ("b = a = x*1\nL = [a]\nb.add_(x)\ny = L[0]", "in Python both are one tensor"),
    ("a = x*1\nL = [+a]\na.add_(1)\ny = L[0]", "a tensor that a list holds"),
    ("a = x*1\nL = [torch.reshape(a, (3,)), x*3]\na *= 2\ny = L[0]", "a tensor that a list holds"),
    ("a = x*1\nL = [a if 1 > 0 else x, x*3]\na *= 2\ny = L[0]", "a tensor that a list holds"),
    ("a = x*1\nL = [x*2, x*3]\nL[0] = torch.reshape(a, (3,))\na *= 2\ny = L[0]", "a tensor that a list holds"),
    ("a = x*1\nb = F.dropout(a, 0.5, False)\nL = [b, x*3]\na *= 2\ny = L[0]", "in Python both are one tensor"),
    ("a = x*1\ndef add(u):\n    return u\nb = add(a)\nL = [b, x*3]\na *= 2\ny = L[0]", "in Python both are one tensor"),
    (
        "a = x*1\ndef g(u):\n    return u.view(3)\ndef f(u):\n    return g(u)\nb = f(a)\nL = [b]\na *= 2\ny = L[0]",
        "in Python both are one tensor",
    ),
    ("a = x*1\ndef f():\n    return a\nb = f()\nL = [b]\na *= 2\ny = L[0]", "in Python both are one tensor"),
    ("a = x*1\nb: torch.Tensor = a\nL = [b]\na *= 2\ny = L[0]", "in Python both are one tensor"),
    ("a = x*1\nL = [x*2]\nL[0] = a\nfor q in torch.chunk(a, 2): q += 1\ny = L[0]", ONE),
    ("a = x*1\nb = a.data\ny = a*b\na.mul_(3)", "PyTorch goes back with the new ones"),
    ("a = x*1\ny = a*a.data\na[0] = 3.", "PyTorch goes back with the new ones"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_another_name_would_not_see_is_refused(text, words):
    with pytest.raises(GradcliError, match=words):
        gradcli.explain(HEAD + text + END)
