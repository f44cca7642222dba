"""Items that repeat but for the numbers of their names, as the turns of a loop do, with a count in their place."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from gradcli.render.backward import FEW, repetition

Kind = TypeVar("Kind")


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


def shortened(
    items: Sequence[Kind | str], pattern: Callable[[Kind], Hashable | None], word: str, most: int
) -> list[Kind | str]:
    """Return items with a line that counts in the place of the middle turns of a loop, and of what is beyond ``most``.

    A text among the items stays as it is, and no loop goes on past it. ``word`` is what one item is called.

    >>> shortened([1, 1, 1, 1, 1, "more", 1, 2, 3], str, "row", 60)
    [1, '…   3 times the same row between', 1, 'more', 1, 2, 3]
    """
    found: list[Kind | str] = []
    for part in folded([None if isinstance(item, str) else pattern(item) for item in items]):
        if isinstance(part, Gap):
            same = word if part.period == 1 else f"{part.period} {word}s"
            found.append(f"…   {part.turns:,} times the same {same} between")
        else:
            found.append(items[part])
    if len(found) <= most:
        return found
    half = most // 2
    return [*found[:half], f"…   {len(found) - 2 * half:,} lines more", *found[-half:]]
