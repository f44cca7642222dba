"""J by both routes, each held entry by entry against the true derivative in many digits.

Where entries are many, random directions take their place that move every entry of a variable, or of all variables, and
some entries are asked for alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Node
from gradcli.engine.naming import Label
from gradcli.exact.judge import (
    Entry,
    TermSizes,
    is_zero,
    per_unit,
    random_direction,
    right_digits,
    turned_direction,
    units,
    weighed,
)
from gradcli.exact.real import NAN
from gradcli.exact.slopes import Exact, finite
from gradcli.exact.work import FEWEST, ROUNDING, SURE, WRONG, Spent
from gradcli.explanation.checked import DIGITS, REVERSE, SYMBOLS, Comparison
from gradcli.explanation.checked import Entry as Worst
from gradcli.explanation.confirmation import (
    ANY,
    Confirmation,
    is_dear,
    list_places,
    sizes_of_terms,
    too_large_text,
    walk_direction,
    walk_entries,
)
from gradcli.explanation.evaluation import Run
from gradcli.explanation.jacobians import tolerance, weighted_sums
from gradcli.explanation.suspicion import MORE_RUNS, RUNS
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array
from gradcli.records import dataclass, replace

MOST_SWEEPS = 2_000_000
"""Elements that reverse mode goes through, row by row; beyond, random sums of rows take the place of each."""
PART = 2
"""Which part of the work a direction for each variable may take before all share one."""
NODE_WORK = 100
"""Elements that can be gone through while one rule is called."""
COMBINATIONS = 8
"""Random sums of rows where there are too many to take one at a time."""
MOST_ENTRIES = 200_000
"""Entries of J, zeros included, that are held against the truth one by one."""
MOST_SINGLE = 3
"""Entries that cancel which are asked for one by one."""
MOST_SAMPLED = 300
"""Columns of J that are picked at random and asked for one by one."""
SHARE = 2
"""Which part of the work is spent before no more columns are picked."""
EVERY = "(all variables in a random direction)"


class Table(NamedTuple):
    """One route beside the true derivative: matrices of equal shape. ``sizes`` are those of the terms of each entry.

    The rows of ``values`` are floats, or decimals where they were typed.
    """

    variable: str
    route: str
    values: Sequence[Sequence[Any]]
    truth: Sequence[Sequence[Decimal]]
    sizes: Array
    row: Label
    column: Label


@dataclass(frozen=True, slots=True)
class Derivative:
    """∂y/∂x of one variable at one point by both routes, with names for the entries of y and x.

    ``jacobian`` is J by symbols, ``reverse`` by reverse mode: a row for each of the ``seeds``, which are one-hot where
    ``each`` says so, else random sums of rows. ``symbols`` and ``sizes`` are the same sums of J and of its terms.
    """

    run: Run
    leaf: Node
    jacobian: Sparse
    variable: str
    row: Label
    column: Label
    seeds: Array
    reverse: Array
    symbols: Array
    sizes: Array
    each: bool

    @property
    def fullest(self) -> int:
        """The most entries of a row: directions that ask for every column at least."""
        return int(np.max(np.bincount(self.jacobian.rows), initial=0)) if len(self.jacobian.rows) else 0

    def times(self, direction: Array, sizes: bool = False) -> Array:
        """Return J by symbols times a direction, as one column, or the ``sizes`` of its terms."""
        jacobian = self.jacobian
        values, steps = (np.asarray(jacobian.sizes), np.abs(direction)) if sizes else (jacobian.values, direction)
        with np.errstate(all="ignore"):
            terms = values * steps[jacobian.columns]
            sums = np.asarray(np.bincount(jacobian.rows, terms, jacobian.shape[0]), dtype=np.float64)
            return sums[:, None]


def derive_both(run: Run, leaf: Node, jacobian: Sparse, variable: str, row: Label, column: Label) -> Derivative:
    """Return J by symbols beside J by reverse mode, row by row or in random sums of rows."""
    rows, columns = jacobian.shape
    each = rows * (columns + sum(NODE_WORK + np.size(node.value) for node in run.graph.nodes)) <= MOST_SWEEPS
    seeds = np.eye(rows) if each else np.random.default_rng(0).choice((-1.0, 1.0), (COMBINATIONS, rows))
    swept = [np.ravel(run.gradients(v.reshape(run.value.shape), [variable])[variable]) for v in seeds]

    def combined(values: Array, weights: Array) -> Array:
        sums = [weighted_sums(v, jacobian.rows, jacobian.columns, values, columns) for v in weights]
        return np.array(sums).reshape(len(weights), columns)

    symbols, sizes = combined(jacobian.values, seeds), combined(np.asarray(jacobian.sizes), np.abs(seeds))
    reverse = np.array(swept).reshape(len(seeds), columns)
    return Derivative(run, leaf, jacobian, variable, row, column, seeds, reverse, symbols, sizes, each)


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


def compare_entries(table: Table, judge: Judge, relative: float) -> Comparison:
    """Return how a table compares with the truth; ``relative`` is how far an entry may be off."""
    worst, count, unclear, wrong, finite_all = None, 0, 0, 0, True
    for i, (row, truths) in enumerate(zip(table.values, table.truth, strict=True)):
        for j, (value, truth) in enumerate(zip(row, truths, strict=True)):
            judged = judge(i, j, value, truth)
            if math.isnan(judged.digits):
                unclear += 1
                continue
            finite_all = finite_all and judged.finite
            if not judged.counts:
                continue
            count, wrong = count + 1, wrong + (not judged.right)
            if worst is None or (judged.right, judged.digits) < worst[0]:
                worst = (judged.right, judged.digits), (i, j), (float(value), float(truth) + 0.0)  # no -0
    routes, entry = (table.route, DIGITS), None
    if worst is not None:
        (_, digits), (i, j), values = worst
        bound = relative * abs(values[1])
        entry = Worst(table.variable, table.row(i), table.column(j), routes, values, digits, bound)
    return Comparison(routes, entry, count, unclear, wrong, finite_all)


def judge_route(table: Table) -> Comparison:
    """Return how a route compares with the truth; what is not finite is left to ``compare_routes``."""

    def judge(i: int, j: int, value: Any, truth: Any) -> Judged:
        if not math.isfinite(value):
            return Judged(0.0, right=False, finite=False, counts=False)
        count = right_digits(value, truth, float(table.sizes[i, j]))
        return Judged(count, count >= FEWEST)

    return compare_entries(table, judge, WRONG)


def compare_routes(both: Derivative) -> Comparison:
    """Return how symbols and reverse mode compare with each other, in double precision.

    Entries that are finite on neither route agree; so does a column where a zero of a one-hot v meets an infinite
    derivative of another row.
    """
    a, b, bound = both.symbols, both.reverse, tolerance(both.sizes)
    finite_a, finite_b = np.isfinite(a), np.isfinite(b)
    with np.errstate(all="ignore"):
        distance = np.where(finite_a & finite_b, np.abs(a - b) / bound, 0.0)
        distance = np.where(finite_a != finite_b, np.inf, distance)
    distance = np.where(~np.all(finite_a, axis=0) & ~finite_b, 0.0, distance)
    wrong, worst, routes = int(np.sum(distance > 1)), None, (SYMBOLS, REVERSE)
    if wrong:
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(distance)), distance.shape))
        row = both.row(i) if both.each else f"(sum of rows {i + 1})"
        values, near = (float(a[i, j]), float(b[i, j])), float(bound[i, j])
        worst = Worst(both.variable, row, both.column(j), routes, values, math.nan, near)
    return Comparison(routes, worst, a.size, 0, wrong, bool(finite_a.all()))


def over_points(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return one comparison for each pair of routes, over all variables and points."""
    merged = []
    for routes in dict.fromkeys(one.routes for one in comparisons):
        some = [one for one in comparisons if one.routes == routes]
        entries = [one.worst for one in some if one.worst is not None]
        merged.append(
            Comparison(
                routes,
                min(entries, key=lambda entry: (entry.digits, -entry.units), default=None),
                sum(one.compared for one in some),
                sum(one.unclear for one in some),
                sum(one.wrong for one in some),
                all(one.finite for one in some),
                next((one.misfit for one in some if one.misfit), ""),
                " and ".join(dict.fromkeys(one.standard for one in some if one.standard)),
            )
        )
    return merged


