"""Every formula of an answer, read back by the language in many digits and held against the number beside it."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Graph, Operation
from gradcli.errors import Budget, GivenUp, GradcliError
from gradcli.errors.hints import counted
from gradcli.exact.judge import right_digits
from gradcli.exact.real import digits, lifted
from gradcli.exact.run import run
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import CLOSE, FEWEST, ROUNDING, SAME
from gradcli.exact.work import Spent, Work, charge, paid_from
from gradcli.explanation.confirmation import spent_text
from gradcli.explanation.evaluation import Function, Run, stand
from gradcli.explanation.explained import Explained
from gradcli.explanation.explaining import Ask, explain_run
from gradcli.explanation.results import Note
from gradcli.explanation.suspicion import fits_a_check, largest
from gradcli.formulas.readback import Evaluate, Mismatch, Printed, printed, read_back
from gradcli.language.program import Program, compile_program
from gradcli.ops.declare import value_of

if TYPE_CHECKING:
    from gradcli.jacobian.composition import Composition

FEW, MANY = 100, 800
"""Digits in which formulas are evaluated, and in which those are that differ in the first."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How many formulas were read back, how many cost too much, and what is said of each that is wrong.

    ``backward_lines`` are the lines of the backward pass, ``backward_read`` those that give the engine's number.
    """

    count: int = 0
    unread: int = 0
    misprints: list[str] = field(default_factory=list)
    backward_lines: int = 0
    backward_read: int = 0
    why: str = ""

    @property
    def notes(self) -> list[Note]:
        """That formulas were not read back, if so."""
        are = f"{counted(self.unread, 'formula')} {'was' if self.unread == 1 else 'were'}"
        return [Note("unread", f"{are} not evaluated again: {self.why}.")] if self.unread else []

    def undecided(self, why: str) -> Reading:
        """Return this where a formula that differs need not be wrong, for the reason ``why``: it counts as unread."""
        if not self.misprints:
            return self
        count = len(self.misprints)
        return replace(self, count=self.count - count, unread=self.unread + count, misprints=[], why=why)


def read_formulas(
    function: Function, point: dict[str, Any], v: object, run: Run, composition: Composition, dust: float
) -> Reading:
    """Read back every formula that ``explain`` prints at a point, where the program was run and its J composed.

    A number that has lost its digits is no fault of the formula beside it, which gives the same in double precision.
    ``dust`` is the size of the terms of what rounding has left of true zeros, 0 where there are none.
    """
    seed = np.ones(run.value.shape) if v is None else v
    at = stand(function, point, [seed], strict=False, run=run)
    answer = explain_run(at, Ask.NEVER, Explained, composition=composition)
    budget = replace(function.program.budget, text=64_000, syntax=1_000_000, depth=1_000)
    page = Page(answer, budget, Work(budget.work))
    with np.errstate(all="ignore"):
        if not fits_a_check(at.graph, readings(at.graph, answer)):
            reading = reading_of(page, page.read(DOUBLES), dust, ROUNDING)
            return reading.undecided(f"double precision gives other numbers, and in more digits {reading.why}")
        return reading_of(page, read_twice(page, partial(true_output, at)), dust, ROUNDING if dust else float(SAME))


LETTER = 2
"""Units of work that it costs to read one letter."""
DOUBLES = 0
"""In place of a number of digits: double precision."""


@dataclass
class Page:
    """The formulas of an answer, which are read back until the work is used up; ``unread`` are those left then."""

    answer: Explained
    budget: Budget
    work: Work
    unread: set[str] = field(default_factory=set)
    why: str = ""
    _at: str = ""
    _known: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    @cached_property
    def items(self) -> list[Printed]:
        """Every formula of the answer."""
        return list(printed(self.answer))

    def read(self, count: int, suspects: Container[str] | None = None) -> list[Mismatch]:
        """Read the formulas back in so many digits, or those of the ``suspects`` with the definitions they may use."""

        def asked(item: Printed) -> bool:
            if suspects is not None and not item.name and item.stands not in suspects:
                return False
            self._at = item.stands
            return True

        evaluate = partial(self._within_work, self._exactly if count else self._in_doubles)
        with digits(count) if count else nullcontext(), paid_from(self.work):
            return read_back(self.answer, evaluate, float(CLOSE), asked=asked, items=self.items)[1]

    def _within_work(self, evaluate: Evaluate, formula: str, names: Mapping[str, object]) -> Any:
        try:
            charge(LETTER * len(formula))
            return evaluate(formula, names)
        except Spent:
            self.unread.add(self._at)
            self.why = spent_text(self.work.most)
            return None

    def _exactly(self, formula: str, names: Mapping[str, object]) -> Any:
        program = self._compiled(formula, names)
        return run(program, {name: self._lifted(name, names[name]) for name in program.inputs}, frozenset()).output

    def _in_doubles(self, formula: str, names: Mapping[str, object]) -> Any:
        program = self._compiled(formula, names)
        return np.asarray(value_of(program.evaluate({name: names[name] for name in program.inputs}, frozenset())[1]))

    def _compiled(self, formula: str, names: Mapping[str, object]) -> Program:
        return replace(compile_program(formula, self.budget, frozenset(names)), truths=True)

    def _lifted(self, name: str, value: object) -> Any:
        if name not in self._known or self._known[name][0] is not value:
            self._known[name] = value, lifted(np.asarray(value))
        return self._known[name][1]


def readings(graph: Graph, answer: Explained) -> int:
    """Return how often the work of a run is done as its formulas are read: once, or in each where one has a whole op.

    Such are decompositions, which are found step by step: each entry of J calls them again.
    """
    done = [node.op for node in graph.nodes if isinstance(node, Operation)]
    whole = any(op.digits is not None and op.exact.work is not None for op in done)
    return sum(len(j.formulas or ()) for j in answer.jacobian.values()) * CALLS if whole else 1


CALLS = 10
"""Calls of a decomposition in the formula of an entry."""


def read_twice(page: Page, output: Callable[[], list[Decimal]]) -> list[Mismatch]:
    """Read the formulas of an answer back in many digits, those that differ in doubles too, and in more digits.

    Returns those that are not the numbers beside them. Where one is not, the ``output`` is asked for: a formula that
    gives it is right beside a number that rounding lost.
    """
    wrong = page.read(FEW)
    for count in (DOUBLES, MANY):
        if wrong:
            wrong = page.read(count, {found.stands for found in wrong})
    truths = output() if wrong else []
    return [found for found in wrong if not (truths and gives_output(found, page.answer, truths))]


def true_output(at: Run) -> list[Decimal]:
    """Return the output at a point in many digits, in flat order; nothing where that cannot be found."""
    try:
        return Exact(at.function.program, at.inputs, at.names).values()
    except GivenUp:
        raise
    except (GradcliError, Spent):
        return []


def gives_output(found: Mismatch, answer: Explained, truths: list[Decimal]) -> bool:
    """Return whether a formula has the true value of an entry of the output where the number beside it has not."""
    if not found.stands.startswith("forward") or isinstance(found.found, str):
        return False
    if np.ndim(found.found) or np.ndim(found.number):
        return False
    beside = [truth for truth, y in zip(truths, np.ravel(answer.output), strict=True) if y == found.number]
    return any(right_digits(float(np.asarray(found.found)), truth) >= FEWEST for truth in beside)


def reading_of(page: Page, wrong: list[Mismatch], dust: float, least: float) -> Reading:
    """Return what was read, with what is wrong beyond rounding; a formula is 0 from ``least`` of the terms down.

    The terms of a derivative are those of J, those of a value may be as large as the inputs.
    """
    answer = page.answer
    size = max((float(np.max(j.sizes, initial=0.0)) for j in answer.jacobian.values()), default=0.0)
    terms = max(size if np.isfinite(size) else 0.0, dust)
    inputs = max(map(largest, answer.inputs.values()), default=0.0)
    misprints = [
        misprint(found)
        for found in wrong
        if not is_rounding(found, max(terms, inputs) if found.stands.startswith(VALUES) else terms, least)
    ]
    count, unread = len(page.items), len(page.unread)
    lines = [rule.text is not None for rule in answer.rules]
    return Reading(count - unread, unread, misprints, len(lines), sum(lines), page.why)


VALUES = ("definition ", "forward ")
"""Where formulas of values stand."""


def is_rounding(found: Mismatch, terms: float, least: float) -> bool:
    """Return whether a formula is 0 where rounding has left a number, or has a number where the answer has none.

    ``terms`` is the size of the largest term that the number may be a sum of.
    """
    number = np.asarray(found.number, dtype=np.float64)
    if isinstance(found.found, str) or np.shape(found.found) != number.shape:
        return False
    truth = np.asarray(found.found, dtype=np.float64)
    zero = (np.abs(truth) <= least * terms) & (np.abs(number) <= ROUNDING * terms)
    with np.errstate(all="ignore"):
        near = np.abs(truth - number) <= float(CLOSE) * np.abs(number)
    return bool(np.all(zero | near | ~np.isfinite(number)))


def misprint(found: Mismatch) -> str:
    """Return what is wrong with a formula."""
    if isinstance(found.found, str):
        return f"{found.stands}: '{found.formula}' cannot be evaluated: {found.found}"
    return f"{found.stands}: '{found.formula}' is {shown(found.found)}, and not {shown(found.number)} as beside it"


def shown(number: object) -> str:
    """Return a number, or the first of several, to read."""
    entries = np.asarray(number, dtype=np.float64).ravel()
    first = repr(float(entries[0])) if entries.size else ""
    return first if entries.size == 1 else f"[{first}, ...]"
