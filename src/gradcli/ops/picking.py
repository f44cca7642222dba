"""Values, vjps and local readings of ops that pick entries by their values."""

from __future__ import annotations

import numpy as np

from gradcli.ops.axes import group_rows, restore
from gradcli.ops.links import Links
from gradcli.ops.reductions import all_entries
from gradcli.ops.signatures import Array, Axes, Forward, Indices, Mask, Options, Test


def shares(y: Array, x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return the share of each entry in the extreme value: 1 for a single one, 1/k for each of k equal ones."""
    hit = np.asarray(x == restore(y, dim, keepdim), dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return hit / np.sum(hit, axis=dim, keepdims=True)


def extreme_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return g shared evenly among the entries that are the extreme."""
    hit = np.asarray(x == restore(y, dim, keepdim), dtype=np.float64)
    return restore(g, dim, keepdim) / np.sum(hit, axis=dim, keepdims=True) * hit


def peak_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return g shared evenly among the entries that are the extreme or nan (``norm_backward`` for p = inf)."""
    hit = (x == restore(y, dim, keepdim)) | np.isnan(x)
    return restore(g, dim, keepdim) / np.sum(hit, axis=dim, keepdims=True) * hit


def whole_extreme_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return g shared evenly where x is the extreme, 0 elsewhere (``evenly_distribute_backward``)."""
    y = restore(y, dim, keepdim)
    hit = np.where(np.isnan(y), np.isnan(x), x == y)
    return np.where(hit, restore(g, dim, keepdim) / np.count_nonzero(hit), 0.0)


def extreme_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each output to the entries that are the extreme, with their shares."""
    del argument
    part = np.ravel(shares(out, values[0], static["dim"], static["keepdim"]))
    columns = np.flatnonzero(part)
    return [Links(group_rows(values[0], static["dim"])[columns], columns, part[columns])]


def many(reduce: Forward) -> Test:
    """Return the test for more than one extreme entry."""
    return lambda x, dim, keepdim: np.sum(x == reduce(x, axis=dim, keepdims=True), axis=dim) > 1


def falling(x: Array, dim: int) -> Indices:
    """Return the positions from the largest to the smallest, nan first; equal ones stay in their order."""
    rising = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return np.shape(x)[dim] - 1 - np.flip(rising, dim)


def in_order(x: Array, dim: int, descending: bool, stable: bool) -> Indices:
    """Return the positions of the entries in order, equal ones as PyTorch leaves them, which is not always stable."""
    found = falling(x, dim) if descending else np.argsort(x, axis=dim, kind="stable")
    if stable:
        return found
    lines, places = np.moveaxis(x, dim, -1), np.moveaxis(found, dim, -1)
    ordered = np.take_along_axis(lines, places, axis=-1)
    tied = np.any(ordered[..., 1:] == ordered[..., :-1], axis=-1)
    if not np.any(tied):
        return found
    from gradcli.ops.tied import sorted_places

    for line in map(tuple, np.argwhere(tied)):
        places[line] = sorted_places(lines[line].tolist(), descending)
    return found


def pick_indices(x: Array, kind: str, dim: int, descending: bool = False, stable: bool = False) -> Indices:
    """Return along ``dim`` the positions that the op called ``kind`` picks, ``dim`` kept."""
    if kind == "sort":
        return in_order(x, dim, descending, stable)
    if kind == "median":
        order = np.argsort(x, axis=dim, kind="stable")
        lower = np.take(order, [(np.shape(x)[dim] - 1) // 2], axis=dim)
        absent = x != x  # noqa: PLR0124 - nan alone differs from itself, in numbers of every kind
        return np.where(np.any(absent, axis=dim, keepdims=True), np.argmax(absent, axis=dim, keepdims=True), lower)
    return (np.argmax if kind == "max" else np.argmin)(x, axis=dim, keepdims=True)


def pick(x: Array, kind: str, dim: int, keepdim: bool = True, **order: bool) -> Array:
    """Return the picked entries."""
    found = np.take_along_axis(x, pick_indices(x, kind, dim, **order), axis=dim)
    return found if keepdim else np.squeeze(found, axis=dim)


def pick_vjp(g: Array, _y: Array, x: Array, *, kind: str, dim: int, keepdim: bool = True, **order: bool) -> Array:
    """Return g put back where each entry was picked."""
    back = np.zeros_like(x)
    np.put_along_axis(back, pick_indices(x, kind, dim, **order), g if keepdim else np.expand_dims(g, dim), axis=dim)
    return back


def has_twin(x: Array, kind: str, dim: int, keepdim: bool = True, **order: bool) -> Mask:
    """Return for each picked entry whether another one along ``dim`` is equal to it."""
    found = pick(x, kind, dim, **order)
    if not np.size(found):
        return np.zeros(np.shape(found), dtype=bool)
    if kind == "sort":
        equal = np.diff(found, axis=dim) == 0
        edge = np.zeros_like(np.take(found, [0], axis=dim), dtype=bool)
        return np.concatenate([edge, equal], axis=dim) | np.concatenate([equal, edge], axis=dim)
    return np.count_nonzero(x == found, axis=dim, keepdims=keepdim) > 1


def pick_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each output to the one entry that it is."""
    del argument
    index = all_entries(values[0]).reshape(np.shape(values[0]))
    where = pick_indices(values[0], **{key: value for key, value in static.items() if key != "keepdim"})
    return [Links(all_entries(out), np.ravel(np.take_along_axis(index, where, axis=static["dim"])))]


def middle_of(x: Array) -> Array:
    """Return the lower median of all entries; nan if one is nan."""
    flat = np.sort(np.ravel(x))
    return flat[-1 if flat[-1] != flat[-1] else (len(flat) - 1) // 2]


def middle(x: Array, dim: Axes, keepdim: bool) -> Array:  # noqa: ARG001
    """Return the lower median of all entries in the shape of a reduction."""
    return np.reshape(middle_of(x), (1,) * np.ndim(x) if keepdim else ())[()]


def at_largest(x: Array, dim: Axes, keepdim: bool) -> Mask:  # noqa: ARG001
    """Return where an entry is the largest."""
    return x == np.max(x, axis=dim, keepdims=True)


def at_smallest(x: Array, dim: Axes, keepdim: bool) -> Mask:  # noqa: ARG001
    """Return where an entry is the smallest."""
    return x == np.min(x, axis=dim, keepdims=True)


def at_middle(x: Array, dim: Axes, keepdim: bool) -> Mask:  # noqa: ARG001
    """Return where an entry is the lower median."""
    return x == middle_of(x)


def several_middles(x: Array, dim: Axes, keepdim: bool) -> Mask:
    """Return whether more than one entry is the lower median."""
    return np.sum(x == middle(x, dim, keepdim)) > 1


def picked_on(piece: Indices, x: Array, kind: str, dim: int, keepdim: bool = True, **order: bool) -> Array:
    """Return the entries along ``dim`` at the positions that were picked."""
    del kind, order
    found = np.take_along_axis(x, piece, axis=dim)
    return found if keepdim else np.squeeze(found, axis=dim)


def pick_text(x: str, kind: str, dim: int, keepdim: bool = True, **order: bool) -> str:
    """Write the call whose values and indices are picked."""
    if kind == "sort":
        return f"sort({x}, dim={dim}{''.join(f', {key}=True' for key, value in order.items() if value)})"
    return f"{kind}({x}, dim={dim}{', keepdim=True' if keepdim else ''})"


def largest(x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return the largest entry along some axes."""
    return np.max(x, axis=dim, keepdims=keepdim)


def smallest(x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return the smallest entry along some axes."""
    return np.min(x, axis=dim, keepdims=keepdim)
