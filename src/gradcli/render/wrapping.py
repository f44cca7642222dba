"""Program text and numbers broken at operators and spaces, where a line is too narrow for them."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""
    (?:\d[\w.]*[eE][+-]\d+ | [-+]?\d[\w.]* | [A-Za-z_][\w.]* | "[^"]*" | '[^']*'   # numbers, names, texts
    | \*\* | // | [<>=!]=? | .) \s*
    """,
    re.VERBOSE | re.DOTALL,
)
GLUED = re.compile(r"[)\],.:;]|\*\*|=$")
"""What never begins a line."""


def wrapped(text: str, width: int, hang: int) -> list[str]:
    """Return a text in lines of at most ``width`` columns, those after the first indented by ``hang``.

    Lines break at spaces and before operators; a name or a number that is longer stays whole.

    >>> wrapped("y = sin(x)*exp(-x) + 1", 16, 4)
    ['y = sin(x)', '    *exp(-x) + 1']
    """
    if len(text) <= width:
        return [text]
    lines, line = [], ""
    for piece in pieces(text):
        if line.strip() and len((line + piece).rstrip()) > width:
            lines.append(line.rstrip())
            line = " " * hang
        line += piece
    return [*lines, line.rstrip()]


def pieces(text: str) -> list[str]:
    """Return the parts of a text between which a line may break."""
    found: list[str] = []
    for match in TOKEN.finditer(text):
        token, last = match[0], found[-1] if found else ""
        opens = token[0] in "([" and last[-1:].strip() and (last[-1:].isalnum() or last[-1:] in "_)]")
        tied = GLUED.match(token.rstrip()) or opens or last.endswith(("(", "[", "*", "/", "=", "@")) or is_sign(last)
        if found and tied:
            found[-1] += token
        else:
            found.append(token)
    return found


def is_sign(text: str) -> bool:
    """Return whether a text ends in a sign that belongs to what follows."""
    return text.endswith(("-", "+"))
