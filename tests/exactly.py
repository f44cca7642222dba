"""Derivatives of elementwise functions as textbooks have them, in as many of mpmath's digits as a point needs."""

from functools import cache

from mpmath import mp

from records import RECORDS

DIGITS = (50, 120, 700, 1500)
"""Digits carried: as many as it takes until two settings agree to 20 of them."""


def settled(at):
    """Return the real number ``at()`` once two settings of the digits agree to 20; else that of the most digits."""
    last = None
    for digits in DIGITS:
        with mp.workdps(digits):
            now = mp.re(at())
            if last is not None and now != 0 and abs(now - last) <= abs(now) * mp.mpf(10) ** -20:
                break
            last = now
    return now


@cache
def derivative(name, argument, point, **static):
    """Return a partial derivative at a point of doubles."""
    return settled(lambda: mp.mpf(RECORDS[name].derivatives[argument](*map(mp.mpf, point), **static)))


@cache
def value(name, point, **static):
    """Return the value at a point of doubles."""
    known = RECORDS[name]
    definition, number = (known.definition, mp.mpc) if known.value is None else (known.value, mp.mpf)
    return settled(lambda: definition(*map(number, point), **static))
