"""Lines of bytes from a stream, as they come; a line that is too long is passed over without being held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
    """Yield every line, without its end; ``read(n)`` gives up to n bytes, none at the end."""
    for number, (text, size) in enumerate(pieces(read, longest), 1):
        yield Line(number, text.removeprefix(MARK) if number == 1 and text is not None else text, size)


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
