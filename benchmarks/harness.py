"""Interleaved rounds: every contestant of a figure runs once in each, and ratios are taken round by round."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
LONG = 10.0
"""Seconds of the processor after which one sample of a contestant is enough."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run took: seconds on the wall and of the processor, and MiB of memory at its peak."""

    wall: float
    processor: float
    memory: float = 0.0


@dataclass(frozen=True, slots=True)
class Contestant:
    """A name and what is run under it, in no more than ``most`` rounds.

    ``run`` returns None where there was no answer in time.
    """

    name: str
    run: Callable[[], Sample | None]
    most: int | None = None


Samples = dict[str, list[Sample | None]]
"""Samples by contestant, one a round; None where a contestant did not run or gave no answer."""


def measure(contestants: Sequence[Contestant], rounds: int, tell: Callable[[str], None] = lambda _: None) -> Samples:
    """Run every contestant once without counting it, then once a round, in another order each time.

    The first run counts only for a contestant that takes longer than ``LONG``: it is not run again.
    """
    found: Samples = {contestant.name: [] for contestant in contestants}
    tired: set[str] = set()
    for contestant in contestants:
        tell(f"warm-up: {contestant.name}")
        first = contestant.run()
        if first is None or first.processor > LONG:
            tired.add(contestant.name)
            found[contestant.name] = [first, *[None] * (rounds - 1)]
    for number in range(rounds):
        for contestant in shuffled(contestants, number):
            if contestant.name not in tired and number < (contestant.most or rounds):
                tell(f"round {number + 1} of {rounds}: {contestant.name}")
                found[contestant.name].append(contestant.run())
    return found


def shuffled(contestants: Iterable[Contestant], seed: int) -> list[Contestant]:
    """Return the contestants in an order that depends on the round alone, so that nobody has a fixed neighbour."""
    order = list(contestants)
    random.Random(seed).shuffle(order)  # noqa: S311
    return order


@dataclass(frozen=True, slots=True)
class Spread:
    """The median, and the quartiles on both sides of it: half of the rounds lie between these."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of one or more values."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)


def paired(
    ours: Sequence[Sample | None], theirs: Sequence[Sample | None], compare: Callable[[Sample, Sample], T]
) -> list[T]:
    """Return ``compare`` of both sides, round by round.

    A side with one sample only, because it takes long, is held against every round of the other.
    """
    left, right = _filled(ours), _filled(theirs)
    both = zip(left, right, strict=False)
    return [compare(a, b) for a, b in both if a is not None and b is not None]


def _filled(samples: Sequence[Sample | None]) -> list[Sample | None]:
    there = [sample for sample in samples if sample is not None]
    return list(samples) if len(there) != 1 else [there[0]] * len(samples)
