"""Which of several equal entries PyTorch picks: the partitions by which its sort, topk and kthvalue find their places.

Functions that pick entries by their values: max, min, median, sort, and the indices themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.ops.arithmetic import MAXIMUM, MINIMUM
from gradcli.ops.declare import Kink, Op, Pair, Picked, Piecewise, declare, no_links
from gradcli.ops.exactly import decided, shared, true
from gradcli.ops.links import Array, Forward, Indices, Library, Links, Mask, Options, Static, Tensor, Test, Vjp
from gradcli.ops.reductions import all_entries
from gradcli.ops.values import ALL as EVERY
from gradcli.ops.values import (
    Axes,
    LibraryAxes,
    Value,
    group_rows,
    one_axis,
    read_axes,
    require,
    require_entries,
    restore,
)
from gradcli.ops.vocabulary import function
from gradcli.ops.writing import axis_text

Before = Callable[[Any, Any], bool]
"""Whether one entry comes before another."""
SHORT = 16
"""Entries up to which PyTorch sorts by insertion, which leaves equal ones in their order."""
FEW = 64
"""Where there are so many entries for each one that is asked for, PyTorch's topk goes by a heap."""


def rises(a: Any, b: Any) -> bool:
    """Return whether a comes before b from the smallest on, nan last."""
    return bool(a < b or (b != b and a == a))  # noqa: PLR0124 - nan alone differs from itself


def falls(a: Any, b: Any) -> bool:
    """Return whether a comes before b from the largest on, nan first."""
    return bool(a > b or (a != a and b == b))  # noqa: PLR0124


def exchange(line: list[int], a: int, b: int) -> None:
    """Exchange two items of a list."""
    line[a], line[b] = line[b], line[a]


