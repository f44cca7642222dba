"""The shape of a derivative that was written by hand: which entries of J it holds, or that it fits nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gradcli.checking.comparing import Derivative
from gradcli.errors.counting import listed
from gradcli.ops.declare import Array

Shape = tuple[int, ...]
NEAR = 1e-6
"""Relative distance up to which numbers in another shape are the true ones: it is a guess that they confirm."""


class Fitting(NamedTuple):
    """How an expected derivative fits: as all entries, or as the ``diagonal`` of J; ``loosely`` but for axes of 1.

    ``true_shape`` is the shape that it has or should have. What fits neither way is wrong.
    """

    true_shape: Shape
    fits: bool
    diagonal: bool = False
    loosely: bool = False


def fit_shape(shape: Shape, sought: Derivative, with_v: bool) -> Fitting:
    """Return how an expected derivative of this shape fits the true one: J, or with a v the gradient."""
    output_shape, input_shape = sought.run.value.shape, sought.leaf.shape
    whole = input_shape if with_v else output_shape + input_shape
    if shape == whole:
        return Fitting(whole, fits=True)
    jacobian = sought.jacobian
    entrywise = not with_v and output_shape == input_shape and not np.any(jacobian.rows != jacobian.columns)
    if entrywise and shape == input_shape:
        return Fitting(input_shape, fits=True, diagonal=True)
    if squeezed(shape) == squeezed(whole):
        return Fitting(whole, fits=True, loosely=True)
    if entrywise and squeezed(shape) == squeezed(input_shape):
        return Fitting(input_shape, fits=True, diagonal=True, loosely=True)
    return Fitting(whole, fits=False)


def squeezed(shape: Shape) -> Shape:
    """Return a shape without its axes of length 1."""
    return tuple(length for length in shape if length != 1)


def diagonal_matrix(diagonal: Sequence[Decimal], count: int) -> list[Decimal]:
    """Return the entries of a square matrix with this diagonal."""
    return [diagonal[i] if i == j else Decimal(0) for i in range(count) for j in range(count)]


def derivative_name(sought: Derivative, output: str, with_v: bool) -> str:
    """Return what a whole derivative is called: ``dy/dx``, or with a v ``x.grad``."""
    return f"{sought.variable}.grad" if with_v else f"d{output}/d{sought.variable}"


def loose_text(name: str, shape: Shape, true_shape: Shape) -> str:
    """Return the note on a derivative whose shape differs in axes of length 1 alone."""
    return f"{name} has shape {shape} by --expect and {true_shape} truly: only axes of length 1 differ."


def misfit_text(values: Sequence[Decimal], shape: Shape, sought: Derivative, true: Array | None, with_v: bool) -> str:
    """Return what is wrong with an expected derivative whose shape fits nowhere: both shapes, and what may be why.

    ``true`` are the true entries in flat order where all of them were found: they confirm a guess.
    """
    true_shape = fit_shape(shape, sought, with_v).true_shape
    text = f"has shape {shape} and truly {true_shape}"
    array = np.array([float(value) for value in values]).reshape(shape)
    why = guess_change(array, true_shape, None if true is None else true.reshape(true_shape))
    if not with_v and shape == sought.leaf.shape:
        why = f"with --v it is the gradient, in the shape {shape} of {sought.variable}"
        if shape == sought.run.value.shape:
            why = f"it has the shape of the diagonal, and J has entries beside that; {why}"
    return f"{text}: {why}" if why else text


def guess_change(array: Array, true_shape: Shape, true: Array | None) -> str:
    """Return what may have given a derivative its shape, by preference what its numbers confirm; empty for nothing."""
    ways = list(changes(array, true_shape, true))
    sure = next((f"it is {text}" for text, same in ways if same), "")
    return sure or next((f"it may be {text}" for text, _ in ways), "")


def changes(array: Array, true_shape: Shape, true: Array | None) -> Iterator[tuple[str, bool]]:
    """Yield what gives a shape from the true one, and whether it gives the numbers too."""
    shape, transposed = array.shape, array.shape == true_shape[::-1]
    if transposed:
        yield "transposed", alike(array.T, true)
    elif sorted(shape) == sorted(true_shape):
        yield "transposed: its axes stand in another order", False
    for axes in axes_between(true_shape, shape):
        sums = None if true is None else true.sum(axes)
        yield f"summed over {axes_text(axes, true_shape)}", alike(array, sums)
    for axes in axes_between(shape, true_shape):
        yield f"the gradient before its sum over {axes_text(axes, shape)}", alike(array.sum(axes), true)


def alike(array: Array, true: Array | None) -> bool:
    """Return whether two arrays have the same numbers in the same order, as far as a guess goes."""
    return true is not None and bool(np.allclose(array.ravel(), true.ravel(), rtol=NEAR, atol=0.0))


def axes_between(more: Shape, less: Shape) -> Iterator[tuple[int, ...]]:
    """Yield the axes of a shape whose sum leaves another one, which may keep them with length 1.

    >>> list(axes_between((64, 10), (10,))), list(axes_between((3, 4), (3, 1)))
    ([(0,)], [(1,)])
    """
    if len(more) == len(less):
        axes = tuple(k for k, (one, other) in enumerate(zip(more, less, strict=True)) if one != other)
        if axes and all(less[k] == 1 for k in axes):
            yield axes
    elif len(less) < len(more) <= MOST_AXES:
        for axes in combinations(range(len(more)), len(more) - len(less)):
            if tuple(length for k, length in enumerate(more) if k not in axes) == less:
                yield axes


MOST_AXES = 8
"""Axes of a shape up to which it is asked over which of them a sum goes."""


def axes_text(axes: tuple[int, ...], shape: Shape) -> str:
    """Return which axes, and how long they are.

    >>> axes_text((0,), (64, 10)), axes_text((0, 1), (2, 3))
    ('axis 0, of length 64', 'axes 0 and 1, of lengths 2 and 3')
    """
    lengths = [str(shape[k]) for k in axes]
    if len(axes) == 1:
        return f"axis {axes[0]}, of length {lengths[0]}"
    return f"axes {listed([str(k) for k in axes], len(axes))}, of lengths {listed(lengths, len(axes))}"
