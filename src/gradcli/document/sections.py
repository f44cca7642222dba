"""The answer as a document: its sections in the order in which a reader asks, and as a lecture shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from gradcli.document.effects import calls_section, effect_section, samples_section, sums_section
from gradcli.document.jacobian import is_one_row, jacobian_sections
from gradcli.document.model import (
    Axes,
    Cell,
    Column,
    Document,
    Equation,
    Equations,
    Events,
    Listing,
    Mark,
    Part,
    Prose,
    Section,
    Settings,
    Table,
)
from gradcli.document.passes import backward_section, forward_section, paths_section
from gradcli.document.texts import MOST_PRECISE, short, with_labels
from gradcli.document.verdicts import verdict, with_true_formulas
from gradcli.records import replace

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.rereading import Reader
    from gradcli.explanation.timeline import Timeline

ASSIGNS = re.compile(r"[^=(#'\"<>!]+=(?!=)")
"""A line that names its value itself: ``y = …``, ``y[0] += …``."""


def document_of(answer: Explained, settings: Settings) -> Document:
    """Return the whole answer: the gradient, forward, backward, J, sums, v, notes, what shows more."""
    answer = with_true_formulas(answer)
    sections = [
        events_section(answer.timeline),
        program_section(answer),
        gradient_section(answer),
        forward_section(answer, settings),
        backward_section(answer, settings),
        *view_sections("backward", answer, settings),
        *jacobian_sections(answer, settings),
        *view_sections("J", answer, settings),
        sums_section(answer, settings),
        samples_section(answer, settings),
        paths_section(answer, settings),
        calls_section(answer, settings),
        effect_section(answer, settings),
        *view_sections("v", answer, settings),
        notes_section(answer, settings),
    ]
    return labelled([section for section in sections if section.parts or section.title], answer, settings)


def open_document(answer: Explained, settings: Settings) -> Document:
    """Return the program and J alone, with v left open: for a v that is still to be chosen."""
    answer = with_true_formulas(answer)
    return labelled([program_section(answer), *jacobian_sections(answer, settings, asks=True)], answer, settings)


def labelled(sections: list[Section], answer: Explained, settings: Settings) -> Document:
    """Return a document with what a script calls its variables in the place of the identifiers of formulas."""
    document = Document(tuple(sections), settings, axes_in(answer, sections))
    return document.with_texts(lambda text: with_labels(text, answer.labels)) if answer.labels else document


def axes_in(answer: Explained, sections: Sequence[Section]) -> Axes:
    """Return what says which shape a formula of an answer has: the language reads it."""

    @cache
    def reader() -> Reader:
        from gradcli.explanation.rereading import Reader

        parts = [part for section in sections for part in section.parts if isinstance(part, Equations)]
        rows = [row for part in parts for row in part.rows if isinstance(row, Equation) and row.value is not None]
        lines = {row.left: row.value for row in rows if isinstance(row.left, str)}
        cotangents = {name[:-5]: value for name, value in lines.items() if name.endswith(".grad")}
        cotangents |= {rule.name: rule.value for rule in answer.rules}
        values = {**cotangents, **{name: value for name, value in lines.items() if name.isidentifier()}}
        values |= {**answer.constants, **answer.named_values, **answer.inputs, "v": answer.v}
        values |= {value.name: value.value for value in answer.values}
        return Reader(values, cotangents)

    names = {label: name for name, label in answer.labels.items()}

    @cache
    def axes(text: str) -> tuple[int, ...] | None:
        value = reader().evaluate(with_labels(text, names))
        return None if value is None else value.shape

    return axes


def events_section(timeline: Timeline | None) -> Section:
    """Return what the script did; nothing of a formula."""
    if timeline is None or not (timeline.rows or timeline.prints):
        return Section("events")
    return Section("events", timeline.head if timeline.rows else "", (Events(timeline),))


def program_section(answer: Explained) -> Section:
    """Return the program, and the shapes of what goes in and comes out; constants stand apart."""
    moved = [f"{name} {answer.inputs[name].shape}" for name in answer.differentiated if name in answer.inputs]
    constant = [f"{name} {value.shape}" for name, value in answer.inputs.items() if name not in answer.differentiated]
    v = "" if answer.v_source == "default" else f"     v {answer.v.shape}"
    how = "" if answer.v_source in ("given", "default") else f" {answer.v_source}"
    program = answer.program_lines
    is_expression = len(program) == 1 and ";" not in program[0] and not ASSIGNS.match(program[0])
    shown = [f"{answer.name} = {program[0]}"] if is_expression else program
    if answer.timeline is not None:
        shown = [answer.timeline.title] if answer.timeline.title else []
    shapes = f"{'  '.join(moved)}  →  {answer.name} {answer.output.shape}{v}{how}".strip()
    lines = (shapes, *([f"{'  '.join(constant)}  constant"] if constant else []))
    return Section("program", "", (*([Listing(tuple(shown))] if shown else []), Prose(lines)))


def gradient_section(answer: Explained) -> Section:
    """Return the gradient of each variable, rounding dust as 0; of a J of one row also that both routes give it."""
    rows = []
    for name in answer.differentiated:
        grad, dust = answer.grad[name], answer.dust[name].grad
        rounded = bool(np.size(dust) and np.any(dust) and np.all(dust | (grad == 0)))
        rows.append(Equation(f"{name}.grad", (), np.where(dust, 0.0, grad), near=rounded))
    parts: list[Part] = [Equations(tuple(rows), strong=True)]
    if is_one_row(answer) and any(jacobian.matrix_shape[1] for jacobian in answer.jacobian.values()):
        said, tone = verdict(answer, one_row=True)
        parts.append(Prose((said,), tone))
    return Section("gradient", "", tuple(parts))


def notes_section(answer: Explained, settings: Settings) -> Section:
    """Return the notes, and what to add to the command to see more."""
    is_rounded = settings.precision < MOST_PRECISE and any(
        np.isfinite(value) and float(short(value, settings.precision)) != value
        for grad in answer.grad.values()
        for value in np.ravel(grad)[:100].tolist()
    )
    more = [
        *(answer.timeline.more if answer.timeline is not None else []),
        *(["--precision 17 all digits"] if is_rounded else []),
        *(["--steps rules by name"] if "steps" not in answer.views else []),
        *(["--tape what each op keeps"] if "tape" not in answer.views else []),
        "-o page.html sliders",
    ]
    notes = [f"note: {note.message}" for note in answer.notes]
    return Section("notes", "", (Prose((*notes, "  ".join(["more:", *more]))),))


def view_sections(anchor: str, answer: Explained, settings: Settings) -> Iterator[Section]:
    """Yield what was asked for beside the rest, in so far as it follows a part of the answer."""
    if answer.views:
        from gradcli.document.views import VIEWS  # few answers are asked for more

        for name, view in answer.views.items():
            place, make = VIEWS[name]
            if place == anchor:
                yield from make(answer, view.content, settings)


ASKED = {"gradient", "backward", "jacobian"}
"""Sections whose numbers a lecture asks for before it shows them."""


def steps_of(document: Document) -> list[Document]:
    """Return what each step of a lecture adds to those before it.

    The program asks for the gradient, which stands below the last section that leads to it; of J and of Backward the
    formulas come first, with ``?`` in the place of numbers.
    """
    gradient = document.section("gradient")
    leading = [section for section in document.sections if section.name in ASKED and section is not gradient]
    steps: list[tuple[Section, ...]] = []
    for section in document.sections:
        if section is gradient:
            steps[-1:] = [(*(steps[-1] if steps else ()), hidden(section))]
        elif section in leading:
            steps += [(hidden(section),), (section,)]
        else:
            steps.append((section,))
        if gradient is not None and section is (leading[-1] if leading else gradient):
            steps.append((gradient,))
    return [replace(document, sections=step) for step in steps]


def hidden(section: Section) -> Section:
    """Return a section with ``?`` for each number that there is to find, and without what is said of them."""
    return replace(section, parts=tuple(hidden_part(part) for part in section.parts if not isinstance(part, Prose)))


def hidden_part(part: Part) -> Part:
    """Return a table without the entries of J and what follows from them, or equations without their values.

    Where there is no path stays, and what is left out; numbers that are put into a formula go.
    """
    if isinstance(part, Table):
        blocks = (part.blocks[0], *(tuple(map(hidden_column, block)) for block in part.blocks[1:]))
        return replace(part, blocks=blocks, remarks=tuple(remark for remark in part.remarks if not remark.tone))
    if isinstance(part, Equations):
        rows = tuple(
            row
            if isinstance(row, str) or row.value is None
            else replace(row, sides=(*row.sides[:1], "?"), value=None, near=False)
            for row in part.rows
        )
        return replace(part, rows=rows)
    return part


def hidden_column(column: Column) -> Column:
    """Return a column with ``?`` for its numbers, beside their formulas."""
    cells = tuple(cell if cell.value is None else Cell(mark=Mark.OPEN, formula=cell.formula) for cell in column.cells)
    return replace(column, cells=cells)


def figure_of(document: Document) -> Document:
    """Return the tables of J alone, for a slide; of an answer without one the gradient, and how it is found."""
    tables = tuple(
        section
        for section in document.sections
        if section.name == "jacobian" and any(isinstance(part, Table) for part in section.parts)
    )
    how = "backward" if document.section("backward") else "jacobian"
    others = tuple(section for section in document.sections if section.name in ("gradient", how))
    return replace(document, sections=tables or others)
