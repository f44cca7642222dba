"""Eigenvalues and eigenvectors of symmetric matrices: A·v = λ·v, and what equal ones leave open.

As in PyTorch one triangle of a matrix is read, and the derivative is that by a matrix that stays symmetric.

Which vectors equal values have is the choice of a processor's LAPACK. No answer depends on it: equal values share the
slope of their mean, which has a derivative, and vectors that may be rotated have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply, Op, Parts, declare
from gradcli.ops.dispatch import RULES, in_one_step, rule_for
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.linear_algebra import require_square
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Line, Links, Order
from gradcli.ops.matrices import BATCHES, decomposed_in
from gradcli.ops.parts import Kink, Piecewise, Said
from gradcli.ops.shaping import TRIL, TRIU
from gradcli.ops.signatures import Array, Forward, Indices, Mask, Options, Static
from gradcli.ops.tracing import applied, asked
from gradcli.ops.values import Value, require
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"
NEAR = 32 * 2.0**-52
"""Eigenvalues that differ by less than this part of the largest one are one."""


def is_beyond(parts: Array, size: Array, share: float) -> Mask:
    """Return which parts are more than this share of a size; of exact numbers, more than their last digits."""
    if not decimals.is_exact(parts):
        return parts > share * size
    size = size * decimals.GUARD
    return np.asarray(size + parts != size, dtype=bool)


@in_one_step
def groups_of(values: Array, least: float = -1.0) -> Indices:
    """Return for each of some sorted values the number of its group of equal ones.

    That is -1 for values up to the ``least`` share of the largest, which are 0; for none where this is negative.
    """
    size = np.max(abs(values), axis=-1, keepdims=True) if values.shape[-1] else values
    apart = is_beyond(abs(values[..., 1:] - values[..., :-1]), size, NEAR)
    numbers = np.zeros(values.shape, dtype=np.intp)
    numbers[..., 1:] = np.cumsum(apart, axis=-1)
    return numbers if least < 0 else np.where(is_beyond(abs(values), size, least), numbers, -1)


def has_twin(groups: Indices) -> Mask:
    """Return which values are equal to another one."""
    return np.count_nonzero(groups[..., :, None] == groups[..., None, :], axis=-1) > 1


@in_one_step
def means(groups: Indices, x: Array) -> Array:
    """Return numbers with the mean of each group in the place of its members, and 0 in group -1."""
    same = (groups[..., :, None] == groups[..., None, :]) & (groups >= 0)[..., None, :]
    return np.sum(np.where(same, x[..., None, :], 0), axis=-1) / np.maximum(np.count_nonzero(same, axis=-1), 1)


def is_bent(values: Array, least: float) -> Mask:
    """Return which values are equal to another one, or 0."""
    groups = groups_of(values, least)
    return has_twin(groups) | (groups < 0)


def shares_of(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link a value to all that are equal to it, evenly."""
    del argument
    groups = groups_of(values[0], static["least"])
    same = (groups[..., :, None] == groups[..., None, :]) & (groups >= 0)[..., None]
    *batch, k, other = np.nonzero(same)
    rows, columns = (np.ravel_multi_index((*batch, place), out.shape) for place in (k, other))
    return [Links(rows, columns, 1 / np.count_nonzero(same, axis=-1)[(*batch, k)])]


EQUALS = declare(
    Op(
        "mean_of_equals",
        lambda x, least: means(groups_of(x, least), x),
        (lambda g, _y, x, *, least: means(groups_of(x, least), g),),
        shares_of,
        pieces=Piecewise(groups_of, lambda groups, x, least: means(groups, x)),
        kink=Kink(
            is_bent,
            "equal values share the slope of their mean, and a singular value of 0 has slope 0; PyTorch's slopes are "
            "those of whichever vectors LAPACK returns",
        ),
        index=Said(),
        backward_text=("{g}",),
        write=lambda call: call.texts[0],
    )
)


def shared(values: Value, least: float = -1.0) -> Value:
    """Return eigenvalues or singular values, each as the mean of those that are equal to it: that has a derivative.

    Which of them moves with which vector is left open, so that no two processors need agree. Values up to the
    ``least`` share of the largest are 0, and have the slope 0 between those of both signs.
    """
    return values.of(EQUALS, least=least) if np.any(is_bent(values.numbers, least)) else values


