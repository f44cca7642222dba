"""Sparse matrices as three arrays, over numbers or formulas; enough of them to compose Jacobians.

On its way through the graph a Jacobian of up to ``few`` entries is ``Small``, which has lists, any other ``Sparse``, or
a ``Sum`` whose parts are not yet added up. A ``Pattern`` has the places that can be non-zero, and what follows from
them alone: a word for the structure, and how many calls of backward give all of J.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradcli.errors import over_budget
from gradcli.errors.hints import counted
from gradcli.ops.declare import Array
from gradcli.ops.links import Indices
from gradcli.records import dataclass, field

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

    def each(self, change: Callable[[Array], Array]) -> tuple[Array, Array | None]:
        """Return what becomes of the values, and of the sizes where there are any."""
        return change(self.values), None if self.sizes is None else change(self.sizes)

    def with_each(self, other: Sparse, join: Callable[[Array, Array], Array]) -> tuple[Array, Array | None]:
        """Return the values of two matrices joined, and their sizes where both have some."""
        sizes = None if self.sizes is None or other.sizes is None else join(self.sizes, other.sizes)
        return join(self.values, other.values), sizes

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
    if not (same(a.rows, b.rows) and same(a.columns, b.columns)):
        return gathered([a, b], a.shape)
    return Sparse(a.rows, a.columns, *a.with_each(b, operator.add), a.shape)


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
        return Sparse(matrix.rows[order], matrix.columns[order], *matrix.each(lambda x: x[order]), matrix.shape)
    sums = matrix.each(lambda x: np.add.reduceat(x[order], starts))
    return Sparse(matrix.rows[order][starts], matrix.columns[order][starts], *sums, matrix.shape)


CROWDED, MANY = 4, 100_000
"""Entries for each place, and entries, from which they are added up place by place, without an order."""


def summed(matrix: Sparse, key: Indices) -> Sparse:
    """Return a matrix with its entries in order, those in one place added up, by a sum for each place that there is."""
    length = matrix.shape[0] * matrix.shape[1]
    places = np.flatnonzero(np.bincount(key, minlength=length))
    sums = matrix.each(lambda x: np.asarray(np.bincount(key, x, length)[places], dtype=np.float64))
    return Sparse(places // matrix.shape[1], places % matrix.shape[1], *sums, matrix.shape)


def product(a: Sparse, b: Sparse, most: int) -> Sparse:
    """Return ``a @ b``; raises ``budget`` where it would take more than ``most`` products of entries."""
    if len(b.rows) == b.shape[0] and rising(b.rows):
        return picked(a, b)
    left, right = meetings(a, b, most)
    products = a.with_each(b, lambda x, y: times(x[left], y[right]))
    return ordered(Sparse(a.rows[left], b.columns[right], *products, (a.shape[0], b.shape[1])))


def picked(a: Sparse, b: Sparse) -> Sparse:
    """Return ``a @ b`` where each row of ``b`` has one entry: each entry of ``a`` meets one."""
    shape = (a.shape[0], b.shape[1])
    if same(a.columns, b.rows):
        columns = a.columns if same(b.rows, b.columns) else b.columns
        result = Sparse(a.rows, columns, *a.with_each(b, times), shape)
    else:
        products = a.with_each(b, lambda x, y: times(x, y[a.columns]))
        result = Sparse(a.rows, b.columns[a.columns], *products, shape)
    return result if b.columns is b.rows or rising(b.columns) else ordered(result)


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
        # of no terms numpy counts in integers
        return lambda terms: np.asarray(np.bincount(columns, terms, count), dtype=np.float64)
    order = np.argsort(columns, kind="stable")
    result, starts = np.unique(columns[order], return_index=True)

    def sums(terms: Array) -> Array:
        total = np.zeros(count)
        total[result] = np.add.reduceat(terms[order], starts)
        return total

    return sums


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
    return Small(
        rows,
        columns,
        picked_products(values, b.values, columns, start),
        picked_products(sizes, b.sizes, columns, start),
        shape,
    )


def picked_products(a: list[float], b: list[float] | Array, columns: list[int], start: int = 0) -> list[float]:
    """Return the product of each number of ``a`` and the one of ``b`` that its column picks."""
    if len(a) == 1:
        x, y = a[0], b[start + columns[0]]
        return [x * y if x and y else 0.0]
    return [x * b[start + j] if x and b[start + j] else 0.0 for x, j in zip(a, columns, strict=True)]


def small_product(a: Small, b: Small) -> Small | None:
    """Return ``a @ b``, where a zero wins over inf and nan; None where so many terms meet that their order matters."""
    shape = (a.shape[0], b.shape[1])
    if b.rows == list(range(b.shape[0])):
        values, sizes = picked_products(a.values, b.values, a.columns), picked_products(a.sizes, b.sizes, a.columns)
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


Entries = Small | Sparse


@dataclass(slots=True)
class Sum:
    """A long Jacobian and parts that are not yet added to it, with how many entries these have together.

    A loop over the entries of a vector adds one each time, and to merge that one with all others would cost the square.
    """

    total: Sparse
    parts: list[Sparse] = field(default_factory=list)
    entries: int = 0

    def settled(self) -> Sparse:
        """Return the sum of all."""
        if self.parts:
            parts = [self.total, *self.parts]
            self.total = added(*parts) if len(parts) == 2 else gathered(parts, self.total.shape)
            self.parts, self.entries = [], 0
        return self.total


Matrix = Small | Sparse | Sum


def settle(matrix: Matrix, few: int) -> Entries:
    """Return the entries of a matrix, all parts added up."""
    return shortened(matrix.settled(), few) if type(matrix) is Sum else matrix  # type: ignore[return-value]


def add(total: Matrix, part: Entries, few: int) -> Matrix:
    """Return the sum; a part of a long one waits until all that wait have as many entries together."""
    if type(total) is Small or (type(total) is Sparse and len(total.rows) <= FEW):
        if type(total) is Small and type(part) is Small:
            return listed_if_few(small_sum(total, part), few)
        return shortened(added(as_arrays(total), as_arrays(part)), few)
    waiting = total if isinstance(total, Sum) else Sum(as_arrays(total))
    waiting.parts.append(as_arrays(part))
    waiting.entries += len(part.rows)
    return waiting if waiting.entries < len(waiting.total.rows) else settle(waiting, few)


def multiply(outer: Entries, inner: Entries, most: int, few: int) -> Entries:
    """Return ``outer @ inner``; raises ``budget`` where it takes more than ``most`` products of entries."""
    if type(outer) is Small and type(inner) is Small:
        result = small_product(outer, inner)
        if result is not None:
            return listed_if_few(result, few)
    return shortened(product(as_arrays(outer), as_arrays(inner), most), few)


def scale(outer: Entries, diagonals: Diagonals, place: int, most: int, few: int) -> Entries:
    """Return ``outer`` times one of many diagonal matrices."""
    if type(outer) is Small and type(diagonals.values) is list:
        return scaled(outer, diagonals, place)
    return multiply(outer, diagonals.sparse(place), most, few)


def listed_if_few(matrix: Small, few: int) -> Entries:
    """Return entries as they are where they are few, else as arrays."""
    return matrix if len(matrix.rows) <= few else matrix.sparse()


def shortened(matrix: Sparse, few: int) -> Entries:
    """Return entries as lists where they are few, else as they are."""
    return small(matrix) if len(matrix.rows) <= few else matrix


def as_arrays(matrix: Entries) -> Sparse:
    """Return entries as arrays."""
    return matrix.sparse() if isinstance(matrix, Small) else matrix


@dataclass(frozen=True)
class Pattern:
    """The places of entries, in order of row and column. Runs that share formulas share it, and what it has found."""

    rows: Indices
    columns: Indices
    shape: tuple[int, int]

    @cached_property
    def structure(self) -> str:
        """One word."""
        return structure(self)

    @cached_property
    def passes(self) -> int | None:
        """How many calls of backward give all entries."""

        return count_passes(self.rows, self.columns)

    @cached_property
    def by_row(self) -> Indices:
        """How many entries each row has."""
        return np.bincount(self.rows, minlength=self.shape[0])

    @cached_property
    def fullest_column(self) -> int:
        """The most entries that a column has."""
        return int(np.bincount(self.columns).max(initial=0))

    @cached_property
    def sum_columns(self) -> Callable[[Array], Array]:
        """What adds up the terms of each column."""
        return summing(self.columns, self.shape[1])


def structure(jacobian: Pattern) -> str:
    """Return one word: zero, diagonal, permutation, block-diagonal, triangular, banded, dense or sparse."""
    rows, columns = jacobian.shape
    count = len(jacobian.rows)
    if not count:
        return "zero"
    if count == rows * columns:
        return "dense"
    offsets = jacobian.columns - jacobian.rows
    if rows == columns and not np.any(offsets):
        return "diagonal"
    # Not np.unique: it loads numpy.ma, which nothing else here needs.
    once = np.max(np.bincount(jacobian.rows)) == 1 == np.max(np.bincount(jacobian.columns))
    if rows == columns == count and once:
        return "permutation"
    if blocks(jacobian):
        return "block-diagonal"
    if rows == columns and (np.all(offsets <= 0) or np.all(offsets >= 0)):
        return "triangular"
    if rows == columns > 4 and np.max(np.abs(offsets)) <= max(rows // 4, 1):
        return "banded"
    return "sparse"


def blocks(jacobian: Pattern) -> int:
    """Return how many equal dense blocks along the diagonal make up the whole, 0 if none do."""
    rows, columns = jacobian.shape
    count = len(jacobian.rows)
    pieces = rows * columns // count
    if pieces < 2 or pieces * count != rows * columns or rows % pieces or columns % pieces:
        return 0
    same = jacobian.rows // (rows // pieces) == jacobian.columns // (columns // pieces)
    return pieces if bool(np.all(same)) else 0


MOST_ENTRIES = 5_000
"""Entries up to which rows are coloured one by one."""


def count_passes(rows: Indices, columns: Indices) -> int | None:
    """Return how many reverse passes give every entry of a matrix, from the places that can be non-zero.

    Each pass sends back a v with ones in rows that share no column. Rows take the first colour that is free, in order,
    so that this is an upper bound; None where there are too many entries to colour and nothing else tells.
    """
    if not len(rows):
        return 0
    # No colouring has fewer passes than a column has entries, and none needs more than there are rows in use.
    fewest, most = int(np.max(np.bincount(columns))), int(np.count_nonzero(np.bincount(rows)))
    if fewest in (1, most):
        return fewest
    return None if len(rows) > MOST_ENTRIES else colour(rows, columns)


def colour(rows: Indices, columns: Indices) -> int:
    """Return the colours of a greedy colouring of rows; each column holds those of its rows as bits."""
    of_rows: dict[int, list[int]] = {}
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        of_rows.setdefault(row, []).append(column)
    taken: dict[int, int] = {}
    used = 0
    for of_row in of_rows.values():
        met = 0
        for column in of_row:
            met |= taken.get(column, 0)
        free = ~met & (met + 1)
        used |= free
        for column in of_row:
            taken[column] = taken.get(column, 0) | free
    return used.bit_length()
