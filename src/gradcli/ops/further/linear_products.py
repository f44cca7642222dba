"""Products of matrices with something beside them: sums with a product, powers and chains of matrices."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, MUL
from gradcli.ops.axes import number
from gradcli.ops.declare import Apply
from gradcli.ops.linear_algebra import MATMUL, require_product, require_square
from gradcli.ops.matrices import INV
from gradcli.ops.piecewise import WHERE
from gradcli.ops.shaping import whole
from gradcli.ops.signatures import Static, Tensor, Tensors
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


def require_axes(name: str, arrays: Tensors, wanted: tuple[int, ...]) -> None:
    """Refuse arrays that do not have these numbers of axes."""
    if tuple(x.ndim for x in arrays) != wanted:
        shapes = " and ".join(str(x.shape) for x in arrays)
        counts = " and ".join(map(str, wanted))
        raise GradcliError("shape", f"{name} takes arrays of {counts} axes, not shapes {shapes}", hint="use + and @")


def fits(x: Tensor, shape: tuple[int, ...]) -> bool:
    """Return whether an array broadcasts to a shape."""
    pairs = zip(reversed(x.shape), reversed(shape), strict=False)
    return x.ndim <= len(shape) and all(own in (1, length) for own, length in pairs)


def added(f: Apply, x: Tensor, product: Tensor, beta: Static, alpha: Static, drops: bool = False) -> Tensor:
    """Return beta·x + alpha·product; a beta of 0 leaves x out, nan and all, and alpha the product where it ``drops``.

    So does PyTorch, which leaves both to a library of linear algebra.
    """
    factor, share = number(alpha, "alpha"), number(beta, "beta")
    if not fits(x, product.shape):
        raise GradcliError("shape", f"shape {x.shape} does not broadcast to that of the product, {product.shape}")
    scaled = product if factor == 1 else f(MUL, factor, product)
    if factor == 0 and drops:
        scaled = f(WHERE, np.zeros(product.shape), scaled, 0.0)
    if share == 0:
        return scaled
    return f(ADD, x if share == 1 else f(MUL, share, x), scaled)


@function("addmm", "torch method", FAMILY, kinds="no same no")
def build_addmm(f: Apply, x: Tensor, mat1: Tensor, mat2: Tensor, beta: Static = 1, alpha: Static = 1) -> Tensor:
    """beta*x + alpha*(mat1 @ mat2), for two matrices"""
    require_axes("addmm", (mat1, mat2), (2, 2))
    require_product(mat1, mat2, "addmm")
    return added(f, x, f(MATMUL, mat1, mat2), beta, alpha, drops=True)


@function("addmv", "torch method", FAMILY, kinds="no same no")
def build_addmv(f: Apply, x: Tensor, mat: Tensor, vec: Tensor, beta: Static = 1, alpha: Static = 1) -> Tensor:
    """beta*x + alpha*(mat @ vec), for a matrix and a vector"""
    require_axes("addmv", (mat, vec), (2, 1))
    require_product(mat, vec, "addmv")
    return added(f, x, f(MATMUL, mat, vec), beta, alpha, drops=True)


def chained(f: Apply, tensors: Tensors, name: str) -> Tensor:
    """Return the product of arrays from left to right, the first and the last matrices or vectors."""
    if len(tensors) < 2:
        raise GradcliError("value", f"{name} takes two matrices or more, {len(tensors)} given")
    for k, x in enumerate(tensors):
        if x.ndim != 2 and not (x.ndim == 1 and k in (0, len(tensors) - 1)):
            raise GradcliError("shape", f"{name} takes matrices, and vectors at its ends, not shape {x.shape}")
    for left, right in pairwise(tensors):
        require_product(left, right, name)
    return reduce(lambda left, right: f(MATMUL, left, right), tensors)


@function("multi_dot", "linalg", FAMILY, kinds="no same no")
def build_multi_dot(f: Apply, tensors: Tensors) -> Tensor:
    """the product of a list of matrices, with a vector at either end if wanted"""
    return chained(f, tensors, "multi_dot")


@function("matrix_power", "torch linalg method", FAMILY, kinds="numpy-same same yes")
def build_matrix_power(f: Apply, x: Tensor, n: Static) -> Tensor:
    """the product of n copies of a square matrix; of its inverse for negative n, the identity for 0"""
    require_square(x, "matrix_power")
    count = whole(n, "n")
    if count == 0:
        return np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    return powered(f, f(INV, x) if count < 0 else x, abs(count))


def powered(f: Apply, x: Tensor, count: int) -> Tensor:
    """Return the product of ``count`` copies of a matrix, by squares of squares."""
    if count == 1:
        return x
    half = powered(f, x, count // 2)
    square = f(MATMUL, half, half)
    return f(MATMUL, square, x) if count % 2 else square
