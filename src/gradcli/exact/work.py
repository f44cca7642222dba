"""How many digits are right, few or lost: every bound by which an answer judges a number.

What arithmetic in many digits may cost: counted work, which is the same on every machine.
A unit is an operation on two numbers of up to 200 digits, about two microseconds. Whoever bounds a task calls
``paid_from``. A graph charges for each op once it is computed, and functions that take long charge for themselves.
>>> with paid_from(Work(10)):
...     charge(8)
...     charge(8)
Traceback (most recent call last):
...
gradcli.exact.work.Spent
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal

from gradcli.records import dataclass, field

EPS = 2.0**-52
"""The relative distance of two doubles."""
ROUNDING = 64 * EPS
"""Times the sizes of the terms that were added up: what rounding alone may cause."""
VISIBLE = 1e-9
"""Relative error, within what rounding explains, from which an answer says that digits are lost."""
WRONG = 1e-6
"""Relative error of a derivative from which it is wrong."""
ALL = 16.0
"""Right digits of a double that is the nearest to the true number."""
RIGHT = 15.0
"""Right digits from which a formula of the user's is right."""
SURE = 12.0
"""Right digits of both routes with which they agree, however much more rounding than was reckoned lies between them."""
TOLD = 9.0
"""Right digits below which an answer says how many there are."""
FEWEST = 6.0
"""Right digits below which a printed number is wrong."""
SAME = Decimal(10) ** -20
"""Relative difference of two settings of digits that agree; also how small, beside its terms, a number is that is 0."""
NOTHING = Decimal("1e-18")
"""Relative distance that is the same number: the truth is known to so many digits."""
MEASURED = Decimal("1e-12")
"""Relative distance of a number that was computed elsewhere in double precision."""
CLOSE = Decimal(10) ** -6
"""``WRONG`` among decimals."""


# ---- what arithmetic in many digits may cost

DIGITS = 200
"""Digits up to which an operation costs one unit; beyond, as many times more as there are."""
CALL = 10
"""Units that one call of an op costs, beside those of its numbers."""


class Spent(Exception):
    """The work is used up."""


@dataclass(slots=True)
class Work:
    """What a task may still cost: ``left`` units of the ``most`` that it began with."""

    most: int
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.most

    def pay(self, units: int) -> None:
        """Take units; raises ``Spent`` where so many are not left."""
        self.left -= units
        if self.left < 0:
            raise Spent

    @property
    def done(self) -> int:
        """The units that were taken."""
        return self.most - self.left


_payer: ContextVar[Work | None] = ContextVar("payer", default=None)


@contextmanager
def paid_from(work: Work) -> Iterator[None]:
    """Take what is charged inside from ``work``."""
    token = _payer.set(work)
    try:
        yield
    finally:
        _payer.reset(token)


def charge(units: int) -> None:
    """Take units from the work of this task; raises ``Spent`` where so many are not left."""
    work = _payer.get()
    if work is not None:
        work.pay(units)


def at_digits(operations: int, count: int) -> int:
    """Return the units of operations on numbers of ``count`` digits."""
    return operations * max(count, DIGITS) // DIGITS


def elementary(count: int) -> int:
    """Return the units of an exponential, a logarithm or a sine in ``count`` digits, as measured with mpmath."""
    return 5 + count * count // 4000


def special(count: int) -> int:
    """Return the units of a function such as Γ or erf in ``count`` digits, as measured with mpmath."""
    return 30 + count * count // 100
