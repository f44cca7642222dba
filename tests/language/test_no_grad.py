"""Under no_grad a new value has no gradient, and what is there already keeps its own: as in PyTorch, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch

START = """
import torch
import torch.nn as nn
import torch.nn.functional as F
x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
s = x.sum()
l = [x, x*2]
r = [[x, x*2], [x, x]]
def flat(v):
    return v.flatten()
def both(v):
    return v, v*2
q = both(x)
p = l if s > 0 else r
def new(v):
    return v*3, v*2
with torch.no_grad():
""".lstrip()
NEW = [  # what makes h
    "h = x*2", "h = x.view(3)", "h = x[:]", "h = x.reshape(3)", "h = x.expand(3)", "h = x.squeeze()",
    "h = torch.clone(x)", "h = F.relu(x)", "h = torch.cat([x])", "h = x.pow(1)", "h = sum([x])",
    "h = nn.Tanh()(nn.Identity()(x))",
    "h = (x*2).contiguous()", "h = nn.Dropout(0.0)(F.relu(x*2))", "h, i = x.sort()", "h, i = torch.topk(x, 3)",
    "h, k = new(x)", "h, k, m = x.chunk(3)", "h = x.ravel()",
    "for i in range(2):\n        h = x*i", "for t in l:\n        h = t*2", "for i, t in enumerate(l):\n        h = t*i",
]  # fmt: skip
THERE = [
    "h = x", "h = l", "h = [x for _ in range(2)]", "h = [v for v in [x, x]]", "g, h = l",
    "for t in l:\n        h = t", "for t in [x, x]:\n        h = t", "for i, t in enumerate([x, x]):\n        h = t",
]  # fmt: skip
EITHER = [
    "h = x.flatten()", "h = torch.flatten(x)", "h = x.conj()", "h = x.real", "h = torch.positive(x)",
    "h = x.contiguous()", "h = nn.Identity()(x)", "h = nn.Sequential(nn.Identity())(x)", "h = nn.Flatten(0)(x)",
    "h = nn.Dropout().eval()(x)", "h = F.dropout(x, 0.5, training=False)", "h = torch.atleast_1d(x)",
    "h = torch.broadcast_tensors(x, x)[0]",
    "h = x.to(x.dtype)", "h = flat(x)", "h = l[1]", "h = r[0][1]", "h = l.copy()", "h = l[:]",
    "h = [l[0]]", "h = [x, x*2]",
    "h = max(s, x[0])", "h = x if x.sum() > 0 else x*2", "h, k = both(x)", "h, k, m = x",
    "h = q[0]", "h = p[0]", "h = [q[1]]", "for h in x:\n        pass",
    "for h in [x, x*2]:\n        pass", "for h in [x*3, x*2]:\n        pass", "h = nn.Parameter(x)",
]  # fmt: skip


def snippet(text):
    return f"{START}    {text}\ny = (h[-1]*x).sum()\ny.backward()"


@needs_torch
@pytest.mark.parametrize("text", NEW + THERE)
def test_what_has_a_gradient_is_as_in_pytorch(text):
    names = {}
    exec(snippet(text), names)  # noqa: S102 - written above
    found = gradcli.explain(snippet(text))
    np.testing.assert_allclose(found.grad["x"], names["x"].grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("text", EITHER)
def test_what_may_be_either_is_refused(text):
    with pytest.raises(GradcliError, match=r"keeps its gradient|where no gradient flows") as caught:
        gradcli.explain(snippet(text))
    assert caught.value.kind == "not-allowed"
