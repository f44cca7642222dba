"""Functions of numbers, entry by entry, and the operators."""

import math

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import record

record("add", definition=lambda a, b: a + b, derivatives=(lambda a, b: 1, lambda a, b: 1))

record("sub", definition=lambda a, b: a - b, derivatives=(lambda a, b: 1, lambda a, b: -1))

record("mul", definition=lambda a, b: a * b, derivatives=(lambda a, b: b, lambda a, b: a))

record(
    "div",
    definition=lambda a, b: a / b,
    derivatives=(lambda a, b: 1 / b, lambda a, b: -a / b**2),
    further=[([n, [0.5, -1.5, 3.0]], {}) for n in (1, 3)],
)

record(
    "remainder",
    definition=lambda a, b: a - b * m.floored(a, b),
    straight=True,
    domain=((2.2, 2.8), (0.97, 1.03)),
    further=[([[2.3, -2.3, 0.4, -0.4, 5.5], [0.7, 0.7, -0.9, -0.9, -2.5]], {})],
)

record("neg", definition=lambda x: -x, derivatives=(lambda x: -1,))

record(
    "pow",
    definition=m.power,
    derivatives=(lambda x, p: p * x ** (p - 1), lambda x, p: x**p * mp.log(x)),
    further=[([[2.5, 0.7, 3.0], np.float64(p)], {}) for p in (0.5, -0.5, -1.0, -2.0, 3.0)],
    pieces=[([2, [1.5, -2.0]], {})],
    hard_pairs=(c.POSITIVE, c.EXPONENTS),
)

record("maximum", definition=m.larger, straight=True, pieces=[([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]], {})])

record("minimum", definition=m.smaller, straight=True, pieces=[([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]], {})])

record("fmax", definition=m.fmax, straight=True)

record("fmin", definition=m.fmin, straight=True)

record("floor_divide", definition=m.floored, flat=[([c.HALVES[:, None], np.array([0.7, -1.3])], {})])

record("<", definition=lambda a, b: m.above(b, a), flat=[(c.PAIR, {})])

record("<=", definition=lambda a, b: not m.above(a, b), flat=[(c.PAIR, {})])

record(">", definition=m.above, flat=[(c.PAIR, {})])

record(">=", definition=lambda a, b: not m.above(b, a), flat=[(c.PAIR, {})])

record("==", definition=lambda a, b: mp.re(a) == mp.re(b), flat=[(c.PAIR, {})])

record("!=", definition=lambda a, b: mp.re(a) != mp.re(b), flat=[(c.PAIR, {})])

record("&", definition=lambda a, b: bool(mp.re(a)) and bool(mp.re(b)), flat=[(c.TRUTHS, {})])

record("^", definition=lambda a, b: bool(mp.re(a)) != bool(mp.re(b)), flat=[(c.TRUTHS, {})])

record("|", definition=lambda a, b: bool(mp.re(a)) or bool(mp.re(b)), flat=[(c.TRUTHS, {})])

record("~", definition=lambda x: not mp.re(x), flat=[(c.TRUTHS[:1], {})])

record("sin", definition=mp.sin, derivatives=(mp.cos,), zeros=[math.pi, math.pi / 2, 22.0, 355.0])

record("cos", definition=mp.cos, derivatives=(lambda x: -mp.sin(x),), zeros=[math.pi, math.pi / 2, 22.0, 355.0])

record(
    "tan",
    definition=lambda x: mp.sin(x) / mp.cos(x),
    derivatives=(lambda x: 1 / mp.cos(x) ** 2,),
    zeros=[math.pi, math.pi / 2, 22.0, 355.0],
)

record("asin", definition=mp.asin, derivatives=(lambda x: 1 / mp.sqrt(1 - x * x),), within=(-1, 1))

record("acos", definition=mp.acos, derivatives=(lambda x: -1 / mp.sqrt(1 - x * x),), within=(-1, 1))

record("atan", definition=mp.atan, derivatives=(lambda x: 1 / (1 + x * x),))

record("sinh", definition=lambda x: (mp.exp(x) - mp.exp(-x)) / 2, derivatives=(mp.cosh,))

record("cosh", definition=lambda x: (mp.exp(x) + mp.exp(-x)) / 2, derivatives=(mp.sinh,))

record(
    "tanh", definition=lambda x: (mp.exp(2 * x) - 1) / (mp.exp(2 * x) + 1), derivatives=(lambda x: 1 / mp.cosh(x) ** 2,)
)

record("asinh", definition=lambda x: mp.log(x + mp.sqrt(x * x + 1)), derivatives=(lambda x: 1 / mp.sqrt(1 + x * x),))

record(
    "acosh",
    definition=lambda x: mp.log(x + mp.sqrt(x * x - 1)),
    derivatives=(lambda x: 1 / mp.sqrt(x * x - 1),),
    within=(1, np.inf),
)

record(
    "atanh",
    definition=lambda x: mp.log((1 + x) / (1 - x)) / 2,
    derivatives=(lambda x: 1 / (1 - x * x),),
    within=(-1, 1),
)

record("exp", definition=mp.exp, derivatives=(mp.exp,))

record("expm1", definition=lambda x: mp.exp(x) - 1, derivatives=(mp.exp,))

record("exp2", definition=lambda x: mp.exp(x * mp.log(2)), derivatives=(lambda x: mp.log(2) * mp.mpf(2) ** x,))

