"""Text from outside made safe to print: no control byte, no escape sequence, no markup survives."""

from __future__ import annotations


def inert(text: str, keep: str = "\n") -> str:
    """Return text with everything but printable ASCII (and ``keep``) written as escapes."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        c
        if " " <= c <= "~" or c in keep
        else c.encode("unicode_escape", "backslashreplace").decode()
        if not "\ud800" <= c <= "\udfff"
        else f"\\u{ord(c):04x}"
        for c in text
    )
