"""Equations under each other: names, formulas, shapes and values in columns where there is room, below where not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from gradcli.document.model import Equation, Equations, Settings, Term
from gradcli.document.numbers import array_text, padded, shaped_lines, short
from gradcli.records import dataclass
from gradcli.render.wrap import fold

if TYPE_CHECKING:
    from gradcli.document.model import Side

LONGEST_LABEL = 16
"""Columns of a name up to which the others are aligned with it."""
MOST_READ = 12
"""Entries of an array that are all shown."""
MOST_SPELLED = 64
"""Entries of a gradient that are all shown."""
MOST_ROWS, MOST_ENTRIES = 4, 24
"""Rows and entries of a matrix that is shown row by row beside its formula."""
COLOURS = ("magenta", "cyan", "blue", "yellow")
"""Standard colours that can be read on dark and on light; green and red are kept for verdicts."""
GAP = "   "


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
    if 1 < rows <= MOST_ROWS and 0 < array.size <= MOST_ENTRIES and array.dtype != bool:
        lines = shaped_lines(array, settings.precision, MOST_ENTRIES)
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
        return value + (f"{GAP}{row.remark}" if row.remark else "")

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
        shape = self.shape + len(GAP) if self.shape else 0
        return len(self.start.text(row)) + 3 + text + len(GAP) + shape + max(map(len, self.values(row)))

    def lines(self, row: Equation) -> list[Text]:
        """Return a row, with its value below where there is no room beside its text."""
        if not row.sides:
            return self.bare_lines(row)
        head, text = f"{self.start.text(row)} = ", self.texts[id(row)]
        hang = min(self.start.width + 3, self.width // 3)
        if row.value is None:
            return fold(head + text, self.width, "", " " * hang)
        values = self.values(row)
        shape = f"{shape_text(np.shape(row.value)):>{self.shape}}{GAP}" if self.shape else ""
        if len(text) <= self.text and self.length(row, self.text) <= self.width:
            first = f"{head}{text:<{self.text}}{GAP}{shape}"
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
    return f"{side}{GAP}{row.remark}" if row.remark else side


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape, nothing for a number."""
    return str(shape) if shape else ""
