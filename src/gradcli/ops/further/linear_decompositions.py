"""Eigenvalues of symmetric matrices, A·v = λ·v, and singular values, A = U·diag(σ)·Vᵀ, with their vectors.

As in PyTorch one triangle of a symmetric matrix is read, and the derivative is that by a matrix that stays symmetric.
Which vectors equal values have is the choice of a processor's LAPACK: no answer depends on it. Equal values have no
derivative of their own, nor have their vectors.
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
    Line,
    Mask,
    Options,
    Order,
    Slot,
    Static,
)
from gradcli.ops.making import DETACH
from gradcli.ops.matrices import BATCHES, decomposed_in
from gradcli.ops.shaping import TRIL, TRIU
from gradcli.ops.tracing import applied
from gradcli.ops.values import Value, number, read_axes, require
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"
NEAR = 32 * 2.0**-52
"""Eigenvalues that differ by less than this part of the largest one are one."""
PRODUCT = Explicit(lambda s, *factors: reduce(mul, factors))
LEFT, RIGHT, SIZES = "svd({}).U", "svd({}).V", "svdvals({})"
"""How they are called in the language."""


def contraction(
    out: Array, lengths: Mapping[str, int], rows: str, columns: str, *bound: tuple[Slot, str],
    weight: float = 1.0, factor: Explicit = PRODUCT, **more: Any,
) -> Contraction:  # fmt: skip
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


def each_matrix(rule: Callable[..., Any], *arrays: Any) -> Any:
    """Return a rule of matrices, or of what stands in their place, at each place of a batch."""
    batch = np.shape(arrays[0])[:-2]
    flat = [np.reshape(x, (-1, *np.shape(x)[len(batch) :])) for x in arrays]
    each = [np.asarray(rule(*matrices), dtype=object) for matrices in zip(*flat, strict=True)]
    return np.stack(each).reshape(batch + each[0].shape)


def eigen(a: Any) -> Any:
    """Return the eigenvalues of a symmetric matrix of exact numbers in rising order, and its eigenvectors."""
    values, vectors = in_mpmath(lambda mp, x: mp.eigsy(x), symmetric(a))
    return values[:, 0], vectors


def singular(a: Any) -> Any:
    """Return U, the singular values from the largest on, and V of a matrix of exact numbers."""
    u, values, vt = in_mpmath(lambda mp, x: mp.svd_r(x), a)
    return u, values[:, 0], vt.T


def as_in_doubles(guide: Array, vectors: Any, choices: Mask) -> Any:
    """Return vectors in many digits, as columns, with the signs of those of doubles, and these where any would do."""
    signs = np.where(np.sum(vectors.astype(np.float64) * guide, axis=0) < 0, -1, 1)
    return np.where(choices, guide, vectors * signs)


def doubles(a: Any) -> Array:
    """Return numbers of any kind as doubles."""
    return np.asarray(a, dtype=np.float64)


# --- what equal values leave open ---


def symmetric(a: Any) -> Any:
    """Return the mean of matrices and their transposes."""
    return (a + np.swapaxes(a, -1, -2)) / 2


def has_twin(values: Array) -> Mask:
    """Return which of some sorted values are equal to another one."""
    size = np.max(np.abs(values), axis=-1, keepdims=True, initial=0.0)
    equal = np.abs(np.diff(values, axis=-1)) <= NEAR * size
    edge = np.zeros((*values.shape[:-1], 1), dtype=bool)
    return np.concatenate([edge, equal], axis=-1) | np.concatenate([equal, edge], axis=-1)


def is_zero(values: Any, shape: tuple[int, ...]) -> Mask:
    """Return which singular values of a matrix are 0: those up to PyTorch's share of the largest.

    Of exact numbers those that do not reach the last ten digits of the largest.
    """
    size = np.max(values, axis=-1, keepdims=True)
    if values.dtype == object:
        return np.asarray(size * 10**10 + values == size * 10**10, dtype=bool)
    return values <= max(shape[-2:]) * 2.0**-52 * size


def refuse_choices(x: Value, choices: Mask, which: str) -> None:
    """Refuse derivatives of what is a choice among many: which one comes out is left to the processor."""
    fits, hint = not (x.active and np.any(choices)), "the values alone have one; or move the matrix a little"
    require(fits, "not-differentiable", f"{which} are any of many: they have no derivative", hint)


def refuse_twins(x: Value, twins: Mask, which: str) -> None:
    """Refuse derivatives of values that are equal: each by itself has none."""
    said = f"{which} that are equal have no derivative, each by itself"
    require(not (x.active and np.any(twins)), "not-differentiable", said, "move the matrix a little")


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


def nearness(values: Array) -> Array:
    """Return for each value how many times nearer the next one is than the largest is to 0: 1 for equal ones."""
    n = values.shape[-1]
    apart = np.abs(values[..., :, None] - values[..., None, :])
    gap = np.min(np.where((np.eye(n) == 1) | (apart == 0), np.inf, apart), axis=-1, initial=np.inf)
    grown = 1 + n * np.max(np.abs(values), axis=-1, keepdims=True) / gap
    return np.where(has_twin(values), 1.0, grown)


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


def eigenvalue_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link λ[k] to A[i, j] with v[i, k]·v[j, k]."""
    del argument, static
    vectors = ("eigh({})[1]", doubles(np.linalg.eigh(values[0])[1]))
    lengths = dict.fromkeys("kij", out.shape[-1])
    return [contraction(out, lengths, "k", "ij", (AUXILIARY, "ik"), (AUXILIARY, "jk"), auxiliary=vectors)]


