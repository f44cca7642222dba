"""Axes moved, added and taken apart, diagonals and windows: the same entries in other places."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.axes import one_axis, read_axes, whole
from gradcli.ops.declare import Op
from gradcli.ops.indexing import INDEX, PART
from gradcli.ops.putting_back import places_text
from gradcli.ops.shaping import FLIP, build_expand, checked_shape, mover, number_entries, whole_numbers
from gradcli.ops.signatures import Array, Axes, Shape, Static
from gradcli.ops.values import Axis, Value, require
from gradcli.ops.vocabulary import function

MOVES = "same same yes"
shaping = partial(function, family="shaping", kinds=MOVES)


def moved_axes(x: Value, source: Static, destination: Static) -> Axes:
    """Return the order of axes in which those of ``source`` stand at ``destination``, the others as they stood."""
    first, last = read_axes(source, x.ndim), read_axes(destination, x.ndim)
    fits = len(first) == len(last) and source is not None and destination is not None
    require(fits, "shape", f"{len(first)} axes cannot move to {len(last)} places")
    rest = iter([axis for axis in range(x.ndim) if axis not in first])
    return tuple(first[last.index(place)] if place in last else next(rest) for place in range(x.ndim))


@shaping("movedim moveaxis", "torch numpy method")
def movedim(x: Value, source: Static, destination: Static) -> Value:
    """axes moved to other places, the others in their order"""
    return x.permute(*moved_axes(x, source, destination))


@shaping("swapdims np.swapaxes numpy.swapaxes jnp.swapaxes", "torch method")
def swapdims(x: Value, dim0: Axis, dim1: Axis) -> Value:
    """two axes swapped"""
    return swapped(x, dim0, dim1)


def swapped(x: Value, first: int, second: int) -> Value:
    """Return an array with two axes swapped; a number as it is."""
    order = list(range(x.ndim))
    if order:
        order[first], order[second] = order[second], order[first]
    return x.permute(*order)


@shaping(
    "adjoint np.matrix_transpose numpy.matrix_transpose np.linalg.matrix_transpose numpy.linalg.matrix_transpose",
    "torch method",
)
def adjoint(x: Value) -> Value:
    """the transpose of a matrix of real numbers, or of a batch of them"""
    require(x.ndim != 1, "shape", f"adjoint takes a matrix or a batch of them, not shape {x.shape}")
    return swapped(x, x.ndim - 2, x.ndim - 1)


@shaping("view_as reshape_as", "not-bare method")
def view_as(x: Value, other: Value) -> Value:
    """the same entries in the shape of other"""
    return x.reshape(*checked_shape(x.size, other.shape))


@shaping("expand_as", "not-bare method")
def expand_as(x: Value, other: Value) -> Value:
    """repeated along axes of length 1 and new axes to the shape of other"""
    return Value(x.f, build_expand(x.f, x.node, *other.shape))


@shaping("unflatten", "torch method")
def unflatten(x: Value, dim: Axis, sizes: Static) -> Value:
    """one axis as several, of these lengths; one may be -1"""
    require(x.ndim, "shape", "unflatten takes an array with an axis, not one number")
    inner = checked_shape(x.shape[dim], whole_numbers((sizes,), "a length"))
    return x.reshape(*x.shape[:dim], *inner, *x.shape[dim + 1 :])


def with_axes(x: Value, count: int) -> Value:
    """Return an array with axes of length 1 added until it has ``count``, as NumPy and PyTorch place them."""
    if x.ndim >= count:
        return x
    if x.ndim == 0:
        return x.reshape(*(1,) * count)
    lead = (1,) if count == 2 or x.ndim == 1 else ()
    return x.reshape(*lead, *x.shape, *((1,) if count == 3 else ()))


def at_least(count: int) -> None:
    """Enter atleast_1d and the like."""

    def build(*tensors: Value) -> Value | tuple[Value, ...]:
        found = tuple(with_axes(x, count) for x in tensors)
        return found[0] if len(found) == 1 else found

    build.__doc__ = f"with axes of length 1 until there are {count}; of several arrays a tuple"
    shaping(f"atleast_{count}d", "torch numpy")(build)


for _count in (1, 2, 3):
    at_least(_count)


@shaping("rot90", "torch numpy method")
def rot90(x: Value, k: int = 1, dims: Static = (0, 1)) -> Value:
    """the plane of two axes turned by k quarters, from the first axis towards the second"""
    axes, turns = read_axes(dims, x.ndim), k % 4
    fits = len(axes) == 2 and dims is not None
    require(fits, "shape", f"rot90 turns a plane of two axes, not {dims!r} of shape {x.shape}")
    if not turns:
        return x.clone()
    if turns == 2:
        return x.of(FLIP, dims=axes)
    return swapped(x.of(FLIP, dims=(axes[1] if turns == 1 else axes[0],)), *axes)


def flipped(axis: int, name: str) -> None:
    """Enter fliplr or flipud."""

    def build(x: Value) -> Value:
        require(x.ndim > axis, "shape", f"{name} takes an array with {axis + 1} axes or more, not shape {x.shape}")
        return x.of(FLIP, dims=(axis,))

    build.__doc__ = f"the {'columns' if axis else 'rows'} in reverse"
    shaping(name, "torch numpy method")(build)


flipped(1, "fliplr")
flipped(0, "flipud")


def on_diagonals(x: Array, *, offset: int) -> Array:
    """Return matrices with the vectors of the last axis on a diagonal and zeros elsewhere."""
    side = x.shape[-1] + abs(offset)
    found = np.zeros((*x.shape[:-1], side, side), dtype=x.dtype)
    along = np.arange(x.shape[-1])
    found[..., along + max(-offset, 0), along + max(offset, 0)] = x
    return found


def embedded_text_back(_k: int, _out: Array, x: Array, *, offset: int) -> str:
    """Return the text of the diagonal of the last two axes."""
    if x.ndim == 1:
        return f"diagonal({{g}}, {offset})" if offset else "diagonal({g})"
    return f"diagonal({{g}}, {offset}, -2, -1)"


DIAG_EMBED = mover(
    "diag_embed",
    on_diagonals,
    lambda g, _y, _x, *, offset: np.diagonal(g, offset, -2, -1),
    size=lambda x, offset: int(np.prod(x.shape[:-1], dtype=float) * (x.shape[-1] + abs(offset)) ** 2),
    defaults={"offset": 0},
    backward_text=embedded_text_back,
)


@shaping("diag_embed", "torch method", op=DIAG_EMBED)
def diag_embed(x: Value, offset: int = 0, dim1: Static = -2, dim2: Static = -1) -> Value:
    """matrices with the vectors of the last axis on a diagonal"""
    require(x.ndim, "shape", "diag_embed takes vectors, not one number")
    axes = read_axes((dim1, dim2), x.ndim + 1)
    found = x.of(DIAG_EMBED, offset=offset)
    return found if axes == (x.ndim - 1, x.ndim) else found.permute(*moved_axes(found, (-2, -1), axes))


@shaping("diagflat", "torch numpy method")
def diagflat(x: Value, offset: int = 0) -> Value:
    """the matrix with all entries of an array on a diagonal"""
    return x.flat.of(DIAG_EMBED, offset=offset)


def windows(x: Array, *, dim: int, size: int, step: int) -> Array:
    """Return the stretches of ``size`` along an axis, ``step`` apart, on a last axis."""
    return np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)[(*[slice(None)] * dim, slice(None, None, step))]


def windows_text_back(_k: int, out: Array, x: Array, *, dim: int, size: int, step: int) -> tuple[str, ...]:
    """Return the text of the sums over the windows that each entry stands in."""
    [numbers] = number_entries((x,), 0)
    places = windows(numbers, dim=dim, size=size, step=step)  # type: ignore[arg-type] # numbers of entries
    return places_text(np.ravel(places).astype(np.intp) - 1, np.shape(x), np.shape(out))


UNFOLD = mover(
    "unfold",
    windows,
    view=True,
    size=lambda x, dim, size, step: int(
        np.size(x) // max(x.shape[dim], 1) * ((x.shape[dim] - size) // step + 1) * size
    ),
    write=lambda call: f"{call.tight[0]}.unfold({call.static['dim']}, {call.static['size']}, {call.static['step']})",
    backward_text=windows_text_back,
)


@shaping("unfold", "not-bare method", op=UNFOLD)
def unfold(x: Value, dimension: Axis, size: int, step: int) -> Value:
    """the stretches of a length along an axis, step apart, on a new last axis"""
    own = x.shape[dimension] if x.ndim else 1
    said = f"stretches of {size}, {step} apart, of an axis of length {own}: there are none"
    require(0 < size <= own and step > 0, "value", said)
    return x.of(UNFOLD, dim=dimension, size=size, step=step) if x.ndim else x.reshape(1)


def common_shape(shapes: Sequence[Shape]) -> Shape:
    """Return the shape that shapes broadcast to; raises ``shape`` where they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise GradcliError("shape", f"shapes {', '.join(map(str, shapes))} do not broadcast to one") from None


