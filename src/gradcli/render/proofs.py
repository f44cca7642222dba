"""How far the numbers of a view are right, and how its arrays are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.errors.counting import counted
from gradcli.render.numbers import array_text, full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explanation.explained import Proof
    from gradcli.ops.signatures import Array
    from gradcli.render.glyphs import Layout

MOST_ENTRIES = 8
"""Entries of an array that are shown."""
FAULTS = {
    "differ": "another route gives another number: see the notes",
    "digits-lost": "rounding has cost too many digits: see the notes",
    "unclear": "gradcli could not decide whether this is right: see the notes",
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
    right = counted(min(int(proof.digits), 15), "right digit")
    return f"{glyphs.check} {right}, compared with a computation in higher precision"


def padded(columns: Sequence[Sequence[str]], gap: str = "   ") -> list[str]:
    """Return columns of texts side by side, each as wide as its widest."""
    wide = [[text.ljust(max(map(len, column), default=0)) for text in column] for column in columns]
    return [gap.join(row).rstrip() for row in zip(*wide, strict=True)]


def proof_document(proof: Proof) -> dict[str, Any]:
    """Return how far numbers are right."""
    return {
        "agree": proof.verdict == "agree", "verdict": proof.verdict, "finite": proof.finite, "digits": proof.digits,
    }  # fmt: skip


def proof_lines(what: str, proof: Proof) -> list[str]:
    """Return how many digits are right, where that was asked."""
    return [] if proof.digits is None else [f"right digits of {what} = {full(proof.digits)}"]
