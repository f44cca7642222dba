"""Equations under each other: names, formulas, shapes and values in columns where there is room, below where not.

Tables as lines: columns aligned at the decimal point, as many of them as there is room for, one colour a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from gradcli.document.model import Cell, Column, Equation, Equations, Mark, Remark, Settings, Table, Term
from gradcli.document.texts import aligned, array_text, ends, padded, shaped_lines, short
from gradcli.records import dataclass, replace
from gradcli.render.layout import ASCII_MARKS, fold

if TYPE_CHECKING:
    from gradcli.document.model import Side
    from gradcli.render.layout import Layout


LONGEST_LABEL = 16
"""Columns of a name up to which the others are aligned with it."""
MOST_READ = 12
"""Entries of an array that are all shown."""
MOST_SPELLED = 64
"""Entries of a gradient that are all shown."""
MOST_ROWS, MOST_OF_MATRIX = 4, 24
"""Rows and entries of a matrix that is shown row by row beside its formula."""
COLOURS = ("magenta", "cyan", "blue", "yellow")
"""Standard colours that can be read on dark and on light; green and red are kept for verdicts."""
BETWEEN = "   "


def row_colour(row: int | None) -> str:
    """Return the colour of a row of J, which its terms have in sums too."""
    return "" if row is None else COLOURS[row % len(COLOURS)]


def equation_lines(part: Equations, settings: Settings, width: int) -> list[Text]:
    """Return equations as lines of at most ``width`` columns, but for what cannot be broken."""
    rows = [row for row in part.rows if isinstance(row, Equation)]
    worked = [row for row in rows if row.sides]
    draw = ArrayRows if any(np.ndim(row.value) for row in worked if row.value is not None) else NumberRows
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


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning of each line: the name of a rule, and the left side."""

    rule: int
    left: int

    @property
    def width(self) -> int:
        """The columns before a sign of equality."""
        return self.left + (self.rule + 2 if self.rule else 0)

    def text(self, row: Equation) -> str:
        """Return the beginning of a row, without its sign of equality."""
        rule = f"{row.rule:<{self.rule}}  " if self.rule else ""
        return f"{rule}{row.left!s:<{self.left}}"


def start_of(rows: Sequence[Equation]) -> Start:
    """Return how wide names of rules and left sides are; a long left side aligns no other."""
    lefts = [len(str(row.left)) for row in rows]
    return Start(max((len(row.rule) for row in rows), default=0),
                 max((length for length in lefts if length <= LONGEST_LABEL), default=0))  # fmt: skip


