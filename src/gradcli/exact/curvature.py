"""Second derivatives without a rule: the program in many digits at four points, x ± h·a ± h·b, and their difference.

As with first derivatives the digits grow and h shrinks until two settings give the same, and a run that decides
otherwise than the one at x is led back to the pieces of x: there a piecewise function has the second derivative of its
piece, which is PyTorch's convention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from gradcli.exact.decimals import GUARD, NAN, digits
from gradcli.exact.limits import settled
from gradcli.exact.real import Real, lifted
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import SAME
from gradcli.ops.signatures import Array

SETTINGS = ((50, 12), (100, 25), (200, 50), (400, 100), (800, 200))
"""Digits of the runs, and those of 1/h: with a quarter of them, rounding and what h leaves out are of one size."""
DIES = Decimal(10) ** -10
"""A difference that shrinks by this from one setting to the next has no limit but 0."""

Direction = Mapping[str, Array]


class Curvature(NamedTuple):
    """The second derivative along two directions on the pieces of x, nan where it was not found.

    ``bends`` says that y changes pieces beside x, and ``across`` is the derivative of y as it is, over all its pieces:
    nan where it has none, or does not bend.
    """

    value: Decimal
    bends: bool
    across: Decimal


class Mixed(NamedTuple):
    """A difference over h², what rounding may make of it, and whether pieces change on the way."""

    value: Decimal
    noise: Decimal
    bends: bool


def curvature(exact: Exact, seed: Array, one: Direction, other: Direction, sought: float) -> Curvature:
    """Return aᵀ·H·b for the Hessian H of ``seed``·y, a and b the directions; ``sought`` is the number to be judged.

    Raises ``Spent``, and ``GradcliError`` of kind ``exact``.
    """
    settings: list[Mixed] = []
    for count, fineness in SETTINGS:
        with digits(count):
            settings.append(difference(exact, count, Decimal(10) ** -fineness, seed, one, other))
            found = limit(settings, count == SETTINGS[-1][0] or not sought)
        if found is not None or not settings[-1].value.is_finite():
            break
    bends = any(one.bends for one in settings)
    return Curvature(NAN if found is None else found, bends, over_all(exact, seed, one, other) if bends else NAN)


def over_all(exact: Exact, seed: Array, one: Direction, other: Direction) -> Decimal:
    """Return the second derivative over all pieces of y: nan where the sides differ, or one of them has none."""
    found = [from_side(exact, seed, one, other, side) for side in SIDES]
    near = [a.is_finite() and abs(a - found[0]) <= ALIKE * max(abs(a), abs(found[0])) for a in found]
    return found[0] if all(near) else NAN


def from_side(exact: Exact, seed: Array, one: Direction, other: Direction, side: Side) -> Decimal:
    """Return what the differences of one set of corners come to over all pieces of y; nan where there is no limit."""
    settings: list[Mixed] = []
    for count, fineness in SETTINGS[:MOST_SIDED]:
        with digits(count):
            settings.append(at_corners(exact, count, Decimal(10) ** -fineness, seed, one, other, side, held=False))
            found = limit(settings, True)
        if found is not None:
            return found
    return NAN


def limit(settings: Sequence[Mixed], last: bool) -> Decimal | None:
    """Return what differences come to, None where that is not known yet; ``last`` says that 0 needs no more proof."""
    if len(settings) == 1:
        return None
    earlier, found = settings[-2:]
    if not found.value.is_finite():
        return None
    if found.value and settled(earlier.value, found.value):
        return found.value
    if abs(earlier.value) <= earlier.noise:  # which tells nothing of a derivative that is smaller
        beyond = abs(found.value) > found.noise / SAME
        return None if not last else found.value if beyond else Decimal(0) if abs(found.value) <= found.noise else None
    return Decimal(0) if last and abs(found.value) <= abs(earlier.value) * DIES else None


CENTRAL = ((1, 1, 1), (-1, 1, -1), (-1, -1, 1), (1, -1, -1))
"""The corners of a difference: its sign, and how often h is gone along the one direction and the other."""
FORWARD = ((1, 1, 1), (-1, 1, 0), (-1, 0, 1), (1, 0, 0))
BACKWARD = tuple((sign, -a, -b) for sign, a, b in FORWARD)
Side = tuple[tuple[tuple[int, int, int], ...], int]
SIDES: tuple[Side, ...] = ((CENTRAL, 4), (FORWARD, 1), (BACKWARD, 1))
"""Corners, and how often h² lies between them."""
MOST_SIDED = 4
"""Settings from each side: what has not settled by then has no limit."""
ALIKE = Decimal(10) ** -9
"""How near the limits from all sides are where they are one."""


def difference(exact: Exact, count: int, h: Decimal, seed: Array, one: Direction, other: Direction) -> Mixed:
    """Return the mixed difference along two directions: central, or to one side where the other has no value."""
    found = Mixed(NAN, Decimal(0), False)
    for side in SIDES:
        here = at_corners(exact, count, h, seed, one, other, side, held=True)
        found = here._replace(bends=found.bends or here.bends)
        if found.value.is_finite():
            break
    return found


def at_corners(
    exact: Exact, count: int, h: Decimal, seed: Array, one: Direction, other: Direction, side: Side, held: bool
) -> Mixed:
    """Return the mixed difference at one set of corners, ``held`` on the pieces of x or over all pieces of y."""
    corners, wide = side
    total, size, differs = Decimal(0), Decimal(0), False
    for sign, a, b in corners:
        free, kept, changed = exact.beside(count, moved(exact, one, other, a * h, b * h))
        values = kept if held else free
        terms = [Decimal(v) * y for v, y in zip(np.ravel(seed).tolist(), values, strict=True) if v]
        total += sign * sum(terms, Decimal(0))
        size = max([size, *(abs(term) for term in terms if term.is_finite())])
        differs = differs or changed
    noise = size * Decimal(10) ** (GUARD + 5 - count) / (wide * h * h)
    return Mixed(total / (wide * h * h), noise, differs)


def moved(exact: Exact, one: Direction, other: Direction, a: Decimal, b: Decimal) -> dict[str, object]:
    """Return the inputs that either direction moves, ``a`` times along the one and ``b`` times along the other."""
    found: dict[str, object] = {}
    for direction, step in ((one, a), (other, b)):
        for name, along in direction.items():
            found[name] = found.get(name, exact.inputs[name]) + lifted(along) * Real(step)
    return found
