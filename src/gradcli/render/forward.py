"""The section *Forward*: what ran, a line for each name of the program, with the turns and branches between them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.naming import NAME, place_text
from gradcli.explanation.events import BranchTaken, LoopEnded, TurnBegun, Value
from gradcli.render.equalities import CLOSE, known_values
from gradcli.render.numbers import short
from gradcli.render.putting_in import put_in
from gradcli.render.rows import MOST_READ, Row, aligned, is_number

if TYPE_CHECKING:
    from gradcli.explanation.events import Decision, Event
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

MOST_INPUTS = 3
"""Inputs up to which Forward repeats what they are."""
MOST_ENTRIES = 8
"""Entries of an output given as a list up to which each has a line."""
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}


def forward_lines(found: Explained, layout: Layout) -> list[str]:
    """Return what ran: inputs where they are few, each value that is shown, helpers' names of the formulas."""
    rows: list[Row | str] = []
    if len(found.inputs) <= MOST_INPUTS:
        rows += [Row(name, "", value) for name, value in found.inputs.items()]
    known = {value.name: value.value for value in found.values}
    shown: set[str] = set(found.inputs)
    for event in shown_events(found.forward, between_turns(found)):
        if not isinstance(event, Value):
            rows += sentences(event, layout)
        elif event.text is not None:
            shown.add(event.name)
            rows += value_rows(event, known, layout)
        elif event.name in found.definitions:  # the program's own text would not say what it is
            shown.add(event.name)
            rows.append(helper_row(found, event.name, found.definitions[event.name]))
    rows += [helper_row(found, name, text) for name, text in found.definitions.items() if name not in {*shown, *known}]
    return aligned(rows, found, layout)


def between_turns(found: Explained) -> set[str]:
    """Return the values of the program that formulas of J mention, if there are few: turns of loops are left out."""
    own = {value.name for value in found.values}
    texts = [text for jacobian in found.jacobian.values() for text in (*(jacobian.formulas or ()), *jacobian.rules)]
    texts += [text for name, text in found.definitions.items() if name not in own]
    mentioned = {match["name"] for text in texts for match in re.finditer(NAME, text)} & own
    return mentioned if len(mentioned) <= MOST_BETWEEN else set()


MOST_BETWEEN = 8
"""Values of the turns between the first and the last that have a line where J's formulas mention them."""


def shown_events(events: list[Event], also: Collection[str] = ()) -> Iterator[Event]:
    """Yield the events outside of loops, those of the first and the last turn of each, and the values in ``also``."""
    running: list[TurnBegun] = []
    for event in events:
        if isinstance(event, TurnBegun):
            running = [*running[: len(event.turns) - 1], event]
        elif isinstance(event, LoopEnded):
            running = running[: len(event.turns)]
        wanted = isinstance(event, Value) and event.name in also
        if wanted or all(turn.turns[-1] in (1, turn.count) for turn in running):
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
    if sign == "==":
        return " = ".join([*(side for side in decision.sides if not is_number(side, numbers[0])), left])
    shown = SIGNS.get(sign, sign) if layout.glyphs.unicode else sign
    before = left if is_number(first, numbers[0]) else f"{first} = {left}"
    after = right if is_number(second, numbers[1]) else f"{right} = {second}"
    return f"{before} {shown} {after}"
