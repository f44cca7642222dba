"""The answer in Markdown, for a forum or a notebook: fenced code, and tables with pipes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradcli.document.model import Document, Equations, Events, Part, Prose, Remark, Settings, Table
from gradcli.render.equations import equation_lines
from gradcli.render.grid import Drawn, fitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gradcli.render.layout import Layout

SPECIAL = re.compile(r"[\\`*_\[\]|<>&~$]|^(?:[-+#=]|\d+(?=[.)]))")
"""Signs with a meaning, and those that have one where a line begins."""


def markdown(document: Document, layout: Layout) -> str:
    """Return an answer in Markdown, without a final newline."""
    lines: list[str] = []
    for section in document.sections:
        lines += [f"**{escaped(section.title)}**", ""] if section.title else []
        for part in section.parts:
            lines += [*part_lines(part, document.settings, layout), ""]
    return "\n".join(lines).rstrip()


def part_lines(part: Part, settings: Settings, layout: Layout) -> Iterator[str]:
    """Yield a part: sentences as a list, equations and listings in a fence, tables with pipes."""
    if isinstance(part, Prose):
        yield from (f"- {escaped(sentence)}" for sentence in part.sentences)
    elif isinstance(part, Table):
        for k, piece in enumerate(fitted(part, settings, layout)):
            yield from [""] if k else []
            if isinstance(piece, Equations):
                yield from part_lines(piece, settings, layout)
            elif isinstance(piece, Drawn):
                yield from table_lines(piece)
            else:
                yield from [*(f"- {escaped(text)}" for text, _ in piece.rows), *remark_lines(piece.remarks)]
    elif isinstance(part, Equations):
        yield from fenced(line.plain.rstrip() for line in equation_lines(part, settings, layout.width))
    elif isinstance(part, Events):
        from gradcli.render.events import event_lines  # a formula has none

        yield from fenced(
            line.plain.rstrip().removeprefix(" ") for line in event_lines(part.timeline, settings, layout)
        )
    else:
        yield from fenced(part.lines)


def fenced(lines: Iterable[str]) -> list[str]:
    """Return lines between fences that are longer than any run of backticks in them."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return [f"{fence}text", *text.split("\n"), fence]


def table_lines(table: Drawn) -> list[str]:
    """Return a table with pipes, its numbers to the right, and below it what was said beside it."""
    columns = [column for block in table.blocks for column in block]
    rows = zip(table.labels, *(column.cells for column in columns), strict=True)
    sides = "".join("---:|" if column.numbers else ":---|" for column in columns)
    head = row_text(["", *(column.heading for column in columns)])
    return [head, f"|:---|{sides}", *(row_text(cells) for cells in rows), *remark_lines(table.remarks)]


def remark_lines(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield what is said beside a table."""
    for remark in remarks:
        yield from ("", escaped(remark.text))


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


def mark(sign: re.Match[str]) -> str:
    """Return a sign that stands for itself: with a backslash before it, behind a number at the beginning of a line."""
    return f"{sign[0]}\\" if sign[0].isdigit() else f"\\{sign[0]}"