def refuse_arbitrary(x: Value, arbitrary: Mask, which: str) -> None:
    """Refuse derivatives of vectors of which any rotation would do: which one comes out is left to the processor."""
    fits, hint = not (x.active and np.any(arbitrary)), "the values alone have one; or move the matrix a little"
    require(fits, "not-differentiable", f"{which} are any of many: they have no derivative", hint)


RULES[groups_of] = asked(groups_of)


@rule_for(means)
def means_traced(_f: Apply, groups: Indices, x: Any) -> Any:
    """Return numbers with the mean of each group in the place of its members, by a matrix of shares."""
    unit = np.broadcast_to(np.eye(groups.shape[-1]), (*groups.shape, groups.shape[-1]))
    shares = np.swapaxes(means(np.expand_dims(groups, -2), unit), -1, -2)
    return np.matmul(shares, x[..., None])[..., 0]


def factor_digits(factor: Array) -> Array:
    """Return by how much rounding grows in a factor's derivatives: as its condition number says."""
    count = min(factor.shape[-2:])
    known = np.linalg.cond(factor[..., :count, :count])[..., None, None]
    return np.minimum(np.where(np.isfinite(known), known, 1e16), 1e16)


# --- eigenvalues ---


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
        work=lambda out, a: 30 * int(np.size(a)) * int(np.shape(a)[-1]) ** 2,
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
        work=lambda out, a: 30 * int(np.size(a)) * int(np.shape(a)[-1]) ** 2,
        steps=decomposed_in,
        digits=lambda out, a: vector_digits(np.linalg.eigvalsh(a)),
        backward_text=eigenvector_text_back,
        write=lambda call: f"eigh({call.texts[0]})[1]",
        torch_saves=("output",),
    )
)


def symmetric_side(x: Value, side: Static, name: str) -> Value:
    """Return a symmetric matrix as it is, and of others what the triangle that is read makes of it, with a remark."""
    require_square(x, name)
    require(side in ("L", "U", "l", "u"), "value", f'{name}: UPLO is "L" or "U", not {side!r}')
    value, turned = x.numbers, np.swapaxes(x.numbers, -1, -2)
    if np.allclose(value, turned, 0.0, 1e-12 * np.max(np.abs(value), initial=1e-4), equal_nan=True):
        return x
    lower = side in ("L", "l")
    x.f.remark(
        "symmetric-part",
        f"{name} reads the {'lower' if lower else 'upper'} triangle of a matrix that is not symmetric; the derivative "
        "is that by a matrix that stays symmetric, as in PyTorch.",
    )
    own, others = (TRIL, -1) if lower else (TRIU, 1)
    beside = x.of(own, k=others).mT
    whole = x.of(own, k=0) + beside
    return x + (whole - x).detach()


def with_signs(vectors: Value, name: str) -> Value:
    """Return vectors, with a remark that their signs are a choice."""
    vectors.f.remark(
        "arbitrary-signs",
        f"The signs of the vectors of {name} are a choice of its algorithm, which may be another in PyTorch.",
    )
    return vectors


@function("eigvalsh", "linalg", FAMILY, op=EIGENVALUES)
def eigvalsh(x: Value, UPLO: Static = "L") -> Value:
    """the eigenvalues of a symmetric matrix, the smallest first"""
    return shared(symmetric_side(x, UPLO, "eigvalsh").of(EIGENVALUES))


@function("eigh", "linalg", FAMILY)
def eigh(x: Value, UPLO: Static = "L") -> Parts:
    """the eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors as columns"""
    side = symmetric_side(x, UPLO, "eigh")

    def vectors() -> Value:
        found = with_signs(side.of(EIGENVECTORS), "eigh")
        refuse_arbitrary(
            side, has_twin(groups_of(np.asarray(np.linalg.eigvalsh(side.numbers), dtype=np.float64))), EQUAL
        )
        return found

    return Parts(("eigenvalues", "eigenvectors"), (lambda: shared(side.of(EIGENVALUES)), vectors))


RULES[np.linalg.eigvalsh] = EIGENVALUES


@rule_for(np.linalg.eigh)
def eigh_traced(f: Apply, a: Any) -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors as ops."""
    return applied(f, EIGENVALUES, a), applied(f, EIGENVECTORS, a)
