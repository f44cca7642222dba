"""Entries put into an array or left out of it, choices among several arrays, and lines between points."""

from __future__ import annotations

import numpy as np

from records import values as v
from records.record import record

record(
    "append",
    recipes=["{V}, {S}", "{M}, {V}", "[{V}], [{V}], axis=1"],
    programs={"np.append(x, b)": np.append(v.x, v.b), "np.append(A, A, axis=0)": np.append(v.A, v.A, axis=0)},
)

record(
    "insert",
    recipes=["{V}, 1, {S}", "{M}, 0, {S}, axis=1", "{V}, -1, [{S}, {S}]"],
    programs={
        "np.insert(x, 1, s)": np.insert(v.x, 1, v.s),
        "np.insert(A, 1, x, axis=0)": np.insert(v.A, 1, v.x, axis=0),
        "np.insert(A, 3, b, axis=1)": np.insert(v.A, 3, v.b, axis=1),
        "np.insert(A, -1, s)": np.insert(v.A, -1, v.s),
    },
)

record(
    "delete",
    recipes=["{V}, 1", "{M}, [0], axis=1", "{M}, -1"],
    programs={"np.delete(x, [0, 2])": v.x[1:2], "np.delete(A, 0, axis=1)": v.A[:, 1:], "np.delete(A, 1)": np.delete(
        v.A, 1)},
)  # fmt: skip

record(
    "np.select",
    recipes=["{f}([{S} > 0.05], [{V}], {S})", "{f}([{S} > 0.05, {S} > 0.1], [{V}, {S}])"],
    programs={
        "np.select([x < 0, x > 0.5], [x, x**2])": np.select([v.x < 0, v.x > 0.5], [v.x, v.x**2]),
        "np.select([x < 0], [p], default=s)": np.where(v.x < 0, v.p, v.s),
    },
)

record(
    "interp",
    recipes=["{S}, [-2.0, 0.31, 2.5], [{S}, {S}, {S}]"],
    programs={
        "np.interp(x, [-1.0, 0.5, 0.7], p)": np.interp(v.x, [-1.0, 0.5, 0.7], v.p),
        "np.interp(s, p - 0.1, x)": np.interp(v.s, v.p - 0.1, v.x),
        "np.interp(A, [0.0, 0.6, 1.0], x, left=s, right=5.0)": np.interp(v.A, [0.0, 0.6, 1.0], v.x, v.s, 5.0),
        "np.interp(x, [0.5], [2.0])": np.full(3, 2.0),
    },
)
