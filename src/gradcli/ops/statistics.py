"""What is said of many entries: extremes, order and positions, variance, standard deviation and norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.arithmetic import MAXIMUM, MINIMUM, without_slope
from gradcli.ops.declare import (
    BEYOND,
    OPS,
    Entries,
    Keeps,
    Kink,
    Op,
    Pair,
    Picked,
    Piecewise,
    Reduced,
    Said,
    Text,
    Torch,
    beyond,
    declare,
    variant,
)
from gradcli.ops.exactly import decided, shared, true
from gradcli.ops.links import Array, At, Explicit, Indices, Links, Mask, Static, Tensor, Vjp
from gradcli.ops.piecewise import sign as sign_of
from gradcli.ops.reductions import KEEPDIM, all_entries, declare_reduction, mean, reduction
from gradcli.ops.values import (
    ALL,
    Axes,
    LibraryAxes,
    Value,
    as_keepdim,
    group_rows,
    number,
    one_axis,
    read_axes,
    require,
    require_entries,
    sign,
)
from gradcli.ops.vocabulary import BY_NUMPY, KEPT, OF_FLOATS, OF_NUMBERS, Kinds, Made, function
from gradcli.ops.writing import axis_text


def extreme_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return g shared evenly among the entries that are the extreme."""
    hit = np.asarray(x == as_keepdim(y, dim, keepdim), dtype=np.float64)
    return as_keepdim(g, dim, keepdim) / np.sum(hit, axis=dim, keepdims=True) * hit


def peak_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return g shared evenly among the entries that are the extreme or nan (``norm_backward`` for p = inf)."""
    hit = (x == as_keepdim(y, dim, keepdim)) | np.isnan(x)
    return as_keepdim(g, dim, keepdim) / np.sum(hit, axis=dim, keepdims=True) * hit


def whole_extreme_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return g shared evenly where x is the extreme, 0 elsewhere (``evenly_distribute_backward``)."""
    y = as_keepdim(y, dim, keepdim)
    hit = np.where(np.isnan(y), np.isnan(x), x == y)
    return np.where(hit, as_keepdim(g, dim, keepdim) / np.count_nonzero(hit), 0.0)


def extreme_local(at: At) -> list[Links]:
    """Link each output to the entries that are the extreme, with their shares."""
    dim, hit = at.static["dim"], at.x == as_keepdim(at.out, at.static["dim"], at.static["keepdim"])
    with np.errstate(invalid="ignore"):
        part = np.ravel(hit / np.sum(hit, axis=dim, keepdims=True))
    columns = np.flatnonzero(part)
    return [Links(group_rows(at.x, dim)[columns], columns, part[columns])]


def falling(x: Array, dim: int) -> Indices:
    """Return the positions from the largest to the smallest, nan first; equal ones stay in their order."""
    rising = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return np.shape(x)[dim] - 1 - np.flip(rising, dim)


def in_order(x: Array, dim: int, descending: bool, stable: bool) -> Indices:
    """Return the positions of the entries in order, equal ones as PyTorch leaves them, which is not always stable."""
    result = falling(x, dim) if descending else np.argsort(x, axis=dim, kind="stable")
    if stable:
        return result
    lines, places = np.moveaxis(x, dim, -1), np.moveaxis(result, dim, -1)
    ordered = np.take_along_axis(lines, places, axis=-1)
    tied = np.any(ordered[..., 1:] == ordered[..., :-1], axis=-1)
    if not np.any(tied):
        return result
    from gradcli.ops.further.tied import sorted_places

    for line in map(tuple, np.argwhere(tied)):
        places[line] = sorted_places(lines[line].tolist(), descending)
    return result


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
    entries = picked_on(pick_indices(x, kind, dim, **how), x, kind, dim)
    if kind == "sort":
        equal = np.diff(entries, axis=dim) == 0
        edge = np.zeros_like(np.take(entries, [0], axis=dim), dtype=bool) if np.size(entries) else equal
        return np.concatenate([edge, equal], axis=dim) | np.concatenate([equal, edge], axis=dim)
    same = np.expand_dims(entries, dim) == np.expand_dims(x, dim + 1)
    if kind in REPEATED:
        length = np.shape(x)[dim]
        earlier = np.tri(length, dtype=bool).T
        same = same & earlier.reshape([length if axis in (dim, dim + 1) else 1 for axis in range(np.ndim(same))])
    twins = np.count_nonzero(same, axis=dim) > 1
    return twins if keepdim else np.squeeze(twins, axis=dim)


