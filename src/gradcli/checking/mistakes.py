"""What a wrong gradient has gone wrong with, as far as its numbers tell: a factor, a sign, an axis, a missing term."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from gradcli.errors.counting import counted
from gradcli.ops.declare import Array
from gradcli.records import dataclass, field

ALIKE = 1e-9
"""Relative distance of two gradients that are the same one."""
SIMPLEST = 1000
"""Denominator up to which a ratio is a fraction that somebody may have forgotten."""
MOST_PLACES = 3
"""Entries that are named where few are wrong."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a gradient stands among: the value that it is by, true gradients of others by name, and lengths of axes."""

    value: Array
    others: Mapping[str, Array] = field(default_factory=dict)
    lengths: frozenset[int] = frozenset()


def find_mistake(claim: Array, truth: Array, around: Surroundings) -> str:
    """Return what a gradient that differs from the true one has probably gone wrong with; empty where nothing fits.

    >>> find_mistake(np.array([1.0, 2.0]), np.array([2.0, 4.0]), Surroundings(np.zeros(2)))
    'it is half of it everywhere, a factor 2 is missing'
    """
    if claim.shape != truth.shape or not (np.all(np.isfinite(claim)) and np.all(np.isfinite(truth))):
        return ""
    return next((text for guess in GUESSES if (text := guess(claim, truth, around))), "")


def alike(one: Array, other: Array) -> bool:
    """Return whether two arrays are the same but for rounding."""
    if one.shape != other.shape:
        return False
    size = max(float(np.max(np.abs(one), initial=0.0)), float(np.max(np.abs(other), initial=0.0)))
    return bool(np.allclose(one, other, rtol=ALIKE, atol=ALIKE * size))


def as_zero(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that nothing was computed."""
    del truth, around
    return "it is 0 everywhere" if not np.any(claim) else ""


def as_multiple(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say by which factor the gradient is off, where it is off by one factor everywhere."""
    if not np.any(truth):
        return ""
    at = np.unravel_index(int(np.argmax(np.abs(truth))), truth.shape)
    ratio = float(claim[at] / truth[at])
    if not alike(claim, ratio * truth):
        return ""
    if abs(ratio + 1) <= ALIKE:
        return "its sign is wrong"
    simple = Fraction(ratio).limit_denominator(SIMPLEST)
    exact = simple != 0 and abs(ratio - float(simple)) <= ALIKE * abs(ratio)
    if not exact or 1 not in (abs(simple.numerator), simple.denominator):
        return f"it is {ratio:.6g} times it everywhere"
    sign = "its sign is wrong too, and " if ratio < 0 else ""
    return sign + simple_factor(abs(simple), around.lengths)


def simple_factor(ratio: Fraction, lengths: frozenset[int]) -> str:
    """Say what is missing, or too much, where a gradient is an integer's multiple of the true one, or its part."""
    whole = max(ratio.numerator, ratio.denominator)
    is_length = whole in lengths and whole > 2
    if ratio < 1:
        part = "half of it" if whole == 2 else f"1/{whole} of it"
        too_many = f"it is divided by n = {whole} once too often" if is_length else f"a factor {whole} is missing"
        return f"it is {part} everywhere, {too_many}"
    times = "twice" if whole == 2 else f"{whole} times"
    missing = f"a division by n = {whole} is missing" if is_length else f"a factor {whole} is too many"
    return f"it is {times} it everywhere, {missing}"


def as_transposed(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that it is transposed."""
    del around
    return "it is transposed" if claim.ndim == 2 and alike(claim.T, truth) else ""


def as_another(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that it is the gradient by another value."""
    del truth
    name = next((name for name, other in around.others.items() if np.any(other) and alike(claim, other)), None)
    return "" if name is None else f"it is the derivative by {name}"


def as_unregularised(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that the term of a regulariser is missing or wrong: the difference is a multiple of the value itself."""
    value, difference = np.asarray(around.value, dtype=np.float64), truth - claim
    if value.shape != truth.shape or value.size < 2 or not np.any(value):
        return ""
    at = np.unravel_index(int(np.argmax(np.abs(value))), value.shape)
    factor = float(difference[at] / value[at])
    if not factor or not np.allclose(difference, factor * value, rtol=1e-7, atol=ALIKE * np.max(np.abs(truth))):
        return ""
    return f"{factor:.6g} times the value itself is missing: the derivative of a regulariser?"


def as_flipped(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say that its entries stand in reverse along an axis, or one place off."""
    del around
    for axis in range(claim.ndim):
        if claim.shape[axis] > 1 and alike(np.flip(claim, axis), truth):
            return f"its entries stand in reverse along axis {axis}"
        for shift in (1, -1) if claim.shape[axis] > 2 else ():
            if alike(np.roll(claim, shift, axis), truth):
                return f"its entries stand one place off along axis {axis}"
    return ""


def as_some_entries(claim: Array, truth: Array, around: Surroundings) -> str:
    """Say which entries are wrong, where others are right."""
    del around
    bound = ALIKE * np.max(np.abs(truth), initial=0.0)
    wrong = ~np.isclose(claim, truth, rtol=1e-7, atol=bound)
    count = int(np.sum(wrong))
    if not 0 < count < claim.size:
        return ""
    for axis in range(claim.ndim):
        others = tuple(k for k in range(claim.ndim) if k != axis)
        lines = np.flatnonzero(np.any(wrong, others))
        if claim.ndim > 1 and len(lines) == 1 and claim.shape[axis] > 1:
            index = ", ".join(str(lines[0]) if k == axis else ":" for k in range(claim.ndim))
            return f"only entries of [{index}] are wrong"
    if count <= MOST_PLACES:
        places = ", ".join(f"[{', '.join(map(str, place))}]" for place in np.argwhere(wrong).tolist())
        return f"only {places} {'is' if count == 1 else 'are'} wrong"
    return f"{counted(count, 'entry')} of {claim.size:,} are wrong"


Guess = Callable[[Array, Array, Surroundings], str]
GUESSES: tuple[Guess, ...] = (
    as_zero, as_multiple, as_transposed, as_another, as_unregularised, as_flipped, as_some_entries,
)  # fmt: skip
