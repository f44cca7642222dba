"""One route held against another, entry by entry: the worst entry, how many digits are right, and whether all are.

How many digits an expected derivative must have: those that the user asks for, or those of its kind of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Node
from gradcli.engine.naming import Label
from gradcli.engine.reverse import backward
from gradcli.errors import GradcliError
from gradcli.exact.judge import TINIEST, TermSizes, is_zero, right_digits
from gradcli.exact.slopes import finite
from gradcli.exact.thresholds import ALL, CLOSE, EPS, FEWEST, NOTHING, ROUNDING, WRONG
from gradcli.explanation.checked import DIGITS, REVERSE, SYMBOLS, Comparison, Entry
from gradcli.explanation.evaluation import Run
from gradcli.explanation.jacobians import tolerance, weighted_sums
from gradcli.explanation.suspicion import MORE_RUNS, RUNS
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array

MOST_SWEEPS = 2_000_000
"""Elements that reverse mode goes through, row by row; beyond, random sums of rows take the place of each."""
PART = 2
"""Which part of the work a direction for each variable may take before all share one."""
NODE_WORK = 100
"""Elements that can be gone through while one rule is called."""
COMBINATIONS = 8
"""Random sums of rows where there are too many to take one at a time."""


@dataclass(frozen=True, slots=True)
class Table:
    """One route beside the true derivative: matrices of equal shape. ``sizes`` are those of the terms of each entry.

    The rows of ``values`` are floats, or decimals where they were typed.
    """

    variable: str
    route: str
    values: Sequence[Sequence[Any]]
    truth: list[list[Decimal]]
    sizes: Array
    row: Label
    column: Label


@dataclass(frozen=True, slots=True)
class Derivative:
    """∂y/∂x of one variable at one point: the run, J by symbols, and names for the entries of y and x."""

    run: Run
    leaf: Node
    jacobian: Sparse
    variable: str
    row: Label
    column: Label


def stack(vectors: Sequence[Array], length: int) -> Array:
    """Return vectors as the rows of a matrix, of which there may be none."""
    return np.array(vectors).reshape(len(vectors), length)


def combine(jacobian: Sparse, weights: Array) -> tuple[Array, Array]:
    """Return each row of ``weights`` times J, and the sizes of the terms that it adds up."""
    rows, columns, count = jacobian.rows, jacobian.columns, jacobian.shape[1]
    sizes = np.asarray(jacobian.sizes)
    return (
        stack([weighted_sums(v, rows, columns, jacobian.values, count) for v in weights], count),
        stack([weighted_sums(np.abs(v), rows, columns, sizes, count) for v in weights], count),
    )


@dataclass(frozen=True, slots=True)
class Sweeps:
    """J by reverse mode: a sweep for each row, or for random sums of rows where they are many.

    ``values`` are the swept rows, ``symbols`` and ``sizes`` the same sums of J by symbols and of its terms.
    """

    seeds: Array
    values: Array
    symbols: Array
    sizes: Array
    each: bool


def sweep(sought: Derivative) -> Sweeps:
    """Return J by reverse mode beside J by symbols, row by row or in random sums of rows."""
    run, (rows, columns) = sought.run, sought.jacobian.shape
    each = rows * (columns + sum(NODE_WORK + np.size(node.value) for node in run.graph.nodes)) <= MOST_SWEEPS
    seeds = np.eye(rows) if each else np.random.default_rng(0).choice((-1.0, 1.0), (COMBINATIONS, rows))
    found = [np.ravel(backward(run.graph, run.output, v.reshape(run.value.shape), [sought.leaf])[0]) for v in seeds]
    return Sweeps(seeds, stack(found, columns), *combine(sought.jacobian, seeds), each)


Routes = Sequence[tuple[Derivative, Sweeps]]
"""What both routes say of each variable."""


def goes_together(cost: int, most: int, routes: Routes) -> bool:
    """Return whether all variables share a direction.

    ``most`` is enough work for one; one for each would take a good part of it, and none can be asked for by entries.
    """
    alike = len({sweeps.each for _, sweeps in routes}) == 1
    fewest = min((int(np.max(np.bincount(s.jacobian.rows), initial=0)) for s, _ in routes), default=0)
    whole = (RUNS + MORE_RUNS * fewest) * cost * len(routes) <= most
    return alike and len(routes) > 1 and not whole and RUNS * cost <= most < PART * RUNS * cost * len(routes)


class Judged(NamedTuple):
    """One entry beside the truth: how many digits are right, nan where that is not known, and whether they are enough.

    ``counts`` is False where the entry is left to another comparison.
    """

    digits: float
    right: bool
    finite: bool = True
    counts: bool = True


Judge = Callable[[int, int, Any, Any], Judged]
"""What judges the entry of a table in this row and column, from its value and the truth."""


def compare_entries(table: Table, judge: Judge, relative: float, point: dict[str, Array]) -> Comparison:
    """Return how a table compares with the truth; ``relative`` is how far an entry may be off."""
    worst, count, unclear, wrong, finite = None, 0, 0, 0, True
    for i, (row, truths) in enumerate(zip(table.values, table.truth, strict=True)):
        for j, (value, truth) in enumerate(zip(row, truths, strict=True)):
            found = judge(i, j, value, truth)
            if math.isnan(found.digits):
                unclear += 1
                continue
            finite = finite and found.finite
            if not found.counts:
                continue
            count, wrong = count + 1, wrong + (not found.right)
            if worst is None or (found.right, found.digits) < worst[0]:
                worst = (found.right, found.digits), (i, j), (float(value), float(truth) + 0.0)  # no -0
    routes, entry = (table.route, DIGITS), None
    if worst is not None:
        (_, digits), (i, j), values = worst
        bound = relative * abs(values[1])
        entry = Entry(table.variable, table.row(i), table.column(j), routes, values, digits, bound, point)
    return Comparison(routes, entry, count, unclear, wrong, finite)


def judge_route(table: Table, point: dict[str, Array]) -> Comparison:
    """Return how a route compares with the truth; what is not finite is left to ``compare_routes``."""

    def judge(i: int, j: int, value: Any, truth: Any) -> Judged:
        if not math.isfinite(value):
            return Judged(0.0, right=False, finite=False, counts=False)
        found = right_digits(value, truth, float(table.sizes[i, j]))
        return Judged(found, found >= FEWEST)

    return compare_entries(table, judge, WRONG, point)


def compare_routes(sought: Derivative, found: Sweeps, point: dict[str, Array]) -> Comparison:
    """Return how symbols and reverse mode compare with each other, in double precision.

    Entries that are finite on neither route agree; so does a column where a zero of a one-hot v meets an infinite
    derivative of another row.
    """
    a, b, bound = found.symbols, found.values, tolerance(found.sizes)
    finite_a, finite_b = np.isfinite(a), np.isfinite(b)
    with np.errstate(all="ignore"):
        units = np.where(finite_a & finite_b, np.abs(a - b) / bound, 0.0)
        units = np.where(finite_a != finite_b, np.inf, units)
    units = np.where(~np.all(finite_a, axis=0) & ~finite_b, 0.0, units)
    wrong, worst = int(np.sum(units > 1)), None
    if wrong:
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(units)), units.shape))
        row = sought.row(i) if found.each else f"(sum of rows {i + 1})"
        values = (float(a[i, j]), float(b[i, j]))
        routes = (SYMBOLS, REVERSE)
        worst = Entry(sought.variable, row, sought.column(j), routes, values, math.nan, float(bound[i, j]), point)
    return Comparison((SYMBOLS, REVERSE), worst, a.size, 0, wrong, bool(finite_a.all()))


def merge(found: Sequence[Comparison]) -> list[Comparison]:
    """Return one comparison for each pair of routes, over all variables and points."""
    by_routes: dict[tuple[str, str], list[Comparison]] = {}
    for one in found:
        by_routes.setdefault(one.routes, []).append(one)
    return [merge_routes(routes, some) for routes, some in by_routes.items()]


def merge_routes(routes: tuple[str, str], some: Sequence[Comparison]) -> Comparison:
    """Return several comparisons of the same routes as one."""
    entries = [one.worst for one in some if one.worst is not None]
    worst = min(entries, key=lambda entry: (entry.digits, -entry.units), default=None)
    return Comparison(
        routes,
        worst,
        sum(one.compared for one in some),
        sum(one.unclear for one in some),
        sum(one.wrong for one in some),
        all(one.finite for one in some),
        next((one.misfit for one in some if one.misfit), ""),
        " and ".join(dict.fromkeys(one.standard for one in some if one.standard)),
    )


# ---- How many digits an expected derivative must have: those that the user asks for, or those of its kind

SPACINGS = 64
"""Times the spacing of an array's numbers and the largest entry of a gradient: what rounding may leave in any entry.

