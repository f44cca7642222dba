"""The same entries in other places: axes moved, arrays put together and taken apart, diagonals and borders."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, cast

import numpy as np

from gradcli.errors.hints import counted
from gradcli.ops.declare import Apply, Entries, Op, Text
from gradcli.ops.further.casting import positions, truths
from gradcli.ops.joining import INDEX, PART, build_cat
from gradcli.ops.links import Array, Axes, Indices, Library, Mask, Raw, Raws, Shape, Static
from gradcli.ops.shaping import FLIP, build_expand, checked_shape, mover, number_entries, shaping, whole_numbers
from gradcli.ops.values import Axis, Value, Values, common_shape, one_axis, read_axes, require, stack, where, whole
from gradcli.ops.vocabulary import LIKE_FIRST, OF_FLOATS, function
from gradcli.ops.writing import places_text

# --- axes ---


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
    return x.swap(dim0, dim1)


@shaping(
    "adjoint np.matrix_transpose numpy.matrix_transpose np.linalg.matrix_transpose numpy.linalg.matrix_transpose",
    "torch method",
)
def adjoint(x: Value) -> Value:
    """the transpose of a matrix of real numbers, or of a batch of them"""
    require(x.ndim != 1, "shape", f"adjoint takes a matrix or a batch of them, not shape {x.shape}")
    return swapdims(x, -2, -1)


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
    words = f"with axes of length 1 until there are {count}; of several arrays a tuple"

    @shaping(f"atleast_{count}d", "torch numpy", doc=words)
    def build(*tensors: Value) -> Value | tuple[Value, ...]:
        wide = tuple(with_axes(x, count) for x in tensors)
        return wide[0] if len(wide) == 1 else wide


for _count in (1, 2, 3):
    at_least(_count)


def one_shape(arrays: Sequence[Value | Mask]) -> Shape:
    """Return the shape that arrays broadcast to; raises ``shape`` where they do not."""
    shapes = [x.shape for x in arrays]
    return common_shape(f"shapes {', '.join(map(str, shapes))} do not broadcast to one", *shapes)


@shaping("broadcast_tensors np.broadcast_arrays numpy.broadcast_arrays", "torch")
def broadcast_tensors(*tensors: Value) -> Any:
    """arrays repeated to the one shape that they broadcast to, as a tuple"""
    shape = one_shape(tensors)
    return tuple(x.expand(*shape) for x in tensors)


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
    return swapdims(x.of(FLIP, dims=(axes[1] if turns == 1 else axes[0],)), *axes)


def enter_flip(name: str, axis: int) -> None:
    """Enter fliplr or flipud."""

    @shaping(name, "torch numpy method", doc=f"the {'columns' if axis else 'rows'} in reverse")
    def build(x: Value) -> Value:
        require(x.ndim > axis, "shape", f"{name} takes an array with {axis + 1} axes or more, not shape {x.shape}")
        return x.of(FLIP, dims=(axis,))


enter_flip("fliplr", 1)
enter_flip("flipud", 0)


# --- diagonals and windows along an axis ---


def on_diagonals(x: Array, *, offset: int) -> Array:
    """Return matrices with the vectors of the last axis on a diagonal and zeros elsewhere."""
    side = x.shape[-1] + abs(offset)
    matrices = np.zeros((*x.shape[:-1], side, side), dtype=x.dtype)
    along = np.arange(x.shape[-1])
    matrices[..., along + max(-offset, 0), along + max(offset, 0)] = x
    return matrices


def diagonal_text_back(_k: int, _out: Array, x: Array, *, offset: int) -> str:
    """Return the text of the diagonal of the last two axes."""
    return f"diagonal({{g}}{f', {offset}' if offset or x.ndim > 1 else ''}{', -2, -1' if x.ndim > 1 else ''})"


DIAG_EMBED = mover(
    "diag_embed",
    on_diagonals,
    lambda g, _y, _x, *, offset: np.diagonal(g, offset, -2, -1),
    size=lambda x, offset: int(np.prod(x.shape[:-1], dtype=float) * (x.shape[-1] + abs(offset)) ** 2),
    text=Text(defaults={"offset": 0}, backward=diagonal_text_back),
)


@shaping("diag_embed", "torch method", op=DIAG_EMBED)
def diag_embed(x: Value, offset: int = 0, dim1: Static = -2, dim2: Static = -1) -> Value:
    """matrices with the vectors of the last axis on a diagonal"""
    require(x.ndim, "shape", "diag_embed takes vectors, not one number")
    axes = read_axes((dim1, dim2), x.ndim + 1)
    matrices = x.of(DIAG_EMBED, offset=offset)
    return matrices if axes == (x.ndim - 1, x.ndim) else movedim(matrices, (-2, -1), axes)


@shaping("diagflat", "torch numpy method")
def diagflat(x: Value, offset: int = 0) -> Value:
    """the matrix with all entries of an array on a diagonal"""
    return x.flat.of(DIAG_EMBED, offset=offset)


def stretches_along(x: Array, *, dim: int, size: int, step: int) -> Array:
    """Return the stretches of ``size`` along an axis, ``step`` apart, on a last axis."""
    return np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)[(*[slice(None)] * dim, slice(None, None, step))]


def stretches_text_back(_k: int, out: Array, x: Array, **how: int) -> tuple[str, ...]:
    """Return the text of the sums over the stretches that each entry stands in."""
    places = stretches_along(number_entries((x,), 0)[0], **how)  # type: ignore[arg-type] # numbers of entries
    return places_text(np.ravel(places).astype(np.intp) - 1, np.shape(x), np.shape(out))


UNFOLD = mover(
    "unfold",
    stretches_along,
    entries=Entries(view=True),
    size=lambda x, dim, size, step: int(
        np.size(x) // max(x.shape[dim], 1) * ((x.shape[dim] - size) // step + 1) * size
    ),
    text=Text(
        write=lambda call: (
            f"{call.tight[0]}.unfold({call.static['dim']}, {call.static['size']}, {call.static['step']})"
        ),
        backward=stretches_text_back,
    ),
)


@shaping("unfold", "not-bare method", op=UNFOLD)
def unfold(x: Value, dimension: Axis, size: int, step: int) -> Value:
    """the stretches of a length along an axis, step apart, on a new last axis"""
    length = x.shape[dimension] if x.ndim else 1
    said = f"stretches of {size}, {step} apart, of an axis of length {length}: there are none"
    require(0 < size <= length and step > 0, "value", said)
    return x.of(UNFOLD, dim=dimension, size=size, step=step) if x.ndim else x.reshape(1)


# --- arrays taken apart along an axis: all of the parts are views ---


def axis_of(x: Value, dim: Static, name: str) -> int:
    """Return the axis along which an array is taken apart; raises ``shape`` for one number."""
    require(x.ndim, "shape", f"{name} takes an array with an axis, not one number")
    return one_axis(dim, x.ndim)


def parts_until(x: Value, axis: int, ends: Sequence[int], op: Op = INDEX) -> tuple[Value, ...]:
    """Return the stretches of an axis that end at these places."""
    places = [slice(start, max(start, end)) for start, end in pairwise([0, *ends])]
    return tuple(x.of(op, key=(*[slice(None)] * axis, place)) for place in places)


def ends_of(length: int, size: int) -> list[int]:
    """Return where parts of one size end; the last may be shorter, and of nothing there is one that is empty."""
    return [min(end, length) for end in range(size, length + size, size)] or [0]


@shaping("chunk", "torch method")
def chunk(x: Value, chunks: int, dim: Static = 0) -> Any:
    """at most so many parts of one length along an axis, the last shorter, as a tuple"""
    axis = axis_of(x, dim, "chunk")
    require(chunks > 0, "value", f"chunk makes 1 part or more, not {chunks}")
    length = x.shape[axis]
    if not length:
        x.f.charge(chunks)
    return parts_until(x, axis, ends_of(length, -(-length // chunks)) if length else [0] * chunks, PART)


@shaping("split split_with_sizes", "torch method")
def split(x: Value, split_size_or_sections: Static, dim: Static = 0) -> Any:
    """parts of one length along an axis, or of the lengths given, as a tuple"""
    axis, sizes = axis_of(x, dim, "split"), split_size_or_sections
    length = x.shape[axis]
    if not isinstance(sizes, tuple):
        size = whole(sizes, "the length of a part")
        fits = size > 0 or size == 0 == length
        require(fits, "value", f"the length of a part is 1 or more, not {size}")
        return parts_until(x, axis, ends_of(length, size) if size else [0], PART)
    lengths = whole_numbers((sizes,), "the length of a part")
    fits = sum(lengths) == length and all(n >= 0 for n in lengths)
    require(fits, "shape", f"parts of lengths {lengths} do not make up an axis of length {length}")
    return parts_until(x, axis, list(accumulate(lengths)), PART)


def parts_of(x: Value, sections: Static, axis: int, equal: bool = True) -> tuple[Value, ...]:
    """Return so many parts along an axis, or those between places; raises ``shape`` where they have to be equal.

    Of parts that cannot be equal the first are longer by one.
    """
    length = x.shape[axis]
    if isinstance(sections, tuple):
        places = [place + length if place < 0 else place for place in whole_numbers((sections,), "a place")]
        return parts_until(x, axis, [*(min(max(place, 0), length) for place in places), length])
    count = whole(sections, "the number of parts")
    require(count > 0, "value", f"the number of parts is 1 or more, not {count}")
    short, longer = divmod(length, count)
    require(not (equal and longer), "shape", f"an axis of length {length} has no {counted(count, 'equal part')}")
    x.f.charge(count)
    return parts_until(x, axis, [short * k + min(k, longer) for k in range(1, count + 1)])


@shaping("tensor_split np.array_split numpy.array_split jnp.array_split", "torch method")
def tensor_split(x: Value, indices_or_sections: Static, dim: Static = 0) -> Any:
    """so many parts along an axis, the first longer by one, or those between the places given, as a tuple"""
    return parts_of(x, indices_or_sections, axis_of(x, dim, "tensor_split"), equal=False)


@shaping("np.split numpy.split jnp.split", "")
def numpy_split(x: Value, indices_or_sections: Static, axis: Static = 0) -> Any:
    """so many equal parts along an axis, or those between the places given, as a tuple"""
    return parts_of(x, indices_or_sections, axis_of(x, axis, "np.split"))


def enter_split(name: str, axis: int) -> None:
    """Enter hsplit and the like."""
    words = f"so many equal parts along axis {axis}, or those between the places given, as a tuple"

    @shaping(name, "torch numpy method", doc=words)
    def build(x: Value, indices_or_sections: Static) -> Any:
        fits = x.ndim > axis or (name == "hsplit" and x.ndim == 1)
        require(fits, "shape", f"{name} takes an array with {axis + 1} axes or more, not shape {x.shape}")
        return parts_of(x, indices_or_sections, min(axis, x.ndim - 1))


for _name, _axis in (("hsplit", 1), ("vsplit", 0), ("dsplit", 2)):
    enter_split(_name, _axis)


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
    entries = x.shape[axis]
    first = place_of(start, entries, entries)
    fits = length >= 0 and first + length <= entries
    require(fits, "index", f"{length} entries from place {first} on: the axis has length {entries}")
    return x.along(axis, slice(first, first + length))


@shaping("select", "torch method")
def select(x: Value, dim: Static, index: int) -> Value:
    """one layer of an axis"""
    axis = axis_of(x, dim, "select")
    return layer(INDEX, x, axis, place_of(index, x.shape[axis], x.shape[axis] - 1))


# --- arrays put together ---


def cat(arrays: Sequence[Any], dim: Static) -> Value:
    """Return arrays, of which one is a value, joined along an axis."""
    f = next(x.f for x in arrays if isinstance(x, Value))
    return build_cat(f, [x if isinstance(x, Value) else Value(f, x) for x in arrays], dim)


def some(tensors: Values, name: str) -> Values:
    """Return arrays; raises ``shape`` where there is none."""
    require(tensors, "shape", f"{name} needs an array")
    return tensors


def enter_stack(names: str, axis: int, doc: str) -> None:
    """Enter one that joins arrays along an axis, which those with fewer axes are given."""
    name = names.partition(" ")[0]

    @shaping(names, "torch numpy", doc=doc)
    def build(tensors: Values) -> Value:
        if name == "column_stack":
            return cat([x.reshape(x.size, 1) if x.ndim < 2 else x for x in some(tensors, name)], 1)
        wide = [with_axes(x, max(axis, 1) + (axis != 1)) for x in some(tensors, name)]
        return cat(wide, min(axis, wide[0].ndim - 1))


enter_stack("hstack", 1, "arrays joined along the second axis, vectors along the first")
enter_stack("vstack row_stack", 0, "arrays joined along the first axis, vectors as rows")
enter_stack("dstack", 2, "arrays joined along a third axis")
enter_stack("column_stack", 1, "matrices side by side, vectors as columns")


@shaping("block_diag scipy.linalg.block_diag jax.scipy.linalg.block_diag", "torch")
def block_diag(*tensors: Value) -> Value:
    """matrices along the diagonal of one that is 0 elsewhere; a vector is a row"""
    blocks = [with_axes(x, 2) for x in some(tensors, "block_diag")]
    require(all(block.ndim == 2 for block in blocks), "shape", "block_diag takes matrices, vectors and numbers")
    width, left, rows = sum(block.shape[1] for block in blocks), 0, []
    blocks[0].f.charge(width * sum(block.shape[0] for block in blocks))
    for block in blocks:
        height, columns = block.shape
        sides: list[Any] = [np.zeros((height, left)), block, np.zeros((height, width - left - columns))]
        rows.append(cat([side for side in sides if side.shape[1] or side is block], 1))
        left += columns
    return cat(rows, 0)


@shaping("meshgrid", "torch numpy")
def meshgrid(*tensors: Value, indexing: Static = None, library: Library = "torch") -> Any:
    """vectors as arrays over the grid that they span; PyTorch's first is constant along rows, NumPy's along columns"""
    order = indexing or ("xy" if library == "np" else "ij")
    require(order in ("ij", "xy"), "value", f"indexing is 'ij' or 'xy', not {order!r}")
    require(all(x.ndim < 2 for x in tensors), "shape", "meshgrid takes vectors")
    places = list(range(len(tensors)))
    if order == "xy" and len(places) > 1:
        places[:2] = 1, 0
    shape = [tensors[places.index(axis)].size for axis in range(len(tensors))]
    rows = [
        x.reshape(*(-1 if axis == place else 1 for axis in range(len(shape)))).expand(*shape)
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


@shaping("append", "numpy not-bare")
def append(x: Value, values: Value, axis: Static = None) -> Value:
    """an array with others behind it along an axis, or all entries in one row"""
    return cat([x.flat, values.flat], 0) if axis is None else cat([x, values], axis)


def along_or_flat(x: Value, axis: Static) -> tuple[Value, int]:
    """Return an array and one of its axes, flattened where none is named; raises ``shape`` for one number."""
    require(axis is None or x.ndim, "shape", "one number has no axis", hint="leave axis out")
    flat = x.flat if axis is None else x
    return flat, one_axis(0 if axis is None else axis, flat.ndim)


@shaping("insert", "numpy not-bare")
def insert(x: Value, obj: Static, values: Value, axis: Static = None) -> Value:
    """an array with values put before one place of an axis, or of all entries in one row"""
    flat, at = along_or_flat(x, axis)
    length, place = flat.shape[at], whole(obj, "the place")
    fits = -length <= place <= length
    require(fits, "index", f"insert: place {place} is out of range for an axis of length {length}")
    place %= length + (place >= 0)
    lengths, wide = list(flat.shape), values
    if values.ndim:
        wide = values.reshape(*(1,) * (flat.ndim - values.ndim), *values.shape)
        order = [*range(1, flat.ndim)]
        order.insert(at, 0)
        wide = wide.permute(*order) if at else wide
    lengths[at] = wide.shape[at] if wide.ndim else 1
    said = f"insert: values of shape {values.shape} do not fit {flat.shape}"
    common_shape(said, wide.shape, tuple(lengths))
    x.f.charge(math.prod(lengths))
    before, middle = flat.along(at, slice(0, place)), wide.expand(*lengths)
    parts = [before, middle, flat.along(at, slice(place, length))]
    return cat([part for part in parts if part.shape[at]], at)


@shaping("delete", "numpy not-bare")
def delete(x: Value, obj: Raw, axis: Static = None) -> Value:
    """an array without the entries at some places of an axis, or of all entries in one row"""
    flat, at = along_or_flat(x, axis)
    length, places = flat.shape[at], positions(x.f, obj, "delete")
    fits = not np.any((places < -length) | (places >= length))
    require(fits, "index", f"delete: place {places} is out of range for an axis of length {length}")
    return flat.along(at, np.delete(np.arange(length), places))


@function("np.select numpy.select jnp.select", "", "elementwise", kinds=OF_FLOATS)
def numpy_select(f: Apply, condlist: Raws, choicelist: Values, default: Value | None = None) -> Value:
    """the entries of the first array whose condition holds, or of default where none does"""
    fits = choicelist and len(condlist) == len(choicelist)
    require(fits, "shape", f"select: {len(condlist)} conditions for {len(choicelist)} choices")
    chosen = Value(f, np.float64(0)) if default is None else default
    for condition, choice in reversed([*zip(condlist, choicelist, strict=True)]):
        chosen = where(truths(condition, "select"), choice, chosen)
    return chosen


# --- borders ---

Pads = tuple[tuple[int, int], ...]
"""How many entries are added before and behind each axis; some are cut off where they are negative."""


def bordered(x: Array, *, pads: Pads) -> Array:
    """Return an array with zeros added round it, and entries cut off where a count is negative."""
    kept = x[tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pads, x.shape, strict=True))]
    wide = np.zeros([n + max(a, 0) + max(b, 0) for (a, b), n in zip(pads, kept.shape, strict=True)], dtype=x.dtype)
    wide[inner(pads, wide.shape)] = kept
    return wide


def inner(pads: Pads, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the index of what is no border."""
    return tuple(slice(max(a, 0), n - max(b, 0)) for (a, b), n in zip(pads, shape, strict=True))


