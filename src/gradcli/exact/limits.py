"""What differences of more and more digits come to: a derivative, 0, a kink, a jump, or no limit at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradcli.exact.decimals import GUARD, NAN
from gradcli.exact.thresholds import CLOSE, EPS, ROUNDING, SAME
from gradcli.records import dataclass

SETTINGS = ((50, 17), (100, 33), (200, 66), (400, 133), (800, 266), (800, 390))
"""Digits of the runs, and those of 1/h, one setting after the other; h² is seen in each, as cos(h) differs from 1."""
WIDE = 16
"""Orders of magnitude between the numbers of a problem up to which these digits do, and h is shorter than a piece."""
SURE = 400
"""Digits from which a derivative counts that contradicts the routes."""


@dataclass(frozen=True, slots=True)
class Side:
    """What the function does on both sides of x in one entry of y: ``kind`` is a word for notes, empty where smooth."""

    kind: str
    left: Decimal
    right: Decimal


class Setting(NamedTuple):
    """y at x, x + h and x - h in one number of digits; ``kept`` are those at x ± h on the pieces of x.

    ``cancels`` tells whether a sum on the way came to 0, of which more digits may leave something; ``turns`` whether
    the program decides otherwise at x + h or x - h than at x.
    """

    digits: int
    h: Decimal
    cancels: bool
    turns: bool
    at: list[Decimal]
    above: list[Decimal]
    below: list[Decimal]
    kept: tuple[list[Decimal], list[Decimal]]

    def slope(self, i: int) -> Decimal:
        """Return the derivative of entry i on the pieces of x, one-sided where the other side has no value."""
        above, below = self.kept[0][i], self.kept[1][i]
        if not above.is_finite() and below.is_finite():
            return (self.at[i] - below) / self.h
        if not below.is_finite() and above.is_finite():
            return (above - self.at[i]) / self.h
        return (above - below) / (2 * self.h)

    def bend(self, i: int) -> Decimal:
        """Return the second derivative of entry i on the pieces of x."""
        return (self.kept[0][i] - 2 * self.at[i] + self.kept[1][i]) / self.h**2

    def noise(self, i: int, size: Decimal) -> Decimal:
        """Return what rounding may make of a slope of entry i, a derivative whose terms have this size."""
        y = max(abs(y[i]) for y in (self.at, self.above, self.below) if y[i].is_finite())
        return max(y, size) * Decimal(10) ** (GUARD + 5 - self.digits) / self.h

    def left(self, i: int) -> Decimal:
        """Return the slope of entry i below x."""
        return (self.at[i] - self.below[i]) / self.h

    def right(self, i: int) -> Decimal:
        """Return the slope of entry i above x."""
        return (self.above[i] - self.at[i]) / self.h


def settings_for(spread: int) -> tuple[tuple[int, int], ...]:
    """Return the settings for a problem whose numbers lie so many orders of magnitude apart.

    hypot(1e300, 0.3) differs from 1e300 behind 600 digits, and sin at 1e300 has a slope for h below 1 alone.
    """
    if spread <= WIDE:
        return SETTINGS
    count, fineness = SETTINGS[-1]
    last = count + 4 * spread
    return (*SETTINGS, (last, fineness + spread), (last, fineness + 2 * spread))


def value_of(earlier: Decimal, found: Decimal, count: int) -> Decimal:
    """Return the value that two settings come to: the last one, of ``count`` digits, and 0 where it is rounding.

    That shrinks as digits grow, and is below three quarters of them.
    """
    rounding = abs(found) <= SAME * abs(earlier) or abs(found) <= Decimal(10) ** (-3 * count // 4)
    return Decimal(0) if found and not settled(earlier, found) and rounding else found


def finite(size: float) -> Decimal:
    """Return a size as a decimal, 0 where it says nothing."""
    return Decimal(float(size)) if np.isfinite(size) else Decimal(0)


def settled(earlier: Decimal, found: Decimal) -> bool:
    """Return whether two settings agree: to 20 digits, or in being no number."""
    if not (earlier.is_finite() and found.is_finite()):
        return str(earlier) == str(found)
    return abs(found - earlier) <= SAME * abs(found)


def enough(
    settings: Sequence[Setting], i: int, size: Decimal, sought: Sequence[Decimal], most: int, rich: bool = True
) -> bool:
    """Return whether one more setting would say nothing new about entry i; ``most`` are the digits of the last one.

    Sums that cancel are looked into as long as what that costs is ``rich``.
    A derivative that is 0 beside its terms, or beside what is printed, may be a small one: all digits are tried.
    """
    if len(settings) == 1:
        return False
    earlier, found, count = settings[-2].slope(i), settings[-1].slope(i), settings[-1].digits
    if not settings[-1].at[i].is_finite():
        return True
    if not found.is_finite():
        return False
    if settings[-1].cancels and rich and count < most:
        return False
    if not (calm(settings, i, Setting.left) and calm(settings, i, Setting.right)):
        return False
    if count < most and most > SETTINGS[-1][0] and side_of(settings[-2], settings[-1], i, size).kind:
        return False  # h may still be longer than the pieces: x % 0.3 at 1e300
    if not found and not size and not any(sought):
        return True
    if abs(found) <= SAME * size or not found:
        return count == most and vanishes(settings, i, size)
    if settled(earlier, found):
        return count >= SURE or all(is_close(s, found) for s in sought)
    return vanishes(settings, i, size)


def calm(settings: Sequence[Setting], i: int, slope: Callable[[Setting, int], Decimal]) -> bool:
    """Return whether the slope of entry i on one side has a limit: it stays, or shrinks with h, or has no value."""
    old, new = settings[-2:]
    earlier, found = slope(old, i), slope(new, i)
    if not (earlier.is_finite() and found.is_finite()):
        return True
    stays = abs(found - earlier) <= SAME.sqrt() * max(abs(new.left(i)), abs(new.right(i)))
    return stays or abs(found) <= abs(earlier) / 10


def is_close(value: Decimal, truth: Decimal) -> bool:
    """Return whether a number is the true one to six digits."""
    return value.is_finite() and abs(value - truth) <= CLOSE * abs(truth)


def last_value(settings: Sequence[Setting], i: int, size: Decimal) -> Decimal:
    """Return the derivative of entry i by the last setting, 0 where it vanishes, nan where no two settings agree."""
    earlier, found = settings[-2].slope(i), settings[-1].slope(i)
    if not found.is_finite():
        return NAN
    if settled(earlier, found):
        return Decimal(0) if is_below_input(settings, i, size) else found
    return Decimal(0) if vanishes(settings, i, size) else NAN


def is_below_input(settings: Sequence[Setting], i: int, size: Decimal) -> bool:
    """Return whether the derivative of entry i is 0 but for the rounding of x, and no number of doubles could tell.

    1 + cos(x) is 7e-33 at the double next to π and 3e-32 at the one before: beside its terms it is 0, and x moved by
    its last digit changes it by more than all of it. A small number that stays, as 1 - sigmoid(70), is none of these.
    """
    found = abs(settings[-1].slope(i))
    if not 0 < found <= Decimal(ROUNDING) ** 2 * size:
        return False
    clearest = next(setting for setting in reversed(settings) if setting.h**3 >= Decimal(10) ** -setting.digits)
    bend = clearest.bend(i)
    return bend.is_finite() and found <= Decimal(EPS) * abs(bend)


def flat(setting: Setting, i: int, size: Decimal) -> bool:
    """Return whether entry i shows no slope beyond rounding: it is 0, or so small that only the last setting tells."""
    found = setting.slope(i)
    return found.is_finite() and abs(found) <= setting.noise(i, size)


def vanishes(settings: Sequence[Setting], i: int, size: Decimal) -> bool:
    """Return whether the derivative of entry i is 0: it shrinks with h, as that of x³ at 0, or is mere rounding."""
    growing = [settings[0], *(new for old, new in pairwise(settings) if new.digits > old.digits)][-4:]
    rounding = all(flat(setting, i, size) for setting in growing[-3:])
    return dies(growing, i) or dies(settings[-4:], i) or (len(growing) > 2 and rounding)


def dies(settings: Sequence[Setting], i: int) -> bool:
    """Return whether the slope of entry i shrinks over four settings; rounding may leave 0 at some of them."""
    slopes = [abs(setting.slope(i)) for setting in settings]
    seen = [slope for slope in slopes if slope]
    shrinks = all(new <= old / 10 for old, new in pairwise(seen))
    return len(slopes) > 3 and shrinks and (len(seen) > 1 or not slopes[-1])


def side(settings: Sequence[Setting], i: int, size: Decimal) -> Side:
    """Return what the slopes on both sides of x come to as h shrinks; smooth where two of the last settings say so."""
    found = side_of(settings[-2], settings[-1], i, size)
    if not found.kind or len(settings) < 3:
        return found
    before = side_of(settings[-3], settings[-2], i, size)
    return found if before.kind else before


def side_of(old: Setting, new: Setting, i: int, size: Decimal) -> Side:
    """Return what the slopes on both sides of x come to from one setting to the next."""
    left, right = new.left(i), new.right(i)
    if not new.at[i].is_finite():
        return Side("", left, right)
    if new.above[i].is_finite() != new.below[i].is_finite():
        inside, before = (left, old.left(i)) if new.below[i].is_finite() else (right, old.right(i))
        return Side("infinite-slope" if grows(before, inside) else "edge", left, right)
    if not new.above[i].is_finite():
        return Side("", left, right)
    if max(abs(left), abs(right), abs(new.slope(i))) <= new.noise(i, size):
        return Side("", left, right)
    gap, before = abs(right - left), abs(old.right(i) - old.left(i))
    if grows(max(abs(old.left(i)), abs(old.right(i))), max(abs(left), abs(right))):
        step = max(abs(new.above[i] - new.at[i]), abs(new.at[i] - new.below[i]))
        last = max(abs(old.above[i] - old.at[i]), abs(old.at[i] - old.below[i]))
        return Side("jump" if step > last / 2 else "infinite-slope", left, right)
    steepest = max(abs(left), abs(right))
    meet = gap <= SAME.sqrt() * steepest or gap <= before / 1000
    # Where both sides have one slope, and the pieces of x another, some other direction has that.
    astray, earlier = abs(new.slope(i) - left), abs(old.slope(i) - old.left(i))
    follows = astray <= SAME.sqrt() * steepest or astray <= earlier / 10
    return Side("" if meet and follows else "kink", left, right)


def grows(earlier: Decimal, found: Decimal) -> bool:
    """Return whether a slope is larger for a smaller h: it would be the same to many digits if it had a limit."""
    return abs(found) > abs(earlier) * Decimal("1.3")
