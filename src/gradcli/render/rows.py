"""Lines ``name = text``, each with its value: aligned where there is room, broken at operators where there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.records import dataclass
from gradcli.render.equalities import evaluate
from gradcli.render.numbers import array_text, short
from gradcli.render.wrap import wrapped

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

MOST_READ = 12
"""Entries of an array that are all shown."""
MOST_STEPS = 40
"""Lines up to which numbers are put in."""
INDENT = 3
"""Columns that the section's title leaves free on the left."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line ``label = text = step``, shape and value; ``text`` is empty for what is given."""

    label: str
    text: str
    value: Any
    step: str = ""


def aligned(rows: list[Row | str], found: Explained, layout: Layout) -> list[str]:
    """Return rows as lines: with numbers put in where all are single numbers, else with shapes and values."""
    table = [row for row in rows if isinstance(row, Row)]
    written = [row for row in table if row.text and not is_number(row.text, row.value)]
    label = label_width(table)
    draw = Scalars if all(np.ndim(row.value) == 0 for row in written) else Arrays
    drawn = draw(written, label, found, layout)
    lines: list[str] = []
    for row in rows:
        if isinstance(row, str):
            lines += wrapped(row, layout.width - INDENT, 4)
        elif row.text and not is_number(row.text, row.value):
            lines += drawn.lines(row)
        else:
            lines += given_lines(row, label, layout)
    return lines


LONGEST_LABEL = 16
"""Columns of a name up to which the others are aligned with it."""


def label_width(rows: list[Row]) -> int:
    """Return how wide the column of the names is."""
    return max((len(row.label) for row in rows if len(row.label) <= LONGEST_LABEL), default=0)


def is_number(text: str, value: Any) -> bool:
    """Return whether a text is only the number that the value is, such as ``3.0``."""
    try:
        return np.ndim(value) == 0 and float(text) == float(value)
    except ValueError:
        return False


def given_lines(row: Row, label: int, layout: Layout) -> list[str]:
    """Return ``x = [1, 2]``."""
    text = value_text(row.value, layout)
    return wrapped(f"{row.label:<{label}} = {text}", layout.width - INDENT, label + 4)


def value_text(value: Any, layout: Layout, brief: bool = False) -> str:
    """Return an array on one line, in what the terminal can show; ``brief`` shows no more than its two ends."""
    value = np.asarray(value)
    most = layout.most(MOST_READ)
    if brief and value.size > most:
        first, last = (short(float(value.flat[k]), layout.precision) for k in (0, -1))
        return f"[{first}, {layout.glyphs.dots} {last}]"
    if value.dtype == bool:
        return str(value.tolist()) if value.size <= most else array_text(value.astype(float), layout.precision)
    text = array_text(value, layout.precision, most)
    return text if layout.glyphs.unicode else text.replace("…", "...")


