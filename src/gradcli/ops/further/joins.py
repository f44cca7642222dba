"""Arrays put together: side by side, on a diagonal, in all combinations."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply
from gradcli.ops.further.shapes import MOVES, with_axes
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import STACK, build_cat
from gradcli.ops.shaping import CLONE, EXPAND, RESHAPE, whole
from gradcli.ops.signatures import Library, Static, Tensor, Tensors
from gradcli.ops.vocabulary import function


def some(tensors: Tensors, name: str) -> Tensors:
    """Return arrays; raises ``shape`` where there is none."""
    if not tensors:
        raise GradcliError("shape", f"{name} needs an array")
    return tensors


@function("hstack", "torch numpy", "shaping", kinds=MOVES)
def build_hstack(f: Apply, tensors: Tensors) -> Tensor:
    """arrays joined along the second axis, vectors along the first"""
    found = [with_axes(f, x, 1) for x in some(tensors, "hstack")]
    return build_cat(f, found, min(1, found[0].ndim - 1))


@function("vstack row_stack", "torch numpy", "shaping", kinds=MOVES)
def build_vstack(f: Apply, tensors: Tensors) -> Tensor:
    """arrays joined along the first axis, vectors as rows"""
    return build_cat(f, [with_axes(f, x, 2) for x in some(tensors, "vstack")], 0)


@function("dstack", "torch numpy", "shaping", kinds=MOVES)
def build_dstack(f: Apply, tensors: Tensors) -> Tensor:
    """arrays joined along a third axis"""
    return build_cat(f, [with_axes(f, x, 3) for x in some(tensors, "dstack")], 2)


@function("column_stack", "torch numpy", "shaping", kinds=MOVES)
def build_column_stack(f: Apply, tensors: Tensors) -> Tensor:
    """matrices side by side, vectors as columns"""
    columns = [f(RESHAPE, x, shape=(math.prod(x.shape), 1)) if x.ndim < 2 else x for x in tensors]
    return build_cat(f, some(columns, "column_stack"), 1)


@function("block_diag scipy.linalg.block_diag jax.scipy.linalg.block_diag", "torch", "shaping", kinds=MOVES)
def build_block_diag(f: Apply, *tensors: Tensor) -> Tensor:
    """matrices along the diagonal of one that is 0 elsewhere; a vector is a row"""
    blocks = [with_axes(f, x, 2) for x in some(tensors, "block_diag")]
    if any(block.ndim > 2 for block in blocks):
        raise GradcliError("shape", "block_diag takes matrices, vectors and numbers")
    width, left, rows = sum(block.shape[1] for block in blocks), 0, []
    f.charge(width * sum(block.shape[0] for block in blocks))
    for block in blocks:
        height, own = block.shape
        sides = [np.zeros((height, left)), block, np.zeros((height, width - left - own))]
        rows.append(build_cat(f, [side for side in sides if side.shape[1] or side is block], 1))
        left += own
    return build_cat(f, rows, 0)


@function("meshgrid", "torch numpy", "shaping", kinds=MOVES)
def build_meshgrid(f: Apply, *tensors: Tensor, indexing: Static = None, library: Library = "torch") -> Any:
    """vectors as arrays over the grid that they span; PyTorch's first is constant along rows, NumPy's along columns"""
    order = indexing or ("xy" if library == "np" else "ij")
    if order not in ("ij", "xy"):
        raise GradcliError("value", f"indexing is 'ij' or 'xy', not {order!r}")
    if any(x.ndim > 1 for x in tensors):
        raise GradcliError("shape", "meshgrid takes vectors")
    places = list(range(len(tensors)))
    if order == "xy" and len(places) > 1:
        places[:2] = 1, 0
    shape = [0] * len(tensors)
    for x, place in zip(tensors, places, strict=True):
        shape[place] = math.prod(x.shape)
    rows = [
        f(EXPAND, f(RESHAPE, x, shape=tuple(-1 if k == place else 1 for k in range(len(shape)))), shape=tuple(shape))
        for x, place in zip(tensors, places, strict=True)
    ]
    return tuple(rows if library == "torch" else [f(CLONE, row) for row in rows])


@function("cartesian_prod", "torch", "shaping", kinds=MOVES)
def build_cartesian_prod(f: Apply, *tensors: Tensor) -> Tensor:
    """all combinations of an entry of each vector, as rows"""
    if any(x.ndim != 1 for x in some(tensors, "cartesian_prod")):
        raise GradcliError("shape", "cartesian_prod takes vectors")
    if len(tensors) == 1:
        return tensors[0]
    lengths = [x.shape[0] for x in tensors]
    f.charge(math.prod(lengths) * len(lengths))
    places = np.indices(lengths).reshape(len(lengths), -1)
    return f(STACK, *[f(INDEX, x, key=place) for x, place in zip(tensors, places, strict=True)], dim=1)


@function("combinations", "torch", "shaping", kinds=MOVES)
def build_combinations(f: Apply, x: Tensor, r: Static = 2, with_replacement: Static = False) -> Tensor:
    """all choices of r entries of a vector, in their order, as rows"""
    count = whole(r, "r")
    if x.ndim != 1 or count < 0:
        raise GradcliError("shape", f"combinations takes a vector, and r of 0 or more: {x.shape}, {count}")
    if not count:
        return np.zeros(0)
    n = x.shape[0]
    f.charge(count * math.comb(n + count - 1 if with_replacement else n, count) if n else 0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return f(INDEX, x, key=np.array([*choose(range(n), count)], dtype=np.intp).reshape(-1, count))