def pick_local(at: At) -> list[Links]:
    """Link each output to the one entry that it is."""
    index = all_entries(at.x).reshape(np.shape(at.x))
    where = pick_indices(at.x, **at.static)
    return [Links(all_entries(at.out), np.ravel(np.take_along_axis(index, where, axis=at.static["dim"])))]


def middle(x: Array, axis: Axes, keepdims: bool) -> Array:
    """Return the lower median of all entries in the shape of a reduction along all axes; nan if one is nan."""
    del axis
    flat = np.sort(np.ravel(x))
    entry = flat[-1 if flat[-1] != flat[-1] else (len(flat) - 1) // 2]
    return np.reshape(entry, (1,) * np.ndim(x) if keepdims else ())[()]


def picked_on(piece: Indices, x: Array, kind: str, dim: int, keepdim: bool = True, **how: Any) -> Array:
    """Return the entries along ``dim`` at the positions that were picked."""
    del kind, how
    result = np.take_along_axis(x, piece, axis=dim)
    return result if keepdim else np.squeeze(result, axis=dim)


def pick_text(x: str, kind: str, dim: int, keepdim: bool = True, k: int | None = None, **how: bool) -> str:
    """Write the call whose values and indices are picked."""
    asked, kept = "" if k is None else f", {k}", ", keepdim=True" if keepdim and kind in SINGLE else ""
    options = "".join(f", {key}={value}" for key, value in how.items() if value != (key == "largest"))
    return f"{kind}({x}{asked}, dim={dim}{kept}{options})"


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


def spread_evenly(name: str, reduce: Callable[..., Array], vjp: Vjp) -> Op:
    """Declare an extreme of entries, of which all that are equal to it share its derivative."""

    def hit(x: Array, dim: Axes, keepdim: bool) -> Mask:  # noqa: ARG001
        return x == reduce(x, axis=dim, keepdims=True)

    return declare(
        name, lambda x, dim, keepdim: reduce(x, axis=dim, keepdims=keepdim), (vjp,), extreme_local,
        kink=Kink(lambda x, dim, keepdim: np.sum(hit(x, dim, keepdim), axis=dim) > 1, "the gradient is shared evenly"),
        pieces=shared(hit), entries=Entries(moves=True),
        text=Text(defaults=KEEPDIM, backward=extreme_text_back),
    )  # fmt: skip


AMAX = spread_evenly("amax", np.max, extreme_vjp)
MAX = spread_evenly("max", np.max, whole_extreme_vjp)
MIN = spread_evenly("min", np.min, whole_extreme_vjp)
AMIN = spread_evenly("amin", np.min, extreme_vjp)
MEDIAN = spread_evenly("median", middle, whole_extreme_vjp)
PICK = declare(
    "pick",
    lambda x, **how: picked_on(pick_indices(x, **how), x, **how),
    (pick_vjp,),
    pick_local,
    kink=Kink(has_twin, "the entry at the index that is given gets all"),
    pieces=Piecewise(pick_indices, picked_on),
    torch=Torch(saves=((Keeps.OWN,),)),
    entries=Entries(
        index=Picked(
            lambda x, **how: f"{pick_text(x, **how)}.indices",
            kept=lambda keepdim=True, **how: keepdim,
            whole=lambda kind, **how: kind not in SINGLE,
        ),
        moves=True,
    ),
    text=Text(
        backward=pick_text_back,
        write=lambda call: f"{pick_text(call.texts[0], **call.static)}.values",
        spelled="{kind}",
    ),
)
PEAK, VALLEY = variant(AMAX, "amax of sizes", vjps=(peak_vjp,)), variant(AMIN, "amin of sizes", vjps=(peak_vjp,))
"""``amax`` and ``amin`` of sizes, as in the norms of order inf and -inf: with PyTorch's gradient where one is nan."""


def extreme(x: Value, dim: Static, keepdim: bool, kind: str) -> Value | Pair:
    """Return an extreme or a median as PyTorch has it: shared among ties without dim, the first of them with dim."""
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, kind)
    if dim is None or not x.ndim:
        value = x.of(OPS[kind], dim=axes, keepdim=keepdim)
        return value if dim is None else Pair(value, np.zeros((), dtype=np.intp))
    hint = f"a{kind} takes several" if kind in ("max", "min") else None
    require(not isinstance(dim, tuple), "value", f"{kind} takes one dim", hint)
    return picked(x, kind, axes[0], keepdim)


