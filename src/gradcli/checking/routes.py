"""The Jacobian of one run by each route, beside the true one that arithmetic in many digits gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from gradcli.agreement import weighted_sums
from gradcli.evaluation import Evaluation
from gradcli.exact.judge import weighed
from gradcli.graph import Node
from gradcli.ops.declare import Array
from gradcli.reverse import backward
from gradcli.symbolic.sparse import Sparse

SYMBOLS, REVERSE, DIGITS, EXPECTED, FORMULAS = "symbols", "reverse mode", "many digits", "--expect", "formulas"
MOST_SWEEPS = 2_000_000
"""Elements that reverse mode goes through, row by row; beyond, random sums of rows take the place of each."""
NODE_WORK = 100
"""Elements that can be gone through while one rule is called."""
COMBINATIONS = 8
"""Random sums of rows where there are too many to take one at a time."""

Label = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Steps:
    """The directions along which a derivative is asked for: a row each, as steps of the entries of a variable.

    ``whole`` says that they are the entries one by one, each of step 1.
    """

    rows: Array
    label: Label
    whole: bool


@dataclass(frozen=True, slots=True)
class Table:
    """One route beside the true derivative: matrices of equal shape. ``sizes`` are those of the terms of each entry."""

    variable: str
    route: str
    values: Array
    truth: list[list[Decimal]]
    sizes: Array
    row: Label
    column: Label


@dataclass(frozen=True, slots=True)
class Derivative:
    """∂y/∂x of one variable at one point: the run, J by symbols, and names for the entries of y and x."""

    run: Evaluation
    leaf: Node
    jacobian: Sparse
    variable: str
    row: Label
    column: Label


def stacked(vectors: Sequence[Array], length: int) -> Array:
    """Return vectors as the rows of a matrix, of which there may be none."""
    return np.array(vectors).reshape(len(vectors), length)


def transposed(matrix: Sparse) -> Sparse:
    """Return the entries with rows and columns exchanged, in the order in which they are."""
    return Sparse(matrix.columns, matrix.rows, matrix.values, matrix.sizes, matrix.shape[::-1])


def combined(jacobian: Sparse, weights: Array) -> tuple[Array, Array]:
    """Return each row of ``weights`` times J, and the sizes of the terms that it adds up."""
    rows, columns, count = jacobian.rows, jacobian.columns, jacobian.shape[1]
    sizes = np.asarray(jacobian.sizes)
    return (
        stacked([weighted_sums(v, rows, columns, jacobian.values, count) for v in weights], count),
        stacked([weighted_sums(np.abs(v), rows, columns, sizes, count) for v in weights], count),
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """J by one route along some directions; ``seeds`` are the sums of rows that were taken, None for each row."""

    route: str
    values: Array
    sizes: Array
    seeds: Array | None = None

    def beside(self, truth: list[list[Decimal]], sought: Derivative, steps: Steps) -> Table:
        """Return the reading beside the true derivative."""
        if self.seeds is None:
            return Table(sought.variable, self.route, self.values, truth, self.sizes, sought.row, steps.label)
        true = [[weighed(seed, column) for column in zip(*truth, strict=True)] for seed in self.seeds]
        names: Label = lambda k: f"(sum of rows {k + 1})"  # noqa: E731
        return Table(sought.variable, self.route, self.values, true, self.sizes, names, steps.label)


def by_symbols(sought: Derivative, steps: Steps) -> Reading:
    """Return J by symbols along each direction."""
    values, sizes = (side.T for side in combined(transposed(sought.jacobian), steps.rows))
    return Reading(SYMBOLS, values, sizes)


def by_reverse_mode(sought: Derivative, steps: Steps, sizes: Array) -> Reading:
    """Return J by reverse mode: a sweep for each row, or for random sums of rows where they are many."""
    run, rows = sought.run, sought.jacobian.shape[0]
    each = rows * sum(NODE_WORK + np.size(node.value) for node in run.graph.nodes) <= MOST_SWEEPS
    seeds = np.eye(rows) if each else np.random.default_rng(0).choice((-1.0, 1.0), (COMBINATIONS, rows))
    swept = [np.ravel(backward(run.graph, run.output, v.reshape(run.value.shape), [sought.leaf])[0]) for v in seeds]
    columns = stacked(swept, sought.jacobian.shape[1])
    with np.errstate(all="ignore"):
        values = columns if steps.whole else columns @ steps.rows.T
    return Reading(REVERSE, values, sizes if each else np.abs(seeds) @ sizes, None if each else seeds)
