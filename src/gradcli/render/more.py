"""The last line of an answer: the options that show more of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcli.render.numbers import MOST_PRECISE, short

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout


class Option(NamedTuple):
    """Words of the command line, and for which answers they show more."""

    words: str
    helps: Callable[[Explained, Layout], bool]


def is_rounded(found: Explained, layout: Layout) -> bool:
    """Return whether a gradient has more digits than are shown."""
    if layout.precision >= MOST_PRECISE:
        return False
    return any(
        float(short(value, layout.precision)) != value
        for grad in found.grad.values()
        for value in np.ravel(grad)[:100].tolist()
        if np.isfinite(value)
    )


def has_several(found: Explained, _: Layout) -> bool:
    """Return whether y has several entries, and one call of backward was made."""
    return found.output.size > 1 and len(found.backward) == 1


def without(name: str) -> Callable[[Explained, Layout], bool]:
    """Return whether an answer does not show yet what is called so."""
    return lambda found, _: name not in found.views


OPTIONS = [
    Option("--precision 17", is_rounded),
    Option("--v V1 --v V2", has_several),
    Option("--steps", without("steps")),
    Option("--tape", without("tape")),
    Option("--json", lambda *_: True),
    Option("-o page.html", lambda *_: True),
]
"""Options of ``explain``, in the order in which they are offered."""


def more_line(found: Explained, layout: Layout) -> str:
    """Return what to add to the command to see more of this answer."""
    return "  ".join(["more:", *(option.words for option in OPTIONS if option.helps(found, layout))])
