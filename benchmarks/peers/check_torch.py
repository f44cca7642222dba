"""A function of medium size under PyTorch's ``gradcheck``, in double precision: ``check_torch.py CASE``.

It prints whether the check accepts what is right: differences in double precision lose half of the digits.
"""

import math
import sys

import torch
from torch.nn import functional

WEIGHTS = {"W": (784, 128), "b": (128,), "V": (128, 10), "c": (10,)}
SHAPES = {
    "attention": dict.fromkeys("QKV", (32, 16)),
    "norm": {"X": (64, 128), "g": (128,), "b": (128,)},
    "row": {"X": (784,), **WEIGHTS},
    "rows": {"X": (32, 784), **WEIGHTS},
}
FUNCTIONS = {
    "attention": lambda Q, K, V: torch.sum((torch.softmax(Q @ K.T / 4, -1) @ V) ** 2),
    "norm": lambda X, g, b: torch.sum(torch.tanh(functional.layer_norm(X, (128,), g, b))),
    "gelu": functional.gelu,
    "row": lambda X, W, b, V, c: functional.cross_entropy(torch.relu(X @ W + b) @ V + c, torch.tensor(3)),
    "rows": lambda X, W, b, V, c: functional.cross_entropy(torch.relu(X @ W + b) @ V + c, torch.arange(32) % 10),
}


def values(name):
    """Return the inputs of a case, those that gradcli is told by expressions; X of the network is none of its own."""
    if name == "gelu":
        return [torch.linspace(-30, 30, 61, dtype=torch.float64, requires_grad=True)]
    found = []
    for k, (variable, shape) in enumerate(SHAPES[name].items()):
        steps = torch.arange(math.prod(shape), dtype=torch.float64)
        scale = 20 if shape in (WEIGHTS["W"], WEIGHTS["V"]) else 1
        x = (torch.sin(steps * round(1.7 + k / 10, 1) + k) / scale).reshape(shape)
        found.append(x.requires_grad_(not (variable == "X" and "W" in SHAPES[name])))
    return found


case = sys.argv[1]
torch.set_num_threads(1)
sys.stdout.write(f"{torch.autograd.gradcheck(FUNCTIONS[case], values(case), raise_exception=False)}\n")
