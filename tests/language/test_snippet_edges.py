"""Snippets at the edge of what is read: each leaves what PyTorch leaves when it runs, or is refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch
from snippet_rows import theirs

LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"
ANSWERED = [
    "import torch\nx = torch.ones(2)\ny = x*2\ny.requires_grad_()\n(y*y).sum().backward()",
    "import torch\nx = torch.ones(2)\ny = x*2\ny.requires_grad = True\n(y*y).sum().backward()",
    LEAF + "y = x.detach()*2\ny.requires_grad_()\n(y*y*x).sum().backward()",
    LEAF + "z = x*2\ny = z.requires_grad_()\n(y*y).sum().backward()",
    LEAF + "y = x.detach()*2\ny.requires_grad = False\n(y*x).sum().backward()",
    LEAF + "for row, w in zip(x, [2., 3.]):\n    print(row*w)\n(x*x).sum().backward()",
    LEAF + "y = 0.\nfor k, w in enumerate([2., 3.]):\n    y = y + x[k]*w\ny.backward()",
    LEAF + "def f(a):\n    b = a*2\n    return (b*b).sum()\nf(x).backward()",
    LEAF + "def show(a):\n    print(a)\n    return\nshow(x)\n(x**2).sum().backward()",
    LEAF + "def report(y):\n    z = y*2\n    print(z)\ny = x**2\nreport(y)\ny.sum().backward()",
    LEAF + "def step(y):\n    y.sum().backward()\nstep(x**3)",
    LEAF
    + "a, b = torch.tensor(2., requires_grad=True), torch.tensor(3., requires_grad=True)\n(a*b*x).sum().backward()",
    LEAF + "x.requires_grad = False\nw = torch.tensor(2., requires_grad=True)\n(w*x).sum().backward()",
    LEAF + "torch.set_grad_enabled(True)\n(x*x).sum().backward()",
    LEAF + "with torch.set_grad_enabled(False):\n    c = x*2\n(c*x).sum().backward()",
    LEAF + "ok = True and x.sum() > 1\ny = x*3 if ok else x\ny.sum().backward()",
    LEAF + "y = x*2\ny.requires_grad_()\n(y*y).sum().backward()",
    LEAF
    + "y = torch.zeros(2, dtype=torch.float64)\nif x.sum() > 0:\n    y = x*2\nelse:\n    y = x\ny.sum().backward()",
    LEAF + "def make():\n    return torch.tensor([3.], requires_grad=True)\nw = make()\n(w*x).sum().backward()",
    LEAF + "for k in range(2):\n    if k == 1:\n        (x*k).sum().backward()",
    LEAF + "y = torch.ones(2, device='cpu')*x\ny.sum().backward()",
    LEAF + "y = x.sum(dtype=torch.float64)\ny.backward()",
    LEAF + "def f(a, s=(1., 2.)):\n    return (a*torch.tensor(s)).sum()\nf(x).backward()",
    LEAF + "def f(a, s=-1.):\n    return (a*s).sum()\nf(x).backward()",
    LEAF + "def fill(y):\n    y[0] = 0.\n    return y\ny = x*2\nfill(y)\ny.sum().backward()",
    LEAF + "def fill(y):\n    y[0] = 0.\n    return y\ny = x*2\nfill(y)\nfill(y*3)\nprint(y)\ny.sum().backward()",
    LEAF
    + "def fill(y):\n    y[0] = 0.\n    return y\ndef twice(y):\n    return fill(y)\n"
    + "y = x*2\ntwice(y)\ny.sum().backward()",
    LEAF + "def grow(y):\n    y += 3*x\n    return y\ny = x*2\ngrow(y)\ny.sum().backward()",
    LEAF + "def local(y):\n    y = y*1\n    y[0] = 3.\n    return y\ny = x*2\nlocal(y)\ny.sum().backward()",
    LEAF + "y = x*2\n(lambda a: a.mul_(3))(y)\ny.sum().backward()",
    LEAF + "f = lambda a: a.mul_(3)\ny = x*2\nf(y)\ny.sum().backward()",
    LEAF + "def fill(y):\n    y[0] = 0.\ny = x*2\nif x.sum() > 0:\n    fill(y)\ny.sum().backward()",
    LEAF + "def fill():\n    y[0] = 5.\n    return 1\ny = x*2\nfill()\ny.sum().backward()",
    LEAF + "y = x*2 - 3\nr = torch.nn.ReLU(True)\nz = r(y)\n(z + y).sum().backward()",
    LEAF + "y = x*2 - 3\nr = torch.nn.ReLU(inplace=False)\nr(y)\ny.sum().backward()",
    LEAF
    + "y = x*2 - 3\nr = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Tanh())\n(r(y) + y).sum().backward()",
    LEAF
    + "def f(a):\n    if a.sum() > 5:\n        b = a*2\n    elif a.sum() > 2:\n        b = a*3\n"
    + "    else:\n        b = a\n    return (b*b).sum()\nf(x).backward()",
    LEAF + "if x.sum() > 0:\n    print(x)\n(x*x).sum().backward()",
    LEAF + "dtype = torch.float64\nw = torch.ones(2, dtype=dtype).to(dtype)\n(w*x).sum().backward()",
    LEAF + "kind = torch.long\ni = torch.tensor([1, 0], dtype=kind)\n(x[i]*x[0]).sum().backward()",
    LEAF + "t = torch.float64\nw = torch.ones(2, dtype=t)\nt = x*2\n(t*w*x).sum().backward()",
    LEAF + "t = torch.float\nw = torch.ones(2, dtype=t)\na, t = x*2, x*3\n(t*w*a).sum().backward()",
    LEAF
    + "t = torch.float64\nw = torch.ones(2, dtype=t)\ns = 0\nfor t in [x, x*2]:\n    s = s + t*w\ns.sum().backward()",
    LEAF
    + "t = torch.double\nw = torch.ones(2, dtype=t)\nt = torch.tensor([3., 4.], requires_grad=True)\n"
    + "(t*w*x).sum().backward()",
    LEAF
    + "t = torch.float64\ndef f(a):\n    t = a*2\n    return t\ny = f(x)*torch.ones(2, dtype=t)\n"
    + "(y*x).sum().backward()",
    LEAF
    + "d = torch.tensor([2., 3.])\ndef f(a):\n    d = torch.float64\n    return a.to(d)\n(f(x)*d*x).sum().backward()",
    LEAF
    + "def f(a):\n    dtype = torch.float64\n    return a*torch.ones(2, dtype=dtype)\ndtype = 3.0\n"
    + "(f(x)*dtype*x).sum().backward()",
    LEAF + "if x.sum() > 100:\n    t = torch.float32\nelse:\n    t = torch.float64\n(x.to(t)*x).sum().backward()",
    "import torch\ndtype = torch.float64\nx = torch.tensor([1., 2.], dtype=dtype, requires_grad=True)\n"
    + "(x*x).sum().backward()",
    LEAF + "kind = torch.bool\nm = torch.tensor([1, 0], dtype=kind)\n(x*m*x[0]).sum().backward()",
    LEAF + "kind = torch.FloatTensor\n(x.type(kind)*x.type(torch.DoubleTensor)).sum().backward()",
    LEAF + "from torch import float as single\n(x.to(single)*x).sum().backward()",
    LEAF + "(x*x).sum().backward()\nh = x.register_hook(lambda g: g*2)",
    LEAF + "with torch.enable_grad():\n    y = x*x\n    y.sum().backward()",
    LEAF + "def f(a):\n    return (a*a).sum()\ntorch.compile(f)(x).backward()",
    LEAF + "for step in range(1):\n    x.grad = None\n    y = (x*x).sum()\n    y.backward()",
    LEAF + "x\n(x*x).sum().backward()",
    LEAF
    + "def f(a):\n    total = 0.\n    out = torch.zeros(2)\n"
    + "    for i in range(2):\n        total += a[i]**2\n        out[i] = total\n"
    + "    return total\nprint(f(x))\nassert f(x) > 0\nf(x).backward()",
]
DEEP = (
    LEAF
    + "def f0(a): return a*a\n"
    + "".join(f"def f{k}(a): return f{k - 1}(a)\n" for k in range(1, 80))
    + "f79(x).sum()"
)
PAIRS = "X, Y = torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 2.])\n"
ANSWERED += [
    LEAF + "k = 2.\ns = 0\nfor i, a in enumerate(x):\n    s = s + a*k\ns.backward()",
    LEAF + PAIRS + "k, loss = 2, 0\nfor a, b in zip(X, Y):\n    loss = loss + (a@x - b)**k\nloss.backward()",
    LEAF + "rows = torch.tensor([5., 6.])\ns = 0\nfor a, b in zip(x*2, rows):\n    s = s + a*b\ns.backward()",
    "import torch\nx = torch.tensor([7, 2]).float().div(2).requires_grad_()\n(x*x*(x + 1)).sum().backward()",
    "import math\n" + LEAF + "(x*math.exp(x[0])).sum().backward()",
    "from math import sqrt\n" + LEAF + "n = 4\n(x*sqrt(n)*sqrt(x[1])).sum().backward()",
    LEAF + "with torch.no_grad():\n    y = x\n(y*x).sum().backward()",
    LEAF + "with torch.autograd.grad_mode.no_grad():\n    y = x*2\n(y*x).sum().backward()",
    LEAF + "y = x*1\ny.mul_(2), y.add_(1)\n(y*y).sum().backward()",
    LEAF + "y = x*1\ny.mul_(2) if x[0] > 0 else y.mul_(3)\n(y*y).sum().backward()",
    LEAF
    + "def f(a):\n    act = torch.nn.ReLU()\n    return act(a).sum()\nfor i in range(1):\n    y = f(x)\ny.backward()",
    LEAF + "c = (x[0] > 0 and x[1] > 0) or x[0] > 9\ny = x*3 if c else x\ny.sum().backward()",
    LEAF + "y = x*2\nw = [3., 4.]\n(y*torch.tensor(w)).sum().backward()",
]
REFUSED = [
    (
        LEAF + "if x.sum() > 0:\n    act = torch.nn.ReLU()\nelse:\n    act = torch.nn.Tanh()\nact(x).sum().backward()",
        "gets",
    ),
    (
        LEAF + "s, f = 0, 1\nf = lambda a: a*2\nfor i in range(2):\n    s = s + f(x)\n"
        "    f = lambda a: a*3\ns.sum().backward()",
        "gets",
    ),
    (
        LEAF + "if x[0] > 0:\n    from torch import sin as act\nelse:\n    from torch import cos as act\n"
        "act(x).sum().backward()",
        "act",
    ),
    (LEAF + "w = torch.tensor([0.5]*2)\n(x*w).sum().backward()", "repeats them by *"),
    ("import torch\nx = torch.tensor([1.]*3, requires_grad=True)\n(x*x).sum().backward()", "repeats them by *"),
    (LEAF + "y = torch.cat([x] + [x*2])\n(y*y).sum().backward()", "joins lists by +"),
    (LEAF + "l = [x]\nl += [x*x]\nl[-1].sum().backward()", "joins lists by +"),
    (LEAF + "a, b = [1., 2.], [3.]\nw = a + b\n(x*w[2]).sum().backward()", "joins lists by +"),
    (
        LEAF + "y, z = x*2, x*3\nfor t in [y, z]:\n    t.mul_(2)\n(x*y*z).sum().backward()",
        "in Python both are one tensor",
    ),
    (LEAF + "k = 2.\ndef f(a, m=k):\n    return (a*m).sum()\nk = 5.\nf(x).backward()", "is a default of f"),
    (LEAF + "y = x*(2 and 3)\ny.sum().backward()", "'and' and 'or'"),
    (LEAF + "def f(p):\n    with torch.no_grad():\n        p.mul_(3)\nf(x)\n(x*x).sum().backward()", "under no_grad"),
    (LEAF + "def f(p):\n    torch.nn.init.constant_(p, 3.)\nf(x)\n(x*x).sum().backward()", "constant_"),
    (LEAF + "y = x*1\n_ = torch.nn.init.ones_(y)\n(y*x).sum().backward()", "ones_"),
    (LEAF + "y = -x*2\nz = torch.relu_(y)\n(y*x).sum().backward()", "relu_"),
    (LEAF + "y = -x*2\nz = torch.nn.functional.relu(y, True)\n(y*x).sum().backward()", "too many arguments"),
    (LEAF + "y = x*1\nf = y.mul_\nz = f(3)\n(y*x).sum().backward()", "mul_"),
    (
        LEAF + "with torch.no_grad():\n    with torch.enable_grad():\n        y = x*2\n(y*x).sum().backward()",
        "is switched",
    ),
    (LEAF + "flag = False\nw = torch.tensor(2., requires_grad=flag)\n(w*x).sum().backward()", "nothing computed"),
    (
        "import torch\nlin = torch.nn.Linear(2, 1)\ntorch.nn.init.ones_(lin.weight)\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "lin(x).sum().backward()",
        "ones_",
    ),
    (LEAF + "y = x**2\ntorch.autograd.grad(y.sum(), x*1)", "by variables"),
    (LEAF + "torch.autograd.grad()", "needs outputs"),
    (LEAF + "def f(a):\n    return\ny = f(x)\ny.backward()", "without a value"),
    (LEAF + "for k in range(3):\n    x.grad = None\nelse:\n    pass\n(x*x).sum().backward()", "'else' of a loop"),
    (LEAF + "for k, j, m in zip([1], [2]):\n    y = x*k\ny.sum().backward()", "zip gives 2 values"),
    (LEAF + "for k, j in sorted([1]):\n    y = x*k\ny.sum().backward()", "unknown function 'sorted'"),
    (LEAF + "with torch.set_grad_enabled(x.sum() > 0):\n    y = x*2\n(x*x).sum().backward()", "True or False"),
    (
        LEAF + "with torch.no_grad():\n    w = torch.tensor(2., requires_grad=True)\n(w*x).sum().backward()",
        "no gradient flows",
    ),
    (LEAF + "y = x**2\ny.backward(v)", "no value for 'v'"),
    (LEAF + "y = x*2\ny.requires_grad = True\n(y*y).sum().backward()", "requires_grad of inputs alone"),
    (LEAF + "y = x*2\ny.requires_grad = False\n(y*x).sum().backward()", "requires_grad of inputs alone"),
    (LEAF + "y = x*2\ny.requires_grad_(False)\n(y*x).sum().backward()", "requires_grad of inputs alone"),
    (DEEP, "functions call one another"),
    (
        LEAF + "def fill(y):\n    if y.sum() > 9:\n        return\n    y[0] = 0.\ny = x*2\nfill(y)\ny.sum().backward()",
        "without a value",
    ),
    (LEAF + "y = x*2\nprint(y.mul_(3))\ny.sum().backward()", "may write to"),
    (LEAF + "y = x*2\nassert y.mul_(3).sum() > 0\ny.sum().backward()", "may write to"),
    (LEAF + "def f(y):\n    y[0] = 0.\n    return y\ny = x*2\nprint(f(y))\ny.sum().backward()", "may write to"),
    (LEAF + "def show(y):\n    print(y.mul_(3))\ny = x*2\nshow(y)\ny.sum().backward()", "may write to"),
    (LEAF + "def f():\n    global y\n    y = y*2\ny = x*2\nf()\ny.sum().backward()", "'global'"),
    (LEAF + "y = x*2 - 3\ntorch.nn.functional.relu(y, inplace=True)\ny.sum().backward()", "leave inplace=... out"),
    (LEAF + "y = x*2 - 3\nr = torch.nn.LeakyReLU(0.1, True)\nr(y)\ny.sum().backward()", "changes is not known"),
    (
        LEAF + "y = x*2\nr = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.ReLU(True))\nr(y)\ny.sum().backward()",
        "changes is not known",
    ),
    (LEAF + "y = sum(map(lambda a: a*2, x))\ny.backward()", "a lambda can be called"),
    (LEAF + "w = torch.empty(3, requires_grad=True)\n(w.sum()*x).sum().backward()", "no set values"),
]


@needs_torch
@pytest.mark.parametrize("text", ANSWERED, ids=lambda text: text.removeprefix(LEAF)[:60])
def test_a_snippet_leaves_what_pytorch_leaves(text):
    left, found = theirs(text), gradcli.explain(text)
    assert left
    assert {name for name, grad in found.grad.items() if np.any(grad)} <= left.keys()
    for name, grad in left.items():
        np.testing.assert_allclose(found.grad[name], grad, rtol=1e-12)


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=lambda text: text.removeprefix(LEAF)[:60])
def test_a_snippet_is_refused_with_a_reason(text, words):
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(text)
    assert words in f"{caught.value.message} {caught.value.hint or ''}"
