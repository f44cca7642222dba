"""The answer for a terminal: lines and tables that fit its width, coloured by rows of J; and the same as pictures.

A picture has all tables in a window, or that of J alone for a slide: SVG with the viewer's fonts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import partial
from typing import IO, TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from gradcli.document.model import Document, Listing, Settings
from gradcli.document.sections import figure_of
from gradcli.records import replace
from gradcli.render.layout import FILLER, Layout, fold, letters_on
from gradcli.render.tables import (
    INDENT,
    TONES,
    Voice,
    equation_lines,
    lines_with_rules,
    lines_without_rules,
    stacked_lines,
    written,
)

if TYPE_CHECKING:
    from gradcli.document.model import Section

FLUSH = {"events", "program", "gradient", "notes"}
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


def tables(document: Document, layout: Layout) -> Text:
    """Return a document as lines, none longer than the layout's width, but for one name that cannot be broken."""
    settings = document.settings if layout.unicode else replace(document.settings, dots="...", near="~=")
    document = document.with_texts(lambda text: letters_on(text, layout))
    lines = [line for section in document.sections for line in section_lines(section, settings, layout)]
    text = Text("\n").join(lines[1:] if lines and not lines[0].plain else lines)
    return Text().join(text.split(FILLER)) if FILLER in text.plain else text


def section_lines(section: Section, settings: Settings, layout: Layout) -> Iterator[Text]:
    """Yield a blank line, the title and the parts of a section; the gradient stands right under the shapes."""
    indent = " " if section.name in FLUSH else INDENT
    width, breaks = layout.width, section.name == "program"
    voice = Voice(
        title=lambda title: fold(Text(title, "bold"), width, " "),
        prose=lambda part: (
            line
            for sentence in part.sentences
            for line in fold(Text(sentence, TONES.get(part.tone, "")), width, indent)
        ),
        verbatim=lambda rows: (
            line for row in rows for line in (fold(row, width, indent) if breaks else [Text(indent + row)])
        ),
        equations=lambda part: (
            Text(indent).append_text(line) for line in equation_lines(part, settings, width - len(indent))
        ),
        table=lambda part: lines_with_rules(part, layout) if part.ruled else lines_without_rules(part),
        stacked=lambda part: stacked_lines(part, width),
        between=(Text(),),
    )
    if section.name != "gradient":
        yield Text()
    if section.title:
        yield from voice.title(section.title)
    for k, part in enumerate(section.parts):
        if k and isinstance(section.parts[0], Listing) and len(section.parts[0].lines) > 1:
            yield Text()  # a program of several lines stands by itself
        yield from written(part, voice, settings, layout)


PICTURE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; \
line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" \
height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
"""rich's own picture loads a font from elsewhere; this one does not."""


FIGURE = """\
<svg viewBox="0 0 {terminal_width} {terminal_height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; \
line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect width="100%" height="100%" fill="#GROUND"/>
<g class="{unique_id}-matrix">{matrix}</g>
</svg>
"""
"""A picture without a window."""
THEMES = {
    "light": ("ffffff", "1a1f29", "b3264c", "1d7f3c", "8a6100", "2f62c4", "a82f90", "0b737b"),
    "dark": ("14171c", "e9ecf1", "ff8aa5", "6fd58b", "e6c352", "8bbdf7", "f09be0", "5ccfd6"),
}
"""A ground, its ink, and red, green, yellow, blue, magenta and cyan that can be read on it."""


def picture(document: Document, layout: Layout) -> str:
    """Return the tables of the terminal as an SVG document, which loads nothing."""
    text = tables(document, layout)
    width = max(layout.width, *(line.cell_len for line in text.split()))
    return recorded(text, width).export_svg(title="gradcli explain", code_format=PICTURE, unique_id="gradcli")


def figure(document: Document, layout: Layout, ground: str) -> str:
    """Return the table of J alone as an SVG document as large as it is, on a light or a dark ground."""
    from rich.color import parse_rgb_hex
    from rich.terminal_theme import TerminalTheme

    text = Text("\n").join([Text(), tables(figure_of(document), layout), Text()])
    width = max(cell_len(line.rstrip()) for line in text.plain.split("\n")) + 1
    back, ink, *tones = map(parse_rgb_hex, THEMES[ground])
    theme = TerminalTheme(back, ink, [ink, *tones, ink])
    template = FIGURE.replace("GROUND", THEMES[ground][0])
    return recorded(text, width).export_svg(theme=theme, code_format=template, unique_id="gradcli")


def recorded(text: Text, width: int) -> Console:
    """Return a console that has printed a text."""
    console = Console(
        record=True, file=io.StringIO(), width=width, force_terminal=True, color_system="truecolor",
        markup=False, emoji=False, highlight=False, legacy_windows=False,
    )  # fmt: skip
    console.print(text, soft_wrap=True)
    return console
