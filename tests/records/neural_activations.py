"""Activations that few programs call."""

import numpy as np
from mpmath import mp

from records import mathematics as m
from records.record import record


def between(x, min_val, max_val):
    """Return one of mpmath's numbers between two others."""
    return m.smaller(m.larger(x, mp.mpc(min_val)), mp.mpc(max_val))


def mish_slope(x):
    """Return the derivative of x·tanh(log(1 + exp(x)))."""
    t = mp.tanh(mp.log1p(mp.exp(x))) if x < 1e4 else mp.mpf(1)
    return t + (x * m.s(x) * (1 - t * t) if abs(x) < 1e4 else 0)


record(
    "hardtanh",
    definition=between,
    straight=True,
    options=[{"min_val": -1.0, "max_val": 1.0}, {"min_val": -0.5, "max_val": 3.0}, {"min_val": 0.0, "max_val": 6.0}],
    kink=([1.0, 2.0], [0.3, -2.0]),
    kink_options={"min_val": -1.0, "max_val": 1.0},
)

record(
    "hardsigmoid",
    definition=lambda x: between(x + 3, 0, 6) / 6,
    derivatives=(lambda x: mp.mpf(1) / 6 if abs(x) < 3 else mp.mpf(0),),
    kink=([3.0, -3.0], [1.0, -2.0]),
)

record(
    "hardswish",
    definition=lambda x: x * between(x + 3, 0, 6) / 6,
    derivatives=(lambda x: mp.mpf(x > 0) if abs(x) >= 3 else (2 * x + 3) / 6,),
    kink=([3.0, -3.0], [1.0, -2.0]),
)

record(
    "hardshrink",
    definition=lambda x, lambd: x if m.above(m.absolute(x), lambd) else mp.mpc(0),
    straight=True,
    options=[{"lambd": 0.5}, {"lambd": 0.0}],
    kink=([0.5, 1.0], [0.3, -2.0]),
    kink_options={"lambd": 0.5},
)

record(
    "softshrink",
    definition=lambda x, lambd: x - mp.sign(mp.re(x)) * lambd if m.above(m.absolute(x), lambd) else mp.mpc(0),
    straight=True,
    options=[{"lambd": 0.5}, {"lambd": 0.0}],
    kink=([0.5, 1.0], [0.3, -2.0]),
    kink_options={"lambd": 0.5},
)

record(
    "tanhshrink",
    definition=lambda x: x - mp.tanh(x),
    derivatives=(lambda x: mp.tanh(x) ** 2,),
    value=lambda x: x - mp.tanh(x) if abs(x) < 1e4 else x - mp.sign(x),
)

record(
    "celu",
    definition=lambda x, alpha: x if m.above(x) else alpha * (mp.exp(x / alpha) - 1),
    derivatives=(lambda x, alpha: 1 if x > 0 else mp.exp(x / alpha),),
    options=[{"alpha": 1.0}, {"alpha": 0.5}],
    hard_options=[{"alpha": 1.0}, {"alpha": 2.0}],
)

record(
    "mish",
    definition=lambda x: x * mp.tanh(mp.log(1 + mp.exp(x))),
    derivatives=(mish_slope,),
    value=lambda x: x * mp.tanh(mp.log1p(mp.exp(x))) if x < 1e4 else x,
)

record(
    "prelu",
    definition=lambda x, weight: x if m.above(x) else weight * x,
    derivatives=(lambda x, weight: 1 if x > 0 else weight, lambda x, weight: min(x, 0)),
    further=[([[-30.0, -2.0, 2.0, 5.0], np.float64(0.25)], {})],
    pieces=[([[-2.0, 0.0, 3.0], np.float64(0.25)], {})],
    kink=(([0.0, 1.0], 0.25), ([1.0, -2.0], 0.25)),
)
