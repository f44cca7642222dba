"""Sums of products of arrays over named axes, two arrays at a time, where a zero wins over inf and nan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.ops.declare import Array
from gradcli.ops.links import ONE, Order

einsum: Any = np.einsum
"""Its types know no floats beside lists of axes."""


@dataclass(frozen=True, slots=True)
class Named:
    """An array with a letter for each axis, each letter once."""

    array: Array
    letters: str

    @property
    def lengths(self) -> dict[str, int]:
        """The length of the axis of each letter."""
        return dict(zip(self.letters, self.array.shape, strict=True))

    def blocks(self, *groups: str) -> Array:
        """Return the array with one axis for each group of letters."""
        order, lengths = [self.letters.index(letter) for group in groups for letter in group], self.lengths
        shape = [math.prod([lengths[letter] for letter in group]) for group in groups]
        return np.transpose(self.array, order).reshape(shape)

    def summed(self, keep: str) -> Named:
        """Return the sums over all axes whose letters are not to be kept."""
        axes = tuple([axis for axis, letter in enumerate(self.letters) if letter not in keep])
        if not axes:
            return self
        return Named(self.array.sum(axis=axes), "".join(letter for letter in self.letters if letter in keep))


def named(array: Any, subscripts: str) -> Named:
    """Return an array by its subscripts: an axis of length 1 goes, and a letter that stands twice is a diagonal."""
    kept = [letter for letter in subscripts if letter != ONE]
    shape = [n for n, letter in zip(array.shape, subscripts, strict=True) if letter != ONE]
    letters = "".join(dict.fromkeys(kept))
    array = array.reshape(shape)
    if len(letters) < len(kept):
        array = einsum(array, [letters.index(letter) for letter in kept], list(range(len(letters))))
    return Named(array, letters)


def arranged(found: Named, subscripts: str, lengths: Mapping[str, int]) -> Array:
    """Return an array in the order of subscripts, the same along axes that it lacks, and 0 beside diagonals."""
    letters = "".join(dict.fromkeys(subscripts.replace(ONE, "")))
    order = [found.letters.index(letter) for letter in letters if letter in found.letters]
    shape = [lengths[letter] if letter in found.letters else 1 for letter in letters]
    whole = np.transpose(found.array, order).reshape(shape)
    whole = np.broadcast_to(whole, [lengths[letter] for letter in letters])
    shape = [1 if letter == ONE else lengths[letter] for letter in subscripts]
    if len(letters) == len(subscripts.replace(ONE, "")):
        return whole.reshape(shape)
    back = np.zeros([lengths[letter] for letter in subscripts if letter != ONE])
    axes = [letters.index(letter) for letter in subscripts if letter != ONE]
    einsum(back, axes, list(range(len(letters))))[...] = whole
    return back.reshape(shape)


def contract(first: Named, factors: Sequence[Named], keep: str) -> Named:
    """Return the sum of the products of all arrays over the letters that are not to be kept.

    The factors are taken one by one, always the one that leaves the smallest array.
    """
    found, left = first, list(factors)
    while left:
        results = [result_letters(found, factor, keep, [f for f in left if f is not factor]) for factor in left]
        lengths = found.lengths | {letter: n for factor in left for letter, n in factor.lengths.items()}
        best = min(range(len(left)), key=lambda k: math.prod([lengths[letter] for letter in results[k]]))
        found = multiply(found, left.pop(best), results[best])
    return found.summed(keep)


def result_letters(a: Named, b: Named, keep: str, others: Sequence[Named]) -> str:
    """Return the letters of a product that are needed further on."""
    wanted = keep + "".join(other.letters for other in others)
    return "".join(letter for letter in dict.fromkeys(a.letters + b.letters) if letter in wanted)


def multiply(a: Named, b: Named, keep: str) -> Named:
    """Return the sum of the products of two arrays over the letters that are not to be kept."""
    a, b = a.summed(keep + b.letters), b.summed(keep + a.letters)
    both = [letter for letter in a.letters if letter in b.letters]
    shared, inner = ("".join(c for c in both if (c in keep) == kept) for kept in (True, False))
    left, right = ("".join(c for c in x.letters if c not in both) for x in (a, b))
    lengths = a.lengths | b.lengths
    product = dotted(a.blocks(shared, left, inner), b.blocks(shared, inner, right))
    letters = shared + left + right
    return Named(product.reshape([lengths[letter] for letter in letters]), letters)


def dotted(a: Array, b: Array) -> Array:
    """Return ``a @ b``, where a term with a zero is 0 although the other factor is inf or nan."""
    finite_a, finite_b = np.isfinite(a), np.isfinite(b)
    if finite_a.all() and finite_b.all():
        return np.asarray(np.matmul(a, b))
    found = np.matmul(np.where(finite_a, a, 0.0), np.where(finite_b, b, 0.0))
    sign_a, sign_b = (np.where(np.isnan(x), 0.0, np.sign(x)) for x in (a, b))
    lost = count_lost(a != 0, b != 0, finite_a, finite_b)
    signed = count_lost(np.abs(sign_a), np.abs(sign_b), finite_a, finite_b)
    balance = count_lost(sign_a, sign_b, finite_a, finite_b)
    infinite = np.where((lost == signed) & (np.abs(balance) == lost), np.copysign(np.inf, balance), np.nan)
    return np.where(lost > 0, infinite, found)


def count_lost(a: Array, b: Array, finite_a: Array, finite_b: Array) -> Array:
    """Return how the counts ``a @ b`` change by what is not finite in either."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return np.asarray(np.matmul(a, b) - np.matmul(a * finite_a, b * finite_b))


def along_line(array: Array, axis: int, order: Order, back: bool) -> Array:
    """Return for each entry of a line the sum of those that it is linked with.

    On the way ``back`` from outputs to arguments that is the sum of those no earlier, else of those no later.
    """
    if order is Order.OTHER:
        return np.moveaxis(sums_of_others(np.moveaxis(array, axis, -1)), -1, axis)
    return np.flip(np.cumsum(np.flip(array, axis), axis=axis), axis) if back else np.cumsum(array, axis=axis)


def sums_of_others(x: Array) -> Array:
    """Return for each entry the sum of all others along the last axis: nothing is taken away, so nothing cancels.

    The others of an entry are its neighbour in a pair, and the others of the pair.
    """
    count = x.shape[-1]
    if count < 2:
        return np.zeros_like(x)
    padded = np.concatenate([x, np.zeros((*x.shape[:-1], count % 2))], axis=-1)
    pairs = padded.reshape(*x.shape[:-1], -1, 2)
    found = sums_of_others(pairs.sum(axis=-1))[..., None] + pairs[..., ::-1]
    return np.asarray(found.reshape(padded.shape)[..., :count])
