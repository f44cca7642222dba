"""What a push has no time for, by one command, in minutes: random programs, hostile texts, rules made wrong.

python tests/night.py                        every part, each in its share of the minutes; exits with 1 for a fault
python tests/night.py programs calls         these parts alone
python tests/night.py --since main           the parts of the rooms that a change touches, and mutants of its rules
python tests/night.py --minutes 20 --seed 7  so many minutes in all; a seed always gives the same inputs
python tests/night.py calls --only 12        the input of one number, as a fault says it
"""

import argparse
import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
NUMBERS = {"ops", "engine", "language", "jacobian", "formulas", "exact"}
"""Rooms that every number passes."""
AT_ONCE = 20
"""Inputs between two looks at the clock."""


@dataclass(frozen=True)
class Part:
    """A function ``night(seed, numbers)`` of a module, which prints faults and returns how many there were.

    ``rooms`` are those of ``src/gradcli`` that it watches beside those of ``NUMBERS``, ``share`` its part of the time.
    """

    module: str
    what: str
    rooms: Collection[str] = ()
    share: int = 1
    night: str = "night"


PARTS = {
    "programs": Part("night_programs", "programs of the language, in many digits and in PyTorch", {"explanation"}, 2),
    "calls": Part("night_calls", "calls of PyTorch's vocabulary, by PyTorch", {"explanation"}, 2),
    "readback": Part("readback_programs", "formulas, read back by the language", {"document"}),
    "printed": Part("printed_answers", "printed answers, by PyTorch", {"explanation", "document", "render"}),
    "texts": Part("fuzzing", "command lines that nobody would type", {"errors", "cli", "render", "explanation"}),
    "scripts": Part("fuzzing", "scripts that nobody would write", {"runner", "cli"}, night="night_of_scripts"),
    "arguments": Part("fuzzing", "calls with arguments of every kind", night="night_of_arguments"),
    "mutants": Part("mutants", "rules made wrong, by the tests of numbers", (), 4),
}


def touched(since: str) -> set[str]:
    """Return the rooms that differ from a commit, in this tree as it stands."""
    words = ["git", "diff", "--name-only", since, "--", "src/gradcli"]
    names = subprocess.run(words, cwd=HERE.parent, capture_output=True, text=True, check=True).stdout.splitlines()
    return {Path(name).parts[2].removesuffix(".py") for name in names}


def chosen(named: Collection[str], rooms: Collection[str] | None) -> list[str]:
    """Return the parts to run: those that are named, else all that watch one of the rooms; None: all."""
    if named:
        return list(named)
    return [name for name, part in PARTS.items() if rooms is None or not NUMBERS.union(part.rooms).isdisjoint(rooms)]


def stretches(seconds: float, clock: Callable[[], float] = time.monotonic) -> Iterator[range]:
    """Yield numbers, some at once, until the time is over."""
    end = clock() + seconds
    for first in itertools.count(0, AT_ONCE):
        if first and clock() >= end:
            return
        yield range(first, first + AT_ONCE)


def run(name: str, seed: int, stretches: Iterable[Collection[int]]) -> int:
    """Run the inputs of a part, say how many there were, and return the number of faults."""
    part = PARTS[name]
    night = getattr(import_module(part.module), part.night)
    tried = faults = 0
    for numbers in stretches:
        faults += night(seed, numbers)
        tried += len(numbers)
    sys.stdout.write(f"{name}: {tried} {part.what}, seed {seed}: {faults} faults\n")
    sys.stdout.flush()
    return faults


def main(words: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the input of this number alone")
    parser.add_argument("--since", help="a commit: what does not differ from it is left out")
    asked = parser.parse_args(words)
    if unknown := [name for name in asked.parts if name not in PARTS]:
        parser.error(f"no part is called {unknown[0]}: {', '.join(PARTS)}")
    names = chosen(asked.parts, None if asked.since is None else touched(asked.since))
    minute = 60 * asked.minutes / sum(PARTS[name].share for name in names or PARTS)
    faults = 0
    for name in names:
        seconds = minute * PARTS[name].share
        if name == "mutants":
            faults += import_module(PARTS[name].module).court(asked.since, seconds, asked.seed)
        else:
            faults += run(name, asked.seed, stretches(seconds) if asked.only is None else [[asked.only]])
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
