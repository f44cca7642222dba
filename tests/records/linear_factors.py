"""The factors of elimination, ranks, distances of rows, and layers with a bound on their length."""

from __future__ import annotations

import numpy as np

from generator import arrays
from records.record import record


def rank(x):
    """Return how many singular values are not 0."""
    return float(np.linalg.matrix_rank([[float(entry.value) for entry in row] for row in arrays.numbers(x)]))


record(
    "matrix_rank",
    oracle=rank,
    recipes=["{f}([[{S:0.5,1} + 2, {S}], [0.0, {S:0.5,1}]])*{S}"],
)  # fmt: skip
