"""Functions of decimals in the digits of the context, with nan, infinities and zeros as in double precision.

The numbers of the exact route: reals of as many digits as are asked for, in arrays of numpy.
A ``Real`` is a decimal of the context's precision, with nan, both infinities and both zeros as in double precision.
numpy's object arrays call its operators and methods entry by entry, so that an op's forward works on them as it
stands. What the C library of decimals lacks (sin, atan, erf …) comes from mpmath.
Sums of products of many numbers with many digits, by the products of matrices that doubles are fast at.
A number is cut into limbs of six decimal digits. The product of two limbs is below 10¹², so that double precision adds
up thousands of them without rounding, and what is rounded is the result alone.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, getcontext, localcontext
from itertools import repeat
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.exact.work import DIGITS, charge, elementary, special
from gradcli.ops.declare import Array
from gradcli.ops.linear_algebra import count_terms, pays_in_limbs

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


def by_matrix_rule(rule: Callable[..., Any], a: Array) -> list[Array]:
    """Return ``rule(mpmath, A)``, a tuple of matrices of mpmath's, as arrays of Reals."""
    import mpmath

    with mpmath.workprec(int((getcontext().prec + 2 * GUARD) * BITS)):
        matrices = rule(mpmath, mpmath.matrix([[as_mpf(mpmath, x) for x in row] for row in a.tolist()]))
        return [array([Real(from_mpf(x._mpf_)) for x in m], (m.rows, m.cols)) for m in matrices]


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


# ---- The numbers of the exact route: reals of as many digits as are asked for, in arrays of numpy


def decimal(value: Any) -> Decimal:
    """Return a number as the decimal that it is, without rounding."""
    kind = type(value)
    if kind is Real:
        return value.d
    if kind is Decimal:
        return value
    return Decimal(float(value)) if isinstance(value, float | np.floating) else Decimal(int(value))


