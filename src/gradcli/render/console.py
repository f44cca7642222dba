"""rich consoles: for a terminal, for a pipe, for a file."""

from __future__ import annotations

import re
from functools import partial
from typing import IO

from rich.console import Console
from rich.text import Text


class QuietConsole(Console):
    """A console that leaves a closed pipe to the caller: rich would end the process with 1."""

    def on_broken_pipe(self) -> None:
        """Raise again, so that the command line can end with 0."""
        raise BrokenPipeError


def console(stream: IO[str]) -> Console:
    """Return a console that colours what it writes to ``stream``, and reads nothing in it as markup."""
    make = partial(
        QuietConsole, file=stream, markup=False, emoji=False, highlight=False, force_terminal=True, no_color=False,
        legacy_windows=False,
    )  # fmt: skip
    found = make()
    return found if found.color_system else make(color_system="standard")  # TERM=dumb has none that rich would use


PAINTED = ((r"^error:", "bold red"), (r"^warning:", "bold yellow"), (r"^help:", "bold green"),
    (r"^ *\S* \|", "blue"), (r"(?<=\| ) *\^+$", "bold red"))  # fmt: skip


def painted(diagnostic: str) -> Text:
    """Return an error with its words, its margin and its caret in colours."""
    text = Text(diagnostic)
    for pattern, style in PAINTED:
        text.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    return text


def plain_lines(text: Text) -> str:
    """Return lines without their colours, none with blanks at its end."""
    return "\n".join(line.rstrip() for line in text.plain.split("\n")) + "\n"
