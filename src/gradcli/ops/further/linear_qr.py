"""Factors of a matrix: A = Q·R with QᵀQ = 1 and R upper triangular."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply, Op, Parts, declare, value_of
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.further.linear_cholesky import factor_digits, inverse_of
from gradcli.ops.further.linear_equals import NEAR, refuse_arbitrary
from gradcli.ops.further.linear_singular import require_matrix
from gradcli.ops.further.linear_spectra import decomposed, letters_of
from gradcli.ops.indexing import INDEX
from gradcli.ops.linear_algebra import MATMUL
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Line, Order
from gradcli.ops.matrices import eliminated, row_by_row, solved
from gradcli.ops.parts import Piecewise, Said
from gradcli.ops.shaping import TRIU, transpose_matrices
from gradcli.ops.signatures import Array, Mask, Options, Static, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


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


def is_arbitrary(a: Array) -> Mask:
    """Return which columns of Q are a choice: where one of A is a sum of those before it, and from there on."""
    a = np.asarray(a, dtype=np.float64)
    left = np.diagonal(np.linalg.qr(a)[1], axis1=-2, axis2=-1)
    return np.logical_or.accumulate(np.abs(left) <= NEAR * np.sqrt(np.sum(a * a, axis=-2)), axis=-1)


def near_to(guide: Array, a: Array) -> Array:
    """Return Q in many digits with the signs of that in doubles, and columns of this where they are a choice."""
    q = decimals.orthogonal(a)
    return np.where(is_arbitrary(a), guide, q * np.where(np.sum(q.astype(np.float64) * guide, axis=0) < 0, -1, 1))


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


def factored(f: Apply, x: Tensor, complete: bool) -> Parts:
    """Return Q and R of matrices; what is beyond a square on the right is Qᵀ times it."""
    require_matrix(x, "qr")
    rows, columns = x.shape[-2:]
    if complete and rows > columns:
        raise GradcliError(
            "not-differentiable", 'qr with mode="complete" has no derivative for more rows than columns, as in PyTorch'
        )
    square = x if rows >= columns else f(INDEX, x, key=(..., slice(0, rows)))
    made: list[Tensor] = []

    def q() -> Tensor:
        if not made:
            made.append(f(ORTHOGONAL, square))
            refuse_arbitrary(square, is_arbitrary(value_of(square)), "columns of Q where those of A depend")
        return made[0]

    def r() -> Tensor:
        return f(TRIU, f(MATMUL, transpose_matrices(f, q()), x), k=0)

    return Parts(("Q", "R"), (q, r))


@function("qr", "torch method", FAMILY)
def build_qr(f: Apply, x: Tensor, some: Static = True) -> Parts:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = A"""
    return factored(f, x, complete=not some)


@function("linalg.qr torch.linalg.qr np.linalg.qr numpy.linalg.qr", "", FAMILY)
def build_linalg_qr(f: Apply, x: Tensor, mode: Static = "reduced") -> Parts | Tensor:
    """Q with orthogonal columns of length 1, and the upper triangular R, with Q @ R = A; with mode="r" numpy's R"""
    if mode not in ("reduced", "complete", "r"):
        raise GradcliError("value", f'qr: mode is "reduced", "complete" or "r", not {mode!r}')
    if mode == "r":
        f.remark("numpy-only", 'qr with mode="r": PyTorch has no derivative there; this is R with mode="reduced".')
        return factored(f, x, complete=False).part("R")
    return factored(f, x, complete=mode == "complete")
