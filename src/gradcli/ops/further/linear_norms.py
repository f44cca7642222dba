"""Norms of matrices, by entries, by singular values and by sums of rows or columns, and distances of vectors."""

from __future__ import annotations

import math

import numpy as np

from gradcli.ops.axes import number, one_axis
from gradcli.ops.further.linear_singular import singular_values
from gradcli.ops.further.shapes import common_shape
from gradcli.ops.linear_algebra import require_square
from gradcli.ops.matrices import INV
from gradcli.ops.signatures import Static
from gradcli.ops.spread import NORM, matrix_norm, vector_norm
from gradcli.ops.values import Value, clamp_min, require
from gradcli.ops.vocabulary import function


@function(
    "linalg.vector_norm torch.linalg.vector_norm np.linalg.vector_norm numpy.linalg.vector_norm", "dtype", "reductions",
    op=NORM, kinds="no no yes",
)  # fmt: skip
def linalg_vector_norm(x: Value, ord: Static = 2, dim: Static = None, keepdim: bool = False) -> Value:
    """(sum(abs(x)**ord))**(1/ord) over all entries or along dim; its derivative at 0 is 0"""
    return vector_norm(x, ord, dim, keepdim)


@function("matrix_norm", "linalg dtype", "reductions")
def linalg_matrix_norm(x: Value, ord: Static = "fro", dim: Static = (-2, -1), keepdim: bool = False) -> Value:
    """the norm of a matrix: of all entries, of its singular values, or the largest sum of sizes"""
    return matrix_norm(x, ord, dim, keepdim)


@function("cond", "linalg", "reductions")
def cond(x: Value, p: Static = None) -> Value:
    """how far a matrix is from singular: its norm times that of its inverse"""
    if p in (None, 2, -2):
        values = singular_values(x)
        largest, least = values[..., 0], values[..., -1]
        return least / largest if p == -2 else largest / least
    require_square(x, "cond")
    axes = (x.ndim - 2, x.ndim - 1)
    return matrix_norm(x, p, axes, False) * matrix_norm(x.of(INV), p, axes, False)


@function("dist", "torch method tensors", "reductions", kinds="no no yes")
def dist(x: Value, other: Value, p: Static = 2) -> Value:
    """the norm of order p of x - other"""
    return vector_norm(x - other, p, None, False)


@function("cdist", "torch", "reductions", kinds="no no no")
def cdist(x1: Value, x2: Value, p: Static = 2, compute_mode: Static = None) -> Value:
    """the distances of every row of x1 from every row of x2, by the norm of order p"""
    del compute_mode
    fits = x1.ndim > 1 and x2.ndim > 1 and x1.shape[-1] == x2.shape[-1]
    require(fits, "shape", f"cdist takes rows of one length, not shapes {x1.shape} and {x2.shape}")
    require(number(p, "p") >= 0, "value", f"cdist: p cannot be negative: {p!r}")
    left = x1.reshape(*x1.shape[:-1], 1, x1.shape[-1])
    apart = left - x2.reshape(*x2.shape[:-2], 1, *x2.shape[-2:])
    if p == math.inf:
        sizes = np.abs(apart.numbers)
        at_top = (sizes == np.max(sizes, axis=-1, keepdims=True, initial=0.0)) & (sizes > 0)
        said = "cdist with p=inf where two distances are equal: PyTorch's gradient there is none of any norm"
        require(not np.any(np.count_nonzero(at_top, axis=-1) > 1), "value", said, hint="move a point a little")
    return vector_norm(apart, p, apart.ndim - 1, False)


@function("pairwise_distance", "torch functional", "neural", kinds="no no no")
def pairwise_distance(x1: Value, x2: Value, p: Static = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Value:
    """the norm of order p of x1 - x2 + eps, along the last axis"""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


@function("normalize", "functional", "neural", kinds="no no no")
def normalize(x: Value, p: Static = 2.0, dim: Static = 1, eps: float = 1e-12) -> Value:
    """x over its norm along dim, or over eps where that is larger"""
    length = vector_norm(x, p, dim, True)
    return x / (clamp_min(length, eps) if np.any(length.numbers <= eps) else length)


@function("cosine_similarity", "torch functional", "neural", kinds="no no no")
def cosine_similarity(x1: Value, x2: Value, dim: Static = 1, eps: float = 1e-8) -> Value:
    """the cosine of the angle between x1 and x2 along dim; a length below eps counts as eps"""
    shape = common_shape([x1.shape, x2.shape])
    axis = one_axis(dim, len(shape))
    axes = (axis,) if shape else ()

    def unit(x: Value) -> Value:
        whole = x if x.shape == shape else x.expand(*shape)
        length = whole.of(NORM, dim=axes, keepdim=True, p=2.0)
        if np.any(length.numbers < eps):
            # PyTorch raises a length to eps outside of the graph: the derivative is still that of the length.
            length = length + (clamp_min(length, eps) - length).detach()
        return whole / length

    return (unit(x1) * unit(x2)).sum(*axes)
