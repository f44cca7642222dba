"""Eigenvalues of symmetric matrices, A·v = λ·v, and singular values, A = U·diag(σ)·Vᵀ, with their vectors.

As in PyTorch one triangle of a symmetric matrix is read, and the derivative is that by a matrix that stays symmetric.
Which vectors equal values have is the choice of a processor's LAPACK. No answer depends on it: equal values share the
slope of their mean, which has a derivative, and vectors that may be rotated have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import (
    OPS,
    RULES,
    Apply,
    Entries,
    Exactly,
    Keeps,
    Kink,
    Parts,
    Piecewise,
    Said,
    Text,
    Torch,
    declare,
    in_one_step,
    rule_for,
)
from gradcli.ops.exactly import each_matrix
from gradcli.ops.joining import CAT
from gradcli.ops.linear_algebra import require_square
from gradcli.ops.links import (
    AUXILIARY,
    OUT,
    SECOND,
    Array,
    At,
    Contraction,
    Explicit,
    Forward,
    Indices,
    Line,
    Links,
    Mask,
    Order,
    Slot,
    Static,
)
from gradcli.ops.making import DETACH
from gradcli.ops.matrices import BATCHES, of_matrices
from gradcli.ops.shaping import TRIL, TRIU
from gradcli.ops.tracing import applied, asked
from gradcli.ops.values import Value, number, read_axes, require
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"
NEAR = 32 * 2.0**-52
"""Eigenvalues that differ by less than this part of the largest one are one."""
PRODUCT = Explicit(lambda s, *factors: reduce(mul, factors))
LEFT, RIGHT, SIZES = "svd({}).U", "svd({}).V", "svdvals({})"
"""How they are called in the language."""


def contraction(
    out: Array,
    lengths: Mapping[str, int],
    rows: str,
    columns: str,
    *bound: tuple[Slot, str],
    weight: float = 1.0,
    factor: Explicit = PRODUCT,
    **more: Any,
) -> Contraction:
    """Return links in the subscripts of single matrices, for each of a batch of them."""
    batch = BATCHES[: out.ndim - len(rows)]
    used = rows + columns + "".join(at for _, at in bound)
    letters = dict(zip(batch, out.shape, strict=False)) | {c: lengths[c] for c in lengths if c in used}
    places = tuple((slot, batch + at) for slot, at in bound)
    return Contraction(batch + rows, batch + columns, letters, weight, factor, places, **more)


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


# --- in many digits ---


def in_mpmath(rule: Callable[..., Any], a: Any) -> Any:
    """Return ``rule(mpmath, A)``, a tuple of matrices of mpmath's, of a matrix of exact numbers, as arrays of these."""
    return a.flat[0].matrices_in_mpmath(rule, a)


def eigen(a: Any) -> Any:
    """Return the eigenvalues of a symmetric matrix of exact numbers in rising order, and its eigenvectors."""
    values, vectors = in_mpmath(lambda mp, x: mp.eigsy(x), symmetric(a))
    return values[:, 0], vectors


def singular(a: Any) -> Any:
    """Return U, the singular values from the largest on, and V of a matrix of exact numbers."""
    u, values, vt = in_mpmath(lambda mp, x: mp.svd_r(x), a)
    return u, values[:, 0], vt.T


def orthogonal(a: Any) -> Any:
    """Return the Q of A = Q·R, with a positive diagonal of R."""
    q, r = in_mpmath(lambda mp, x: mp.qr(x, mode="skinny"), a)
    return q * np.where(np.diagonal(r) < 0, -1, 1)


def turn_of(guide: Array, vectors: Any, groups: Indices) -> Any:
    """Return the rotation that brings the vectors of each group, as columns, near to those of doubles."""
    near, turn = vectors.T @ guide, 0 * vectors.T @ vectors
    for group in set(groups.tolist()):
        at = np.ix_(groups == group, groups == group)
        turn[at] = orthogonal(near[at])
    return turn


def doubles(a: Any) -> Array:
    """Return numbers of any kind as doubles."""
    return np.asarray(a, dtype=np.float64)


# --- what equal values leave open ---


def symmetric(a: Any) -> Any:
    """Return the mean of matrices and their transposes."""
    return (a + np.swapaxes(a, -1, -2)) / 2


def is_beyond(parts: Any, size: Any, share: float) -> Mask:
    """Return which parts are more than this share of a size; of exact numbers, more than its last ten digits."""
    if parts.dtype != object:
        return parts > share * size
    return np.asarray(size * 10**10 + parts != size * 10**10, dtype=bool)


