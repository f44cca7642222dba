"""Who shares memory with whom in snippets: integers and masks, lists, no_grad, NumPy's places for results."""

from __future__ import annotations

import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch
from snippet_rows import assert_as_pytorch

HEAD = "import torch\nimport numpy as np\nx = torch.tensor([1., 2.], requires_grad=True)\n"
END = "\n(x*k).sum().backward()"
ZEROS = "k = torch.zeros(2, 2).long()\n"
VIEWS = [  # of integers and masks: what is written through each of them reaches k
    f"{ZEROS}v = k.{view}\n{write}" for view, write in (
        ("view(-1)", "v[1] += 2"), ("flatten()", "v[0] = 3"), ("reshape(4)", "v[1] = 3"),
        ("unsqueeze(0)", "v[0, 1] = 3"),
        ("permute(1, 0)", "v[0, 1] = 3"), ("transpose(0, 1)", "v[0, 1] = 3"), ("narrow(0, 0, 1)", "v[0, 1] = 3"),
        ("select(0, 0)", "v[1] = 3"), ("squeeze()", "v[1] = 3"), ("expand(2, 2)", "v[1] = 3"), ("detach()", "v[0] = 5"),
        ("diagonal()", "v += 4"), ("t()", "v[1] = 6"), ("T", "v[0] = 1"), ("data", "v[0] = 7"), ("mT", "v[0] = 1"),
    )
] + [
    ZEROS + "k.diagonal().add_(2)", ZEROS + "k.view(-1)[torch.tensor([0, 3])] = 1", ZEROS + "k.T[0] = 1",
    ZEROS + "a, b = k.unbind()\na[1] = 3", ZEROS + "a, b = k.split(1)\na[0, 1] = 3", ZEROS + "k.data[0] = 1.5",
    ZEROS + "v = k.t().reshape(4)\nv[1] = 3", ZEROS + "v = k.clone().view(4)\nv[1] = 3",
    "k = torch.arange(4)\nfor row in k.view(2, 2):\n    row += 1\nk = k[:2]",
    "k = torch.tensor([True, True])\nm = k.view(-1)\nm[1] = False",
    "k = torch.arange(2)\nw = torch.as_tensor(k)\nw[0] = 4", "k = torch.arange(2)\nw = torch.flip(k, (0,))\nw[0] = 4",
    "k = torch.arange(2)\nw = torch.from_numpy(k.numpy())\nw[0] = 4",
    "a = torch.arange(4).numpy()\nw = a.reshape(2, 2)\nw[0] = 9\nk = torch.tensor(a[:2])",
]  # fmt: skip
ANSWERED = [
    *VIEWS,
    "k = torch.tensor([3., 4.])\nw = k**1\nk += 7\nk = w",
    "k = torch.tensor([3., 4.])\nw = k.pow(1)\nk += 7\nk = w",
    "k = torch.ones(2, 2)\nw = torch.diag(k)\nk += 7\nk = w",
    "k = torch.tensor([3., 4.])\nv = k.new_tensor(k)\nv += 3",
    "n = 3\nk = (x*2, x*3)[n > 2]",
    "n = 3\nk = [x*2, x*3][n > 5]",
    "k = [5, 7][x[0].item() > 0.5]",
    "rows = [x*2, x*3]\nk = rows[x[0] > 0.5]",
    "rows = [x*2, x*3]\nk = rows[True]",
    "def f(t):\n    return t\ny = x**2\nwith torch.no_grad():\n    k = f(y)",
    "y = x**2\nwith torch.no_grad():\n    k = y.view(-1)",
    "y = x**2\nwith torch.no_grad():\n    k = y*1",
    "y = x**2\nwith torch.no_grad():\n    k = +y",
    "k = torch.tensor([3., 4.])\nw = +k\nw *= 2",
]
FIXED = "y = x**2\nwith torch.no_grad():\n    k = "
REFUSED = [
    *((FIXED + value, "under no_grad") for value in ("y if True else x", "[y, x][0]", "y.contiguous()")),
    ("y = x*1\nhs = [y]\nh = hs[0]\nh += 3\nk = y", "in Python both are one tensor"),
    ("w = [[1, 2], [3, 4]]\nr = w[0]\nr[0] = 9\nk = torch.tensor(w[0])", "in Python both are one tensor"),
    ("c = np.array([3., 4.])\nnp.add(c, 2, c)\nk = torch.tensor(c)", r"np.add\(...\) changes is not known"),
    ("c = np.array([3., 4.])\nnp.exp(c, c)\nk = torch.tensor(c)", r"np.exp\(...\) changes is not known"),
    ("c = np.array([3., 4.])\nnp.clip(c, 2, 3, c)\nk = torch.tensor(c)", r"np.clip\(...\) changes is not known"),
    ("k = torch.tensor([1., 2.])\nx = torch.nn.Parameter(k)\nk += 1", "which an input was made of"),
    ("k = np.array([1., 2.])\nx = torch.from_numpy(k).requires_grad_()\nk += 1", "which an input was made of"),
]


@needs_torch
@pytest.mark.parametrize("text", ANSWERED)
def test_a_snippet_leaves_what_pytorch_leaves(text):
    assert_as_pytorch(HEAD + text + END)


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_python_shares_and_an_array_does_not_is_refused(text, words):
    with pytest.raises(GradcliError, match=words):
        gradcli.explain(HEAD + text + END)


def test_a_constant_that_is_written_to_without_a_value_is_refused():
    with pytest.raises(GradcliError):
        gradcli.explain(HEAD + "m, *r = x\nq = m * r[0]\ny = q * 2\npi = y[0]\npi[0] = 0\npi *= 3\ny.backward()")


@pytest.mark.parametrize(("text", "grad"), [
    ("a = x*2\na.requires_grad_(True)\na*x", 12.0), ("x.requires_grad_(True)\nx*x", 6.0),
])  # fmt: skip
def test_requires_grad_of_what_has_a_gradient_says_nothing(text, grad):
    assert gradcli.explain(text, x=3.0).grad["x"] == grad
