"""Eigenvalues and eigenvectors of symmetric matrices: A·v = λ·v, and what equal ones leave open.

Singular values and vectors: A = U·diag(σ)·Vᵀ, with as many columns in U and V as A has in its shorter side.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import (
    OPS,
    RULES,
    WITH_OUTPUT,
    Apply,
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
    rule_for,
)
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.joining import CAT
from gradcli.ops.linear_algebra import require_square
from gradcli.ops.links import (
    AUXILIARY,
    OUT,
    SECOND,
    Array,
    Contraction,
    Explicit,
    Forward,
    Indices,
    Line,
    Links,
    Mask,
    Options,
    Order,
    Static,
)
from gradcli.ops.making import DETACH
from gradcli.ops.matrices import BATCHES, decomposed_in
from gradcli.ops.shaping import TRIL, TRIU
from gradcli.ops.tracing import applied, asked
from gradcli.ops.values import Value, number, read_axes, require
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
        exact=Exactly(pieces=Piecewise(groups_of, lambda groups, x, least: means(groups, x))),
        kink=Kink(
            is_bent,
            "equal values share the slope of their mean, and a singular value of 0 has slope 0; PyTorch's slopes are "
            "those of whichever vectors LAPACK returns",
        ),
        entries=Entries(index=Said()),
        text=Text(backward=("{g}",), write=lambda call: call.texts[0]),
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
        exact=Exactly(
            value=lambda a: decimals.each_matrix(lambda x: decimals.eigen(decimals.symmetric(x))[0], a),
            work=lambda out, a: 30 * int(np.size(a)) * int(np.shape(a)[-1]) ** 2,
        ),
        entries=Entries(index=Said()),
        steps=decomposed_in,
        digits=lambda out, a: nearness(out),
        text=Text(backward=("(eigh({0})[1]*{g}[..., None, :]) @ eigh({0})[1].mT",)),
        torch=Torch(saves=((Keeps.OWN,),)),
    )
)
EIGENVECTORS = declare(
    Op(
        "eigenvectors",
        decomposed(lambda a: np.linalg.eigh(decimals.symmetric(a))[1]),
        (eigenvector_vjp,),
        eigenvector_local,
        exact=Exactly(
            pieces=Piecewise(
                lambda a: np.linalg.eigh(np.asarray(a, dtype=np.float64))[1],
                lambda guide, a: decimals.each_matrix(eigenvectors, guide, a),
                open=True,
            ),
            work=lambda out, a: 30 * int(np.size(a)) * int(np.shape(a)[-1]) ** 2,
        ),
        entries=Entries(index=Said()),
        steps=decomposed_in,
        digits=lambda out, a: vector_digits(np.linalg.eigvalsh(a)),
        text=Text(backward=eigenvector_text_back, write=lambda call: f"eigh({call.texts[0]})[1]"),
        torch=Torch(saves=((Keeps.OUTPUT,),)),
        reads=WITH_OUTPUT,
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


# ---- Singular values and vectors: A = U·diag(σ)·Vᵀ, with as many columns in U and V as A has in its short

ALGEBRA = "linear algebra"
LEFT, RIGHT = "svd({}).U", "svd({}).V"
"""How they are called in the language."""


@in_one_step
def thin(a: Array) -> tuple[Array, Array, Array]:
    """Return U, σ and V in doubles, V with the right vectors as columns."""
    u, values, vt = np.linalg.svd(np.asarray(a, dtype=np.float64), full_matrices=False)
    return u, values, np.swapaxes(vt, -1, -2)


def least_of(shape: tuple[int, ...]) -> float:
    """Return the share of the largest singular value up to which another is 0, as in PyTorch's ``matrix_rank``."""
    return max(shape[-2:]) * 2.0**-52


def turns_of(_out: Array, a: Array, **_static: Static) -> int:
    """Return the operations of turning the pairs of the shorter side in twice the digits, some ten times."""
    *batch, m, n = np.shape(a)
    count = min(m, n)
    return math.prod(batch) * (60 * count**4 + 4 * m * n * count)


def defined_vectors(a: Array, values: Array) -> tuple[Array, Array]:
    """Return U and V by their equations, as null vectors of (-σ·1, A; Aᵀ, -σ·1); where σ is bent as doubles gave."""
    u, _, v = thin(a)
    m, n = a.shape[-2:]
    corner = np.zeros((*a.shape[:-2], m, m)), np.zeros((*a.shape[:-2], n, n))
    turned = np.swapaxes(a, -1, -2)
    both = np.concatenate([np.concatenate([corner[0], a], -1), np.concatenate([turned, corner[1]], -1)], -2)
    shifted = both[..., None, :, :] - values[..., :, None, None] * np.eye(m + n)
    found = np.swapaxes(np.linalg.svd(shifted)[2][..., -1, :], -1, -2) * np.sqrt(2.0)
    left, right = found[..., :m, :], found[..., m:, :]
    signs = np.where(np.sum(left * u, axis=-2, keepdims=True) < 0, -1.0, 1.0)
    bent = is_bent(values, least_of(a.shape))[..., None, :]
    return np.where(bent, u, left * signs), np.where(bent, v, right * signs)