def eigenvalue_vjp(g: Array, _y: Array, a: Array) -> Array:
    """Return V·diag(g)·Vᵀ."""
    vectors = np.linalg.eigh(a)[1]
    return by_diagonal(vectors, g, vectors)


def eigenvector_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link v[a, k] to A[i, j] with the sum over b ≠ k of v[a, b]·v[i, b]·v[j, k]/(λ[k] - λ[b]), symmetric in i, j."""
    del argument, static
    numbers = ("eigvalsh({})", doubles(np.linalg.eigvalsh(values[0])))
    factor = Explicit(lambda s, whole, left, right, k, b: whole * left * right / (k - b))
    bound = (OUT, "ab"), (OUT, "ib"), (OUT, "jk"), (AUXILIARY, "k"), (AUXILIARY, "b")
    how: dict[str, Any] = {"factor": factor, "auxiliary": numbers, "line": Line("k", "b", Order.OTHER)}
    lengths = dict.fromkeys("akijb", out.shape[-1])
    return [contraction(out, lengths, "ak", place, *bound, weight=0.5, **how) for place in ("ij", "ji")]


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
    return as_in_doubles(guide, vectors, has_twin(doubles(values)))


def cubed(_out: Array, a: Array, **_static: Static) -> int:
    """Return the operations of a search for values and vectors in many digits."""
    return 30 * int(np.size(a)) * max(np.shape(a)[-2:]) ** 2


EIGENVALUES = declare(
    Op(
        "eigvalsh",
        decomposed(lambda a: np.linalg.eigvalsh(symmetric(a))),
        (eigenvalue_vjp,),
        eigenvalue_local,
        exact=Exactly(value=lambda a: each_matrix(lambda x: eigen(x)[0], a), work=cubed),
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
        decomposed(lambda a: np.linalg.eigh(symmetric(a))[1]),
        (eigenvector_vjp,),
        eigenvector_local,
        exact=Exactly(
            pieces=Piecewise(
                lambda a: np.linalg.eigh(doubles(a))[1],
                lambda guide, a: each_matrix(eigenvectors_on, guide, a),
                open=True,
            ),
            work=cubed,
        ),
        entries=Entries(index=Said()),
        steps=decomposed_in,
        digits=lambda out, a: vector_digits(np.linalg.eigvalsh(a)),
        text=Text(backward=eigenvector_text_back, write=lambda call: f"eigh({call.texts[0]})[1]"),
        torch=Torch(saves=((Keeps.OUTPUT,),)),
        reads=WITH_OUTPUT,
    )
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


def eigenvalues(x: Value) -> Value:
    """Return the eigenvalues of a symmetric matrix."""
    values = x.of(EIGENVALUES)
    refuse_twins(x, has_twin(values.numbers), "eigenvalues")
    return values


@function("eigvalsh", "linalg", FAMILY, op=EIGENVALUES)
def eigvalsh(x: Value, UPLO: Static = "L") -> Value:
    """the eigenvalues of a symmetric matrix, the smallest first"""
    return eigenvalues(symmetric_side(x, UPLO, "eigvalsh"))


@function("eigh", "linalg", FAMILY)
def eigh(x: Value, UPLO: Static = "L") -> Parts:
    """the eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors as columns"""
    side = symmetric_side(x, UPLO, "eigh")

    def vectors() -> Value:
        columns = with_signs(side.of(EIGENVECTORS), "eigh")
        refuse_choices(side, has_twin(doubles(np.linalg.eigvalsh(side.numbers))), "eigenvectors of equal eigenvalues")
        return columns

    return Parts(("eigenvalues", "eigenvectors"), (lambda: eigenvalues(side), vectors))


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


def values_of(a: Any) -> Any:
    """Return singular values, in doubles or in many digits."""
    return each_matrix(lambda x: singular(x)[1], a) if a.dtype == object else np.linalg.svd(a, compute_uv=False)


def without_zeros(zeros: Mask, values: Any) -> Any:
    """Return singular values, and 0 for those of which rounding left something else."""
    return np.where(zeros, 0 * values, values)


def value_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link σ[k] to A[i, j] with u[i, k]·v[j, k], where σ is not 0."""
    del argument, static
    a = values[0]
    u, _, v = thin(a)
    lengths = dict(zip("kij", (out.shape[-1], *a.shape[-2:]), strict=True))
    bound = (AUXILIARY, "ik"), (SECOND, "jk")
    left = (LEFT, np.where(out[..., None, :] == 0, 0.0, u))
    return [contraction(out, lengths, "k", "ij", *bound, auxiliary=left, second=(RIGHT, v))]


