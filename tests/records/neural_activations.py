"""Activations that few programs call."""

import numpy as np
from mpmath import mp

from records import mathematics as m
from records.record import MoreExact, record

SELU = {"alpha": 1.6732632423543772, "scale": 1.0507009873554805}


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
    recipes=["{E}", "{E}, -0.4, 1.3", "{E}, max_val=0.7"],
)

record(
    "hardsigmoid",
    definition=lambda x: between(x + 3, 0, 6) / 6,
    derivatives=(lambda x: mp.mpf(1) / 6 if abs(x) < 3 else mp.mpf(0),),
    kink=([3.0, -3.0], [1.0, -2.0]),
    more_exact=[MoreExact("F.hardsigmoid(x)", "PyTorch takes 1/6 as a float32")],
)

record(
    "hardswish",
    definition=lambda x: x * between(x + 3, 0, 6) / 6,
    derivatives=(lambda x: mp.mpf(x > 0) if abs(x) >= 3 else (2 * x + 3) / 6,),
    kink=([3.0, -3.0], [1.0, -2.0]),
    more_exact=[MoreExact("F.hardswish(x)", "PyTorch takes 6*x, which overflows")],
)

record(
    "hardshrink",
    definition=lambda x, lambd: x if m.above(m.absolute(x), lambd) else mp.mpc(0),
    straight=True,
    options=[{"lambd": 0.5}, {"lambd": 0.0}],
    kink=([0.5, 1.0], [0.3, -2.0]),
    kink_options={"lambd": 0.5},
    recipes=["{E}", "{E}, 0.2", "{E}, lambd=0.9"],
)

record(
    "softshrink",
    definition=lambda x, lambd: x - mp.sign(mp.re(x)) * lambd if m.above(m.absolute(x), lambd) else mp.mpc(0),
    straight=True,
    options=[{"lambd": 0.5}, {"lambd": 0.0}],
    kink=([0.5, 1.0], [0.3, -2.0]),
    kink_options={"lambd": 0.5},
    recipes=["{E}", "{E}, 0.2", "{E}, lambd=0.9"],
)

record(
    "tanhshrink",
    definition=lambda x: x - mp.tanh(x),
    derivatives=(lambda x: mp.tanh(x) ** 2,),
    value=lambda x: x - mp.tanh(x) if abs(x) < 1e4 else x - mp.sign(x),
    more_exact=[
        MoreExact("F.tanhshrink(x)", "PyTorch takes x - tanh(x), of which nothing is left near 0, and v - v*(1 - y*y)")
    ],
)

record(
    "celu",
    definition=lambda x, alpha: x if m.above(x) else alpha * (mp.exp(x / alpha) - 1),
    derivatives=(lambda x, alpha: 1 if x > 0 else mp.exp(x / alpha),),
    options=[{"alpha": 1.0}, {"alpha": 0.5}],
    hard_options=[{"alpha": 1.0}, {"alpha": 2.0}],
    recipes=["{E:-3,3}", "{E:-3,3}, alpha=0.5", "{E:-3,3}, 2"],
)

record(
    "mish",
    definition=lambda x: x * mp.tanh(mp.log(1 + mp.exp(x))),
    derivatives=(mish_slope,),
    value=lambda x: x * mp.tanh(mp.log1p(mp.exp(x))) if x < 1e4 else x,
    more_exact=[MoreExact("F.mish(x)", "PyTorch takes 1 - t*t, of which nothing is left where t is nearly 1")],
)

record(
    "prelu",
    definition=lambda x, weight: x if m.above(x) else weight * x,
    derivatives=(lambda x, weight: 1 if x > 0 else weight, lambda x, weight: min(x, 0)),
    further=[([[-30.0, -2.0, 2.0, 5.0], np.float64(0.25)], {})],
    pieces=[([[-2.0, 0.0, 3.0], np.float64(0.25)], {})],
    kink=(([0.0, 1.0], 0.25), ([1.0, -2.0], 0.25)),
    recipes=["{E}, {S}", "{V}, [{S}]", "{M}, {V}"],
)

record("relu6", recipes=["{E}", "{E:-2,9}"])

record("selu", recipes=["{E:-3,3}"])

record("rrelu", recipes=["{E}", "{E}, 0.1, 0.5", "{E}, upper=0.4"])

record("threshold", recipes=["{E}, 0.3, 20", "{E}, {c}, 0", "{E}, 0.1, value=0.1"])

record("glu", recipes=["cat([{V:-3,3}, {V:-3,3}])", "{T:-3,3}, 0", "stack([{V:-3,3}, {V:-3,3}]), dim=-2"])

record("softmin", recipes=["{V:-3,3}, 0", "{M:-3,3}, dim=1", "{T:-3,3}, -1", "{V:-3,3}"])
