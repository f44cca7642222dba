"""Lists of Python, arrays of NumPy, Python's own functions and layers that give back what they take, in snippets."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch
from snippet_rows import assert_as_pytorch

LIBRARIES = (
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"
    "x = torch.tensor([1., 2.], requires_grad=True)\n"
)
THREE = LIBRARIES + (
    "A = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7], [2.0, 0.0, 1.0]], requires_grad=True)\n"
    "z = torch.tensor([1., 2., 3.], requires_grad=True)\n"
)
WEIGHED = "\n(out * torch.tensor([1.0, 3.0, -2.0])).sum().backward()"
SCALED = "\n(out*1.5).sum().backward()"
ANSWERED = [
    THREE + "idx = (torch.tensor([0, 2]), torch.tensor([1, 1]))\nout = A[idx]**2" + SCALED,
    THREE + "i, j = torch.triu_indices(3, 3, offset=1)\nidx = (j, i)\nout = A[idx]**2" + SCALED,
    THREE + "idx = (torch.arange(3), A.argmax(dim=1))\nout = A[idx]**2" + SCALED,
    THREE + "idx = (torch.tensor(1), torch.tensor(2))\nout = A[idx]**2" + SCALED,
    THREE + "idx = (torch.tensor([0, 2]), torch.tensor([1, 1]))\nC = A*z\nC[idx] = 0\nout = C**2" + SCALED,
    THREE
    + "t = torch.tensor([1, 2, 0])\nlogp = F.log_softmax(A, dim=1)\nidx = (torch.arange(3), t)\nout = -logp[idx]*z"
    + WEIGHED,
    THREE
    + "def pick(M, idx):\n    return M[idx]\nout = pick(A, (torch.tensor([0, 2]), torch.tensor([1, 0]))).sum()*z"
    + WEIGHED,
    THREE + "def ind():\n    return torch.tensor([0, 2]), torch.tensor([1, 0])\nout = A[ind()].sum()*z" + WEIGHED,
    THREE + "s = 0\nfor idx in [(0, 1), (1, 2), (2, 2)]:\n    s = s + A[idx]**2\nout = s*z" + WEIGHED,
    THREE + "pairs = [(0, 1), (1, 2)]\nout = A[pairs[0]]*A[pairs[1]]*z" + WEIGHED,
    THREE + "idx = (z > 1.5, 0)\nout = A[idx]**2" + SCALED,
    THREE + "idx = (..., 0)\nout = A[idx]**2*z" + WEIGHED,
    THREE + "idx = [torch.tensor([0, 2]), torch.tensor([1, 0])]\nout = A[idx]**2" + SCALED,
    THREE + "idx = [torch.tensor(0), torch.tensor(2)]\nout = A[idx]**2" + SCALED,
    THREE + "out = A[[torch.tensor([0, 2]), torch.tensor([1, 0])]]**2" + SCALED,
    THREE + "m = z > 1.5\nout = A[[m, m]]**2" + SCALED,
    THREE + "idx = [A.argmax(dim=1)[0], 1]\nout = A[idx]**2*z" + WEIGHED,
    THREE + "idx = [A.argmax(dim=1)[0].item(), 1]\nout = A[idx].sum()*z" + WEIGHED,
    THREE + "idx = [torch.tensor([0, 2]), torch.tensor([1, 1])]\nC = A*z\nC[idx] += 1.\nout = C**2" + SCALED,
    THREE + "idx = [torch.tensor([0, 2]), torch.tensor([1, 1])]\nj = torch.stack(idx)\nout = A[j]**2" + SCALED,
    THREE + "idx = [torch.tensor([0, 2]), torch.tensor([1, 1])]\nout = A[idx[1]]**2" + SCALED,
    THREE + "def pick(M, i):\n    return M[i]\nout = pick(A, [torch.arange(3), z.argsort()])*z" + WEIGHED,
    THREE + "a = np.array([1.0, 2.0, 4.0])\nout = z*torch.tensor(a[[[0, 1, 2], [2, 1, 0]]])" + SCALED,
    THREE + "a = np.array([1.0, 2.0, 4.0])\ni = [[0, 1, 2], [2, 1, 0]]\nout = z*torch.tensor(a[i])" + SCALED,
    THREE + "a = np.eye(3)\ni = [a[0].argmax(), 1]\nout = z*torch.tensor(a[i])" + SCALED,
    THREE + "a = np.eye(3)\nout = z*torch.tensor(a[(0, 0)]) + z*a[1, 1]" + SCALED,
    THREE
    + "def scaled(v, n):\n    n = torch.tensor(n)\n    n += 1\n    return n*2*v\nout = scaled(z, [1, 2, 3])"
    + WEIGHED,
    THREE + "l = [z, z*2, z*3]\ns = 0\nfor v in l[1:]:\n    s = s + v\nout = s" + WEIGHED,
    THREE + "l = [z, z*2, z*3]\nb = l[:2]\nout = b[0]*b[1]" + WEIGHED,
    THREE + "pts = [(0, 1), (1, 2)]\nout = torch.tensor(pts).sum()*z" + WEIGHED,
    THREE + "l = [z, z*2]\nb = l[:]\nb[0] = z*z\nout = l[0]*b[0]" + WEIGHED,
    THREE + "l = [z*1, z*2]\nm = l.copy()\nm[0] = z*z\nout = l[0]*m[0]*m[1]" + WEIGHED,
    THREE + "l = [z*1, z*2]\nfor q in l:\n    q *= 2\nout = l[0]*l[1]" + WEIGHED,
    THREE + "l = [z*1, z*2]\nl[0] = l[0] + 1\nh = l[0]\nh += 1\nout = sum(l)*h" + WEIGHED,
    THREE + "l = [z*1, z*2]\nl[0] = l[0] + 1\nh = l[0]\nh[0] = 5.\nout = sum(l)*h" + WEIGHED,
    THREE + "w = [1., 2.]\nt = w[0]\nw[0] = 9.\nout = z*t" + WEIGHED,
    THREE + "s = [z*1, z*2]\np = s[0]\ns[0] = p + s[1]\ns[1] = p\nout = s[0]*s[1]" + WEIGHED,
    THREE + "w = [[1., 2.], [3., 4.]]\nr = w[0]\nr[0] = z[1]*9\nout = z*w[0][0]" + WEIGHED,
    THREE + "def f(q):\n    q[0] = q[0]*2\n    return q[0]\nl = [z*1]\nu = f(l)\nout = u*sum(l)" + WEIGHED,
    THREE + "l = [z*1, z*2]\ns = torch.stack(l)\ns[0] += 1\nout = l[0]*s[0]" + WEIGHED,
    THREE + "l = [z, z*2, z*z]\ndel l\nout = z" + WEIGHED,
    THREE + "def sd(a):\n    return a.std()\nout = z*sd(z)" + WEIGHED,
    THREE + "a = np.array([1.0, 2.0, 4.0])\nb = torch.tensor(a)\nout = z*b.std()*z.std()*(z*2).var()" + WEIGHED,
    THREE + "a = np.array([1.0, 2.0, 4.0])\nout = z*A.repeat(2,1)[0]" + WEIGHED,
    LIBRARIES + "p = [x[0], x[1]]\np[0], p[1] = p[1], p[0]\n(p[0]*3 + p[1]).backward()",
    LIBRARIES + "p = [x*2, x*3]\np[0], p[1] = p[1], p[0]\n(p[0]**2 + p[1]).sum().backward()",
    LIBRARIES + "h = [x]\nfor k in range(2):\n    h[0] = h[0]*x\nh[0].sum().backward()",
    LIBRARIES + "a, b = x*2, x*3\na, b = b, a\n(a*a + b).sum().backward()",
    LIBRARIES + "a = [x, x*2]\nb = a\nb[0] = x*5\n(a[0]**2).sum().backward()",
    LIBRARIES + "A = x.reshape(2,1)*x\ny = sum(A, 1)\n(y*x).sum().backward()",
    LIBRARIES + "A = x.reshape(2,1)*x\ny = sum(A)\n(y*x).sum().backward()",
    LIBRARIES + "y = x*2\nz = F.dropout(y, training=False)\nz[0] = 0.\ny.sum().backward()",
    LIBRARIES + "y = x*2\nz = nn.Identity()(y)\nz[0] = 0.\ny.sum().backward()",
    LIBRARIES + "y = x*2 - 3\nm = nn.Sequential(nn.Identity(), nn.ReLU(True))\n(m(y) + y).sum().backward()",
    LIBRARIES + "y = x*2\nd = nn.Dropout(0.5)\nd.eval()\nz = d(y)\nz[0] = 0.\ny.sum().backward()",
    LIBRARIES + "a = b = x*2\na += 1\n(b*x).sum().backward()",
    LIBRARIES + "y = torch.zeros(2)\nz = torch.zeros(2)\ny[0] = z[1] = x[1]\n(y+z).sum().backward()",
    LIBRARIES + "w = torch.tensor([1, 2, 3])\nw[0] = x[1].item()\n(w[:2]*x).sum().backward()",
    LIBRARIES + "w = torch.tensor([1, 2, 3])\nw[0] = x[1]\n(w[:2]*x).sum().backward()",
    LIBRARIES + "w = np.array([1., 2., 4.])\ns = w.std()\n(x*s).sum().backward()",
    LIBRARIES + "w = np.array([1., 2., 4.])\ns = w.repeat(2)\n(x*s[1]).sum().backward()",
    LIBRARIES + "w = np.array([[1., 2.], [3., 5.]])\ns = w.var(axis=0)\n(x*torch.tensor(s)).sum().backward()",
    LIBRARIES + "xs = np.linspace(0, 1, 5)\nm = xs.mean(); s = xs.std()\n(x*(m+s)).sum().backward()",
    LIBRARIES + "A = x.reshape(2,1)*x\ny = 2*sum(A, 1)\n(y*x).sum().backward()",
    LIBRARIES + "y = sum([x[0], x[1]*2], x[0])\ny.backward()",
    LIBRARIES + "y = sum((x*2, x*3), torch.zeros(2))\ny.sum().backward()",
    LIBRARIES + "from torch.autograd import Variable\nw = Variable(x)\n(w*w*x).sum().backward()",
    LIBRARIES + "from torch.autograd import Variable\nw = Variable(torch.ones(2))\n(w*w*x).sum().backward()",
    LIBRARIES
    + "from torch.autograd import Variable\nw = Variable(torch.tensor([1.,2.]), requires_grad=True)\n"
    + "(w*w*x).sum().backward()",
    LIBRARIES + "from torch.autograd import Variable\ny = x*2\nw = Variable(y)\n(w*w*x).sum().backward()",
    LIBRARIES + "w = torch.tensor([1, 2, 3])\nw[0] = x[1]*1.7\n(w[:2]*x).sum().backward()",
    LIBRARIES + "p = [x*2, x*3, x*4]\nfor i in range(2):\n    p[i] = p[i+1]*x\n(p[0]+p[1]*p[2]).sum().backward()",
    LIBRARIES + "p = [x*2, x*3, x*4]\na = p[0]\np[0] = p[1]\np[1] = a\n(p[0]+p[1]*p[2]).sum().backward()",
    LIBRARIES + "p = [x*2, x*3]\nq = p\nq[0] = x\n(p[0]*q[1]).sum().backward()",
    LIBRARIES + "p = [x*2, x*3]\nfor a in p:\n    print(a)\np[0] = torch.exp(p[0])\n(p[0]*p[1]).sum().backward()",
    LIBRARIES + "p = [2., 3.]\np[0] = 5.\np[1] *= 2\n(x*p[0]*p[1]).sum().backward()",
    LIBRARIES + "p = [2., 3.]\np[0], p[1] = p[1], p[0]\n(x*torch.tensor(p)).sum().backward()",
    LIBRARIES + "c = [0., 0.]\nc[0] = x.sum()\nc[1] = c[0]*x[0]\n(c[1]*x).sum().backward()",
    LIBRARIES + "fib = [x[0], x[1], 0, 0]\nfor i in range(2, 4):\n    fib[i] = fib[i-1]*fib[i-2]\nfib[3].backward()",
    LIBRARIES + "y = x*2\ny += 1\nl = [y, x]\n(l[0]*l[1]).sum().backward()",
    LIBRARIES + "y = x*2\nl = [y, x]\ny = y + 1\n(l[0]*l[1]*y).sum().backward()",
    LIBRARIES + "l = [torch.zeros(2), torch.zeros(2)]\nl[0] += x\nl[1] += l[0]*x\n(l[0]*l[1]).sum().backward()",
    LIBRARIES + "m = [[x[0], x[1]], [x[1], x[0]]]\nm[0][0] = x[1]*5\n(m[0][0]*m[1][0]).backward()",
    LIBRARIES + "m = [[x[0], x[1]], [x[1], x[0]]]\nm[0], m[1] = m[1], m[0]\n(m[0][0]*3 + m[1][0]).backward()",
    LIBRARIES + "s = torch.ones(2)\nw = s.requires_grad_()\n(w*s*x).sum().backward()",
    LIBRARIES + "w = x.requires_grad_()\n(w*w*x).sum().backward()",
    LIBRARIES + "y = x*2\nw = y.requires_grad_()\n(w*w*x).sum().backward()",
]
SHARED = [
    LIBRARIES + "a = x*2\nl = [a, a]\nl[0] += 1\n(l[1]*x).sum().backward()",
    LIBRARIES + "a = x*2\nl = [a, x]\nl[0] *= 3\n(a*a).sum().backward()",
    LIBRARIES + "a = x*2\nl = [a, x]\nl[0][0] = 5.\n(a*a).sum().backward()",
    LIBRARIES + "l = [x*2, x*3]\nl[1] = l[0]\nl[1] += x\n(l[0]*x).sum().backward()",
    LIBRARIES + "y = x*2\nl = [y, x]\ny += 1\n(l[0]*l[1]).sum().backward()",
    LIBRARIES + "y = x*2\nl = [y[0], y[1]]\ny[0] = 5.\n(l[0]*l[1]).sum().backward()",
    LIBRARIES + "row = [x[0], x[1]]\nm = [row, row]\nm[0][0] = x[1]*5\n(m[0][0]*m[1][0]).backward()",
]
REFUSED = [
    (THREE + "l = [z, z*2]\nb = l\nb += [z*z]\nout = l[-1]*l[0]" + WEIGHED, "joins lists"),
    (THREE + "l = [z, z*2]\nb = l\nb = b + [z*z]\nout = l[-1]*b[-1]" + WEIGHED, "joins lists"),
    (THREE + "a = [1.0, 2.0, 3.0]\nb = a\nb += [4.0]\nout = z*a[-1]" + WEIGHED, "joins lists"),
    (THREE + "def f(l):\n    l += [z]\n    return sum(l)\nout = f([z, z*2])" + WEIGHED, "the function is given"),
    (THREE + "def f(l):\n    l = l*2\n    return sum(l)\nout = f([z, z*2])" + WEIGHED, "Python joins lists"),
    (THREE + "def f(l, m):\n    return sum(l + m)\nout = f([z], [z*2])" + WEIGHED, "Python joins lists"),
    (THREE + "def f(l):\n    return sum(l + l)\nl = [z, z*2]\nout = f(l)" + WEIGHED, "Python joins lists"),
    (
        THREE + "l = [z*1, z*2]\nm = l.copy()\nm[0] += 1\nout = (l[0] + m[0])**2" + WEIGHED,
        "in Python both are one tensor",
    ),
    (
        THREE + "i = [torch.arange(2), torch.arange(2)]\ni[0] = i[1] + 1\nout = A[i]" + SCALED,
        "a list whose entries change",
    ),
    (THREE + "l = [z, z*2, z*z]\ndel l[1]\nout = l[1]*l[0]" + WEIGHED, "'del'"),
    (
        THREE + "def sd(a):\n    return a.std()\na = np.array([1.0, 2.0, 4.0])\nout = z*sd(a)" + WEIGHED,
        "is not known here",
    ),
    (THREE + "a = torch.tensor([1.0, 2.0, 4.0])\na = a.numpy()\nout = z*a.std()" + WEIGHED, "is not known here"),
    (
        THREE + "a, b = np.array([1.0, 2.0, 4.0]), torch.tensor([1.0, 2.0, 4.0])\nout = z*a.std()*b.std()" + WEIGHED,
        "is not known here",
    ),
]
AUTOGRAD = "import autograd.numpy as np\nfrom autograd import grad, elementwise_grad, jacobian\n"
JAX = "import jax.numpy as np\nfrom jax import grad\n"
OF_ARRAYS = [
    (AUTOGRAD, "def f(x):\n    return np.sum(x.repeat(2)*np.arange(6))\n", "grad(f)(x)"),
    (AUTOGRAD, "def f(x):\n    return np.sum(np.tanh(x)*(x**2).std())\n", "grad(f)(x)"),
    (AUTOGRAD, "def f(x):\n    return (x*2).var(axis=0)*x[0]\n", "g = grad(f)\ng(x)"),
    (AUTOGRAD, "def f(x):\n    return (1.0 - np.exp(-2.0*x))/(1.0 + np.exp(-2.0*x))\n", "elementwise_grad(f)(x)"),
    (AUTOGRAD, "def f(x):\n    return np.array([x[0]**2, x[0]*x[1]])\n", "jacobian(f)(x)"),
    (JAX, "def f(x):\n    y = x*x\n    return (y - y.mean()).std(ddof=1) + y.std()\n", "grad(f)(x)"),
    (JAX, "def f(x):\n    y = x*1.0\n    z = y\n    z = z*2.0\n    z *= 2.0\n    return np.sum(y*x*z)\n", "grad(f)(x)"),
    (JAX, "def f(x):\n    s = 0.0\n    for k in range(3):\n        s += x[k]*x[k]\n    return s\n", "grad(f)(x)"),
    (JAX, "def f(x):\n    return np.sum(x[x.nonzero()[0]]**2)\n", "grad(f)(x)"),
    (JAX, "def f(x):\n    return np.sum(np.sin(x).reshape(1, 3).repeat(2, axis=0)*x)\n", "grad(f)(x)"),
]
AT = np.array([1.0, 2.0, 4.0])


@needs_torch
@pytest.mark.parametrize("text", ANSWERED, ids=lambda text: text.removeprefix(LIBRARIES)[:60])
def test_a_snippet_leaves_what_pytorch_leaves(text):
    assert_as_pytorch(text)


@pytest.mark.parametrize("text", SHARED, ids=lambda text: text.removeprefix(LIBRARIES)[:60])
def test_a_tensor_that_a_list_and_a_name_have_in_common_is_not_written_to(text):
    with pytest.raises(GradcliError, match="in Python both are one tensor"):
        gradcli.explain(text)


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=lambda text: text.removeprefix(THREE)[:60])
def test_what_python_does_otherwise_with_lists_and_arrays_is_refused(text, words):
    with pytest.raises(GradcliError, match=words):
        gradcli.explain(text)


@pytest.mark.parametrize(("head", "function", "asked"), OF_ARRAYS)
def test_methods_of_arrays_are_those_of_numpy(head, function, asked):
    names = {"np": np}
    exec(function, names)  # noqa: S102 - our own functions
    steps = 1e-6 * np.eye(3)
    slopes = [np.sum(names["f"](AT + step) - names["f"](AT - step)) / 2e-6 for step in steps]
    found = gradcli.explain(head + function + asked, x=AT)
    np.testing.assert_allclose(found.grad["x"], slopes, rtol=1e-7, atol=1e-7)
