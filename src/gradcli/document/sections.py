"""The answer as a document: its sections in the order in which a first-time reader asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcli.document.backward import backward_section, paths_section
from gradcli.document.effects import calls_section, effect_section, samples_section, sums_section
from gradcli.document.equalities import with_true_formulas
from gradcli.document.forward import forward_section
from gradcli.document.jacobian import is_one_row, jacobian_sections
from gradcli.document.model import Document, Equation, Equations, Events, Listing, Part, Prose, Section, Settings
from gradcli.document.numbers import MOST_PRECISE, short
from gradcli.document.verdicts import verdict
from gradcli.records import replace

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained

ASSIGNS = re.compile(r"[^=(#'\"<>!]+=(?!=)")
"""A line that names its value itself: ``y = …``, ``y[0] += …``."""


def document_of(answer: Explained, settings: Settings) -> Document:
    """Return the whole answer: the gradient, forward, backward, J, sums, v, notes, what shows more."""
    answer = with_true_formulas(answer)
    sections = [
        events_section(answer),
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
    shown = tuple(section for section in sections if section.parts or section.title)
    return labelled(Document(shown, settings, axes_of(answer)), answer)


def open_document(answer: Explained, settings: Settings) -> Document:
    """Return the program and J alone, with v left open: for a v that is still to be chosen."""
    answer = with_true_formulas(answer)
    sections = (program_section(answer), *jacobian_sections(answer, settings, asks=True))
    return labelled(Document(sections, settings, axes_of(answer)), answer)


def labelled(document: Document, answer: Explained) -> Document:
    """Return a document with what a script calls its variables in the place of the identifiers of formulas."""
    if not answer.labels:
        return document
    from gradcli.document.labels import with_labels  # a formula has none

    renamed = document.with_texts(lambda text: with_labels(text, answer.labels))
    return replace(renamed, axes={answer.labels.get(name, name): axes for name, axes in document.axes.items()})


def axes_of(answer: Explained) -> dict[str, int]:
    """Return how many axes each value has, by its name."""
    values = [*answer.inputs.items(), *((value.name, value.value) for value in answer.values)]
    return {name: np.ndim(value) for name, value in values}


def events_section(answer: Explained) -> Section:
    """Return what the script did; nothing of a formula."""
    timeline = answer.timeline
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
    """Return the gradient of each variable in its own shape; of a J of one row also that both routes give it."""
    rows = tuple(gradient_row(answer, name) for name in answer.differentiated)
    parts: list[Part] = [Equations(rows, strong=True)]
    if is_one_row(answer) and any(jacobian.matrix_shape[1] for jacobian in answer.jacobian.values()):
        said, tone = verdict(answer, one_row=True)
        parts.append(Prose((said,), tone))
    return Section("gradient", "", tuple(parts))


def gradient_row(answer: Explained, name: str) -> Equation:
    """Return ``x.grad = [26, 1240]``, with 0 for what rounding has left of it."""
    grad, dust = answer.grad[name], answer.dust[name].grad
    rounded = bool(np.size(dust) and np.any(dust) and np.all(dust | (grad == 0)))
    return Equation(f"{name}.grad", (), np.where(dust, 0.0, grad), near=rounded)


def notes_section(answer: Explained, settings: Settings) -> Section:
    """Return the notes, and what to add to the command to see more."""
    notes = tuple(f"note: {note.message}" for note in answer.notes)
    return Section("notes", "", (Prose((*notes, more_line(answer, settings))),))


def view_sections(anchor: str, answer: Explained, settings: Settings) -> Iterator[Section]:
    """Yield what was asked for beside the rest, in so far as it follows a part of the answer."""
    if answer.views:
        from gradcli.document.views import sections_after  # few answers are asked for more

        yield from sections_after(anchor, answer, settings)


class Option(NamedTuple):
    """Words of the command line, what they show, and for which answers they show more."""

    words: str
    shows: str
    helps: Callable[[Explained, Settings], bool]


def is_rounded(answer: Explained, settings: Settings) -> bool:
    """Return whether a gradient has more digits than are shown."""
    if settings.precision >= MOST_PRECISE:
        return False
    return any(
        float(short(value, settings.precision)) != value
        for grad in answer.grad.values()
        for value in np.ravel(grad)[:100].tolist()
        if np.isfinite(value)
    )


OPTIONS = [
    Option("--precision 17", "all digits", is_rounded),
    Option("--steps", "rules by name", lambda answer, _: "steps" not in answer.views),
    Option("--tape", "what each op keeps", lambda answer, _: "tape" not in answer.views),
    Option("-o page.html", "sliders", lambda *_: True),
]
"""Options of ``explain``, in the order in which they are offered."""


def more_line(answer: Explained, settings: Settings) -> str:
    """Return what to add to the command to see more of this answer, and what it shows."""
    calls = answer.timeline.more if answer.timeline is not None else []
    offers = [f"{option.words} {option.shows}" for option in OPTIONS if option.helps(answer, settings)]
    return "  ".join(["more:", *calls, *offers])
