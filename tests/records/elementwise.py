"""Functions of numbers, entry by entry, and the operators."""

import math

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import MoreExact, record

record(
    "add",
    definition=lambda a, b: a + b,
    derivatives=(lambda a, b: 1, lambda a, b: 1),
    recipes=["{E}, {E}", "{M}, {V}", "{V}, {c}", "{M}, {V}, alpha={c}"],
)

record(
    "sub",
    definition=lambda a, b: a - b,
    derivatives=(lambda a, b: 1, lambda a, b: -1),
    recipes=["{E}, {E}", "{M}, {V}", "{V}, {c}", "{M}, {V}, alpha={c}"],
)

record("mul", definition=lambda a, b: a * b, derivatives=(lambda a, b: b, lambda a, b: a))

record(
    "div",
    definition=lambda a, b: a / b,
    derivatives=(lambda a, b: 1 / b, lambda a, b: -a / b**2),
    further=[([n, [0.5, -1.5, 3.0]], {}) for n in (1, 3)],
    ranges=("-3,3", "0.3,2"),
    recipes=['{f}({E}, {E:0.5,2}, rounding_mode="floor") + {E}', '{f}({V}, {c}, rounding_mode="trunc")*{V}'],
    more_exact=[MoreExact("0/x", "PyTorch takes 0 times the square of 1/x, which overflows", before=(0.0,))],
)

record(
    "remainder",
    definition=lambda a, b: a - b * m.floored(a, b),
    straight=True,
    domain=((2.2, 2.8), (0.97, 1.03)),
    further=[([[2.3, -2.3, 0.4, -0.4, 5.5], [0.7, 0.7, -0.9, -0.9, -2.5]], {})],
    ranges=("-3,3", "0.5,2"),
    recipes=["{E}, {c}"],
)

record("neg", definition=lambda x: -x, derivatives=(lambda x: -1,))

record(
    "pow",
    definition=m.power,
    derivatives=(lambda x, p: p * x ** (p - 1), lambda x, p: x**p * mp.log(x)),
    further=[([[2.5, 0.7, 3.0], np.float64(p)], {}) for p in (0.5, -0.5, -1.0, -2.0, 3.0)],
    pieces=[([2, [1.5, -2.0]], {})],
    hard_pairs=(c.POSITIVE, c.EXPONENTS),
    ranges=("0.2,2", "-2,2"),
    recipes=["{E:0.2,2}, 1.5", "{E:-2,2}, 3", "{E:0.3,2}, -2", "{c}, {E:-2,2}"],
)

record("maximum", definition=m.larger, straight=True, pieces=[([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]], {})])

record("minimum", definition=m.smaller, straight=True, pieces=[([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]], {})])

record("fmax", definition=m.fmax, straight=True)

record("fmin", definition=m.fmin, straight=True)

record(
    "floor_divide",
    definition=m.floored,
    flat=[([c.HALVES[:, None], np.array([0.7, -1.3])], {})],
    recipes=["{f}({E}, {E:0.5,2}) + {E}"],
)

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
    ranges=("-1.2,1.2",),
)

record(
    "asin", definition=mp.asin, derivatives=(lambda x: 1 / mp.sqrt(1 - x * x),), within=(-1, 1), ranges=("-0.9,0.9",)
)

record(
    "acos", definition=mp.acos, derivatives=(lambda x: -1 / mp.sqrt(1 - x * x),), within=(-1, 1), ranges=("-0.9,0.9",)
)

record("atan", definition=mp.atan, derivatives=(lambda x: 1 / (1 + x * x),))

record("sinh", definition=lambda x: (mp.exp(x) - mp.exp(-x)) / 2, derivatives=(mp.cosh,), ranges=("-2,2",))

record("cosh", definition=lambda x: (mp.exp(x) + mp.exp(-x)) / 2, derivatives=(mp.sinh,), ranges=("-2,2",))

record(
    "tanh",
    definition=lambda x: (mp.exp(2 * x) - 1) / (mp.exp(2 * x) + 1),
    derivatives=(lambda x: 1 / mp.cosh(x) ** 2,),
    ranges=("-3,3",),
    more_exact=[MoreExact("torch.tanh(x)", "PyTorch takes 1 - y*y, of which nothing is left where y is nearly 1")],
)

