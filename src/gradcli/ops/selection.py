"""Functions that pick entries by their values: max, min, median, sort, and the indices themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import MAXIMUM, MINIMUM
from gradcli.ops.axes import Axes, empty_of, group_rows, one_axis, read_axes, require_entries, restore
from gradcli.ops.declare import (
    Apply,
    Kink,
    Library,
    Links,
    Op,
    Pair,
    Static,
    Tensor,
    declare,
    function,
    no_links,
    value_of,
)
from gradcli.ops.indexing import INDEX
from gradcli.ops.reductions import MEAN, all_entries
from gradcli.ops.shaping import CLONE, RESHAPE


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
    """Return g shared evenly where x is the extreme, 0 elsewhere even for infinite g (``evenly_distribute_backward``)."""
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


def pick_vjp(g: Any, y: Any, x: Any, *, kind: str, dim: int, keepdim: bool = True, descending: bool = False) -> Any:
    """Return g put back where each entry was picked."""
    del y
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


# fmt: off
AMAX   = declare(Op("amax", lambda x, dim, keepdim: np.max(x, axis=dim, keepdims=keepdim), (extreme_vjp,), local=extreme_local, moves=True, kink=Kink(many(np.max), "the gradient is shared evenly")))
MAX    = declare(Op("max", lambda x, dim, keepdim: np.max(x, axis=dim, keepdims=keepdim), (whole_extreme_vjp,), local=extreme_local, moves=True, kink=Kink(many(np.max), "the gradient is shared evenly")))
MIN    = declare(Op("min", lambda x, dim, keepdim: np.min(x, axis=dim, keepdims=keepdim), (whole_extreme_vjp,), local=extreme_local, moves=True, kink=Kink(many(np.min), "the gradient is shared evenly")))
AMIN   = declare(Op("amin", lambda x, dim, keepdim: np.min(x, axis=dim, keepdims=keepdim), (extreme_vjp,), local=extreme_local, moves=True, kink=Kink(many(np.min), "the gradient is shared evenly")))
MEDIAN = declare(Op("median", middle, (whole_extreme_vjp,), local=extreme_local, moves=True, kink=Kink(lambda x, dim, keepdim: np.sum(x == middle(x, dim, keepdim)) > 1, "the gradient is shared evenly")))
PICK   = declare(Op("pick", pick, (pick_vjp,), local=pick_local, moves=True, torch_saves=("",), kink=Kink(has_twin, "the entry at the index that is given gets all")))
ARGMAX = declare(Op("argmax", lambda x, dim, keepdim: np.argmax(x, axis=dim, keepdims=keepdim), (None,), local=no_links))
ARGMIN = declare(Op("argmin", lambda x, dim, keepdim: np.argmin(x, axis=dim, keepdims=keepdim), (None,), local=no_links))
ANY    = declare(Op("any", lambda x, dim, keepdim: np.any(x, axis=dim, keepdims=keepdim), (None,), local=no_links))
ALL    = declare(Op("all", lambda x, dim, keepdim: np.all(x, axis=dim, keepdims=keepdim), (None,), local=no_links))
# fmt: on
PEAK = replace(AMAX, vjps=(peak_vjp,))
"""``amax`` of sizes, as in the norm of order inf: with the gradient that PyTorch has there where an entry is nan."""


def extreme(f: Apply, x: Any, dim: Any, keepdim: Any, kind: str) -> Any:
    """Return max or min as PyTorch has it: shared among ties without dim, the first of them with dim."""
    everywhere = MAX if kind == "max" else MIN
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, kind)
    if dim is None or not x.ndim:
        return f(everywhere, x, dim=axes, keepdim=bool(keepdim))
    if isinstance(dim, tuple):
        raise GradcliError("value", f"{kind} takes one dim", hint=f"a{kind} takes several")
    return picked(f, x, kind, axes[0], bool(keepdim))


def picked(f: Apply, x: Any, kind: str, axis: int, keepdim: bool, **static: Any) -> Any:
    """Return the picked values together with their indices, as PyTorch's named pair."""
    values = f(PICK, x, kind=kind, dim=axis, keepdim=keepdim, **static)
    where = pick_indices(value_of(x), kind, axis, **static)
    return Pair(values, where if keepdim else np.squeeze(where, axis=axis))


def either(f: Apply, x: Any, other: Any, keepdim: Any, kind: str) -> Any:
    """Return PyTorch's max(x, 0) along an axis or max(x, y) entry by entry, told apart by the second argument."""
    if other is None or isinstance(other, int | tuple):
        return extreme(f, x, other, keepdim, kind)
    return f(MAXIMUM if kind == "max" else MINIMUM, x, other)


