"""Derivatives without a rule: the program itself in many digits at x ± h, and half the difference over h.

The digits grow, and h shrinks with them, until two settings give the same. What a run at x decides (its branches, the
side of each kink, the positions of maxima) is compared with what the runs at x ± h decide: where these differ, the
derivative is taken on the pieces of x, which is the choice of a convention, and the slopes on both sides say whether
there is a kink or a jump. A program that rounding led another way than exact numbers would go is led as it went.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from gradcli.errors import GivenUp, GradcliError
from gradcli.exact.decimals import NAN, digits
from gradcli.exact.limits import (
    SETTINGS,
    Setting,
    Side,
    enough,
    flat,
    last_value,
    settings_for,
    settled,
    side,
    value_of,
)
from gradcli.exact.real import Real, array, lifted
from gradcli.exact.run import Decision, decisions_in_doubles, first_difference, run
from gradcli.exact.work import Spent, Work, paid_from
from gradcli.language.program import Program
from gradcli.ops.declare import Array
from gradcli.ops.signatures import Indices
from gradcli.records import dataclass

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


def agree(earlier: Sequence[Decimal], found: Sequence[Decimal], count: int) -> bool:
    """Return whether two runs have the same values to 20 digits."""
    with digits(count):
        return all(settled(a, b) for a, b in zip(earlier, found, strict=True))


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
        found = {}
        for name, (places, steps) in self.numbers.items():
            found[name] = moved = inputs[name].copy(order="K")
            entries: list[Any] = moved.flat[places].tolist()
            moved.flat[places] = array([Real(x.d + s * h) for x, s in zip(entries, steps, strict=True)], places.shape)
        return found


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
        self._values: list[Decimal] | None = None
        self._cost: int | None = None
        self._before = 0
        self._settings: tuple[tuple[int, int], ...] = ()
        self._kept: dict[tuple[object, ...], dict[tuple[int, int], Setting]] = {}

    @property
    def settings(self) -> tuple[tuple[int, int], ...]:
        """Digits of the runs, and those of 1/h: more where inputs and y are large beside small ones, or beside 1."""
        if not self._settings:
            numbers = [x.d for each in self.inputs.values() for x in each.flat]
            # A small y may be what rounding leaves.
            large = [y for y in self.base(SETTINGS[0][0])[0] if y.is_finite() and abs(y) > 1]
            orders = [0, *(x.adjusted() for x in [*numbers, *large] if x and x.is_finite())]
            self._settings = settings_for(max(orders) - min(orders))
        return self._settings

    @property
    def rows(self) -> int:
        """How many entries y has."""
        return len(self.base(SETTINGS[0][0])[0])

    @property
    def cost(self) -> int:
        """The units of work that one run in the fewest digits takes. Raises ``Spent``."""
        if self._cost is None:
            before = self.work.done
            self.base(SETTINGS[0][0])
            self._cost = self.work.done - before
        return self._cost

    def renew(self) -> None:
        """Begin with all work again, for a smaller task."""
        self._before += self.work.done
        self.work = Work(self.work.most)

    @property
    def done(self) -> int:
        """All units of work that were taken."""
        return self._before + self.work.done

    def values(self) -> list[Decimal]:
        """Return y in flat order, in so many digits that two settings agree; the last ones where they never do.

        What shrinks as digits grow is 0: the rounding of a sum whose terms cancel.
        """
        if self._values is None:
            counts = list(dict.fromkeys(count for count, _ in self.settings))
            most, found = counts[-1], self.base(counts[0])[0]
            for count in counts[1:]:
                earlier, found = found, self.base(count)[0]
                # A sum that cancels may leave something in more digits: 1 - tanh(300) is 0 in 100 of them.
                if count == most or (count not in self._cancelling and agree(earlier, found, count)):
                    break
            with digits(most):
                self._values = [value_of(a, b, most) for a, b in zip(earlier, found, strict=True)]
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
        found = Setting(count, h, count in self._cancelling, turns or also, at, above, below, (high, low))
        if steps.key:
            if steps.key not in self._kept and len(self._kept) == MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept.setdefault(steps.key, kept)[count, fineness] = found
        return found

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
        held = self._attempt(count, inputs, decisions, follow=True)[0] if differs or taken is None else free
        return free, held, differs

    def _moved(self, moved: Mapping[str, object]) -> dict[str, object]:
        return {**self.inputs, **{name: np.asarray(value, dtype=object) for name, value in moved.items()}}

    def _attempt(
        self, count: int, inputs: Mapping[str, object], base: Sequence[Decision], *, follow: bool, led: bool = False
    ) -> tuple[list[Decimal], list[Decision] | None]:
        """Return y at a point beside x, nan where the program has no value there."""
        size = len(self.base(count)[0])
        try:
            found, decisions = self._run(count, inputs, base, follow, led)
        except GivenUp:
            raise
        except GradcliError:
            return [NAN] * size, None
        return (found, decisions) if len(found) == size else ([NAN] * size, None)

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
                found = run(self.program, inputs, self.wrt, base, follow, led, self.doubles)
        except GivenUp:
            raise
        except GradcliError as error:
            if error.kind == "budget":
                raise Spent from None
            raise
        if found.cancels:
            self._cancelling.add(count)
        return found.numbers, found.decisions