def picked(x: Value, kind: str, axis: int, keepdim: bool, **static: Any) -> Pair:
    """Return the picked values together with their indices, as PyTorch's named pair."""
    values = x.of(PICK, kind=kind, dim=axis, keepdim=keepdim, **static)
    where = x.f.piece(PICK, x.node, kind=kind, dim=axis, **static)
    return Pair(values, where if keepdim else np.squeeze(where, axis=axis))


def extreme_of(kind: str, word: str) -> None:
    """Enter max or min: of all entries, along an axis, or of two arrays, told apart by the second argument."""
    names, op = f"a{kind} np.{kind} numpy.{kind}", AMAX if kind == "max" else AMIN
    about = f"the {word} entry (ties share), along dim the first of them, or of two arrays {kind}imum"

    @reduction(kind, "torch method", kinds=KEPT, doc=about)
    def build(
        x: Value, dim: Static | Tensor = None, keepdim: bool = False, *, other: Value | None = None
    ) -> Value | Pair:
        if other is None and (dim is None or isinstance(dim, int | str | tuple)):
            return extreme(x, dim, keepdim, kind)
        return x.of(MAXIMUM if kind == "max" else MINIMUM, dim if other is None else other)

    @reduction(
        names, "torch numpy method", op=op, kinds=KEPT, doc=f"the {word} entry, also along dim; ties share the gradient"
    )
    def build_several(x: Value, dim: LibraryAxes = ALL, keepdim: bool = False) -> Value:
        require_entries(x, dim, f"a{kind}")
        return x.of(op, dim=dim, keepdim=keepdim)


extreme_of("max", "largest")
extreme_of("min", "smallest")


@reduction("median", "torch method", op=MEDIAN, kinds=OF_NUMBERS)
def build_median(x: Value, dim: Static = None, keepdim: bool = False) -> Value | Pair:
    """the middle entry, the lower of two (np.median: their mean)"""
    return extreme(x, dim, keepdim, "median")


@reduction("sort", "torch method", op=PICK, kinds=KEPT)
def build_sort(x: Value, dim: Static = -1, descending: bool = False, stable: bool = False) -> Pair:
    """the entries in order along dim, the last axis unless said otherwise"""
    if not x.ndim:
        return Pair(x, np.zeros((), dtype=np.intp))
    kept = {"stable": True} if stable else {}
    return picked(x, "sort", one_axis(dim, x.ndim), keepdim=True, descending=descending, **kept)


@reduction("np.sort numpy.sort", "", kinds=KEPT)
def numpy_sort(x: Value, dim: Static = -1, kind: Static = None) -> Value:
    """the entries in order along axis, as numpy has it"""
    del kind  # another way to the same order
    flat, axis = (x.flat, 0) if dim is None else (x, one_axis(dim, x.ndim))
    return flat.of(PICK, kind="sort", dim=axis, descending=False)


