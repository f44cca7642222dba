"""Entries put into an array or left out of it, choices among several arrays, and lines between points."""

from __future__ import annotations

from records.record import record

record(
    "append",
    recipes=["{V}, {S}", "{M}, {V}", "[{V}], [{V}], axis=1"],
)

record(
    "insert",
    recipes=["{V}, 1, {S}", "{M}, 0, {S}, axis=1", "{V}, -1, [{S}, {S}]"],
)

record(
    "delete",

    recipes=["{V}, 1", "{M}, [0], axis=1", "{M}, -1"],
)  # fmt: skip

record(
    "np.select",
    recipes=["{f}([{S} > 0.05], [{V}], {S})", "{f}([{S} > 0.05, {S} > 0.1], [{V}, {S}])"],
)

record(
    "interp",
    recipes=["{S}, [-2.0, 0.31, 2.5], [{S}, {S}, {S}]"],
)
