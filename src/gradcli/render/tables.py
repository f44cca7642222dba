"""Equations and tables as lines: in columns where there is room, below each other where not, one colour a row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, assert_never

import numpy as np
from rich.text import Text

from gradcli.document.model import (
    Cell,
    Column,
    Equation,
    Equations,
    Events,
    Listing,
    Mark,
    Part,
    Prose,
    Remark,
    Settings,
    Table,
    Term,
)
from gradcli.document.texts import aligned, array_text, ends, padded, shaped_lines, short
from gradcli.records import dataclass, replace
from gradcli.render.layout import fold, with_fillers, without_fillers

if TYPE_CHECKING:
    from gradcli.document.model import Document, Side
    from gradcli.render.layout import Layout

LONGEST_LABEL = 24
"""Columns of a name up to which the others are aligned with it, where that leaves three quarters of a line."""
MOST_READ = 12
"""Entries of an array that are all shown."""
MOST_SPELLED = 64
"""Entries of a gradient that are all shown."""
MOST_ROWS, MOST_OF_MATRIX = 4, 24
"""Rows and entries of a matrix that is shown row by row beside its formula."""
COLOURS = ("magenta", "cyan", "blue", "yellow")
"""Standard colours that can be read on dark and on light; green and red are kept for verdicts."""
BETWEEN = "   "
"""What stands between a formula, its shape and its value."""
GAP = 2
"""Blank columns between two columns of numbers."""
INDENT = "   "
"""What stands before lines that are no table."""
TONES = {"good": "bold green", "bad": "bold red", "doubtful": "bold yellow"}
MOST_ENTRIES = 8
"""Entries of an array in a cell that are all shown."""
WIDTHS = (60, 40, 24, 16, 12, 10, 8, 6, 5, 4, 3, 2, 1)
"""Numbers of columns that are tried, the largest first."""


def row_colour(row: int | None) -> str:
    """Return the colour of a row of J, which its terms have in sums too."""
    return "" if row is None else COLOURS[row % len(COLOURS)]


def equation_lines(part: Equations, settings: Settings, width: int) -> list[Text]:
    """Return equations as lines of at most ``width`` columns, but for what cannot be broken."""
    rows = [row for row in part.rows if isinstance(row, Equation)]
    draw = ArrayRows if any(np.ndim(row.value) for row in rows if row.sides and row.value is not None) else NumberRows
    drawn = draw(rows, settings, width, part.strong)
    lines: list[Text] = []
    for row in part.rows:
        lines += fold(row, width, "") if isinstance(row, str) else drawn.lines(row)
    for line in lines if part.strong else ():
        line.stylize("bold")
    return lines


def side_text(side: Side) -> Text:
    """Return a formula, or terms with plus signs between, each in the colour of its row."""
    if isinstance(side, str):
        return Text(side)
    return Text(" + ").join(Text(term.text, row_colour(term.row)) for term in side)


def value_text(value: Any, settings: Settings, most: int = MOST_READ) -> str:
    """Return a value on one line, of an array with many entries the first and the last."""
    array = np.asarray(value)
    if array.dtype == bool:
        return str(array.tolist()) if array.size <= settings.most(most) else array_text(array.astype(float))
    return array_text(array, settings.precision, settings.most(most), settings.dots)


def brief_text(value: Any, settings: Settings, least: int = MOST_READ) -> str:
    """Return an array by its first and its last entry, where it has more than ``least``."""
    array = np.asarray(value)
    if array.size <= settings.most(least) or array.dtype == bool:
        return value_text(array, settings)
    first, last = (short(float(array.flat[k]), settings.precision) for k in (0, -1))
    return f"[{first}, {settings.dots} {last}]"


def value_lines(value: Any, settings: Settings, width: int) -> list[str]:
    """Return a value in lines of at most ``width``: a small matrix by rows, all else on one, by its ends if need be."""
    array = np.asarray(value)
    rows = array.shape[0] if array.ndim == 2 else 0
    if 1 < rows <= MOST_ROWS and 0 < array.size <= MOST_OF_MATRIX and array.dtype != bool:
        lines = shaped_lines(array, settings.precision, MOST_OF_MATRIX)
        if max(map(len, lines)) <= width:
            return lines
    text = value_text(array, settings).partition(" in shape ")[0]
    return [text if len(text) <= width else brief_text(array, settings)]


class NumberRows:
    """Draws equations whose values are single numbers: ``h = tanh(x) = tanh(0.7) = 0.604368``.

    All that fit on a line are aligned, with all of their sides where these have room, else with one.
    """

    def __init__(self, rows: Sequence[Equation], settings: Settings, width: int, strong: bool) -> None:
        self.settings, self.width, self.strong = settings, width, strong
        self.rule = max((len(row.rule) for row in rows), default=0)
        lefts = [len(str(row.left)) for row in rows]
        self.left = max((length for length in lefts if length <= min(LONGEST_LABEL, width // 4)), default=0)
        self.columns: list[int] = []
        self.sides: dict[int, list[Text]] = {}
        self.numbers: dict[int, str] = {}
        self.align([row for row in rows if row.sides])

    def align(self, rows: Sequence[Equation]) -> None:
        """Choose the columns of the sides, and the rows that stand in them."""
        for sides_of in (all_sides, one_side):
            sides = {id(row): sides_of(row) for row in rows}
            fitting = [row for row in rows if len(self.in_line(row, sides[id(row)])) <= self.width]
            lengths = [list(map(len, sides[id(row)])) for row in fitting]
            self.columns = [max(column) for column in zip_longest(*lengths, fillvalue=0)]
            self.sides = {id(row): sides[id(row)] for row in fitting}
            self.numbers = dict(zip(map(id, fitting), padded(list(map(self.number, fitting))), strict=True))
            room = bool(fitting) and all(len(self.in_columns(row)) <= self.width for row in fitting)
            if room and (len(fitting) == len(rows) or sides_of is one_side):
                return
        self.sides = {}

    def start(self, row: Equation) -> str:
        """Return the name of a rule and the left side, which a long one aligns with no other."""
        rule = f"{row.rule:<{self.rule}}  " if self.rule else ""
        return f"{rule}{row.left!s:<{self.left}}"

    def hang(self, further: int) -> int:
        """Return how far lines that go on are indented: so much further than left sides, where there is room."""
        return min(self.left + (self.rule + 2 if self.rule else 0) + further, self.width // 3)

    def number(self, row: Equation) -> str:
        """Return the value of a row, nothing where a side says it."""
        return "" if row.value is None else value_text(row.value, self.settings)

    def sign(self, row: Equation, place: int) -> str:
        """Return the sign before a side: rounded terms of a sum are near to a whole that they are only near to."""
        return self.settings.near if row.near and not place and isinstance(row.sides[0], tuple) else "="

    def end(self, row: Equation, number: str) -> str:
        """Return the value with its sign, and the remark."""
        value = f" {self.settings.near if row.near else '='} {number}" if row.value is not None else ""
        return value + (f"{BETWEEN}{row.remark}" if row.remark else "")

    def in_line(self, row: Equation, sides: Sequence[Text]) -> Text:
        """Return a row without any alignment but that of its beginning."""
        line = Text(f"{self.start(row)} {self.sign(row, 0)} ").append_text(Text(" = ").join(sides))
        return line.append(self.end(row, self.number(row)))

    def in_columns(self, row: Equation) -> Text:
        """Return a row with everything in columns."""
        line, sides = Text(self.start(row)), self.sides[id(row)]
        for k, width in enumerate(self.columns):
            side = sides[k] if k < len(sides) else Text()
            line.append(f" {self.sign(row, k)} " if k < len(sides) else "   ").append_text(side)
            line.append(" " * (width - len(side)))
        return line.append(self.end(row, self.numbers[id(row)]))

    def lines(self, row: Equation) -> list[Text]:
        """Return a row."""
        if not row.sides:
            return self.bare_lines(row)
        if id(row) in self.sides:
            line = self.in_columns(row)
            line.rstrip()
            return [line]
        line = self.in_line(row, all_sides(row))
        if len(line) > self.width:
            line = self.in_line(row, one_side(row))
        return fold(line, self.width, "", " " * self.hang(5))

    def bare_lines(self, row: Equation) -> list[Text]:
        """Return ``x = [1, 2]``; a matrix that is the result of an answer row by row."""
        head = f"{self.start(row)} {self.settings.near if row.near else '='} "
        array = np.asarray(row.value)
        if self.strong and array.ndim == 2 and min(array.shape) > 1:
            for most in (12, 8, 6, 4, 2):
                lines = shaped_lines(array, self.settings.precision, self.settings.most(most), self.settings.dots)
                if len(head) + max(map(len, lines)) <= self.width:
                    return [Text((head if k == 0 else " " * len(head)) + line) for k, line in enumerate(lines)]
        text = value_text(array, self.settings, MOST_SPELLED if self.strong else MOST_READ)
        if self.strong and array.ndim > 1 and array.size > MOST_READ:
            text += "" if " in shape " in text else f" in shape {array.shape}"
        return fold(f"{head}{text}", self.width, "", " " * min(len(head) + 1, self.width // 3))


def all_sides(row: Equation) -> list[Text]:
    """Return all sides of an equation."""
    return [side_text(side) for side in row.sides]


def one_side(row: Equation) -> list[Text]:
    """Return the side that is left where there is no room: the formula, and of sums the one with numbers."""
    last = isinstance(row.sides[-1], tuple) and isinstance(row.sides[-1][0], Term)
    return [side_text(row.sides[-1 if last else 0])]


class ArrayRows(NumberRows):
    """Draws equations of arrays: ``h = tanh(z)   (2,)   [0.2, 0.9]``, the value below where the line is too short."""

    def align(self, rows: Sequence[Equation]) -> None:
        """Choose the columns of texts and shapes."""
        valued = [row for row in rows if row.value is not None]
        shapes = {np.shape(row.value) for row in valued}
        large = any(np.size(row.value) > MOST_READ for row in valued)
        self.shape = max(map(len, map(shape_text, shapes))) if len(shapes) > 1 or large else 0
        texts = {id(row): len(row_text(row)) for row in valued}
        fitting = [row for row in valued if self.length(row, texts[id(row)]) <= self.width]
        while True:
            self.text = max((texts[id(row)] for row in fitting), default=0)
            if all(self.length(row, self.text) <= self.width for row in fitting):
                return
            fitting.remove(max(fitting, key=lambda row: texts[id(row)]))

    def values(self, row: Equation) -> list[str]:
        """Return the lines of a value, with the name of the whole where the left side is a part of it."""
        name = f"{row.whole} = " if row.whole else ""
        first, *rest = value_lines(row.value, self.settings, self.width // 2)
        return [name + first, *(" " * len(name) + line for line in rest)]

    def length(self, row: Equation, text: int) -> int:
        """Return how wide the line of a row is whose text has so many columns."""
        shape = self.shape + len(BETWEEN) if self.shape else 0
        return len(self.start(row)) + 3 + text + len(BETWEEN) + shape + max(map(len, self.values(row)))

    def lines(self, row: Equation) -> list[Text]:
        """Return a row, with its value below where there is no room beside its text."""
        if not row.sides:
            return self.bare_lines(row)
        head, text, hang = f"{self.start(row)} = ", row_text(row), self.hang(3)
        above = fold(head + text, self.width, "", " " * hang)
        if row.value is None:
            return above
        values = self.values(row)
        shape = f"{shape_text(np.shape(row.value)):>{self.shape}}{BETWEEN}" if self.shape else ""
        if len(text) <= self.text and self.length(row, self.text) <= self.width:
            first = f"{head}{text:<{self.text}}{BETWEEN}{shape}"
            return [Text((first if k == 0 else " " * len(first)) + line) for k, line in enumerate(values)]
        shape = " " * hang + shape.lstrip()
        if len(shape) + max(map(len, values)) > self.width:
            values = [f"{row.whole} = " * bool(row.whole) + brief_text(row.value, self.settings)]
        below = [(shape if k == 0 else " " * len(shape)) + line for k, line in enumerate(values)]
        return [*above, *(piece for line in below for piece in fold(line, self.width, "", " " * (hang + 1)))]


def row_text(row: Equation) -> str:
    """Return the formula of a row of arrays with its remark; numbers are put into formulas of single numbers alone."""
    side = side_text(row.sides[0]).plain
    return f"{side}{BETWEEN}{row.remark}" if row.remark else side


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape, nothing for a number."""
    return str(shape) if shape else ""


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


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table, or a part of one, whose cells are texts."""

    labels: tuple[str, ...]
    blocks: tuple[tuple[Texts, ...], ...]
    tones: tuple[int | str, ...]
    ruled: tuple[int, ...]
    remarks: tuple[Remark, ...]

    @property
    def columns(self) -> list[Texts]:
        """The columns of all blocks."""
        return [column for block in self.blocks for column in block]

    @property
    def widths(self) -> list[int]:
        """The columns of the screen that the labels take, and each block."""
        blocks = [[len(column.lines[0]) for column in block] for block in self.blocks]
        return [
            max(map(len, self.labels), default=0),
            *(sum(widths) + GAP * max(len(widths) - 1, 0) for widths in blocks),
        ]

    @property
    def width(self) -> int:
        """The columns of the screen that it takes, without remarks."""
        return 1 + GAP + sum(self.widths) + 3 * (len(self.blocks) - 1)

    @property
    def styles(self) -> list[str]:
        """The style of each row."""
        return [
            row_colour(tone) if isinstance(tone, int) else "bold" if tone == "total" else ""
            for tone in self.tones or ("",) * len(self.labels)
        ]


@dataclass(frozen=True, slots=True)
class Stacked:
    """A table that has no room: a line for each row, with its style, and what is said of it."""

    rows: tuple[tuple[str, str], ...]
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """The columns of one block in a table, with formulas or with numbers alone; none where they have no room."""

    block: int
    columns: tuple[Column, ...]
    formulas: bool

    @property
    def whole(self) -> bool:
        """Whether no column is left out."""
        return not any(column.is_gap for column in self.columns)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with the room and the characters that there are."""

    table: Table
    settings: Settings
    layout: Layout

    @property
    def lead(self) -> tuple[tuple[Column, ...], ...]:
        """The blocks that stand in every part of the table: v, beside J."""
        return self.table.blocks[: len(self.table.blocks) - len(self.table.otherwise)]

    def texts(self, columns: Sequence[Column], formulas: bool) -> tuple[Texts, ...]:
        """Return columns with their cells as texts."""
        return tuple(
            Texts(
                self.layout.mark(Mark.COLUMN_GAP) if column.is_gap else column.heading,
                tuple(self.cell_text(cell, formulas) for cell in column.cells),
                column.numbers,
                column.cells,
                formulas,
            )
            for column in columns
        )

    def cell_text(self, cell: Cell, formulas: bool) -> str:
        """Return a cell as ``formula = value``, or by its value alone."""
        settings, formula = self.settings, cell.formula if formulas else ""
        if cell.text:
            return cell.text
        if cell.mark is not Mark.NONE:
            mark = "= ?" if cell.mark is Mark.OPEN else f"{settings.near} 0"
            return f"{formula} {mark}" if formula else self.layout.mark(cell.mark)
        if cell.value is None:
            return ""
        text = array_text(cell.value, settings.precision, settings.most(MOST_ENTRIES), settings.dots)
        text = text.partition(" in shape ")[0]
        return f"{formula} = {text}" if formula else text

    def drawn(self, panels: Sequence[Panel], remarks: tuple[Remark, ...] = ()) -> Drawn:
        """Return the table of some panels."""
        table = self.table
        blocks = [self.texts(block, formulas=False) for block in self.lead]
        blocks += [self.texts(panel.columns, panel.formulas) for panel in panels]
        return Drawn(table.labels, tuple(blocks), table.tones, table.ruled, remarks)

    def fits(self, panels: Sequence[Panel]) -> bool:
        """Return whether panels have room beside each other."""
        return all(panel.columns for panel in panels) and self.drawn(panels).width <= self.layout.room

    def stacked(self, blocks: Sequence[Sequence[Column]], remarks: tuple[Remark, ...] = ()) -> Stacked:
        """Return a line for each row: what it is called, and each cell behind its heading."""
        columns = tuple(text for block in blocks for text in self.texts(block, formulas=True))
        styles = Drawn(self.table.labels, (columns,), self.table.tones, (), ()).styles
        rows = []
        for k, (label, style) in enumerate(zip(self.table.labels, styles, strict=True)):
            cells = ", ".join(f"{column.heading} {column.cells[k]}".strip() for column in columns if column.cells[k])
            cells = OPEN_SIDE.sub(" ", cells)
            rows.append((f"{label}: {cells}" if label and cells else label or f"    {cells}", style))
        return Stacked(tuple(rows), tuple(remark for remark in remarks if remark.tone or remark.needed))