def operation(rule: Callable[[Decimal, Decimal], Decimal]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the methods of an operator: this number on the left, and on the right."""

    def left(self: Real, other: object) -> Any:
        if type(other) is Real:
            return Real(rule(self.d, other.d))
        return NotImplemented if isinstance(other, np.ndarray) else Real(rule(self.d, decimal(other)))

    def right(self: Real, other: object) -> Any:
        return Real(rule(decimal(other), self.d))

    return left, right


def comparison(rule: Callable[[Decimal, Decimal], bool]) -> Callable[[Any, Any], Any]:
    """Return the method of a comparison: numbers that differ by their rounding alone are equal, but for 0."""

    def compare(self: Real, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        a, b = self.d, decimal(other)
        if a and b and a.is_finite() and b.is_finite() and a.adjusted() - b.adjusted() in (-1, 0, 1):
            near = (a - b).adjusted() < a.adjusted() - getcontext().prec + GUARD
            return rule(a, a) if near else rule(a, b)
        return rule(a, b)

    return compare


def method(rule: Callable[[Decimal], Decimal]) -> Callable[[Real], Real]:
    """Return the method of a function that the context computes in its digits."""
    return lambda self: Real(rule(self.d))


def guarded(rule: Callable[[Decimal], Decimal]) -> Callable[[Real], Real]:
    """Return the method of a rule of several steps, whose roundings stay beyond the digits of the context."""

    def apply(self: Real) -> Real:
        with localcontext() as context:
            context.prec += GUARD
            found = rule(self.d)
        return Real(+found)

    return apply


def widened(rule: Callable[[Decimal], Decimal]) -> Callable[[Real], Real]:
    """Return the method of a rule near x that cancels for small x: it gets as many digits more as these are small."""

    def apply(self: Real) -> Real:
        small = -self.d.adjusted() if self.d else LARGEST
        if self.d.is_nan() or small > getcontext().prec + GUARD:
            return self  # each of these functions is x·(1 + c·x + …)
        with localcontext() as context:
            context.prec += GUARD + 2 * max(small, 0)
            wide = rule(self.d)
        return Real(+wide)

    return apply


def by_mpmath(name: str, at_zero: int = 0, at_infinity: Decimal = NAN) -> Callable[[Real], Real]:
    """Return the method of a function of mpmath's that is odd, or even where it is not 0 at 0."""

    def apply(self: Real) -> Real:
        if not self.d.is_finite():
            return Real(self.d if self.d.is_nan() else at_infinity.copy_sign(self.d))
        if not self.d:
            return Real(Decimal(at_zero)) if at_zero else self
        return Real(mpmath_function(name, self.d))

    return apply


FLAT = Decimal(10) ** 8
"""Where erfc has been below any number that is shown for long, and mpmath fails far beyond."""


class Real:
    """One real number.

    >>> with digits(30):
    ...     print(Real(Decimal(2)).sqrt().d)
    1.41421356237309504880168872421
    """

    __slots__ = ("d",)
    ndim, shape, size = 0, (), 1  # as a double of numpy's has them
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, d: Decimal) -> None:
        self.d = d

    # fmt: off
    __add__, __radd__ = operation(operator.add)
    __sub__, __rsub__ = operation(operator.sub)
    __mul__, __rmul__ = operation(operator.mul)
    __truediv__, __rtruediv__ = operation(operator.truediv)
    __pow__, __rpow__ = operation(power)
    __floordiv__, __rfloordiv__ = operation(lambda a, b: divided(a, b)[0])
    __mod__, __rmod__ = operation(lambda a, b: divided(a, b)[1])

    __lt__, __le__ = comparison(operator.lt), comparison(operator.le)
    __gt__, __ge__ = comparison(operator.gt), comparison(operator.ge)
    __eq__, __ne__ = comparison(operator.eq), comparison(operator.ne)

    def __bool__(self) -> bool:           return bool(self.d)
    def __float__(self) -> float:         return float(self.d)
    def __repr__(self) -> str:            return f"Real({self.d})"
    def __pos__(self) -> Real:            return self

    __neg__   = method(lambda x: -x if x else x.copy_negate())
    __abs__   = method(abs)
    __floor__ = method(lambda x: whole(x, "ROUND_FLOOR"))
    __ceil__  = method(lambda x: whole(x, "ROUND_CEILING"))
    __trunc__ = method(lambda x: whole(x, "ROUND_DOWN"))
    rint      = method(lambda x: whole(x, "ROUND_HALF_EVEN"))
    sqrt      = method(root)
    exp       = method(exp)
    log       = method(ln)
    log10     = guarded(lambda x: ln(x) / ln(Decimal(10)))
    log2      = guarded(lambda x: ln(x) / ln(Decimal(2)))
    exp2      = guarded(lambda x: power(Decimal(2), x))
    cosh      = guarded(lambda x: (exp(x) + exp(-x)) / 2)
    arccosh   = guarded(lambda x: ln(x + ((x - 1) * (x + 1)).sqrt()) if x >= 1 else NAN)
    sinh      = widened(lambda x: (exp(x) - exp(-x)) / 2)
    tanh      = widened(lambda x: 1 - 2 / (exp(2 * x) + 1))
    expm1     = widened(lambda x: exp(x) - 1)
    log1p     = widened(lambda x: ln(x + 1))
    arcsinh   = widened(lambda x: ln((x * x + 1).sqrt() + abs(x)).copy_sign(x))
    arctanh   = widened(lambda x: ln((1 + x) / (1 - x)) / 2)
    cbrt      = guarded(lambda x: exp(ln(abs(x)) / 3).copy_sign(x) if x and x.is_finite() else x)
    sin       = by_mpmath("mpf_sin")
    cos       = by_mpmath("mpf_cos", at_zero=1)
    tan       = by_mpmath("mpf_tan")
    erf       = by_mpmath("mpf_erf", at_infinity=Decimal(1))
    # fmt: on

    def in_mpmath(self, rule: Callable[..., Any], *others: Real) -> Real:
        """Return ``rule(mpmath, x, …)`` of this number and others, with the digits of the context."""
        return Real(by_rule(rule, self.d, *(other.d for other in others)))

    @staticmethod
    def matrices_in_mpmath(rule: Callable[..., Any], a: Array) -> list[Array]:
        """Return ``rule(mpmath, A)`` of a matrix of such numbers, a tuple of matrices, as arrays of them."""
        return by_matrix_rule(rule, decimals(a))

    @staticmethod
    def matmul(a: Array, b: Array) -> Any:
        """Return the product of two arrays of such numbers."""

        return _reals(multiply(decimals(a), decimals(b)))

    def arctan(self) -> Real:
        """Return the angle whose tangent this is."""
        return Real(by_mpmath("mpf_atan", at_infinity=half_pi())(self).d)

    def arcsin(self) -> Real:
        """Return asin x = atan(x/√(1 - x²)), nan outside of [-1, 1]."""
        return Real(self.d / ((1 - self.d) * (1 + self.d)).sqrt()).arctan()

    def arccos(self) -> Real:
        """Return acos x = 2·atan(√((1 - x)/(1 + x)))."""
        return Real(2 * Real(((1 - self.d) / (1 + self.d)).sqrt()).arctan().d)

    def arctan2(self, other: object) -> Real:
        """Return the angle of the point (other, self), both zeros told apart as in IEEE 754."""
        y, x = self.d, decimal(other)
        if y.is_nan() or x.is_nan():
            return Real(NAN)
        if not x or not y or y.is_infinite() or x.is_infinite():
            return Real(axis_angle(y, x).copy_sign(y))
        turn = 2 * half_pi() if x < 0 else Decimal(0)
        return Real(Real(y / x).arctan().d + turn.copy_sign(y))

    def erfc(self) -> Real:
        """Return 1 - erf x with all digits where it is small; below 0 as the rest to 2, which mpmath takes long for."""
        if self.d.is_nan():
            return self
        if self.d < 0:
            return Real(2 - Real(-self.d).erfc().d)
        if not self.d or self.d > FLAT:
            return Real(Decimal(0 if self.d else 1))
        return Real(mpmath_function("mpf_erfc", self.d))

    def sinc(self) -> Real:
        """Return sin(πx)/(πx), 1 at 0."""
        if not self.d.is_finite():
            return Real(NAN)
        if self.d == self.d.to_integral_value():
            return Real(Decimal(0 if self.d else 1))
        t = Real(2 * half_pi() * self.d)
        return Real(t.sin().d / t.d)


