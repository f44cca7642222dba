"""Decompositions of matrices in many digits, on arrays of exact numbers: by turns of pairs of columns, and by sums.

What a decomposition leaves open, signs and the vectors of equal values, is as near to what doubles gave as it comes.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import localcontext
from itertools import combinations
from typing import Any

import numpy as np

from gradcli.ops.exactly import is_nan, one_like
from gradcli.ops.links import Indices

SWEEPS = 60
"""Sweeps after which turns have long converged: each doubles the digits."""
Number = Any
"""One exact number, with its operators and ``sqrt``."""
Numbers = Any
"""An array of them, or of doubles: numpy has no type for one."""


def each_matrix(rule: Callable[..., Numbers], *arrays: Numbers) -> Numbers:
    """Return a rule of matrices, or of what stands in their place, at each place of a batch."""
    batch = np.shape(arrays[0])[:-2]
    flat = [np.reshape(x, (-1, *np.shape(x)[len(batch) :])) for x in arrays]
    found = [np.asarray(rule(*given), dtype=object) for given in zip(*flat, strict=True)]
    return np.stack(found).reshape(batch + found[0].shape)


def symmetric(a: Any) -> Any:
    """Return the mean of matrices and their transposes."""
    return (a + np.swapaxes(a, -1, -2)) / 2


GUARD = 10**10
"""Exact numbers are equal that differ in their last ten digits alone."""


def is_nothing(part: Number, size: Number) -> bool:
    """Return whether a part is beyond the last digit of a size."""
    return bool(size + abs(part) * GUARD == size)


def turn_of(p: Number, q: Number, beside: Number, size: Number) -> tuple[Number, Number] | None:
    """Return cosine and sine of the turn that makes 0 of the entry beside p and q; None where it is as good as 0."""
    if is_nothing(beside, size) or is_nan(beside):
        return None
    slope = (q - p) / (2 * beside)
    tangent = (1 if slope >= 0 else -1) / (abs(slope) + (slope * slope + 1).sqrt())
    cosine = 1 / (tangent * tangent + 1).sqrt()
    return cosine, tangent * cosine


def turn(columns: Numbers, i: int, j: int, cosine: Number, sine: Number) -> None:
    """Turn two columns into each other, in place."""
    left, right = columns[:, i].copy(), columns[:, j].copy()
    columns[:, i], columns[:, j] = cosine * left - sine * right, sine * left + cosine * right


def eigen(a: Numbers) -> tuple[Numbers, Numbers]:
    """Return the eigenvalues of a symmetric matrix in rising order, and its eigenvectors as columns (Jacobi)."""
    work, n = np.array(a, dtype=object), len(a)
    size = np.sum(abs(work))
    vectors = np.eye(n) * one_like(size)
    for _ in range(SWEEPS):
        turned = False
        for i, j in combinations(range(n), 2):
            angle = turn_of(work[i, i], work[j, j], work[i, j], size)
            if angle is not None:
                turned = True
                for columns in (work, work.T, vectors):
                    turn(columns, i, j, *angle)
        if not turned:
            break
    values = np.array(np.diagonal(work))
    order = sorted(range(n), key=lambda k: values[k])
    return values[order], vectors[:, order]


def is_exact(a: Numbers) -> bool:
    """Return whether an array holds exact numbers, and no doubles."""
    return bool(np.asarray(a).dtype == object)


def turns(guide: Numbers, groups: Indices, vectors: Numbers) -> Numbers:
    """Return the rotation that brings the vectors of each group of equal values to those that doubles chose."""
    near = vectors.T @ (guide * one_like(vectors[0, 0]))
    found = 0 * near
    for group in set(groups.tolist()):
        at = np.ix_(groups == group, groups == group)
        found[at] = orthogonal(near[at])
    return found


def singular(a: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return U, the singular values from the largest on, and V: from the eigenvectors of A·Aᵀ, in twice the digits.

    A square below the last digit is one of a value below the last digit then. V has zeros where a value is 0.
    """
    m, n = np.shape(a)
    if m > n:
        u, values, v = singular(a.T)
        return v, values, u
    with localcontext() as context:
        context.prec *= 2
        squares, vectors = eigen(a @ a.T)
        u, values = vectors[:, ::-1], np.array([square.sqrt() for square in abs(squares[::-1])], dtype=object)
        return u, values, a.T @ u / np.where(values == 0, values + 1, values)


def cholesky(a: Numbers) -> Numbers:
    """Return the lower triangular L with L·Lᵀ = A, row by row; nan where there is none."""
    low = 0 * a
    for i, j in zip(*np.tril_indices(len(a)), strict=True):
        rest = a[i, j] - np.sum(low[i, :j] * low[j, :j]) if j else a[i, j]
        low[i, j] = rest.sqrt() if i == j else rest / low[j, j]
    return low


def orthogonal(a: Numbers) -> Numbers:
    """Return the Q of A = Q·R for columns that are independent, with a positive diagonal of R (Gram-Schmidt)."""
    q = 0 * a
    for k in range(a.shape[1]):
        rest = a[:, k]
        for _ in range(2 if k else 0):
            rest = rest - q[:, :k] @ (q[:, :k].T @ rest)
        q[:, k] = rest / np.sum(rest * rest).sqrt()
    return q


def exponential(a: Numbers) -> Numbers:
    """Return exp(A): the series of a part of A, squared as often."""
    size: Number = np.max(abs(a)) * len(a)
    halves = 0
    while size > 0.5 and halves < 60:
        size, halves = size / 2, halves + 1
    part = a / one_like(a) / (2**halves)
    total = term = np.eye(len(a)) * one_like(a[0, 0])
    for k in range(1, 2000):
        term = term @ part / k
        total = total + term
        if is_nothing(np.max(abs(term)), np.max(abs(total))):
            break
    for _ in range(halves):
        total = total @ total
    return total