@reduction("np.median numpy.median", "", kinds=BY_NUMPY)
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


def flat_reduction(name: str, of: Callable[..., Any], read: Callable[[Any], Any]) -> Op:
    """Declare a reduction that has no derivative; ``read`` makes of exact numbers what it is of."""

    def forward(x: Array, dim: Any, keepdim: bool) -> Any:
        return of(x, axis=dim, keepdims=keepdim)

    pieces = decided(lambda x, dim, keepdim: forward(read(x), dim, keepdim))
    return without_slope(name, forward, pieces=pieces, text=Text(defaults=KEEPDIM))


def position(name: str, of: Callable[..., Indices], word: str) -> None:
    """Enter argmax or argmin."""
    op = flat_reduction(name, of, lambda x: x)
    words = f"the position of the {word} entry; it has no derivative"

    @reduction(name, "torch numpy method", op=op, kinds=Kinds(Made.NUMPY_INTEGER, Made.INTEGER), doc=words)
    def build(x: Value, dim: Static = None, keepdim: bool = False) -> Value:
        require_entries(x, read_axes(dim, x.ndim, "refused"), name)
        return x.of(op, dim=None if dim is None or not x.ndim else one_axis(dim, x.ndim), keepdim=keepdim)


def truth(name: str, of: Callable[..., Mask]) -> Op:
    """Enter any or all."""
    op = flat_reduction(name, of, true)
    words = f"whether {name} of the entries are true, for conditions"

    @reduction(name, "torch numpy method", op=op, kinds=Kinds(Made.MASK, Made.MASK), doc=words)
    def build(x: Value, dim: Axes = ALL, keepdim: bool = False) -> Value:
        return x.of(op, dim=dim, keepdim=keepdim)

    return op


position("argmax", np.argmax, "largest")
position("argmin", np.argmin, "smallest")
truth("any", np.any)
ALL_TRUE = truth("all", np.all)


# --- variance and norms ---


def var(x: Array, dim: Axes, keepdim: bool, correction: float) -> Array:
    """Return the mean squared distance from the mean, over n - correction."""
    count = math.prod(np.shape(x)[axis] for axis in dim)
    centred = x - mean(x, dim, keepdim=True)
    divisor = np.float64(max(count - correction, 0))
    with np.errstate(all="ignore"):
        result = np.sum(centred * centred, axis=dim, keepdims=keepdim) / divisor
        if divisor and np.any(np.isinf(result)):  # the sum may be beyond doubles where the variance is not
            return np.sum(centred * (centred / divisor), axis=dim, keepdims=keepdim)
        return result


def var_vjp(g: Array, _y: Array, x: Array, *, dim: Axes, keepdim: bool, correction: float) -> Array:
    """Return g·2(x - mean)/(n - correction), and g·inf or nan where n is no more than the correction."""
    count = math.prod(np.shape(x)[axis] for axis in dim)
    if count <= correction:
        return as_keepdim(g, dim, keepdim) * np.where(x == mean(x, dim, keepdim=True), np.nan, np.inf)
    return var_along_vjp(g, None, x, dim=dim, keepdim=keepdim, correction=correction)


def var_along_vjp(g: Array, _y: Array | None, x: Array, *, dim: Axes, keepdim: bool, correction: float) -> Array:
    """Return g·2(x - mean)/(n - correction) whatever n is, as PyTorch does where dim is named."""
    count = math.prod(np.shape(x)[axis] for axis in dim)
    return 2.0 / np.float64(count - correction) * as_keepdim(g, dim, keepdim) * (x - mean(x, dim, keepdim=True))


