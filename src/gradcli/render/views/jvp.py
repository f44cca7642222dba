"""J·u, the forward pass, beside vᵀ·J, the backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors.counting import counted
from gradcli.render.documents import arrays_document
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.numbers import ends, full, input_text, short, strict
from gradcli.render.proofs import padded, proof_document, proof_lines, proof_text, shown
from gradcli.render.wrap import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.views import Tangent
    from gradcli.render.numbers import Form

AFTER: Anchor = "v"
TITLE = "J·u, the forward pass, beside vᵀ·J, the backward pass"
MOST_VALUES = 16
"""Values that are shown on both passes; of more the first and the last."""


def document(_: Explained, tangent: Tangent, form: Form) -> dict[str, Any]:
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


def sections(found: Explained, tangent: Tangent, layout: Layout) -> list[Section]:
    """Return both passes, J·u, and which of them is cheaper for all of J."""
    return [Section(plain_text(TITLE, layout.glyphs), tangent_lines(found, tangent, layout))]


def lines(found: Explained, tangent: Tangent) -> list[str]:
    """Return u, J·u, and what both passes carry."""
    told = [f"u {name} = {input_text(u)}" for name, u in tangent.u.items()]
    told += [f"{value.name} moves by {input_text(value.tangent)}" for value in tangent.passes]
    return [
        *told, f"J.u = {input_text(tangent.jvp)}", f"v.J.u = {full(tangent.number)}",
        f"passes = {tangent.forward} forward, {tangent.backward} backward",
        *proof_lines(f"J.u of {found.name}", tangent.proof),
    ]  # fmt: skip


def tangent_lines(found: Explained, tangent: Tangent, layout: Layout) -> list[str]:
    """Return the forward pass beside the backward pass, J·u, and which of them is cheaper for all of J."""
    lines = moved_lines(tangent, layout)
    times, product = layout.glyphs.times, layout.glyphs.product
    lines.append(f"J{times}u = {shown(tangent.jvp, layout)}   {proof_text(tangent.proof, layout)}")
    if np.isfinite(tangent.number):
        number = short(tangent.number, layout.precision)
        lines.append(f"v{times}(J{times}u) = ({product}){times}u = {number}: both passes give this one number.")
    return [*lines, cheaper_line(found, tangent)]


def moved_lines(tangent: Tangent, layout: Layout) -> list[str]:
    """Return each value with how fast it moves with u, and how fast v·y moves with it."""
    places = ends(len(tangent.passes), layout.most(MOST_VALUES))
    kept = [tangent.passes[place] for place in places if place is not None]
    names = ["", *(value.name for value in kept)]
    forward = ["forward, along u", *(shown(value.tangent, layout) for value in kept)]
    none = layout.glyphs.zero
    backward = [
        "backward, from v",
        *(none if value.cotangent is None else shown(np.asarray(value.cotangent), layout) for value in kept),
    ]
    lines = padded([names, forward, backward])
    if any(len(line) > layout.width - 3 for line in lines):
        triples = zip(names[1:], forward[1:], backward[1:], strict=True)
        lines = [f"{name}: forward {along}, backward {back}" for name, along, back in triples]
        places = [*places]
    else:
        places = [-1, *places]
    if None in places:
        lines.insert(
            places.index(None), f"{layout.glyphs.dots} {counted(len(tangent.passes) - len(kept), 'more value')}"
        )
    return lines


def cheaper_line(found: Explained, tangent: Tangent) -> str:
    """Return how many passes all of J takes each way."""
    forward, backward = tangent.forward, tangent.backward
    least = (
        "forward is cheaper"
        if forward < backward
        else "backward is cheaper"
        if backward < forward
        else "both cost the same"
    )
    inputs = listed([*found.differentiated])
    return (
        f"All of J takes {counted(forward, 'forward pass')}, one for each entry of {inputs}, or "
        f"{counted(backward, 'backward pass')}, one for each entry of {found.name}: {least} here."
    )


def listed(names: Sequence[str]) -> str:
    """Return names in a sentence, no more than three of them."""
    if len(names) > 3:
        return "all variables"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
