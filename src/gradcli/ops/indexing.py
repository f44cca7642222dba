"""Entries picked by an index, and entries written at one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.ops.parts import Oddity
from gradcli.ops.putting_back import index_text_back, put_text_back
from gradcli.ops.shaping import joined, moved_local, mover
from gradcli.ops.signatures import Array, Exact, Index, Indices, Number
from gradcli.ops.writing import index_text


def picked(x: Array, *, key: Index) -> Array:
    """Return the entries at ``key``; what lists pick from a matrix lies row by row in memory, as in PyTorch."""
    found = x[key]
    if type(found) is not np.ndarray:
        return np.asarray(found) if x.dtype == object else found  # of many digits an entry is no array by itself
    if found.ndim < 2 or x.ndim > 2 or np.may_share_memory(found, x):
        return found
    return np.ascontiguousarray(found)


def index_vjp(g: Array, _y: Array, x: Array, *, key: Index) -> Array:
    """Return zeros of the shape of x with g added where the index picked; repeated indices add up."""
    back = np.zeros(x.shape)
    if type(key) is int:
        back[key] = g
        return back
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(part, np.ndarray) for part in parts):
        np.add.at(back, key, g)  # type: ignore[arg-type] # numpy types lists
    else:
        back[key] = g
    return back


def put(x: Array, value: Number, *, key: Index) -> Array:
    """Return a copy of x with ``value`` written at ``key``; it broadcasts."""
    result = np.array(x, dtype=np.result_type(x, value))
    result[key] = value
    return result


def put_vjp_base(g: Array, _y: Array, _x: Array, _value: Array, *, key: Index) -> Array:
    """Return g with zeros where the value was written."""
    back = np.array(g)
    back[key] = 0.0
    return back


def times_written(x: Array, key: Index) -> Indices:
    """Return how often an assignment at ``key`` writes each entry of ``x``, in flat order."""
    return np.bincount(np.ravel(np.arange(np.size(x)).reshape(np.shape(x))[key]), minlength=np.size(x))


def repeated_index(active: tuple[bool, ...], out: Array, x: Array, value: Number, *, key: Index) -> str:
    """Return what PyTorch makes of an entry that a differentiated value is written to more than once, if there is one.

    A slice or a mask has each entry once, and a list may not.
    """
    del out, value
    parts = key if isinstance(key, tuple) else (key,)
    if not active[1] or not any(isinstance(part, np.ndarray) and part.dtype != np.bool_ for part in parts):
        return ""
    times = times_written(x, key)
    if not np.any(times > 1):
        return ""
    first = int(np.argmax(times > 1))
    place = ",".join(str(int(i)) for i in np.unravel_index(first, np.shape(x)))
    return (
        f"one assignment writes entry [{place}] {times[first]} times and only the last value stays, but PyTorch's "
        f"backward hands its whole cotangent to each of the {times[first]} values"
    )


def index_size(x: Array, *, key: Index) -> int:
    """Return how many entries an index picks at most: as many as its lists, broadcast, times the axes they leave."""
    parts = key if isinstance(key, tuple) else (key,)
    lists = [part for part in parts if isinstance(part, np.ndarray) and part.dtype != np.bool_]
    if not lists:
        return int(np.size(x))
    try:
        picked = math.prod(np.broadcast_shapes(*(part.shape for part in lists)))
    except ValueError:
        return 0
    return picked * math.prod(int(length) for length in sorted(np.shape(x))[len(lists) :])


def exact_put(x: Exact, value: Exact, *, key: Index) -> Exact:
    """Return a copy of x with ``value`` written at ``key``, in exact numbers."""
    result = np.array(x)
    result[key] = value[()]
    return result


INDEX = mover(
    "index",
    picked,
    index_vjp,
    view=True,
    size=index_size,
    write=lambda call: f"{call.tight[0]}[{index_text(call.static['key'])}]",
    backward_text=index_text_back,
)
PART = replace(INDEX, several=True)
"""One of the parts that chunk, split, unbind and ``a, b = x`` give."""
PUT = joined(
    "put",
    put,
    (put_vjp_base, lambda g, _y, _x, _value, *, key: g[key]),
    moved_local(put),
    size=lambda x, value, *, key: max(int(np.size(x)), index_size(x, key=key)),
    oddity=Oddity("repeated-index", repeated_index),
    torch_saves=("own",),
    exactly=exact_put,
    listed=True,
    backward_text=put_text_back,
)


def holds_positions(op: Any) -> bool:
    """Return whether an op takes positions, or the classes of a target, from an input as they are."""
    return op.name in ("places", "detach")


def is_index(op: Any) -> bool:
    """Return whether an op is ``x[key]``, of one result or of several."""
    return bool(op.name == "index")
