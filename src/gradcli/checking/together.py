"""All variables at once: J along one random direction that moves every one, and single entries that cancel.

A direction for each variable may take more time than there is. What each route says of each variable is still held
against the other route, entry by entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import numpy as np

from gradcli.checking.comparing import judge_route
from gradcli.checking.routes import Derivative, Routes, Sweeps, Table
from gradcli.checking.truth import Truth, multiply, tabulate, to_decimals, undecided
from gradcli.exact.decimals import NAN
from gradcli.exact.judge import TermSizes, per_unit, random_direction, units
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import ROUNDING, WRONG
from gradcli.explanation.checked import REVERSE, SYMBOLS, Comparison
from gradcli.explanation.confirmation import walk_direction
from gradcli.explanation.words import Confirmation
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array

MOST_SINGLE = 3
"""Entries that cancel which are asked for one by one."""
WHERE = "(all variables in a random direction)"


def hold_together(exact: Exact, routes: Routes, told: Confirmation, point: dict[str, Array]) -> list[Comparison]:
    """Return how both routes compare with the truth along one direction, and in the entries that cancel most."""
    first, _ = routes[0]
    direction = random_direction(exact.point, [sought.variable for sought, _ in routes])
    whole, steps = side_by_side(routes), np.concatenate([np.ravel(direction[s.variable]) for s, _ in routes])
    sizes, values = (multiply(whole, np.asarray(part), step) for part, step in parts(whole, steps))
    truth = [[NAN] for _ in range(whole.shape[0])]
    singles: list[Comparison] = []
    with undecided(told, exact):
        slope = walk_direction(
            exact, direction, first.row, "a random direction", told.bends, to_decimals(sizes), [to_decimals(values)]
        )
        truth = [[value] for value in slope.values]
        singles += hold_singles(exact, routes, point)
    every = Derivative(first.run, first.leaf, whole, first.variable, first.row, lambda _: WHERE)
    found = Truth(truth, TermSizes(sizes), steps, lambda _: WHERE)
    return [*(judge_route(table, point) for table in tabulate(every, swept_together(routes), found)), *singles]


def parts(whole: Sparse, steps: Array) -> list[tuple[Array, Array]]:
    """Return the sizes of the terms of J and J itself, each with what it is multiplied by."""
    return [(np.asarray(whole.sizes), np.abs(steps)), (whole.values, steps)]


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
