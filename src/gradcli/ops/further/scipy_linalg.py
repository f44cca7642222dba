"""Functions of scipy.linalg that mean something else there than under the same name in NumPy and PyTorch."""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply, Parts
from gradcli.ops.further.linear_cholesky import build_cholesky
from gradcli.ops.further.linear_qr import factored
from gradcli.ops.further.linear_triangular import triangle_of
from gradcli.ops.linear_algebra import require_product, require_square
from gradcli.ops.matrices import SOLVE
from gradcli.ops.shaping import RESHAPE, transpose_matrices
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


def both(name: str) -> str:
    """Return the names of a function in SciPy and in JAX's copy of it."""
    return f"scipy.linalg.{name} jax.scipy.linalg.{name}"


@function(both("cholesky"), "", FAMILY)
def build_scipy_cholesky(f: Apply, x: Tensor, lower: Static = False) -> Tensor:
    """the upper triangular U with U.T @ U = A, or with lower=True its transpose"""
    return build_cholesky(f, x, upper=not lower)


@function(both("qr"), "", FAMILY)
def build_scipy_qr(f: Apply, x: Tensor, *, mode: Static = "full") -> Parts | tuple[Tensor]:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = A; with mode="r" R alone"""
    if mode not in ("full", "economic", "r"):
        raise GradcliError("value", f'qr: mode is "full", "economic" or "r", not {mode!r}')
    found = factored(f, x, complete=mode != "economic")
    return (found.part("R"),) if mode == "r" else found


@function(both("solve_triangular"), "", FAMILY, kinds="no no no")
def build_scipy_solve_triangular(
    f: Apply, A: Tensor, B: Tensor, trans: Static = 0, lower: Static = False, unit_diagonal: Static = False
) -> Tensor:
    """the X with A @ X = B, or A.T @ X = B with trans=1, where one triangle of A alone is read; B may be a vector"""
    require_square(A, "solve_triangular")
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise GradcliError("value", f'solve_triangular: trans is 0, 1 or 2, or "N", "T" or "C", not {trans!r}')
    triangle = triangle_of(f, A, not lower, bool(unit_diagonal))
    if trans not in (0, "N"):
        triangle = transpose_matrices(f, triangle)
    columns = f(RESHAPE, B, shape=(*B.shape, 1)) if B.ndim == 1 else B
    require_product(triangle, columns, "solve_triangular")
    found = f(SOLVE, triangle, columns)
    return f(RESHAPE, found, shape=B.shape) if B.ndim == 1 else found
