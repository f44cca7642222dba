"""Whether two contestants give the same numbers. Nothing is timed before they do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchmarks.processes import ContestantError

RELATIVE = 1e-9
OF_THE_LARGEST = 1e-12
"""For entries in which larger ones cancel: what counts then is the largest entry of the same answer."""


def flat(numbers: Any) -> Iterator[float]:
    """Yield the entries of nested lists, or of dictionaries of them, in order."""
    if isinstance(numbers, dict):
        numbers = list(numbers.values())
    if not isinstance(numbers, list | tuple):
        yield float(numbers)
        return
    for entry in numbers:
        yield from flat(entry)


def same(what: str, ours: Any, theirs: Any) -> None:
    """Compare two nested lists of numbers, entry by entry; raises ``ContestantError`` for the first that differs."""
    left, right = list(flat(ours)), list(flat(theirs))
    if not left or len(left) != len(right):
        raise ContestantError(f"{what}: {len(left)} numbers against {len(right)}")
    largest = max(map(abs, left + right))
    for place, (a, b) in enumerate(zip(left, right, strict=True)):
        if not math.isclose(a, b, rel_tol=RELATIVE, abs_tol=OF_THE_LARGEST * largest):
            raise ContestantError(f"{what}: entry {place} is {a!r} with gradcli and {b!r} there")
