"""Factors of a matrix, L·Lᵀ and Q·R, and systems of equations with a triangular matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.declare import Op, Parts, declare
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.further.linear_singular import require_matrix
from gradcli.ops.further.linear_spectra import (
    NEAR,
    decomposed,
    factor_digits,
    letters_of,
    refuse_arbitrary,
    symmetric_side,
)
from gradcli.ops.linear_algebra import require_product, require_square
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Line, Order
from gradcli.ops.matrices import INV, SOLVE, eliminated, row_by_row, solved
from gradcli.ops.parts import Piecewise, Said
from gradcli.ops.shaping import TRIL, TRIU
from gradcli.ops.signatures import Array, Mask, Options, Static
from gradcli.ops.values import Value, require
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"
IN_SCIPY = "scipy.linalg.{0} jax.scipy.linalg.{0}"
"""The names of a function of SciPy, and of JAX's copy of it, that is another in NumPy and PyTorch."""


def inverse_of(a: Array) -> Array:
    """Return the inverse in doubles."""
    try:
        return np.asarray(np.linalg.inv(a), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full(a.shape, np.nan) if a.ndim == 2 else np.stack([inverse_of(part) for part in a])


def lower(a: Array) -> Array:
    """Return L, and no square of its diagonal that is what rounding left of an entry of A: that may be below 0 too."""
    found = np.linalg.cholesky(decimals.symmetric(a))
    if np.any(np.diagonal(found * found, axis1=-2, axis2=-1) <= NEAR * np.diagonal(a, axis1=-2, axis2=-1)):
        raise np.linalg.LinAlgError("matrix is not positive definite")
    return found


def cholesky_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link L[i, j] to A[k, l]: dL = L·Φ(W·dA·Wᵀ) for W = inv(L), Φ the lower triangle with half of its diagonal.

    So L[i, b]·W[b, k]·W[j, l] for b > j and half of it for b = j, and as much for A[l, k], half of each.
    """
    del argument, values, static
    batch, n = letters_of(out, 2), out.shape[-1]
    lengths = dict(zip(f"{batch}ijklb", (*out.shape, n, n, n), strict=True))
    same = {letter: length for letter, length in lengths.items() if letter != "b"}
    inverse = ("inv(cholesky({}))", inverse_of(out))
    factor = Explicit(lambda s, whole, left, right: whole * left * right)
    right, line = (AUXILIARY, f"{batch}jl"), Line("b", "j", Order.NOT_BEFORE)
    below = (OUT, f"{batch}ib"), (AUXILIARY, f"{batch}bk"), right
    beside = (OUT, f"{batch}ij"), (AUXILIARY, f"{batch}jk"), right
    found = []
    for columns in (f"{batch}kl", f"{batch}lk"):
        found.append(Contraction(f"{batch}ij", columns, lengths, 0.5, factor, below, inverse, line=line))
        found.append(Contraction(f"{batch}ij", columns, same, -0.25, factor, beside, inverse))
    return found


def cholesky_vjp(g: Array, y: Array, _a: Array) -> Array:
    """Return the symmetric part of L⁻ᵀ·Φ(Lᵀ·g)·L⁻¹ (PyTorch's ``cholesky_backward``)."""
    turned = np.tril(np.matmul(np.swapaxes(y, -1, -2), g))
    turned = turned - np.tril(np.triu(turned)) / 2
    turned = (turned + np.swapaxes(turned, -1, -2)) / 2
    half = np.linalg.solve(np.swapaxes(y, -1, -2), turned)
    return np.swapaxes(np.linalg.solve(np.swapaxes(y, -1, -2), np.swapaxes(half, -1, -2)), -1, -2)


CHOLESKY = declare(
    Op(
        "cholesky",
        decomposed(lower),
        (cholesky_vjp,),
        cholesky_local,
        exactly=lambda a: decimals.each_matrix(decimals.cholesky, decimals.symmetric(a)),
        work=row_by_row,
        steps=eliminated,
        digits=lambda out, a: factor_digits(out),
        index=Said(),
        torch_saves=("output",),
    )
)


def q_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link Q[a, j] to A[i, l] by differentiating QᵀQ = 1 and A = Q·R, for W = inv(R).

    1[a, i]·W[l, j] - the sum over b ≤ j of Q[a, b]·Q[i, b]·W[l, j] - that over b < j of Q[a, b]·Q[i, j]·W[l, b].
    """
    del argument, static
    batch, (m, n) = letters_of(out, 2), out.shape[-2:]
    lengths = dict(zip(f"{batch}ajilb", (*out.shape, m, n, n), strict=True))
    same = {letter: length for letter, length in lengths.items() if letter != "b"}
    straight = {letter: length for letter, length in same.items() if letter != "i"}
    options: dict[str, Any] = {
        "auxiliary": ("inv(qr({}).R)", inverse_of(np.matmul(np.swapaxes(out, -1, -2), values[0])))
    }
    rows, columns, line = f"{batch}aj", f"{batch}il", Line("j", "b", Order.NOT_BEFORE)
    product = Explicit(lambda s, whole, left, right: whole * left * right)

    def met(*letters: str) -> tuple[tuple[int, str], ...]:
        return tuple((slot, batch + which) for slot, which in zip((OUT, OUT, AUXILIARY), letters, strict=True))

    own = ((AUXILIARY, f"{batch}lj"),)
    return [
        Contraction(rows, f"{batch}al", straight, 1.0, Explicit(lambda s, right: right), own, **options),
        Contraction(rows, columns, lengths, -1.0, product, met("ab", "ib", "lj"), line=line, **options),
        Contraction(rows, columns, lengths, -1.0, product, met("ab", "ij", "lb"), line=line, **options),
        Contraction(rows, columns, same, 1.0, product, met("aj", "ij", "lj"), **options),
    ]


def q_vjp(g: Array, y: Array, a: Array) -> Array:
    """Return (g + Q·copyltu(-gᵀ·Q))·R⁻ᵀ (PyTorch's ``linalg_qr_backward`` with a cotangent of Q alone)."""
    r = np.matmul(np.swapaxes(y, -1, -2), a)
    met = -np.matmul(np.swapaxes(g, -1, -2), y)
    low = np.tril(met)
    both = low + np.swapaxes(np.tril(met, -1), -1, -2)
    return np.swapaxes(solved(r, np.swapaxes(g + np.matmul(y, both), -1, -2)), -1, -2)


def are_choices(a: Array) -> Mask:
    """Return which columns of Q are a choice: where one of A is a sum of those before it, and from there on."""
    a = np.asarray(a, dtype=np.float64)
    left = np.diagonal(np.linalg.qr(a)[1], axis1=-2, axis2=-1)
    return np.logical_or.accumulate(np.abs(left) <= NEAR * np.sqrt(np.sum(a * a, axis=-2)), axis=-1)


def near_to(guide: Array, a: Array) -> Array:
    """Return Q in many digits with the signs of that in doubles, and columns of this where they are a choice."""
    q = decimals.orthogonal(a)
    return np.where(are_choices(a), guide, q * np.where(np.sum(q.astype(np.float64) * guide, axis=0) < 0, -1, 1))


ORTHOGONAL = declare(
    Op(
        "orthogonal",
        decomposed(lambda a: np.linalg.qr(a)[0]),
        (q_vjp,),
        q_local,
        pieces=Piecewise(
            lambda a: np.linalg.qr(np.asarray(a, dtype=np.float64))[0],
            lambda guide, a: decimals.each_matrix(near_to, guide, a),
            open=True,
        ),
        work=row_by_row,
        steps=eliminated,
        digits=lambda out, a: factor_digits(np.matmul(np.swapaxes(out, -1, -2), a)),
        index=Said(),
        write=lambda call: f"qr({call.texts[0]}).Q",
        torch_saves=("output",),
    )
)


def factored(x: Value, complete: bool) -> Parts:
    """Return Q and R of matrices; what is beyond a square on the right is Qᵀ times it."""
    require_matrix(x, "qr")
    rows, columns = x.shape[-2:]
    said = 'qr with mode="complete" has no derivative for more rows than columns, as in PyTorch'
    require(not complete or rows <= columns, "not-differentiable", said)
    square = x if rows >= columns else x[..., slice(0, rows)]
    made: list[Value] = []

    def q() -> Value:
        if not made:
            made.append(square.of(ORTHOGONAL))
            refuse_arbitrary(square, are_choices(square.raw), "columns of Q where those of A depend")
        return made[0]

    return Parts(("Q", "R"), (q, lambda: (q().mT @ x).of(TRIU, k=0)))


@function("cholesky", "torch linalg method", FAMILY, op=CHOLESKY)
def build_cholesky(x: Value, upper: bool = False) -> Value:
    """the lower triangular L with L @ L.T = x, or with upper=True its transpose"""
    factor = symmetric_side(x, "U" if upper else "L", "cholesky").of(CHOLESKY)
    return factor.mT if upper else factor


@function(IN_SCIPY.format("cholesky"), "", FAMILY)
def scipy_cholesky(x: Value, lower: bool = False) -> Value:
    """the upper triangular U with U.T @ U = A, or with lower=True its transpose"""
    return build_cholesky(x, upper=not lower)


@function("qr", "torch method", FAMILY)
def qr(x: Value, some: bool = True) -> Parts:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = x"""
    return factored(x, complete=not some)


@function("linalg.qr torch.linalg.qr np.linalg.qr numpy.linalg.qr", "", FAMILY)
def linalg_qr(x: Value, mode: Static = "reduced") -> Parts | Value:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = x; with mode="r" numpy's R"""
    known = mode in ("reduced", "complete", "r")
    require(known, "value", f'qr: mode is "reduced", "complete" or "r", not {mode!r}')
    if mode != "r":
        return factored(x, complete=mode == "complete")
    said = 'qr with mode="r": PyTorch has no derivative there; this is R with mode="reduced".'
    x.f.remark("numpy-only", said)
    return Value(x.f, factored(x, complete=False).part("R"))


@function(IN_SCIPY.format("qr"), "", FAMILY)
def scipy_qr(x: Value, *, mode: Static = "full") -> Parts | tuple[Value]:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = x; with mode="r" R alone"""
    known = mode in ("full", "economic", "r")
    require(known, "value", f'qr: mode is "full", "economic" or "r", not {mode!r}')
    found = factored(x, complete=mode != "economic")
    return (Value(x.f, found.part("R")),) if mode == "r" else found


# --- systems of equations with a triangular matrix ---


def triangle_of(x: Value, upper: bool, ones: bool = False) -> Value:
    """Return one triangle of matrices, with ones on its diagonal if wanted."""
    triangle = TRIU if upper else TRIL
    return x.of(triangle, k=1 if upper else -1) + np.eye(x.shape[-1]) if ones else x.of(triangle, k=0)


@function("solve_triangular", "linalg", FAMILY, kinds="no no no")
def solve_triangular(A: Value, B: Value, upper: bool, left: bool = True, unitriangular: bool = False) -> Value:
    """the X with A @ X = B, or X @ A = B with left=False, where one triangle of A alone is read"""
    require_square(A, "solve_triangular")
    said = f"solve_triangular takes a matrix B, not shape {B.shape}"
    require(B.ndim > 1, "shape", said, hint="write B[:, None]")
    triangle = triangle_of(A, upper, unitriangular)
    require_product(*((A, B) if left else (B, A)), "solve_triangular")
    return triangle.of(SOLVE, B) if left else triangle.mT.of(SOLVE, B.mT).mT


@function(IN_SCIPY.format("solve_triangular"), "", FAMILY, kinds="no no no")
def scipy_solve_triangular(
    A: Value, B: Value, trans: Static = 0, lower: bool = False, unit_diagonal: bool = False
) -> Value:
    """the X with A @ X = B, or A.T @ X = B with trans=1, where one triangle of A alone is read; B may be a vector"""
    require_square(A, "solve_triangular")
    known = trans in (0, 1, 2, "N", "T", "C")
    require(known, "value", f'solve_triangular: trans is 0, 1 or 2, or "N", "T" or "C", not {trans!r}')
    triangle = triangle_of(A, not lower, unit_diagonal)
    triangle = triangle if trans in (0, "N") else triangle.mT
    columns = B.reshape(*B.shape, 1) if B.ndim == 1 else B
    require_product(triangle, columns, "solve_triangular")
    found = triangle.of(SOLVE, columns)
    return found.reshape(*B.shape) if B.ndim == 1 else found


def factor_of(x: Value, upper: bool, name: str) -> Value:
    """Return a triangular factor as it is: PyTorch's derivative is that of L @ L.T, by all entries of L."""
    if np.max(np.abs(np.tril(x.numbers, -1) if upper else np.triu(x.numbers, 1)), initial=0.0) <= 1e-12:
        return x
    x.f.remark(
        "torch-differs",
        f"{name} of a matrix that is not triangular: PyTorch reads one triangle, but its gradient is that by both.",
    )
    return triangle_of(x, upper)


@function("cholesky_solve", "torch method", FAMILY, kinds="no no no")
def cholesky_solve(B: Value, L: Value, upper: bool = False) -> Value:
    """the X with L @ L.T @ X = B for a lower triangular L"""
    require_square(L, "cholesky_solve")
    require(B.ndim > 1, "shape", f"cholesky_solve takes a matrix B, not shape {B.shape}", hint="write B[:, None]")
    require_product(L, B, "cholesky_solve")
    factor = factor_of(L, upper, "cholesky_solve")
    first, then = (factor.mT, factor) if upper else (factor, factor.mT)
    return then.of(SOLVE, first.of(SOLVE, B))


@function("cholesky_inverse", "torch method", FAMILY, kinds="no no no")
def cholesky_inverse(L: Value, upper: bool = False) -> Value:
    """the inverse of L @ L.T for a lower triangular L"""
    require_square(L, "cholesky_inverse")
    inverse = factor_of(L, upper, "cholesky_inverse").of(INV)
    return inverse @ inverse.mT if upper else inverse.mT @ inverse
