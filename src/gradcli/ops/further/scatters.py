"""Entries written, added or reduced into copies of an array: ``scatter``, ``index_add``, ``index_put`` and their kind.

What is written is a write by index. What is added up, multiplied or compared is a table: a row for each entry, with
what is put there beside what it holds, reduced along its rows, so that ties and zeros are those of the reductions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import DIV, MUL
from gradcli.ops.axes import number, one_axis
from gradcli.ops.declare import Apply, Op, value_of
from gradcli.ops.facts import Facts
from gradcli.ops.further.picks import open_key
from gradcli.ops.further.positions import positions, truths, within
from gradcli.ops.further.shapes import MOVES, common_shape
from gradcli.ops.indexing import INDEX, PUT
from gradcli.ops.joining import CAT
from gradcli.ops.reductions import PROD_ALONG, SUM
from gradcli.ops.selection import AMAX, AMIN
from gradcli.ops.shaping import CLONE, EXPAND, RESHAPE, whole
from gradcli.ops.signatures import Indices, Raw, Raws, Static, Tensor
from gradcli.ops.vocabulary import function

REDUCTIONS: dict[str, tuple[Op, float]] = {
    "sum": (SUM, 0.0),
    "mean": (SUM, 0.0),
    "prod": (PROD_ALONG, 1.0),
    "amax": (AMAX, -math.inf),
    "amin": (AMIN, math.inf),
}
"""By name: the reduction, and the number that changes nothing in it."""
GIVEN = {"x": "1.5,2.5,4", "s": "3,4.5"}, "1,10,100"


def written(program: str, formula: str, by_x: str, by_s: str) -> Facts:
    """Return the facts of a function that puts the entries of s into a copy of x."""
    return Facts(formula, (f"{by_x}, here", f"{by_s}, here"), program, *GIVEN)


AT_ENDS = (
    "y[i] = where(i == 1, x[i], s[i//2]), here",
    "dy[i]/dx[i] = where(i == 1, 1, 0)",
    "dy[i]/ds[j] = where(i == 2*j, 1, 0)",
)
ADDED = (
    "y[i] = x[i] + where(i == 1, 0, s[i//2]), here",
    "dy[i]/dx[i] = 1",
    "dy[i]/ds[j] = where(i == 2*j, 1, 0)",
)


def reduced(f: Apply, x: Tensor, places: Indices, source: Tensor, kind: str, include_self: bool = True) -> Tensor:
    """Return x with the entries of ``source`` reduced into those at flat ``places``.

    ``include_self`` says whether what x holds there counts. Both arrays are taken in flat order.
    """
    if kind not in REDUCTIONS:
        raise GradcliError("value", f"reduce is one of {', '.join(REDUCTIONS)}, not {kind!r}")
    op, neutral = REDUCTIONS[kind]
    size, count = math.prod(x.shape), int(np.size(places))
    times = np.bincount(np.ravel(places), minlength=size)
    most = int(np.max(times, initial=0))
    if not most:
        return f(CLONE, x)
    f.charge(size * (most + 1))
    table = np.full((size, most + 1), size + count)
    table[:, 0] = np.where((times > 0) & (not include_self), size + count, np.arange(size))
    order = np.argsort(np.ravel(places), kind="stable")
    row = np.ravel(places)[order]
    table[row, 1 + np.arange(count) - np.searchsorted(row, row)] = size + order
    flat = [f(RESHAPE, part, shape=(-1,)) for part in (x, source)]
    pool = f(CAT, *flat, np.array([neutral]), dim=0)
    found = f(op, f(INDEX, pool, key=table), dim=(1,), keepdim=False)
    if kind == "mean":
        found = f(DIV, found, np.maximum(times + include_self, 1).astype(np.float64))
    if kind in ("amax", "amin") and not include_self and np.any((value_of(flat[0]) == value_of(found)) & (times > 0)):
        f.remark(
            "torch-differs",
            "The extreme is also what x holds there, which does not take part: PyTorch counts it among those that share "
            "the gradient and drops its share. Here the others share all of it.",
        )
    return f(RESHAPE, found, shape=x.shape)


def flat_places(x: Tensor, key: Any) -> Indices:
    """Return the places in flat order of the entries that an index picks."""
    return np.arange(math.prod(x.shape)).reshape(x.shape)[key]


def scattered(f: Apply, x: Tensor, dim: Static, index: Raw, source: Tensor, name: str) -> tuple[Any, Tensor]:
    """Return the key of the entries of x at positions along an axis, and as many of ``source``."""
    places, axis = positions(f, index), one_axis(dim, x.ndim)
    if not x.ndim:
        within(places, 1, name)
        return (), f(RESHAPE, source, shape=())
    if places.ndim != x.ndim or (source.ndim and source.ndim != x.ndim):
        raise GradcliError(
            "shape", f"{name}: the array has shape {x.shape}, the index {places.shape}, the source {source.shape}"
        )
    sides = [(n, m) for k, (n, m) in enumerate(zip(places.shape, x.shape, strict=True)) if k != axis]
    if any(n > m for n, m in (*sides, *(zip(places.shape, source.shape, strict=True) if source.ndim else ()))):
        raise GradcliError("shape", f"{name}: an index of shape {places.shape} is larger than the array or the source")
    key = open_key(within(places, x.shape[axis], name), axis)
    if not source.ndim:
        return key, source
    if source.shape != places.shape and getattr(source, "active", False):
        f.remark("torch-refuses", f"{name}: the source is larger than the index, at which backward of PyTorch raises.")
    return key, f(INDEX, source, key=tuple(slice(length) for length in places.shape))


@function("scatter", "torch method", "indices", kinds=MOVES, facts=written(
    "scatter(x, 0, torch.tensor([0, 2]), s)", *AT_ENDS
))  # fmt: skip
def build_scatter(
    f: Apply,
    x: Tensor,
    dim: Static,
    index: Raw,
    src: Tensor | None = None,
    value: Static = None,
    reduce: Static = None,
) -> Tensor:
    """a copy of x with the entries of src written at the positions along an axis"""
    source = np.asarray(number(value, "value")) if src is None else src
    key, part = scattered(f, x, dim, index, source, "scatter")
    if reduce is None:
        return f(PUT, x, part, key=key)
    if reduce not in ("add", "multiply"):
        raise GradcliError("value", f"reduce is 'add' or 'multiply', not {reduce!r}")
    if getattr(x, "active", False) or getattr(part, "active", False):
        f.remark("torch-refuses", "PyTorch has no derivative of scatter with reduce; scatter_reduce has one.")
    places = flat_places(x, key)
    spread = f(EXPAND, part, shape=places.shape) if np.shape(places) else part
    return reduced(f, x, places, spread, "sum" if reduce == "add" else "prod")


@function("scatter_add", "torch method", "indices", kinds=MOVES, facts=written(
    "scatter_add(x, 0, torch.tensor([0, 2]), s)", *ADDED
))  # fmt: skip
def build_scatter_add(f: Apply, x: Tensor, dim: Static, index: Raw, src: Tensor) -> Tensor:
    """a copy of x with the entries of src added at the positions along an axis"""
    key, part = scattered(f, x, dim, index, src, "scatter_add")
    return reduced(f, x, flat_places(x, key), part, "sum")


@function("scatter_reduce", "torch method", "indices", kinds=MOVES, facts=written(
    'scatter_reduce(x, 0, torch.tensor([0, 2]), s, "sum")', *ADDED
))  # fmt: skip
def build_scatter_reduce(
    f: Apply, x: Tensor, dim: Static, index: Raw, src: Tensor, reduce: Static, include_self: Static = True
) -> Tensor:
    """a copy of x with the entries of src reduced into those at the positions: sum, prod, mean, amax or amin"""
    key, part = scattered(f, x, dim, index, src, "scatter_reduce")
    return reduced(f, x, flat_places(x, key), part, str(reduce), bool(include_self))


def layer_key(f: Apply, x: Tensor, dim: Static, index: Raw, name: str) -> Any:
    """Return the key of the layers of an axis at positions."""
    places = positions(f, index)
    if places.ndim > 1:
        raise GradcliError("shape", f"{name}: the index is a vector, not of shape {places.shape}")
    if not x.ndim:
        within(places, 1, name)
        return ()
    axis = one_axis(dim, x.ndim)
    return (*[slice(None)] * axis, within(np.atleast_1d(places), x.shape[axis], name))


def fitting(f: Apply, x: Tensor, key: Any, source: Tensor, name: str) -> Tensor:
    """Return ``source`` where it has the shape of what is written at ``key``; raises ``shape`` otherwise."""
    wanted = np.shape(flat_places(x, key))
    if source.shape != wanted and math.prod(source.shape) == math.prod(wanted) and 0 in (source.ndim, len(wanted)):
        return f(RESHAPE, source, shape=wanted)
    if source.shape != wanted:
        raise GradcliError("shape", f"{name}: the source has shape {source.shape}, and {wanted} are written")
    return source


@function("index_add", "torch method", "indices", kinds=MOVES, facts=written(
    "index_add(x, 0, torch.tensor([0, 2]), s)", *ADDED
))  # fmt: skip
def build_index_add(
    f: Apply, x: Tensor, dim: Static, index: Raw, source: Tensor, alpha: Tensor | None = None
) -> Tensor:
    """a copy of x with the layers of source, alpha times each, added at the positions"""
    key = layer_key(f, x, dim, index, "index_add")
    part = fitting(f, x, key, source, "index_add")
    times = part if alpha is None else f(MUL, part, alpha)
    return reduced(f, x, flat_places(x, key), times, "sum")


@function("index_reduce", "torch method", "indices", kinds=MOVES, facts=Facts(
    "the layers of s are multiplied into those of x at the positions", ("dy[1]/dx[1] = 1", "dy[0]/ds[0] = x[0]"),
    'index_reduce(x, 0, torch.tensor([0, 2]), s, "prod")', *GIVEN,
))  # fmt: skip
def build_index_reduce(
    f: Apply, x: Tensor, dim: Static, index: Raw, source: Tensor, reduce: Static, include_self: Static = True
) -> Tensor:
    """a copy of x with the layers of source reduced into those at the positions: prod, mean, amax or amin"""
    if reduce == "sum":
        raise GradcliError("value", "index_reduce has no sum", hint="index_add adds up")
    key = layer_key(f, x, dim, index, "index_reduce")
    part = fitting(f, x, key, source, "index_reduce")
    return reduced(f, x, flat_places(x, key), part, str(reduce), bool(include_self))


@function("index_copy", "torch method", "indices", kinds=MOVES, facts=written(
    "index_copy(x, 0, torch.tensor([0, 2]), s)", *AT_ENDS
))  # fmt: skip
def build_index_copy(f: Apply, x: Tensor, dim: Static, index: Raw, source: Tensor) -> Tensor:
    """a copy of x with the layers of source written at the positions"""
    key = layer_key(f, x, dim, index, "index_copy")
    return f(PUT, x, fitting(f, x, key, source, "index_copy"), key=key)


@function("index_fill", "torch method", "indices", kinds=MOVES, facts=Facts(
    "y[i] = where(i == 1, x[i], 0), here", ("dy[i]/dx[i] = where(i == 1, 1, 0), here",),
    "index_fill(x, 0, torch.tensor([0, 2]), 0.0)", {"x": "1.5,2.5,4"}, "1,10,100",
))  # fmt: skip
def build_index_fill(f: Apply, x: Tensor, dim: Static, index: Raw, value: Tensor) -> Tensor:
    """a copy of x with one number in the layers at the positions"""
    if value.ndim:
        raise GradcliError("shape", f"index_fill takes one number, not shape {value.shape}")
    key = layer_key(f, x, dim, index, "index_fill")
    places = np.unique(flat_places(x, key))
    spread = np.unravel_index(places, x.shape)
    return f(PUT, x, value, key=spread if x.ndim else ())


@function("index_put", "torch method", "indices", kinds=MOVES, facts=written(
    "index_put(x, (torch.tensor([0, 2]),), s)", *AT_ENDS
))  # fmt: skip
def build_index_put(f: Apply, x: Tensor, indices: Raws, values: Tensor, accumulate: Static = False) -> Tensor:
    """a copy of x with values written at an index, or added"""
    key = tuple(part_of(f, part) for part in indices)
    try:
        places = flat_places(x, key)
        common = np.broadcast_shapes(np.shape(places), values.shape)
    except (IndexError, ValueError) as error:
        raise GradcliError("index", f"index_put: {error}; the array has shape {x.shape}") from None
    if common != np.shape(places):
        raise GradcliError("shape", f"index_put: values of shape {values.shape} for {np.shape(places)} entries")
    if not accumulate:
        return f(PUT, x, values, key=key)
    return reduced(f, x, places, f(EXPAND, values, shape=np.shape(places)), "sum")


def part_of(f: Apply, part: Raw) -> Any:
    """Return one part of an index: positions or a mask."""
    found = np.asarray(getattr(part, "value", part))
    return found if found.dtype == np.bool_ else positions(f, part)


@function("put", "not-bare method", "indices", kinds=MOVES, facts=written(
    "x.put(torch.tensor([0, 2]), s)", *AT_ENDS
))  # fmt: skip
def build_put(f: Apply, x: Tensor, index: Raw, source: Tensor, accumulate: Static = False) -> Tensor:
    """a copy of x with the entries of source written, or added, at the positions in one row"""
    size = math.prod(x.shape)
    places = within(positions(f, index), size, "put", -size) % max(size, 1)
    if math.prod(source.shape) != places.size:
        raise GradcliError("shape", f"put: {places.size} positions for a source of shape {source.shape}")
    part = f(RESHAPE, source, shape=places.shape)
    if accumulate:
        return reduced(f, x, places, part, "sum")
    flat = f(RESHAPE, x, shape=(size,))
    return f(RESHAPE, f(PUT, flat, part, key=places), shape=x.shape)


@function("masked_scatter", "torch method", "indices", kinds=MOVES, facts=written(
    "masked_scatter(x, torch.tensor([True, False, True]), s)", *AT_ENDS
))  # fmt: skip
def build_masked_scatter(f: Apply, x: Tensor, mask: Raw, source: Tensor) -> Tensor:
    """a copy of x with the entries of source, in their order, where the mask is true"""
    held = truths(mask, "masked_scatter")
    shape = common_shape([x.shape, held.shape])
    key = np.broadcast_to(held, shape)
    count = int(np.count_nonzero(key))
    if math.prod(source.shape) < count:
        raise GradcliError("shape", f"masked_scatter: {count} entries of a source of shape {source.shape} are needed")
    part = f(INDEX, f(RESHAPE, source, shape=(-1,)), key=slice(count))
    return f(PUT, f(EXPAND, x, shape=shape) if x.shape != shape else x, part, key=key)


def embed(f: Apply, x: Tensor, src: Tensor, key: Any, name: str) -> Tensor:
    """Return a copy of x with ``src`` written at a basic index; raises ``shape`` unless it fits."""
    return f(PUT, x, fitting(f, x, key, src, name), key=key)


@function("select_scatter", "torch method", "indices", kinds=MOVES, facts=Facts(
    "y[i,j] = where(i == 1, s[j], x[i,j]), here",
    ("dy[i,j]/dx[i,j] = where(i == 1, 0, 1), here", "dy[1,j]/ds[j] = 1"),
    "select_scatter(x, s, 0, 1)", {"x": "2.5,1;3,4", "s": "3,4.5"}, "1,2;3,4",
))  # fmt: skip
def build_select_scatter(f: Apply, x: Tensor, src: Tensor, dim: Static, index: Static) -> Tensor:
    """a copy of x with one layer of an axis replaced"""
    axis = one_axis(dim, x.ndim)
    place = whole(index, "a place")
    if not x.ndim or not -x.shape[axis] <= place < x.shape[axis]:
        raise GradcliError("index", f"select_scatter: place {place} is out of range for shape {x.shape}")
    return embed(f, x, src, (*[slice(None)] * axis, place), "select_scatter")


@function("slice_scatter", "torch method", "indices", kinds=MOVES, facts=written(
    "slice_scatter(x, s, 0, 0, 3, 2)", *AT_ENDS
))  # fmt: skip
def build_slice_scatter(
    f: Apply, x: Tensor, src: Tensor, dim: Static = 0, start: Static = None, end: Static = None, step: Static = 1
) -> Tensor:
    """a copy of x with a slice of an axis replaced"""
    if not x.ndim or whole(step, "step") < 1:
        raise GradcliError("value", f"slice_scatter takes an axis and a step of 1 or more: {x.shape}, {step!r}")
    first, last = (None if bound is None else whole(bound, "a bound") for bound in (start, end))
    key = (*[slice(None)] * one_axis(dim, x.ndim), slice(first, last, whole(step, "step")))
    return embed(f, x, src, key, "slice_scatter")


@function("diagonal_scatter", "torch method", "indices", kinds=MOVES, facts=Facts(
    "y[i,j] = where(i == j, s[i], x[i,j]), here",
    ("dy[i,j]/dx[i,j] = where(i == j, 0, 1), here", "dy[i,i]/ds[i] = 1"),
    "diagonal_scatter(x, s)", {"x": "2.5,1;3,4", "s": "3,4.5"}, "1,2;3,4",
))  # fmt: skip
def build_diagonal_scatter(
    f: Apply, x: Tensor, src: Tensor, offset: Static = 0, dim1: Static = 0, dim2: Static = 1
) -> Tensor:
    """a copy of x with a diagonal replaced"""
    first, second = one_axis(dim1, x.ndim), one_axis(dim2, x.ndim)
    if first == second or x.ndim < 2:
        raise GradcliError("shape", f"diagonal_scatter takes two axes of shape {x.shape}")
    places = np.diagonal(flat_places(x, ...), whole(offset, "offset"), first, second)
    if src.shape != places.shape:
        raise GradcliError("shape", f"diagonal_scatter: the source has shape {src.shape}, the diagonal {places.shape}")
    return f(PUT, x, src, key=np.unravel_index(places, x.shape))
