"""The lines of an answer round its tables: shapes, the forward values, sums, the chain rule, what v did."""

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
UNBOUND = 10**6
"""Columns of a line that folds where it is too long."""
MOST_TERMS = 6
"""Terms of a sum that is spelled out."""


def shape_lines(found: Explained) -> list[str]:
    """Return the shapes of everything, and what is a constant."""
    parts = []
    for name, value in found.inputs.items():
        constant = "" if name in found.differentiated else " constant"
        parts.append(f"{name} {value.shape}{constant}")
    parts.append(f"{found.name} {found.output.shape}")
    parts.append(f"v {found.v.shape}{'' if found.v_source == 'given' else ' ' + found.v_source}")
    program = found.program.split("\n")
    shown = [f"{found.name} = {program[0]}"] if len(program) == 1 and ";" not in program[0] else program
    return [*shown, "", "shapes:  " + "    ".join(parts)]


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


def sum_lines(found: Explained, layout: Layout) -> list[str]:
    """Return ``x.grad[j] = v[0]·J[0,j] + …`` with numbers, while there are few and they are short."""
    lines: list[str] = []
    seed = np.ravel(found.seed)
    times = layout.glyphs.times
    for name, jacobian in found.jacobian.items():
        if jacobian.matrix_shape[1] > MOST_LINES or jacobian.matrix_shape[0] == 1:
            continue
        flat = np.ravel(found.vjp[name])
        for j in range(jacobian.matrix_shape[1]):
            chosen = np.flatnonzero(jacobian.columns == j)
            if not 0 < len(chosen) <= MOST_TERMS:
                continue
            terms = [
                f"{signed(seed[jacobian.rows[k]], layout)}{times}{signed(jacobian.values[k], layout)}" for k in chosen
            ]
            pairs = [(seed[jacobian.rows[k]], jacobian.values[k]) for k in chosen]
            rounded = sum(float(short(v, layout.precision)) * float(short(d, layout.precision)) for v, d in pairs)
            label = f"{name}.grad{place_text(j, jacobian.input_shape)}"
            total = marked(" + ".join(terms), rounded, float(flat[j]), layout.precision)
            lines.append(chain([label, *total, short(flat[j], layout.precision)], UNBOUND))
    return lines if len(lines) <= MOST_LINES else []


def signed(value: float, layout: Layout) -> str:
    """Return a number, in parentheses if it is negative."""
    text = short(float(value), layout.precision)
    return f"({text})" if text.startswith("-") else text


def calls_lines(found: Explained, layout: Layout) -> list[str]:
    """Return each call of backward with what it adds and what x.grad is then."""
    if len(found.backward) < 2:
        return []
    lines = []
    for number, call in enumerate(found.backward, 1):
        for name in found.differentiated:
            added, total = (array_text(part[name], layout.precision) for part in (call.grad, call.accumulated))
            lines.append(
                f"{number}. v = {array_text(call.v.shown, layout.precision)}   adds {added}   {name}.grad = {total}"
            )
    return lines


def v_lines(found: Explained, layout: Layout) -> list[str]:
    """Return the number that backward differentiates, and what the two usual choices of v would give."""
    times, precision = layout.glyphs.times, layout.precision
    seed = np.ravel(found.backward[0].v.seed)
    if len(found.backward) > 1 or len(found.output.shape) == 0 or seed.size > MOST_LINES:
        return []
    terms = [f"{signed(v, layout)}{times}{found.name}{place_text(i, found.output.shape)}" for i, v in enumerate(seed)]
    lines = [f"{found.name}.backward(v) differentiates one number, L = {' + '.join(terms)}."]
    if seed.size == 1:
        return lines
    ones = [(name, j.vjp(np.ones(found.output.shape))) for name, j in found.jacobian.items()]
    one_hot = np.eye(seed.size)[0].reshape(found.output.shape)
    first = [(name, j.vjp(one_hot)) for name, j in found.jacobian.items()]
    size = seed.size
    for text, hot, grads in (
        (f"ones, the gradient of {found.name}.sum(),", np.ones(size), ones),
        ("one-hot, row 0 of J,", np.eye(size)[0], first),
    ):
        if np.array_equal(hot, seed):
            lines.append(f"This v is {text.rstrip(',')}.")
            continue
        would = ", ".join(f"{name}.grad = {array_text(g, precision)}" for name, g in grads)
        lines.append(f"v = {array_text(hot, precision)}, {text} would give {would}.")
    return lines