@in_one_step
def groups_of(values: Any, least: float = -1.0) -> Indices:
    """Return for each of some sorted values the number of its group of equal ones.

    That is -1 for values up to the ``least`` share of the largest, which are 0; for none where this is negative.
    """
    size = np.max(abs(values), axis=-1, keepdims=True)
    numbers = np.zeros(values.shape, dtype=np.intp)
    numbers[..., 1:] = np.cumsum(is_beyond(abs(values[..., 1:] - values[..., :-1]), size, NEAR), axis=-1)
    return numbers if least < 0 else np.where(is_beyond(abs(values), size, least), numbers, -1)


def same_group(groups: Indices) -> Mask:
    """Return for each two values whether they are equal, and not 0."""
    return (groups[..., :, None] == groups[..., None, :]) & (groups >= 0)[..., None]


def has_twin(groups: Indices) -> Mask:
    """Return which values are equal to another one."""
    return np.count_nonzero(groups[..., :, None] == groups[..., None, :], axis=-1) > 1


@in_one_step
def means(groups: Indices, x: Any) -> Any:
    """Return numbers with the mean of each group in the place of its members, and 0 in group -1."""
    same = same_group(groups)
    return np.sum(np.where(same, x[..., None, :], 0), axis=-1) / np.maximum(np.count_nonzero(same, axis=-1), 1)


RULES[groups_of] = asked(groups_of)


@rule_for(means)
def means_traced(_f: Apply, groups: Indices, x: Any) -> Any:
    """Return numbers with the mean of each group in the place of its members, by a matrix of shares."""
    same = same_group(groups)
    return np.matmul(same / np.maximum(np.count_nonzero(same, axis=-1, keepdims=True), 1), x[..., None])[..., 0]


def is_bent(values: Array, least: float) -> Mask:
    """Return which values are equal to another one, or 0."""
    groups = groups_of(values, least)
    return has_twin(groups) | (groups < 0)


def shares_of(at: At) -> list[Links]:
    """Link a value to all that are equal to it, evenly."""
    same = same_group(groups_of(at.x, at.static["least"]))
    *batch, k, other = np.nonzero(same)
    rows, columns = (np.ravel_multi_index((*batch, place), at.out.shape) for place in (k, other))
    return [Links(rows, columns, 1 / np.count_nonzero(same, axis=-1)[(*batch, k)])]


EQUALS = declare(
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
    entries=Entries(index=Said()),
    text=Text(backward=("{g}",), write=lambda call: call.texts[0]),
)


def shared(values: Value, least: float = -1.0) -> Value:
    """Return eigenvalues or singular values, each as the mean of those that are equal to it: that has a derivative.

    Which of them moves with which vector is left open, so that no two processors need agree. Values up to the
    ``least`` share of the largest are 0, and have the slope 0 between those of both signs.
    """
    return values.of(EQUALS, least=least) if np.any(is_bent(values.numbers, least)) else values


def refuse_choices(x: Value, choices: Mask, which: str) -> None:
    """Refuse derivatives of what is a choice among many: which one comes out is left to the processor."""
    fits, hint = not (x.active and np.any(choices)), "the values alone have one; or move the matrix a little"
    require(fits, "not-differentiable", f"{which} are any of many: they have no derivative", hint)


def with_signs(vectors: Value, name: str) -> Value:
    """Return vectors, with a remark that their signs are a choice."""
    vectors.f.remark(
        "arbitrary-signs",
        f"The signs of the vectors of {name} are a choice of its algorithm, which may be another in PyTorch.",
    )
    return vectors


# --- how rounding grows ---


def factor_digits(factor: Array) -> Array:
    """Return by how much rounding grows in a factor's derivatives: as its condition number says."""
    count = min(factor.shape[-2:])
    condition = np.linalg.cond(factor[..., :count, :count])[..., None, None]
    return np.minimum(np.where(np.isfinite(condition), condition, 1e16), 1e16)


def nearness(values: Array, least: float = -1.0) -> Array:
    """Return for each value how many times nearer the next one is than the largest is to 0: so rounding grows.

    That is 1 for equal ones, and 0 for one of 0 that has no slope.
    """
    n, groups = values.shape[-1], groups_of(values, least)
    apart = np.abs(values[..., :, None] - values[..., None, :])
    gap = np.min(np.where((np.eye(n) == 1) | (apart == 0), np.inf, apart), axis=-1, initial=np.inf)
    grown = 1 + n * np.max(np.abs(values), axis=-1, keepdims=True) / gap
    return np.where(groups < 0, 0.0, np.where(has_twin(groups), 1.0, grown))


