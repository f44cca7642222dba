"""Derivatives by numbers alone: the complex step where the program is analytic, central differences elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.checking.replay import ULP, Recording, is_holomorphic, replay, spread
from gradcli.graph import Node
from gradcli.ops.declare import Array

STEP = 2.0**-100
"""The complex step h: f(x + ih) = f(x) + ih·f'(x) - h²·f''(x)/2 …, and h² vanishes beside f(x)."""
SURE = 32.0
"""Times the spread of six shaken runs: no rounding error of a run is larger."""
CAUTION = 10.0
"""Times the distance of the last two extrapolations, which estimates the error of the better one."""
RATIO = 4.0
"""Each step of the differences is a quarter of the one before."""
DROWNED = 0.1
"""Rounding error of a value, over its size and its variation, above which it has no digits to take differences of."""
RESOLVED = 1e-3
"""Relative error of a difference above which it says nothing."""


@dataclass(frozen=True, slots=True)
class Numeric:
    """∂y along one direction, flat: ``values``, and what they may be wrong by; nan bounds where they say nothing."""

    values: Array
    bounds: Array
    complex_step: bool


Probe = Callable[[Array], Array]
"""The program as a function of one flat input."""
Method = Callable[[Recording, Node, Array, Probe], Numeric]
"""How to take the derivative of the output along a flat direction of one input.

The complex step runs the recorded graph, differences evaluate the program by ``probe``.
"""


def method(recording: Recording) -> Method:
    """Return how to take derivatives of a program at its point."""
    return stepped_or_measured if is_holomorphic(recording) else differences


def stepped_or_measured(recording: Recording, leaf: Node, direction: Array, probe: Probe) -> Numeric:
    """Return the complex step, and differences in the entries in which it is not sure."""
    stepped = complex_numeric(recording, leaf, direction)
    if stepped is None:
        return differences(recording, leaf, direction, probe)
    unsure = np.isnan(stepped.bounds)
    if not np.any(unsure):
        return stepped
    measured = differences(recording, leaf, direction, probe)
    return Numeric(
        np.where(unsure, measured.values, stepped.values), np.where(unsure, measured.bounds, stepped.bounds), False
    )


