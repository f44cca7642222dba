"""Reductions that are made of others, differences, areas, and running sums in logarithms."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records import values as v
from records.record import record

for _name, _value in (
    ("nansum", np.sum), ("nanmean", np.mean), ("np.nanprod", np.prod), ("np.nanmax", np.max), ("np.nanmin", np.min),
):  # fmt: skip
    record(
        _name,
        recipes=["{V}", "{M}, 0" if not _name.startswith("np.") else "{M}, axis=0", "{M}"],
        programs={f"{_name}(x)": _value(v.x), f"{_name}(A, 1)": _value(v.A, axis=1)},
        values={f"{_name}(log(x))": _value(np.log([0.3, 0.8]))},
    )

record(
    "aminmax",
    recipes=["{V})[0]", "{M}, dim=1)[1]", "{M}, dim=0, keepdim=True)[0]"],
    programs={"aminmax(x)[0]": -1.2, "A.aminmax(dim=0)[1]": [1.5, 0.7, 2.0]},
)

record(
    "np.ptp",
    recipes=["{V}", "{M}, axis=1"],
    programs={"np.ptp(x)": 2.0, "np.ptp(A, axis=0)": np.ptp(v.A, axis=0)},
)

record(
    "np.average",
    recipes=["{V}", "{V}, weights={V:0.3,2}", "{M}, axis=1, weights={V:0.3,2}", "{M}, axis=0"],
    programs={
        "np.average(x, weights=p)": np.sum(v.x * v.p) / np.sum(v.p),
        "np.average(A, axis=1, weights=p)": v.A @ v.p / np.sum(v.p),
    },
)

for _name, _value in (("std_mean", np.std), ("var_mean", np.var)):
    record(
        _name,
        recipes=["{V:-4,4})[0]", "{M:-4,4}, 0)[1]", "{M:-4,4}, dim=1, correction=0)[0]"],
        programs={
            f"{_name}(x)[0]": _value(v.x, ddof=1),
            f"{_name}(A, dim=1)[1]": np.mean(v.A, axis=1),
        },
    )  # fmt: skip

record(
    "np.cumprod",
    recipes=["{M}", "{M}, axis=1"],
    programs={"np.cumprod(A)": np.cumprod(v.A), "np.cumprod(A, axis=0)": np.cumprod(v.A, axis=0)},
)

record(
    "diff",
    recipes=["{V}", "{M}, dim=0", "{T}, 1, 2", "{V}, prepend={V}", "{V}, append={U}, n=2"],
    programs={
        "diff(x)": np.diff(v.x), "A.diff(n=2)": np.diff(v.A, 2), "np.diff(A, axis=0)": np.diff(v.A, axis=0),
        "diff(x, prepend=p)": np.diff(v.x, prepend=v.p),
    },
)  # fmt: skip

record(
    "gradient",
    recipes=["{V})[0]", "{M})[1]", "{V}, spacing=0.5)[0]", "{V}, dim=0, edge_order=1)[0]"],
    programs={"gradient(x)[0]": np.gradient(v.x), "gradient(x, spacing=0.5, edge_order=2)[0]": np.gradient(
        v.x, 0.5, edge_order=2), "torch.gradient(A)[1]": np.gradient(v.A)[1]},
)  # fmt: skip

record(
    "np.gradient",
    recipes=["{V}", "{V}, 0.5", "{M}, axis=1", "{M})[0]"],
    programs={
        "np.gradient(x)": np.gradient(v.x),
        "np.gradient(A, axis=1, edge_order=2)": np.gradient(v.A, axis=1, edge_order=2),
        "np.gradient(x, [0.0, 0.5, 2.0])": np.gradient(v.x, [0.0, 0.5, 2.0]),
        "np.gradient(x, [0.0, 0.5, 2.0], edge_order=2)": np.gradient(v.x, [0.0, 0.5, 2.0], edge_order=2),
    },
)

record(
    "trapezoid",
    recipes=["{V}", "{M}, dx=0.5", "{M}, dim=0", "{V}, {V}", "{M}, {V}"],
    programs={
        "trapezoid(x)": v.x[0] / 2 + v.x[1] + v.x[2] / 2,
        "trapezoid(x, p)": 0.15 * (v.x[0] + v.x[1]) + 0.1 * (v.x[1] + v.x[2]),
        "np.trapz(A, dx=2.0, axis=0)": v.A[0] + v.A[1],
    },
)

record(
    "cumulative_trapezoid",
    recipes=["{V}", "{M}, dx=0.5", "{M}, dim=0", "{V}, {V}"],
    programs={"cumulative_trapezoid(x)": np.cumsum((v.x[1:] + v.x[:-1]) / 2)},
)

record(
    "logcumsumexp",
    of_arrays=m.along(lambda line, i: mp.log(mp.fsum(mp.exp(x) for x in line[: i + 1]))),
    cases=c.ALONG,
    recipes=["{V:-3,3}, 0", "{M:-3,3}, 1", "{M:-3,3}, dim=0"],
    programs={"logcumsumexp(x, 0)": np.log(np.cumsum(np.exp(v.x))), "A.logcumsumexp(dim=1)": np.log(
        np.cumsum(np.exp(v.A), axis=1))},
)  # fmt: skip
