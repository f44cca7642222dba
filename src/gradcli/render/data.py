"""The JSON document, schema 1: the data of an answer as plain lists, dictionaries and strict JSON numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli import __version__
from gradcli.document.texts import Form, nested, relabelled, reshaped, strict
from gradcli.errors.hints import index_of
from gradcli.errors.inert import shortened
from gradcli.explanation.results import Agreement, Backward, Gradient, Note, Proof, sum_vjps

if TYPE_CHECKING:
    from gradcli.errors import GradcliError
    from gradcli.explanation.effect import Effect, Weighted
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.parts import Tape
    from gradcli.explanation.timeline import Event, Timeline
    from gradcli.explanation.views import Hessian
    from gradcli.ops.declare import Array, Indices

MOST_SHARED = 100
"""Entries of y that are listed as depending on one entry of an input."""
MOST_WEIGHTED = 10_000
"""Entries of gradients that another v would leave, from which they are left out."""


def document(answer: Explained, form: Form = nested, only: frozenset[str] | None = None) -> dict[str, Any]:
    """Return an explanation as plain lists, dictionaries and strict JSON numbers.

    ``form`` says what arrays become. What is not among the fields ``only`` may be left out where it costs much.
    """

    def is_wanted(*names: str) -> bool:
        return only is None or not only.isdisjoint(names)

    if is_wanted("output", "jacobian"):  # which hold formulas beside numbers
        from gradcli.document.verdicts import with_true_formulas

        answer = with_true_formulas(answer)
    texts, shape = answer.output_formulas, answer.output.shape
    symbolic = None if texts is None else reshaped(texts, shape)
    written = {
        **head(answer.program),
        "inputs": inputs_document(answer.inputs, answer.differentiated, form),
        "output": {"shape": list(shape), "value": form(answer.output), "symbolic": symbolic},
        "forward": [fields(one, form, "name", "role", "shape", "value", "formula", "text", "turns")
                    for one in answer.values],
        "v": {"shape": list(answer.v.shape), "value": form(answer.v), "source": answer.v_source},
        "jacobian": {name: jacobian_document(j, answer.definitions, form) for name, j in answer.jacobian.items()},
        "vjp": plain(answer.vjp, form),
        "grad": plain(answer.grad, form),
        "backward": [call_document(call, form) for call in answer.backward],
        **(backward_document(answer, form) if is_wanted("stages", "reverse", "constants") else {}),
        "effect": effect_document(answer.effect, shape, form) if is_wanted("effect") else None,
        **{key: part for name, view in answer.views.items()
           for key, part in VIEWS[name](answer, view.content, form).items()},
        **({} if answer.timeline is None else events_document(answer.timeline, form)),
        "agreement": agreement_document(answer.agreement),
        "notes": notes_document(answer.notes),
        "error": None,
    }  # fmt: skip
    return relabelled(written, answer.labels)


def gradient_document(answer: Gradient, form: Form = nested) -> dict[str, Any]:
    """Return a gradient: the document of an explanation without J; ``form`` says what arrays become."""
    written = {
        **head(answer.program),
        "output": {"shape": list(answer.output.shape), "value": form(answer.output)},
        "v": {"shape": list(answer.v.shape), "value": form(answer.v), "source": answer.v_source},
        "grad": {name: form(g) for name, g in answer.grad.items()},
        **({} if answer.timeline is None else events_document(answer.timeline, form)),
        "notes": notes_document(answer.notes),
        "error": None,
    }
    return relabelled(written, answer.labels)


def numbers_document(backward: Sequence[Backward], agreement: Agreement) -> dict[str, Any]:
    """Return what the symbolic route adds to a gradient without any formula."""
    return {
        "vjp": plain(sum_vjps(backward), nested),
        "backward": [call_document(call) for call in backward],
        "agreement": agreement_document(agreement),
    }


def fields(record: Any, form: Form, *names: str, **renamed: str) -> dict[str, Any]:
    """Return attributes of a record by their names, and others by new ones; ``shape`` may be that of its value."""
    return {
        key: list(np.shape(record.value)) if name == "shape" else plain(getattr(record, name), form)
        for key, name in (dict(zip(names, names, strict=True)) | renamed).items()
    }


def plain(value: Any, form: Form) -> Any:
    """Return a value of a record as JSON has it: an array in its form, and an empty text as null."""
    if isinstance(value, np.ndarray):
        return form(value)
    if isinstance(value, float):
        return strict(value)
    if isinstance(value, Mapping):
        return {name: plain(item, form) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item, form) for item in value]
    return None if value == "" else value


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


def agreement_document(agreement: Agreement) -> dict[str, Any]:
    """Return whether the routes agree."""
    return fields(agreement, nested, "agree", "max_abs_error", "finite", "verdict", "digits")


def proof_document(proof: Proof) -> dict[str, Any]:
    """Return how far the numbers of a view are right."""
    return {
        "agree": proof.verdict == "agree", "verdict": proof.verdict, "finite": proof.finite, "digits": proof.digits,
    }  # fmt: skip


def call_document(call: Backward, form: Form = nested) -> dict[str, Any]:
    """Return one call of backward."""
    return {"v": form(call.v.shown), **fields(call, form, "vjp", "grad", "accumulated")}


def backward_document(answer: Explained, form: Form) -> dict[str, Any]:
    """Return the lines of the backward pass, the variables on every path, and the long arrays that lines use."""
    return {
        "stages": [fields(stage, form, "name", "shape", cotangent="value") for stage in answer.stages],
        "reverse": [
            fields(rule, form, "name", "shape", "value", formula="text", uses="uses", definition="made")
            for rule in answer.rules
        ],
        "constants": plain(answer.constants, form),
    }


def effect_document(effect: Effect, shape: tuple[int, ...], form: Form) -> dict[str, Any]:
    """Return what v did; places are indices, and gradients that another v would leave stand by variable."""
    nudge, shared = effect.nudge, effect.shared

    def weighted_document(weighted: Weighted) -> dict[str, Any] | None:
        large = sum(grad.size for grad in weighted.grad.values()) >= MOST_WEIGHTED
        return None if large else plain(weighted.grad, form)  # a script would rather multiply J itself

    return {
        "total": strict(effect.total),
        "nudge": nudge and fields(nudge, form, "name", "index", "step", "slope", "predicted", "measured"),
        "sum": weighted_document(effect.sum),
        "mean": weighted_document(effect.mean),
        "row": {"index": list(index_of(effect.row, shape)), "grad": weighted_document(effect.of_row)},
        "shared": shared
        and {
            "name": shared.name,
            "index": list(shared.index),
            "rows": [list(index_of(row, shape)) for row in shared.rows[:MOST_SHARED]],
            "count": len(shared.rows),
        },
    }


def jacobian_document(jacobian: Jacobian, definitions: dict[str, str], form: Form = nested) -> dict[str, Any]:
    """Return one Jacobian: dense while it is small, by its entries beyond."""
    numeric = jacobian.numeric
    symbolic = None if numeric is None else dense_formulas(jacobian)
    entries = None
    if symbolic is None:
        arrays = fields(jacobian, form, "rows", "columns", "values")
        entries = arrays if jacobian.held else dict.fromkeys(arrays)
        entries["formulas"] = jacobian.rules or None
    return {
        "shape": list(jacobian.shape),
        "structure": jacobian.structure,
        "nonzeros": len(jacobian.rows) if jacobian.held else None,
        "passes": jacobian.passes,
        "held": jacobian.held,
        "definitions": definitions,
        "symbolic": symbolic,
        "numeric": None if numeric is None else form(numeric),
        "entries": entries,
    }


def dense_formulas(jacobian: Jacobian) -> Any:
    """Return the formulas in the shape of the Jacobian, ``"0"`` where an entry cannot be anything else."""
    if jacobian.formulas is None:
        return None
    rows, columns = jacobian.matrix_shape
    flat = ["0"] * (rows * columns)
    for row, column, text in zip(jacobian.rows, jacobian.columns, jacobian.formulas, strict=True):
        flat[int(row) * columns + int(column)] = text
    return reshaped(flat, jacobian.shape)


def tape_document(_: Explained, tape: Tape, form: Form) -> dict[str, Any]:
    """Return the tape."""
    rows = [
        {
            **fields(row, form, "name", "role", "operation", formula="text", shape="shape", value="value"),
            **fields(row, form, "saved", "cotangent", "uses"),
            "sent": [
                fields(
                    sent, form, "to", "rule",
                    formula="text", value="value", derivative="local", slope="slope", summed="summed", adds="adds",
                )
                for sent in row.sent
            ],
        }
        for row in tape.rows
    ]  # fmt: skip
    return {"tape": {"rows": rows, "left_out": tape.left_out, "gap": tape.gap}}


def hessian_document(answer: Explained, hessian: Hessian, form: Form) -> dict[str, Any]:
    """Return the blocks of H by the names of two variables, and H·u."""
    from gradcli.document.effects import scalar_name
    from gradcli.document.views import true_hessian

    hessian = true_hessian(answer, hessian)
    blocks: dict[str, dict[str, Any]] = {name: {} for name in hessian.whole}
    for (one, other), block in hessian.blocks.items():
        blocks[one][other] = jacobian_document(block, hessian.definitions, form)
    written = {
        "of": scalar_name(answer),
        "gradient": hessian.gradient,
        "definitions": hessian.definitions,
        "blocks": blocks,
        **fields(hessian, form, "symmetric", "u", "product"),
        "agreement": proof_document(hessian.proof),
    }
    return {"hessian": written}


VIEWS: dict[str, Callable[[Explained, Any, Form], dict[str, Any]]] = {
    "slices": lambda _, slices, form: {
        f"{kind}s": [fields(part, form, "index", "values") for part in slices if part.kind == kind]
        for kind in ("row", "column")
    },
    "tape": tape_document,
    "steps": lambda _, steps, form: {
        "steps": [fields(step, form, "rule", "of", "by", "formula", "numbers", "shape", "value") for step in steps]
    },
    "one_hot": lambda _, rows, form: {
        "one_hot": {
            "calls": [fields(call, form, "index", "grad") for call in rows.calls],
            "passes": len(rows.calls),
            "colouring": rows.colouring,
            "agreement": proof_document(rows.proof),
        }
    },
    "jvp": lambda _, tangent, form: {
        "jvp": {
            **fields(tangent, form, "u", value="jvp"),
            "passes": [fields(value, form, "name", "tangent", "cotangent") for value in tangent.passes],
            **fields(tangent, form, v_dot_jvp="number", forward_passes="forward", backward_passes="backward"),
            "agreement": proof_document(tangent.proof),
        }
    },
    "hessian": hessian_document,
    "descent": lambda _, descent, form: {
        "descent": {
            **fields(descent, form, "lr", iterations="asked"),
            "steps": [fields(step, form, "inputs", "value", "grad", "predicted", "actual") for step in descent.steps],
            **fields(descent, form, "inputs", "value", "ending"),
        }
    },
}
"""What an answer was asked for beside the rest, by its name; slices are under keys of their own."""

MOST_ENTRIES, FEW_ENTRIES = 10_000, 100
"""Entries of an array of an event that are all written: where the events are small, and where they are large."""
SMALL = 8_000_000
"""Bytes of the arrays and texts of all events up to which they are small."""
FIRST = 6
"""Entries that are written of an array that has more."""


def events_document(timeline: Timeline, form: Form = nested) -> dict[str, Any]:
    """Return what a script did, in order, and which of it is answered."""
    whole = sum(event.size for event in timeline.events) <= SMALL
    form = partial(first_entries, form, MOST_ENTRIES if whole else FEW_ENTRIES)
    return {"events": [event_document(event, form) for event in timeline.events], "explained": timeline.explained}


def first_entries(form: Form, most: int, value: Array) -> Any:
    """Return an array of an event: of more entries than ``most`` its shape, the first, and how many are left out."""
    if value.size <= most:
        return form(value)
    first = value.ravel()[:FIRST]
    return {"shape": list(value.shape), "first": form(first), "left_out": value.size - first.size}


def event_document(event: Event, form: Form) -> dict[str, Any]:
    """Return one event."""

    def numbers(value: Array | None) -> Any:
        return None if value is None else form(np.asarray(value, dtype=np.float64))

    written: dict[str, Any] = {"kind": event.kind, "line": event.line}
    if event.kind == "print":
        return written | {"text": event.text}
    if event.kind == "error":
        return written | {"type": event.type, "text": event.text} | ({"caught": True} if event.caught else {})
    if event.kind in ("zero", "update", "draw"):
        return written | {"names": list(event.names)}
    written |= {"turn": event.turn, "output": event.output}
    if (event.v is not None and not event.tangents) or event.kind == "backward":
        written["v"] = numbers(np.ones(np.shape(event.value)) if event.v is None else event.v)
    if event.kind == "grad":
        return written | {"returns": [numbers(value) for value in event.returns], "of": list(event.of)}
    return written | {
        key: {name: numbers(value) for name, value in arrays.items()}
        for key, arrays in (("grad", event.grad), ("adds", event.adds))
    }


def error_document(error: GradcliError) -> dict[str, Any]:
    """Return an error as the JSON document of the contract, with what a script did before it came to it."""
    place = error.place
    written = {
        "schema": 1,
        "version": __version__,
        "error": {
            "kind": error.kind,
            "message": shortened(error.message),
            "span": list(error.span) if error.span else None,
            "source": place.name if place else None,
            "hint": None if error.hint is None else shortened(error.hint),
        },
    }
    if error.ended is None:
        return written
    from gradcli.explanation.timeline import timeline

    story = timeline(error.ended)
    return written | events_document(story) | {"explained": story.last_error}


LONG = 10_000
"""Entries from which the text of an array is kept for the next one with the same numbers."""


def encoded(document: Callable[[Form], Any]) -> list[str]:
    """Return the parts of the line that holds the document which ``document`` makes with a form for its arrays.

    The line is strict JSON in ASCII, and ends with its newline.

    Numbers take long to write, and an elementwise gradient under v = 1 stands in its document six times: in J, as vᵀ·J,
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
