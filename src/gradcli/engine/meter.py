"""What a run has cost so far, and what it may cost: elements, operations, turns and seconds."""

from __future__ import annotations

import math
import time

from gradcli.errors import Budget, over_budget
from gradcli.errors.counting import counted
from gradcli.records import dataclass, field

LARGE = 4096
"""Entries of an array from which the clock is looked at for it alone."""
TURNS = 64
"""Small operations, or turns of a loop, after which the clock is looked at."""
SHORT = 0.25
"""Seconds after which a run is long enough to ask for the time of the processor."""


@dataclass(slots=True)
class Meter:
    """What one run and its derivatives cost, held against a budget.

    ``elements`` counts those of all arrays, ``turns`` those of all loops; ``look`` is the number of operations at which
    the clock is looked at next, and until ``deadline`` the time is known not to be over.
    """

    budget: Budget
    turns: int = 0
    elements: int = 0
    look: int = 0
    deadline: float = field(init=False)
    started: float | None = None

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin the time anew: what is read of a run later has nothing to do with what was done since."""
        self.deadline, self.started = time.monotonic() + min(SHORT, self.budget.seconds), None

    def charge(self, elements: int) -> None:
        """Refuse an array of so many elements, before it is made, if it would pass the budget."""
        if elements > self.budget.elements:
            raise over_budget("elements", self.budget.elements, f"an array of {counted(elements, 'element')}")
        if self.elements + elements > self.budget.total:
            raise over_budget("total", self.budget.total, "all arrays of the program together")

    def charge_empty(self, shape: tuple[int, ...]) -> int:
        """Charge for an array without entries as for its other axes, along which it is written; return for how much."""
        rows = math.prod(length for length in shape if length)
        self.charge(rows)
        return rows

    def count(self, operations: int) -> None:
        """Look at the clock, and at what so many operations hold; raises ``budget`` or ``seconds``."""
        if operations >= self.budget.nodes:
            raise over_budget("nodes", self.budget.nodes, "the program runs too many operations")
        if self.elements > self.budget.total:
            raise over_budget("total", self.budget.total, "all arrays of the program together")
        self.watch()
        self.look = min(self.budget.nodes, operations + TURNS)

    def turn(self) -> None:
        """Count one turn of a loop; raises ``budget`` for too many, or when the time is over."""
        self.turns += 1
        if self.turns > self.budget.turns:
            raise over_budget("turns", self.budget.turns, "the loop does not end")
        if not self.turns % TURNS:
            self.watch()

    def watch(self) -> None:
        """Look at the clock; raises ``seconds`` when the time for this run and its derivatives is over.

        What counts is the time of the processor, so that a busy machine does not refuse what an idle one answers. To
        ask for it is dear where a machine is busy, and most runs are over before: the clock on the wall says when.
        """
        now = time.monotonic()
        if now <= self.deadline:
            return
        if self.started is None:
            self.started = time.thread_time() - min(SHORT, self.budget.seconds)
        spent = time.thread_time() - self.started
        if spent > self.budget.seconds:
            raise over_budget("seconds", self.budget.seconds, "the program takes too long")
        self.deadline = now + self.budget.seconds - spent
