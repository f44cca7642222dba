"""What the comparison of routes comes to: the worst entry, and whether all agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradcli.checking.routes import Table
from gradcli.ops.declare import Array


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of J, or of a gradient, by two routes."""

    variable: str
    row: str
    column: str
    routes: tuple[str, str]
    values: tuple[float, float]
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
        return self.error / self.tolerance if np.isfinite(self.error) else 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two routes compared: the worst entry, how many were compared, how many could not be."""

    routes: tuple[str, str]
    worst: Entry | None
    compared: int
    unclear: int
    wrong: int
    finite: bool


def compared(table: Table, point: dict[str, Array]) -> Comparison:
    """Return what one table comes to. Entries that are finite on neither route agree."""
    left, right, bound = table.left, table.right, table.bound
    judged = ~np.isnan(bound)
    finite_left, finite_right = np.isfinite(left), np.isfinite(right)
    with np.errstate(all="ignore"):
        sure = np.where(np.isnan(bound), np.inf, bound)
        units = np.where(finite_left & finite_right, np.abs(left - right) / sure, 0.0)
        units = np.where(finite_left != finite_right, np.inf, units)
    units = np.where(judged, units, 0.0)
    worst = None
    if units.size:
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(units)), units.shape))
        worst = Entry(
            table.variable,
            table.row(i),
            table.column(j),
            table.routes,
            (float(left[i, j]), float(right[i, j])),
            float(sure[i, j]),
            point,
        )
    return Comparison(
        table.routes,
        worst,
        int(np.sum(judged)),
        int(np.sum(~judged)),
        int(np.sum(units > 1)),
        bool(np.all(finite_left)),
    )


def merged(found: Sequence[Comparison]) -> list[Comparison]:
    """Return one comparison for each pair of routes, over all variables and points."""
    by_routes: dict[tuple[str, str], list[Comparison]] = {}
    for one in found:
        by_routes.setdefault(one.routes, []).append(one)
    return [
        Comparison(
            routes,
            max((c.worst for c in group if c.worst), key=lambda entry: entry.units, default=None),
            sum(c.compared for c in group),
            sum(c.unclear for c in group),
            sum(c.wrong for c in group),
            all(c.finite for c in group),
        )
        for routes, group in by_routes.items()
    ]
