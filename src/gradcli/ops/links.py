"""What a local reading gives: which entries of an output depend on which of an argument, by which formula.

``Links`` list them. Where they are as many as the terms of a product of matrices, a ``Contraction`` says them by
subscripts, and they are listed only where they are few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Protocol

import numpy as np

from gradcli.ops import signatures
from gradcli.ops.signatures import Array, Formula
from gradcli.records import dataclass, field

Indices = signatures.Indices

Slot = int
"""What a symbol of a factor stands for: argument k, the output, or one of two auxiliary values."""
Auxiliary = tuple[str, Array]
"""A value that a derivative needs and the program does not hold: its text, ``{}`` for argument 0, and its numbers."""
OUT = -1
AUXILIARY = -2
SECOND = -3
ONE = "."
"""The subscript of an axis of length 1 that broadcasts along another's."""


@dataclass(frozen=True, slots=True)
class Partial:
    """The derivative of ``formula`` by its argument number ``argument``; sympy takes it."""

    formula: Formula
    argument: int = 0


@dataclass(frozen=True, slots=True)
class Implicit:
    """The derivative of y by x where ``outer(y)`` is a sum of ``inner(x)``: inner'(x) / outer'(y); sympy takes both."""

    inner: Formula
    outer: Formula


@dataclass(frozen=True, slots=True)
class Explicit:
    """A coefficient that is a formula as it stands, such as the other factor of a product."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class Links:
    """A part of a local Jacobian: ``d out[rows] / d argument[columns] = weight * factor(bound values)``.

    ``rows`` and ``columns`` are flat indices. ``factor`` takes one symbol for each item of ``bound``, and an item is
    ``(slot, flat indices)``.
    A weight of 0 says that the derivative is 0 here by convention, whatever the factor.
    """

    rows: Indices
    columns: Indices
    weight: Array | float = 1.0
    factor: Partial | Implicit | Explicit | None = None
    bound: tuple[tuple[Slot, Indices], ...] = ()
    auxiliary: Auxiliary | None = None
    second: Auxiliary | None = None


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

    @property
    def letters(self) -> str:
        """Both letters."""
        return self.row + self.column

    def allowed(self, length: int) -> Array:
        """Return 1 for every pair of indices that stands in this order, and 0 for the others."""
        return np.tri(length) if self.order is Order.NOT_BEFORE else 1.0 - np.eye(length)

    def pairs(self, length: int) -> tuple[Indices, Indices]:
        """Return the two indices of all pairs that stand in this order."""
        row, column = np.nonzero(self.allowed(length))
        return row, column


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
    auxiliary: Auxiliary | None = None
    second: Auxiliary | None = None
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
        beside = "" if self.line is None else self.line.letters
        free = [letter for letter, length in self.lengths.items() if letter not in beside and length != 1]
        shape = [*(self.lengths[letter] for letter in free), 1]
        where = {letter: np.zeros(1, dtype=np.intp) for letter in self.lengths}
        where |= {
            letter: along_axis(np.arange(n), k, len(shape))
            for k, (letter, n) in enumerate(zip(free, shape, strict=False))
        }
        if self.line is not None:
            pairs = self.line.pairs(self.lengths[self.line.row])
            where |= dict(zip(beside, pairs, strict=True))
            shape[-1] = len(pairs[0])
        found: dict[str, Indices] = {}

        def flat(subscripts: str) -> Indices:
            if subscripts not in found:
                index: Any = np.zeros(1, dtype=np.intp)
                for letter in subscripts:
                    index = index if letter == ONE else index * self.lengths[letter] + where[letter]
                found[subscripts] = np.broadcast_to(index, shape).ravel()
            return found[subscripts]

        bound = tuple([(slot, flat(subscripts)) for slot, subscripts in self.bound])
        return Links(flat(self.rows), flat(self.columns), self.weight, self.factor, bound, self.auxiliary, self.second)


class Bound(Protocol):
    """Links in any form, with what their symbols may stand for."""

    @property
    def auxiliary(self) -> Auxiliary | None:
        """What ``AUXILIARY`` stands for."""

    @property
    def second(self) -> Auxiliary | None:
        """What ``SECOND`` stands for."""


def auxiliary_of(links: Bound, slot: Slot) -> Auxiliary:
    """Return the auxiliary value that a slot stands for."""
    found = links.auxiliary if slot == AUXILIARY else links.second
    assert found is not None  # a local reading that binds one gives it  # noqa: S101
    return found


def along_axis(index: Indices, axis: int, ndim: int) -> Indices:
    """Return an array of one axis as one of so many, along one of these."""
    return index.reshape([-1 if k == axis else 1 for k in range(ndim)])


def listed(links: Links | Contraction) -> Links:
    """Return links as a list, whichever way they are said."""
    return links.listed() if isinstance(links, Contraction) else links


Local = Callable[..., Sequence[Links | Contraction]]
"""``local(argument, out, values, static)``: the links from argument number ``argument`` to ``out``."""
