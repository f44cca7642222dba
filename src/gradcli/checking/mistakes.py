"""What a wrong gradient has gone wrong with, as far as its shape and its numbers tell: a factor, an axis, a term."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gradcli.checking.truth import Derivative
from gradcli.errors.hints import listed
from gradcli.exact.work import MEASURED, ROUNDING
from gradcli.explanation.results import agree_within
from gradcli.ops.declare import Array
from gradcli.ops.links import Mask
from gradcli.records import dataclass, field

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
        yield "transposed", confirms(array.T, true)
    elif sorted(shape) == sorted(true_shape):
        yield "transposed: its axes stand in another order", False
    for axes in axes_between(true_shape, shape):
        sums = None if true is None else true.sum(axes)
        yield f"summed over {axes_text(axes, true_shape)}", confirms(array, sums)
    for axes in axes_between(shape, true_shape):
        yield f"the gradient before its sum over {axes_text(axes, shape)}", confirms(array.sum(axes), true)


def confirms(array: Array, true: Array | None) -> bool:
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


ALIKE = 1e-9
"""Relative distance of two gradients that are the same one."""
SAME = 1e-6
"""Part of the largest entry up to which a difference is no factor, and nothing that is another way round."""
LEAST_DIGITS = 5
"""Right digits of every entry from which a gradient is one of few digits."""
SIMPLEST = 1000
"""Denominator up to which a ratio is a fraction that somebody may have forgotten."""
FEW = 12
"""Denominator up to which a ratio is shown as a fraction."""
MOST_PLACES = 3
"""Entries that are named where few are wrong."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a gradient stands among: the value that it is by, true gradients of others by name, and lengths of axes.

    Entries that are off by a ``share`` of themselves, or by a ``floor`` of the largest one, are right.
    """

    value: Array
    others: Mapping[str, Array] = field(default_factory=dict)
    lengths: frozenset[int] = frozenset()
    share: float = 0.0
    floor: float = 0.0


def find_mistake(claim: Array, truth: Array, around: Surroundings) -> str:
    """Return what a gradient that differs from the true one has probably gone wrong with; empty where nothing fits.

    >>> find_mistake(np.array([1.0, 2.0]), np.array([2.0, 4.0]), Surroundings(np.zeros(2)))
    'it is half of the true one everywhere: a factor 2 is missing'
    """
    if claim.shape != truth.shape or not (np.all(np.isfinite(claim)) and np.all(np.isfinite(truth))):
        return ""
    guesses = IN_DETAIL if alike(claim, truth, max(SAME, around.share)) else (*AS_A_WHOLE, *IN_DETAIL)
    return next((text for guess in guesses if (text := guess(claim, truth, around))), "")


def alike(one: Array, other: Array, near: float) -> bool:
    """Return whether two arrays are the same but for a part of their largest entry."""
    if one.shape != other.shape:
        return False
    size = max(float(np.max(np.abs(one), initial=0.0)), float(np.max(np.abs(other), initial=0.0)))
    return agree_within(one, other, near * (np.abs(other) + size))


def near_of(around: Surroundings) -> float:
    """Return the relative distance of two gradients that are the same one."""
    return max(ALIKE, around.share)


def as_zero(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that nothing was computed."""
    del truth, around
    return f"it is 0{everywhere(claim)}" if not np.any(claim) else ""


