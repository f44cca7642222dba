"""Positions, what picks entries at them, and casts."""

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import record


def whole(x):
    """Return numbers without their fractions."""
    return m.built(x.shape, lambda place: mp.mpc(int(mp.re(x[place]))))


record("places", of_arrays=whole, flat=[([np.array([0.0, 2.0, -1.0])], {}), ([np.array(1.0)], {})], called=["gather"])

record("long", of_arrays=whole, flat=[([np.array([1.5, -2.5, 0.0, 3.0])], {})], pieces=[([[1.5, -0.25]], {})])

record("detach", of_arrays=lambda x: x, flat=[([c.HALVES], {})])

record(
    "nonzero",
    of_arrays=lambda x: np.argwhere(np.array([[entry != 0 for entry in row] for row in np.atleast_2d(x)])),
    flat=[([c.GRID], {})],
    pieces=[([[[1.0, 0.0], [0.0, 2.0]]], {})],
)

record(
    "searchsorted",
    of_arrays=lambda edges, values, right: m.built(
        values.shape,
        lambda place: sum(
            mp.re(edge) <= mp.re(values[place]) if right else mp.re(edge) < mp.re(values[place]) for edge in edges
        ),
    ),
    flat=[([np.array([-1.0, 0.0, 2.0]), np.array([0.0, 3.0, -2.0])], {"right": right}) for right in (False, True)],
    pieces=[([[0.0, 1.0], [0.5, 2.0]], {"right": True})],
)
