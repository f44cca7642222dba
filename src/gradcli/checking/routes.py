"""The Jacobian of one run by each route, beside the true one that arithmetic in many digits gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from gradcli.engine.graph import Node
from gradcli.engine.naming import Label
from gradcli.engine.reverse import backward
from gradcli.explanation.evaluation import Evaluation
from gradcli.explanation.jacobians import weighted_sums
from gradcli.explanation.suspicion import RUNS
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array

MOST_SWEEPS = 2_000_000
"""Elements that reverse mode goes through, row by row; beyond, random sums of rows take the place of each."""
NODE_WORK = 100
"""Elements that can be gone through while one rule is called."""
COMBINATIONS = 8
"""Random sums of rows where there are too many to take one at a time."""


@dataclass(frozen=True, slots=True)
class Table:
    """One route beside the true derivative: matrices of equal shape. ``sizes`` are those of the terms of each entry.

    The rows of ``values`` are floats, or decimals where they were typed.
    """

    variable: str
    route: str
    values: Sequence[Sequence[Any]]
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


def stack(vectors: Sequence[Array], length: int) -> Array:
    """Return vectors as the rows of a matrix, of which there may be none."""
    return np.array(vectors).reshape(len(vectors), length)


def combine(jacobian: Sparse, weights: Array) -> tuple[Array, Array]:
    """Return each row of ``weights`` times J, and the sizes of the terms that it adds up."""
    rows, columns, count = jacobian.rows, jacobian.columns, jacobian.shape[1]
    sizes = np.asarray(jacobian.sizes)
    return (
        stack([weighted_sums(v, rows, columns, jacobian.values, count) for v in weights], count),
        stack([weighted_sums(np.abs(v), rows, columns, sizes, count) for v in weights], count),
    )


@dataclass(frozen=True, slots=True)
class Sweeps:
    """J by reverse mode: a sweep for each row, or for random sums of rows where they are many.

    ``values`` are the swept rows, ``symbols`` and ``sizes`` the same sums of J by symbols and of its terms.
    """

    seeds: Array
    values: Array
    symbols: Array
    sizes: Array
    each: bool


def sweep(sought: Derivative) -> Sweeps:
    """Return J by reverse mode beside J by symbols, row by row or in random sums of rows."""
    run, (rows, columns) = sought.run, sought.jacobian.shape
    each = rows * (columns + sum(NODE_WORK + np.size(node.value) for node in run.graph.nodes)) <= MOST_SWEEPS
    seeds = np.eye(rows) if each else np.random.default_rng(0).choice((-1.0, 1.0), (COMBINATIONS, rows))
    found = [np.ravel(backward(run.graph, run.output, v.reshape(run.value.shape), [sought.leaf])[0]) for v in seeds]
    return Sweeps(seeds, stack(found, columns), *combine(sought.jacobian, seeds), each)


Routes = Sequence[tuple[Derivative, Sweeps]]
"""What both routes say of each variable."""


def goes_together(cost: int, most: int, routes: Routes) -> bool:
    """Return whether all variables share a direction: ``most`` is enough work for one, and not for one each."""
    alike = len({sweeps.each for _, sweeps in routes}) == 1
    return alike and RUNS * cost <= most < RUNS * cost * len(routes)
