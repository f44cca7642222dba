"""Comprehensions, lists that grow, and loops over tuples in snippets: what PyTorch leaves, or a reason."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch
from snippet_rows import assert_as_pytorch

HEAD = (
    "import torch\n"
    "A = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7], [2.0, 0.0, 1.0]], requires_grad=True)\n"
    "z = torch.tensor([1., 2., 3.], requires_grad=True)\n"
)
END = "\n(out * torch.tensor([1.0, 3.0, -2.0])).sum().backward()"
ANSWERED = [
    "out = torch.stack([z[i]*2 for i in range(3)])",
    "out = sum([z[i]*A[i] for i in range(3)])",
    "out = sum(z[i]*A[i] for i in range(len(z)))",
    "out = sum(r*v for r, v in zip(A, z))",
    "out = sum(i*v for i, v in enumerate(A))",
    "out = torch.stack([A[i, j] for i, j in [(0, 1), (1, 2), (2, 2)]])",
    "out = torch.stack([v for v in z if v > 1.5]).sum()*z",
    "out = torch.stack([torch.stack([A[i, j]*z[j] for j in range(3)]).sum() for i in range(3)])",
    "out = torch.stack([A[i, j] for i in range(3) for j in range(3) if i < j])",
    "n = 2\nn = n + 1\nout = sum(z[i] for i in range(n))*z",
    "def f(v, n):\n    return sum(v[i]**2 for i in range(n))\nout = f(z, 3)*z",
    "h = z\nfor t in range(2):\n    h = torch.stack([h[(i + t) % 3]*(t + 1) for i in range(3)])\nout = h",
    "w = [0.1*k for k in range(3)]\nout = torch.tensor(w)*z",
    "k = [0.5, 1.0, 2.0]\nk = [2*c for c in k]\nout = sum(w*z**i for i, w in enumerate(k))",
    "idx = [i for i in range(3) if i != 1]\nout = z[idx].sum()*z",
    "i = [torch.tensor(k) for k in range(2)]\nout = A[i]*z",
    "out = z*any(v > 2 for v in z) + z*len([v for v in z if v > 1])",
    "out = sum([v for v in z], torch.zeros(3))",
    "x = 5\nout = sum(x*z for x in range(3))*x",
    "y = torch.zeros(3)\n[y.add_(z*i) for i in range(2)]\nout = y",
    "rows = [r*2 for r in A]\nt = rows[0]\nrows[0] = z\nout = t*rows[0]",
    "ys = list(z[i] for i in range(3))\nidx = list(range(2))\nout = torch.stack(ys)*z[idx].sum()",
    "s = 0.\nfor v in [z[i]**2 for i in range(3)]:\n    s = s + v\nout = s*z",
    "ys = []\nfor i in range(3):\n    ys.append(z[i]*2)\nout = torch.stack(ys)",
    "ys = []\nfor i in range(3):\n    ys.append(z*i)\nout = torch.cat(ys)[3:6] + sum(ys)*ys[-1]*len(ys)",
    "h = torch.zeros(3)\nhs = []\nfor t in range(3):\n    h = torch.tanh(A @ h + z)\n    hs.append(h)\nout = sum(hs)",
    "hs = []\nfor t in range(3):\n    h = torch.zeros(3)\n    h[t] = z[t]**2\n    hs.append(h)\nout = sum(hs)",
    "hs = [z]\nhs.append(z*2)\nout = hs[0]*hs[1]",
    "ys = []\ndef g(v):\n    ys.append(v*2)\ng(z)\ng(z*z)\nout = ys[0] + ys[1]",
    "def f(v):\n    ys = []\n    for c in v:\n        ys.append(c**2)\n    return torch.stack(ys)\nout = f(z)*f(A[0])",
    "ys = []\nfor i in range(3):\n    if z[i] > 1.5:\n        ys.append(z[i])\nout = torch.stack(ys).sum()*z",
    "ys = []\nfor i in 0, 1:\n    ys.append([z[i], z[i+1]])\nout = torch.stack([torch.stack(y) for y in ys]).sum()*z",
    "losses = []\nfor i in range(2):\n    losses.append((z**2).sum().item()*i)\nout = z*sum(losses)",
    "out = torch.tensor([])\nfor i in range(3):\n    out = torch.cat([out, A[i:i + 1]])\nout = out.sum(0)",
    "s = 0\nfor i, j in [(0, 1), (1, 2)]:\n    s = s + A[i, j]\nout = s*z",
    "s = 0\nedges = [(0, 1), (1, 2)]\nfor (i, j) in edges:\n    s = s + A[i, j]*z[i]\nout = s*z",
    "s = 0\nfor a, b, c in A:\n    s = s + a*b*c\nout = s*z",
    "s = 0\nfor u, v in [(z, z*2), (z*z, z + 1)]:\n    s = s + u*v\nout = s",
    "s = 0\nfor i, j in [(i, j) for i in range(3) for j in range(3)]:\n    s = s + A[i, j]*i\nout = s*z",
]  # fmt: skip
REFUSED = [
    ("def f(v):\n    n = len(v)\n    return sum(v[i]**2 for i in range(n))\nout = f(z)*z", "turns is not known"),
    ("def f(n):\n    if z[0] > 0:\n        n = 3\n    return sum(z[i] for i in range(n))\nout = f(2)*z", "'n'"),
    ("h = z\nfor t in 0, 1:\n    h = torch.cat([h, h])\n    h = torch.stack([v*2 for v in h])\nout = h.sum()*z", "'h'"),
    ("out = sum(z[i % 3] for i in range(1000))*z", "more than 64 turns"),
    ("rows = [r for r in A]\nout = sum(rows + [z])", "Python joins lists"),
    ("h = z*1\nhs = [h for i in range(2)]\nh += 1\nout = hs[0]*z", "that a list holds"),
    ("h = z*1\nhs = []\nfor t in range(3):\n    h += z*t\n    hs.append(h)\nout = sum(hs)", "that a list holds"),
    ("hs = []\nh = z*1\nhs.append(h)\nh += 1\nout = hs[0]*z", "that a list holds"),
    ("h = A*1\nhs = []\nfor r in h:\n    hs.append(r)\nh += 1\nout = hs[0]*z", "that a list holds"),
    ("def g(ys, v):\n    ys.append(v*2)\nys = []\ng(ys, z)\nout = ys[0]", "a list that the function is given"),
    ("ys = []\nwith torch.no_grad():\n    ys.append(z*2)\nout = ys[0]*z", "under no_grad"),
    ("s = 0\nfor a, b in A:\n    s = s + a*b\nout = s*z", "3 values for 2 variables"),
    ("d = {i: z*i for i in range(3)}\nout = d[2]", "a comprehension is not part of the language"),
]  # fmt: skip


@needs_torch
@pytest.mark.parametrize("text", ANSWERED)
def test_a_snippet_leaves_what_pytorch_leaves(text):
    assert_as_pytorch(HEAD + text + END)


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_is_not_known_before_it_runs_is_refused(text, words):
    with pytest.raises(GradcliError, match=words):
        gradcli.explain(HEAD + text + END)


def test_a_comprehension_needs_no_import():
    x = np.array([1.0, 2.0, 3.0])
    found = gradcli.explain("sum(x[i]**2*x for i in range(3))", x=x, v=np.ones(3))
    np.testing.assert_allclose(found.grad["x"], np.sum(x**2) + 2 * x * np.sum(x), rtol=1e-14)
