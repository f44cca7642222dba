"""Entries picked by positions and by masks: ``gather``, ``index_select``, ``take``, ``masked_fill``, ``embedding``."""

from __future__ import annotations

from functools import partial

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.axes import one_axis
from gradcli.ops.further.positions import positions, truths, within
from gradcli.ops.further.shapes import MOVES, common_shape
from gradcli.ops.losses import as_numbers
from gradcli.ops.signatures import Indices, Raw, Static
from gradcli.ops.values import Axis, Value, as_builder, require, where
from gradcli.ops.vocabulary import Function, function, register

indexed = partial(function, family="indices", kinds=MOVES)


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


def open_key(index: Indices, axis: int) -> tuple[Indices, ...]:
    """Return a key for every axis: ``index`` along one, and where it stands along all others."""
    grid = np.ogrid[tuple(slice(length) for length in index.shape)]
    return tuple(index if k == axis else places for k, places in enumerate(grid))


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
    try:
        shape = np.broadcast_shapes(*others)
    except ValueError:
        raise GradcliError("shape", f"{name}: shapes {index.shape} and {x.shape} do not fit") from None
    spread = np.broadcast_to(index, [n if k == axis else shape[k] for k, n in enumerate(index.shape)])
    wide = x.expand(*(n if k == axis else shape[k] for k, n in enumerate(x.shape)))
    return along(wide, np.where(spread < 0, spread + x.shape[axis], spread), axis, name)


@indexed("index_select", "torch method")
def index_select(x: Value, dim: Static, index: Raw) -> Value:
    """the layers of an axis at the positions"""
    places = positions(x.f, index)
    require(places.ndim < 2, "shape", f"index_select: the index is a vector, not of shape {places.shape}")
    if not x.ndim:
        one = within(places, 1, "index_select").size == 1
        require(one, "shape", f"index_select: {counted(places.size, 'position')} in one number")
        return x[()]
    axis = one_axis(dim, x.ndim)
    return x.along(axis, within(np.atleast_1d(places), x.shape[axis], "index_select"))


@indexed("take", "torch method")
def take(x: Value, index: Raw) -> Value:
    """the entries at the positions in one row, in the shape of the positions"""
    return x.reshape(x.size).along(0, within(positions(x.f, index), x.size, "take", -x.size))


@indexed("np.take numpy.take jnp.take", "")
def numpy_take(x: Value, indices: Raw, axis: Static = None) -> Value:
    """the entries at the positions in one row, or the layers of an axis"""
    own = 0 if axis is None else one_axis(axis, x.ndim)
    flat = x.flat if axis is None or not x.ndim else x
    length = flat.shape[own]
    return flat.along(own, within(positions(x.f, indices, "indices"), length, "take", -length))


@indexed("masked_select", "torch method")
def masked_select(x: Value, mask: Raw) -> Value:
    """the entries where the mask is true, in one row; both broadcast"""
    held = truths(mask, "masked_select")
    shape = common_shape([x.shape, held.shape])
    return x.expand(*shape).flat[np.broadcast_to(held, shape).ravel()]


@indexed("np.compress numpy.compress", "")
def compress(test: Raw, x: Value, axis: Static = None) -> Value:
    """the entries in one row, or the layers of an axis, where the condition is true"""
    flat, own = (x.flat, 0) if axis is None else (x, one_axis(axis, x.ndim))
    return flat.along(own, np.flatnonzero(truths(test, "np.compress")))


@function("masked_fill", "torch method", "indices", kinds="same same first")
def masked_fill(x: Value, mask: Raw, value: Value) -> Value:
    """value where the mask is true, x elsewhere"""
    require(not value.ndim, "shape", f"masked_fill takes one number, not shape {value.shape}")
    return where(as_numbers(truths(mask, "masked_fill")), value, x)


def where_of_own(x: Value, mask: Raw, other: Value) -> Value:
    """x where the condition holds, other elsewhere"""
    return where(as_numbers(truths(mask, "where")), x, other)


register(
    Function(
        "Tensor.where", as_builder(where_of_own), (), ("where",), "x where the condition holds, other elsewhere",
        "indices",
    )
)  # fmt: skip


@indexed("embedding", "functional")
def embedding(
    input: Raw, weight: Value, padding_idx: Static = None, max_norm: Static = None, norm_type: Static = 2.0,
    scale_grad_by_freq: Static = False, sparse: Static = False,
) -> Value:  # fmt: skip
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
