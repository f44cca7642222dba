"""The room that a voice has: columns, and whether characters beyond ASCII can be shown.

Lines that are too long for it are broken at spaces and operators, and never inside a name or a number.
"""

from __future__ import annotations

import re
from itertools import pairwise

from rich.cells import cell_len
from rich.text import Text

from gradcli.document.model import Mark
from gradcli.errors.inert import inert
from gradcli.records import dataclass


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


def letters_on(text: str, layout: Layout) -> str:
    """Return a text in the characters that can be shown, each of one column."""
    return with_fillers(text) if layout.unicode else to_ascii(text)


FILLER = "\u3164"
"""Stands behind a letter of two columns while lines are laid out."""


def with_fillers(text: str) -> str:
    """Return a text with as many characters as it takes columns.

    >>> len("重み"), len(with_fillers("重み"))
    (2, 4)
    """
    return text if text.isascii() else "".join(letter + FILLER * (cell_len(letter) - 1) for letter in text)


def without_fillers(text: str) -> str:
    """Return what was laid out without the fillers of its letters."""
    return text.replace(FILLER, "")


HELD = re.compile(
    r"\([\d, ]*\)|\((?:used )?\d[\d,]* \w+\)|\(used twice\)|\[[^\[\]]{1,24}\]|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)"
)
"""What stays in one piece: shapes, counts, indices, short arrays, texts of the language."""
SPACED = re.compile(r" (?=(?:[-+*/@=≈<>·→|&]|[-+*/@<>=~]=|\*\*|->) )")
"""The space before an operator that has one on both sides: a line is broken before the operator."""
PIECES = re.compile(r"(?<=\S)(?= )|(?<=[\w\])])(?=(?<!\*)[*/@·](?!\*))|(?<=[\])])(?=[-+])|(?<=,)(?![^\[]*\])")
"""Where a word that is longer than a line may be broken."""
QUOTED = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)")
OPENED = re.compile(r"(?<=\()")
"""Where a piece that is still longer may be broken."""
BLANKS = re.compile(r"(?<=\S) ")
LEAST = 2
"""Columns that a line which goes on is indented by where a long name leaves no room for more."""


def fold(line: str | Text, width: int, indent: str = "   ", hang: str = "    ") -> list[Text]:
    """Return a line in pieces of at most ``width`` columns, those after the first indented further.

    They are indented less where one would not fit beside that.
    """
    text = Text(indent).append_text(line if isinstance(line, Text) else Text(line))
    if len(text.plain) <= width:
        text.rstrip()
        return [text]
    lead = (indent + hang)[: max(len(indent), width // 2)]
    _, *later = atoms(text.plain, len(indent), width - len(lead))
    longest = max((len(text.plain[first:stop].strip()) for first, stop in later), default=0)
    lead = lead[: max(width - longest, len(indent), LEAST)]
    cuts = places_to_break(text.plain, len(indent), width, len(lead))
    lines: list[Text] = []
    for piece in text.divide(cuts):
        piece.rstrip()
        blanks = len(piece.plain) - len(piece.plain.lstrip())
        if piece.plain:
            lines.append(Text(lead).append_text(piece[blanks:]) if lines else piece)
    return lines


def wrapped(text: str, width: int, hang: int) -> list[str]:
    """Return a text in lines of at most ``width`` columns, those after the first indented by ``hang``.

    >>> wrapped("y = sin(x) + exp(-x)", 16, 4)
    ['y = sin(x)', '    + exp(-x)']
    """
    return [piece.plain for piece in fold(text, width, "", " " * hang)]


def places_to_break(plain: str, start: int, width: int, lead: int) -> list[int]:
    """Return where to break a text into pieces as long as can be, after the first with ``lead`` columns before them."""
    cuts: list[int] = []
    begin, room = 0, width
    for first, stop in atoms(plain, start, width - lead):
        if stop - begin > room and first > max(begin, start):
            cuts.append(first)
            begin = first + len(plain[first:stop]) - len(plain[first:stop].lstrip())
            room = width - lead
    return cuts


def atoms(plain: str, start: int, longest: int) -> list[tuple[int, int]]:
    """Return the stretches of a text that stay in one piece, each with the space before it."""
    joined = HELD.sub(lambda match: match[0].replace(" ", "_"), plain)
    before = {match.start() for match in SPACED.finditer(joined)}
    after = {match.start() for match in re.finditer(r"(?<= [-+*/@=≈<>·→|&]) |(?<= [-+*/@<>=~][=*>]) ", joined)} - before
    places = [match.start() for match in re.finditer(r" +", joined[start:])]
    cuts = [0, *(place + start for place in places if place and place + start not in after), len(plain)]
    return [piece for first, stop in pairwise(cuts) for piece in narrowed(plain, first, stop, longest)]


def narrowed(
    plain: str, first: int, stop: int, longest: int, places: tuple[re.Pattern[str], ...] = (PIECES, OPENED, BLANKS)
) -> list[tuple[int, int]]:
    """Return a stretch in pieces that fit, broken at the first of the places that are enough, and at blanks at last."""
    if not places or len(plain[first:stop].strip()) <= longest:
        return [(first, stop)]
    text = plain[first:stop]
    if places[0] is not BLANKS:
        text = QUOTED.sub(lambda match: "_" * len(match[0]), text)
    cuts = [first, *(first + match.start() for match in places[0].finditer(text) if match.start()), stop]
    return [piece for start, end in pairwise(cuts) for piece in narrowed(plain, start, end, longest, places[1:])]
