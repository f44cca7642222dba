"""Norms of matrices, and distances of vectors."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MUL, SUB
from gradcli.ops.axes import number, one_axis
from gradcli.ops.declare import Apply, value_of
from gradcli.ops.further.linear_singular import singular_values
from gradcli.ops.indexing import INDEX
from gradcli.ops.linear_algebra import require_square
from gradcli.ops.making import DETACH
from gradcli.ops.matrices import INV
from gradcli.ops.piecewise import CLAMP_MIN
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import EXPAND, RESHAPE
from gradcli.ops.signatures import Array, Static, Tensor
from gradcli.ops.spread import NORM, matrix_norm, vector_norm
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


@function(
    "linalg.vector_norm torch.linalg.vector_norm np.linalg.vector_norm numpy.linalg.vector_norm",
    "dtype",
    "reductions",
    op=NORM,
    kinds="no no yes",
)
def build_vector_norm(
    f: Apply,
    x: Tensor,
    ord: Static = 2,
    dim: Static = None,
    keepdim: Static = False,
) -> Tensor:
    """(sum(abs(x)**ord))**(1/ord) over all entries or along dim; its derivative at 0 is 0"""
    return vector_norm(f, x, ord, dim, keepdim)


@function("matrix_norm", "linalg dtype", "reductions")
def build_matrix_norm(
    f: Apply,
    x: Tensor,
    ord: Static = "fro",
    dim: Static = (-2, -1),
    keepdim: Static = False,
) -> Tensor:
    """the norm of a matrix: of all entries, of its singular values, or the largest sum of sizes"""
    return matrix_norm(f, x, ord, dim, keepdim)


@function("cond", "linalg", "reductions")
def build_cond(f: Apply, x: Tensor, p: Static = None) -> Tensor:
    """how far a matrix is from singular: its norm times that of its inverse"""
    if p in (None, 2, -2):
        values = singular_values(f, x)
        ends = f(INDEX, values, key=(..., 0)), f(INDEX, values, key=(..., -1))
        return f(DIV, *(ends[::-1] if p == -2 else ends))
    require_square(x, "cond")
    axes = (x.ndim - 2, x.ndim - 1)
    return f(MUL, matrix_norm(f, x, p, axes, False), matrix_norm(f, f(INV, x), p, axes, False))


@function("dist", "torch method tensors", "reductions", kinds="no no yes")
def build_dist(f: Apply, x: Tensor, other: Tensor, p: Static = 2) -> Tensor:
    """the norm of order p of x - other"""
    return vector_norm(f, f(SUB, x, other), p, None, False)


@function("cdist", "torch", "reductions", kinds="no no no")
def build_cdist(f: Apply, x1: Tensor, x2: Tensor, p: Static = 2, compute_mode: Static = None) -> Tensor:
    """the distances of every row of x1 from every row of x2, by the norm of order p"""
    del compute_mode
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1]:
        raise GradcliError("shape", f"cdist takes rows of one length, not shapes {x1.shape} and {x2.shape}")
    if number(p, "p") < 0:
        raise GradcliError("value", f"cdist: p cannot be negative: {p!r}")
    left = f(RESHAPE, x1, shape=(*x1.shape[:-1], 1, x1.shape[-1]))
    right = f(RESHAPE, x2, shape=(*x2.shape[:-2], 1, *x2.shape[-2:]))
    apart = f(SUB, left, right)
    if p == math.inf:
        refuse_ties(np.abs(np.asarray(value_of(apart), dtype=np.float64)))
    return vector_norm(f, apart, p, apart.ndim - 1, False)


def refuse_ties(sizes: Array) -> None:
    """Refuse the largest of several equal distances: PyTorch gives each of them the whole cotangent."""
    at_top = (sizes == np.max(sizes, axis=-1, keepdims=True, initial=0.0)) & (sizes > 0)
    if np.any(np.count_nonzero(at_top, axis=-1) > 1):
        raise GradcliError(
            "value",
            "cdist with p=inf where two distances are equal: PyTorch's gradient there is none of any norm",
            hint="move a point a little",
        )


@function("pairwise_distance", "torch functional", "neural", kinds="no no no")
def build_pairwise_distance(
    f: Apply, x1: Tensor, x2: Tensor, p: Static = 2.0, eps: Static = 1e-6, keepdim: Static = False
) -> Tensor:
    """the norm of order p of x1 - x2 + eps, along the last axis"""
    apart = f(ADD, f(SUB, x1, x2), number(eps, "eps"))
    return vector_norm(f, apart, p, -1, keepdim)


def at_least(f: Apply, length: Tensor, eps: float) -> Tensor:
    """Return lengths, those below eps as eps; without a step where none is."""
    small = np.asarray(value_of(length), dtype=np.float64) <= eps
    return f(CLAMP_MIN, length, eps) if np.any(small) else length


@function("normalize", "functional", "neural", kinds="no no no")
def build_normalize(f: Apply, x: Tensor, p: Static = 2.0, dim: Static = 1, eps: Static = 1e-12) -> Tensor:
    """x over its norm along dim, or over eps where that is larger"""
    length = vector_norm(f, x, p, dim, True)
    return f(DIV, x, at_least(f, length, number(eps, "eps")))


@function("cosine_similarity", "torch functional", "neural", kinds="no no no")
def build_cosine_similarity(f: Apply, x1: Tensor, x2: Tensor, dim: Static = 1, eps: Static = 1e-8) -> Tensor:
    """the cosine of the angle between x1 and x2 along dim; a length below eps counts as eps"""
    try:
        shape = np.broadcast_shapes(x1.shape, x2.shape)
    except ValueError:
        raise GradcliError("shape", f"shapes {x1.shape} and {x2.shape} do not broadcast to one") from None
    axis = one_axis(dim, len(shape))
    axes = (axis,) if shape else ()

    def unit(x: Tensor) -> Tensor:
        whole = x if x.shape == shape else f(EXPAND, x, shape=shape)
        length = f(NORM, whole, dim=axes, keepdim=True, p=2.0)
        if np.any(np.asarray(value_of(length), dtype=np.float64) < number(eps, "eps")):
            # PyTorch raises a length to eps outside of the graph: the derivative is still that of the length.
            length = f(ADD, length, f(DETACH, f(SUB, f(CLAMP_MIN, length, number(eps, "eps")), length)))
        return f(DIV, whole, length)

    return f(SUM, f(MUL, unit(x1), unit(x2)), dim=axes, keepdim=False)
