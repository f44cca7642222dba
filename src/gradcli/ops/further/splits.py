"""Arrays taken apart along an axis: chunks, stretches, rows. All of them are views."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.axes import one_axis
from gradcli.ops.declare import Apply, Op
from gradcli.ops.further.shapes import MOVES
from gradcli.ops.indexing import INDEX, PART
from gradcli.ops.shaping import whole, whole_numbers
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.vocabulary import Builder, function


def axis_of(x: Tensor, dim: Static, name: str) -> int:
    """Return the axis along which an array is taken apart; raises ``shape`` for one number."""
    if not x.ndim:
        raise GradcliError("shape", f"{name} takes an array with an axis, not one number")
    return one_axis(dim, x.ndim)


def stretches(f: Apply, x: Tensor, axis: int, ends: Sequence[int], op: Op = INDEX) -> tuple[Tensor, ...]:
    """Return the stretches of an axis that end at these places."""
    places = [slice(start, max(start, end)) for start, end in pairwise([0, *ends])]
    return tuple(f(op, x, key=(*[slice(None)] * axis, place)) for place in places)


def of_size(length: int, size: int) -> list[int]:
    """Return where stretches of one size end; the last may be shorter, and of nothing there is one that is empty."""
    return [min(end, length) for end in range(size, length + size, size)] or [0]


def evenly(length: int, count: int) -> list[int]:
    """Return where so many stretches end, of which the first are longer by one where they cannot be equal."""
    short, longer = divmod(length, count)
    return [short * k + min(k, longer) for k in range(1, count + 1)]


@function("chunk", "torch method", "shaping", kinds=MOVES)
def build_chunk(f: Apply, x: Tensor, chunks: Static, dim: Static = 0) -> Any:
    """at most so many parts of one length along an axis, the last shorter, as a tuple"""
    axis, count = axis_of(x, dim, "chunk"), whole(chunks, "chunks")
    if count < 1:
        raise GradcliError("value", f"chunk makes 1 part or more, not {count}")
    length = x.shape[axis]
    if not length:
        f.charge(count)
        return stretches(f, x, axis, [0] * count, PART)
    return stretches(f, x, axis, of_size(length, -(-length // count)), PART)


@function("split split_with_sizes", "torch method", "shaping", kinds=MOVES)
def build_split(f: Apply, x: Tensor, split_size_or_sections: Static, dim: Static = 0) -> Any:
    """parts of one length along an axis, or of the lengths given, as a tuple"""
    axis, sizes = axis_of(x, dim, "split"), split_size_or_sections
    length = x.shape[axis]
    if not isinstance(sizes, tuple):
        size = whole(sizes, "the length of a part")
        if size < 1 and not (size == 0 == length):
            raise GradcliError("value", f"the length of a part is 1 or more, not {size}")
        return stretches(f, x, axis, of_size(length, size) if size else [0], PART)
    lengths = whole_numbers((sizes,), "the length of a part")
    if sum(lengths) != length or any(n < 0 for n in lengths):
        raise GradcliError("shape", f"parts of lengths {lengths} do not make up an axis of length {length}")
    return stretches(f, x, axis, [sum(lengths[: k + 1]) for k in range(len(lengths))], PART)


def parts_of(f: Apply, x: Tensor, sections: Static, axis: int, equal: bool = False) -> tuple[Tensor, ...]:
    """Return so many parts along an axis, or those between places; raises ``shape`` where they have to be equal."""
    length = x.shape[axis]
    if isinstance(sections, tuple):
        places = [place + length if place < 0 else place for place in whole_numbers((sections,), "a place")]
        return stretches(f, x, axis, [*(min(max(place, 0), length) for place in places), length])
    count = whole(sections, "the number of parts")
    if count < 1:
        raise GradcliError("value", f"the number of parts is 1 or more, not {count}")
    if equal and length % count:
        raise GradcliError("shape", f"an axis of length {length} has no {counted(count, 'equal part')}")
    f.charge(count)
    return stretches(f, x, axis, evenly(length, count))


@function("tensor_split np.array_split numpy.array_split jnp.array_split", "torch method", "shaping", kinds=MOVES)
def build_tensor_split(f: Apply, x: Tensor, indices_or_sections: Static, dim: Static = 0) -> Any:
    """so many parts along an axis, the first longer by one, or those between the places given, as a tuple"""
    return parts_of(f, x, indices_or_sections, axis_of(x, dim, "tensor_split"))


@function("np.split numpy.split jnp.split", "", "shaping", kinds=MOVES)
def build_numpy_split(f: Apply, x: Tensor, indices_or_sections: Static, axis: Static = 0) -> Any:
    """so many equal parts along an axis, or those between the places given, as a tuple"""
    return parts_of(f, x, indices_or_sections, axis_of(x, axis, "np.split"), equal=True)


def split_along(name: str, axis: int) -> Builder:
    """Return the builder of hsplit and the like."""

    def build(f: Apply, x: Tensor, indices_or_sections: Static) -> Any:
        if x.ndim <= axis and not (name == "hsplit" and x.ndim == 1):
            raise GradcliError("shape", f"{name} takes an array with {axis + 1} axes or more, not shape {x.shape}")
        return parts_of(f, x, indices_or_sections, min(axis, x.ndim - 1), equal=True)

    build.__doc__ = f"so many equal parts along axis {axis}, or those between the places given, as a tuple"
    return build


function("hsplit", "torch numpy method", "shaping", kinds=MOVES)(split_along("hsplit", 1))
function("vsplit", "torch numpy method", "shaping", kinds=MOVES)(split_along("vsplit", 0))
function("dsplit", "torch numpy method", "shaping", kinds=MOVES)(split_along("dsplit", 2))


@function("unbind np.unstack numpy.unstack jnp.unstack", "torch method", "shaping", kinds=MOVES)
def build_unbind(f: Apply, x: Tensor, dim: Static = 0) -> Any:
    """the layers along an axis, as a tuple"""
    axis = axis_of(x, dim, "unbind")
    return tuple(layer(f, PART, x, axis, place) for place in range(x.shape[axis]))


def layer(f: Apply, op: Op, x: Tensor, axis: int, place: int) -> Tensor:
    """Return one layer of an axis, of a constant vector too as a view and no number."""
    key = (*[slice(None)] * axis, place)
    return f(op, x, key=(*key, ...) if type(x) is np.ndarray else key)


def place_of(index: Static, length: int, last: int) -> int:
    """Return a place along an axis counted from 0; raises ``index`` for one beyond ``last``."""
    place = whole(index, "a place")
    if not -length <= place <= last:
        raise GradcliError("index", f"place {place} is out of range for an axis of length {length}")
    return place + length if place < 0 else place


@function("narrow", "torch method", "shaping", kinds=MOVES)
def build_narrow(f: Apply, x: Tensor, dim: Static, start: Static, length: Static) -> Tensor:
    """so many entries along an axis, from a place on"""
    axis, count = axis_of(x, dim, "narrow"), whole(length, "length")
    first = place_of(start, x.shape[axis], x.shape[axis])
    if count < 0 or first + count > x.shape[axis]:
        raise GradcliError("index", f"{count} entries from place {first} on: the axis has length {x.shape[axis]}")
    return f(INDEX, x, key=(*[slice(None)] * axis, slice(first, first + count)))


@function("select", "torch method", "shaping", kinds=MOVES)
def build_select(f: Apply, x: Tensor, dim: Static, index: Static) -> Tensor:
    """one layer of an axis"""
    axis = axis_of(x, dim, "select")
    return layer(f, INDEX, x, axis, place_of(index, x.shape[axis], x.shape[axis] - 1))
