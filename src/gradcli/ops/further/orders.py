"""Entries picked by their order along an axis: topk, kthvalue, mode, running extremes, positions, and quantiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from gradcli.ops.declare import (
    WITH_OUTPUT,
    Entries,
    Exactly,
    Keeps,
    Kink,
    Op,
    Pair,
    Picked,
    Piecewise,
    Text,
    Torch,
    declare,
    no_links,
)
from gradcli.ops.exactly import decided, is_nan, shared
from gradcli.ops.further.pointwise import LERP
from gradcli.ops.further.tied import kth_place, sorted_places, top_places
from gradcli.ops.joining import STACK
from gradcli.ops.links import Array, Indices, Links, Mask, Options, Static
from gradcli.ops.reductions import all_entries
from gradcli.ops.statistics import (
    PICK,
    extreme_local,
    extreme_text_back,
    pick_indices,
    picked_on,
    whole_extreme_vjp,
)
from gradcli.ops.values import ALL, Axes, Value, one_axis, read_axes, require, require_entries
from gradcli.ops.vocabulary import BY_NUMPY, COUNTED, KEPT, OF_FLOATS, OF_NUMBERS, Kinds, Made, function
from gradcli.ops.writing import axis_text


def mode_of(line: list[Any], k: int, largest: bool) -> list[int]:
    """Return the place of the entry that a line has most often, of several the smallest; its last one when sorted."""
    del k, largest
    runs = [list(run) for _, run in groupby(sorted_places(line), key=line.__getitem__)]
    return [max(runs, key=len)[-1]]


def middle_of(line: list[Any], k: int, largest: bool) -> list[int]:
    """Return the place of the lower median of what is no nan; that of the first nan where all are."""
    del k, largest
    kept = sorted((i for i, x in enumerate(line) if x == x), key=line.__getitem__)  # noqa: PLR0124
    return [kept[(len(kept) - 1) // 2] if kept else 0]


def running(line: list[Any], k: int, largest: bool) -> list[int]:
    """Return for each place that of the extreme so far: the last of equal ones, and the last nan from the first on."""
    del k
    places = [0] * len(line)
    for i, x in enumerate(line):
        best = line[places[i - 1]] if i else x
        further = x >= best if largest else x <= best
        places[i] = i if further or x != x else places[i - 1]  # noqa: PLR0124 - nan alone differs from itself
    return places


RULES: dict[str, Callable[[list[Any], int, bool], list[int]]] = {
    "topk": top_places,
    "kthvalue": lambda line, k, largest: [kth_place(line, k - 1)],
    "mode": mode_of,
    "nanmedian": middle_of,
    "cummax": running,
    "cummin": running,
}
"""The places that each function picks of one line."""
SINGLE = ("kthvalue", "mode", "nanmedian")


def places(x: Array, kind: str, dim: int, keepdim: bool = True, k: int = 1, largest: bool = True) -> Indices:
    """Return along ``dim`` the positions that are picked, ``dim`` kept."""
    del keepdim
    lines = np.moveaxis(np.asarray(x), dim, -1)
    *outer, length = np.shape(lines)
    found = [RULES[kind](lines[line].tolist(), k, largest and kind != "cummin") for line in np.ndindex(*outer)]
    width = k if kind == "topk" else 1 if kind in SINGLE else length
    return np.moveaxis(np.array(found, dtype=np.intp).reshape(*outer, width), -1, dim)


def order_vjp(g: Array, _y: Array, x: Array, *, dim: int, keepdim: bool = True, **how: Any) -> Array:
    """Return g added where each entry was picked: a running extreme picks one again and again."""
    where = places(x, dim=dim, **how)
    index: list[Indices] = list(np.indices(where.shape, sparse=True))
    index[dim] = where
    back = np.zeros_like(x)
    np.add.at(back, tuple(index), g if keepdim else np.expand_dims(g, dim))
    return back


def order_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each output to the one entry that it is."""
    del argument
    index = all_entries(values[0]).reshape(np.shape(values[0]))
    columns = np.take_along_axis(index, places(values[0], **static), axis=static["dim"])
    return [Links(all_entries(out), np.ravel(columns))]


def has_twin(x: Array, kind: str, dim: int, keepdim: bool = True, **how: Any) -> Mask:
    """Return for each picked entry whether another one that it was picked from is equal to it."""
    found = picked_on(places(x, kind, dim, **how), x, kind, dim)
    same = np.expand_dims(found, dim) == np.expand_dims(x, dim + 1)
    if kind in ("cummax", "cummin"):
        length = np.shape(x)[dim]
        earlier = np.tri(length, dtype=bool).T
        same = same & earlier.reshape([length if axis in (dim, dim + 1) else 1 for axis in range(np.ndim(same))])
    twins = np.count_nonzero(same, axis=dim) > 1
    return twins if keepdim else np.squeeze(twins, axis=dim)


