"""One route held against another, entry by entry: the worst entry, how many digits are right, and whether all are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Node
from gradcli.engine.naming import Label
from gradcli.engine.reverse import backward
from gradcli.exact.judge import right_digits
from gradcli.exact.thresholds import FEWEST, WRONG
from gradcli.explanation.agreement import tolerance
from gradcli.explanation.checked import DIGITS, REVERSE, SYMBOLS, Comparison, Entry
from gradcli.explanation.evaluation import Evaluation
from gradcli.explanation.jacobians import weighted_sums
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

    run: Evaluation
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
