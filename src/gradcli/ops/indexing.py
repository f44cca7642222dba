"""Entries picked by an index, and entries written at one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.shaping import joined, mover


def index_vjp(g: Any, y: Any, x: Any, *, key: Any) -> Any:
    """Return zeros of the shape of x with g added where the index picked; repeated indices add up."""
    del y
    back = np.zeros(x.shape)
    if type(key) is int:
        back[key] = g
        return back
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(part, np.ndarray) for part in parts):
        np.add.at(back, key, g)
    else:
        back[key] = g
    return back


def put(x: Any, value: Any, *, key: Any) -> Any:
    """Return a copy of x with ``value`` written at ``key``; it broadcasts."""
    result = np.array(x, dtype=np.result_type(x, value))
    result[key] = value
    return result


def put_vjp_base(g: Any, y: Any, x: Any, value: Any, *, key: Any) -> Any:
    """Return g with zeros where the value was written."""
    del y, x, value
    back = np.array(g)
    back[key] = 0.0
    return back


def index_size(x: Any, *, key: Any) -> int:
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


def put_size(x: Any, value: Any, *, key: Any) -> int:
    """Return how many entries an indexed assignment touches at most: those of a copy, or those that it writes."""
    del value
    return max(int(np.size(x)), index_size(x, key=key))


# fmt: off
INDEX = mover("index", lambda x, *, key: x[key], index_vjp, view=True, size=index_size)
PUT   = joined("put", put, (put_vjp_base, lambda g, y, x, value, *, key: g[key]), size=put_size)
# fmt: on