def as_multiple(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say by which factor the gradient is off, where it is off by one factor everywhere."""
    if not np.any(truth):
        return ""
    at = np.unravel_index(int(np.argmax(np.abs(truth))), truth.shape)
    ratio, near = float(claim[at] / truth[at]), near_of(around)
    if not alike(claim, ratio * truth, near):
        return ""
    if abs(ratio + 1) <= near:
        return "its sign is wrong"
    # Of numbers of few digits a fraction of large ones says nothing.
    simple = Fraction(ratio).limit_denominator(min(SIMPLEST, int(near**-0.5)))
    exact = simple != 0 and abs(ratio - float(simple)) <= near * abs(ratio)
    if not exact or 1 not in (abs(simple.numerator), simple.denominator):
        times = str(simple) if exact and simple.denominator <= FEW else f"{ratio:.6g}"
        return f"it is {times} times the true one{everywhere(claim)}" if claim.size > 1 or exact else ""
    sign = "its sign is wrong too, and " if ratio < 0 else ""
    whole = max(abs(simple.numerator), simple.denominator)
    is_length = whole in around.lengths and whole > 2
    if abs(simple) < 1:
        part = "half of the true one" if whole == 2 else f"1/{whole} of the true one"
        too_many = f"it is divided by n = {whole} once too often" if is_length else f"a factor {whole} is missing"
        return f"{sign}it is {part}{everywhere(claim)}: {too_many}"
    times = "twice" if whole == 2 else f"{whole} times"
    missing = f"a division by n = {whole} is missing" if is_length else f"a factor {whole} is too many"
    return f"{sign}it is {times} the true one{everywhere(claim)}: {missing}"


def everywhere(claim: Array) -> str:
    """Return the word for all entries, where there are several."""
    return " everywhere" if claim.size > 1 else ""


def as_transposed(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that it is transposed."""
    return "it is transposed" if claim.ndim == 2 and alike(claim.T, truth, near_of(around)) else ""


def as_another(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that it is the gradient by another value."""
    del truth
    others, near = around.others.items(), near_of(around)
    name = next((name for name, other in others if np.any(other) and alike(claim, other, near)), None)
    return "" if name is None else f"it is the derivative by {name}"


def as_unregularised(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that the term of a regulariser is missing or wrong: the difference is a multiple of the value itself."""
    value, difference = np.asarray(around.value, dtype=np.float64), truth - claim
    if value.shape != truth.shape or value.size < 2 or not np.any(value):
        return ""
    at = np.unravel_index(int(np.argmax(np.abs(value))), value.shape)
    factor = float(difference[at] / value[at])
    near = near_of(around)
    if not factor or not np.allclose(difference, factor * value, max(1e-7, near), near * np.max(np.abs(truth))):
        return ""
    return f"{factor:.6g} times the value itself is missing, as of a regulariser"


def as_flipped(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that its entries stand in reverse along an axis, or one place off."""
    near = near_of(around)
    for axis in range(claim.ndim):
        if claim.shape[axis] > 1 and alike(np.flip(claim, axis), truth, near):
            return f"its entries are in reverse order along axis {axis}"
        for shift in (1, -1) if claim.shape[axis] > 2 else ():
            if alike(np.roll(claim, shift, axis), truth, near):
                return f"its entries are shifted by one along axis {axis}"
    return ""


def wrong_entries(claim: Array, truth: Array, around: Surroundings) -> Mask:
    """Return which entries are wrong, rounding aside."""
    largest = np.max(np.abs(truth), initial=0.0)
    return ~np.isclose(claim, truth, max(float(MEASURED), around.share), max(ROUNDING, around.floor) * largest)


def as_few_entries(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say which entries are wrong, where these are few and others are right."""
    wrong = wrong_entries(claim, truth, around)
    count = int(np.sum(wrong))
    if not 0 < count <= MOST_PLACES or not np.any(truth[~wrong]):
        return ""
    places = ", ".join(f"[{','.join(map(str, place))}]" for place in np.argwhere(wrong).tolist())
    return f"only {places} {'is' if count == 1 else 'are'} wrong"


def as_close(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say to how many digits a gradient agrees that has fewer than it should, as by finite differences."""
    wrong = wrong_entries(claim, truth, around)
    if not np.any(wrong) or not np.all(truth[wrong]):
        return ""
    count = math.floor(-math.log10(float(np.max(np.abs(claim - truth)[wrong] / np.abs(truth[wrong])))))
    return f"it agrees to {count} digits; --digits {count} accepts that" if count >= LEAST_DIGITS else ""


def as_line(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say in which line all wrong entries stand, where others are right."""
    wrong = wrong_entries(claim, truth, around)
    if claim.ndim < 2 or not np.any(truth[~wrong]):
        return ""
    for axis in range(claim.ndim):
        others = tuple(k for k in range(claim.ndim) if k != axis)
        lines = np.flatnonzero(np.any(wrong, others))
        if len(lines) == 1 and claim.shape[axis] > 1:
            index = ", ".join(str(lines[0]) if k == axis else ":" for k in range(claim.ndim))
            return f"only entries of [{index}] are wrong"
    return ""


Guess = Callable[[Array, Array, Surroundings], str]
AS_A_WHOLE: tuple[Guess, ...] = (
    as_zero, as_multiple, as_transposed, as_another, as_unregularised, as_flipped,
)  # fmt: skip
IN_DETAIL: tuple[Guess, ...] = (as_few_entries, as_close, as_line)
"""What is wrong with a gradient whose largest entries are right, or with some of its entries."""
