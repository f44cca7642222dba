"""Tables as lines: columns aligned at the decimal point, as many of them as there is room for, one colour a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from gradcli.document.model import Cell, Column, Equations, Mark, Remark, Settings, Table
from gradcli.document.numbers import aligned, array_text, ends, short
from gradcli.records import dataclass, replace
from gradcli.render.equations import equation_lines, row_colour
from gradcli.render.layout import ASCII_MARKS
from gradcli.render.wrap import fold

if TYPE_CHECKING:
    from gradcli.render.layout import Layout

GAP = 2
"""Blank columns between two columns of numbers."""
INDENT = "   "
"""What stands before lines that are no table."""
TONES = {"good": "bold green", "bad": "bold red", "doubtful": "bold yellow"}
MOST_ENTRIES = 8
"""Entries of an array in a cell that are all shown."""
GAP_HEADINGS = (Mark.COLUMN_GAP.value, ASCII_MARKS[Mark.COLUMN_GAP])
"""Headings of a column that stands for those left out, in all letters and in ASCII."""
WIDTHS = (60, 40, 24, 16, 12, 10, 8, 6, 5, 4, 3, 2, 1)
"""Numbers of columns that are tried, the largest first."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A column as it is drawn: a heading over texts, and the cells that they are made of, with ``formulas`` or not."""

    heading: str
    cells: tuple[str, ...]
    numbers: bool
    source: tuple[Cell, ...]
    formulas: bool

    @property
    def lines(self) -> list[str]:
        """The heading and the cells, all of one width."""
        cells = aligned(self.cells) if self.numbers else [*self.cells]
        width = max(len(self.heading), *map(len, cells)) if cells else len(self.heading)
        return [text.rjust(width) if self.numbers else text.ljust(width) for text in (self.heading, *cells)]

    @property
    def width(self) -> int:
        """The columns of the screen that it takes."""
        return len(self.lines[0])


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table whose cells are texts, as wide as it will be drawn."""

    labels: tuple[str, ...]
    blocks: tuple[tuple[Texts, ...], ...]
    tones: tuple[int | str, ...]
    ruled: tuple[int, ...]
    remarks: tuple[Remark, ...]

    @property
    def label_width(self) -> int:
        """The columns of the screen that the labels take."""
        return max(map(len, self.labels), default=0)

    @property
    def width(self) -> int:
        """The columns of the screen that it takes, without remarks."""
        return 1 + self.label_width + GAP + sum(map(width_of, self.blocks)) + 3 * (len(self.blocks) - 1)


def width_of(block: Sequence[Texts]) -> int:
    """Return the columns of the screen that a block takes, with a gap before each of its columns but the first."""
    return sum(column.width for column in block) + GAP * max(len(block) - 1, 0)


def cell_text(cell: Cell, formulas: bool, settings: Settings, layout: Layout) -> str:
    """Return a cell as ``formula = value``, or by its value alone."""
    if cell.text:
        return cell.text
    if cell.mark is not Mark.NONE:
        mark = "= ?" if cell.mark is Mark.OPEN else f"{settings.near} 0"
        return f"{cell.formula} {mark}" if formulas and cell.formula else layout.mark(cell.mark)
    if cell.value is None:
        return ""
    value = number_text(cell.value, settings)
    return f"{cell.formula} = {value}" if formulas and cell.formula else value


def number_text(value: Any, settings: Settings) -> str:
    """Return a number, or an array on one line, of many entries the first and the last."""
    if np.ndim(value) == 0:
        return short(float(value), settings.precision)
    text = array_text(np.asarray(value), settings.precision, settings.most(MOST_ENTRIES), settings.dots)
    return text.partition(" in shape ")[0]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with the room and the characters that there are."""

    table: Table
    settings: Settings
    layout: Layout

    @property
    def lead(self) -> int:
        """How many blocks stand in every part of the table: v, beside J."""
        return len(self.table.blocks) - len(self.table.otherwise)

    def texts(self, columns: Sequence[Column], formulas: bool) -> tuple[Texts, ...]:
        """Return columns with their cells as texts."""
        return tuple(
            Texts(
                column.heading,
                tuple(cell_text(cell, formulas, self.settings, self.layout) for cell in column.cells),
                column.numbers,
                column.cells,
                formulas,
            )
            for column in columns
        )

    def drawn(self, panels: Sequence[Panel], remarks: tuple[Remark, ...] = ()) -> Drawn:
        """Return the table of some panels."""
        table = self.table
        blocks = [self.texts(block, formulas=False) for block in table.blocks[: self.lead]]
        blocks += [self.texts(panel.columns, panel.formulas) for panel in panels]
        return Drawn(table.labels, tuple(blocks), table.tones, table.ruled, remarks)

    def fits(self, panels: Sequence[Panel]) -> bool:
        """Return whether panels have room beside each other."""
        return all(panel.columns for panel in panels) and self.drawn(panels).width <= self.layout.room


