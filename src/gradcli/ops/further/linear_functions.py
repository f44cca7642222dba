"""Functions of matrices: factors L·Lᵀ and Q·R, triangular systems, determinants, pseudo-inverses, exponentials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import RULES, Keeps, Kink, Parts, Piecewise, Text, Torch, in_one_step
from gradcli.ops.exactly import each_matrix
from gradcli.ops.further.linear_decompositions import (
    NEAR,
    contraction,
    cubed,
    decomposed,
    doubles,
    factor_digits,
    in_mpmath,
    orthogonal,
    refuse_choices,
    require_matrix,
    singular,
    singular_values,
    symmetric,
    symmetric_side,
)
from gradcli.ops.linear_algebra import require_product, require_square
from gradcli.ops.links import AUXILIARY, OUT, Array, At, Contraction, Indices, Library, Line, Links, Mask, Order, Static
from gradcli.ops.matrices import DET, INV, SOLVE, is_regular, of_matrices, row_by_row, solved
from gradcli.ops.shaping import TRIL, TRIU
from gradcli.ops.values import Value, require, sign, where
from gradcli.ops.vocabulary import OF_FLOATS, STRICT, function

FAMILY = "linear algebra"
IN_SCIPY = "scipy.linalg.{0} jax.scipy.linalg.{0}"
"""The names of a function of SciPy, and of JAX's copy of it, that is another in NumPy and PyTorch."""


def turned(a: Any) -> Array:
    """Return matrices transposed."""
    return np.swapaxes(a, -1, -2)


@in_one_step
def inverse_or_nan(a: Array) -> Array:
    """Return the inverse, and nan where there is none but for rounding."""
    inverse = solved(a, np.broadcast_to(np.eye(a.shape[-1]), a.shape))
    return np.where(is_regular(a, inverse)[..., None, None], inverse, np.nan)


RULES[inverse_or_nan] = INV


# --- L·Lᵀ ---


def lower(a: Array) -> Array:
    """Return L, and no square of its diagonal that is what rounding left of an entry of A: that may be below 0 too."""
    factor = np.linalg.cholesky(symmetric(a))
    if np.any(np.diagonal(factor * factor, axis1=-2, axis2=-1) <= NEAR * np.diagonal(a, axis1=-2, axis2=-1)):
        raise np.linalg.LinAlgError("matrix is not positive definite")
    return factor


def cholesky_local(at: At) -> list[Contraction]:
    """Link L[i, j] to A[k, l]: dL = L·Φ(W·dA·Wᵀ) for W = inv(L), Φ the lower triangle with half of its diagonal.

    So L[i, b]·W[b, k]·W[j, l] for b > j and half of it for b = j, and as much for A[l, k], half of each.
    """
    lengths = dict.fromkeys("ijklb", at.out.shape[-1])
    inverse = ("inv(cholesky({}))", inverse_or_nan(at.out))
    line: dict[str, Any] = {"line": Line("b", "j", Order.NOT_BEFORE)}
    below = (OUT, "ib"), (AUXILIARY, "bk"), (AUXILIARY, "jl")
    beside = (OUT, "ij"), (AUXILIARY, "jk"), (AUXILIARY, "jl")
    return [
        contraction(at.out, lengths, "ij", columns, *bound, weight=weight, auxiliary=inverse, **more)
        for columns in ("kl", "lk")
        for bound, weight, more in ((below, 0.5, line), (beside, -0.25, {}))
    ]


def cholesky_vjp(g: Array, y: Array, _a: Array) -> Array:
    """Return the symmetric part of L⁻ᵀ·Φ(Lᵀ·g)·L⁻¹ (PyTorch's ``cholesky_backward``)."""
    inner = np.tril(np.matmul(turned(y), g))
    inner = inner - np.tril(np.triu(inner)) / 2
    half = np.linalg.solve(turned(y), (inner + turned(inner)) / 2)
    return turned(np.linalg.solve(turned(y), turned(half)))


