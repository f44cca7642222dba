"""Jacobians on their way through the graph: few entries go as lists, more as arrays, and sums wait.

A Jacobian of up to ``few`` entries is ``Small``, any other ``Sparse``, or a ``Sum`` whose parts are not yet added up.
"""

from __future__ import annotations

from gradcli.jacobian.small import FEW, Diagonals, Small, scaled, small, small_product, small_sum
from gradcli.jacobian.sparse import Sparse, added, gathered, product
from gradcli.records import dataclass, field

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
