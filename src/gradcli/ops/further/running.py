"""Differences and sums of neighbours along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, SUB
from gradcli.ops.axes import number, one_axis
from gradcli.ops.declare import Apply
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import CAT
from gradcli.ops.reductions import CUMSUM, SUM
from gradcli.ops.shaping import EXPAND, RESHAPE, whole
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.vocabulary import function

ONE = np.ones(())


def stretch(f: Apply, x: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """Return a stretch of an array along an axis."""
    return f(INDEX, x, key=(*(slice(None),) * axis, slice(start, stop)))


def require_axis(x: Tensor, dim: Static, name: str) -> int:
    """Return an axis of an array; raises ``shape`` for a single number."""
    if not x.ndim:
        raise GradcliError("shape", f"{name} needs an array with at least one axis")
    return one_axis(dim, x.ndim)


# --- differences ---


@function("diff", "torch numpy method", "reductions", kinds="no integer yes")
def build_diff(
    f: Apply, x: Tensor, n: Static = 1, dim: Static = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """the differences of neighbours along dim, n times over"""
    axis, times = require_axis(x, dim, "diff"), whole(n, "n")
    if times < 0:
        raise GradcliError("value", f"diff: n is 0 or more, not {times}")
    edge = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    parts = [
        part if part.ndim or x is part else f(EXPAND, part, shape=edge)
        for part in (prepend, x, append)
        if part is not None
    ]
    found = f(CAT, *parts, dim=axis) if len(parts) > 1 else x
    for _ in range(min(times, found.shape[axis])):
        found = f(SUB, stretch(f, found, axis, 1, None), stretch(f, found, axis, 0, -1))
    return found


def steps_of(f: Apply, spacing: Any, length: int) -> Tensor:
    """Return the distances between neighbours, or the one of all, from a distance or from the places along an axis."""
    if not spacing.ndim:
        return spacing
    if spacing.shape != (length,):
        raise GradcliError("shape", f"gradient: {counted(spacing.shape[0], 'place')} for an axis of length {length}")
    return f(SUB, stretch(f, spacing, 0, 1, None), stretch(f, spacing, 0, 0, -1))


def slopes_along(f: Apply, x: Tensor, axis: int, steps: Tensor, edge_order: int) -> Tensor:
    """Return the slope at each place: of the parabola through three neighbours, at an end of that or of a line."""
    length = x.shape[axis]
    if length < edge_order + 1:
        raise GradcliError(
            "shape", f"gradient: an axis of length {length} is too short, it takes {edge_order + 1} entries"
        )
    ends = [
        [stretch(f, x, axis, k, k + 1) for k in range(edge_order + 1)],
        [stretch(f, x, axis, length - 1 - k, length - k) for k in range(edge_order + 1)],
    ]
    first, last = (
        [steps if not steps.ndim else f(INDEX, steps, key=k) for k in places]
        for places in (range(edge_order), range(length - 2, length - 2 - edge_order, -1))
    )
    inner = [inner_slopes(f, x, axis, steps)] if length > 2 else []
    return f(CAT, end_slope(f, ends[0], first), *inner, end_slope(f, ends[1], [f(NEG, h) for h in last]), dim=axis)


def inner_slopes(f: Apply, x: Tensor, axis: int, steps: Tensor) -> Tensor:
    """Return the slopes between the ends."""
    after, before = stretch(f, x, axis, 2, None), stretch(f, x, axis, 0, -2)
    if not steps.ndim:
        return f(DIV, f(SUB, after, before), f(MUL, steps, 2.0))
    shape = tuple(-1 if k == axis else 1 for k in range(x.ndim))
    left, right = (f(RESHAPE, stretch(f, steps, 0, *ends), shape=shape) for ends in ((0, -1), (1, None)))
    here = stretch(f, x, axis, 1, -1)
    ahead = f(MUL, f(SUB, after, here), f(DIV, left, right))
    behind = f(MUL, f(SUB, here, before), f(DIV, right, left))
    return f(DIV, f(ADD, ahead, behind), f(ADD, left, right))


def end_slope(f: Apply, near: list[Tensor], steps: list[Tensor]) -> Tensor:
    """Return the slope at an end from the entries ``near`` it, the end first, which are ``steps`` apart."""
    first = f(DIV, f(SUB, near[1], near[0]), steps[0])
    if len(steps) == 1:
        return first
    a, b = steps
    second = f(DIV, f(SUB, near[2], near[1]), b)
    return f(ADD, first, f(MUL, f(SUB, first, second), f(DIV, a, f(ADD, a, b))))


def slopes_of(f: Apply, x: Tensor, axes: tuple[int, ...], spacings: list[Any], edge_order: Static) -> list[Tensor]:
    """Return the slopes along each of some axes."""
    order = whole(edge_order, "edge_order")
    if order not in (1, 2):
        raise GradcliError("value", f"gradient: edge_order is 1 or 2, not {order}")
    given = spacings * len(axes) if len(spacings) == 1 else spacings
    if len(given) != len(axes):
        raise GradcliError("value", f"gradient: {len(given)} spacings for {len(axes)} axes")
    return [
        slopes_along(f, x, axis, steps_of(f, spacing, x.shape[axis]), order)
        for axis, spacing in zip(axes, given, strict=True)
    ]


def axes_named(dim: Static, x: Tensor) -> tuple[int, ...]:
    """Return the axes that ``dim`` names, all for None."""
    if dim is None:
        return tuple(range(x.ndim))
    return tuple(require_axis(x, item, "gradient") for item in (dim if isinstance(dim, tuple) else (dim,)))


@function("gradient", "torch", "reductions", kinds="no no yes")
def build_gradient(
    f: Apply, x: Tensor, spacing: Tensor | None = None, dim: Static = None, edge_order: Static = 1
) -> tuple[Tensor, ...]:
    """the slopes of x along each axis, by differences: a tuple with one array for each"""
    given = [ONE] if spacing is None else [spacing]
    if spacing is not None and spacing.ndim:
        given = [f(INDEX, spacing, key=k) for k in range(spacing.shape[0])]
    return tuple(slopes_of(f, x, axes_named(dim, x), given, edge_order))


@function("np.gradient numpy.gradient jnp.gradient", "", "reductions", kinds="no numpy-float yes")
def build_numpy_gradient(
    f: Apply,
    x: Tensor,
    spacing: Tensor | None = None,
    second: Tensor | None = None,
    third: Tensor | None = None,
    dim: Static = None,
    edge_order: Static = 1,
) -> Tensor | tuple[Tensor, ...]:
    """the slopes of x along each axis, by differences: one array where there is one axis, as numpy has it"""
    given = [part for part in (spacing, second, third) if part is not None]
    found = slopes_of(f, x, axes_named(dim, x), given or [ONE], edge_order)
    return found[0] if len(found) == 1 else tuple(found)


# --- areas ---


def widths(f: Apply, y: Tensor, x: Tensor | None, dx: Static, axis: int) -> Tensor | float:
    """Return half the distances between neighbours along an axis, from their places or from one distance."""
    if x is None:
        return number(1.0 if dx is None else dx, "dx") / 2
    if dx is not None:
        raise GradcliError("arguments", "trapezoid takes x or dx, not both")
    places = x
    if x.ndim == 1 and y.ndim > 1:
        places = f(RESHAPE, x, shape=tuple(-1 if k == axis else 1 for k in range(y.ndim)))
    along = axis - y.ndim + places.ndim
    if along < 0 or places.shape[along] != y.shape[axis]:
        raise GradcliError("shape", f"trapezoid: x of shape {x.shape} does not fit y of shape {y.shape}")
    return f(DIV, f(SUB, stretch(f, places, along, 1, None), stretch(f, places, along, 0, -1)), 2.0)


def areas(f: Apply, y: Tensor, x: Tensor | None, dx: Static, axis: int) -> Tensor:
    """Return the area between each two neighbours."""
    both = f(ADD, stretch(f, y, axis, 1, None), stretch(f, y, axis, 0, -1))
    return f(MUL, both, widths(f, y, x, dx, axis))


@function("trapezoid trapz", "torch numpy", "reductions", kinds="no numpy-float yes")
def build_trapezoid(f: Apply, y: Tensor, x: Tensor | None = None, dx: Static = None, dim: Static = -1) -> Tensor:
    """the area below y by the rule of trapezoids, with places x or a distance dx"""
    axis = require_axis(y, dim, "trapezoid")
    return f(SUM, areas(f, y, x, dx, axis), dim=(axis,), keepdim=False)


@function("cumulative_trapezoid", "torch", "reductions", kinds="no no yes")
def build_cumulative_trapezoid(
    f: Apply, y: Tensor, x: Tensor | None = None, dx: Static = None, dim: Static = -1
) -> Tensor:
    """the area below y up to each entry, by the rule of trapezoids"""
    axis = require_axis(y, dim, "cumulative_trapezoid")
    return f(CUMSUM, areas(f, y, x, dx, axis), dim=axis)
