"""Entries picked by positions and masks, and written, added or reduced there: gather, scatter, index_put, embedding.

What is written is a write by index. What is added up, multiplied or compared is a table: a row for each entry, with
what is put there beside what it holds, reduced along its rows, so that ties and zeros are those of the reductions.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.ops.declare import Apply, Op
from gradcli.ops.further.casting import positions, truths, within
from gradcli.ops.further.shapes import one_shape
from gradcli.ops.joining import CAT, PUT
from gradcli.ops.links import Indices, Raw, Raws, Static
from gradcli.ops.neural import as_numbers
from gradcli.ops.reductions import PROD_ALONG, SUM
from gradcli.ops.statistics import AMAX, AMIN
from gradcli.ops.values import Axis, Value, as_builder, common_shape, number, one_axis, require, where
from gradcli.ops.vocabulary import KEPT, LIKE_FIRST, Function, function, register

indexed = partial(function, family="indices", kinds=KEPT)


# --- picked ---


def open_key(index: Indices, axis: int) -> tuple[Indices, ...]:
    """Return a key for every axis: ``index`` along one, and where it stands along all others."""
    grid = np.ogrid[tuple(slice(length) for length in index.shape)]
    return tuple(index if k == axis else places for k, places in enumerate(grid))


def along(x: Value, index: Indices, axis: int, name: str) -> Value:
    """Return the entries at ``index`` along an axis; the other axes of the index may be shorter."""
    fits = index.ndim == x.ndim
    require(fits, "shape", f"{name}: the index has shape {index.shape}, and the array {x.shape}")
    if not x.ndim:
        within(index, 1, name)
        return x[()]
    fits = all(k == axis or n <= m for k, (n, m) in enumerate(zip(index.shape, x.shape, strict=True)))
    require(fits, "shape", f"{name}: an index of shape {index.shape} is larger than the array, {x.shape}")
    return x[open_key(within(index, x.shape[axis], name), axis)]


@indexed("gather", "torch method")
def gather(x: Value, dim: Axis, index: Raw, sparse_grad: Static = False) -> Value:
    """the entries at the positions along an axis, in the shape of the positions"""
    del sparse_grad
    return along(x, positions(x.f, index), dim, "gather")


@indexed("take_along_dim np.take_along_axis numpy.take_along_axis jnp.take_along_axis", "torch method")
def take_along_dim(x: Value, indices: Raw, dim: Static = None) -> Value:
    """the entries at the positions along an axis, the other axes broadcast; of the entries in one row without dim"""
    index, name = positions(x.f, indices, "indices"), "take_along_dim"
    if dim is None:
        return along(x.flat, np.ravel(index), 0, name)
    axis = one_axis(dim, x.ndim)
    fits = index.ndim == x.ndim and x.ndim
    require(fits, "shape", f"{name}: the index has shape {index.shape}, and the array {x.shape}")
    others = [tuple(1 if k == axis else n for k, n in enumerate(shape)) for shape in (index.shape, x.shape)]
    shape = common_shape(f"{name}: shapes {index.shape} and {x.shape} do not fit", *others)
    spread = np.broadcast_to(index, [n if k == axis else shape[k] for k, n in enumerate(index.shape)])
    wide = x.expand(*(n if k == axis else shape[k] for k, n in enumerate(x.shape)))
    return along(wide, np.where(spread < 0, spread + x.shape[axis], spread), axis, name)


def layer_key(x: Value, dim: Static, index: Raw, name: str) -> Any:
    """Return the key of the layers of an axis at positions."""
    places = positions(x.f, index)
    require(places.ndim < 2, "shape", f"{name}: the index is a vector, not of shape {places.shape}")
    axis = one_axis(dim, x.ndim)
    if not x.ndim:
        one = within(places, 1, name).size == 1
        require(one, "shape", f"{name}: {counted(places.size, 'position')} in one number")
        return ()
    return (*[slice(None)] * axis, within(np.atleast_1d(places), x.shape[axis], name))


@indexed("index_select", "torch method")
def index_select(x: Value, dim: Static, index: Raw) -> Value:
    """the layers of an axis at the positions"""
    return x[layer_key(x, dim, index, "index_select")]


@indexed("take", "torch method")
def take(x: Value, index: Raw) -> Value:
    """the entries at the positions in one row, in the shape of the positions"""
    return x.reshape(x.size).along(0, within(positions(x.f, index), x.size, "take", -x.size))


@indexed("np.take numpy.take jnp.take", "")
def numpy_take(x: Value, indices: Raw, axis: Static = None) -> Value:
    """the entries at the positions in one row, or the layers of an axis"""
    at = 0 if axis is None else one_axis(axis, x.ndim)
    flat = x.flat if axis is None or not x.ndim else x
    length = flat.shape[at]
    return flat.along(at, within(positions(x.f, indices, "indices"), length, "take", -length))


@indexed("masked_select", "torch method")
def masked_select(x: Value, mask: Raw) -> Value:
    """the entries where the mask is true, in one row; both broadcast"""
    chosen = truths(mask, "masked_select")
    shape = one_shape([x, chosen])
    return x.expand(*shape).flat[np.broadcast_to(chosen, shape).ravel()]


@indexed("np.compress numpy.compress", "")
def compress(test: Raw, x: Value, axis: Static = None) -> Value:
    """the entries in one row, or the layers of an axis, where the condition is true"""
    flat, at = (x.flat, 0) if axis is None else (x, one_axis(axis, x.ndim))
    return flat.along(at, np.flatnonzero(truths(test, "np.compress")))


@function("masked_fill", "torch method", "indices", kinds=LIKE_FIRST)
def masked_fill(x: Value, mask: Raw, value: Value) -> Value:
    """value where the mask is true, x elsewhere"""
    require(not value.ndim, "shape", f"masked_fill takes one number, not shape {value.shape}")
    return where(as_numbers(truths(mask, "masked_fill")), value, x)


def where_method(x: Value, mask: Raw, other: Value) -> Value:
    """x where the condition holds, other elsewhere"""
    return where(as_numbers(truths(mask, "where")), x, other)


WHERE = "x where the condition holds, other elsewhere"
register(Function("Tensor.where", as_builder(where_method), (), ("where",), WHERE, "indices", kinds=KEPT))


@indexed("embedding", "functional")
def embedding(
    input: Raw,
    weight: Value,
    padding_idx: Static = None,
    max_norm: Static = None,
    norm_type: Static = 2.0,
    scale_grad_by_freq: Static = False,
    sparse: Static = False,
) -> Value:
    """the rows of weight at the positions; none flows back to row padding_idx"""
    del norm_type, sparse
    plain = max_norm is None and not scale_grad_by_freq
    require(plain, "value", "embedding: max_norm and scale_grad_by_freq are not part of the language")
    require(weight.ndim == 2, "shape", f"embedding: the weight is a matrix, not of shape {weight.shape}")
    count = weight.shape[0]
    places = within(positions(weight.f, input, "input"), count, "embedding")
    rows = weight.along(0, places)
    if padding_idx is None:
        return rows
    if not isinstance(padding_idx, int) or not -count <= padding_idx < count:
        raise GradcliError("value", f"embedding: padding_idx is a row of the weight, not {padding_idx!r}")
    padded = as_numbers(places == padding_idx % count)[..., None]
    return where(padded, rows.detach(), rows) if np.any(padded) else rows


# --- written, added and reduced ---

REDUCTIONS: dict[str, tuple[Op, float]] = {
    "sum": (SUM, 0.0),
    "mean": (SUM, 0.0),
    "prod": (PROD_ALONG, 1.0),
    "amax": (AMAX, -math.inf),
    "amin": (AMIN, math.inf),
}
"""By name: the reduction, and the number that changes nothing in it."""


def reduced(x: Value, places: Indices, source: Value, kind: str, include_self: bool = True) -> Value:
    """Return x with the entries of ``source`` reduced into those at flat ``places``.

    ``include_self`` says whether what x holds there counts. Both arrays are taken in flat order.
    """
    require(kind in REDUCTIONS, "value", f"reduce is one of {', '.join(REDUCTIONS)}, not {kind!r}")
    op, neutral = REDUCTIONS[kind]
    flat = np.ravel(places)
    times = np.bincount(flat, minlength=x.size)
    most = int(np.max(times, initial=0))
    if not most:
        return x.clone()
    x.f.charge(x.size * (most + 1))
    order = np.argsort(flat, kind="stable")
    rows = flat[order]
    table = np.full((x.size, most + 1), x.size + flat.size)  # what is left over is the neutral number
    table[rows, 1 + np.arange(flat.size) - np.searchsorted(rows, rows)] = x.size + order
    table[:, 0] = np.where((times > 0) & (not include_self), x.size + flat.size, np.arange(x.size))
    result = x.flat.of(CAT, source.flat, np.array([neutral]), dim=0)[table].of(op, dim=(1,), keepdim=False)
    if kind == "mean":
        result = result / np.maximum(times + include_self, 1).astype(np.float64)
    if kind in ("amax", "amin") and not include_self and np.any((np.ravel(x.raw) == result.raw) & (times > 0)):
        x.f.remark(
            "torch-differs",
            "The extreme is also what x holds there, which does not take part: PyTorch counts it among those that "
            "share the gradient and drops its share. Here the others share all of it.",
        )
    return result if x.ndim == 1 else result.reshape(*x.shape)


def flat_places(x: Value, key: Any) -> Indices:
    """Return the places in flat order of the entries that an index picks."""
    return np.arange(x.size).reshape(x.shape)[key]


def scattered(x: Value, dim: Static, index: Raw, source: Value, name: str) -> tuple[Any, Value]:
    """Return the key of the entries of x at positions along an axis, and as many of ``source``."""
    places, axis = positions(x.f, index), one_axis(dim, x.ndim)
    if not x.ndim:
        within(places, 1, name)
        return (), source.reshape()
    said = f"{name}: the array has shape {x.shape}, the index {places.shape}, the source {source.shape}"
    require(places.ndim == x.ndim and source.ndim in (0, x.ndim), "shape", said)
    sides = [(n, m) for k, (n, m) in enumerate(zip(places.shape, x.shape, strict=True)) if k != axis]
    sides += zip(places.shape, source.shape, strict=True) if source.ndim else ()
    said = f"{name}: an index of shape {places.shape} is larger than the array or the source"
    require(all(n <= m for n, m in sides), "shape", said)
    key = open_key(within(places, x.shape[axis], name), axis)
    if source.shape in ((), places.shape):
        return key, source
    if source.active:
        said = f"{name}: the source is larger than the index, at which backward of PyTorch raises."
        x.f.remark("torch-refuses", said)
    return key, source[tuple(slice(length) for length in places.shape)]


@indexed("scatter", "torch method")
def scatter(
    f: Apply, x: Value, dim: Static, index: Raw, src: Value | None = None, value: Static = None, reduce: Static = None
) -> Value:
    """a copy of x with the entries of src written at the positions along an axis"""
    source = Value(f, np.asarray(number(value, "value"))) if src is None else src
    key, part = scattered(x, dim, index, source, "scatter")
    if reduce is None:
        return x.of(PUT, part, key=key)
    require(reduce in ("add", "multiply"), "value", f"reduce is 'add' or 'multiply', not {reduce!r}")
    if x.active or part.active:
        f.remark("torch-refuses", "PyTorch has no derivative of scatter with reduce; scatter_reduce has one.")
    places = flat_places(x, key)
    spread = part.expand(*places.shape) if np.shape(places) else part
    return reduced(x, places, spread, "sum" if reduce == "add" else "prod")


@indexed("scatter_add", "torch method")
def scatter_add(x: Value, dim: Static, index: Raw, src: Value) -> Value:
    """a copy of x with the entries of src added at the positions along an axis"""
    key, part = scattered(x, dim, index, src, "scatter_add")
    return reduced(x, flat_places(x, key), part, "sum")


@indexed("scatter_reduce", "torch method")
def scatter_reduce(x: Value, dim: Static, index: Raw, src: Value, reduce: Static, include_self: bool = True) -> Value:
    """a copy of x with the entries of src reduced into those at the positions: sum, prod, mean, amax or amin"""
    key, part = scattered(x, dim, index, src, "scatter_reduce")
    return reduced(x, flat_places(x, key), part, str(reduce), include_self)


def fitting(x: Value, key: Any, source: Value, name: str) -> Value:
    """Return ``source`` where it has the shape of what is written at ``key``; raises ``shape`` otherwise."""
    wanted = np.shape(flat_places(x, key))
    if source.shape != wanted and source.size == math.prod(wanted) and 0 in (source.ndim, len(wanted)):
        return source.reshape(*wanted)
    require(source.shape == wanted, "shape", f"{name}: the source has shape {source.shape}, and {wanted} are written")
    return source


@indexed("index_add", "torch method")
def index_add(x: Value, dim: Static, index: Raw, source: Value, alpha: Value | None = None) -> Value:
    """a copy of x with the layers of source, alpha times each, added at the positions"""
    key = layer_key(x, dim, index, "index_add")
    part = fitting(x, key, source, "index_add")
    return reduced(x, flat_places(x, key), part if alpha is None else part * alpha, "sum")


@indexed("index_copy", "torch method")
def index_copy(x: Value, dim: Static, index: Raw, source: Value) -> Value:
    """a copy of x with the layers of source written at the positions"""
    key = layer_key(x, dim, index, "index_copy")
    return x.of(PUT, fitting(x, key, source, "index_copy"), key=key)


@function("index_fill", "torch method", "indices", kinds=LIKE_FIRST)
def index_fill(x: Value, dim: Static, index: Raw, value: Value) -> Value:
    """a copy of x with one number in the layers at the positions"""
    require(not value.ndim, "shape", f"index_fill takes one number, not shape {value.shape}")
    if not x.ndim:
        some = within(positions(x.f, index), 1, "index_fill").size
        return x.of(PUT, value, key=()) if some else x.clone()
    places = np.unique(flat_places(x, layer_key(x, dim, index, "index_fill")))
    return x.of(PUT, value, key=np.unravel_index(places, x.shape))


@indexed("index_put", "torch method")
def index_put(x: Value, indices: Raws, values: Value, accumulate: bool = False) -> Value:
    """a copy of x with values written at an index, or added"""
    key = tuple(part_of(x.f, part) for part in indices)
    try:
        places = flat_places(x, key)
        common = np.broadcast_shapes(np.shape(places), values.shape)
    except (IndexError, ValueError) as error:
        raise GradcliError("index", f"index_put: {error}; the array has shape {x.shape}") from None
    said = f"index_put: values of shape {values.shape} for {np.shape(places)} entries"
    require(common == np.shape(places), "shape", said)
    if not accumulate:
        return x.of(PUT, values, key=key)
    return reduced(x, places, values.expand(*np.shape(places)), "sum")


def part_of(f: Apply, part: Raw) -> Any:
    """Return one part of an index: positions or a mask."""
    numbers = np.asarray(getattr(part, "value", part))
    return numbers if numbers.dtype == np.bool_ else positions(f, part)


@indexed("put", "torch not-bare method")
def put(x: Value, index: Raw, source: Value, accumulate: bool = False) -> Value:
    """a copy of x with the entries of source written, or added, at the positions in one row"""
    places = within(positions(x.f, index), x.size, "put", -x.size) % max(x.size, 1)
    fits = source.size == places.size
    require(fits, "shape", f"put: {places.size} positions for a source of shape {source.shape}")
    part = source.reshape(*places.shape)
    if accumulate:
        return reduced(x, places, part, "sum")
    return x.reshape(x.size).of(PUT, part, key=places).reshape(*x.shape)
