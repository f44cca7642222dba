"""The answer in Markdown, for a forum or a notebook: fenced code, and tables with pipes.

The answer as HTML for notebooks: tables that are tables, colours by row, nothing loaded and no script.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from gradcli.document.model import Document, Equations, Events, Part, Prose, Remark, Settings, Table
from gradcli.document.texts import aligned
from gradcli.render.tables import TONES, Drawn, Texts, equation_lines, fitted, style_of

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


# ---- The answer as HTML for notebooks: tables that are tables, colours by row, nothing loaded and no scri

COLOURS = {
    "magenta": "#b5379e", "cyan": "#0e7c86", "blue": "#3b6fd4", "yellow": "#8f6a00", "green": "#1d7f3c",
    "red": "#c9302c",
}  # fmt: skip
"""Tones that can be read on light and on dark."""
CELL = "padding:.15em .7em;white-space:pre;background:none;font-family:monospace"


def html(document: Document, layout: Layout) -> str:
    """Return an answer as one element of HTML."""
    inside = "".join(
        piece
        for section in document.sections
        for piece in (
            title_html(section.title),
            *(text for part in section.parts for text in part_html(part, document.settings, layout)),
        )
    )
    return f'<div class="gradcli" style="font-size:1em;line-height:1.45">{inside}</div>'


def title_html(title: str) -> str:
    """Return the title of a section."""
    return f'<p style="font-weight:bold;margin:1em 0 .2em">{escape(title)}</p>' if title else ""


def part_html(part: Part, settings: Settings, layout: Layout) -> Iterator[str]:
    """Yield a part: sentences as paragraphs, tables, all else with its columns."""
    if isinstance(part, Prose):
        yield from (paragraph(sentence, TONES.get(part.tone, "")) for sentence in part.sentences)
    elif isinstance(part, Table):
        for piece in fitted(part, settings, layout):
            if isinstance(piece, Equations):
                yield from part_html(piece, settings, layout)
            elif isinstance(piece, Drawn):
                yield table_html(piece)
            else:
                yield pre(text for text, _ in piece.rows)
                yield from (paragraph(remark.text, TONES.get(remark.tone, "")) for remark in piece.remarks)
    elif isinstance(part, Equations):
        yield pre(line.plain.rstrip() for line in equation_lines(part, settings, layout.width))
    elif isinstance(part, Events):
        from gradcli.render.events import event_lines  # a formula has none

        yield pre(line.plain.rstrip().removeprefix(" ") for line in event_lines(part.timeline, settings, layout))
    else:
        yield pre(part.lines)


def paragraph(text: str, style: str) -> str:
    """Return a sentence."""
    return f'<p style="{css(style)}margin:.1em 0">{escape(text)}</p>'


def pre(lines: Iterable[str]) -> str:
    """Return lines that keep their columns."""
    inside = escape("\n".join(lines))
    return f'<pre style="margin:.2em 0;overflow-x:auto;background:none;padding:0">{inside}</pre>' if inside else ""


def table_html(table: Drawn) -> str:
    """Return a table, each row in its colour, with what is said beside it below."""
    columns = [(column, k == 0 and b > 0) for b, block in enumerate(table.blocks) for k, column in enumerate(block)]
    head = "".join(
        f'<th scope="col" style="{cell(column, bar)}">{escape(column.heading)}</th>' for column, bar in columns
    )
    cells = [aligned(column.cells) if column.numbers else column.cells for column, _ in columns]
    rows = []
    for number, (label, tone) in enumerate(zip(table.labels, table.tones or ("",) * len(table.labels), strict=True)):
        line = "border-top:1px solid currentColor;" if number in table.ruled else ""
        own = "".join(
            f'<td style="{cell(column, bar)}">{escape(texts[number])}</td>'
            for texts, (column, bar) in zip(cells, columns, strict=True)
        )
        first = f'<th scope="row" style="{CELL};text-align:left">{escape(label)}</th>'
        rows.append(f'<tr style="{line}{css(style_of(tone))}background:none">{first}{own}</tr>')
    has_head = any(column.heading for column, _ in columns)
    body = f"{f'<thead><tr><td></td>{head}</tr></thead>' if has_head else ''}<tbody>{''.join(rows)}</tbody>"
    below = "".join(paragraph(remark.text, TONES.get(remark.tone, "")) for remark in table.remarks)
    whole = f'<table style="border-collapse:collapse;margin:.4em 0">{body}</table>'
    return f'<div style="overflow-x:auto">{whole}</div>{below}'


def cell(column: Texts, bar: bool) -> str:
    """Return the style of a cell, with a line at its left where a block of columns begins."""
    side = "right" if column.numbers else "left"
    return f"{CELL};text-align:{side}{';border-left:1px solid currentColor' if bar else ''}"


def css(style: str) -> str:
    """Return a style of the terminal for the web: ``bold red``."""
    words = style.split()
    bold = "font-weight:bold;" if "bold" in words else ""
    return bold + "".join(f"color:{COLOURS[word]};" for word in words if word in COLOURS)
