"""Functions that move entries: indexing, reshaping, stacking, repeating. Every entry of the output is one of the input.

All of them share one local reading, and one vjp where no shorter rule exists: the op is run once more on the numbers
of the entries, 1 for the first, and where it puts which number says where each entry went; 0 marks a fill.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.ops.declare import NO_ENTRIES, Apply, Entries, Op, Text, declare, value_of
from gradcli.ops.links import Array, Forward, Indices, Library, Links, Local, Options, Rule, Static, Tensor, Vjp
from gradcli.ops.values import cloned, one_axis, read_axes, whole
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

    def local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
        del out
        origin = np.ravel(forward(*number_entries(values, argument), **static))
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
    return declare(Op(name, forward, vjps, local, entries=entries, **record))


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


def transpose_matrices(f: Apply, x: Tensor) -> Tensor:
    """Return a matrix transposed, or each of a batch: the last two axes swapped."""
    return f(TRANSPOSE, x, dims=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


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
    known = math.prod(length for length in shape if length != -1)
    free = shape.count(-1)
    fits = known == size if not free else free == 1 and known > 0 and size % known == 0
    if not fits or any(length < -1 for length in shape):
        raise GradcliError("shape", f"{counted(size, 'entry')} cannot have the shape {shape}")
    return tuple(size // known if length == -1 else length for length in shape)


@function("reshape view np.reshape numpy.reshape torch.reshape", "method", "shaping", op=RESHAPE, kinds=KEPT)
def build_reshape(f: Apply, x: Tensor, *shape: Static) -> Tensor:
    """the same entries in another shape; one length may be -1"""
    return f(RESHAPE, x, shape=checked_shape(math.prod(x.shape), whole_numbers(shape, "a length")))


@function("ravel", "torch numpy method", "shaping", kinds=KEPT)
def build_ravel(f: Apply, x: Tensor) -> Tensor:
    """the entries in one row"""
    return f(RESHAPE, without_gaps(f, x), shape=(math.prod(x.shape),))


def without_gaps(f: Apply, x: Tensor) -> Tensor:
    """Return an array as it is where it lies in memory without gaps, or its axes in another order; else a copy."""
    numbers = value_of(x)
    steps = [step for step, length in zip(getattr(numbers, "strides", ()), x.shape, strict=True) if length > 1]
    gaps = isinstance(numbers, np.ndarray) and not numbers.flags.c_contiguous
    return f(CLONE, x) if gaps and steps == sorted(steps, reverse=True) else x


@function("flatten", "torch method", "shaping", kinds=KEPT)
def build_flatten(f: Apply, x: Tensor, start_dim: Static = 0, end_dim: Static = -1) -> Tensor:
    """the axes from start_dim to end_dim made one"""
    first, last = one_axis(start_dim, x.ndim), one_axis(end_dim, x.ndim)
    if first > last:
        raise GradcliError("value", f"flatten: start_dim={start_dim} comes after end_dim={end_dim}")
    middle = math.prod(x.shape[first : last + 1])
    return f(RESHAPE, x, shape=(*x.shape[:first], middle, *x.shape[last + 1 :]))


@function("squeeze", "torch numpy method", "shaping", kinds=KEPT)
def build_squeeze(f: Apply, x: Tensor, dim: Static = None) -> Tensor:
    """without the axes of length 1, or without axis dim if its length is 1"""
    axes = read_axes(dim, x.ndim)
    return f(RESHAPE, x, shape=tuple(n for axis, n in enumerate(x.shape) if not (axis in axes and n == 1)))


@function("unsqueeze expand_dims", "torch numpy method", "shaping", kinds=KEPT)
def build_unsqueeze(f: Apply, x: Tensor, dim: Static, library: Library = "torch") -> Tensor:
    """with a new axis of length 1, or in NumPy with several"""
    dims = dim if isinstance(dim, tuple) else (dim,)
    if isinstance(dim, tuple) and library == "torch":
        if not dim:
            raise GradcliError("value", "unsqueeze takes an axis, and not none")
        f.remark("numpy-only", "unsqueeze along several axes: this is NumPy's answer, PyTorch adds one at a time.")
    axes, lengths = read_axes(tuple(dims), x.ndim + len(dims)), iter(x.shape)
    return f(RESHAPE, x, shape=tuple(1 if k in axes else next(lengths) for k in range(x.ndim + len(dims))))


@function("permute", "torch method", "shaping", op=TRANSPOSE, kinds=KEPT)
def build_permute(f: Apply, x: Tensor, *dims: Static) -> Tensor:
    """the axes in another order"""
    order = read_axes(whole_numbers(dims, "an axis"), x.ndim)
    if len(order) != x.ndim:
        raise GradcliError("shape", f"permute needs all {counted(x.ndim, 'axis')}, {len(order)} given")
    return f(TRANSPOSE, x, dims=order)


@function("transpose swapaxes", "torch method", "shaping", kinds=KEPT)
def build_transpose(
    f: Apply, x: Tensor, dim0: Static = None, dim1: Static = None, dim2: Static = None, dim3: Static = None
) -> Tensor:
    """two axes swapped; all axes reversed where none is named, and as numpy has it in the order of three or four"""
    if dim2 is not None:
        f.remark("numpy-only", "transpose with more than two axes: this is NumPy's answer, PyTorch has permute for it.")
        return build_permute(f, x, *(axis for axis in (dim0, dim1, dim2, dim3) if axis is not None))
    if dim1 is None:
        return f(TRANSPOSE, x, dims=tuple(reversed(range(x.ndim))) if dim0 is None else read_axes(dim0, x.ndim))
    order = list(range(x.ndim))
    first, second = one_axis(dim0, x.ndim), one_axis(dim1, x.ndim)
    if order:
        order[first], order[second] = order[second], order[first]
    return f(TRANSPOSE, x, dims=tuple(order))


@function("t", "torch method", "shaping", kinds=KEPT)
def build_t(f: Apply, x: Tensor) -> Tensor:
    """the transpose of a matrix; a vector as it is"""
    if x.ndim > 2:
        raise GradcliError("shape", f"t takes a matrix, not shape {x.shape}", hint="use permute")
    return f(TRANSPOSE, x, dims=(1, 0)) if x.ndim == 2 else x


@function("np.transpose numpy.transpose np.permute_dims numpy.permute_dims", "", "shaping", kinds=KEPT)
def build_numpy_transpose(f: Apply, x: Tensor, axes: Static = None) -> Tensor:
    """the axes reversed or in another order, as numpy has it"""
    return f(TRANSPOSE, x, dims=tuple(reversed(range(x.ndim))) if axes is None else read_axes(axes, x.ndim))


@function("expand broadcast_to", "torch numpy method", "shaping", op=EXPAND, kinds=KEPT)
def build_expand(f: Apply, x: Tensor, *shape: Static) -> Tensor:
    """repeated along axes of length 1 and new axes; -1 keeps a length"""
    wanted = whole_numbers(shape, "a length")
    lead = len(wanted) - x.ndim
    lengths = tuple(x.shape[i - lead] if n == -1 and i >= lead else n for i, n in enumerate(wanted))
    if lead < 0 or any(
        n not in (m, lengths[i + lead]) or n != m != 1
        for i, (m, n) in enumerate(zip(x.shape, lengths[lead:], strict=True))
    ):
        raise GradcliError("shape", f"shape {x.shape} does not expand to {wanted}")
    return f(EXPAND, x, shape=lengths)


@function("flip", "torch numpy method", "shaping", op=FLIP, kinds=KEPT)
def build_flip(f: Apply, x: Tensor, *dims: Static, library: Library = "torch") -> Tensor:
    """the entries in reverse along the axes named, or along all"""
    if (not dims or dims == (None,)) and library != "np":
        f.remark("numpy-only", "flip without dims: this is NumPy's answer, PyTorch needs them.")
    return f(FLIP, x, dims=read_axes(whole_numbers(dims, "an axis") if dims and dims != (None,) else None, x.ndim))


@function("roll", "torch numpy method", "shaping", op=ROLL, kinds=KEPT)
def build_roll(f: Apply, x: Tensor, shifts: Static, dim: Static = None, library: Library = "torch") -> Tensor:
    """the entries moved round by shifts"""
    shift = whole_numbers(shifts if isinstance(shifts, tuple) else (shifts,), "a shift")
    if not shift and library != "np":
        raise GradcliError("value", "roll needs shifts")
    if dim == () and library == "np":
        return f(CLONE, x)
    if dim is None or dim == ():
        if dim == () and len(shift) > 1:
            raise GradcliError("shape", f"{counted(len(shift), 'shift')} for no axes")
        flat = x if x.ndim == 1 else f(RESHAPE, x, shape=(-1,))
        turned = f(ROLL, flat, shifts=(sum(shift),), dims=(0,))
        return turned if x.ndim == 1 else f(RESHAPE, turned, shape=x.shape)
    axes = read_axes(dim, x.ndim)
    if len(axes) != len(shift):
        raise GradcliError("shape", f"{counted(len(shift), 'shift')} for {counted(len(axes), 'axis')}")
    return f(ROLL, x, shifts=shift, dims=axes)


@function("clone copy", "torch numpy method", "shaping", op=CLONE, kinds=KEPT)
def build_clone(f: Apply, x: Tensor) -> Tensor:
    """a copy that indexed assignment may change"""
    return f(CLONE, x)


# --- diagonals and triangles ---


@function("diag", "torch numpy method", "shaping", op=DIAG, kinds=KEPT)
def build_diag(f: Apply, x: Tensor, diagonal: Static = 0) -> Tensor:
    """the matrix with a vector on its diagonal, or the diagonal of a matrix"""
    if x.ndim not in (1, 2):
        raise GradcliError("shape", f"diag takes a vector or a matrix, not shape {x.shape}")
    return f(DIAG, x, k=whole(diagonal, "diagonal"))


@function("diagonal", "torch numpy method", "shaping", op=DIAGONAL, kinds=KEPT)
def build_diagonal(f: Apply, x: Tensor, offset: Static = 0, dim1: Static = 0, dim2: Static = 1) -> Tensor:
    """the diagonal of a matrix, or of those that two axes span, on a last axis"""
    if x.ndim < 2:
        raise GradcliError("shape", f"diagonal takes a matrix, not shape {x.shape}")
    axes = read_axes((dim1, dim2), x.ndim)
    order = (*axes, *(axis for axis in range(x.ndim) if axis not in axes))
    plane = x if order == tuple(range(x.ndim)) else f(TRANSPOSE, x, dims=order)
    return f(DIAGONAL, plane, offset=whole(offset, "offset"))


def triangle(op: Op, f: Apply, x: Tensor, diagonal: Static) -> Tensor:
    """Return the lower or upper triangle of a matrix."""
    if x.ndim < 2:
        raise GradcliError("shape", f"{op.name} takes a matrix, not shape {x.shape}")
    return f(op, x, k=whole(diagonal, "diagonal"))


@function("tril", "torch numpy method", "shaping", op=TRIL, kinds=KEPT)
def build_tril(f: Apply, x: Tensor, diagonal: Static = 0) -> Tensor:
    """the matrix with zeros above the diagonal"""
    return triangle(TRIL, f, x, diagonal)


@function("triu", "torch numpy method", "shaping", op=TRIU, kinds=KEPT)
def build_triu(f: Apply, x: Tensor, diagonal: Static = 0) -> Tensor:
    """the matrix with zeros below the diagonal"""
    return triangle(TRIU, f, x, diagonal)
