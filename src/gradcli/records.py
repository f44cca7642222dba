"""Data classes at a quarter of the price: of a class with four fields Python writes and compiles seven methods, 0.5 ms.

There are a hundred of them on the way to an answer. Of their methods only ``__init__`` is compiled for each; the others
are the same for all. Nothing is assigned to a ``frozen`` one: mypy checks it, to which this is Python's own decorator.
``Budget``, ``Explained``, ``Checked`` and ``Jacobian``, which users hold, are Python's own and refuse it as they run.

>>> @dataclass(frozen=True, slots=True)
... class Point:
...     x: int
...     y: int = 2
>>> Point(1), Point(1) == Point(1, 2), len({Point(1), Point(1, 2)})
(Point(x=1, y=2), True, 1)
"""

from __future__ import annotations

import dataclasses
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(kind: type | None = None, *, eq: bool = True, frozen: bool = False, slots: bool = False) -> Any:
        """Do what ``dataclasses.dataclass`` does; methods that the class has itself stay."""
        if kind is None:
            return lambda kind: dataclass(kind, eq=eq, frozen=frozen, slots=slots)
        compared = {"__eq__": _equal, "__hash__": _hash if frozen else None} if eq else {}
        for name, method in ({"__repr__": _text} | compared).items():
            if name not in vars(kind):
                setattr(kind, name, method)
        return dataclasses.dataclass(kind, slots=slots, eq=False, repr=False)


def _compared(record: Any) -> list[Any]:
    return [getattr(record, one.name) for one in dataclasses.fields(record) if one.compare]


def _equal(record: Any, other: object) -> bool:
    return _compared(record) == _compared(other) if type(other) is type(record) else NotImplemented


def _hash(record: Any) -> int:
    return hash(tuple(_compared(record)))


def _text(record: Any) -> str:
    shown = [f"{one.name}={getattr(record, one.name)!r}" for one in dataclasses.fields(record) if one.repr]
    return f"{type(record).__qualname__}({', '.join(shown)})"
