"""The section *Forward*: what ran, an equation for each name of the program, turns and branches between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.brackets import split_outside
from gradcli.document.equalities import evaluate
from gradcli.document.model import Equation, Equations, Section, Settings
from gradcli.document.numbers import number_in, short
from gradcli.engine.naming import place_text
from gradcli.explanation.events import BranchTaken, LoopEnded, TurnBegun, Value
from gradcli.explanation.putting_in import put_in
from gradcli.records import replace

if TYPE_CHECKING:
    from gradcli.explanation.events import Decision, Event
    from gradcli.explanation.explained import Explained

MOST_INPUTS = 3
"""Inputs up to which Forward repeats what they are."""
MOST_ENTRIES = 8
"""Entries of an output given as a list up to which each has a line."""
MOST_STEPS = 40
"""Equations up to which numbers are put in."""
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}


def forward_section(answer: Explained, settings: Settings) -> Section:
    """Return what ran: inputs where they are few, and each value that is shown."""
    rows: list[Equation | str] = []
    if len(answer.inputs) <= MOST_INPUTS:
        rows += [Equation(name, (), value) for name, value in answer.inputs.items()]
    for event in shown_events(answer.forward):
        if not isinstance(event, Value):
            rows += sentences(event, settings.precision)
        elif event.text is not None:
            rows += value_rows(event)
    return Section("forward", "Forward", (Equations(tuple(with_numbers(rows, answer, settings))),) if rows else ())


def shown_events(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the events outside of loops, and those of the first and the last turn of each."""
    running: list[TurnBegun] = []
    for event in events:
        if isinstance(event, TurnBegun):
            running = [*running[: len(event.turns) - 1], event]
        elif isinstance(event, LoopEnded):
            running = running[: len(event.turns)]
        if all(turn.turns[-1] in (1, turn.count) for turn in running):
            yield event


def value_rows(value: Value) -> list[Equation | str]:
    """Return the equation of a value, or one for each entry of an output that is given as a list."""
    text = value.text or ""
    entries = entries_of(text)
    if value.role != "output" or len(entries) != value.value.size or not 0 < len(entries) <= MOST_ENTRIES:
        sides = () if is_number(text, value.value) else (text,)
        whole = value.name if value.target and value.target != value.name else ""
        return [Equation(value.target or value.name, sides, value.value, whole=whole)]
    flat, shape = np.ravel(value.value), value.value.shape
    return [
        Equation(value.name + place_text(k, shape), () if is_number(entry, flat[k]) else (entry,), flat[k])
        for k, entry in enumerate(entries)
    ]


def is_number(text: str, value: Any) -> bool:
    """Return whether a text is only the number that the value is, such as ``3.0``."""
    return np.ndim(value) == 0 and number_in(text) == float(value)


def with_numbers(rows: Sequence[Equation | str], answer: Explained, settings: Settings) -> Iterator[Equation | str]:
    """Yield equations with numbers put in where all are single numbers, and rounding those does not move the value."""
    equations = [row for row in rows if isinstance(row, Equation) and row.sides]
    if len(equations) > MOST_STEPS or any(np.ndim(row.value) for row in equations):
        yield from rows
        return
    known = {value.name: value.value for value in answer.values}
    write = partial(short, precision=settings.precision)
    steps = [put_in(str(row.sides[0]), known, write) for row in equations]
    worked = iter(evaluate(answer, [step or "0" for step in steps], {}))
    put = {id(row): (step, next(worked)) for row, step in zip(equations, steps, strict=True)}
    for row in rows:
        if isinstance(row, str) or id(row) not in put:
            yield row
            continue
        step, worth = put[id(row)]
        shown = write(float(row.value)) if step else ""
        true = worth is not None and write(worth) == shown and step not in (shown, *row.sides)
        yield replace(row, sides=(*row.sides, step)) if step and true else row


def entries_of(text: str) -> list[str]:
    """Return the texts of the entries of a list, of nested ones too; nothing for any other text."""
    if not (text.startswith("[") and text.endswith("]")):
        return []
    parts = [part.removeprefix(",").strip() for part in split_outside(text[1:-1], (",",))]
    return [entry for part in parts if part for entry in (entries_of(part) or [part])]


def sentences(event: BranchTaken | TurnBegun | LoopEnded, precision: int) -> list[str]:
    """Return what is said of a branch, a turn or the end of a loop."""
    if isinstance(event, BranchTaken):
        return [branch_text(event, precision)]
    if isinstance(event, TurnBegun):
        return turn_text(event)
    loop = f"the loop over {event.variable}" if event.variable else "the loop"
    why = f" because {decision_text(event.decision, precision)}" if event.decision else ""
    if not event.count:
        return [f"{loop} made no turn{why}"]
    return ["it ended with break"] if event.broken else [f"it ended{why}"] if why else []


def turn_text(turn: TurnBegun) -> list[str]:
    """Return the line before the first and before the last turn of a loop."""
    number, item = turn.turns[-1], "" if turn.item is None else f"{turn.variable} = {turn.item}"
    loop = f"the loop over {turn.variable}" if turn.variable else "the loop"
    if number == 1:
        return [f"{item}:"] if item else []
    return [f"…   {turn.count:,} turns of {loop}; the last{', ' + item if item else ''}:"]


def branch_text(branch: BranchTaken, precision: int) -> str:
    """Return which branch ran and why, and that the others contribute nothing."""
    why, is_true = decision_text(branch.decision, precision), branch.decision.held
    if branch.choices:
        taken, left = branch.choices if is_true else branch.choices[::-1]
        return f"{why}: {taken} is taken; the other choice, {left}, contributes nothing"
    if is_true:
        others = {"": "", "else": "; else contributes nothing", "elif": "; the others contribute nothing"}
        return f"{why}: the {branch.word} branch ran{others[branch.other]}"
    if branch.other == "else":
        return f"{why}: else ran; the {branch.word} branch contributes nothing"
    return f"{why}: the {branch.word} branch did not run and contributes nothing"


def decision_text(decision: Decision, precision: int) -> str:
    """Return a condition as it turned out, with its numbers: ``y10.norm() = 1122.9 ≥ 1000``."""
    numbers = [float(np.ravel(value)[0]) for value in decision.values]
    if len(numbers) != 2 or any(map(math.isnan, numbers)):
        return f"{decision.text} is {'true' if decision.held else 'false'}"
    sign = decision.signs[0] if decision.held else OPPOSITE[decision.signs[0]]
    left, right = (short(number, precision) for number in numbers)
    first, second = decision.sides
    if sign == "==":
        return " = ".join([*(side for side in decision.sides if not is_number(side, numbers[0])), left])
    before = left if is_number(first, numbers[0]) else f"{first} = {left}"
    after = right if is_number(second, numbers[1]) else f"{right} = {second}"
    return f"{before} {SIGNS.get(sign, sign)} {after}"