@dataclass(frozen=True, slots=True)
class Truth:
    """The true derivative, a row for each entry of y, nan where it was not found.

    ``direction`` is None where every entry was asked for, else the one direction along which J was: a step for each
    entry of the variable. ``sizes`` are those of the terms that a double precision route adds up, in the same rows.
    ``rounded`` says that numbers of double precision were taken off it: it is no truer than their rounding.
    """

    values: list[list[Decimal]]
    sizes: TermSizes
    direction: Array | None
    column: Label
    rounded: bool = False


def sizes_beside(sizes: TermSizes, table: Sequence[Sequence[Any]], true: Sequence[Sequence[Decimal]]) -> Array:
    """Return the sizes of the terms of the numbers in a table, which are held against the ``true`` ones."""
    shape = sizes.plain.shape
    zeros = np.array([[is_zero(value) for value in row] for row in true], dtype=bool).reshape(shape)
    return sizes.beside(np.array([[float(value) for value in row] for row in table]).reshape(shape), zeros)


class Effort(NamedTuple):
    """Units of work: what one run in many digits costs, and what the entries of J by one variable may."""

    cost: int
    most: int

    def suffices(self, directions: int) -> bool:
        """Return whether so many directions are affordable."""
        return (RUNS + 4 * directions) * self.cost <= self.most


