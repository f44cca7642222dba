"""Looking a function up, among those that are loaded and then in the index of all, which says what module has it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from gradcli.ops.vocabulary import FUNCTIONS, METHODS, Function


class Row(NamedTuple):
    """A function in the index, as the code has it; ``docs/make_index.py`` writes them, and a test holds them."""

    name: str
    module: str
    signature: str
    summary: str
    family: str
    spellings: tuple[str, ...]
    methods: tuple[str, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Return all functions, those that no program has loaded among them, in the order in which they are listed."""
    import json  # a start looks up no name that is not loaded

    text = Path(__file__).with_name("index.json").read_text(encoding="utf-8")
    return tuple([Row._make([*row[:5], *map(tuple, row[5:])]) for row in json.loads(text)])


@cache
def spellings() -> dict[str, Row]:
    """Return the functions by each name that a call may have."""
    return {name: row for row in rows() for name in row.spellings}


@cache
def methods() -> dict[str, Row]:
    """Return the functions by each name of a method."""
    return {name: row for row in rows() for name in row.methods}


def find(register: dict[str, Function], name: str) -> Function | None:
    """Return the function of this name in ``SPELLINGS`` or ``METHODS``; None where there is none in all of them."""
    if name in register:
        return register[name]
    row = (methods() if register is METHODS else spellings()).get(name)
    return row and load(row)


def load(row: Row) -> Function:
    """Return the function of a row, and import the module that has it."""
    import_module(row.module)
    return FUNCTIONS[row.name]


def load_all() -> None:
    """Import the functions that few programs call: they would cost every start."""
    from pkgutil import iter_modules

    further = import_module("gradcli.ops.further")
    for module in iter_modules(further.__path__):
        import_module(f"{further.__name__}.{module.name}")
