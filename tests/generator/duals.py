"""Forward-mode dual numbers with 40 digits, which also bound what rounding may do to a run in double precision.

A dual holds a value, its slope by each entry of the inputs, and three numbers in units of 2⁻⁵² and to first order:

- ``noise`` bounds the error of the value in a run that rounds: each operation adds its own rounding (``cost``) to what
  the errors of its arguments become, ``Σ |∂f/∂aₖ|·noise(aₖ)``;
- ``size`` of a slope is the sum over all paths of the products of the absolute local derivatives;
- ``drift`` of a slope is what the noise does to the points at which the local derivatives are taken. A derivative d of
  an operation is off by ``Σ |∂d/∂aₗ|·noise(aₗ)``, and each path through it by that share.

Rounding in the derivatives themselves is not in ``drift``: the project's own tolerance allows for it.
Where a program is not well-posed, next to a kink, a tie, a pole or too far out, ``IllPosed`` is raised. So a point that
passes is far enough from all of them for the bounds to hold.
"""

from __future__ import annotations

import contextlib
import math
import operator

from mpmath import fp, mp

LEAST, MARGIN, STEEPEST, LARGEST = 0.1, 0.02, 4.0, 1e3
"""Logarithms, roots and denominators stay above; kinks, ties and jumps stay away; exponents and values stay below."""
LIBRARY = 4.0
"""Units of the last place by which a function of numpy or of C may be off."""
UNIT = 2.0**-52
STEP = 2.0**-60
"""The step of the differences that give second derivatives: half of the 133 bits are left, and one digit is enough."""


class IllPosed(Exception):
    """The program has no derivative here, or is too close to where it has none."""


def require(holds):
    """Raise ``IllPosed`` unless a point is far enough from where a rule ends."""
    if not holds:
        raise IllPosed


class Dual:
    """One number of the oracle; ``slopes`` maps a column of J to the slope, its size and its drift."""

    __slots__ = ("noise", "slopes", "value")
    field = fp

    def __init__(self, value, noise=0.0, slopes=None):
        require(abs(value) <= LARGEST)
        self.value, self.noise, self.slopes = value, noise, slopes or {}

    def __add__(self, other):
        b = dual(other)
        return combined(self.value + b.value, abs(self.value) + abs(b.value), [(self, 1, 0.0), (b, 1, 0.0)])

    def __sub__(self, other):
        b = dual(other)
        return combined(self.value - b.value, abs(self.value) + abs(b.value), [(self, 1, 0.0), (b, -1, 0.0)])

    def __mul__(self, other):
        b = dual(other)
        product = self.value * b.value
        return combined(product, abs(product), [(self, b.value, b.noise), (b, self.value, self.noise)])

    def __truediv__(self, other):
        return self * reciprocal(dual(other))

    def __pow__(self, other):
        return power(self, dual(other))

    def __mod__(self, other):
        b = dual(other)
        return self - b * floor(self / b)

    def __floordiv__(self, other):
        return floor(self / dual(other))

    def __radd__(self, other):
        return dual(other) + self

    def __rsub__(self, other):
        return dual(other) - self

    def __rmul__(self, other):
        return dual(other) * self

    def __rtruediv__(self, other):
        return dual(other) / self

    def __rpow__(self, other):
        return dual(other) ** self

    def __rmod__(self, other):
        return dual(other) % self

    def __rfloordiv__(self, other):
        return dual(other) // self

    def __neg__(self):
        return combined(-self.value, 0.0, [(self, -1, 0.0)])

    def __lt__(self, other):
        return self._compared(other, operator.lt)

    def __le__(self, other):
        return self._compared(other, operator.le)

    def __gt__(self, other):
        return self._compared(other, operator.gt)

    def __ge__(self, other):
        return self._compared(other, operator.ge)

    def __eq__(self, other):
        return self._compared(other, operator.eq)

    def __ne__(self, other):
        return self._compared(other, operator.ne)

    __hash__ = None

    def _compared(self, other, compare):
        b = dual(other).value
        require(abs(self.value - b) >= MARGIN)
        return compare(self.value, b)