def vector_digits(values: Array) -> Array:
    """Return how rounding grows in the derivatives of vectors, which have the distances of values below."""
    size = np.max(np.abs(values), axis=-1, keepdims=True)
    grown = nearness(values)
    return (grown * grown / np.where(size == 0, 1.0, size))[..., None, :]


def apart_text(values: str) -> str:
    """Return the text of the differences of all pairs of values, column minus row."""
    return f"({values}[..., None, :] - {values}[..., :, None])"


def by_diagonal(left: Array, g: Array, right: Array) -> Array:
    """Return the matrices left·diag(g)·rightᵀ."""
    return np.matmul(left * g[..., None, :], np.swapaxes(right, -1, -2))


# --- eigenvalues ---


def eigenvalue_local(at: At) -> list[Contraction]:
    """Link λ[k] to A[i, j] with v[i, k]·v[j, k]."""
    vectors = ("eigh({})[1]", doubles(np.linalg.eigh(at.x)[1]))
    lengths = dict.fromkeys("kij", at.out.shape[-1])
    return [contraction(at.out, lengths, "k", "ij", (AUXILIARY, "ik"), (AUXILIARY, "jk"), auxiliary=vectors)]


def eigenvalue_vjp(g: Array, _y: Array, a: Array) -> Array:
    """Return V·diag(g)·Vᵀ."""
    vectors = np.linalg.eigh(a)[1]
    return by_diagonal(vectors, g, vectors)


def eigenvector_local(at: At) -> list[Contraction]:
    """Link v[a, k] to A[i, j] with the sum over b ≠ k of v[a, b]·v[i, b]·v[j, k]/(λ[k] - λ[b]), symmetric in i, j."""
    numbers = ("eigvalsh({})", doubles(np.linalg.eigvalsh(at.x)))
    factor = Explicit(lambda s, whole, left, right, k, b: whole * left * right / (k - b))
    bound = (OUT, "ab"), (OUT, "ib"), (OUT, "jk"), (AUXILIARY, "k"), (AUXILIARY, "b")
    how: dict[str, Any] = {"factor": factor, "auxiliary": numbers, "line": Line("k", "b", Order.OTHER)}
    lengths = dict.fromkeys("akijb", at.out.shape[-1])
    return [contraction(at.out, lengths, "ak", place, *bound, weight=0.5, **how) for place in ("ij", "ji")]


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


def eigenvectors_on(guide: Array, a: Any) -> Any:
    """Return the eigenvectors of a symmetric matrix in many digits, as near to those of doubles as they come."""
    values, vectors = eigen(a)
    return vectors @ turn_of(guide, vectors, groups_of(doubles(values)))


def cubed(_out: Array, a: Array, **_static: Static) -> int:
    """Return the operations of a search for values and vectors in many digits."""
    return 30 * int(np.size(a)) * max(np.shape(a)[-2:]) ** 2


EIGENVALUES = of_matrices(
    "eigvalsh",
    decomposed(lambda a: np.linalg.eigvalsh(symmetric(a))),
    (eigenvalue_vjp,),
    eigenvalue_local,
    exactly=lambda a: each_matrix(lambda x: eigen(x)[0], a),
    work=cubed,
    digits=lambda out, a: nearness(out),
    text=Text(backward=("(eigh({0})[1]*{g}[..., None, :]) @ eigh({0})[1].mT",)),
    torch=Torch(saves=((Keeps.OWN,),)),
)
EIGENVECTORS = of_matrices(
    "eigenvectors",
    decomposed(lambda a: np.linalg.eigh(symmetric(a))[1]),
    (eigenvector_vjp,),
    eigenvector_local,
    pieces=Piecewise(
        lambda a: np.linalg.eigh(doubles(a))[1], lambda guide, a: each_matrix(eigenvectors_on, guide, a), open=True
    ),
    work=cubed,
    digits=lambda out, a: vector_digits(np.linalg.eigvalsh(a)),
    text=Text(backward=eigenvector_text_back, write=lambda call: f"eigh({call.texts[0]})[1]"),
    torch=Torch(saves=((Keeps.OUTPUT,),)),
)
RULES[np.linalg.eigvalsh] = EIGENVALUES