def order_text(x: str, kind: str, dim: int, keepdim: bool = True, k: int = 1, largest: bool = True) -> str:
    """Write the call whose values and indices are picked."""
    asked = f", {k}" if kind in ("topk", "kthvalue") else ""
    kept = ", keepdim=True" if keepdim and kind in SINGLE else ""
    return f"{kind}({x}{asked}, dim={dim}{kept}{'' if largest else ', largest=False'})"


def order_text_back(_k: int, _out: Array, x: Array, *, dim: int, keepdim: bool = True, **how: Any) -> str:
    """Return the text of g added up where each entry was picked."""
    del keepdim
    shape = np.shape(x)
    picked = f"{order_text('{0}', dim=dim, **how)}.indices"
    if how["kind"] in SINGLE:
        return f"where({picked} == {axis_text(shape[dim], dim, len(shape))}, {{G}}, 0)"
    where = f"unsqueeze({picked}, {dim + 1})"
    along = axis_text(shape[dim], dim + 1, len(shape) + 1)
    return f"sum(where({where} == {along}, unsqueeze({{G}}, {dim + 1}), 0), dim={dim})"


ORDER = declare(
    Op(
        "order",
        lambda x, **how: picked_on(places(x, **how), x, **how),
        (order_vjp,),
        order_local,
        exact=Exactly(pieces=Piecewise(places, picked_on)),
        kink=Kink(has_twin, "the entry at the index that is given gets all"),
        entries=Entries(
            index=Picked(
                lambda x, **how: f"{order_text(x, **how)}.indices",
                kept=lambda keepdim=True, **how: keepdim,
                whole=lambda kind, **how: kind not in SINGLE,
            ),
            moves=True,
        ),
        size=lambda x, kind, dim, keepdim=True, k=1, largest=True: np.size(x),
        torch=Torch(saves=((Keeps.OWN,),)),
        text=Text(backward=order_text_back, write=lambda call: f"{order_text(call.texts[0], **call.static)}.values"),
    )
)


def ordered(x: Value, kind: str, dim: Static, keepdim: bool = True, **how: Any) -> Pair:
    """Return what is picked along an axis together with its indices, as PyTorch's named pair."""
    axis = one_axis(dim, x.ndim)
    if not x.ndim:
        return Pair(x, np.zeros((), dtype=np.intp))
    if kind not in ("topk", "cummax", "cummin"):
        require_entries(x, (axis,), kind)
    values = x.of(ORDER, kind=kind, dim=axis, keepdim=keepdim, **how)
    where = x.f.piece(ORDER, x.node, kind=kind, dim=axis, **how)
    return Pair(values, where if keepdim else np.squeeze(where, axis=axis))


def rank(k: int, x: Value, dim: Static, name: str, least: int) -> int:
    """Return how many entries are asked for, or which; raises ``value`` beyond the length of the axis."""
    length = x.shape[one_axis(dim, x.ndim)] if x.ndim else 1
    fits = least <= k <= length
    require(fits, "value", f"{name}: k={k} is not between {least} and the length of the axis, {length}")
    return k


picking = partial(function, where="torch method", family="reductions", op=ORDER, kinds=OF_NUMBERS)


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

    def build(x: Value, dim: Static) -> Pair:
        return ordered(x, name, dim)

    build.__doc__ = f"the {word} entry so far along dim, and where it stands"
    picking(name)(build)


extreme_so_far("cummax", "largest")
extreme_so_far("cummin", "smallest")


@function("msort", "torch method", "reductions", op=PICK, kinds=KEPT)
def msort(x: Value) -> Value:
    """the entries in order along the first axis"""
    return x.of(PICK, kind="sort", dim=0, descending=False) if x.ndim else x


# --- positions ---

ARGSORT = declare(
    Op(
        "argsort", lambda x, dim, descending, stable: pick_indices(x, "sort", dim, descending, stable), (None,),
        no_links, text=Text(defaults={"descending": False, "stable": False}),
        exact=Exactly(
            pieces=decided(lambda x, dim, descending, stable: pick_indices(x, "sort", dim, descending, stable))
        ),
    )
)  # fmt: skip


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
    turned = x if order == tuple(range(x.ndim)) else x.permute(*order)
    return turned if len(axes) == 1 else turned.reshape(*(x.shape[axis] for axis in kept), -1)


def quantiles(x: Value, chances: Sequence[float], axes: Axes, keepdim: bool, way: str, skip_nan: bool) -> list[Value]:
    """Return the quantiles along some axes, one array for each chance; without ``skip_nan`` one nan makes nan."""
    require(way in WAYS, "value", f"quantile: interpolation is one of {', '.join(WAYS)}, not {way!r}")
    require_entries(x, axes, "quantile")
    rows = lines_of(x, axes)
    length = rows.shape[-1]
    count = np.asarray(length - np.count_nonzero(is_nan(np.asarray(rows.raw)), axis=-1))
    sorted_rows = rows.of(PICK, kind="sort", dim=rows.ndim - 1, descending=False)
    found = []
    for chance in chances:
        require(0 <= chance <= 1, "value", f"quantile: q lies between 0 and 1, and {chance:g} does not")
        rank = np.asarray(chance * (np.maximum(count, 1) - 1), dtype=np.float64)
        if not skip_nan:
            rank = np.where(count < length, length - 1.0, rank)
        one = between(sorted_rows, rank, way)
        shape = (1 if axis in axes else length for axis, length in enumerate(x.shape))
        found.append(one.reshape(*shape) if keepdim else one)
    return found


