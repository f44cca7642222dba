"""Gradient descent: a line a step with what it was to change and what it changed, and a bar for the value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradcli.errors.counting import counted
from gradcli.render.documents import arrays_document
from gradcli.render.effects import scalar_name
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.numbers import aligned, array_text, ends, full, input_text, short, strict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.views import Descent
    from gradcli.ops.signatures import Array
    from gradcli.render.numbers import Form

AFTER: Anchor = "v"
MOST_STEPS = 20
"""Steps that are shown; of more the first and the last."""
MOST_ENTRIES = 3
"""Entries of an input that a line shows."""
BAR = 20
"""Characters of the longest bar."""
WIDE = 1e3
"""Times the smallest value that the largest may be where bars are in proportion; beyond, they show its logarithm."""


def document(_: Explained, descent: Descent, form: Form) -> dict[str, Any]:
    """Return the steps of gradient descent, and where it ended."""
    written = {
        "lr": descent.lr,
        "iterations": descent.asked,
        "steps": [
            {
                "inputs": arrays_document(step.inputs, form),
                "value": strict(step.value),
                "grad": arrays_document(step.grad, form),
                "predicted": strict(step.predicted),
                "actual": strict(step.actual),
            }
            for step in descent.steps
        ],
        "inputs": arrays_document(descent.inputs, form),
        "value": strict(descent.value),
        "ending": descent.ending or None,
    }
    return {"descent": written}


def sections(found: Explained, descent: Descent, layout: Layout) -> list[Section]:
    """Return the steps as a table."""
    return [Section(f"Gradient descent from here, lr = {descent.lr:g}", descent_lines(found, descent, layout))]


def lines(found: Explained, descent: Descent) -> list[str]:
    """Return the value, the inputs and both changes of each step."""
    name = scalar_name(found)
    told = []
    for number, step in enumerate(descent.steps):
        at = " ".join(f"{one}={input_text(value)}" for one, value in step.inputs.items())
        changes = f"predicted {full(step.predicted)} actual {full(step.actual)}"
        told.append(f"step {number}: {at} {name}={full(step.value)} {changes}")
    at = " ".join(f"{one}={input_text(value)}" for one, value in descent.inputs.items())
    told.append(f"step {len(descent.steps)}: {at} {name}={full(descent.value)}")
    return [*told, *([f"ended: {descent.ending}"] if descent.ending else [])]


def descent_lines(found: Explained, descent: Descent, layout: Layout) -> list[str]:
    """Return the steps of gradient descent."""
    name = scalar_name(found)
    points = [(step.inputs, step.value) for step in descent.steps] + [(descent.inputs, descent.value)]
    changes = [(step.predicted, step.actual) for step in descent.steps]
    places = ends(len(points), layout.most(MOST_STEPS))
    kept = [place for place in places if place is not None]
    cut = layout.precision

    def numbers(values: Sequence[float | None]) -> list[str]:
        return aligned(["" if value is None else short(value, cut) for value in values])

    before: list[tuple[float, float] | None] = [None, *changes]
    columns = [
        ["step", *map(str, kept)],
        *([one, *(short_array(points[k][0][one], layout) for k in kept)] for one in found.differentiated),
        [name, *numbers([points[k][1] for k in kept])],
        ["predicted", *numbers([change[0] if (change := before[k]) else None for k in kept])],
        ["actual", *numbers([change[1] if (change := before[k]) else None for k in kept])],
    ]
    bars = bars_of([points[k][1] for k in kept], layout)
    lines = fitting(columns, bars, len(found.differentiated), layout)
    if None in places:
        lines.insert(places.index(None) + 1, f"{layout.glyphs.dots} {counted(len(points) - len(kept), 'more step')}")
    told = [f"predicted: -lr{layout.glyphs.times}|grad|**2, how far the slope alone would take {name}."]
    if descent.ending:
        told.append(f"It ends after {counted(len(descent.steps), 'step')} of {descent.asked:,}: {descent.ending}.")
    return [*lines, *told]


def short_array(array: Array, layout: Layout) -> str:
    """Return an input in a few characters."""
    text = array_text(array, min(layout.precision, 5), layout.most(MOST_ENTRIES + 1))
    text = text.partition(" in shape ")[0]
    return text if layout.glyphs.unicode else text.replace("…", "...")


def fitting(columns: list[list[str]], bars: list[str], inputs: int, layout: Layout) -> list[str]:
    """Return columns side by side: with all inputs, bars and changes where there is room, with fewer where not."""
    room = layout.width - 3
    whole, fewer = columns, [columns[0], *columns[1 + inputs :]]
    for chosen in ([*whole, ["", *bars]], whole, [*fewer, ["", *bars]], fewer):
        wide = [[text.ljust(max(map(len, column))) for text in column] for column in chosen]
        lines = ["  ".join(row).rstrip() for row in zip(*wide, strict=True)]
        if max(map(len, lines)) <= room:
            return lines
    return [" ".join(cell.strip() for cell in row).rstrip() for row in zip(*fewer, strict=True)]


def bars_of(values: Sequence[float], layout: Layout) -> list[str]:
    """Return a bar for each value, in proportion, or to its logarithm where the values are far apart."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite or max(finite) == min(finite):
        return [""] * len(values)
    low, high = min(finite), max(finite)
    logs = low > 0 and high / low > WIDE
    scaled = [math.log(value) if logs and math.isfinite(value) else value for value in values]
    low, high = (math.log(low), math.log(high)) if logs else (min(low, 0.0), high)
    block = "█" if layout.glyphs.unicode else "#"
    return [
        block * (max(1, round(BAR * (value - low) / (high - low))) if math.isfinite(value) else 0) for value in scaled
    ]