OPEN_SIDE = re.compile(r"(?<= [=≈]), |(?<= ~=), ")
"""A comma behind a sign of equality, whose other side stands in the next cell."""


def fitted(table: Table, settings: Settings, layout: Layout) -> Iterator[Equations | Drawn | Stacked]:
    """Yield a table in as many parts as the room asks for: formulas that have none in its cells, tables, or lines."""
    sheet = Sheet(table, settings, layout)
    if not table.ruled:
        yield fitted_without_rules(sheet)
        return
    parts = pack(sheet)
    in_cells = {panel.block for part in parts for panel in part if panel.formulas and panel.columns}
    equations = [row for k, rows in enumerate(table.otherwise) if k not in in_cells for row in rows]
    if equations:
        yield Equations(tuple(equations))
    shown = [part for part in parts if is_readable(part, table)]
    for number, part in enumerate(shown):
        last = number == len(shown) - 1
        remarks = tuple(
            replace(remark, text=f"{layout.mark(remark.mark)} {remark.text}".lstrip())
            for remark in table.remarks
            if (last if remark.tone else number == 0)
        )
        if all(panel.columns for panel in part):
            yield sheet.drawn(part, remarks)
        else:
            lead = len(sheet.lead)
            yield sheet.stacked([*sheet.lead, *(table.blocks[lead + panel.block] for panel in part)], remarks)
    if not shown:
        yield Stacked((), tuple(remark for remark in table.remarks if remark.tone))


