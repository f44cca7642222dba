"""Entries picked by their order, quantiles, and positions."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from generator import arrays
from generator import functions as f
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


def taken(x, dim, places):
    """Return some layers of a sorted array, and where its entries stood."""
    values, where = (arrays.array(part).data for part in f.ordered(x, dim))
    at = [places] if isinstance(places, int) else list(places)
    found = [np.take(part, at, axis=dim) for part in (values, where)]
    return arrays.Pair(*(arrays.Array(np.squeeze(part, dim) if isinstance(places, int) else part) for part in found))


def kept(pair, dim, keepdim):
    """Return a pair with its axis put back where that is asked for."""
    if not keepdim:
        return pair
    return arrays.Pair(*(arrays.Array(np.expand_dims(arrays.array(part).data, dim)) for part in pair))


def topk(x, k, dim=-1, largest=True, **_):
    """Return the first k entries in order."""
    length = arrays.array(x).shape[dim]
    return taken(x, dim, [length - 1 - i for i in range(int(k))] if largest else range(int(k)))


def running(best):
    """Return the extreme so far along an axis."""

    def apply(x, dim):
        data = np.moveaxis(arrays.numbers(x), dim, -1)
        values, places = np.empty(data.shape, dtype=object), np.empty(data.shape, dtype=np.intp)
        for at in np.ndindex(data.shape):
            so_far = list(data[at[:-1]][: at[-1] + 1])
            values[at] = best(so_far)
            places[at] = next(i for i, x in enumerate(so_far) if x is values[at])
        return arrays.Pair(*(arrays.Array(np.moveaxis(part, -1, dim)) for part in (values, places)))

    return apply


def at_rank(row, q, way="linear"):
    """Return what lies at a rank of sorted numbers."""
    row, rank = sorted(row), q * (len(row) - 1)
    low, high = int(np.floor(rank)), int(np.ceil(rank))
    if way in ("lower", "higher"):
        return row[low if way == "lower" else high]
    if way == "nearest":
        return row[int(np.round(rank))]
    return row[low] + (row[high] - row[low]) * (rank - low if way == "linear" else 0.5)


def quantile(scale=1.0):
    """Return a quantile along axes, one for each chance."""

    def apply(x, q, dim=None, keepdim=False, interpolation="linear", method=None):
        chances = [float(chance.value) for chance in np.ravel(arrays.numbers(q))]
        found = [
            f.reduced(lambda row, q=chance / scale: at_rank(row, q, method or interpolation))(x, dim, keepdim)
            for chance in chances
        ]
        return arrays.array(found) if arrays.array(q).ndim else found[0]

    return apply


def positions(x, dim=-1, descending=False, **_):
    """Return the positions of the entries in order."""
    return f.ordered(x, dim, descending).indices


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
    "topk",
    oracle=topk,
    recipes=["{V}, 2).values", "{M}, 1, dim=0)[0]", "{M}, {n}, largest=False).values", "{M}, 2, -1).values[0]"],
)

record(
    "kthvalue",
    oracle=lambda x, k, dim=-1, keepdim=False: kept(taken(x, dim, int(k) - 1), dim, keepdim),
    recipes=["{V}, 2).values", "{M}, 1, dim=0)[0]", "{M}, 2, keepdim=True).values"],
)

record(
    "mode",
    oracle=lambda x, dim=-1, keepdim=False: kept(taken(x, dim, 0), dim, keepdim),
    recipes=["{V}).values", "{M}, dim=0)[0]", "{M}, 1, keepdim=True).values"],
)

for _name, _best in (("cummax", max), ("cummin", min)):
    record(_name, oracle=running(_best), recipes=["{V}, 0).values", "{M}, dim=0)[0]", "{M}, 1).values"])

record(
    "msort",
    oracle=lambda x: f.ordered(x, 0).values,
    recipes=["{V}", "{M}"],
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
    oracle=positions,
    recipes=["{V}[{f}({V})]", "{U}[{f}({M}, dim=0)]", "{V}[{f}({M}, descending=True)]"],
)

record(
    "np.argsort",
    oracle=lambda x, dim=-1: positions(x if dim is not None else arrays.Array(arrays.numbers(x).ravel()), dim or 0),
    recipes=["{V}[{f}({V})]"],
)

for _name in ("quantile", "nanquantile"):
    record(
        _name,
        oracle=quantile(),
        recipes=[
            "{V}, 0.3", "{M}, 0.6, dim=0", "{M}, 0.25, 1, True", "{V}, [0.1, 0.8]", "{V}, 0.5",
            *(f'{{V}}, 0.3, interpolation="{way}"' for way in ("lower", "higher", "midpoint", "nearest")),
        ],
    )  # fmt: skip
for _prefix in ("", "nan"):
    for _name, _scale in (("quantile", 1.0), ("percentile", 100.0)):
        record(
            f"np.{_prefix}{_name}",
            oracle=quantile(_scale),
            recipes=[
                f"{{V}}, {0.3 * _scale}",
                f"{{M}}, {0.6 * _scale}, axis=0",
                f'{{M}}, {_scale / 4}, method="lower"',
            ],
        )

record(
    "nanmedian",
    of_arrays=m.reducing(m.middle),
    cases=c.WHOLE,
    kink=([0.5, 2.0, 2.0], [0.5, 2.0, 3.0]),
    oracle=f.extreme(f.reduced(f.middle_of), f.middle_of, None),
    recipes=["{V}", "{M}, dim=1).values", "{M}"],
)

record(
    "np.nanmedian",
    oracle=f.numpy_median,
    recipes=["{V}", "{M}, axis=1", "{M}"],
)