def var_local(at: At) -> list[Links]:
    """Link each entry with 2(x - m)/(n - correction), m the mean as an auxiliary value."""
    x, dim = at.x, at.static["dim"]
    columns, rows = all_entries(x), group_rows(x, dim)
    count = math.prod(np.shape(x)[axis] for axis in dim)
    axes = "" if len(dim) == np.ndim(x) else f", dim={dim[0] if len(dim) == 1 else dim}"
    auxiliary = (f"mean({{}}{axes})", mean(x, dim, keepdim=False))
    weight = 2.0 / np.float64(count - at.static["correction"])
    centred = Explicit(lambda s, x, m: x - m)
    return [Links(rows, columns, weight, centred, ((0, columns), (-2, rows)), auxiliary)]


SAFE = 1e-280
"""From here on a sum of powers has lost nothing to terms that are too small for a double."""


def norm_of(x: Array, dim: Axes, keepdim: bool, p: float) -> Array:
    """Return (Σ|x|^p)^(1/p); where the powers are too large or small for doubles, in units of the largest entry."""
    if all(np.shape(x)[axis] == 1 for axis in dim):
        return np.abs(x) if keepdim else np.squeeze(np.abs(x), axis=dim)
    powers = x * x if p == 2 else np.power(np.abs(x), p)
    total = np.sum(powers, axis=dim, keepdims=keepdim)
    result = np.sqrt(total) if p == 2 else np.power(total, 1 / p)
    if np.all((total > SAFE) & (total < np.inf)) or not np.size(x):
        return result
    return exactly.norm_in_units(x, dim, keepdim, p)


def norm_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool, p: float) -> Array:
    """Return g·sign(x)·(|x|/y)^(p-1), and 0 where the norm is 0; the ratio first, where powers may be no doubles."""
    g, y = as_keepdim(g, dim, keepdim), as_keepdim(y, dim, keepdim)
    if p == 1:
        return g * sign_of(x)
    if p == 2:
        return g * np.where(y == 0, 0.0, x / y)
    if p < 0:
        ratio = np.abs(x) / np.where((x == 0) & (y == 0), 1.0, y)
        return sign_of(x) * np.where(x == 0, 0.0, g * np.power(ratio, p - 1))
    if p < 1:
        return sign_of(x) * np.where(x == 0, 0.0, np.power(np.abs(x), p - 1)) * g * np.power(y, 1 - p)
    if p > 2 and np.all(np.isfinite(y)):
        ratio = x / np.where(y == 0, 1.0, y)
        return np.where(y == 0, 0.0, g * (ratio * np.abs(ratio) ** (p - 2)))
    slope = np.power(np.abs(x), p - 1) / np.power(y, p - 1)
    return sign_of(x) * np.where(y == 0, 0.0, g * slope)


def norm_in_torch(y: Array, x: Array, dim: Axes, keepdim: bool, p: float) -> tuple[Array, Array | None]:  # noqa: ARG001
    """Return the root of the sum of powers, which leave double precision before their root does, and its slope."""
    size = np.sum(np.abs(x) ** p, axis=dim, keepdims=True) ** (1 / p)
    slope = np.where(size == 0, 0.0, x / size) if p == 2 else None
    return np.where(y == 0, y, np.reshape(size, np.shape(y))), slope


def norm_text_back(_k: int, _out: Array, _x: Array, *, dim: Axes, keepdim: bool, p: float) -> tuple[str, ...]:
    """Return the text of g·sign(x)·(|x|/y)^(p - 1), and of 0 where the norm is 0."""
    del dim, keepdim
    if p == 1:
        return ("{G}*sign({0})",)
    if p == 2:
        return "{G}*{0}/{Y}", "where({Y} == 0, 0, {G}*{0}/{Y})"
    text = f"{{G}}*sign({{0}})*(abs({{0}})/{{Y}})**({p!r} - 1)"
    return text, f"where(({{Y}} == 0) | ({{0}} == 0), 0, {text})"


def var_text_back(_k: int, _out: Array, x: Array, *, dim: Axes, keepdim: bool, correction: float) -> str:
    """Return the text of g·2(x - mean)/(n - correction)."""
    del keepdim
    count = math.prod(np.shape(x)[axis] for axis in dim) - correction
    axes = "" if len(dim) == np.ndim(x) else f", dim={dim[0] if len(dim) == 1 else dim}, keepdim=True"
    return f"{{G}}*2/{count!r}*({{0}} - mean({{0}}{axes}))"


