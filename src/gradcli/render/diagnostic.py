"""Errors as text: what is wrong, the line with a caret under the place, and the way out."""

from __future__ import annotations

from typing import Any

from gradcli.errors import GradcliError, Span
from gradcli.errors.facts import MissingV, Unreadable
from gradcli.render.inert import inert

WIDEST = 100
"""Columns of the echoed line; a longer one is cut to a window round the place."""


LONGEST = 400
"""Characters of a message or a hint; a longer one, which quotes its user at length, loses its middle."""


def shortened(text: str) -> str:
    """Return a message that a screen can hold."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST * 3 // 4]} ... {text[-LONGEST // 4 :]}"


def located(text: str, span: Span) -> tuple[int, str, int, int]:
    """Return the number and text of the line where a span starts, and the columns that it covers there."""
    start, end = span
    before = text[:start]
    number = before.count("\n")
    line = text.split("\n")[number]
    column = start - (before.rfind("\n") + 1)
    return number + 1, line, column, min(max(end - start, 1), max(len(line) - column, 1))


def window(line: str, column: int, length: int) -> tuple[str, int, int]:
    """Return the part of a long line round a place, and the place in it."""
    first = max(0, column - WIDEST // 2) if len(line) > WIDEST else 0
    cut = line[first : first + WIDEST]
    lead, tail = "..." if first else "", "..." if first + WIDEST < len(line) else ""
    return lead + cut + tail, column - first + len(lead), min(length, WIDEST - (column - first))


def escaped(line: str, column: int, length: int, encoding: str) -> tuple[str, int, int]:
    """Return a line with what cannot be printed escaped, and the place moved along."""
    head, middle, tail = (
        inert(part, "", encoding) for part in (line[:column], line[column : column + length], line[column + length :])
    )
    return head + middle + tail, len(head), max(len(middle), 1)


def diagnostic(error: GradcliError, encoding: str = "ascii") -> str:
    """Return an error in the form of the contract, without a final newline, in characters of an encoding."""
    lines = [f"error: {inert(shortened(error.message), '', encoding)}"]
    if error.span is not None and error.place is not None and error.place.text:
        number, line, column, length = located(error.place.text, error.span)
        shown, column, length = escaped(*window(line, column, length), encoding)
        name = error.place.name
        label = str(number) if name == "program" else name
        gutter = " " * len(label)
        lines += [f"{gutter} |", f"{label} | {shown}", f"{gutter} | {' ' * column}{'^' * length}"]
    if error.hint:
        choices = error.hint.split("\n") if isinstance(error.facts, MissingV | Unreadable) else [error.hint]
        leads = ["help: ", *[" " * 6] * (len(choices) - 1)]
        lines += [lead + inert(shortened(choice), "", encoding) for lead, choice in zip(leads, choices, strict=True)]
    return "\n".join(lines)


def hint_text(error: GradcliError) -> str | None:
    """Return a hint for a document: short, but with every line that it lists."""
    if error.hint is None or isinstance(error.facts, Unreadable):
        return error.hint
    return shortened(error.hint)


def error_document(error: GradcliError) -> dict[str, Any]:
    """Return an error as the JSON document of the contract."""
    from gradcli import __version__  # noqa: PLC0415

    place = error.place
    return {
        "schema": 1,
        "version": __version__,
        "error": {
            "kind": error.kind,
            "message": shortened(error.message),
            "span": list(error.span) if error.span else None,
            "source": place.name if place else None,
            "hint": hint_text(error),
        },
    }
