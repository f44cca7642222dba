"""Whether tensors have memory in common: those of a run, and what others showed before a write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.language.kinds import is_tensor
from gradcli.language.storage import Window, parts_of, root, window_of

Shown = Any
"""A tensor that a list holds, or the ``Window`` that it was of a storage."""


def rows_of(f: Graph, array: Any) -> list[Window]:
    """Return what the entries of a list's array show of its storage."""
    window = window_of(f, array)
    return [window._replace(places=np.asarray(row)) for row in window.places]


def row_of(f: Graph, array: Any, place: int) -> Window:
    """Return what one entry of a list's array shows of its storage."""
    window = window_of(f, array)
    return window._replace(places=np.asarray(window.places[place]))


def by_storage(f: Graph, values: Iterable[Any]) -> dict[Any, list[Shown]]:
    """Return what values show, by the storage that it is of."""
    found: dict[Any, list[Shown]] = defaultdict(list)
    for value in values:
        for part in [value] if isinstance(value, Window) else parts_of(value):
            found[storage(f, part)].append(part)
    return found


def storage(f: Graph, shown: Shown) -> Any:
    """Return the storage of a tensor or of what one showed; what is neither is its own."""
    if isinstance(shown, Window):
        return shown.key
    return root(f, shown) if is_tensor(shown) else ("object", id(shown))


def meets_any(f: Graph, shown: Shown, values: Mapping[Any, Sequence[Shown]]) -> bool:
    """Return whether one of some values, which ``by_storage`` has sorted, shows memory that an entry shows."""
    return any(overlap(f, shown, value) for value in values.get(storage(f, shown), ()))


def meets(f: Graph, shown: Shown, value: Any) -> bool:
    """Return whether a value shows memory that an entry of a list shows."""
    return any(overlap(f, shown, part) for part in ([value] if isinstance(value, Window) else parts_of(value)))


def overlap(f: Graph, a: Shown, b: Shown) -> bool:
    """Return whether two tensors, or what they showed, have entries in common."""
    if a is b or any(not isinstance(each, Window) and not is_tensor(each) for each in (a, b)):
        return a is b
    keys = [each.key if isinstance(each, Window) else root(f, each) for each in (a, b)]
    if keys[0] != keys[1] or any(isinstance(each, np.generic) for each in (a, b)):
        return False
    one, other = (each if isinstance(each, Window) else window_of(f, each) for each in (a, b))
    return one.key == other.key and bool(np.intersect1d(one.places, other.places).size)


def in_common(f: Graph, entries: list[list[Shown]]) -> bool:
    """Return whether two entries of a list have memory in common."""
    places: dict[Any, list[Any]] = defaultdict(list)
    for shown in entries:
        own: dict[Any, set[int]] = defaultdict(set)
        for window in (one if isinstance(one, Window) else window_of(f, one) for one in shown):
            own[window.key] |= set(np.ravel(window.places).tolist())
        for key, found in own.items():
            places[key] += found
    return any(len(set(found)) < len(found) for found in places.values())
