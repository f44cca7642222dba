"""Whether reverse mode agrees with vᵀ·J, and how far the numbers of a view are right, in a few words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcli.errors.counting import counted

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained, Proof

FAULTS = {
    "differ": "reverse mode and vᵀ·J give different numbers: see the notes",
    "digits-lost": "rounding has cost too many digits: see the notes",
    "unclear": "gradcli could not decide whether this is right: see the notes",
}
MOST_DIGITS = 15


def verdict(answer: Explained, one_row: bool = False) -> tuple[str, str]:
    """Return what the two routes say of each other, and the tone of it; of ``one_row`` also that J is the gradient."""
    if not answer.agreement.agree:
        return f"✗ {FAULTS[answer.agreement.verdict]}", "bad"
    if not all(np.all(np.isfinite(grad)) for grad in answer.grad.values()):
        return "not finite at this point, on both routes", "doubtful"
    if not np.all(np.isfinite(answer.output)):
        return f"{answer.name} is not finite at this point: these numbers are no derivative of it", "doubtful"
    error = answer.agreement.max_abs_error
    if error and any(note.kind in ("custom-backward", "hook") for note in answer.notes):
        return "✓ reverse mode follows what the script makes of the gradient", "good"
    said = "vᵀ·J and reverse mode both give this" if one_row else "reverse mode gives the same numbers"
    return f"✓ {said}{how_far(answer, error)}{'; J has one row here' if one_row else ''}", "good"


def how_far(answer: Explained, error: float) -> str:
    """Return how far the routes agree: exactly, or to how many digits of the largest gradient."""
    if error == 0:
        return ""
    largest = max(float(np.max(np.abs(grad), initial=0)) for call in answer.backward for grad in call.vjp.values())
    digits = math.floor(-math.log10(error / largest)) if largest else 0
    return f", to {counted(min(digits, MOST_DIGITS), 'digit')}" if digits > 0 else ", up to rounding"


def proof_text(proof: Proof) -> str:
    """Return how far the numbers of a view are right."""
    if proof.verdict != "agree":
        return f"✗ {VIEW_FAULTS.get(proof.verdict, FAULTS[proof.verdict])}"
    if not proof.finite:
        return "not finite at this point"
    if proof.digits is None:
        return "✓ both routes agree"
    if any(remark.kind in ("kink", "jump") for remark in proof.remarks):
        return "✓ both routes agree, by convention: see the notes"
    right = counted(min(int(proof.digits), MOST_DIGITS), "right digit")
    return f"✓ {right}, compared with a computation in higher precision"


VIEW_FAULTS = {"differ": "another route gives another number: see the notes"}
