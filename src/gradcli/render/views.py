"""What an answer was asked for beyond itself, in every voice but tables: keys of the document, and plain lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcli.engine.naming import place_text
from gradcli.explanation.jacobians import Jacobian
from gradcli.render.hessians import scalar_name, true_hessian
from gradcli.render.numbers import Form, full, input_text, strict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.views import Descent, Hessian, Proof, Rows, Tangent, Views
    from gradcli.ops.signatures import Array

MOST_LINES = 1000
"""Entries of a block of H that are written; the number of those left out follows."""


Matrix = Callable[[Jacobian, dict[str, str], Form], dict[str, Any]]
"""What writes a matrix of derivatives with its definitions."""


def views_document(found: Explained, views: Views, form: Form, matrix: Matrix) -> dict[str, Any]:
    """Return a key for each view that was asked for; ``matrix`` writes the blocks of H."""
    document: dict[str, Any] = {}
    if views.rows is not None:
        document["one_hot"] = rows_document(views.rows, form)
    if views.tangent is not None:
        document["jvp"] = tangent_document(views.tangent, form)
    if views.hessian is not None:
        document["hessian"] = hessian_document(found, true_hessian(found, views.hessian), form, matrix)
    if views.descent is not None:
        document["descent"] = descent_document(views.descent, form)
    return document


def arrays(values: Mapping[str, Array], form: Form) -> dict[str, Any]:
    """Return arrays by the name of their variable."""
    return {name: form(value) for name, value in values.items()}


def proof_document(proof: Proof) -> dict[str, Any]:
    """Return how far numbers are right."""
    return {
        "agree": proof.verdict == "agree", "verdict": proof.verdict, "finite": proof.finite, "digits": proof.digits,
    }  # fmt: skip


def rows_document(rows: Rows, form: Form) -> dict[str, Any]:
    """Return the calls with a one-hot v, and how few are enough."""
    return {
        "calls": [{"index": list(call.index), "grad": arrays(call.grad, form)} for call in rows.calls],
        "passes": len(rows.calls),
        "colouring": rows.colouring,
        "agreement": proof_document(rows.proof),
    }


def tangent_document(tangent: Tangent, form: Form) -> dict[str, Any]:
    """Return J·u with both passes."""
    return {
        "u": arrays(tangent.u, form),
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


def hessian_document(found: Explained, hessian: Hessian, form: Form, matrix: Matrix) -> dict[str, Any]:
    """Return the blocks of H by the names of two variables, and H·u."""
    names = list(hessian.whole)
    blocks = hessian.blocks
    return {
        "of": scalar_name(found),
        "gradient": hessian.gradient,
        "definitions": hessian.definitions,
        "blocks": {
            one: {other: matrix(blocks[one, other], hessian.definitions, form) for other in names} for one in names
        },
        "symmetric": hessian.symmetric,
        "u": None if hessian.u is None else arrays(hessian.u, form),
        "product": None if hessian.product is None else arrays(hessian.product, form),
        "agreement": proof_document(hessian.proof),
    }


def descent_document(descent: Descent, form: Form) -> dict[str, Any]:
    """Return the steps of gradient descent, and where it ended."""
    return {
        "lr": descent.lr,
        "iterations": descent.asked,
        "steps": [
            {
                "inputs": arrays(step.inputs, form),
                "value": strict(step.value),
                "grad": arrays(step.grad, form),
                "predicted": strict(step.predicted),
                "actual": strict(step.actual),
            }
            for step in descent.steps
        ],
        "inputs": arrays(descent.inputs, form),
        "value": strict(descent.value),
        "ending": descent.ending or None,
    }


def views_lines(found: Explained, views: Views) -> list[str]:
    """Return each view as lines of ``name = value``, with all digits."""
    lines: list[str] = []
    if views.rows is not None:
        lines += rows_plain(found, views.rows)
    if views.tangent is not None:
        lines += tangent_plain(found, views.tangent)
    if views.hessian is not None:
        lines += hessian_plain(found, true_hessian(found, views.hessian))
    if views.descent is not None:
        lines += descent_plain(found, views.descent)
    return lines


def rows_plain(found: Explained, rows: Rows) -> list[str]:
    """Return a line for each row and variable."""
    lines = [
        f"row {found.name}{place_text(place, found.output.shape)}: {name}.grad = {input_text(grad)}"
        for place, call in enumerate(rows.calls)
        for name, grad in call.grad.items()
    ]
    enough = "" if rows.colouring is None else f", {rows.colouring} by colouring"
    return [*lines, f"passes = {len(rows.calls)}{enough}"]


def tangent_plain(found: Explained, tangent: Tangent) -> list[str]:
    """Return u, J·u, and what both passes carry."""
    lines = [f"u {name} = {input_text(u)}" for name, u in tangent.u.items()]
    lines += [f"{value.name} moves by {input_text(value.tangent)}" for value in tangent.passes]
    return [
        *lines, f"J.u = {input_text(tangent.jvp)}", f"v.J.u = {full(tangent.number)}",
        f"passes = {tangent.forward} forward, {tangent.backward} backward",
        *proof_plain(f"J.u of {found.name}", tangent.proof),
    ]  # fmt: skip


def proof_plain(what: str, proof: Proof) -> list[str]:
    """Return how many digits are right, where that was asked."""
    return [] if proof.digits is None else [f"right digits of {what} = {full(proof.digits)}"]


def hessian_plain(found: Explained, hessian: Hessian) -> list[str]:
    """Return the gradient's formulas, the entries of H, and H·u."""
    name = scalar_name(found)
    told = {value.name for value in found.values} | found.definitions.keys()
    lines = [f"{one} := {text}" for one, text in hessian.definitions.items() if one not in told]
    for (one, other), block in hessian.blocks.items():
        rows, columns = block.matrix_shape
        entries = f"{len(block.rows):,} entries" if block.held else "entries not held"
        lines.append(f"d2{name}/d{one}d{other}: {rows:,} by {columns:,}, {block.structure}, {entries}")
        for k in range(min(len(block.rows), MOST_LINES)):
            i, j = int(block.rows[k]), int(block.columns[k])
            value = full(block.values[k])
            formula = f"{block.formulas[k]} = " if block.formulas and block.formulas[k] != value else ""
            at = f"d{one}{place_text(i, block.output_shape)}d{other}{place_text(j, block.input_shape)}"
            lines.append(f"d2{name}/{at} = {formula}{value}")
        if len(block.rows) > MOST_LINES:
            lines.append(f"... and {len(block.rows) - MOST_LINES:,} entries more")
    lines += [f"H.u {one} = {input_text(part)}" for one, part in (hessian.product or {}).items()]
    return [*lines, *proof_plain("H", hessian.proof)]


def descent_plain(found: Explained, descent: Descent) -> list[str]:
    """Return the value, the inputs and both changes of each step."""
    name = scalar_name(found)
    lines = []
    for number, step in enumerate(descent.steps):
        at = " ".join(f"{one}={input_text(value)}" for one, value in step.inputs.items())
        changes = f"predicted {full(step.predicted)} actual {full(step.actual)}"
        lines.append(f"step {number}: {at} {name}={full(step.value)} {changes}")
    at = " ".join(f"{one}={input_text(value)}" for one, value in descent.inputs.items())
    lines.append(f"step {len(descent.steps)}: {at} {name}={full(descent.value)}")
    return [*lines, *([f"ended: {descent.ending}"] if descent.ending else [])]
