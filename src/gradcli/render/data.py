"""The JSON document, schema 1: the data of an answer as plain lists, dictionaries and strict JSON numbers."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from gradcli import __version__
from gradcli.document.texts import Form, nested, relabelled, reshaped, strict
from gradcli.errors.hints import index_of
from gradcli.errors.inert import shortened
from gradcli.render.data_arrays import arrays_document, jacobian_document

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gradcli.errors import GradcliError
    from gradcli.explanation.effect import Effect, Weighted
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.parts import Rule, Value
    from gradcli.explanation.results import Agreement, Backward, Gradient, Note
    from gradcli.explanation.timeline import Timeline
    from gradcli.ops.declare import Array, Indices

MOST_SHARED = 100
"""Entries of y that are listed as depending on one entry of an input."""

MOST_WEIGHTED = 10_000
"""Entries of gradients that another v would leave, from which they are left out."""


def document(found: Explained, form: Form = nested, only: frozenset[str] | None = None) -> dict[str, Any]:
    """Return an explanation as plain lists, dictionaries and strict JSON numbers.

    ``form`` says what arrays become. What is not among the fields ``only`` may be left out, where it would be dear.
    """
    shape = list(found.output.shape)
    if only is None or only & WITH_FORMULAS:
        from gradcli.document.verdicts import with_true_formulas  # what asks for numbers alone reads no formula

        found = with_true_formulas(found)
    written = {
        **head(found.program),
        "inputs": inputs_document(found.inputs, found.differentiated, form),
        "output": {
            "shape": shape,
            "value": form(found.output),
            "symbolic": None if found.output_formulas is None else reshaped(found.output_formulas, found.output.shape),
        },
        "forward": [value_document(value, form) for value in found.values],
        "v": {"shape": list(found.v.shape), "value": form(found.v), "source": found.v_source},
        "jacobian": {name: jacobian_document(j, found.definitions, form) for name, j in found.jacobian.items()},
        "vjp": arrays_document(found.vjp, form),
        "grad": arrays_document(found.grad, form),
        "backward": [call_document(call, form) for call in found.backward],
        **(backward_document(found, form) if only is None or only & OF_BACKWARD else {}),
        "effect": effect_document(found.effect, found.output.shape, form) if only is None or "effect" in only else None,
        **(views_document(found, form) if found.views else {}),
        **(events_document(found.timeline, form) if found.timeline is not None else {}),
        "agreement": agreement_document(found.agreement),
        "notes": notes_document(found.notes),
        "error": None,
    }
    return relabelled(written, found.labels)


def views_document(found: Explained, form: Form) -> dict[str, Any]:
    """Return what was asked for beside the rest."""
    from gradcli.render.data_views import document_of  # few answers are asked for more

    return document_of(found, form)


def events_document(timeline: Timeline, form: Form) -> dict[str, Any]:
    """Return what a script did, in order, and which of it is answered."""
    from gradcli.render.events import script_document  # a formula has none

    return script_document(timeline, form)


def effect_document(effect: Effect, shape: tuple[int, ...], form: Form = nested) -> dict[str, Any]:
    """Return what v did; places are indices, and gradients that another v would leave stand by variable."""
    nudge, shared = effect.nudge, effect.shared
    return {
        "total": strict(effect.total),
        "nudge": nudge
        and {
            "name": nudge.name,
            "index": list(nudge.index),
            "step": nudge.step,
            "slope": strict(nudge.slope),
            "predicted": strict(nudge.predicted),
            "measured": nudge.measured,
        },
        "sum": weighted_document(effect.sum, form),
        "mean": weighted_document(effect.mean, form),
        "row": {"index": list(index_of(effect.row, shape)), "grad": weighted_document(effect.of_row, form)},
        "shared": shared
        and {
            "name": shared.name,
            "index": list(shared.index),
            "rows": [list(index_of(row, shape)) for row in shared.rows[:MOST_SHARED]],
            "count": len(shared.rows),
        },
    }


def weighted_document(weighted: Weighted, form: Form) -> dict[str, Any] | None:
    """Return the gradients that another v would leave; None where a script would rather multiply J itself."""
    large = sum(grad.size for grad in weighted.grad.values()) >= MOST_WEIGHTED
    return None if large else arrays_document(weighted.grad, form)


def value_document(value: Value, form: Form = nested) -> dict[str, Any]:
    """Return one value of the program."""
    return {
        "name": value.name,
        "role": value.role,
        "shape": list(value.value.shape),
        "value": form(value.value),
        "formula": value.formula,
        "text": value.text,
        "turns": list(value.turns),
    }


def call_document(call: Backward, form: Form = nested) -> dict[str, Any]:
    """Return one call of backward."""
    return {
        "v": form(call.v.shown),
        "vjp": arrays_document(call.vjp, form),
        "grad": arrays_document(call.grad, form),
        "accumulated": arrays_document(call.accumulated, form),
    }


WITH_FORMULAS = {"output", "jacobian"}
"""Fields that hold formulas of numbers beside them, which are read back."""
OF_BACKWARD = {"stages", "reverse", "constants"}
"""Fields that the lines of the backward pass are written for."""


def backward_document(found: Explained, form: Form) -> dict[str, Any]:
    """Return the lines of the backward pass, the variables on every path, and the long arrays that lines use."""
    return {
        "stages": [
            {"name": stage.name, "shape": list(stage.value.shape), "cotangent": form(stage.value)}
            for stage in found.stages
        ],
        "reverse": [rule_document(rule, form) for rule in found.rules],
        "constants": arrays_document(found.constants, form),
    }


def rule_document(rule: Rule, form: Form = nested) -> dict[str, Any]:
    """Return one line of the backward pass."""
    return {
        "name": rule.name,
        "shape": list(rule.value.shape),
        "value": form(rule.value),
        "formula": rule.text,
        "uses": rule.uses,
        "definition": rule.made,
    }


def agreement_document(agreement: Agreement) -> dict[str, Any]:
    """Return whether the routes agree."""
    return {
        "agree": agreement.agree,
        "max_abs_error": strict(agreement.max_abs_error),
        "finite": agreement.finite,
        "verdict": agreement.verdict,
        "digits": agreement.digits,
    }


def gradient_document(found: Gradient, form: Form = nested) -> dict[str, Any]:
    """Return a gradient: the document of an explanation without J; ``form`` says what arrays become."""
    written = {
        **head(found.program),
        "output": {"shape": list(found.output.shape), "value": form(found.output)},
        "v": {"shape": list(found.v.shape), "value": form(found.v), "source": found.v_source},
        "grad": arrays_document(found.grad, form),
        **(events_document(found.timeline, form) if found.timeline is not None else {}),
        "notes": notes_document(found.notes),
        "error": None,
    }
    return relabelled(written, found.labels)


def numbers_document(backward: Sequence[Backward], agreement: Agreement) -> dict[str, Any]:
    """Return what the symbolic route adds to a gradient without any formula."""
    from gradcli.explanation.results import sum_vjps

    return {
        "vjp": arrays_document(sum_vjps(backward)),
        "backward": [call_document(call) for call in backward],
        "agreement": agreement_document(agreement),
    }


LONG = 10_000
"""Entries from which the text of an array is kept for the next one with the same numbers."""


def encoded(document: Callable[[Form], Any]) -> list[str]:
    """Return the parts of the line that holds the document which ``document`` makes with a form for its arrays.

    The line is strict JSON in ASCII, and ends with its newline.

    Numbers are dear to write, and an elementwise gradient under v = 1 stands in its document six times: in J, as vᵀ·J,
    as x.grad, and three times in the call of backward. What is long becomes text once, and its text is a part as
    often as it is needed.
    """
    mark = os.urandom(16).hex()
    texts: list[str] = []
    places: dict[tuple[Any, ...], int] = {}

    def form(array: Array | Indices) -> Any:
        if array.size < LONG:
            return nested(array)
        numbers = (array.dtype.kind, array.shape, array.tobytes())
        if numbers not in places:
            places[numbers] = len(texts)
            texts.append(dump_numbers(nested(array)))
        return f"{mark}{places[numbers]}"

    between = re.split(f'"{mark}([0-9]+)"', dump(document(form)))
    return [texts[int(part)] if i % 2 else part for i, part in enumerate(between)] + ["\n"]


def head(program: str) -> dict[str, Any]:
    """Return what the document of every answer about a program begins with."""
    return {"schema": 1, "version": __version__, "program": program}


def inputs_document(
    inputs: Mapping[str, Array], differentiated: Collection[str], form: Form = nested
) -> dict[str, Any]:
    """Return the variables with their values, and which of them are differentiated."""
    return {
        name: {"shape": list(value.shape), "value": form(value), "differentiated": name in differentiated}
        for name, value in inputs.items()
    }


def notes_document(notes: Sequence[Note]) -> list[dict[str, str]]:
    """Return the notes."""
    return [{"kind": note.kind, "message": note.message} for note in notes]


def dump(document: Any) -> str:
    """Return a document, or a part of it, as strict JSON on one line, in ASCII."""
    import json

    return json.dumps(document, allow_nan=False)


def dump_numbers(numbers: Any) -> str:
    """Return nested lists of strict JSON numbers as JSON: the same numbers as ``dump`` writes, in fewer characters.

    pydantic comes with typer, and its writer needs an eighth of the time: ``1e-7`` where Python has ``1e-07``.
    """
    try:
        from pydantic_core import to_json
    except ImportError:
        return dump(numbers)
    return to_json(numbers).decode("ascii")


def error_document(error: GradcliError) -> dict[str, Any]:
    """Return an error as the JSON document of the contract."""
    place = error.place
    return {
        "schema": 1,
        "version": __version__,
        "error": {
            "kind": error.kind,
            "message": shortened(error.message),
            "span": list(error.span) if error.span else None,
            "source": place.name if place else None,
            "hint": None if error.hint is None else shortened(error.hint),
        },
        **story_document(error),
    }


def story_document(error: GradcliError) -> dict[str, Any]:
    """Return what a script did before it came to an error; nothing where no script was run."""
    if error.ended is None:
        return {}
    from gradcli.explanation.timeline import timeline
    from gradcli.render.events import script_document

    told = timeline(error.ended)
    return script_document(told) | {"explained": told.last_error}
