"""Factors of a matrix, L·Lᵀ and Q·R, and systems of equations with a triangular matrix.

Functions of matrices: logarithms of determinants, inverses of what is not square, and exponentials.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import (
    OUTPUT,
    RULES,
    WITH_OUTPUT,
    Entries,
    Exactly,
    Keeps,
    Kink,
    Op,
    Parts,
    Piecewise,
    Said,
    Text,
    Torch,
    declare,
    in_one_step,
)
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.further.linear_decompositions import (
    NEAR,
    decomposed,
    factor_digits,
    letters_of,
    refuse_arbitrary,
    require_matrix,
    singular_values,
    symmetric_side,
    turns_of,
)
from gradcli.ops.linear_algebra import require_product, require_square
from gradcli.ops.links import (
    AUXILIARY,
    OUT,
    Array,
    Contraction,
    Explicit,
    Indices,
    Library,
    Line,
    Links,
    Mask,
    Options,
    Order,
    Static,
)
from gradcli.ops.matrices import DET, INV, SOLVE, decomposed_in, eliminated, is_regular, row_by_row, solved
from gradcli.ops.shaping import TRIL, TRIU
from gradcli.ops.values import Value, require, sign, where
from gradcli.ops.vocabulary import OF_FLOATS, STRICT, function

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
        exact=Exactly(value=lambda a: decimals.each_matrix(decimals.cholesky, decimals.symmetric(a)), work=row_by_row),
        steps=eliminated,
        digits=lambda out, a: factor_digits(out),
        entries=Entries(index=Said()),
        torch=Torch(saves=((Keeps.OUTPUT,),)),
        reads=OUTPUT,
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
        exact=Exactly(
            pieces=Piecewise(
                lambda a: np.linalg.qr(np.asarray(a, dtype=np.float64))[0],
                lambda guide, a: decimals.each_matrix(near_to, guide, a),
                open=True,
            ),
            work=row_by_row,
        ),
        steps=eliminated,
        digits=lambda out, a: factor_digits(np.matmul(np.swapaxes(out, -1, -2), a)),
        entries=Entries(index=Said()),
        text=Text(write=lambda call: f"qr({call.texts[0]}).Q"),
        torch=Torch(saves=((Keeps.OUTPUT,),)),
        reads=WITH_OUTPUT,
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


@function("solve_triangular", "linalg", FAMILY, kinds=STRICT)
def solve_triangular(A: Value, B: Value, upper: bool, left: bool = True, unitriangular: bool = False) -> Value:
    """the X with A @ X = B, or X @ A = B with left=False, where one triangle of A alone is read"""
    require_square(A, "solve_triangular")
    said = f"solve_triangular takes a matrix B, not shape {B.shape}"
    require(B.ndim > 1, "shape", said, hint="write B[:, None]")
    triangle = triangle_of(A, upper, unitriangular)
    require_product(*((A, B) if left else (B, A)), "solve_triangular")
    return triangle.of(SOLVE, B) if left else triangle.mT.of(SOLVE, B.mT).mT


@function(IN_SCIPY.format("solve_triangular"), "", FAMILY, kinds=STRICT)
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


@function("cholesky_solve", "torch method", FAMILY, kinds=STRICT)
def cholesky_solve(B: Value, L: Value, upper: bool = False) -> Value:
    """the X with L @ L.T @ X = B for a lower triangular L"""
    require_square(L, "cholesky_solve")
    require(B.ndim > 1, "shape", f"cholesky_solve takes a matrix B, not shape {B.shape}", hint="write B[:, None]")
    require_product(L, B, "cholesky_solve")
    factor = factor_of(L, upper, "cholesky_solve")
    first, then = (factor.mT, factor) if upper else (factor, factor.mT)
    return then.of(SOLVE, first.of(SOLVE, B))


@function("cholesky_inverse", "torch method", FAMILY, kinds=STRICT)
def cholesky_inverse(L: Value, upper: bool = False) -> Value:
    """the inverse of L @ L.T for a lower triangular L"""
    require_square(L, "cholesky_inverse")
    inverse = factor_of(L, upper, "cholesky_inverse").of(INV)
    return inverse @ inverse.mT if upper else inverse.mT @ inverse


# ---- Functions of matrices: logarithms of determinants, inverses of what is not square, and exponentials

ALGEBRA = "linear algebra"


def logabsdet_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link log|det A| to A[i, j] with inv(A)[j, i]."""
    del argument, static
    batch, n = letters_of(out, 0), values[0].shape[-1]
    lengths = dict(zip(f"{batch}ij", (*out.shape, n, n), strict=True))
    inverse = ("inv({})", inverse_or_nan(values[0]))
    factor = Explicit(lambda s, entry: entry)
    return [Contraction(batch, f"{batch}ij", lengths, 1.0, factor, ((AUXILIARY, f"{batch}ji"),), inverse)]