def negated(pads: Pads) -> Pads:
    """Return the counts that take a border away."""
    return tuple((-a, -b) for a, b in pads)


def pads_text(x: str, pads: Pads, least: int = 2) -> str:
    """Write ``F.pad(x, (1, 1))``, counts from the last axis on, without zeros at the end of more than ``least``."""
    counts = [n for pair in reversed(pads) for n in pair]
    while len(counts) > least and counts[-2:] == [0, 0]:
        counts = counts[:-2]
    return f"F.pad({x}, {tuple(counts)})"


def inner_text_back(_k: int, out: Array, _x: Array, *, pads: Pads) -> str:
    """Return the text of what is no border, with zeros where entries were cut off."""
    if all(n >= 0 for pair in pads for n in pair):
        parts = [f"{a or ''}:{n - b if b else ''}" for (a, b), n in zip(pads, np.shape(out), strict=True)]
        return f"{{g}}[{', '.join(parts)}]"
    return pads_text("{g}", negated(pads), least=2 * len(pads))


PAD = mover(
    "pad",
    bordered,
    lambda g, _y, _x, *, pads: bordered(g, pads=negated(pads)),
    text=Text(backward=inner_text_back, write=lambda call: pads_text(call.texts[0], call.static["pads"])),
    size=lambda x, pads: math.prod(max(n + a + b, 0) for (a, b), n in zip(pads, x.shape, strict=True)),
)


