"""Texts, in the language, of vjps that people write otherwise than numpy takes them, or that numpy takes in place."""

from __future__ import annotations

import math

import numpy as np

from gradcli.ops.putting_back import axis_text, numbers
from gradcli.ops.signatures import Array, Axes, Shape


def einsum_text_back(k: int, _out: Array, *values: Array, spec: str) -> str:
    """Return the text of the sum of products with g in the place of argument k.

    A letter that no other factor has is spread by ones, and one that the argument has twice by a matrix of ones on its
    diagonal.
    """
    if spec == "i,j->ij":
        return "{0} @ {g}" if k else "{g} @ {1}"
    inputs, out = spec.split("->")
    subs = inputs.split(",")
    own, shape = subs[k], np.shape(values[k])
    factors = [(out, "{g}"), *((sub, f"{{{j}}}") for j, sub in enumerate(subs) if j != k)]
    free = iter(sorted(set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") - set(inputs)))
    seen = ""
    for letter, length in zip(own, shape, strict=True):
        if letter in seen:
            other = next(free)
            factors.append((letter + other, f"eye({length})"))
            seen += other
            continue
        if not any(letter in sub for sub, _ in factors):
            factors.append((letter, f"ones({length})"))
        seen += letter
    return f'einsum("{",".join(sub for sub, _ in factors)}->{seen}", {", ".join(text for _, text in factors)})'


def matmul_text_back(k: int, _out: Array, a: Array, b: Array) -> tuple[str, ...]:
    """Return the text for vectors and matrices; with more axes the vjp writes itself."""
    texts = {
        (1, 1): ("{g}*{1}", "{g}*{0}"),
        (2, 1): ("outer({g}, {1})", "{0}.T @ {g}"),
        (1, 2): ("{1} @ {g}", "outer({0}, {g})"),
        (2, 2): ("{g} @ {1}.T", "{0}.T @ {g}"),
    }
    found = texts.get((np.ndim(a), np.ndim(b)))
    return (found[k],) if found else ()


def det_text_back(_k: int, _out: Array, a: Array) -> tuple[str, ...]:
    """Return the text of g·y·inv(A)ᵀ, and of 0 where the determinant is exactly 0."""
    axes = "[..., None, None]" if np.ndim(a) > 2 else ""
    if np.shape(a)[-1] == 1:
        return (f"{{g}}{axes}",)
    turned = "transpose(inv({0}), -1, -2)" if axes else "inv({0}).T"
    return f"{{g}}{axes}*{{y}}{axes}*{turned}", f"0*{{g}}{axes}"


def solve_text_back(k: int, _out: Array, a: Array, b: Array) -> tuple[str, ...]:
    """Return the text for one matrix; for batches of them the vjp writes itself."""
    if np.ndim(a) > 2:
        return ()
    back = "solve({0}.T, {g})"
    if k == 1 and np.ndim(b) <= 2:
        return (back,)
    return (f"-outer({back}, {{y}})",) if np.ndim(b) == 1 else (f"-{back} @ {{y}}.T",) if np.ndim(b) == 2 else ()


def others_text(x: str, axis: int, shape: Shape) -> str:
    """Return an array with one more axis before ``axis``, in whose layer j entry j along the axis is 1."""
    own = f"eye({shape[axis]}){trailing_matrix(len(shape) - 1 - axis)}"
    return f"where({own} == 1, 1, unsqueeze({x}, {axis}))"


def trailing_matrix(count: int) -> str:
    """Return the index that adds so many axes behind the two of a matrix."""
    return f"[:, :{', None' * count}]" if count else ""


def prod_text_back(_k: int, _out: Array, x: Array, *, dim: Axes, keepdim: bool) -> tuple[str, ...]:
    """Return the text of g·y/x, and of the products of all others where x has zeros."""
    del keepdim
    shape = np.shape(x)
    if not dim:
        return ("{g}",)
    if len(dim) == 1:
        return "{G}*{Y}/{0}", f"{{G}}*prod({others_text('{0}', dim[0], shape)}, dim={dim[0] + 1})"
    kept = tuple(axis for axis in range(len(shape)) if axis not in dim)
    order = (*kept, *dim)
    moved = tuple(shape[axis] for axis in order)
    rows = (*moved[: len(kept)], math.prod(moved[len(kept) :]))
    flat = f"reshape(permute({{0}}, {numbers(order)}), {numbers(rows)})"
    products = f"reshape(prod({others_text(flat, len(kept), rows)}, dim={len(rows)}), {numbers(moved)})"
    return "{G}*{Y}/{0}", f"{{G}}*permute({products}, {numbers(np.argsort(order))})"


def cumprod_text_back(_k: int, _out: Array, x: Array, *, dim: int) -> tuple[str, ...]:
    """Return the text of the running sum of g·y from its end over x, and of all products where x has zeros."""
    shape = np.shape(x)
    later = f"triu(ones({shape[dim]}, {shape[dim]})){trailing_matrix(len(shape) - 1 - dim)}"
    products = f"cumprod({others_text('{0}', dim, shape)}, {dim + 1})"
    return (
        f"flip(cumsum(flip({{g}}*{{y}}, {dim}), dim={dim}), {dim})/{{0}}",
        f"sum({later}*unsqueeze({{g}}, {dim})*{products}, dim={dim + 1})",
    )


def extreme_text_back(_k: int, _out: Array, _x: Array, *, dim: Axes, keepdim: bool) -> tuple[str, str]:
    """Return the text of g where an entry is the extreme, and of equal shares where several are."""
    del keepdim
    return "where({0} == {Y}, {G}, 0)", f"where({{0}} == {{Y}}, {{G}}/sum({{0}} == {{Y}}, dim={dim}, keepdim=True), 0)"


def pick_text_back(_k: int, _out: Array, x: Array, *, kind: str, dim: int, keepdim: bool = True, **order: bool) -> str:
    """Return the text of g put back where each entry was picked."""
    del keepdim
    shape = np.shape(x)
    along_axis = axis_text(shape[dim], dim, len(shape))
    if kind != "sort":
        return f"where({along_axis} == {kind}({{0}}, dim={dim}, keepdim=True).indices, {{G}}, 0)"
    asked = "".join(f", {key}=True" for key, value in order.items() if value)
    where = f"sort({{0}}, dim={dim}{asked}).indices"
    if len(shape) == 1:
        return f"{{g}}[sort({where}).indices]"
    return f"sum(where(unsqueeze({where}, {dim + 1}) == {along_axis}, unsqueeze({{g}}, {dim + 1}), 0), dim={dim})"


def norm_text_back(_k: int, _out: Array, _x: Array, *, dim: Axes, keepdim: bool, p: float) -> tuple[str, ...]:
    """Return the text of g·sign(x)·(|x|/y)^(p - 1), and of 0 where the norm is 0."""
    del dim, keepdim
    if p == 1:
        return ("{G}*sign({0})",)
    if p == 2:
        return "{G}*{0}/{Y}", "where({Y} == 0, 0, {G}*{0}/{Y})"
    text = f"{{G}}*sign({{0}})*(abs({{0}})/{{Y}})**({p!r} - 1)"
    return text, f"where(({{Y}} == 0) | ({{0}} == 0), 0, {text})"


def softmax_text_back(_k: int, _out: Array, x: Array, *, dim: int) -> tuple[str, str]:
    """Return the text of y·(g - Σ g·y), and of that for the distances of g from its entry where y is largest."""
    options = "" if np.ndim(x) == 1 else f", dim={dim}, keepdim=True"
    own = f"sum(where({{0}} == amax({{0}}, dim={dim}, keepdim=True), {{g}}, 0){options})"
    plain = f"{{y}}*({{g}} - sum({{g}}*{{y}}{options}))"
    return plain, plain.replace("{g}", f"({{g}} - {own})")


def var_text_back(_k: int, _out: Array, x: Array, *, dim: Axes, keepdim: bool, correction: float) -> str:
    """Return the text of g·2(x - mean)/(n - correction)."""
    del keepdim
    count = math.prod(np.shape(x)[axis] for axis in dim) - correction
    axes = "" if len(dim) == np.ndim(x) else f", dim={dim[0] if len(dim) == 1 else dim}, keepdim=True"
    return f"{{G}}*2/{count!r}*({{0}} - mean({{0}}{axes}))"
