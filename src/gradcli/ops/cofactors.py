"""Cofactors of square matrices, by two ways that share nothing: singular values, and elimination."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradcli.ops.signatures import Array, Indices


def cofactors(a: Array) -> Array:
    """Return the matrix of cofactors: minors of up to three rows, else by the singular value decomposition.

    Both are right for singular matrices too; minors keep the digits of entries that are small beside others.
    """
    if a.shape[-1] == 2:
        return np.flip(a, (-1, -2)) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    if a.shape[-1] == 3:
        below, beyond = np.roll(a, -1, -2), np.roll(a, -2, -2)
        return np.roll(below, -1, -1) * np.roll(beyond, -2, -1) - np.roll(below, -2, -1) * np.roll(beyond, -1, -1)
    u, sigma, vt = np.linalg.svd(a)
    n = sigma.shape[-1]
    others = np.stack([np.prod(np.delete(sigma, i, axis=-1), axis=-1) for i in range(n)], axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign[..., None, None] * np.matmul(u * others[..., None, :], vt)


class Pivoted(NamedTuple):
    """P·A·Q = L·D·V by elimination with the largest pivot first: L and V have ones on the diagonal, and no entry above.

    ``rows`` and ``columns`` are the orders P and Q, ``sign`` the product of their signs, ``pivots`` the diagonal of D:
    what is left of a singular matrix at the end is 0, and nothing is divided by it.
    """

    lower: Array
    pivots: Array
    upper: Array
    rows: Indices
    columns: Indices
    sign: float


def eliminate(a: Array) -> Pivoted:
    """Return the factors of one matrix."""
    n, left = len(a), np.array(a, dtype=np.float64)
    lower, upper, pivots = np.eye(n), np.eye(n), np.zeros(n)
    rows, columns, sign = np.arange(n), np.arange(n), 1.0
    for k in range(n):
        i, j = np.unravel_index(np.argmax(np.abs(left[k:, k:])), (n - k, n - k))
        for order, other, axis in ((rows, k + int(i), 0), (columns, k + int(j), 1)):
            swap = [other, k]
            order[[k, other]] = order[swap]
            sign = -sign if other != k else sign
            if axis == 0:
                left[[k, other]], lower[[k, other], :k] = left[swap], lower[swap, :k]
            else:
                left[:, [k, other]], upper[:k, [k, other]] = left[:, swap], upper[:k, swap]
        pivots[k] = left[k, k]
        if pivots[k] == 0:
            break
        lower[k + 1 :, k], upper[k, k + 1 :] = left[k + 1 :, k] / pivots[k], left[k, k + 1 :] / pivots[k]
        left[k + 1 :, k + 1 :] -= np.multiply.outer(lower[k + 1 :, k], left[k, k + 1 :])
    return Pivoted(lower, pivots, upper, rows, columns, sign)


def without_one(pivots: Array) -> Array:
    """Return the product of all others for each number; on the way to a double it may leave doubles."""
    parts, powers = np.frexp(pivots)
    others = [np.arange(len(pivots)) != k for k in range(len(pivots))]
    return np.array([np.ldexp(np.prod(parts[some]), int(np.sum(powers[some]))) for some in others])


def cofactors_by_pivots(a: Array) -> Array:
    """Return the matrices of cofactors by elimination, which shares nothing with singular values.

    adj(A) = ±Q·inv(V)·adj(D)·inv(L)·P, where L and V are far from singular, however near to it A is.
    """
    found = np.empty_like(a)
    for place in np.ndindex(a.shape[:-2]):
        parts = eliminate(a[place])
        inverse = np.linalg.inv(parts.upper) * without_one(parts.pivots)
        adjugate = parts.sign * np.matmul(inverse, np.linalg.inv(parts.lower))
        found[place][np.ix_(parts.rows, parts.columns)] = adjugate.T
    return found


ILL = 1e6
"""Condition number from which det·inv(A) loses too many digits to stand for the cofactors."""


def is_ill(a: Array) -> bool:
    """Return whether a matrix is so close to singular that its inverse says little about the cofactors."""
    return bool(np.any(np.linalg.cond(a) > ILL))


def cofactor_terms(y: Array, a: Array) -> Array:
    """Return how large the terms are that a cofactor is a difference of.

    A small change of A shows in a cofactor times all singular values but the two smallest.
    """
    if not np.all(np.isfinite(a)):
        return np.full(np.shape(y), np.nan)
    sigma = np.linalg.svd(a, compute_uv=False)
    n = sigma.shape[-1]
    return np.asarray(n * sigma[..., 0] * np.prod(sigma[..., : n - 2], axis=-1)).reshape(np.shape(y))