class Scalars:
    """Draws rows of single numbers: ``h = tanh(x) = tanh(0.7) = 0.604368``.

    All that fit on a line are aligned, with numbers put in where these have room; if there is no room, none is.
    """

    def __init__(self, rows: list[Row], label: int, found: Explained, layout: Layout) -> None:
        self.label, self.layout = label, layout
        self.room = layout.width - INDENT
        fitting = [row for row in rows if len(f"{row.label:<{label}} = {row.text} = {self.number(row)}") <= self.room]
        self.text = max((len(row.text) for row in fitting), default=0)
        self.whole = max(map(self.point, fitting), default=0)
        steps = {id(row): step for row, step in zip(rows, true_steps(rows, found, layout), strict=True)}
        self.steps = {id(row): steps[id(row)] for row in fitting}
        while not self.fit(fitting) and any(self.steps.values()):
            longest = self.step
            self.steps = {key: step if len(step) < longest else "" for key, step in self.steps.items()}
        self.in_columns = {id(row) for row in fitting} if self.fit(fitting) else set()
        self.steps = self.steps if self.in_columns else steps

    def fit(self, rows: list[Row]) -> bool:
        """Return whether rows have room beside each other."""
        return all(len(self.aligned(row)) <= self.room for row in rows)

    @property
    def step(self) -> int:
        """The columns of the longest text with numbers."""
        return max(map(len, self.steps.values()), default=0)

    def point(self, row: Row) -> int:
        """Return how many characters stand before the decimal point."""
        return len(re.split(r"[.e]", self.number(row))[0])

    def number(self, row: Row) -> str:
        """Return the value."""
        return value_text(row.value, self.layout)

    def aligned(self, row: Row) -> str:
        """Return a row with everything in columns."""
        width, step = self.step, self.steps[id(row)]
        middle = f" = {step:<{width}}" if step else " " * (width + 3 if width else 0)
        padded = " " * (self.whole - self.point(row)) + self.number(row)
        return f"{row.label:<{self.label}} = {row.text:<{self.text}}{middle} = {padded}"

    def compact(self, row: Row) -> str:
        """Return a row without any alignment but that of its name, and with numbers where there is room."""
        start, end = f"{row.label:<{self.label}} = {row.text}", f" = {self.number(row)}"
        step = self.steps.get(id(row), "")
        whole = f"{start} = {step}{end}"
        return whole if step and len(whole) <= self.room else start + end

    def lines(self, row: Row) -> list[str]:
        """Return a row."""
        line = self.aligned(row) if id(row) in self.in_columns else self.compact(row)
        return wrapped(line, self.room, self.label + 5)


class Arrays:
    """Draws rows of arrays: ``h = tanh(z)   (2,)   [0.2, 0.9]``, the value below where the line is too short."""

    def __init__(self, rows: list[Row], label: int, found: Explained, layout: Layout) -> None:
        del found
        self.label, self.layout = label, layout
        self.room = layout.width - INDENT
        self.brief = False
        shapes = {np.shape(row.value) for row in rows}
        large = any(np.size(row.value) > MOST_READ for row in rows)
        self.shape = max(len(str(shape)) for shape in shapes) if len(shapes) > 1 or large else 0
        self.brief = any(self.length(row) > self.room for row in rows)
        fitting = [row for row in rows if self.length(row) <= self.room]
        self.text = max((len(row.text) for row in fitting), default=0)
        while fitting and any(self.length(row) - len(row.text) + self.text > self.room for row in fitting):
            fitting.remove(max(fitting, key=lambda row: len(row.text)))
            self.text = max((len(row.text) for row in fitting), default=0)

    def length(self, row: Row) -> int:
        """Return how long the line of a row is at least."""
        return max(len(row.label), self.label) + 3 + len(row.text) + 3 + len(self.value(row))

    def value(self, row: Row) -> str:
        """Return the shape, where it is shown, and the value."""
        text = value_text(row.value, self.layout, self.brief)
        named = row.label.partition("[")[0]
        text = f"{named} = {text}" if "[" in row.label and np.ndim(row.value) else text
        shape = f"{np.shape(row.value)!s:<{self.shape}}   " if self.shape else ""
        return shape + (text.partition(" in shape ")[0] if self.shape else text)

    def lines(self, row: Row) -> list[str]:
        """Return a row, with its value below where there is no room beside its text."""
        start, value = f"{row.label:<{self.label}} = ", self.value(row)
        line = f"{start}{row.text:<{self.text}}   {value}"
        if len(line) <= self.room:
            return [line]
        hang = min(self.label + 3, self.room // 3)
        return [*wrapped(start + row.text, self.room, hang), *wrapped(" " * hang + value, self.room, hang + 1)]


def true_steps(rows: list[Row], found: Explained, layout: Layout) -> list[str]:
    """Return the texts with numbers put in; nothing where rounding those has moved the value as it is shown."""
    texts = [row.step for row in rows if row.step and row.step != row.text] if len(rows) <= MOST_STEPS else []
    values = dict(zip(texts, evaluate(found, texts, {}), strict=True))
    steps = []
    for row in rows:
        value, shown = values.get(row.step), short(float(row.value), layout.precision)
        same = value is not None and short(value, layout.precision) == shown and row.step != shown
        steps.append(row.step if same else "")
    return steps
