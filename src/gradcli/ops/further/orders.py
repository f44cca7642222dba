"""Entries picked by their order along an axis: topk, kthvalue, mode, running extremes, positions, and quantiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from gradcli.ops.arithmetic import without_slope
from gradcli.ops.declare import Pair, Text
from gradcli.ops.exactly import is_nan
from gradcli.ops.further.pointwise import LERP
from gradcli.ops.further.tied import kth_place, sorted_places, top_places
from gradcli.ops.joining import STACK
from gradcli.ops.links import Array, Indices, Static
from gradcli.ops.statistics import PICK, PICKS, SINGLE, extreme, pick_indices, picked, spread_evenly, whole_extreme_vjp
from gradcli.ops.values import ALL, Axes, Value, one_axis, require, require_entries
from gradcli.ops.vocabulary import BY_NUMPY, COUNTED, KEPT, OF_FLOATS, OF_NUMBERS, Kinds, Made, function


def by_lines(rule: Callable[..., list[int]]) -> Callable[..., Indices]:
    """Return the positions along an axis that a ``rule`` picks of each line of numbers."""

    def indices(x: Array, dim: int, **how: Any) -> Indices:
        lines = np.moveaxis(np.asarray(x), dim, -1)
        *outer, length = np.shape(lines)
        places = [rule(lines[line].tolist(), **how) for line in np.ndindex(*outer)]
        width = len(places[0]) if places else length
        return np.moveaxis(np.array(places, dtype=np.intp).reshape(*outer, width), -1, dim)

    return indices


def most_frequent(line: list[Any]) -> list[int]:
    """Return the place of the entry that a line has most often, of several the smallest; its last one when sorted."""
    runs = [list(run) for _, run in groupby(sorted_places(line), key=line.__getitem__)]
    return [max(runs, key=len)[-1]]


def middle_of(line: list[Any]) -> list[int]:
    """Return the place of the lower median of what is no nan; that of the first nan where all are."""
    kept = sorted((i for i, x in enumerate(line) if x == x), key=line.__getitem__)  # noqa: PLR0124
    return [kept[(len(kept) - 1) // 2] if kept else 0]


def running(line: list[Any], largest: bool) -> list[int]:
    """Return for each place that of the extreme so far: the last of equal ones, and the last nan from the first on."""
    places = [0] * len(line)
    for i, x in enumerate(line):
        best = line[places[i - 1]] if i else x
        further = x >= best if largest else x <= best
        places[i] = i if further or x != x else places[i - 1]  # noqa: PLR0124 - nan alone differs from itself
    return places


PICKS |= {
    "topk": by_lines(lambda line, k, largest=True: top_places(line, k, largest)),
    "kthvalue": by_lines(lambda line, k: [kth_place(line, k - 1)]),
    "mode": by_lines(most_frequent),
    "nanmedian": by_lines(middle_of),
    "cummax": by_lines(lambda line: running(line, largest=True)),
    "cummin": by_lines(lambda line: running(line, largest=False)),
}


def ordered(x: Value, kind: str, dim: Static, keepdim: bool = True, **how: Any) -> Pair:
    """Return what is picked along an axis together with its indices, as PyTorch's named pair."""
    axis = one_axis(dim, x.ndim)
    if not x.ndim:
        return Pair(x, np.zeros((), dtype=np.intp))
    if kind in SINGLE:
        require_entries(x, (axis,), kind)
    return picked(x, kind, axis, keepdim, **how)


def rank(k: int, x: Value, dim: Static, name: str, least: int) -> int:
    """Return how many entries are asked for, or which; raises ``value`` beyond the length of the axis."""
    length = x.shape[one_axis(dim, x.ndim)] if x.ndim else 1
    fits = least <= k <= length
    require(fits, "value", f"{name}: k={k} is not between {least} and the length of the axis, {length}")
    return k


picking = partial(function, where="torch method", family="reductions", op=PICK, kinds=OF_NUMBERS)


@picking("topk")
def topk(x: Value, k: int, dim: Static = -1, largest: bool = True, sorted: Static = True) -> Pair:
    """the k largest entries along dim in order, or the smallest for largest=False, and where they stand"""
    del sorted  # they come in order
    return ordered(x, "topk", dim, k=rank(k, x, dim, "topk", 0), largest=largest)


