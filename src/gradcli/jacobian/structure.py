"""The pattern of a Jacobian: the places that can be non-zero, and what follows from them alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradcli.jacobian.sparse import summing
from gradcli.ops.declare import Array
from gradcli.ops.links import Indices


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
        from gradcli.jacobian.colouring import count_passes  # no check needs it

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