def mirrored(places: Indices, length: int) -> Indices:
    """Return places of an axis that goes on as its mirror image, the last entry once."""
    period = max(2 * (length - 1), 1)
    return length - 1 - np.abs(length - 1 - places % period)


def folded(places: Indices, length: int) -> Indices:
    """Return places of an axis that goes on as its mirror image, the last entry twice."""
    turned = places % (2 * length)
    return np.minimum(turned, 2 * length - 1 - turned)


CONTINUED: dict[str, Callable[[Indices, int], Indices]] = {
    "reflect": mirrored,
    "replicate": lambda places, length: np.clip(places, 0, length - 1),
    "circular": lambda places, length: places % length,
    "symmetric": folded,
}
"""By name: which entry of an axis stands at a place beyond it."""


def continued(x: Value, pads: Pads, mode: str) -> Value:
    """Return an array whose axes go on beyond their ends."""
    for axis, ((before, behind), length) in enumerate(zip(pads, x.shape, strict=True)):
        if (before, behind) != (0, 0):
            x = x.along(axis, CONTINUED[mode](np.arange(-before, length + behind), length))
    return x


def filled_border(x: Value, pads: Pads, value: Value | None) -> Value:
    """Return an array with one constant number round it, 0 for None; raises ``shape`` where nothing would be left."""
    plain = value is None or not (value.ndim or value.active)
    require(plain, "value", "pad takes a plain number as its value", hint="value=s.item()")
    fits = all(n + a + b >= 0 for (a, b), n in zip(pads, x.shape, strict=True))
    require(fits, "shape", f"more is cut off than an array of shape {x.shape} has")
    wide = x.of(PAD, pads=pads) if pads else x.clone()  # one number has no axis that a border could go round
    if value is None or (value.raw == 0 and not np.signbit(value.numbers)):
        return wide
    border = np.ones(wide.shape)
    border[inner(pads, wide.shape)] = 0.0
    return where(border, value, wide)


