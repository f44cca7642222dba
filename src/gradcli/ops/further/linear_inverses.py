"""Logarithms of determinants, and inverses of matrices that are not square."""

from __future__ import annotations

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.arithmetic import MUL, SUB
from gradcli.ops.axes import number
from gradcli.ops.declare import Apply, Op, Parts, declare, value_of
from gradcli.ops.dispatch import RULES, in_one_step
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.further.linear_cholesky import factor_digits
from gradcli.ops.further.linear_singular import require_matrix, singular_values, turns_of
from gradcli.ops.further.linear_spectra import decomposed, letters_of
from gradcli.ops.linear_algebra import MATMUL, require_square
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit
from gradcli.ops.making import DETACH
from gradcli.ops.matrices import DET, INV, decomposed_in, eliminated, is_regular, row_by_row, solved
from gradcli.ops.parts import Kink, Piecewise, Said
from gradcli.ops.piecewise import SIGN, WHERE
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.signatures import Array, Indices, Library, Mask, Options, Static, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


def logabsdet_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link log|det A| to A[i, j] with inv(A)[j, i]."""
    del argument, static
    batch, n = letters_of(out, 0), values[0].shape[-1]
    lengths = dict(zip(f"{batch}ij", (*out.shape, n, n), strict=True))
    inverse = ("inv({})", inverse_or_nan(values[0]))
    factor = Explicit(lambda s, entry: entry)
    return [Contraction(batch, f"{batch}ij", lengths, 1.0, factor, ((AUXILIARY, f"{batch}ji"),), inverse)]


def logabsdet_vjp(g: Array, _y: Array, a: Array) -> Array:
    """Return g·A⁻ᵀ."""
    return g[..., None, None] * np.swapaxes(inverse_or_nan(a), -1, -2)


@in_one_step
def inverse_or_nan(a: Array) -> Array:
    """Return the inverse, and nan where there is none but for rounding."""
    found = solved(a, np.broadcast_to(np.eye(a.shape[-1]), a.shape))
    return np.where(is_regular(a, found)[..., None, None], found, np.nan)


RULES[inverse_or_nan] = INV
LOGABSDET = declare(
    Op(
        "logabsdet",
        lambda a: np.linalg.slogdet(a)[1],
        (logabsdet_vjp,),
        logabsdet_local,
        exactly=lambda a: np.log(abs(np.asarray(exactly.det(a), dtype=object))),
        work=row_by_row,
        steps=eliminated,
        digits=lambda out, a: factor_digits(a)[..., 0, 0] * np.max(np.abs(inverse_or_one(a)), axis=(-1, -2)),
        index=Said(),
        backward_text=("{g}[..., None, None]*inv({0}).mT",),
        write=lambda call: f"slogdet({call.texts[0]})[1]",
        torch_saves=("0 own",),
    )
)


def inverse_or_one(a: Array) -> Array:
    """Return the inverse, or ones where there is none."""
    found = inverse_or_nan(a)
    return np.where(np.isfinite(found), found, 1.0)


@function("slogdet", "torch linalg method", FAMILY)
def build_slogdet(f: Apply, x: Tensor) -> Parts:
    """the sign of the determinant, and the logarithm of its size"""
    require_square(x, "slogdet")
    return Parts(("sign", "logabsdet"), (lambda: f(SIGN, f(DET, x)), lambda: f(LOGABSDET, x)))


@function("logdet", "torch method", FAMILY)
def build_logdet(f: Apply, x: Tensor) -> Tensor:
    """the logarithm of the determinant of a square matrix; nan where it is negative"""
    require_square(x, "logdet")
    found = f(LOGABSDET, x)
    negative = np.linalg.slogdet(np.asarray(value_of(x), dtype=np.float64))[0] < 0
    return f(WHERE, negative, np.nan, found) if np.any(negative) else found


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
        pieces=Piecewise(
            rank_of,
            lambda rank, a, atol, rtol: decimals.each_matrix(pinv_in_digits, np.asarray(rank)[..., None, None], a),
        ),
        kink=Kink(is_short_of_rank, "the derivative is that among matrices of the same rank"),
        work=turns_of,
        steps=decomposed_in,
        digits=lambda out, a, atol, rtol: pinv_digits(out, a),
        index=Said(),
        write=lambda call: pinv_text(call.texts[0], **call.static),
        torch_saves=("0 output",),
    )
)


def pinv_text(x: str, atol: float, rtol: float) -> str:
    """Write a call of pinv with its bounds."""
    return f"pinv({x}, atol={atol!r}, rtol={rtol!r})"


def pinv_digits(out: Array, a: Array) -> Array:
    """Return how rounding grows in the derivatives of an inverse: the square of its size, times the condition."""
    size = np.sqrt(np.sum(out * out, axis=(-1, -2), keepdims=True))
    return size * size * (1 + size * np.sqrt(np.sum(a * a, axis=(-1, -2), keepdims=True)))


def inverted(f: Apply, x: Tensor, atol: Static, rtol: Static, least: float) -> Tensor:
    """Return the inverse with the bounds of PyTorch: ``least`` of the largest singular value, unless one is given."""
    require_matrix(x, "pinv")
    low = 0.0 if atol is None else number(atol, "atol")
    share = number(rtol, "rtol") if rtol is not None else 0.0 if low > 0 else least
    return f(PINV, x, atol=low, rtol=share)


@function("pinv", "linalg", FAMILY, op=PINV)
def build_pinv(
    f: Apply, x: Tensor, rcond: Static = None, hermitian: Static = False, atol: Static = None, rtol: Static = None
) -> Tensor:
    """the inverse of a matrix of any shape: what is nearest to one"""
    del hermitian
    return inverted(f, x, atol, rcond if rtol is None else rtol, max(x.shape[-2:], default=1) * EPSILON)


@function("pinverse", "torch method", FAMILY)
def build_pinverse(f: Apply, x: Tensor, rcond: Static = 1e-15) -> Tensor:
    """the inverse of a matrix of any shape; singular values below rcond times the largest count as 0"""
    return inverted(f, x, None, rcond, 1e-15)


@function("lstsq", "linalg", FAMILY, kinds="no no no")
def build_lstsq(
    f: Apply, A: Tensor, B: Tensor, rcond: Static = None, driver: Static = None, library: Library = "torch"
) -> Parts:
    """the X with the least sum of squares of A @ X - B, as .solution or [0]"""
    require_matrix(A, "lstsq")
    if driver not in (None, *DRIVERS):
        raise GradcliError("value", f"lstsq: driver is one of {', '.join(DRIVERS)}, not {driver!r}")
    vector = B.ndim == 1 or B.shape == A.shape[:-1]
    columns = f(RESHAPE, B, shape=(*B.shape, 1)) if vector else B
    m, n = A.shape[-2:]
    if columns.ndim < 2 or columns.shape[-2] != m:
        raise GradcliError("shape", f"lstsq: A of shape {A.shape} and B of shape {B.shape} do not fit")
    least = max(m, n) * EPSILON
    inverse = inverted(f, A, None, rcond, least)
    rank = rank_of(value_of(A), 0.0, least if rcond is None else number(rcond, "rcond"))

    def solution() -> Tensor:
        found = f(MATMUL, inverse, columns)
        return f(RESHAPE, found, shape=found.shape[:-1]) if vector else found

    def residuals() -> Tensor:
        if m <= n or np.any(rank < n) or (library == "torch" and driver in (None, "gelsy")):
            return np.zeros(0)
        left = f(SUB, f(MATMUL, A, f(MATMUL, inverse, columns)), columns)
        return f(SUM, f(MUL, left, left), dim=(left.ndim - 2,), keepdim=False)

    def values() -> Tensor:
        if library != "torch":
            return singular_values(f, A)
        return singular_values(f, f(DETACH, A)) if driver in ("gelss", "gelsd") else np.zeros(0)

    return Parts(
        ("solution", "residuals", "rank", "singular_values"),
        (solution, residuals, lambda: np.zeros(0, dtype=np.intp) if driver == "gels" else rank, values),
    )


DRIVERS = ("gelsy", "gelsd", "gelss", "gels")
"""PyTorch's ways to least squares: the first, which counts unless said otherwise, gives neither residuals nor singular
values, the last no rank and no singular values."""
