"""Systems of equations with a triangular matrix."""

from __future__ import annotations

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD
from gradcli.ops.declare import Apply, value_of
from gradcli.ops.linear_algebra import MATMUL, require_product, require_square
from gradcli.ops.matrices import INV, SOLVE
from gradcli.ops.shaping import TRIL, TRIU, transpose_matrices
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


def triangle_of(f: Apply, x: Tensor, upper: bool, ones: bool = False) -> Tensor:
    """Return one triangle of matrices, with ones on its diagonal if wanted."""
    if ones:
        return f(ADD, f(TRIU if upper else TRIL, x, k=1 if upper else -1), np.eye(x.shape[-1]))
    return f(TRIU if upper else TRIL, x, k=0)


@function("solve_triangular", "linalg", FAMILY, kinds="no no no")
def build_solve_triangular(
    f: Apply, A: Tensor, B: Tensor, upper: Static, left: Static = True, unitriangular: Static = False
) -> Tensor:
    """the X with A @ X = B, or X @ A = B with left=False, where one triangle of A alone is read"""
    require_square(A, "solve_triangular")
    if B.ndim < 2:
        raise GradcliError("shape", f"solve_triangular takes a matrix B, not shape {B.shape}", hint="write B[:, None]")
    triangle = triangle_of(f, A, bool(upper), bool(unitriangular))
    if left:
        require_product(A, B, "solve_triangular")
        return f(SOLVE, triangle, B)
    require_product(B, A, "solve_triangular")
    return transpose_matrices(f, f(SOLVE, transpose_matrices(f, triangle), transpose_matrices(f, B)))


def factor_of(f: Apply, x: Tensor, upper: bool, name: str) -> Tensor:
    """Return a triangular factor as it is: PyTorch's derivative is that of L @ L.T, by all entries of L."""
    value = np.asarray(value_of(x), dtype=np.float64)
    if np.max(np.abs(np.tril(value, -1) if upper else np.triu(value, 1)), initial=0.0) <= 1e-12:
        return x
    f.remark(
        "torch-differs",
        f"{name} of a matrix that is not triangular: PyTorch reads one triangle, but its gradient is that by both.",
    )
    return triangle_of(f, x, upper)


@function("cholesky_solve", "torch method", FAMILY, kinds="no no no")
def build_cholesky_solve(f: Apply, B: Tensor, L: Tensor, upper: Static = False) -> Tensor:
    """the X with L @ L.T @ X = B for a lower triangular L"""
    require_square(L, "cholesky_solve")
    if B.ndim < 2:
        raise GradcliError("shape", f"cholesky_solve takes a matrix B, not shape {B.shape}", hint="write B[:, None]")
    require_product(L, B, "cholesky_solve")
    factor = factor_of(f, L, bool(upper), "cholesky_solve")
    first, then = (transpose_matrices(f, factor), factor) if upper else (factor, transpose_matrices(f, factor))
    return f(SOLVE, then, f(SOLVE, first, B))


@function("cholesky_inverse", "torch method", FAMILY, kinds="no no no")
def build_cholesky_inverse(f: Apply, L: Tensor, upper: Static = False) -> Tensor:
    """the inverse of L @ L.T for a lower triangular L"""
    require_square(L, "cholesky_inverse")
    inverse = f(INV, factor_of(f, L, bool(upper), "cholesky_inverse"))
    sides = (inverse, transpose_matrices(f, inverse)) if upper else (transpose_matrices(f, inverse), inverse)
    return f(MATMUL, *sides)
