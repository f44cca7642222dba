"""Entries picked by positions and by masks: ``gather``, ``index_select``, ``take``, ``masked_fill``, ``embedding``."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.axes import one_axis
from gradcli.ops.declare import Apply
from gradcli.ops.further.positions import positions, truths, within
from gradcli.ops.further.shapes import MOVES, common_shape
from gradcli.ops.indexing import INDEX
from gradcli.ops.making import DETACH
from gradcli.ops.piecewise import WHERE
from gradcli.ops.shaping import EXPAND, RESHAPE
from gradcli.ops.signatures import Array, Indices, Mask, Raw, Static, Tensor
from gradcli.ops.vocabulary import Function, function, register


def along(f: Apply, x: Tensor, index: Indices, axis: int, name: str) -> Tensor:
    """Return the entries at ``index`` along an axis; the other axes of the index may be shorter."""
    if index.ndim != x.ndim:
        raise GradcliError("shape", f"{name}: the index has shape {index.shape}, and the array {x.shape}")
    if not x.ndim:
        within(index, 1, name)
        return f(INDEX, x, key=())
    if any(k != axis and n > m for k, (n, m) in enumerate(zip(index.shape, x.shape, strict=True))):
        raise GradcliError("shape", f"{name}: an index of shape {index.shape} is larger than the array, {x.shape}")
    return f(INDEX, x, key=open_key(within(index, x.shape[axis], name), axis))


def open_key(index: Indices, axis: int) -> tuple[Indices, ...]:
    """Return a key for every axis: ``index`` along one, and where it stands along all others."""
    grid = np.ogrid[tuple(slice(length) for length in index.shape)]
    return tuple(index if k == axis else places for k, places in enumerate(grid))


@function("gather", "torch method", "indices", kinds=MOVES)
def build_gather(f: Apply, x: Tensor, dim: Static, index: Raw, sparse_grad: Static = False) -> Tensor:
    """the entries at the positions along an axis, in the shape of the positions"""
    del sparse_grad
    return along(f, x, positions(f, index), one_axis(dim, x.ndim), "gather")


@function(
    "take_along_dim np.take_along_axis numpy.take_along_axis jnp.take_along_axis",
    "torch method",
    "indices",
    kinds=MOVES,
)
def build_take_along_dim(f: Apply, x: Tensor, indices: Raw, dim: Static = None) -> Tensor:
    """the entries at the positions along an axis, the other axes broadcast; of the entries in one row without dim"""
    index = positions(f, indices, "indices")
    if dim is None:
        return along(f, f(RESHAPE, x, shape=(-1,)), np.ravel(index), 0, "take_along_dim")
    axis = one_axis(dim, x.ndim)
    if index.ndim != x.ndim or not x.ndim:
        raise GradcliError("shape", f"take_along_dim: the index has shape {index.shape}, and the array {x.shape}")
    others = [[1 if k == axis else n for k, n in enumerate(shape)] for shape in (index.shape, x.shape)]
    try:
        shape = np.broadcast_shapes(*map(tuple, others))
    except ValueError:
        raise GradcliError("shape", f"take_along_dim: shapes {index.shape} and {x.shape} do not fit") from None
    spread = np.broadcast_to(index, [n if k == axis else shape[k] for k, n in enumerate(index.shape)])
    whole_x = f(EXPAND, x, shape=tuple(n if k == axis else shape[k] for k, n in enumerate(x.shape)))
    counted = np.where(spread < 0, spread + x.shape[axis], spread)
    return along(f, whole_x, counted, axis, "take_along_dim")


@function("index_select", "torch method", "indices", kinds=MOVES)
def build_index_select(f: Apply, x: Tensor, dim: Static, index: Raw) -> Tensor:
    """the layers of an axis at the positions"""
    places = positions(f, index)
    if places.ndim > 1:
        raise GradcliError("shape", f"index_select: the index is a vector, not of shape {places.shape}")
    if not x.ndim:
        if within(places, 1, "index_select").size != 1:
            raise GradcliError("shape", f"index_select: {counted(places.size, 'position')} in one number")
        return f(INDEX, x, key=())
    axis = one_axis(dim, x.ndim)
    return layers(f, x, axis, within(np.atleast_1d(places), x.shape[axis], "index_select"))


def layers(f: Apply, x: Tensor, axis: int, places: Indices) -> Tensor:
    """Return the layers of an axis at positions; their axes take its place."""
    return f(INDEX, x, key=(*[slice(None)] * axis, places))


@function("take", "torch method", "indices", kinds=MOVES)
def build_take(f: Apply, x: Tensor, index: Raw) -> Tensor:
    """the entries at the positions in one row, in the shape of the positions"""
    size = math.prod(x.shape)
    return layers(f, f(RESHAPE, x, shape=(size,)), 0, within(positions(f, index), size, "take", -size))


@function("np.take numpy.take jnp.take", "", "indices", kinds=MOVES)
def build_numpy_take(f: Apply, x: Tensor, indices: Raw, axis: Static = None) -> Tensor:
    """the entries at the positions in one row, or the layers of an axis"""
    own = 0 if axis is None else one_axis(axis, x.ndim)
    flat = f(RESHAPE, x, shape=(-1,)) if axis is None or not x.ndim else x
    length = flat.shape[own]
    return layers(f, flat, own, within(positions(f, indices, "indices"), length, "take", -length))


@function("masked_select", "torch method", "indices", kinds=MOVES)
def build_masked_select(f: Apply, x: Tensor, mask: Raw) -> Tensor:
    """the entries where the mask is true, in one row; both broadcast"""
    held = truths(mask, "masked_select")
    shape = common_shape([x.shape, held.shape])
    flat = f(RESHAPE, f(EXPAND, x, shape=shape), shape=(-1,))
    return f(INDEX, flat, key=np.broadcast_to(held, shape).ravel())


@function("np.compress numpy.compress", "", "indices", kinds=MOVES)
def build_compress(f: Apply, test: Raw, x: Tensor, axis: Static = None) -> Tensor:
    """the entries in one row, or the layers of an axis, where the condition is true"""
    flat = f(RESHAPE, x, shape=(-1,)) if axis is None else x
    return layers(f, flat, 0 if axis is None else one_axis(axis, x.ndim), np.flatnonzero(truths(test, "np.compress")))


@function("masked_fill", "torch method", "indices", kinds="same same first")
def build_masked_fill(f: Apply, x: Tensor, mask: Raw, value: Tensor) -> Tensor:
    """value where the mask is true, x elsewhere"""
    if value.ndim:
        raise GradcliError("shape", f"masked_fill takes one number, not shape {value.shape}")
    return f(WHERE, numbers_of(truths(mask, "masked_fill")), value, x)


def numbers_of(mask: Mask) -> Array:
    """Return truth values as numbers, which conditions are."""
    return np.asarray(mask, dtype=np.float64)


def build_own_where(f: Apply, x: Tensor, mask: Raw, other: Tensor) -> Tensor:
    """x where the condition holds, other elsewhere"""
    return f(WHERE, numbers_of(truths(mask, "where")), x, other)


register(
    Function("Tensor.where", build_own_where, (), ("where",), "x where the condition holds, other elsewhere", "indices")
)


@function("embedding", "functional", "indices", kinds=MOVES)
def build_embedding(
    f: Apply,
    input: Raw,
    weight: Tensor,
    padding_idx: Static = None,
    max_norm: Static = None,
    norm_type: Static = 2.0,
    scale_grad_by_freq: Static = False,
    sparse: Static = False,
) -> Tensor:
    """the rows of weight at the positions; none flows back to row padding_idx"""
    del norm_type, sparse
    if max_norm is not None or scale_grad_by_freq:
        raise GradcliError("value", "embedding: max_norm and scale_grad_by_freq are not part of the language")
    if weight.ndim != 2:
        raise GradcliError("shape", f"embedding: the weight is a matrix, not of shape {weight.shape}")
    count = weight.shape[0]
    places = within(positions(f, input, "input"), count, "embedding")
    rows = layers(f, weight, 0, places)
    if padding_idx is None:
        return rows
    if not isinstance(padding_idx, int) or not -count <= padding_idx < count:
        raise GradcliError("value", f"embedding: padding_idx is a row of the weight, not {padding_idx!r}")
    padded = numbers_of(places == padding_idx % count)[..., None]
    return f(WHERE, padded, f(DETACH, rows), rows) if np.any(padded) else rows
