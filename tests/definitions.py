"""The mathematics of every op in mpmath, as textbooks define it: nothing here is shared with numpy's or sympy's rules.

A definition takes arrays whose entries are mpmath's complex numbers and is analytic in them; comparisons look at the
real parts. So f(x + ih) has f(x) as its real and h·f'(x) as its imaginary part, to all digits for so small an h.
"""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

import mpmath
import numpy as np
from mpmath import mp

from array_definitions import STRUCTURAL, above, absolute, at, built, exact, power

mp.dps = 60
TINY = mpmath.mpf(10) ** -40
"""The step h: the error of f'(x) is of the order of h², far below the digits carried."""


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def gelu(x, approximate):
    if approximate == "tanh":
        return x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3)))
    return x / 2 * (1 + mp.erf(x / mp.sqrt(2)))


def softplus(x, beta, threshold):
    return x if above(x * beta, threshold) else mp.log(1 + mp.exp(beta * x)) / beta


def step(x, half):
    return half if mp.re(x) == 0 else mp.mpc(above(x))


def nearest(x):
    """Return the nearest integer, of two the even one."""
    low = mp.floor(mp.re(x))
    gap = mp.re(x) - low
    return mp.mpc(low + (gap > 0.5 or (gap == 0.5 and low % 2 == 1)))


def larger(a, b):
    return a if above(a, b) else b


def smaller(a, b):
    return b if above(a, b) else a


def isnan(x):
    return mpmath.isnan(mp.re(x))


def fmax(a, b):
    return a if isnan(b) else b if isnan(a) else larger(a, b)


def fmin(a, b):
    return a if isnan(b) else b if isnan(a) else smaller(a, b)


def floored(a, b):
    return mp.floor(mp.re(a) / mp.re(b))


# fmt: off
ELEMENTWISE = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "neg": lambda x: -x, "pow": power, "remainder": lambda a, b: a - b * floored(a, b), "floor_divide": floored,
    "maximum": larger, "minimum": smaller, "fmax": fmax, "fmin": fmin,
    "clamp_min": larger, "clamp_max": smaller,
    "sin": mp.sin, "cos": mp.cos, "tan": lambda x: mp.sin(x) / mp.cos(x), "asin": mp.asin, "acos": mp.acos,
    "atan": mp.atan, "sinh": lambda x: (mp.exp(x) - mp.exp(-x)) / 2, "cosh": lambda x: (mp.exp(x) + mp.exp(-x)) / 2,
    "tanh": lambda x: (mp.exp(2 * x) - 1) / (mp.exp(2 * x) + 1), "asinh": lambda x: mp.log(x + mp.sqrt(x * x + 1)),
    "acosh": lambda x: mp.log(x + mp.sqrt(x * x - 1)), "atanh": lambda x: mp.log((1 + x) / (1 - x)) / 2,
    "exp": mp.exp, "expm1": lambda x: mp.exp(x) - 1, "exp2": lambda x: mp.exp(x * mp.log(2)), "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2), "log10": lambda x: mp.log(x) / mp.log(10),
    "log1p": lambda x: mp.log(1 + x), "sqrt": mp.sqrt, "sqrt0": mp.sqrt, "rsqrt": lambda x: 1 / mp.sqrt(x),
    "cbrt": lambda x: mp.exp(mp.log(x) / 3), "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "erf": mp.erf,
    "sinc": lambda x: mp.sin(mp.pi * x) / (mp.pi * x) if x else mp.mpc(1),
    "hypot": lambda x, y: mp.sqrt(x * x + y * y), "atan2": lambda y, x: 2 * mp.atan(y / (mp.sqrt(x * x + y * y) + x)),
    "xlogy": lambda x, y: x * mp.log(y), "logaddexp": lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
    "abs": absolute, "sign": lambda x: step(x, mp.mpc(0)) - step(-x, mp.mpc(0)), "sigmoid": sigmoid,
    "relu": lambda x: larger(x, mp.mpc(0)), "logsigmoid": lambda x: mp.log(sigmoid(x)), "silu": lambda x: x * sigmoid(x),
    "softsign": lambda x: x / (1 + absolute(x)), "leaky_relu": lambda x, negative_slope: x if above(x) else negative_slope * x,
    "elu": lambda x, alpha: x if above(x) else alpha * (mp.exp(x) - 1), "softplus": softplus, "gelu": gelu,
    "floor": lambda x: mp.floor(mp.re(x)), "ceil": lambda x: mp.ceil(mp.re(x)), "round": nearest, "heaviside": step,
    "trunc": lambda x: mp.floor(mp.re(x)) if above(x) else mp.ceil(mp.re(x)), "isnan": isnan, "~": lambda x: not mp.re(x),
    "<": lambda a, b: above(b, a), ">": above, "<=": lambda a, b: not above(a, b), ">=": lambda a, b: not above(b, a),
    "==": lambda a, b: mp.re(a) == mp.re(b), "!=": lambda a, b: mp.re(a) != mp.re(b),
    "&": lambda a, b: bool(mp.re(a)) and bool(mp.re(b)), "^": lambda a, b: bool(mp.re(a)) != bool(mp.re(b)), "|": lambda a, b: bool(mp.re(a)) or bool(mp.re(b)),
    "bce": lambda x, t: -t * mp.log(x) - (1 - t) * mp.log(1 - x),
    "bce_with_logits": lambda x, t: -t * mp.log(sigmoid(x)) - (1 - t) * mp.log(1 - sigmoid(x)),
    "huber": lambda d, delta: d * d / 2 if above(delta, absolute(d)) else delta * (absolute(d) - delta / 2),
    "where": lambda c, a, b: a if c else b,
}
# fmt: on


def entrywise(name):
    def definition(*arrays, **static):
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
        return built(shape, lambda place: ELEMENTWISE[name](*(at(x, place) for x in arrays), **static))

    return definition


DEFINITIONS = {name: entrywise(name) for name in ELEMENTWISE} | STRUCTURAL


def real(found):
    """Return the real parts as they are, in mpmath's digits; truth values and integers as numbers."""
    return built(np.shape(found), lambda place: mp.re(mp.mpc(np.asarray(found, dtype=object)[place])))


def value(name, values, static):
    """Return an op's value by its definition, in all its digits."""
    return real(DEFINITIONS[name](*map(exact, values), **static))


def jacobian(name, values, static, argument):
    """Return by its definition an op's Jacobian as a matrix in all its digits, output by argument."""
    columns = []
    for i in range(np.size(values[argument])):
        moved = [exact(x) for x in values]
        moved[argument].flat[i] += mp.mpc(0, TINY)
        found = DEFINITIONS[name](*moved, **static)
        columns.append([mp.im(mp.mpc(entry)) / TINY for entry in np.ravel(found)])
    return np.array(columns, dtype=object).reshape(len(columns), -1).T


def floats(found):
    return np.array([float(entry) for entry in np.ravel(found)]).reshape(np.shape(found))


def elementwise(name, *values, **static):
    """Return by its definition an elementwise function of arrays, as floats."""
    return floats(value(name, values, static))
