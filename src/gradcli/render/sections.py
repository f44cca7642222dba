"""The lines of an answer round its tables: shapes, the forward values, sums, the chain rule, what v did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.render.forward import chain, marked
from gradcli.render.numbers import array_text, short

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

MOST_LINES = 8
"""Lines of a block that spells out entries one by one."""
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