@in_one_step
def inverse_or_nan(a: Array) -> Array:
    """Return the inverse, and nan where there is none but for rounding."""
    found = solved(a, np.broadcast_to(np.eye(a.shape[-1]), a.shape))
    return np.where(is_regular(a, found)[..., None, None], found, np.nan)


def logabsdet_text_back(_k: int, _out: Array, a: Array) -> str:
    """Return the text of g·inv(A)ᵀ."""
    return "{g}*inv({0}).T" if np.ndim(a) == 2 else "{g}[..., None, None]*inv({0}).mT"


RULES[inverse_or_nan] = INV
LOGABSDET = declare(
    Op(
        "logabsdet",
        lambda a: np.linalg.slogdet(a)[1],
        (lambda g, _y, a: g[..., None, None] * np.swapaxes(inverse_or_nan(a), -1, -2),),
        logabsdet_local,
        exact=Exactly(value=lambda a: np.log(abs(np.asarray(exactly.det(a), dtype=object))), work=row_by_row),
        steps=eliminated,
        digits=lambda out, a: factor_digits(a)[..., 0, 0] * np.max(np.abs(inverse_or_one(a)), axis=(-1, -2)),
        entries=Entries(index=Said()),
        text=Text(backward=logabsdet_text_back, write=lambda call: f"slogdet({call.texts[0]})[1]"),
        torch=Torch(saves=((0, Keeps.OWN),)),
    )
)


def inverse_or_one(a: Array) -> Array:
    """Return the inverse, or ones where there is none."""
    found = inverse_or_nan(a)
    return np.where(np.isfinite(found), found, 1.0)


EPSILON = 2.0**-52


def rank_of(a: Array, atol: float, rtol: float) -> Indices:
    """Return how many singular values lie above both bounds, for each matrix."""
    values = np.linalg.svd(np.asarray(a, dtype=np.float64), compute_uv=False)
    bound = np.maximum(atol, rtol * np.max(values, axis=-1, keepdims=True, initial=0.0))
    return np.count_nonzero(values > bound, axis=-1)


def pinv(a: Array, atol: float, rtol: float) -> Array:
    """Return V·diag(1/σ)·Uᵀ for the singular values above both bounds."""
    u, values, vt = np.linalg.svd(a, full_matrices=False)
    kept = np.arange(values.shape[-1]) < rank_of(a, atol, rtol)[..., None]
    inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    return np.matmul(np.swapaxes(vt, -1, -2) * inverse[..., None, :], np.swapaxes(u, -1, -2))


def pinv_in_digits(rank: Indices, a: Array) -> Array:
    """Return the inverse among matrices of this rank."""
    (m, n), count = a.shape, int(rank[0, 0])
    if count < min(m, n):
        u, values, v = decimals.singular(a)
        return (v[:, :count] / values[:count]) @ u[:, :count].T if count else 0 * a.T
    return exactly.solve(a.T @ a, a.T) if m >= n else exactly.solve(a @ a.T, a).T


def pinv_vjp(g: Array, y: Array, a: Array, *, atol: float, rtol: float) -> Array:
    """Return -Pᵀ·g·Pᵀ + (1 - A·P)·gᵀ·P·Pᵀ + Pᵀ·P·gᵀ·(1 - P·A)."""
    del atol, rtol
    pt, gt = np.swapaxes(y, -1, -2), np.swapaxes(g, -1, -2)
    inner, outer = np.matmul(gt, np.matmul(y, pt)), np.matmul(np.matmul(pt, y), gt)
    left = inner - np.matmul(a, np.matmul(y, inner))
    right = outer - np.matmul(np.matmul(outer, y), a)
    return left + right - np.matmul(pt, np.matmul(g, pt))


