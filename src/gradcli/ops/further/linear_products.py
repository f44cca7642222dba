"""Products that pair axes, powers and chains of matrices, norms, and distances of vectors."""

from __future__ import annotations

import math
from functools import partial, reduce
from itertools import pairwise
from operator import matmul

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.further.linear_decompositions import singular_values
from gradcli.ops.further.shapes import one_shape
from gradcli.ops.linear_algebra import NUMPYS, algebra, require_product, require_square
from gradcli.ops.links import Array, Axes, Static
from gradcli.ops.matrices import INV
from gradcli.ops.shaping import ROLL, build_diagonal
from gradcli.ops.statistics import NORM, matrix_norm, vector_norm
from gradcli.ops.values import LETTERS, Value, Values, clamp_min, einsum, number, one_axis, require, where, whole
from gradcli.ops.vocabulary import KEPT, OF_FLOATS, OF_NUMBERS, STRICT, Beside, Kinds, Made, function

norm = partial(function, family="reductions")


# --- over pairs of axes ---


def axes_of(dims: Static, x: Value, other: Value) -> tuple[Axes, Axes]:
    """Return the axes that ``dims`` of tensordot pairs: the last and first so many, or those of two lists."""
    if isinstance(dims, int) and not isinstance(dims, bool):
        fits = 0 <= dims <= min(x.ndim, other.ndim)
        require(fits, "value", f"tensordot: dims={dims} for arrays of {x.ndim} and {other.ndim} axes")
        return tuple(range(x.ndim - dims, x.ndim)), tuple(range(dims))
    if not isinstance(dims, tuple) or len(dims) != 2:
        raise GradcliError("value", "tensordot: dims is a number of axes, or two lists of axes", hint="dims=([1], [0])")
    ours, theirs = (
        tuple(one_axis(d, array.ndim) for d in (side if isinstance(side, tuple) else (side,)))
        for side, array in zip(dims, (x, other), strict=True)
    )
    once = len(ours) == len(theirs) == len(set(ours)) == len(set(theirs))
    require(once, "value", f"tensordot: dims={dims!r} must name as many axes of each array, each once")
    fits = not ours or (x.ndim and other.ndim)
    require(fits, "shape", "tensordot: a single number has no axis to pair", hint="dims=0")
    return ours, theirs


@algebra("tensordot", "torch numpy", kinds=NUMPYS)
def tensordot(x: Value, other: Value, dims: Static = 2) -> Value:
    """the sum of products over the last and first dims axes, or over those that two lists pair"""
    paired = axes_of(dims, x, other)
    left, right = LETTERS[: x.ndim], list(LETTERS[x.ndim : x.ndim + other.ndim])
    for ours, theirs in zip(*paired, strict=True):
        said = f"tensordot: axis {ours} of shape {x.shape} and axis {theirs} of shape {other.shape} differ in length"
        require(x.shape[ours] == other.shape[theirs], "shape", said)
        right[theirs] = left[ours]
    out = [
        c for letters, axes in zip((left, right), paired, strict=True) for k, c in enumerate(letters) if k not in axes
    ]
    return einsum(f"{left},{''.join(right)}->{''.join(out)}", x, other)


@algebra("kron", "torch numpy method tensors", kinds=KEPT)
def kron(x: Value, other: Value) -> Value:
    """x with each of its entries times the whole of other in its place"""
    depth = max(x.ndim, other.ndim)
    outer, inner = ((1,) * (depth - array.ndim) + array.shape for array in (x, other))
    wide = x.reshape(*(n for length in outer for n in (length, 1)))
    narrow = other.reshape(*(n for length in inner for n in (1, length)))
    return (wide * narrow).reshape(*(a * b for a, b in zip(outer, inner, strict=True)))


def crossed(x: Value, other: Value, axis: int) -> Value:
    """Return the cross product along an axis of 3 entries of each, counted from the last one."""
    fits = x.ndim and other.ndim and x.shape[axis] == other.shape[axis] == 3
    require(fits, "shape", f"cross takes 3 entries along dim, not shapes {x.shape} and {other.shape}")

    def turned(array: Value, by: int) -> Value:
        return array.of(ROLL, shifts=(-by,), dims=(axis % array.ndim,))

    ahead = turned(x, 1) * turned(other, 2)
    return ahead - turned(x, 2) * turned(other, 1)


