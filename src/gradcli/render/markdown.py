"""The answer in Markdown, for a forum or a notebook: fenced code, and tables with pipes."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from gradcli.render.blocks import Block, blocks
from gradcli.render.grid import Table
from gradcli.render.labels import with_escaped_labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

SPECIAL = re.compile(r"[\\`*_\[\]|<>&~$]|^(?:[-+#=]|\d+(?=[.)]))")
"""Signs with a meaning, and those that have one where a line begins."""


def markdown(found: Explained, layout: Layout) -> str:
    """Return an answer in Markdown, without a final newline."""
    lines = chain.from_iterable([*block_lines(block), ""] for block in blocks(found, layout))
    return with_escaped_labels("\n".join(lines).rstrip(), found.labels)


def block_lines(block: Block) -> list[str]:
    """Return a block: its title in bold, its lines in a fence, its tables with pipes."""
    lines = [f"**{escaped(block.title)}**", ""] if block.title else []
    for part in block.parts:
        if isinstance(part, Table):
            lines += table_lines(part)
        elif block.prose:
            lines += [f"- {escaped(line)}" for line in part if line.strip()]
        else:
            lines += fenced(part)
        lines.append("")
    return lines[:-1]


def fenced(lines: Iterable[str]) -> list[str]:
    """Return lines between fences that are longer than any run of backticks in them."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return [f"{fence}text", *text.split("\n"), fence]


def table_lines(table: Table) -> list[str]:
    """Return a table with pipes, its numbers to the right, and below it what was said beside it."""
    columns = [column for block in table.blocks for column in block]
    rows = zip(table.labels, *(column.cells for column in columns), strict=True)
    lines = [
        row_text(["", *(column.heading for column in columns)]),
        "|:---|" + "---:|" * len(columns),
        *(row_text(cells) for cells in rows),
    ]
    return [*lines, *(line for remark in table.remarks for line in ("", escaped(remark.text)))]


def row_text(cells: Iterable[str]) -> str:
    """Return a row of a table; formulas and numbers are code, which no sign in them can leave."""
    return f"| {' | '.join(map(code, cells))} |"


def code(text: str) -> str:
    """Return a text as code inside of a line of a table, where a pipe would end the cell."""
    if not text.strip():
        return " "
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    inside = text.strip().replace("|", "\\|")
    space = " " if "`" in (inside[0], inside[-1]) else ""
    return f"{fence}{space}{inside}{space}{fence}"


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it stands."""
    return SPECIAL.sub(mark, " ".join(text.split()))


def mark(found: re.Match[str]) -> str:
    """Return a sign that stands for itself: with a backslash before it, behind a number at the beginning of a line."""
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"
