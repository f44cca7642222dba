"""Entries and layers written into copies of an array: ``index_copy``, ``index_put``, ``slice_scatter`` and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import one_axis
from gradcli.ops.declare import Apply
from gradcli.ops.further.positions import positions, truths, within
from gradcli.ops.further.scatters import fitting, flat_places, layer_key, reduced
from gradcli.ops.further.shapes import MOVES, common_shape
from gradcli.ops.indexing import INDEX, PUT
from gradcli.ops.shaping import CLONE, EXPAND, RESHAPE, whole
from gradcli.ops.signatures import Raw, Raws, Static, Tensor
from gradcli.ops.vocabulary import function


@function("index_copy", "torch method", "indices", kinds=MOVES)
def build_index_copy(f: Apply, x: Tensor, dim: Static, index: Raw, source: Tensor) -> Tensor:
    """a copy of x with the layers of source written at the positions"""
    key = layer_key(f, x, dim, index, "index_copy")
    return f(PUT, x, fitting(f, x, key, source, "index_copy"), key=key)


@function("index_fill", "torch method", "indices", kinds="same same first")
def build_index_fill(f: Apply, x: Tensor, dim: Static, index: Raw, value: Tensor) -> Tensor:
    """a copy of x with one number in the layers at the positions"""
    if value.ndim:
        raise GradcliError("shape", f"index_fill takes one number, not shape {value.shape}")
    if not x.ndim:
        return f(PUT, x, value, key=()) if within(positions(f, index), 1, "index_fill").size else f(CLONE, x)
    places = np.unique(flat_places(x, layer_key(f, x, dim, index, "index_fill")))
    return f(PUT, x, value, key=np.unravel_index(places, x.shape))


@function("index_put", "torch method", "indices", kinds=MOVES)
def build_index_put(f: Apply, x: Tensor, indices: Raws, values: Tensor, accumulate: Static = False) -> Tensor:
    """a copy of x with values written at an index, or added"""
    key = tuple(part_of(f, part) for part in indices)
    try:
        places = flat_places(x, key)
        common = np.broadcast_shapes(np.shape(places), values.shape)
    except (IndexError, ValueError) as error:
        raise GradcliError("index", f"index_put: {error}; the array has shape {x.shape}") from None
    if common != np.shape(places):
        raise GradcliError("shape", f"index_put: values of shape {values.shape} for {np.shape(places)} entries")
    if not accumulate:
        return f(PUT, x, values, key=key)
    return reduced(f, x, places, f(EXPAND, values, shape=np.shape(places)), "sum")


def part_of(f: Apply, part: Raw) -> Any:
    """Return one part of an index: positions or a mask."""
    found = np.asarray(getattr(part, "value", part))
    return found if found.dtype == np.bool_ else positions(f, part)


@function("put", "torch not-bare method", "indices", kinds=MOVES)
def build_put(f: Apply, x: Tensor, index: Raw, source: Tensor, accumulate: Static = False) -> Tensor:
    """a copy of x with the entries of source written, or added, at the positions in one row"""
    size = math.prod(x.shape)
    places = within(positions(f, index), size, "put", -size) % max(size, 1)
    if math.prod(source.shape) != places.size:
        raise GradcliError("shape", f"put: {places.size} positions for a source of shape {source.shape}")
    part = f(RESHAPE, source, shape=places.shape)
    if accumulate:
        return reduced(f, x, places, part, "sum")
    flat = f(RESHAPE, x, shape=(size,))
    return f(RESHAPE, f(PUT, flat, part, key=places), shape=x.shape)


@function("masked_scatter", "torch method", "indices", kinds=MOVES)
def build_masked_scatter(f: Apply, x: Tensor, mask: Raw, source: Tensor) -> Tensor:
    """a copy of x with the entries of source, in their order, where the mask is true"""
    held = truths(mask, "masked_scatter")
    shape = common_shape([x.shape, held.shape])
    key = np.broadcast_to(held, shape)
    count = int(np.count_nonzero(key))
    if math.prod(source.shape) < count:
        raise GradcliError("shape", f"masked_scatter: {count} entries of a source of shape {source.shape} are needed")
    part = f(INDEX, f(RESHAPE, source, shape=(-1,)), key=slice(count))
    return f(PUT, f(EXPAND, x, shape=shape) if x.shape != shape else x, part, key=key)


def embed(f: Apply, x: Tensor, src: Tensor, key: Any, name: str) -> Tensor:
    """Return a copy of x with ``src`` written at a basic index; raises ``shape`` unless it fits."""
    return f(PUT, x, fitting(f, x, key, src, name), key=key)


@function("select_scatter", "torch method", "indices", kinds=MOVES)
def build_select_scatter(f: Apply, x: Tensor, src: Tensor, dim: Static, index: Static) -> Tensor:
    """a copy of x with one layer of an axis replaced"""
    axis = one_axis(dim, x.ndim)
    place = whole(index, "a place")
    if not x.ndim or not -x.shape[axis] <= place < x.shape[axis]:
        raise GradcliError("index", f"select_scatter: place {place} is out of range for shape {x.shape}")
    return embed(f, x, src, (*[slice(None)] * axis, place), "select_scatter")


@function("slice_scatter", "torch method", "indices", kinds=MOVES)
def build_slice_scatter(
    f: Apply, x: Tensor, src: Tensor, dim: Static = 0, start: Static = None, end: Static = None, step: Static = 1
) -> Tensor:
    """a copy of x with a slice of an axis replaced"""
    if not x.ndim or whole(step, "step") < 1:
        raise GradcliError("value", f"slice_scatter takes an axis and a step of 1 or more: {x.shape}, {step!r}")
    first, last = (None if bound is None else whole(bound, "a bound") for bound in (start, end))
    key = (*[slice(None)] * one_axis(dim, x.ndim), slice(first, last, whole(step, "step")))
    return embed(f, x, src, key, "slice_scatter")


@function("diagonal_scatter", "torch method", "indices", kinds=MOVES)
def build_diagonal_scatter(
    f: Apply, x: Tensor, src: Tensor, offset: Static = 0, dim1: Static = 0, dim2: Static = 1
) -> Tensor:
    """a copy of x with a diagonal replaced"""
    first, second = one_axis(dim1, x.ndim), one_axis(dim2, x.ndim)
    if first == second or x.ndim < 2:
        raise GradcliError("shape", f"diagonal_scatter takes two axes of shape {x.shape}")
    widest = max(x.shape)  # from which on a diagonal has no entries
    places = np.diagonal(flat_places(x, ...), max(-widest, min(widest, whole(offset, "offset"))), first, second)
    if src.shape != places.shape:
        raise GradcliError("shape", f"diagonal_scatter: the source has shape {src.shape}, the diagonal {places.shape}")
    return f(PUT, x, src, key=np.unravel_index(places, x.shape))
