"""The numbers that the Jacobians are taken at, for the peers; ``symbolic.py`` gives gradcli the same as expressions."""

import sys

import numpy as np

ORDER = {"softmax": "xW", "both": "Wx", "network": "xWVbc", "elementwise": "x", "loop": "x", "euler": "x"}
"""The arguments of each case; those that are differentiated come first."""


def arguments(case, n):
    """Return the arguments of a case in its order."""
    entries = np.linspace(0, n * n, n * n) if "W" in ORDER[case] else np.zeros(0)
    given = {
        "x": lambda: np.linspace(0.1, 2, n) if case not in ("loop", "euler") else np.array(0.5),
        "W": lambda: np.sin(entries).reshape(n, n) / 10,
        "V": lambda: np.cos(entries).reshape(n, n) / 10,
        "b": lambda: np.linspace(0, 1, n),
        "c": lambda: np.linspace(-1, 0, n),
    }
    return [given[name]() for name in ORDER[case]]


def wanted():
    """Return the case, its size, and whether vᵀ·J is to be printed, from the command line."""
    return sys.argv[1], int(sys.argv[2]), "--check" in sys.argv


def seed(length):
    """Return the v of every case."""
    return np.linspace(1, 2, length) if length > 1 else np.ones(1)
