"""Entries put into an array or left out of it, choices among several arrays, and lines between points."""

from __future__ import annotations

import numpy as np

from generator.arrays import Array, array, numbers
from generator.placing import positions, truths
from records.record import record


def inserted(x, place, values, axis=None):
    return Array(np.insert(numbers(x), place, numbers(values), axis))


def deleted(x, places, axis=None):
    return Array(np.delete(numbers(x), positions(places), axis))


def selected(conditions, choices, default=0.0):
    found = numbers(array(default))
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        found = np.where(truths(condition), numbers(choice), found)
    return Array(found)


def line(x, places, heights):
    """Return heights on the lines between points."""
    at, heights = np.asarray(places, dtype=float), numbers(heights)
    found = np.empty(np.shape(numbers(x)), dtype=object)
    for place in np.ndindex(found.shape):
        entry = numbers(x)[place]
        if entry.value < at[0]:
            found[place] = heights[0]
        elif entry.value > at[-1]:
            found[place] = heights[-1]
        else:
            low = max(k for k in range(len(at) - 1) if at[k] <= entry.value)
            share = (entry - at[low]) / (at[low + 1] - at[low])
            found[place] = heights[low] + (heights[low + 1] - heights[low]) * share
    return Array(found)


record(
    "append",
    oracle=lambda x, values, axis=None: Array(np.append(numbers(x), numbers(values), axis)),
    recipes=["{V}, {S}", "{M}, {V}", "[{V}], [{V}], axis=1"],
)

record(
    "insert",
    oracle=inserted,
    recipes=["{V}, 1, {S}", "{M}, 0, {S}, axis=1", "{V}, -1, [{S}, {S}]"],
)

record(
    "delete",
    oracle=deleted,
    recipes=["{V}, 1", "{M}, [0], axis=1", "{M}, -1"],
)  # fmt: skip

record(
    "np.select",
    oracle=selected,
    recipes=["{f}([{S} > 0.05], [{V}], {S})", "{f}([{S} > 0.05, {S} > 0.1], [{V}, {S}])"],
)

record(
    "interp",
    oracle=line,
    recipes=["{S}, [-2.0, 0.31, 2.5], [{S}, {S}, {S}]"],
)