@rule_for(np.linalg.eigh)
def eigh_traced(f: Apply, a: Any) -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors as ops."""
    return applied(f, EIGENVALUES, a), applied(f, EIGENVECTORS, a)


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
    triangle, beside = (TRIL, -1) if lower else (TRIU, 1)
    rest = x.of(triangle, k=beside).mT
    whole = x.of(triangle, k=0) + rest
    return x + (whole - x).detach()


@function("eigvalsh", "linalg", FAMILY, op=EIGENVALUES)
def eigvalsh(x: Value, UPLO: Static = "L") -> Value:
    """the eigenvalues of a symmetric matrix, the smallest first"""
    return shared(symmetric_side(x, UPLO, "eigvalsh").of(EIGENVALUES))


@function("eigh", "linalg", FAMILY)
def eigh(x: Value, UPLO: Static = "L") -> Parts:
    """the eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors as columns"""
    side = symmetric_side(x, UPLO, "eigh")

    def vectors() -> Value:
        columns = with_signs(side.of(EIGENVECTORS), "eigh")
        twins = has_twin(groups_of(doubles(np.linalg.eigvalsh(side.numbers))))
        refuse_choices(side, twins, "eigenvectors of equal eigenvalues")
        return columns

    return Parts(("eigenvalues", "eigenvectors"), (lambda: shared(side.of(EIGENVALUES)), vectors))


# --- singular values ---


@in_one_step
def thin(a: Array) -> tuple[Array, Array, Array]:
    """Return U, σ and V in doubles, V with the right vectors as columns."""
    u, values, vt = np.linalg.svd(doubles(a), full_matrices=False)
    return u, values, np.swapaxes(vt, -1, -2)


@rule_for(thin)
def thin_traced(f: Apply, a: Any) -> tuple[Any, Any, Any]:
    """Return U, σ and V as ops."""
    left, right = (applied(f, SINGULAR_VECTORS, a, side=side) for side in ("U", "V"))
    return left, applied(f, SINGULAR_VALUES, a), right


def least_of(shape: tuple[int, ...]) -> float:
    """Return the share of the largest singular value up to which another is 0, as in PyTorch's ``matrix_rank``."""
    return max(shape[-2:]) * 2.0**-52


def value_local(at: At) -> list[Contraction]:
    """Link σ[k] to A[i, j] with u[i, k]·v[j, k]."""
    u, _, v = thin(at.x)
    lengths = dict(zip("kij", (at.out.shape[-1], *at.x.shape[-2:]), strict=True))
    vectors: dict[str, Any] = {"auxiliary": (LEFT, u), "second": (RIGHT, v)}
    return [contraction(at.out, lengths, "k", "ij", (AUXILIARY, "ik"), (SECOND, "jk"), **vectors)]


def value_vjp(g: Array, _y: Array, a: Array) -> Array:
    """Return U·diag(g)·Vᵀ."""
    u, _, v = thin(a)
    return by_diagonal(u, g, v)


SINGULAR_VALUES = of_matrices(
    "svdvals",
    decomposed(lambda a: np.linalg.svd(a, compute_uv=False)),
    (value_vjp,),
    value_local,
    exactly=lambda a: each_matrix(lambda x: singular(x)[1], a),
    work=cubed,
    digits=lambda out, a: nearness(out, least_of(a.shape)),
    text=Text(backward=("(svd({0}).U*{g}[..., None, :]) @ svd({0}).V.mT",)),
    torch=Torch(saves=((Keeps.OWN,),)),
)