record("log", definition=mp.log, derivatives=(lambda x: 1 / x,), within=(0, np.inf))

record(
    "log2", definition=lambda x: mp.log(x) / mp.log(2), derivatives=(lambda x: 1 / (x * mp.log(2)),), within=(0, np.inf)
)

record(
    "log10",
    definition=lambda x: mp.log(x) / mp.log(10),
    derivatives=(lambda x: 1 / (x * mp.log(10)),),
    within=(0, np.inf),
)

record("log1p", definition=lambda x: mp.log(1 + x), derivatives=(lambda x: 1 / (1 + x),), within=(-1, np.inf))

record("sqrt", definition=mp.sqrt, derivatives=(lambda x: 1 / (2 * mp.sqrt(x)),), within=(0, np.inf))

record(
    "rsqrt",
    definition=lambda x: 1 / mp.sqrt(x),
    derivatives=(lambda x: -1 / (2 * mp.sqrt(x) ** 3),),
    within=(0, np.inf),
)

record(
    "cbrt",
    definition=lambda x: mp.exp(mp.log(x) / 3),
    derivatives=(lambda x: 1 / (3 * mp.cbrt(x) ** 2),),
    within=(0, np.inf),
)

record("square", definition=lambda x: x * x, derivatives=(lambda x: 2 * x,))

record("reciprocal", definition=lambda x: 1 / x, derivatives=(lambda x: -1 / x**2,))

record(
    "erf",
    definition=mp.erf,
    derivatives=(lambda x: 2 * mp.exp(-x * x) / mp.sqrt(mp.pi),),
    value=lambda x: mp.erf(x) if abs(x) < m.FAR else mp.sign(x),
)

record(
    "sinc",
    definition=lambda x: mp.sin(mp.pi * x) / (mp.pi * x) if x else mp.mpc(1),
    derivatives=(lambda x: (mp.cospi(x) - mp.sinpi(x) / (mp.pi * x)) / x if x else mp.mpf(0),),
    value=lambda x: mp.sinpi(x) / (mp.pi * x) if x else mp.mpf(1),
    zeros=[1.4302966531242027, 2.459024026983085, 8.471488, 100.49898, 100000.5, 1.4303, 0.2, 0.4999, 0.5001, -3.0],
)

record(
    "hypot",
    definition=lambda x, y: mp.sqrt(x * x + y * y),
    derivatives=(lambda x, y: x / mp.sqrt(x * x + y * y), lambda x, y: y / mp.sqrt(x * x + y * y)),
)

record(
    "atan2",
    definition=lambda y, x: 2 * mp.atan(y / (mp.sqrt(x * x + y * y) + x)),
    derivatives=(lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    value=mp.atan2,
)

record(
    "xlogy",
    definition=lambda x, y: x * mp.log(y),
    derivatives=(lambda x, y: mp.log(y), lambda x, y: x / y),
    hard_pairs=(c.PLANE, c.POSITIVE),
)

record(
    "logaddexp",
    definition=lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
    derivatives=(lambda a, b: m.s(a - b), lambda a, b: m.s(b - a)),
    value=lambda a, b: max(a, b) + mp.log1p(mp.exp(-abs(a - b))),
    further=[([[-30.0, 3.0, 30.0], [1.0, -2.0, 1.0]], {})],
    hard_pairs=(c.SCORES, c.SCORES),
)

record("abs", definition=m.absolute, straight=True, kink=([0.0, 1.0], [1.0, -2.0]))

record("clamp_min", definition=m.larger, straight=True)

record("clamp_max", definition=m.smaller, straight=True)

record(
    "sign",
    definition=lambda x: m.step(x, mp.mpc(0)) - m.step(-x, mp.mpc(0)),
    flat=[([c.HALVES], {})],
    pieces=[([[-2.0, 0.0, 3.0]], {})],
    kink=([0.0, 1.0], [1.0, -2.0]),
)

record("floor", definition=lambda x: mp.floor(mp.re(x)), flat=[([c.HALVES], {})], kink=([0.5, 2.0], [0.5, -0.5]))

record("ceil", definition=lambda x: mp.ceil(mp.re(x)), flat=[([c.HALVES], {})], kink=([0.5, 2.0], [0.5, -0.5]))

record(
    "trunc",
    definition=lambda x: mp.floor(mp.re(x)) if m.above(x) else mp.ceil(mp.re(x)),
    flat=[([c.HALVES], {})],
    kink=([0.5, 2.0], [0.5, -0.5]),
)

record("round", definition=m.nearest, flat=[([c.HALVES], {})], kink=([1.5, 2.0], [2.0, 0.3]))

record("heaviside", definition=m.step, flat=[(c.PAIR, {})])

record("isnan", definition=m.isnan, flat=[([np.array([0.0, np.nan, 1.0])], {})])

record(
    "where",
    definition=lambda c, a, b: a if c else b,
    cases=[([c.MASK, (3,), (3,)], {}), ([c.MASK, (2, 3), ()], {}), ([c.MASK, (), (3,)], {})],
)

record(
    "clip",
    definition=lambda x, low, high: m.smaller(m.larger(x, mp.mpc(low)), mp.mpc(high)),
    straight=True,
    options=[{"low": -1.0, "high": 0.5}, {"low": 0.4, "high": 0.4}, {"low": 1.0, "high": -1.0}],
    kink=([-1.0, 0.5], [0.3, 2.0]),
    kink_options={"low": -1.0, "high": 0.5},
)