def value_vjp(g: Array, y: Array, a: Array) -> Array:
    """Return U·diag(g)·Vᵀ, where σ is not 0."""
    u, _, v = thin(a)
    return by_diagonal(u, np.where(y == 0, 0.0, g), v)


SINGULAR_VALUES = declare(
    Op(
        "svdvals",
        decomposed(lambda a: without_zeros(is_zero(values_of(a), a.shape), values_of(a))),
        (value_vjp,),
        value_local,
        exact=Exactly(
            pieces=Piecewise(
                lambda a: is_zero(values_of(a), a.shape), lambda zeros, a: without_zeros(zeros, values_of(a))
            ),
            work=lambda out, a: 2 * cubed(out, a),
        ),
        kink=Kink(
            lambda a: is_zero(values_of(a), a.shape),
            "a singular value of 0 has slope 0; PyTorch's slope is that of whichever vectors LAPACK returns",
        ),
        entries=Entries(index=Said()),
        steps=decomposed_in,
        digits=lambda out, a: np.where(out == 0, 0.0, nearness(out)),
        text=Text(backward=("(svd({0}).U*{g}[..., None, :]) @ svd({0}).V.mT",)),
        torch=Torch(saves=((Keeps.OWN,),)),
    )
)


def vector_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link u[a, k] to A[i, j] by differentiating Aᵀ·u = σ·v and A·v = σ·u; V is the U of the transpose.

    The sum over b ≠ k of u[a, b]·(u[i, b]·v[j, k]·σ[k] + u[i, k]·v[j, b]·σ[b])/(σ[k]² - σ[b]²); and for a side that is
    longer than k, (1[a, i] - Σ u[a, b]·u[i, b])·v[j, k]/σ[k].
    """
    del argument
    u, sizes, v = thin(values[0])
    i, j, text = ("i", "j", RIGHT) if static["side"] == "U" else ("j", "i", LEFT)
    count = out.shape[-1]
    lengths = dict(zip("akijb", (*out.shape[-2:], *values[0].shape[-2:], count), strict=True))
    how: dict[str, Any] = {"auxiliary": (text, v if static["side"] == "U" else u), "second": (SIZES, sizes)}

    def pairs(inner: str, outer: str, factor: Callable[..., Any]) -> Contraction:
        bound = (OUT, "ab"), (OUT, i + inner), (AUXILIARY, j + outer), (SECOND, "k"), (SECOND, "b")
        line = Line("k", "b", Order.OTHER)
        return contraction(out, lengths, "ak", "ij", *bound, factor=Explicit(factor), line=line, **how)

    found = [
        pairs("b", "k", lambda s, whole, left, right, k, b: whole * left * right * k / (k * k - b * b)),
        pairs("k", "b", lambda s, whole, left, right, k, b: whole * left * right * b / (k * k - b * b)),
    ]
    if out.shape[-2] > count:
        far = (AUXILIARY, f"{j}k"), (SECOND, "k")
        straight, less = (lambda s, right, k: right / k), (lambda s, a, i, right, k: a * i * right / k)
        place = "aj" if i == "i" else "ia"
        found += [
            contraction(out, lengths, "ak", place, *far, factor=Explicit(straight), **how),
            contraction(
                out, lengths, "ak", "ij", (OUT, "ab"), (OUT, f"{i}b"), *far, weight=-1.0, factor=Explicit(less), **how
            ),
        ]
    return found


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


def side_of(a: Any, side: str) -> tuple[Array, Mask]:
    """Return U or V in doubles, and which of its columns are a choice: of equal values, and of 0 on a longer side."""
    u, values, v = thin(a)
    m, n = np.shape(a)[-2:] if side == "U" else np.shape(a)[:-3:-1]
    return u if side == "U" else v, has_twin(values) | (is_zero(values, np.shape(a)) & (m > n))


def vectors_on(guide: Array, a: Any, side: str) -> Any:
    """Return U or V in many digits, as near to those of doubles as they come."""

    def rule(near: Array, x: Any) -> Any:
        return as_in_doubles(near, singular(x)[0 if side == "U" else 2], side_of(x, side)[1])

    return each_matrix(rule, guide, a)


SINGULAR_VECTORS = declare(
    Op(
        "singular_vectors",
        decomposed(lambda a, side: thin(a)[0 if side == "U" else 2]),
        (vector_vjp,),
        vector_local,
        exact=Exactly(pieces=Piecewise(lambda a, side: side_of(a, side)[0], vectors_on, open=True), work=cubed),
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
    values = x.of(SINGULAR_VALUES)
    refuse_twins(x, has_twin(values.numbers) & (values.numbers != 0), "singular values")
    return values


def require_matrix(x: Value, name: str) -> None:
    """Refuse what is no matrix, and one without entries."""
    fits = x.ndim > 1 and 0 not in x.shape[-2:]
    require(fits, "shape", f"{name} takes a matrix or a batch of them, not shape {x.shape}")


def vectors(x: Value, side: str) -> Value:
    """Return U or V; refuse those of equal values, and of 0 where this side is the longer one."""
    columns = with_signs(x.of(SINGULAR_VECTORS, side=side), "svd")
    refuse_choices(x, side_of(x.raw, side)[1], "singular vectors of equal values, and of 0 on the longer side,")
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