@picking("kthvalue")
def kthvalue(x: Value, k: int, dim: Static = -1, keepdim: bool = False) -> Pair:
    """the k-th smallest entry along dim, and where it stands"""
    return ordered(x, "kthvalue", dim, keepdim, k=rank(k, x, dim, "kthvalue", 1))


@picking("mode")
def mode(x: Value, dim: Static = -1, keepdim: bool = False) -> Pair:
    """the entry that occurs most often along dim, of several the smallest, and where it stands last"""
    return ordered(x, "mode", dim, keepdim)


def extreme_so_far(name: str, word: str) -> None:
    """Enter a running extreme."""

    @picking(name, kinds=KEPT, doc=f"the {word} entry so far along dim, and where it stands")
    def build(x: Value, dim: Static) -> Pair:
        return ordered(x, name, dim)


extreme_so_far("cummax", "largest")
extreme_so_far("cummin", "smallest")


@function("msort", "torch method", "reductions", op=PICK, kinds=KEPT)
def msort(x: Value) -> Value:
    """the entries in order along the first axis"""
    return x.of(PICK, kind="sort", dim=0, descending=False) if x.ndim else x


# --- positions ---


OPTIONS = Text(defaults={"descending": False, "stable": False})
ARGSORT = without_slope("argsort", partial(pick_indices, kind="sort"), text=OPTIONS)


@function("argsort", "torch method", "reductions", op=ARGSORT, kinds=Kinds(Made.NUMPY_INTEGER, Made.INTEGER))
def argsort(x: Value, dim: Static = -1, descending: bool = False, stable: bool = False) -> Value | Indices:
    """the positions of the entries in order along dim; they have no derivative"""
    if not x.ndim:
        return np.zeros((), dtype=np.intp)
    return x.of(ARGSORT, dim=one_axis(dim, x.ndim), descending=descending, stable=stable)


@function("np.argsort numpy.argsort jnp.argsort", "", "reductions", kinds=COUNTED)
def numpy_argsort(x: Value, dim: Static = -1, kind: Static = None) -> Value | Indices:
    """the positions of the entries in order, of the flattened array where axis is None"""
    del kind  # another way to the same order
    return argsort(x.flat, 0) if dim is None else argsort(x, dim)


# --- quantiles ---

WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def entry_at(rows: Value, places: Indices) -> Value:
    """Return from each line, the last axis, the entry at a place of its own."""
    if places.size and np.all(places == places.flat[0]):
        return rows[..., int(places.flat[0])]
    return rows[(*np.indices(places.shape), places)]


def between(rows: Value, rank: Array, way: str) -> Value:
    """Return the entry of sorted lines at a rank, or what lies between the two that are next to it."""
    low, high = np.floor(rank).astype(np.intp), np.ceil(rank).astype(np.intp)
    if way in ("lower", "higher", "nearest"):
        return entry_at(rows, {"lower": low, "higher": high, "nearest": np.round(rank).astype(np.intp)}[way])
    below = entry_at(rows, low)
    if np.all(low == high):
        return below
    weight = rank - low if way == "linear" else np.full(rank.shape, 0.5)
    return below.of(LERP, entry_at(rows, high), weight[()])


def lines_of(x: Value, axes: Axes) -> Value:
    """Return an array with some axes as one, the last."""
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    order = (*kept, *axes)
    lines = x if order == tuple(range(x.ndim)) else x.permute(*order)
    return lines if len(axes) == 1 else lines.reshape(*(x.shape[axis] for axis in kept), -1)


