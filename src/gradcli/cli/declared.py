"""What commands declare: their options, read from their signatures without building a command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradcli.cli import commands

COMMANDS = {
    command.__name__: command
    for command in (
        commands.explain,
        commands.grad,
        commands.check,
        commands.run,
        commands.batch,
        commands.functions,
        commands.schema,
    )
}
WITH_PROGRAM = ("explain", "grad", "check")
"""Commands whose long flags may be variables."""


class Option(NamedTuple):
    """An option of a command: its flags, whether a value follows, and its line of help."""

    flags: tuple[str, ...]
    takes_value: bool
    help: str


def options_of(command: Callable[..., None]) -> Iterator[Option]:
    """Yield the options that a command declares, and that for help."""
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        for one in getattr(parameter.annotation, "__metadata__", ()):
            flags = tuple(flag for flag in (one.default, *(one.param_decls or ())) if str(flag).startswith("-"))
            if flags:
                kind = parameter.annotation.__origin__
                yield Option(flags, kind is not bool, one.help or "")
    yield Option(("--help", "-h"), takes_value=False, help="Show the options.")
