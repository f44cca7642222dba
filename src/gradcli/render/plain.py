"""The answer as lines of ``name = value``, with all digits: for grep, for narrow screens, for files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.explanation.events import Value
from gradcli.render.entries import indexed
from gradcli.render.equalities import with_true_formulas
from gradcli.render.forward import shown_events
from gradcli.render.labels import with_labels
from gradcli.render.numbers import full, input_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.render.glyphs import Anchor

MOST_LINES = 1000
"""Entries of a Jacobian that are written; the number of those left out follows."""


def plain(found: Explained, most: int = MOST_LINES) -> str:
    """Return an explanation as lines, without a final newline; of each J up to ``most`` entries."""
    found = with_true_formulas(found)
    lines = program_lines(found)
    lines += [f"{name} = {input_text(value)}" for name, value in found.inputs.items()]
    shown = [event for event in shown_events(found.forward) if isinstance(event, Value)]
    for value in shown:
        lines += value_lines(value)
    told = {value.name for value in shown if value.formula is not None}
    lines += [f"{name} := {text}" for name, text in found.definitions.items() if name not in told]
    lines.append(f"{found.name} = {input_text(found.output)}")
    for name, jacobian in found.jacobian.items():
        lines += entry_lines(found.name, name, jacobian, most)
    for number, call in enumerate(found.backward, 1):
        label = f"v{number}" if len(found.backward) > 1 else "v"
        lines.append(f"{label} = {input_text(call.v.shown)}")
    for name in found.differentiated:
        lines.append(f"v.J {name} = {input_text(found.vjp[name])}")
        lines.append(f"{name}.grad = {input_text(found.grad[name])}")
    lines += view_lines("J", found)
    if found.has_steps:
        lines += [f"{rule.name}.grad := {rule.text}" for rule in found.rules if rule.text]
    lines += view_lines("backward", found)
    lines += effect_lines(found)
    lines += view_lines("v", found)
    lines.append(f"agree = {'yes' if found.agreement.agree else 'no'}")
    lines += [f"note: {note.message}" for note in found.notes]
    return with_labels("\n".join(lines), found.labels)


def program_lines(found: Explained) -> list[str]:
    """Return the text of a formula, or what a script did."""
    if found.timeline is None:
        return [f"program: {line}" for line in found.program_lines]
    from gradcli.render.timeline import timeline_lines  # a formula has none

    return timeline_lines(found.timeline)


def view_lines(anchor: Anchor, found: Explained) -> list[str]:
    """Return what was asked for beside the rest, in so far as it follows a part of the answer."""
    if not found.views:
        return []
    from gradcli.render.views import lines_after  # few answers are asked for more

    return list(lines_after(anchor, found))


def value_lines(value: Value) -> list[str]:
    """Return what a name of the program stands for, and its value; inputs and the output have lines of their own."""
    if value.role in ("input", "output"):
        return []
    lines = [] if value.formula is None else [f"{value.name} := {value.formula}"]
    return [*lines, f"{value.name} = {input_text(value.value)}"]


def effect_lines(found: Explained) -> list[str]:
    """Return what v did, where y has several entries: L = v·y, how far it moves, what other v would leave."""
    if found.output.size < 2 or not found.agreement.finite:
        return []
    effect, nudge = found.effect, found.effect.nudge
    lines = [f"v.{found.name} = {full(effect.total)}"]
    if nudge is not None:
        entry = indexed(nudge.name, nudge.index)
        measured = "" if nudge.measured is None else f", measured {full(nudge.measured)}"
        lines.append(f"move {entry} by {full(nudge.step)}: v.{found.name} moves by {full(nudge.predicted)}{measured}")
    row = place_text(effect.row, found.output.shape)
    for what, left in ((".sum()", effect.sum), (".mean()", effect.mean), (row, effect.of_row)):
        lines += [f"{name}.grad of {found.name}{what} = {input_text(grad)}" for name, grad in left.grad.items()]
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
