"""Axes moved, added and taken apart, diagonals and windows: the same entries in other places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import one_axis, read_axes
from gradcli.ops.declare import Apply
from gradcli.ops.putting_back import places_text
from gradcli.ops.shaping import (
    CLONE,
    EXPAND,
    FLIP,
    RESHAPE,
    TRANSPOSE,
    build_expand,
    checked_shape,
    mover,
    number_entries,
    whole,
    whole_numbers,
)
from gradcli.ops.signatures import Array, Shape, Static, Tensor
from gradcli.ops.vocabulary import Builder, function

MOVES = "same same yes"


def moved_axes(x: Tensor, source: Static, destination: Static) -> tuple[int, ...]:
    """Return the order of axes in which those of ``source`` stand at ``destination``, the others as they stood."""
    first, last = read_axes(source, x.ndim), read_axes(destination, x.ndim)
    if len(first) != len(last) or source is None or destination is None:
        raise GradcliError("shape", f"{len(first)} axes cannot move to {len(last)} places")
    rest = iter([axis for axis in range(x.ndim) if axis not in first])
    return tuple(first[last.index(place)] if place in last else next(rest) for place in range(x.ndim))


@function("movedim moveaxis", "torch numpy method", "shaping", kinds=MOVES)
def build_movedim(f: Apply, x: Tensor, source: Static, destination: Static) -> Tensor:
    """axes moved to other places, the others in their order"""
    return f(TRANSPOSE, x, dims=moved_axes(x, source, destination))


@function("swapdims np.swapaxes numpy.swapaxes jnp.swapaxes", "torch method", "shaping", kinds=MOVES)
def build_swapdims(f: Apply, x: Tensor, dim0: Static, dim1: Static) -> Tensor:
    """two axes swapped"""
    return swapped(f, x, one_axis(dim0, x.ndim), one_axis(dim1, x.ndim))


def swapped(f: Apply, x: Tensor, first: int, second: int) -> Tensor:
    """Return an array with two axes swapped; a number as it is."""
    order = list(range(x.ndim))
    if order:
        order[first], order[second] = order[second], order[first]
    return f(TRANSPOSE, x, dims=tuple(order))


@function(
    "adjoint np.matrix_transpose numpy.matrix_transpose np.linalg.matrix_transpose numpy.linalg.matrix_transpose",
    "torch method",
    "shaping",
    kinds=MOVES,
)
def build_adjoint(f: Apply, x: Tensor) -> Tensor:
    """the transpose of a matrix of real numbers, or of a batch of them"""
    if x.ndim == 1:
        raise GradcliError("shape", f"adjoint takes a matrix or a batch of them, not shape {x.shape}")
    return swapped(f, x, x.ndim - 2, x.ndim - 1)


@function("view_as reshape_as", "not-bare method", "shaping", kinds=MOVES)
def build_view_as(f: Apply, x: Tensor, other: Tensor) -> Tensor:
    """the same entries in the shape of other"""
    return f(RESHAPE, x, shape=checked_shape(math.prod(x.shape), other.shape))


@function("expand_as", "not-bare method", "shaping", kinds=MOVES)
def build_expand_as(f: Apply, x: Tensor, other: Tensor) -> Tensor:
    """repeated along axes of length 1 and new axes to the shape of other"""
    return build_expand(f, x, *other.shape)


@function("unflatten", "torch method", "shaping", kinds=MOVES)
def build_unflatten(f: Apply, x: Tensor, dim: Static, sizes: Static) -> Tensor:
    """one axis as several, of these lengths; one may be -1"""
    axis = one_axis(dim, x.ndim)
    if not x.ndim:
        raise GradcliError("shape", "unflatten takes an array with an axis, not one number")
    inner = checked_shape(x.shape[axis], whole_numbers((sizes,), "a length"))
    return f(RESHAPE, x, shape=(*x.shape[:axis], *inner, *x.shape[axis + 1 :]))


def with_axes(f: Apply, x: Tensor, count: int) -> Tensor:
    """Return an array with axes of length 1 added until it has ``count``, as NumPy and PyTorch place them."""
    if x.ndim >= count:
        return x
    shapes = {(0, 1): (1,), (0, 2): (1, 1), (0, 3): (1, 1, 1)}
    if x.ndim == 0:
        return f(RESHAPE, x, shape=shapes[0, count])
    if count == 2:
        return f(RESHAPE, x, shape=(1, *x.shape))
    return f(RESHAPE, x, shape=(1, *x.shape, 1) if x.ndim == 1 else (*x.shape, 1))


def at_least(count: int) -> Builder:
    """Return the builder of atleast_1d and the like."""

    def build(f: Apply, *tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
        found = tuple(with_axes(f, x, count) for x in tensors)
        return found[0] if len(found) == 1 else found

    build.__doc__ = f"with axes of length 1 until there are {count}; of several arrays a tuple"
    return build


function("atleast_1d", "torch numpy", "shaping", kinds=MOVES)(at_least(1))
function("atleast_2d", "torch numpy", "shaping", kinds=MOVES)(at_least(2))
function("atleast_3d", "torch numpy", "shaping", kinds=MOVES)(at_least(3))


@function("rot90", "torch numpy method", "shaping", kinds=MOVES)
def build_rot90(f: Apply, x: Tensor, k: Static = 1, dims: Static = (0, 1)) -> Tensor:
    """the plane of two axes turned by k quarters, from the first axis towards the second"""
    axes = read_axes(dims, x.ndim)
    if len(axes) != 2 or dims is None:
        raise GradcliError("shape", f"rot90 turns a plane of two axes, not {dims!r} of shape {x.shape}")
    turns = whole(k, "k") % 4
    if not turns:
        return f(CLONE, x)
    if turns == 2:
        return f(FLIP, x, dims=axes)
    return swapped(f, f(FLIP, x, dims=(axes[1] if turns == 1 else axes[0],)), *axes)


def flipped(axis: int, name: str) -> Builder:
    """Return the builder of fliplr or flipud."""

    def build(f: Apply, x: Tensor) -> Tensor:
        if x.ndim <= axis:
            raise GradcliError("shape", f"{name} takes an array with {axis + 1} axes or more, not shape {x.shape}")
        return f(FLIP, x, dims=(axis,))

    build.__doc__ = f"the {'columns' if axis else 'rows'} in reverse"
    return build


function("fliplr", "torch numpy method", "shaping", kinds=MOVES)(flipped(1, "fliplr"))
function("flipud", "torch numpy method", "shaping", kinds=MOVES)(flipped(0, "flipud"))


def on_diagonals(x: Array, *, offset: int) -> Array:
    """Return matrices with the vectors of the last axis on a diagonal and zeros elsewhere."""
    side = x.shape[-1] + abs(offset)
    found = np.zeros((*x.shape[:-1], side, side), dtype=x.dtype)
    along = np.arange(x.shape[-1])
    found[..., along + max(-offset, 0), along + max(offset, 0)] = x
    return found


def diagonals_size(x: Array, *, offset: int) -> int:
    """Return the entries of matrices with the vectors of the last axis on a diagonal."""
    return int(np.prod(x.shape[:-1], dtype=float) * (x.shape[-1] + abs(offset)) ** 2)


def embedded_text_back(_k: int, _out: Array, x: Array, *, offset: int) -> str:
    """Return the text of the diagonal of the last two axes."""
    if x.ndim == 1:
        return f"diagonal({{g}}, {offset})" if offset else "diagonal({g})"
    return f"diagonal({{g}}, {offset}, -2, -1)"


DIAG_EMBED = mover(
    "diag_embed",
    on_diagonals,
    lambda g, _y, _x, *, offset: np.diagonal(g, offset, -2, -1),
    size=diagonals_size,
    defaults={"offset": 0},
    backward_text=embedded_text_back,
)


@function("diag_embed", "torch method", "shaping", op=DIAG_EMBED, kinds=MOVES)
def build_diag_embed(f: Apply, x: Tensor, offset: Static = 0, dim1: Static = -2, dim2: Static = -1) -> Tensor:
    """matrices with the vectors of the last axis on a diagonal"""
    if not x.ndim:
        raise GradcliError("shape", "diag_embed takes vectors, not one number")
    axes = read_axes((dim1, dim2), x.ndim + 1)
    found = f(DIAG_EMBED, x, offset=whole(offset, "offset"))
    return f(TRANSPOSE, found, dims=moved_axes(found, (-2, -1), axes)) if axes != (x.ndim - 1, x.ndim) else found


@function("diagflat", "torch numpy method", "shaping", kinds=MOVES)
def build_diagflat(f: Apply, x: Tensor, offset: Static = 0) -> Tensor:
    """the matrix with all entries of an array on a diagonal"""
    return f(DIAG_EMBED, f(RESHAPE, x, shape=(-1,)), offset=whole(offset, "offset"))


def windows(x: Array, *, dim: int, size: int, step: int) -> Array:
    """Return the stretches of ``size`` along an axis, ``step`` apart, on a last axis."""
    return np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)[(*[slice(None)] * dim, slice(None, None, step))]


def windows_size(x: Array, *, dim: int, size: int, step: int) -> int:
    """Return the entries of all stretches."""
    return int(np.size(x) // max(x.shape[dim], 1) * ((x.shape[dim] - size) // step + 1) * size)


def windows_text_back(_k: int, out: Array, x: Array, *, dim: int, size: int, step: int) -> tuple[str, ...]:
    """Return the text of the sums over the windows that each entry stands in."""
    [numbers] = number_entries((x,), 0)
    places = windows(numbers, dim=dim, size=size, step=step)  # type: ignore[arg-type] # numbers of entries
    return places_text(np.ravel(places).astype(np.intp) - 1, np.shape(x), np.shape(out))


UNFOLD = mover(
    "unfold",
    windows,
    view=True,
    size=windows_size,
    write=lambda call: f"{call.tight[0]}.unfold({call.static['dim']}, {call.static['size']}, {call.static['step']})",
    backward_text=windows_text_back,
)


@function("unfold", "not-bare method", "shaping", op=UNFOLD, kinds=MOVES)
def build_unfold(f: Apply, x: Tensor, dimension: Static, size: Static, step: Static) -> Tensor:
    """the stretches of a length along an axis, step apart, on a new last axis"""
    axis, length, apart = one_axis(dimension, x.ndim), whole(size, "size"), whole(step, "step")
    own = x.shape[axis] if x.ndim else 1
    if not 0 < length <= own or apart < 1:
        raise GradcliError("value", f"stretches of {length}, {apart} apart, of an axis of length {own}: there are none")
    if not x.ndim:
        return f(RESHAPE, x, shape=(1,))
    return f(UNFOLD, x, dim=axis, size=length, step=apart)


def common_shape(shapes: Sequence[Shape]) -> Shape:
    """Return the shape that shapes broadcast to; raises ``shape`` where they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise GradcliError("shape", f"shapes {', '.join(map(str, shapes))} do not broadcast to one") from None


@function("broadcast_tensors np.broadcast_arrays numpy.broadcast_arrays", "torch", "shaping", kinds=MOVES)
def build_broadcast_tensors(f: Apply, *tensors: Tensor) -> Any:
    """arrays repeated to the one shape that they broadcast to, as a tuple"""
    shape = common_shape([x.shape for x in tensors])
    return tuple(f(EXPAND, x, shape=shape) for x in tensors)