def pack(sheet: Sheet) -> list[list[Panel]]:
    """Return the blocks of each part, with formulas where that takes no more than one part more."""
    blocks = sheet.table.blocks[len(sheet.lead) :]
    numbers = beside(sheet, [panel for k, block in enumerate(blocks) for panel in narrowed(sheet, k, block)])
    panels = [Panel(k, block, formulas=True) for k, block in enumerate(blocks)]
    for panel, rows in zip(panels, sheet.table.otherwise, strict=True):
        said = not rows or any(cell.formula for column in panel.columns for cell in column.cells)
        if not said or not sheet.fits([panel]):
            return numbers
    formulas = beside(sheet, panels)
    return formulas if len(formulas) <= len(numbers) + 1 else numbers


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
    shown = [column for column in block if not column.is_gap]
    largest = min(len(shown), WIDTHS[0]) if sheet.settings.full else len(shown)
    for most in (largest, *(width for width in WIDTHS if width < largest)):
        if sheet.settings.full:
            parts = [tuple(shown[start : start + most]) for start in range(0, len(shown), most)]
        elif most == len(shown):
            parts = [block]
        else:
            parts = [tuple(gap_beside(shown[0]) if k is None else shown[k] for k in ends(len(shown), most))]
        panels = [Panel(number, part, formulas=False) for part in parts]
        if all(sheet.fits([panel]) for panel in panels):
            return panels
    return [Panel(number, (), formulas=False)]


