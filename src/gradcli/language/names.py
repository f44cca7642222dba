"""Names: what a dotted name stands for, and what a misspelled one may have meant."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradcli.ops import FUNCTIONS, SPELLINGS
from gradcli.ops.making import CONSTANTS

MODULES = {"torch", "np", "numpy", "jnp", "math", "F", "nn", "linalg", "special"}


def dotted(node: ast.expr) -> str | None:
    """Return ``a.b.c`` for an attribute chain on a name, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


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


def near_function(name: str) -> str | None:
    """Return a question with the nearest function of the vocabulary."""
    last = name.rpartition(".")[2]
    if last != name and last in FUNCTIONS:
        return f"did you mean '{last}'?"
    return did_you_mean(name, [*SPELLINGS, *CONSTANTS])


__all__ = ["CONSTANTS", "MODULES", "did_you_mean", "dotted", "near_function"]
