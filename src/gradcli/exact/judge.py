"""How many digits of a number are right, and the true Jacobian that they are held against."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from gradcli.exact.real import digits
from gradcli.exact.slopes import Exact, Side
from gradcli.ops.declare import Array

ALL = 16.0
"""Right digits of a double that is the nearest to the true number."""
FEWEST = 6.0
"""Right digits below which a printed number is wrong."""
ROUNDING = 64 * 2.0**-52
"""Of the terms of a sum: what rounding may leave where the truth is 0."""
TINIEST = Decimal(2) ** -1070
"""Distance that the spacing of the smallest doubles explains."""


def right_digits(value: float, truth: Decimal, size: float = 0.0) -> float:
    """Return how many digits of a double are right; nan where the truth is not known.

    ``size`` is that of the terms whose sum the number is: where the truth is 0, what their rounding leaves is right.

    >>> right_digits(3.14, Decimal("3.14159265358979"))
    3.295...
    """
    if truth.is_nan() or math.isnan(value):
        return math.nan if truth.is_nan() else 0.0
    with digits(50):
        if float(truth) == value:
            return ALL
        if not truth.is_finite() or math.isinf(value):
            return 0.0
        error = abs(Decimal(value) - truth)
        if error <= TINIEST:
            return ALL
        if not truth:
            return ALL if abs(value) <= ROUNDING * size else 0.0
        return min(max(0.0, -float((error / abs(truth)).log10())), ALL)


@dataclass(frozen=True, slots=True)
class Directions:
    """The steps of unit size of one variable: the size of each entry, 1 where it is 0."""

    name: str
    units: Array

    def axis(self, column: int) -> dict[str, Array]:
        """Return the direction that moves one entry."""
        found = np.zeros(self.units.size)
        found[column] = self.units.ravel()[column]
        return {self.name: found.reshape(self.units.shape)}


def directions(name: str, value: Any) -> Directions:
    """Return the directions of a variable."""
    x = np.abs(np.asarray(value, dtype=np.float64))
    return Directions(name, np.where(x == 0, 1.0, x))


def random_direction(point: Mapping[str, Any], names: Sequence[str]) -> dict[str, Array]:
    """Return a direction that moves every entry of these variables, each by its own share of its size."""
    rng = np.random.default_rng(0)
    return {
        name: directions(name, point[name]).units * rng.uniform(0.5, 1.0, np.shape(point[name])) * signs
        for name in names
        for signs in [rng.choice((-1.0, 1.0), np.shape(point[name]))]
    }


@dataclass(frozen=True, slots=True)
class Column:
    """The true derivative of every entry of y by one entry of a variable, and what y does on both sides."""

    name: str
    column: int
    values: list[Decimal]
    sides: list[Side]


def true_column(
    exact: Exact, name: str, column: int, sizes: Array, sought: Sequence[Array], steps: Directions
) -> Column:
    """Return a column of the true Jacobian; ``sizes`` and ``sought`` have an entry for each of y. Raises ``Spent``."""
    unit = float(steps.units.ravel()[column])
    with np.errstate(all="ignore"):
        found = exact.along(steps.axis(column), sizes * unit, [values * unit for values in sought])
    values = [per_unit(value, unit) for value in found.values]
    return Column(name, column, values, [scaled(side, unit) for side in found.sides])


def per_unit(value: Decimal, unit: float) -> Decimal:
    """Return a derivative along a step of size ``unit`` as one by the entry."""
    with digits(60):
        return value / Decimal(unit)


def scaled(side: Side, unit: float) -> Side:
    """Return slopes along a step of size ``unit`` as slopes by the entry."""
    return Side(side.kind, per_unit(side.left, unit), per_unit(side.right, unit)) if side.kind else side


def weighed(weights: Array, values: Sequence[Decimal]) -> Decimal:
    """Return the sum of numbers with weights, in many digits; what has weight 0 does not count."""
    with digits(60):
        terms = [Decimal(float(w)) * value for w, value in zip(weights, values, strict=True) if w != 0]
        return sum(terms, Decimal(0))
