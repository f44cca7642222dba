"""Singular values and vectors: A = U·diag(σ)·Vᵀ, with as many columns in U and V as A has in its shorter side."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.ops.axes import number, read_axes
from gradcli.ops.declare import OPS, Apply, Op, Parts, declare
from gradcli.ops.dispatch import in_one_step, rule_for
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.further.linear_spectra import (
    apart_text,
    decomposed,
    groups_of,
    has_twin,
    is_bent,
    letters_of,
    nearness,
    refuse_arbitrary,
    shared,
    vector_digits,
    with_signs,
)
from gradcli.ops.joining import CAT
from gradcli.ops.links import AUXILIARY, OUT, SECOND, Contraction, Explicit, Line, Order
from gradcli.ops.making import DETACH
from gradcli.ops.matrices import decomposed_in
from gradcli.ops.parts import Piecewise, Said
from gradcli.ops.signatures import Array, Mask, Options, Static
from gradcli.ops.tracing import applied
from gradcli.ops.values import Value, require
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"
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
        exactly=lambda a: decimals.each_matrix(lambda x: decimals.singular(x)[1], a),
        index=Said(),
        work=turns_of,
        steps=decomposed_in,
        digits=lambda out, a: nearness(out, least_of(a.shape)),
        backward_text=("(svd({0}).U*{g}[..., None, :]) @ svd({0}).V.mT",),
        torch_saves=("own",),
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
        pieces=Piecewise(pair, vectors_on, open=True),
        index=Said(),
        work=turns_of,
        steps=decomposed_in,
        digits=lambda out, a, side: vector_digits(thin(a)[1]),
        backward_text=vector_text_back,
        write=lambda call: (LEFT if call.static["side"] == "U" else RIGHT).format(call.texts[0]),
        torch_saves=("output own",),
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
    view=False,
    write=lambda call: call.texts[0],
    pieces=Piecewise(lambda x: x, lambda piece, x: piece, open=True),
)
"""Constants of which an algorithm in doubles chose one of several right ones."""


@rule_for(thin)
def thin_traced(f: Apply, a: Any) -> tuple[Any, Any, Any]:
    """Return U, σ and V as ops."""
    left, right = (applied(f, SINGULAR_VECTORS, a, side=side) for side in ("U", "V"))
    return left, applied(f, SINGULAR_VALUES, a), right