def gap_beside(other: Column) -> Column:
    """Return the column that stands for those left out."""
    rows = [Cell(mark=Mark.ROW_GAP if cell.mark is Mark.ROW_GAP else Mark.COLUMN_GAP) for cell in other.cells]
    return Column("", tuple(rows))


def is_readable(part: Sequence[Panel], table: Table) -> bool:
    """Return whether there is something to read in the rows and columns of a part of a table."""
    columns = [column for panel in part for column in panel.columns]
    if all(panel.whole for panel in part) and not any(cell.mark is Mark.ROW_GAP for cell in table.blocks[0][0].cells):
        return True
    rows = [k for k, tone in enumerate(table.tones) if tone not in ("", "total")]
    entries = [column.cells[k].mark for column in columns for k in rows if column.cells[k].mark is not Mark.COLUMN_GAP]
    return not entries or 2 * sum(mark is not Mark.ZERO for mark in entries) >= len(entries)


def fitted_without_rules(sheet: Sheet) -> Drawn | Stacked:
    """Return a table without rules: its columns side by side, or a line for each row where there is no room."""
    table = sheet.table
    columns = [column for block in table.blocks for column in block]
    optional = [place for place, column in enumerate(columns) if column.optional]
    for left_out in range(len(optional) + 1):
        gone = optional[len(optional) - left_out :]
        kept = [column for place, column in enumerate(columns) if place not in gone]
        drawn = Drawn(table.labels, (sheet.texts(kept, formulas=True),), table.tones, (), table.remarks)
        if max((len(line.plain) for line in lines_without_rules(drawn)), default=0) <= sheet.layout.width:
            return drawn
    return sheet.stacked(table.blocks)


