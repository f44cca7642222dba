"""The answer as lines of ``name = value`` with all digits, for grep and narrow screens, and in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

MOST_LINES = 1000
"""Entries of a Jacobian that are written; the number of those left out follows."""


def plain(answer: Explained, most: int = MOST_LINES) -> str:
    """Return an explanation as lines, without a final newline; of each J up to ``most`` entries."""
    answer = with_true_formulas(answer)
    several = len(answer.backward) > 1
    lines = [
        *program_lines(answer),
        *equals(answer.inputs),
        *forward_lines(answer),
        f"{answer.name} = {input_text(answer.output)}",
        *(line for name, j in answer.jacobian.items() for line in entry_lines(answer.name, name, j, most)),
        *equals({f"v{k if several else ''}": call.v.shown for k, call in enumerate(answer.backward, 1)}),
    ]
    for name in answer.differentiated:
        lines += equals({f"v.J {name}": answer.vjp[name], f"{name}.grad": answer.grad[name]})
    lines += view_lines("J", answer)
    if answer.has_steps:
        lines += [f"{rule.name}.grad := {rule.text}" for rule in answer.rules if rule.text]
    lines += [*view_lines("backward", answer), *effect_lines(answer), *view_lines("v", answer)]
    lines.append(f"agree = {'yes' if answer.agreement.agree else 'no'}")
    lines += [f"note: {note.message}" for note in answer.notes]
    return with_labels("\n".join(lines), answer.labels)


def equals(values: dict[str, Any]) -> list[str]:
    """Return a line for each value."""
    return [f"{name} = {input_text(value)}" for name, value in values.items()]


def program_lines(answer: Explained) -> list[str]:
    """Return the text of a formula, or what a script did."""
    if answer.timeline is None:
        return [f"program: {line}" for line in answer.program_lines]
    from gradcli.render.events import timeline_lines  # a formula has none

    return timeline_lines(answer.timeline)


def forward_lines(answer: Explained) -> Iterator[str]:
    """Yield what names stand for, and the values of those between inputs and output, which have lines of their own."""
    values = [event for event in shown_events(answer.forward) if isinstance(event, Value)]
    for value in values:
        if value.role not in ("input", "output"):
            yield from [] if value.formula is None else [f"{value.name} := {value.formula}"]
            yield from equals({value.name: value.value})
    defined = {value.name for value in values if value.formula is not None}
    yield from (f"{name} := {text}" for name, text in answer.definitions.items() if name not in defined)


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
        lines += equals({f"{name}.grad of {answer.name}{what}": grad for name, grad in left.grad.items()})
    return lines


def entry_lines(output: str, name: str, jacobian: Jacobian, most: int) -> list[str]:
    """Return the entries of a Jacobian that can be non-zero, one a line."""
    rows, columns = jacobian.matrix_shape
    entries = f"{jacobian.structure}, {counted(len(jacobian.rows), 'entry')}" if jacobian.held else "entries not held"
    lines = [f"d{output}/d{name}: {rows:,} by {columns:,}, {entries}", *jacobian.rules]
    for k in range(min(len(jacobian.rows), most)):
        row = place_text(int(jacobian.rows[k]), jacobian.output_shape)
        column = place_text(int(jacobian.columns[k]), jacobian.input_shape)
        sides = [*([jacobian.formulas[k]] if jacobian.formulas else []), full(jacobian.values[k])]
        lines.append(" = ".join([f"d{output}{row}/d{name}{column}", *dict.fromkeys(sides)]))
    if len(jacobian.rows) > most:
        lines.append(f"... and {counted(len(jacobian.rows) - most, 'entry')} more")
    return lines


def view_lines(anchor: str, answer: Explained) -> Iterator[str]:
    """Yield the sections of what was asked for beside the rest, in ASCII and with all digits."""
    settings = Settings(MOST_PRECISE, full=True)
    for section in view_sections(anchor, answer, settings):
        yield from [to_ascii(section.title)] if section.title else []
        for part in section.parts:
            yield from map(to_ascii, part_lines(part, settings))


def part_lines(part: Part, settings: Settings) -> Iterable[str]:
    """Yield a part of a section as lines, a row of a table or an equation on each."""
    if isinstance(part, Prose):
        return part.sentences
    if isinstance(part, Equations):
        return [row if isinstance(row, str) else equation_line(row) for row in part.rows]
    if isinstance(part, Table):
        from gradcli.render.tables import Sheet  # which reads rich

        formulas = [line for rows in part.otherwise for line in part_lines(Equations(rows), settings)]
        sheet = Sheet(part, settings, Layout(unicode=False))
        return [*formulas, *(text for text, _ in sheet.stacked(part.blocks).rows)]
    return part.lines if isinstance(part, Listing) else ()


def equation_line(row: Equation) -> str:
    """Return an equation on one line."""
    sides = [one if isinstance(one, str) else " + ".join(term.text for term in one) for one in row.sides]
    value = [] if row.value is None else [input_text(np.asarray(row.value, dtype=np.float64))]
    remark = f" {row.remark}" if row.remark else ""
    return f"{f'{row.rule}: ' if row.rule else ''}{' = '.join([str(row.left), *sides, *value])}{remark}"


LONGEST = 40
"""Characters of a program in one line; and entries of an array fit in as many."""


def explanation_line(answer: Explained) -> str:
    """Return the function, where it is explained, its value, its gradients and the verdict.

    >>> explanation_line(gradcli.explain("x**2", x=3.0))
    '<gradcli explanation of x**2 at x = 3: y = 9, x.grad = 6, agree>'
    """
    lines = [line.strip() for line in answer.program_lines]
    program = inert("; ".join(filter(None, lines)).replace(":; ", ": "), keep="")
    program = program if len(program) <= LONGEST else f"{program[: LONGEST - 3]}..."
    point = ", ".join(f"{name} = {brief(value)}" for name, value in answer.inputs.items())
    gradients = ", ".join(f"{name}.grad = {brief(value)}" for name, value in answer.grad.items())
    return (
        f"<gradcli explanation of {program} at {point}: {answer.name} = {brief(answer.output)}, {gradients}, "
        f"{answer.agreement.verdict}>"
    )


def brief(value: Any) -> str:
    """Return an array in few characters: its entries where they are few, else its shape."""
    array = np.asarray(value)
    if not array.ndim:
        return f"{array:.6g}"
    text = np.array2string(array, precision=6, separator=", ", threshold=8, formatter={"float_kind": "{:.6g}".format})
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"array of shape {array.shape}"