def value_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link σ[k] to A[i, j] with u[i, k]·v[j, k]."""
    del argument, static
    batch, a = letters_of(out, 1), values[0]
    lengths = dict(zip(f"{batch}kij", (*out.shape, *a.shape[-2:]), strict=True))
    u, v = defined_vectors(a, out)
    factor = Explicit(lambda s, left, right: left * right)
    bound = ((AUXILIARY, f"{batch}ik"), (SECOND, f"{batch}jk"))
    return [Contraction(f"{batch}k", f"{batch}ij", lengths, 1.0, factor, bound, (LEFT, u), (RIGHT, v))]


def value_vjp(g: Array, _y: Array, a: Array) -> Array:
    """Return U·diag(g)·Vᵀ."""
    u, _, v = thin(a)
    return np.matmul(u * g[..., None, :], np.swapaxes(v, -1, -2))


SINGULAR_VALUES = declare(
    Op(
        "svdvals",
        decomposed(lambda a: np.linalg.svd(a, compute_uv=False)),
        (value_vjp,),
        value_local,
        exact=Exactly(value=lambda a: decimals.each_matrix(lambda x: decimals.singular(x)[1], a), work=turns_of),
        entries=Entries(index=Said()),
        steps=decomposed_in,
        digits=lambda out, a: nearness(out, least_of(a.shape)),
        text=Text(backward=("(svd({0}).U*{g}[..., None, :]) @ svd({0}).V.mT",)),
        torch=Torch(saves=((Keeps.OWN,),)),
    )
)


def halves(side: str) -> tuple[str, str, str]:
    """Return which entries of A a pair of singular vectors meets, own one first, and the text of the other ones."""
    return ("i", "j", RIGHT) if side == "U" else ("j", "i", LEFT)


def vector_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link u[a, k] to A[i, j] by differentiating Aᵀ·u = σ·v and A·v = σ·u; V is the U of the transpose.

    The sum over b ≠ k of u[a, b]·(u[i, b]·v[j, k]·σ[k] + u[i, k]·v[j, b]·σ[b])/(σ[k]² - σ[b]²); and for a side that is
    longer than k, (1[a, i] - Σ u[a, b]·u[i, b])·v[j, k]/σ[k].
    """
    del argument
    a, batch, (own, other, text) = values[0], letters_of(out, 2), halves(static["side"])
    u, sizes, v = thin(a)
    rows, columns, count = f"{batch}ak", f"{batch}ij", out.shape[-1]
    lengths = dict(zip(f"{batch}akijb", (*out.shape, *a.shape[-2:], count), strict=True))
    options: dict[str, Any] = {
        "auxiliary": (text, v if static["side"] == "U" else u),
        "second": ("svdvals({})", sizes),
    }

    def at(slot: int, *letters: str) -> tuple[tuple[int, str], ...]:
        return tuple((slot, batch + which) for which in letters)

    def pairs(factor: Explicit, inner: str, outer: str) -> Contraction:
        met = (*at(OUT, "ab", own + inner), *at(AUXILIARY, other + outer), *at(SECOND, "k", "b"))
        return Contraction(rows, columns, lengths, 1.0, factor, met, line=Line("k", "b", Order.OTHER), **options)

    found = [
        pairs(Explicit(lambda s, whole, left, right, k, b: whole * left * right * k / (k * k - b * b)), "b", "k"),
        pairs(Explicit(lambda s, whole, left, right, k, b: whole * left * right * b / (k * k - b * b)), "k", "b"),
    ]
    if out.shape[-2] == count:
        return found
    near, far = at(AUXILIARY, f"{other}k"), at(SECOND, "k")
    own_place = batch + ("aj" if own == "i" else "ia")
    straight = {letter: length for letter, length in lengths.items() if letter not in (own, "b")}
    less = Explicit(lambda s, whole, left, right, k: whole * left * right / k)
    return [
        *found,
        Contraction(rows, own_place, straight, 1.0, Explicit(lambda s, right, k: right / k), (*near, *far), **options),
        Contraction(rows, columns, lengths, -1.0, less, (*at(OUT, "ab", f"{own}b"), *near, *far), **options),
    ]


