"""Which of several equal entries PyTorch picks: the partitions by which its sort, topk and kthvalue find their places.

Where all entries differ any way of sorting gives the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Before = Callable[[Any, Any], bool]
"""Whether one entry comes before another."""
SHORT = 16
"""Entries up to which PyTorch sorts by insertion, which leaves equal ones in their order."""
FEW = 64
"""Where there are so many entries for each one that is asked for, PyTorch's topk goes by a heap."""


def rises(a: Any, b: Any) -> bool:
    """Return whether a comes before b from the smallest on, nan last."""
    return bool(a < b or (b != b and a == a))  # noqa: PLR0124 - nan alone differs from itself


def falls(a: Any, b: Any) -> bool:
    """Return whether a comes before b from the largest on, nan first."""
    return bool(a > b or (a != a and b == b))  # noqa: PLR0124


def exchange(line: list[int], a: int, b: int) -> None:
    """Exchange two items of a list."""
    line[a], line[b] = line[b], line[a]


def kth_place(entries: Sequence[Any], k: int) -> int:
    """Return where the k-th smallest entry stands, k from 0: quickselect with the median of three as its pivot."""
    order = list(range(len(entries)))

    def after(a: int, b: int) -> bool:
        return falls(entries[order[a]], entries[order[b]])

    left, right = 0, len(order) - 1
    while right > left + 1:
        exchange(order, left + (right - left) // 2, left + 1)
        for a, b in ((left + 1, right), (left, right), (left + 1, left)):
            if after(a, b):
                exchange(order, a, b)
        met = partition_by_first(order, entries, left, right)
        exchange(order, left, met[1])
        left, right = (met[0] if met[1] <= k else left), (met[1] - 1 if met[1] >= k else right)
    if right == left + 1 and after(left, right):
        exchange(order, left, right)
    return order[k]


def partition_by_first(order: list[int], entries: Sequence[Any], left: int, right: int) -> tuple[int, int]:
    """Part what lies between two ends by the entry at the left one; return where the two scans met."""
    pivot, i, j = entries[order[left]], left + 1, right
    while True:
        i += 1
        while falls(pivot, entries[order[i]]):
            i += 1
        j -= 1
        while falls(entries[order[j]], pivot):
            j -= 1
        if j < i:
            return i, j
        exchange(order, i, j)


def sorted_places(entries: Sequence[Any], descending: bool = False) -> list[int]:
    """Return where the entries stand from the smallest on, nan last, or from the largest on, nan first."""
    before = falls if descending else rises
    order = list(range(len(entries)))
    part_coarsely(order, entries, len(order), before)
    return by_insertion(order, entries, before)


def top_places(entries: Sequence[Any], k: int, largest: bool) -> list[int]:
    """Return where the first k entries stand, from the largest or smallest on: they are selected, and then sorted."""
    before = falls if largest else rises
    order = list(range(len(entries)))
    if k * FEW <= len(order) or not k:
        return by_insertion(order, entries, before)[:k] if k else []
    select(order, entries, k - 1, before)
    part_coarsely(order, entries, k - 1, before)
    return [*by_insertion(order[: k - 1], entries, before), order[k - 1]]


def select(order: list[int], entries: Sequence[Any], k: int, before: Before) -> None:
    """Bring the k-th entry to its place, those before it in front: parts around the median of three, then insertion."""
    first, last = 0, len(order)
    while last - first > 3:
        middle_first(order, entries, first, last, before)
        cut = partition(order, entries, first, last, before)
        first, last = (cut, last) if cut <= k else (first, cut)
    order[first:last] = by_insertion(order[first:last], entries, before)


def part_coarsely(order: list[int], entries: Sequence[Any], count: int, before: Before) -> None:
    """Part the first ``count`` entries again and again until each is short: what is left for insertion."""
    parts = [(0, count)]
    while parts:
        first, last = parts.pop()
        if last - first > SHORT:
            middle_first(order, entries, first, last, before)
            cut = partition(order, entries, first, last, before)
            parts += [(cut, last), (first, cut)]


def middle_first(order: list[int], entries: Sequence[Any], first: int, last: int, before: Before) -> None:
    """Exchange the first entry for the median of the next, the middle and the last."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1

    def less(p: int, q: int) -> bool:
        return before(entries[order[p]], entries[order[q]])

    if less(a, b):
        median = b if less(b, c) else c if less(a, c) else a
    else:
        median = a if less(a, c) else c if less(b, c) else b
    exchange(order, first, median)


def partition(order: list[int], entries: Sequence[Any], first: int, last: int, before: Before) -> int:
    """Part all behind the first entry by it; return where the second part begins."""
    pivot, i, j = entries[order[first]], first + 1, last
    while True:
        while before(entries[order[i]], pivot):
            i += 1
        j -= 1
        while before(pivot, entries[order[j]]):
            j -= 1
        if i >= j:
            return i
        exchange(order, i, j)
        i += 1


def by_insertion(order: list[int], entries: Sequence[Any], before: Before) -> list[int]:
    """Return places in the order of their entries, equal ones as they came."""
    from functools import cmp_to_key

    def compare(a: int, b: int) -> int:
        return before(entries[b], entries[a]) - before(entries[a], entries[b])

    return sorted(order, key=cmp_to_key(compare))
