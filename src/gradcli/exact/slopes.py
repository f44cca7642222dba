"""Derivatives without a rule: the program itself in many digits at x ± h, and half the difference over h.

The digits grow, and h shrinks with them, until two settings give the same. What a run at x decides (its branches, the
side of each kink, the positions of maxima) is compared with what the runs at x ± h decide: where these differ, the
derivative is taken on the pieces of x, which is the choice of a convention, and the slopes on both sides say whether
there is a kink or a jump. A program that rounding led another way than exact numbers would go is led as it went.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradcli.errors import GradcliError
from gradcli.exact.real import GUARD, NAN, Real, digits, lifted
from gradcli.exact.run import Decision, decisions_in_doubles, first_difference, run
from gradcli.language.program import Program
from gradcli.ops.declare import Array

SETTINGS = ((50, 17), (100, 33), (200, 66), (400, 133), (800, 266), (800, 400))
"""Digits of the runs, and those of 1/h, one setting after the other."""
SURE = 400
"""Digits from which a derivative counts that contradicts the routes."""
SAME = Decimal(10) ** -20
"""Relative difference of two settings that agree; also how small, beside its terms, a derivative is that is 0."""
CLOSE = Decimal(10) ** -6
"""Relative error from which a printed derivative is wrong."""
SECONDS = 3.0
"""Time of the processor that the derivatives of one answer may take."""
OPERATIONS = 1_500_000
"""Operations on single numbers that they may take."""
CALL = 10
"""Operations on single numbers that cost as much as one call of an op."""

Point = Mapping[str, Array]


class Spent(Exception):  # noqa: N818
    """The operations or the time are used up."""


@dataclass(slots=True)
class Purse:
    """What derivatives in many digits may still cost."""

    operations: int = OPERATIONS
    seconds: float = SECONDS
    started: float = field(default_factory=time.thread_time)

    def pay(self, operations: int) -> None:
        """Take operations that were carried out; raises ``Spent`` where nothing is left."""
        self.operations -= operations
        if self.operations < 0 or self.left <= 0:
            raise Spent

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.seconds - (time.thread_time() - self.started)


@dataclass(frozen=True, slots=True)
class Side:
    """What the function does on both sides of x in one entry of y: ``kind`` is a word for notes, empty where smooth."""

    kind: str
    left: Decimal
    right: Decimal


@dataclass(frozen=True, slots=True)
class Slope:
    """The derivative of every entry of y, in flat order, along one direction; nan where it was not found.

    ``digits`` are those of the last setting.
    """

    values: list[Decimal]
    sides: list[Side]
    digits: int


class Setting(NamedTuple):
    """y at x, x + h and x - h in one number of digits; ``kept`` are those at x ± h on the pieces of x."""

    digits: int
    h: Decimal
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

    def noise(self, i: int, size: Decimal) -> Decimal:
        """Return what rounding may make of a slope of entry i, a derivative whose terms have this size."""
        y = max(abs(y[i]) for y in (self.at, self.above, self.below) if y[i].is_finite())
        return max(y * Decimal(10) ** (GUARD - self.digits) / self.h, size * Decimal(10) ** -(self.digits * 11 // 20))

    def left(self, i: int) -> Decimal:
        """Return the slope of entry i below x."""
        return (self.at[i] - self.below[i]) / self.h

    def right(self, i: int) -> Decimal:
        """Return the slope of entry i above x."""
        return (self.above[i] - self.at[i]) / self.h


class Exact:
    """A program at a point, for derivatives along directions.

    Raises ``GradcliError`` of kind ``exact`` where the program cannot be evaluated in many digits.
    """

    def __init__(self, program: Program, point: Point, wrt: Sequence[str], purse: Purse | None = None) -> None:
        self.program = program
        self.point = {name: np.asarray(value, dtype=np.float64) for name, value in point.items()}
        self.wrt = frozenset(wrt)
        self.purse = purse or Purse()
        self.inputs = {name: lifted(value) for name, value in self.point.items()}
        self.doubles = decisions_in_doubles(program, {k: v[()] for k, v in self.point.items()}, self.wrt)
        self.rounded: tuple[Decision, Decision] | None = None
        self._base: dict[int, tuple[list[Decimal], list[Decision], bool]] = {}
        self._values: list[Decimal] | None = None

    def values(self) -> list[Decimal]:
        """Return y in flat order, in so many digits that two settings agree; the last ones where they never do."""
        if self._values is None:
            found = self.base(SETTINGS[0][0])[0]
            for count, _ in SETTINGS[1:]:
                earlier, found = found, self.base(count)[0]
                if all(settled(a, b) for a, b in zip(earlier, found, strict=True)):
                    break
            self._values = found
        return self._values

    def base(self, count: int) -> tuple[list[Decimal], list[Decision], bool]:
        """Return y at x in so many digits, what was decided, and whether doubles had decided otherwise."""
        if count not in self._base:
            found, decisions = self._run(count, self.inputs)
            led = first_difference(self.doubles, decisions)
            if led is not None:
                self.rounded = led
                found, decisions = self._run(count, self.inputs, self.doubles, follow=True)
            self._base[count] = found, decisions, led is not None
        return self._base[count]

    def along(self, direction: Point, scale: Array | None = None, sought: Sequence[Array] = ()) -> Slope:
        """Return the derivative along ``direction``, an array for each variable that moves.

        ``scale`` are the sizes of the terms of each entry, below whose 10⁻²⁰ a derivative is 0; ``sought`` the numbers
        that are to be judged: digits are added where they contradict. Raises ``Spent``.
        """
        settings: list[Setting] = []
        pending: list[int] = []
        sizes = [Decimal(0)] * len(self.base(SETTINGS[0][0])[0]) if scale is None else [finite(s) for s in scale]
        for count, fineness in SETTINGS:
            if len(settings) > 1 and count < SETTINGS[-1][0] and all(flat(settings[-1], i, sizes[i]) for i in pending):
                continue
            with digits(count):
                settings.append(self._setting(count, fineness, direction))
                numbers = [[float(column[i]) for column in sought] for i in range(len(sizes))]
                pending = [i for i, size in enumerate(sizes) if not enough(settings, i, size, numbers[i])]
            if not pending:
                break
        with digits(count):
            return Slope(
                [last_value(settings, i, size) for i, size in enumerate(sizes)],
                [side(settings, i) for i in range(len(sizes))],
                count,
            )

    def _setting(self, count: int, fineness: int, direction: Point) -> Setting:
        at, decisions, led = self.base(count)
        h = Decimal(10) ** -fineness
        sides, kept = [], []
        for sign in (1, -1):
            moved = {**self.inputs, **{n: self.inputs[n] + lifted(d) * Real(sign * h) for n, d in direction.items()}}
            moved = {name: np.asarray(value, dtype=object) for name, value in moved.items()}
            free, taken = self._attempt(count, moved, decisions, led)
            sides.append(free)
            differs = not led and taken is not None and first_difference(decisions, taken) is not None
            kept.append(self._attempt(count, moved, decisions, follow=True)[0] if differs or taken is None else free)
        return Setting(count, h, at, sides[0], sides[1], (kept[0], kept[1]))

    def _attempt(
        self, count: int, inputs: Mapping[str, Any], base: Sequence[Decision], follow: bool
    ) -> tuple[list[Decimal], list[Decision] | None]:
        """Return y at a point beside x, nan where the program has no value there."""
        size = len(self.base(count)[0])
        try:
            found, decisions = self._run(count, inputs, base, follow)
        except GradcliError:
            return [NAN] * size, None
        return (found, decisions) if len(found) == size else ([NAN] * size, None)

    def _run(
        self, count: int, inputs: Mapping[str, Any], base: Sequence[Decision] = (), follow: bool = False
    ) -> tuple[list[Decimal], list[Decision]]:
        budget = replace(self.program.budget, seconds=max(self.purse.left, 0.01))
        with digits(count):
            found = run(self.program, inputs, self.wrt, base, follow, budget)
        self.purse.pay((found.work + CALL * found.calls) * max(count, 200) // 200)
        return [entry.d for entry in found.output.ravel().tolist()], found.decisions


def finite(size: float) -> Decimal:
    """Return a size as a decimal, 0 where it says nothing."""
    return Decimal(float(size)) if np.isfinite(size) else Decimal(0)


def settled(earlier: Decimal, found: Decimal) -> bool:
    """Return whether two settings agree: to 20 digits, or in being no number."""
    if not (earlier.is_finite() and found.is_finite()):
        return str(earlier) == str(found)
    return abs(found - earlier) <= SAME * abs(found)


def enough(settings: Sequence[Setting], i: int, size: Decimal, sought: Sequence[float]) -> bool:
    """Return whether one more setting would say nothing new about entry i.

    A derivative that is 0 beside its terms, or beside what is printed, may be a small one: all digits are tried.
    """
    if len(settings) == 1:
        return False
    earlier, found, count = settings[-2].slope(i), settings[-1].slope(i), settings[-1].digits
    if not found.is_finite():
        return not settings[-1].at[i].is_finite()
    if not (calm(settings, i, Setting.left) and calm(settings, i, Setting.right)):
        return False
    if not found and not size and not any(sought):
        return True
    if abs(found) <= SAME * size or not found:
        return count == SETTINGS[-1][0] and vanishes(settings, i, size)
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


def is_close(value: float, truth: Decimal) -> bool:
    """Return whether a double is the true number to six digits."""
    return bool(np.isfinite(value)) and abs(Decimal(float(value)) - truth) <= CLOSE * abs(truth)


def last_value(settings: Sequence[Setting], i: int, size: Decimal) -> Decimal:
    """Return the derivative of entry i by the last setting, 0 where it vanishes, nan where no two settings agree."""
    earlier, found = settings[-2].slope(i), settings[-1].slope(i)
    if not found.is_finite():
        return NAN
    if settled(earlier, found):
        return found
    return Decimal(0) if vanishes(settings, i, size) else NAN


def flat(setting: Setting, i: int, size: Decimal) -> bool:
    """Return whether entry i shows no slope beyond rounding: it is 0, or so small that only the last setting tells."""
    found = setting.slope(i)
    return found.is_finite() and abs(found) <= setting.noise(i, size)


def vanishes(settings: Sequence[Setting], i: int, size: Decimal) -> bool:
    """Return whether the derivative of entry i is 0: it shrinks with h, as that of x³ at 0, or is mere rounding."""
    growing = [settings[0], *(new for old, new in pairwise(settings) if new.digits > old.digits)][-4:]
    dies = all(abs(new.slope(i)) <= abs(old.slope(i)) / 10 for old, new in pairwise(growing))
    rounding = all(flat(setting, i, size) for setting in growing[-3:])
    return (len(growing) > 3 and dies) or (len(growing) > 2 and rounding)


def side(settings: Sequence[Setting], i: int) -> Side:
    """Return what the slopes on both sides of x come to as h shrinks."""
    old, new = settings[-2:]
    left, right = new.left(i), new.right(i)
    if not new.at[i].is_finite():
        return Side("", left, right)
    if new.above[i].is_finite() != new.below[i].is_finite():
        inside, before = (left, old.left(i)) if new.below[i].is_finite() else (right, old.right(i))
        return Side("infinite-slope" if grows(before, inside) else "edge", left, right)
    if not new.above[i].is_finite():
        return Side("", left, right)
    if max(abs(left), abs(right)) <= new.noise(i, Decimal(0)):
        return Side("", left, right)
    gap, before = abs(right - left), abs(old.right(i) - old.left(i))
    if grows(max(abs(old.left(i)), abs(old.right(i))), max(abs(left), abs(right))):
        step = max(abs(new.above[i] - new.at[i]), abs(new.at[i] - new.below[i]))
        last = max(abs(old.above[i] - old.at[i]), abs(old.at[i] - old.below[i]))
        return Side("jump" if step > last / 2 else "infinite-slope", left, right)
    if gap <= SAME.sqrt() * max(abs(left), abs(right)) or gap <= before / 1000:
        return Side("", left, right)
    return Side("kink", left, right)


def grows(earlier: Decimal, found: Decimal) -> bool:
    """Return whether a slope is larger for a smaller h: it would be the same to many digits if it had a limit."""
    return abs(found) > abs(earlier) * Decimal("1.3")