def vector_vjp(g: Array, y: Array, a: Array, *, side: str) -> Array:
    """Return the cotangent of A by that of U or V alone (PyTorch's ``svd_backward``)."""
    u, sizes, v = thin(a)
    own, other = (u, v) if side == "U" else (v, u)
    turned = np.matmul(np.swapaxes(own, -1, -2), g)
    squares = sizes * sizes
    apart = squares[..., None, :] - squares[..., :, None] + np.eye(sizes.shape[-1])
    skew = turned - np.swapaxes(turned, -1, -2)
    inner = np.where(np.eye(sizes.shape[-1]) == 1, 0.0, skew / apart) * sizes[..., None, :]
    found = np.matmul(own, inner)
    if y.shape[-2] > y.shape[-1]:
        found = found + (g - np.matmul(own, turned)) / sizes[..., None, :]
    back = np.matmul(found, np.swapaxes(other, -1, -2))
    return back if side == "U" else np.swapaxes(back, -1, -2)


def vector_text_back(_k: int, out: Array, _a: Array, *, side: str) -> str:
    """Return the text of the vjp of U or V."""
    sizes, other = "svdvals({0})", RIGHT if side == "U" else LEFT
    skew = f"({{y}}.mT @ {{g}} - {{g}}.mT @ {{y}})/{apart_text(f'({sizes}**2)')}"
    found = f"{{y}} @ (where(eye({out.shape[-1]}) == 1, 0, {skew})*{sizes}[..., None, :])"
    if out.shape[-2] > out.shape[-1]:
        found = f"({found} + ({{g}} - {{y}} @ ({{y}}.mT @ {{g}}))/{sizes}[..., None, :])"
    back = f"{found} @ {other.replace('{}', '{0}')}.mT"
    return back if side == "U" else f"({back}).mT"


def pair(a: Array, side: str) -> Array:
    """Return U above V in doubles."""
    del side
    u, _, v = thin(a)
    return np.concatenate([u, v], axis=-2)


def vectors_on(guide: Array, a: Array, side: str) -> Array:
    """Return U or V in many digits, as near to those of doubles as they come; V as it goes with U, but for 0."""

    def rule(near: Array, x: Array) -> Array:
        (u, values, v), left, right = decimals.singular(x), near[: len(x)], near[len(x) :]
        groups = groups_of(values.astype(np.float64), least_of(x.shape))
        found = (u if side == "U" else v) @ decimals.turns(left, groups, u)
        if np.all(groups >= 0):
            return np.asarray(found)
        x, free = (x, left) if side == "U" else (x.T, right)
        if len(x) <= x.shape[1]:
            full = decimals.singular(x)[0]
            free = full @ decimals.turns(free, groups, full)
        return np.where(groups < 0, free, found)

    return decimals.each_matrix(rule, guide, a)


def is_arbitrary(values: Array, shape: tuple[int, ...]) -> Mask:
    """Return of which singular values the vectors are a choice, on the side of the rows: of equal ones, and of 0."""
    groups = groups_of(values, least_of(shape))
    return has_twin(groups) | ((groups < 0) & (shape[-2] > shape[-1]))


SINGULAR_VECTORS = declare(
    Op(
        "singular_vectors",
        decomposed(lambda a, side: thin(a)[0 if side == "U" else 2]),
        (vector_vjp,),
        vector_local,
        exact=Exactly(pieces=Piecewise(pair, vectors_on, open=True), work=turns_of),
        entries=Entries(index=Said()),
        steps=decomposed_in,
        digits=lambda out, a, side: vector_digits(thin(a)[1]),
        text=Text(
            backward=vector_text_back,
            write=lambda call: (LEFT if call.static["side"] == "U" else RIGHT).format(call.texts[0]),
        ),
        torch=Torch(saves=((Keeps.OUTPUT, Keeps.OWN),)),
        reads=WITH_OUTPUT,
    )
)


def singular_values(x: Value) -> Value:
    """Return the singular values."""
    return shared(x.of(SINGULAR_VALUES), least_of(x.shape))


def require_matrix(x: Value, name: str) -> None:
    """Refuse what is no matrix, and one without entries."""
    fits = x.ndim > 1 and 0 not in x.shape[-2:]
    require(fits, "shape", f"{name} takes a matrix or a batch of them, not shape {x.shape}")


def vectors(x: Value, side: str) -> Value:
    """Return U or V; refuse those of equal values, and of 0 where this side is the longer one."""
    found = with_signs(x.of(SINGULAR_VECTORS, side=side), "svd")
    own = x.raw if side == "U" else np.swapaxes(x.raw, -1, -2)
    arbitrary = is_arbitrary(thin(own)[1], own.shape)
    refuse_arbitrary(x, arbitrary, "singular vectors of equal values, and of 0 on the longer side,")
    return found