@function("max", "t.", "reductions")
def build_max(f: Apply, x: Tensor, dim: Static | Tensor = None, keepdim: Static = False) -> Any:
    """the largest entry (ties share), along dim the first of them, or of two arrays maximum"""
    return either(f, x, dim, keepdim, "max")


@function("min", "t.", "reductions")
def build_min(f: Apply, x: Tensor, dim: Static | Tensor = None, keepdim: Static = False) -> Any:
    """the smallest entry (ties share), along dim the first of them, or of two arrays minimum"""
    return either(f, x, dim, keepdim, "min")


@function("amax np.max numpy.max", "tn.", "reductions", op=AMAX)
def build_amax(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False, library: Library = "torch") -> Any:
    """the largest entry, also along dim; ties share the gradient"""
    axes = read_axes(dim, x.ndim, empty_of(library))
    require_entries(x, axes, "amax")
    return f(AMAX, x, dim=axes, keepdim=bool(keepdim))


@function("amin np.min numpy.min", "tn.", "reductions", op=AMIN)
def build_amin(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False, library: Library = "torch") -> Any:
    """the smallest entry, also along dim; ties share the gradient"""
    axes = read_axes(dim, x.ndim, empty_of(library))
    require_entries(x, axes, "amin")
    return f(AMIN, x, dim=axes, keepdim=bool(keepdim))


@function("median", "t.", "reductions", op=MEDIAN)
def build_median(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Any:
    """the middle entry, the lower of two (np.median: their mean)"""
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, "median")
    if dim is None or not x.ndim:
        return f(MEDIAN, x, dim=axes, keepdim=bool(keepdim))
    return picked(f, x, "median", one_axis(dim, x.ndim), bool(keepdim))


@function("sort", "t.", "reductions", op=PICK)
def build_sort(f: Apply, x: Tensor, dim: Static = -1, descending: Static = False) -> Any:
    """the entries in order along dim, the last axis unless said otherwise"""
    if not x.ndim:
        return Pair(x, np.zeros((), dtype=np.intp))
    return picked(f, x, "sort", one_axis(dim, x.ndim), keepdim=True, descending=bool(descending))


@function("np.sort numpy.sort", "", "reductions")
def build_numpy_sort(f: Apply, x: Tensor, dim: Static = -1) -> Any:
    """the entries in order along axis, as numpy has it"""
    return f(PICK, x, kind="sort", dim=one_axis(dim, x.ndim), descending=False)


@function("np.median numpy.median", "", "reductions")
def build_numpy_median(f: Apply, x: Tensor, dim: Static = None) -> Any:
    """the middle entry, or the mean of the two, as numpy has it"""
    axes = read_axes(dim, x.ndim)
    require_entries(x, axes, "median")
    if dim == ():
        return f(CLONE, x)
    if dim is not None and not x.ndim:
        raise GradcliError("shape", "one number has no axis")
    flat = f(RESHAPE, x, shape=(-1,)) if dim is None else x
    axis = 0 if dim is None else one_axis(dim, x.ndim)
    count = flat.shape[axis]
    ordered = f(PICK, flat, kind="sort", dim=axis, descending=False)
    middle_two = slice((count - 1) // 2, count // 2 + 1)
    key = (*(slice(None) for _ in range(axis)), middle_two)
    return f(MEAN, f(INDEX, ordered, key=key), dim=(axis,), keepdim=False)


def position(op: Op) -> Any:
    """Return the builder of argmax or argmin."""

    def build(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Any:
        axes = read_axes(dim, x.ndim, "refused")
        require_entries(x, axes, op.name)
        axis = None if dim is None or not x.ndim else one_axis(dim, x.ndim)
        return f(op, x, dim=axis, keepdim=bool(keepdim))

    build.__doc__ = f"the position of the {'largest' if op is ARGMAX else 'smallest'} entry; it has no derivative"
    return build


def truth(op: Op) -> Any:
    """Return the builder of any or all."""

    def build(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Any:
        return f(op, x, dim=read_axes(dim, x.ndim), keepdim=bool(keepdim))

    build.__doc__ = f"whether {op.name} of the entries are true, for conditions"
    return build


function("argmax", "tn.", "reductions", op=ARGMAX)(position(ARGMAX))
function("argmin", "tn.", "reductions", op=ARGMIN)(position(ARGMIN))
function("any", "tn.", "reductions", op=ANY)(truth(ANY))
function("all", "tn.", "reductions", op=ALL)(truth(ALL))