record(
    "asinh",
    definition=lambda x: mp.log(x + mp.sqrt(x * x + 1)),
    derivatives=(lambda x: 1 / mp.sqrt(1 + x * x),),
    more_exact=[MoreExact("torch.asinh(x)", "PyTorch takes x*x, which overflows")],
)

record(
    "acosh",
    definition=lambda x: mp.log(x + mp.sqrt(x * x - 1)),
    derivatives=(lambda x: 1 / mp.sqrt(x * x - 1),),
    within=(1, np.inf),
    ranges=("1.1,3",),
    more_exact=[MoreExact("torch.acosh(x)", "PyTorch takes x*x, which overflows")],
)

record(
    "atanh",
    definition=lambda x: mp.log((1 + x) / (1 - x)) / 2,
    derivatives=(lambda x: 1 / (1 - x * x),),
    within=(-1, 1),
    ranges=("-0.9,0.9",),
)

record("exp", definition=mp.exp, derivatives=(mp.exp,), ranges=("-3,2",))

record(
    "expm1",
    definition=lambda x: mp.exp(x) - 1,
    derivatives=(mp.exp,),
    ranges=("-3,2",),
    more_exact=[MoreExact("torch.expm1(x)", "PyTorch takes y + 1, of which nothing is left where y is nearly -1")],
)

record(
    "exp2",
    definition=lambda x: mp.exp(x * mp.log(2)),
    derivatives=(lambda x: mp.log(2) * mp.mpf(2) ** x,),
    ranges=("-3,3",),
)

record("log", definition=mp.log, derivatives=(lambda x: 1 / x,), within=(0, np.inf), ranges=("0.2,3",))

record(
    "log2",
    definition=lambda x: mp.log(x) / mp.log(2),
    derivatives=(lambda x: 1 / (x * mp.log(2)),),
    within=(0, np.inf),
    ranges=("0.2,3",),
)

record(
    "log10",
    definition=lambda x: mp.log(x) / mp.log(10),
    derivatives=(lambda x: 1 / (x * mp.log(10)),),
    within=(0, np.inf),
    ranges=("0.2,3",),
)

record(
    "log1p",
    definition=lambda x: mp.log(1 + x),
    derivatives=(lambda x: 1 / (1 + x),),
    within=(-1, np.inf),
    ranges=("-0.8,3",),
)

record("sqrt", definition=mp.sqrt, derivatives=(lambda x: 1 / (2 * mp.sqrt(x)),), within=(0, np.inf), ranges=("0.2,3",))

record(
    "rsqrt",
    definition=lambda x: 1 / mp.sqrt(x),
    derivatives=(lambda x: -1 / (2 * mp.sqrt(x) ** 3),),
    within=(0, np.inf),
    ranges=("0.2,3",),
)

record(
    "cbrt",
    definition=lambda x: mp.exp(mp.log(x) / 3),
    derivatives=(lambda x: 1 / (3 * mp.cbrt(x) ** 2),),
    within=(0, np.inf),
    ranges=("0.2,3",),
)

record("square", definition=lambda x: x * x, derivatives=(lambda x: 2 * x,), ranges=("-9,9",))

record("reciprocal", definition=lambda x: 1 / x, derivatives=(lambda x: -1 / x**2,), ranges=("0.3,3",))

record(
    "erf",
    definition=mp.erf,
    derivatives=(lambda x: 2 * mp.exp(-x * x) / mp.sqrt(mp.pi),),
    value=lambda x: mp.erf(x) if abs(x) < m.FAR else mp.sign(x),
    ranges=("-2,2",),
)

record(
    "sinc",
    definition=lambda x: mp.sin(mp.pi * x) / (mp.pi * x) if x else mp.mpc(1),
    derivatives=(lambda x: (mp.cospi(x) - mp.sinpi(x) / (mp.pi * x)) / x if x else mp.mpf(0),),
    value=lambda x: mp.sinpi(x) / (mp.pi * x) if x else mp.mpf(1),
    zeros=[1.4302966531242027, 2.459024026983085, 8.471488, 100.49898, 100000.5, 1.4303, 0.2, 0.4999, 0.5001, -3.0],
    ranges=("0.2,1.8",),
    more_exact=[
        MoreExact("torch.sinc(x)", "PyTorch rounds pi*x, takes 0 where x*x is small, and a difference elsewhere")
    ],
)

