"""The keys that the JSON document has for what an answer was asked for beside the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.effects import scalar_name
from gradcli.document.texts import Form, strict
from gradcli.document.views import true_hessian
from gradcli.render.data_arrays import arrays_document, jacobian_document

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.parts import Step, Tape, Taped
    from gradcli.explanation.results import Proof
    from gradcli.explanation.views import Descent, Hessian, Rows, Slice, Tangent


def document_of(answer: Explained, form: Form) -> dict[str, Any]:
    """Return the keys of all views of an answer."""
    keys: dict[str, Any] = {}
    for name, view in answer.views.items():
        keys |= DOCUMENTS[name](answer, view.content, form)
    return keys


def proof_document(proof: Proof) -> dict[str, Any]:
    """Return how far numbers are right."""
    return {
        "agree": proof.verdict == "agree", "verdict": proof.verdict, "finite": proof.finite, "digits": proof.digits,
    }  # fmt: skip


def slices_document(_: Explained, slices: Sequence[Slice], form: Form) -> dict[str, Any]:
    """Return rows and columns under keys of their own."""
    written = [
        (part.kind, {"index": list(part.index), "values": arrays_document(part.values, form)}) for part in slices
    ]
    return {f"{kind}s": [part for own, part in written if own == kind] for kind in ("row", "column")}


def one_hot_document(_: Explained, rows: Rows, form: Form) -> dict[str, Any]:
    """Return the calls with a one-hot v, and how few are enough."""
    written = {
        "calls": [{"index": list(call.index), "grad": arrays_document(call.grad, form)} for call in rows.calls],
        "passes": len(rows.calls),
        "colouring": rows.colouring,
        "agreement": proof_document(rows.proof),
    }
    return {"one_hot": written}


def jvp_document(_: Explained, tangent: Tangent, form: Form) -> dict[str, Any]:
    """Return J·u with both passes."""
    written = {
        "u": arrays_document(tangent.u, form),
        "value": form(tangent.jvp),
        "passes": [
            {
                "name": value.name,
                "tangent": form(value.tangent),
                "cotangent": None if value.cotangent is None else form(value.cotangent),
            }
            for value in tangent.passes
        ],
        "v_dot_jvp": strict(tangent.number),
        "forward_passes": tangent.forward,
        "backward_passes": tangent.backward,
        "agreement": proof_document(tangent.proof),
    }
    return {"jvp": written}


def hessian_document(found: Explained, hessian: Hessian, form: Form) -> dict[str, Any]:
    """Return the blocks of H by the names of two variables, and H·u."""
    hessian = true_hessian(found, hessian)
    names = list(hessian.whole)
    blocks = hessian.blocks
    written = {
        "of": scalar_name(found),
        "gradient": hessian.gradient,
        "definitions": hessian.definitions,
        "blocks": {
            one: {other: jacobian_document(blocks[one, other], hessian.definitions, form) for other in names}
            for one in names
        },
        "symmetric": hessian.symmetric,
        "u": None if hessian.u is None else arrays_document(hessian.u, form),
        "product": None if hessian.product is None else arrays_document(hessian.product, form),
        "agreement": proof_document(hessian.proof),
    }
    return {"hessian": written}


def descent_document(_: Explained, descent: Descent, form: Form) -> dict[str, Any]:
    """Return the steps of gradient descent, and where it ended."""
    written = {
        "lr": descent.lr,
        "iterations": descent.asked,
        "steps": [
            {
                "inputs": arrays_document(step.inputs, form),
                "value": strict(step.value),
                "grad": arrays_document(step.grad, form),
                "predicted": strict(step.predicted),
                "actual": strict(step.actual),
            }
            for step in descent.steps
        ],
        "inputs": arrays_document(descent.inputs, form),
        "value": strict(descent.value),
        "ending": descent.ending or None,
    }
    return {"descent": written}


def steps_document(_: Explained, steps: Sequence[Step], form: Form) -> dict[str, Any]:
    """Return the steps in order."""
    written = [
        {
            "rule": step.rule,
            "of": step.of,
            "by": step.by or None,
            "formula": step.formula,
            "numbers": step.numbers,
            "shape": list(np.shape(step.value)),
            "value": form(step.value),
        }
        for step in steps
    ]
    return {"steps": written}


def tape_document(_: Explained, tape: Tape, form: Form) -> dict[str, Any]:
    """Return the tape."""
    rows = [row_document(row, form) for row in tape.rows]
    return {"tape": {"rows": rows, "left_out": tape.left_out, "gap": tape.gap}}


def row_document(row: Taped, form: Form) -> dict[str, Any]:
    """Return one row of the tape."""
    return {
        "name": row.name,
        "role": row.role,
        "operation": row.operation or None,
        "formula": row.text,
        "shape": list(row.value.shape),
        "value": form(row.value),
        "saved": list(row.saved),
        "cotangent": None if row.cotangent is None else form(row.cotangent),
        "uses": row.uses,
        "sent": [
            {
                "to": sent.to,
                "rule": sent.rule,
                "formula": sent.text,
                "value": form(sent.value),
                "derivative": sent.local,
                "slope": None if sent.slope is None else form(sent.slope),
                "summed": None if sent.summed is None else list(sent.summed),
                "adds": sent.adds,
            }
            for sent in row.sent
        ],
    }


DOCUMENTS: dict[str, Callable[[Explained, Any, Form], dict[str, Any]]] = {
    "slices": slices_document,
    "tape": tape_document,
    "steps": steps_document,
    "one_hot": one_hot_document,
    "jvp": jvp_document,
    "hessian": hessian_document,
    "descent": descent_document,
}
