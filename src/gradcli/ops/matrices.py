"""What belongs to square matrices: determinant, inverse, solving."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.backward_texts import det_text_back, solve_text_back
from gradcli.ops.contractions import with_ones
from gradcli.ops.declare import Apply, Op, declare
from gradcli.ops.linear_algebra import require_product
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Links
from gradcli.ops.parts import Said
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.vocabulary import Tensor, function


def cofactors(a: Any) -> Any:
    """Return the matrix of cofactors by the singular value decomposition: right for singular matrices too."""
    u, sigma, vt = np.linalg.svd(a)
    n = sigma.shape[-1]
    others = np.stack([np.prod(np.delete(sigma, i, axis=-1), axis=-1) for i in range(n)], axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign[..., None, None] * np.matmul(u * others[..., None, :], vt)


def det(a: Any) -> Any:
    """Return the determinant, and nan where numpy takes a matrix with inf or nan for singular: there 0 is no number."""
    y = np.linalg.det(a)
    return np.where((y == 0) & ~np.all(np.isfinite(a), axis=(-1, -2)), np.nan, y)[()]


def det_vjp(g: Any, y: Any, a: Any) -> Any:
    """Return g·cofactors, and g·0 where the determinant is exactly 0: PyTorch solves with g·det on the right.

    Where that is not finite, so do we: which entries are nan is a matter of the substitution.
    """
    g, y = np.asarray(g)[..., None, None], np.asarray(y)[..., None, None]
    flat = (y == 0) & (a.shape[-1] > 1)
    odd = ~np.isfinite(g * y) & (y != 0)
    found = np.where(flat, g * 0.0, g * cofactors(np.where(odd, 0.0, a)))
    if np.any(odd):
        np.copyto(found, substituted(g * y, odd, a), where=odd)
    return found


def substituted(gy: Any, odd: Any, a: Any) -> Any:
    """Return the solution of Aᵀ·X = g·det·1 for those matrices that are ``odd``."""
    unit = np.eye(a.shape[-1])
    return solved(np.where(odd, np.swapaxes(a, -1, -2), unit), np.where(unit == 1, gy, 0.0))


def solved(a: Any, b: Any) -> Any:
    """Return inv(A)·B, and nan where A has entries that are not finite and numpy takes it for singular."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return np.full(np.shape(b), np.nan)


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


def is_ill(a: Any) -> bool:
    """Return whether a matrix is so close to singular that its inverse says little about the cofactors."""
    return bool(np.any(np.linalg.cond(a) > ILL))


def det_terms(a: Any) -> int:
    """Return the links of det, and the entries of all minors where these are taken one by one."""
    n = a.shape[-1]
    return int(np.size(a)) * (n * n if n > 3 and np.all(np.isfinite(a)) and is_ill(a) else 1)


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
    if not np.all(np.isfinite(a)):
        return [Links(rows, columns, np.full(np.size(a), np.nan))]
    if is_ill(a):
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


BATCHES = string.ascii_letters[12:]
"""Letters for the axes of batches, beside those for the rows and columns of their matrices."""


def inv_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Contraction]:
    """Link inv(A)[i, j] to A[k, l] with -inv(A)[i, k]·inv(A)[l, j]."""
    del argument, values, static
    batch = BATCHES[: out.ndim - 2]
    lengths = dict(zip(batch + "ijkl", out.shape + out.shape[-2:], strict=True))
    factor = Explicit(lambda s, left, right: left * right)
    bound = ((OUT, f"{batch}ik"), (OUT, f"{batch}lj"))
    return [Contraction(f"{batch}ij", f"{batch}kl", lengths, -1.0, factor, bound)]


def inv_vjp(g: Any, y: Any, _a: Any) -> Any:
    """Return -Yᵀ·g·Yᵀ for Y = inv(A)."""
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


def row_by_row(out: Any, a: Any, *others: Any) -> int:
    """Return the operations of an elimination: those of every row with every entry."""
    return max(map(np.size, (out, a, *others))) * int(np.shape(a)[-1])


DET = declare(
    Op(
        "det",
        det,
        (det_vjp,),
        det_local,
        exactly=exactly.det,
        work=row_by_row,
        terms=det_terms,
        index=Said(),
        digits=largest_products,
        backward_text=det_text_back,
        differs=lambda y, a: (y == 0) | ~np.isfinite(y),
        says="it solves with the determinant, so that one of 0 has gradient 0 and one beyond doubles none",
    )
)


INV = declare(
    Op(
        "inv",
        no_singular(np.linalg.inv),
        (inv_vjp,),
        inv_local,
        exactly=exactly.inv,
        work=row_by_row,
        index=Said(),
    )
)