class NumberRows:
    """Draws equations whose values are single numbers: ``h = tanh(x) = tanh(0.7) = 0.604368``.

    All that fit on a line are aligned, with all of their sides where these have room, else with one.
    """

    def __init__(self, rows: Sequence[Equation], settings: Settings, width: int, strong: bool) -> None:
        self.start, self.settings, self.width, self.strong = start_of(rows), settings, width, strong
        worked = [row for row in rows if row.sides]
        self.columns: list[int] = []
        self.kept: dict[int, list[Text]] = {}
        for sides_of in (all_sides, one_side):
            texts = {id(row): sides_of(row) for row in worked}
            fitting = [row for row in worked if self.plain_length(row, texts[id(row)]) <= width]
            count = max((len(texts[id(row)]) for row in fitting), default=0)
            columns = [
                max((len(texts[id(row)][k]) for row in fitting if len(texts[id(row)]) > k), default=0)
                for k in range(count)
            ]
            self.points = dict(zip(map(id, fitting), padded([self.number(row) for row in fitting]), strict=True))
            self.columns, self.kept = columns, {id(row): texts[id(row)] for row in fitting}
            room = bool(fitting) and all(len(self.aligned(row)) <= width for row in fitting)
            if room and (len(fitting) == len(worked) or sides_of is one_side):
                return
        self.kept = {}

    def number(self, row: Equation) -> str:
        """Return the value of a row, nothing where a side says it."""
        return "" if row.value is None else value_text(row.value, self.settings)

    def plain_length(self, row: Equation, sides: Sequence[Text]) -> int:
        """Return how long a row is without any alignment but that of its beginning."""
        return len(self.start.text(row)) + sum(3 + len(side) for side in sides) + len(self.end(row, self.number(row)))

    def sign(self, row: Equation, place: int) -> str:
        """Return the sign before a side: rounded terms of a sum are near to a whole that they are only near to."""
        return self.settings.near if row.near and not place and isinstance(row.sides[0], tuple) else "="

    def end(self, row: Equation, number: str) -> str:
        """Return the value with its sign, and the remark."""
        value = f" {self.settings.near if row.near else '='} {number}" if row.value is not None else ""
        return value + (f"{BETWEEN}{row.remark}" if row.remark else "")

    def aligned(self, row: Equation) -> Text:
        """Return a row with everything in columns."""
        line, sides = Text(self.start.text(row)), self.kept[id(row)]
        for k, width in enumerate(self.columns):
            side = sides[k] if k < len(sides) else None
            line.append(f" {self.sign(row, k)} " if side is not None else "   ")
            if side is not None:
                line.append_text(side)
            line.append(" " * (width - (0 if side is None else len(side))))
        return line.append(self.end(row, self.points[id(row)]))

    def lines(self, row: Equation) -> list[Text]:
        """Return a row."""
        if not row.sides:
            return self.bare_lines(row)
        if id(row) in self.kept:
            line = self.aligned(row)
            line.rstrip()
            return [line]
        for sides in (all_sides(row), one_side(row)):
            line = Text(f"{self.start.text(row)} {self.sign(row, 0)} ").append_text(Text(" = ").join(sides))
            line.append(self.end(row, self.number(row)))
            if len(line) <= self.width:
                return [line]
        return fold(line, self.width, "", " " * min(self.start.width + 5, self.width // 3))

    def bare_lines(self, row: Equation) -> list[Text]:
        """Return ``x = [1, 2]``; a matrix that is the result of an answer row by row."""
        head = f"{self.start.text(row)} {self.settings.near if row.near else '='} "
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

    def __init__(self, rows: Sequence[Equation], settings: Settings, width: int, strong: bool) -> None:
        self.start, self.settings, self.width, self.strong = start_of(rows), settings, width, strong
        worked = [row for row in rows if row.sides]
        valued = [row for row in worked if row.value is not None]
        shapes = {np.shape(row.value) for row in valued}
        large = any(np.size(row.value) > MOST_READ for row in valued)
        self.shape = max(map(len, map(shape_text, shapes))) if len(shapes) > 1 or large else 0
        self.texts = {id(row): row_text(row) for row in worked}
        fitting = [row for row in valued if self.length(row, len(self.texts[id(row)])) <= width]
        while fitting and any(self.length(row, self.longest(fitting)) > width for row in fitting):
            fitting.remove(max(fitting, key=lambda row: len(self.texts[id(row)])))
        self.text = self.longest(fitting)

    def longest(self, rows: Sequence[Equation]) -> int:
        """Return the length of the longest text."""
        return max((len(self.texts[id(row)]) for row in rows), default=0)

    def values(self, row: Equation) -> list[str]:
        """Return the lines of a value, with the name of the whole where the left side is a part of it."""
        name = f"{row.whole} = " if row.whole else ""
        first, *rest = value_lines(row.value, self.settings, self.width // 2)
        return [name + first, *(" " * len(name) + line for line in rest)]

    def length(self, row: Equation, text: int) -> int:
        """Return how wide the line of a row is whose text has so many columns."""
        shape = self.shape + len(BETWEEN) if self.shape else 0
        return len(self.start.text(row)) + 3 + text + len(BETWEEN) + shape + max(map(len, self.values(row)))

    def lines(self, row: Equation) -> list[Text]:
        """Return a row, with its value below where there is no room beside its text."""
        if not row.sides:
            return self.bare_lines(row)
        head, text = f"{self.start.text(row)} = ", self.texts[id(row)]
        hang = min(self.start.width + 3, self.width // 3)
        if row.value is None:
            return fold(head + text, self.width, "", " " * hang)
        values = self.values(row)
        shape = f"{shape_text(np.shape(row.value)):>{self.shape}}{BETWEEN}" if self.shape else ""
        if len(text) <= self.text and self.length(row, self.text) <= self.width:
            first = f"{head}{text:<{self.text}}{BETWEEN}{shape}"
            return [Text((first if k == 0 else " " * len(first)) + line) for k, line in enumerate(values)]
        above, shape = fold(head + text, self.width, "", " " * hang), shape.lstrip()
        if hang + len(shape) + max(map(len, values)) > self.width:
            values = [f"{row.whole} = " * bool(row.whole) + brief_text(row.value, self.settings)]
        below = [
            Text((" " * hang + shape if k == 0 else " " * (hang + len(shape))) + line) for k, line in enumerate(values)
        ]
        return [*above, *(piece for line in below for piece in fold(line, self.width, "", " " * (hang + 1)))]


def row_text(row: Equation) -> str:
    """Return the formula of a row of arrays with its remark; numbers are put into formulas of single numbers alone."""
    side = side_text(row.sides[0]).plain
    return f"{side}{BETWEEN}{row.remark}" if row.remark else side


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape, nothing for a number."""
    return str(shape) if shape else ""


# ---- Tables as lines: columns aligned at the decimal point, as many of them as there is room for, one col

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