def kth_place(entries: Sequence[Any], k: int) -> int:
    """Return where the k-th smallest entry stands, k from 0: quickselect with the median of three as its pivot."""
    order = list(range(len(entries)))

    def after(a: int, b: int) -> bool:
        return falls(entries[order[a]], entries[order[b]])

    left, right = 0, len(order) - 1
    while right > left + 1:
        exchange(order, left + (right - left) // 2, left + 1)
        for a, b in ((left + 1, right), (left, right), (left + 1, left)):
            if after(a, b):
                exchange(order, a, b)
        met = partition_by_first(order, entries, left, right)
        exchange(order, left, met[1])
        left, right = (met[0] if met[1] <= k else left), (met[1] - 1 if met[1] >= k else right)
    if right == left + 1 and after(left, right):
        exchange(order, left, right)
    return order[k]


def partition_by_first(order: list[int], entries: Sequence[Any], left: int, right: int) -> tuple[int, int]:
    """Part what lies between two ends by the entry at the left one; return where the two scans met."""
    pivot, i, j = entries[order[left]], left + 1, right
    while True:
        i += 1
        while falls(pivot, entries[order[i]]):
            i += 1
        j -= 1
        while falls(entries[order[j]], pivot):
            j -= 1
        if j < i:
            return i, j
        exchange(order, i, j)


def sorted_places(entries: Sequence[Any], descending: bool = False) -> list[int]:
    """Return where the entries stand from the smallest on, nan last, or from the largest on, nan first."""
    before = falls if descending else rises
    order = list(range(len(entries)))
    part_coarsely(order, entries, len(order), before)
    return by_insertion(order, entries, before)


def top_places(entries: Sequence[Any], k: int, largest: bool) -> list[int]:
    """Return where the first k entries stand, from the largest or smallest on: they are selected, and then sorted."""
    before = falls if largest else rises
    order = list(range(len(entries)))
    if k * FEW <= len(order) or not k:
        return by_insertion(order, entries, before)[:k] if k else []
    select(order, entries, k - 1, before)
    part_coarsely(order, entries, k - 1, before)
    return [*by_insertion(order[: k - 1], entries, before), order[k - 1]]


def select(order: list[int], entries: Sequence[Any], k: int, before: Before) -> None:
    """Bring the k-th entry to its place, those before it in front: parts around the median of three, then insertion."""
    first, last = 0, len(order)
    while last - first > 3:
        middle_first(order, entries, first, last, before)
        cut = partition(order, entries, first, last, before)
        first, last = (cut, last) if cut <= k else (first, cut)
    order[first:last] = by_insertion(order[first:last], entries, before)


def part_coarsely(order: list[int], entries: Sequence[Any], count: int, before: Before) -> None:
    """Part the first ``count`` entries again and again until each is short: what is left for insertion."""
    parts = [(0, count)]
    while parts:
        first, last = parts.pop()
        if last - first > SHORT:
            middle_first(order, entries, first, last, before)
            cut = partition(order, entries, first, last, before)
            parts += [(cut, last), (first, cut)]


def middle_first(order: list[int], entries: Sequence[Any], first: int, last: int, before: Before) -> None:
    """Exchange the first entry for the median of the next, the middle and the last."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1

    def less(p: int, q: int) -> bool:
        return before(entries[order[p]], entries[order[q]])

    if less(a, b):
        median = b if less(b, c) else c if less(a, c) else a
    else:
        median = a if less(a, c) else c if less(b, c) else b
    exchange(order, first, median)


def partition(order: list[int], entries: Sequence[Any], first: int, last: int, before: Before) -> int:
    """Part all behind the first entry by it; return where the second part begins."""
    pivot, i, j = entries[order[first]], first + 1, last
    while True:
        while before(entries[order[i]], pivot):
            i += 1
        j -= 1
        while before(pivot, entries[order[j]]):
            j -= 1
        if i >= j:
            return i
        exchange(order, i, j)
        i += 1


def by_insertion(order: list[int], entries: Sequence[Any], before: Before) -> list[int]:
    """Return places in the order of their entries, equal ones as they came."""
    from functools import cmp_to_key

    def compare(a: int, b: int) -> int:
        return before(entries[b], entries[a]) - before(entries[a], entries[b])

    return sorted(order, key=cmp_to_key(compare))


# ---- Functions that pick entries by their values: max, min, median, sort, and the indices themselves


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

    for line in map(tuple, np.argwhere(tied)):
        places[line] = sorted_places(lines[line].tolist(), descending)
    return found


def lower_median(x: Array, dim: int) -> Indices:
    """Return the position of the lower median, that of the first nan where there is one."""
    order = np.argsort(x, axis=dim, kind="stable")
    lower = np.take(order, [(np.shape(x)[dim] - 1) // 2], axis=dim)
    absent = x != x  # noqa: PLR0124 - nan alone differs from itself, in numbers of every kind
    return np.where(np.any(absent, axis=dim, keepdims=True), np.argmax(absent, axis=dim, keepdims=True), lower)


PICKS: dict[str, Callable[..., Indices]] = {
    "max": lambda x, dim: np.argmax(x, axis=dim, keepdims=True),
    "min": lambda x, dim: np.argmin(x, axis=dim, keepdims=True),
    "median": lower_median,
    "sort": lambda x, dim, descending=False, stable=False: in_order(x, dim, descending, stable),
}
"""By kind: the positions along an axis that are picked, the axis kept; ``further.orders`` has more of them."""
SINGLE = ("max", "min", "median", "kthvalue", "mode", "nanmedian")
"""Kinds that pick one entry along the axis."""
REPEATED = ("cummax", "cummin")
"""Kinds that may pick one entry several times, each time from those up to a place."""


def pick_indices(x: Array, kind: str, dim: int, keepdim: bool = True, **how: Any) -> Indices:
    """Return along ``dim`` the positions that are picked, ``dim`` kept."""
    del keepdim
    return PICKS[kind](x, dim, **how)


def pick_vjp(g: Array, _y: Array, x: Array, *, kind: str, dim: int, keepdim: bool = True, **how: Any) -> Array:
    """Return g put back where each entry was picked, added up where that was several times."""
    back, where, g = np.zeros_like(x), pick_indices(x, kind, dim, **how), g if keepdim else np.expand_dims(g, dim)
    if kind in REPEATED:
        key: list[Indices] = list(np.indices(where.shape, sparse=True))
        key[dim] = where
        np.add.at(back, tuple(key), g)
    else:
        np.put_along_axis(back, where, g, axis=dim)
    return back


def has_twin(x: Array, kind: str, dim: int, keepdim: bool = True, **how: Any) -> Mask:
    """Return for each picked entry whether another one that it was picked from is equal to it."""
    found = picked_on(pick_indices(x, kind, dim, **how), x, kind, dim)
    if kind == "sort":
        equal = np.diff(found, axis=dim) == 0
        edge = np.zeros_like(np.take(found, [0], axis=dim), dtype=bool) if np.size(found) else equal
        return np.concatenate([edge, equal], axis=dim) | np.concatenate([equal, edge], axis=dim)
    same = np.expand_dims(found, dim) == np.expand_dims(x, dim + 1)
    if kind in REPEATED:
        length = np.shape(x)[dim]
        earlier = np.tri(length, dtype=bool).T
        same = same & earlier.reshape([length if axis in (dim, dim + 1) else 1 for axis in range(np.ndim(same))])
    twins = np.count_nonzero(same, axis=dim) > 1
    return twins if keepdim else np.squeeze(twins, axis=dim)


def pick_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each output to the one entry that it is."""
    del argument
    index = all_entries(values[0]).reshape(np.shape(values[0]))
    where = pick_indices(values[0], **static)
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


def picked_on(piece: Indices, x: Array, kind: str, dim: int, keepdim: bool = True, **how: Any) -> Array:
    """Return the entries along ``dim`` at the positions that were picked."""
    del kind, how
    found = np.take_along_axis(x, piece, axis=dim)
    return found if keepdim else np.squeeze(found, axis=dim)


def pick_text(x: str, kind: str, dim: int, keepdim: bool = True, k: int | None = None, **how: bool) -> str:
    """Write the call whose values and indices are picked."""
    asked, kept = "" if k is None else f", {k}", ", keepdim=True" if keepdim and kind in SINGLE else ""
    options = "".join(f", {key}={value}" for key, value in how.items() if value != (key == "largest"))
    return f"{kind}({x}{asked}, dim={dim}{kept}{options})"


def largest(x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return the largest entry along some axes."""
    return np.max(x, axis=dim, keepdims=keepdim)


def smallest(x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return the smallest entry along some axes."""
    return np.min(x, axis=dim, keepdims=keepdim)


def extreme_text_back(_k: int, _out: Array, _x: Array, *, dim: Axes, keepdim: bool) -> tuple[str, str]:
    """Return the text of g where an entry is the extreme, and of equal shares where several are."""
    del keepdim
    return "where({0} == {Y}, {G}, 0)", f"where({{0}} == {{Y}}, {{G}}/sum({{0}} == {{Y}}, dim={dim}, keepdim=True), 0)"


def pick_text_back(_k: int, _out: Array, x: Array, *, kind: str, dim: int, keepdim: bool = True, **how: Any) -> str:
    """Return the text of g put back where each entry was picked."""
    del keepdim
    shape, where = np.shape(x), f"{pick_text('{0}', kind, dim, **how)}.indices"
    along_axis = axis_text(shape[dim], dim, len(shape))
    if kind in SINGLE:
        return f"where({along_axis} == {where}, {{G}}, 0)"
    if kind == "sort" and len(shape) == 1:
        return f"{{g}}[sort({where}).indices]"
    return f"sum(where(unsqueeze({where}, {dim + 1}) == {along_axis}, unsqueeze({{g}}, {dim + 1}), 0), dim={dim})"


SAME = "same same yes"


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
MEDIAN = spread_evenly(
    "median",
    middle,
    whole_extreme_vjp,
    lambda x, dim, keepdim: x == middle_of(x),
    lambda x, dim, keepdim: np.sum(x == middle(x, dim, keepdim)) > 1,
)
PICK = declare(
    Op(
        "pick",
        lambda x, **how: picked_on(pick_indices(x, **how), x, **how),
        (pick_vjp,),
        pick_local,
        pieces=Piecewise(pick_indices, picked_on),
        kink=Kink(has_twin, "the entry at the index that is given gets all"),
        index=Picked(
            lambda x, **how: f"{pick_text(x, **how)}.indices",
            kept=lambda keepdim=True, **how: keepdim,
            whole=lambda kind, **how: kind not in SINGLE,
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


def extreme(x: Value, dim: Static, keepdim: bool, kind: str) -> Value | Pair:
    """Return max or min as PyTorch has it: shared among ties without dim, the first of them with dim."""
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, kind)
    if dim is None or not x.ndim:
        return of_all(MAX if kind == "max" else MIN, x, dim, axes, keepdim)
    require(not isinstance(dim, tuple), "value", f"{kind} takes one dim", hint=f"a{kind} takes several")
    return picked(x, kind, axes[0], keepdim)


def of_all(op: Op, x: Value, dim: Static, axes: Axes, keepdim: bool) -> Value | Pair:
    """Return what an op picks of all entries; a pair where the axis of a single number is named."""
    found = x.of(op, dim=axes, keepdim=keepdim)
    return found if dim is None else Pair(found, np.zeros((), dtype=np.intp))


def picked(x: Value, kind: str, axis: int, keepdim: bool, **static: Any) -> Pair:
    """Return the picked values together with their indices, as PyTorch's named pair."""
    values = x.of(PICK, kind=kind, dim=axis, keepdim=keepdim, **static)
    where = x.f.piece(PICK, x.node, kind=kind, dim=axis, **static)
    return Pair(values, where if keepdim else np.squeeze(where, axis=axis))


def extreme_of(kind: str, word: str) -> None:
    """Enter max or min: of all entries, along an axis, or of two arrays, told apart by the second argument."""

    def build(
        x: Value, dim: Static | Tensor = None, keepdim: bool = False, *, other: Value | None = None
    ) -> Value | Pair:
        if other is None and (dim is None or isinstance(dim, int | str | tuple)):
            return extreme(x, dim, keepdim, kind)
        return x.of(MAXIMUM if kind == "max" else MINIMUM, dim if other is None else other)

    def build_several(x: Value, dim: LibraryAxes = EVERY, keepdim: bool = False, library: Library = "torch") -> Value:
        del library
        require_entries(x, dim, f"a{kind}")
        return x.of(AMAX if kind == "max" else AMIN, dim=dim, keepdim=keepdim)

    build.__doc__ = f"the {word} entry (ties share), along dim the first of them, or of two arrays {kind}imum"
    build_several.__doc__ = f"the {word} entry, also along dim; ties share the gradient"
    function(kind, "torch method", "reductions", kinds=SAME)(build)
    names, op = f"a{kind} np.{kind} numpy.{kind}", AMAX if kind == "max" else AMIN
    function(names, "torch numpy method", "reductions", op=op, kinds=SAME)(build_several)


extreme_of("max", "largest")
extreme_of("min", "smallest")


@function("median", "torch method", "reductions", op=MEDIAN, kinds="no same yes")
def build_median(x: Value, dim: Static = None, keepdim: bool = False) -> Value | Pair:
    """the middle entry, the lower of two (np.median: their mean)"""
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, "median")
    if dim is None or not x.ndim:
        return of_all(MEDIAN, x, dim, axes, keepdim)
    return picked(x, "median", one_axis(dim, x.ndim), keepdim)


@function("sort", "torch method", "reductions", op=PICK, kinds=SAME)
def build_sort(x: Value, dim: Static = -1, descending: bool = False, stable: bool = False) -> Pair:
    """the entries in order along dim, the last axis unless said otherwise"""
    if not x.ndim:
        return Pair(x, np.zeros((), dtype=np.intp))
    kept = {"stable": True} if stable else {}
    return picked(x, "sort", one_axis(dim, x.ndim), keepdim=True, descending=descending, **kept)


@function("np.sort numpy.sort", "", "reductions", kinds=SAME)
def numpy_sort(x: Value, dim: Static = -1, kind: Static = None) -> Value:
    """the entries in order along axis, as numpy has it"""
    del kind  # another way to the same order
    flat, axis = (x.flat, 0) if dim is None else (x, one_axis(dim, x.ndim))
    return flat.of(PICK, kind="sort", dim=axis, descending=False)


@function("np.median numpy.median", "", "reductions", kinds="numpy-float numpy-float yes")
def numpy_median(x: Value, dim: Static = None) -> Value:
    """the middle entry, or the mean of the two, as numpy has it"""
    require_entries(x, read_axes(dim, x.ndim), "median")
    if dim == ():
        return x.clone()
    require(dim is None or x.ndim, "shape", "one number has no axis")
    flat, axis = (x.flat, 0) if dim is None else (x, one_axis(dim, x.ndim))
    count = flat.shape[axis]
    ordered = flat.of(PICK, kind="sort", dim=axis, descending=False)
    return ordered.along(axis, slice((count - 1) // 2, count // 2 + 1)).mean(axis)


def position(op: Op, word: str) -> None:
    """Enter argmax or argmin."""

    def build(x: Value, dim: Static = None, keepdim: bool = False) -> Value:
        require_entries(x, read_axes(dim, x.ndim, "refused"), op.name)
        return x.of(op, dim=None if dim is None or not x.ndim else one_axis(dim, x.ndim), keepdim=keepdim)

    build.__doc__ = f"the position of the {word} entry; it has no derivative"
    function(op.name, "torch numpy method", "reductions", op=op, kinds="numpy-integer integer yes")(build)


def truth(op: Op) -> None:
    """Enter any or all."""

    def build(x: Value, dim: Axes = EVERY, keepdim: bool = False) -> Value:
        return x.of(op, dim=dim, keepdim=keepdim)

    build.__doc__ = f"whether {op.name} of the entries are true, for conditions"
    function(op.name, "torch numpy method", "reductions", op=op, kinds="mask mask yes")(build)


position(ARGMAX, "largest")
position(ARGMIN, "smallest")
truth(ANY)
truth(ALL)