def from_end(dim: Static, x: Value, other: Value) -> int:
    """Return an axis of two arrays of as many axes, counted from the last."""
    said = f"cross takes arrays of as many axes, not shapes {x.shape} and {other.shape}"
    require(x.ndim == other.ndim and x.ndim, "shape", said)
    return one_axis(dim, x.ndim) - x.ndim


@algebra("cross", "torch method", kinds=OF_NUMBERS)
def cross(x: Value, other: Value, dim: Static = None) -> Value:
    """the cross product along dim; without one, along the first axis with 3 entries"""
    if dim is None:
        dim = next((axis for axis, length in enumerate(x.shape) if length == 3), None)
        require(dim is not None, "shape", f"cross needs an axis with 3 entries, and shape {x.shape} has none")
    return crossed(x, other, from_end(dim, x, other))


@algebra("linalg.cross torch.linalg.cross np.linalg.cross numpy.linalg.cross", "", kinds=OF_NUMBERS)
def linalg_cross(x: Value, other: Value, dim: Static = -1) -> Value:
    """the cross product along dim, the last axis unless it is given"""
    return crossed(x, other, from_end(dim, x, other) if x.ndim == other.ndim or dim != -1 else -1)


@algebra("np.cross numpy.cross jnp.cross", "", kinds=OF_NUMBERS)
def numpy_cross(
    x: Value, other: Value, axisa: Static = -1, axisb: Static = -1, axisc: Static = -1, axis: Static = None
) -> Value:
    """the cross product of the vectors that stand along axisa and axisb, along axisc, or all along axis"""

    def behind(array: Value, dim: Static) -> Value:
        at = one_axis(dim, array.ndim)
        return array.permute(*(k for k in range(array.ndim) if k != at), at)

    first, second, last = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    product = crossed(behind(x, first), behind(other, second), -1)
    order = [*range(product.ndim - 1)]
    order.insert(one_axis(last, product.ndim), product.ndim - 1)
    return product.permute(*order)


@algebra("linalg.diagonal torch.linalg.diagonal np.linalg.diagonal numpy.linalg.diagonal", "shares", kinds=KEPT)
def linalg_diagonal(x: Value, *, offset: Static = 0, dim1: Static = -2, dim2: Static = -1) -> Value:
    """the diagonal of a matrix, or of those that the last two axes span"""
    return build_diagonal(x, whole(offset, "offset"), dim1, dim2)


@algebra("np.trace numpy.trace jnp.trace", "", kinds=Kinds(Made.NUMPY_INTEGER, Made.INTEGER))
def numpy_trace(x: Value, offset: Static = 0, axis1: Static = 0, axis2: Static = 1) -> Value:
    """the sum of a diagonal of a matrix, or of those that two axes span"""
    diagonal = linalg_diagonal(x, offset=offset, dim1=axis1, dim2=axis2)
    return diagonal.sum(diagonal.ndim - 1)


@algebra("vecdot", "torch linalg numpy", kinds=NUMPYS)
def vecdot(x: Value, other: Value, dim: Static = -1) -> Value:
    """the inner product along dim, entry by entry of the other axes"""
    product = x * other
    return product.sum(one_axis(dim, product.ndim))


# --- of matrices ---


def added(name: str, x: Value, mat: Value, other: Value, ndim: int, beta: float, alpha: float) -> Value:
    """Return beta·x + alpha·(mat @ other); a beta of 0 leaves x out, nan and all, and an alpha of 0 the product.

    So does PyTorch, which leaves both to a library of linear algebra.
    """
    said = f"{name} takes arrays of 2 and {ndim} axes, not shapes {mat.shape} and {other.shape}"
    require((mat.ndim, other.ndim) == (2, ndim), "shape", said, hint="use + and @")
    require_product(mat, other, name)
    product = mat @ other
    pairs = zip(reversed(x.shape), reversed(product.shape), strict=False)
    fits = x.ndim <= product.ndim and all(n in (1, length) for n, length in pairs)
    require(fits, "shape", f"shape {x.shape} does not broadcast to that of the product, {product.shape}")
    scaled = product if alpha == 1 else alpha * product
    scaled = scaled if alpha else where(np.zeros(product.shape), scaled, 0.0)
    return scaled if beta == 0 else (x if beta == 1 else beta * x) + scaled


@algebra("addmm", "torch method", kinds=Kinds(Made.NO, Made.SAME, Beside.NO))
def addmm(x: Value, mat1: Value, mat2: Value, beta: float = 1, alpha: float = 1) -> Value:
    """beta*x + alpha*(mat1 @ mat2), for two matrices"""
    return added("addmm", x, mat1, mat2, 2, beta, alpha)


