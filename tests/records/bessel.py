"""Modified Bessel functions."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from generator import duals
from records.record import Edges, record
from records.special import MODERATE, known


def first_slope(x):
    """Return I₁'(x)."""
    return (mp.besseli(0, x) + mp.besseli(2, x)) / 2


FINITE = [*(x for x in MODERATE if not np.isinf(x)), 29.9, 30.1, -31.0, 600.0]

record(
    "i0",
    definition=lambda x: mp.besseli(0, x),
    derivatives=(lambda x: mp.besseli(1, x),),
    within=(-700, 700),
    oracle=known(lambda m, x: m.besseli(0, x), lambda m, x: m.besseli(1, x), duals.within(-5, 5)),
    ranges=("-3,3",),
    torch=Edges("torch.special.i0(x)", FINITE),
)

record(
    "i1",
    definition=lambda x: mp.besseli(1, x),
    derivatives=(first_slope,),
    within=(-700, 700),
    oracle=known(
        lambda m, x: m.besseli(1, x), lambda m, x: (m.besseli(0, x) + m.besseli(2, x)) / 2, duals.within(-5, 5)
    ),
    ranges=("-3,3",),
    torch=Edges("torch.special.i1(x)", [x for x in FINITE if not np.isnan(x)]),
)
