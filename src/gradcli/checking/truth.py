"""The true derivative by one variable, in many digits, and the routes beside it.

All variables at once: where entries are many, random directions that move every one, and some entries alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

import numpy as np

from gradcli.checking.comparing import Derivative, Routes, Sweeps, Table, judge_route
from gradcli.engine.naming import Label
from gradcli.errors import GradcliError
from gradcli.exact.judge import (
    Entry,
    Places,
    TermSizes,
    is_zero,
    per_unit,
    random_direction,
    turned_direction,
    units,
    weighed,
)
from gradcli.exact.real import NAN
from gradcli.exact.slopes import Exact, finite
from gradcli.exact.thresholds import ROUNDING, WRONG
from gradcli.exact.work import Spent
from gradcli.explanation.checked import REVERSE, SYMBOLS, Comparison
from gradcli.explanation.confirmation import (
    Confirmation,
    is_dear,
    sizes_of_terms,
    spent_text,
    too_large_text,
    walk_direction,
    walk_entries,
)
from gradcli.explanation.suspicion import MORE_RUNS, RUNS
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array

MOST_ENTRIES = 200_000
"""Entries of J, zeros included, that are held against the truth one by one."""


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


def find_truth(
    exact: Exact, sought: Derivative, sweeps: Sweeps, told: Confirmation, effort: Effort, edgy: bool
) -> Truth:
    """Return the true derivative: its entries, or where they are too many the derivative along a random direction.

    Kinks, jumps and the like are told, those along a random direction too, and why something was not found. ``edgy``
    says that pieces of the program may meet here.
    """
    (rows, columns), jacobian = sought.jacobian.shape, sought.jacobian
    places = list_places(jacobian, sweeps)
    fullest = int(np.max(np.bincount(jacobian.rows), initial=0)) if len(jacobian.rows) else 0
    few = rows * columns <= MOST_ENTRIES and effort.suffices(fullest)
    groups = places.grouped(edgy) if few else []
    random = random_direction(exact.point, [sought.variable])
    if few and effort.suffices(len(groups)):
        values = find_entries(exact, sought, sweeps, told, places, groups)
        if values is not None:
            if columns > 1 and not told.bends:
                with undecided(told, exact), suppress(Spent):  # a kink that no entry shows: all of them are there
                    look_along(exact, sought, told, random, None)
            return Truth(values, term_sizes(sought), None, sought.column)
        exact.renew()
    direction = np.ravel(random[sought.variable])
    values = [[NAN] for _ in range(rows)]
    if RUNS * effort.cost > exact.work.most:
        told.unknown = told.unknown or too_large_text(exact.work.most)
    else:
        with undecided(told, exact):
            look_along(exact, sought, told, random, values)
    sizes = TermSizes(multiply(jacobian, np.asarray(jacobian.sizes), np.abs(direction)))
    return Truth(values, sizes, direction, lambda _: along_text(sought.variable))


def along_text(variable: str) -> str:
    """Return what stands for an entry of a variable that is moved as a whole."""
    return f"({variable} in a random direction)"


@contextmanager
def undecided(told: Confirmation, exact: Exact) -> Iterator[None]:
    """Note why the truth was not found, where the work for it is used up or the program has no value in many digits."""
    try:
        yield
    except Spent:
        told.unknown = told.unknown or spent_text(exact.work.most)
    except GradcliError as error:
        if error.kind != "exact":
            raise
        told.unknown = told.unknown or error.message


def list_places(jacobian: Sparse, sweeps: Sweeps) -> Places:
    """Return where J can be other than 0, with the numbers of both routes there."""
    sought = [jacobian.values, *([sweeps.values[jacobian.rows, jacobian.columns]] if sweeps.each else [])]
    return Places(jacobian.rows, jacobian.columns, np.asarray(jacobian.sizes), sought, jacobian.shape)


def term_sizes(sought: Derivative) -> TermSizes:
    """Return the sizes of the terms of all entries, with the rounding inside of values where a true 0 asks for it."""
    jacobian = sought.jacobian
    sizes = sizes_of_terms(sought.run, sought.leaf, jacobian)
    return TermSizes(fill(jacobian, sizes.plain), lambda: fill(jacobian, sizes.rounded))


def fill(jacobian: Sparse, numbers: Array) -> Array:
    """Return numbers of the entries of J as a matrix with all its zeros."""
    full = np.zeros(jacobian.shape)
    full[jacobian.rows, jacobian.columns] = numbers
    return full


def multiply(jacobian: Sparse, values: Array, direction: Array) -> Array:
    """Return a matrix with the places of J times a direction, as one column."""
    with np.errstate(all="ignore"):
        terms = values * direction[jacobian.columns]
        found: Array = np.bincount(jacobian.rows, terms, jacobian.shape[0])  # type: ignore[assignment] # numpy: counts
        return found[:, None]


def to_decimals(column: Array) -> list[Decimal]:
    """Return numbers as decimals, 0 for what is not finite."""
    return [finite(value) for value in column.ravel().tolist()]


def find_entries(
    exact: Exact,
    sought: Derivative,
    sweeps: Sweeps,
    told: Confirmation,
    places: Places,
    groups: Sequence[Sequence[int]],
) -> list[list[Decimal]] | None:
    """Return the true entries in rows, nan where one was not found; None where the work does not suffice."""
    rows, columns = sought.jacobian.shape
    values = [[Decimal(0)] * columns for _ in range(rows)]
    for row, column in zip(places.rows.tolist(), places.columns.tolist(), strict=True):
        values[row][column] = NAN
    by_symbols = sought.jacobian.dense()

    def takes(entry: Entry) -> str:
        reverse = f", reverse mode {sweeps.values[entry.row, entry.column]:.6g}." if sweeps.each else "."
        return f" Symbols take {by_symbols[entry.row, entry.column]:.6g}{reverse}"

    labels = (sought.row, sought.column)
    with undecided(told, exact):
        try:
            for entry in walk_entries(exact, sought.variable, places, groups, labels, told.bends, takes):
                values[entry.row][entry.column] = entry.value
        except Spent:
            return None
    return values


def look_along(
    exact: Exact,
    sought: Derivative,
    told: Confirmation,
    direction: dict[str, Array],
    values: list[list[Decimal]] | None,
) -> None:
    """Look for kinks along a direction, and write the derivative along it into ``values``. Raises ``Spent``."""
    jacobian, step = sought.jacobian, np.ravel(direction[sought.variable])
    sizes = to_decimals(multiply(jacobian, np.asarray(jacobian.sizes), np.abs(step)))
    printed = [] if values is None else [to_decimals(multiply(jacobian, jacobian.values, step))]
    where = f"{sought.variable} in a random direction"
    slope = walk_direction(exact, direction, sought.row, where, told.bends, sizes, printed)
    if values is not None:
        for row, value in zip(values, slope.values, strict=True):
            row[0] = value


def tabulate(sought: Derivative, sweeps: Sweeps, truth: Truth) -> list[Table]:
    """Return J by symbols and J by reverse mode, each beside the truth."""
    jacobian, name, direction = sought.jacobian, sought.variable, truth.direction
    if direction is None:
        symbols, reverse = jacobian.dense(), sweeps.values
    else:
        symbols = multiply(jacobian, jacobian.values, direction)
        with np.errstate(all="ignore"):
            reverse = (sweeps.values @ direction)[:, None]
    first, second = symbols.tolist(), reverse.tolist()
    by_symbols = Table(
        name, SYMBOLS, first, truth.values, sizes_beside(truth.sizes, first, truth.values), sought.row, truth.column
    )
    if sweeps.each:
        sizes = sizes_beside(truth.sizes, second, truth.values)
        return [by_symbols, Table(name, REVERSE, second, truth.values, sizes, sought.row, truth.column)]
    sums = [[weighed(seed, column) for column in zip(*truth.values, strict=True)] for seed in sweeps.seeds]

    def label(k: int) -> str:
        return f"(sum of rows {k + 1})"

    sizes = sizes_beside(truth.sizes.weighed(sweeps.seeds), second, sums)
    return [by_symbols, Table(name, REVERSE, second, sums, sizes, label, truth.column)]


# ---- All variables at once: where entries are many, random directions that move every one, and some entri

MOST_SINGLE = 3
"""Entries that cancel which are asked for one by one."""
MOST_SAMPLED = 300
"""Columns of J that are picked at random and asked for one by one."""
SHARE = 2
"""Which part of the work is spent before no more columns are picked."""
WHERE = "(all variables in a random direction)"


@dataclass(frozen=True, slots=True)
class Together:
    """How both routes compare with the truth along ``directions`` that move all variables.

    ``whole`` is J by all of them side by side, ``truth`` the derivative along the first direction.
    """

    comparisons: list[Comparison]
    whole: Sparse
    truth: Truth
    directions: int

    def truth_of(self, routes: Routes, place: int) -> Truth:
        """Return the true derivative by the variable at this place, along its part of the direction.

        The parts of the others are taken off: J by symbols, which was held against the truth along the whole.
        """
        sought, _ = routes[place]
        start = sum(other.jacobian.shape[1] for other, _ in routes[:place])
        part = slice(start, start + sought.jacobian.shape[1])
        others = np.array(self.truth.direction)
        steps = others[part].copy()
        others[part] = 0.0
        taken = to_decimals(multiply(self.whole, self.whole.values, others))
        values = [[row[0] - other] for row, other in zip(self.truth.values, taken, strict=True)]
        return Truth(values, self.truth.sizes, steps, lambda _: along_text(sought.variable), rounded=True)


def hold_together(exact: Exact, routes: Routes, told: Confirmation, point: Mapping[str, Array]) -> Together:
    """Return how both routes compare with the truth along one direction, and along a second one where that is not dear.

    The entries that cancel most are asked for alone.
    """
    first, _ = routes[0]
    names = [sought.variable for sought, _ in routes]
    whole, swept = side_by_side(routes), swept_together(routes)
    every = Derivative(first.run, first.leaf, whole, first.variable, first.row, lambda _: WHERE)
    found: list[Comparison] = []
    truths: list[Truth] = []
    for direction in (random_direction(exact.point, names), turned_direction(exact.point, names)):
        if truths and (is_dear(exact) or told.unknown):
            break
        steps = np.concatenate([np.ravel(direction[name]) for name in names])
        sizes = multiply(whole, np.asarray(whole.sizes), np.abs(steps))
        values = [[NAN] for _ in range(whole.shape[0])]
        sought = [to_decimals(multiply(whole, whole.values, steps))]
        with undecided(told, exact):
            slope = walk_direction(
                exact, direction, first.row, "a random direction", told.bends, to_decimals(sizes), sought
            )
            values = [[value] for value in slope.values]
        truths.append(Truth(values, TermSizes(sizes), steps, lambda _: WHERE))
        found += [judge_route(table, dict(point)) for table in tabulate(every, swept, truths[-1])]
    with undecided(told, exact):
        found += hold_singles(exact, routes, point)
    return Together(found, whole, truths[0], len(truths))


def side_by_side(routes: Routes) -> Sparse:
    """Return J by all variables, the columns of one after those of the other."""
    jacobians = [sought.jacobian for sought, _ in routes]
    starts = np.cumsum([0, *(jacobian.shape[1] for jacobian in jacobians)])
    return Sparse(
        np.concatenate([jacobian.rows for jacobian in jacobians]),
        np.concatenate([jacobian.columns + start for jacobian, start in zip(jacobians, starts, strict=False)]),
        np.concatenate([jacobian.values for jacobian in jacobians]),
        np.concatenate([np.asarray(jacobian.sizes) for jacobian in jacobians]),
        (jacobians[0].shape[0], int(starts[-1])),
    )


def swept_together(routes: Routes) -> Sweeps:
    """Return J by reverse mode by all variables, the columns of one after those of the other."""
    swept = [sweeps for _, sweeps in routes]
    values, symbols, sizes = (
        np.hstack(part) for part in zip(*((s.values, s.symbols, s.sizes) for s in swept), strict=True)
    )
    return Sweeps(swept[0].seeds, values, symbols, sizes, swept[0].each)


def own_truth(exact: Exact, sought: Derivative, told: Confirmation) -> Truth | None:
    """Return the true derivative by one variable along a direction of its own, None where that is too dear."""
    jacobian = sought.jacobian
    direction = random_direction(exact.point, [sought.variable])
    step = np.ravel(direction[sought.variable])
    sizes = multiply(jacobian, np.asarray(jacobian.sizes), np.abs(step))
    if is_dear(exact) or exact.work.left < 2 * MORE_RUNS * exact.cost:
        return None
    try:
        slope = walk_direction(
            exact, direction, sought.row, f"{sought.variable} in a random direction", told.bends, to_decimals(sizes)
        )
    except Spent:
        return None
    values = [[value] for value in slope.values]
    return Truth(values, TermSizes(sizes), step, lambda _: along_text(sought.variable))


def sample_columns(
    exact: Exact, routes: Routes, point: Mapping[str, Array], seed: int = 0
) -> tuple[list[Comparison], int]:
    """Return how both routes compare with the truth in columns of J that are picked at random, and how many entries.

    They are as many as half of the work allows, and cost no more than what was asked before; variables take turns.
    """
    columns = [sought.jacobian.shape[1] for sought, _ in routes]
    room = min(exact.work.most // SHARE - exact.work.done, exact.work.done) // (MORE_RUNS * exact.cost)
    count, rng = max(0, min(room, MOST_SAMPLED, sum(columns))), Random(seed)  # noqa: S311 # one seed, one choice
    picked = [rng.sample(range(length), min(length, count)) for length in columns]
    turns = [(k, own[turn]) for turn in range(count) for k, own in enumerate(picked) if turn < len(own)]
    found: list[Comparison] = []
    entries = 0
    try:
        for k, column in turns[:count]:
            found += hold_column(exact, *routes[k], column, point)
            entries += routes[k][0].jacobian.shape[0]
    except Spent:
        pass
    return found, entries


def true_column(exact: Exact, sought: Derivative, column: int) -> tuple[list[list[Decimal]], Array]:
    """Return the true derivative by one entry of a variable, a row for each entry of y, and the sizes of its terms.

    Raises ``Spent``.
    """
    jacobian, x = sought.jacobian, np.asarray(exact.point[sought.variable])
    inside = jacobian.columns == column
    sizes = np.zeros((jacobian.shape[0], 1))
    sizes[jacobian.rows[inside], 0] = np.asarray(jacobian.sizes)[inside]
    step = np.zeros(x.size)
    step[column] = unit = float(np.ravel(units(x))[column])
    slope = exact.along({sought.variable: step.reshape(x.shape)}, to_decimals(sizes * unit))
    return [[per_unit(value, unit)] for value in slope.values], sizes


def hold_column(
    exact: Exact, sought: Derivative, sweeps: Sweeps, column: int, point: Mapping[str, Array]
) -> list[Comparison]:
    """Return how both routes compare with the truth in one column of J. Raises ``Spent``."""
    truth, sizes = true_column(exact, sought, column)
    jacobian = sought.jacobian
    inside = jacobian.columns == column
    symbols = np.zeros(jacobian.shape[0])
    symbols[jacobian.rows[inside]] = jacobian.values[inside]
    numbers = {SYMBOLS: symbols, **({REVERSE: sweeps.values[:, column]} if sweeps.each else {})}
    return [
        judge_route(
            Table(
                sought.variable,
                route,
                values[:, None].tolist(),
                truth,
                sizes,
                sought.row,
                lambda _: sought.column(column),
            ),
            dict(point),
        )
        for route, values in numbers.items()
    ]


def hold_singles(exact: Exact, routes: Routes, point: Mapping[str, Array]) -> list[Comparison]:
    """Return how both routes compare with the truth in the entries of which rounding may have left least."""
    found = []
    for sought, sweeps in routes:
        jacobian = sought.jacobian
        with np.errstate(all="ignore"):
            shares = np.abs(jacobian.values) / np.asarray(jacobian.sizes)
        for k in np.argsort(shares)[:MOST_SINGLE].tolist():
            if shares[k] * WRONG > ROUNDING or not sweeps.each:
                break
            found += hold_single(exact, sought, sweeps, k, dict(point))
    return found


def hold_single(exact: Exact, sought: Derivative, sweeps: Sweeps, k: int, point: dict[str, Array]) -> list[Comparison]:
    """Return how both routes compare with the truth in entry ``k`` of J, by a direction that moves it alone."""
    jacobian, x = sought.jacobian, np.asarray(exact.point[sought.variable])
    row, column, size = int(jacobian.rows[k]), int(jacobian.columns[k]), float(np.asarray(jacobian.sizes)[k])
    step = np.zeros(x.size)
    step[column] = unit = float(np.ravel(units(x))[column])
    asked = [Decimal(size * unit) if i == row else Decimal(0) for i in range(jacobian.shape[0])]
    truth = per_unit(exact.along({sought.variable: step.reshape(x.shape)}, asked).values[row], unit)
    numbers = {SYMBOLS: float(jacobian.values[k]), REVERSE: float(sweeps.values[row, column])}
    tables = [
        Table(sought.variable, route, [[value]], [[truth]], np.array([[size]]), lambda _: sought.row(row),
              lambda _: sought.column(column))
        for route, value in numbers.items()
    ]  # fmt: skip
    return [judge_route(table, point) for table in tables]
