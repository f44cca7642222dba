"""Reductions that are made of others, differences, areas, and running sums in logarithms."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from generator import arrays
from generator import functions as f
from records import constants as c
from records import mathematics as m
from records.record import record


def between(x, dim):
    """Return an array from its second layer on, and up to the last but one."""
    data = np.moveaxis(arrays.numbers(x), dim, 0)
    return tuple(arrays.Array(np.moveaxis(part, 0, dim)) for part in (data[1:], data[:-1]))


def joined(parts, dim):
    """Return arrays end to end."""
    return arrays.Array(np.concatenate([arrays.numbers(part) for part in parts if part is not None], axis=dim))


def diff(x, n=1, dim=-1, prepend=None, append=None):
    """Return the differences of neighbours, n times over."""
    found = joined([prepend, x, append], dim)
    for _ in range(int(n)):
        after, before = between(found, dim)
        found = after - before
    return found


def slopes(x, dim, h, edge_order):
    """Return the slope at each place of evenly spaced numbers."""
    layers = [arrays.Array(part) for part in np.moveaxis(arrays.numbers(x), dim, 0)]
    inner = [(after - before) / (2 * h) for before, after in zip(layers, layers[2:], strict=False)]
    if edge_order == 1:
        ends = [(layers[1] - layers[0]) / h], [(layers[-1] - layers[-2]) / h]
    else:
        ends = (
            [(layers[0] * -3 + layers[1] * 4 - layers[2]) / (2 * h)],
            [(layers[-1] * 3 - layers[-2] * 4 + layers[-3]) / (2 * h)],
        )
    return arrays.Array(np.stack([arrays.numbers(part) for part in (*ends[0], *inner, *ends[1])], axis=dim))


def gradient(x, spacing=1, dim=None, edge_order=1):
    """Return the slopes along each axis."""
    dims = range(arrays.array(x).ndim) if dim is None else [dim]
    return [slopes(x, axis, spacing, edge_order) for axis in dims]


def numpy_gradient(x, spacing=1, dim=None, edge_order=1):
    """Return the slopes along each axis, alone where there is one."""
    found = gradient(x, spacing, dim, edge_order)
    return found[0] if len(found) == 1 else found


def areas(y, x, dx, dim):
    """Return the area between each two neighbours."""
    after, before = between(y, dim)
    if x is None:
        return (after + before) * (1 if dx is None else dx) / 2
    right, left = between(x, -1)
    return (after + before) * (right - left) / 2


def trapezoid(y, x=None, dx=None, dim=-1):
    """Return the area by the rule of trapezoids."""
    return f.sum_(areas(y, x, dx, dim), dim)


def average(x, dim=None, weights=None, keepdim=False):
    """Return the mean with weights."""
    if weights is None:
        return f.mean(x, dim, keepdim)
    w = arrays.array(weights)
    spread = w * (arrays.array(x) * 0 + 1)
    return f.sum_(arrays.array(x) * w, dim, keepdim) / f.sum_(spread, dim, keepdim)


def logcumsumexp(x, dim):
    """Return the logarithm of the running sum of exp x."""
    return f.log(f.cumsum(f.exp(x), dim))


for _name, _rule in (
    ("nansum", f.sum_), ("nanmean", f.mean), ("np.nanprod", f.prod), ("np.nanmax", f.amax), ("np.nanmin", f.amin),
):  # fmt: skip
    record(
        _name,
        oracle=_rule,
        recipes=["{V}", "{M}, 0" if not _name.startswith("np.") else "{M}, axis=0", "{M}"],
    )

record(
    "aminmax",
    oracle=lambda x, dim=None, keepdim=False: (f.amin(x, dim, keepdim), f.amax(x, dim, keepdim)),
    recipes=["{V})[0]", "{M}, dim=1)[1]", "{M}, dim=0, keepdim=True)[0]"],
)

record(
    "np.ptp",
    oracle=lambda x, dim=None, keepdim=False: f.amax(x, dim, keepdim) - f.amin(x, dim, keepdim),
    recipes=["{V}", "{M}, axis=1"],
)

record(
    "np.average",
    oracle=average,
    recipes=["{V}", "{V}, weights={V:0.3,2}", "{M}, axis=1, weights={V:0.3,2}", "{M}, axis=0"],
)

for _name, _rule in (("std_mean", f.std), ("var_mean", f.var)):
    record(
        _name,
        oracle=lambda x, dim=None, rule=_rule, **how: (
            rule(x, dim, **how), f.mean(x, dim, **{k: v for k, v in how.items() if k == "keepdim"})),
        recipes=["{V:-4,4})[0]", "{M:-4,4}, 0)[1]", "{M:-4,4}, dim=1, correction=0)[0]"],
    )  # fmt: skip

record(
    "np.cumprod",
    oracle=lambda x, dim=None: arrays.Array(
        np.multiply.accumulate(arrays.numbers(x) if dim is not None else arrays.numbers(x).ravel(), axis=dim or 0)
    ),
    recipes=["{M}", "{M}, axis=1"],
)

record(
    "diff",
    oracle=diff,
    recipes=["{V}", "{M}, dim=0", "{T}, 1, 2", "{V}, prepend={V}", "{V}, append={U}, n=2"],
)  # fmt: skip

record(
    "gradient",
    oracle=gradient,
    recipes=["{V})[0]", "{M})[1]", "{V}, spacing=0.5)[0]", "{V}, dim=0, edge_order=1)[0]"],
)  # fmt: skip

record(
    "np.gradient",
    oracle=numpy_gradient,
    recipes=["{V}", "{V}, 0.5", "{M}, axis=1", "{M})[0]"],
)

record(
    "trapezoid",
    oracle=trapezoid,
    recipes=["{V}", "{M}, dx=0.5", "{M}, dim=0", "{V}, {V}", "{M}, {V}"],
)

record(
    "cumulative_trapezoid",
    oracle=lambda y, x=None, dx=None, dim=-1: f.cumsum(areas(y, x, dx, dim), dim),
    recipes=["{V}", "{M}, dx=0.5", "{M}, dim=0", "{V}, {V}"],
)

record(
    "logcumsumexp",
    of_arrays=m.along(lambda line, i: mp.log(mp.fsum(mp.exp(x) for x in line[: i + 1]))),
    cases=c.ALONG,
    oracle=logcumsumexp,
    recipes=["{V:-3,3}, 0", "{M:-3,3}, 1", "{M:-3,3}, dim=0"],
)  # fmt: skip
