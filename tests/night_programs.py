"""Random programs over the whole language, held against many digits, and against PyTorch where it takes them."""

import sys

from generator import in_digits
from generator.programs import random_program
from oracles import TORCH

CONFIRMED = 3
"""Of so many programs one is asked of ``check`` too."""


def findings(program):
    """Return what is wrong in the answer to a program."""
    wrong = in_digits.faults(program, confirmed=program.number % CONFIRMED == 0)
    return [*wrong, *(by_pytorch(program) if TORCH else [])]


def by_pytorch(program):
    """Return where PyTorch says otherwise: nothing where it does not take the program."""
    from generator.in_torch import REFUSED, doubles
    from generator.judges import faults, of_pytorch

    with doubles():
        try:
            truth = of_pytorch(program.text, program.inputs, lambda _: program.v, program.wrt, own=False)
        except REFUSED:
            return []
        return [f"{kind}: {fault}" for kind, fault in faults(truth) if kind != "unread"]  # words that PyTorch has not


def night(seed, numbers, out=sys.stdout):
    """Check programs, print the faults with what reproduces them, and return how many there were."""
    count = 0
    for number in numbers:
        program = random_program(seed, number)
        for fault in findings(program)[:3]:
            count += 1
            print(f"{program}\n    {fault}", file=out, flush=True)
    return count
