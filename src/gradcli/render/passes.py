"""J from its two sides: its rows by calls of backward, and J·u by a forward pass beside vᵀ·J."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.render.numbers import array_text, ends, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.views import Proof, Rows, Tangent
    from gradcli.ops.signatures import Array
    from gradcli.render.glyphs import Layout

MOST_CALLS = 16
"""Calls of backward that are shown; of more the first and the last."""
MOST_VALUES = 16
"""Values that are shown on both passes; of more the first and the last."""
MOST_ENTRIES = 8
"""Entries of an array that are shown."""
FAULTS = {
    "differ": "another route gives another number: see the notes",
    "digits-lost": "rounding has cost too many digits: see the notes",
    "unclear": "what is right here was not found: see the notes",
}


def shown(array: Array, layout: Layout) -> str:
    """Return an array on one line."""
    text = array_text(array, layout.precision, layout.most(MOST_ENTRIES))
    return text if layout.glyphs.unicode else text.replace("…", "...")


def proof_text(proof: Proof, layout: Layout) -> str:
    """Return how far numbers are right, in a few words."""
    glyphs = layout.glyphs
    if proof.verdict != "agree":
        return f"{glyphs.cross} {FAULTS[proof.verdict]}"
    if not proof.finite:
        return "not finite at this point"
    if proof.digits is None:
        return f"{glyphs.check} both routes agree"
    if any(remark.kind in ("kink", "jump") for remark in proof.remarks):
        return f"{glyphs.check} both routes agree, by convention: see the notes"
    return f"{glyphs.check} {counted(min(int(proof.digits), 15), 'right digit')}, in arithmetic with digits to spare"


def padded(columns: Sequence[Sequence[str]], gap: str = "   ") -> list[str]:
    """Return columns of texts side by side, each as wide as its widest."""
    wide = [[text.ljust(max(map(len, column), default=0)) for text in column] for column in columns]
    return [gap.join(row).rstrip() for row in zip(*wide, strict=True)]


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
