"""The section *Forward*: what ran, a line for each name of the program, with the turns and branches between them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.explanation.events import BranchTaken, LoopEnded, TurnBegun, Value
from gradcli.language.trace import NAME, tight
from gradcli.render.equalities import CLOSE, NEAR, evaluate, is_same, known_values
from gradcli.render.numbers import array_text, short
from gradcli.render.wrapping import wrapped

if TYPE_CHECKING:
    from gradcli.explanation.events import Decision, Event
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

MOST_INPUTS = 3
"""Inputs up to which Forward repeats what they are."""
MOST_ENTRIES = 8
"""Entries of an output given as a list up to which each has a line."""
MOST_READ = 12
"""Entries of a helper's value up to which its text is read back."""
MOST_STEPS = 40
"""Lines up to which numbers are put in."""
INDENT = 3
"""Columns that the section's title leaves free on the left."""
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line ``label = text = step``, shape and value; ``text`` is empty for what is given."""

    label: str
    text: str
    value: Any
    step: str = ""


def forward_lines(found: Explained, layout: Layout) -> list[str]:
    """Return what ran: inputs where they are few, each value that is shown, helpers' names of the formulas."""
    rows: list[Row | str] = []
    if len(found.inputs) <= MOST_INPUTS:
        rows += [Row(name, "", value) for name, value in found.inputs.items()]
    known = {value.name: value.value for value in found.values}
    shown: set[str] = set(found.inputs)
    for event in shown_events(found.forward):
        if not isinstance(event, Value):
            rows += sentences(event, layout)
        elif event.text is not None:
            shown.add(event.name)
            rows += value_rows(event, known, layout)
    rows += [helper_row(found, name, text) for name, text in found.definitions.items() if name not in shown]
    return aligned(rows, found, layout)


def shown_events(events: list[Event]) -> Iterator[Event]:
    """Yield the events outside of loops, and those of the first and the last turn of each loop."""
    running: list[TurnBegun] = []
    for event in events:
        if isinstance(event, TurnBegun):
            running = [*running[: len(event.turns) - 1], event]
        elif isinstance(event, LoopEnded):
            running = running[: len(event.turns)]
        if all(turn.turns[-1] in (1, turn.count) for turn in running):
            yield event


def value_rows(value: Value, known: Mapping[str, Any], layout: Layout) -> list[Row | str]:
    """Return the line of a value, or a line for each entry of an output that is given as a list."""
    text = value.text or ""
    entries = listed(text)
    row = Row(value.target or value.name, text, value.value, put_in(text, known, layout.precision))
    rows: list[Row | str] = [row]
    if value.role == "output" and len(entries) == value.value.size and 0 < len(entries) <= MOST_ENTRIES:
        flat, shape = np.ravel(value.value), value.value.shape
        rows = [
            Row(value.name + place_text(k, shape), entry, flat[k], put_in(entry, known, layout.precision))
            for k, entry in enumerate(entries)
        ]
    return rows


def listed(text: str) -> list[str]:
    """Return the texts of the entries of a list, of nested ones too; nothing for any other text."""
    if not (text.startswith("[") and closing(text, 0) == len(text) - 1):
        return []
    parts, depth, start = [], 0, 1
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if (character == "," and depth == 1) or depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    present = [part for part in parts if part]
    return [entry for part in present for entry in (listed(part) or [part])]


def closing(text: str, opening: int) -> int:
    """Return where a bracket is closed."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in "([") - (text[place] in ")]")
        if not depth:
            return place
    return -1


def helper_row(found: Explained, name: str, text: str) -> Row | str:
    """Return the line of a name that formulas use beside the program's, without text where that is another number."""
    value = found.definition_values.get(name)
    if value is None:
        return f"{name} = {text}"
    if np.size(value) <= MOST_READ:
        read = found.lookup.evaluate(text, known_values(found))
        if read is not None and not np.allclose(read, value, rtol=CLOSE, atol=0, equal_nan=True):
            return Row(name, "", value)
    return Row(name, text, value)


