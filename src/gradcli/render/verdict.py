"""What ``check`` says: one line, or the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.render.head import head, inputs_document, notes_document
from gradcli.render.numbers import exact, nested, strict

if TYPE_CHECKING:
    from gradcli.checking.confirm import Check
    from gradcli.checking.verdict import Comparison, Entry


def verdict(found: Check) -> str:
    """Return the one line: whether the routes agree, the worst entry, and where they had nothing to say."""
    worst = worst_entry(found)
    if worst is not None and not found.agree:
        return differs(found, worst)
    if not found.value_finite:
        return f"not finite: y is not finite{where(found)}"
    if not found.finite:
        return f"not finite: J has an entry that is not finite, by symbols and by reverse mode alike{where(found)}"
    unclear = sum(c.unclear for c in found.comparisons if c.routes[0] == "symbols")
    rest = f"; {unclear} at a kink, an edge or in noise, where numbers alone say nothing" if unclear else ""
    if worst is None:
        return f"ok: J has no entries{where(found)}"
    if not worst.units:
        return f"ok: {listed(found.routes)} agree exactly{where(found)}{rest}"
    how = f"worst {worst.units:.2g} of the tolerance, at {worst.place}"
    return f"ok: {listed(found.routes)} agree{where(found)}; {how}{rest}"


def differs(found: Check, worst: Entry) -> str:
    """Return the line for routes that differ: the worst entry, both numbers, and what may have gone wrong."""
    first, second = worst.values
    point = "" if not found.samples else f"; at {typed(worst)}"
    many = sum(c.wrong for c in found.comparisons if c.routes == worst.routes)
    more = f" and {many - 1} more" if many > 1 else ""
    hint = f"; {found.hint}" if found.hint else ""
    size = f": error {worst.error:.3g}, tolerance {worst.tolerance:.2g}" if worst.error == worst.error else ""
    return (
        f"differs: {worst.place} is {first!r} by {worst.routes[0]} and {second!r} by {worst.routes[1]}"
        f"{size}{more}{hint}{point}"
    )


def typed(entry: Entry) -> str:
    """Return the point of an entry as options."""
    return " ".join(f"--{name} {exact(value)}" for name, value in entry.point.items())


def where(found: Check) -> str:
    """Return at how many points."""
    if not found.samples:
        return ""
    return f" at the point given and at {found.samples} random points (seed {found.seed})"


def listed(words: list[str]) -> str:
    """Return words with commas and an ``and``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def worst_entry(found: Check) -> Entry | None:
    """Return the entry that is closest to its tolerance, or furthest beyond."""
    entries = [c.worst for c in found.comparisons if c.worst is not None]
    return max(entries, key=lambda entry: entry.units, default=None)


def document(found: Check) -> dict[str, Any]:
    """Return the JSON document of a check."""
    worst = worst_entry(found)
    return {
        **head(found.program),
        "inputs": inputs_document(found.inputs, found.differentiated),
        "check": {
            "agree": found.agree,
            "finite": found.finite,
            "routes": found.routes,
            "samples": found.samples,
            "seed": found.seed,
            "worst": None if worst is None else entry_document(worst),
            "comparisons": [comparison_document(c) for c in found.comparisons],
            "hint": found.hint or None,
        },
        "notes": notes_document(found.notes),
        "error": None,
    }


def comparison_document(found: Comparison) -> dict[str, Any]:
    """Return one comparison of two routes."""
    return {
        "routes": list(found.routes),
        "compared": found.compared,
        "unclear": found.unclear,
        "wrong": found.wrong,
        "worst": None if found.worst is None else entry_document(found.worst),
    }


def entry_document(entry: Entry) -> dict[str, Any]:
    """Return one entry by two routes."""
    return {
        "variable": entry.variable,
        "place": entry.place,
        "values": [strict(value) for value in entry.values],
        "error": strict(entry.error),
        "tolerance": strict(entry.tolerance),
        "units": strict(entry.units),
        "point": {name: nested(value) for name, value in entry.point.items()},
    }
