"""The types of what ops take and give: numbers, options, and the signatures of the rules in an op's record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

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

Record = dict[str, Any]
"""Fields of an op's record by name, which ``Op`` has the types of."""
Expression = Any
"""A term of sympy, which has no types, or a number in its place."""
Symbols = Any
"""The functions that a formula is made of, ``s``: those of sympy, or those of numbers."""
Doubles = Callable[..., "tuple[Array | None, Array | None]"]
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
