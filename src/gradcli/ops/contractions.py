"""Values, vjps and local readings of sums of products: matmul and einsum."""

from __future__ import annotations

import math

import numpy as np

from gradcli.ops.axes import LETTERS
from gradcli.ops.dispatch import in_one_step
from gradcli.ops.links import ONE, Contraction, Explicit, Line, Order, Slot
from gradcli.ops.signatures import Array, Options, Shape, Vjp

BLOCK = 131_072
"""Entries of an outer product that stay in a processor's cache: einsum passes over them twice."""


def outer(g: Array, b: Array) -> Array:
    """Return g, with one more axis at its end, times the vector b; of two vectors by einsum, some rows at a time.

    BLAS is no faster, and leaves 0·inf out here and there.
    """
    if g.ndim != 1:
        return np.expand_dims(g, -1) * b
    if g.size * b.size <= BLOCK:
        return np.einsum("i,j->ij", g, b)
    y, rows = np.empty((g.size, b.size)), max(BLOCK // b.size, 1)
    for start in range(0, g.size, rows):
        np.einsum("i,j->ij", g[start : start + rows], b, out=y[start : start + rows])
    return y


def matmul_vjp_left(g: Array, _y: Array, a: Array, b: Array) -> Array:
    """Return g·bᵀ; the engine sums over broadcast batches."""
    if b.ndim == 1:
        return outer(g, b)
    if a.ndim == 1:
        return np.matmul(b, np.expand_dims(g, -1))[..., 0]
    return np.matmul(g, np.swapaxes(b, -1, -2))


def matmul_vjp_right(g: Array, _y: Array, a: Array, b: Array) -> Array:
    """Return aᵀ·g; the engine sums over broadcast batches."""
    if a.ndim == 1:
        return a * g if b.ndim == 1 else np.expand_dims(a, -1) * np.expand_dims(g, -2)
    if b.ndim == 1 and a.ndim == 2:
        return np.matmul(g, a)
    if b.ndim == 1:
        return np.matmul(np.swapaxes(a, -1, -2), np.expand_dims(g, -1))[..., 0]
    return np.matmul(np.swapaxes(a, -1, -2), g)


def product_spec(a: Array, b: Array) -> str:
    """Return ``a @ b`` as subscripts, the shared batch axes as leading letters."""
    batch = LETTERS[4:]
    depth_a, depth_b = max(np.ndim(a) - 2, 0), max(np.ndim(b) - 2, 0)
    depth = max(depth_a, depth_b)
    letters = batch[:depth]
    sub_a = letters[depth - depth_a :] + ("ab" if np.ndim(a) > 1 else "b")
    sub_b = letters[depth - depth_b :] + ("bc" if np.ndim(b) > 1 else "b")
    out = letters + ("a" if np.ndim(a) > 1 else "") + ("c" if np.ndim(b) > 1 else "")
    return f"{sub_a},{sub_b}->{out}"


def contraction(argument: int, values: tuple[Array, ...], spec: str) -> Contraction:
    """Return the links of a sum of products: the coefficient of an entry is the product of the other factors.

    A length of 1 broadcasts.
    """
    inputs, out = spec.split("->")
    subs = inputs.split(",")
    lengths: dict[str, int] = {}
    for sub, value in zip(subs, values, strict=True):
        for letter, length in zip(sub, np.shape(value), strict=True):
            lengths[letter] = max(lengths.get(letter, 1), length) if length != 0 else 0
    subs = [with_ones(sub, np.shape(value), lengths) for sub, value in zip(subs, values, strict=True)]
    bound = tuple((k, sub) for k, sub in enumerate(subs) if k != argument)
    factor = Explicit(lambda s, *factors: s.product(factors)) if bound else None
    return Contraction(out, subs[argument], lengths, 1.0, factor, bound)


def with_ones(sub: str, shape: tuple[int, ...], lengths: dict[str, int]) -> str:
    """Return the subscripts of an array with ``ONE`` for an axis of length 1 that broadcasts."""
    return "".join(ONE if n == 1 != lengths[letter] else letter for letter, n in zip(sub, shape, strict=True))


def pairs_along(
    x: Array, dim: int, order: Order, weight: float = 1.0, factor: Explicit | None = None, *bound: tuple[Slot, str]
) -> Contraction:
    """Return the links between the entries of each line of ``x`` along ``dim`` that stand in this order.

    ``bound`` says for each symbol of the factor what it stands for: ``(slot, "row")``, or at the ``column`` of a link.
    """
    letters = LETTERS[2 : 2 + np.ndim(x)]
    lengths = dict(zip(letters, np.shape(x), strict=True))
    lengths["a"] = lengths["b"] = lengths.pop(letters[dim])
    at = {"row": letters.replace(letters[dim], "a"), "column": letters.replace(letters[dim], "b")}
    slots = tuple((slot, at[which]) for slot, which in bound)
    return Contraction(at["row"], at["column"], lengths, weight, factor, slots, line=Line("a", "b", order))


def matmul_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link ``a @ b`` to one factor with the other as the coefficient."""
    del out, static
    return [contraction(argument, values, product_spec(*values))]


def einsum_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Contraction]:
    """Link a sum of products to one factor with the product of the others as the coefficient."""
    del out
    return [contraction(argument, values, static["spec"])]


def matmul_size(a: Array, b: Array) -> int:
    """Return the elements of ``a @ b``, batches counted generously."""
    if a.ndim <= 2 and b.ndim <= 2:
        return (a.shape[0] if a.ndim > 1 else 1) * (b.shape[-1] if b.ndim > 1 else 1)
    batch = max(math.prod(np.shape(a)[:-2]), 1) * max(math.prod(np.shape(b)[:-2]), 1)
    return int(batch) * int(np.shape(a)[-2] if np.ndim(a) > 1 else 1) * int(np.shape(b)[-1] if np.ndim(b) > 1 else 1)


def matmul_steps(a: Array, b: Array) -> int:
    """Return what ``a @ b`` goes through: some sixteen products at a time."""
    return int(np.size(a)) * int(np.shape(b)[-1] if np.ndim(b) > 1 else 1) // 16


def einsum_size(*values: Array, spec: str) -> int:
    """Return the number of terms of the sum of products, which bounds its time as well as its memory."""
    lengths: dict[str, int] = {}
    for sub, value in zip(spec.split("->", maxsplit=1)[0].split(","), values, strict=True):
        lengths.update(zip(sub, np.shape(value), strict=True))
    return math.prod(lengths.values())


def shared_letters(j: int, subs: list[str], more: str) -> str:
    """Return the letters of factor j, each once, that another factor or ``more`` names too."""
    elsewhere = more + "".join(sub for i, sub in enumerate(subs) if i != j)
    return "".join(letter for letter in dict.fromkeys(subs[j]) if letter in elsewhere)


@in_one_step
def on_diagonal(part: Array, own: str, letters: str, shape: Shape) -> Array:
    """Return zeros with an array where the axes of the same letter have the same index."""
    back = np.zeros(shape)
    np.einsum(f"{own}->{letters}", back)[...] = part
    return back


def einsum_vjp(k: int) -> Vjp:
    """Return the vjp of argument k of einsum: the sum of products with g in its place, spread over its other letters.

    What only one of the other factors names is summed there first, as PyTorch does: inf times a sum that is finite.
    """

    def vjp(g: Array, _y: Array, *values: Array, spec: str) -> Array:
        inputs, out = spec.split("->")
        subs = inputs.split(",")
        own, x = subs.pop(k), values[k]
        letters = "".join(dict.fromkeys(own))
        summed = "".join(letter for letter in letters if letter in out + "".join(subs))
        # A broadcast g would be taken out of the sum: inf times the sum is not the sum of inf times each.
        others = [value for j, value in enumerate(values) if j != k]
        kept = [shared_letters(j, subs, own + out) for j in range(len(subs))]
        factors = [np.einsum(f"{sub}->{keep}", x) for sub, keep, x in zip(subs, kept, others, strict=True)]
        part = np.einsum(f"{','.join([out, *kept])}->{summed}", np.copy(g), *factors)
        lengths = dict(zip(own, np.shape(x), strict=True))
        if not own:
            return part
        part = np.reshape(part, [lengths[letter] if letter in summed else 1 for letter in letters])
        return np.broadcast_to(part, np.shape(x)) if letters == own else on_diagonal(part, own, letters, np.shape(x))

    return vjp


def matmul_work(out: Array, a: Array, b: Array) -> int:
    """Return the operations of ``a @ b`` in many digits, of which a term takes an eighth, in limbs hardly any."""
    entries, terms, found = int(np.size(a)) + int(np.size(b)), count_terms(a, b), int(np.size(out))
    if pays_in_limbs(a, b, terms):
        return 2 * entries // ENTRY + found + terms // IN_LIMBS
    return (entries + found) // ENTRY + terms // TERM


ENTRY, TERM, IN_LIMBS = 4, 8, 64
"""How many entries, terms, and terms in limbs take as long as one operation on numbers of many digits."""


def count_terms(a: Array, b: Array) -> int:
    """Return how many products ``a @ b`` adds up."""
    return matmul_size(a, b) * int(np.shape(a)[-1])


def pays_in_limbs(a: Array, b: Array, terms: int) -> bool:
    """Return whether a product of matrices has so many terms that it pays to cut the entries into limbs."""
    return terms > LIMBS_FROM and terms > TERM * (np.size(a) + np.size(b))


LIMBS_FROM = 20_000
"""Terms below which cutting takes longer than multiplying."""


def einsum_work(out: Array, *values: Array, spec: str) -> int:
    """Return the operations of a sum of products."""
    return max(int(np.size(out)), *map(np.size, values), einsum_size(*values, spec=spec))