def dual(x):
    """Return a number of a program as a dual: exactly the double that it is."""
    return x if isinstance(x, Dual) else Dual(Dual.field.mpf(float(x)))


def combined(value, cost, terms):
    """Return a result from its value, its rounding in last places, and (argument, derivative, its error) of each.

    A derivative counts with its error on top: where both factors of a product are nothing but noise, that is all.
    """
    noise, slopes = float(cost), {}
    for argument, derivative, error in terms:
        weight = abs(float(derivative)) + UNIT * error
        noise += weight * argument.noise
        for column, (slope, size, drift) in argument.slopes.items():
            before = slopes.get(column, (0, 0.0, 0.0))
            slopes[column] = (
                before[0] + derivative * slope,
                before[1] + weight * size,
                before[2] + weight * drift + size * error,
            )
    return Dual(value, noise, slopes)


def bent(partial, values, noises):
    """Return the error of a derivative that is taken at values with noise, by differences."""
    here, total = partial(*values), 0.0
    for k, noise in enumerate(noises):
        if noise:
            moved = [x + STEP if j == k else x for j, x in enumerate(values)]
            total += abs(float((partial(*moved) - here) / STEP)) * noise
    return here, total


def elementary(value, *partials, domain=lambda *x: True):
    """Return a function of duals from its value and derivatives, written in the functions of the field ``m``."""

    def apply(*arguments):
        duals = [dual(x) for x in arguments]
        values, noises, m = [x.value for x in duals], [x.noise for x in duals], Dual.field
        require(domain(*values))
        result = value(m, *values)
        terms = []
        for argument, partial in zip(duals, partials, strict=True):
            if argument.slopes or argument.noise:
                terms.append((argument, *bent(lambda *x, d=partial: d(m, *x), values, noises)))
        return combined(result, LIBRARY * abs(result), terms)

    return apply


def within(low, high):
    """Return the test for a number between two others."""
    return lambda x: low <= x <= high


ABOVE, NEAR, INSIDE = within(LEAST, math.inf), within(-STEEPEST, STEEPEST), within(-0.95, 0.95)