INDEX = re.compile(r"\[(-?\d+(?:, ?-?\d+)*)\]")


def put_in(text: str, known: Mapping[str, Any], precision: int) -> str:
    """Return a text with numbers in the place of variables and their entries; nothing where one is no number.

    >>> put_in("h*h + x[0]", {"h": -0.5, "x": np.array([2.0])}, 6)
    '(-0.5)*(-0.5) + 2'
    """
    parts, start = [], 0
    for match in NAME.finditer(text):
        if match["text"] or match["dot"] or match["name"] not in known or match.start() < start:
            continue
        index = INDEX.match(text, match.end())
        end = index.end() if index else match.end()
        value = np.asarray(known[match["name"]])
        place = tuple(int(part) for part in index[1].split(",")) if index else ()
        try:
            entry = value[place]
        except IndexError:
            return ""
        if np.ndim(entry) or value.dtype == bool or text[end : end + 1] in (".", "["):
            return ""
        number = short(float(entry), precision)
        parts += [text[start : match.start()], tight(number) if number.startswith("-") else number]
        start = end
    return "".join([*parts, text[start:]]) if parts else ""


def marked(text: str, value: float, number: float, precision: int) -> list[str]:
    """Return a step of this value on the way to a number, marked where they are only nearly equal; none where not."""
    if short(value, precision) == short(number, precision):
        return [text]
    return [APART + text] if is_same(value, number, NEAR) else []


APART = "\0"
"""Before a step that is only nearly equal to its neighbours."""


def chain(parts: list[str], width: int) -> str:
    """Return ``a = b = c = d`` without repetitions, and without the middle where it would not fit.

    A step that is only nearly equal stands between two ≈.
    """
    present = [part for part in parts if part]
    kept = [part for k, part in enumerate(present) if k == 0 or part != present[k - 1]]
    if len(" = ".join(kept)) > width and len(kept) > 3:
        kept = [*kept[:2], kept[-1]]
    if len(" = ".join(kept)) > width and len(kept) == 2:
        kept = kept[:1]
    text = kept[0]
    for before, part in pairwise(kept):
        text += (" ≈ " if before.startswith(APART) or part.startswith(APART) else " = ") + part.removeprefix(APART)
    return text


def aligned(rows: list[Row | str], found: Explained, layout: Layout) -> list[str]:
    """Return rows as lines: with numbers put in where all are single numbers, else with shapes and values."""
    table = [row for row in rows if isinstance(row, Row)]
    written = [row for row in table if row.text]
    label = max((len(row.label) for row in table if len(row.label) <= LONGEST_LABEL), default=0)
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
    if brief and value.size > MOST_READ:
        first, last = (short(float(value.flat[k]), layout.precision) for k in (0, -1))
        return f"[{first}, {layout.glyphs.dots} {last}]"
    if value.dtype == bool:
        return str(value.tolist()) if value.size <= MOST_READ else array_text(value.astype(float), layout.precision)
    text = array_text(value, layout.precision)
    return text if layout.glyphs.unicode else text.replace("…", "...")


