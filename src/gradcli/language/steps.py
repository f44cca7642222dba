"""What a program becomes: steps that run in order, each with a place for its errors."""

from __future__ import annotations

from typing import NamedTuple

from gradcli.errors import GradcliError, Span
from gradcli.language.indexing import Registers, Run


class Step(NamedTuple):
    """One thing to do: run, and keep the result in a register."""

    target: int
    run: Run
    span: Span | None


Block = list[Step]


def execute(block: Block, registers: Registers) -> None:
    """Run steps in order; an error without a place gets that of the step where it arose."""
    place = None
    try:
        for target, run, span in block:
            place = span
            registers[target] = run(registers)
    except GradcliError as error:
        raise error.at(place) from None
