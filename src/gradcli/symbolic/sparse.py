"""Sparse matrices as three arrays, over numbers or formulas; enough of them to compose Jacobians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.errors import over_budget
from gradcli.ops.declare import Array, Indices


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
    rows = np.concatenate([part.rows for part in parts])
    columns = np.concatenate([part.columns for part in parts])
    values = np.concatenate([part.values for part in parts])
    sizes = None if parts[0].sizes is None else np.concatenate([part.sizes for part in parts if part.sizes is not None])
    key = rows * shape[1] + columns
    if len(key) > 1 and not np.all(key[1:] > key[:-1]):
        order = np.argsort(key, kind="stable")
        key = key[order]
        starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        rows, columns = rows[order][starts], columns[order][starts]
        values = np.add.reduceat(values[order], starts)
        sizes = None if sizes is None else np.add.reduceat(sizes[order], starts)
    return Sparse(rows, columns, values, sizes, shape)


def expansion(a: Sparse, b: Sparse) -> tuple[Indices, Indices]:
    """Return which entry of ``a`` meets which entry of ``b`` in the product ``a @ b``."""
    starts = np.searchsorted(b.rows, np.arange(b.shape[0] + 1))
    counts = starts[a.columns + 1] - starts[a.columns]
    left = np.repeat(np.arange(len(a.rows)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    right = np.arange(len(left)) - first + starts[a.columns][left]
    return left, right


def product(a: Sparse, b: Sparse, bound: int) -> Sparse:
    """Return ``a @ b``; raises ``budget`` where it would take more than ``bound`` products of entries."""
    starts = np.searchsorted(b.rows, np.arange(b.shape[0] + 1))
    total = int(np.sum(starts[a.columns + 1] - starts[a.columns]))
    if total > bound:
        raise over_budget("jacobian", bound, f"the Jacobian takes {total:,} products of entries")
    left, right = expansion(a, b)
    sizes = None if a.sizes is None or b.sizes is None else times(a.sizes[left], b.sizes[right])
    parts = Sparse(
        a.rows[left],
        b.columns[right],
        times(a.values[left], b.values[right]),
        sizes,
        (a.shape[0], b.shape[1]),
    )
    return gathered([parts], parts.shape)