def of_matrix(x: Value, order: Static, dim: Static, keepdim: bool) -> Value:
    """Return the norm of the matrices in two axes; raises ``value`` for an order that is none of these."""
    require(x.ndim > 1, "shape", f"a norm of order {order!r} is that of a matrix, and the shape is {x.shape}")
    axes = read_axes(dim, x.ndim, "refused")
    said = f"the norm of a matrix is over two axes, and not {len(axes)}"
    require(len(axes) == 2, "shape", said, hint="dim=(0, 1)")
    known = order in ("nuc", 1, -1, 2, -2, math.inf, -math.inf) and not isinstance(order, bool)
    hint = 'ord is "fro", "nuc", 1, -1, 2, -2, inf or -inf'
    require(known, "value", f"a matrix has no norm of order {order!r}", hint)
    found = by_singular_values(x, order, axes) if order in ("nuc", 2, -2) else by_sums(x, number(order, "ord"), axes)
    return found.reshape(*(1 if axis in axes else n for axis, n in enumerate(x.shape))) if keepdim else found


def by_singular_values(x: Value, order: Static, axes: tuple[int, ...]) -> Value:
    """Return the sum, the largest or the smallest of the singular values."""
    places = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
    values = singular_values(x if places == tuple(range(x.ndim)) else x.permute(*places))
    op = "sum" if order == "nuc" else "amax" if order == 2 else "amin"
    return values.of(OPS[op], dim=(values.ndim - 1,), keepdim=False)


def by_sums(x: Value, order: float, axes: tuple[int, ...]) -> Value:
    """Return the largest or the smallest sum of sizes, down the columns for order 1 and along the rows for inf."""
    down, across = axes if abs(order) == 1 else axes[::-1]
    sums = abs(x).sum(down)
    return sums.of(OPS["amax" if order > 0 else "amin"], dim=(across - (across > down),), keepdim=False)


@function("svdvals", "linalg", ALGEBRA, op=SINGULAR_VALUES)
def svdvals(x: Value, driver: Static = None) -> Value:
    """the singular values of a matrix, the largest first"""
    del driver
    require_matrix(x, "svdvals")
    return singular_values(x)


@function("svd torch.svd", "method", ALGEBRA)
def svd(x: Value, some: bool = True, compute_uv: bool = True) -> Parts:
    """U, the singular values S and V with x = U @ diag(S) @ V.T"""
    require_matrix(x, "svd")
    hint = "leave some and compute_uv out"
    require(compute_uv and some, "value", "svd has U and V in their short form alone", hint)
    return Parts(("U", "S", "V"), (lambda: vectors(x, "U"), lambda: singular_values(x), lambda: vectors(x, "V")))


@function("linalg.svd torch.linalg.svd np.linalg.svd numpy.linalg.svd", "", ALGEBRA)
def linalg_svd(x: Value, full_matrices: bool = True, compute_uv: bool = True, driver: Static = None) -> Parts | Value:
    """U, the singular values S and Vh with A = U @ diag(S) @ Vh"""
    del driver
    require_matrix(x, "svd")
    if not compute_uv:
        return singular_values(x)
    all_of = completed if full_matrices and x.shape[-2] != x.shape[-1] else vectors
    makers = (lambda: all_of(x, "U"), lambda: singular_values(x), lambda: all_of(x, "V").mT)
    return Parts(("U", "S", "Vh"), makers)


def completed(x: Value, side: str) -> Value:
    """Return U or V with columns added until it is square: constants, as PyTorch has them."""
    found, count = vectors(x, side), min(x.shape[-2:])
    if found.shape[-2] == count:
        return found
    x.f.remark(
        "arbitrary-vectors",
        "svd with full_matrices: the vectors beyond the singular values are any that complete the others, and no "
        "gradient flows through them, as in PyTorch.",
    )
    left, _, right = np.linalg.svd(x.numbers)
    whole = left if side == "U" else np.swapaxes(right, -1, -2)
    return found.of(CAT, found.apply(ARBITRARY, whole[..., count:]), dim=x.ndim - 1)


ARBITRARY = replace(
    DETACH,
    entries=Entries(view=False),
    text=Text(write=lambda call: call.texts[0]),
    exact=Exactly(pieces=Piecewise(lambda x: x, lambda piece, x: piece, open=True)),
)
"""Constants of which an algorithm in doubles chose one of several right ones."""


@rule_for(thin)
def thin_traced(f: Apply, a: Any) -> tuple[Any, Any, Any]:
    """Return U, σ and V as ops."""
    left, right = (applied(f, SINGULAR_VECTORS, a, side=side) for side in ("U", "V"))
    return left, applied(f, SINGULAR_VALUES, a), right