TORCH_AXES = {2: (2, 3), 4: (3, 4), 6: (4, 5)}
"""How many axes an array may have of which one, two or three go on."""


@function("pad", "functional not-bare", "shaping", op=PAD, kinds=LIKE_FIRST)
def pad_axes(x: Value, pad: Static, mode: Static = "constant", value: Value | None = None) -> Value:
    """with numbers round it: pairs of counts from the last axis on; constant, reflect, replicate or circular"""
    counts = whole_numbers((pad,), "a count")
    fits = len(counts) % 2 == 0 and len(counts) <= 2 * x.ndim
    require(fits, "shape", f"pad: pairs of counts for at most {counted(x.ndim, 'axis')}, not {counts}")
    last = [(counts[k], counts[k + 1]) for k in range(0, len(counts), 2)][::-1]
    pads = (*[(0, 0)] * (x.ndim - len(last)), *last)
    if mode == "constant":
        return filled_border(x, pads, value)
    fits = mode in ("reflect", "replicate", "circular") and value is None
    shown = None if value is None else value.node
    require(fits, "value", f"pad: mode {mode!r} with value {shown!r} is not supported")
    fits = x.ndim in TORCH_AXES.get(len(counts), ()) and min(counts) >= 0
    require(fits, "shape", f"pad: {mode} of shape {x.shape} with {counts} is not supported by PyTorch")
    most = {"reflect": -1, "replicate": math.inf, "circular": 0}[str(mode)]
    fits = all(max(pair) <= n + most and n for pair, n in zip(pads, x.shape, strict=True) if any(pair))
    require(fits, "shape", f"pad: {mode} reaches beyond the other end of shape {x.shape} with {counts}")
    return continued(x, pads, str(mode))


