"""What a program becomes: steps that run in order, each with a place for its errors."""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.errors import GradcliError, Span
from gradcli.language.indexing import Registers, Run


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: run, and keep the result in a register."""

    target: int
    run: Run
    span: Span | None


Block = list[Step]


def execute(block: Block, registers: Registers) -> None:
    """Run steps in order; an error without a place gets that of the step where it arose."""
    step = None
    try:
        for step in block:
            registers[step.target] = step.run(registers)
    except GradcliError as error:
        raise error.at(step.span if step else None) from None
