"""Functions of decimals in the digits of the context, with nan, infinities and zeros as in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, getcontext, localcontext
from typing import Any

from gradcli.errors import GradcliError
from gradcli.exact.work import charge, elementary, special

LARGEST = 20_000
"""Decimal exponents beyond which a number is infinite or 0: sin of a larger one would need that many digits of π."""
GUARD = 10
"""Digits with which functions of mpmath are computed beyond those of the context."""
FURTHEST = 400
"""Decimal exponents up to which special functions are computed, as doubles have them: farther out some have no end."""
MOST_BY_RULE = 4_000
"""Digits up to which special functions are computed: some take many seconds in 9,000."""
BITS = math.log2(10)
NAN = Decimal("NaN")


@contextmanager
def digits(count: int) -> Iterator[None]:
    """Compute with ``count`` digits inside; no condition raises, as in double precision."""
    with localcontext(Context(prec=count, Emax=LARGEST, Emin=-LARGEST, traps=[])):
        yield


def power(base: Decimal, exponent: Decimal) -> Decimal:
    """Return a power as in double precision: 1 for exponent 0, nan for a negative base and a broken exponent."""
    if not exponent or base == 1:
        return Decimal(1)
    if exponent.is_infinite() and not base.is_nan():
        grows = (abs(base) > 1) == (exponent > 0)
        return Decimal(1) if abs(base) == 1 else Decimal("Infinity") if grows else Decimal(0)
    if exponent.is_nan() or (base and not base.is_infinite()):
        integral = exponent == exponent.to_integral_value()
        return base**exponent if integral or base < 0 else raised(base, exponent)
    odd = exponent == exponent.to_integral_value() and exponent % 2 != 0
    size = Decimal("Infinity") if bool(base) == (exponent > 0) else Decimal(0)
    return size.copy_sign(base) if odd else size


def raised(base: Decimal, exponent: Decimal) -> Decimal:
    """Return a positive number to a power, by its logarithm with as many digits more as the exponent has."""
    with localcontext() as context:
        context.prec += GUARD + min(max(0, exponent.adjusted()), LARGEST // 50)
        found = exp(exponent * ln(base))
    return +found


def divided(a: Decimal, b: Decimal) -> tuple[Decimal, Decimal]:
    """Return the whole quotient and the rest, which has the sign of b, as in double precision."""
    if not a.is_finite() or not b or b.is_nan():
        return (a / b if b and not b.is_infinite() and not a.is_infinite() else NAN), NAN
    if b.is_infinite():
        same = not a or (a < 0) == (b < 0)
        return (Decimal(0), a) if same else (Decimal(-1), b)
    with localcontext() as context:
        context.prec += GUARD + max(0, a.adjusted() - b.adjusted())
        charge(elementary(context.prec))
        quotient = whole(a / b, "ROUND_FLOOR")
        rest = a - quotient * b
    return +quotient, +rest


def whole(x: Decimal, rounding: str) -> Decimal:
    """Return x rounded to an integer."""
    return x.to_integral_value(rounding) if x.is_finite() else x


def mpmath_function(name: str, x: Decimal) -> Decimal:
    """Return a function of mpmath's at a finite number, with the digits of the context."""
    from mpmath import libmp

    count = getcontext().prec
    reduced = count + max(0, x.adjusted())
    charge(special(reduced) if name.startswith("mpf_erf") else elementary(reduced))
    precision = int((count + GUARD) * BITS)
    top, bottom = x.as_integer_ratio()
    argument = libmp.from_rational(top, bottom, precision + max(0, int(x.adjusted() * BITS)), "n")
    return from_mpf(getattr(libmp, name)(argument, precision, "n"))


def by_rule(rule: Callable[..., Any], *numbers: Decimal) -> Decimal:
    """Return ``rule(mpmath, *numbers)`` with the digits of the context; nan where mpmath has no real number.

    Raises ``budget`` where that would take many seconds.
    """
    if getcontext().prec > MOST_BY_RULE:
        raise GradcliError("budget", f"a function of mpmath in more than {MOST_BY_RULE:,} digits takes many seconds")
    import mpmath

    charge(special(getcontext().prec))
    widest = max((abs(x.adjusted()) for x in numbers if x and x.is_finite()), default=0)
    if widest > FURTHEST:
        raise GradcliError("budget", f"a function of mpmath at a number of {widest:,} digits takes many seconds")
    with mpmath.workprec(int((getcontext().prec + 2 * GUARD + min(widest, getcontext().prec)) * BITS)):
        try:
            found = mpmath.mpmathify(rule(mpmath, *(as_mpf(mpmath, x) for x in numbers)))
        except (ValueError, ZeroDivisionError, OverflowError):
            return NAN
        if isinstance(found, mpmath.mpc):
            return NAN
        if not mpmath.isfinite(found):
            return NAN if mpmath.isnan(found) else Decimal("Infinity").copy_sign(Decimal(int(mpmath.sign(found))))
        return from_mpf(found._mpf_)


def as_mpf(mpmath: Any, x: Decimal) -> Any:
    """Return a decimal as mpmath's number, to its working precision."""
    if x.is_finite():
        top, bottom = x.as_integer_ratio()
        return mpmath.mpf(top) / bottom
    return mpmath.nan if x.is_nan() else mpmath.inf if x > 0 else -mpmath.inf


def root(x: Decimal) -> Decimal:
    """Return the square root, which takes about as long as an exponential."""
    charge(elementary(getcontext().prec))
    return x.sqrt()


def exp(x: Decimal) -> Decimal:
    """Return e to the power x; decimals have it too, 30 times as slow in 800 digits."""
    if x.is_nan() or abs(x) > 3 * LARGEST:
        return x if x.is_nan() else Decimal("Infinity") if x > 0 else Decimal(0)
    return +mpmath_function("mpf_exp", x)


def ln(x: Decimal) -> Decimal:
    """Return the natural logarithm."""
    return x.ln() if not x.is_finite() or x <= 0 else mpmath_function("mpf_log", x)


def from_mpf(number: tuple[int, int, int, int]) -> Decimal:
    """Return a finite number of mpmath's, rounded to the context; 0 or infinite beyond the exponents of decimals.

    Such a number may have more digits than memory, as erfc(1e30) has in front of its first one that is not 0.
    """
    sign, mantissa, exponent, bits = number
    if mantissa and abs(exponent + bits) > (LARGEST + 1) * BITS:
        return Decimal("Infinity" if exponent + bits > 0 else 0).copy_sign(Decimal(-1 if sign else 1))
    size = Decimal(int(mantissa) << exponent) if exponent >= 0 else Decimal(int(mantissa)) / Decimal(1 << -exponent)
    rounded = -size if sign else +size
    if not rounded or len(rounded.as_tuple().digits) == getcontext().prec:
        return rounded
    return rounded.quantize(Decimal(1).scaleb(rounded.adjusted() + 1 - getcontext().prec))  # as what is rounded looks


def half_pi() -> Decimal:
    """Return π/2 with the digits of the context and a few more."""
    from mpmath import libmp

    with localcontext() as context:
        context.prec += GUARD
        return from_mpf(libmp.mpf_pi(int(context.prec * BITS) + GUARD, "n")) / 2


def axis_angle(y: Decimal, x: Decimal) -> Decimal:
    """Return the size of the angle of a point on an axis, at the origin or at infinity."""
    quarter = half_pi()
    if y.is_infinite():
        return quarter if not x.is_infinite() else quarter / 2 if x > 0 else quarter * 3 / 2
    if y and not x.is_infinite():
        return quarter
    return 2 * quarter if x.is_signed() else Decimal(0)
