"""Entries picked by their order, quantiles, and positions."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records import values as v
from records.record import record

KINDS = ("topk", "kthvalue", "mode", "nanmedian", "cummax", "cummin")


def picked(line, i, kind, k, largest):
    """Return entry i of what is picked of a line of numbers that all differ."""
    rising = m.ordered(line)
    if kind == "topk":
        return (rising[::-1] if largest else rising)[i]
    if kind in ("cummax", "cummin"):
        return (max if kind == "cummax" else min)(line[: i + 1], key=mp.re)
    return rising[{"kthvalue": k - 1, "mode": 0, "nanmedian": (len(line) - 1) // 2}[kind]]


def order(x, kind, dim, keepdim=True, k=1, largest=True):
    """Return what an order picks along an axis."""
    length = {"topk": k, "cummax": x.shape[dim], "cummin": x.shape[dim]}.get(kind, 1)

    def entry(place):
        line = [x[(*place[:dim], j, *place[dim + 1 :])] for j in range(x.shape[dim])]
        return picked(line, place[dim], kind, k, largest)

    found = m.built((*x.shape[:dim], length, *x.shape[dim + 1 :]), entry)
    return found if keepdim else found.reshape([n for axis, n in enumerate(x.shape) if axis != dim])


record(
    "order",
    of_arrays=order,
    cases=[
        ([(5,)], {"kind": "topk", "dim": 0, "k": 2}),
        ([(2, 4)], {"kind": "topk", "dim": 1, "k": 3, "largest": False}),
        ([(3, 2)], {"kind": "topk", "dim": 0, "k": 3}),
        *(([(2, 4)], {"kind": kind, "dim": 1, "k": 2, **keep}) for kind in KINDS[1:4] for keep in (c.KEPT, c.GONE)),
        *(([(3, 2)], {"kind": kind, "dim": 0}) for kind in KINDS[4:]),
        ([(4,)], {"kind": "cummax", "dim": 0}),
    ],
    kink=([0.5, 2.0, 2.0], [0.5, 0.5, 2.0]),
    kink_options={"kind": "topk", "dim": 0, "k": 1},
    called=[*KINDS],
)

record(
    "topk",
    recipes=["{V}, 2).values", "{M}, 1, dim=0)[0]", "{M}, {n}, largest=False).values", "{M}, 2, -1).values[0]"],
    programs={"topk(x, 2).values": [0.8, 0.3], "A.topk(1, dim=0, largest=False)[0]": [[0.5, -1.0, -0.4]]},
    values={"topk(x, 2).indices*s": [2 * v.s, 0.0]},
)

record(
    "kthvalue",
    recipes=["{V}, 2).values", "{M}, 1, dim=0)[0]", "{M}, 2, keepdim=True).values"],
    programs={"kthvalue(x, 2).values": 0.3, "A.kthvalue(2, dim=0)[0]": [1.5, 0.7, 2.0]},
    values={"kthvalue(x, 2).indices*s": 0.0},
)

record(
    "mode",
    recipes=["{V}).values", "{M}, dim=0)[0]", "{M}, 1, keepdim=True).values"],
    programs={"mode(x).values": -1.2, "mode(A, 0)[0]": [0.5, -1.0, -0.4]},
    values={"mode([1.0, 2.0, 2.0, 1.0, 3.0]*s).indices*s": 3 * v.s},
)

for _name, _best, _value in (("cummax", max, [0.3, 0.3, 0.8]), ("cummin", min, [0.3, -1.2, -1.2])):
    record(
        _name,
        recipes=["{V}, 0).values", "{M}, dim=0)[0]", "{M}, 1).values"],
        programs={f"{_name}(x, 0).values": _value, f"A.{_name}(dim=1)[0][0]": {
            "cummax": [0.5, 0.5, 2.0], "cummin": [0.5, -1.0, -1.0]}[_name]},
    )  # fmt: skip

record(
    "msort",
    recipes=["{V}", "{M}"],
    programs={"msort(x)": [-1.2, 0.3, 0.8], "msort(A)": [[0.5, -1.0, -0.4], [1.5, 0.7, 2.0]]},
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
    recipes=["{V}[{f}({V})]", "{U}[{f}({M}, dim=0)]", "{V}[{f}({M}, descending=True)]"],
    programs={"x[argsort(x)]": [-1.2, 0.3, 0.8], "x[x.argsort(descending=True)]": [0.8, 0.3, -1.2]},
    values={"argsort(A, dim=0)*s": v.s * np.array([[0.0, 0, 1], [1, 1, 0]])},
)

record(
    "np.argsort",
    recipes=["{V}[{f}({V})]"],
    programs={"x[np.argsort(x)]": [-1.2, 0.3, 0.8]},
    values={"np.argsort(A, axis=None)*s": v.s * np.array([1.0, 5, 0, 4, 3, 2])},
)

for _name in ("quantile", "nanquantile"):
    record(
        _name,
        recipes=[
            "{V}, 0.3", "{M}, 0.6, dim=0", "{M}, 0.25, 1, True", "{V}, [0.1, 0.8]", "{V}, 0.5",
            *(f'{{V}}, 0.3, interpolation="{way}"' for way in ("lower", "higher", "midpoint", "nearest")),
        ],
        programs={f"{_name}(x, 0.5)": 0.3, f"{_name}(x, 0.25)": (0.3 - 1.2) / 2,
                  f"A.{_name}(0.25, dim=0)": v.A.min(0) * 0.75 + v.A.max(0) * 0.25},
    )  # fmt: skip
for _prefix in ("", "nan"):
    for _name, _scale in (("quantile", 1.0), ("percentile", 100.0)):
        record(
            f"np.{_prefix}{_name}",
            recipes=[
                f"{{V}}, {0.3 * _scale}",
                f"{{M}}, {0.6 * _scale}, axis=0",
                f'{{M}}, {_scale / 4}, method="lower"',
            ],
            programs={f"np.{_prefix}{_name}(x, {_scale / 4})": (0.3 - 1.2) / 2},
        )

record(
    "nanmedian",
    of_arrays=m.reducing(m.middle),
    cases=c.WHOLE,
    kink=([0.5, 2.0, 2.0], [0.5, 2.0, 3.0]),
    recipes=["{V}", "{M}, dim=1).values", "{M}"],
    programs={"nanmedian(x)": 0.3, "A.nanmedian(dim=1).values": [0.5, 0.7]},
    values={"nanmedian(log(x))": np.log(0.3)},
)

record(
    "np.nanmedian",
    recipes=["{V}", "{M}, axis=1", "{M}"],
    programs={"np.nanmedian(x)": 0.3, "np.nanmedian(b)": -0.05},
    values={"np.nanmedian(log(x))": np.log(0.3) / 2 + np.log(0.8) / 2},
)
