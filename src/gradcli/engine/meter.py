"""What a run has cost so far, and what it may cost: elements, operations, turns, memory and seconds."""

from __future__ import annotations

import gc
import math
import sys
import time
from typing import Any
from weakref import ref

import numpy as np

from gradcli.errors import Budget, over_budget
from gradcli.errors.hints import counted
from gradcli.records import dataclass, field

LARGE = 4096
"""Entries of an array from which the clock is looked at for it alone."""
TURNS = 64
"""Small operations, or turns of a loop, after which the clock is looked at."""
SHORT = 0.25
"""Seconds after which a run is long enough to ask for the time of the processor."""
GLANCE = 0.1
"""Seconds from one look at the memory to the next, unless much is made in between."""
ROOM = 1024
"""How much may be made between two looks at the memory, in units of some thousand items."""
BESIDE = 2
"""Bytes of the process for each byte that arrays may have: Python's own objects count there too."""

try:
    import resource
except ImportError:  # Windows has no such module

    def peak() -> int:
        """Return nothing where the system does not tell what a process holds."""
        return 0
else:
    UNIT = 1 if sys.platform == "darwin" else 1024

    def peak() -> int:
        """Return the most bytes that this process ever held."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


class Share(ref["np.ndarray[Any, Any]"]):
    """Tells of the end of an array how many bytes it had."""

    __slots__ = ("key", "size")
    key: int
    size: int


@dataclass(slots=True)
class Meter:
    """What one run and its derivatives cost, held against a budget.

    ``elements`` counts those of all arrays, ``turns`` those of all loops, ``steps`` what numpy goes through beside the
    entries that it makes; ``look`` is the number of operations at which
    the clock is looked at next, ``halt`` that of turns, and until ``deadline`` the time is known not to be over.
    ``live`` counts the bytes of large arrays that something still refers to, by their ``shares``, and ``ceiling`` is
    what the process may hold; it is looked at after ``glance``, or where there is no ``room`` before.
    """

    budget: Budget
    turns: int = 0
    elements: int = 0
    steps: int = 0
    look: int = 0
    deadline: float = field(init=False)
    started: float | None = None
    live: int = 0
    shares: dict[int, Share] = field(default_factory=dict)
    ceiling: int = field(init=False)
    room: int = ROOM
    halt: int = 0
    glance: float = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin the time anew: what is read of a run later has nothing to do with what was done since."""
        now = time.monotonic()
        self.deadline, self.started = now + min(SHORT, self.budget.seconds), None
        self.glance = now + GLANCE
        self.ceiling = peak() + BESIDE * self.budget.memory

    def hold(self, array: np.ndarray[Any, Any]) -> None:
        """Count the memory of a large array for as long as it lives; raises ``memory``."""
        while type(array.base) is np.ndarray:
            array = array.base
        key = id(array)
        if key in self.shares:
            return
        share = self.shares[key] = Share(array, self.let_go)
        share.key, share.size = key, array.nbytes
        self.live += share.size
        if self.live > self.budget.memory:
            gc.collect()  # what refers to itself in a ring is let go of now and then alone
            if self.live > self.budget.memory:
                raise over_budget("memory", self.budget.memory, f"arrays of {counted(self.live, 'byte')} at once")

    def let_go(self, share: Share) -> None:
        """Take an array off that is gone."""
        self.shares.pop(share.key, None)
        self.live -= share.size

    def charge(self, elements: int) -> None:
        """Refuse an array of so many elements, before it is made, if it would pass the budget."""
        if elements > self.budget.elements:
            raise over_budget("elements", self.budget.elements, f"an array of {counted(elements, 'element')}")
        if self.elements + elements > self.budget.total:
            raise over_budget("total", self.budget.total, "all arrays of the program together")

    def spend(self, steps: int) -> None:
        """Count what numpy goes through in a call, before it does; raises ``steps``."""
        self.steps += steps
        if self.steps > self.budget.steps:
            raise over_budget("steps", self.budget.steps, "numpy would go through too many numbers")

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

    def turn(self, count: int = 1, what: str = "the loop does not end") -> None:
        """Count one turn of a loop, or several; raises ``budget`` for too many, or when the time is over."""
        self.turns += count
        if self.turns >= self.halt:
            if self.turns > self.budget.turns:
                raise over_budget("turns", self.budget.turns, what)
            self.halt = min(self.budget.turns + 1, self.turns + TURNS)
            self.watch()

    def watch(self, much: int = 0) -> None:
        """Look at the clock, and now and then, or after ``much``, at the memory, which is dear.

        Raises ``memory``, or ``seconds`` when the time for this run and its derivatives is over.
        What counts is the time of the processor, so that a busy machine does not refuse what an idle one answers. To
        ask for it is dear where a machine is busy, and most runs are over before: the clock on the wall says when.
        """
        now = time.monotonic()
        self.room -= much
        if now > self.glance or self.room < 0:
            self.glance, self.room = now + GLANCE, ROOM
            if peak() > self.ceiling > 0:
                raise over_budget("memory", self.budget.memory, "too many values are held at once")
        if now <= self.deadline:
            return
        if self.started is None:
            self.started = time.thread_time() - min(SHORT, self.budget.seconds)
        spent = time.thread_time() - self.started
        if spent > self.budget.seconds:
            raise over_budget("seconds", self.budget.seconds, "the program takes too long")
        self.deadline = now + self.budget.seconds - spent
