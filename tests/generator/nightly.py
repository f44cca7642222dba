"""The command line of what runs many random programs, each night or by hand."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence


def main(night: Callable[[int, Sequence[int]], int], description: str | None, seed: int = 1, count: int = 300) -> int:
    """Read the command line and run the programs of these numbers; the exit code is 1 where ``night`` counts a fault.

    ``seed`` and ``count`` are those of a command line that names none.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--only", type=int, help="run the program of this number alone")
    given = parser.parse_args()
    return int(night(given.seed, range(given.count) if given.only is None else [given.only]) > 0)
