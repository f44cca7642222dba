"""J, vᵀJ and the gradient of the 2→3 example, as one would print them with PyTorch."""

import torch

torch.set_default_dtype(torch.float64)


def f(x):
    """Return the three outputs."""
    return torch.stack([3 * x[0] ** 2, x[0] ** 2 + 2 * x[1] ** 3, 10 * x[1]])


x = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([1.0, 10.0, 100.0])
J = torch.autograd.functional.jacobian(f, x)
f(x).backward(v)
print(J.tolist())
print((v @ J).tolist())
print(x.grad.tolist())
