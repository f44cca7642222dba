"""Random programs of PyTorch's vocabulary whose oracle is PyTorch: y, J, the gradient, formulas and ``check``.

Every third program has numbers at the edge (zeros, ties, bounds, saturation), every fifth axes without entries.
"""

import sys
from collections.abc import Iterable
from typing import TextIO

from generator.calls.growing import grown
from generator.in_torch import doubles
from generator.judges import Truth, faults

CHECKED = 5
"""Of so many programs one is asked of ``check`` too, which takes as long as the rest."""


def mode_of(number: int) -> str:
    """Return the mode of a program."""
    return "edge" if number % 3 == 2 else "empty" if number % 5 == 4 else "plain"


def findings(seed: int, number: int) -> tuple[Truth | None, list[tuple[str, str]]]:
    """Return the program of a number and what is wrong in gradcli's answer; no program where PyTorch took none."""
    with doubles():
        mode = mode_of(number)
        program, _ = grown(seed, number, mode)
        if program is None:
            return None, []
        return program, faults(program, confirmed=number % CHECKED == 0, edge=mode == "edge")


def night(seed: int, numbers: Iterable[int], out: TextIO = sys.stdout) -> int:
    """Run programs, print those whose answer differs, and return how many those are."""
    failed = 0
    for number in numbers:
        program, wrong = findings(seed, number)
        failed += bool(wrong)
        for kind, fault in wrong[:3]:
            print(f"python tests/night.py calls --seed {seed} --only {number}\n{program}", file=out)
            print(f"    {kind}: {fault[:400]}", file=out, flush=True)
    return failed
