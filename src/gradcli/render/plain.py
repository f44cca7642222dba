"""An answer in one line, for the prompt of a session.

The answer as lines of ``name = value``, with all digits: for grep, for narrow screens, for files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.jacobian import indexed
from gradcli.document.model import Equation, Equations, Listing, Part, Prose, Settings, Table
from gradcli.document.passes import shown_events
from gradcli.document.sections import view_sections
from gradcli.document.texts import MOST_PRECISE, full, input_text, with_labels
from gradcli.document.verdicts import with_true_formulas
from gradcli.engine.naming import place_text
from gradcli.errors.hints import counted
from gradcli.errors.inert import inert
from gradcli.explanation.parts import Value
from gradcli.render.layout import Layout, to_ascii

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian


LONGEST = 40
"""Characters of a program; and entries of an array fit in as many."""


def explanation_line(found: Explained) -> str:
    """Return the function, where it is explained, its value, its gradients and the verdict.

    >>> explanation_line(gradcli.explain("x**2", x=3.0))
    '<gradcli explanation of x**2 at x = 3: y = 9, x.grad = 6, agree>'
    """
    lines = [line.strip() for line in found.program_lines]
    program = shortened(inert("; ".join(filter(None, lines)).replace(":; ", ": "), keep=""))
    point = ", ".join(f"{name} = {brief(value)}" for name, value in found.inputs.items())
    gradients = ", ".join(f"{name}.grad = {brief(value)}" for name, value in found.grad.items())
    return (
        f"<gradcli explanation of {program} at {point}: {found.name} = {brief(found.output)}, {gradients}, "
        f"{found.agreement.verdict}>"
    )


def brief(value: Any) -> str:
    """Return an array in few characters: its entries where they are few, else its shape."""
    array = np.asarray(value)
    if not array.ndim:
        return f"{array:.6g}"
    text = np.array2string(array, precision=6, separator=", ", threshold=8, formatter={"float_kind": "{:.6g}".format})
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"array of shape {array.shape}"


def shortened(text: str) -> str:
    """Return a text that fits in a line with others."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


# ---- The answer as lines of ``name = value``, with all digits: for grep, for narrow screens, for files

MOST_LINES = 1000
"""Entries of a Jacobian that are written; the number of those left out follows."""


def plain(answer: Explained, most: int = MOST_LINES) -> str:
    """Return an explanation as lines, without a final newline; of each J up to ``most`` entries."""
    answer = with_true_formulas(answer)
    lines = program_lines(answer)
    lines += [f"{name} = {input_text(value)}" for name, value in answer.inputs.items()]
    shown = [event for event in shown_events(answer.forward) if isinstance(event, Value)]
    for value in shown:
        lines += value_lines(value)
    written = {value.name for value in shown if value.formula is not None}
    lines += [f"{name} := {text}" for name, text in answer.definitions.items() if name not in written]
    lines.append(f"{answer.name} = {input_text(answer.output)}")
    for name, jacobian in answer.jacobian.items():
        lines += entry_lines(answer.name, name, jacobian, most)
    for number, call in enumerate(answer.backward, 1):
        label = f"v{number}" if len(answer.backward) > 1 else "v"
        lines.append(f"{label} = {input_text(call.v.shown)}")
    for name in answer.differentiated:
        lines.append(f"v.J {name} = {input_text(answer.vjp[name])}")
        lines.append(f"{name}.grad = {input_text(answer.grad[name])}")
    lines += view_lines("J", answer)
    if answer.has_steps:
        lines += [f"{rule.name}.grad := {rule.text}" for rule in answer.rules if rule.text]
    lines += view_lines("backward", answer)
    lines += effect_lines(answer)
    lines += view_lines("v", answer)
    lines.append(f"agree = {'yes' if answer.agreement.agree else 'no'}")
    lines += [f"note: {note.message}" for note in answer.notes]
    return with_labels("\n".join(lines), answer.labels)


def program_lines(answer: Explained) -> list[str]:
    """Return the text of a formula, or what a script did."""
    if answer.timeline is None:
        return [f"program: {line}" for line in answer.program_lines]
    from gradcli.render.events import timeline_lines  # a formula has none

    return timeline_lines(answer.timeline)