def find_truth(exact: Exact, both: Derivative, judged: Confirmation, effort: Effort, edgy: bool) -> Truth:
    """Return the true derivative: its entries, or where they are too many the derivative along a random direction.

    Kinks, jumps and the like are noted, those along a random direction too, and why something was not found. ``edgy``
    says that pieces of the program may meet here.
    """
    jacobian, work = both.jacobian, exact.work.most
    rows, columns = jacobian.shape
    others = [both.reverse[jacobian.rows, jacobian.columns]] if both.each else []
    places = list_places(jacobian, jacobian.shape, *others)
    few = rows * columns <= MOST_ENTRIES and effort.suffices(both.fullest)
    groups = places.grouped(edgy) if few else []
    if few and effort.suffices(len(groups)):
        values = [[Decimal(0)] * columns for _ in range(rows)]
        for row, column in zip(places.rows.tolist(), places.columns.tolist(), strict=True):
            values[row][column] = NAN
        by_symbols = jacobian.dense()

        def takes(entry: Entry) -> str:
            reverse = f", reverse mode {both.reverse[entry.row, entry.column]:.6g}." if both.each else "."
            return f" Symbols take {by_symbols[entry.row, entry.column]:.6g}{reverse}"

        labels, enough = (both.row, both.column), True
        with judged.asking(work, "exact"):
            try:
                for entry in walk_entries(exact, both.variable, places, groups, labels, judged.bends, takes):
                    values[entry.row][entry.column] = entry.value
            except Spent:
                enough = False
        if enough:
            if columns > 1 and not judged.bends:
                with judged.asking(work, "exact"), suppress(Spent):  # a kink that no entry shows: all of them are there
                    walk_along(exact, both, judged)
            sizes = sizes_of_terms(both.run, both.leaf, jacobian)
            full = TermSizes(filled_in(jacobian, sizes.plain), lambda: filled_in(jacobian, sizes.rounded))
            return Truth(values, full, None, both.column)
        exact.renew()
    values = [[NAN] for _ in range(rows)]
    if RUNS * effort.cost > work:
        judged.unknown = judged.unknown or too_large_text(work)
    else:
        with judged.asking(work, "exact"):
            values = walk_along(exact, both, judged, both.jacobian.values)
    return truth_along(exact, both, values)


def to_decimals(column: Array) -> list[Decimal]:
    """Return numbers as decimals, 0 for what is not finite."""
    return [finite(value) for value in column.ravel().tolist()]


def filled_in(jacobian: Sparse, numbers: Array) -> Array:
    """Return numbers of the entries of J as a matrix with all its zeros."""
    full = np.zeros(jacobian.shape)
    full[jacobian.rows, jacobian.columns] = numbers
    return full


def walk_along(
    exact: Exact, both: Derivative, judged: Confirmation, sought: Array | None = None
) -> list[list[Decimal]]:
    """Return the derivative along a random direction of one variable, and note kinks there. Raises ``Spent``.

    ``sought`` are the entries of J that are to be judged by it, if any.
    """
    direction = random_direction(exact.point, [both.variable])
    step = np.ravel(direction[both.variable])
    numbers = [] if sought is None else [to_decimals(both.times(step))]
    sizes = to_decimals(both.times(step, sizes=True))
    where = f"{both.variable} in a random direction"
    slope = walk_direction(exact, direction, both.row, where, judged.bends, sizes, numbers)
    return [[value] for value in slope.values]


def truth_along(exact: Exact, both: Derivative, values: list[list[Decimal]]) -> Truth:
    """Return the true derivative along a random direction of one variable."""
    step = np.ravel(random_direction(exact.point, [both.variable])[both.variable])
    return Truth(values, TermSizes(both.times(step, sizes=True)), step, along_label(both.variable))


def always(text: str) -> Label:
    """Return a label that is the same for all entries."""
    return lambda _: text


def along_label(variable: str) -> Label:
    """Return what stands for an entry of a variable that is moved as a whole."""
    return always(f"({variable} in a random direction)")