def solve(a: Any, b: Any) -> Any:
    """Return the X with A·X = B, B a vector or matrices."""
    return np.linalg.solve(a, b[:, None])[..., 0] if np.ndim(b) == 1 else np.linalg.solve(a, b)


def solve_vjp_right(g: Any, _y: Any, a: Any, b: Any) -> Any:
    """Return the solution of Aᵀ·G = g; the engine sums over broadcast batches."""
    turned = np.swapaxes(a, -1, -2)
    return solved(turned, g[..., None])[..., 0] if np.ndim(b) == 1 else solved(turned, g)


def solve_vjp_left(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Return -G·Xᵀ for the solution G of Aᵀ·G = g."""
    back = solve_vjp_right(g, y, a, b)
    if np.ndim(b) == 1:
        return -back[..., None] * y[..., None, :]
    return -np.matmul(back, np.swapaxes(y, -1, -2))


def solve_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Contraction]:
    """Link X[i, c] to B[j, c] with inv(A)[i, j], and to A[j, l] with -inv(A)[i, j]·X[l, c]."""
    del static
    a, b = values
    column = "" if np.ndim(b) == 1 else "c"
    batch, n = BATCHES[: out.ndim - 1 - len(column)], np.shape(a)[-1]
    lengths = dict(zip(f"{batch}i{column}", out.shape, strict=True)) | {"j": n}
    by_matrix = with_ones(batch[len(batch) - np.ndim(a) + 2 :] + "ij", np.shape(a), lengths)
    auxiliary = ("inv({})", solved(a, np.eye(n)))
    inverse = (AUXILIARY, by_matrix)
    if argument == 1:
        columns = with_ones(f"{batch}j{column}"[-np.ndim(b) :], np.shape(b), lengths)
        factor = Explicit(lambda s, inverse: inverse)
        return [Contraction(f"{batch}i{column}", columns, lengths, 1.0, factor, (inverse,), auxiliary)]
    factor = Explicit(lambda s, inverse, x: inverse * x)
    columns, bound = by_matrix[:-2] + "jl", (inverse, (OUT, f"{batch}l{column}"))
    return [Contraction(f"{batch}i{column}", columns, lengths | {"l": n}, -1.0, factor, bound, auxiliary)]


def solve_digits(out: Any, a: Any, b: Any) -> Any:
    """Return by how much rounding grows in X: |inv(A)|·|A|·|inv(A)| and its like for X, the most of each row."""
    x = np.abs(out)[..., None] if np.ndim(b) == 1 else np.abs(out)
    inverse = np.abs(solved(a, np.eye(a.shape[-1])))
    grown = np.matmul(inverse, np.abs(a))
    to_b = np.max(np.matmul(grown, inverse), axis=-1, keepdims=True)
    to_a = to_b * np.max(x, axis=-2, keepdims=True)
    to_a = to_a + np.max(inverse, axis=-1, keepdims=True) * np.max(np.matmul(grown, x), axis=-2, keepdims=True)
    size = np.maximum(to_a, to_b)
    return size[..., 0] if np.ndim(b) == 1 else size


SOLVE = declare(
    Op(
        "solve",
        no_singular(solve),
        (solve_vjp_left, solve_vjp_right),
        solve_local,
        exactly=exactly.solve,
        work=row_by_row,
        index=Said(),
        torch_saves=("0 output",),
        size=lambda a, b: max(np.size(a), 1) * max(np.size(b), 1),
        digits=solve_digits,
        backward_text=solve_text_back,
        text="inv({}) @ {}",
        precedence=70,
    )
)


def require_square(x: Any, name: str) -> None:
    """Refuse anything but square matrices."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or not x.shape[-1]:
        raise GradcliError("shape", f"{name} takes a square matrix, not shape {x.shape}")


@function("det", "torch linalg method", "linear algebra", op=DET, kinds="numpy-float numpy-float yes")
def build_det(f: Apply, x: Tensor) -> Any:
    """the determinant of a square matrix"""
    require_square(x, "det")
    return f(DET, x)


@function("inv inverse", "torch linalg method", "linear algebra", op=INV, kinds="numpy-float numpy-float yes")
def build_inv(f: Apply, x: Tensor) -> Any:
    """the inverse of a square matrix"""
    require_square(x, "inv")
    return f(INV, x)


@function("solve", "linalg", "linear algebra", op=SOLVE, kinds="numpy-float numpy-float numpy")
def build_solve(f: Apply, A: Tensor, B: Tensor) -> Any:
    """the X with A @ X = B; B may be a vector, or one vector for each of several A"""
    require_square(A, "solve")
    if B.ndim > 1 and B.shape == A.shape[:-1]:
        columns = f(RESHAPE, B, shape=(*B.shape, 1))
        return f(RESHAPE, f(SOLVE, A, columns), shape=B.shape)
    require_product(A, B, "solve")
    return f(SOLVE, A, B)
