"""What an answer was asked for beside the rest: each view is a module here and a row of ``VIEWS``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gradcli.render.views import descent, hessian, jvp, one_hot, slices, steps, tape

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Anchor, Layout, Section
    from gradcli.render.numbers import Form


class Writer(Protocol):
    """A module that writes one kind of view: as keys of the document, as titled blocks, as plain lines.

    ``AFTER`` is the part of the answer that blocks and lines follow.
    """

    AFTER: Anchor

    def document(self, found: Explained, content: Any, form: Form, /) -> dict[str, Any]:
        """Return the keys that the JSON document has for it."""

    def sections(self, found: Explained, content: Any, layout: Layout, /) -> Sequence[Section]:
        """Return titled blocks for tables, Markdown, HTML and LaTeX."""

    def lines(self, found: Explained, content: Any, /) -> list[str]:
        """Return lines of ``name = value`` with all digits."""


VIEWS: dict[str, Writer] = {
    "slices": slices,
    "tape": tape,
    "steps": steps,
    "one_hot": one_hot,
    "jvp": jvp,
    "hessian": hessian,
    "descent": descent,
}


def document_of(found: Explained, form: Form) -> dict[str, Any]:
    """Return the keys of all views of an answer."""
    keys: dict[str, Any] = {}
    for name, view in found.views.items():
        keys |= VIEWS[name].document(found, view.content, form)
    return keys


def sections_after(anchor: Anchor, found: Explained, layout: Layout) -> Iterator[Section]:
    """Yield the titled blocks of the views that follow a part of the answer."""
    for writer, content in after(anchor, found):
        yield from writer.sections(found, content, layout)


def lines_after(anchor: Anchor, found: Explained) -> Iterator[str]:
    """Yield the plain lines of the views that follow a part of the answer."""
    for writer, content in after(anchor, found):
        yield from writer.lines(found, content)


def after(anchor: Anchor, found: Explained) -> Iterator[tuple[Writer, Any]]:
    """Yield the views that follow a part of the answer, with what writes each."""
    for name, view in found.views.items():
        if anchor == VIEWS[name].AFTER:
            yield VIEWS[name], view.content
