"""Diagonals and triangles of matrices."""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.ops.axes import read_axes, whole
from gradcli.ops.declare import Apply, Op
from gradcli.ops.shaping import DIAG, DIAGONAL, TRANSPOSE, TRIL, TRIU
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.vocabulary import function


@function("diag", "torch numpy method", "shaping", op=DIAG, kinds="same same yes")
def build_diag(f: Apply, x: Tensor, diagonal: Static = 0) -> Tensor:
    """the matrix with a vector on its diagonal, or the diagonal of a matrix"""
    if x.ndim not in (1, 2):
        raise GradcliError("shape", f"diag takes a vector or a matrix, not shape {x.shape}")
    return f(DIAG, x, k=whole(diagonal, "diagonal"))


@function("diagonal", "torch numpy method", "shaping", op=DIAGONAL, kinds="same same yes")
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


@function("tril", "torch numpy method", "shaping", op=TRIL, kinds="same same yes")
def build_tril(f: Apply, x: Tensor, diagonal: Static = 0) -> Tensor:
    """the matrix with zeros above the diagonal"""
    return triangle(TRIL, f, x, diagonal)


@function("triu", "torch numpy method", "shaping", op=TRIU, kinds="same same yes")
def build_triu(f: Apply, x: Tensor, diagonal: Static = 0) -> Tensor:
    """the matrix with zeros below the diagonal"""
    return triangle(TRIU, f, x, diagonal)
