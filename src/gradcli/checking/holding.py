"""Every formula of an answer, read back by the language in many digits and held against the number beside it.

What is expected held against the truth, entry by entry or along a direction, to as many digits as its kind has.
Along a direction, J by symbols says in double precision which entries are suspicious. Of these the worst are asked for
alone, in many digits: what they say is the truth, and no fault of double precision is taken for the user's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcli.checking.expected import ExpectedNumbers, Standard
from gradcli.checking.mistakes import fit_shape, misfit_text
from gradcli.checking.truth import Derivative, Judged, Table, Truth, always, compare_entries, sizes_beside, true_column
from gradcli.engine.graph import Graph, Operation
from gradcli.errors import Budget, GivenUp, GradcliError
from gradcli.errors.hints import counted
from gradcli.exact.judge import TINIEST, TermSizes, is_zero, right_digits, weighed
from gradcli.exact.real import digits, lifted
from gradcli.exact.run import run
from gradcli.exact.slopes import Exact, finite
from gradcli.exact.work import (
    ALL,
    CLOSE,
    FEWEST,
    MEASURED,
    NOTHING,
    RIGHT,
    ROUNDING,
    SAME,
    Spent,
    Work,
    charge,
    paid_from,
)
from gradcli.explanation.checked import DIGITS, EXPECTED, Comparison, Entry
from gradcli.explanation.confirmation import spent_text
from gradcli.explanation.evaluation import Function, Run, stand
from gradcli.explanation.explained import Explained
from gradcli.explanation.explaining import Ask, explain_run
from gradcli.explanation.results import Note
from gradcli.explanation.suspicion import fits_a_check, largest
from gradcli.formulas.readback import Evaluate, Mismatch, Printed, printed, read_back
from gradcli.language.program import Program, compile_program
from gradcli.language.values import Cotangent
from gradcli.ops.declare import Array, value_of

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
            wrong = page.read(count, {one.stands for one in wrong})
    truths = output() if wrong else []
    return [one for one in wrong if not (truths and gives_output(one, page.answer, truths))]


def true_output(at: Run) -> list[Decimal]:
    """Return the output at a point in many digits, in flat order; nothing where that cannot be found."""
    try:
        return Exact(at.function.program, at.inputs, at.names).values()
    except GivenUp:
        raise
    except (GradcliError, Spent):
        return []


def gives_output(mismatch: Mismatch, answer: Explained, truths: list[Decimal]) -> bool:
    """Return whether a formula has the true value of an entry of the output where the number beside it has not."""
    if not mismatch.stands.startswith("forward") or isinstance(mismatch.found, str):
        return False
    if np.ndim(mismatch.found) or np.ndim(mismatch.number):
        return False
    beside = [truth for truth, y in zip(truths, np.ravel(answer.output), strict=True) if y == mismatch.number]
    return any(right_digits(float(np.asarray(mismatch.found)), truth) >= FEWEST for truth in beside)


def reading_of(page: Page, wrong: list[Mismatch], dust: float, least: float) -> Reading:
    """Return what was read, with what is wrong beyond rounding; a formula is 0 from ``least`` of the terms down.

    The terms of a derivative are those of J, those of a value may be as large as the inputs.
    """
    answer = page.answer
    size = max((float(np.max(j.sizes, initial=0.0)) for j in answer.jacobian.values()), default=0.0)
    terms = max(size if np.isfinite(size) else 0.0, dust)
    inputs = max(map(largest, answer.inputs.values()), default=0.0)
    misprints = [
        misprint(one)
        for one in wrong
        if not is_rounding(one, max(terms, inputs) if one.stands.startswith(VALUES) else terms, least)
    ]
    count, unread = len(page.items), len(page.unread)
    lines = [rule.text is not None for rule in answer.rules]
    return Reading(count - unread, unread, misprints, len(lines), sum(lines), page.why)


VALUES = ("definition ", "forward ")
"""Where formulas of values stand."""


def is_rounding(mismatch: Mismatch, terms: float, least: float) -> bool:
    """Return whether a formula is 0 where rounding has left a number, or has a number where the answer has none.

    ``terms`` is the size of the largest term that the number may be a sum of.
    """
    number = np.asarray(mismatch.number, dtype=np.float64)
    if isinstance(mismatch.found, str) or np.shape(mismatch.found) != number.shape:
        return False
    truth = np.asarray(mismatch.found, dtype=np.float64)
    zero = (np.abs(truth) <= least * terms) & (np.abs(number) <= ROUNDING * terms)
    with np.errstate(all="ignore"):
        near = np.abs(truth - number) <= float(CLOSE) * np.abs(number)
    return bool(np.all(zero | near | ~np.isfinite(number)))


def misprint(one: Mismatch) -> str:
    """Return what is wrong with a formula."""
    if isinstance(one.found, str):
        return f"{one.stands}: '{one.formula}' cannot be evaluated: {one.found}"
    return f"{one.stands}: '{one.formula}' is {first_text(one.found)}, and not {first_text(one.number)} as beside it"


def first_text(number: object) -> str:
    """Return a number, or the first of several, to read."""
    entries = np.asarray(number, dtype=np.float64).ravel()
    first = repr(float(entries[0])) if entries.size else ""
    return first if entries.size == 1 else f"[{first}, ...]"


# ---- what is expected held against the truth

ROUNDINGS = 4
"""Times the terms of an entry and the spacing of its numbers: what rounding alone may leave."""
AT_MOST = 10
"""Times what the standard allows: what rounding may explain at most."""
SMALL = Decimal("1e-3")
"""The part of what an entry is held by below which it may be what a saturated function leaves, whose slope is lost."""
TINY = 1e-300
MOST_LOCATED = 3
"""Suspicious entries that are asked for one by one."""
ROUNDED = "the type of what is expected rounds the terms of an entry by as much as it is off: compute it in float64"
"""Why an entry of an array of few digits is not decided."""

Rows = Sequence[Sequence[Decimal]]


class Against(NamedTuple):
    """What an expected derivative is held against: both routes by its variable, the truth, and v."""

    both: Derivative
    truth: Truth
    seed: Cotangent | None


class Gradients(NamedTuple):
    """What is expected and what is true, as arrays of one shape."""

    expected: Array
    true: Array


class Held(NamedTuple):
    """What came of an expected derivative: the comparison, both as arrays, a note, and why something is not decided.

    The texts are empty where there is nothing to say, and there are no arrays where not every entry was asked for.
    ``wants`` says by which part of an entry and of the largest one an entry may be off.
    """

    comparison: Comparison
    wants: ExpectedNumbers
    gradients: Gradients | None = None
    note: str = ""
    unknown: str = ""


def hold_expected(readings: Iterable[ExpectedNumbers], against: Against, exact: Exact) -> Held:
    """Return how what is expected compares with the truth in the reading that is right, else in the first.

    Raises what the reading of a formula raises, and ``Spent`` where there is no work left for one.
    """
    read: list[Held] = []
    try:
        for wants in readings:
            read.append(hold_reading(wants, against, exact))
            if not read[-1].comparison.wrong:
                return read[-1]
    except Spent:
        if not read:
            raise
    return read[0]


def hold_reading(wants: ExpectedNumbers, against: Against, exact: Exact | None = None) -> Held:
    """Return how what is expected compares with the true J, or vᵀ·J where there is a v, and both as arrays.

    Without v the shape is ``y.shape + x.shape``, or that of both where y = f(x) entry by entry: then it is the
    diagonal. Where J is too large to be asked for entry by entry, both are held against each other along a direction,
    and with ``exact`` the entries alone that double precision finds wrong. Anything of another shape is wrong.
    """
    both, truth, seed = against
    direction, true, terms = truth.direction, truth.values, truth.sizes
    if seed is not None:
        weights = np.ravel(seed.seed)
        true = [[weighed(weights, column) for column in zip(*true, strict=True)]]
        terms = terms.weighed(weights[None])
    fitting = fit_shape(wants.shape, both, with_v=seed is not None)
    if not fitting.fits:
        whole = None if direction is not None else np.array([float(entry) for row in true for entry in row])
        text = misfit_text(wants.values, wants.shape, both, whole, with_v=seed is not None)
        count = max(1, len(wants.values))
        return Held(Comparison((EXPECTED, DIGITS), None, count, 0, count, finite=True, misfit=text), wants)
    columns = math.prod(both.leaf.shape)

    def in_rows(numbers: list[Decimal]) -> list[list[Decimal]]:
        places, flat = range(len(numbers)), numbers
        if fitting.diagonal:
            flat = [numbers[i] if i == j else Decimal(0) for i in places for j in places]
        return [flat[k : k + columns] for k in range(0, len(flat), columns)] if columns else []

    table = entries = in_rows(wants.values)
    limits = bounds = in_rows(wants.bounds)
    largest = beside = largest_entries(true, whole=fitting.diagonal)
    squared, by_symbols = None, np.zeros((0, 0))
    if direction is not None:
        table = [[weighed(direction, row)] for row in entries]
        limits = [[weighed(np.abs(direction), row)] for row in bounds]
        by_symbols = in_doubles(both, seed)[0]
        largest = largest_entries([[finite(entry) for entry in row] for row in by_symbols.tolist()], fitting.diagonal)
        length = finite(float(np.linalg.norm(direction)))
        beside = [length * entry for entry in largest]
        squared = None if wants.standard is None else reaches_along(entries, true, direction)
    sizes = sizes_beside(terms, table, true)
    if wants.measured or truth.rounded:
        limits = [list(map(widen, *rows)) for rows in zip(limits, true, sizes.tolist(), strict=True)]
    row = both.row if seed is None else always("")  # a gradient has no rows
    expected = Table(both.variable, EXPECTED, table, true, sizes, row, truth.column)
    comparison = compare_expected(wants, expected, limits, terms, beside, squared)
    gradients = None if direction is not None else gradients_of(table, true, fitting.true_shape)
    if direction is not None and exact is not None:
        claim = Claim(wants, entries, bounds, largest, against)
        comparison = replace(claim.locate(exact, comparison), standard=comparison.standard)
        if comparison.wrong:
            gradients = gradients_of(entries, by_symbols.tolist(), fitting.true_shape)
    name = f"{both.variable}.grad" if seed is not None else f"d{both.run.name}/d{both.variable}"
    decided = not comparison.unclear or any(entry.is_nan() for line in true for entry in line)
    loose = f"{name} has shape {wants.shape} by --expect and {fitting.true_shape} truly: only axes of length 1 differ."
    return Held(comparison, wants, gradients, loose if fitting.loosely else "", "" if decided else ROUNDED)


def compare_expected(
    wants: ExpectedNumbers,
    table: Table,
    limits: Rows,
    terms: TermSizes,
    largest: Sequence[Decimal],
    reaches: Rows | None,
) -> Comparison:
    """Return how expected numbers compare with the truth: by a standard, else by how far each may be from it.

    ``largest`` is the largest entry of the gradient in each row, ``reaches`` are the numbers by a part of which each
    entry may be off by a standard, where they are others than those of its terms. The rounding inside of values is
    looked into where an array differs that was computed elsewhere.
    """
    standard = wants.standard

    def by_limits(again: bool) -> Comparison:
        def judge(i: int, j: int, value: Any, true: Any) -> Judged:
            judged = judge_expected(value, true, limits[i][j], float(table.sizes[i, j]))
            judged = judge_beside(judged, value, true, Decimal(wants.floor) * largest[i], largest[i])
            if not again:
                return judged
            rounding = Decimal(ROUNDING) * finite(float(terms.rounded[i, j]))
            return judge_beside(judged, value, true, min(rounding, CLOSE * largest[i]), largest[i])

        return compare_entries(table, judge, 10.0**-RIGHT)

    def by_standard(standard: Standard, sizes: Array) -> Comparison:
        of_terms = reaches or reaches_of(table.truth, sizes)

        def judge(i: int, j: int, value: Any, true: Any) -> Judged:
            judged = judge_by(standard, value, true, of_terms[i][j], float(sizes[i, j]))
            return judge_beside(judged, value, true, Decimal(wants.floor) * largest[i], largest[i])

        return compare_entries(table, judge, float(standard.share))

    if standard is None:
        comparison = by_limits(again=False)
        return by_limits(again=True) if comparison.wrong and wants.computed else comparison
    comparison = by_standard(standard, table.sizes)
    if comparison.wrong and standard.spacing:
        comparison = by_standard(standard, terms.rounded)
    return replace(comparison, standard=standard.text)


def judge_plainly(value: Decimal, true: Decimal, near: Decimal = TINIEST) -> Judged | None:
    """Return the verdict on a number whose truth is not known, that is not finite, or that is ``near`` the truth."""
    if true.is_nan():
        return Judged(math.nan, right=False)
    if not value.is_finite():
        return Judged(0.0, right=False, finite=False)
    return Judged(ALL, right=True) if abs(value - true) <= max(near, TINIEST) else None


def count_digits(error: Decimal, whole: Decimal) -> float:
    """Return how many digits of a number an error leaves, all of none."""
    return min(ALL, max(0.0, -float((error / whole).log10()))) if error and whole else ALL


def judge_expected(value: Decimal, true: Decimal, bound: Decimal, size: float) -> Judged:
    """Return how many digits of an expected number are right, and whether that is enough.

    ``bound`` is how far it may be from the truth; one below 0 asks for 15 digits.
    """
    plainly = judge_plainly(value, true)
    if plainly is not None:
        return plainly
    error = abs(value - true)
    if bound >= 0:
        right = error <= max(bound, NOTHING * abs(true))
        return Judged(right_digits(float(value), true, size) if right or not is_zero(true) else 0.0, right)
    if is_zero(true):
        within = error <= NOTHING * finite(size)
        return Judged(ALL if within else 0.0, within)
    count = count_digits(error, abs(true))
    return Judged(count, count >= RIGHT)


def judge_by(standard: Standard, value: Decimal, true: Decimal, reach: Decimal, size: float) -> Judged:
    """Return how many digits of an expected number are right by a standard, and whether that is enough.

    An entry that differs by little more than it may, which the rounding of its type explains, is not decided.
    """
    plainly = judge_plainly(value, true, NOTHING * abs(true))
    if plainly is not None:
        return plainly
    error = abs(value - true)
    right = error <= standard.share * reach
    rounded = error <= Decimal(ROUNDINGS * standard.spacing) * finite(size) or abs(true) <= SMALL * reach
    if standard.spacing and not right and rounded and error <= AT_MOST * standard.share * reach:
        return Judged(math.nan, right=False)
    return Judged(count_digits(error, reach) if reach else 0.0, right)


def judge_beside(judged: Judged, value: Decimal, true: Decimal, near: Decimal, largest: Decimal) -> Judged:
    """Return the verdict on an entry that may be off by ``near``, beside the ``largest`` entry of the gradient."""
    if judged.right or not near or true.is_nan() or not value.is_finite():
        return judged
    error = abs(value - true)
    return Judged(count_digits(error, largest), right=True) if error <= near else judged


def widen(bound: Decimal, truth: Decimal, size: float) -> Decimal:
    """Return the bound of a number that was computed in double precision: rounding of its terms, 10⁻⁶ of it at most."""
    rounding = Decimal(ROUNDING) * finite(size)
    return bound if truth.is_nan() else max(bound, rounding if is_zero(truth) else min(rounding, CLOSE * abs(truth)))


def largest_entries(true: Rows, whole: bool) -> list[Decimal]:
    """Return the size of the largest entry of each row, or of the ``whole`` table for every row; 0 for none."""
    rows = [max((abs(value) for value in row if value.is_finite()), default=Decimal(0)) for row in true]
    return [max(rows)] * len(rows) if whole and rows else rows


def reaches_of(true: Rows, sizes: Array) -> list[list[Decimal]]:
    """Return for each entry the number of which it may be off by a part.

    That is the sum of the sizes of its terms, which rounding acts on, but no more than the largest entry: where all of
    them cancel, the digits of the gradient count. Where the truth is 0 there are its terms alone.
    """
    [largest, *_] = largest_entries(true, whole=True) or [Decimal(0)]

    def reach(value: Decimal, size: Decimal) -> Decimal:
        return size if value.is_nan() or is_zero(value) else max(abs(value), min(size, largest))

    return [[reach(value, finite(float(sizes[i, j]))) for j, value in enumerate(row)] for i, row in enumerate(true)]


def reaches_along(table: Rows, true: Rows, direction: Array) -> list[list[Decimal]]:
    """Return for each row, of which a random direction has made one number, that of which it may be off by a part.

    ``table`` has the entries. Their errors are of random signs along the direction, and add up as squares do: one wrong
    entry shows among many.
    """
    steps = [Decimal(step) for step in direction.tolist()]
    return [
        [max(abs(whole), sum(((step * value) ** 2 for step, value in zip(steps, row, strict=True)), Decimal(0)).sqrt())]
        for row, [whole] in zip(table, true, strict=True)
    ]


def gradients_of(table: Rows, true: Sequence[Sequence[Any]], shape: tuple[int, ...]) -> Gradients:
    """Return the rows of both tables as arrays in a shape, as they are where they have other entries."""
    both = (np.array([[float(entry) for entry in row] for row in rows]) for rows in (table, true))
    return Gradients(*(rows.reshape(shape) if rows.size == math.prod(shape) else rows for rows in both))


def in_doubles(both: Derivative, seed: Cotangent | None) -> tuple[Array, Array]:
    """Return J by symbols, or v times it, and the sizes of its terms, as matrices."""
    jacobian = both.jacobian
    values, sizes = jacobian.dense(), np.zeros(jacobian.shape)
    sizes[jacobian.rows, jacobian.columns] = np.asarray(jacobian.sizes)
    if seed is None:
        return values, sizes
    v = np.ravel(seed.seed)[None]
    with np.errstate(all="ignore"):
        return v @ values, np.abs(v) @ sizes


class Claim(NamedTuple):
    """Expected entries in rows, how far each may be from the truth, and the ``largest`` entry of each row."""

    wants: ExpectedNumbers
    entries: Rows
    limits: Rows
    largest: Sequence[Decimal]
    against: Against

    def locate(self, exact: Exact, along: Comparison) -> Comparison:
        """Return how it compares with the truth: at its worst entry where that is wrong, else ``along`` a direction.

        Where suspicious entries could not be asked for, they count as unclear.
        """
        places, share = self.suspicious(self.wants.share), self.wants.share
        every = sum(map(len, self.entries))
        along = replace(along, compared=every if along.compared else 0)
        for place, (i, j) in enumerate(places[:MOST_LOCATED]):
            left = len(places) - place
            try:
                entry = self.hold_entry(exact, i, j)
            except Spent:
                if along.wrong:
                    return replace(along, wrong=left, worst=self.worst_in_doubles(i, j, along.worst))
                return replace(along, unclear=along.unclear + left)
            if entry.wrong:
                return replace(entry, compared=every, wrong=left)
        if not places and share:
            for i, j in self.suspicious(0.0)[:1]:
                with suppress(Spent):  # a right claim may have fewer digits in the entry that is off most
                    entry = self.hold_entry(exact, i, j)
                    if entry.digits < along.digits:
                        return replace(along, worst=entry.worst)
        return along

    def suspicious(self, share: float) -> list[tuple[int, int]]:
        """Return the entries that are not those of double precision, rounding aside, the farthest first.

        ``share`` is the part of an entry by which it may be off too.
        """
        values, sizes = in_doubles(self.against.both, self.against.seed)
        wanted, bounds = (
            np.array([[float(entry) for entry in row] for row in rows]).reshape(values.shape)
            for rows in (self.entries, self.limits)
        )
        with np.errstate(all="ignore"):
            largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
            allowed = np.maximum(np.maximum(bounds, float(MEASURED) * np.abs(values)), ROUNDING * sizes)
            allowed = np.maximum(allowed, self.wants.floor * np.array([[float(entry)] for entry in self.largest]))
            allowed = np.maximum(allowed, share * np.maximum(np.abs(values), np.minimum(sizes, largest)))
            error = np.abs(wanted - values)
            over = np.where(error > allowed, error / np.maximum(allowed, TINY), 0.0)
            distance = np.where(np.isfinite(values), over, 0.0)
        order = np.argsort(-distance, axis=None, kind="stable")[: np.count_nonzero(distance)]
        return [divmod(int(k), values.shape[1]) for k in order]

    def worst_in_doubles(self, i: int, j: int, worst: Entry | None) -> Entry | None:
        """Return an entry beside that of double precision, where the worst one is along a direction."""
        if worst is None:
            return None
        both, seed = self.against.both, self.against.seed
        values = float(self.entries[i][j]), float(in_doubles(both, seed)[0][i, j])
        return replace(worst, row=both.row(i) if seed is None else "", column=both.column(j), values=values)

    def hold_entry(self, exact: Exact, i: int, j: int) -> Comparison:
        """Return how one entry compares with the true one, that of a column of J. Raises ``Spent``."""
        both, _, seed = self.against
        truth, plain = true_column(exact, both, j)
        sizes, row = TermSizes(plain), both.row(i)
        if seed is not None:
            v = np.ravel(seed.seed)
            truth, sizes, row = [[weighed(v, [entry for [entry] in truth])]], sizes.weighed(v[None]), ""
        one, column = sizes.plain[i : i + 1], both.column(j)
        table = Table(both.variable, EXPECTED, [[self.entries[i][j]]], [truth[i]], one, always(row), always(column))
        bound = self.limits[i][j]
        if self.wants.measured and self.wants.standard is None:
            bound = widen(bound, truth[i][0], float(one[0, 0]))
        return compare_expected(self.wants, table, [[bound]], sizes, [self.largest[i]], None)