def lines_with_rules(table: Drawn, layout: Layout) -> list[Text]:
    """Return a table as lines, with its remarks beside and below it."""
    bodies = [zip(*(column.lines for column in block), strict=True) for block in table.blocks]
    bar, rule, crossing = ("│", "─", "┼") if layout.unicode else ("|", "-", "+")
    label_width, first, *rest = table.widths
    lines = []
    for label, style, *blocks in zip(["", *table.labels], ["bold", *table.styles], *bodies, strict=True):
        line = Text(" ").append(label.ljust(label_width) + " " * GAP, style=style)
        for number, cells in enumerate(blocks):
            line.append(f" {bar} " if number else "").append((" " * GAP).join(cells), style=style)
        line.rstrip()
        lines.append(line)
    below = [one for one in table.remarks if not put_beside(one, lines[one.row + 1], table.width + 3, layout.room)]
    parts = [first + label_width + GAP + 1, *(wide + 2 for wide in rest)]
    parts[-1] -= 1
    across = Text(" " + crossing.join(rule * part for part in parts))
    for row in sorted(table.ruled, reverse=True):
        lines.insert(row + 1, across)
    return lines + [line for remark in below if remark.needed for line in remark_lines(remark, layout.width)]


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


def stacked_lines(table: Stacked, width: int) -> Iterator[Text]:
    """Yield a line for each row, and what is said of them."""
    for text, tone in table.rows:
        yield from fold(Text(text, tone), width, INDENT)
    for remark in table.remarks:
        yield from remark_lines(remark, width)