record(
    "hypot",
    definition=lambda x, y: mp.sqrt(x * x + y * y),
    derivatives=(lambda x, y: x / mp.sqrt(x * x + y * y), lambda x, y: y / mp.sqrt(x * x + y * y)),
    ranges=("0.3,2", "-2,-0.3"),
    more_exact=[MoreExact("torch.hypot(a, b)", "PyTorch takes v*a, which overflows")],
)

record(
    "atan2",
    definition=lambda y, x: 2 * mp.atan(y / (mp.sqrt(x * x + y * y) + x)),
    derivatives=(lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    value=mp.atan2,
    ranges=("-2,2", "0.3,2"),
    more_exact=[MoreExact("torch.atan2(a, b)", "PyTorch takes a*a + b*b, which overflows and underflows")],
)

record(
    "xlogy",
    definition=lambda x, y: x * mp.log(y),
    derivatives=(lambda x, y: mp.log(y), lambda x, y: x / y),
    hard_pairs=(c.PLANE, c.POSITIVE),
    ranges=("-2,2", "0.2,2"),
    more_exact=[MoreExact("torch.xlogy(a, b)", "PyTorch takes v*a, which overflows")],
)

record(
    "logaddexp",
    definition=lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
    derivatives=(lambda a, b: m.s(a - b), lambda a, b: m.s(b - a)),
    value=lambda a, b: max(a, b) + mp.log1p(mp.exp(-abs(a - b))),
    further=[([[-30.0, 3.0, 30.0], [1.0, -2.0, 1.0]], {})],
    hard_pairs=(c.SCORES, c.SCORES),
    ranges=("-3,3", "-3,3"),
)

record("abs", definition=m.absolute, straight=True, kink=([0.0, 1.0], [1.0, -2.0]))

record("clamp_min", definition=m.larger, straight=True, recipes=["{E}, 0.1", "{V}, {V}"])

record("clamp_max", definition=m.smaller, straight=True, recipes=["{E}, 0.6", "{M}, {V}"])

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

record(
    "round",
    definition=m.nearest,
    flat=[([c.HALVES], {})],
    kink=([1.5, 2.0], [2.0, 0.3]),
    recipes=["{f}({E})*{E}", "{f}({V}, decimals=1)*{V}", "{f}({M}, 0) - {M}"],
)

record("heaviside", definition=m.step, flat=[(c.PAIR, {})], recipes=["{f}({E}, 0.5)*{E}", "{E} - {f}({E}, 1)"])

record("isnan", definition=m.isnan, flat=[([np.array([0.0, np.nan, 1.0])], {})], recipes=["where({f}({V}), 0, {V})"])

record(
    "where",
    definition=lambda c, a, b: a if c else b,
    cases=[([c.MASK, (3,), (3,)], {}), ([c.MASK, (2, 3), ()], {}), ([c.MASK, (), (3,)], {})],
    recipes=[
        "{E} > {c}, {E}, {E}",
        "{V} < {V}, 0.5, {V}",
        "({V} > 0) & ~({V} >= {c}), {V}, {S}",
        "({M} < {c}) | ({V} > 1), {M}, {V}",
        "{U}[:, None] <= {c}, {M}, {V}",
    ],
)

record(
    "clip",
    definition=lambda x, low, high: m.smaller(m.larger(x, mp.mpc(low)), mp.mpc(high)),
    straight=True,
    options=[{"low": -1.0, "high": 0.5}, {"low": 0.4, "high": 0.4}, {"low": 1.0, "high": -1.0}],
    kink=([-1.0, 0.5], [0.3, 2.0]),
    kink_options={"low": -1.0, "high": 0.5},
    recipes=["{E}, -0.5, 0.7", "{V}, min={c}", "{V}, max={V}", "{M}, {V}, 2.5"],
)
