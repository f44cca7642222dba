"""Entries written, added or reduced into copies of an array: ``scatter``, ``index_add``, ``index_put`` and their kind.

What is written is a write by index. What is added up, multiplied or compared is a table: a row for each entry, with
what is put there beside what it holds, reduced along its rows, so that ties and zeros are those of the reductions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.arithmetic import DIV, MUL
from gradcli.ops.axes import number, one_axis
from gradcli.ops.declare import Apply, Op, value_of
from gradcli.ops.further.picks import open_key
from gradcli.ops.further.positions import positions, within
from gradcli.ops.further.shapes import MOVES
from gradcli.ops.indexing import INDEX, PUT
from gradcli.ops.joining import CAT
from gradcli.ops.reductions import PROD_ALONG, SUM
from gradcli.ops.selection import AMAX, AMIN
from gradcli.ops.shaping import CLONE, EXPAND, RESHAPE
from gradcli.ops.signatures import Indices, Raw, Static, Tensor
from gradcli.ops.vocabulary import function

REDUCTIONS: dict[str, tuple[Op, float]] = {
    "sum": (SUM, 0.0),
    "mean": (SUM, 0.0),
    "prod": (PROD_ALONG, 1.0),
    "amax": (AMAX, -math.inf),
    "amin": (AMIN, math.inf),
}
"""By name: the reduction, and the number that changes nothing in it."""


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
    flat = [part if part.ndim == 1 else f(RESHAPE, part, shape=(-1,)) for part in (x, source)]
    pool = f(CAT, *flat, np.array([neutral]), dim=0)
    found = f(op, f(INDEX, pool, key=table), dim=(1,), keepdim=False)
    if kind == "mean":
        found = f(DIV, found, np.maximum(times + include_self, 1).astype(np.float64))
    if kind in ("amax", "amin") and not include_self and np.any((value_of(flat[0]) == value_of(found)) & (times > 0)):
        f.remark(
            "torch-differs",
            "The extreme is also what x holds there, which does not take part: PyTorch counts it among those that "
            "share the gradient and drops its share. Here the others share all of it.",
        )
    return found if x.ndim == 1 else f(RESHAPE, found, shape=x.shape)


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
    if source.shape in ((), places.shape):
        return key, source
    if getattr(source, "active", False):
        f.remark("torch-refuses", f"{name}: the source is larger than the index, at which backward of PyTorch raises.")
    return key, f(INDEX, source, key=tuple(slice(length) for length in places.shape))


@function("scatter", "torch method", "indices", kinds=MOVES)
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


@function("scatter_add", "torch method", "indices", kinds=MOVES)
def build_scatter_add(f: Apply, x: Tensor, dim: Static, index: Raw, src: Tensor) -> Tensor:
    """a copy of x with the entries of src added at the positions along an axis"""
    key, part = scattered(f, x, dim, index, src, "scatter_add")
    return reduced(f, x, flat_places(x, key), part, "sum")


@function("scatter_reduce", "torch method", "indices", kinds=MOVES)
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
    axis = one_axis(dim, x.ndim)
    if not x.ndim:
        if within(places, 1, name).size != 1:
            raise GradcliError("shape", f"{name}: {counted(places.size, 'position')} in one number")
        return ()
    return (*[slice(None)] * axis, within(np.atleast_1d(places), x.shape[axis], name))


def fitting(f: Apply, x: Tensor, key: Any, source: Tensor, name: str) -> Tensor:
    """Return ``source`` where it has the shape of what is written at ``key``; raises ``shape`` otherwise."""
    wanted = np.shape(flat_places(x, key))
    if source.shape != wanted and math.prod(source.shape) == math.prod(wanted) and 0 in (source.ndim, len(wanted)):
        return f(RESHAPE, source, shape=wanted)
    if source.shape != wanted:
        raise GradcliError("shape", f"{name}: the source has shape {source.shape}, and {wanted} are written")
    return source


@function("index_add", "torch method", "indices", kinds=MOVES)
def build_index_add(
    f: Apply, x: Tensor, dim: Static, index: Raw, source: Tensor, alpha: Tensor | None = None
) -> Tensor:
    """a copy of x with the layers of source, alpha times each, added at the positions"""
    key = layer_key(f, x, dim, index, "index_add")
    part = fitting(f, x, key, source, "index_add")
    times = part if alpha is None else f(MUL, part, alpha)
    return reduced(f, x, flat_places(x, key), times, "sum")