CHOLESKY = of_matrices(
    "cholesky",
    decomposed(lower),
    (cholesky_vjp,),
    cholesky_local,
    exactly=lambda a: each_matrix(lambda x: in_mpmath(lambda mp, x: (mp.cholesky(x),), x)[0], symmetric(a)),
    digits=lambda out, a: factor_digits(out),
    torch=Torch(saves=((Keeps.OUTPUT,),)),
)


@function("cholesky", "torch linalg method", FAMILY, op=CHOLESKY)
def build_cholesky(x: Value, upper: bool = False) -> Value:
    """the lower triangular L with L @ L.T = x, or with upper=True its transpose"""
    factor = symmetric_side(x, "U" if upper else "L", "cholesky").of(CHOLESKY)
    return factor.mT if upper else factor


@function(IN_SCIPY.format("cholesky"), "", FAMILY)
def scipy_cholesky(x: Value, lower: bool = False) -> Value:
    """the upper triangular U with U.T @ U = A, or with lower=True its transpose"""
    return build_cholesky(x, upper=not lower)


# --- Q·R ---


def q_local(at: At) -> list[Contraction]:
    """Link Q[a, j] to A[i, l] by differentiating QᵀQ = 1 and A = Q·R, for W = inv(R).

    1[a, i]·W[l, j] - the sum over b ≤ j of Q[a, b]·Q[i, b]·W[l, j] - that over b < j of Q[a, b]·Q[i, j]·W[l, b].
    """
    (m, n), inverse = at.out.shape[-2:], inverse_or_nan(np.matmul(turned(at.out), at.x))
    lengths = dict(zip("ajilb", (m, n, m, n, n), strict=True))
    how: dict[str, Any] = {"auxiliary": ("inv(qr({}).R)", inverse)}
    line = Line("j", "b", Order.NOT_BEFORE)

    def part(weight: float, first: str, second: str, third: str, **more: Any) -> Contraction:
        bound = (OUT, first), (OUT, second), (AUXILIARY, third)
        return contraction(at.out, lengths, "aj", "il", *bound, weight=weight, **how, **more)

    return [
        contraction(at.out, lengths, "aj", "al", (AUXILIARY, "lj"), **how),
        part(-1.0, "ab", "ib", "lj", line=line),
        part(-1.0, "ab", "ij", "lb", line=line),
        part(1.0, "aj", "ij", "lj"),
    ]


def q_vjp(g: Array, y: Array, a: Array) -> Array:
    """Return (g + Q·copyltu(-gᵀ·Q))·R⁻ᵀ (PyTorch's ``linalg_qr_backward`` with a cotangent of Q alone)."""
    inner = -np.matmul(turned(g), y)
    both = np.tril(inner) + turned(np.tril(inner, -1))
    return turned(solved(np.matmul(turned(y), a), turned(g + np.matmul(y, both))))


def are_choices(a: Array) -> Mask:
    """Return which columns of Q are a choice: where one of A is a sum of those before it, and from there on."""
    a = doubles(a)
    left = np.diagonal(np.linalg.qr(a)[1], axis1=-2, axis2=-1)
    return np.logical_or.accumulate(np.abs(left) <= NEAR * np.sqrt(np.sum(a * a, axis=-2)), axis=-1)


def q_on(guide: Array, a: Any) -> Any:
    """Return Q in many digits, as near to that of doubles as it comes."""
    q = orthogonal(a)
    signs = np.where(np.sum(q.astype(np.float64) * guide, axis=0) < 0, -1, 1)
    return np.where(are_choices(a), guide, q * signs)


