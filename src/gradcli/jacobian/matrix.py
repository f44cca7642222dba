"""Jacobians on their way through the graph: few entries go as lists, more as arrays, and sums wait.

A Jacobian of up to ``few`` entries is ``Small``, any other ``Sparse``, or a ``Sum`` whose parts are not yet added up.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradcli.jacobian.sparse import Sparse, added, gathered, product
from gradcli.ops.declare import Array
from gradcli.ops.links import Indices
from gradcli.records import dataclass, field

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
        found = small_product(outer, inner)
        if found is not None:
            return listed_if_few(found, few)
    return shortened(product(as_arrays(outer), as_arrays(inner), most), few)


def scale(outer: Entries, diagonals: Diagonals, place: int, most: int, few: int) -> Entries:
    """Return ``outer`` times one of many diagonal matrices."""
    if type(outer) is Small and type(diagonals.values) is list:
        return scaled(outer, diagonals, place)
    return multiply(outer, diagonals.sparse(place), most, few)


def listed_if_few(found: Small, few: int) -> Entries:
    """Return entries as they are where they are few, else as arrays."""
    return found if len(found.rows) <= few else found.sparse()


def shortened(found: Sparse, few: int) -> Entries:
    """Return entries as lists where they are few, else as they are."""
    return small(found) if len(found.rows) <= few else found


def as_arrays(found: Entries) -> Sparse:
    """Return entries as arrays."""
    return found.sparse() if isinstance(found, Small) else found
