"""What a local reading gives: which entries of an output depend on which of an argument, by which formula.

``Links`` list them. Where they are as many as the terms of a product of matrices, a ``Contraction`` says them by
subscripts, and they are listed only where they are few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.intp]
Slot = int
"""What a symbol of a factor stands for: argument k, the output (``OUT``) or the auxiliary value (``AUXILIARY``)."""
OUT = -1
AUXILIARY = -2
ONE = "."
"""The subscript of an axis of length 1 that broadcasts along another's."""


@dataclass(frozen=True, slots=True)
class Partial:
    """The derivative of ``formula`` by its argument number ``argument``; sympy takes it."""

    formula: Callable[..., Any]
    argument: int = 0


@dataclass(frozen=True, slots=True)
class Implicit:
    """The derivative of y by x where ``outer(y)`` is a sum of ``inner(x)``: inner'(x) / outer'(y); sympy takes both."""

    inner: Callable[..., Any]
    outer: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Explicit:
    """A coefficient that is a formula as it stands, such as the other factor of a product."""

    formula: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Links:
    """A part of a local Jacobian: ``d out[rows] / d argument[columns] = weight * factor(bound values)``.

    ``rows`` and ``columns`` are flat indices. ``factor`` takes one symbol for each item of ``bound``, and an item is
    ``(slot, flat indices)``.
    A weight of 0 says that the derivative is 0 here by convention, whatever the factor.
    """

    rows: Indices
    columns: Indices
    weight: npt.NDArray[Any] | float = 1.0
    factor: Partial | Implicit | Explicit | None = None
    bound: tuple[tuple[Slot, Indices], ...] = ()
    auxiliary: tuple[str, npt.NDArray[Any]] | None = None


class Order(Enum):
    """How the index of an output stands to that of an entry that it depends on, along the axis of a line."""

    OTHER = "!="
    NOT_BEFORE = ">="


@dataclass(frozen=True, slots=True)
class Line:
    """One axis whose two indices are told apart: ``row`` that of the output, ``column`` that of the argument."""

    row: str
    column: str
    order: Order


@dataclass(frozen=True, slots=True)
class Contraction:
    """Links in the subscripts of a sum of products: every choice of an index for each letter is one link.

    ``rows`` are the subscripts of the output, ``columns`` those of the argument, and an item of ``bound`` is
    ``(slot, subscripts)``. ``lengths`` has the length of the axis of each letter; ``ONE`` stands for an axis of length
    1. ``factor`` and ``weight`` are those of ``Links``, and links that ``line`` does not allow are none.

    The product of A, 2×3, and B, 3×4, by A: each of its 24 links has the other factor as its coefficient.

    >>> by_left = Contraction("ac", "ab", {"a": 2, "b": 3, "c": 4}, bound=((1, "bc"),))
    >>> by_left.count, by_left.listed().rows[:5]
    (24, array([0, 1, 2, 3, 0]))
    """

    rows: str
    columns: str
    lengths: Mapping[str, int]
    weight: float = 1.0
    factor: Explicit | None = None
    bound: tuple[tuple[Slot, str], ...] = ()
    auxiliary: tuple[str, npt.NDArray[Any]] | None = None
    line: Line | None = field(default=None, kw_only=True)

    @property
    def count(self) -> int:
        """How many links there are at most."""
        return math.prod(self.lengths.values())

    def shape_of(self, subscripts: str) -> tuple[int, ...]:
        """Return the lengths of axes."""
        return tuple([1 if letter == ONE else self.lengths[letter] for letter in subscripts])

    def listed(self) -> Links:
        """Return all links, in the order of their indices."""
        shape = tuple(self.lengths.values())
        grid = np.indices(shape, dtype=np.intp).reshape(len(shape), self.count)
        where = dict(zip(self.lengths, grid, strict=True))
        if self.line is not None:
            row, column = where[self.line.row], where[self.line.column]
            kept = row != column if self.line.order is Order.OTHER else row >= column
            where = {letter: index[kept] for letter, index in where.items()}
        count = len(next(iter(where.values()))) if where else 1

        def flat(subscripts: str) -> Indices:
            index = np.zeros(count, dtype=np.intp)
            for letter in subscripts:
                index = index if letter == ONE else index * self.lengths[letter] + where[letter]
            return index

        bound = tuple([(slot, flat(subscripts)) for slot, subscripts in self.bound])
        return Links(flat(self.rows), flat(self.columns), self.weight, self.factor, bound, self.auxiliary)


def listed(links: Links | Contraction) -> Links:
    """Return links as a list, whichever way they are said."""
    return links.listed() if isinstance(links, Contraction) else links


Local = Callable[..., Sequence[Links | Contraction]]
"""``local(argument, out, values, static)``: the links from argument number ``argument`` to ``out``."""
