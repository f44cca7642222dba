"""∂y/∂x as an answer holds it, by its entries or by what it makes of vectors, and whether both routes agree."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import LARGE
from gradcli.exact.work import ROUNDING, VISIBLE, WRONG
from gradcli.explanation.results import Agreement, Backward, agree_within, sum_of
from gradcli.jacobian.sparse import DENSE_ENTRIES, Pattern, column_sums, nothing, times
from gradcli.ops.declare import Array, Indices
from gradcli.ops.links import NORMAL

if TYPE_CHECKING:
    from gradcli.engine.graph import Node
    from gradcli.explanation.evaluation import Run
    from gradcli.formulas.derivation import Formulas
    from gradcli.formulas.index_rules import IndexRule
    from gradcli.jacobian.composition import Composition
    from gradcli.jacobian.passes import Passes, Vectors


class Applied:
    """J by all variables as what it makes of vectors, beside the sizes of the terms; the last vᵀ·J is kept."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.v: Array | None = None
        self.rows: dict[int, Vectors] = {}

    @cached_property
    def passes(self) -> Passes:
        """What carries vectors through the graph."""
        from gradcli.jacobian.passes import Passes  # most Jacobians are held

        return Passes(self.run.output, list(self.run.leaves.values()), self.run.graph)

    def back(self, leaf: Node, v: Array) -> tuple[Array, Array]:
        """Return vᵀ·J by one leaf, in its shape, for a v in the shape of y."""
        if self.v is None or not np.array_equal(self.v, v):
            self.rows = self.passes.back(np.reshape(v, (1, -1)))
            self.v = np.array(v)
        row = self.rows[leaf.index]
        return row.values.reshape(leaf.shape), row.sizes.reshape(leaf.shape)

    def forth(self, leaf: Node, u: Array) -> tuple[Array, Array]:
        """Return J·u by one leaf, in the shape of y, for a u in the shape of the leaf."""
        column, shape = self.passes.forth(leaf, np.reshape(u, (1, -1))), self.run.value.shape
        return column.values.reshape(shape), column.sizes.reshape(shape)


