"""The factors of elimination, ranks, distances of rows, and layers with a bound on their length."""

from __future__ import annotations

import numpy as np

from generator import arrays
from generator import functions as f
from records import values as v
from records.record import record

FIRST_LARGER = "[[{S:0.5,1} + 2, {S}], [{S:0,1}, {S}]]"
"""Elimination takes its rows as they stand."""


def eliminated(x):
    """Return L and U of two rows whose first has the larger pivot."""
    (a, b), (c, d) = arrays.numbers(x)
    zero, one = a * 0, a * 0 + 1
    lower, upper = [[one, zero], [c / a, one]], [[a, b], [zero, d - c / a * b]]
    return arrays.Array(np.array(lower, dtype=object)), arrays.Array(np.array(upper, dtype=object))


def rank(x):
    """Return how many singular values are not 0."""
    return float(np.linalg.matrix_rank([[float(entry.value) for entry in row] for row in arrays.numbers(x)]))


def distances(x, p=2):
    """Return the distance of each two rows."""
    rows = [arrays.Array(row) for row in arrays.numbers(x)]
    pairs = [(a, b) for k, a in enumerate(rows) for b in rows[k + 1 :]]
    return arrays.Array(np.array([arrays.numbers(f.norm(a - b, p))[()] for a, b in pairs], dtype=object))


def shortened(x, p, dim, most):
    """Return an array whose layers are no longer than a bound."""
    layers = np.moveaxis(arrays.numbers(x), dim, 0).copy()
    for k, layer in enumerate(layers):
        norm = f.norm(arrays.Array(layer.ravel()), p)
        if arrays.numbers(norm)[()].value > most:
            layers[k] = arrays.numbers(arrays.Array(layer) * (most / (norm + 1e-7)))
    return arrays.Array(np.moveaxis(layers, 0, dim))


R = np.linalg.norm(v.A[0])
SWAPPED = v.S[[0, 2, 1]]

record(
    "linalg.lu",
    oracle=lambda x: (None, *eliminated(x)),
    recipes=["{f}(" + FIRST_LARGER + ")[2]", "{f}(" + FIRST_LARGER + ")[1]"],
    programs={
        "P, L, U = torch.linalg.lu(S); P @ L @ U": v.S,
        "torch.linalg.lu(B)[2]": [v.B[0], [0, v.B[2, 1] - v.B[2, 0] / v.B[0, 0] * v.B[0, 1]]]
        if abs(v.B[2, 1] - v.B[2, 0] / v.B[0, 0] * v.B[0, 1]) > abs(v.B[1, 1] - v.B[1, 0] / v.B[0, 0] * v.B[0, 1])
        else [v.B[0], [0, v.B[1, 1] - v.B[1, 0] / v.B[0, 0] * v.B[0, 1]]],
        "scipy.linalg.lu(A)[1]": [[1, 0], [v.A[0, 0] / v.A[1, 0], 1]],
    },
)

record(
    "linalg.lu_factor",
    oracle=lambda x: (arrays.Array(arrays.numbers(eliminated(x)[1]) + np.tril(arrays.numbers(eliminated(x)[0]), -1)),),
    recipes=["{f}(" + FIRST_LARGER + ")[0]"],
    programs={"torch.linalg.lu_factor(A)[0]": [
        v.A[1], [v.A[0, 0] / v.A[1, 0], *(v.A[0, 1:] - v.A[0, 0] / v.A[1, 0] * v.A[1, 1:])]],
        "torch.linalg.lu_factor(A)[1]*b": np.array([2, 2]) * v.b},
)  # fmt: skip

record(
    "matrix_rank",
    oracle=rank,
    recipes=["{f}([[{S:0.5,1} + 2, {S}], [0.0, {S:0.5,1}]])*{S}"],
    programs={"torch.linalg.matrix_rank(S)*s": 3 * v.s, "np.linalg.matrix_rank(outer(x, p))*s": v.s,
              "np.linalg.matrix_rank(S, tol=2.0)*s": np.sum(np.linalg.svd(v.S)[1] > 2) * v.s,
              "torch.linalg.matrix_rank(S, rtol=0.9)*s": v.s if np.linalg.svd(v.S)[1][1] <= 0.9 * np.linalg.svd(v.S)[
                  1][0] else 2 * v.s},
)  # fmt: skip

record(
    "pdist",
    oracle=distances,
    recipes=["{M:-4,4}", "{M:-4,4}, p=3"],
    programs={
        "F.pdist(S)": [np.linalg.norm(v.S[i] - v.S[j]) for i, j in ((0, 1), (0, 2), (1, 2))],
        "torch.pdist(A, p=1)": [np.sum(np.abs(v.A[0] - v.A[1]))],
        "torch.pdist(A, p=math.inf)": [np.max(np.abs(v.A[0] - v.A[1]))],
    },
)

record(
    "renorm",
    oracle=shortened,
    recipes=["{M:-4,4}, 2, 0, 1.3", "{M:-4,4}, 1, 1, 2.1"],
    programs={
        "torch.renorm(A, 2, 0, 2.0)": [v.A[0] * 2 / (R + 1e-7), v.A[1]],
        "A.renorm(p=1, dim=1, maxnorm=100)": v.A,
    },
)
