"""The line of a text that an error points into, with a caret under the place."""

from __future__ import annotations

from gradcli.errors.inert import inert

WIDEST = 100
"""Columns of the echoed line; a longer one is cut to a window round the place."""
LEAST = 10
"""Columns of it on the narrowest screen."""


LONGEST = 400
"""Characters of a message or a hint; a longer one, which quotes its user at length, loses its middle."""


def shortened(text: str) -> str:
    """Return a message that a screen can hold."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST * 3 // 4]} ... {text[-LONGEST // 4 :]}"


def located(text: str, span: tuple[int, int]) -> tuple[int, str, int, int]:
    """Return the number and text of the line where a span starts, and the columns that it covers there."""
    start, end = span
    before = text[:start]
    number = before.count("\n")
    line = text.split("\n")[number]
    column = start - (before.rfind("\n") + 1)
    return number + 1, line, column, min(max(end - start, 1), max(len(line) - column, 1))


def window(line: str, column: int, length: int, widest: int) -> tuple[str, int, int]:
    """Return the part of a long line round a place, of so many columns and three dots at its ends, and the place."""
    first = max(0, column - widest // 2) if len(line) > widest else 0
    cut = line[first : first + widest]
    lead, tail = "..." if first else "", "..." if first + widest < len(line) else ""
    return lead + cut + tail, column - first + len(lead), min(length, widest - (column - first))


def escaped(line: str, column: int, length: int, encoding: str) -> tuple[str, int, int]:
    """Return a line with what cannot be printed escaped, and the place moved along."""
    head, middle, tail = (
        inert(part, "", encoding) for part in (line[:column], line[column : column + length], line[column + length :])
    )
    return head + middle + tail, len(head), max(len(middle), 1)


def excerpt(text: str, span: tuple[int, int], label: str, encoding: str, width: int | None) -> list[str]:
    """Return a margin, the line where a span starts, and carets under it; ``label`` stands in the margin.

    The label of a program is the number of the line. ``width`` are the columns of the screen, None for no screen.
    """
    number, line, column, length = located(text, span)
    label = label or str(number)
    widest = WIDEST if width is None else min(WIDEST, max(width - len(label) - len(" | ......"), LEAST))
    shown, column, length = escaped(*window(line, column, length, widest), encoding)
    gutter = " " * len(label)
    return [f"{gutter} |", f"{label} | {shown}", f"{gutter} | {' ' * column}{'^' * length}"]
