"""Entries picked by an index or written at one, and arrays put together or repeated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.arithmetic import only_numpy
from gradcli.ops.declare import Apply, Entries, Keeps, Oddity, Text, Torch, variant
from gradcli.ops.links import Array, At, Index, Indices, Library, Links, Number, Raw, Static, Vjp
from gradcli.ops.shaping import joined, moved_local, mover, shaping, whole_numbers
from gradcli.ops.values import Value, Values, one_axis, require, stack
from gradcli.ops.writing import Call, index_text, index_text_back, put_text_back, repeat_text_back, tile_text_back


def picked(x: Array, *, key: Index) -> Array:
    """Return the entries at ``key``; what lists pick from a matrix lies row by row in memory, as in PyTorch."""
    result = x[key]
    if type(result) is not np.ndarray:
        return np.asarray(result) if x.dtype == object else result  # of many digits an entry is no array by itself
    if result.ndim < 2 or x.ndim > 2 or np.may_share_memory(result, x):
        return result
    return np.ascontiguousarray(result)


def index_vjp(g: Array, _y: Array, x: Array, *, key: Index) -> Array:
    """Return zeros of the shape of x with g added where the index picked; repeated indices add up."""
    back = np.zeros(x.shape)
    if type(key) is int:
        back[key] = g
        return back
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(part, np.ndarray) for part in parts):
        np.add.at(back, key, g)  # type: ignore[arg-type] # numpy types lists
    else:
        back[key] = g
    return back


def put(x: Array, value: Number, *, key: Index) -> Array:
    """Return a copy of x with ``value`` written at ``key``; it broadcasts."""
    result = np.array(x, dtype=np.result_type(x, value))
    result[key] = np.asarray(value)[()]  # of many digits an array of one entry is no entry
    return result


def put_vjp_base(g: Array, _y: Array, _x: Array, _value: Array, *, key: Index) -> Array:
    """Return g with zeros where the value was written."""
    back = np.array(g)
    back[key] = 0.0
    return back


def repeated_index(active: tuple[bool, ...], out: Array, x: Array, value: Number, *, key: Index) -> str:
    """Return what PyTorch makes of an entry that a differentiated value is written to more than once, if there is one.

    A slice or a mask has each entry once, and a list may not.
    """
    del out, value
    parts = key if isinstance(key, tuple) else (key,)
    if not active[1] or not any(isinstance(part, np.ndarray) and part.dtype != np.bool_ for part in parts):
        return ""
    times = np.bincount(np.ravel(np.arange(np.size(x)).reshape(np.shape(x))[key]), minlength=np.size(x))
    if not np.any(times > 1):
        return ""
    first = int(np.argmax(times > 1))
    place = ",".join(str(int(i)) for i in np.unravel_index(first, np.shape(x)))
    return (
        f"one assignment writes entry [{place}] {times[first]} times and only the last value stays, but PyTorch's "
        f"backward hands its whole cotangent to each of the {times[first]} values"
    )


def index_size(x: Array, *, key: Index) -> int:
    """Return how many entries an index picks at most: as many as its lists, broadcast, times the axes they leave."""
    parts = key if isinstance(key, tuple) else (key,)
    lists = [part for part in parts if isinstance(part, np.ndarray) and part.dtype != np.bool_]
    if not lists:
        return int(np.size(x))
    try:
        count = math.prod(np.broadcast_shapes(*(part.shape for part in lists)))
    except ValueError:
        return 0
    masks = [part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 0 for part in parts]
    axes = [mask or int(part is not None) for mask, part in zip(masks, parts, strict=True)]
    left, axis = list(np.shape(x)), 0
    for k, part in enumerate(parts):
        if part is Ellipsis:
            axis = len(left) - sum(axes[k + 1 :])
        else:
            if isinstance(part, np.ndarray) and not masks[k]:
                left[axis : axis + 1] = [1]
            axis += axes[k]
    return count * math.prod(map(int, left))


INDEX = mover(
    "index",
    picked,
    index_vjp,
    entries=Entries(view=True),
    size=index_size,
    text=Text(
        write=lambda call: f"{call.tight[0]}[{index_text(call.static['key'])}]",
        backward=index_text_back,
        rule="entries",
    ),
)
PART = variant(INDEX, "part", torch=Torch(several=True))
"""One of the parts that chunk, split, unbind and ``a, b = x`` give."""
PUT = joined(
    "put",
    put,
    (put_vjp_base, lambda g, _y, _x, _value, *, key: g[key]),
    moved_local(put),
    size=lambda x, value, *, key: max(int(np.size(x)), index_size(x, key=key)),
    torch=Torch(oddity=Oddity("repeated-index", repeated_index), saves=((Keeps.OWN,),)),
    text=Text(listed=True, backward=put_text_back),
)


def holds_positions(op: Any) -> bool:
    """Return whether an op takes positions, or the classes of a target, from an input as they are."""
    return op.name in ("places", "detach")


def is_index(op: Any) -> bool:
    """Return whether an op is ``x[key]``, of one result or of several."""
    return bool(op.name == "index")


# --- arrays put together ---


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


def all_places(out: Array) -> Indices:
    """Return the flat place of every entry of the output, in its shape."""
    return np.arange(np.size(out), dtype=np.intp).reshape(np.shape(out))


def linked(places: Indices) -> list[Links]:
    """Return the links of an argument whose entries stand, in their order, at these flat places of the output."""
    rows = np.ravel(places)
    return [Links(rows, np.arange(len(rows), dtype=np.intp))]


def cat_local(at: At) -> list[Links]:
    """Link the entries of one argument with its stretch of the output."""
    dim = at.static["dim"]
    ends = np.cumsum([np.shape(x)[dim] for x in at.values[: at.argument + 1]])
    stretch = np.moveaxis(all_places(at.out), dim, 0)[ends[-1] - np.shape(at.values[at.argument])[dim] : ends[-1]]
    return linked(np.moveaxis(stretch, 0, dim))


def as_list(call: Call) -> str:
    """Write a list, or a call that takes one where ``dim`` is not the first."""
    listed = f"[{', '.join(call.texts)}]"
    return listed if call.static["dim"] == 0 else with_list(call)


def with_list(call: Call) -> str:
    """Write a call that takes a list of arrays."""
    return f"{call.name}([{', '.join(call.texts)}], dim={call.static['dim']})"


# fmt: off
STACK = joined(
    "stack", lambda *values, dim: np.array(values) if dim == 0 else np.stack(values, axis=dim),
    lambda k: lambda g, _y, *_values, dim: g[k] if dim == 0 else np.take(g, k, axis=dim),
    lambda at: linked(np.moveaxis(all_places(at.out), at.static["dim"], 0)[at.argument]),
    size=total_size, exactly=lambda *values, dim: np.stack(values, axis=dim),
    text=Text(write=as_list, rule="list"))
CAT = joined(
    "cat", lambda *values, dim: np.concatenate(values, axis=dim), cat_vjp, cat_local, size=total_size,
    text=Text(write=with_list, rule="list"))
TILE = mover(
    "tile", lambda x, *, reps: np.tile(x, reps), size=lambda x, reps: np.size(x) * math.prod(reps),
    text=Text(backward=tile_text_back))
REPEAT = mover(
    "repeat_interleave", lambda x, *, repeats, dim: np.repeat(x, repeats, dim),
    size=lambda x, repeats, dim: np.size(x) * repeats, text=Text(backward=repeat_text_back))
# fmt: on


@shaping("stack", "torch numpy", op=STACK)
def build_stack(tensors: Values, dim: Static = 0) -> Value:
    """arrays of one shape along a new axis"""
    shapes = [x.shape for x in tensors]
    said = f"stack needs arrays of one shape, not {', '.join(map(str, shapes)) or 'none'}"
    require(len(set(shapes)) == 1, "shape", said)
    return stack(tensors, one_axis(dim, len(shapes[0]) + 1))


@shaping("cat concatenate concat", "torch numpy", op=CAT)
def build_cat(f: Apply, tensors: Values, dim: Static = 0, library: Library = "torch") -> Value:
    """arrays joined along an axis; with None in the place of an axis all their entries, as numpy has it"""
    if dim is None:
        if library == "torch":
            only_numpy(f, "cat without an axis", "flatten each array first")
        tensors, dim = [x.flat for x in tensors], 0
    others = [x for x in tensors if x.shape != (0,)]
    if any(x.ndim != 1 for x in others):  # beside arrays of other axes, one of shape (0,) is nothing
        tensors = others
    shapes = [x.shape for x in tensors]
    require(shapes and shapes[0], "shape", "cat needs arrays with at least one axis", "use stack for scalars")
    axis = one_axis(dim, len(shapes[0]))
    said = f"cat along dim={axis} needs equal other lengths, not {', '.join(map(str, shapes))}"
    require(len({(*shape[:axis], *shape[axis + 1 :], len(shape)) for shape in shapes}) == 1, "shape", said)
    return tensors[0].of(CAT, *tensors[1:], dim=axis)


@shaping("repeat tile np.tile numpy.tile torch.tile", "method", op=TILE)
def build_tile(x: Value, *reps: Static) -> Value:
    """the whole array repeated, as PyTorch's x.repeat (np.repeat repeats each entry)"""
    counts = whole_numbers(reps, "a count")
    require(min(counts, default=0) >= 0, "value", NOT_NEGATIVE)
    return x.of(TILE, reps=counts)


