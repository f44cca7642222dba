"""Derivatives without a rule: the program itself in many digits at x ± h, and half the difference over h.

The digits grow, and h shrinks with them, until two settings give the same: a derivative, 0, a kink, a jump, or no limit
at all. What a run at x decides (its branches, the side of each kink, the positions of maxima) is compared with what the
runs at x ± h decide: where these differ, the derivative is taken on the pieces of x, which is the choice of a
convention, and the slopes on both sides say whether there is a kink or a jump. A program that rounding led another way
than exact numbers would go is led as it went. Second derivatives are found so from four points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradcli.errors import GivenUp, GradcliError
from gradcli.exact.real import GUARD, NAN, Real, array, digits, lifted
from gradcli.exact.run import Decision, decisions_in_doubles, first_difference, run
from gradcli.exact.work import CLOSE, EPS, ROUNDING, SAME, Spent, Work, paid_from
from gradcli.language.program import Program
from gradcli.ops.declare import Array
from gradcli.ops.links import Indices
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


def value_of(earlier: Decimal, latest: Decimal, count: int) -> Decimal:
    """Return the value that two settings come to: the last one, of ``count`` digits, and 0 where it is rounding.

    That shrinks as digits grow, and is below three quarters of them.
    """
    rounding = abs(latest) <= SAME * abs(earlier) or abs(latest) <= Decimal(10) ** (-3 * count // 4)
    return Decimal(0) if latest and not settled(earlier, latest) and rounding else latest


def finite(size: float) -> Decimal:
    """Return a size as a decimal, 0 where it says nothing."""
    return Decimal(float(size)) if np.isfinite(size) else Decimal(0)


def settled(earlier: Decimal, latest: Decimal) -> bool:
    """Return whether two settings agree: to 20 digits, or in being no number."""
    if not (earlier.is_finite() and latest.is_finite()):
        return str(earlier) == str(latest)
    return abs(latest - earlier) <= SAME * abs(latest)


def enough(
    settings: Sequence[Setting], i: int, size: Decimal, sought: Sequence[Decimal], most: int, rich: bool = True
) -> bool:
    """Return whether one more setting would say nothing new about entry i; ``most`` are the digits of the last one.

    Sums that cancel are looked into as long as what that costs is ``rich``.
    A derivative that is 0 beside its terms, or beside what is printed, may be a small one: all digits are tried.
    """
    if len(settings) == 1:
        return False
    earlier, latest, count = settings[-2].slope(i), settings[-1].slope(i), settings[-1].digits
    if not settings[-1].at[i].is_finite():
        return True
    if not latest.is_finite():
        return False
    if settings[-1].cancels and rich and count < most:
        return False
    if not (calm(settings, i, Setting.left) and calm(settings, i, Setting.right)):
        return False
    if count < most and most > SETTINGS[-1][0] and side_of(settings[-2], settings[-1], i, size).kind:
        return False  # h may still be longer than the pieces: x % 0.3 at 1e300
    if not latest and not size and not any(sought):
        return True
    if abs(latest) <= SAME * size or not latest:
        return count == most and vanishes(settings, i, size)
    if settled(earlier, latest):
        return count >= SURE or all(s.is_finite() and abs(s - latest) <= CLOSE * abs(latest) for s in sought)
    return vanishes(settings, i, size)


def calm(settings: Sequence[Setting], i: int, slope: Callable[[Setting, int], Decimal]) -> bool:
    """Return whether the slope of entry i on one side has a limit: it stays, or shrinks with h, or has no value."""
    old, new = settings[-2:]
    earlier, latest = slope(old, i), slope(new, i)
    if not (earlier.is_finite() and latest.is_finite()):
        return True
    stays = abs(latest - earlier) <= SAME.sqrt() * max(abs(new.left(i)), abs(new.right(i)))
    return stays or abs(latest) <= abs(earlier) / 10


def last_value(settings: Sequence[Setting], i: int, size: Decimal) -> Decimal:
    """Return the derivative of entry i by the last setting, 0 where it vanishes, nan where no two settings agree."""
    earlier, latest = settings[-2].slope(i), settings[-1].slope(i)
    if not latest.is_finite():
        return NAN
    if settled(earlier, latest):
        return Decimal(0) if is_below_input(settings, i, size) else latest
    return Decimal(0) if vanishes(settings, i, size) else NAN


def is_below_input(settings: Sequence[Setting], i: int, size: Decimal) -> bool:
    """Return whether the derivative of entry i is 0 but for the rounding of x, and no number of doubles could tell.

    1 + cos(x) is 7e-33 at the double next to π and 3e-32 at the one before: beside its terms it is 0, and x moved by
    its last digit changes it by more than all of it. A small number that stays, as 1 - sigmoid(70), is none of these.
    """
    latest = abs(settings[-1].slope(i))
    if not 0 < latest <= Decimal(ROUNDING) ** 2 * size:
        return False
    clearest = next(setting for setting in reversed(settings) if setting.h**3 >= Decimal(10) ** -setting.digits)
    bend = clearest.bend(i)
    return bend.is_finite() and latest <= Decimal(EPS) * abs(bend)


def flat(setting: Setting, i: int, size: Decimal) -> bool:
    """Return whether entry i shows no slope beyond rounding: it is 0, or so small that only the last setting tells."""
    latest = setting.slope(i)
    return latest.is_finite() and abs(latest) <= setting.noise(i, size)


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
    latest = side_of(settings[-2], settings[-1], i, size)
    if not latest.kind or len(settings) < 3:
        return latest
    before = side_of(settings[-3], settings[-2], i, size)
    return latest if before.kind else before


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


def grows(earlier: Decimal, latest: Decimal) -> bool:
    """Return whether a slope is larger for a smaller h: it would be the same to many digits if it had a limit."""
    return abs(latest) > abs(earlier) * Decimal("1.3")


# --- first derivatives: the program at x ± h, and half the difference over h ---

RICH = 0.95
"""The share of the work that is left as long as sums that cancel are looked into."""

Point = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Slope:
    """The derivative of every entry of y, in flat order, along one direction; nan where it was not found.

    ``turns`` tells whether the program decides otherwise beside x, however near.
    """

    values: list[Decimal]
    sides: list[Side]
    turns: bool


MOST_KEPT = 4
"""Directions whose runs are kept: an answer asks of the same one for several reasons."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A direction: for each variable the entries that move, by their places in flat order, and their steps.

    ``key`` is what no other direction has, empty where some entries stay: such a direction is asked for once.
    """

    numbers: dict[str, tuple[Indices, list[Decimal]]]
    key: tuple[object, ...]

    @classmethod
    def of(cls, direction: Point) -> Steps:
        """Return a direction with its steps as decimals."""
        steps = {name: np.asarray(step, dtype=np.float64) for name, step in direction.items()}
        key = tuple((name, step.tobytes()) for name, step in steps.items()) if all(map(np.all, steps.values())) else ()
        moving = {name: np.flatnonzero(step) for name, step in steps.items()}
        return cls(
            {name: (k, list(map(Decimal, np.ravel(steps[name])[k].tolist()))) for name, k in moving.items()}, key
        )

    def moved(self, inputs: Mapping[str, Array], h: Decimal) -> dict[str, Array]:
        """Return the inputs that move, ``h`` times these steps away, laid out in memory as they are."""
        elsewhere = {}
        for name, (places, steps) in self.numbers.items():
            elsewhere[name] = moved = inputs[name].copy(order="K")
            entries: list[Any] = moved.flat[places].tolist()
            moved.flat[places] = array([Real(x.d + s * h) for x, s in zip(entries, steps, strict=True)], places.shape)
        return elsewhere


class Exact:
    """A program at a point, for derivatives along directions.

    Raises ``GradcliError`` of kind ``exact`` where the program cannot be evaluated in many digits.
    """

    def __init__(self, program: Program, point: Point, wrt: Sequence[str]) -> None:
        self.program = program
        self.point = {name: np.asarray(value, dtype=np.float64) for name, value in point.items()}
        self.wrt = frozenset(wrt)
        self.work = Work(program.budget.work)
        with digits(SETTINGS[0][0]):
            self.inputs = {name: lifted(value) for name, value in self.point.items()}
        self.doubles = decisions_in_doubles(program, {k: v[()] for k, v in self.point.items()}, self.wrt)
        self.rounded: tuple[Decision, Decision] | None = None
        self._cancelling: set[int] = set()
        self._base: dict[int, tuple[list[Decimal], list[Decision], bool]] = {}
        self._before = 0
        self._kept: dict[tuple[object, ...], dict[tuple[int, int], Setting]] = {}

    @cached_property
    def settings(self) -> tuple[tuple[int, int], ...]:
        """Digits of the runs, and those of 1/h: more where inputs and y are large beside small ones, or beside 1."""
        numbers = [x.d for each in self.inputs.values() for x in each.flat]
        # A small y may be what rounding leaves.
        large = [y for y in self.base(SETTINGS[0][0])[0] if y.is_finite() and abs(y) > 1]
        orders = [0, *(x.adjusted() for x in [*numbers, *large] if x and x.is_finite())]
        return settings_for(max(orders) - min(orders))

    @property
    def rows(self) -> int:
        """How many entries y has."""
        return len(self.base(SETTINGS[0][0])[0])

    @cached_property
    def cost(self) -> int:
        """The units of work that one run in the fewest digits takes. Raises ``Spent``."""
        before = self.work.done
        self.base(SETTINGS[0][0])
        return self.work.done - before

    def renew(self) -> None:
        """Begin with all work again, for a smaller task."""
        self._before += self.work.done
        self.work = Work(self.work.most)

    @property
    def done(self) -> int:
        """All units of work that were taken."""
        return self._before + self.work.done

    @cached_property
    def _values(self) -> list[Decimal]:
        counts = list(dict.fromkeys(count for count, _ in self.settings))
        most, latest = counts[-1], self.base(counts[0])[0]
        for count in counts[1:]:
            earlier, latest = latest, self.base(count)[0]
            with digits(count):
                same = all(map(settled, earlier, latest))
            # A sum that cancels may leave something in more digits: 1 - tanh(300) is 0 in 100 of them.
            if count == most or (same and count not in self._cancelling):
                break
        with digits(most):
            return [value_of(a, b, most) for a, b in zip(earlier, latest, strict=True)]

    def values(self) -> list[Decimal]:
        """Return y in flat order, in so many digits that two settings agree; the last ones where they never do.

        What shrinks as digits grow is 0: the rounding of a sum whose terms cancel.
        """
        return self._values

    def base(self, count: int) -> tuple[list[Decimal], list[Decision], bool]:
        """Return y at x in so many digits, what was decided, and whether doubles had decided otherwise."""
        if count not in self._base:
            values, decisions = self._run(count, self.inputs)
            led = first_difference(self.doubles, decisions)
            if led is not None:
                self.rounded = led
                values, decisions = self._run(count, self.inputs, self.doubles, follow=True)
            self._base[count] = values, decisions, led is not None
        return self._base[count]

    def along(self, direction: Point, scale: Sequence[Decimal] = (), sought: Sequence[Sequence[Decimal]] = ()) -> Slope:
        """Return the derivative along ``direction``, an array for each variable that moves.

        ``scale`` are the sizes of the terms of each entry, below whose 10⁻²⁰ a derivative is 0; ``sought`` the numbers
        that are to be judged: digits are added where they contradict. Raises ``Spent``.
        """
        settings: list[Setting] = []
        pending: list[int] = []
        steps = Steps.of(direction)
        sizes = list(scale) or [Decimal(0)] * self.rows
        most = self.settings[-1][0]
        for count, fineness in self.settings:
            if len(settings) > 1 and count < most and all(flat(settings[-1], i, sizes[i]) for i in pending):
                continue
            with digits(count):
                settings.append(self._setting(count, fineness, steps))
                numbers = [[column[i] for column in sought] for i in range(len(sizes))]
                rich = self.work.left > self.work.most * RICH
                pending = [i for i, size in enumerate(sizes) if not enough(settings, i, size, numbers[i], most, rich)]
            if not pending:
                break
        with digits(count):
            return Slope(
                [last_value(settings, i, size) for i, size in enumerate(sizes)],
                [side(settings, i, size) for i, size in enumerate(sizes)],
                settings[-1].turns,
            )

    def _setting(self, count: int, fineness: int, steps: Steps) -> Setting:
        kept = self._kept.get(steps.key, {})
        if (count, fineness) in kept:
            return kept[count, fineness]
        at, h = self.base(count)[0], Decimal(10) ** -fineness
        (above, high, turns), (below, low, also) = (
            self.beside(count, steps.moved(self.inputs, step)) for step in (h, -h)
        )
        setting = Setting(count, h, count in self._cancelling, turns or also, at, above, below, (high, low))
        if steps.key:
            if steps.key not in self._kept and len(self._kept) == MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept.setdefault(steps.key, kept)[count, fineness] = setting
        return setting

    def at(self, inputs: Mapping[str, object]) -> list[Decimal]:
        """Return y at another point in the fewest digits, nan where it has no value there. Raises ``Spent``."""
        return self._attempt(SETTINGS[0][0], self._moved(inputs), (), follow=False)[0]

    def beside(self, count: int, moved: Mapping[str, object]) -> tuple[list[Decimal], list[Decimal], bool]:
        """Return y at a point beside x, then on the pieces of x, and whether these are others than its own.

        ``moved`` has the inputs that are elsewhere, as arrays of Reals.
        """
        _, decisions, led = self.base(count)
        inputs = self._moved(moved)
        free, taken = self._attempt(count, inputs, decisions, follow=False, led=led)
        differs = taken is None or first_difference(decisions, taken) is not None
        followed = self._attempt(count, inputs, decisions, follow=True)[0] if differs or taken is None else free
        return free, followed, differs

    def _moved(self, moved: Mapping[str, object]) -> dict[str, object]:
        return {**self.inputs, **{name: np.asarray(value, dtype=object) for name, value in moved.items()}}

    def _attempt(
        self, count: int, inputs: Mapping[str, object], base: Sequence[Decision], *, follow: bool, led: bool = False
    ) -> tuple[list[Decimal], list[Decision] | None]:
        """Return y at a point beside x, nan where the program has no value there."""
        size = len(self.base(count)[0])
        try:
            values, decisions = self._run(count, inputs, base, follow, led)
        except GivenUp:
            raise
        except GradcliError:
            return [NAN] * size, None
        return (values, decisions) if len(values) == size else ([NAN] * size, None)

    def _run(
        self,
        count: int,
        inputs: Mapping[str, object],
        base: Sequence[Decision] = (),
        follow: bool = False,
        led: bool = False,
    ) -> tuple[list[Decimal], list[Decision]]:
        try:
            with digits(count), paid_from(self.work):
                outcome = run(self.program, inputs, self.wrt, base, follow, led, self.doubles)
        except GivenUp:
            raise
        except GradcliError as error:
            if error.kind == "budget":
                raise Spent from None
            raise
        if outcome.cancels:
            self._cancelling.add(count)
        return outcome.numbers, outcome.decisions


# --- second derivatives: the program at four points, x ± h·a ± h·b, and their difference ---

BEND_SETTINGS = ((50, 12), (100, 25), (200, 50), (400, 100), (800, 200))
"""Digits of the runs, and those of 1/h: with a quarter of them, rounding and what h leaves out are of one size."""
DIES = Decimal(10) ** -10
"""A difference that shrinks by this from one setting to the next has no limit but 0."""
CENTRAL = ((1, 1, 1), (-1, 1, -1), (-1, -1, 1), (1, -1, -1))
"""The corners of a difference: its sign, and how often h is gone along the one direction and the other."""
FORWARD = ((1, 1, 1), (-1, 1, 0), (-1, 0, 1), (1, 0, 0))
BACKWARD = tuple((sign, -a, -b) for sign, a, b in FORWARD)
Corners = tuple[tuple[tuple[int, int, int], ...], int]
ALL_CORNERS: tuple[Corners, ...] = ((CENTRAL, 4), (FORWARD, 1), (BACKWARD, 1))
"""Corners, and how often h² lies between them."""
MOST_SIDED = 4
"""Settings from each side: what has not settled by then has no limit."""
ALIKE = Decimal(10) ** -9
"""How near the limits from all sides are where they are one."""
Direction = Mapping[str, Array]


class Curvature(NamedTuple):
    """The second derivative along two directions on the pieces of x, nan where no limit shows.

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

    def on_pieces(count: int, h: Decimal) -> Mixed:
        """Return the central difference on the pieces of x, or one to a side where the other has no value."""
        bends = False
        for side in ALL_CORNERS:
            mixed = at_corners(exact, count, h, seed, one, other, side, on_pieces=True)
            bends = bends or mixed.bends
            if mixed.value.is_finite():
                break
        return mixed._replace(bends=bends)

    def from_side(side: Corners) -> Decimal:
        return converged(lambda count, h: at_corners(exact, count, h, seed, one, other, side), True, MOST_SIDED)[0]

    value, bends = converged(on_pieces, not sought, len(BEND_SETTINGS))
    across = [from_side(side) for side in ALL_CORNERS] if bends else [NAN]
    alike = all(a.is_finite() and abs(a - across[0]) <= ALIKE * max(abs(a), abs(across[0])) for a in across)
    return Curvature(value, bends, across[0] if alike else NAN)