ELEMENTARY = {
    "sin": elementary(lambda m, x: m.sin(x), lambda m, x: m.cos(x)),
    "cos": elementary(lambda m, x: m.cos(x), lambda m, x: -m.sin(x)),
    "tan": elementary(lambda m, x: m.tan(x), lambda m, x: 1 / m.cos(x) ** 2, domain=within(-1.4, 1.4)),
    "asin": elementary(lambda m, x: m.asin(x), lambda m, x: 1 / m.sqrt(1 - x * x), domain=INSIDE),
    "acos": elementary(lambda m, x: m.acos(x), lambda m, x: -1 / m.sqrt(1 - x * x), domain=INSIDE),
    "atan": elementary(lambda m, x: m.atan(x), lambda m, x: 1 / (1 + x * x)),
    "sinh": elementary(lambda m, x: m.sinh(x), lambda m, x: m.cosh(x), domain=NEAR),
    "cosh": elementary(lambda m, x: m.cosh(x), lambda m, x: m.sinh(x), domain=NEAR),
    "tanh": elementary(lambda m, x: m.tanh(x), lambda m, x: 1 / m.cosh(x) ** 2, domain=NEAR),
    "asinh": elementary(lambda m, x: m.log(x + m.sqrt(x * x + 1)), lambda m, x: 1 / m.sqrt(x * x + 1)),
    "acosh": elementary(
        lambda m, x: m.log(x + m.sqrt(x * x - 1)), lambda m, x: 1 / m.sqrt(x * x - 1), domain=within(1.05, math.inf)
    ),
    "atanh": elementary(lambda m, x: m.log((1 + x) / (1 - x)) / 2, lambda m, x: 1 / (1 - x * x), domain=INSIDE),
    "exp": elementary(lambda m, x: m.exp(x), lambda m, x: m.exp(x), domain=NEAR),
    "expm1": elementary(lambda m, x: m.expm1(x), lambda m, x: m.exp(x), domain=NEAR),
    "exp2": elementary(lambda m, x: m.mpf(2) ** x, lambda m, x: m.mpf(2) ** x * m.log(2), domain=NEAR),
    "log": elementary(lambda m, x: m.log(x), lambda m, x: 1 / x, domain=ABOVE),
    "log2": elementary(lambda m, x: m.log(x) / m.log(2), lambda m, x: 1 / (x * m.log(2)), domain=ABOVE),
    "log10": elementary(lambda m, x: m.log(x) / m.log(10), lambda m, x: 1 / (x * m.log(10)), domain=ABOVE),
    "log1p": elementary(lambda m, x: m.log1p(x), lambda m, x: 1 / (1 + x), domain=within(LEAST - 1, math.inf)),
    "sqrt": elementary(lambda m, x: m.sqrt(x), lambda m, x: 1 / (2 * m.sqrt(x)), domain=ABOVE),
    "cbrt": elementary(lambda m, x: m.cbrt(x), lambda m, x: 1 / (3 * m.cbrt(x) ** 2), domain=ABOVE),
    "erf": elementary(
        lambda m, x: m.erf(x), lambda m, x: 2 / m.sqrt(m.pi) * m.exp(-x * x), domain=within(-STEEPEST, STEEPEST)
    ),
    "atan2": elementary(
        lambda m, y, x: m.atan2(y, x),
        lambda m, y, x: x / (x * x + y * y),
        lambda m, y, x: -y / (x * x + y * y),
        domain=lambda y, x: x * x + y * y >= LEAST and (x > MARGIN or abs(y) > MARGIN),
    ),
}
"""Functions of numbers by value and derivative. All others are made of these and of the arithmetic of duals."""

reciprocal = elementary(lambda m, x: 1 / x, lambda m, x: -1 / (x * x), domain=lambda x: abs(x) >= LEAST)


def whole_power(x, p):
    """Return x to an integer power, which a negative x has too."""
    if p == 0:
        return dual(1)
    return elementary(
        lambda m, x: x**p,
        lambda m, x: p * x ** (p - 1) if p != 1 else m.mpf(1),
        domain=lambda x: p > 0 or abs(x) >= LEAST,
    )(x)


general_power = elementary(
    lambda m, x, p: x**p,
    lambda m, x, p: p * x ** (p - 1),
    lambda m, x, p: x**p * m.log(x),
    domain=lambda x, p: x >= LEAST and abs(p) <= STEEPEST,
)


def power(x, p):
    """Return x**p; an integer p that is a constant makes the power of an integer."""
    if not p.slopes and not p.noise and p.value == int(p.value):
        return whole_power(x, int(p.value))
    return general_power(x, p)


def stepped(x, jump, level):
    """Return a step function of x: a constant, at a distance from its jumps."""
    away = jump(x.value)
    require(abs(away - round(float(away))) >= MARGIN)
    return dual(level(x.value))


def floor(x):
    """Return the largest integer below x."""
    return stepped(dual(x), lambda x: x, math.floor)


def ceil(x):
    """Return the smallest integer above x."""
    return stepped(dual(x), lambda x: x, math.ceil)


def nearest(x):
    """Return the nearest integer."""
    return stepped(dual(x), lambda x: x + 0.5, lambda x: math.floor(x + 0.5))


@contextlib.contextmanager
def forty_digits():
    """Compute with 40 digits, instead of in double precision as the generator does."""
    Dual.field = mp
    try:
        with mp.workdps(40):
            yield
    finally:
        Dual.field = fp
