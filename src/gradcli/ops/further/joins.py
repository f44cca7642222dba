"""Arrays put together: side by side, on a diagonal, in all combinations, one in another, and as products of lines."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import one_axis, whole
from gradcli.ops.declare import Apply
from gradcli.ops.further.positions import positions, searched, truths
from gradcli.ops.further.shapes import MOVES, with_axes
from gradcli.ops.joining import build_cat
from gradcli.ops.signatures import Array, Library, Raw, Raws, Static
from gradcli.ops.values import Value, Values, require, stack, where
from gradcli.ops.vocabulary import function

shaping = partial(function, family="shaping", kinds=MOVES)


def cat(f: Apply, arrays: Sequence[Any], dim: Static) -> Any:
    """Return arrays joined along an axis."""
    return Value(f, build_cat(f, [x.node if isinstance(x, Value) else x for x in arrays], dim))


def some(tensors: Values, name: str) -> Values:
    """Return arrays; raises ``shape`` where there is none."""
    require(tensors, "shape", f"{name} needs an array")
    return tensors


@shaping("hstack", "torch numpy")
def hstack(tensors: Values) -> Value:
    """arrays joined along the second axis, vectors along the first"""
    found = [with_axes(x, 1) for x in some(tensors, "hstack")]
    return cat(found[0].f, found, min(1, found[0].ndim - 1))


@shaping("vstack row_stack", "torch numpy")
def vstack(tensors: Values) -> Value:
    """arrays joined along the first axis, vectors as rows"""
    found = [with_axes(x, 2) for x in some(tensors, "vstack")]
    return cat(found[0].f, found, 0)


@shaping("dstack", "torch numpy")
def dstack(tensors: Values) -> Value:
    """arrays joined along a third axis"""
    found = [with_axes(x, 3) for x in some(tensors, "dstack")]
    return cat(found[0].f, found, 2)


@shaping("column_stack", "torch numpy")
def column_stack(tensors: Values) -> Value:
    """matrices side by side, vectors as columns"""
    found = [x.reshape(x.size, 1) if x.ndim < 2 else x for x in some(tensors, "column_stack")]
    return cat(found[0].f, found, 1)


@shaping("block_diag scipy.linalg.block_diag jax.scipy.linalg.block_diag", "torch")
def block_diag(*tensors: Value) -> Value:
    """matrices along the diagonal of one that is 0 elsewhere; a vector is a row"""
    blocks = [with_axes(x, 2) for x in some(tensors, "block_diag")]
    require(all(block.ndim == 2 for block in blocks), "shape", "block_diag takes matrices, vectors and numbers")
    width, left, rows = sum(block.shape[1] for block in blocks), 0, []
    blocks[0].f.charge(width * sum(block.shape[0] for block in blocks))
    for block in blocks:
        height, own = block.shape
        sides: list[Any] = [np.zeros((height, left)), block, np.zeros((height, width - left - own))]
        rows.append(cat(block.f, [side for side in sides if side.shape[1] or side is block], 1))
        left += own
    return cat(blocks[0].f, rows, 0)


@shaping("meshgrid", "torch numpy")
def meshgrid(*tensors: Value, indexing: Static = None, library: Library = "torch") -> Any:
    """vectors as arrays over the grid that they span; PyTorch's first is constant along rows, NumPy's along columns"""
    order = indexing or ("xy" if library == "np" else "ij")
    require(order in ("ij", "xy"), "value", f"indexing is 'ij' or 'xy', not {order!r}")
    require(all(x.ndim < 2 for x in tensors), "shape", "meshgrid takes vectors")
    places = list(range(len(tensors)))
    if order == "xy" and len(places) > 1:
        places[:2] = 1, 0
    shape = [0] * len(tensors)
    for x, place in zip(tensors, places, strict=True):
        shape[place] = x.size
    rows = [
        x.reshape(*(-1 if k == place else 1 for k in range(len(shape)))).expand(*shape)
        for x, place in zip(tensors, places, strict=True)
    ]
    return tuple(rows if library == "torch" else [row.clone() for row in rows])


@shaping("cartesian_prod", "torch")
def cartesian_prod(*tensors: Value) -> Value:
    """all combinations of an entry of each vector, as rows"""
    vectors = all(x.ndim == 1 for x in some(tensors, "cartesian_prod"))
    require(vectors, "shape", "cartesian_prod takes vectors")
    if len(tensors) == 1:
        return tensors[0]
    lengths = [x.size for x in tensors]
    tensors[0].f.charge(math.prod(lengths) * len(lengths))
    places = np.indices(lengths).reshape(len(lengths), -1)
    return stack([x[place] for x, place in zip(tensors, places, strict=True)], 1)


@shaping("combinations", "torch")
def combinations(x: Value, r: int = 2, with_replacement: Static = False) -> Value | Array:
    """all choices of r entries of a vector, in their order, as rows"""
    require(x.ndim == 1 and r >= 0, "shape", f"combinations takes a vector, and r of 0 or more: {x.shape}, {r}")
    if not r:
        return np.zeros(0)
    n = x.size
    x.f.charge(r * math.comb(n + r - 1 if with_replacement else n, r) if n else 0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return x[np.array([*choose(range(n), r)], dtype=np.intp).reshape(-1, r)]


# --- entries put in and left out ---


def flattened(x: Value) -> Value:
    """Return all entries in one row."""
    return x if x.ndim == 1 else x.reshape(x.size)


@shaping("append", "numpy not-bare")
def append(x: Value, values: Value, axis: Static = None) -> Value:
    """an array with others behind it along an axis, or all entries in one row"""
    return cat(x.f, [flattened(x), flattened(values)], 0) if axis is None else cat(x.f, [x, values], axis)


def along(x: Value, axis: Static) -> tuple[Value, int]:
    """Return an array and one of its axes, flattened where none is named; raises ``shape`` for one number."""
    require(axis is None or x.ndim, "shape", "one number has no axis", hint="leave axis out")
    flat = flattened(x) if axis is None else x
    return flat, one_axis(0 if axis is None else axis, flat.ndim)


@shaping("insert", "numpy not-bare")
def insert(x: Value, obj: Static, values: Value, axis: Static = None) -> Value:
    """an array with values put before one place of an axis, or of all entries in one row"""
    found, at = along(x, axis)
    length, place = found.shape[at], whole(obj, "the place")
    fits = -length <= place <= length
    require(fits, "index", f"insert: place {place} is out of range for an axis of length {length}")
    place %= length + (place >= 0)
    layer, wide = list(found.shape), values
    if values.ndim:
        wide = values.reshape(*(1,) * (found.ndim - values.ndim), *values.shape)
        order = [*range(1, found.ndim)]
        order.insert(at, 0)
        wide = wide.permute(*order) if at else wide
    layer[at] = wide.shape[at] if wide.ndim else 1
    try:
        np.broadcast_shapes(wide.shape, tuple(layer))
    except ValueError:
        raise GradcliError("shape", f"insert: values of shape {values.shape} do not fit {found.shape}") from None
    x.f.charge(math.prod(layer))
    before, middle = found.along(at, slice(0, place)), wide.expand(*layer)
    parts = [before, middle, found.along(at, slice(place, length))]
    return cat(x.f, [part for part in parts if part.shape[at]], at)


@shaping("delete", "numpy not-bare")
def delete(x: Value, obj: Raw, axis: Static = None) -> Value:
    """an array without the entries at some places of an axis, or of all entries in one row"""
    found, at = along(x, axis)
    length, places = found.shape[at], positions(x.f, obj, "delete")
    fits = not np.any((places < -length) | (places >= length))
    require(fits, "index", f"delete: place {places} is out of range for an axis of length {length}")
    return found.along(at, np.delete(np.arange(length), places))


@function("np.select numpy.select jnp.select", "", "elementwise", kinds="no no yes")
def numpy_select(f: Apply, condlist: Raws, choicelist: Values, default: Value | None = None) -> Value:
    """the entries of the first array whose condition holds, or of default where none does"""
    fits = choicelist and len(condlist) == len(choicelist)
    require(fits, "shape", f"select: {len(condlist)} conditions for {len(choicelist)} choices")
    found = Value(f, np.float64(0)) if default is None else default
    for condition, choice in reversed([*zip(condlist, choicelist, strict=True)]):
        found = where(truths(condition, "select"), choice, found)
    return found


@function("interp", "numpy not-bare", "elementwise", kinds="no no yes")
def interp(x: Value, xp: Value, fp: Value, left: Value | None = None, right: Value | None = None) -> Value:
    """heights at x on the lines between points, whose places xp increase; beyond them the first and the last height"""
    fits = xp.ndim == 1 and xp.shape == fp.shape and xp.shape[0]
    require(fits, "shape", f"interp: places of shape {xp.shape}, heights of shape {fp.shape}")
    require(not np.any(np.diff(np.asarray(xp.raw)) <= 0), "value", "interp: the places xp have to increase")
    before, count = positions(x.f, searched(x.f, xp.node, x.node, right=True)), xp.shape[0]
    beyond = positions(x.f, searched(x.f, xp.node, x.node, right=False)) == count
    if count == 1:
        found = fp.reshape().expand(*x.shape)
    else:
        low = np.clip(before - 1, 0, count - 2)
        x0, x1, y0, y1 = xp[low], xp[low + 1], fp[low], fp[low + 1]
        share = (x - x0) / (x1 - x0)
        found = y0 + (y1 - y0) * share
    for outside, end, other in ((before == 0, 0, left), (beyond, -1, right)):
        if np.any(outside):
            found = where(outside, fp[end] if other is None else other, found)
    return found


# --- polynomials by their coefficients, the highest power first as numpy has them ---


def powers(x: Value, count: int, increasing: bool) -> Value | Array:
    """Return x to the powers from 0 up to ``count`` - 1, or down to 0, along a new last axis."""
    x.f.charge(x.size * count)
    found = [np.ones(x.shape), x, *(x**k for k in range(2, count))][:count]
    if not found:
        return np.zeros((*x.shape, 0))
    if count == 1:
        return np.stack([np.ones(x.shape)], axis=x.ndim)
    return stack(found if increasing else found[::-1], x.ndim)


@function("vander", "torch numpy", "making", kinds="no no yes")
def vander(x: Value, N: int | None = None, increasing: bool = False, library: Library = "torch") -> Value | Array:
    """the powers of each entry as rows, from N - 1 down to 0, or up with increasing=True"""
    require(x.ndim == 1, "shape", f"vander takes a vector, not shape {x.shape}")
    if library == "torch" and x.active:
        x.f.remark("torch-refuses", "vander: PyTorch writes its powers in place and refuses backward; linalg.vander is "
                   "the same in the order of increasing powers.")  # fmt: skip
    count = x.size if N is None else N
    require(count >= 0, "value", f"vander: N is 0 or more, not {count}")
    return powers(x, count, increasing)


@function("linalg.vander torch.linalg.vander", "", "making", kinds="no no yes")
def linalg_vander(x: Value, *, N: int | None = None) -> Value | Array:
    """the powers of each entry along a new last axis, from 0 up to N - 1"""
    require(x.ndim, "shape", "linalg.vander takes an array with an axis, not one number")
    count = x.shape[-1] if N is None else N
    require(count > 1, "value", f"linalg.vander: N is more than 1, not {count}")
    return powers(x, count, increasing=True)


def row(x: Value, name: str) -> Value:
    """Return a vector with an entry; raises ``shape`` for anything else."""
    require(x.ndim == 1 and x.size, "shape", f"{name} takes a vector of one number or more, not shape {x.shape}")
    return x


@function("polyval", "numpy not-bare", "elementwise", kinds="no no yes")
def polyval(p: Value, x: Value) -> Value:
    """the polynomial with these coefficients at x, the highest power first"""
    found, *parts = [p[k] for k in range(row(p, "polyval").size)]
    for part in parts:
        found = found * x + part
    return found if found.shape == x.shape else found.expand(*x.shape)


@function("convolve", "numpy not-bare", "making", kinds="no no yes")
def convolve(a: Value, v: Value, mode: Static = "full") -> Value:
    """the convolution of two vectors: all of it, as long as the longer, or where they overlap wholly"""
    longer, shorter = sorted((row(part, "convolve") for part in (a, v)), key=lambda part: -part.size)
    most, least = longer.size, shorter.size
    a.f.charge((most + least - 1) * least)
    edge = [np.zeros(least - 1)] * (least > 1)
    places = np.arange(most + least - 1)[:, None] + np.arange(least - 1, -1, -1)
    found = (cat(a.f, [*edge, longer, *edge], 0)[places] * shorter).sum(1)
    if mode == "full":
        return found
    require(mode in ("same", "valid"), "value", f"convolve: mode is 'full', 'same' or 'valid', not {mode!r}")
    start, count = (least - 1 - least // 2, most) if mode == "same" else (least - 1, most - least + 1)
    return found[slice(start, start + count)]
