"""The three Jacobians of one run: by symbols, by reverse mode, and by numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcli.agreement import ROUNDING, tolerance, weighted_sums
from gradcli.checking.numeric import RESOLVED, Numeric, Probe, differences, method
from gradcli.checking.replay import Recording, replay
from gradcli.errors import GradcliError
from gradcli.evaluation import Function
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
    ``whole`` says that the entries are those of J; otherwise they are random sums of them, or some of them.
    """

    variable: str
    routes: tuple[str, str]
    left: Array
    right: Array
    bound: Array
    row: Callable[[int], str]
    column: Callable[[int], str]
    whole: bool


@dataclass(frozen=True, slots=True)
class Labels:
    """How to name rows and columns: the entries of y and of a variable."""

    row: Callable[[int], str]
    column: Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Derivative:
    """∂y/∂x of one variable at one point: the run, and J by symbols, which every route is held against."""

    recording: Recording
    leaf: Node
    jacobian: Sparse
    variable: str
    labels: Labels

    @property
    def output(self) -> Array:
        """The value of y."""
        return self.recording.run.value


def signs(count: int, size: int) -> Array:
    """Return vectors of random signs."""
    return np.random.default_rng(0).choice((-1.0, 1.0), (count, size))


def stacked(vectors: Sequence[Array], length: int) -> Array:
    """Return vectors as the rows of a matrix, of which there may be none."""
    return np.array(vectors).reshape(len(vectors), length)


def transposed(matrix: Sparse) -> Sparse:
    """Return the entries with rows and columns exchanged, in the order in which they are."""
    return Sparse(matrix.columns, matrix.rows, matrix.values, matrix.sizes, matrix.shape[::-1])


def entries(jacobian: Sparse) -> tuple[Array, Array]:
    """Return J with all its zeros, and the sizes of the terms of each entry."""
    return jacobian.dense(), replace(jacobian, values=np.asarray(jacobian.sizes)).dense()


def combined(jacobian: Sparse, weights: Array) -> tuple[Array, Array]:
    """Return each row of ``weights`` times J, and the sizes of the terms that it adds up."""
    rows, columns, count = jacobian.rows, jacobian.columns, jacobian.shape[1]
    sizes = np.asarray(jacobian.sizes)
    return (
        stacked([weighted_sums(v, rows, columns, jacobian.values, count) for v in weights], count),
        stacked([weighted_sums(np.abs(v), rows, columns, sizes, count) for v in weights], count),
    )


def by_rows(sought: Derivative) -> Table:
    """Return J by symbols beside J by reverse mode, a sweep for each row."""
    run, (rows, columns) = sought.recording.run, sought.jacobian.shape
    work = rows * sum(NODE_WORK + np.size(node.value) for node in run.graph.nodes)
    whole = rows <= MOST_ROWS and work <= MOST_WORK and rows * columns <= MOST_WORK // 10
    seeds = np.eye(rows) if whole else signs(COMBINATIONS, rows)
    swept = [np.ravel(backward(run.graph, run.output, v.reshape(run.value.shape), [sought.leaf])[0]) for v in seeds]
    left, sizes = entries(sought.jacobian) if whole else combined(sought.jacobian, seeds)
    right = stacked(swept, columns)
    # The zeros of a one-hot v meet an infinite derivative of another row: such a column is finite on neither route.
    singular = ~np.all(np.isfinite(left), axis=0) & ~np.isfinite(right)
    return Table(
        sought.variable,
        (SYMBOLS, REVERSE),
        left,
        right,
        np.where(singular, np.nan, tolerance(sizes)),
        sought.labels.row if whole else lambda k: f"(sum of rows {k + 1})",
        sought.labels.column,
        whole,
    )


