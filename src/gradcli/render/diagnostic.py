"""Errors as documents."""

from __future__ import annotations

from typing import Any

from gradcli.errors import GradcliError
from gradcli.errors.excerpt import shortened


def error_document(error: GradcliError) -> dict[str, Any]:
    """Return an error as the JSON document of the contract."""
    from gradcli import __version__

    place = error.place
    return {
        "schema": 1,
        "version": __version__,
        "error": {
            "kind": error.kind,
            "message": shortened(error.message),
            "span": list(error.span) if error.span else None,
            "source": place.name if place else None,
            "hint": None if error.hint is None else shortened(error.hint),
        },
        **events_document(error),
    }


def events_document(error: GradcliError) -> dict[str, Any]:
    """Return what a script did before it came to an error; nothing where no script was run."""
    if error.ended is None:
        return {}
    from gradcli.explanation.timeline import timeline
    from gradcli.render.timeline import script_document

    told = timeline(error.ended)
    return script_document(told) | {"explained": told.last_error}