def own_truth(exact: Exact, both: Derivative, judged: Confirmation) -> Truth | None:
    """Return the true derivative by one variable along a direction of its own, None where that is too dear."""
    if is_dear(exact) or exact.work.left < 2 * MORE_RUNS * exact.cost:
        return None
    try:
        return truth_along(exact, both, walk_along(exact, both, judged))
    except Spent:
        return None


def tabulate(both: Derivative, truth: Truth) -> list[Table]:
    """Return J by symbols and J by reverse mode, each beside the truth."""
    name, step, sizes, true = both.variable, truth.direction, truth.sizes, truth.values
    if step is None:
        symbols, reverse = both.jacobian.dense(), both.reverse
    else:
        symbols = both.times(step)
        with np.errstate(all="ignore"):
            reverse = (both.reverse @ step)[:, None]
    row, sums, of_sums = both.row, true, sizes
    if not both.each:
        row = lambda k: f"(sum of rows {k + 1})"  # noqa: E731
        sums = [[weighed(seed, column) for column in zip(*true, strict=True)] for seed in both.seeds]
        of_sums = sizes.weighed(both.seeds)
    first, second = symbols.tolist(), reverse.tolist()
    return [
        Table(name, SYMBOLS, first, true, sizes_beside(sizes, first, true), both.row, truth.column),
        Table(name, REVERSE, second, sums, sizes_beside(of_sums, second, sums), row, truth.column),
    ]


def hold_apart(both: Derivative, truth: Truth) -> list[Comparison]:
    """Return how both routes compare with the truth by one variable, and with each other unless both are sure."""
    routes = list(map(judge_route, tabulate(both, truth)))
    sure = all(route.finite and not route.unclear and route.digits >= SURE for route in routes)
    return routes if sure else [*routes, compare_routes(both)]


def goes_together(cost: int, most: int, routes: Sequence[Derivative]) -> bool:
    """Return whether all variables share a direction.

    ``most`` is enough work for one; one for each would take a good part of it, and none can be asked for by entries.
    """
    alike = len({both.each for both in routes}) == 1
    fewest = min((both.fullest for both in routes), default=0)
    whole = (RUNS + MORE_RUNS * fewest) * cost * len(routes) <= most
    return alike and len(routes) > 1 and not whole and RUNS * cost <= most < PART * RUNS * cost * len(routes)


@dataclass(frozen=True, slots=True)
class Together:
    """How both routes compare with the truth along ``directions`` that move all variables.

    ``whole`` is J by all of them side by side, ``truth`` the derivative along the first direction.
    """

    comparisons: list[Comparison]
    whole: Derivative
    truth: Truth
    directions: int

    def truth_of(self, routes: Sequence[Derivative], place: int) -> Truth:
        """Return the true derivative by the variable at this place, along its part of the direction.

        The parts of the others are taken off: J by symbols, which was held against the truth along the whole.
        """
        start = sum(other.jacobian.shape[1] for other in routes[:place])
        part = slice(start, start + routes[place].jacobian.shape[1])
        others = np.array(self.truth.direction)
        steps = others[part].copy()
        others[part] = 0.0
        taken = to_decimals(self.whole.times(others))
        values = [[row[0] - other] for row, other in zip(self.truth.values, taken, strict=True)]
        return Truth(values, self.truth.sizes, steps, along_label(routes[place].variable), rounded=True)


def hold_together(exact: Exact, routes: Sequence[Derivative], judged: Confirmation) -> Together:
    """Return how both routes compare with the truth along one direction, and along a second one where that is not dear.

    The entries that cancel most are asked for alone.
    """
    names, whole, work = [both.variable for both in routes], of_all_variables(routes), exact.work.most
    comparisons: list[Comparison] = []
    truths: list[Truth] = []
    for direction in (random_direction(exact.point, names), turned_direction(exact.point, names)):
        if truths and (is_dear(exact) or judged.unknown):
            break
        steps = np.concatenate([np.ravel(direction[name]) for name in names])
        sizes, values = whole.times(steps, sizes=True), [[NAN] for _ in range(whole.jacobian.shape[0])]
        with judged.asking(work, "exact"):
            numbers = [to_decimals(whole.times(steps))]
            slope = walk_direction(exact, direction, whole.row, ANY, judged.bends, to_decimals(sizes), numbers)
            values = [[value] for value in slope.values]
        truths.append(Truth(values, TermSizes(sizes), steps, whole.column))
        comparisons += map(judge_route, tabulate(whole, truths[-1]))
    with judged.asking(work, "exact"):
        for both in routes:
            comparisons += hold_least(exact, both)
    return Together(comparisons, whole, truths[0], len(truths))


