"""Derivatives of elementwise functions as textbooks have them, in as many of mpmath's digits as a point needs."""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

from functools import cache

from mpmath import mp

from definitions import ELEMENTWISE

DIGITS = (50, 120, 700, 1500)
"""Digits carried: as many as it takes until two settings agree to 20 of them."""


FAR = 10**4
"""Beyond, a saturated function is its limit to thousands of digits, and exp(x²) takes mpmath long."""


def s(x):
    return 1 / (1 + mp.exp(-x)) if abs(x) < FAR else mp.mpf(x > 0)


def phi(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2 if abs(x) < FAR else mp.mpf(x > 0)


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi) if abs(x) < FAR else mp.mpf(0)


def bend(x):
    return mp.sqrt(8 / mp.pi) * (x + mp.mpf(0.044715) * x**3), mp.sqrt(8 / mp.pi) * (1 + 3 * mp.mpf(0.044715) * x**2)


def gelu(x, approximate):
    if approximate == "none":
        return phi(x) + x * density(x)
    v, slope = bend(x)
    return s(v) + x * slope * s(v) * s(-v)


# fmt: off
DERIVATIVES = {
    "add": (lambda a, b: 1, lambda a, b: 1), "sub": (lambda a, b: 1, lambda a, b: -1),
    "mul": (lambda a, b: b, lambda a, b: a), "div": (lambda a, b: 1 / b, lambda a, b: -a / b**2), "neg": (lambda x: -1,),
    "pow": (lambda x, p: p * x**(p - 1), lambda x, p: x**p * mp.log(x)),
    "sin": (mp.cos,), "cos": (lambda x: -mp.sin(x),), "tan": (lambda x: 1 / mp.cos(x)**2,),
    "asin": (lambda x: 1 / mp.sqrt(1 - x * x),), "acos": (lambda x: -1 / mp.sqrt(1 - x * x),), "atan": (lambda x: 1 / (1 + x * x),),
    "sinh": (mp.cosh,), "cosh": (mp.sinh,), "tanh": (lambda x: 1 / mp.cosh(x)**2,), "asinh": (lambda x: 1 / mp.sqrt(1 + x * x),),
    "acosh": (lambda x: 1 / mp.sqrt(x * x - 1),), "atanh": (lambda x: 1 / (1 - x * x),),
    "exp": (mp.exp,), "expm1": (mp.exp,), "exp2": (lambda x: mp.log(2) * mp.mpf(2)**x,), "log": (lambda x: 1 / x,),
    "log2": (lambda x: 1 / (x * mp.log(2)),), "log10": (lambda x: 1 / (x * mp.log(10)),), "log1p": (lambda x: 1 / (1 + x),),
    "sqrt": (lambda x: 1 / (2 * mp.sqrt(x)),), "rsqrt": (lambda x: -1 / (2 * mp.sqrt(x)**3),), "cbrt": (lambda x: 1 / (3 * mp.cbrt(x)**2),),
    "square": (lambda x: 2 * x,), "reciprocal": (lambda x: -1 / x**2,), "erf": (lambda x: 2 * mp.exp(-x * x) / mp.sqrt(mp.pi),),
    "sinc": (lambda x: (mp.cospi(x) - mp.sinpi(x) / (mp.pi * x)) / x if x else mp.mpf(0),),
    "hypot": (lambda x, y: x / mp.sqrt(x * x + y * y), lambda x, y: y / mp.sqrt(x * x + y * y)),
    "atan2": (lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    "xlogy": (lambda x, y: mp.log(y), lambda x, y: x / y), "logaddexp": (lambda a, b: s(a - b), lambda a, b: s(b - a)),
    "sigmoid": (lambda x: s(x) * s(-x),), "logsigmoid": (lambda x: s(-x),), "silu": (lambda x: s(x) + x * s(x) * s(-x),),
    "softsign": (lambda x: 1 / (1 + abs(x))**2,), "leaky_relu": (lambda x, negative_slope: 1 if x > 0 else negative_slope,),
    "elu": (lambda x, alpha: 1 if x > 0 else alpha * mp.exp(x),),
    "softplus": (lambda x, beta, threshold: 1 if x * beta > threshold else s(beta * x),), "gelu": (gelu,),
    "bce": (lambda x, t: (x - t) / (x * (1 - x)), lambda x, t: mp.log((1 - x) / x)),
    "bce_with_logits": (lambda x, t: s(x) - t, lambda x, t: -x),
    "huber": (lambda d, delta: d if abs(d) < delta else delta * mp.sign(d), lambda d, delta: mp.mpf(0) if abs(d) < delta else abs(d) - delta),
}
# fmt: on
VALUES = {
    "erf": lambda x: mp.erf(x) if abs(x) < FAR else mp.sign(x),
    "sinc": lambda x: mp.sinpi(x) / (mp.pi * x) if x else mp.mpf(1),
    "gelu": lambda x, approximate: x * (phi(x) if approximate == "none" else s(bend(x)[0])),
    "logaddexp": lambda a, b: max(a, b) + mp.log1p(mp.exp(-abs(a - b))),
    "atan2": mp.atan2,
    "bce_with_logits": lambda x, t: mp.log1p(mp.exp(x)) - t * x,
}
"""Values that take mpmath too long, or are no numbers of doubles' size, as ``definitions`` has them."""


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
    return settled(lambda: mp.mpf(DERIVATIVES[name][argument](*map(mp.mpf, point), **static)))


@cache
def value(name, point, **static):
    """Return the value at a point of doubles."""
    definition = VALUES.get(name, ELEMENTWISE[name])
    return settled(lambda: definition(*(mp.mpf(x) if name in VALUES else mp.mpc(x) for x in point), **static))
