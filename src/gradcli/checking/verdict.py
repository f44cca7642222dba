"""What the comparison of routes comes to: the worst entry, how many digits are right, and whether all are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradcli.agreement import tolerance
from gradcli.checking.routes import DIGITS, REVERSE, SYMBOLS, Derivative, Sweeps, Table
from gradcli.exact.judge import ALL, FEWEST, right_digits
from gradcli.ops.declare import Array


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of J, or of a gradient, by two routes, and how many digits of the first are right."""

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
    """A route held against another: the worst entry, how many were compared, how many could not be."""

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


def judged(table: Table, point: dict[str, Array]) -> Comparison:
    """Return what a table comes to. What is not finite is left to the comparison of the routes with each other."""
    worst, count, unclear, wrong, finite = None, 0, 0, 0, True
    for i, (row, truths) in enumerate(zip(table.values, table.truth, strict=True)):
        for j, (value, truth) in enumerate(zip(row.tolist(), truths, strict=True)):
            if not math.isfinite(value):
                finite = False
                continue
            found = right_digits(value, truth, float(table.sizes[i, j]))
            if math.isnan(found):
                unclear += 1
                continue
            count, wrong = count + 1, wrong + (found < FEWEST)
            if worst is None or found < worst.digits:
                routes, bound = (table.route, DIGITS), 1e-6 * abs(float(truth))
                worst = Entry(
                    table.variable, table.row(i), table.column(j), routes, (value, float(truth)), found, bound, point
                )
    return Comparison((table.route, DIGITS), worst, count, unclear, wrong, finite)


def compared(sought: Derivative, found: Sweeps, point: dict[str, Array]) -> Comparison:
    """Return what symbols and reverse mode come to beside each other, in double precision.

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


def merged(found: Sequence[Comparison]) -> list[Comparison]:
    """Return one comparison for each pair of routes, over all variables and points."""
    by_routes: dict[tuple[str, str], list[Comparison]] = {}
    for one in found:
        by_routes.setdefault(one.routes, []).append(one)
    return [together(routes, some) for routes, some in by_routes.items()]


def together(routes: tuple[str, str], some: Sequence[Comparison]) -> Comparison:
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
