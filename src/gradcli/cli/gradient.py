"""The ``grad`` command's work: reverse mode alone, so that sympy is never imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.cli.output import complain, write_parts
from gradcli.cli.request import Printing, Request
from gradcli.evaluation import Function
from gradcli.notes import about_backward, about_run
from gradcli.readings import accumulated, stand
from gradcli.render.numbers import exact

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.notes import Note
    from gradcli.readings import Point


def answer(env: Environment, asked: Request, how: Printing, confirm: bool) -> tuple[str, bool]:
    """Print the gradients, accumulated over all calls; return the verdict on them and whether everything is finite.

    Without ``confirm`` nothing is held against them, and the verdict is ``agree``.
    """
    function = Function(asked.program, asked.wrt, asked.budget, asked.values)
    point = stand(function, asked.values, asked.calls, asked.strict, record=confirm)
    total, notes, more, verdict = accumulated(point), asked.notes, {}, "agree"
    if not confirm:
        notes = [*notes, *about_run(point.run.graph), *about_backward(point.run.graph.nodes, point.run.output)]
    else:
        from gradcli.explanation import Ask, explained  # noqa: PLC0415
        from gradcli.readings import Memory  # noqa: PLC0415
        from gradcli.render.document import agreement_document  # noqa: PLC0415

        found = explained(point, Memory(), Ask.ALWAYS)
        notes, verdict = [*notes, *found.notes], found.agreement.verdict
        more = {"agreement": agreement_document(found.agreement)}
    if not how.quiet or how.output:
        parts = written(point, total, notes, more) if how.format == "json" else [bare(total), "\n"]
        write_parts(env, parts, how.output)
    for note in notes if not how.quiet else ():
        complain(env, f"note: {note.message}")
    finite = bool(np.all(np.isfinite(point.run.value)) and all(np.all(np.isfinite(g)) for g in total.values()))
    return verdict, finite


def written(point: Point, total: dict[str, Any], notes: list[Note], more: dict[str, Any]) -> list[str]:
    """Return the JSON document of gradients, in parts, with ``more`` and with notes where there are any."""
    from gradcli.render.document import gradient_document  # noqa: PLC0415
    from gradcli.render.encoded import encoded  # noqa: PLC0415
    from gradcli.render.head import notes_document  # noqa: PLC0415

    told = {"notes": notes_document(notes)} if notes else {}
    return encoded(lambda form: gradient_document(point, total, form) | more | told)


def bare(total: dict[str, Any]) -> str:
    """Return one gradient as numbers, several as ``name=numbers`` lines for ``--set``."""
    if len(total) == 1:
        return exact(next(iter(total.values())))
    return "\n".join(f"{name}={exact(g)}" for name, g in total.items())
