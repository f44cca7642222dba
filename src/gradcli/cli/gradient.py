"""The ``grad`` command's work: reverse mode alone, so that sympy is never imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.cli.output import complain, write_parts
from gradcli.cli.request import Printing, Request, function_of
from gradcli.document.texts import grad_text
from gradcli.explanation.evaluation import read_gradient, stand

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.explanation.results import Gradient, Note


def answer(env: Environment, asked: Request, how: Printing, confirm: bool) -> tuple[str, bool]:
    """Print the gradients, accumulated over all calls; return the verdict on them and whether everything is finite.

    Without ``confirm`` nothing is held against them, and the verdict is ``agree``.
    """
    point = stand(function_of(asked), asked.values, asked.calls, asked.strict, record=confirm)
    found = read_gradient(point)
    notes, more, verdict = [*asked.notes, *found.notes], {}, "agree"
    if confirm:
        from gradcli.explanation.explained import Explained
        from gradcli.explanation.explaining import Ask, explain_run
        from gradcli.explanation.results import Note
        from gradcli.render.data import agreement_document

        confirmed = explain_run(point, Ask.ALWAYS, Explained)
        trial = confirmed.trial if confirmed.agreement.finite else None
        tried = [Note("difference-quotient", trial.sentence)] if trial is not None else []
        notes, verdict = [*asked.notes, *confirmed.notes, *tried], confirmed.agreement.verdict
        more = {"agreement": agreement_document(confirmed.agreement)}
    if not how.quiet or how.output:
        parts = written(found, notes, more) if how.format == "json" else [lines_of(found), "\n"]
        write_parts(env, parts, how.output)
    for note in notes if not how.quiet else ():
        complain(env, f"note: {note.message}")
    finite = bool(np.all(np.isfinite(found.output)) and all(np.all(np.isfinite(g)) for g in found.grad.values()))
    return verdict, finite


def lines_of(found: Gradient) -> str:
    """Return the gradients as lines, under the names of the script."""
    if not found.labels:
        return grad_text(found.grad)
    from gradcli.document.texts import with_labels  # a formula has none

    return with_labels(grad_text(found.grad), found.labels)


def written(found: Gradient, notes: list[Note], more: dict[str, Any]) -> list[str]:
    """Return the JSON document of gradients, in parts, with ``more`` and with notes where there are any."""
    from gradcli.render.data import encoded, gradient_document, notes_document

    told = {"notes": notes_document(notes)} if notes else {}
    return encoded(lambda form: gradient_document(found, form) | more | told)
