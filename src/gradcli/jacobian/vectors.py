"""Vectors that a local Jacobian is applied to: rows of ∂y/∂node on the way back, columns of ∂node/∂x on the way there.

Each entry goes with the size of the terms that it adds up, and with whether it can be other than 0 at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array


@dataclass(frozen=True, slots=True)
class Vectors:
    """Several vectors, one in each row of ``values``; ``sizes`` and ``reached`` belong to their entries."""

    values: Array
    sizes: Array
    reached: Array

    def __add__(self, other: Vectors) -> Vectors:
        """Return the sums, vector by vector."""
        return Vectors(self.values + other.values, self.sizes + other.sizes, self.reached | other.reached)

    def through(
        self, numbers: Callable[[Array], Array], sizes: Callable[[Array], Array], places: Callable[[Array], Array]
    ) -> Vectors:
        """Return what three linear maps make of values, sizes and places."""
        return Vectors(numbers(self.values), sizes(self.sizes), places(self.reached.astype(np.float64)) > 0)

    def sparse(self) -> Sparse:
        """Return the vectors as the rows of a matrix of the entries that can be other than 0."""
        rows, columns = np.nonzero(self.reached)
        shape = (len(self.values), self.values.shape[1])
        return Sparse(rows, columns, self.values[rows, columns], self.sizes[rows, columns], shape)


def vectors(values: Array) -> Vectors:
    """Return vectors as they are given: no entry is the result of a sum, and one that is 0 counts as out of reach."""
    return Vectors(values, np.abs(values), values != 0)


def nowhere(count: int, length: int) -> Vectors:
    """Return vectors of zeros that nothing reaches."""
    return Vectors(np.zeros((count, length)), np.zeros((count, length)), np.zeros((count, length), dtype=bool))