def real(value: object) -> Any:
    """Return one entry as a Real; truth values stay what they are."""
    return value if type(value) is Real or isinstance(value, bool | np.bool_) else Real(decimal(value))


_reals = np.frompyfunc(real, 1, 1)


def lifted(value: object) -> Any:
    """Return numbers as an array of Reals; masks, integers and what is no array stay as they are.

    A matrix that is laid out by columns stays so: a reshape of one is a copy, and shares no memory.
    """
    if isinstance(value, np.ndarray) and value.flags.f_contiguous and not value.flags.c_contiguous:
        return lifted(value.T).T
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind == "f":
            return array([Real(Decimal(entry)) for entry in value.ravel().tolist()], value.shape)
        return np.asarray(_reals(value), dtype=object) if value.dtype.kind == "O" else value
    return array([real(value)], ()) if isinstance(value, float | Real) else value


def array(entries: list[Any], shape: tuple[int, ...]) -> Array:
    """Return entries as an array of objects."""
    found = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found.reshape(shape)


def decimals(numbers: Array) -> Array:
    """Return an array of Reals as one of the decimals that they are."""
    entries: list[Any] = numbers.ravel().tolist()
    return array([x.d if type(x) is Real else decimal(x) for x in entries], numbers.shape)


def as_doubles(values: object) -> Array:
    """Return Reals rounded to double precision."""
    return np.asarray(values, dtype=np.float64)


# ---- Sums of products of many numbers with many digits, by the products of matrices that doubles are fast

LIMB = 6
BASE = 10**LIMB
"""What a limb is smaller than."""
LONGEST = 4_000
"""Terms of a sum that doubles add up without rounding."""
LIMB_GUARD = 10
"""Digits of each number beyond those of the context."""
BLOCK, WIDTH = 2**18, 64
"""Products of two entries that are added up in one call, and the terms of each sum that they belong to."""
WIDEST = 40
"""Orders of magnitude between the entries of a matrix up to which its limbs are not mostly zeros."""


