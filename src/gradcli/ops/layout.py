"""How a copy of an array lies in memory: as PyTorch's clone does, which decides what a view of it can show."""

from __future__ import annotations

import numpy as np

from gradcli.ops.signatures import Array


def cloned(x: Array) -> Array:
    """Return a copy without gaps whose axes lie in memory in the order of those of x.

    >>> columns = np.arange(6.0).reshape(2, 3).T
    >>> cloned(columns).flags.f_contiguous, cloned(np.broadcast_to(columns[0], (3, 2))).flags.c_contiguous
    (True, True)
    """
    if not isinstance(x, np.ndarray) or x.flags.c_contiguous:
        return np.array(x)
    order = axes_in_memory(x)
    return np.array(x.transpose(order), order="C").transpose(np.argsort(order))


def axes_in_memory(x: Array) -> list[int]:
    """Return the axes of an array from the outermost to the innermost in memory.

    An axis of step 0, along which one entry stands for all, keeps its place among those beside it, as in PyTorch's
    ``infer_dense_strides``.
    """
    inward = list(range(x.ndim))[::-1]
    for last in range(1, x.ndim):
        place = last
        for before in range(last - 1, -1, -1):
            order = compared(x, inward[before], inward[place])
            if order > 0:
                inward[before], inward[place] = inward[place], inward[before]
                place = before
            elif order < 0:
                break
    return inward[::-1]


def compared(x: Array, a: int, b: int) -> int:
    """Return 1 where axis a lies outside of axis b in memory, -1 inside of it, 0 where neither can be told."""
    one, other = x.strides[a], x.strides[b]
    if not one or not other:
        return 0
    if one == other:
        return int(x.shape[a] > x.shape[b])
    return 1 if one > other else -1