def converged(measure: Callable[[int, Decimal], Mixed], sure: bool, most: int) -> tuple[Decimal, bool]:
    """Return what differences come to as digits grow, nan where they come to nothing, and whether pieces change."""
    settings: list[Mixed] = []
    value = None
    for count, fineness in BEND_SETTINGS[:most]:
        with digits(count):
            settings.append(measure(count, Decimal(10) ** -fineness))
            value = limit(settings, sure or count == BEND_SETTINGS[-1][0])
        if value is not None or not settings[-1].value.is_finite():
            break
    return NAN if value is None else value, any(mixed.bends for mixed in settings)


def limit(settings: Sequence[Mixed], last: bool) -> Decimal | None:
    """Return what differences come to, None as long as they do not tell; ``last``: 0 needs no more proof."""
    if len(settings) == 1:
        return None
    earlier, (value, noise, _) = settings[-2:]
    if not value.is_finite():
        return None
    if value and settled(earlier.value, value):
        return value
    if abs(earlier.value) <= earlier.noise:  # which tells nothing of a derivative that is smaller
        beyond = abs(value) > noise / SAME
        return None if not last else value if beyond else Decimal(0) if abs(value) <= noise else None
    return Decimal(0) if last and abs(value) <= abs(earlier.value) * DIES else None


def at_corners(
    exact: Exact, count: int, h: Decimal, seed: Array, one: Direction, other: Direction, side: Corners,
    on_pieces: bool = False,
) -> Mixed:  # fmt: skip
    """Return the mixed difference at one set of corners, on the pieces of x or over all pieces of y."""
    corners, wide = side
    total, size, bends = Decimal(0), Decimal(0), False
    for sign, *steps in corners:
        moved: dict[str, object] = {}
        for direction, step in zip((one, other), steps, strict=True):
            for name, along in direction.items():
                moved[name] = moved.get(name, exact.inputs[name]) + lifted(along) * Real(step * h)
        free, kept, changed = exact.beside(count, moved)
        weights = zip(np.ravel(seed).tolist(), kept if on_pieces else free, strict=True)
        terms = [Decimal(v) * y for v, y in weights if v]
        total += sign * sum(terms, Decimal(0))
        size = max([size, *(abs(term) for term in terms if term.is_finite())])
        bends = bends or changed
    area = wide * h * h
    return Mixed(total / area, size * Decimal(10) ** (GUARD + 5 - count) / area, bends)
