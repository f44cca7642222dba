"""The numbers of the exact route: reals of as many digits as are asked for, in arrays of numpy.

A ``Real`` is a decimal of the context's precision, with nan, both infinities and both zeros as in double precision.
numpy's object arrays call its operators and methods entry by entry, so that an op's forward works on them as it
stands. What the C library of decimals lacks (sin, atan, erf …) comes from mpmath.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal, getcontext, localcontext
from typing import Any

import numpy as np

from gradcli.exact.decimals import (
    GUARD,
    LARGEST,
    NAN,
    axis_angle,
    by_rule,
    divided,
    exp,
    half_pi,
    ln,
    mpmath_function,
    power,
    root,
    whole,
)
from gradcli.ops.declare import Array


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
    def matmul(a: Array, b: Array) -> Any:
        """Return the product of two arrays of such numbers."""
        from gradcli.exact.products import multiply  # few programs have matrices

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
