"""The answer for a terminal: lines and tables that fit its width, coloured by rows of J."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import IO, TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from gradcli.document.model import Document, Equations, Events, Listing, Part, Prose, Settings, Table
from gradcli.render.equations import equation_lines
from gradcli.render.grid import INDENT, TONES, table_lines
from gradcli.render.layout import Layout, in_letters_of
from gradcli.render.wrap import fold

if TYPE_CHECKING:
    from gradcli.document.model import Section

FLUSH = {"program", "gradient", "notes"}
"""Sections whose lines stand at the left, where titles do."""


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
    screen = make()
    return screen if screen.color_system else make(color_system="standard")  # TERM=dumb has none that rich would use


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


def tables(document: Document, layout: Layout) -> Text:
    """Return a document as lines, none longer than the layout's width, but for one name that cannot be broken."""
    document = in_letters_of(document, layout)
    lines = [line for section in document.sections for line in section_lines(section, document.settings, layout)]
    return Text("\n").join(lines[1:] if lines and not lines[0].plain else lines)


def section_lines(section: Section, settings: Settings, layout: Layout) -> Iterator[Text]:
    """Yield a blank line, the title and the parts of a section; the gradient stands right under the shapes."""
    if section.name != "gradient":
        yield Text()
    if section.title:
        yield from fold(Text(section.title, "bold"), layout.width, " ")
    for k, part in enumerate(section.parts):
        if k and isinstance(section.parts[0], Listing) and len(section.parts[0].lines) > 1:
            yield Text()  # a program of several lines stands by itself
        yield from part_lines(part, section.name, settings, layout)


def part_lines(part: Part, name: str, settings: Settings, layout: Layout) -> Iterator[Text]:
    """Yield the lines of one part."""
    indent = " " if name in FLUSH else INDENT
    if isinstance(part, Table):
        yield from table_lines(part, settings, layout)
    elif isinstance(part, Events):
        from gradcli.render.events import event_lines  # a formula has none

        yield from event_lines(part.timeline, settings, layout)
    elif isinstance(part, Equations):
        for line in equation_lines(part, settings, layout.width - len(indent)):
            yield Text(indent).append_text(line)
    elif isinstance(part, Listing):
        for row in part.lines:
            yield from fold(row, layout.width, indent) if name == "program" else [Text(indent + row)]
    elif isinstance(part, Prose):
        for sentence in part.sentences:
            yield from fold(Text(sentence, TONES.get(part.tone, "")), layout.width, indent)
