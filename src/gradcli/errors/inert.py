"""Text from outside made safe to print, and the line that an error points into with a caret under the place."""

from __future__ import annotations


def inert(text: str, keep: str = "\n", encoding: str = "ascii") -> str:
    """Return text with everything but printable characters of an encoding (and ``keep``) written as escapes.

    Characters that take no column or two are escaped as well.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        c
        if " " <= c <= "~" or c in keep or (encoding != "ascii" and shown(c, encoding))
        else c.encode("unicode_escape", "backslashreplace").decode()
        if not "\ud800" <= c <= "\udfff"
        else f"\\u{ord(c):04x}"
        for c in text
    )


def greek_name(character: str) -> str:
    """Return a Greek letter spelled out as a name, ``lam`` where Python has the word; nothing for another character."""
    import unicodedata  # few texts have one

    kind, _, word = unicodedata.name(character, "").partition(" LETTER ")
    return word.split()[0].lower().replace("lamda", "lam") if word and kind.startswith("GREEK ") else ""


def printed(text: str) -> str:
    """Return what a script prints without what a terminal obeys: letters and signs of all languages stay as they are.

    Of control characters line breaks, tabs and the return that begins a line anew stay.

    >>> printed("\\x1b[31mred\\t5 €\\n")
    '\\\\x1b[31mred\\t5 €\\n'
    """
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c in PLAIN else inert(c, "") for c in text)


PLAIN = "\n\t\r\u200c\u200d\u00a0\u2002\u2003\u2009\u202f\u3000"
"""What is not printable in Python's sense and does nothing but to make room: breaks, blanks, joiners of letters."""


def shown(character: str, encoding: str) -> bool:
    """Return whether a character beyond ASCII is shown as it is: it takes one column and looks like no other letter.

    These are Greek and Latin letters, signs of mathematics and of degrees, small digits and quotation marks, as far as
    an encoding has them.
    """
    import unicodedata  # an error alone needs it

    name, kind = unicodedata.name(character, ""), unicodedata.category(character)
    itself = unicodedata.normalize("NFKC", character) == character  # a small plus is a plus in disguise
    sign = itself and (kind == "Sm" or name.startswith(("GREEK ", "LATIN ")))
    narrow = unicodedata.east_asian_width(character) not in "WF" and not unicodedata.combining(character)
    if not (narrow and character.isprintable() and (sign or kind in ("No", "Pi", "Pf") or character in "·°")):
        return False
    try:
        character.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


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


def escape_line(line: str, column: int, length: int, encoding: str) -> tuple[str, int, int]:
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
    shown, column, length = escape_line(*window(line, column, length, widest), encoding)
    gutter = " " * len(label)
    return [f"{gutter} |", f"{label} | {shown}", f"{gutter} | {' ' * column}{'^' * length}"]
