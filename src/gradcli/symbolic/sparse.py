"""Sparse matrices as three arrays, over numbers or formulas; enough of them to compose Jacobians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.errors import over_budget
from gradcli.ops.declare import Array, Indices

DENSE_ENTRIES = 10_000
"""Entries of a Jacobian, its zeros counted, up to which it is also held, shown and written out with all of them."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """Entries ``values`` at ``(rows, columns)``, sorted by row and column, each place once.

    ``sizes`` belong to the entries as ``values`` do, and add up without cancelling; None for formulas.
    """

    rows: Indices
    columns: Indices
    values: Array
    sizes: Array | None
    shape: tuple[int, int]

    def dense(self) -> Array:
        """Return the matrix with all its zeros."""
        full = np.zeros(self.shape, dtype=self.values.dtype)
        full[self.rows, self.columns] = self.values
        return full


def identity(size: int, one: Any, dtype: Any) -> Sparse:
    """Return the identity matrix with ``one`` on its diagonal."""
    where = np.arange(size, dtype=np.intp)
    ones = np.full(size, one, dtype=dtype)
    return Sparse(where, where, ones, None if dtype is object else ones, (size, size))


def times(a: Array, b: Array) -> Array:
    """Return the products, where a zero wins over inf and nan: what cannot be reached does not count."""
    if a.dtype == object:
        return a * b
    return np.where((a == 0) | (b == 0), 0.0, a * b)


def gathered(parts: list[Sparse], shape: tuple[int, int]) -> Sparse:
    """Return the sum of sparse matrices, each place once and in order."""
    if len(parts) == 1:
        return ordered(parts[0])
    rows = np.concatenate([part.rows for part in parts])
    columns = np.concatenate([part.columns for part in parts])
    values = np.concatenate([part.values for part in parts])
    sizes = None if parts[0].sizes is None else np.concatenate([part.sizes for part in parts if part.sizes is not None])
    return ordered(Sparse(rows, columns, values, sizes, shape))


def ordered(matrix: Sparse) -> Sparse:
    """Return a matrix with its entries in order of row and column, those in one place added up."""
    key = matrix.rows * matrix.shape[1] + matrix.columns
    if len(key) < 2 or np.all(key[1:] > key[:-1]):
        return matrix
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    values = np.add.reduceat(matrix.values[order], starts)
    sizes = None if matrix.sizes is None else np.add.reduceat(matrix.sizes[order], starts)
    return Sparse(matrix.rows[order][starts], matrix.columns[order][starts], values, sizes, matrix.shape)


def product(a: Sparse, b: Sparse, bound: int) -> Sparse:
    """Return ``a @ b``; raises ``budget`` where it would take more than ``bound`` products of entries."""
    left, right = meetings(a, b, bound)
    sizes = None if a.sizes is None or b.sizes is None else times(a.sizes[left], b.sizes[right])
    values = times(a.values[left], b.values[right])
    return ordered(Sparse(a.rows[left], b.columns[right], values, sizes, (a.shape[0], b.shape[1])))


def meetings(a: Sparse, b: Sparse, bound: int) -> tuple[Any, Any]:
    """Return which entries of ``a`` meet which entries of ``b`` in the product: column of one, row of the other."""
    rows = np.arange(b.shape[0] + 1)
    if len(b.rows) == b.shape[0] and np.array_equal(b.rows, rows[:-1]):
        return slice(None), a.columns
    starts = np.searchsorted(b.rows, rows)
    counts = starts[a.columns + 1] - starts[a.columns]
    total = int(np.sum(counts))
    if total > bound:
        raise over_budget("jacobian", bound, f"the Jacobian takes {total:,} products of entries")
    left = np.repeat(np.arange(len(a.rows)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return left, np.arange(total) - first + starts[a.columns][left]