def complex_numeric(recording: Recording, leaf: Node, direction: Array) -> Numeric | None:
    """Return the complex step, None where a rule takes the real part of a number, which numpy warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            return complex_step(recording, leaf, direction)
        except (TypeError, np.exceptions.ComplexWarning):
            return None


def complex_step(recording: Recording, leaf: Node, direction: Array) -> Numeric:
    """Return Im f(x + ih)/h, and how far rounding may move it.

    An entry counts where the real part is the value and twice the step gives the same derivative: at a branch point,
    such as sqrt at 0, neither holds. Source: Squire and Trapp, SIAM Review 40 (1998).
    """

    def slope(step: float) -> Callable[[Any], Array]:
        def of(output: Any) -> Array:
            with np.errstate(all="ignore"):
                return np.imag(np.ravel(output)) / step

        return of

    def moved(step: float) -> dict[int, Any]:
        return {leaf.index: leaf.value + 1j * step * direction.reshape(leaf.shape)}

    output = np.ravel(replay(recording, moved(STEP)))
    values, twice = slope(STEP)(output), slope(2 * STEP)(replay(recording, moved(2 * STEP)))
    recorded = np.ravel(recording.run.value)
    if np.size(values) != recorded.size:
        return Numeric(np.zeros(recorded.size), np.full(recorded.size, np.nan), True)
    bounds = SURE * spread(recording, slope(STEP), moved(STEP))
    with np.errstate(all="ignore"):
        same = np.abs(np.real(output) - recorded) <= 1e-9 * (1 + np.abs(recorded))
        linear = np.abs(values - twice) <= 1e-9 * np.abs(values) + bounds
    return Numeric(values, np.where(same & linear & np.isfinite(values), bounds, np.nan), True)


def differences(recording: Recording, leaf: Node, direction: Array, probe: Probe) -> Numeric:
    """Return central differences, extrapolated to step 0, with the error of each (Ridders 1982).

    Where the slopes on both sides do not meet as the step shrinks, the point is a kink or an edge of the domain, and
    the bound is nan.
    """
    x, y = np.ravel(leaf.value), np.ravel(recording.run.value)
    noise = SURE * np.ravel(spread(recording, np.asarray, {leaf.index: leaf.value})) + ULP * np.abs(y)
    variation = np.abs(y)
    found: list[tuple[Array, Array]] = []
    last: list[tuple[Array, Array]] = []
    jumps: list[Array] = []
    for step in steps(x, direction):
        above, below = (probe(x + sign * step * direction) for sign in (1.0, -1.0))
        with np.errstate(all="ignore"):
            jumps.append(np.abs(above - 2 * y + below) / step - 4 * noise / step)
            variation = np.fmax(variation, np.abs(above - below))
            last, best = extrapolated((above - below) / (2 * step), noise / step, last)
        found.append(best)
    values, bounds = narrowest(found[::-1])
    judged = smooth(jumps, values) & np.isfinite(bounds) & (noise <= DROWNED * variation)
    return Numeric(values, np.where(judged, bounds, np.nan), False)


def extrapolated(
    slope: Array, noise: Array, last: list[tuple[Array, Array]]
) -> tuple[list[tuple[Array, Array]], tuple[Array, Array]]:
    """Return the next row of Richardson's table, and the entry of it with the smallest error, with that error.

    An error is what the neighbours in the table say of the truncation, and the rounding error of the differences.
    """
    row = [(slope, noise)]
    best, error = slope, np.full(np.shape(slope), np.inf)
    for order, (coarse, coarse_noise) in enumerate(last, 1):
        power = RATIO ** (2 * order)
        fine, fine_noise = row[-1]
        value, spoiled = (power * fine - coarse) / (power - 1), (power * fine_noise + coarse_noise) / (power - 1)
        row.append((value, spoiled))
        total = CAUTION * np.maximum(np.abs(value - fine), np.abs(value - coarse)) + spoiled
        best, error = np.where(total < error, value, best), np.where(total < error, total, error)
    return row[:5], (best, error)


def narrowest(found: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return, from the finest step to the coarsest, the estimate with the smallest error that fits all finer ones.

    A step that is longer than a wave of the function may look exact and is not: it does not fit.
    """
    values, bounds = found[0]
    low, high = np.full(np.shape(values), -np.inf), np.full(np.shape(values), np.inf)
    fits = np.ones(np.shape(values), dtype=bool)
    for value, bound in found:
        with np.errstate(all="ignore"):
            known = np.isfinite(value) & np.isfinite(bound)
            fits &= ~known | ((value - bound <= high) & (value + bound >= low))
            low = np.where(known & fits, np.maximum(low, value - bound), low)
            high = np.where(known & fits, np.minimum(high, value + bound), high)
            better = known & fits & ~(bound >= bounds)
        values, bounds = np.where(better, value, values), np.where(better, bound, bounds)
    return values, bounds


def steps(x: Array, direction: Array) -> list[float]:
    """Return the steps: powers of two, from the size of the input down to 2⁻³⁰ of its smallest entry."""
    moved = np.abs(x[direction != 0])
    largest, smallest = max(1.0, np.max(moved, initial=0.0)), min(1.0, np.min(moved[moved > 0], initial=1.0))
    top, bottom = int(np.log2(largest)) - 2, max(int(np.log2(smallest)) - 30, -960)
    return [2.0**exponent for exponent in range(min(top, 960), bottom, -2)]


def smooth(jumps: list[Array], slopes: Array) -> Array:
    """Return where the slopes on both sides meet: the last jumps between them, beyond rounding, die out."""
    with np.errstate(all="ignore"):
        recent = [np.where(np.isnan(jump), np.inf, jump) for jump in jumps[-4:]]
        meet: Array = np.minimum.reduce(recent) <= 1e-3 * np.abs(slopes) + 0.1 * np.maximum(recent[0], 0.0)
    return meet
