"""Lines of bytes from a stream, as they come; a line that is too long is passed over without being held."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gradcli.errors import GradcliError

CHUNK = 2**16
LONGEST_LINE = 2**24
"""Bytes that one record may have."""
MARK = b"\xef\xbb\xbf"
"""What some editors of Windows write before the first character of a file."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its number, counted from 1; ``text`` is None where it was too long, ``read`` counts its bytes."""

    number: int
    text: bytes | None
    read: int


def lines(read: Callable[[int], bytes], longest: int = LONGEST_LINE) -> Iterator[Line]:
    """Yield every line, without its end; ``read(n)`` gives up to n bytes, none at the end.

    Raises ``record`` where the first line shows that records do not stand one on a line.
    """
    for number, (text, size) in enumerate(pieces(read, longest), 1):
        if number == 1 and text is not None:
            refuse_other_forms(text.removeprefix(MARK).strip())
        yield Line(number, text.removeprefix(MARK) if number == 1 and text is not None else text, size)


def refuse_other_forms(first: bytes) -> None:
    """Raise ``record`` for a first line that begins a document over several lines, an array, or a table."""
    form, hint = (
        ("a document over several lines", ONE) if first == b"{" else
        ("an array of records", EACH) if first in (b"[", b"[{") or first.startswith(b'[{"') else
        ("a table", ROWS) if b"program" in (cell.strip(b" \"'") for cell in re.split(b"[,;\t]", first)) else
        ("", "")
    )  # fmt: skip
    if form:
        raise GradcliError("record", f"one record a line is read, and this is {form}", hint=hint)


ONE = "make it one line: python -m json.tool --no-indent FILE"
EACH = "make it lines: python -c 'import json, sys; [print(json.dumps(one)) for one in json.load(sys.stdin)]' < FILE"
ROWS = (
    'make it lines: python -c \'import csv, json, sys; [print(json.dumps(dict(program=row.pop("program"), '
    "inputs=row))) for row in csv.DictReader(sys.stdin)]' < FILE"
)


def pieces(read: Callable[[int], bytes], longest: int) -> Iterator[tuple[bytes | None, int]]:
    """Yield what stands before each newline, None for more than ``longest`` bytes, and how many bytes were read."""
    parts: list[bytes] = []
    held, dropped = 0, 0
    while chunk := read(CHUNK):
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            text = b"".join((*parts, end)) if parts else end
            size = held + dropped + len(end) + 1
            yield (None if dropped or len(text) > longest else text), size
            parts, held, dropped = [], 0, 0
        if dropped or held + len(rest) > longest:
            parts, held, dropped = [], 0, held + dropped + len(rest)
        elif rest:
            parts.append(rest)
            held += len(rest)
    if parts or dropped:
        yield (None if dropped else b"".join(parts)), held + dropped
