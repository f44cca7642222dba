"""Read records from standard input and answer each as ``gradcli batch`` does, in one loop with PyTorch."""

import json
import sys

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def f(x):
    """Return the three outputs of the 2→3 example, which is the program of every record."""
    return torch.stack([3 * x[0] ** 2, x[0] ** 2 + 2 * x[1] ** 3, 10 * x[1]])


for line in sys.stdin:
    record = json.loads(line)
    x = torch.tensor(record["inputs"]["x"], dtype=torch.float64, requires_grad=True)
    v = torch.tensor(record["v"], dtype=torch.float64)
    J = torch.autograd.functional.jacobian(f, x)
    y = f(x)
    y.backward(v)
    answer = {"id": record["id"], "y": y.tolist(), "jacobian": J.tolist(), "vjp": (v @ J).tolist()}
    print(json.dumps(answer | {"grad": {"x": x.grad.tolist()}}))