@dataclasses.dataclass(frozen=True, slots=True)
class Jacobian:
    """∂y/∂x for one variable: the entries that can be non-zero, in flat order of y (rows) and x (columns).

    - ``output_shape``, ``input_shape``: the shapes of y and of x.
    - ``pattern``: where each entry stands: its ``rows`` and ``columns``.
    - ``values``: the derivative in each of these places.
    - ``sizes``: the sum of the absolute terms that each of these derivatives is a sum of.
    - ``formulas``: a text for each of these entries; None where they are too many or too long.
    - ``index_rules``: what formulas have in common, or what stands in their place; there may be none.
    - ``held``: whether the entries are held at all. Where they are too many, ``rows``, ``columns``, ``values`` and
      ``sizes`` are empty and ``structure`` is ``unknown``, but ``vjp``, ``row`` and ``column`` give any part of J.
    - ``applied``, ``leaf``: what gives these parts, and the node of the variable.

    >>> J = gradcli.explain("x**2", x=[1, 2], v=[1, 1]).jacobian["x"]
    >>> J.shape, J.matrix_shape, J.structure
    ((2, 2), (2, 2), 'diagonal')
    >>> J.formulas, J.values.tolist()
    (['2*x[0]', '2*x[1]'], [2.0, 4.0])
    >>> J.row(1).tolist(), J.column(0).tolist()
    ([0.0, 4.0], [2.0, 0.0])
    """

    output_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    pattern: Pattern
    values: Array
    sizes: Array
    formulas: list[str] | None
    index_rules: list[IndexRule] = dataclasses.field(default_factory=list)
    held: bool = True
    applied: Applied | None = dataclasses.field(default=None, repr=False, compare=False)
    leaf: Node | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def rules(self) -> list[str]:
        """The index rules as lines such as ``dy[i]/dx[i] = 2*x[i]``."""
        return [rule.text for rule in self.index_rules]

    @property
    def rows(self) -> Indices:
        """Where each entry stands in y, flattened by rows: integers."""
        return self.pattern.rows

    @property
    def columns(self) -> Indices:
        """Where each entry stands in x, flattened by rows: integers."""
        return self.pattern.columns

    @property
    def structure(self) -> str:
        """``zero``, ``diagonal``, ``permutation``, ``block-diagonal``, ``triangular``, ``banded``, ``dense`` or
        ``sparse``; ``unknown`` where the entries are not held.
        """
        return self.pattern.structure if self.held else "unknown"

    @property
    def shape(self) -> tuple[int, ...]:
        """``y.shape + x.shape``."""
        return self.output_shape + self.input_shape

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Entries of y by entries of x."""
        return math.prod(self.output_shape), math.prod(self.input_shape)

    @property
    def passes(self) -> int | None:
        """How many calls of backward give all of J, rows that share no column in one; None where that is not known."""
        return self.pattern.passes if self.held else None

    @property
    def numeric(self) -> Array | None:
        """All entries as an array of ``shape``; None for a Jacobian with more than 10,000 of them, or not held."""
        if not self.held or self.matrix_shape[0] * self.matrix_shape[1] > DENSE_ENTRIES:
            return None
        full = np.zeros(self.matrix_shape)
        full[self.rows, self.columns] = self.values
        return full.reshape(self.shape)

    def vjp(self, seed: Array) -> Array:
        """Return vᵀ·J in the shape of x, for a v in the shape of y."""
        if self.applied is not None and self.leaf is not None and not self.held:
            return self.applied.back(self.leaf, seed)[0]
        return self.summed(np.ravel(seed), self.values)

    def scale(self, seed: Array) -> Array:
        """Return the sizes of the terms that vᵀ·J adds up, in the shape of x."""
        if self.applied is not None and self.leaf is not None and not self.held:
            return self.applied.back(self.leaf, seed)[1]
        return self.summed(np.abs(np.ravel(seed)), self.sizes)

    def summed(self, v: Array, values: Array) -> Array:
        """Return vᵀ times ``values`` in the places of the entries, in the shape of x; a zero wins over inf and nan."""
        with np.errstate(all="ignore"):
            return self.pattern.sum_columns(times(v[self.rows], values)).reshape(self.input_shape)

    def row(self, index: int | tuple[int, ...]) -> Array:
        """Return the derivatives of the entry of y at an index, in the shape of x; raises ``IndexError``."""
        return self.vjp(one_hot(self.output_shape, index))

    def column(self, index: int | tuple[int, ...]) -> Array:
        """Return the derivatives by the entry of x at an index, in the shape of y; raises ``IndexError``."""
        hot = one_hot(self.input_shape, index)
        if self.applied is not None and self.leaf is not None and not self.held:
            return self.applied.forth(self.leaf, hot)[0]
        count = self.matrix_shape[0]
        return weighted_sums(np.ravel(hot), self.columns, self.rows, self.values, count).reshape(self.output_shape)


def one_hot(shape: tuple[int, ...], index: int | tuple[int, ...]) -> Array:
    """Return zeros with a 1 at an index, which has one number for each axis, or counts entries by rows."""
    hot = np.zeros(shape)
    if isinstance(index, tuple) and len(index) == len(shape):
        hot[index] = 1.0
    else:
        hot.reshape(-1)[index] = 1.0
    return hot


def weighted_sums(v: Array, rows: Indices, columns: Indices, values: Array, count: int) -> Array:
    """Return vᵀ times the entries of a matrix with ``count`` columns; a zero wins over inf and nan."""
    with np.errstate(all="ignore"):
        return column_sums(times(v[rows], values), columns, count)


# ---- Whether vᵀ·J and reverse mode agree


def read_jacobians(run: Run, composition: Composition, formulas: Formulas | None = None) -> dict[str, Jacobian]:
    """Return J by each variable, with its formulas where there are any."""
    patterns: dict[str, Any] = formulas.patterns if formulas else {}
    shape, jacobians, applied = run.value.shape, {}, Applied(run)
    for name, leaf in run.leaves.items():
        is_held = leaf.index in composition.of
        entries = composition.of[leaf.index] if is_held else nothing(run.value.size, leaf.value.size)
        if name not in patterns:
            patterns[name] = Pattern(entries.rows, entries.columns, entries.shape)
        texts = formulas.jacobians.get(name) if formulas else None
        rules = formulas.rules.get(name, []) if formulas else []
        sizes = np.asarray(entries.sizes)
        jacobians[name] = Jacobian(
            shape, leaf.shape, patterns[name], entries.values, sizes, texts, rules, is_held, applied, leaf
        )
    return jacobians


def call_backward(run: Run, jacobians: dict[str, Jacobian]) -> list[Backward]:
    """Return every call of backward with what it leaves in ``.grad``."""
    calls: list[Backward] = []
    for place, seed in enumerate(run.seeds):
        alone = len(run.seeds) == 1 and run.graph.meter.elements < LARGE
        if alone:  # the cotangents of its sweep are kept: lines are written of them
            run.kept.update(run.cotangents())
            swept = {name: run.kept.get(leaf.index, np.zeros(leaf.shape)) for name, leaf in run.leaves.items()}
            grad = {name: np.array(g, dtype=np.float64) for name, g in swept.items()}
        else:
            grad = run.gradients(seed.seed, jacobians)
        vjp = {name: jacobian.vjp(seed.seed) for name, jacobian in jacobians.items()}
        total = grad
        if calls and place not in run.resets:
            total = {name: sum_of([calls[-1].accumulated[name], g]) for name, g in grad.items()}
        calls.append(Backward(seed, vjp, grad, total, place in run.resets))
    return calls


def tolerance(sizes: Array) -> Array:
    """Return how far two exact routes may differ, from the sizes of the terms that they add up."""
    return np.where(np.isfinite(sizes), ROUNDING * sizes, np.inf) + NORMAL


def agrees(left: Array, right: Array, sizes: Array) -> bool:
    """Return whether rounding explains how far numbers of two routes are apart; both or neither are finite."""
    return agree_within(left, right, tolerance(sizes))


def finite_distance(left: Array, right: Array) -> Array:
    """Return how far numbers are apart where both are finite, and 0 elsewhere."""
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(left) & np.isfinite(right), np.abs(left - right), 0.0)


def compare(jacobians: Mapping[str, Jacobian], backward: Sequence[Backward], output: Array) -> Agreement:
    """Hold vᵀ·J against the reverse-mode gradient, entry by entry.

    The routes agree where they differ by at most 64·2⁻⁵² times |v|ᵀ·P, P the sum over all paths of the products of
    the absolute local derivatives, each taken as the sum of the absolute terms that it is a difference of. So κ of
    the contract is P/|J| ≥ 1: it grows with cancellation between paths and inside a derivative, such as 1 - y² of a
    saturated tanh. Entries that are finite on neither route agree.
    """
    agree, finite, worst, proves = True, bool(np.isfinite(output).all()), 0.0, True
    for call in backward:
        for name, jacobian in jacobians.items():
            left, right, sizes = call.vjp[name], call.grad[name], jacobian.scale(call.v.seed)
            finite = finite and all(bool(np.isfinite(g).all()) for g in (left, right, call.accumulated[name]))
            worst = max(worst, float(finite_distance(left, right).max(initial=0.0)))
            proves = proves and bool((tolerance(sizes) <= WRONG * np.abs(right) + NORMAL).all())
            agree = agree and agrees(left, right, sizes)
    return Agreement(agree, worst, finite, "agree" if agree else "differ", proves=proves)


def unproven(jacobians: Mapping[str, Jacobian], routes: Agreement) -> bool:
    """Return whether rounding alone may have made a derivative wrong: what is left of its terms is below six digits."""
    with np.errstate(all="ignore"):
        doubtful = (ROUNDING * j.sizes > WRONG * np.abs(j.values) for j in jacobians.values())
        return not routes.proves or any(places.any() for places in doubtful)


def digits_lost(backward: Sequence[Backward]) -> bool:
    """Return whether an entry differs visibly between the routes, relative to the largest of its variable."""
    for call in backward:
        for name, left in call.vjp.items():
            scale = np.abs(np.where(np.isfinite(left) & np.isfinite(call.grad[name]), left, 0.0)).max(initial=0.0)
            if (finite_distance(left, call.grad[name]) > VISIBLE * scale).any():
                return True
    return False
