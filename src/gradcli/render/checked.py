"""What ``check`` says: one line, or the JSON document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradcli.errors.counting import counted, listed
from gradcli.exact.thresholds import ALL
from gradcli.explanation.checked import DIGITS, EXPECTED
from gradcli.render.document import events_document
from gradcli.render.documents import head, inputs_document, notes_document
from gradcli.render.numbers import input_text, nested, strict

if TYPE_CHECKING:
    from gradcli.explanation.checked import Checked, Comparison, Entry


def check_line(found: Checked) -> str:
    """Return the one line: which routes are right and to how many digits, or what is wrong, and where."""
    if found.verdict == "differ":
        return differs_line(found)
    if not found.value_finite:
        return f"not finite: y is not finite{where_text(found)}"
    if not found.finite:
        return f"not finite: J has an entry that is not finite, by symbols and by reverse mode alike{where_text(found)}"
    if found.verdict == "unclear":
        return f"unclear: {found.reason}{where_text(found)}"
    if not found.digits:
        return f"ok: J has no entries{where_text(found)}"
    own = [route for route in found.digits if route != EXPECTED]
    count = digits_text(min(found.digits[route] for route in own))
    expected = f", --expect {digits_text(found.digits[EXPECTED])}" if EXPECTED in found.digits else ""
    held = f"{listed(own, len(own))} have {count} right{expected}"
    return f"ok: {held}{where_text(found)}{asked_text(found)}{read_text(found)}"


def asked_text(found: Checked) -> str:
    """Return how many entries of J were asked for, where these are not all."""
    asked = found.asked
    if asked.how == "all":
        return ""
    told = [f"{asked.single:,} of {counted(asked.entries, 'entry')}"] if asked.single else []
    told += [counted(asked.directions, "random direction")] if asked.directions else []
    of = "" if asked.single else f" through all {counted(asked.entries, 'entry')}"
    return f"; {' and '.join(told)}{of} asked" if told else ""


def read_text(found: Checked) -> str:
    """Return how many formulas and lines of the backward pass were read back."""
    lines, read = found.backward_lines, found.backward_read
    told = [counted(found.formulas, "formula")] if found.formulas else []
    if lines:
        told.append(counted(lines, "backward line") if read == lines else f"{read:,} of {lines:,} backward lines")
    return f"; {' and '.join(told)} read back" if told else ""


def differs_line(found: Checked) -> str:
    """Return the line for a route that is wrong: the worst entry, both numbers, and what may have gone wrong."""
    worst = worst_entry(found)
    if worst is None:
        return f"differs: a formula of {found.misprints[0]}"
    first, second = worst.values
    point = f"; at {point_text(worst)}" if found.wanted else ""
    many = sum(c.wrong for c in found.comparisons if c.routes == worst.routes)
    more = f" ({counted(many - 1, 'more entry')} too)" if many > 1 else ""
    hint = f"; {found.hint}" if found.hint else ""
    if worst.routes[0] != EXPECTED and EXPECTED in found.digits:
        hint = f"; rounding has cost that, and --expect has {digits_text(found.digits[EXPECTED])} right"
    right = f": {worst.digits:.1f} digits are right" if worst.routes[1] == DIGITS and math.isfinite(first) else ""
    route = "truly" if worst.routes[1] == DIGITS else f"by {worst.routes[1]}"
    return f"differs: {worst.place} is {first!r} by {worst.routes[0]} and {second!r} {route}{right}{more}{hint}{point}"


def digits_text(count: float) -> str:
    """Return how many digits."""
    return "all digits" if count == ALL else f"{count:.1f} digits"


def point_text(entry: Entry) -> str:
    """Return the point of an entry as options."""
    return " ".join(f"--{name} {input_text(value)}" for name, value in entry.point.items())


def where_text(found: Checked) -> str:
    """Return at how many points."""
    if not found.wanted:
        return ""
    all_of = "" if found.samples == found.wanted else f" of {found.wanted:,}, for which the budget 'work' is enough"
    return f" at the point given and at {counted(found.samples, 'random point')}{all_of} (seed {found.seed})"


def worst_entry(found: Checked) -> Entry | None:
    """Return the wrong entry with the fewest right digits, what the user expects first; None where none is wrong."""
    wrong = [c for c in found.comparisons if c.wrong and c.worst is not None]
    entries = [(c.routes[0] != EXPECTED, c.worst.digits, c.worst) for c in wrong if c.worst is not None]
    return min(entries, key=lambda item: item[:2], default=(False, 0.0, None))[2]


def check_document(found: Checked) -> dict[str, Any]:
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
            "wanted": found.wanted,
            "reason": found.reason or None,
            "needed": found.needed or None,
            "formulas": found.formulas,
            "misprints": found.misprints,
            "backward_lines": found.backward_lines,
            "backward_read": found.backward_read,
            "seed": found.seed,
            "asked": {
                "how": found.asked.how,
                "entries": found.asked.entries,
                "single": found.asked.single,
                "directions": found.asked.directions,
            },
            "worst": None if worst is None else entry_document(worst),
            "comparisons": [comparison_document(c) for c in found.comparisons],
            "hint": found.hint or None,
        },
        **({} if found.timeline is None else events_document(found.timeline, nested)),
        "agreement": {
            "agree": found.agree,
            "finite": found.finite,
            "verdict": found.verdict,
            "digits": found.digits,
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
        "digits": strict(entry.digits),
        "point": {name: nested(value) for name, value in entry.point.items()},
    }
