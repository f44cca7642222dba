"""Program text and numbers broken at operators and spaces, where a line is too narrow for them."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""
    (?:[-+]?\d[\w.]*[eE][+-]\d+ | [-+]?\d[\w.]* | [A-Za-z_][\w.]* | "[^"]*" | '[^']*'   # numbers, names, texts
    | \*\* | // | [<>=!]=? | .) \s*
    """,
    re.VERBOSE | re.DOTALL,
)
GLUED = re.compile(r"[)\],.:;]|\*\*|=$")
"""What never begins a line."""

LEAST_HANG = 2
"""Columns that a line which goes on is indented by where a long name leaves no room for more."""


def wrapped(text: str, width: int, hang: int) -> list[str]:
    """Return a text in lines of at most ``width`` columns, those after the first indented by ``hang``,
    or less where a name would not fit beside that.

    Lines break at spaces, and before operators where a part without spaces is too long; a name or a number that is
    longer stays whole.

    >>> wrapped("y = sin(x)*exp(-x) + 1", 16, 4)
    ['y =', '    sin(x)', '    *exp(-x)', '    + 1']
    >>> wrapped("y = sin(x) + exp(-x)", 16, 4)
    ['y = sin(x)', '    + exp(-x)']
    """
    if len(text) <= width:
        return [text]
    whole = [[part] if len(part.rstrip()) <= width - hang else pieces(part) for part in parts(text)]
    found = [piece for part in whole for piece in part]
    longest = max((len(piece.rstrip()) for piece in found[1:]), default=0)
    lead = " " * max(min(hang, width - longest), LEAST_HANG)
    lines, line = [], ""
    for piece in found:
        if line.strip() and len((line + piece).rstrip()) > width:
            lines.append(line.rstrip())
            line = lead
        line += piece
    return [*lines, line.rstrip()]


def parts(text: str) -> list[str]:
    """Return the parts between spaces, an operator with what follows it."""
    return re.findall(r"\s*(?:[-+@*/%] )?(?:\"[^\"]*\"|'[^']*'|\S)+\s*", text)


def pieces(text: str) -> list[str]:
    """Return the parts of a text between which a line may break."""
    found: list[str] = []
    for match in TOKEN.finditer(text):
        token, last = match[0], found[-1] if found else ""
        opens = token[0] in "([" and bool(re.search(r"[\w)\]]$", last))
        if found and (GLUED.match(token.rstrip()) or opens or re.search(r"[*/=@+-] ?$|\w\[$", last)):
            found[-1] += token
        else:
            found.append(token)
    return found
