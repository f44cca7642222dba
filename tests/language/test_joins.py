"""Lists that Python joins by + or repeats by *: refused where a run has lists there, and only there."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch

X = [1.0, 2.0, 3.0]
START = "import torch\nx = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)\n"
OF_X = "K = [[x[0], x[1]], [x[1], x[2]]]\n"
JOINED = [
    "def f(t):\n    l = [t[0], t[1]]\n    m = l + l\n    return m[1]*t\ny = f(x).sum()",
    "def f(t, n):\n    l = [t[0], t[1]]\n    return (l*n)[1]*t\ny = f(x, 2).sum()",
    "def f(t):\n    l = [1, 2]\n    l += [3, 4]\n    return l[1]*t\ny = f(x).sum()",
    "def f(t):\n    l = [t[0], t[1]]\n    l *= 2\n    return torch.stack(l).prod()\ny = f(x)",
    "def f(t):\n    l = [t[0], t[1]]\n    m = l[:] + l.copy()\n    return m[1]*t\ny = f(x).sum()",
    "def pair(t):\n    return [t[0], t[1]]\nl = pair(x)\nm = l + l\ny = (m[1]*x).sum()",
    "def pair(t):\n    return t[0], t[1]\ny = ((pair(x) + pair(x))[1]*x).sum()",
    "def f(a, b):\n    return a*b\ny = (f([x[0], x[1]], 2)[1]*x).sum()",
    OF_X + "m = K[0] + K[1]\ny = (m[1]*x).sum()",
    OF_X + "m = K[0][:]*2\ny = (m[1]*x).sum()",
    OF_X + "K[0] += [x[1], x[2]]\ny = (K[0][1]*x).sum()",
    OF_X + "y = 0\nfor l in K:\n    m = l + l\n    y = y + (m[1]*x).sum()",
    "K = [[1.0, 2.0], [3.0, 4.0]]\nm = K[0] + K[1]\ny = (m[1]*x).sum()",
    "c = True\nl = [x[0], x[1]]\nm = (l if c else [x[2], x[1]]) + l\ny = (m[1]*x).sum()",
    "p = x.detach().tolist()\nq = p + p\ny = (q[1]*x).sum()",
    "y = ((x.detach().tolist()*2)[1]*x).sum()",
    "k = [x.tolist(), x.tolist()]\ny = ((k[0] + k[1])[2]*x).sum()",
    "k = []\nk.append(x.tolist())\ny = ((k[0] + k[0])[2]*x).sum()",
    "for r in x.reshape(3, 1).tolist():\n    m = r + r\ny = (m[1]*x).sum()",
    "p = x.tolist() if x.sum() > 0 else [1.0]\ny = ((p + p)[2]*x).sum()",
    "def f(t):\n    s = t.size()\n    r = s + s\n    return t*r[1]\ny = f(x).sum()",
]
ADDED = [
    "def f(t):\n    l = [t[0], t[1]]\n    l = torch.stack(l)\n    m = l + l\n    return m[1]*t\ny = f(x).sum()",
    "def f(t):\n    l = torch.tensor([1.0, 2.0, 3.0])\n    return (l + l)*t\ny = f(x).sum()",
    "l = [x, x*2]\ny = 0\nfor t in l:\n    t = t + t\n    y = y + t.prod()",
    "l = [x, x*2]\ny = (l[0] + l[1]*2).prod()",
    "def f(t):\n    l = [t[0], t[1]]\n    return torch.stack(l)*2 + torch.stack(l)\ny = f(x).prod()",
    "K = [[x, x*2], [x*3, x]]\ny = 0\nfor a, b in K:\n    y = y + (a + b*2).prod()",
    "l = [x[0]*3, x[1]*5]\nl[0] *= 2\nl[1] += 1\ny = l[0]*l[1]",
    "n = x.shape[0]*2 + x.shape[0]\ny = (x*n).prod()",
]


@pytest.mark.parametrize("text", JOINED)
def test_lists_that_python_joins_are_refused(text):
    with pytest.raises(GradcliError, match="Python joins lists"):
        gradcli.explain(START + text + "\ny.backward()")


@needs_torch
@pytest.mark.parametrize("text", JOINED + ADDED)
def test_what_is_joined_or_added_is_valid_in_pytorch(text):
    names = {}
    exec(START + text, names)  # noqa: S102 - written above
    names["y"].backward()
    assert names["x"].grad.isfinite().all()


@needs_torch
@pytest.mark.parametrize("text", ADDED)
def test_tensors_beside_lists_are_added_and_scaled_as_in_pytorch(text):
    names = {}
    exec(START + text, names)  # noqa: S102 - written above
    names["y"].backward()
    found = gradcli.explain(START + text + "\ny.backward()")
    np.testing.assert_allclose(found.grad["x"], names["x"].grad.numpy(), rtol=1e-12)


def test_the_copy_of_a_module_is_no_copy_of_a_list():
    found = gradcli.explain("a = [[x, x], [x, x]]; b = jnp.copy(a + 1); b += 1; b.sum()", x=2.0)
    assert found.grad["x"] == 4


SUM = "((jnp.array([t[0]*2, t[1]]) + jnp.asarray((t[1], t[0])))**2).sum()"
ARRAYS = [
    ("z = x*2\nw = z + x\njax.grad(lambda t: (t**2*w).sum())(x)", [6, 24]),
    ("x = x*2\njax.grad(lambda t: (t**2).sum())(x)", [4, 8]),
    (f"jax.grad(lambda t: {SUM})(x)", [22, 14]),
]


@pytest.mark.parametrize(("text", "grad"), ARRAYS)
def test_arrays_of_jax_are_added(text, grad):
    [found] = gradcli.explain(f"import jax\nimport jax.numpy as jnp\nx = jnp.array([1., 2.])\n{text}").grad.values()
    assert found.tolist() == grad
