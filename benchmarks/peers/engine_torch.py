"""The engine's cases in PyTorch, on one thread."""

import torch

torch.set_num_threads(1)


def leaf(array):
    """Return a leaf that is differentiated."""
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)


def chain(x):
    """Return 500 times ``y*1.001 + 0.001``, differentiated."""
    start = leaf(x)

    def run():
        y = start
        for _ in range(500):
            y = y * 1.001 + 0.001
        return torch.autograd.grad(y, (start,))

    return run


def sines(x):
    """Return 500 times ``sin(y)*1.1``, differentiated."""
    start = leaf(x)

    def run():
        y = start
        for _ in range(500):
            y = torch.sin(y) * 1.1
        return torch.autograd.grad(y, (start,))

    return run


def network(W, x, b, t):
    """Return the squared error of one layer, differentiated by W and b."""
    W, b, x, t = leaf(W), leaf(b), torch.from_numpy(x), torch.from_numpy(t)
    return lambda: torch.autograd.grad(torch.sum((torch.sigmoid(W @ x + b) - t) ** 2), (W, b))


def elementwise(x):
    """Return ``sum(sin(x)*x**2 + exp(-x))``, differentiated."""
    x = leaf(x)
    return lambda: torch.autograd.grad(torch.sum(torch.sin(x) * x**2 + torch.exp(-x)), (x,))
