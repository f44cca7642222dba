"""The engine's cases in HIPS autograd."""

import autograd.numpy as anp
from autograd import grad


def chain(x):
    """Return 500 times ``y*1.001 + 0.001``, differentiated."""

    def f(y):
        for _ in range(500):
            y = y * 1.001 + 0.001
        return y

    derivative = grad(f)
    return lambda: [derivative(x)]


def sines(x):
    """Return 500 times ``sin(y)*1.1``, differentiated."""

    def f(y):
        for _ in range(500):
            y = anp.sin(y) * 1.1
        return y

    derivative = grad(f)
    return lambda: [derivative(x)]


def network(W, x, b, t):
    """Return the squared error of one layer, differentiated by W and b."""
    derivative = grad(lambda W, b: anp.sum((1 / (1 + anp.exp(-(anp.dot(W, x) + b))) - t) ** 2), (0, 1))
    return lambda: derivative(W, b)


def elementwise(x):
    """Return ``sum(sin(x)*x**2 + exp(-x))``, differentiated."""
    derivative = grad(lambda x: anp.sum(anp.sin(x) * x**2 + anp.exp(-x)))
    return lambda: [derivative(x)]