def of_all_variables(routes: Sequence[Derivative]) -> Derivative:
    """Return J by all variables, the columns of one after those of the other."""
    first, jacobians = routes[0], [both.jacobian for both in routes]
    starts = np.cumsum([0, *(jacobian.shape[1] for jacobian in jacobians)])
    whole = Sparse(
        np.concatenate([jacobian.rows for jacobian in jacobians]),
        np.concatenate([jacobian.columns + start for jacobian, start in zip(jacobians, starts, strict=False)]),
        np.concatenate([jacobian.values for jacobian in jacobians]),
        np.concatenate([np.asarray(jacobian.sizes) for jacobian in jacobians]),
        (jacobians[0].shape[0], int(starts[-1])),
    )
    reverse, symbols, sizes = (
        np.hstack(part) for part in zip(*((both.reverse, both.symbols, both.sizes) for both in routes), strict=True)
    )
    return replace(first, jacobian=whole, column=always(EVERY), reverse=reverse, symbols=symbols, sizes=sizes)


def sample_columns(exact: Exact, routes: Sequence[Derivative]) -> tuple[list[Comparison], int]:
    """Return how both routes compare with the truth in columns of J that are picked at random, and how many entries.

    They are as many as half of the work allows, and cost no more than what was asked before; variables take turns.
    """
    columns = [both.jacobian.shape[1] for both in routes]
    room = min(exact.work.most // SHARE - exact.work.done, exact.work.done) // (MORE_RUNS * exact.cost)
    count, rng = max(0, min(room, MOST_SAMPLED, sum(columns))), Random(0)  # noqa: S311 # one seed, one choice
    picked = [rng.sample(range(length), min(length, count)) for length in columns]
    turns = [(k, places[turn]) for turn in range(count) for k, places in enumerate(picked) if turn < len(places)]
    comparisons: list[Comparison] = []
    entries = 0
    with suppress(Spent):
        for k, column in turns[:count]:
            comparisons += hold_column(exact, routes[k], column)
            entries += routes[k].jacobian.shape[0]
    return comparisons, entries


def true_column(exact: Exact, both: Derivative, column: int) -> tuple[list[list[Decimal]], Array]:
    """Return the true derivative by one entry of a variable, a row for each entry of y, and the sizes of its terms.

    Raises ``Spent``.
    """
    jacobian, x = both.jacobian, np.asarray(exact.point[both.variable])
    inside, unit = jacobian.columns == column, float(np.ravel(units(x))[column])
    sizes = np.zeros((jacobian.shape[0], 1))
    sizes[jacobian.rows[inside], 0] = np.asarray(jacobian.sizes)[inside]
    step = np.where(np.arange(x.size) == column, unit, 0.0).reshape(x.shape)
    slope = exact.along({both.variable: step}, to_decimals(sizes * unit))
    return [[per_unit(value, unit)] for value in slope.values], sizes


def hold_column(exact: Exact, both: Derivative, column: int, row: int | None = None) -> list[Comparison]:
    """Return how both routes compare with the truth in one column of J, or in one row of that. Raises ``Spent``."""
    truth, sizes = true_column(exact, both, column)
    inside, symbols = both.jacobian.columns == column, np.zeros_like(sizes)
    symbols[both.jacobian.rows[inside], 0] = both.jacobian.values[inside]
    numbers = {SYMBOLS: symbols, **({REVERSE: both.reverse[:, column : column + 1]} if both.each else {})}
    start, stop = (0, len(truth)) if row is None else (row, row + 1)
    labels = (lambda k: both.row(start + k)), always(both.column(column))
    return [
        judge_route(
            Table(both.variable, route, values[start:stop].tolist(), truth[start:stop], sizes[start:stop], *labels)
        )
        for route, values in numbers.items()
    ]


def hold_least(exact: Exact, both: Derivative) -> list[Comparison]:
    """Return how both routes compare with the truth in the entries of which rounding may have left least."""
    jacobian, comparisons = both.jacobian, list[Comparison]()
    with np.errstate(all="ignore"):
        shares = np.abs(jacobian.values) / np.asarray(jacobian.sizes)
    for k in np.argsort(shares)[:MOST_SINGLE].tolist():
        if shares[k] * WRONG > ROUNDING or not both.each:
            break
        comparisons += hold_column(exact, both, int(jacobian.columns[k]), int(jacobian.rows[k]))
    return comparisons
