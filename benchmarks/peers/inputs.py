"""The numbers that the Jacobians are taken at, for the peers; ``symbolic.py`` gives gradcli the same as expressions."""

import sys
from math import prod

import numpy as np

DIFFERENTIATED = {"both": 2, "matmul": 2, "step": 4}
"""How many of a case's arguments are differentiated, where it is not the first alone."""


def shapes(case, n):
    """Return the shape of each argument of a case by its name; those that are differentiated come first.

    A training step at 64 has a batch of 64, and layers of 784, 128 and 10.
    """
    inputs, hidden, outputs = 49 * n // 4, 2 * n, 1 + 9 * n // 64
    return {
        "elementwise": {"x": (n,)},
        "softmax": {"x": (n,), "W": (n, n)},
        "both": {"W": (n, n), "x": (n,)},
        "network": {"x": (n,), "W": (n, n), "V": (n, n), "b": (n,), "c": (n,)},
        "loop": {"x": ()},
        "euler": {"x": ()},
        "matmul": {"W": (n, n), "V": (n, n)},
        "step": {"W": (inputs, hidden), "b": (hidden,), "V": (hidden, outputs), "c": (outputs,),
                 "x": (n, inputs), "t": (n, outputs)},
    }[case]  # fmt: skip


def differentiated(case, arguments):
    """Return those arguments of a case that are differentiated."""
    return list(arguments)[: DIFFERENTIATED.get(case, 1)]


def arguments(case, n):
    """Return the arguments of a case in its order."""
    return [numbers(name, shape) for name, shape in shapes(case, n).items()]


def numbers(name, shape):
    """Return the numbers of an argument."""
    size = prod(shape)
    given = {
        "x": lambda: np.linspace(0.1, 2, size) if shape else np.array(0.5),
        "W": lambda: np.sin(np.linspace(0, size, size)) / 10,
        "V": lambda: np.cos(np.linspace(0, size, size)) / 10,
        "b": lambda: np.linspace(0, 1, size),
        "c": lambda: np.linspace(-1, 0, size),
        "t": lambda: np.linspace(0, 1, size),
    }
    return given[name]().reshape(shape)


def wanted():
    """Return the case, its size, and whether vᵀ·J is to be printed, from the command line."""
    return sys.argv[1], int(sys.argv[2]), "--check" in sys.argv


def seed(length):
    """Return the v of every case."""
    return np.linspace(1, 2, length) if length > 1 else np.ones(1)
