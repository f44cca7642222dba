"""Entries put into an array or left out of it, choices among several arrays, and lines between points."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MUL, SUB
from gradcli.ops.axes import one_axis
from gradcli.ops.declare import Apply, value_of
from gradcli.ops.further.positions import positions, searched, truths
from gradcli.ops.further.shapes import MOVES
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import build_cat
from gradcli.ops.piecewise import WHERE
from gradcli.ops.shaping import EXPAND, RESHAPE, TRANSPOSE, whole
from gradcli.ops.signatures import Raw, Raws, Static, Tensor, Tensors
from gradcli.ops.vocabulary import function


def flattened(f: Apply, x: Tensor) -> Tensor:
    """Return all entries in one row."""
    return x if x.ndim == 1 else f(RESHAPE, x, shape=(math.prod(x.shape),))


@function("append", "numpy not-bare", "shaping", kinds=MOVES)
def build_append(f: Apply, x: Tensor, values: Tensor, axis: Static = None) -> Tensor:
    """an array with others behind it along an axis, or all entries in one row"""
    if axis is None:
        return build_cat(f, [flattened(f, x), flattened(f, values)], 0)
    return build_cat(f, [x, values], axis)


def along(f: Apply, x: Tensor, axis: Static) -> tuple[Tensor, int]:
    """Return an array and one of its axes, flattened where none is named; raises ``shape`` for one number."""
    if axis is not None and not x.ndim:
        raise GradcliError("shape", "one number has no axis", hint="leave axis out")
    flat = flattened(f, x) if axis is None else x
    return flat, one_axis(0 if axis is None else axis, flat.ndim)


@function("insert", "numpy not-bare", "shaping", kinds=MOVES)
def build_insert(f: Apply, x: Tensor, obj: Static, values: Tensor, axis: Static = None) -> Tensor:
    """an array with values put before one place of an axis, or of all entries in one row"""
    found, at = along(f, x, axis)
    length, place = found.shape[at], whole(obj, "the place")
    if not -length <= place <= length:
        raise GradcliError("index", f"insert: place {place} is out of range for an axis of length {length}")
    place %= length + (place >= 0)
    layer = list(found.shape)
    wide = values
    if values.ndim:
        wide = f(RESHAPE, values, shape=(*(1,) * (found.ndim - values.ndim), *values.shape))
        order = [*range(1, found.ndim)]
        order.insert(at, 0)
        wide = f(TRANSPOSE, wide, dims=tuple(order)) if at else wide
    layer[at] = wide.shape[at] if wide.ndim else 1
    try:
        np.broadcast_shapes(wide.shape, tuple(layer))
    except ValueError:
        raise GradcliError("shape", f"insert: values of shape {values.shape} do not fit {found.shape}") from None
    f.charge(math.prod(layer))
    parts = [stretch(f, found, at, 0, place), f(EXPAND, wide, shape=tuple(layer)), stretch(f, found, at, place, length)]
    return build_cat(f, [part for part in parts if part.shape[at]], at)


def stretch(f: Apply, x: Tensor, axis: int, start: int, end: int) -> Tensor:
    """Return the entries from one place along an axis up to another."""
    return f(INDEX, x, key=(*[slice(None)] * axis, slice(start, end)))


@function("delete", "numpy not-bare", "shaping", kinds=MOVES)
def build_delete(f: Apply, x: Tensor, obj: Raw, axis: Static = None) -> Tensor:
    """an array without the entries at some places of an axis, or of all entries in one row"""
    found, at = along(f, x, axis)
    length, places = found.shape[at], positions(f, obj, "delete")
    if np.any((places < -length) | (places >= length)):
        raise GradcliError("index", f"delete: place {places} is out of range for an axis of length {length}")
    return f(INDEX, found, key=(*[slice(None)] * at, np.delete(np.arange(length), places)))


@function("np.select numpy.select jnp.select", "", "elementwise", kinds="no no yes")
def build_select(f: Apply, condlist: Raws, choicelist: Tensors, default: Tensor | None = None) -> Tensor:
    """the entries of the first array whose condition holds, or of default where none does"""
    if len(condlist) != len(choicelist) or not choicelist:
        raise GradcliError("shape", f"select: {len(condlist)} conditions for {len(choicelist)} choices")
    found: Tensor = np.float64(0) if default is None else default
    for condition, choice in reversed([*zip(condlist, choicelist, strict=True)]):
        found = f(WHERE, truths(condition, "select"), choice, found)
    return found


@function("interp", "numpy not-bare", "elementwise", kinds="no no yes")
def build_interp(
    f: Apply, x: Tensor, xp: Tensor, fp: Tensor, left: Tensor | None = None, right: Tensor | None = None
) -> Tensor:
    """heights at x on the lines between points, whose places xp increase; beyond them the first and the last height"""
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.shape[0]:
        raise GradcliError("shape", f"interp: places of shape {xp.shape}, heights of shape {fp.shape}")
    if np.any(np.diff(np.asarray(value_of(xp))) <= 0):
        raise GradcliError("value", "interp: the places xp have to increase")
    before, count = positions(f, searched(f, xp, x, right=True)), xp.shape[0]
    beyond = positions(f, searched(f, xp, x, right=False)) == count
    if count == 1:
        found: Tensor = f(EXPAND, f(RESHAPE, fp, shape=()), shape=x.shape)
    else:
        low = np.clip(before - 1, 0, count - 2)
        x0, x1, y0, y1 = (f(INDEX, part, key=low + more) for part in (xp, fp) for more in (0, 1))
        share = f(DIV, f(SUB, x, x0), f(SUB, x1, x0))
        found = f(ADD, y0, f(MUL, f(SUB, y1, y0), share))
    for outside, end, other in ((before == 0, 0, left), (beyond, -1, right)):
        if np.any(outside):
            found = f(WHERE, outside, f(INDEX, fp, key=end) if other is None else other, found)
    return found
