"""Arrays put together: along a new axis, end to end, or repeated."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import one_axis
from gradcli.ops.declare import Apply
from gradcli.ops.indexing import INDEX
from gradcli.ops.integers import only_numpy
from gradcli.ops.links import Links
from gradcli.ops.putting_back import repeat_text_back, tile_text_back
from gradcli.ops.shaping import RESHAPE, joined, mover, whole_numbers
from gradcli.ops.signatures import Array, Indices, Library, Options, Raw, Static, Tensor, Tensors, Vjp
from gradcli.ops.vocabulary import function
from gradcli.ops.writing import Call


def stack(*values: Array, dim: int) -> Array:
    """Return the arguments along a new axis."""
    return np.array(values) if dim == 0 else np.stack(values, axis=dim)


def cat(*values: Array, dim: int) -> Array:
    """Return the arguments joined along an axis."""
    return np.concatenate(values, axis=dim)


def cat_vjp(k: int) -> Vjp:
    """Return the vjp of argument k of cat: its own stretch of g."""

    def vjp(g: Array, _y: Array, *values: Array, dim: int) -> Array:
        start = sum(np.shape(x)[dim] for x in values[:k])
        return np.take(g, np.arange(start, start + np.shape(values[k])[dim]), axis=dim)

    return vjp


def total_size(*values: Array, dim: int) -> int:
    """Return the entries of all arguments together."""
    del dim
    return sum([getattr(x, "size", 1) for x in values])


def linked(places: Indices) -> list[Links]:
    """Return the links of an argument whose entries stand, in their order, at these flat places of the output."""
    rows = np.ravel(places)
    return [Links(rows, np.arange(len(rows), dtype=np.intp))]


def cat_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link the entries of one argument with its stretch of the output."""
    dim = static["dim"]
    ends = np.cumsum([np.shape(x)[dim] for x in values[: argument + 1]])
    stretch = np.moveaxis(all_places(out), dim, 0)[ends[-1] - np.shape(values[argument])[dim] : ends[-1]]
    return linked(np.moveaxis(stretch, 0, dim))


def all_places(out: Array) -> Indices:
    """Return the flat place of every entry of the output, in its shape."""
    return np.arange(np.size(out), dtype=np.intp).reshape(np.shape(out))


def as_list(call: Call) -> str:
    """Write a list, or a call that takes one where ``dim`` is not the first."""
    listed = f"[{', '.join(call.texts)}]"
    return listed if call.static["dim"] == 0 else with_list(call)


def with_list(call: Call) -> str:
    """Write a call that takes a list of arrays."""
    return f"{call.name}([{', '.join(call.texts)}], dim={call.static['dim']})"


STACK = joined(
    "stack",
    stack,
    lambda k: lambda g, _y, *_values, dim: g[k] if dim == 0 else np.take(g, k, axis=dim),
    lambda argument, out, values, static: linked(np.moveaxis(all_places(out), static["dim"], 0)[argument]),
    size=total_size,
    exactly=lambda *values, dim: np.stack(values, axis=dim),
    write=as_list,
)
CAT = joined("cat", cat, cat_vjp, cat_local, size=total_size, write=with_list)
TILE = mover(
    "tile",
    lambda x, *, reps: np.tile(x, reps),
    size=lambda x, reps: np.size(x) * math.prod(reps),
    backward_text=tile_text_back,
)
REPEAT = mover(
    "repeat_interleave",
    lambda x, *, repeats, dim: np.repeat(x, repeats, dim),
    size=lambda x, repeats, dim: np.size(x) * repeats,
    backward_text=repeat_text_back,
)


@function("stack", "torch numpy", "shaping", op=STACK, kinds="same same yes")
def build_stack(f: Apply, tensors: Tensors, dim: Static = 0) -> Tensor:
    """arrays of one shape along a new axis"""
    shapes = [x.shape for x in tensors]
    if not shapes or any(shape != shapes[0] for shape in shapes):
        raise GradcliError("shape", f"stack needs arrays of one shape, not {', '.join(map(str, shapes)) or 'none'}")
    return f(STACK, *tensors, dim=one_axis(dim, len(shapes[0]) + 1))


@function("cat concatenate concat", "torch numpy", "shaping", op=CAT, kinds="same same yes")
def build_cat(f: Apply, tensors: Tensors, dim: Static = 0, library: Library = "torch") -> Tensor:
    """arrays joined along an axis; with None in the place of an axis all their entries, as numpy has it"""
    if dim is None:
        if library == "torch":
            only_numpy(f, "cat without an axis", "flatten each array first")
        tensors, dim = [f(RESHAPE, x, shape=(-1,)) for x in tensors], 0
    tensors = tensors if library == "numpy" else without_empty(tensors)
    shapes = [x.shape for x in tensors]
    if not shapes or not shapes[0]:
        raise GradcliError("shape", "cat needs arrays with at least one axis", hint="use stack for scalars")
    axis = one_axis(dim, len(shapes[0]))
    if len({(*shape[:axis], *shape[axis + 1 :], len(shape)) for shape in shapes}) > 1:
        raise GradcliError(
            "shape", f"cat along dim={axis} needs equal other lengths, not {', '.join(map(str, shapes))}"
        )
    return f(CAT, *tensors, dim=axis)


def without_empty(tensors: Tensors) -> Tensors:
    """Return what PyTorch joins: beside arrays of other axes, one of shape (0,) is nothing."""
    others = [x for x in tensors if x.shape != (0,)]
    return others if any(x.ndim != 1 for x in others) else tensors


@function("repeat tile np.tile numpy.tile torch.tile", "method", "shaping", op=TILE, kinds="same same yes")
def build_tile(f: Apply, x: Tensor, *reps: Static) -> Tensor:
    """the whole array repeated, as PyTorch's x.repeat (np.repeat repeats each entry)"""
    counts = whole_numbers(reps, "a count")
    if any(n < 0 for n in counts):
        raise GradcliError("value", "a count of repetitions cannot be negative")
    return f(TILE, x, reps=counts)


@function("repeat_interleave np.repeat numpy.repeat", "torch method", "shaping", op=REPEAT, kinds="same same yes")
def build_repeat_interleave(f: Apply, x: Tensor, repeats: Raw, dim: Static = None) -> Tensor:
    """each entry repeated, flattened or along dim; repeats may be a count for each"""
    flat = f(RESHAPE, x, shape=(-1,)) if dim is None else x
    axis = 0 if dim is None else one_axis(dim, x.ndim)
    if type(repeats) is not int:
        return repeated_each(f, flat, repeats, axis)
    if repeats < 0:
        raise GradcliError("value", "a count of repetitions cannot be negative")
    return f(REPEAT, flat, repeats=repeats, dim=axis)


def repeated_each(f: Apply, x: Tensor, repeats: Raw, axis: int) -> Tensor:
    """Return the layers of an axis, each repeated as often as its own count says."""
    from gradcli.ops.further.positions import positions

    counts = np.atleast_1d(positions(f, repeats, "repeats"))
    length = x.shape[axis] if x.ndim else 1
    if counts.shape not in ((1,), (length,)) or np.any(counts < 0):
        raise GradcliError("value", f"repeats is a count of 0 or more for each of {length}, not {counts.tolist()}")
    counts = np.broadcast_to(counts, (length,))
    f.charge(int(np.sum(counts)) * math.prod(x.shape) // max(length, 1))
    return f(INDEX, x, key=(*[slice(None)] * axis, np.repeat(np.arange(length), counts)))
