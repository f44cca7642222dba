"""Eigenvalues and eigenvectors of symmetric matrices: A·v = λ·v.

As in PyTorch one triangle of a matrix is read, and the derivative is that by a matrix that stays symmetric.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, SUB
from gradcli.ops.declare import Apply, Op, Parts, declare, value_of
from gradcli.ops.dispatch import RULES, rule_for
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.further.linear_equals import groups_of, has_twin, refuse_arbitrary, shared
from gradcli.ops.linear_algebra import require_square
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Line, Order
from gradcli.ops.making import DETACH
from gradcli.ops.matrices import BATCHES, decomposed_in
from gradcli.ops.parts import Piecewise, Said
from gradcli.ops.shaping import TRIL, TRIU, transpose_matrices
from gradcli.ops.signatures import Array, Forward, Options, Static, Tensor
from gradcli.ops.tracing import applied
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


def mirrored(a: Array) -> Array:
    """Return matrices with the lower triangle in the place of the upper one too."""
    return np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)


def decomposed(rule: Forward) -> Forward:
    """Return a rule of numpy's for matrices, with errors of ours where they are not finite or where it fails."""

    def forward(a: Array, **static: Any) -> Array:
        if not np.all(np.isfinite(a)):
            raise GradcliError("value", "a decomposition takes finite numbers: the matrix holds inf or nan")
        try:
            return rule(a, **static)
        except np.linalg.LinAlgError as error:
            raise GradcliError("value", f"the matrix has no such decomposition: {str(error).lower()}") from None

    return forward


def nearness(values: Array, least: float = -1.0) -> Array:
    """Return for each eigenvalue how many times nearer the next one is than the largest is to 0: so rounding grows.

    That is 1 for equal ones, and 0 for one of 0 that has no slope.
    """
    n, groups = values.shape[-1], groups_of(values, least)
    apart = np.abs(values[..., :, None] - values[..., None, :])
    gap = np.min(np.where((np.eye(n) == 1) | (apart == 0), np.inf, apart), axis=-1, initial=np.inf)
    grown = 1 + n * np.max(np.abs(values), axis=-1, keepdims=True) / gap
    return np.where(groups < 0, 0.0, np.where(has_twin(groups), 1.0, grown))


def null_vectors(a: Array, values: Array) -> Array:
    """Return for each eigenvalue a vector of unit length with (A - λ)·v = 0, as columns."""
    shifted = mirrored(a)[..., None, :, :] - values[..., :, None, None] * np.eye(a.shape[-1])
    return np.swapaxes(np.linalg.svd(shifted)[2][..., -1, :], -1, -2)


def vectors_for(a: Array, values: Array) -> Array:
    """Return the eigenvectors: of simple eigenvalues by the equation that defines them, of others as doubles gave."""
    found = np.linalg.eigh(a)[1]
    simple = null_vectors(a, values)
    signs = np.where(np.sum(simple * found, axis=-2, keepdims=True) < 0, -1.0, 1.0)
    return np.where(has_twin(groups_of(values))[..., None, :], found, simple * signs)


EQUAL = "eigenvectors of equal eigenvalues"


def letters_of(out: Array, own: int) -> str:
    """Return letters for the axes of a batch: those of the output but its ``own``."""
    return BATCHES[: out.ndim - own]


def eigenvalue_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link λ[k] to A[i, j] with v[i, k]·v[j, k]."""
    del argument, static
    batch = letters_of(out, 1)
    lengths = dict(zip(f"{batch}kij", (*out.shape, *out.shape[-1:] * 2), strict=True))
    factor = Explicit(lambda s, left, right: left * right)
    bound = ((AUXILIARY, f"{batch}ik"), (AUXILIARY, f"{batch}jk"))
    vectors = ("eigh({})[1]", vectors_for(values[0], out))
    return [Contraction(f"{batch}k", f"{batch}ij", lengths, 1.0, factor, bound, vectors)]


def eigenvalue_vjp(g: Array, _y: Array, a: Array) -> Array:
    """Return V·diag(g)·Vᵀ."""
    vectors = np.linalg.eigh(a)[1]
    return np.matmul(vectors * g[..., None, :], np.swapaxes(vectors, -1, -2))


def eigenvector_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link v[a, k] to A[i, j] with the sum over b ≠ k of v[a, b]·v[i, b]·v[j, k]/(λ[k] - λ[b]), symmetric in i, j."""
    del argument, static
    batch, n = letters_of(out, 2), out.shape[-1]
    lengths = dict(zip(f"{batch}akijb", (*out.shape, n, n, n), strict=True))
    numbers = ("eigvalsh({})", np.asarray(np.linalg.eigvalsh(values[0]), dtype=np.float64))
    factor = Explicit(lambda s, whole, left, right, own, other: whole * left * right / (own - other))
    bound = [(OUT, f"{batch}{which}") for which in ("ab", "ib", "jk")]
    apart = (AUXILIARY, f"{batch}k"), (AUXILIARY, f"{batch}b")
    line = Line("k", "b", Order.OTHER)
    return [
        Contraction(f"{batch}ak", f"{batch}{place}", lengths, 0.5, factor, (*bound, *apart), numbers, line=line)
        for place in ("ij", "ji")
    ]


def eigenvector_vjp(g: Array, y: Array, a: Array) -> Array:
    """Return V·((Vᵀ·g)/(λ[j] - λ[i]))·Vᵀ without its diagonal, and of that the symmetric part."""
    values = np.linalg.eigvalsh(a)
    apart = values[..., None, :] - values[..., :, None] + np.eye(a.shape[-1])
    turned = np.matmul(np.swapaxes(y, -1, -2), g)
    turned = np.where(np.eye(a.shape[-1]) == 1, 0.0, (turned - np.swapaxes(turned, -1, -2)) / 2 / apart)
    return np.matmul(y, np.matmul(turned, np.swapaxes(y, -1, -2)))


