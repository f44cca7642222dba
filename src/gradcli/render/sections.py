"""The lines of an answer round its tables: shapes, the forward values, the chain rule."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.render.equalities import CLOSE, NEAR, evaluate, is_same, known_values
from gradcli.render.numbers import array_text, short

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

MOST_LINES = 8
"""Lines of a block that spells out entries one by one."""
MOST_READ = 12
"""Entries of an intermediate up to which its formula is read back."""


def shape_lines(found: Explained) -> list[str]:
    """Return the program, and the shapes of what goes in and comes out; constants stand apart."""
    moved = [f"{name} {found.inputs[name].shape}" for name in found.differentiated if name in found.inputs]
    constant = [f"{name} {value.shape}" for name, value in found.inputs.items() if name not in found.differentiated]
    given = "" if found.v_source == "default" else f"     v {found.v.shape}"
    how = "" if found.v_source in ("given", "default") else f" {found.v_source}"
    program = found.program.split("\n")
    shown = [f"{found.name} = {program[0]}"] if len(program) == 1 and ";" not in program[0] else program
    shapes = f"{'  '.join(moved)}  →  {found.name} {found.output.shape}{given}{how}".strip()
    return [*shown, "", shapes, *([f"{'  '.join(constant)}  constant"] if constant else [])]


def forward_lines(found: Explained, layout: Layout) -> list[str]:
    """Return what each value is: inputs, named intermediates, and the output with its numbers put in."""
    precision = layout.precision
    lines = [f"{name} = {array_text(value, precision)}" for name, value in found.inputs.items()]
    lines += [definition_line(found, name, text, precision) for name, text in found.definitions.items()]
    formulas = found.output_formulas
    if formulas is None and found.name in found.definitions:
        return lines
    if formulas is None or len(formulas) > MOST_LINES:
        return [*lines, f"{found.name} = {array_text(found.output, precision)}"]
    flat = np.ravel(found.output)
    values = evaluate(found, formulas, known_values(found))
    for position, (formula, value) in enumerate(zip(formulas, values, strict=True)):
        label, number = f"{found.name}{place_text(position, found.output.shape)}", float(flat[position])
        shown = short(number, precision)
        if value is None or is_same(value, number):
            steps = [label, formula, *step(found, put_in(formula, found, precision), number, precision), shown]
            lines.append(chain(steps, layout.width - 4))
        else:
            simplified = chain([formula, short(value, precision)], layout.width)
            lines.append(f"{label} = {shown}; simplified it is {simplified}")
    return lines


def step(found: Explained, text: str, number: float, precision: int) -> list[str]:
    """Return a formula with numbers put in as a step towards its value: none where rounding them has moved it."""
    if not text:
        return []
    (value,) = evaluate(found, [text], {})
    return [] if value is None else marked(text, value, number, precision)


def marked(text: str, value: float, number: float, precision: int) -> list[str]:
    """Return a step of this value on the way to a number, marked where they are only nearly equal; none where not."""
    if short(value, precision) == short(number, precision):
        return [text]
    return [APART + text] if is_same(value, number, NEAR) else []


APART = "\0"
"""Before a step that is only nearly equal to its neighbours."""


def definition_line(found: Explained, name: str, text: str, precision: int) -> str:
    """Return a named intermediate with its formula and its value, without the formula where that is another number."""
    value = found.definition_values.get(name)
    if value is None:
        return f"{name} = {text}"
    if np.size(value) <= MOST_READ:
        read = found.lookup.evaluate(text, known_values(found))
        if read is not None and not np.allclose(read, value, rtol=CLOSE, atol=0, equal_nan=True):
            return f"{name} = {array_text(value, precision)}"
    return f"{name} = {text} = {array_text(value, precision)}"


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


def put_in(formula: str, found: Explained, precision: int) -> str:
    """Return a formula with numbers in the place of inputs and named intermediates; empty where it has none."""
    known = {**found.inputs, **found.definition_values}

    def number(match: re.Match[str]) -> str:
        name, index = match[1], match[2]
        if name not in known:
            return match[0]
        value = np.asarray(known[name])
        try:
            entry = value[tuple(int(i) for i in index[1:-1].split(","))] if index else value
        except (IndexError, ValueError):
            return match[0]
        text = array_text(entry, precision)
        return f"({text})" if text.startswith("-") else text

    result = re.sub(r"([A-Za-z_]\w*)(\[[\d,]+\])?(?!\w|\()", number, formula)
    result = re.sub(r"\((\(-[^()]*\))\)", r"\1", result)
    whole = re.fullmatch(r"\((-[^()]*)\)", result)
    return "" if result == formula else whole[1] if whole else result


def chain_lines(found: Explained, layout: Layout) -> list[str]:
    """Return v, then v·∂y/∂h for each variable h on the way, then the gradient."""
    if not found.stages:
        return []
    d, precision = layout.glyphs.partial, layout.precision
    call = found.backward[0]
    lines = [f"v = {array_text(call.v.seed, precision)}"]
    outer, held = found.name, "v"
    first, last = found.stages[:3], found.stages[-3:]
    skipped = len(found.stages) - 6
    for number, stage in enumerate(found.stages if skipped <= 0 else [*first, *last]):
        if skipped > 0 and number == 3:
            lines.append(f"({skipped} more stages)")
            outer = found.stages[-4].name
            held = f"{outer}.grad"
        step = f"{d}{outer}/{d}{stage.name}"
        if stage.factor is not None:
            lines.append(f"{step} = {array_text(stage.factor, precision)}")
        leaf = stage.name in found.differentiated
        product = array_text(call.grad[stage.name] if leaf else stage.cotangent, precision)
        lines.append(f"{held}{layout.glyphs.times}{step} = {product}   {stage.name}.grad")
        if not leaf:
            outer, held = stage.name, f"{stage.name}.grad"
    return lines
