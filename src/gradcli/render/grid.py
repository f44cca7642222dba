"""A table of numbers: columns aligned at the decimal point, bars between blocks of columns, one colour a row."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from gradcli.records import dataclass
from gradcli.render.glyphs import Glyphs
from gradcli.render.numbers import aligned
from gradcli.render.wrap import fold

GAP = 2
"""Blank columns between two columns of numbers."""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading over a cell for each row of a table."""

    heading: str
    cells: list[str]

    @property
    def width(self) -> int:
        """The columns of the screen that it takes."""
        return max(len(self.heading), len(aligned(self.cells)[0]) if self.cells else 0)

    @property
    def lines(self) -> list[str]:
        """The heading and the cells, all of one width, to the right."""
        return [text.rjust(self.width) for text in (self.heading, *aligned(self.cells))]


@dataclass(frozen=True, slots=True)
class Remark:
    """What stands to the right of a row; where there is no room below the table, or nowhere if it is not ``needed``."""

    row: int
    text: str
    style: str = ""
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Labels, and blocks of columns with a bar before each but the first.

    - ``styles``: a style for each row, empty for none.
    - ``ruled``: the rows that have a rule above them.
    """

    labels: list[str]
    blocks: list[list[Column]]
    styles: list[str]
    ruled: tuple[int, ...] = (0,)
    remarks: tuple[Remark, ...] = ()

    @property
    def label_width(self) -> int:
        """The columns of the screen that the labels take."""
        return max(map(len, self.labels), default=0)

    @property
    def width(self) -> int:
        """The columns of the screen that it takes, without remarks."""
        return 1 + self.label_width + GAP + sum(map(width_of, self.blocks)) + 3 * (len(self.blocks) - 1)


def width_of(block: Sequence[Column]) -> int:
    """Return the columns of the screen that a block takes, with a gap before each of its columns but the first."""
    return sum(column.width for column in block) + GAP * max(len(block) - 1, 0)


def table_lines(table: Table, width: int, glyphs: Glyphs) -> list[Text]:
    """Return a table as lines, with its remarks beside and below it."""
    blocks = [zip(*(column.lines for column in block), strict=True) for block in table.blocks]
    bodies = zip(*([(" " * GAP).join(cells) for cells in block] for block in blocks), strict=True)
    lines = []
    for label, cells, style in zip(["", *table.labels], bodies, ["bold", *table.styles], strict=True):
        line = Text(" ").append(label.ljust(table.label_width) + " " * GAP, style=style)
        for number, cell in enumerate(cells):
            line.append(f" {glyphs.bar} " if number else "").append(cell, style=style)
        line.rstrip()
        lines.append(line)
    below = [remark for remark in table.remarks if not beside(remark, lines[remark.row + 1], table.width + 3, width)]
    rule = rule_line(table, glyphs)
    for row in sorted(table.ruled, reverse=True):
        lines.insert(row + 1, rule)
    return lines + [line for remark in below if remark.needed for line in fold(Text(remark.text, remark.style), width)]


def beside(remark: Remark, line: Text, column: int, width: int) -> bool:
    """Put a remark at the end of its row, past the table; return whether there was room."""
    start = next((at for at in (column, len(line.plain) + 2) if at + len(remark.text) <= width), None)
    if start is None:
        return False
    line.append(" " * (start - len(line.plain))).append(remark.text, style=remark.style)
    return True


def rule_line(table: Table, glyphs: Glyphs) -> Text:
    """Return the line across a table."""
    first, *rest = map(width_of, table.blocks)
    parts = [first + table.label_width + GAP + 1, *(wide + 2 for wide in rest)]
    parts[-1] -= 1
    return Text(" " + glyphs.crossing.join(glyphs.rule * part for part in parts))
