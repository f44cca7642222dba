"""What an answer says, before any layout: sections of equations, tables, sentences, a script's events.

A voice (terminal, Markdown, LaTeX, HTML) prints these records and computes nothing: which formulas are true, which rows
are shown and what stands beside them is settled when they are made. Formulas are texts of the language, as in the JSON
document; numbers are numbers until a voice rounds them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.records import dataclass, field, replace

if TYPE_CHECKING:
    from gradcli.explanation.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Settings:
    """How much an answer shows: the ``precision`` of its numbers in digits, and whether it is shown in ``full``.

    ``dots`` stands for what is left out, ``near`` between what is nearly equal.
    """

    precision: int = 6
    full: bool = False
    dots: str = "…"
    near: str = "≈"

    def most(self, count: int) -> int:
        """Return up to how many of something all are shown: ``count`` of them, or any number where all is asked for."""
        return EVERYTHING if self.full else count


EVERYTHING = 10**9
"""More than anything has entries."""


@dataclass(frozen=True, slots=True)
class Derivative:
    """The left side ``∂of/∂by``, or ``∂²of/∂by₁∂by₂`` with two names; entries keep their indices: ``y[i]``."""

    of: str
    by: tuple[str, ...]
    sign: str = "∂"
    two: str = "²"

    def __str__(self) -> str:
        power = "" if len(self.by) == 1 else self.two
        return f"{self.sign}{power}{self.of}/{''.join(self.sign + name for name in self.by)}"


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a sum, and the row of J that it comes from; None for what stands for terms left out."""

    text: str
    row: int | None = None


Side = str | tuple[Term, ...]
"""What stands between two signs of equality: a formula, or the terms of a sum."""


@dataclass(frozen=True, slots=True)
class Equation:
    """``left = side = side = value``.

    - ``sides``: each equal to the next; there may be none.
    - ``value``: a number or an array, None where the last side says it.
    - ``near``: whether the value is only near the last side, as printed digits allow.
    - ``remark``: what is said behind it, such as ``(used twice)``.
    - ``whole``: whose value it is where the left side is a part of it: ``y2[0] = x[0]`` leaves ``y2 = [2, 0, 0]``.
    - ``rule``: what the step is called, in lists of steps.
    """

    left: str | Derivative
    sides: tuple[Side, ...] = ()
    value: Any = None
    near: bool = False
    remark: str = ""
    rule: str = ""
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Equations:
    """Equations under each other; a text between them says what happened there.

    ``strong`` ones are the result of the answer.
    """

    rows: tuple[Equation | str, ...]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences, each a paragraph; ``tone`` is ``good``, ``bad`` or ``doubtful`` for a verdict."""

    sentences: tuple[str, ...]
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines that stay as they are: the program, a picture in dots."""

    lines: tuple[str, ...]


class Mark(Enum):
    """What a cell is, beside a number or a text."""

    NONE = ""
    ZERO = "·"  # no path leads from the input to the output
    ROUNDED = "≈0"  # what rounding has left of 0
    ROW_GAP = "⋮"  # rows left out
    COLUMN_GAP = "…"  # columns left out
    OPEN = "?"  # still to be chosen


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: a ``value`` (number or array) with its ``formula`` or without, a ``text``, or a ``mark``."""

    value: Any = None
    formula: str = ""
    mark: Mark = Mark.NONE
    text: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading over a cell for each row; ``numbers`` are aligned at their points, texts at their left.

    An ``optional`` one is left out where there is no room for it.
    """

    heading: str
    cells: tuple[Cell, ...]
    numbers: bool = True
    optional: bool = False

    @property
    def is_gap(self) -> bool:
        """Whether it stands for columns that are left out."""
        return all(cell.mark in (Mark.ROW_GAP, Mark.COLUMN_GAP) for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Remark:
    """What is said beside a row; below the table where there is no room, or nowhere if it is not ``needed``.

    One that explains a ``mark`` begins with it.
    """

    row: int
    text: str
    tone: str = ""
    needed: bool = True
    mark: Mark = Mark.NONE


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with labels, in blocks of columns with a bar before each but the first.

    - ``tones``: of each row, its place among the rows of J, which gives it a colour; ``total`` for the last line.
    - ``ruled``: the rows that have a rule above them; where there is none, the table has no bars either.
    - ``otherwise``: the formulas of its cells as equations, by block: they stand above where cells have no room.
    """

    labels: tuple[str, ...]
    blocks: tuple[tuple[Column, ...], ...]
    tones: tuple[int | str, ...] = ()
    ruled: tuple[int, ...] = ()
    remarks: tuple[Remark, ...] = ()
    otherwise: tuple[tuple[Equation | str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Events:
    """What a script did."""

    timeline: Timeline


Part = Equations | Prose | Listing | Table | Events


@dataclass(frozen=True, slots=True)
class Section:
    """A title over parts; ``name`` is what code calls it, whatever its title says."""

    name: str
    title: str = ""
    parts: tuple[Part, ...] = ()


Axes: TypeAlias = Callable[[str], tuple[int, ...] | None]


@dataclass(frozen=True, slots=True)
class Document:
    """All sections of an answer in the order of reading, with the ``settings`` that its numbers are printed by.

    ``axes`` gives the shape that a formula has, None for what is none by itself: a product of two matrices is written
    otherwise than one by entries.
    """

    sections: tuple[Section, ...]
    settings: Settings = field(default_factory=Settings)
    axes: Axes = lambda _: None

    def section(self, name: str) -> Section | None:
        """Return the section of a name."""
        return next((section for section in self.sections if section.name == name), None)

    def with_texts(self, change: Callable[[str], str]) -> Document:
        """Return the same document with every text changed: in other letters, or with other names."""
        return replace(self, sections=tuple(_changed(section, change) for section in self.sections))


def _changed(part: Any, change: Callable[[str], str]) -> Any:
    if isinstance(part, str):
        return change(part)
    if isinstance(part, tuple):
        return tuple(_changed(item, change) for item in part)
    if isinstance(part, Section | Equations | Equation | Derivative | Term | Prose | Listing | Table | Column | Remark):
        fixed = {"name", "tone", "tones"}
        return replace(
            part, **{name: _changed(getattr(part, name), change) for name in part.__slots__ if name not in fixed}
        )
    if isinstance(part, Cell) and (part.text or part.formula):
        return replace(part, text=change(part.text), formula=change(part.formula))
    return part
