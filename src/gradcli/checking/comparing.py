"""One route held against another, entry by entry: the worst entry, how many digits are right, and whether all are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcli.checking.routes import Derivative, Sweeps, Table
from gradcli.exact.judge import right_digits
from gradcli.exact.thresholds import FEWEST, WRONG
from gradcli.explanation.agreement import tolerance
from gradcli.explanation.checked import DIGITS, REVERSE, SYMBOLS, Comparison, Entry
from gradcli.ops.declare import Array


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
                worst = (found.right, found.digits), (i, j), (float(value), float(truth))
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
    )