@dataclass(frozen=True, slots=True)
class Panel:
    """The columns of one block in a table, with formulas or with numbers alone."""

    block: int
    columns: tuple[Column, ...]
    formulas: bool

    @property
    def whole(self) -> bool:
        """Whether no column is left out."""
        return all(column.heading not in GAP_HEADINGS for column in self.columns)


def fitted(table: Table, settings: Settings, layout: Layout) -> Iterator[Equations | Drawn | Stacked]:
    """Yield a table in as many parts as the room asks for: formulas that have none in its cells, tables, or lines."""
    sheet = Sheet(table, settings, layout)
    if not table.ruled:
        yield fitted_plain(sheet)
        return
    parts = pack(sheet)
    for k, rows in enumerate(table.otherwise):
        panels = [panel for part in parts for panel in part if panel.block == k]
        if rows and not any(panel.formulas and panel.columns for panel in panels):
            yield Equations(rows)
    shown = [part for part in parts if is_readable(part, table)]
    for number, part in enumerate(shown):
        last = number == len(shown) - 1
        beside = [remark for remark in table.remarks if (last if remark.tone else number == 0)]
        remarks = tuple(with_mark(remark, layout) for remark in beside)
        if all(panel.columns for panel in part):
            yield sheet.drawn(part, remarks)
        else:
            blocks = [*table.blocks[: sheet.lead], *(table.blocks[sheet.lead + panel.block] for panel in part)]
            yield stacked(sheet, blocks, remarks)
    if not shown:
        yield Stacked((), tuple(remark for remark in table.remarks if remark.tone))


def with_mark(remark: Remark, layout: Layout) -> Remark:
    """Return a remark that begins with the mark that it explains."""
    return remark if remark.mark is Mark.NONE else replace(remark, text=f"{layout.mark(remark.mark)} {remark.text}")


def table_lines(table: Table, settings: Settings, layout: Layout) -> Iterator[Text]:
    """Yield a table as lines, with what is said beside and below it."""
    before: object = None
    for part in fitted(table, settings, layout):
        if before is not None and not (isinstance(part, Equations) and isinstance(before, Equations)):
            yield Text()
        before = part
        if isinstance(part, Equations):
            for line in equation_lines(part, settings, layout.width - len(INDENT)):
                yield Text(INDENT).append_text(line)
        elif isinstance(part, Drawn):
            yield from drawn_lines(part, layout) if part.ruled else plain_lines(part)
        else:
            for text, tone in part.rows:
                yield from fold(Text(text, tone), layout.width, INDENT)
            for remark in part.remarks:
                yield from remark_lines(remark, layout.width)


def pack(sheet: Sheet) -> list[list[Panel]]:
    """Return the blocks of each part, with formulas where that takes no more than one part more."""
    blocks = sheet.table.blocks[sheet.lead :]
    numbers = beside(sheet, [panel for k, block in enumerate(blocks) for panel in narrowed(sheet, k, block)])
    panels = [Panel(k, block, formulas=True) for k, block in enumerate(blocks)]
    if any(not has_formulas(sheet, panel) or not sheet.fits([panel]) for panel in panels):
        return numbers
    formulas = beside(sheet, panels)
    return formulas if len(formulas) <= len(numbers) + 1 else numbers