NORM = declare_reduction(
    "norm",
    lambda s, x, p: x**2 if p == 2 else s.power(s.abs(x), s.number(p)),
    lambda s, y, n, p: s.power(y, s.number(p)),
    forward=norm_of,
    vjp=norm_vjp,
    zero=True,
    zero_text=("{y} == 0",),
    kink=Kink(
        lambda x, dim, keepdim, p: (np.any if p <= 1 else np.all)(x == 0, axis=dim, keepdims=keepdim),
        "0 is taken",
        steep=True,
    ),
    exactly=exactly.norm,
    entries=Entries(index=Reduced("{x}/{y}", lambda p, **options: p == 2)),
    text=Text(backward=norm_text_back, defaults={"p": 2.0, "keepdim": False}),
    torch=Torch(rounding=norm_in_torch),
)


VAR = declare(
    "var",
    var,
    (var_vjp,),
    var_local,
    exactly=exactly.var,
    entries=Entries(index=Said()),
    text=Text(defaults={"keepdim": False, "correction": 1.0}, backward=var_text_back),
    torch=Torch(
        saves=((0,),),
        differs=lambda y, x: ~np.isfinite(y),
        says="its var of too few entries, or of too large ones, has no finite gradient or 0",
    ),
)
VAR_ALONG = variant(VAR, "var along axes", vjps=(var_along_vjp,))


def root_local(at: At) -> list[Links]:
    """Link each root to its argument with 1/(2y), and 0 where it is 0."""
    every = all_entries(at.out)
    weight = np.where(np.ravel(at.out) == 0, 0.0, 0.5)
    return [Links(every, every, weight, Explicit(lambda s, y: 1 / y), ((-1, every),))]


SQRT_FLAT = declare(
    "sqrt0",
    np.sqrt,
    (lambda g, y, _x: np.where(y == 0, 0.0, g / (2 * y)),),
    root_local,
    lambda s, x: s.sqrt(x),
    text=Text(template="sqrt({})", backward=(("{g}/(2*{y})", "where({y} == 0, 0, {g}/(2*{y}))"),), spelled="sqrt"),
    kink=Kink(lambda x: x == 0, "0 is taken", steep=True),
    zero_text=("{y} == 0",),
    torch=Torch(differs=beyond, says=BEYOND),
)


def spread(x: Value, dim: Static, keepdim: bool, correction: Static, root: bool, empty: str) -> Value:
    """Return the variance, or its root, whose derivative at 0 is 0."""
    axes = read_axes(dim, x.ndim, empty)
    if dim == () and empty == "all" and x.ndim:
        x.f.remark(
            "torch-differs",
            "dim is empty: PyTorch takes the variance over all axes, and in backward divides by 1 - correction and not "
            "by n - correction; this is the derivative of what it takes.",
        )
    require_entries(x, axes, "std" if root else "var")
    op = VAR if dim is None or not x.ndim else VAR_ALONG
    variance = x.of(op, dim=axes, keepdim=keepdim, correction=number(correction, "correction"))
    return variance.of(SQRT_FLAT) if root else variance


def mean_of(x: Value, axes: Axes, keepdim: bool) -> Value:
    """Return the mean along some axes as a sum over a count."""
    return x.sum(*axes, keepdim=keepdim) / math.prod(x.shape[axis] for axis in axes)