def multiply(left: Array, right: Array) -> Array:
    """Return ``left @ right`` of two arrays of decimals, as an array of decimals or one of them.

    It is done entry by entry where numbers are few, not finite, far apart, or have many digits.

    >>> multiply(np.array([[Decimal(1), Decimal("0.5")]]), np.array([Decimal(2), Decimal(3)]))
    array([Decimal('3.5')], dtype=object)
    """
    if pays_in_limbs(left, right, count_terms(left, right)) and left.shape[-1] <= LONGEST:
        first, second = (cut(left), cut(right)) if getcontext().prec <= DIGITS else (None, None)
        if first is not None and second is not None:
            return multiply_limbs(*first, *second)
    return np.matmul(left, right)


def multiply_limbs(above: list[Array], shift: int, below: list[Array], other: int) -> Array:
    """Return the product of two matrices of decimals by their limbs, rounded to the context.

    ``shift`` and ``other`` say how many digits of theirs stand behind the point. The lowest limbs of the product, which
    are beyond the digits that its terms have, are left out.
    """
    lowest = max((shift + other - getcontext().prec - LIMB_GUARD) // LIMB - 1, 0)
    columns: dict[int, Array] = {}
    for i, a in enumerate(above):
        for j, b in enumerate(below):
            if i + j >= lowest:
                columns[i + j] = columns.get(i + j, 0) + in_blocks(a, b)
    shape, totals = columns[lowest].shape, [0] * columns[lowest].size
    for place in range(len(above) + len(below) - 2, lowest - 1, -1):
        totals = [total * BASE + limb for total, limb in zip(totals, columns[place].ravel().tolist(), strict=True)]
    unit = Decimal((0, (1,), lowest * LIMB - shift - other))
    found = np.empty(len(totals), dtype=object)
    found[:] = [total * unit for total in map(Decimal, totals)]
    return found.reshape(shape)


def in_blocks(a: Array, b: Array) -> Array:
    """Return the product of two matrices of small integers, which are doubles.

    It is put together of parts that are small enough for one thread: two that share a busy core wait for each other.
    """
    columns = b.shape[-1] if b.ndim > 1 else 1
    high = max(BLOCK // (WIDTH * columns), 1) if a.ndim > 1 else 1
    starts = range(0, a.shape[-2], high) if a.ndim > 1 else [0]
    parts = [added_up(a[..., k : k + high, :] if a.ndim > 1 else a, b) for k in starts]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-2 if b.ndim > 1 else -1)


def added_up(a: Array, b: Array) -> Array:
    """Return the product of a few rows and a matrix, some terms of each sum at a time."""
    total: Any = 0.0
    for start in range(0, a.shape[-1], WIDTH):
        terms = slice(start, start + WIDTH)
        total = total + np.matmul(a[..., terms], b[..., terms, :] if b.ndim > 1 else b[terms])
    return np.asarray(total).astype(np.int64)


def cut(numbers: Array) -> tuple[list[Array], int] | None:
    """Return the limbs of decimals, the lowest first, and how many digits stand behind their point.

    Each entry that is not 0 has all digits of the context and some more.
    """
    entries: list[Any] = numbers.ravel().tolist()
    if not all(map(Decimal.is_finite, entries)):
        return None
    orders = [entry.adjusted() for entry in entries if entry]
    highest, lowest = max(orders, default=0), min(orders, default=0)
    if highest - lowest > WIDEST:
        return None
    behind = max(getcontext().prec + LIMB_GUARD - lowest, 0)
    before = max(highest + 1, 1)
    before += -(before + behind) % LIMB
    texts = map(Decimal.__format__, entries, repeat(f"+0{before + behind + 1 + (behind > 0)}.{behind}f"))
    letters = np.frombuffer("".join(texts).encode(), dtype=np.uint8).reshape(len(entries), -1)
    figures = letters[:, 1:] if not behind else np.delete(letters, [0, before + 1], axis=1)
    groups = (figures - ord("0")).reshape(len(entries), -1, LIMB)
    limbs = np.zeros(groups.shape[:2])
    for k in range(LIMB):
        limbs = 10 * limbs + groups[:, :, k]
    limbs *= np.where(letters[:, :1] == ord("-"), -1.0, 1.0)
    return [np.ascontiguousarray(limb).reshape(numbers.shape) for limb in limbs.T[::-1]], behind
