"""What a program becomes: steps that run in order, each with a place for its errors; and registers for their values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from gradcli.errors import GradcliError, Place, Span
from gradcli.language.indexing import Registers, Run
from gradcli.language.trace import Writer


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


class Allocation:
    """Gives registers to values. Register 0 holds the graph when the program runs.

    ``recent`` are the registers of this statement that are still to be read, ``waiting`` those of them that were there
    when a write in the middle of an expression began: it changes what they show. ``writes`` says that there is a
    statement which writes to a value in place, if that is a tensor.
    """

    def __init__(self, place: Place, max_depth: int, given: frozenset[str] = frozenset()) -> None:
        self.place = place
        self.writer = Writer(place.text)
        self.spans = self.writer.spans
        self.block: Block = []
        self.count = 1
        self.temporary: set[int] = set()
        self.recent: set[int] = set()
        self.waiting: tuple[int, ...] = ()
        self.spare: list[int] = []
        self.constants: dict[int, Any] = {}
        self.variables: dict[str, int] = {}
        self.definite: set[str] = set()
        self.assigned: set[str] = set()
        self.free: dict[str, Span] = {}
        self.given = given
        self.loop_arrays: list[int] = []
        self.calls: dict[ast.Call, Callable[[list[int]], Run]] = {}
        self.truths: set[ast.BoolOp] = set()
        self.writes = False
        self.level = 0
        self.max_depth = max_depth

    def register(self) -> int:
        """Return a new register."""
        self.count += 1
        return self.count - 1

    def constant(self, value: object) -> int:
        """Return a register that holds ``value`` from the start."""
        register = self.register()
        self.constants[register] = value
        return register

    def emit(self, run: Run, node: ast.AST) -> int:
        """Add a step and return its register."""
        register = self.spare.pop() if self.spare else self.register()
        self.temporary.add(register)
        self.recent.add(register)
        self.block.append(Step(register, run, self.spans.of(node)))
        return register

    def release(self, registers: Iterable[int]) -> None:
        """Let later steps write to these registers, if they hold no variable and no constant: nobody reads them again.

        So a large value on the way to another does not outlive its use.
        """
        self.spare.extend(register for register in registers if register in self.temporary)
        self.temporary.difference_update(registers)
        self.recent.difference_update(registers)

    def variable(self, name: str, definite: bool) -> int:
        """Return the register of a variable; ``definite`` says that it has a value from here on."""
        if name not in self.variables:
            self.variables[name] = self.register()
        (self.definite if definite else self.assigned).add(name)
        return self.variables[name]

    def others(self, name: str) -> Callable[[], Iterator[tuple[str, int]]]:
        """Return what yields the registers that may share memory with a variable, with their variables' names.

        A loop over an array keeps it in a register without a name, and so does an expression with a write in it.
        """
        self.writes = True
        variables, nameless = self.variables, (*self.loop_arrays, *self.waiting)
        return lambda: chain(
            (item for item in variables.items() if item[0] != name), (("", register) for register in nameless)
        )