def has_formulas(sheet: Sheet, panel: Panel) -> bool:
    """Return whether the cells of a block say the formulas that it has."""
    rows = sheet.table.otherwise[panel.block]
    return not rows or any(cell.formula for column in panel.columns for cell in column.cells)


def beside(sheet: Sheet, panels: Sequence[Panel]) -> list[list[Panel]]:
    """Return panels side by side, as many in each part as there is room for."""
    parts: list[list[Panel]] = []
    for panel in panels:
        if parts and panel.whole and parts[-1][0].whole and sheet.fits([*parts[-1], panel]):
            parts[-1].append(panel)
        else:
            parts.append([panel])
    return parts


def narrowed(sheet: Sheet, number: int, block: tuple[Column, ...]) -> list[Panel]:
    """Return a block with numbers alone: in as many columns as there is room for, or all of them in turn if asked."""
    own = [column for column in block if column.heading not in GAP_HEADINGS]
    if sheet.settings.full:
        for most in WIDTHS:
            parts = [tuple(own[start : start + most]) for start in range(0, len(own), most)]
            panels = [Panel(number, part, formulas=False) for part in parts]
            if all(sheet.fits([panel]) for panel in panels):
                return panels
        return [Panel(number, (), formulas=False)]
    for most in (len(own), *WIDTHS):
        if most > len(own):
            continue
        gap = gap_column(own[0], sheet.layout.mark(Mark.COLUMN_GAP))
        shown = tuple(gap if k is None else own[k] for k in ends(len(own), most))
        columns = block if most == len(own) else shown
        if sheet.fits([Panel(number, columns, formulas=False)]):
            return [Panel(number, columns, formulas=False)]
    return [Panel(number, (), formulas=False)]


def gap_column(other: Column, heading: str) -> Column:
    """Return the column that stands for those left out."""
    rows = [Cell(mark=Mark.ROW_GAP if cell.mark is Mark.ROW_GAP else Mark.COLUMN_GAP) for cell in other.cells]
    return Column(heading, tuple(rows))


def is_readable(part: Sequence[Panel], table: Table) -> bool:
    """Return whether there is something to read in the rows and columns of a part of a table."""
    rows = [k for k, label in enumerate(table.labels) if label not in (Mark.ROW_GAP.value, ":")]
    cells = [
        column.cells[k]
        for panel in part
        for column in panel.columns
        for k in rows
        if k < len(table.tones) and table.tones[k] not in ("", "total")
    ]
    whole = all(panel.whole for panel in part) and len(rows) == len(table.labels)
    entries = [cell for cell in cells if cell.mark is not Mark.COLUMN_GAP]
    return whole or not entries or 2 * sum(cell.mark is not Mark.ZERO for cell in entries) >= len(entries)


def style_of(tone: int | str) -> str:
    """Return the style of a row."""
    return row_colour(tone) if isinstance(tone, int) else "bold" if tone == "total" else ""


def drawn_lines(table: Drawn, layout: Layout) -> list[Text]:
    """Return a table as lines, with its remarks beside and below it."""
    bodies = zip(*(rows_of(block) for block in table.blocks), strict=True)
    bar, rule, crossing = ("│", "─", "┼") if layout.unicode else ("|", "-", "+")
    tones = table.tones or ("",) * len(table.labels)
    lines = []
    for label, cells, style in zip(["", *table.labels], bodies, ["bold", *map(style_of, tones)], strict=True):
        line = Text(" ").append(label.ljust(table.label_width) + " " * GAP, style=style)
        for number, cell in enumerate(cells):
            line.append(f" {bar} " if number else "").append(cell, style=style)
        line.rstrip()
        lines.append(line)
    below = [
        remark
        for remark in table.remarks
        if not put_beside(remark, lines[remark.row + 1], table.width + 3, layout.room)
    ]
    first, *rest = map(width_of, table.blocks)
    parts = [first + table.label_width + GAP + 1, *(wide + 2 for wide in rest)]
    parts[-1] -= 1
    across = Text(" " + crossing.join(rule * part for part in parts))
    for row in sorted(table.ruled, reverse=True):
        lines.insert(row + 1, across)
    return lines + [line for remark in below if remark.needed for line in remark_lines(remark, layout.width)]


