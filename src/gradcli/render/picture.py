"""The tables as pictures: all of them in a window, or that of J alone for a slide; SVG with the viewer's fonts."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from gradcli.document.lecture import figure_of
from gradcli.render.terminal import tables

if TYPE_CHECKING:
    from rich.text import Text

    from gradcli.document.model import Document
    from gradcli.render.layout import Layout

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
GROUNDS = {"light": "ffffff", "dark": "14171c"}
INKS = {"light": "1a1f29", "dark": "e9ecf1"}
TONES = {
    "light": ("b3264c", "1d7f3c", "8a6100", "2f62c4", "a82f90", "0b737b"),
    "dark": ("ff8aa5", "6fd58b", "e6c352", "8bbdf7", "f09be0", "5ccfd6"),
}
"""Red, green, yellow, blue, magenta and cyan that can be read on either ground."""


def picture(document: Document, layout: Layout) -> str:
    """Return the tables of the terminal as an SVG document, which loads nothing."""
    text = tables(document, layout)
    width = max(layout.width, *(len(line) for line in text.plain.split("\n")))
    return recorded(text, width).export_svg(title="gradcli explain", code_format=PICTURE, unique_id="gradcli")


def figure(document: Document, layout: Layout, ground: str) -> str:
    """Return the table of J alone as an SVG document as large as it is, on a light or a dark ground."""
    from rich.color import parse_rgb_hex
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    text = Text("\n").join([Text(), tables(figure_of(document), layout), Text()])
    width = max(len(line.rstrip()) for line in text.plain.split("\n")) + 1
    back, ink, *tones = map(parse_rgb_hex, (GROUNDS[ground], INKS[ground], *TONES[ground]))
    theme = TerminalTheme(back, ink, [ink, *tones, ink])
    return recorded(text, width).export_svg(
        theme=theme, code_format=FIGURE.replace("GROUND", GROUNDS[ground]), unique_id="gradcli"
    )


def recorded(text: Text, width: int) -> Console:
    """Return a console that has printed a text."""
    console = Console(
        record=True, file=io.StringIO(), width=width, force_terminal=True, color_system="truecolor",
        markup=False, emoji=False, highlight=False, legacy_windows=False,
    )  # fmt: skip
    console.print(text, soft_wrap=True)
    return console
