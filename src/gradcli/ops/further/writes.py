"""Entries and layers written into copies of an array: ``index_copy``, ``index_put``, ``slice_scatter`` and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply
from gradcli.ops.further.positions import positions, within
from gradcli.ops.further.scatters import fitting, flat_places, layer_key, reduced
from gradcli.ops.further.shapes import MOVES
from gradcli.ops.indexing import PUT
from gradcli.ops.shaping import CLONE, EXPAND, RESHAPE
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
