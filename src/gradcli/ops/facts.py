"""What people look up about a function, read from ``facts.toml``: its formula, its derivatives, a program to try."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple


class Facts(NamedTuple):
    """What ``facts.toml`` says of one function or operator; the head of the file says what each field holds.

    A field that a table leaves out is empty, and a test names it.
    """

    formula: str = ""
    derivatives: tuple[str, ...] = ()
    program: str = ""
    inputs: Mapping[str, str] = MappingProxyType({})
    v: str = ""


@cache
def all_facts() -> dict[str, Facts]:
    """Return the facts of all functions by their names, and of the operators by their signs."""
    import tomllib  # a start looks up no facts

    text = Path(__file__).with_name("facts.toml").read_text(encoding="utf-8")
    tables = {name: Facts(**table) for name, table in tomllib.loads(text).items()}
    return {name: facts._replace(derivatives=tuple(facts.derivatives)) for name, facts in tables.items()}
