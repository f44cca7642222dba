"""The types of what ops take and give, and the links of their entries.

A local reading says which entries of an output depend on which of an argument, by which formula: ``Links`` list them.
Where they are as many as the terms of a product of matrices, a ``Contraction`` says them by subscripts, and they are
listed only where they are few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from gradcli.records import dataclass, field

if TYPE_CHECKING:
    from types import EllipsisType


Shape = tuple[int, ...]
Axes = tuple[int, ...]
"""Axes counted from 0."""

Array = np.ndarray[Any, np.dtype[np.float64]]
"""The numbers of a value: doubles, or what numpy makes of them where no axis is left, a ``np.float64``.

A rule that serves many digits too gets numbers with operators (``exact/real.py``) in their place.
"""
Mask = np.ndarray[Any, np.dtype[np.bool_]]
"""Truth values, entry by entry."""
Indices = np.ndarray[Any, np.dtype[np.intp]]
"""Positions, in flat order or along an axis."""
Integers = np.ndarray[Any, np.dtype[np.int64]]
Exact = np.ndarray[Any, np.dtype[np.object_]]
"""Numbers of many digits, entry by entry."""
Given = np.ndarray[Any, np.dtype[np.float64 | np.int64 | np.bool_]]
"""Numbers as a user gives them: what is typed in integers alone is integers."""
Number = Array | float
"""An argument of an operator: the numbers of a value, or a plain number of the program."""
Place: TypeAlias = "int | slice | EllipsisType | Indices | Mask | None"
Index: TypeAlias = "Place | tuple[Place, ...]"
"""What stands between the brackets of an array."""
Options = dict[str, Any]
"""The options of an operation by name, such as ``dim`` and ``keepdim``; their types stand in its forward."""


class Tensor(Protocol):
    """An array of a program: a node of the graph, or plain numbers. A parameter of a function takes a number as one."""

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""

    @property
    def ndim(self) -> int:
        """The number of axes."""


Tensors = Sequence[Tensor]
"""A parameter that takes a list of arrays, not stacked."""
Raw: TypeAlias = Any
"""A parameter that takes a value of a program as it is: an array of any kind, a plain number, a list of integers."""
Raws: TypeAlias = Sequence[Any]
"""A parameter that takes a list or a tuple of values as they are."""
Static: TypeAlias = "float | str | tuple[Static, ...] | None"
"""A parameter that takes plain numbers, flags, texts, tuples of them or None, known when the program runs."""
Library = str
"""A parameter that no user gives: the library whose name was used, ``np``, ``F``, or else ``torch``."""

Expression = Any
"""A term of sympy, which has no types, or a number in its place."""
Symbols = Any
"""The functions that a formula is made of, ``s``: those of sympy, or those of numbers."""
Rounding = Callable[..., "tuple[Array | None, Array | None]"]
"""Computes a value and a slope of an output and its arguments, None for one that is not told."""
Rule = Callable[..., Array | Mask | Indices | Exact | np.generic | bool]
"""A part of a record that makes numbers, truth values or positions of numbers."""
Forward = Callable[..., Array]
"""``forward(*values, **options)``: the output."""
Vjp = Callable[..., Array]
"""``vjp(g, out, *values, **options)``: the cotangent of one argument, from that of the output."""
Test = Callable[..., Mask | np.bool_ | bool]
"""Whether something holds, entry by entry or for all."""
Formula = Callable[..., Expression]
"""``formula(s, *symbols, **options)``: an expression, made by the functions of ``s``."""


# --- links ---

NORMAL = np.finfo(np.float64).tiny
"""The smallest double that has all its digits."""
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
        result: dict[str, Indices] = {}

        def flat(subscripts: str) -> Indices:
            if subscripts not in result:
                index: Any = np.zeros(1, dtype=np.intp)
                for letter in subscripts:
                    index = index if letter == ONE else index * self.lengths[letter] + where[letter]
                result[subscripts] = np.broadcast_to(index, shape).ravel()
            return result[subscripts]

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
    result = links.auxiliary if slot == AUXILIARY else links.second
    assert result is not None  # a local reading that binds one gives it  # noqa: S101
    return result


def along_axis(line: Any, axis: int, ndim: int) -> Any:
    """Return an array of one axis as one of so many, along one of these."""
    return line.reshape([-1 if k == axis else 1 for k in range(ndim)])


def listed(links: Links | Contraction) -> Links:
    """Return links as a list, whichever way they are said."""
    return links.listed() if isinstance(links, Contraction) else links


class At(NamedTuple):
    """One application of an op, ``out`` of ``values`` with options, whose links to one ``argument`` are read."""

    argument: int
    out: Array
    values: tuple[Array, ...]
    static: Options

    @property
    def x(self) -> Array:
        """The first argument's numbers."""
        return self.values[0]

    def places(self, k: int, every: Indices) -> Indices:
        """Return for each entry of ``out``, at the flat places ``every``, that of argument k that broadcasts to it."""
        shape = np.shape(self.values[k])
        if shape == np.shape(self.out):
            return every
        return np.broadcast_to(np.arange(math.prod(shape), dtype=np.intp).reshape(shape), np.shape(self.out)).ravel()


Local = Callable[[At], Sequence[Links | Contraction]]
"""``local(at)``: the links of an application to one of its arguments."""
