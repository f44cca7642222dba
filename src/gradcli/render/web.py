"""The answer as HTML for notebooks: tables that are tables, colours by row, nothing loaded and no script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gradcli.render.blocks import Block, blocks
from gradcli.render.grid import Table
from gradcli.render.labels import with_labels
from gradcli.render.numbers import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

COLOURS = {
    "magenta": "#b5379e", "cyan": "#0e7c86", "blue": "#3b6fd4", "yellow": "#8f6a00", "green": "#1d7f3c",
    "red": "#c9302c",
}  # fmt: skip
"""Tones that can be read on light and on dark."""
CELL = "padding:.15em .7em;text-align:right;white-space:pre;background:none;font-family:monospace"


def html(found: Explained, layout: Layout) -> str:
    """Return an answer as one element of HTML."""
    inside = "".join(part for block in blocks(found, layout) for part in block_html(block))
    whole = f'<div class="gradcli" style="font-size:1em;line-height:1.45">{inside}</div>'
    return with_labels(whole, {name: escape(label) for name, label in found.labels.items()})


def block_html(block: Block) -> Iterator[str]:
    """Yield the parts of a block."""
    if block.title:
        yield f'<p style="font-weight:bold;margin:1em 0 .2em">{escape(block.title)}</p>'
    for part in block.parts:
        if isinstance(part, Table):
            yield table_html(part)
        elif block.prose:
            yield from (f'<p style="margin:.1em 0">{escape(line)}</p>' for line in part if line.strip())
        else:
            lines = escape("\n".join(part))
            yield f'<pre style="margin:.2em 0;overflow-x:auto;background:none;padding:0">{lines}</pre>'


def table_html(table: Table) -> str:
    """Return a table, each row in its colour, with what is said beside it below."""
    columns = [(column, k == 0 and b > 0) for b, block in enumerate(table.blocks) for k, column in enumerate(block)]
    head = "".join(f'<th scope="col" style="{cell(bar)}">{escape(column.heading)}</th>' for column, bar in columns)
    cells = [aligned(column.cells) for column, _ in columns]
    rows = []
    for number, (label, style) in enumerate(zip(table.labels, table.styles, strict=True)):
        line = "border-top:1px solid currentColor;" if number in table.ruled else ""
        own = "".join(
            f'<td style="{cell(bar)}">{escape(texts[number])}</td>'
            for texts, (_, bar) in zip(cells, columns, strict=True)
        )
        first = f'<th scope="row" style="{CELL};text-align:left">{escape(label)}</th>'
        rows.append(f'<tr style="{line}{css(style)}background:none">{first}{own}</tr>')
    below = [f'<p style="{css(remark.style)}margin:.2em 0">{escape(remark.text)}</p>' for remark in table.remarks]
    body = f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return (
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:.4em 0">{body}</table></div>'
        + "".join(below)
    )


def cell(bar: bool) -> str:
    """Return the style of a cell, with a line at its left where a block of columns begins."""
    return CELL + (";border-left:1px solid currentColor" if bar else "")


def css(style: str) -> str:
    """Return a style of the terminal for the web: ``bold red``."""
    words = style.split()
    bold = "font-weight:bold;" if "bold" in words else ""
    return bold + "".join(f"color:{COLOURS[word]};" for word in words if word in COLOURS)
