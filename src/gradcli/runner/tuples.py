"""Tuples whose items have names: results of functions, and ``collections.namedtuple``."""

from __future__ import annotations

from typing import Any


class Named(tuple):  # type: ignore[type-arg]
    """A tuple with names; it is shown under its own name."""

    name: str
    fields: tuple[str, ...]
    kind: Any
    """The class of the script that it is an object of, None for a result of a library's function."""

    def __new__(cls, name: str, fields: dict[str, Any], kind: Any = None) -> Named:
        """Return a tuple of these values."""
        made = super().__new__(cls, fields.values())
        made.name = name
        made.fields = tuple(fields)
        made.kind = kind
        return made
