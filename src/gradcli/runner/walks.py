"""Iterators that builtins of a script give: those that a run can tell from others, and those that may raise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradcli.runner.objects import UNBOUND
from gradcli.runner.operators import equal
from gradcli.runner.state import Run


class Zip(zip):  # type: ignore[type-arg]
    """``zip``, which a run can tell from others."""


class Enumerate(enumerate):  # type: ignore[type-arg]
    """``enumerate``."""


def zip_strictly(run: Run, walks: list[Iterator[Any]]) -> Iterator[Any]:
    """Put items together; raises ValueError where the parts are not of one length."""
    while walks:
        items = [next(walk, UNBOUND) for walk in walks]
        over = [item is UNBOUND for item in items]
        if all(over):
            return
        if any(over):
            k = over.index(not over[0])
            before = "argument 1" if k == 1 else f"arguments 1-{k}"
            run.fail("ValueError", f"zip() argument {k + 1} is {'longer' if over[0] else 'shorter'} than {before}")
        yield tuple(items)


def until(run: Run, function: Any, end: Any) -> Iterator[Any]:
    """Yield what a function gives until it gives an end."""
    while not equal(run, item := run.call(function), end):
        run.meter.turn()
        yield item
