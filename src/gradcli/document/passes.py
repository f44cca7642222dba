"""The sections *Forward*, *Backward* and *Paths*: what ran, a rule for each cotangent, products along the ways to y."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.model import Cell, Column, Equation, Equations, Part, Section, Settings, Table
from gradcli.document.texts import Gap, folded, in_brackets, number_in, short, split_outside, unnumbered
from gradcli.document.verdicts import evaluate
from gradcli.engine.naming import place_text
from gradcli.explanation.parts import BranchTaken, LoopEnded, TurnBegun, Value
from gradcli.explanation.rereading import put_in
from gradcli.records import replace

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.parts import BackwardPass, Decision, Event, Path, Rule
    from gradcli.ops.declare import Array

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
            rows += value_rows(event, event.text)
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


def value_rows(value: Value, text: str) -> list[Equation | str]:
    """Return the equation of a value, or one for each entry of an output that is given as a list."""
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
    names = {value.name: value.value for value in answer.values}
    write = partial(short, precision=settings.precision)
    steps = [put_in(str(row.sides[0]), names, write) for row in equations]
    values = iter(evaluate([step or "0" for step in steps], {}))
    put = {id(row): (step, next(values)) for row, step in zip(equations, steps, strict=True)}
    for row in rows:
        step, value = put.get(id(row), ("", None))
        if isinstance(row, str) or not step or value is None:
            yield row
            continue
        is_true = write(value) == write(float(row.value)) and step not in (write(value), *row.sides)
        yield replace(row, sides=(*row.sides, step)) if is_true else row


def entries_of(text: str) -> list[str]:
    """Return the texts of the entries of a list, of nested ones too; nothing for any other text."""
    if not (text.startswith("[") and text.endswith("]")):
        return []
    parts = [part.removeprefix(",").strip() for part in split_outside(text[1:-1], (",",))]
    return [entry for part in parts if part for entry in (entries_of(part) or [part])]


def sentences(event: BranchTaken | TurnBegun | LoopEnded, precision: int) -> list[str]:
    """Return what is said of a branch, of the first and the last turn of a loop, or of its end."""
    if isinstance(event, BranchTaken):
        return [branch_text(event, precision)]
    loop = f"the loop over {event.variable}" if event.variable else "the loop"
    if isinstance(event, TurnBegun):
        item = "" if event.item is None else f"{event.variable} = {event.item}"
        if event.turns[-1] == 1:
            return [f"{item}:"] if item else []
        return [f"…   {event.count:,} turns of {loop}; the last{', ' + item if item else ''}:"]
    why = f" because {decision_text(event.decision, precision)}" if event.decision else ""
    if not event.count:
        return [f"{loop} made no turn{why}"]
    return ["it ended with break"] if event.broken else [f"it ended{why}"] if why else []


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


TITLE = "Backward: each line is what arrived, times the derivative of one step"
MOST_RULES = 40
"""Lines of the backward pass that are shown: of more, the first and the last."""
LONGEST_SUM = 1_000
"""Characters of a sum beyond which its middle terms are counted."""
MOST_TERMS = 6
"""Terms of a sum whose numbers are put in."""
MORE_DIGITS = 3
"""Digits beyond those of a sum that its terms may be shown with so that they add up to it."""


def backward_section(answer: Explained, settings: Settings) -> Section:
    """Return an equation for each rule; nothing where no value between is named and none is used twice."""
    if not (answer.has_steps and answer.rules):
        return Section("backward")
    rows: list[Equation | str] = [Equation(name, (), value) for name, value in answer.constants.items()]
    rows += [Equation(rule.name, (str(rule.made),)) for rule in reversed(answer.rules) if rule.made]
    whole = answer.backward_pass
    shown = [*whole.rules] if settings.full and not whole.left_out else with_gap(whole)
    rules = [rule for rule in shown if not isinstance(rule, str)]
    alone = not any(rule.value.shape for rule in rules)
    steps = dict(zip(map(id, rules), steps_of(rules, answer, settings.precision), strict=True)) if alone else {}
    for row in shown:
        if isinstance(row, str):
            rows.append(row)
            continue
        step = steps.get(id(row), "")
        sides = (right_side(row), *([step] if step else []))
        # That of an input which is no single number stands above, with the gradients.
        value = None if row.is_input and not alone and row.text is not None else row.value
        used = "" if row.uses == 1 else "(used twice)" if row.uses == 2 else f"(used {row.uses:,} times)"
        rows.append(Equation(f"{row.name}.grad", sides, value, remark=used if row.text is not None else ""))
    return Section("backward", TITLE, (Equations(tuple(rows)),))


def right_side(rule: Rule) -> str:
    """Return how a cotangent was made; of a long sum the first and the last term."""
    if rule.text is None:
        return f"the sum over its {rule.uses:,} uses" if rule.uses > 1 else "(no text)"
    terms = terms_of(rule.text) if len(rule.text) > LONGEST_SUM else []
    return f"{terms[0]} … {len(terms) - 2:,} more terms …{terms[-1]}" if len(terms) > 3 else rule.text


def with_gap(whole: BackwardPass) -> list[Rule | str]:
    """Return the rules, with a line that counts in the place of the middle turns of a loop, and of what is too long."""
    rules, left_out = whole.rules, whole.left_out
    # What the lines of a loop's turns have in common; None for a line that is of no loop.
    patterns = [
        (rule.base, unnumbered(rule.text or ""), rule.uses) if rule.base and rule.base != rule.name else None
        for rule in rules
    ]
    shown: list[Rule | str] = []
    place = 0
    for part in folded(patterns):
        if isinstance(part, Gap):
            place += part.turns * part.period
            missing = left_out // part.period if place - part.turns * part.period <= whole.gap < place else 0
            shown.append(f"…   {part.turns + missing:,} turns of the loop between")
            continue
        if left_out and part == whole.gap:
            shown.append(f"… {left_out:,} more lines …")
        shown.append(rules[part])
        place = part + 1
    if len(shown) <= MOST_RULES:
        return shown
    half = MOST_RULES // 2
    return [*shown[:half], f"… {len(shown) - 2 * half + left_out:,} more lines …", *shown[-half:]]


COTANGENT = re.compile(r"(?<!\w)([A-Za-z_]\w*)\.grad\b")


def steps_of(rules: Sequence[Rule], answer: Explained, precision: int) -> list[str]:
    """Return rules of single numbers with numbers put in: of a sum those of its terms, as they add up to the value.

    Nothing stands for a rule of which that cannot be said. ``y.grad + h.grad*(1 - h**2)`` is ``1 + 0.767232``,
    ``y.grad*2*x`` is ``1*2*3``.
    """
    names: dict[str, Any] = {value.name: value.value for value in answer.values}
    with_cotangents = names | {f"{rule.name}.grad": rule.value for rule in rules}
    ending = "_grad"
    while any(rule.name + ending in names for rule in rules):
        ending += "_"
    names |= {rule.name + ending: rule.value for rule in rules}
    split = [terms_of(rule.text or "") for rule in rules]
    sums = [terms if 1 < len(terms) <= MOST_TERMS else [] for terms in split]
    unsigned = [re.sub(r"^ [+-] ", "", term) for terms in sums for term in terms]
    numbers = iter(evaluate([COTANGENT.sub(rf"\1{ending}", term) for term in unsigned], names))
    added = [added_up(terms, [next(numbers) for _ in terms], precision) for terms in sums]
    alone = [terms[0] if len(terms) == 1 else "" for terms in split]
    digits = (precision, precision + MORE_DIGITS)
    forms = [[put_in(term, with_cotangents, partial(short, precision=count)) for count in digits] for term in alone]
    values = iter(evaluate([text or "0" for pair in forms for text in pair], {}))
    steps = []
    for step, pair, rule in zip(added, forms, rules, strict=True):
        true = [text for text in pair if is_shown(next(values), rule.value, precision)]
        steps.append(step or (true[0] if true else ""))
    return steps


def is_shown(value: float | None, wanted: Array, precision: int) -> bool:
    """Return whether a number is another as it is shown."""
    return value is not None and short(value, precision) == short(float(wanted), precision)


def added_up(terms: Sequence[str], values: Sequence[float | None], precision: int) -> str:
    """Return a sum of numbers, with as many digits as it takes for them to add up to what is shown of the whole."""
    numbers = [value for value in values if value is not None]
    if not terms or len(numbers) < len(terms):
        return ""
    signs = [-1.0 if term.startswith(" - ") else 1.0 for term in terms]
    total = short(sum(sign * value for sign, value in zip(signs, numbers, strict=True)), precision)
    for digits in range(precision, precision + MORE_DIGITS + 1):
        first, *rest = texts = [short(value, digits) for value in numbers]
        if short(sum(sign * float(text) for sign, text in zip(signs, texts, strict=True)), precision) == total:
            return "".join(
                [first, *(f"{term[:3]}{in_brackets(text)}" for term, text in zip(terms[1:], rest, strict=True))]
            )
    return ""


def terms_of(text: str) -> list[str]:
    """Return the terms of a sum, each but the first with the sign before it."""
    return split_outside(text, (" + ", " - "))


COUNTS = ["One path leads", *(f"{word} paths lead" for word in ("Two", "Three", "Four", "Five", "Six"))]


def paths_section(answer: Explained, settings: Settings) -> Section:
    """Return the paths from each input with their products, and the sums; nothing where there are none."""
    tables = tuple(
        paths_table(answer.name, name, paths, settings.precision) for name, paths in answer.paths.items() if paths
    )
    title = f"Paths to {answer.name}: the products along each add up"
    for name, paths in answer.paths.items() if len(answer.paths) == 1 else ():
        adds = "and its derivatives multiply" if len(paths) == 1 else "and their products add up"
        title = f"{COUNTS[len(paths) - 1]} from {name} to {answer.name}, {adds}"
    return Section("paths", title, tables) if tables else Section("paths")


def paths_table(output: str, name: str, paths: Sequence[Path], precision: int) -> Part:
    """Return a table of the paths from one input, the product of the derivatives along each, and their sum."""
    labels = [" → ".join(path.names) for path in paths]
    products = [Cell(text=product_text(path, precision)) for path in paths]
    totals = [Cell(path.product) for path in paths]
    tones = [""] * len(paths)
    if len(paths) > 1:
        labels.append(f"∂{output}/∂{name}")
        products.append(Cell())
        totals.append(Cell(sum(path.product for path in paths)))
        tones.append("total")
    columns = (Column("", tuple(products), numbers=False), Column("", tuple(totals)))
    return Table(tuple(labels), (columns,), ruled=(), tones=tuple(tones))


def product_text(path: Path, precision: int) -> str:
    """Return the derivatives along a path, multiplied; nothing for a path of one link."""
    if len(path.factors) == 1:
        return ""
    texts = [short(factor, precision) for factor in path.factors]
    rounded = float(np.prod([float(text) for text in texts]))
    same = short(rounded, precision) == short(path.product, precision)
    factors = [in_brackets(text) if k else text for k, text in enumerate(texts)]
    return " · ".join(factors) + (" =" if same else " ≈")
