"""Norms of matrices that are not those of their entries: by singular values, and by sums of rows or columns."""

from __future__ import annotations

import math

from gradcli.errors import GradcliError
from gradcli.ops.axes import read_axes
from gradcli.ops.declare import Apply
from gradcli.ops.further.linear_singular import singular_values
from gradcli.ops.piecewise import ABS
from gradcli.ops.reductions import SUM
from gradcli.ops.selection import AMAX, AMIN
from gradcli.ops.shaping import RESHAPE, TRANSPOSE
from gradcli.ops.signatures import Static, Tensor


def of_matrix(f: Apply, x: Tensor, order: Static, dim: Static, keepdim: Static) -> Tensor:
    """Return the norm of the matrices in two axes; raises ``value`` for an order that is none of these."""
    if x.ndim < 2:
        raise GradcliError("shape", f"a norm of order {order!r} is that of a matrix, and the shape is {x.shape}")
    axes = read_axes(dim, x.ndim, "refused")
    if len(axes) != 2:
        raise GradcliError("shape", f"the norm of a matrix is over two axes, and not {len(axes)}", hint="dim=(0, 1)")
    if order not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf) or isinstance(order, bool):
        raise GradcliError(
            "value", f"a matrix has no norm of order {order!r}", hint='ord is "fro", "nuc", 1, -1, 2, -2, inf or -inf'
        )
    found = by_singular_values(f, x, order, axes) if order in ("nuc", 2, -2) else by_sums(f, x, float(order), axes)
    shape = tuple(1 if axis in axes else length for axis, length in enumerate(x.shape))
    return f(RESHAPE, found, shape=shape) if keepdim else found


def by_singular_values(f: Apply, x: Tensor, order: Static, axes: tuple[int, ...]) -> Tensor:
    """Return the sum, the largest or the smallest of the singular values."""
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    turned = x if (*rest, *axes) == tuple(range(x.ndim)) else f(TRANSPOSE, x, dims=(*rest, *axes))
    values = singular_values(f, turned)
    op = SUM if order == "nuc" else AMAX if order == 2 else AMIN
    return f(op, values, dim=(values.ndim - 1,), keepdim=False)


def by_sums(f: Apply, x: Tensor, order: float, axes: tuple[int, ...]) -> Tensor:
    """Return the largest or the smallest sum of sizes, down the columns for order 1 and along the rows for inf."""
    down, across = axes if abs(order) == 1 else axes[::-1]
    sums = f(SUM, f(ABS, x), dim=(down,), keepdim=False)
    return f(AMAX if order > 0 else AMIN, sums, dim=(across - (across > down),), keepdim=False)
