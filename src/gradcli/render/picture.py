"""The tables as a picture: SVG with the fonts that the viewer has."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from gradcli.render.terminal import tables

if TYPE_CHECKING:
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


def picture(document: Document, layout: Layout) -> str:
    """Return the tables of the terminal as an SVG document, which loads nothing."""
    text = tables(document, layout)
    width = max(layout.width, *(len(line) for line in text.plain.split("\n")))
    console = Console(
        record=True, file=io.StringIO(), width=width, force_terminal=True, color_system="truecolor",
        markup=False, emoji=False, highlight=False, legacy_windows=False,
    )  # fmt: skip
    console.print(text, soft_wrap=True)
    return console.export_svg(title="gradcli explain", code_format=PICTURE, unique_id="gradcli")