def deviation(name: str, root: bool, summary: str) -> None:
    """Enter PyTorch's variance or standard deviation, and NumPy's."""
    words = f"{summary}; over n - 1 unless correction= or unbiased=False says otherwise (np.{name}: over n)"

    @reduction(name, "torch method", op=None if root else VAR, kinds=OF_FLOATS, doc=words)
    def build(
        x: Value, dim: Static = None, unbiased: bool = True, keepdim: bool = False, correction: Static = None
    ) -> Value:
        if isinstance(dim, bool):  # x.std(False): PyTorch takes a truth value alone for unbiased
            dim, unbiased = None, dim
        return spread(x, dim, keepdim, int(unbiased) if correction is None else correction, root, "all")

    @reduction(f"{name}_mean", "torch", kinds=OF_FLOATS, doc=f"{summary} and the mean")
    def build_pair(
        x: Value, dim: Static = None, unbiased: bool = True, keepdim: bool = False, correction: Static = None
    ) -> tuple[Value, Value]:
        axes = read_axes(None if isinstance(dim, bool) else dim, x.ndim, "all")
        return build(x, dim, unbiased, keepdim, correction), mean_of(x, axes, keepdim)

    @reduction(f"np.{name} numpy.{name}", "", kinds=BY_NUMPY, doc=f"{summary} as numpy has it, over n - ddof")
    def build_numpy(x: Value, dim: Static = None, ddof: Static = 0, keepdim: bool = False) -> Value:
        return spread(x, dim, keepdim, ddof, root, "none")


deviation("var", root=False, summary="the variance")
deviation("std", root=True, summary="the standard deviation")


@reduction("norm", "torch method dtype", op=NORM, kinds=OF_FLOATS)
def norm(x: Value, p: Static = 2, dim: Static = None, keepdim: bool = False) -> Value:
    """(sum(abs(x)**p))**(1/p) over all entries or along dim; its derivative at 0 is 0; p="nuc" is that of a matrix"""
    if p == "nuc":
        return matrix_norm(x, p, (0, 1) if dim is None and x.ndim == 2 else dim, keepdim)
    return vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim)


def matrix_norm(x: Value, order: Static, dim: Static, keepdim: bool) -> Value:
    """Return the norm of the matrices in two axes."""
    from gradcli.ops.further.linear_decompositions import of_matrix

    if order == "fro" and x.ndim > 1 and len(read_axes(dim, x.ndim)) == 2:
        return x.of(NORM, dim=read_axes(dim, x.ndim), keepdim=keepdim, p=2.0)
    return of_matrix(x, order, dim, keepdim)


def vector_norm(x: Value, p: Static, dim: Static, keepdim: bool) -> Value:
    """Return the norm of all entries, or of those along dim, as one vector."""
    if isinstance(p, bool) or not isinstance(p, int | float) or math.isnan(p):
        raise GradcliError("value", f"a norm has no order {p!r}", hint="p can be any number, math.inf, -math.inf or 0")
    axes = read_axes(dim, x.ndim, "all")
    if math.isinf(p) or p < 0:
        require_entries(x, axes, "norm")
    if math.isinf(p):
        return abs(x).of(PEAK if p > 0 else VALLEY, dim=axes, keepdim=keepdim)
    if p == 0:
        return abs(sign(x)).sum(*axes, keepdim=keepdim)
    return x.of(NORM, dim=axes, keepdim=keepdim, p=float(p))


@function(
    "linalg.norm torch.linalg.norm np.linalg.norm numpy.linalg.norm", "", "reductions",
    kinds=BY_NUMPY,
)  # fmt: skip
def linalg_norm(x: Value, ord: Static = None, dim: Static = None, keepdim: bool = False) -> Value:
    """the norm of a vector or of all entries; with ord, or two axes, that of a matrix"""
    if dim is None and ord is None:
        return vector_norm(x, 2, None, keepdim)
    if dim is None:
        fits = x.ndim in (1, 2)
        require(fits, "shape", f"linalg.norm with ord needs dim for an array of shape {x.shape}")
    axes = read_axes(dim, x.ndim, "refused")
    if len(axes) == 1 and not isinstance(ord, str):
        return vector_norm(x, 2 if ord is None else ord, axes, keepdim)
    return matrix_norm(x, "fro" if ord is None else ord, axes, keepdim)
