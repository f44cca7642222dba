"""What a script did: in columns for a terminal, and as plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gradcli.document.model import Settings
from gradcli.document.texts import MOST_PRECISE, array_text, input_text
from gradcli.explanation.timeline import RETURNS
from gradcli.records import replace
from gradcli.render.layout import Layout, letters_on, without_fillers, wrapped

if TYPE_CHECKING:
    from gradcli.explanation.timeline import Left, Row, Timeline
    from gradcli.ops.declare import Array

GAP = 3
"""Columns between two columns of a row."""
LEAST_LEFT = 24
"""Columns that what a line left needs beside the line; with fewer it stands below."""
NARROW = 60
"""Columns of a screen below which arrays are cut sooner."""

MOST_ENTRIES, FIRST = 100, 6
"""Entries of an array up to which all are written with all digits, and how many of one that has more."""


def event_lines(timeline: Timeline, settings: Settings, layout: Layout) -> Iterator[str]:
    """Yield the rows of a timeline; of a short script what it printed."""
    if timeline.rows:
        lines = row_lines([row_in_letters(row, layout) for row in timeline.rows], settings, layout)
        yield from (without_fillers(line.rstrip()) for line in lines)
    for line in () if timeline.rows else timeline.prints:
        yield from map(without_fillers, wrapped(letters_on(f" prints: {line}", layout).rstrip(), layout.width, 5))


def row_in_letters(row: Row, layout: Layout) -> Row:
    """Return a row in the characters that can be shown."""
    left = tuple(replace(one, text=letters_on(one.text, layout)) for one in row.left)
    return replace(row, what=letters_on(row.what, layout), turn=letters_on(row.turn, layout), left=left)


def row_lines(rows: Sequence[Row], settings: Settings, layout: Layout) -> Iterator[str]:
    """Yield the rows in columns: line, what it is with its turn, what it left, which stands below on narrow screens."""
    number = max(len(str(row.line)) for row in rows)
    indent = 3 + len("line ") + number + 2
    turned = [row for row in rows if row.turn]
    cap = max((layout.width - indent) * 45 // 100, 12)
    name = min(max((len(row.what) for row in turned), default=0), cap)
    wide = name + GAP + max((len(row.turn) for row in turned), default=-GAP)
    wide = max(wide, min(max(len(row.what) for row in rows if not row.skipped), cap))
    room = layout.width - indent - wide - GAP
    for row in rows:
        place = f"   line {row.line:>{number}}  " if row.line else " " * indent
        if row.skipped:
            yield f"{place}{settings.dots} {row.what}"
        elif room < LEAST_LEFT:
            yield from below(row, place, indent, settings, layout)
        else:
            start = (
                f"{cut(row.what, name, settings):<{name + GAP}}{row.turn}"
                if row.turn
                else cut(row.what, wide, settings)
            )
            lead = place + start.ljust(wide + GAP)
            for k, line in enumerate(left_lines(row, room, settings, layout) or [""]):
                yield (lead if k == 0 else " " * len(lead)) + line


def below(row: Row, place: str, indent: int, settings: Settings, layout: Layout) -> Iterator[str]:
    """Yield a row whose parts stand below each other."""
    first = [part for part in (cut(row.what, layout.width - indent, settings), row.turn) if part]
    together = "   ".join(first)
    lines = [together] if indent + len(together) <= layout.width else first
    lines += left_lines(row, layout.width - indent - 2, settings, layout, "  ")
    for k, line in enumerate(lines):
        yield (place if k == 0 else " " * indent) + line


def cut(text: str, width: int, settings: Settings) -> str:
    """Return a text in so many columns, its end left out where it is longer."""
    return text if len(text) <= width else text[: max(width - len(settings.dots), 1)].rstrip() + settings.dots


def left_lines(row: Row, room: int, settings: Settings, layout: Layout, lead: str = "") -> list[str]:
    """Return what a row left, as many parts on a line as there is room for."""
    lines: list[str] = []
    for left in row.left:
        for text in left_texts(left, settings, layout):
            if lines and left.value is not None and len(lines[-1]) + 3 + len(text) <= room:
                lines[-1] += f"   {text}"
            else:
                lines += [lead + line for line in wrapped(text, room, 2)] if text else [lead]
    return lines


def left_texts(left: Left, settings: Settings, layout: Layout) -> Iterator[str]:
    """Yield the texts for one thing that a line left."""
    if left.value is None:
        yield left.text
        return
    most = settings.most(8 if layout.width >= NARROW else 5)
    equals = "" if left.text == RETURNS else "= "
    yield f"{left.text} {equals}{array_text(left.value, settings.precision, most, settings.dots)}"
    if left.added is not None:
        yield f"{array_text(left.added, settings.precision, most, settings.dots)} added"


def timeline_lines(timeline: Timeline) -> list[str]:
    """Return the timeline as plain lines, with all digits."""
    lines = [timeline.head] if timeline.summary else []
    for row in timeline.rows:
        if row.skipped:
            lines.append(f"... {row.what}")
            continue
        start = " ".join(part for part in (f"line {row.line}" if row.line else "", row.turn, row.what) if part)
        lines.append(f"{start}: " + "; ".join(map(full_text, row.left)) if row.left else start)
    return [*lines, *(f"prints: {line}" for line in timeline.prints), *([timeline.title] if timeline.title else [])]


def full_text(left: Left) -> str:
    """Return one thing that a line left, with all digits; of many entries the first and the last."""

    def entries_text(value: Array) -> str:
        return input_text(value) if value.size <= MOST_ENTRIES else array_text(value, MOST_PRECISE, FIRST)

    text = left.text if left.value is None else f"{left.text} = {entries_text(left.value)}"
    return text if left.added is None else f"{text} ({entries_text(left.added)} added)"