def quantiles(x: Value, chances: Sequence[float], axes: Axes, keepdim: bool, way: str, skip_nan: bool) -> list[Value]:
    """Return the quantiles along some axes, one array for each chance; without ``skip_nan`` one nan makes nan."""
    require(way in WAYS, "value", f"quantile: interpolation is one of {', '.join(WAYS)}, not {way!r}")
    require_entries(x, axes, "quantile")
    rows = lines_of(x, axes)
    length = rows.shape[-1]
    count = np.asarray(length - np.count_nonzero(is_nan(np.asarray(rows.raw)), axis=-1))
    sorted_rows = rows.of(PICK, kind="sort", dim=rows.ndim - 1, descending=False)
    result = []
    for chance in chances:
        require(0 <= chance <= 1, "value", f"quantile: q lies between 0 and 1, and {chance:g} does not")
        rank = np.asarray(chance * (np.maximum(count, 1) - 1), dtype=np.float64)
        if not skip_nan:
            rank = np.where(count < length, length - 1.0, rank)
        one = between(sorted_rows, rank, way)
        shape = (1 if axis in axes else length for axis, length in enumerate(x.shape))
        result.append(one.reshape(*shape) if keepdim else one)
    return result


def quantile(x: Value, q: Value, scale: float, axes: Axes, keepdim: bool, way: Static, skip_nan: bool) -> Value:
    """Return the quantiles of an array: for a list of chances one after the other, along a new first axis."""
    plain = q.ndim < 2 and not q.active
    require(plain, "value", "quantile: q is a plain number, or a list of them")
    result = quantiles(x, [float(chance) / scale for chance in np.ravel(q.numbers)], axes, keepdim, str(way), skip_nan)
    return x.apply(STACK, *result, dim=0) if q.ndim else result[0]


def enter_quantiles(prefix: str, words: str) -> None:
    """Enter the quantiles of all entries, or of those that are no nan: PyTorch's, and NumPy's along several axes."""
    skip = prefix == "nan"

    @function(f"{prefix}quantile", "torch method", "reductions", kinds=OF_FLOATS, doc=words)
    def build(x: Value, q: Value, dim: Static = None, keepdim: bool = False, interpolation: Static = "linear") -> Value:
        axes = tuple(range(x.ndim)) if dim is None else (one_axis(dim, x.ndim),) if x.ndim else ()
        return quantile(x, q, 1.0, axes, keepdim, interpolation, skip)

    for name, scale in (("quantile", 1.0), ("percentile", 100.0)):
        names = " ".join(f"{library}.{prefix}{name}" for library in ("np", "numpy", "jnp"))
        enter_numpy_quantile(names, scale, skip, f"the {name} of x for q from 0 to {scale:g}, as numpy has it")


def enter_numpy_quantile(names: str, scale: float, skip: bool, words: str) -> None:
    """Enter NumPy's quantile or percentile."""

    @function(names, "", "reductions", kinds=BY_NUMPY, doc=words)
    def build(
        x: Value,
        q: Value,
        dim: Axes = ALL,
        method: Static = "linear",
        keepdim: bool = False,
        interpolation: Static = None,
    ) -> Value:
        return quantile(x, q, scale, dim, keepdim, method if interpolation is None else interpolation, skip)


enter_quantiles("", "the quantile of x for a probability q, of all entries or along dim")
enter_quantiles("nan", "the quantile of the entries that are no nan")


# --- the median of what is no nan ---


def nan_middle(x: Array, axis: Axes, keepdims: bool) -> Array:
    """Return the lower median of the entries that are no nan, nan where all are."""
    del axis
    kept = np.sort(x[~is_nan(x)])
    middle = kept[(len(kept) - 1) // 2] if len(kept) else np.nan
    return np.reshape(middle, (1,) * np.ndim(x) if keepdims else ())[()]


NANMEDIAN = spread_evenly("nanmedian", nan_middle, whole_extreme_vjp)


@function("nanmedian", "torch method", "reductions", op=NANMEDIAN, kinds=OF_NUMBERS)
def nanmedian(x: Value, dim: Static = None, keepdim: bool = False) -> Value | Pair:
    """the middle entry of those that are no nan, the lower of two (np.nanmedian: their mean)"""
    return extreme(x, dim, keepdim, "nanmedian")


@function("np.nanmedian numpy.nanmedian jnp.nanmedian", "", "reductions", kinds=BY_NUMPY)
def numpy_nanmedian(x: Value, dim: Axes = ALL, keepdim: bool = False) -> Value:
    """the middle entry of those that are no nan, or the mean of the two, as numpy has it"""
    return quantiles(x, [0.5], dim, keepdim, "midpoint", skip_nan=True)[0]
