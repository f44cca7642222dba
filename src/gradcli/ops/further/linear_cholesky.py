"""The triangular factor of a symmetric matrix: A = L·Lᵀ."""

from __future__ import annotations

import numpy as np

from gradcli.ops.declare import Apply, Op, declare
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.further.linear_equals import NEAR
from gradcli.ops.further.linear_spectra import decomposed, letters_of, symmetric_side
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Line, Order
from gradcli.ops.matrices import eliminated, row_by_row
from gradcli.ops.parts import Said
from gradcli.ops.shaping import transpose_matrices
from gradcli.ops.signatures import Array, Options, Static, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


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


def factor_digits(factor: Array) -> Array:
    """Return by how much rounding grows in a factor's derivatives: as its condition number says."""
    count = min(factor.shape[-2:])
    known = np.linalg.cond(factor[..., :count, :count])[..., None, None]
    return np.minimum(np.where(np.isfinite(known), known, 1e16), 1e16)


@function("cholesky", "torch linalg method", FAMILY, op=CHOLESKY)
def build_cholesky(f: Apply, x: Tensor, upper: Static = False) -> Tensor:
    """the lower triangular L with L @ L.T = A, or with upper=True its transpose"""
    factor = f(CHOLESKY, symmetric_side(f, x, "U" if upper else "L", "cholesky"))
    return transpose_matrices(f, factor) if upper else factor
