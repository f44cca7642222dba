"""What belongs to square matrices: determinant, inverse, solving."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply, Explicit, Links, Op, Tensor, declare, function
from gradcli.ops.linear_algebra import MATMUL, require_product


def cofactors(a: Any) -> Any:
    """Return the matrix of cofactors by the singular value decomposition: right for singular matrices too."""
    u, sigma, vt = np.linalg.svd(a)
    n = sigma.shape[-1]
    others = np.stack([np.prod(np.delete(sigma, i, axis=-1), axis=-1) for i in range(n)], axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign[..., None, None] * np.matmul(u * others[..., None, :], vt)


def det_vjp(g: Any, y: Any, a: Any) -> Any:
    """Return g·cofactors, and g·0 where the determinant is exactly 0: PyTorch solves with g·det on the right."""
    g, y = np.asarray(g)[..., None, None], np.asarray(y)[..., None, None]
    return np.where((y == 0) & (a.shape[-1] > 1), g * 0.0, g * cofactors(a))


def minors(a: Any) -> Any:
    """Return the matrix of cofactors by the determinants of the minors."""
    n = a.shape[-1]
    result = np.empty_like(a)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(a, i, axis=-2), j, axis=-1)
            result[..., i, j] = (-1.0) ** (i + j) * np.linalg.det(minor)
    return result


ILL = 1e6
"""Condition number from which det·inv(A) loses too many digits to stand for the cofactors."""


def largest_products(y: Any, a: Any) -> Any:
    """Return the product of the norms of all rows but the smallest: Hadamard's bound for the cofactors."""
    norms = np.sort(np.sqrt(np.sum(a * a, axis=-1)), axis=-1)[..., 1:]
    return np.prod(norms, axis=-1).reshape(np.shape(y))


def det_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link the determinant to each entry with its cofactor: det·inv(A)[j, i] where A is not singular."""
    del argument, out, static
    a = values[0]
    columns = np.arange(np.size(a), dtype=np.intp)
    n = a.shape[-1]
    rows = columns // (n * n)
    flipped = np.arange(a.size).reshape(a.shape).swapaxes(-1, -2).ravel()
    if n <= 3 and a.ndim == 2:
        return small_det_links(a)
    if np.any(np.linalg.cond(a) > ILL):
        return [Links(rows, columns, minors(a).ravel())]
    factor = Explicit(lambda s, y, inverse: y * inverse)
    return [Links(rows, columns, 1.0, factor, ((-1, rows), (-2, flipped)), ("inv({})", np.linalg.inv(a)))]


def small_det_links(a: Any) -> list[Links]:
    """Return the cofactors of a matrix of up to three rows as formulas in its entries."""
    n = a.shape[-1]
    index = np.arange(a.size).reshape(a.shape)
    links = []
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(index, i, 0), j, 1).ravel()
            sign = (-1.0) ** (i + j)
            formula = (
                (lambda s, *m: s.number(1))
                if n == 1
                else (lambda s, *m: m[0])
                if n == 2
                else (lambda s, *m: m[0] * m[3] - m[1] * m[2])
            )
            bound = tuple((0, np.array([k])) for k in minor)
            links.append(Links(np.array([0]), np.array([index[i, j]]), sign, Explicit(formula), bound))
    return links


def inv_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link inv(A)[i, j] to A[k, l] with -inv(A)[i, k]·inv(A)[l, j]."""
    del argument, values, static
    batch, n = int(np.prod(out.shape[:-2])), out.shape[-1]
    b, i, j, k, m = np.indices((batch, n, n, n, n)).reshape(5, -1)

    def at(row: Any, column: Any) -> Any:
        return (b * n + row) * n + column

    factor = Explicit(lambda s, left, right: left * right)
    return [Links(at(i, j), at(k, m), -1.0, factor, ((-1, at(i, k)), (-1, at(m, j))))]


def inv_vjp(g: Any, y: Any, a: Any) -> Any:
    """Return -Yᵀ·g·Yᵀ for Y = inv(A)."""
    del a
    yt = np.swapaxes(y, -1, -2)
    return -np.matmul(yt, np.matmul(g, yt))


def no_singular(rule: Any) -> Any:
    """Return ``rule`` with numpy's complaint about a singular matrix turned into an error of ours."""

    def forward(*values: Any) -> Any:
        try:
            return rule(*values)
        except np.linalg.LinAlgError:
            raise GradcliError("value", "the matrix is singular: it has no inverse at this point") from None

    return forward


DET = declare(
    Op(
        "det",
        np.linalg.det,
        (det_vjp,),
        local=det_local,
        digits=largest_products,
        differs=lambda y, a: y == 0,
        says="its det of a singular matrix has gradient 0, where the cofactors are not all 0",
    )
)


INV = declare(
    Op(
        "inv",
        no_singular(np.linalg.inv),
        (inv_vjp,),
        local=inv_local,
        terms=lambda a: np.size(a) * np.shape(a)[-1] ** 2,
    )
)


def require_square(x: Any, name: str) -> None:
    """Refuse anything but square matrices."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or not x.shape[-1]:
        raise GradcliError("shape", f"{name} takes a square matrix, not shape {x.shape}")


@function("det", "tl.", "linear algebra", op=DET)
def build_det(f: Apply, x: Tensor) -> Any:
    """the determinant of a square matrix"""
    require_square(x, "det")
    return f(DET, x)


@function("inv inverse", "tl.", "linear algebra", op=INV)
def build_inv(f: Apply, x: Tensor) -> Any:
    """the inverse of a square matrix"""
    require_square(x, "inv")
    return f(INV, x)


@function("solve", "l", "linear algebra")
def build_solve(f: Apply, A: Tensor, B: Tensor) -> Any:
    """the X with A @ X = B"""
    require_square(A, "solve")
    require_product(A, B, "solve")
    return f(MATMUL, f(INV, A), B)
