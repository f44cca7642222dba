"""Text from outside made safe to print: no control byte, no escape sequence, no markup survives."""

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
