"""What JSON documents have in common: how each begins, its inputs, its notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli import __version__
from gradcli.render.numbers import Form, nested

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from gradcli.explanation.explained import Note
    from gradcli.ops.declare import Array


def head(program: str) -> dict[str, Any]:
    """Return what the document of every answer about a program begins with."""
    return {"schema": 1, "version": __version__, "program": program}


def inputs_document(
    inputs: Mapping[str, Array], differentiated: Collection[str], form: Form = nested
) -> dict[str, Any]:
    """Return the variables with their values, and which of them are differentiated."""
    return {
        name: {"shape": list(value.shape), "value": form(value), "differentiated": name in differentiated}
        for name, value in inputs.items()
    }


def notes_document(notes: Sequence[Note]) -> list[dict[str, str]]:
    """Return the notes."""
    return [{"kind": note.kind, "message": note.message} for note in notes]
