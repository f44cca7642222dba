"""Items that repeat but for the numbers of their names, as the turns of a loop do, with a count in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple, TypeVar

Kind = TypeVar("Kind")

LONGEST_TURN = 12
"""Lines of one turn of a loop that repetitions are looked for in."""
FEW = 3
"""Turns of a loop that are all shown."""
NUMBERED = re.compile(r"(?<=[A-Za-z_])\d+\b|(?<=\[)\d+(?=\])")


class Gap(NamedTuple):
    """Items that are left out: ``turns`` of ``period`` items each."""

    turns: int
    period: int


def unnumbered(text: str) -> str:
    """Return a text without the numbers of its names, and of rows such as ``xs[3]``.

    >>> unnumbered("y10.grad*2 + h1[0]")
    'y.grad*2 + h[]'
    """
    return NUMBERED.sub("", text)


def repetition(patterns: Sequence[Hashable | None], start: int) -> tuple[int, int]:
    """Return how many items from ``start`` on repeat, and how often; one whose pattern is None never does.

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
    """Yield the places of the items that are shown, and the gaps between the first and the last turn of a loop.

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


def shortened(
    items: Sequence[Kind | str], pattern: Callable[[Kind], Hashable | None], word: str, most: int
) -> list[Kind | str]:
    """Return items with a line that counts in the place of the middle turns of a loop, and of what is beyond ``most``.

    A text among the items stays as it is, and no loop goes on past it. ``word`` is what one item is called.

    >>> shortened([1, 1, 1, 1, 1, "more", 1, 2, 3], str, "row", 60)
    [1, '…   3 times the same row between', 1, 'more', 1, 2, 3]
    """
    kept: list[Kind | str] = []
    for part in folded([None if isinstance(item, str) else pattern(item) for item in items]):
        if isinstance(part, Gap):
            same = word if part.period == 1 else f"{part.period} {word}s"
            kept.append(f"…   {part.turns:,} times the same {same} between")
        else:
            kept.append(items[part])
    if len(kept) <= most:
        return kept
    half = most // 2
    return [*kept[:half], f"…   {len(kept) - 2 * half:,} lines more", *kept[-half:]]