def lines_without_rules(table: Drawn) -> Iterator[Text]:
    """Yield labels and columns beside each other, headings above where there are any."""
    columns = [column.lines for column in table.columns]
    for label, style, *cells in zip(["", *table.labels], ["", *table.styles], *columns, strict=True):
        if label or any(cell.strip() for cell in cells):
            yield Text(INDENT + "  ".join([label.ljust(table.widths[0]), *cells]).rstrip(), style)


Line = TypeVar("Line")


class Voice(NamedTuple, Generic[Line]):
    """How a voice writes sentences, lines that keep their columns, equations, tables, and tables without room."""

    prose: Callable[[Prose], Iterable[Line]]
    verbatim: Callable[[Iterable[str]], Iterable[Line]]
    equations: Callable[[Equations], Iterable[Line]]
    table: Callable[[Drawn], Iterable[Line]]
    stacked: Callable[[Stacked], Iterable[Line]]
    title: Callable[[str], Iterable[Line]]
    between: tuple[Line, ...] = ()
    """What stands between the parts of one table; in texts also behind each part of a section and its title."""


def written_document(document: Document, voice: Voice[str], layout: Layout) -> Iterator[str]:
    """Yield the sections of a document as a voice writes them."""
    for section in document.with_texts(with_fillers).sections:
        texts = [*voice.title(section.title), *voice.between] if section.title else []
        for part in section.parts:
            texts += [*written(part, voice, document.settings, layout), *voice.between]
        yield from map(without_fillers, texts)


def written(part: Part, voice: Voice[Line], settings: Settings, layout: Layout) -> Iterator[Line]:
    """Yield a part of a section as a voice writes it."""
    match part:
        case Prose():
            yield from voice.prose(part)
        case Equations():
            yield from voice.equations(part)
        case Listing():
            yield from voice.verbatim(part.lines)
        case Events():
            from gradcli.render.events import event_lines  # a formula has none

            lines = event_lines(part.timeline, settings, layout)
            yield from voice.verbatim(line.removeprefix(" ") for line in lines)
        case Table():
            for k, piece in enumerate(fitted(part, settings, layout)):
                yield from voice.between if k else ()
                match piece:
                    case Equations():
                        yield from voice.equations(piece)
                    case Drawn():
                        yield from voice.table(piece)
                    case Stacked():
                        yield from voice.stacked(piece)
        case _:
            assert_never(part)
