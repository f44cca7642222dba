"""Hold gradcli against the oracle on random programs: ``python tests/random_programs.py --count 5000 --seed 7``."""

from __future__ import annotations

import sys
import time

from generator.compare import Worst, Wrong, check
from generator.nightly import main
from generator.programs import random_program

REPORT_EVERY, EXPLAINED = 250, 7


def checked(program):
    """Return how close gradcli comes on one program; raises ``Wrong`` with what reproduces it.

    Every seventh program is explained as a whole: the formulas take longer than all the numbers.
    """
    try:
        return check(program, whole=program.number % EXPLAINED == 0)
    except Exception as error:  # a refusal and a crash are failures too: every program here is one of the language
        raise Wrong(f"{program}\n{type(error).__name__}: {error}") from error


def night(seed, numbers, out=sys.stdout):
    """Check many programs, print the seed, progress and failures, and return the number of failures."""
    print(f"seed {seed}", file=out, flush=True)
    failures, worst, start = 0, Worst(), time.monotonic()
    for done, number in enumerate(numbers, 1):
        try:
            worst = worst.joined(checked(random_program(seed, number)))
        except Wrong as wrong:
            failures += 1
            print(f"\nFAILURE {failures}\n{wrong}\n", file=out, flush=True)
        if done % REPORT_EVERY == 0 or done == len(numbers):
            print(
                f"{done} programs, {failures} failures, {time.monotonic() - start:.0f} s, {worst}", file=out, flush=True
            )
    return failures


if __name__ == "__main__":
    sys.exit(main(night, __doc__))
