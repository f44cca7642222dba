"""Jacobians of a few entries as lists of plain numbers: numpy takes longer to be asked than they take to multiply."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array
from gradcli.ops.links import Indices

FEW = 16
"""Entries up to which a Jacobian is held as lists."""
MANY_TERMS = 8
"""Terms from which numpy adds up pairwise."""


class Small(NamedTuple):
    """Entries ``values`` at ``(rows, columns)``, in order as those of ``Sparse``."""

    rows: list[int]
    columns: list[int]
    values: list[float]
    sizes: list[float]
    shape: tuple[int, int]

    def sparse(self) -> Sparse:
        """Return the same entries as arrays."""
        rows, columns = np.array(self.rows, dtype=np.intp), np.array(self.columns, dtype=np.intp)
        return Sparse(rows, columns, np.array(self.values), np.array(self.sizes), self.shape)


def small(matrix: Sparse) -> Small:
    """Return the entries of a matrix of numbers as lists."""
    assert matrix.sizes is not None  # noqa: S101
    rows, columns = matrix.rows.tolist(), matrix.columns.tolist()
    return Small(rows, columns, matrix.values.tolist(), matrix.sizes.tolist(), matrix.shape)


class Diagonals(NamedTuple):
    """Diagonal matrices one behind the other, each with entries at the places ``where``; a few are lists."""

    values: list[float] | Array
    sizes: list[float] | Array
    where: Indices

    def sparse(self, place: int) -> Sparse:
        """Return one of them as a matrix of its own."""
        width = len(self.where)
        stretch = slice(place * width, (place + 1) * width)
        values, sizes = np.asarray(self.values[stretch]), np.asarray(self.sizes[stretch])
        return Sparse(self.where, self.where, values, sizes, (width, width))


def scaled(a: Small, b: Diagonals, place: int) -> Small:
    """Return ``a`` times one of the diagonal matrices, where a zero wins over inf and nan."""
    rows, columns, values, sizes, shape = a
    start = place * len(b.where)
    return Small(rows, columns, picked(values, b.values, columns, start), picked(sizes, b.sizes, columns, start), shape)


def picked(a: list[float], b: list[float] | Array, columns: list[int], start: int = 0) -> list[float]:
    """Return the product of each number of ``a`` and the one of ``b`` that its column picks."""
    if len(a) == 1:
        x, y = a[0], b[start + columns[0]]
        return [x * y if x and y else 0.0]
    return [x * b[start + j] if x and b[start + j] else 0.0 for x, j in zip(a, columns, strict=True)]


def small_product(a: Small, b: Small) -> Small | None:
    """Return ``a @ b``, where a zero wins over inf and nan; None where so many terms meet that their order matters."""
    shape = (a.shape[0], b.shape[1])
    if b.rows == list(range(b.shape[0])):
        values, sizes = picked(a.values, b.values, a.columns), picked(a.sizes, b.sizes, a.columns)
        return joined(Small(a.rows, [b.columns[j] for j in a.columns], values, sizes, shape))
    met = [(i, k) for i, j in enumerate(a.columns) for k, row in enumerate(b.rows) if row == j]
    rows, columns = [a.rows[i] for i, _ in met], [b.columns[k] for _, k in met]
    values = [a.values[i] * b.values[k] if a.values[i] and b.values[k] else 0.0 for i, k in met]
    sizes = [a.sizes[i] * b.sizes[k] if a.sizes[i] and b.sizes[k] else 0.0 for i, k in met]
    return joined(Small(rows, columns, values, sizes, shape))


def small_sum(a: Small, b: Small) -> Small:
    """Return ``a + b``."""
    if a.columns == b.columns and a.rows == b.rows:
        values = [x + y for x, y in zip(a.values, b.values, strict=True)]
        return Small(a.rows, a.columns, values, [x + y for x, y in zip(a.sizes, b.sizes, strict=True)], a.shape)
    both = joined(Small(a.rows + b.rows, a.columns + b.columns, a.values + b.values, a.sizes + b.sizes, a.shape))
    assert both is not None  # two terms at most meet in one place  # noqa: S101
    return both


def joined(a: Small) -> Small | None:
    """Return a matrix with its entries in order, those in one place added up; None where these are many."""
    if len(a.rows) < 2:
        return a
    places = list(zip(a.rows, a.columns, strict=True))
    if all(x < y for x, y in pairwise(places)):
        return a
    groups: dict[tuple[int, int], list[int]] = {}
    for i, place in enumerate(places):
        groups.setdefault(place, []).append(i)
    if max(map(len, groups.values())) >= MANY_TERMS:
        return None
    order = sorted(groups)
    values = [total([a.values[i] for i in groups[place]]) for place in order]
    sizes = [total([a.sizes[i] for i in groups[place]]) for place in order]
    return Small([row for row, _ in order], [column for _, column in order], values, sizes, a.shape)


def total(terms: list[float]) -> float:
    """Return the sum as numpy's ``reduceat`` takes it: the first, and the sum of the others."""
    first, *others = terms
    if not others:
        return first
    rest = others[0]
    for term in others[1:]:  # and not sum(), which compensates in later versions of Python
        rest += term
    return first + rest
