"""Values of options as they were typed: typer asks pydantic about each, which takes as long to load as typer itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer

UNREAD: Final = object()
"""Stands for a value that typer alone can read, or refuse in its own words."""


class PlainCommand(TyperCommand):
    """A command of typer whose parameters read plain values by themselves."""

    def get_params(self, ctx: typer._click.Context) -> list[typer._click.Parameter]:
        """Return the parameters, that for help among them."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """The command line as a whole, whose own parameters read plain values by themselves."""

    def get_params(self, ctx: typer._click.Context) -> list[typer._click.Parameter]:
        """Return the parameters, that for help among them."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]


def read_plainly(parameter: typer._click.Parameter) -> typer._click.Parameter:
    """Return the same parameter, which reads plain values from here on and leaves all others to typer.

    typer does not document where a parameter keeps its type: one that has none there is left as it is.
    """
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if kind is not None and "process_value" not in vars(parameter) and not parameter.required:
        parameter.process_value = partial(  # type: ignore[method-assign]
            processed, parameter, kind, parameter.process_value
        )
    return parameter


def processed(
    parameter: typer._click.Parameter,
    kind: object,
    by_typer: Callable[[typer._click.Context, Any], Any],
    ctx: typer._click.Context,
    value: object,
) -> Any:
    """Return the value that a command gets for what stands on the command line."""
    found = plain(kind, value)
    if found is UNREAD:
        return by_typer(ctx, value)
    return found if parameter.callback is None else parameter.callback(ctx, parameter, found)


def plain(kind: object, value: object) -> Any:
    """Return what typer would make of no value, a text, texts or a short integer; ``UNREAD`` for all else."""
    if value is None:
        return () if kind == list[str] else None
    if kind is str and is_text(value):
        return value
    if kind == list[str] and isinstance(value, (list, tuple)) and all(map(is_text, value)):
        return list(value)
    return short_integer(value) if kind is int else UNREAD


def is_text(value: object) -> bool:
    """Return whether a value is a text that pydantic takes: bytes of the command line that are no UTF-8 are none."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


def short_integer(value: object) -> Any:
    """Return a default, or digits as an integer; ``UNREAD`` for signs, blanks and what is no integer."""
    if type(value) is int:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    return UNREAD
