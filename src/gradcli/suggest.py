"""What a misspelled word may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a question with the nearest known name, or None where none is near."""
    import difflib  # noqa: PLC0415

    candidates = sorted(set(known))
    lowered = {candidate.lower(): candidate for candidate in reversed(candidates)}
    if name.lower() in lowered and lowered[name.lower()] != name:
        return f"did you mean '{lowered[name.lower()]}'?"
    if len(name) < 3:
        return None
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=0.7)
    return f"did you mean '{near[0]}'?" if near else None