NUMPY_MODES = {"edge": "replicate", "reflect": "reflect", "symmetric": "symmetric", "wrap": "circular"}


@function("np.pad numpy.pad jnp.pad", "", "shaping", kinds=LIKE_FIRST)
def numpy_pad(x: Value, pad_width: Static, mode: Static = "constant", constant_values: Value | None = None) -> Value:
    """with numbers round it, as numpy has it: constant, edge, reflect, symmetric or wrap"""
    pads = read_widths(pad_width, x.ndim)
    fits = min((n for pair in pads for n in pair), default=0) >= 0
    require(fits, "value", "np.pad: a width cannot be negative")
    if mode == "constant":
        return filled_border(x, pads, constant_values)
    require(mode in NUMPY_MODES, "value", f"np.pad: mode {mode!r} is not supported", hint=f"{', '.join(NUMPY_MODES)}")
    fits = all(n or not any(pair) for pair, n in zip(pads, x.shape, strict=True))
    require(fits, "shape", f"np.pad: nothing of shape {x.shape} goes on")
    return continued(x, pads, NUMPY_MODES[str(mode)])


def read_widths(widths: Static, ndim: int) -> Pads:
    """Return numpy's widths as a pair for each axis: from one number, one pair, or all pairs."""
    nested = isinstance(widths, tuple) and any(isinstance(item, tuple) for item in widths)
    pairs = [whole_numbers((item,), "a width") for item in (cast("Any", widths) if nested else (widths,))]
    full = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    full = full * ndim if len(full) == 1 else full
    fits = len(full) == ndim and all(len(pair) == 2 for pair in full)
    require(fits, "shape", f"np.pad: a width, a pair, or a pair for each of {counted(ndim, 'axis')}")
    return tuple((pair[0], pair[1]) for pair in full)