NOT_NEGATIVE = "a count of repetitions cannot be negative"


@shaping("repeat_interleave np.repeat numpy.repeat", "torch method", op=REPEAT)
def build_repeat_interleave(x: Value, repeats: Raw, dim: Static = None) -> Value:
    """each entry repeated, flattened or along dim; repeats may be a count for each"""
    flat, axis = (x.flat, 0) if dim is None else (x, one_axis(dim, x.ndim))
    if type(repeats) is not int:
        return repeated_each(flat, repeats, axis)
    require(repeats >= 0, "value", NOT_NEGATIVE)
    return flat.of(REPEAT, repeats=repeats, dim=axis)


def repeated_each(x: Value, repeats: Raw, axis: int) -> Value:
    """Return the layers of an axis, each repeated as often as its own count says."""
    from gradcli.ops.further.casting import positions

    counts = np.atleast_1d(positions(x.f, repeats, "repeats"))
    length = x.shape[axis] if x.ndim else 1
    fits = counts.shape in ((1,), (length,)) and not np.any(counts < 0)
    require(fits, "value", f"repeats is a count of 0 or more for each of {length}, not {counts.tolist()}")
    counts = np.broadcast_to(counts, (length,))
    x.f.charge(int(np.sum(counts)) * x.size // max(length, 1))
    return x.along(axis, np.repeat(np.arange(length), counts))
