"""What stands round the code of a paste: prompts, what an interpreter answered, fences, lines of a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

PROMPTS = (
    (re.compile(r"\s*>>> "), re.compile(r"(?:>>>|\.\.\.)(?: |$)")),
    (re.compile(r"\s*In \[\d*\]: "), re.compile(r"(?:In \[\d*\]:|\s*\.\.\.+:)(?: |$)")),
)
"""How a session of Python and of IPython begins, and what stands before each line that was typed."""
FOREIGN = re.compile(r"^(?:%%?[a-z]|![a-z]|```).*$", re.MULTILINE)
MAGIC = re.compile(r"^([ \t]*)(?:%%?|!)[A-Za-z_./~].*$", re.MULTILINE)
"""Lines of a notebook that are no Python; in a block they may be all that it has."""
RAISED = re.compile(
    r"""
    ^-{20,}\n\w+\ +Traceback\ \(most\ recent[^\n]*\n(?:(?!\w+:\ )[^\n]*\n)*\w+:\ [^\n]*$
    | ^Traceback\ \(most\ recent[^\n]*\n(?:[ \t][^\n]*\n)*[\w.]+(?::\ [^\n]*)?$
    | ^[A-Za-z_.]*(?:Error|Exception|Warning):\ [^\n]*$
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What an interpreter prints of an error: with its traceback, in IPython, and the last line alone."""
FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*(\w*)[^\n]*$", re.MULTILINE)
PYTHON = ("python", "py", "python3", "pycon", "ipython")
"""What Markdown calls a fenced block of Python."""
CELL = re.compile(r"^(In|Out) ?\[[\d* ]*\]:[ \t]*$", re.MULTILINE)
"""What stands above the lines of a cell, and of its output, in a notebook that was copied from a page."""
SHOWN = re.compile(r"^(?:Out\[\d*\]: ?)?tensor\((?:[^()\n]|\([^()]*\)|\n[ \t]+|\n(?=[ \t]*$))*\)[ \t]*$", re.MULTILINE)
"""A tensor as it was shown: as a statement it would do nothing."""


def script_of_paste(text: str) -> str:
    """Return the code of a paste that is no Python as it stands; lines keep their numbers."""
    text = within_fences(text)
    for begins, prompt in PROMPTS:
        if any(map(begins.match, text.split("\n"))):
            typed = [prompt.sub("", line, count=1) if prompt.match(line) else "" for line in text.split("\n")]
            return without_magic("\n".join(typed))
    text = within_cells(text)
    without = RAISED.sub(blank, text)  # what is an error alone stays as it is
    text = without if without.strip() else text
    return without_magic(SHOWN.sub(blank, text))


def without_magic(text: str) -> str:
    """Return a script without lines that are a notebook's: ``%matplotlib inline``, ``!pip install torch``."""
    return MAGIC.sub(r"\1pass", text)


def within_fences(text: str) -> str:
    """Return the fenced blocks of a text, of several kinds those that say they are Python; the text where none is."""
    fences = list(FENCE.finditer(text))
    if len(fences) < 2 or len(fences) % 2:
        return FENCE.sub("", text)
    blocks = [
        (first[1].lower(), first.end(), last.start()) for first, last in zip(fences[::2], fences[1::2], strict=True)
    ]
    named = [block for block in blocks if block[0] in PYTHON] or [block for block in blocks if not block[0]]
    return kept_parts(text, [(start, end) for _, start, end in named or blocks])


def within_cells(text: str) -> str:
    """Return the cells of a notebook that was copied with their headings, without their outputs."""
    heads = list(CELL.finditer(text))
    if not any(head[1] == "In" for head in heads):
        return text
    ends = [*(head.start() for head in heads), len(text)]
    parts = [(head.end(), end) for head, (_, end) in zip(heads, pairwise(ends), strict=True) if head[1] == "In"]
    return kept_parts(text, parts)


def kept_parts(text: str, parts: list[tuple[int, int]]) -> str:
    """Return a text of which nothing but its line breaks is left outside of some parts."""

    def pieces() -> Iterator[str]:
        done = 0
        for start, end in parts:
            yield "\n" * text.count("\n", done, start)
            yield text[start:end]
            done = end
        yield "\n" * text.count("\n", done)

    return "".join(pieces())


def blank(found: re.Match[str]) -> str:
    """Return the line breaks of a piece of text."""
    return "\n" * found[0].count("\n")