class Scalars:
    """Draws rows of single numbers: ``h = tanh(x) = tanh(0.7) = 0.604368``, aligned as far as the room goes."""

    def __init__(self, rows: list[Row], label: int, found: Explained, layout: Layout) -> None:
        self.label, self.layout = label, layout
        self.room = layout.width - INDENT
        self.steps = {id(row): step for row, step in zip(rows, true_steps(rows, found, layout), strict=True)}
        fitting = [row for row in rows if len(self.compact(row)) <= self.room]
        self.text = max((len(row.text) for row in fitting), default=0)
        self.step = max((len(self.steps[id(row)]) for row in fitting), default=0)
        self.whole = max((self.point(row) for row in fitting), default=0)

    def point(self, row: Row) -> int:
        """Return how many characters stand before the decimal point."""
        return len(re.split(r"[.e]", self.number(row))[0])

    def number(self, row: Row) -> str:
        """Return the value."""
        return value_text(row.value, self.layout)

    def compact(self, row: Row) -> str:
        """Return a row without any alignment but that of its name."""
        step = f" = {self.steps[id(row)]}" if self.steps[id(row)] else ""
        return f"{row.label:<{self.label}} = {row.text}{step} = {self.number(row)}"

    def lines(self, row: Row) -> list[str]:
        """Return a row, aligned where there is room."""
        step, number = self.steps[id(row)], self.number(row)
        middle = f" = {step:<{self.step}}" if step else " " * (self.step + 3 if self.step else 0)
        padded = " " * (self.whole - self.point(row)) + number
        full = f"{row.label:<{self.label}} = {row.text:<{self.text}}{middle} = {padded}"
        short = f"{row.label:<{self.label}} = {row.text} = {number}"
        fits = next((line for line in (full, self.compact(row), short) if len(line) <= self.room), short)
        return wrapped(fits, self.room, self.label + 5)


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


def sentences(event: BranchTaken | TurnBegun | LoopEnded, layout: Layout) -> list[str]:
    """Return what is said of a branch, a turn or the end of a loop."""
    if isinstance(event, BranchTaken):
        return [branch_text(event, layout)]
    if isinstance(event, TurnBegun):
        return turn_text(event, layout)
    loop = f"the loop over {event.variable}" if event.variable else "the loop"
    why = f" because {decision_text(event.decision, layout)}" if event.decision else ""
    if not event.count:
        return [f"{loop} made no turn{why}"]
    return ["it ended with break"] if event.broken else [f"it ended{why}"] if why else []


def turn_text(turn: TurnBegun, layout: Layout) -> list[str]:
    """Return the line before the first and before the last turn of a loop."""
    number, item = turn.turns[-1], "" if turn.item is None else f"{turn.variable} = {turn.item}"
    loop = f"the loop over {turn.variable}" if turn.variable else "the loop"
    if number == 1:
        return [f"{item}:"] if item else []
    return [f"{layout.glyphs.dots}   {turn.count:,} turns of {loop}; the last{', ' + item if item else ''}:"]


def branch_text(branch: BranchTaken, layout: Layout) -> str:
    """Return which branch ran and why, and that the others contribute nothing."""
    why, held = decision_text(branch.decision, layout), branch.decision.held
    if branch.choices:
        taken, left = branch.choices if held else branch.choices[::-1]
        return f"{why}: {taken} is taken; the other choice, {left}, contributes nothing"
    if held:
        others = {"": "", "else": "; else contributes nothing", "elif": "; the others contribute nothing"}
        return f"{why}: the {branch.word} branch ran{others[branch.other]}"
    if branch.other == "else":
        return f"{why}: else ran; the {branch.word} branch contributes nothing"
    return f"{why}: the {branch.word} branch did not run and contributes nothing"


def decision_text(decision: Decision, layout: Layout) -> str:
    """Return a condition as it turned out, with its numbers: ``y10.norm() = 1122.9 ≥ 1000``."""
    numbers = [float(np.ravel(value)[0]) for value in decision.values]
    if len(numbers) != 2 or any(map(math.isnan, numbers)):
        return f"{decision.text} is {'true' if decision.held else 'false'}"
    sign = decision.signs[0] if decision.held else OPPOSITE[decision.signs[0]]
    left, right = (short(number, layout.precision) for number in numbers)
    first, second = decision.sides
    shown = SIGNS.get(sign, sign) if layout.glyphs.unicode else sign
    before = left if is_number(first, numbers[0]) else f"{first} = {left}"
    after = right if is_number(second, numbers[1]) else f"{right} = {second}"
    return f"{before} {shown} {after}"
