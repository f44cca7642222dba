"""All variables at once: where entries are many, random directions that move every one, and some entries alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import numpy as np

from gradcli.checking.comparing import Derivative, Routes, Sweeps, Table, judge_route
from gradcli.checking.truth import Truth, along_text, multiply, tabulate, to_decimals, undecided
from gradcli.exact.decimals import NAN
from gradcli.exact.judge import TermSizes, per_unit, random_direction, turned_direction, units
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import ROUNDING, WRONG
from gradcli.exact.work import Spent
from gradcli.explanation.checked import REVERSE, SYMBOLS, Comparison
from gradcli.explanation.confirmation import is_dear, walk_direction
from gradcli.explanation.suspicion import MORE_RUNS
from gradcli.explanation.words import Confirmation
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array

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
