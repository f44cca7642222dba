"""Functions that pick entries by their values: max, min, median, sort, and the indices themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import MAXIMUM, MINIMUM
from gradcli.ops.axes import empty_of, one_axis, read_axes, require_entries
from gradcli.ops.backward_texts import extreme_text_back, pick_text_back
from gradcli.ops.declare import Apply, Op, Pair, declare, no_links
from gradcli.ops.exactly import decided, shared, true
from gradcli.ops.indexing import INDEX
from gradcli.ops.parts import Kink, Picked, Piecewise
from gradcli.ops.picking import (
    at_largest,
    at_middle,
    at_smallest,
    extreme_local,
    extreme_vjp,
    has_twin,
    largest,
    many,
    middle,
    peak_vjp,
    pick,
    pick_indices,
    pick_local,
    pick_text,
    pick_vjp,
    picked_on,
    several_middles,
    smallest,
    whole_extreme_vjp,
)
from gradcli.ops.reductions import MEAN
from gradcli.ops.shaping import CLONE, RESHAPE
from gradcli.ops.signatures import Array, Axes, Forward, Indices, Library, Mask, Static, Tensor, Test, Vjp
from gradcli.ops.vocabulary import Builder, function


def spread_evenly(name: str, forward: Forward, vjp: Vjp, hit: Test, several: Test) -> Op:
    """Declare an extreme of entries, of which all that ``hit`` share its derivative."""
    return declare(
        Op(
            name,
            forward,
            (vjp,),
            extreme_local,
            pieces=shared(hit),
            moves=True,
            kink=Kink(several, "the gradient is shared evenly"),
            defaults={"keepdim": False},
            backward_text=extreme_text_back,
        )
    )


def position_op(name: str, of: Callable[..., Indices]) -> Op:
    """Declare the position of an extreme entry, which has no derivative."""

    def forward(x: Array, dim: int | None, keepdim: bool) -> Indices:
        return of(x, axis=dim, keepdims=keepdim)

    return declare(Op(name, forward, (None,), no_links, pieces=decided(forward), defaults={"keepdim": False}))


def truth_op(name: str, of: Callable[..., Mask]) -> Op:
    """Declare whether any or all entries are true."""

    def forward(x: Array, dim: Axes, keepdim: bool) -> Mask:
        return of(x, axis=dim, keepdims=keepdim)

    def exact(x: Array, dim: Axes, keepdim: bool) -> Mask:
        return of(true(x), axis=dim, keepdims=keepdim)

    return declare(Op(name, forward, (None,), no_links, pieces=decided(exact), defaults={"keepdim": False}))


AMAX = spread_evenly("amax", largest, extreme_vjp, at_largest, many(np.max))
MAX = spread_evenly("max", largest, whole_extreme_vjp, at_largest, many(np.max))
MIN = spread_evenly("min", smallest, whole_extreme_vjp, at_smallest, many(np.min))
AMIN = spread_evenly("amin", smallest, extreme_vjp, at_smallest, many(np.min))
MEDIAN = spread_evenly("median", middle, whole_extreme_vjp, at_middle, several_middles)
PICK = declare(
    Op(
        "pick",
        pick,
        (pick_vjp,),
        pick_local,
        pieces=Piecewise(lambda x, keepdim=True, **how: pick_indices(x, **how), picked_on),
        kink=Kink(has_twin, "the entry at the index that is given gets all"),
        index=Picked(
            lambda x, **how: f"{pick_text(x, **how)}.indices",
            kept=lambda kind, keepdim=True, **how: kind == "sort" or keepdim,
            whole=lambda kind, **how: kind == "sort",
        ),
        moves=True,
        torch_saves=("own",),
        backward_text=pick_text_back,
        write=lambda call: f"{pick_text(call.texts[0], **call.static)}.values",
    )
)
ARGMAX, ARGMIN = position_op("argmax", np.argmax), position_op("argmin", np.argmin)
ANY, ALL = truth_op("any", np.any), truth_op("all", np.all)
PEAK, VALLEY = replace(AMAX, vjps=(peak_vjp,)), replace(AMIN, vjps=(peak_vjp,))
"""``amax`` and ``amin`` of sizes, as in the norms of order inf and -inf: with PyTorch's gradient where one is nan."""


def extreme(f: Apply, x: Tensor, dim: Static, keepdim: Static, kind: str) -> Tensor | Pair:
    """Return max or min as PyTorch has it: shared among ties without dim, the first of them with dim."""
    everywhere = MAX if kind == "max" else MIN
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, kind)
    if dim is None or not x.ndim:
        return of_all(f, everywhere, x, dim, axes, keepdim)
    if isinstance(dim, tuple):
        raise GradcliError("value", f"{kind} takes one dim", hint=f"a{kind} takes several")
    return picked(f, x, kind, axes[0], bool(keepdim))


def of_all(f: Apply, op: Op, x: Tensor, dim: Static, axes: Axes, keepdim: Static) -> Tensor | Pair:
    """Return what an op picks of all entries; a pair where the axis of a single number is named."""
    found = f(op, x, dim=axes, keepdim=bool(keepdim))
    return found if dim is None else Pair(found, np.zeros((), dtype=np.intp))