def value_lines(value: Value) -> list[str]:
    """Return what a name of the program stands for, and its value; inputs and the output have lines of their own."""
    if value.role in ("input", "output"):
        return []
    lines = [] if value.formula is None else [f"{value.name} := {value.formula}"]
    return [*lines, f"{value.name} = {input_text(value.value)}"]


def effect_lines(answer: Explained) -> list[str]:
    """Return what v did, where y has several entries: L = v·y, how far it moves, what other v would leave."""
    if answer.output.size < 2 or not answer.agreement.finite:
        return []
    effect, nudge = answer.effect, answer.effect.nudge
    lines = [f"v.{answer.name} = {full(effect.total)}"]
    if nudge is not None:
        entry = indexed(nudge.name, nudge.index)
        measured = "" if nudge.measured is None else f", measured {full(nudge.measured)}"
        lines.append(f"move {entry} by {full(nudge.step)}: v.{answer.name} moves by {full(nudge.predicted)}{measured}")
    row = place_text(effect.row, answer.output.shape)
    for what, left in ((".sum()", effect.sum), (".mean()", effect.mean), (row, effect.of_row)):
        lines += [f"{name}.grad of {answer.name}{what} = {input_text(grad)}" for name, grad in left.grad.items()]
    return lines


def entry_lines(output: str, name: str, jacobian: Jacobian, most: int) -> list[str]:
    """Return the entries of a Jacobian that can be non-zero, one a line."""
    rows, columns = jacobian.matrix_shape
    lines = [
        f"d{output}/d{name}: {rows:,} by {columns:,}, "
        + (f"{jacobian.structure}, {counted(len(jacobian.rows), 'entry')}" if jacobian.held else "entries not held"),
        *jacobian.rules,
    ]
    for k in range(min(len(jacobian.rows), most)):
        row = place_text(int(jacobian.rows[k]), jacobian.output_shape)
        column = place_text(int(jacobian.columns[k]), jacobian.input_shape)
        formula = f" = {jacobian.formulas[k]}" if jacobian.formulas else ""
        value = full(jacobian.values[k])
        lines.append(f"d{output}{row}/d{name}{column}{formula if formula != f' = {value}' else ''} = {value}")
    if len(jacobian.rows) > most:
        lines.append(f"... and {counted(len(jacobian.rows) - most, 'entry')} more")
    return lines


def view_lines(anchor: str, answer: Explained) -> Iterator[str]:
    """Yield the sections of what was asked for beside the rest, in ASCII and with all digits."""
    settings = Settings(MOST_PRECISE, full=True)
    for section in view_sections(anchor, answer, settings):
        if section.title:
            yield to_ascii(section.title)
        for part in section.parts:
            yield from map(to_ascii, part_lines(part, settings))


def part_lines(part: Part, settings: Settings) -> Iterator[str]:
    """Yield a part of a section as lines, a row of a table or an equation on each."""
    if isinstance(part, Prose):
        yield from part.sentences
    elif isinstance(part, Equations):
        yield from (row if isinstance(row, str) else equation_line(row) for row in part.rows)
    elif isinstance(part, Listing):
        yield from part.lines
    elif isinstance(part, Table):
        from gradcli.render.tables import Sheet, stacked  # which reads rich

        sheet = Sheet(part, settings, Layout(unicode=False))
        for rows in part.otherwise:
            yield from part_lines(Equations(rows), settings)
        yield from (text for text, _ in stacked(sheet, part.blocks, ()).rows)


def equation_line(row: Equation) -> str:
    """Return an equation on one line."""
    sides = [one if isinstance(one, str) else " + ".join(term.text for term in one) for one in row.sides]
    value = [] if row.value is None else [input_text(np.asarray(row.value, dtype=np.float64))]
    remark = f" {row.remark}" if row.remark else ""
    return f"{f'{row.rule}: ' if row.rule else ''}{' = '.join([str(row.left), *sides, *value])}{remark}"
