"""What a v does to y and J: the number that it makes of y, and the gradients that others would leave."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from gradcli.errors.facts import index_of
from gradcli.exact.thresholds import ROUNDING
from gradcli.explanation.effect import Dust, Effect, Nudge, Shared, Trial, Weighted
from gradcli.explanation.jacobians import Jacobian
from gradcli.ops.signatures import Array, Mask

Move = Callable[[str, int, float], Array | None]
"""Gives y where one entry of a variable is moved: its name, the entry's place in flat order, and how far."""
STEP = 0.001
"""How far an entry of about 1 is moved."""
DOUBLE_STEP, SINGLE_STEP = 6e-6, 5e-3
"""How far a quotient on both sides goes best from an entry of about 1, in float64 and in float32."""
EPS_SINGLE = 2.0**-24
"""Relative distance to which float32 rounds."""
SMALL = 0.01
"""Of the largest slope: entries with less are not worth a move."""


def weigh(
    seed: Array,
    output: Array,
    inputs: Mapping[str, Array],
    jacobians: Mapping[str, Jacobian],
    grad: Mapping[str, Array],
    move: Move,
    dust: Mapping[str, Mask],
) -> Effect:
    """Return what v did; ``seed`` is v in the shape of y, ``grad`` what it left, ``move`` runs the program again.

    ``dust`` says which entries of J are what rounding has left of 0. Numbers may overflow: numpy is to be told not to
    warn.
    """
    v, y = np.ravel(seed), np.ravel(output)
    total = float(v @ y)
    size = max(v.size, 1)
    hot = np.flatnonzero(v)
    row = other_row(v, jacobians)
    ones = summed(jacobians, dust)
    return Effect(
        total,
        nudge(v, y, inputs, grad, move) if math.isfinite(total) else None,
        ones,
        Weighted({name: g / size for name, g in ones.grad.items()}, ones.dust),
        row,
        taken(row, jacobians, dust),
        int(hot[0]) if len(hot) == 1 and v[hot[0]] == 1 else None,
        "sum" if (v == 1).all() else "mean" if (v == 1 / size).all() else "",
        shared(jacobians),
    )


def summed(jacobians: Mapping[str, Jacobian], dust: Mapping[str, Mask]) -> Weighted:
    """Return what v = ones leaves: the sums of the columns of J."""
    grad = {
        name: j.pattern.sum_columns(j.values).reshape(j.input_shape) if j.held else j.vjp(np.ones(j.output_shape))
        for name, j in jacobians.items()
    }
    ones = {name: np.ones(j.matrix_shape[0]) for name, j in jacobians.items()}
    lost = {name: dust_of(ones[name], j, grad[name]) | only_dust(j, dust[name]) for name, j in jacobians.items()}
    return Weighted(grad, lost)


def only_dust(jacobian: Jacobian, dust: Mask) -> Mask:
    """Return for which entries of x the column of J has ``dust``, and nothing else that is not 0."""
    count = jacobian.matrix_shape[1]
    if not dust.any():
        return np.zeros(jacobian.input_shape, dtype=bool)
    some = np.bincount(jacobian.columns[dust], minlength=count) > 0
    more = np.bincount(jacobian.columns[(jacobian.values != 0) & ~dust], minlength=count) > 0
    return (some & ~more).reshape(jacobian.input_shape)


def taken(row: int, jacobians: Mapping[str, Jacobian], dust: Mapping[str, Mask]) -> Weighted:
    """Return what a v that is 1 in one entry alone leaves: this row of J."""
    grad, lost = {}, {name: np.zeros(jacobian.input_shape, dtype=bool) for name, jacobian in jacobians.items()}
    for name, jacobian in jacobians.items():
        if not jacobian.held:
            grad[name] = jacobian.row(row)
            continue
        start, stop = np.searchsorted(jacobian.rows, [row, row + 1])
        flat = np.zeros(jacobian.matrix_shape[1])
        flat[jacobian.columns[start:stop]] = jacobian.values[start:stop]
        grad[name] = flat.reshape(jacobian.input_shape)
        lost[name].flat[jacobian.columns[start:stop]] = dust[name][start:stop]
    return Weighted(grad, lost)


def dust_of(v: Array, jacobian: Jacobian, grad: Array) -> Mask:
    """Return where a sum is not 0 and yet no more than rounding leaves of its terms, in the shape of the variable."""
    if jacobian.pattern.fullest_column <= 1:
        return np.zeros(grad.shape, dtype=bool)
    small = np.abs(grad) <= ROUNDING * jacobian.summed(np.abs(v), np.abs(jacobian.values))
    return np.asarray(np.isfinite(grad) & (grad != 0) & small, dtype=bool)


