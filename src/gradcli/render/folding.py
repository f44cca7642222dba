"""Lines that repeat but for the numbers of their names, as those of a loop's turns do."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

LONGEST_TURN = 12
"""Lines of one turn of a loop that repetitions are looked for in."""
FEW = 3
"""Turns that are all shown."""
NUMBERED = re.compile(r"(?<=[A-Za-z_])\d+\b")


class Gap(NamedTuple):
    """Lines that are left out: ``turns`` of ``period`` lines each."""

    turns: int
    period: int


def unnumbered(text: str) -> str:
    """Return a text without the numbers of its names.

    >>> unnumbered("y10.grad*2 + h1[0]")
    'y.grad*2 + h[0]'
    """
    return NUMBERED.sub("", text)


def repetition(patterns: Sequence[Hashable | None], start: int) -> tuple[int, int]:
    """Return how many lines from ``start`` on repeat, and how often; a line whose pattern is None never does.

    >>> repetition(["y", "a", "b", "a", "b", "a", "b", "a", "b"], 1)
    (2, 4)
    """
    for period in range(1, LONGEST_TURN + 1):
        turn = patterns[start : start + period]
        if None in turn:
            return 1, 1
        turns = 1
        while patterns[start + period * turns : start + period * (turns + 1)] == turn:
            turns += 1
        if turns > FEW:
            return period, turns
    return 1, 1


def folded(patterns: Sequence[Hashable | None]) -> Iterator[int | Gap]:
    """Yield the places of the lines that are shown, and the gaps between the first and the last turn of a loop.

    >>> list(folded(["y", "a", "a", "a", "a", "a", None]))
    [0, 1, Gap(turns=3, period=1), 5, 6]
    """
    place = 0
    while place < len(patterns):
        period, turns = repetition(patterns, place)
        if turns <= FEW:
            yield place
            place += 1
            continue
        end = place + period * turns
        yield from range(place, place + period)
        yield Gap(turns - 2, period)
        yield from range(end - period, end)
        place = end
