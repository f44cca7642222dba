"""Polynomials by their coefficients, and convolutions of vectors."""

from __future__ import annotations

import numpy as np

from generator import arrays
from records.record import record


def powers(x, n=None, increasing=False):
    """Return the powers of each entry along a new last axis."""
    data = arrays.numbers(x)
    columns = [data * 0 + 1]
    for _ in range(1, data.shape[-1] if n is None else n):
        columns.append(columns[-1] * data)
    return arrays.Array(np.stack(columns if increasing else columns[::-1], axis=-1))


def horner(p, x):
    """Return the value of a polynomial."""
    x, found = arrays.array(x), None
    for part in arrays.numbers(p):
        found = x * 0 + arrays.Array(part) if found is None else found * x + arrays.Array(part)
    return found


def convolved(a, b, mode="full"):
    """Return the sums of products by the sum of both places."""
    a, b = (np.atleast_1d(arrays.numbers(part)) for part in (a, b))
    pairs = [(i + j, x * y) for i, x in enumerate(a) for j, y in enumerate(b)]
    whole = [sum((x for k, x in pairs if k == n), 0 * a[0] * b[0]) for n in range(len(a) + len(b) - 1)]
    least, most = sorted((len(a), len(b)))
    start, count = {
        "full": (0, len(whole)), "same": ((least - 1) // 2, most), "valid": (least - 1, most - least + 1)
    }[mode]  # fmt: skip
    return arrays.Array(np.array(whole[start : start + count], dtype=object))


record(
    "vander",
    oracle=powers,
    recipes=["{V}", "{V}, 4", "{V}, increasing=True"],
)

record(
    "linalg.vander",
    oracle=lambda x, N=None: powers(x, N, increasing=True),
    recipes=["{V}", "{M}, N=3"],
)

record(
    "polyval",
    oracle=horner,
    recipes=["{V}, {S}", "{V}, {M}"],
)


record(
    "convolve",
    oracle=convolved,
    recipes=["{V}, [{S}, {S}]", *(f"{{V}}, [{{S}}, {{S}}], {mode!r}" for mode in ("same", "valid"))],
)