def dust_in(seed: Array, jacobian: Jacobian, vjp: Array, grad: Array) -> Dust:
    """Return what rounding leaves of 0 where the sums over the rows of J cancel; its entries are taken as they are."""
    v = np.ravel(seed)
    entries = np.zeros(len(jacobian.values), dtype=bool)
    left = dust_of(v, jacobian, vjp)
    return Dust(entries, left, left if np.array_equal(vjp, grad) else dust_of(v, jacobian, grad))


def other_row(v: Array, jacobians: Mapping[str, Jacobian]) -> int:
    """Return a row of J worth showing: the first with the most entries, among those that v does not take out itself."""
    if not v.size:
        return 0
    counts = np.zeros(v.size, dtype=np.intp)
    for jacobian in jacobians.values():
        counts += jacobian.pattern.by_row
    hot = np.flatnonzero(v)
    if len(hot) == 1 and v.size > 1:
        counts[hot[0]] = -1
    return int(np.argmax(counts))


def shared(jacobians: Mapping[str, Jacobian]) -> Shared | None:
    """Return the first entry of an input on which several entries of y depend."""
    for name, jacobian in jacobians.items():
        used = jacobian.values != 0
        several = np.bincount(jacobian.columns[used], minlength=1) > 1
        if several.any():
            place = int(np.argmax(several))
            return Shared(
                name,
                index_of(place, jacobian.input_shape),
                tuple(jacobian.rows[used & (jacobian.columns == place)].tolist()),
            )
    return None


def nudge(v: Array, y: Array, inputs: Mapping[str, Array], grad: Mapping[str, Array], move: Move) -> Nudge | None:
    """Move the first entry that has a slope worth a look, and measure how far L moves with it."""
    for name, g in grad.items():
        slopes = np.ravel(g)
        sizes = np.where(np.isfinite(slopes), np.abs(slopes), 0.0)
        usable = np.flatnonzero((sizes > 0) & (sizes >= SMALL * sizes.max(initial=0)))
        if len(usable):
            place = int(usable[0])
            slope, step = float(slopes[place]), step_at(float(np.ravel(inputs[name])[place]))
            measured = measure(v, y, move(name, place, step), slope * step)
            return Nudge(name, index_of(place, g.shape), step, slope, slope * step, measured)
    return None


def try_quotient(
    v: Array, inputs: Mapping[str, Array], grad: Mapping[str, Array], move: Move, at: Nudge, routes: float
) -> Trial | None:
    """Return the gradient beside a difference quotient, in the entry that a nudge moves; None without a value there.

    The quotient is taken on both sides, so that the steps that suit it are the cube roots of the last digits.
    """
    place = int(np.ravel_multi_index(at.index, grad[at.name].shape)) if at.index else 0
    size = max(abs(float(np.ravel(inputs[at.name])[place])), 1.0)
    moved = [move(at.name, place, way * DOUBLE_STEP * size) for way in (1, -1)]
    if any(y is None or y.size != v.size or not np.isfinite(y).all() for y in moved):
        return None
    after, before = (np.ravel(y) for y in moved if y is not None)
    quotient = float(v @ (after - before)) / (2 * DOUBLE_STEP * size)
    rounding = EPS_SINGLE * float(np.abs(v) @ np.abs(after)) / (SINGLE_STEP * size)
    return Trial(
        at.name, at.index, DOUBLE_STEP * size, at.slope, quotient, routes,
        shared_digits(abs(quotient - at.slope), at.slope, 15), shared_digits(rounding, at.slope, 7),
    )  # fmt: skip


def shared_digits(error: float, number: float, most: int) -> int:
    """Return how many digits an error leaves of a number, ``most`` at the most."""
    if not error:
        return most
    return min(most, max(0, math.floor(-math.log10(error / abs(number)))))


def step_at(value: float) -> float:
    """Return how far an entry is moved: 0.001, and a thousandth of its size where that is far from 1."""
    if value == 0 or 0.1 <= abs(value) < 10_000:
        return STEP
    return float(f"1e{math.floor(math.log10(abs(value))) - 3}")


def measure(v: Array, y: Array, moved: Array | None, predicted: float) -> float | None:
    """Return how far L = v·y moves with y; None where y has no value there, or rounding hides the move."""
    if moved is None or moved.size != y.size or not np.isfinite(moved).all():
        return None
    after = np.ravel(moved)
    found = float(v @ (after - y))
    noise = ROUNDING * float(np.abs(v) @ (np.abs(y) + np.abs(after)))
    return found if math.isfinite(found) and noise <= 1e-3 * abs(predicted) else None
