"""All of J by calls of backward with a one-hot v, and how few calls are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.render.documents import arrays_document
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.numbers import ends, input_text
from gradcli.render.proofs import padded, proof_document, proof_text, shown

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.views import Rows
    from gradcli.render.numbers import Form

AFTER: Anchor = "v"
TITLE = "Rows of J: .grad after backward with each one-hot v, set to zero before"
MOST_CALLS = 16
"""Calls of backward that are shown; of more the first and the last."""


def document(_: Explained, rows: Rows, form: Form) -> dict[str, Any]:
    """Return the calls with a one-hot v, and how few are enough."""
    written = {
        "calls": [{"index": list(call.index), "grad": arrays_document(call.grad, form)} for call in rows.calls],
        "passes": len(rows.calls),
        "colouring": rows.colouring,
        "agreement": proof_document(rows.proof),
    }
    return {"one_hot": written}


def sections(found: Explained, rows: Rows, layout: Layout) -> list[Section]:
    """Return what each call leaves."""
    return [Section(TITLE, rows_lines(found, rows, layout))]


def lines(found: Explained, rows: Rows) -> list[str]:
    """Return a line for each row and variable."""
    told = [
        f"row {found.name}{place_text(place, found.output.shape)}: {name}.grad = {input_text(grad)}"
        for place, call in enumerate(rows.calls)
        for name, grad in call.grad.items()
    ]
    enough = "" if rows.colouring is None else f", {rows.colouring} by colouring"
    return [*told, f"passes = {len(rows.calls)}{enough}"]


def rows_lines(found: Explained, rows: Rows, layout: Layout) -> list[str]:
    """Return what each call with a one-hot v leaves, and how many calls are needed."""
    places = ends(len(rows.calls), layout.most(MOST_CALLS))
    kept = [place for place in places if place is not None]
    shape = found.output.shape
    heads = [f"v one-hot at {found.name}{place_text(place, shape)}" for place in kept]
    grads = [
        [f"{name}.grad = {shown(rows.calls[place].grad[name], layout)}" for place in kept]
        for name in found.differentiated
    ]
    lines = padded([heads, *grads])
    if any(len(line) > layout.width - 3 for line in lines):
        lines = [f"{head}: {', '.join(own)}" for head, *own in zip(heads, *grads, strict=True)]
    if None in places:
        lines.insert(places.index(None), f"{layout.glyphs.dots} {counted(len(rows.calls) - len(kept), 'more call')}")
    return [*lines, passes_line(rows), *([] if rows.proof.verdict == "agree" else [proof_text(rows.proof, layout)])]


def passes_line(rows: Rows) -> str:
    """Return how many calls give all of J, and how few are enough."""
    count = len(rows.calls)
    said = f"All of J: {counted(count, 'call')} of backward, one for each row."
    if rows.colouring is None or rows.colouring >= count:
        return said
    enough = "is" if rows.colouring == 1 else "are"
    return f"{said} Rows that share no column go together in one v: {counted(rows.colouring, 'call')} {enough} enough."