def pinv_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link P[a, b] to A[i, j] by the equations that define P (A·P·A = A, P·A·P = P, A·P and P·A symmetric):

    -P[a, i]·P[j, b], plus (P·Pᵀ)[a, j]·(1 - A·P)[i, b] and (1 - P·A)[a, j]·(Pᵀ·P)[i, b] where these are not 0.
    """
    del argument
    a, batch, (n, m) = values[0], letters_of(out, 2), out.shape[-2:]
    lengths = dict(zip(f"{batch}abij", (*out.shape, m, n), strict=True))
    rows, columns, product = f"{batch}ab", f"{batch}ij", Explicit(lambda s, *factors: s.product(factors))

    def part(weight: float, place: str, more: dict[str, int], *bound: tuple[int, str]) -> Contraction:
        own = {c: length for c, length in lengths.items() if c in rows + place}
        return Contraction(rows, place, own | more, weight, product, tuple((slot, batch + at) for slot, at in bound))

    found = [part(-1.0, columns, {}, (OUT, "ai"), (OUT, "jb"))]
    full = bool(np.all(rank_of(a, static["atol"], static["rtol"]) == min(m, n)))
    if not full or m > n:
        square = (OUT, "ac"), (OUT, "jc")
        found.append(part(1.0, f"{batch}bj", {"c": m}, *square))
        found.append(part(-1.0, columns, {"c": m, "d": n}, *square, (0, "id"), (OUT, "db")))
    if not full or m < n:
        square = (OUT, "di"), (OUT, "db")
        found.append(part(1.0, f"{batch}ia", {"d": n}, *square))
        found.append(part(-1.0, columns, {"c": m, "d": n}, *square, (OUT, "ac"), (0, "cj")))
    return found


def is_short_of_rank(a: Array, atol: float, rtol: float) -> Mask:
    """Return whether a singular value is taken for 0, for every entry of the inverse."""
    short = rank_of(a, atol, rtol) < min(a.shape[-2:])
    return np.broadcast_to(short[..., None, None], (*a.shape[:-2], a.shape[-1], a.shape[-2]))


PINV = declare(
    Op(
        "pinv",
        decomposed(pinv),
        (pinv_vjp,),
        pinv_local,
        exact=Exactly(
            pieces=Piecewise(
                rank_of,
                lambda rank, a, atol, rtol: decimals.each_matrix(pinv_in_digits, np.asarray(rank)[..., None, None], a),
            ),
            work=turns_of,
        ),
        kink=Kink(is_short_of_rank, "the derivative is that among matrices of the same rank"),
        steps=decomposed_in,
        digits=lambda out, a, atol, rtol: pinv_digits(out, a),
        entries=Entries(index=Said()),
        text=Text(write=lambda call: "pinv({}, atol={atol!r}, rtol={rtol!r})".format(*call.texts, **call.static)),
        torch=Torch(saves=((0, Keeps.OUTPUT),)),
        reads=WITH_OUTPUT,
    )
)


def pinv_digits(out: Array, a: Array) -> Array:
    """Return how rounding grows in the derivatives of an inverse: the square of its size, times the condition."""
    size = np.sqrt(np.sum(out * out, axis=(-1, -2), keepdims=True))
    return size * size * (1 + size * np.sqrt(np.sum(a * a, axis=(-1, -2), keepdims=True)))


@function("slogdet", "torch linalg method", ALGEBRA)
def slogdet(x: Value) -> Parts:
    """the sign of the determinant, and the logarithm of its size"""
    require_square(x, "slogdet")
    return Parts(("sign", "logabsdet"), (lambda: sign(x.of(DET)), lambda: x.of(LOGABSDET)))


@function("logdet", "torch method", ALGEBRA)
def logdet(x: Value) -> Value:
    """the logarithm of the determinant of a square matrix; nan where it is negative"""
    require_square(x, "logdet")
    found = x.of(LOGABSDET)
    negative = np.linalg.slogdet(x.numbers)[0] < 0
    return where(negative, math.nan, found) if np.any(negative) else found


def bounds_of(atol: float | None, rtol: float | None, least: float) -> tuple[float, float]:
    """Return the bounds of PyTorch: ``least`` of the largest singular value, unless one is given."""
    low = 0.0 if atol is None else atol
    return low, rtol if rtol is not None else 0.0 if low > 0 else least


def inverted(x: Value, atol: float | None, rtol: float | None, least: float) -> Value:
    """Return the inverse of what lies above the bounds."""
    require_matrix(x, "pinv")
    low, share = bounds_of(atol, rtol, least)
    return x.of(PINV, atol=low, rtol=share)


@function("pinv", "linalg", ALGEBRA, op=PINV)
def build_pinv(
    x: Value, rcond: float | None = None, hermitian: Static = False, atol: float | None = None,
    rtol: float | None = None,
) -> Value:  # fmt: skip
    """the inverse of a matrix of any shape: what is nearest to one"""
    del hermitian
    return inverted(x, atol, rcond if rtol is None else rtol, max(x.shape[-2:], default=1) * EPSILON)


@function("matrix_rank", "linalg", ALGEBRA, kinds=OF_FLOATS)
def matrix_rank(
    x: Value, tol: float | None = None, hermitian: Static = False, *, atol: float | None = None,
    rtol: float | None = None,
) -> Indices:  # fmt: skip
    """how many singular values of a matrix lie above a bound, tol or atol, or rtol times the largest"""
    del hermitian
    require_matrix(x, "matrix_rank")
    low, share = bounds_of(tol if atol is None else atol, rtol, max(x.shape[-2:]) * EPSILON)
    return np.asarray(rank_of(x.numbers, low, share))


@function("pinverse", "torch method", ALGEBRA)
def pinverse(x: Value, rcond: float = 1e-15) -> Value:
    """the inverse of a matrix of any shape; singular values below rcond times the largest count as 0"""
    return inverted(x, None, rcond, 1e-15)


DRIVERS = ("gelsy", "gelsd", "gelss", "gels")
"""PyTorch's ways to least squares: the first, which counts unless said otherwise, gives neither residuals nor singular
values, the last no rank and no singular values."""


@function("lstsq", "linalg", ALGEBRA, kinds=STRICT)
def lstsq(A: Value, B: Value, rcond: float | None = None, driver: Static = None, library: Library = "torch") -> Parts:
    """the X with the least sum of squares of A @ X - B, as .solution or [0]"""
    require_matrix(A, "lstsq")
    known = driver in (None, *DRIVERS)
    require(known, "value", f"lstsq: driver is one of {', '.join(DRIVERS)}, not {driver!r}")
    vector = B.ndim == 1 or B.shape == A.shape[:-1]
    columns = B.reshape(*B.shape, 1) if vector else B
    m, n = A.shape[-2:]
    fits = columns.ndim > 1 and columns.shape[-2] == m
    require(fits, "shape", f"lstsq: A of shape {A.shape} and B of shape {B.shape} do not fit")
    least = max(m, n) * EPSILON
    inverse = inverted(A, None, rcond, least)
    rank = rank_of(A.raw, 0.0, least if rcond is None else rcond)

    def solution() -> Value:
        found = inverse @ columns
        return found.reshape(*found.shape[:-1]) if vector else found

    def residuals() -> Value | Array:
        if m <= n or np.any(rank < n) or (library == "torch" and driver in (None, "gelsy")):
            return np.zeros(0)
        left = A @ (inverse @ columns) - columns
        return (left * left).sum(left.ndim - 2)

    def values() -> Value | Array:
        if library != "torch":
            return singular_values(A)
        return singular_values(A.detach()) if driver in ("gelss", "gelsd") else np.zeros(0)

    return Parts(
        ("solution", "residuals", "rank", "singular_values"),
        (solution, residuals, lambda: np.zeros(0, dtype=np.intp) if driver == "gels" else rank, values),
    )


# --- exponentials ---


@in_one_step
def matrix_exp(a: Array) -> Array:
    """Return exp(A): the series of a part of A that is small, squared as often as it was halved."""
    size = np.max(np.sum(np.abs(a), axis=-1), initial=0.0)
    halves = max(0, int(np.ceil(np.log2(size))) + 1) if size > 0.5 else 0
    part, unit = a / 2.0**halves, np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    total = unit
    for k in range(18, 0, -1):
        total = unit + np.matmul(part, total) / k
    for _ in range(halves):
        total = np.matmul(total, total)
    return total


def matrix_exp_vjp(g: Array, _y: Array, a: Array) -> Array:
    """Return the upper right part of exp((Aᵀ, g; 0, Aᵀ)) (PyTorch's ``linalg_matrix_exp_differential``)."""
    turned = np.swapaxes(a, -1, -2)
    size = np.max(np.abs(g), initial=0.0)
    scale = size if 0 < size < np.inf else 1.0
    whole = np.concatenate(
        [np.concatenate([turned, g / scale], -1), np.concatenate([np.zeros_like(a), turned], -1)], axis=-2
    )
    n = a.shape[-1]
    return matrix_exp(whole)[..., :n, n:] * scale


def matrix_exp_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link exp(A) to A with the integral of exp(s·A)[a, i]·exp((1 - s)·A)[j, b] over s from 0 to 1, by its numbers."""
    del argument, static
    a, n = values[0], out.shape[-1]
    size = float(np.max(np.sum(np.abs(a), axis=-1), initial=0.0))
    nodes, weights = np.polynomial.legendre.leggauss(24 + int(min(2 * size, 400)))
    before = np.stack([matrix_exp(s * a) for s in (nodes + 1) / 2])
    after = np.stack([matrix_exp((1 - s) * a) for s in (nodes + 1) / 2])
    slopes = np.einsum("qzai,qzjb,q->zabij", *(x.reshape(len(nodes), -1, n, n) for x in (before, after)), weights / 2)
    place = np.arange(np.size(a), dtype=np.intp).reshape(-1, n, n)
    rows = np.broadcast_to(place[:, :, :, None, None], slopes.shape).ravel()
    columns = np.broadcast_to(place[:, None, None], slopes.shape).ravel()
    return [Links(rows, columns, slopes.ravel())]


def exponential_text_back(_k: int, out: Array, _a: Array) -> str:
    """Return the text of the vjp of exp."""
    n = out.shape[-1]
    whole = "cat([cat([{0}.mT, {g}], -1), cat([zeros_like({0}), {0}.mT], -1)], -2)"
    return f"matrix_exp({whole})[..., :{n}, {n}:]"


MATRIX_EXP = declare(
    Op(
        "matrix_exp",
        decomposed(matrix_exp),
        (matrix_exp_vjp,),
        matrix_exp_local,
        exact=Exactly(
            value=lambda a: decimals.each_matrix(decimals.exponential, a),
            work=lambda out, a: 60 * row_by_row(out, a) * int(a.shape[-1]),
        ),
        terms=lambda a: int(np.size(a)) * int(a.shape[-1]) ** 2,
        steps=decomposed_in,
        digits=lambda out, a: exponential_digits(a),
        entries=Entries(index=Said()),
        text=Text(backward=exponential_text_back),
        torch=Torch(saves=((0,),)),
    )
)

RULES[matrix_exp] = MATRIX_EXP


def exponential_digits(a: Array) -> Array:
    """Return how rounding grows in exp(A): as exp of the norm of A."""
    size = np.exp(np.minimum(np.linalg.norm(a, 2, (-2, -1)), 700.0))
    return np.broadcast_to(size[..., None, None], a.shape)


@function(
    "matrix_exp scipy.linalg.expm jax.scipy.linalg.expm", "torch linalg method", ALGEBRA, op=MATRIX_EXP,
    kinds=OF_FLOATS,
)  # fmt: skip
def build_matrix_exp(x: Value) -> Value:
    """the exponential of a square matrix, and not of its entries"""
    require_square(x, "matrix_exp")
    return x.of(MATRIX_EXP)