@algebra("addmv", "torch method", kinds=Kinds(Made.NO, Made.SAME, Beside.NO))
def addmv(x: Value, mat: Value, vec: Value, beta: float = 1, alpha: float = 1) -> Value:
    """beta*x + alpha*(mat @ vec), for a matrix and a vector"""
    return added("addmv", x, mat, vec, 1, beta, alpha)


@algebra("multi_dot", "linalg", kinds=Kinds(Made.NO, Made.SAME, Beside.NO))
def multi_dot(tensors: Values) -> Value:
    """the product of a list of matrices, with a vector at either end if wanted"""
    require(len(tensors) > 1, "value", f"multi_dot takes two matrices or more, {len(tensors)} given")
    for k, x in enumerate(tensors):
        fits = x.ndim == 2 or (x.ndim == 1 and k in (0, len(tensors) - 1))
        require(fits, "shape", f"multi_dot takes matrices, and vectors at its ends, not shape {x.shape}")
    for left, right in pairwise(tensors):
        require_product(left, right, "multi_dot")
    return reduce(matmul, tensors)


@algebra("matrix_power", "torch linalg method", kinds=Kinds(Made.NUMPY_SAME, Made.SAME))
def matrix_power(x: Value, n: int) -> Value | Array:
    """the product of n copies of a square matrix; of its inverse for negative n, the identity for 0"""
    require_square(x, "matrix_power")
    if n == 0:
        return np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    return powered(x.of(INV) if n < 0 else x, abs(n))


def powered(x: Value, count: int) -> Value:
    """Return the product of ``count`` copies of a matrix, by squares of squares."""
    if count == 1:
        return x
    half = powered(x, count // 2)
    return half @ half @ x if count % 2 else half @ half


# --- norms and distances ---


@norm(
    "linalg.vector_norm torch.linalg.vector_norm np.linalg.vector_norm numpy.linalg.vector_norm", "dtype", op=NORM,
    kinds=OF_FLOATS,
)  # fmt: skip
def linalg_vector_norm(x: Value, ord: Static = 2, dim: Static = None, keepdim: bool = False) -> Value:
    """(sum(abs(x)**ord))**(1/ord) over all entries or along dim; its derivative at 0 is 0"""
    return vector_norm(x, ord, dim, keepdim)


@norm("matrix_norm", "linalg dtype")
def linalg_matrix_norm(x: Value, ord: Static = "fro", dim: Static = (-2, -1), keepdim: bool = False) -> Value:
    """the norm of a matrix: of all entries, of its singular values, or the largest sum of sizes"""
    return matrix_norm(x, ord, dim, keepdim)


@norm("cond", "linalg")
def cond(x: Value, p: Static = None) -> Value:
    """how far a matrix is from singular: its norm times that of its inverse"""
    if p in (None, 2, -2):
        values = singular_values(x)
        largest, least = values[..., 0], values[..., -1]
        return least / largest if p == -2 else largest / least
    require_square(x, "cond")
    axes = (x.ndim - 2, x.ndim - 1)
    return matrix_norm(x, p, axes, False) * matrix_norm(x.of(INV), p, axes, False)


@norm("dist", "torch method tensors", kinds=OF_FLOATS)
def dist(x: Value, other: Value, p: Static = 2) -> Value:
    """the norm of order p of x - other"""
    return vector_norm(x - other, p, None, False)


@norm("cdist", "torch", kinds=STRICT)
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


neural = partial(function, family="neural", kinds=STRICT)


@neural("pairwise_distance", "torch functional")
def pairwise_distance(x1: Value, x2: Value, p: Static = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Value:
    """the norm of order p of x1 - x2 + eps, along the last axis"""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


@neural("normalize", "functional")
def normalize(x: Value, p: Static = 2.0, dim: Static = 1, eps: float = 1e-12) -> Value:
    """x over its norm along dim, or over eps where that is larger"""
    length = vector_norm(x, p, dim, True)
    return x / (clamp_min(length, eps) if np.any(length.numbers <= eps) else length)


@neural("cosine_similarity", "torch functional")
def cosine_similarity(x1: Value, x2: Value, dim: Static = 1, eps: float = 1e-8) -> Value:
    """the cosine of the angle between x1 and x2 along dim; a length below eps counts as eps"""
    shape = one_shape([x1, x2])
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
