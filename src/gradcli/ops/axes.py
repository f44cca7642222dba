"""Axes: reading ``dim=``, putting reduced axes back, whose entries belong to which output, how copies lie in memory."""

from __future__ import annotations

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.signatures import Array, Axes, Indices, Static, Tensor

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Subscripts for axes."""


def one_axis(dim: Static, ndim: int) -> int:
    """Return ``dim`` as an axis counted from 0; a scalar has one axis by courtesy, as in PyTorch."""
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise GradcliError("value", f"dim must be an integer, not {dim!r}")
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise GradcliError(
            "shape",
            f"dim={dim} is out of range for an array with {ndim} axes",
            hint=f"it can be {-bound} to {bound - 1}",
        )
    return dim % bound


def number(value: Static, name: str) -> float:
    """Return a plain number; raises ``value`` for anything else."""
    if not isinstance(value, int | float):
        raise GradcliError("value", f"{name} must be a number, not {value!r}")
    return float(value)


def whole(value: Static, name: str) -> int:
    """Return ``value`` if it is an integer; raises ``value`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise GradcliError("value", f"{name} must be an integer, not {value!r}")
    return value


def read_axes(dim: Static, ndim: int, empty: str = "none") -> Axes:
    """Return the axes that ``dim`` names, all of them for None; raises ``shape`` for one out of range or twice.

    ``empty`` says what an empty tuple means: ``none`` of the axes, ``all``, or ``refused``.
    """
    if dim == () and empty == "refused":
        raise GradcliError("value", "dim is empty: PyTorch refuses that here", hint="leave dim out for all axes")
    if dim is None or (dim == () and empty == "all"):
        return tuple(range(ndim))
    dims = dim if isinstance(dim, tuple) else (dim,)
    axes = tuple(one_axis(item, ndim) for item in dims)
    if len(set(axes)) != len(axes):
        raise GradcliError("shape", f"dim={dim!r} names an axis twice")
    return axes if ndim else ()


def empty_of(library: str, torch: str = "all") -> str:
    """Return what an empty ``dim`` means under the names of a library: nothing is reduced in NumPy."""
    return "none" if library == "np" else torch


def restore(g: Array, axes: Axes, keepdim: bool) -> Array:
    """Return a reduced array with its reduced axes put back with length 1."""
    return g if keepdim or not axes or isinstance(g, np.float64) else np.expand_dims(g, axes)


WRITTEN = 4096
"""Entries up to which one number is written so often: beyond, a view reads it from one place, which is dear to make."""


def spread_back(g: Array, axes: Axes, keepdim: bool, x: Array) -> Array:
    """Return the cotangent of a sum at each of its terms: that of the sum."""
    if isinstance(g, np.float64) and x.size <= WRITTEN:
        return np.full(x.shape, g)
    return np.broadcast_to(restore(g, axes, keepdim), x.shape)


def unbroadcast(g: Array, shape: tuple[int, ...]) -> Array:
    """Sum a cotangent over the axes along which an argument of ``shape`` was broadcast; a single one is a number."""
    if g.shape == shape:
        return g if shape else g[()]
    lead = g.ndim - len(shape)
    if lead >= 0:
        stretched = tuple(lead + axis for axis, length in enumerate(shape) if length == 1 != g.shape[lead + axis])
        axes = (*range(lead), *stretched)
        summed = np.sum(fold_rows(g) if 0 in axes else g, axis=axes, keepdims=True)
        g = summed.reshape(summed.shape[lead:])
    return np.broadcast_to(g, shape)[()]


ROWS = 1024
"""Rows that numpy adds up one after the other: beyond, the rounding of so many additions counts."""


def fold_rows(g: Array) -> Array:
    """Return an array with no more than so many rows and the same sum over them, by sums of blocks of rows."""
    rows = len(g) // ROWS
    if g.ndim == 1 or rows < 2:
        return g
    blocks = g[: rows * ROWS].reshape(rows, ROWS, *g.shape[1:])
    return np.concatenate([fold_rows(np.sum(blocks, axis=1)), np.sum(g[rows * ROWS :], axis=0, keepdims=True)])


def group_rows(x: Array, axes: Axes) -> Indices:
    """Return, for each entry of ``x`` in flat order, the flat index of the output that it is reduced into."""
    shape = np.shape(x)
    kept = tuple(1 if axis in axes else length for axis, length in enumerate(shape))
    flat = np.arange(int(np.prod(kept)), dtype=np.intp).reshape(kept)
    return np.broadcast_to(flat, shape).ravel()


def require_entries(x: Tensor, axes: Axes, name: str) -> None:
    """Refuse to reduce over no entries at all where the result would not be a number."""
    if any(x.shape[axis] == 0 for axis in axes):
        raise GradcliError("shape", f"{name} of no entries: the array has shape {x.shape}")


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