def vector_local(at: At) -> list[Contraction]:
    """Link u[a, k] to A[i, j] by differentiating Aᵀ·u = σ·v and A·v = σ·u; V is the U of the transpose.

    The sum over b ≠ k of u[a, b]·(u[i, b]·v[j, k]·σ[k] + u[i, k]·v[j, b]·σ[b])/(σ[k]² - σ[b]²); and for a side that is
    longer than k, (1[a, i] - Σ u[a, b]·u[i, b])·v[j, k]/σ[k].
    """
    u, sizes, v = thin(at.x)
    i, j, text = ("i", "j", RIGHT) if at.static["side"] == "U" else ("j", "i", LEFT)
    count = at.out.shape[-1]
    lengths = dict(zip("akijb", (*at.out.shape[-2:], *at.x.shape[-2:], count), strict=True))
    how: dict[str, Any] = {"auxiliary": (text, v if at.static["side"] == "U" else u), "second": (SIZES, sizes)}

    def part(place: str, factor: Callable[..., Any], *bound: tuple[Slot, str], **more: Any) -> Contraction:
        return contraction(at.out, lengths, "ak", place, *bound, factor=Explicit(factor), **how, **more)

    def pairs(inner: str, outer: str, factor: Callable[..., Any]) -> Contraction:
        bound = (OUT, "ab"), (OUT, i + inner), (AUXILIARY, j + outer), (SECOND, "k"), (SECOND, "b")
        return part("ij", factor, *bound, line=Line("k", "b", Order.OTHER))

    result = [
        pairs("b", "k", lambda s, whole, left, right, k, b: whole * left * right * k / (k * k - b * b)),
        pairs("k", "b", lambda s, whole, left, right, k, b: whole * left * right * b / (k * k - b * b)),
    ]
    if at.out.shape[-2] > count:
        far = (AUXILIARY, f"{j}k"), (SECOND, "k")
        straight, less = (lambda s, right, k: right / k), (lambda s, a, i, right, k: a * i * right / k)
        place = "aj" if i == "i" else "ia"
        result += [
            part(place, straight, *far),
            part("ij", less, (OUT, "ab"), (OUT, f"{i}b"), *far, weight=-1.0),
        ]
    return result


def vector_vjp(g: Array, y: Array, a: Array, *, side: str) -> Array:
    """Return the cotangent of A by that of U or V alone (PyTorch's ``svd_backward``)."""
    u, sizes, v = thin(a)
    vectors, others = (u, v) if side == "U" else (v, u)
    turned = np.matmul(np.swapaxes(vectors, -1, -2), g)
    squares = sizes * sizes
    apart = squares[..., None, :] - squares[..., :, None] + np.eye(sizes.shape[-1])
    skew = turned - np.swapaxes(turned, -1, -2)
    back = np.matmul(vectors, np.where(np.eye(sizes.shape[-1]) == 1, 0.0, skew / apart) * sizes[..., None, :])
    if y.shape[-2] > y.shape[-1]:
        back = back + (g - np.matmul(vectors, turned)) / sizes[..., None, :]
    back = np.matmul(back, np.swapaxes(others, -1, -2))
    return back if side == "U" else np.swapaxes(back, -1, -2)


def vector_text_back(_k: int, out: Array, _a: Array, *, side: str) -> str:
    """Return the text of the vjp of U or V."""
    sizes, other = SIZES.format("{0}"), (RIGHT if side == "U" else LEFT).format("{0}")
    skew = f"({{y}}.mT @ {{g}} - {{g}}.mT @ {{y}})/{apart_text(f'({sizes}**2)')}"
    back = f"{{y}} @ (where(eye({out.shape[-1]}) == 1, 0, {skew})*{sizes}[..., None, :])"
    if out.shape[-2] > out.shape[-1]:
        back = f"({back} + ({{g}} - {{y}} @ ({{y}}.mT @ {{g}}))/{sizes}[..., None, :])"
    return f"{back} @ {other}.mT" if side == "U" else f"({back} @ {other}.mT).mT"


def pair(a: Any, side: str) -> Array:
    """Return U above V in doubles."""
    del side
    u, _, v = thin(a)
    return np.concatenate([u, v], axis=-2)


def vectors_on(guide: Array, a: Any, side: str) -> Any:
    """Return U or V in many digits, as near to those of doubles as they come; V as it goes with U, but for 0."""

    def rule(near: Array, x: Any) -> Any:
        u, values, v = singular(x)
        columns, side_of_guide = (u, near[: len(x)]) if side == "U" else (v, near[len(x) :])
        groups = groups_of(doubles(values), least_of(x.shape))
        is_longer = len(columns) > len(values)
        free = side_of_guide if is_longer else columns @ turn_of(side_of_guide, columns, groups)
        return np.where(groups < 0, free, columns @ turn_of(near[: len(x)], u, groups))

    return each_matrix(rule, guide, a)


