"""Documents as text."""

from __future__ import annotations

from typing import Any


def dump(document: Any) -> str:
    """Return a document, or a part of it, as strict JSON on one line, in ASCII."""
    import json  # noqa: PLC0415

    return json.dumps(document, allow_nan=False)
