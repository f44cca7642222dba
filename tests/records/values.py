"""Values of the variables of short programs, and what they make of them beside an op's own definition."""

from __future__ import annotations

from typing import Any

import numpy as np

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
x, p, t, A, B, S, T, b, s = (VALUES[name] for name in "xptABSTbs")


class Own:
    """The value of an op by its own definition at these arguments and options."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.arguments, self.options = arguments, options


def softmax(z, axis=-1):
    return np.exp(z) / np.sum(np.exp(z), axis=axis, keepdims=True)


def normal(z, axes, weight=1.0, bias=0.0):
    centred = z - np.mean(z, axis=axes, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=axes, keepdims=True) + 1e-5) * weight + bias


def gelu_tanh(z):
    return z / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))


def huber(d, delta=1.0):
    return np.mean(np.where(np.abs(d) < delta, d**2 / 2, delta * np.abs(d) - delta**2 / 2))


def cross(probabilities, z):
    return -np.sum(probabilities * np.log(softmax(z)))


def clone_and_put():
    return np.array([s * x[1], x[1], x[2]])
