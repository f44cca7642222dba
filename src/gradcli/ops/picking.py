"""Values, vjps and local readings of ops that pick entries by their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.axes import Axes, group_rows, restore
from gradcli.ops.links import Links
from gradcli.ops.reductions import all_entries


def shares(y: Any, x: Any, dim: Axes, keepdim: bool) -> Any:
    """Return the share of each entry in the extreme value: 1 for a single one, 1/k for each of k equal ones."""
    hit = np.asarray(x == restore(y, dim, keepdim), dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return hit / np.sum(hit, axis=dim, keepdims=True)


def extreme_vjp(g: Any, y: Any, x: Any, *, dim: Axes, keepdim: bool) -> Any:
    """Return g shared evenly among the entries that are the extreme."""
    hit = np.asarray(x == restore(y, dim, keepdim), dtype=np.float64)
    return restore(g, dim, keepdim) / np.sum(hit, axis=dim, keepdims=True) * hit


def peak_vjp(g: Any, y: Any, x: Any, *, dim: Axes, keepdim: bool) -> Any:
    """Return g shared evenly among the entries that are the extreme or nan (``norm_backward`` for p = inf)."""
    hit = (x == restore(y, dim, keepdim)) | np.isnan(x)
    return restore(g, dim, keepdim) / np.sum(hit, axis=dim, keepdims=True) * hit


def whole_extreme_vjp(g: Any, y: Any, x: Any, *, dim: Axes, keepdim: bool) -> Any:
    """Return g shared evenly where x is the extreme, 0 elsewhere (``evenly_distribute_backward``)."""
    y = restore(y, dim, keepdim)
    hit = np.where(np.isnan(y), np.isnan(x), x == y)
    return np.where(hit, restore(g, dim, keepdim) / np.count_nonzero(hit), 0.0)


def extreme_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link each output to the entries that are the extreme, with their shares."""
    del argument
    part = np.ravel(shares(out, values[0], static["dim"], static["keepdim"]))
    columns = np.flatnonzero(part)
    return [Links(group_rows(values[0], static["dim"])[columns], columns, part[columns])]


def many(reduce: Any) -> Any:
    """Return the test for more than one extreme entry."""
    return lambda x, dim, keepdim: np.sum(x == reduce(x, axis=dim, keepdims=True), axis=dim) > 1


def falling(x: Any, dim: int) -> Any:
    """Return the positions from the largest to the smallest, nan first; equal ones stay in their order."""
    rising = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return np.shape(x)[dim] - 1 - np.flip(rising, dim)


def pick_indices(x: Any, kind: str, dim: int, descending: bool = False) -> Any:
    """Return along ``dim`` the positions that the op called ``kind`` picks, ``dim`` kept."""
    if kind == "sort":
        return falling(x, dim) if descending else np.argsort(x, axis=dim, kind="stable")
    if kind == "median":
        order = np.argsort(x, axis=dim, kind="stable")
        lower = np.take(order, [(np.shape(x)[dim] - 1) // 2], axis=dim)
        absent = x != x  # noqa: PLR0124 - nan alone differs from itself, in numbers of every kind
        return np.where(np.any(absent, axis=dim, keepdims=True), np.argmax(absent, axis=dim, keepdims=True), lower)
    return (np.argmax if kind == "max" else np.argmin)(x, axis=dim, keepdims=True)


def pick(x: Any, kind: str, dim: int, keepdim: bool = True, descending: bool = False) -> Any:
    """Return the picked entries."""
    found = np.take_along_axis(x, pick_indices(x, kind, dim, descending), axis=dim)
    return found if keepdim else np.squeeze(found, axis=dim)


def pick_vjp(g: Any, _y: Any, x: Any, *, kind: str, dim: int, keepdim: bool = True, descending: bool = False) -> Any:
    """Return g put back where each entry was picked."""
    back = np.zeros_like(x)
    np.put_along_axis(back, pick_indices(x, kind, dim, descending), g if keepdim else np.expand_dims(g, dim), axis=dim)
    return back


def has_twin(x: Any, kind: str, dim: int, keepdim: bool = True, descending: bool = False) -> Any:
    """Return for each picked entry whether another one along ``dim`` is equal to it."""
    found = pick(x, kind, dim, True, descending)
    if not np.size(found):
        return np.zeros(np.shape(found), dtype=bool)
    if kind == "sort":
        equal = np.diff(found, axis=dim) == 0
        edge = np.zeros_like(np.take(found, [0], axis=dim), dtype=bool)
        return np.concatenate([edge, equal], axis=dim) | np.concatenate([equal, edge], axis=dim)
    return np.count_nonzero(x == found, axis=dim, keepdims=keepdim) > 1


def pick_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link each output to the one entry that it is."""
    del argument
    index = all_entries(values[0]).reshape(np.shape(values[0]))
    where = pick_indices(values[0], static["kind"], static["dim"], static.get("descending", False))
    return [Links(all_entries(out), np.ravel(np.take_along_axis(index, where, axis=static["dim"])))]


def middle_of(x: Any) -> Any:
    """Return the lower median of all entries; nan if one is nan."""
    flat = np.sort(np.ravel(x))
    return flat[-1 if flat[-1] != flat[-1] else (len(flat) - 1) // 2]


def middle(x: Any, dim: Axes, keepdim: bool) -> Any:  # noqa: ARG001
    """Return the lower median of all entries in the shape of a reduction."""
    return np.reshape(middle_of(x), (1,) * np.ndim(x) if keepdim else ())[()]


def at_largest(x: Any, dim: Axes, keepdim: bool) -> Any:  # noqa: ARG001
    """Return where an entry is the largest."""
    return x == np.max(x, axis=dim, keepdims=True)


def at_smallest(x: Any, dim: Axes, keepdim: bool) -> Any:  # noqa: ARG001
    """Return where an entry is the smallest."""
    return x == np.min(x, axis=dim, keepdims=True)


def at_middle(x: Any, dim: Axes, keepdim: bool) -> Any:  # noqa: ARG001
    """Return where an entry is the lower median."""
    return x == middle_of(x)


def several_middles(x: Any, dim: Axes, keepdim: bool) -> Any:
    """Return whether more than one entry is the lower median."""
    return np.sum(x == middle(x, dim, keepdim)) > 1


def picked_on(piece: Any, x: Any, kind: str, dim: int, keepdim: bool = True, descending: bool = False) -> Any:
    """Return the entries along ``dim`` at the positions that were picked."""
    del kind, descending
    found = np.take_along_axis(x, piece, axis=dim)
    return found if keepdim else np.squeeze(found, axis=dim)


def pick_text(x: str, kind: str, dim: int, keepdim: bool = True, descending: bool = False) -> str:
    """Write the call whose values and indices are picked."""
    if kind == "sort":
        return f"sort({x}, dim={dim}{', descending=True' if descending else ''})"
    return f"{kind}({x}, dim={dim}{', keepdim=True' if keepdim else ''})"


def largest(x: Any, dim: Axes, keepdim: bool) -> Any:
    """Return the largest entry along some axes."""
    return np.max(x, axis=dim, keepdims=keepdim)


def smallest(x: Any, dim: Axes, keepdim: bool) -> Any:
    """Return the smallest entry along some axes."""
    return np.min(x, axis=dim, keepdims=keepdim)
