"""PyTorch's samples of its calls, whose oracle is PyTorch: y, J, the gradient, formulas and ``check``."""

import sys

from generator.in_torch import doubles
from generator.judges import faults
from generator.samples import NAMES, sampled

CHECKED = 5
"""Of so many programs one is asked of ``check`` too, which takes as long as the rest."""

NOT_TAKEN = (
    "softmin takes no argument 'dtype'",
    "gather: the index has shape",
    "differ in length",
    "q is a plain number",
)
"""What is refused with a sentence and PyTorch takes, beside arrays of no entries."""


def is_fault(program, kind, fault):
    """Return whether an answer is wrong: no refusal on purpose, and no formula in words that PyTorch has not."""
    empty = not all(x.size for x in program.inputs.values())
    refused = kind == "refusal" and (empty or any(words in fault for words in NOT_TAKEN))
    return kind != "unread" and not refused


def findings(seed, number):
    """Return the program of a number and what is wrong in gradcli's answer; no program where PyTorch has no sample."""
    with doubles():
        program = sampled(NAMES[number % len(NAMES)], seed + number)
        wrong = [] if program is None else faults(program, confirmed=number % CHECKED == 0)
        return program, [(kind, fault) for kind, fault in wrong if is_fault(program, kind, fault)]


def night(seed, numbers, out=sys.stdout):
    """Run programs, print those whose answer differs, and return how many those are."""
    failed = 0
    for number in numbers:
        program, wrong = findings(seed, number)
        failed += bool(wrong)
        for kind, fault in wrong[:3]:
            print(f"python tests/night.py calls --seed {seed} --only {number}\n{program}", file=out)
            print(f"    {kind}: {fault[:400]}", file=out, flush=True)
    return failed
