"""The engine's cases with the derivative written by hand, in numpy."""

import numpy as np


def chain(x):
    """Return 500 times ``y*1.001 + 0.001`` and its derivative."""

    def run():
        y, g = x, np.float64(1.0)
        for _ in range(500):
            y = y * 1.001 + 0.001
        for _ in range(500):
            g = g * 1.001
        return y, g

    return lambda: [run()[1]]


def sines(x):
    """Return 500 times ``sin(y)*1.1`` and its derivative."""

    def run():
        y, g, kept = x, np.float64(1.0), []
        for _ in range(500):
            kept.append(y)
            y = np.sin(y) * 1.1
        for before in reversed(kept):
            g = g * 1.1 * np.cos(before)
        return y, g

    return lambda: [run()[1]]


def network(W, x, b, t):
    """Return the squared error of one layer, and its derivative by W and b."""

    def run():
        s = 1 / (1 + np.exp(-(W @ x + b)))
        d = s - t
        g = 2 * d * s * (1 - s)
        return np.sum(d * d), np.outer(g, x), g

    return lambda: list(run()[1:])


def elementwise(x):
    """Return ``sum(sin(x)*x**2 + exp(-x))`` and its derivative."""

    def run():
        s, squares, e = np.sin(x), x**2, np.exp(-x)
        return np.sum(s * squares + e), np.cos(x) * squares + 2 * x * s - e

    return lambda: [run()[1]]