def rows_of(block: Sequence[Texts]) -> list[str]:
    """Return the rows of a block, its columns side by side."""
    return [(" " * GAP).join(cells) for cells in zip(*(column.lines for column in block), strict=True)]


def remark_lines(remark: Remark, width: int) -> list[Text]:
    """Return a remark in lines of its own."""
    return fold(Text(remark.text, TONES.get(remark.tone, "")), width)


def put_beside(remark: Remark, line: Text, column: int, width: int) -> bool:
    """Put a remark at the end of its row, past the table; return whether there was room."""
    start = next((at for at in (column, len(line.plain) + 2) if at + len(remark.text) <= width), None)
    if start is None:
        return False
    line.append(" " * (start - len(line.plain))).append(remark.text, style=TONES.get(remark.tone, ""))
    return True


def fitted_plain(sheet: Sheet) -> Drawn | Stacked:
    """Return a table without rules: its columns side by side, or a line for each row where there is no room."""
    table, room = sheet.table, sheet.layout.width - len(INDENT)
    columns = [column for block in table.blocks for column in block]
    optional = [place for place, column in enumerate(columns) if column.optional]
    for left_out in range(len(optional) + 1):
        gone = optional[len(optional) - left_out :]
        kept = [column for place, column in enumerate(columns) if place not in gone]
        drawn = Drawn(table.labels, (sheet.texts(kept, formulas=True),), table.tones, (), table.remarks)
        if max((len(line.plain) for line in plain_lines(drawn)), default=0) <= room + len(INDENT):
            return drawn
    return stacked(sheet, table.blocks, ())


def plain_lines(table: Drawn) -> Iterator[Text]:
    """Yield labels and columns beside each other, headings above where there are any."""
    wide, columns = table.label_width, [column for block in table.blocks for column in block]
    tones = table.tones or ("",) * len(table.labels)
    for label, tone, *cells in zip(
        ["", *table.labels], ["", *tones], *(column.lines for column in columns), strict=True
    ):
        if label or any(cell.strip() for cell in cells):
            yield Text(INDENT + "  ".join([label.ljust(wide), *cells]).rstrip(), style_of(tone))


OPEN_SIDE = re.compile(r"(?<= [=≈]), |(?<= ~=), ")
"""A comma behind a sign of equality, whose other side stands in the next cell."""


@dataclass(frozen=True, slots=True)
class Stacked:
    """A table as a line for each row, where it has no room: texts with their styles."""

    rows: tuple[tuple[str, str], ...]
    remarks: tuple[Remark, ...]


def stacked(sheet: Sheet, blocks: Sequence[Sequence[Column]], remarks: tuple[Remark, ...]) -> Stacked:
    """Return a line for each row: what it is called, and each cell behind its heading."""
    columns = [text for block in blocks for text in sheet.texts(block, formulas=True)]
    rows = []
    for k, label in enumerate(sheet.table.labels):
        cells = ", ".join(f"{column.heading} {column.cells[k]}".strip() for column in columns if column.cells[k])
        cells = OPEN_SIDE.sub(" ", cells)
        tone = style_of(sheet.table.tones[k]) if sheet.table.tones else ""
        rows.append((f"{label}: {cells}" if label and cells else label or f"    {cells}", tone))
    return Stacked(tuple(rows), tuple(remark for remark in remarks if remark.tone or remark.needed))
