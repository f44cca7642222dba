"""The numbers of an answer: J, what each call of backward leaves, and whether the two routes agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gradcli.inputs import Cotangent
from gradcli.ops.declare import Array
from gradcli.ops.products import NORMAL
from gradcli.symbolic.sparse import DENSE_ENTRIES, ROUNDING, times

FEW = 64
"""Terms that are added up one by one; numpy adds more of them pairwise, as the engine's rules do."""
VISIBLE = 1e-9
"""Relative difference of the routes, within what rounding explains, from which the answer says that digits are lost."""


@dataclass(frozen=True, slots=True)
class Jacobian:
    """∂y/∂x for one variable: entries that can be non-zero, in flat order of y (rows) and x (columns)."""

    output_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    rows: Array
    columns: Array
    values: Array
    sizes: Array
    formulas: list[str] | None
    structure: str
    rules: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """``y.shape + x.shape``."""
        return self.output_shape + self.input_shape

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Entries of y by entries of x."""
        return math.prod(self.output_shape), math.prod(self.input_shape)

    @property
    def numeric(self) -> Array | None:
        """All entries as an array of ``shape``; None for a Jacobian with more than 10,000 of them."""
        if self.matrix_shape[0] * self.matrix_shape[1] > DENSE_ENTRIES:
            return None
        full = np.zeros(self.matrix_shape)
        full[self.rows, self.columns] = self.values
        return full.reshape(self.shape)

    def vjp(self, seed: Array) -> Array:
        """Return vᵀ·J in the shape of x."""
        count = self.matrix_shape[1]
        return weighted_sums(np.ravel(seed), self.rows, self.columns, self.values, count).reshape(self.input_shape)

    def scale(self, seed: Array) -> Array:
        """Return the sizes of the terms that vᵀ·J adds up, in the shape of x."""
        v, count = np.abs(np.ravel(seed)), self.matrix_shape[1]
        return weighted_sums(v, self.rows, self.columns, self.sizes, count).reshape(self.input_shape)


def weighted_sums(v: Array, rows: Array, columns: Array, values: Array, count: int) -> Array:
    """Return vᵀ times the entries of a matrix with ``count`` columns; a zero wins over inf and nan."""
    with np.errstate(all="ignore"):
        return column_sums(times(v[rows], values), columns, count)


def column_sums(terms: Array, columns: Array, count: int) -> Array:
    """Return the sums of the terms of each column: pairwise where they are many, so that rounding does not add up."""
    if np.max(np.bincount(columns), initial=0) <= FEW:
        return np.bincount(columns, weights=terms, minlength=count)
    order = np.argsort(columns, kind="stable")
    found, starts = np.unique(columns[order], return_index=True)
    total = np.zeros(count)
    total[found] = np.add.reduceat(terms[order], starts)
    return total


@dataclass(frozen=True, slots=True)
class Backward:
    """One call of ``y.backward(v)``: vᵀ·J, the reverse-mode gradient, and ``x.grad`` after it."""

    v: Cotangent
    vjp: dict[str, Array]
    grad: dict[str, Array]
    accumulated: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether vᵀ·J and reverse mode give the same numbers, and the right ones; ``finite`` whether all are finite.

    ``verdict`` is ``agree``, ``differ``, ``digits-lost`` or ``unclear``; ``digits`` are the fewest right digits of
    ``y``, ``jacobian`` and ``grad``, None where no arithmetic with digits to spare was asked. ``proves`` says that the
    agreement of two gradients leaves six digits at least: that their terms do not cancel further than that.
    """

    agree: bool
    max_abs_error: float
    finite: bool
    verdict: str = "agree"
    digits: dict[str, float] | None = None
    proves: bool = True


def sum_of(arrays: Sequence[Array]) -> Array:
    """Return the sum, left to right as repeated calls add it up."""
    total = arrays[0]
    with np.errstate(all="ignore"):
        for array in arrays[1:]:
            total = total + array
    return total


def tolerance(sizes: Array) -> Array:
    """Return how far two exact routes may differ, from the sizes of the terms that they add up."""
    return np.where(np.isfinite(sizes), ROUNDING * sizes, np.inf) + NORMAL


def compare(jacobians: dict[str, Jacobian], backward: list[Backward], output: Array) -> Agreement:
    """Hold vᵀ·J against the reverse-mode gradient, entry by entry.

    The routes agree where they differ by at most 64·2⁻⁵² times |v|ᵀ·P, P the sum over all paths of the products of
    the absolute local derivatives, each taken as the sum of the absolute terms that it is a difference of. So κ of
    the contract is P/|J| ≥ 1: it grows with cancellation between paths and inside a derivative, such as 1 - y² of a
    saturated tanh. Entries that are finite on neither route agree.
    """
    agree, finite, worst, proves = True, bool(np.all(np.isfinite(output))), 0.0, True
    for call in backward:
        for name, jacobian in jacobians.items():
            left, right = call.vjp[name], call.grad[name]
            both = np.isfinite(left) & np.isfinite(right)
            finite = finite and bool(both.all()) and bool(np.isfinite(call.accumulated[name]).all())
            with np.errstate(all="ignore"):
                error = np.where(both, np.abs(left - right), 0.0)
            worst = max(worst, float(error.max(initial=0.0)))
            bound = tolerance(jacobian.scale(call.v.seed))
            within = bool((error <= bound).all())
            proves = proves and bool((bound <= PROVES * np.abs(right) + NORMAL).all())
            agree = agree and within and bool((both | ~(np.isfinite(left) | np.isfinite(right))).all())
    return Agreement(agree, worst, finite, "agree" if agree else "differ", None, proves)


PROVES = 1e-6
"""Relative error of a derivative from which it is wrong."""


def unproven(jacobians: dict[str, Jacobian], agreement: Agreement) -> bool:
    """Return whether rounding alone may have made a derivative wrong: what is left of its terms is below six digits."""
    with np.errstate(all="ignore"):
        return not agreement.proves or any(
            bool(np.any(ROUNDING * j.sizes > PROVES * np.abs(j.values))) for j in jacobians.values()
        )


def digits_lost(backward: list[Backward]) -> bool:
    """Return whether an entry differs visibly between the routes, relative to the largest of its variable."""
    for call in backward:
        for name, left in call.vjp.items():
            right = call.grad[name]
            finite = np.isfinite(left) & np.isfinite(right)
            scale = np.abs(np.where(finite, left, 0.0)).max(initial=0.0)
            with np.errstate(all="ignore"):
                difference = np.where(finite, np.abs(left - right), 0.0)
            if (difference > VISIBLE * scale).any():
                return True
    return False
