"""rich consoles: for a terminal, for a pipe, for a file."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from gradcli.render.glyphs import Layout
from gradcli.render.tables import tables

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained


class QuietConsole(Console):
    """A console that leaves a closed pipe to the caller: rich would end the process with 1."""

    def on_broken_pipe(self) -> None:
        """Raise again, so that the command line can end with 0."""
        raise BrokenPipeError


def console(stream: IO[str], color: str) -> Console:
    """Return a console on ``stream``; nothing that it prints is read as markup."""
    return QuietConsole(
        file=stream,
        markup=False,
        emoji=False,
        highlight=False,
        force_terminal=True if color == "always" else None,
        color_system=None if color == "never" else "auto",
        legacy_windows=False,
    )


def plain_lines(text: Text) -> str:
    """Return lines without their colours, none with blanks at its end."""
    return "\n".join(line.rstrip() for line in text.plain.split("\n")) + "\n"


def html(found: Explained) -> str:
    """Return the tables as preformatted HTML, for notebooks."""
    from html import escape  # noqa: PLC0415

    return f"<pre>{escape(plain_lines(tables(found, Layout(width=100))))}</pre>"
