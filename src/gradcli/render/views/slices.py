"""Rows and columns of J that were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.render.documents import arrays_document
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.numbers import array_text, input_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.views import Slice
    from gradcli.render.numbers import Form

AFTER: Anchor = "J"
TITLE = "Rows and columns of J"


def document(_: Explained, slices: Sequence[Slice], form: Form) -> dict[str, Any]:
    """Return rows and columns under keys of their own."""
    written = [
        (part.kind, {"index": list(part.index), "values": arrays_document(part.values, form)}) for part in slices
    ]
    return {f"{kind}s": [part for own, part in written if own == kind] for kind in ("row", "column")}


def sections(found: Explained, slices: Sequence[Slice], layout: Layout) -> list[Section]:
    """Return a line for each by each variable."""
    precision, most = layout.precision, layout.most(12)
    told = [
        f"{part.title(found.name, name, layout.glyphs.partial)} = {array_text(value, precision, most)}"
        for part in slices
        for name, value in part.values.items()
    ]
    return [Section(TITLE, told)]


def lines(found: Explained, slices: Sequence[Slice]) -> list[str]:
    """Return them with all digits."""
    return [
        f"{part.title(found.name, name)} = {input_text(value)}"
        for part in slices
        for name, value in part.values.items()
    ]
