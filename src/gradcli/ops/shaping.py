"""Functions that move entries: indexing, reshaping, stacking, repeating. Every entry of the output is one of the input.

All of them share one local reading, and one vjp where no shorter rule exists: the op is run once more on the numbers
of the entries, 1 for the first, and where it puts which number says where each entry went; 0 marks a fill.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.ops.declare import NO_ENTRIES, Entries, Op, Text, declare
from gradcli.ops.links import Array, At, Axes, Forward, Indices, Library, Links, Local, Rule, Static, Vjp
from gradcli.ops.values import ALL, Value, cloned, one_axis, read_axes, require, whole
from gradcli.ops.vocabulary import KEPT, function
from gradcli.ops.writing import Call, diagonal_text_back, function_call
from gradcli.records import replace


def number_entries(values: tuple[Array, ...], argument: int) -> list[Indices]:
    """Return arrays of the arguments' shapes: the entries' numbers from 1 for one argument, 0 for the others."""
    return [
        (np.arange(1, np.size(x) + 1) if k == argument else np.zeros(np.size(x), dtype=np.intp)).reshape(np.shape(x))
        for k, x in enumerate(values)
    ]


def moved_vjp(forward: Forward) -> Vjp:
    """Return the vjp of an op that moves entries of one array: cotangents go back to where entries came from."""

    def vjp(g: Array, _y: Array, x: Array, **static: Any) -> Array:
        origin = np.ravel(forward(*number_entries((x,), 0), **static))
        back = np.bincount(origin, weights=np.ravel(g), minlength=np.size(x) + 1)
        return back[1:].reshape(np.shape(x))  # type: ignore[return-value] # numpy types counts

    return vjp


def moved_local(forward: Rule) -> Local:
    """Return the local reading of an op that moves entries."""

    def local(at: At) -> list[Links]:
        origin = np.ravel(forward(*number_entries(at.values, at.argument), **at.static))
        rows = np.flatnonzero(origin)
        return [Links(rows, origin[rows] - 1)]

    return local


def mover(name: str, forward: Forward, vjp: Vjp | None = None, **record: Any) -> Op:
    """Declare an op of one argument that moves entries; without a vjp cotangents go back to where entries came from."""
    return joined(name, forward, (vjp or moved_vjp(forward),), moved_local(forward), **record)


def joined(
    name: str, forward: Forward, vjps: tuple[Vjp | None, ...] | Callable[[int], Vjp], local: Local, **record: Any
) -> Op:
    """Declare an op of any number of arguments that moves entries."""
    entries = replace(record.pop("entries", NO_ENTRIES), moves=True, by_shape=True, shaped=True)
    return declare(name, forward, vjps, local, entries=entries, **record)


def transposed(call: Call) -> str:
    """Write ``x.T`` where all axes are reversed, else a call of ``permute``."""
    dims = call.static["dims"]
    if dims != tuple(reversed(range(len(dims)))):
        return function_call(call)
    return f"{call.tight[0]}.T"


def rolled(call: Call) -> str:
    """Write ``roll(x, 1)``, with the axes where there are several to choose from."""
    shifts, dims = call.static["shifts"], call.static["dims"]
    by, along = (shifts[0], dims[0]) if len(shifts) == 1 else (shifts, dims)
    return f"roll({call.texts[0]}, {by}{'' if call.ndim == 1 and len(shifts) == 1 else f', {along}'})"


BY_DIAGONAL = Text(defaults={"k": 0}, words={"k": "diagonal"})

# fmt: off
RESHAPE   = mover("reshape", lambda x, *, shape: np.reshape(x, shape),
                  lambda g, _y, x, *, shape: np.reshape(g, np.shape(x)), entries=Entries(view=True))
TRANSPOSE = mover("permute", lambda x, *, dims: np.transpose(x, dims),
                  lambda g, _y, _x, *, dims: np.transpose(g, np.argsort(dims)), entries=Entries(view=True),
                  text=Text(write=transposed))
EXPAND    = mover("expand", lambda x, *, shape: np.broadcast_to(x, shape),
                  lambda g, _y, _x, *, shape: g, entries=Entries(view=True), size=lambda x, shape: math.prod(shape))
FLIP      = mover("flip", lambda x, *, dims: np.array(np.flip(x, dims)), lambda g, _y, _x, *, dims: np.flip(g, dims))
ROLL      = mover("roll", lambda x, *, shifts, dims: np.roll(x, shifts, dims),
                  lambda g, _y, _x, *, shifts, dims: np.roll(g, -np.asarray(shifts), dims), text=Text(write=rolled))
DIAG      = mover("diag", lambda x, *, k: np.array(np.diag(x, k)),
                  size=lambda x, k: int((np.size(x) + abs(k)) ** 2 if np.ndim(x) == 1 else np.size(x)),
                  text=replace(BY_DIAGONAL, backward=diagonal_text_back))
DIAGONAL  = mover("diagonal", lambda x, *, offset: np.diagonal(x, offset), entries=Entries(view=True),
                  text=Text(backward=diagonal_text_back))
TRIL      = mover("tril", lambda x, *, k: np.tril(x, k), lambda g, _y, _x, *, k: np.tril(g, k), text=BY_DIAGONAL)
TRIU      = mover("triu", lambda x, *, k: np.triu(x, k), lambda g, _y, _x, *, k: np.triu(g, k), text=BY_DIAGONAL)
CLONE     = mover("clone", lambda x: cloned(x)[()], lambda g, _y, _x: g)
# fmt: on


MOST_AXES = 32
"""What numpy broadcasts, and how deep the lists of a value may be nested."""


def too_many_axes(count: int) -> GradcliError:
    """Return the error for more axes than an array may have."""
    return GradcliError("shape", f"an array has at most {MOST_AXES} axes, not {count}")


def whole_numbers(values: tuple[Static, ...], name: str) -> tuple[int, ...]:
    """Return sizes or axes given one by one or as one tuple."""
    items = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
    if len(items) > MOST_AXES:
        raise too_many_axes(len(items))
    return tuple(whole(item, name) for item in items)


def checked_shape(size: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return ``shape`` with its -1 filled in; raises ``shape`` where the entries do not fit."""
    fixed = math.prod(length for length in shape if length != -1)
    free = shape.count(-1)
    fits = fixed == size if not free else free == 1 and fixed > 0 and size % fixed == 0
    if not fits or any(length < -1 for length in shape):
        raise GradcliError("shape", f"{counted(size, 'entry')} cannot have the shape {shape}")
    return tuple(size // fixed if length == -1 else length for length in shape)


shaping = partial(function, family="shaping", kinds=KEPT)


@shaping("reshape view np.reshape numpy.reshape torch.reshape", "method", op=RESHAPE)
def build_reshape(x: Value, *shape: Static) -> Value:
    """the same entries in another shape; one length may be -1"""
    return x.reshape(*checked_shape(x.size, whole_numbers(shape, "a length")))


@shaping("ravel", "torch numpy method")
def build_ravel(x: Value) -> Value:
    """the entries in one row"""
    return without_gaps(x).reshape(x.size)


def without_gaps(x: Value) -> Value:
    """Return an array as it is where it lies in memory without gaps, or its axes in another order; else a copy."""
    steps = [step for step, length in zip(getattr(x.raw, "strides", ()), x.shape, strict=True) if length > 1]
    gaps = isinstance(x.raw, np.ndarray) and not x.raw.flags.c_contiguous
    return x.clone() if gaps and steps == sorted(steps, reverse=True) else x


@shaping("flatten", "torch method")
def build_flatten(x: Value, start_dim: Static = 0, end_dim: Static = -1) -> Value:
    """the axes from start_dim to end_dim made one"""
    first, last = one_axis(start_dim, x.ndim), one_axis(end_dim, x.ndim)
    require(first <= last, "value", f"flatten: start_dim={start_dim} comes after end_dim={end_dim}")
    middle = math.prod(x.shape[first : last + 1])
    return x.reshape(*x.shape[:first], middle, *x.shape[last + 1 :])


@shaping("squeeze", "torch numpy method")
def build_squeeze(x: Value, dim: Axes = ALL) -> Value:
    """without the axes of length 1, or without axis dim if its length is 1"""
    return x.reshape(*(n for axis, n in enumerate(x.shape) if not (axis in dim and n == 1)))


@shaping("unsqueeze expand_dims", "torch numpy method")
def build_unsqueeze(x: Value, dim: Static, library: Library = "torch") -> Value:
    """with a new axis of length 1, or in NumPy with several"""
    dims = dim if isinstance(dim, tuple) else (dim,)
    if isinstance(dim, tuple) and library == "torch":
        require(dim, "value", "unsqueeze takes an axis, and not none")
        x.f.remark("numpy-only", "unsqueeze along several axes: this is NumPy's answer, PyTorch adds one at a time.")
    axes, lengths = read_axes(tuple(dims), x.ndim + len(dims)), iter(x.shape)
    return x.reshape(*(1 if k in axes else next(lengths) for k in range(x.ndim + len(dims))))


@shaping("permute", "torch method", op=TRANSPOSE)
def build_permute(x: Value, *dims: Static) -> Value:
    """the axes in another order"""
    order = read_axes(whole_numbers(dims, "an axis"), x.ndim)
    require(len(order) == x.ndim, "shape", f"permute needs all {counted(x.ndim, 'axis')}, {len(order)} given")
    return x.permute(*order)


@shaping("transpose swapaxes", "torch method")
def build_transpose(
    x: Value, dim0: Static = None, dim1: Static = None, dim2: Static = None, dim3: Static = None
) -> Value:
    """two axes swapped; all axes reversed where none is named, and as numpy has it in the order of three or four"""
    if dim2 is not None:
        said = "transpose with more than two axes: this is NumPy's answer, PyTorch has permute for it."
        x.f.remark("numpy-only", said)
        return build_permute(x, *(axis for axis in (dim0, dim1, dim2, dim3) if axis is not None))
    if dim1 is None:
        return numpy_transpose(x, dim0)
    return x.swap(one_axis(dim0, x.ndim), one_axis(dim1, x.ndim))


@shaping("t", "torch method")
def build_t(x: Value) -> Value:
    """the transpose of a matrix; a vector as it is"""
    require(x.ndim <= 2, "shape", f"t takes a matrix, not shape {x.shape}", "use permute")
    return x.permute(1, 0) if x.ndim == 2 else x


@shaping("np.transpose numpy.transpose np.permute_dims numpy.permute_dims", "")
def numpy_transpose(x: Value, axes: Static = None) -> Value:
    """the axes reversed or in another order, as numpy has it"""
    return x.permute(*(reversed(range(x.ndim)) if axes is None else read_axes(axes, x.ndim)))


@shaping("expand broadcast_to", "torch numpy method", op=EXPAND)
def build_expand(x: Value, *shape: Static) -> Value:
    """repeated along axes of length 1 and new axes; -1 keeps a length"""
    wanted = whole_numbers(shape, "a length")
    lead = len(wanted) - x.ndim
    lengths = tuple(x.shape[i - lead] if n == -1 and i >= lead else n for i, n in enumerate(wanted))
    pairs = zip(x.shape, lengths[lead:], strict=True) if lead >= 0 else ()
    fits = lead >= 0 and all(m in (n, 1) for m, n in pairs)
    require(fits, "shape", f"shape {x.shape} does not expand to {wanted}")
    return x.expand(*lengths)


@shaping("flip", "torch numpy method", op=FLIP)
def build_flip(x: Value, *dims: Static, library: Library = "torch") -> Value:
    """the entries in reverse along the axes named, or along all"""
    named = bool(dims) and dims != (None,)
    if not named and library != "np":
        x.f.remark("numpy-only", "flip without dims: this is NumPy's answer, PyTorch needs them.")
    return x.of(FLIP, dims=read_axes(whole_numbers(dims, "an axis") if named else None, x.ndim))


@shaping("roll", "torch numpy method", op=ROLL)
def build_roll(x: Value, shifts: Static, dim: Static = None, library: Library = "torch") -> Value:
    """the entries moved round by shifts"""
    shift = whole_numbers(shifts if isinstance(shifts, tuple) else (shifts,), "a shift")
    require(shift or library == "np", "value", "roll needs shifts")
    if dim == () and library == "np":
        return x.clone()
    if dim is None or dim == ():
        require(dim is None or len(shift) <= 1, "shape", f"{counted(len(shift), 'shift')} for no axes")
        turned = x.flat.of(ROLL, shifts=(sum(shift),), dims=(0,))
        return turned if x.ndim == 1 else turned.reshape(*x.shape)
    axes = read_axes(dim, x.ndim)
    said = f"{counted(len(shift), 'shift')} for {counted(len(axes), 'axis')}"
    require(len(axes) == len(shift), "shape", said)
    return x.of(ROLL, shifts=shift, dims=axes)


@shaping("clone copy", "torch numpy method", op=CLONE)
def build_clone(x: Value) -> Value:
    """a copy that indexed assignment may change"""
    return x.clone()


# --- diagonals and triangles ---


@shaping("diag", "torch numpy method", op=DIAG)
def build_diag(x: Value, diagonal: int = 0) -> Value:
    """the matrix with a vector on its diagonal, or the diagonal of a matrix"""
    require(x.ndim in (1, 2), "shape", f"diag takes a vector or a matrix, not shape {x.shape}")
    return x.of(DIAG, k=diagonal)


@shaping("diagonal", "torch numpy method", op=DIAGONAL)
def build_diagonal(x: Value, offset: int = 0, dim1: Static = 0, dim2: Static = 1) -> Value:
    """the diagonal of a matrix, or of those that two axes span, on a last axis"""
    require(x.ndim >= 2, "shape", f"diagonal takes a matrix, not shape {x.shape}")
    axes = read_axes((dim1, dim2), x.ndim)
    order = (*axes, *(axis for axis in range(x.ndim) if axis not in axes))
    plane = x if order == tuple(range(x.ndim)) else x.permute(*order)
    return plane.of(DIAGONAL, offset=offset)


def triangle(op: Op, side: str) -> None:
    """Enter the lower or upper triangle of a matrix."""

    @shaping(op.name, "torch numpy method", op=op, doc=f"the matrix with zeros {side} the diagonal")
    def build(x: Value, diagonal: int = 0) -> Value:
        require(x.ndim >= 2, "shape", f"{op.name} takes a matrix, not shape {x.shape}")
        return x.of(op, k=diagonal)


triangle(TRIL, "above")
triangle(TRIU, "below")
