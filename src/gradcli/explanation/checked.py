"""What an answer of ``check`` holds: plain records, which ``checking`` fills and ``render`` reads."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from gradcli.exact.thresholds import ALL
from gradcli.explanation.explained import Note
from gradcli.ops.declare import Array
from gradcli.records import dataclass

if TYPE_CHECKING:
    from gradcli.explanation.timeline import Timeline

SYMBOLS, REVERSE, DIGITS, EXPECTED = "symbols", "reverse mode", "many digits", "--expect"
"""The names of the routes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of J, or of a gradient, by two routes.

    - ``variable``: its name.
    - ``row``, ``column``: what the entries of y and of the variable are called; ``row`` is empty for a gradient.
    - ``routes``: the names of the two routes.
    - ``values``: the numbers by both.
    - ``digits``: how many digits of the first are right; nan where the routes were held against each other alone.
    - ``tolerance``: the distance up to which they agree.
    - ``point``: the value of every variable.

    >>> worst = gradcli.check("x**3", x=2.0, expect="x**2").comparisons[-1].worst
    >>> worst.place, worst.values
    ('dy/dx', (4.0, 12.0))
    """

    variable: str
    row: str
    column: str
    routes: tuple[str, str]
    values: tuple[float, float]
    digits: float
    tolerance: float
    point: dict[str, Array]

    @property
    def place(self) -> str:
        """How to name the entry: of J, or of the gradient."""
        gradient = self.column.replace(self.variable, f"{self.variable}.grad", 1)
        return f"d{self.row}/d{self.column}" if self.row else gradient

    @property
    def error(self) -> float:
        """The distance of the routes."""
        return abs(self.values[0] - self.values[1])

    @property
    def units(self) -> float:
        """The error over the tolerance: 1 is the most that agrees; infinite where one route alone is finite."""
        if np.isfinite(self.values[0]) != np.isfinite(self.values[1]):
            return float("inf")
        return self.error / self.tolerance if self.tolerance and np.isfinite(self.error) else 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """A route held against another, over all entries, variables and points.

    - ``routes``: the names of the two, the second of which is mostly ``many digits``.
    - ``worst``: the entry with the fewest right digits; None where there is none.
    - ``compared``, ``unclear``, ``wrong``: how many entries were held against each other, how many could not be, and
      how many differ.
    - ``finite``: whether the first route is finite everywhere.

    >>> [(one.routes, one.compared, one.wrong) for one in gradcli.check("x**2", x=3.0).comparisons]
    [(('symbols', 'many digits'), 1, 0), (('reverse mode', 'many digits'), 1, 0)]
    """

    routes: tuple[str, str]
    worst: Entry | None
    compared: int
    unclear: int
    wrong: int
    finite: bool

    @property
    def digits(self) -> float:
        """The fewest right digits of an entry; nan where the routes were held against each other alone."""
        return ALL if self.worst is None else self.worst.digits


@dataclass(frozen=True, slots=True)
class Asked:
    """Which entries of J were asked for in many digits, at the point that was given.

    - ``entries``: how many J has, by all variables.
    - ``single``: how many of them were asked for one by one, those that are 0 for every input included.
    - ``directions``: random directions along which all the others were, at once.

    >>> gradcli.check("x**2", x=[1.0, 2.0]).asked
    Asked(entries=4, single=4, directions=0)
    """

    entries: int = 0
    single: int = 0
    directions: int = 0

    @property
    def how(self) -> str:
        """``all``, ``sampled`` where some entries were picked beside the directions, or ``along a direction``."""
        if self.single == self.entries:
            return "all"
        return "sampled" if self.single else "along a direction"


@dataclasses.dataclass(frozen=True, slots=True)
class Checked:
    """All that an answer of ``check`` holds, without the ways to show it, which ``Check`` adds.

    - ``program``: the text.
    - ``inputs``: the value of every variable at the point that was given, by its name.
    - ``differentiated``: the names of those that derivatives are by.
    - ``comparisons``: one for each pair of routes.
    - ``samples``, ``wanted``, ``seed``: random points that were looked at, those that were asked for, and the seed.
    - ``notes``: what deserves a sentence.
    - ``hint``: what an expected derivative may have gone wrong with; empty where there is nothing to say.
    - ``reason``: why something could not be decided; empty where all was.
    - ``value_finite``: whether y is finite at every point.
    - ``formulas``, ``misprints``: how many formulas of ``explain`` were read back, and what is said of each that is not
      the number beside it.
    - ``backward_lines``, ``backward_read``: the lines of the backward pass, and how many of them were read back and
      give the engine's number.
    - ``timeline``: what the script did that was checked; None for a formula.
    - ``labels``: what the script calls a variable whose name here is an identifier.
    - ``asked``: which entries of J were asked for in many digits.
    - ``needed``: the budget ``work`` that is enough to decide what is unclear; 0 where that is not known.
    """

    program: str
    inputs: dict[str, Array]
    differentiated: tuple[str, ...]
    comparisons: list[Comparison]
    samples: int
    wanted: int
    seed: int
    notes: list[Note]
    hint: str
    reason: str
    value_finite: bool
    formulas: int
    misprints: list[str]
    backward_lines: int = 0
    backward_read: int = 0
    timeline: Timeline | None = None
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    asked: Asked = dataclasses.field(default_factory=Asked)
    needed: int = 0

    @property
    def verdict(self) -> str:
        """``agree``, ``differ``, ``unclear`` or ``not-finite``."""
        if self.misprints or any(comparison.wrong for comparison in self.comparisons):
            return "differ"
        if not self.finite:
            return "not-finite"
        return "unclear" if self.reason else "agree"

    @property
    def agree(self) -> bool:
        """Whether no number is wrong, and every one was decided."""
        return self.verdict in ("agree", "not-finite")

    @property
    def finite(self) -> bool:
        """Whether y and J are finite."""
        return self.value_finite and all(comparison.finite for comparison in self.comparisons)

    @property
    def routes(self) -> list[str]:
        """The names of all routes that were held against the truth, each once."""
        return list(dict.fromkeys(c.routes[0] for c in self.comparisons if c.routes[1] == DIGITS))

    @property
    def digits(self) -> dict[str, float]:
        """The fewest right digits of each route, 16 at most."""
        told = [c for c in self.comparisons if c.routes[1] == DIGITS and c.compared]
        return {c.routes[0]: min(d.digits for d in told if d.routes == c.routes) for c in told}
