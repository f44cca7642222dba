"""Whether reverse mode agrees with vᵀ·J, in a few words, and the colours of rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcli.errors.counting import counted

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Glyphs

COLOURS = ("magenta", "cyan", "blue", "yellow")
"""Standard colours that can be read on dark and on light; green and red are kept for verdicts."""
FAULTS = {
    "differ": "reverse mode differs from {}: see the notes",
    "digits-lost": "rounding has cost too many digits: see the notes",
    "unclear": "what is right here was not found: see the notes",
}
MOST_DIGITS = 15


def row_style(row: int, rows: int) -> str:
    """Return the colour that a row of J has in its table and in the sums: none where it is the only one."""
    return COLOURS[row % len(COLOURS)] if rows > 1 else ""


def verdict(found: Explained, glyphs: Glyphs) -> tuple[str, str]:
    """Return what the two routes say of each other, and its style."""
    if not found.agreement.agree:
        return f"{glyphs.cross} {FAULTS[found.agreement.verdict].format(glyphs.product)}", "bold red"
    if not all(np.all(np.isfinite(grad)) for grad in found.grad.values()):
        return "not finite at this point, on both routes", "bold yellow"
    if not np.all(np.isfinite(found.output)):
        return f"{found.name} is not finite at this point: these numbers are no derivative of it", "bold yellow"
    return f"{glyphs.check} reverse mode{how_far(found)}", "bold green"


def how_far(found: Explained) -> str:
    """Return how far the routes agree: exactly, or to how many digits of the largest gradient."""
    error = found.agreement.max_abs_error
    if error and any(note.kind in ("custom-backward", "hook") for note in found.notes):
        return " follows what the script makes of the gradient"
    if error == 0:
        return ", exactly"
    largest = max(float(np.max(np.abs(grad), initial=0)) for call in found.backward for grad in call.vjp.values())
    digits = math.floor(-math.log10(error / largest)) if largest else 0
    return f" agrees, {counted(min(digits, MOST_DIGITS), 'digit')}" if digits > 0 else " agrees up to rounding"
