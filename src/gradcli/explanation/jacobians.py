"""∂y/∂x as an answer holds it: by its entries, or where these are too many by what it makes of vectors."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gradcli.jacobian.sparse import DENSE_ENTRIES, column_sums, times
from gradcli.ops.declare import Array, Indices

if TYPE_CHECKING:
    from gradcli.formulas.index_rules import IndexRule
    from gradcli.jacobian.sparse import Pattern


class LinearMap(Protocol):
    """∂y/∂x as what it makes of a vector; each answer goes with the sizes of the terms that it adds up."""

    def back(self, v: Array) -> tuple[Array, Array]:
        """Return vᵀ·J in the shape of x, for a v in the shape of y."""

    def forth(self, u: Array) -> tuple[Array, Array]:
        """Return J·u in the shape of y, for a u in the shape of x."""


@dataclasses.dataclass(frozen=True, slots=True)
class Jacobian:
    """∂y/∂x for one variable: the entries that can be non-zero, in flat order of y (rows) and x (columns).

    - ``output_shape``, ``input_shape``: the shapes of y and of x.
    - ``pattern``: where each entry stands: its ``rows`` and ``columns``.
    - ``values``: the derivative in each of these places.
    - ``sizes``: the sum of the absolute terms that each of these derivatives is a sum of.
    - ``formulas``: a text for each of these entries; None where they are too many or too long.
    - ``index_rules``: what formulas have in common, or what stands in their place; there may be none.
    - ``held``: whether the entries are held at all. Where they are too many, ``rows``, ``columns``, ``values`` and
      ``sizes`` are empty and ``structure`` is ``unknown``, but ``vjp``, ``row`` and ``column`` give any part of J.
    - ``applied``: what gives these parts.

    >>> J = gradcli.explain("x**2", x=[1, 2], v=[1, 1]).jacobian["x"]
    >>> J.shape, J.matrix_shape, J.structure
    ((2, 2), (2, 2), 'diagonal')
    >>> J.formulas, J.values.tolist()
    (['2*x[0]', '2*x[1]'], [2.0, 4.0])
    >>> J.row(1).tolist(), J.column(0).tolist()
    ([0.0, 4.0], [2.0, 0.0])
    """

    output_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    pattern: Pattern
    values: Array
    sizes: Array
    formulas: list[str] | None
    index_rules: list[IndexRule] = dataclasses.field(default_factory=list)
    held: bool = True
    applied: LinearMap | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def rules(self) -> list[str]:
        """The index rules as lines such as ``dy[i]/dx[i] = 2*x[i]``."""
        return [rule.text for rule in self.index_rules]

    @property
    def rows(self) -> Indices:
        """Where each entry stands in y, flattened by rows: integers."""
        return self.pattern.rows

    @property
    def columns(self) -> Indices:
        """Where each entry stands in x, flattened by rows: integers."""
        return self.pattern.columns

    @property
    def structure(self) -> str:
        """``zero``, ``diagonal``, ``permutation``, ``block-diagonal``, ``triangular``, ``banded``, ``dense`` or
        ``sparse``; ``unknown`` where the entries are not held.
        """
        return self.pattern.structure if self.held else "unknown"

    @property
    def shape(self) -> tuple[int, ...]:
        """``y.shape + x.shape``."""
        return self.output_shape + self.input_shape

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Entries of y by entries of x."""
        return math.prod(self.output_shape), math.prod(self.input_shape)

    @property
    def passes(self) -> int | None:
        """How many calls of backward give all of J, rows that share no column in one; None where that is not known."""
        return self.pattern.passes if self.held else None

    @property
    def numeric(self) -> Array | None:
        """All entries as an array of ``shape``; None for a Jacobian with more than 10,000 of them, or not held."""
        if not self.held or self.matrix_shape[0] * self.matrix_shape[1] > DENSE_ENTRIES:
            return None
        full = np.zeros(self.matrix_shape)
        full[self.rows, self.columns] = self.values
        return full.reshape(self.shape)

    def vjp(self, seed: Array) -> Array:
        """Return vᵀ·J in the shape of x, for a v in the shape of y."""
        if self.applied is not None and not self.held:
            return self.applied.back(seed)[0]
        return self.summed(np.ravel(seed), self.values)

    def scale(self, seed: Array) -> Array:
        """Return the sizes of the terms that vᵀ·J adds up, in the shape of x."""
        if self.applied is not None and not self.held:
            return self.applied.back(seed)[1]
        return self.summed(np.abs(np.ravel(seed)), self.sizes)

    def summed(self, v: Array, values: Array) -> Array:
        """Return vᵀ times ``values`` in the places of the entries, in the shape of x; a zero wins over inf and nan."""
        with np.errstate(all="ignore"):
            return self.pattern.sum_columns(times(v[self.rows], values)).reshape(self.input_shape)

    def row(self, index: int | tuple[int, ...]) -> Array:
        """Return the derivatives of the entry of y at an index, in the shape of x; raises ``IndexError``."""
        return self.vjp(one_hot(self.output_shape, index))

    def column(self, index: int | tuple[int, ...]) -> Array:
        """Return the derivatives by the entry of x at an index, in the shape of y; raises ``IndexError``."""
        hot = one_hot(self.input_shape, index)
        if self.applied is not None and not self.held:
            return self.applied.forth(hot)[0]
        count = self.matrix_shape[0]
        return weighted_sums(np.ravel(hot), self.columns, self.rows, self.values, count).reshape(self.output_shape)


def one_hot(shape: tuple[int, ...], index: int | tuple[int, ...]) -> Array:
    """Return zeros with a 1 at an index, which has one number for each axis, or counts entries by rows."""
    hot = np.zeros(shape)
    if isinstance(index, tuple) and len(index) == len(shape):
        hot[index] = 1.0
    else:
        hot.reshape(-1)[index] = 1.0
    return hot


def weighted_sums(v: Array, rows: Indices, columns: Indices, values: Array, count: int) -> Array:
    """Return vᵀ times the entries of a matrix with ``count`` columns; a zero wins over inf and nan."""
    with np.errstate(all="ignore"):
        return column_sums(times(v[rows], values), columns, count)
