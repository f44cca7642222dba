"""Sparse matrices as three arrays, over numbers or formulas; enough of them to compose Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.errors import over_budget
from gradcli.errors.counting import counted
from gradcli.ops.declare import Array
from gradcli.ops.links import Indices
from gradcli.records import dataclass

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


def nothing(rows: int, columns: int) -> Sparse:
    """Return a matrix without entries."""
    empty = np.zeros(0, dtype=np.intp)
    return Sparse(empty, empty, np.zeros(0), np.zeros(0), (rows, columns))


SHORT = 1_000
"""Entries up to which it costs more to find out that they stand in order than to pick them one by one."""


def rising(places: Indices) -> bool:
    """Return whether each of these numbers is larger than the one before."""
    return bool((places[1:] > places[:-1]).all())


def times(a: Array, b: Array | float) -> Array:
    """Return the products, where a zero wins over inf and nan: what cannot be reached does not count."""
    product = a * b
    if product.dtype == object or (product.all() and not np.isnan(product).any()):
        return product
    return np.where((a == 0) | (b == 0), 0.0, product)


def gathered(parts: list[Sparse], shape: tuple[int, int]) -> Sparse:
    """Return the sum of sparse matrices, each place once and in order."""
    if len(parts) == 1:
        return ordered(parts[0])
    rows = np.concatenate([part.rows for part in parts])
    columns = np.concatenate([part.columns for part in parts])
    values = np.concatenate([part.values for part in parts])
    sizes = None if parts[0].sizes is None else np.concatenate([part.sizes for part in parts if part.sizes is not None])
    return ordered(Sparse(rows, columns, values, sizes, shape))


def added(a: Sparse, b: Sparse) -> Sparse:
    """Return the sum of two matrices, each with its entries in order."""
    if not same_places(a, b):
        return gathered([a, b], a.shape)
    sizes = None if a.sizes is None or b.sizes is None else a.sizes + b.sizes
    return Sparse(a.rows, a.columns, a.values + b.values, sizes, a.shape)


def same_places(a: Sparse, b: Sparse) -> bool:
    """Return whether two matrices have their entries in the same places."""
    return same(a.rows, b.rows) and same(a.columns, b.columns)


def same(a: Indices, b: Indices) -> bool:
    """Return whether two lists of places are equal; most often they are one list."""
    return a is b or (len(a) == len(b) and bool((a == b).all()))


def ordered(matrix: Sparse) -> Sparse:
    """Return a matrix with its entries in order of row and column, those in one place added up."""
    if rising(matrix.rows):
        return matrix
    key = matrix.rows * matrix.shape[1] + matrix.columns
    if rising(key):
        return matrix
    crowded = len(key) >= max(CROWDED * matrix.shape[0] * matrix.shape[1], MANY)
    if crowded and matrix.values.dtype == np.float64:
        return summed(matrix, key)
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    if len(starts) == len(key):
        sizes = None if matrix.sizes is None else matrix.sizes[order]
        return Sparse(matrix.rows[order], matrix.columns[order], matrix.values[order], sizes, matrix.shape)
    values = np.add.reduceat(matrix.values[order], starts)
    sizes = None if matrix.sizes is None else np.add.reduceat(matrix.sizes[order], starts)
    return Sparse(matrix.rows[order][starts], matrix.columns[order][starts], values, sizes, matrix.shape)


CROWDED, MANY = 4, 100_000
"""Entries for each place, and entries, from which they are added up place by place, without an order."""


def summed(matrix: Sparse, key: Indices) -> Sparse:
    """Return a matrix with its entries in order, those in one place added up, by a sum for each place that there is."""
    length = matrix.shape[0] * matrix.shape[1]
    places = np.flatnonzero(np.bincount(key, minlength=length))
    values, sizes = (
        None if numbers is None else np.asarray(np.bincount(key, numbers, length)[places], dtype=np.float64)
        for numbers in (matrix.values, matrix.sizes)
    )
    assert values is not None  # noqa: S101
    return Sparse(places // matrix.shape[1], places % matrix.shape[1], values, sizes, matrix.shape)


def product(a: Sparse, b: Sparse, most: int) -> Sparse:
    """Return ``a @ b``; raises ``budget`` where it would take more than ``most`` products of entries."""
    if len(b.rows) == b.shape[0] and rising(b.rows):
        return picked(a, b)
    left, right = meetings(a, b, most)
    sizes = None if a.sizes is None or b.sizes is None else times(a.sizes[left], b.sizes[right])
    values = times(a.values[left], b.values[right])
    return ordered(Sparse(a.rows[left], b.columns[right], values, sizes, (a.shape[0], b.shape[1])))


def picked(a: Sparse, b: Sparse) -> Sparse:
    """Return ``a @ b`` where each row of ``b`` has one entry: each entry of ``a`` meets one."""
    shape = (a.shape[0], b.shape[1])
    if same(a.columns, b.rows):
        sizes = None if a.sizes is None or b.sizes is None else times(a.sizes, b.sizes)
        columns = a.columns if same(b.rows, b.columns) else b.columns
        found = Sparse(a.rows, columns, times(a.values, b.values), sizes, shape)
    else:
        sizes = None if a.sizes is None or b.sizes is None else times(a.sizes, b.sizes[a.columns])
        found = Sparse(a.rows, b.columns[a.columns], times(a.values, b.values[a.columns]), sizes, shape)
    return found if b.columns is b.rows or rising(b.columns) else ordered(found)


def meetings(a: Sparse, b: Sparse, most: int) -> tuple[Indices, Indices]:
    """Return which entries of ``a`` meet which entries of ``b`` in the product: column of one, row of the other."""
    starts = np.searchsorted(b.rows, np.arange(b.shape[0] + 1))
    counts = starts[a.columns + 1] - starts[a.columns]
    total = int(np.sum(counts))
    if total > most:
        raise over_budget("jacobian", most, f"the Jacobian takes {counted(total, 'product of entries')}")
    left = np.repeat(np.arange(len(a.rows)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return left, np.arange(total) - first + starts[a.columns][left]


ONE_BY_ONE = 64
"""Terms that are added up one by one; numpy adds more of them pairwise, as the engine's rules do."""


def column_sums(terms: Array, columns: Indices, count: int) -> Array:
    """Return the sums of the terms of each column: pairwise where they are many, so that rounding does not add up."""
    return summing(columns, count)(terms)


def summing(columns: Indices, count: int) -> Callable[[Array], Array]:
    """Return what sums the terms of each column, to be asked again and again: the columns are sorted once."""
    if np.bincount(columns).max(initial=0) <= ONE_BY_ONE:
        return lambda terms: np.bincount(columns, terms, count)  # type: ignore[return-value] # numpy types counts
    order = np.argsort(columns, kind="stable")
    found, starts = np.unique(columns[order], return_index=True)

    def sums(terms: Array) -> Array:
        total = np.zeros(count)
        total[found] = np.add.reduceat(terms[order], starts)
        return total

    return sums
