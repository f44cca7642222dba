"""Sums of products of many numbers with many digits, by the products of matrices that doubles are fast at.

A number is cut into limbs of six decimal digits. The product of two limbs is below 10¹², so that double precision adds
up thousands of them without rounding, and what is rounded is the result alone.
"""

from __future__ import annotations

from decimal import Decimal, getcontext
from itertools import repeat
from typing import Any

import numpy as np

from gradcli.exact.work import DIGITS
from gradcli.ops.contractions import count_terms, pays_in_limbs
from gradcli.ops.signatures import Array

LIMB = 6
BASE = 10**LIMB
"""What a limb is smaller than."""
LONGEST = 4_000
"""Terms of a sum that doubles add up without rounding."""
GUARD = 10
"""Digits of each number beyond those of the context."""
BLOCK, WIDTH = 2**18, 64
"""Products of two entries that are added up in one call, and the terms of each sum that they belong to."""
WIDEST = 40
"""Orders of magnitude between the entries of a matrix up to which its limbs are not mostly zeros."""


def multiply(left: Array, right: Array) -> Array:
    """Return ``left @ right`` of two arrays of decimals, as an array of decimals or one of them.

    It is done entry by entry where numbers are few, not finite, far apart, or have many digits.

    >>> multiply(np.array([[Decimal(1), Decimal("0.5")]]), np.array([Decimal(2), Decimal(3)]))
    array([Decimal('3.5')], dtype=object)
    """
    if pays_in_limbs(left, right, count_terms(left, right)) and left.shape[-1] <= LONGEST:
        first, second = (cut(left), cut(right)) if getcontext().prec <= DIGITS else (None, None)
        if first is not None and second is not None:
            return multiply_limbs(*first, *second)
    return np.matmul(left, right)


def multiply_limbs(above: list[Array], shift: int, below: list[Array], other: int) -> Array:
    """Return the product of two matrices of decimals by their limbs, rounded to the context.

    ``shift`` and ``other`` say how many digits of theirs stand behind the point. The lowest limbs of the product, which
    are beyond the digits that its terms have, are left out.
    """
    lowest = max((shift + other - getcontext().prec - GUARD) // LIMB - 1, 0)
    columns: dict[int, Array] = {}
    for i, a in enumerate(above):
        for j, b in enumerate(below):
            if i + j >= lowest:
                columns[i + j] = columns.get(i + j, 0) + in_blocks(a, b)
    shape, totals = columns[lowest].shape, [0] * columns[lowest].size
    for place in range(len(above) + len(below) - 2, lowest - 1, -1):
        totals = [total * BASE + limb for total, limb in zip(totals, columns[place].ravel().tolist(), strict=True)]
    unit = Decimal((0, (1,), lowest * LIMB - shift - other))
    found = np.empty(len(totals), dtype=object)
    found[:] = [total * unit for total in map(Decimal, totals)]
    return found.reshape(shape)


def in_blocks(a: Array, b: Array) -> Array:
    """Return the product of two matrices of small integers, which are doubles.

    It is put together of parts that are small enough for one thread: two that share a busy core wait for each other.
    """
    columns = b.shape[-1] if b.ndim > 1 else 1
    high = max(BLOCK // (WIDTH * columns), 1) if a.ndim > 1 else 1
    starts = range(0, a.shape[-2], high) if a.ndim > 1 else [0]
    parts = [added_up(a[..., k : k + high, :] if a.ndim > 1 else a, b) for k in starts]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-2 if b.ndim > 1 else -1)


def added_up(a: Array, b: Array) -> Array:
    """Return the product of a few rows and a matrix, some terms of each sum at a time."""
    total: Any = 0.0
    for start in range(0, a.shape[-1], WIDTH):
        terms = slice(start, start + WIDTH)
        total = total + np.matmul(a[..., terms], b[..., terms, :] if b.ndim > 1 else b[terms])
    return np.asarray(total).astype(np.int64)


def cut(numbers: Array) -> tuple[list[Array], int] | None:
    """Return the limbs of decimals, the lowest first, and how many digits stand behind their point.

    Each entry that is not 0 has all digits of the context and some more.
    """
    entries: list[Any] = numbers.ravel().tolist()
    if not all(map(Decimal.is_finite, entries)):
        return None
    orders = [entry.adjusted() for entry in entries if entry]
    highest, lowest = max(orders, default=0), min(orders, default=0)
    if highest - lowest > WIDEST:
        return None
    behind = max(getcontext().prec + GUARD - lowest, 0)
    before = max(highest + 1, 1)
    before += -(before + behind) % LIMB
    texts = map(Decimal.__format__, entries, repeat(f"+0{before + behind + 1 + (behind > 0)}.{behind}f"))
    letters = np.frombuffer("".join(texts).encode(), dtype=np.uint8).reshape(len(entries), -1)
    figures = letters[:, 1:] if not behind else np.delete(letters, [0, before + 1], axis=1)
    groups = (figures - ord("0")).reshape(len(entries), -1, LIMB)
    limbs = np.zeros(groups.shape[:2])
    for k in range(LIMB):
        limbs = 10 * limbs + groups[:, :, k]
    limbs *= np.where(letters[:, :1] == ord("-"), -1.0, 1.0)
    return [np.ascontiguousarray(limb).reshape(numbers.shape) for limb in limbs.T[::-1]], behind
