"""Short programs for every function of the language, with values for their variables."""

from __future__ import annotations

import numpy as np

from gradcli.ops import FUNCTIONS

VALUES = {
    "x": np.array([0.3, -1.2, 0.8]),
    "p": np.array([0.2, 0.5, 0.7]),
    "t": np.array([0.0, 1.0, 1.0]) * 0.9 + 0.05,
    "A": np.array([[0.5, -1.0, 2.0], [1.5, 0.7, -0.4]]),
    "B": np.array([[1.1, 0.2], [-0.6, 0.9], [0.4, -0.3]]),
    "S": np.array([[2.0, 0.3, -0.5], [0.1, 1.5, 0.4], [-0.7, 0.2, 1.8]]),
    "T": np.array([[[1.0, 2.0], [3.0, 4.5]], [[0.5, -1.0], [1.5, 0.2]]]),
    "b": np.array([0.1, -0.2]),
    "s": np.float64(0.7),
}
"""Far from kinks and ties, so that differences are smooth."""

# fmt: off
MORE = {
    "where": ["where(x > 0, x**2, 3*x)", "np.where(A > x, A, x)"],
    "leaky_relu": ["leaky_relu(x)", "F.leaky_relu(A, 0.2)"], "elu": ["elu(x)", "F.elu(A, alpha=0.5)"],
    "softplus": ["softplus(x)", "softplus(A, 2, 1.2)"], "gelu": ["gelu(x)", 'gelu(A, approximate="tanh")'],
    "clip": ["clip(x, -1, 0.5)", "x.clamp(min=0)", "clamp(A, max=x)"],
    "reshape": ["A.reshape(3, -1)", "reshape(x, (3, 1))", "A.view(6)"], "ravel": ["ravel(A)"],
    "flatten": ["flatten(A)", "T.flatten(1)"], "squeeze": ["squeeze(x[None])", "x[:, None].squeeze(1)"],
    "unsqueeze": ["unsqueeze(x, 0)", "x.unsqueeze(-1)"], "permute": ["T.permute(2, 0, 1)"],
    "transpose": ["A.transpose(0, 1)", "torch.transpose(T, 0, 2)", "A.T"], "t": ["A.t()", "t(x)"],
    "np.transpose": ["np.transpose(A)", "np.transpose(T, (1, 0, 2))"],
    "expand": ["expand(x, 2, 3)", "x[:, None].expand(-1, 2)", "np.broadcast_to(s, (2, 2))"],
    "flip": ["flip(x)", "torch.flip(A, (0,))"], "roll": ["roll(x, 1)", "roll(A, (1, -1), (0, 1))"],
    "repeat": ["x.repeat(2)", "np.tile(A, (2, 1))"],
    "repeat_interleave": ["repeat_interleave(x, 2)", "np.repeat(A, 2, axis=0)"],
    "diag": ["diag(x)", "diag(S)", "diag(x, 1)"], "diagonal": ["diagonal(S)", "S.diagonal(-1)"],
    "tril": ["tril(S)", "A.tril(1)"], "triu": ["triu(S)", "triu(S, -1)"],
    "stack": ["stack([x, p])", "torch.stack([x, p, x], dim=1)"],
    "cat": ["cat([x, p])", "np.concatenate([A, S], axis=0)"],
    "clone": ["clone(x)", "y = x.clone(); y[0] = s*y[1]; y"],
    "sum": ["sum(x)", "A.sum(dim=0)", "np.sum(A, axis=1, keepdims=True)"], "mean": ["mean(x)", "A.mean(1)"],
    "prod": ["prod(x)", "A.prod(dim=1)"], "logsumexp": ["logsumexp(x)", "torch.logsumexp(A, dim=0)"],
    "cumsum": ["cumsum(x)", "A.cumsum(dim=1)"], "cumprod": ["cumprod(x)", "A.cumprod(0)"],
    "np.cumsum": ["np.cumsum(A)"],
    "var": ["var(x)", "A.var(dim=0, correction=0)", "var(A, unbiased=False)"], "std": ["std(x)", "A.std(dim=1)"],
    "np.var": ["np.var(A)", "np.var(x, ddof=1)"], "np.std": ["np.std(x)", "np.std(A, axis=0)"],
    "norm": ["norm(x)", "norm(A, p=3, dim=1)", 'norm(A, "fro")', "x.norm(p=1)", "x.norm(math.inf)"],
    "linalg.norm": ["linalg.norm(A)", "np.linalg.norm(x, ord=3)"],
    "matmul": ["A @ x", "matmul(A, B)", "T @ T"],
    "dot": ["x.dot(p)", "np.dot(A, B)", "dot(s, A)"], "torch.dot": ["torch.dot(x, p)"],
    "mm": ["mm(A, B)"], "mv": ["mv(A, x)"],
    "bmm": ["bmm(T, T)"],
    "inner": ["inner(x, p)"], "outer": ["outer(x, b)"], "trace": ["trace(S)"],
    "einsum": ['einsum("ij,j->i", A, x)', 'einsum(",i->i", s, x)', 'einsum("ij,jk,k->", A, B, b)',
               'torch.einsum("ij", A)', 'einsum("ii->i", [[s, 1], [2, s]])'],
    "det": ["det(S)", "torch.linalg.det(T)"], "inv": ["inv(S)"],
    "solve": ["linalg.solve(S, x)", "np.linalg.solve(S, B)"],
    "zeros": ["y = zeros(2, 3); y[0] = x; y"], "ones": ["ones(2, 3)*x"], "full": ["full((2, 2), s)"],
    "eye": ["S - s*eye(3)"],
    "arange": ["x**arange(1, 4)"], "linspace": ["x*linspace(0, 1, 3)"], "zeros_like": ["zeros_like(x) + p*x"],
    "ones_like": ["ones_like(x)*s"], "full_like": ["full_like(x, s)"], "float": ["x.float()"],
    "double": ["x.double()*p"], "as_tensor": ["torch.as_tensor([1.0, 2.0, 3.0])*x"],
    "detach": ["x.detach()*0 + p"], "tensor": ["torch.tensor([1.0, 2.0, 3.0])*x"],
    "softmax": ["softmax(x)", "F.softmax(A, dim=1)", "softmax(s)"],
    "log_softmax": ["log_softmax(x)", "A.log_softmax(dim=0)"],
    "mse_loss": ["F.mse_loss(x, p)", 'mse_loss(A, A**2, reduction="none")'],
    "l1_loss": ['l1_loss(x, p, reduction="sum")'],
    "huber_loss": ["huber_loss(x, p)", "F.huber_loss(x, p, delta=0.3)"], "bce": ["binary_cross_entropy(p, t)"],
    "binary_cross_entropy_with_logits": ["F.binary_cross_entropy_with_logits(x, t)"],
    "nll_loss": ["nll_loss(log_softmax(A, dim=1), [2, 0])"],
    "cross_entropy": ["cross_entropy(x, 1)", "F.cross_entropy(A, [0, 2])", "F.cross_entropy(x, softmax(p))"],
    "linear": ["F.linear(x, A, b)", "linear(x, A)"], "layer_norm": ["layer_norm(x, 3)", "F.layer_norm(A, (3,), x, p)"],
    "max": ["max(x)", "A.max(dim=1).values", "max(x, p)"], "min": ["min(x)", "torch.min(A, dim=0)[0]", "min(x, p)"],
    "amax": ["amax(x)", "A.amax(dim=(0, 1))", "np.max(A, axis=0)"], "amin": ["amin(x)", "np.min(A)"],
    "median": ["median(x)", "A.median(dim=1).values", "median(b)"],
    "np.median": ["np.median(x)", "np.median(B, axis=1)", "np.median(b)"],
    "sort": ["sort(x).values", "A.sort(dim=0, descending=True)[0]"], "np.sort": ["np.sort(A)"],
    "argmax": ["x[argmax(x)]*s"], "argmin": ["x[x.argmin()]**2"], "any": ["x*2 if any(x > 0) else x"],
    "all": ["x if all(x > 0) else x*3"],
    "isnan": ["where(isnan(x), 0, x**2)"], "heaviside": ["heaviside(x, 0.5)*p"],
}
# fmt: on


