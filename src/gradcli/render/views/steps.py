"""The section *Steps*: how each derivative is found, a line for each rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.render.backward import unnumbered
from gradcli.render.equalities import evaluate
from gradcli.render.folding import shortened
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.numbers import input_text, short
from gradcli.render.rows import is_number, value_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.tape import Step, Tape
    from gradcli.render.numbers import Form

AFTER: Anchor = "backward"
RULES = "Steps: the derivative of each operation, entry by entry, all else fixed"
CHAIN = "Steps: the chain rule, from {} back"
MOST_SHOWN = 80
"""Lines that are shown, loops folded: of more, the first and the last."""
NUMBER = re.compile(r"(?<![\w.])\d[\d.]*(?:e[-+]?\d+)?")
TIGHT = re.compile(r"[\w.\[\],]+")


def document(_: Explained, steps: Sequence[Step], form: Form) -> dict[str, Any]:
    """Return the steps in order."""
    written = [
        {
            "rule": step.rule,
            "of": step.of,
            "by": step.by or None,
            "formula": step.formula,
            "numbers": step.numbers,
            "shape": list(np.shape(step.value)),
            "value": form(step.value),
        }
        for step in steps
    ]
    return {"steps": written}


def sections(found: Explained, steps: Sequence[Step], layout: Layout) -> list[Section]:
    """Return the derivatives of the operations, and the chain rule."""
    rules, chain = ([step for step in steps if bool(step.by) is wanted] for wanted in (True, False))
    return [
        Section(RULES, step_lines(rules, found, layout)),
        Section(CHAIN.format(found.name), step_lines(chain, found, layout)),
    ]


def lines(_: Explained, steps: Sequence[Step]) -> list[str]:
    """Return the steps as lines with all digits."""
    return [
        f"{step.rule}: {f'd({step.of})/d({step.by})' if step.by else step.of}"
        + "".join(f" = {text}" for text in (step.formula, step.numbers) if text)
        + f" = {input_text(step.value)}"
        for step in steps
    ]


def step_lines(steps: Sequence[Step], found: Explained, layout: Layout) -> list[str]:
    """Return a line for each step, those of the middle turns of loops counted."""
    shown = shortened(with_gap(steps, found.tape), pattern, "line", MOST_SHOWN)
    drawn = [step for step in shown if not isinstance(step, str)]
    rule = max((len(step.rule) for step in drawn), default=0)
    left = max((len(text) for step in drawn if len(text := left_side(step, layout)) <= layout.width // 4), default=0)
    numbers = iter(with_numbers(drawn, found, layout))
    lines = []
    for step in shown:
        if isinstance(step, str):
            lines.append(step)
            continue
        start = f"{step.rule:<{rule}}  {left_side(step, layout):<{left}}"
        lines.append(f"{start} = {next(numbers)}")
    return lines


def pattern(step: Step) -> tuple[str, ...]:
    """Return what the steps of a loop's turns have in common."""
    return step.rule, unnumbered(step.of), unnumbered(step.by), unnumbered(step.formula or "")


def with_gap(steps: Sequence[Step], tape: Tape) -> list[Step | str]:
    """Return the rules, or the chain, with a line that counts where the operations of a long program are missing."""
    if not tape.left_out:
        return list(steps)
    first, last = tape.rows[: tape.gap], tape.rows[tape.gap :]
    chain = bool(steps) and not steps[0].by
    beyond = {f"{row.name}.grad" for row in last} if chain else {row.label for row in first} - {r.label for r in last}
    place = next((k for k, step in enumerate(steps) if step.of in beyond), len(steps))
    return [*steps[:place], f"…   {tape.left_out:,} operations more", *steps[place:]]


def left_side(step: Step, layout: Layout) -> str:
    """Return what a step finds: ``∂h/∂x``, or ``x.grad``."""
    d = layout.glyphs.partial
    return f"{d}{tight(step.of)}/{d}{tight(step.by)}" if step.by else step.of


def tight(text: str) -> str:
    """Return a text as it stands after a ``∂``."""
    return text if TIGHT.fullmatch(text) else f"({text})"


def with_numbers(steps: Sequence[Step], found: Explained, layout: Layout) -> list[str]:
    """Return the right sides: the formula, numbers put in where these say more, and the result."""
    told = [rounded(step.numbers, layout.precision) if says_more(step) else "" for step in steps]
    worked = [text for text in told if text]
    near = dict(zip(worked, evaluate(found, worked, {}), strict=True))
    lines = []
    lengths = [len(step.formula or "") for step in steps if step.value.ndim]
    wide = max((length for length in lengths if length <= layout.width // 4), default=0)
    for step, numbers in zip(steps, told, strict=True):
        value, formula = value_text(step.value, layout), step.formula or untold(step)
        if step.value.ndim:
            lines.append(formula if is_repeated(step) else f"{formula:<{wide}}   {value}")
            continue
        parts = [formula, *([numbers] if numbers else [])]
        read = near.get(numbers)
        same = not numbers or (read is not None and short(read, layout.precision) == value)
        lines.append(
            " = ".join(parts) + ("" if parts[-1] == value else f" {'=' if same else layout.glyphs.near} {value}")
        )
    return lines


def untold(step: Step) -> str:
    """Return what stands in the place of a formula that there is not."""
    return "(no text)" if step.by else "what its uses send"


def is_repeated(step: Step) -> bool:
    """Return whether the formula of an array is the number that all of its entries are."""
    return bool(step.value.size) and is_number(step.formula or "", step.value.flat[0]) and np.ptp(step.value) == 0


def says_more(step: Step) -> bool:
    """Return whether there is something to work out: numbers for a number, and not the result alone."""
    numbers = step.numbers or ""
    return bool(numbers) and not step.value.ndim and not re.fullmatch(r"\(?-?[\d.e+-]+\)?", numbers)


def rounded(text: str | None, precision: int) -> str:
    """Return a text with its numbers as they are shown."""
    return NUMBER.sub(lambda found: short(float(found[0]), precision), text or "")