def quantile(x: Value, q: Value, scale: float, axes: Axes, keepdim: bool, way: Static, skip_nan: bool) -> Value:
    """Return the quantiles of an array: for a list of chances one after the other, along a new first axis."""
    plain = q.ndim < 2 and not q.active
    require(plain, "value", "quantile: q is a plain number, or a list of them")
    found = quantiles(x, [float(chance) / scale for chance in np.ravel(q.numbers)], axes, keepdim, str(way), skip_nan)
    return x.apply(STACK, *found, dim=0) if q.ndim else found[0]


def torch_quantile(name: str, skip_nan: bool, words: str) -> None:
    """Enter PyTorch's quantile, of all entries or of those that are no nan."""

    def build(x: Value, q: Value, dim: Static = None, keepdim: bool = False, interpolation: Static = "linear") -> Value:
        axes = tuple(range(x.ndim)) if dim is None else (one_axis(dim, x.ndim),) if x.ndim else ()
        return quantile(x, q, 1.0, axes, keepdim, interpolation, skip_nan)

    build.__doc__ = words
    function(name, "torch method", "reductions", kinds=OF_FLOATS)(build)


def numpy_quantile(names: str, scale: float, skip_nan: bool, words: str) -> None:
    """Enter NumPy's quantile or percentile, along several axes too."""

    def build(
        x: Value, q: Value, dim: Axes = ALL, method: Static = "linear", keepdim: bool = False,
        interpolation: Static = None,
    ) -> Value:  # fmt: skip
        return quantile(x, q, scale, dim, keepdim, method if interpolation is None else interpolation, skip_nan)

    build.__doc__ = words
    function(names, "", "reductions", kinds=BY_NUMPY)(build)


torch_quantile("quantile", skip_nan=False, words="the quantile of x for a probability q, of all entries or along dim")
torch_quantile("nanquantile", skip_nan=True, words="the quantile of the entries that are no nan")
for _prefix, _skip in (("", False), ("nan", True)):
    for _name, _scale in (("quantile", 1.0), ("percentile", 100.0)):
        numpy_quantile(
            " ".join(f"{library}.{_prefix}{_name}" for library in ("np", "numpy", "jnp")), _scale, _skip,
            f"the {_name} of x for q from 0 to {_scale:g}, as numpy has it",
        )  # fmt: skip


# --- the median of what is no nan ---


def nan_middle(x: Array, dim: Axes, keepdim: bool) -> Array:  # noqa: ARG001
    """Return the lower median of the entries that are no nan, nan where all are."""
    flat = np.ravel(x)
    kept = np.sort(flat[~is_nan(flat)])
    found = kept[(len(kept) - 1) // 2] if len(kept) else np.nan
    return np.reshape(found, (1,) * np.ndim(x) if keepdim else ())[()]


def at_nan_middle(x: Array, dim: Axes, keepdim: bool) -> Mask:  # noqa: ARG001
    """Return where an entry is that median."""
    found = nan_middle(x, dim, keepdim=False)
    return x == found if found == found else is_nan(x)  # noqa: PLR0124


NANMEDIAN = declare(
    Op(
        "nanmedian",
        nan_middle,
        (whole_extreme_vjp,),
        extreme_local,
        exact=Exactly(pieces=shared(at_nan_middle)),
        entries=Entries(moves=True),
        kink=Kink(lambda x, dim, keepdim: np.sum(at_nan_middle(x, dim, keepdim)) > 1, "the gradient is shared evenly"),
        text=Text(defaults={"keepdim": False}, backward=extreme_text_back),
        reads=WITH_OUTPUT,
    )
)


@function("nanmedian", "torch method", "reductions", op=NANMEDIAN, kinds=OF_NUMBERS)
def nanmedian(x: Value, dim: Static = None, keepdim: bool = False) -> Value | Pair:
    """the middle entry of those that are no nan, the lower of two (np.nanmedian: their mean)"""
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, "nanmedian")
    return x.of(NANMEDIAN, dim=axes, keepdim=False) if dim is None else ordered(x, "nanmedian", dim, keepdim)


@function("np.nanmedian numpy.nanmedian jnp.nanmedian", "", "reductions", kinds=BY_NUMPY)
def numpy_nanmedian(x: Value, dim: Axes = ALL, keepdim: bool = False) -> Value:
    """the middle entry of those that are no nan, or the mean of the two, as numpy has it"""
    return quantiles(x, [0.5], dim, keepdim, "midpoint", skip_nan=True)[0]