def picked(f: Apply, x: Tensor, kind: str, axis: int, keepdim: bool, **static: Any) -> Pair:
    """Return the picked values together with their indices, as PyTorch's named pair."""
    values = f(PICK, x, kind=kind, dim=axis, keepdim=keepdim, **static)
    where = f.piece(PICK, x, kind=kind, dim=axis, **static)
    return Pair(values, where if keepdim else np.squeeze(where, axis=axis))


def either(f: Apply, x: Tensor, other: Static | Tensor, keepdim: Static, kind: str) -> Tensor | Pair:
    """Return PyTorch's max(x, 0) along an axis or max(x, y) entry by entry, told apart by the second argument."""
    if other is None or isinstance(other, int | str | tuple):
        return extreme(f, x, other, keepdim, kind)
    return f(MAXIMUM if kind == "max" else MINIMUM, x, other)


@function("max", "torch method", "reductions", kinds="same same yes")
def build_max(
    f: Apply, x: Tensor, dim: Static | Tensor = None, keepdim: Static = False, *, other: Tensor | None = None
) -> Tensor | Pair:
    """the largest entry (ties share), along dim the first of them, or of two arrays maximum"""
    return either(f, x, dim if other is None else other, keepdim, "max")


@function("min", "torch method", "reductions", kinds="same same yes")
def build_min(
    f: Apply, x: Tensor, dim: Static | Tensor = None, keepdim: Static = False, *, other: Tensor | None = None
) -> Tensor | Pair:
    """the smallest entry (ties share), along dim the first of them, or of two arrays minimum"""
    return either(f, x, dim if other is None else other, keepdim, "min")


@function("amax np.max numpy.max", "torch numpy method", "reductions", op=AMAX, kinds="same same yes")
def build_amax(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False, library: Library = "torch") -> Tensor:
    """the largest entry, also along dim; ties share the gradient"""
    axes = read_axes(dim, x.ndim, empty_of(library))
    require_entries(x, axes, "amax")
    return f(AMAX, x, dim=axes, keepdim=bool(keepdim))


@function("amin np.min numpy.min", "torch numpy method", "reductions", op=AMIN, kinds="same same yes")
def build_amin(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False, library: Library = "torch") -> Tensor:
    """the smallest entry, also along dim; ties share the gradient"""
    axes = read_axes(dim, x.ndim, empty_of(library))
    require_entries(x, axes, "amin")
    return f(AMIN, x, dim=axes, keepdim=bool(keepdim))


@function("median", "torch method", "reductions", op=MEDIAN, kinds="no same yes")
def build_median(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor | Pair:
    """the middle entry, the lower of two (np.median: their mean)"""
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, "median")
    if dim is None or not x.ndim:
        return of_all(f, MEDIAN, x, dim, axes, keepdim)
    return picked(f, x, "median", one_axis(dim, x.ndim), bool(keepdim))


@function("sort", "torch method", "reductions", op=PICK, kinds="same same yes")
def build_sort(f: Apply, x: Tensor, dim: Static = -1, descending: Static = False, stable: Static = False) -> Pair:
    """the entries in order along dim, the last axis unless said otherwise"""
    if not x.ndim:
        return Pair(x, np.zeros((), dtype=np.intp))
    kept = {"stable": True} if stable else {}
    return picked(f, x, "sort", one_axis(dim, x.ndim), keepdim=True, descending=bool(descending), **kept)


@function("np.sort numpy.sort", "", "reductions", kinds="same same yes")
def build_numpy_sort(
    f: Apply,
    x: Tensor,
    dim: Static = -1,
    kind: Static = None,  # noqa: ARG001 - another way to the same order
) -> Tensor:
    """the entries in order along axis, as numpy has it"""
    flat = f(RESHAPE, x, shape=(-1,)) if dim is None else x
    return f(PICK, flat, kind="sort", dim=0 if dim is None else one_axis(dim, x.ndim), descending=False)


@function("np.median numpy.median", "", "reductions", kinds="numpy-float numpy-float yes")
def build_numpy_median(f: Apply, x: Tensor, dim: Static = None) -> Tensor:
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


def position(op: Op) -> Builder:
    """Return the builder of argmax or argmin."""

    def build(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
        axes = read_axes(dim, x.ndim, "refused")
        require_entries(x, axes, op.name)
        axis = None if dim is None or not x.ndim else one_axis(dim, x.ndim)
        return f(op, x, dim=axis, keepdim=bool(keepdim))

    build.__doc__ = f"the position of the {'largest' if op is ARGMAX else 'smallest'} entry; it has no derivative"
    return build


def truth(op: Op) -> Builder:
    """Return the builder of any or all."""

    def build(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
        return f(op, x, dim=read_axes(dim, x.ndim), keepdim=bool(keepdim))

    build.__doc__ = f"whether {op.name} of the entries are true, for conditions"
    return build


for _op in (ARGMAX, ARGMIN):
    function(_op.name, "torch numpy method", "reductions", op=_op, kinds="numpy-integer integer yes")(position(_op))
for _op in (ANY, ALL):
    function(_op.name, "torch numpy method", "reductions", op=_op, kinds="mask mask yes")(truth(_op))
