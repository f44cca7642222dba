"""Random programs of PyTorch's vocabulary whose oracle is PyTorch: y, J, the gradient, formulas and ``check``.

``python tests/live_programs.py --count 2000 --seed 7`` runs many and prints what differs. It needs PyTorch. Every third
program has numbers at the edge (zeros, ties, bounds, saturation), every fifth axes without entries.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

import torch

from generator.nightly import main
from live.grow import grown
from live.judge import Program, faults

CHECKED = 5
"""Of so many programs one is asked of ``check`` too, which takes as long as the rest."""


def mode_of(number: int) -> str:
    """Return the mode of a program."""
    return "edge" if number % 3 == 2 else "empty" if number % 5 == 4 else "plain"


def findings(seed: int, number: int) -> tuple[Program | None, list[tuple[str, str]]]:
    """Return the program of a number and what is wrong in gradcli's answer; no program where PyTorch took none."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        mode = mode_of(number)
        program, _ = grown(seed, number, mode)
        if program is None:
            return None, []
        return program, faults(program, confirmed=number % CHECKED == 0, edge=mode == "edge")
    finally:
        torch.set_default_dtype(before)


def night(seed: int, numbers: Sequence[int], out: TextIO = sys.stdout) -> int:
    """Run many programs, print those whose answer differs, and return how many those are."""
    ran = failed = 0
    for number in numbers:
        program, wrong = findings(seed, number)
        ran += program is not None
        failed += bool(wrong)
        if wrong:
            print(f"python tests/live_programs.py --seed {seed} --only {number}\n{program}", file=out)
            for kind, fault in wrong[:3]:
                print(f"    {kind}: {fault[:400]}", file=out, flush=True)
    print(f"{ran} of {len(numbers)} programs ran in PyTorch, {failed} with another answer here", file=out)
    return failed


if __name__ == "__main__":
    sys.exit(main(night, __doc__, seed=1, count=2000))
