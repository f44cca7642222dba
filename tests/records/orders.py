"""Entries picked by their order, quantiles, and positions."""

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import record

KINDS = ("topk", "kthvalue", "mode", "nanmedian", "cummax", "cummin")


KEPT = [(kind, keep) for kind in ("max", "min", "median", *KINDS[2:4]) for keep in (c.KEPT, c.GONE)]


def picked(line, i, kind, k, largest, descending):
    """Return entry i of what is picked of a line of numbers that all differ."""
    rising = m.ordered(line)
    if kind in ("topk", "sort"):
        return (rising[::-1] if (largest if kind == "topk" else descending) else rising)[i]
    if kind in ("cummax", "cummin"):
        return (max if kind == "cummax" else min)(line[: i + 1], key=mp.re)
    middle = (len(line) - 1) // 2
    return rising[{"kthvalue": k - 1, "mode": 0, "nanmedian": middle, "median": middle, "max": -1, "min": 0}[kind]]


def pick(x, kind, dim, keepdim=True, k=1, largest=True, descending=False):
    """Return what is picked along an axis."""
    every = x.shape[dim]
    length = {"topk": k, "cummax": every, "cummin": every, "sort": every}.get(kind, 1)

    def entry(place):
        line = [x[(*place[:dim], j, *place[dim + 1 :])] for j in range(x.shape[dim])]
        return picked(line, place[dim], kind, k, largest, descending)

    found = m.built((*x.shape[:dim], length, *x.shape[dim + 1 :]), entry)
    return found if keepdim else found.reshape([n for axis, n in enumerate(x.shape) if axis != dim])


record(
    "pick",
    of_arrays=pick,
    cases=[
        ([(5,)], {"kind": "sort", "dim": 0}),
        ([(2, 3)], {"kind": "sort", "dim": 1, "descending": True}),
        ([(5,)], {"kind": "topk", "dim": 0, "k": 2}),
        ([(2, 4)], {"kind": "topk", "dim": 1, "k": 3, "largest": False}),
        *(([(2, 4)], {"kind": "kthvalue", "dim": 1, "k": 2, **keep}) for keep in (c.KEPT, c.GONE)),
        *(([(2, 4)], {"kind": kind, "dim": 1, **keep}) for kind, keep in KEPT),
        *(([(3, 2)], {"kind": kind, "dim": 0}) for kind in KINDS[4:]),
    ],
    kink=([0.5, 2.0, 2.0], [0.5, 0.5, 2.0]),
    kink_options={"kind": "topk", "dim": 0, "k": 1},
    called=[*KINDS, "sort", "msort"],
)


record(
    "argsort",
    of_arrays=lambda x, dim, descending, stable: np.argsort(
        np.array([[float(mp.re(e)) for e in row] for row in x]) * (-1 if descending else 1), axis=dim, kind="stable"
    ),
    flat=[
        ([c.GRID], {"dim": 1, "descending": False, "stable": False}),
        ([c.GRID], {"dim": 0, "descending": True, "stable": True}),
    ],
)


record("nanmedian", of_arrays=m.reducing(m.middle), cases=c.WHOLE, kink=([0.5, 2.0, 2.0], [0.5, 2.0, 3.0]))
