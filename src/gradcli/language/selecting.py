"""Entries of one tensor shown in another: as an operation with its derivative, and as text of the language."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.language.picking import picked
from gradcli.language.trace import Selection
from gradcli.ops.declare import Op
from gradcli.ops.indexing import INDEX, PUT
from gradcli.ops.shaping import EXPAND, RESHAPE, TRANSPOSE
from gradcli.ops.signatures import Index, Indices, Mask, Options, Shape
from gradcli.ops.writing import index_text

MOST_LISTED = 64
"""Entries of a tensor up to which an answer says where each is from."""
MOST_FIXED = 8
"""Axes of which one entry is shown up to which all ways to index them are tried."""


def numbered(shape: Shape) -> Indices:
    """Return the numbers of the entries of an array."""
    return np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)


class Form(NamedTuple):
    """One operation that selects entries, and how it is written behind its argument."""

    op: Op
    static: Options
    text: str


def forms_of(chosen: Selection) -> list[Form]:
    """Return the operations that make a selection of its source, as few as there are."""
    wanted, entries = chosen.chosen, numbered(chosen.shape)
    lengths = ", ".join(map(str, wanted.shape))
    if wanted.shape == entries.shape and np.array_equal(wanted, entries):
        return []
    key = basic_key(wanted, chosen.shape)
    if key is not None:
        return [Form(INDEX, {"key": key}, f"[{index_text(key)}]")]
    if wanted.size == entries.size and np.array_equal(wanted.ravel(), entries.ravel()):
        return [Form(RESHAPE, {"shape": wanted.shape}, f".reshape({lengths})")]
    if wanted.shape == entries.T.shape and np.array_equal(wanted, entries.T):
        return [Form(TRANSPOSE, {"dims": tuple(reversed(range(wanted.ndim)))}, ".T")]
    if is_expanded(wanted, entries):
        return [Form(EXPAND, {"shape": wanted.shape}, f".expand({lengths})")]
    listed = np.array(wanted)
    return [Form(RESHAPE, {"shape": (-1,)}, ".reshape(-1)"), Form(INDEX, {"key": listed}, f"[{index_text(listed)}]")]


def select(f: Graph, source: Any, chosen: Selection) -> Any:
    """Return the entries of ``source`` that are chosen, in the shape of the choice."""
    for op, static, _ in forms_of(chosen):
        source = picked(f, source, static["key"]) if op is INDEX else f(op, source, **static)
    return source


def select_text(name: str, chosen: Selection) -> str:
    """Return what ``select`` does as an expression."""
    return name + "".join(form.text for form in forms_of(chosen))


def is_expanded(wanted: Indices, entries: Indices) -> bool:
    """Return whether a choice repeats a whole array along its axes of length 1, and along new ones."""
    try:
        return np.array_equal(np.broadcast_to(entries, wanted.shape), wanted)
    except ValueError:
        return False


def put_into(f: Graph, x: Any, source: Any, chosen: Selection) -> Any:
    """Return ``x`` with the chosen entries of ``source`` in their places."""
    shown = chosen.chosen >= 0
    key = key_of_source(chosen, shown)
    if key is not None:
        return f(PUT, x, source, key=key)
    return f(PUT, x, select(f, source, Selection(chosen.chosen[shown], chosen.shape)), key=shown)


def key_of_source(chosen: Selection, shown: Mask) -> Index | None:
    """Return the basic index at which a tensor shows the whole source as it is, None where it shows it otherwise."""
    size = int(np.prod(chosen.shape, dtype=np.int64))
    if np.count_nonzero(shown) != size:
        return None
    places = np.full(size, -1)
    places[chosen.chosen[shown]] = np.flatnonzero(shown)
    return None if np.any(places < 0) else basic_key(places.reshape(chosen.shape), chosen.chosen.shape)


def basic_key(wanted: Indices, shape: Shape) -> Index | None:
    """Return the index of integers and slices that picks ``wanted`` of the numbered entries, None where there is none.

    >>> basic_key(np.array([[1, 2], [4, 5]]), (2, 3))
    (slice(None, None, None), slice(1, None, None))
    """
    if not wanted.size or not shape:
        return None
    first = np.unravel_index(wanted.flat[0], shape)
    last = np.unravel_index(wanted.flat[-1], shape)
    fixed = [axis for axis in range(len(shape)) if first[axis] == last[axis]]
    kept = wanted.ndim - (len(shape) - len(fixed))
    if kept < 0 or len(fixed) > MOST_FIXED:
        return None
    entries = numbered(shape)
    for sliced in combinations(fixed, kept):
        lengths = iter(wanted.shape)
        parts: list[Any] = [
            int(first[axis])
            if axis in fixed and axis not in sliced
            else slice_through(int(first[axis]), int(last[axis]), next(lengths), shape[axis])
            for axis in range(len(shape))
        ]
        while len(parts) > 1 and parts[-1] == slice(None):
            parts.pop()
        key = parts[0] if len(parts) == 1 else tuple(parts)
        if np.array_equal(entries[key], wanted):
            return key
    return None


def slice_through(first: int, last: int, count: int, length: int) -> slice:
    """Return the slice of ``count`` entries from ``first`` to ``last``, as short as it is written."""
    step = (last - first) // (count - 1) if count > 1 else 1
    step = step or 1
    end: int | None = last + (1 if step > 0 else -1)
    start: int | None = first
    if step > 0:
        start, end = first or None, None if last + step >= length else end
    elif last + step < 0:
        end = None
    return slice(start, end, None if step == 1 else step)
