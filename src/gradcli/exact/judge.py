"""How many digits of a number are right, and the true Jacobian that they are held against."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from random import Random
from typing import Any, NamedTuple

import numpy as np

from gradcli.exact.real import digits
from gradcli.exact.slopes import Exact, Side, Slope, finite
from gradcli.exact.work import ALL, FEWEST, ROUNDING, SAME
from gradcli.ops.links import Array, Indices, Mask

LEAST = Decimal("1e-5000")
"""Size of terms that is no size, but not 0 either."""
TINIEST = Decimal(2) ** -1070
"""Distance that the spacing of the smallest doubles explains."""


def right_digits(value: float, truth: Decimal, size: float = 0.0) -> float:
    """Return how many digits of a double are right; nan where the truth is not known.

    ``size`` is that of the terms whose sum the number is: where the truth is 0 as a double, what their rounding leaves
    is right.

    >>> right_digits(3.14, Decimal("3.14159265358979"))
    3.295...
    """
    if not truth and not value:
        return ALL
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
        if is_zero(truth):
            return ALL if abs(value) <= ROUNDING * size else 0.0
        return min(max(0.0, -float((error / abs(truth)).log10())), ALL)


def is_zero(truth: Decimal) -> bool:
    """Return whether a true number is 0 as a double; one that is not known is not."""
    return float(truth) == 0


def is_dust(number: float, truth: Decimal, size: float) -> bool:
    """Return whether a number is not 0, and no more than rounding leaves where the truth is 0."""
    return number != 0 and is_zero(truth) and right_digits(number, truth, size) >= FEWEST


class TermSizes:
    """How large the terms of some numbers are: ``plain``, or ``rounded`` where a number beside a true 0 is larger.

    Both are arrays with an entry for each number. The second are worked out where the rounding of the first does not
    explain such a number; without a function for them they are the first.

    >>> TermSizes(np.ones(2), lambda: np.array([1.0, 8.0])).beside(np.array([1.0, 1e-13]), np.array([False, True]))
    array([1., 8.])
    """

    def __init__(self, plain: Array, rounded: Callable[[], Array] | None = None) -> None:
        self.plain = plain
        self._rounded = rounded

    @cached_property
    def rounded(self) -> Array:
        """The sizes in which the rounding inside of all values counts."""
        return self.plain if self._rounded is None else self._rounded()

    def weighed(self, weights: Array) -> TermSizes:
        """Return the sizes of sums of the rows of these with weights, a row of them for each sum."""

        def times(sizes: Array) -> Array:
            with np.errstate(all="ignore"):
                return np.asarray(np.abs(weights) @ sizes)

        return TermSizes(times(self.plain), lambda: times(self.rounded))

    @property
    def dust(self) -> float:
        """The largest size in which the rounding inside of values counts; 0 where no number has asked for it."""
        return float(np.max(self.rounded, initial=0.0)) if "rounded" in vars(self) else 0.0

    def beside(self, numbers: Array, zeros: Mask) -> Array:
        """Return the sizes for numbers; ``zeros`` says of each whether its truth is 0."""
        return self.rounded if np.any(zeros & (np.abs(numbers) > ROUNDING * self.plain)) else self.plain

    def at(self, place: Any, value: float, truth: Decimal) -> float:
        """Return the size for the number at an index of these arrays, which is held against its ``truth``."""
        size = float(self.plain[place])
        return size if not is_zero(truth) or abs(value) <= ROUNDING * size else float(self.rounded[place])


def units(value: object) -> Array:
    """Return the step of each entry of a variable: its size, 1 where it is 0."""
    x = np.abs(np.asarray(value, dtype=np.float64))
    return np.where(x == 0, 1.0, x)


def random_direction(point: Mapping[str, Any], names: Sequence[str], seed: int = 0) -> dict[str, Array]:
    """Return a direction that moves every entry of these variables, each by its own share of its size: ties break.

    Some seeds give shares of several orders of magnitude, and some of one sign.
    """
    rng = Random(seed)  # noqa: S311  # that of Python is loaded by sympy, and numpy's is twelve modules more

    def steps(shape: tuple[int, ...]) -> Array:
        parts = np.frombuffer(rng.randbytes(8 * math.prod(shape)), "<u4").reshape(2, *shape) / 2.0**32
        shares = 10 ** (-3.0 * parts[0]) if seed % 3 == 1 else 0.5 + 0.5 * parts[0]
        return shares if seed % 6 == 2 else np.copysign(shares, parts[1] - 0.5)

    return {name: units(point[name]) * steps(np.shape(point[name])) for name in names}


def turned_direction(point: Mapping[str, Any], names: Sequence[str]) -> dict[str, Array]:
    """Return the first random direction with half of it turned around."""
    d = random_direction(point, names)
    turned = {name: step * np.where(np.arange(step.size).reshape(step.shape) % 2, 1, -1) for name, step in d.items()}
    return turned | {name: -turned[name] for name in names[1::2]}


class Places(NamedTuple):
    """Where a Jacobian can be other than 0, and how large the terms of each of these entries are.

    ``sought`` are the numbers that are to be judged, a list for each route.
    """

    rows: Indices
    columns: Indices
    sizes: Array
    sought: Sequence[Array]
    shape: tuple[int, int]

    def grouped(self, edgy: bool) -> list[list[int]]:
        """Return the columns that are moved at once: each alone where pieces of the program meet, if they are few."""
        few = self.shape[1] <= MOST_APART
        return [[column] for column in range(self.shape[1])] if edgy and few else self.together()

    def together(self) -> list[list[int]]:
        """Return the columns in groups of which no two have an entry in one row (Curtis, Powell and Reid 1974).

        >>> Places(np.array([0, 1, 1]), np.array([0, 1, 2]), np.ones(3), [], (2, 3)).together()
        [[0, 1], [2]]
        """
        taken = [0] * self.shape[1]
        for row, column in zip(self.rows.tolist(), self.columns.tolist(), strict=True):
            taken[column] |= 1 << row
        occupied: list[int] = []
        groups: list[list[int]] = []
        for column, rows in enumerate(taken):
            k = next((k for k, others in enumerate(occupied) if not others & rows), len(groups))
            if k == len(groups):
                occupied.append(0)
                groups.append([])
            occupied[k] |= rows
            groups[k].append(column)
        return groups


class Entry(NamedTuple):
    """One true entry of a Jacobian, nan where it has no limit, and what y does on both sides by that entry.

    Where that is not known of the entry ``alone``, it is what y does as others move with it.
    """

    row: int
    column: int
    value: Decimal
    side: Side
    alone: bool


MOST_APART = 16
"""Columns that are moved one by one where pieces of the program meet: along another one, none may show."""
SMOOTH = Side("", Decimal(0), Decimal(0))
MOST_ALONE = 8
"""Columns of a group that are moved alone where the program decides otherwise beside x."""


def true_entries(exact: Exact, name: str, places: Places, groups: Sequence[Sequence[int]]) -> Iterator[Entry]:
    """Yield the true entries of ∂y/∂x that can be other than 0, by directions that move a group of columns at once.

    An entry that was taken for 0 and is not shows in another one of its row and group. Raises ``Spent``.
    """
    steps = random_direction(exact.point, [name])[name]
    flat, count = np.ravel(steps), places.shape[0]
    for group in groups:
        among = np.isin(np.arange(flat.size), group)
        inside = among[places.columns]
        rows, columns = places.rows[inside], places.columns[inside]
        of_row = np.full(count, group[0])
        of_row[rows] = columns
        steps_here = [Decimal(step) for step in flat[columns].tolist()]
        sizes = at_rows(rows, places.sizes[inside], steps_here, count)
        sought = [at_rows(rows, values[inside], steps_here, count) for values in places.sought]
        direction = {name: np.where(among, flat, 0.0).reshape(np.shape(steps))}
        slopes = exact.along(direction, at_least(sizes, rows), sought)
        bent = sorted({int(of_row[i]) for i, side in enumerate(slopes.sides) if side.kind})
        turning = sorted(set(group) - set(bent)) if slopes.turns else []
        alone = {group[0]: slopes}
        if len(group) > 1:
            alone = {j: move_alone(exact, name, steps, j) for j in [*bent, *turning][:MOST_ALONE]}
        for i, (value, side) in enumerate(zip(slopes.values, slopes.sides, strict=True)):
            column = int(of_row[i])
            by_itself = alone[column].sides[i] if column in alone else SMOOTH
            unit = float(flat[column])
            is_alone = by_itself.kind != "" or not side.kind
            yield Entry(i, column, per_unit(value, unit), scaled(by_itself if is_alone else side, unit), is_alone)
        for column, slope in alone.items():
            unit = float(flat[column])
            for i in (i for i, side in enumerate(slope.sides) if side.kind and of_row[i] != column):
                yield Entry(i, column, per_unit(slope.values[i], unit), scaled(slope.sides[i], unit), alone=True)


def move_alone(exact: Exact, name: str, steps: Array, column: int) -> Slope:
    """Return the derivative of each entry of y as one entry of a variable moves. Raises ``Spent``."""
    among = np.arange(np.size(steps)).reshape(np.shape(steps)) == column
    return exact.along({name: np.where(among, steps, 0.0)})


def at_rows(rows: Indices, values: Array, steps: Sequence[Decimal], count: int) -> list[Decimal]:
    """Return numbers times steps in their rows, 0 in all others and where a number is not finite."""
    numbers = [Decimal(0)] * count
    with digits(60):
        for row, value, step in zip(rows.tolist(), values.tolist(), steps, strict=True):
            numbers[row] = finite(value) * step
    return numbers


def at_least(sizes: Sequence[Decimal], rows: Indices) -> list[Decimal]:
    """Return sizes, none of them 0 in these rows: a derivative that doubles take for 0 may be a small one."""
    raised = list(map(abs, sizes))
    for row in rows.tolist():
        raised[row] = max(raised[row], LEAST)
    return raised


def per_unit(value: Decimal, unit: float) -> Decimal:
    """Return a derivative along a step of size ``unit`` as one by the entry."""
    with digits(60):
        return value / Decimal(unit)


def scaled(side: Side, unit: float) -> Side:
    """Return slopes along a step of size ``unit`` as slopes by the entry."""
    if not side.kind:
        return side
    left, right = (side.left, side.right) if unit > 0 else (side.right, side.left)
    return Side(side.kind, per_unit(left, unit), per_unit(right, unit))


def weighed(weights: Array, values: Sequence[Decimal]) -> Decimal:
    """Return the sum of numbers with weights, in many digits; what has weight 0 does not count.

    The numbers are known to 20 digits: a sum below 10⁻²⁰ of its terms is 0.
    """
    with digits(60):
        terms = [Decimal(float(w)) * value for w, value in zip(weights, values, strict=True) if w != 0]
        total = sum(terms, Decimal(0))
        return Decimal(0) if total and abs(total) <= SAME * sum(map(abs, terms)) else total


def add_products(rows: Indices, left: Array, right: Array, count: int) -> list[float]:
    """Return for each of ``count`` rows the sum of its products of doubles, rounded once; nan where one is not finite.

    A product is two doubles that add up to it (Dekker 1971, "A floating-point technique for extending the available
    precision").

    >>> add_products(np.array([0, 0, 1]), np.array([1e16, -1.0, 3.0]), np.array([1.0, 1e16 + 2, 0.5]), 2)
    [-2.0, 1.5]
    """
    with np.errstate(all="ignore"):
        (x, k), (y, m) = np.frexp(left), np.frexp(right)
        (x_high, x_low), (y_high, y_low) = halves(x), halves(y)
        product = x * y
        error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
        terms = np.concatenate([np.ldexp(product, k + m), np.ldexp(error, k + m)])
    order = np.argsort(np.concatenate([rows, rows]), kind="stable")
    ends = 2 * np.cumsum(np.bincount(rows, minlength=count))[:-1]
    parts = np.split(terms[order], ends)
    return [math.fsum(part.tolist()) if np.all(np.isfinite(part)) else math.nan for part in parts]


def halves(x: Array) -> tuple[Array, Array]:
    """Return numbers as sums of two, each with half of the digits (Veltkamp)."""
    scaled = (2.0**27 + 1) * x
    high = scaled - (scaled - x)
    return high, x - high