1 - h² of a saturated tanh is rounded beside 1: entries far below the largest one of a gradient have no digits.
"""
LEAST, MOST = 1, 15
"""Digits that can be asked for: the truth is known to a few more."""
OF_TYPES = {"float32": 5.0, "float16": 2.0}
"""Digits of numbers that were computed with fewer than doubles have: what some hundred roundings in a row leave."""
ROUNDINGS = 4
"""Times the terms of an entry and the spacing of its numbers: what rounding alone may leave."""
AT_MOST = 10
"""Times what the standard allows: what rounding may explain at most."""
SMALL = Decimal("1e-3")
"""The part of what an entry is held by below which it may be what a saturated function leaves, whose slope is lost."""


@dataclass(frozen=True, slots=True)
class Standard:
    """How many digits an expected number must have, and what they are called.

    ``spacing`` is the relative distance of two numbers of an array's type, 0 for numbers that were not computed in it,
    and ``floor`` the part of the largest entry of a gradient by which every entry of an array may be off.
    """

    digits: float
    text: str
    spacing: float = 0.0
    floor: float = 0.0

    @property
    def share(self) -> Decimal:
        """The part of an entry by which it may be off."""
        return Decimal(10) ** Decimal(-self.digits)


def standard_of(digits: float | None, numbers: Array | None) -> Standard | None:
    """Return the standard that the user asks for, or that of an array of few digits; None for the usual one."""
    dtype = None if numbers is None else np.asarray(numbers).dtype
    few = dtype is not None and dtype.name in OF_TYPES
    if not few and digits is None:
        return None
    spacing = float(np.finfo(dtype).eps) if few else 0.0  # type: ignore[arg-type]
    text = f"the digits of {dtype.name}" if dtype is not None else ""
    if digits is not None:
        text = "1 digit" if digits == 1 else f"{digits:.3g} digits"
    count = digits or OF_TYPES[dtype.name]  # type: ignore[union-attr]
    floor = 0.0 if dtype is None else min(SPACINGS * (spacing or EPS), 10.0**-count)
    return Standard(count, text, spacing, floor)


def read_digits(digits: object) -> float | None:
    """Return how many digits are asked for, None for the default; raises ``option`` out of range."""
    if digits is None:
        return None
    if isinstance(digits, bool) or not isinstance(digits, int | float) or not LEAST <= digits <= MOST:
        raise GradcliError("option", f"digits must be from {LEAST} to {MOST}, and not {digits!r}")
    return float(digits)


def digits_asked(digits: float | None, tolerance: float | None) -> float | None:
    """Return the digits that are asked for, those that a tolerance stands for; raises ``option`` for both."""
    if tolerance is None:
        return digits
    if digits is not None:
        raise GradcliError("option", "digits and tolerance are both given", hint="give one of them")
    return digits_of_tolerance(tolerance)


def digits_of_tolerance(tolerance: float) -> float:
    """Return the digits that a relative tolerance stands for, ``1e-5`` for 5; raises ``option`` out of range."""
    if not 10.0**-MOST <= tolerance <= 10.0**-LEAST:
        hint = f"it is relative: 1e-5 is the same as --digits 5, and it goes from 1e-{MOST} to 0.1"
        raise GradcliError("option", f"--tolerance {tolerance:g} is not from 1e-{MOST} to 0.1", hint=hint)
    return -math.log10(tolerance)


ROUNDED = "the type of what is expected rounds the terms of an entry by as much as it is off: compute it in float64"
"""Why an entry of an array of few digits is not decided."""


def compare_by(
    standard: Standard,
    table: Table,
    terms: TermSizes,
    reaches: list[list[Decimal]] | None,
    point: dict[str, Array],
    largest: Sequence[Decimal],
) -> Comparison:
    """Return how expected numbers compare with the truth by a standard.

    ``reaches`` are the numbers by a part of which each entry may be off, where they are others than those of its terms,
    and ``largest`` the largest entry of the gradient in each row.
    The rounding inside of values is looked into where an array of few digits differs.
    """

    def compare(sizes: Array) -> Comparison:
        of_terms = reaches or reaches_of(table.truth, sizes)

        def judge(i: int, j: int, value: Any, true: Any) -> Judged:
            judged = judge_by(standard, value, true, of_terms[i][j], float(sizes[i, j]))
            return judge_beside(judged, value, true, standard.floor, largest[i])

        return compare_entries(table, judge, float(standard.share), point)

    comparison = compare(table.sizes)
    if comparison.wrong and standard.spacing:
        comparison = compare(terms.rounded)
    return replace(comparison, standard=standard.text)


def reaches_of(true: Sequence[Sequence[Decimal]], sizes: Array) -> list[list[Decimal]]:
    """Return for each entry the number of which it may be off by a part.

    That is the sum of the sizes of its terms, which rounding acts on, but no more than the largest entry: where all of
    them cancel, the digits of the gradient count. Where the truth is 0 there are its terms alone.
    """
    largest = max((abs(value) for row in true for value in row if value.is_finite()), default=Decimal(0))
    return [
        [reach_of(value, finite(float(sizes[i, j])), largest) for j, value in enumerate(row)]
        for i, row in enumerate(true)
    ]


def reach_of(true: Decimal, size: Decimal, largest: Decimal) -> Decimal:
    """Return of what number one entry may be off by a part."""
    if true.is_nan() or is_zero(true):
        return size
    return max(abs(true), min(size, largest))


def reaches_along(
    table: Sequence[Sequence[Decimal]], true: Sequence[Sequence[Decimal]], direction: Array
) -> list[list[Decimal]]:
    """Return for each row, of which a random direction has made one number, that of which it may be off by a part.

    ``table`` has the entries. Their errors are of random signs along the direction, and add up as squares do: one wrong
    entry shows among many.
    """
    steps = [Decimal(step) for step in direction.tolist()]
    return [
        [max(abs(whole), sum(((step * value) ** 2 for step, value in zip(steps, row, strict=True)), Decimal(0)).sqrt())]
        for row, [whole] in zip(table, true, strict=True)
    ]


def judge_by(standard: Standard, value: Decimal, true: Decimal, reach: Decimal, size: float) -> Judged:
    """Return how many digits of an expected number are right, and whether that is enough.

    An entry that differs by little more than it may, which the rounding of its type explains, is not decided.
    """
    if true.is_nan():
        return Judged(math.nan, right=False)
    if not value.is_finite():
        return Judged(0.0, right=False, finite=False)
    error = abs(value - true)
    if error <= TINIEST or error <= NOTHING * abs(true):
        return Judged(ALL, right=True)
    digits = max(0.0, min(ALL, -float((error / reach).log10()))) if reach else 0.0
    right = error <= standard.share * reach
    rounded = error <= Decimal(ROUNDINGS * standard.spacing) * finite(size) or abs(true) <= SMALL * reach
    if standard.spacing and not right and rounded and error <= AT_MOST * standard.share * reach:
        return Judged(math.nan, right=False)
    return Judged(digits, right)


def judge_beside(judged: Judged, value: Decimal, true: Decimal, floor: float, largest: Decimal) -> Judged:
    """Return the verdict on an entry of an array, which may be off by a part of the largest entry of the gradient."""
    if judged.right or not floor or true.is_nan() or not value.is_finite():
        return judged
    error = abs(value - true)
    return Judged(digits_beside(error, largest), right=True) if error <= Decimal(floor) * largest else judged


def judge_rounded(judged: Judged, value: Decimal, true: Decimal, size: float, largest: Decimal) -> Judged:
    """Return the verdict on an entry of an array of doubles, which may have the rounding of values inside.

    ``size`` is that of its terms in which this rounding counts. What is off by more than a millionth of the largest
    entry is wrong even so.
    """
    if judged.right or true.is_nan() or not value.is_finite():
        return judged
    error = abs(value - true)
    explained = error <= min(Decimal(ROUNDING) * finite(size), CLOSE * largest)
    return Judged(digits_beside(error, largest), right=True) if explained else judged


def digits_beside(error: Decimal, largest: Decimal) -> float:
    """Return how many digits of an entry are right beside the largest entry of its gradient."""
    return min(ALL, max(0.0, -float((error / largest).log10()))) if error and largest else ALL


def largest_entries(true: Sequence[Sequence[Decimal]], whole: bool) -> list[Decimal]:
    """Return the size of the largest entry of each row, or of the ``whole`` table for every row; 0 for none."""
    rows = [max((abs(value) for value in row if value.is_finite()), default=Decimal(0)) for row in true]
    return [max(rows)] * len(rows) if whole and rows else rows