@shaping("broadcast_tensors np.broadcast_arrays numpy.broadcast_arrays", "torch")
def broadcast_tensors(*tensors: Value) -> Any:
    """arrays repeated to the one shape that they broadcast to, as a tuple"""
    shape = common_shape([x.shape for x in tensors])
    return tuple(x.expand(*shape) for x in tensors)


# --- arrays taken apart along an axis: all of the parts are views ---


def axis_of(x: Value, dim: Static, name: str) -> int:
    """Return the axis along which an array is taken apart; raises ``shape`` for one number."""
    require(x.ndim, "shape", f"{name} takes an array with an axis, not one number")
    return one_axis(dim, x.ndim)


def stretches(x: Value, axis: int, ends: Sequence[int], op: Op = INDEX) -> tuple[Value, ...]:
    """Return the stretches of an axis that end at these places."""
    places = [slice(start, max(start, end)) for start, end in pairwise([0, *ends])]
    return tuple(x.of(op, key=(*[slice(None)] * axis, place)) for place in places)


def of_size(length: int, size: int) -> list[int]:
    """Return where stretches of one size end; the last may be shorter, and of nothing there is one that is empty."""
    return [min(end, length) for end in range(size, length + size, size)] or [0]


@shaping("chunk", "torch method")
def chunk(x: Value, chunks: int, dim: Static = 0) -> Any:
    """at most so many parts of one length along an axis, the last shorter, as a tuple"""
    axis = axis_of(x, dim, "chunk")
    require(chunks > 0, "value", f"chunk makes 1 part or more, not {chunks}")
    length = x.shape[axis]
    if not length:
        x.f.charge(chunks)
    return stretches(x, axis, of_size(length, -(-length // chunks)) if length else [0] * chunks, PART)


@shaping("split split_with_sizes", "torch method")
def split(x: Value, split_size_or_sections: Static, dim: Static = 0) -> Any:
    """parts of one length along an axis, or of the lengths given, as a tuple"""
    axis, sizes = axis_of(x, dim, "split"), split_size_or_sections
    length = x.shape[axis]
    if not isinstance(sizes, tuple):
        size = whole(sizes, "the length of a part")
        fits = size > 0 or size == 0 == length
        require(fits, "value", f"the length of a part is 1 or more, not {size}")
        return stretches(x, axis, of_size(length, size) if size else [0], PART)
    lengths = whole_numbers((sizes,), "the length of a part")
    fits = sum(lengths) == length and all(n >= 0 for n in lengths)
    require(fits, "shape", f"parts of lengths {lengths} do not make up an axis of length {length}")
    return stretches(x, axis, [sum(lengths[: k + 1]) for k in range(len(lengths))], PART)


def parts_of(x: Value, sections: Static, axis: int, equal: bool = False) -> tuple[Value, ...]:
    """Return so many parts along an axis, or those between places; raises ``shape`` where they have to be equal.

    Of parts that cannot be equal the first are longer by one.
    """
    length = x.shape[axis]
    if isinstance(sections, tuple):
        places = [place + length if place < 0 else place for place in whole_numbers((sections,), "a place")]
        return stretches(x, axis, [*(min(max(place, 0), length) for place in places), length])
    count = whole(sections, "the number of parts")
    require(count > 0, "value", f"the number of parts is 1 or more, not {count}")
    short, longer = divmod(length, count)
    require(not (equal and longer), "shape", f"an axis of length {length} has no {counted(count, 'equal part')}")
    x.f.charge(count)
    return stretches(x, axis, [short * k + min(k, longer) for k in range(1, count + 1)])


@shaping("tensor_split np.array_split numpy.array_split jnp.array_split", "torch method")
def tensor_split(x: Value, indices_or_sections: Static, dim: Static = 0) -> Any:
    """so many parts along an axis, the first longer by one, or those between the places given, as a tuple"""
    return parts_of(x, indices_or_sections, axis_of(x, dim, "tensor_split"))


@shaping("np.split numpy.split jnp.split", "")
def numpy_split(x: Value, indices_or_sections: Static, axis: Static = 0) -> Any:
    """so many equal parts along an axis, or those between the places given, as a tuple"""
    return parts_of(x, indices_or_sections, axis_of(x, axis, "np.split"), equal=True)


def split_along(name: str, axis: int) -> None:
    """Enter hsplit and the like."""

    def build(x: Value, indices_or_sections: Static) -> Any:
        fits = x.ndim > axis or (name == "hsplit" and x.ndim == 1)
        require(fits, "shape", f"{name} takes an array with {axis + 1} axes or more, not shape {x.shape}")
        return parts_of(x, indices_or_sections, min(axis, x.ndim - 1), equal=True)

    build.__doc__ = f"so many equal parts along axis {axis}, or those between the places given, as a tuple"
    shaping(name, "torch numpy method")(build)


for _name, _axis in (("hsplit", 1), ("vsplit", 0), ("dsplit", 2)):
    split_along(_name, _axis)


@shaping("unbind np.unstack numpy.unstack jnp.unstack", "torch method")
def unbind(x: Value, dim: Static = 0) -> Any:
    """the layers along an axis, as a tuple"""
    axis = axis_of(x, dim, "unbind")
    return tuple(layer(PART, x, axis, place) for place in range(x.shape[axis]))


def layer(op: Op, x: Value, axis: int, place: int) -> Value:
    """Return one layer of an axis, of a constant vector too as a view and no number."""
    key = (*[slice(None)] * axis, place)
    return x.of(op, key=(*key, ...) if type(x.node) is np.ndarray else key)


def place_of(index: int, length: int, last: int) -> int:
    """Return a place along an axis counted from 0; raises ``index`` for one beyond ``last``."""
    require(-length <= index <= last, "index", f"place {index} is out of range for an axis of length {length}")
    return index + length if index < 0 else index


@shaping("narrow", "torch method")
def narrow(x: Value, dim: Static, start: int, length: int) -> Value:
    """so many entries along an axis, from a place on"""
    axis = axis_of(x, dim, "narrow")
    own = x.shape[axis]
    first = place_of(start, own, own)
    fits = length >= 0 and first + length <= own
    require(fits, "index", f"{length} entries from place {first} on: the axis has length {own}")
    return x.along(axis, slice(first, first + length))


@shaping("select", "torch method")
def select(x: Value, dim: Static, index: int) -> Value:
    """one layer of an axis"""
    axis = axis_of(x, dim, "select")
    return layer(INDEX, x, axis, place_of(index, x.shape[axis], x.shape[axis] - 1))
