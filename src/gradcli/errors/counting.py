"""Numbers of things as people write them: ``1 entry``, ``2,000 entries``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PLURALS = {"entry": "entries", "axis": "axes", "index": "indices", "pass": "passes"}
"""Those that are not the noun with an s."""
DIGITS = 6
"""Digits of a number in a sentence."""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless there is one: the last word before an ``of`` is its head.

    >>> counted(1, "entry"), counted(2000, "entry of J"), counted(0, "random point")
    ('1 entry', '2,000 entries of J', '0 random points')
    """
    if count == 1:
        return f"1 {noun}"
    head, of, rest = noun.partition(" of ")
    before, space, last = head.rpartition(" ")
    return f"{count:,} {before}{space}{PLURALS.get(last, last + 's')}{of}{rest}"


def listed(words: Sequence[str], count: int) -> str:
    """Return the first words of a list of ``count`` things, and how many others there are.

    >>> listed(["x[0]"], 1), listed(["x[0]", "x[1]"], 2), listed(["x[0]", "x[1]", "x[2]"], 1003)
    ('x[0]', 'x[0] and x[1]', 'x[0], x[1], x[2] and 1,000 others')
    """
    rest = count - len(words)
    parts = [*words, counted(rest, "other")] if rest else [*words]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def short_array(array: Any) -> str:
    """Return a number or a small array on one line, with six digits.

    >>> import numpy as np
    >>> short_array(np.array([[1.0, 2 / 3], [-0.0, 1e9]]))
    '[[1, 0.666667], [0, 1e+09]]'
    """

    def text(value: Any) -> str:
        inside = isinstance(value, list)
        return f"[{', '.join(map(text, value))}]" if inside else f"{value + 0.0:.{DIGITS}g}"

    return text(array.tolist())