ORTHOGONAL = of_matrices(
    "orthogonal",
    decomposed(lambda a: np.linalg.qr(a)[0]),
    (q_vjp,),
    q_local,
    pieces=Piecewise(lambda a: np.linalg.qr(doubles(a))[0], lambda guide, a: each_matrix(q_on, guide, a), open=True),
    digits=lambda out, a: factor_digits(np.matmul(turned(out), a)),
    text=Text(write=lambda call: f"qr({call.texts[0]}).Q"),
    torch=Torch(saves=((Keeps.OUTPUT,),)),
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
            refuse_choices(square, are_choices(square.raw), "columns of Q where those of A depend")
        return made[0]

    return Parts(("Q", "R"), (q, lambda: (q().mT @ x).of(TRIU, k=0)))


@function("qr", "torch method", FAMILY)
def qr(x: Value, some: bool = True) -> Parts:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = x"""
    return factored(x, complete=not some)


@function("linalg.qr torch.linalg.qr np.linalg.qr numpy.linalg.qr", "", FAMILY)
def linalg_qr(x: Value, mode: Static = "reduced") -> Parts | Value:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = x; with mode="r" numpy's R"""
    fits = mode in ("reduced", "complete", "r")
    require(fits, "value", f'qr: mode is "reduced", "complete" or "r", not {mode!r}')
    if mode != "r":
        return factored(x, complete=mode == "complete")
    said = 'qr with mode="r": PyTorch has no derivative there; this is R with mode="reduced".'
    x.f.remark("numpy-only", said)
    return Value(x.f, factored(x, complete=False).part("R"))


@function(IN_SCIPY.format("qr"), "", FAMILY)
def scipy_qr(x: Value, *, mode: Static = "full") -> Parts | tuple[Value]:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = x; with mode="r" R alone"""
    fits = mode in ("full", "economic", "r")
    require(fits, "value", f'qr: mode is "full", "economic" or "r", not {mode!r}')
    factors = factored(x, complete=mode != "economic")
    return (Value(x.f, factors.part("R")),) if mode == "r" else factors


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
    fits = trans in (0, 1, 2, "N", "T", "C")
    require(fits, "value", f'solve_triangular: trans is 0, 1 or 2, or "N", "T" or "C", not {trans!r}')
    triangle = triangle_of(A, not lower, unit_diagonal)
    triangle = triangle if trans in (0, "N") else triangle.mT
    columns = B.reshape(*B.shape, 1) if B.ndim == 1 else B
    require_product(triangle, columns, "solve_triangular")
    solution = triangle.of(SOLVE, columns)
    return solution.reshape(*B.shape) if B.ndim == 1 else solution


def factor_of(x: Value, upper: bool, name: str) -> Value:
    """Return a triangular factor as it is: PyTorch's derivative is that of L @ L.T, by all entries of L."""
    require_square(x, name)
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
    inverse = factor_of(L, upper, "cholesky_inverse").of(INV)
    return inverse @ inverse.mT if upper else inverse.mT @ inverse


# --- logarithms of determinants ---


def logabsdet_local(at: At) -> list[Contraction]:
    """Link log|det A| to A[i, j] with inv(A)[j, i]."""
    inverse, lengths = ("inv({})", inverse_or_nan(at.x)), dict.fromkeys("ij", at.x.shape[-1])
    return [contraction(at.out, lengths, "", "ij", (AUXILIARY, "ji"), auxiliary=inverse)]


def logabsdet_digits(_out: Array, a: Array) -> Array:
    """Return how rounding grows in the entries of inv(A)."""
    inverse = inverse_or_nan(a)
    return factor_digits(a)[..., 0, 0] * np.max(np.abs(np.where(np.isfinite(inverse), inverse, 1.0)), axis=(-1, -2))


LOGABSDET = of_matrices(
    "logabsdet",
    lambda a: np.linalg.slogdet(a)[1],
    (lambda g, _y, a: g[..., None, None] * turned(inverse_or_nan(a)),),
    logabsdet_local,
    exactly=lambda a: np.log(abs(np.asarray(exactly.det(a), dtype=object))),
    digits=logabsdet_digits,
    text=Text(
        backward=lambda _k, _out, a: "{g}*inv({0}).T" if np.ndim(a) == 2 else "{g}[..., None, None]*inv({0}).mT",
        write=lambda call: f"slogdet({call.texts[0]})[1]",
    ),
    torch=Torch(saves=((0, Keeps.OWN),)),
)


@function("slogdet", "torch linalg method", FAMILY)
def slogdet(x: Value) -> Parts:
    """the sign of the determinant, and the logarithm of its size"""
    require_square(x, "slogdet")
    return Parts(("sign", "logabsdet"), (lambda: sign(x.of(DET)), lambda: x.of(LOGABSDET)))


@function("logdet", "torch method", FAMILY)
def logdet(x: Value) -> Value:
    """the logarithm of the determinant of a square matrix; nan where it is negative"""
    require_square(x, "logdet")
    logarithm = x.of(LOGABSDET)
    negative = np.linalg.slogdet(x.numbers)[0] < 0
    return where(negative, math.nan, logarithm) if np.any(negative) else logarithm


# --- inverses of matrices of any shape ---

EPSILON = 2.0**-52


def rank_of(a: Array, atol: float, rtol: float) -> Indices:
    """Return how many singular values lie above both bounds, for each matrix."""
    values = np.linalg.svd(doubles(a), compute_uv=False)
    bound = np.maximum(atol, rtol * np.max(values, axis=-1, keepdims=True, initial=0.0))
    return np.count_nonzero(values > bound, axis=-1)


def pinv(a: Array, atol: float, rtol: float) -> Array:
    """Return V·diag(1/σ)·Uᵀ for the singular values above both bounds."""
    u, values, vt = np.linalg.svd(a, full_matrices=False)
    kept = np.arange(values.shape[-1]) < rank_of(a, atol, rtol)[..., None]
    inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    return np.matmul(turned(vt) * inverse[..., None, :], turned(u))


def pinv_in_digits(rank: Indices, a: Any) -> Any:
    """Return the inverse among matrices of this rank."""
    count = int(rank[0, 0])
    u, values, v = singular(a)
    return (v[:, :count] / values[:count]) @ u[:, :count].T if count else 0 * a.T


def pinv_vjp(g: Array, y: Array, a: Array, *, atol: float, rtol: float) -> Array:
    """Return -Pᵀ·g·Pᵀ + (1 - A·P)·gᵀ·P·Pᵀ + Pᵀ·P·gᵀ·(1 - P·A)."""
    del atol, rtol
    pt, gt = turned(y), turned(g)
    inner, outer = np.matmul(gt, np.matmul(y, pt)), np.matmul(np.matmul(pt, y), gt)
    left = inner - np.matmul(a, np.matmul(y, inner))
    right = outer - np.matmul(np.matmul(outer, y), a)
    return left + right - np.matmul(pt, np.matmul(g, pt))


def pinv_local(at: At) -> list[Contraction]:
    """Link P[a, b] to A[i, j] by the equations that define P (A·P·A = A, P·A·P = P, A·P and P·A symmetric):

    -P[a, i]·P[j, b], plus (P·Pᵀ)[a, j]·(1 - A·P)[i, b] and (1 - P·A)[a, j]·(Pᵀ·P)[i, b] where these are not 0.
    """
    (n, m), full = at.out.shape[-2:], not np.any(is_short_of_rank(at.x, **at.static))
    lengths = dict(zip("abijcd", (n, m, m, n, m, n), strict=True))
    above, below = ((OUT, "ac"), (OUT, "jc")), ((OUT, "di"), (OUT, "db"))

    def part(weight: float, place: str, *bound: tuple[Any, str]) -> Contraction:
        return contraction(at.out, lengths, "ab", place, *bound, weight=weight)

    result = [part(-1.0, "ij", (OUT, "ai"), (OUT, "jb"))]
    if not full or m > n:
        result += [part(1.0, "bj", *above), part(-1.0, "ij", *above, (0, "id"), (OUT, "db"))]
    if not full or m < n:
        result += [part(1.0, "ia", *below), part(-1.0, "ij", *below, (OUT, "ac"), (0, "cj"))]
    return result


def is_short_of_rank(a: Array, atol: float, rtol: float) -> Mask:
    """Return whether a singular value is taken for 0, for every entry of the inverse."""
    short = rank_of(a, atol, rtol) < min(a.shape[-2:])
    return np.broadcast_to(short[..., None, None], (*a.shape[:-2], a.shape[-1], a.shape[-2]))


def pinv_digits(out: Array, a: Array, **_static: float) -> Array:
    """Return how rounding grows in the derivatives of an inverse: the square of its size, times the condition."""
    size = np.sqrt(np.sum(out * out, axis=(-1, -2), keepdims=True))
    return size * size * (1 + size * np.sqrt(np.sum(a * a, axis=(-1, -2), keepdims=True)))


PINV = of_matrices(
    "pinv",
    decomposed(pinv),
    (pinv_vjp,),
    pinv_local,
    pieces=Piecewise(
        rank_of, lambda rank, a, atol, rtol: each_matrix(pinv_in_digits, np.asarray(rank)[..., None, None], a)
    ),
    work=cubed,
    kink=Kink(is_short_of_rank, "the derivative is that among matrices of the same rank"),
    digits=pinv_digits,
    text=Text(write=lambda call: "pinv({}, atol={atol!r}, rtol={rtol!r})".format(*call.texts, **call.static)),
    torch=Torch(saves=((0, Keeps.OUTPUT),)),
)


def bounds_of(atol: float | None, rtol: float | None, least: float) -> tuple[float, float]:
    """Return the bounds of PyTorch: ``least`` of the largest singular value, unless one is given."""
    low = 0.0 if atol is None else atol
    return low, rtol if rtol is not None else 0.0 if low > 0 else least


def inverted(x: Value, atol: float | None, rtol: float | None, least: float) -> Value:
    """Return the inverse of what lies above the bounds."""
    require_matrix(x, "pinv")
    low, share = bounds_of(atol, rtol, least)
    return x.of(PINV, atol=low, rtol=share)


@function("pinv", "linalg", FAMILY, op=PINV)
def build_pinv(
    x: Value,
    rcond: float | None = None,
    hermitian: Static = False,
    atol: float | None = None,
    rtol: float | None = None,
) -> Value:
    """the inverse of a matrix of any shape: what is nearest to one"""
    del hermitian
    return inverted(x, atol, rcond if rtol is None else rtol, max(x.shape[-2:], default=1) * EPSILON)


@function("pinverse", "torch method", FAMILY)
def pinverse(x: Value, rcond: float = 1e-15) -> Value:
    """the inverse of a matrix of any shape; singular values below rcond times the largest count as 0"""
    return inverted(x, None, rcond, 1e-15)


@function("matrix_rank", "linalg", FAMILY, kinds=OF_FLOATS)
def matrix_rank(
    x: Value,
    tol: float | None = None,
    hermitian: Static = False,
    *,
    atol: float | None = None,
    rtol: float | None = None,
) -> Indices:
    """how many singular values of a matrix lie above a bound, tol or atol, or rtol times the largest"""
    del hermitian
    require_matrix(x, "matrix_rank")
    low, share = bounds_of(tol if atol is None else atol, rtol, max(x.shape[-2:]) * EPSILON)
    return np.asarray(rank_of(x.numbers, low, share))


DRIVERS = ("gelsy", "gelsd", "gelss", "gels")
"""PyTorch's ways to least squares: the first, which counts unless said otherwise, gives neither residuals nor singular
values, the last no rank and no singular values."""


@function("lstsq", "linalg", FAMILY, kinds=STRICT)
def lstsq(A: Value, B: Value, rcond: float | None = None, driver: Static = None, library: Library = "torch") -> Parts:
    """the X with the least sum of squares of A @ X - B, as .solution or [0]"""
    require_matrix(A, "lstsq")
    fits = driver in (None, *DRIVERS)
    require(fits, "value", f"lstsq: driver is one of {', '.join(DRIVERS)}, not {driver!r}")
    vector = B.ndim == 1 or B.shape == A.shape[:-1]
    columns = B.reshape(*B.shape, 1) if vector else B
    m, n = A.shape[-2:]
    fits = columns.ndim > 1 and columns.shape[-2] == m
    require(fits, "shape", f"lstsq: A of shape {A.shape} and B of shape {B.shape} do not fit")
    least = max(m, n) * EPSILON
    inverse = inverted(A, None, rcond, least)
    rank = rank_of(A.raw, 0.0, least if rcond is None else rcond)

    def solution() -> Value:
        x = inverse @ columns
        return x.reshape(*x.shape[:-1]) if vector else x

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
    size, n, flipped = np.max(np.abs(g), initial=0.0), a.shape[-1], turned(a)
    scale = size if 0 < size < np.inf else 1.0
    above, below = np.concatenate([flipped, g / scale], -1), np.concatenate([np.zeros_like(a), flipped], -1)
    return matrix_exp(np.concatenate([above, below], axis=-2))[..., :n, n:] * scale


def matrix_exp_local(at: At) -> list[Links]:
    """Link exp(A) to A with the integral of exp(s·A)[a, i]·exp((1 - s)·A)[j, b] over s from 0 to 1, by its numbers."""
    a, n = at.x, at.out.shape[-1]
    size = float(np.max(np.sum(np.abs(a), axis=-1), initial=0.0))
    nodes, weights = np.polynomial.legendre.leggauss(24 + int(min(2 * size, 400)))
    before, after = (np.stack([matrix_exp((1 + way * s) / 2 * a) for s in nodes]) for way in (1, -1))
    slopes = np.einsum("qzai,qzjb,q->zabij", *(x.reshape(len(nodes), -1, n, n) for x in (before, after)), weights / 2)
    place = np.arange(np.size(a), dtype=np.intp).reshape(-1, n, n)
    rows = np.broadcast_to(place[:, :, :, None, None], slopes.shape).ravel()
    columns = np.broadcast_to(place[:, None, None], slopes.shape).ravel()
    return [Links(rows, columns, slopes.ravel())]


def exponential_text_back(_k: int, out: Array, _a: Array) -> str:
    """Return the text of the vjp of exp."""
    whole = "cat([cat([{0}.mT, {g}], -1), cat([zeros_like({0}), {0}.mT], -1)], -2)"
    return f"matrix_exp({whole})[..., :{out.shape[-1]}, {out.shape[-1]}:]"


def exponential_digits(_out: Array, a: Array) -> Array:
    """Return how rounding grows in exp(A): as exp of the norm of A."""
    size = np.exp(np.minimum(np.linalg.norm(a, 2, (-2, -1)), 700.0))
    return np.broadcast_to(size[..., None, None], a.shape)


MATRIX_EXP = of_matrices(
    "matrix_exp",
    decomposed(matrix_exp),
    (matrix_exp_vjp,),
    matrix_exp_local,
    exactly=lambda a: each_matrix(lambda x: in_mpmath(lambda mp, x: (mp.expm(x),), x)[0], a),
    work=lambda out, a: 60 * row_by_row(out, a) * int(a.shape[-1]),
    terms=lambda a: int(np.size(a)) * int(a.shape[-1]) ** 2,
    digits=exponential_digits,
    text=Text(backward=exponential_text_back),
    torch=Torch(saves=((0,),)),
)
RULES[matrix_exp] = MATRIX_EXP


@function(
    "matrix_exp scipy.linalg.expm jax.scipy.linalg.expm", "torch linalg method", FAMILY, op=MATRIX_EXP,
    kinds=OF_FLOATS,
)  # fmt: skip
def build_matrix_exp(x: Value) -> Value:
    """the exponential of a square matrix, and not of its entries"""
    require_square(x, "matrix_exp")
    return x.of(MATRIX_EXP)
