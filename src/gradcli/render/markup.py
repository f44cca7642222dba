"""The answer in Markdown, for a forum or a notebook, and as HTML for notebooks, without a script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from gradcli.document.texts import aligned
from gradcli.render.tables import TONES, Drawn, Texts, Voice, equation_lines, written

if TYPE_CHECKING:
    from gradcli.document.model import Document, Remark
    from gradcli.render.layout import Layout

SPECIAL = re.compile(r"[\\`*_\[\]|<>&~$]|^(?:[-+#=]|\d+(?=[.)]))")
"""Signs with a meaning in Markdown, and those that have one where a line begins."""
COLOURS = {
    "magenta": "#b5379e", "cyan": "#0e7c86", "blue": "#3b6fd4", "yellow": "#8f6a00", "green": "#1d7f3c",
    "red": "#c9302c",
}  # fmt: skip
"""Tones that can be read on light and on dark."""
CELL = "padding:.15em .7em;white-space:pre;background:none;font-family:monospace"


def markdown(document: Document, layout: Layout) -> str:
    """Return an answer in Markdown, without a final newline: fenced code, and tables with pipes."""
    settings = document.settings
    voice = Voice(
        prose=lambda part: [f"- {escaped(sentence)}" for sentence in part.sentences],
        verbatim=fenced,
        equations=lambda part: fenced(line.plain.rstrip() for line in equation_lines(part, settings, layout.width)),
        table=piped,
        stacked=lambda part: [*(f"- {escaped(text)}" for text, _ in part.rows), *escaped_remarks(part.remarks)],
        between=("",),
    )
    lines: list[str] = []
    for section in document.sections:
        lines += [f"**{escaped(section.title)}**", ""] if section.title else []
        for part in section.parts:
            lines += [*written(part, voice, settings, layout), ""]
    return "\n".join(lines).rstrip()


def fenced(lines: Iterable[str]) -> list[str]:
    """Return lines between fences that are longer than any run of backticks in them."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + longest_run(text))
    return [f"{fence}text", *text.split("\n"), fence]


def longest_run(text: str) -> int:
    """Return the length of the longest run of backticks in a text."""
    return max(map(len, re.findall("`+", text)), default=0)


def piped(table: Drawn) -> list[str]:
    """Return a table with pipes, its numbers to the right, and below it what was said beside it."""
    rows = zip(table.labels, *(column.cells for column in table.columns), strict=True)
    sides = "".join("---:|" if column.numbers else ":---|" for column in table.columns)
    head, *body = (
        f"| {' | '.join(map(code, cells))} |" for cells in (["", *(one.heading for one in table.columns)], *rows)
    )
    return [head, f"|:---|{sides}", *body, *escaped_remarks(table.remarks)]


def escaped_remarks(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield what is said beside a table."""
    for remark in remarks:
        yield from ("", escaped(remark.text))


def code(text: str) -> str:
    """Return a text as code inside of a line of a table, which a pipe would end."""
    if not text.strip():
        return " "
    fence = "`" * (1 + longest_run(text))
    inside = text.strip().replace("|", "\\|")
    space = " " if "`" in (inside[0], inside[-1]) else ""
    return f"{fence}{space}{inside}{space}{fence}"


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it stands: a backslash before signs, or behind a number where it begins."""
    return SPECIAL.sub(lambda sign: f"{sign[0]}\\" if sign[0].isdigit() else f"\\{sign[0]}", " ".join(text.split()))


def html(document: Document, layout: Layout) -> str:
    """Return an answer as one element of HTML: tables that are tables, with colours by row."""
    settings = document.settings
    voice = Voice(
        prose=lambda part: [paragraph(sentence, part.tone) for sentence in part.sentences],
        verbatim=lambda lines: [pre(lines)],
        equations=lambda part: [pre(line.plain.rstrip() for line in equation_lines(part, settings, layout.width))],
        table=table_html,
        stacked=lambda part: [pre(text for text, _ in part.rows), *remarks_html(part.remarks)],
    )
    pieces: list[str] = []
    for section in document.sections:
        title = escape(section.title)
        pieces += [f'<p style="font-weight:bold;margin:1em 0 .2em">{title}</p>'] if title else []
        pieces += [text for part in section.parts for text in written(part, voice, settings, layout)]
    return f'<div class="gradcli" style="font-size:1em;line-height:1.45">{"".join(pieces)}</div>'


def paragraph(text: str, tone: str) -> str:
    """Return a sentence in the colour of its tone."""
    return f'<p style="{css(TONES.get(tone, ""))}margin:.1em 0">{escape(text)}</p>'


def remarks_html(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield what is said beside a table."""
    yield from (paragraph(remark.text, remark.tone) for remark in remarks)


def pre(lines: Iterable[str]) -> str:
    """Return lines that keep their columns."""
    inside = escape("\n".join(lines))
    return f'<pre style="margin:.2em 0;overflow-x:auto;background:none;padding:0">{inside}</pre>' if inside else ""


def table_html(table: Drawn) -> Iterator[str]:
    """Yield a table, each row in its colour and a line at the left of each block, with what is said beside it below."""
    bars = [k == 0 and b > 0 for b, block in enumerate(table.blocks) for k in range(len(block))]
    columns = list(zip(table.columns, map(cell_style, table.columns, bars), strict=True))
    head = "".join(f'<th scope="col" style="{style}">{escape(column.heading)}</th>' for column, style in columns)
    cells = [aligned(column.cells) if column.numbers else column.cells for column in table.columns]
    rows = []
    for number, (label, tone) in enumerate(zip(table.labels, table.styles, strict=True)):
        line = "border-top:1px solid currentColor;" if number in table.ruled else ""
        own = "".join(
            f'<td style="{style}">{escape(texts[number])}</td>'
            for texts, (_, style) in zip(cells, columns, strict=True)
        )
        first = f'<th scope="row" style="{CELL};text-align:left">{escape(label)}</th>'
        rows.append(f'<tr style="{line}{css(tone)}background:none">{first}{own}</tr>')
    has_head = any(column.heading for column in table.columns)
    body = f"{f'<thead><tr><td></td>{head}</tr></thead>' if has_head else ''}<tbody>{''.join(rows)}</tbody>"
    whole = f'<table style="border-collapse:collapse;margin:.4em 0">{body}</table>'
    yield f'<div style="overflow-x:auto">{whole}</div>'
    yield from remarks_html(table.remarks)


def cell_style(column: Texts, bar: bool) -> str:
    """Return the style of a cell, with a line at its left where a block of columns begins."""
    side = "right" if column.numbers else "left"
    return f"{CELL};text-align:{side}{';border-left:1px solid currentColor' if bar else ''}"


def css(style: str) -> str:
    """Return a style of the terminal for the web: ``bold red``."""
    words = style.split()
    bold = "font-weight:bold;" if "bold" in words else ""
    return bold + "".join(f"color:{COLOURS[word]};" for word in words if word in COLOURS)
