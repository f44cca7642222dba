"""Contestants inside one process: many calls make one sample, garbage collection off."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

from benchmarks.harness import Contestant, Sample

LEAST = 0.03
"""Seconds that the calls of one sample take together, at least."""


def calls(name: str, function: Callable[[], Any]) -> Contestant:
    """Return calls of ``function`` as a contestant; how many make a sample is found by its first calls."""
    count = enough(function)
    return Contestant(name, lambda: sample(function, count))


def enough(function: Callable[[], Any]) -> int:
    """Return a number of calls that takes ``LEAST`` seconds; a call that takes long is made twice, the first unseen."""
    function()
    count = 1
    while (took := sample(function, count).wall * count) < LEAST:
        count = max(2 * count, int(count * LEAST / max(took, 1e-6)))
    return count


def sample(function: Callable[[], Any], count: int) -> Sample:
    """Return what one of ``count`` calls takes; what they leave behind is collected before, not meanwhile."""
    gc.collect()
    gc.disable()
    try:
        processor, wall = time.process_time(), time.perf_counter()
        for _ in range(count):
            function()
        return Sample((time.perf_counter() - wall) / count, (time.process_time() - processor) / count)
    finally:
        gc.enable()