def resolved(values: Array, bounds: Array, sizes: Array, output: Array) -> Array:
    """Return where numbers alone are exact enough to judge by, measured by the largest derivative of the same output.

    ``values``, ``bounds`` and ``sizes`` have a row for each entry of the output, which is the measure where all are 0.
    """
    known = ~np.isnan(bounds) & np.isfinite(values)
    scale = np.max(np.abs(values), axis=1, keepdims=True, where=known, initial=0.0)
    scale = np.where(scale > 0, scale, np.abs(np.ravel(output))[:, None])
    found: Array = bounds <= RESOLVED * scale + np.where(np.isfinite(sizes), ROUNDING * sizes, 0.0)
    return found


def by_columns(sought: Derivative, probe: Probe) -> Table:
    """Return J by symbols beside J by numbers alone, a direction for each column."""
    rows, columns = sought.jacobian.shape
    whole = columns <= MOST_COLUMNS and rows * columns <= MOST_WORK // 10
    directions = np.eye(columns) if whole else signs(COMBINATIONS, columns)
    derivative = method(sought.recording)
    found: list[Numeric] = []
    for direction in directions:
        sought.recording.run.graph.watch()
        found.append(derivative(sought.recording, sought.leaf, direction, probe))
    left, sizes = (side.T for side in combined(transposed(sought.jacobian), directions))
    right = stacked([numeric.values for numeric in found], rows).T
    bounds = stacked([numeric.bounds for numeric in found], rows).T
    unclear = ~resolved(right, bounds, sizes, sought.output)
    return Table(
        sought.variable,
        (SYMBOLS, COMPLEX if all(numeric.complex_step for numeric in found) else DIFFERENCES),
        left,
        right,
        np.where(unclear, np.nan, bounds + tolerance(sizes)),
        sought.labels.row,
        sought.labels.column if whole else lambda k: f"(sum of columns {k + 1})",
        whole,
    )


def by_program(sought: Derivative, probe: Probe) -> Table:
    """Return J by symbols beside differences of the program as it is written, along one random direction.

    The complex step runs the recorded graph, and so would not see a value that the graph lost. Rows in which the
    differences say nothing are left out.
    """
    columns = sought.jacobian.shape[1]
    direction = np.ones(1) if columns == 1 else signs(1, columns)[0]
    found = differences(sought.recording, sought.leaf, direction, probe)
    left, sizes = (side.T for side in combined(transposed(sought.jacobian), direction[None]))
    right, bounds = found.values[:, None], found.bounds[:, None]
    clear = np.flatnonzero(resolved(right, bounds, sizes, sought.output))
    return Table(
        sought.variable,
        (SYMBOLS, DIFFERENCES),
        left[clear],
        right[clear],
        (bounds + tolerance(sizes))[clear],
        lambda k: sought.labels.row(int(clear[k])),
        sought.labels.column if columns == 1 else lambda k: f"(sum of columns {k + 1})",
        whole=False,
    )


def without_symbols(rows: Table, columns: Table) -> Table:
    """Return J by reverse mode beside J by numbers alone, from the tables in which each stands beside the symbols."""
    routes = rows.routes[1], columns.routes[1]
    return replace(columns, routes=routes, left=rows.right, bound=columns.bound + rows.bound)


def prober(function: Function, sought: Derivative, values: dict[str, Any]) -> Probe:
    """Return the program as a function of one flat input; nan where it has no value.

    The whole program is evaluated again, so that what the graph missed would show. A value that was detached on purpose
    must not move: then the graph is run again.
    """
    shape = sought.leaf.shape
    nothing = np.full(sought.output.size, np.nan)

    def again(x: Array) -> Array:
        sought.recording.run.graph.watch()
        try:
            y = function.evaluate({**values, sought.variable: x.reshape(shape)}, record=False).value
        except GradcliError:
            return nothing
        return np.ravel(y) if y.size == nothing.size else nothing

    def rerun(x: Array) -> Array:
        return np.ravel(replay(sought.recording, {sought.leaf.index: x.reshape(shape)[()]}))

    return rerun if ".detach" in function.place.text else again