def eigenvector_text_back(_k: int, out: Array, _a: Array) -> str:
    """Return the text of the vjp of eigenvectors."""
    skew = f"({{y}}.mT @ {{g}} - {{g}}.mT @ {{y}})/2/{apart_text('eigvalsh({0})')}"
    return f"{{y}} @ where(eye({out.shape[-1]}) == 1, 0, {skew}) @ {{y}}.mT"


def apart_text(values: str) -> str:
    """Return the text of the differences of all pairs of values, column minus row."""
    return f"({values}[..., None, :] - {values}[..., :, None])"


def vector_digits(values: Array) -> Array:
    """Return how rounding grows in the derivatives of eigenvectors, which have the distances of eigenvalues below."""
    size = np.max(np.abs(values), axis=-1, keepdims=True)
    grown = nearness(values)
    return (grown * grown / np.where(size == 0, 1.0, size))[..., None, :]


def sweeps_of(out: Array, a: Array) -> int:
    """Return the operations of turning every pair of columns, some ten times."""
    del out
    return 30 * int(np.size(a)) * int(np.shape(a)[-1]) ** 2


def eigenvectors(guide: Array, a: Array) -> Array:
    """Return the eigenvectors of a symmetric matrix in many digits, as near to those of doubles as they come."""
    values, vectors = decimals.eigen(decimals.symmetric(a))
    return np.asarray(vectors @ decimals.turns(guide, groups_of(values.astype(np.float64)), vectors))


EIGENVALUES = declare(
    Op(
        "eigvalsh",
        decomposed(lambda a: np.linalg.eigvalsh(decimals.symmetric(a))),
        (eigenvalue_vjp,),
        eigenvalue_local,
        exactly=lambda a: decimals.each_matrix(lambda x: decimals.eigen(decimals.symmetric(x))[0], a),
        index=Said(),
        work=sweeps_of,
        steps=decomposed_in,
        digits=lambda out, a: nearness(out),
        backward_text=("(eigh({0})[1]*{g}[..., None, :]) @ eigh({0})[1].mT",),
        torch_saves=("own",),
    )
)
EIGENVECTORS = declare(
    Op(
        "eigenvectors",
        decomposed(lambda a: np.linalg.eigh(decimals.symmetric(a))[1]),
        (eigenvector_vjp,),
        eigenvector_local,
        pieces=Piecewise(
            lambda a: np.linalg.eigh(np.asarray(a, dtype=np.float64))[1],
            lambda guide, a: decimals.each_matrix(eigenvectors, guide, a),
            open=True,
        ),
        index=Said(),
        work=sweeps_of,
        steps=decomposed_in,
        digits=lambda out, a: vector_digits(np.linalg.eigvalsh(a)),
        backward_text=eigenvector_text_back,
        write=lambda call: f"eigh({call.texts[0]})[1]",
        torch_saves=("output",),
    )
)


def symmetric_side(f: Apply, x: Tensor, side: Static, name: str) -> Tensor:
    """Return a symmetric matrix as it is, and of others what the triangle that is read makes of it, with a remark."""
    require_square(x, name)
    if side not in ("L", "U", "l", "u"):
        raise GradcliError("value", f'{name}: UPLO is "L" or "U", not {side!r}')
    value = np.asarray(value_of(x), dtype=np.float64)
    if np.allclose(value, np.swapaxes(value, -1, -2), 0.0, 1e-12 * np.max(np.abs(value), initial=1e-4), equal_nan=True):
        return x
    lower = side in ("L", "l")
    f.remark(
        "symmetric-part",
        f"{name} reads the {'lower' if lower else 'upper'} triangle of a matrix that is not symmetric; the derivative "
        "is that by a matrix that stays symmetric, as in PyTorch.",
    )
    own, others = (TRIL, -1) if lower else (TRIU, 1)
    beside = transpose_matrices(f, f(own, x, k=others))
    whole = f(ADD, f(own, x, k=0), beside)
    return f(ADD, x, f(DETACH, f(SUB, whole, x)))


def with_signs(f: Apply, vectors: Tensor, name: str) -> Tensor:
    """Return vectors, with a remark that their signs are a choice."""
    f.remark(
        "arbitrary-signs",
        f"The signs of the vectors of {name} are a choice of its algorithm, which may be another in PyTorch.",
    )
    return vectors


@function("eigvalsh", "linalg", FAMILY, op=EIGENVALUES)
def build_eigvalsh(f: Apply, x: Tensor, UPLO: Static = "L") -> Tensor:
    """the eigenvalues of a symmetric matrix, the smallest first"""
    return shared(f, f(EIGENVALUES, symmetric_side(f, x, UPLO, "eigvalsh")))


@function("eigh", "linalg", FAMILY)
def build_eigh(f: Apply, x: Tensor, UPLO: Static = "L") -> Parts:
    """the eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors as columns"""
    side = symmetric_side(f, x, UPLO, "eigh")

    def vectors() -> Tensor:
        found = with_signs(f, f(EIGENVECTORS, side), "eigh")
        refuse_arbitrary(side, has_twin(groups_of(np.linalg.eigvalsh(value_of(side).astype(np.float64)))), EQUAL)
        return found

    makers = (lambda: shared(f, f(EIGENVALUES, side)), vectors)
    return Parts(("eigenvalues", "eigenvectors"), makers)


RULES[np.linalg.eigvalsh] = EIGENVALUES


@rule_for(np.linalg.eigh)
def eigh_traced(f: Apply, a: Any) -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors as ops."""
    return applied(f, EIGENVALUES, a), applied(f, EIGENVECTORS, a)