def elementwise(function):
    """Return the calls of an elementwise function with one or two arguments, as a call and as a method."""
    op = function.op
    if len(op.vjps) == 2:
        return [f"{function.name}(u, w)", f"{function.name}(u, w[0])"]
    return [f"{function.name}(u)"] if not op.flat else [f"{function.name}(u) + u"]


PROGRAMS = {name: MORE.get(name) or elementwise(function) for name, function in FUNCTIONS.items()}
NAMED = {  # what is named, what loops, and names that gradcli might choose for itself
    "z = x**2 + 1; y = tanh(z)*exp(-z); y*y + z": {"x": [0.3, -0.7]},
    "y = x\nfor i in range(4):\n    y = sin(y) + x*y\ny": {"x": 0.4},
    "y = x*2\nwhile norm(y) < 10:\n    y = y*2\ny": {"x": [0.5, -0.2, 0.1]},
    "h0 = tanh(x*w)\nh1 = tanh(h0*w + x)\nh2 = tanh(h1*w + h0)\nh2*h2": {"x": [0.2, 0.4], "w": [1.5, -0.5]},
    "a = tanh(h0*x + 1)\nb = tanh(a*h1 + h0)\ntanh(b*b*a + x)*a": {"x": [0.2, 0.4], "h0": [1.0, 2.0], "h1": 0.5},
    "x = x*x + 1\nx = tanh(x)*x\nx = exp(-x*x)*x\nx": {"x": [0.2, 1.4]},
    "x = tanh(x*x1)\nx = tanh(x*x + x1)*x\nx = exp(-x*x)*x\nx": {"x": [0.2, 1.4], "x1": [0.7, 0.3]},
    "dy_dh = tanh(x)\ny = dy_dh\nfor i in range(6):\n    y = tanh(y*y + dy_dh)*y\ny": {"x": [0.9, 1.4]},
    "E = exp(S)\nN = E/sum(E)\nsin(N*N)@N": {"S": [0.1, 0.2, 0.3]},
    "mean = x.mean()\nsigma = std(x)\nn = (x - mean)/sigma\nn*n*n": {"x": [0.1, 0.5, -0.7]},
    "sum = x[0]*x[1]\nsum*sum": {"x": [2.0, 3.0]},
    "s = softmax(W @ tanh(V @ x + b) + c)\ns": {"W": [[1.0, -0.5], [0.3, 0.8]], "V": [[0.2, 0.6], [-1.0, 0.4]],
                                              "x": [0.5, -0.3], "b": [0.1, 0.2], "c": [0.0, 0.4]},
    "a, b = x[0], x[1]; [a if a > b else b, a**b, b**a]": {"x": [0.7, 1.9]},
    "y = zeros(3)\nfor i in range(3):\n    y[i] = x[i]**(i + 1) + (y[i - 1] if i > 0 else 0)\ny": {"x": [1.5, 0.5,
        -2.0]},
    "1e-20*x + 123456789.125*x**3 - x/3": {"x": [0.7, 2.0]},
    "einsum(\"ij,j->i\", inv(A), tanh(A @ x))": {"A": [[2.0, 0.5], [-0.3, 1.0]], "x": [0.4, 0.6]},
    "x**-2 + (-x)**3 - -x + 2**x + (x**2)**3 + x**(2**3)": {"x": 0.8},
}  # fmt: skip
GROWING = {
    "fifteen squares": "for i in range(15):\n    x = x*x/2 + x/2\nx",
    "doublings": "for i in range(64):\n    x = x + x\nx",
    "a hundred layers": "for i in range(100):\n    x = tanh(x*x + x)\nx",
    "powers of powers": "for i in range(20):\n    x = (x**2 + 1)**0.5*x/2\nx",
    "products of sums": "for i in range(12):\n    x = (x + 1)*(x - 1)/(x*x + 1)\nx",
}


def inputs_of(program, names):
    """Return values for the variables of a program; ``u`` and ``w`` lie in the domain of the function called first."""
    function = FUNCTIONS.get(program.partition("(")[0])
    domain = ((-2.0, 2.0),) if function is None or function.op is None else function.op.domain
    inside = {}
    for k, name in enumerate(("u", "w")):
        low, high = domain[min(k, len(domain) - 1)]
        inside[name] = low + (high - low) * np.array([[0.13, 0.78, 0.41], [0.29, 0.93, 0.57]])[k]
    return {name: inside[name] if name in inside else VALUES[name] for name in names}
