"""What an answer of ``check`` holds: plain records, which ``checking`` fills and ``render`` reads."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from gradcli.errors.hints import listed
from gradcli.exact.work import ALL
from gradcli.explanation.results import Note
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
    point: dict[str, Array] = dataclasses.field(default_factory=dict)

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
    - ``misfit``: of what is expected in another shape, both shapes and what may have happened; empty where it fits.
    - ``standard``: what the first route is held to, such as ``the digits of float32``; empty where nothing chose it.

    >>> [(one.routes, one.compared, one.wrong) for one in gradcli.check("x**2", x=3.0).comparisons]
    [(('symbols', 'many digits'), 1, 0), (('reverse mode', 'many digits'), 1, 0)]
    """

    routes: tuple[str, str]
    worst: Entry | None
    compared: int
    unclear: int
    wrong: int
    finite: bool
    misfit: str = ""
    standard: str = ""

    @property
    def digits(self) -> float:
        """The fewest right digits of an entry; nan where the routes were held against each other alone."""
        if self.misfit:
            return 0.0
        return ALL if self.worst is None else self.worst.digits


@dataclass(frozen=True, slots=True)
class FunctionVerdict:
    """Whether the backward that a script wrote for a function is the derivative of its forward.

    - ``name``: the name of the function.
    - ``verdict``: ``right``, ``wrong`` or ``unclear``.
    - ``inputs``: the arguments whose gradients are wrong.
    - ``reason``: why it is unclear.
    - ``kink``: at a kink of the forward it takes another slope in ``inputs`` than the conventions do: one between those
      beside the kink, which is right.
    - ``right_here``: it is right for the cotangents of this run, and wrong in ``inputs`` for others. Where the only one
      is 1, as that of a loss, it is ``right`` even so: such a function may leave it out.
    """

    name: str
    verdict: str
    inputs: tuple[str, ...] = ()
    reason: str = ""
    right_here: bool = False
    kink: bool = False

    @property
    def where(self) -> str:
        """The arguments whose gradients are wrong, in words."""
        return f"input{'s' * (len(self.inputs) > 1)} {listed(self.inputs, len(self.inputs))}"

    @property
    def sentence(self) -> str:
        """What is to be said of it."""
        if self.verdict == "wrong":
            but = ", though it is for the gradient that arrives in this call" if self.right_here else ""
            return f"the backward of {self.name} is not the derivative of its forward ({self.where}){but}"
        if self.verdict == "unclear":
            return (
                f"the backward of {self.name} could not be compared with the derivative of its forward: {self.reason}"
            )
        if self.right_here:
            return f"the backward of {self.name} is right only where the gradient that arrives is 1 ({self.where})"
        if self.kink:
            return f"the backward of {self.name} chooses its slope at a kink of its forward ({self.where})"
        return f"the backward of {self.name} is the derivative of its forward"


@dataclass(frozen=True, slots=True)
class Expectation:
    """A derivative that the user expects, or that his script computes, beside the true one, over all points.

    - ``variable``: what the script or the formula calls the value that it is by.
    - ``text``: what is expected, as it was typed: ``dW1``, ``grads['W1']``, ``2*x``.
    - ``digits``: the fewest right digits of an entry, as the script computed it.
    - ``compared``, ``wrong``, ``unclear``: how many entries were asked, differ, and could not be decided.
    - ``worst``: the entry with the fewest right digits; None where there is none.
    - ``mistake``: what has probably gone wrong; empty where nothing fits.
    - ``first_wrong``: the first gradient of the script that is wrong on the way to a wrong one.
    - ``misfit``: of what has another shape, both shapes and what may have happened; empty where it fits.
    - ``standard``: what it is held to, such as ``the digits of float32``; empty where nothing chose it.
    - ``entry``: which entry of a nested list the worst one is; empty for arrays.
    - ``fixed``: whether it is numbers: these were held at the point given alone.
    - ``inner``: whether it is by a value that the script computes, and so held against reverse mode in doubles.
    - ``points``: at how many points it is wrong.
    - ``from_file``: whether the text is the name of a file.

    >>> gradcli.check("x**3", x=2.0, expect="x**2").expected[0].verdict
    'wrong'
    """

    variable: str
    text: str
    digits: float
    compared: int
    wrong: int
    unclear: int
    worst: Entry | None
    mistake: str = ""
    first_wrong: str = ""
    misfit: str = ""
    standard: str = ""
    entry: str = ""
    inner: bool = False
    points: int = 0
    from_file: bool = False
    fixed: bool = False

    @property
    def verdict(self) -> str:
        """``right``, ``wrong`` or ``unclear``."""
        return "wrong" if self.wrong else "unclear" if self.unclear else "right"

    def undecided(self) -> Expectation:
        """Return it where the truth, or the number itself, may be another one: not wrong, and nothing of a mistake."""
        return dataclasses.replace(
            self, wrong=0, unclear=max(1, self.compared), worst=None, mistake="", misfit="", first_wrong=""
        )

    def beside(self, other: Expectation) -> Expectation:
        """Return what two points say of it together."""
        first, second = sorted((self, other), key=lambda one: (not one.wrong, one.digits))
        return dataclasses.replace(
            first,
            digits=min(self.digits, other.digits),
            compared=self.compared + other.compared,
            wrong=self.wrong + other.wrong,
            unclear=self.unclear + other.unclear,
            mistake=first.mistake if first.mistake == second.mistake or not second.wrong else "",
        )


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
    - ``points``: how many points were given.
    - ``reproduce``: on a command line that found something wrong, the one that checks the failing point alone.
    - ``expected``: what is expected, each beside the true derivative.
    - ``by_script``: whether the script itself computes what is expected.
    - ``functions``: the verdict on each function whose backward the script wrote, by its name.
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
    points: int = 1
    reproduce: str = ""
    expected: list[Expectation] = dataclasses.field(default_factory=list)
    by_script: bool = False
    functions: dict[str, FunctionVerdict] = dataclasses.field(default_factory=dict)
    asked: Asked = dataclasses.field(default_factory=Asked)
    needed: int = 0

    @property
    def verdict(self) -> str:
        """``right``, ``wrong``, ``unclear`` or ``not-finite``; of a script's own gradients theirs."""
        said = {one.verdict for one in self.expected} | {one.verdict for one in self.functions.values()}
        if self.by_script:
            return next((word for word in ("wrong", "unclear") if word in said), "right")
        if self.misprints or "wrong" in said or any(comparison.wrong for comparison in self.comparisons):
            return "wrong"
        if not self.finite:
            return "not-finite"
        return "unclear" if self.reason or "unclear" in said else "right"

    @property
    def agree(self) -> bool:
        """Whether no number is wrong, and every one was decided."""
        return self.verdict in ("right", "not-finite")

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
        compared = [c for c in self.comparisons if c.routes[1] == DIGITS and c.compared]
        return {c.routes[0]: min(d.digits for d in compared if d.routes == c.routes) for c in compared}
