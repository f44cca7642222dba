"""Lines that repeat but for the numbers of their names, as those of a loop's turns do."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from gradcli.render.backward import FEW, repetition


class Gap(NamedTuple):
    """Lines that are left out: ``turns`` of ``period`` lines each."""

    turns: int
    period: int


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
