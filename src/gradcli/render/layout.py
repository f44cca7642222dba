"""The room that a voice has: columns, and whether characters beyond ASCII can be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.document.model import Mark
from gradcli.errors.inert import inert
from gradcli.records import dataclass, replace

if TYPE_CHECKING:
    from gradcli.document.model import Document


@dataclass(frozen=True, slots=True)
class Layout:
    """How much room lines and tables have (the same by default), and whether a screen shows more than ASCII."""

    width: int = 80
    table_width: int | None = None
    unicode: bool = True

    @property
    def room(self) -> int:
        """The columns that a table may take."""
        return self.table_width or self.width

    def mark(self, mark: Mark) -> str:
        """Return what is drawn for a mark."""
        return mark.value if self.unicode else ASCII_MARKS[mark]


ASCII_MARKS = {
    Mark.NONE: "", Mark.ZERO: ".", Mark.ROUNDED: "~0", Mark.ROW_GAP: ":", Mark.COLUMN_GAP: "...", Mark.OPEN: "?",
}  # fmt: skip
ASCII_FOR = {
    "·": "*", "∂": "d", "×": "x", "…": "...", "≈": "~=", "→": "->", "²": "2", "✓": "ok", "✗": "NOT EQUAL:",
    "⋮": ":", "│": "|", "─": "-", "┼": "+", "█": "#", "≤": "<=", "≥": ">=", "≠": "!=",
}  # fmt: skip
"""What stands for a character on an ASCII terminal."""
DENSITIES = " .:#"
"""What stands for a character of a picture in dots, by how many of its eight are set."""


def to_ascii(text: str) -> str:
    """Return a text in ASCII, what has no letters there as an escape.

    >>> to_ascii("∂y/∂x ≈ vᵀ·J")
    'dy/dx ~= v*J'
    """
    if text.isascii():
        return text
    return inert("".join(ASCII_FOR.get(letter) or density(letter) for letter in text))


def density(letter: str) -> str:
    """Return the letter for a braille pattern; any other letter itself, or nothing for the mark of a transpose."""
    if letter == "ᵀ":
        return ""
    dots = ord(letter) - 0x2800
    return DENSITIES[-(-dots.bit_count() * (len(DENSITIES) - 1) // 8)] if 0 <= dots < 256 else letter


def in_letters_of(document: Document, layout: Layout) -> Document:
    """Return a document in the characters that can be shown."""
    if layout.unicode:
        return document
    return replace(document.with_texts(to_ascii), settings=replace(document.settings, dots="...", near="~="))
