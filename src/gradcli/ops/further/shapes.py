"""Axes moved, added and taken apart, diagonals and windows: the same entries in other places.

Arrays put together: side by side, on a diagonal, in all combinations, one in another, and as products of lines.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.ops.declare import Apply, Entries, Op, Text
from gradcli.ops.further.positions import positions, searched, truths
from gradcli.ops.joining import INDEX, PART, build_cat
from gradcli.ops.links import Array, Axes, Library, Raw, Raws, Shape, Static
from gradcli.ops.shaping import FLIP, build_expand, checked_shape, mover, number_entries, whole_numbers
from gradcli.ops.values import Axis, Value, Values, one_axis, read_axes, require, stack, where, whole
from gradcli.ops.vocabulary import KEPT, OF_FLOATS, function
from gradcli.ops.writing import places_text

MOVES = KEPT
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
    return build_expand(x, *other.shape)


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
    text=Text(defaults={"offset": 0}, backward=embedded_text_back),
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
    entries=Entries(view=True),
    size=lambda x, dim, size, step: int(
        np.size(x) // max(x.shape[dim], 1) * ((x.shape[dim] - size) // step + 1) * size
    ),
    text=Text(
        write=lambda call: (
            f"{call.tight[0]}.unfold({call.static['dim']}, {call.static['size']}, {call.static['step']})"
        ),
        backward=windows_text_back,
    ),
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


# ---- Arrays put together: side by side, on a diagonal, in all combinations, one in another, and as produc

joining = partial(function, family="shaping", kinds=MOVES)


def cat(f: Apply, arrays: Sequence[Any], dim: Static) -> Any:
    """Return arrays joined along an axis."""
    return build_cat(f, [x if isinstance(x, Value) else Value(f, x) for x in arrays], dim)


def some(tensors: Values, name: str) -> Values:
    """Return arrays; raises ``shape`` where there is none."""
    require(tensors, "shape", f"{name} needs an array")
    return tensors


@joining("hstack", "torch numpy")
def hstack(tensors: Values) -> Value:
    """arrays joined along the second axis, vectors along the first"""
    found = [with_axes(x, 1) for x in some(tensors, "hstack")]
    return cat(found[0].f, found, min(1, found[0].ndim - 1))


@joining("vstack row_stack", "torch numpy")
def vstack(tensors: Values) -> Value:
    """arrays joined along the first axis, vectors as rows"""
    found = [with_axes(x, 2) for x in some(tensors, "vstack")]
    return cat(found[0].f, found, 0)


@joining("dstack", "torch numpy")
def dstack(tensors: Values) -> Value:
    """arrays joined along a third axis"""
    found = [with_axes(x, 3) for x in some(tensors, "dstack")]
    return cat(found[0].f, found, 2)


@joining("column_stack", "torch numpy")
def column_stack(tensors: Values) -> Value:
    """matrices side by side, vectors as columns"""
    found = [x.reshape(x.size, 1) if x.ndim < 2 else x for x in some(tensors, "column_stack")]
    return cat(found[0].f, found, 1)


@joining("block_diag scipy.linalg.block_diag jax.scipy.linalg.block_diag", "torch")
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


@joining("meshgrid", "torch numpy")
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


@joining("cartesian_prod", "torch")
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


@joining("combinations", "torch")
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


@joining("append", "numpy not-bare")
def append(x: Value, values: Value, axis: Static = None) -> Value:
    """an array with others behind it along an axis, or all entries in one row"""
    return cat(x.f, [flattened(x), flattened(values)], 0) if axis is None else cat(x.f, [x, values], axis)


def along_or_flat(x: Value, axis: Static) -> tuple[Value, int]:
    """Return an array and one of its axes, flattened where none is named; raises ``shape`` for one number."""
    require(axis is None or x.ndim, "shape", "one number has no axis", hint="leave axis out")
    flat = flattened(x) if axis is None else x
    return flat, one_axis(0 if axis is None else axis, flat.ndim)


@joining("insert", "numpy not-bare")
def insert(x: Value, obj: Static, values: Value, axis: Static = None) -> Value:
    """an array with values put before one place of an axis, or of all entries in one row"""
    found, at = along_or_flat(x, axis)
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


@joining("delete", "numpy not-bare")
def delete(x: Value, obj: Raw, axis: Static = None) -> Value:
    """an array without the entries at some places of an axis, or of all entries in one row"""
    found, at = along_or_flat(x, axis)
    length, places = found.shape[at], positions(x.f, obj, "delete")
    fits = not np.any((places < -length) | (places >= length))
    require(fits, "index", f"delete: place {places} is out of range for an axis of length {length}")
    return found.along(at, np.delete(np.arange(length), places))


@function("np.select numpy.select jnp.select", "", "elementwise", kinds=OF_FLOATS)
def numpy_select(f: Apply, condlist: Raws, choicelist: Values, default: Value | None = None) -> Value:
    """the entries of the first array whose condition holds, or of default where none does"""
    fits = choicelist and len(condlist) == len(choicelist)
    require(fits, "shape", f"select: {len(condlist)} conditions for {len(choicelist)} choices")
    found = Value(f, np.float64(0)) if default is None else default
    for condition, choice in reversed([*zip(condlist, choicelist, strict=True)]):
        found = where(truths(condition, "select"), choice, found)
    return found


@function("interp", "numpy not-bare", "elementwise", kinds=OF_FLOATS)
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


@function("vander", "torch numpy", "making", kinds=OF_FLOATS)
def vander(x: Value, N: int | None = None, increasing: bool = False, library: Library = "torch") -> Value | Array:
    """the powers of each entry as rows, from N - 1 down to 0, or up with increasing=True"""
    require(x.ndim == 1, "shape", f"vander takes a vector, not shape {x.shape}")
    if library == "torch" and x.active:
        x.f.remark("torch-refuses", "vander: PyTorch writes its powers in place and refuses backward; linalg.vander is "
                   "the same in the order of increasing powers.")  # fmt: skip
    count = x.size if N is None else N
    require(count >= 0, "value", f"vander: N is 0 or more, not {count}")
    return powers(x, count, increasing)


@function("linalg.vander torch.linalg.vander", "", "making", kinds=OF_FLOATS)
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


@function("polyval", "numpy not-bare", "elementwise", kinds=OF_FLOATS)
def polyval(p: Value, x: Value) -> Value:
    """the polynomial with these coefficients at x, the highest power first"""
    found, *parts = [p[k] for k in range(row(p, "polyval").size)]
    for part in parts:
        found = found * x + part
    return found if found.shape == x.shape else found.expand(*x.shape)


@function("convolve", "numpy not-bare", "making", kinds=OF_FLOATS)
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
