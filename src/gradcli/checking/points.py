"""Random points at which a program has a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.errors import GivenUp, GradcliError
from gradcli.explanation.evaluation import Function
from gradcli.ops.declare import Array

REGIONS: tuple[Callable[[np.random.Generator, Array], Array | float], ...] = (
    lambda rng, x: rng.uniform(-2.0, 2.0, x.shape),
    lambda rng, x: rng.uniform(0.1, 2.0, x.shape),
    lambda rng, x: x * rng.uniform(0.5, 1.5, x.shape),
    lambda rng, x: rng.uniform(0.1, 0.9, x.shape),
    lambda rng, x: rng.uniform(1.1, 5.0, x.shape),
    lambda rng, x: x + rng.normal(0.0, 0.1, x.shape),
)
"""Where an entry of a point is looked for: of both signs, positive, the given one stretched, in (0, 1), above 1, and
the given one shifted a little."""
TRIES = 8
"""Rounds through all regions before the search for a point is given up."""


def random_points(
    function: Function, given: dict[str, Any], names: Iterable[str], count: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield ``count`` points where the output is finite: the variables of ``names`` at random, the others as given.

    Their numbers have four decimals, so that they can be typed. The search for every other point begins with both
    signs, where a derivative that is right on one side alone shows; for those between, with each region in turn, so
    that points lie in all regions where the program has a value. Raises ``value`` where a search finds none.
    """
    rng = np.random.default_rng(seed)
    varied = tuple(names)
    for number in range(count):
        yield one_point(function, given, varied, rng, 0 if number % 2 == 0 else number // 2)


def one_point(
    function: Function, given: dict[str, Any], varied: Sequence[str], rng: np.random.Generator, start: int
) -> dict[str, Any]:
    """Return one point, looked for in all regions in turn, beginning with number ``start``."""
    for attempt in range(TRIES * len(REGIONS)):
        region = REGIONS[(start + attempt) % len(REGIONS)]
        point = {**given, **{name: np.round(region(rng, np.asarray(given[name])), 4) for name in varied}}
        if has_value(function, point):
            return point
    raise GradcliError(
        "value",
        "no random point was found at which the program has a finite value",
        hint="give a point in its domain: samples near it are tried too",
    )


def has_value(function: Function, point: dict[str, Any]) -> bool:
    """Return whether the program has a finite value at a point."""
    try:
        return bool(np.all(np.isfinite(function.evaluate(point, record=False).value)))
    except GivenUp:
        raise
    except GradcliError:
        return False
