"""The three Jacobians of one run: by symbols, by reverse mode, and by numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.agreement import ROUNDING, column_sums
from gradcli.checking.numeric import RESOLVED, Numeric, Probe, along, differences
from gradcli.checking.replay import replay
from gradcli.errors import GradcliError
from gradcli.evaluation import Evaluation, Function
from gradcli.graph import Node
from gradcli.ops.declare import Array
from gradcli.reverse import backward
from gradcli.symbolic.sparse import Sparse

SYMBOLS, REVERSE, COMPLEX, DIFFERENCES, EXPECTED = (
    "symbols",
    "reverse mode",
    "complex step",
    "central differences",
    "--expect",
)
MOST_ROWS = 2_000
MOST_COLUMNS = 200
MOST_WORK = 50_000_000
"""Rows and columns that are gone through one by one; beyond these, random sums of them are compared."""
NODE_WORK = 100
"""Elements that can be gone through while one rule is called."""
COMBINATIONS = 8
"""Random sums of rows, or of columns, where there are too many to take one at a time."""


@dataclass(frozen=True, slots=True)
class Table:
    """Two routes side by side, as matrices of numbers: ``left``, ``right``, the ``bound`` of their distance.

    A nan in ``bound`` says that the routes cannot be compared in that entry. ``row`` and ``column`` name the lines.
    """

    variable: str
    routes: tuple[str, str]
    left: Array
    right: Array
    bound: Array
    row: Callable[[int], str]
    column: Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Labels:
    """How to name rows and columns: the entries of y and of a variable."""

    row: Callable[[int], str]
    column: Callable[[int], str]


def signs(count: int, size: int) -> Array:
    """Return vectors of random signs."""
    return np.random.default_rng(0).choice((-1.0, 1.0), (count, size))


def by_rows(run: Evaluation, leaf: Node, jacobian: Sparse, name: str, labels: Labels) -> Table:
    """Return J by symbols beside J by reverse mode, a sweep for each row."""
    rows, columns = jacobian.shape
    work = rows * sum(NODE_WORK + np.size(node.value) for node in run.graph.nodes)
    whole = rows <= MOST_ROWS and work <= MOST_WORK and rows * columns <= MOST_WORK // 10
    seeds = np.eye(rows) if whole else signs(COMBINATIONS, rows)
    swept = [np.ravel(backward(run.graph, run.output, v.reshape(run.value.shape), [leaf])[0]) for v in seeds]
    left = jacobian.dense() if whole else np.array([summed(jacobian, v, jacobian.values) for v in seeds])
    right = np.array(swept).reshape(left.shape)
    sizes = np.array([summed(jacobian, np.abs(v), jacobian.sizes) for v in seeds]).reshape(left.shape)
    # The zeros of a one-hot v meet an infinite derivative of another row: such a column is finite on neither route.
    singular = ~np.all(np.isfinite(left), axis=0) & ~np.isfinite(right)
    return Table(
        name,
        (SYMBOLS, REVERSE),
        left,
        right,
        np.where(singular, np.nan, tolerance(sizes)),
        labels.row if whole else lambda k: f"(sum of rows {k + 1})",
        labels.column,
    )


def transposed(matrix: Sparse) -> Sparse:
    """Return the entries with rows and columns exchanged, in the order in which they are."""
    return Sparse(matrix.columns, matrix.rows, matrix.values, matrix.sizes, matrix.shape[::-1])


def resolved(values: Array, bounds: Array, sizes: Array, output: Array) -> Array:
    """Return where numbers alone are exact enough to judge by, measured by the largest derivative of the same output.

    ``values``, ``bounds`` and ``sizes`` have a row for each entry of the output, which is the measure where all are 0.
    """
    known = ~np.isnan(bounds) & np.isfinite(values)
    scale = np.max(np.abs(values), axis=1, keepdims=True, where=known, initial=0.0)
    scale = np.where(scale > 0, scale, np.abs(np.ravel(output))[:, None])
    found: Array = bounds <= RESOLVED * scale + np.where(np.isfinite(sizes), ROUNDING * sizes, 0.0)
    return found


def tolerance(sizes: Array) -> Array:
    """Return how far two exact routes may differ, from the sizes of the terms that they add up."""
    return np.where(np.isfinite(sizes), ROUNDING * sizes, np.inf) + np.finfo(np.float64).tiny


def summed(jacobian: Sparse, v: Array, values: Any) -> Array:
    """Return vᵀ times the entries."""
    chosen = v[jacobian.rows]
    with np.errstate(all="ignore"):
        terms = np.where((chosen == 0) | (values == 0), 0.0, chosen * values)
    return column_sums(terms, jacobian.columns, jacobian.shape[1])


def by_columns(run: Evaluation, leaf: Node, jacobian: Sparse, name: str, labels: Labels, probe: Probe) -> Table:
    """Return J by symbols beside J by numbers alone, a direction for each column."""
    rows, columns = jacobian.shape
    whole = columns <= MOST_COLUMNS and rows * columns <= MOST_WORK // 10
    directions = np.eye(columns) if whole else signs(COMBINATIONS, columns)
    turned = transposed(jacobian)
    found: list[Numeric] = []
    for direction in directions:
        run.graph.watch()
        found.append(along(run, leaf, direction, probe))
    left = np.array([summed(turned, u, turned.values) for u in directions]).reshape(len(directions), rows).T
    size = np.array([summed(turned, np.abs(u), turned.sizes) for u in directions]).reshape(len(directions), rows).T
    right = np.array([numeric.values for numeric in found]).reshape(len(directions), rows).T
    bounds = np.array([numeric.bounds for numeric in found]).reshape(len(directions), rows).T
    unclear = ~resolved(right, bounds, size, run.value)
    return Table(
        name,
        (SYMBOLS, COMPLEX if all(numeric.complex_step for numeric in found) else DIFFERENCES),
        left,
        right,
        np.where(unclear, np.nan, bounds + tolerance(size)),
        labels.row,
        labels.column if whole else lambda k: f"(sum of columns {k + 1})",
    )


def by_program(run: Evaluation, leaf: Node, jacobian: Sparse, name: str, labels: Labels, probe: Probe) -> Table:
    """Return J by symbols beside differences of the program as it is written, along one random direction.

    The complex step runs the recorded graph, and so would not see a value that the graph lost. Rows in which the
    differences say nothing are left out.
    """
    single = jacobian.shape[1] == 1
    direction = np.ones(1) if single else signs(1, jacobian.shape[1])[0]
    turned = transposed(jacobian)
    left, size = summed(turned, direction, turned.values), summed(turned, np.abs(direction), turned.sizes)
    found = differences(run, leaf, direction, probe)
    clear = np.flatnonzero(resolved(found.values[:, None], found.bounds[:, None], size[:, None], run.value))
    return Table(
        name,
        (SYMBOLS, DIFFERENCES),
        left[clear, None],
        found.values[clear, None],
        (found.bounds + tolerance(size))[clear, None],
        lambda k: labels.row(int(clear[k])),
        labels.column if single else lambda k: f"(sum of columns {k + 1})",
    )


def prober(function: Function, run: Evaluation, values: dict[str, Any], name: str) -> Probe:
    """Return the program as a function of one flat input; nan where it has no value.

    The whole program is evaluated again, so that what the graph missed would show. A value that was detached on purpose
    must not move: then the graph is run again.
    """
    leaf = run.leaves[name]
    nothing = np.full(run.value.size, np.nan)

    def again(x: Array) -> Array:
        run.graph.watch()
        try:
            y = function.evaluate({**values, name: x.reshape(leaf.shape)}, record=False).value
        except GradcliError:
            return nothing
        return np.ravel(y) if y.size == nothing.size else nothing

    def rerun(x: Array) -> Array:
        return np.ravel(replay(run, {leaf.index: x.reshape(leaf.shape)[()]}))

    return rerun if ".detach" in function.place.text else again