SINGULAR_VECTORS = of_matrices(
    "singular_vectors",
    decomposed(lambda a, side: thin(a)[0 if side == "U" else 2]),
    (vector_vjp,),
    vector_local,
    pieces=Piecewise(pair, vectors_on, open=True),
    work=cubed,
    digits=lambda out, a, side: vector_digits(thin(a)[1]),
    text=Text(
        backward=vector_text_back,
        write=lambda call: (LEFT if call.static["side"] == "U" else RIGHT).format(call.texts[0]),
    ),
    torch=Torch(saves=((Keeps.OUTPUT, Keeps.OWN),)),
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
    columns = with_signs(x.of(SINGULAR_VECTORS, side=side), "svd")
    m, n = x.shape[-2:] if side == "U" else x.shape[:-3:-1]
    groups = groups_of(thin(x.raw)[1], least_of(x.shape))
    choices = has_twin(groups) | ((groups < 0) & (m > n))
    refuse_choices(x, choices, "singular vectors of equal values, and of 0 on the longer side,")
    return columns


ARBITRARY = replace(
    DETACH,
    entries=Entries(view=False),
    text=Text(write=lambda call: call.texts[0]),
    exact=Exactly(pieces=Piecewise(lambda x: x, lambda piece, x: piece, open=True)),
)
"""Constants of which an algorithm in doubles chose one of several right ones."""


def completed(x: Value, side: str) -> Value:
    """Return U or V with columns added until it is square: constants, as PyTorch has them."""
    columns, count = vectors(x, side), min(x.shape[-2:])
    if columns.shape[-2] == count:
        return columns
    x.f.remark(
        "arbitrary-vectors",
        "svd with full_matrices: the vectors beyond the singular values are any that complete the others, and no "
        "gradient flows through them, as in PyTorch.",
    )
    left, _, right = np.linalg.svd(x.numbers)
    whole = left if side == "U" else np.swapaxes(right, -1, -2)
    return columns.of(CAT, columns.apply(ARBITRARY, whole[..., count:]), dim=x.ndim - 1)


@function("svdvals", "linalg", FAMILY, op=SINGULAR_VALUES)
def svdvals(x: Value, driver: Static = None) -> Value:
    """the singular values of a matrix, the largest first"""
    del driver
    require_matrix(x, "svdvals")
    return singular_values(x)


@function("svd torch.svd", "method", FAMILY)
def svd(x: Value, some: bool = True, compute_uv: bool = True) -> Parts:
    """U, the singular values S and V with x = U @ diag(S) @ V.T"""
    require_matrix(x, "svd")
    hint = "leave some and compute_uv out"
    require(compute_uv and some, "value", "svd has U and V in their short form alone", hint)
    return Parts(("U", "S", "V"), (lambda: vectors(x, "U"), lambda: singular_values(x), lambda: vectors(x, "V")))


@function("linalg.svd torch.linalg.svd np.linalg.svd numpy.linalg.svd", "", FAMILY)
def linalg_svd(x: Value, full_matrices: bool = True, compute_uv: bool = True, driver: Static = None) -> Parts | Value:
    """U, the singular values S and Vh with A = U @ diag(S) @ Vh"""
    del driver
    require_matrix(x, "svd")
    if not compute_uv:
        return singular_values(x)
    all_of = completed if full_matrices and x.shape[-2] != x.shape[-1] else vectors
    makers = (lambda: all_of(x, "U"), lambda: singular_values(x), lambda: all_of(x, "V").mT)
    return Parts(("U", "S", "Vh"), makers)


# --- norms of matrices ---


def of_matrix(x: Value, order: Static, dim: Static, keepdim: bool) -> Value:
    """Return the norm of the matrices in two axes: by singular values, or the sums of sizes of columns or rows."""
    require(x.ndim > 1, "shape", f"a norm of order {order!r} is that of a matrix, and the shape is {x.shape}")
    axes = read_axes(dim, x.ndim, "refused")
    said = f"the norm of a matrix is over two axes, and not {len(axes)}"
    require(len(axes) == 2, "shape", said, hint="dim=(0, 1)")
    fits = order in ("nuc", 1, -1, 2, -2, math.inf, -math.inf) and not isinstance(order, bool)
    hint = 'ord is "fro", "nuc", 1, -1, 2, -2, inf or -inf'
    require(fits, "value", f"a matrix has no norm of order {order!r}", hint)
    if order in ("nuc", 2, -2):
        places = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
        sizes = singular_values(x if places == tuple(range(x.ndim)) else x.permute(*places))
        across = sizes.ndim - 1
    else:
        down, across = axes if abs(number(order, "ord")) == 1 else axes[::-1]
        sizes, across = abs(x).sum(down), across - (across > down)
    op = "sum" if order == "nuc" else "amax" if number(order, "ord") > 0 else "amin"
    norm = sizes.of(OPS[op], dim=(across,), keepdim=False)
    return norm.reshape(*(1 if axis in axes else n for axis, n in enumerate(x.shape))) if keepdim else norm
