"""Polynomials by their coefficients, and convolutions of vectors."""

from __future__ import annotations

import numpy as np

from generator import arrays
from records import values as v
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


def wide(a, b, sign):
    """Return the sum of polynomials of other degrees."""
    a, b = (np.atleast_1d(arrays.numbers(part)) for part in (a, b))
    length = max(len(a), len(b))
    a, b = (np.concatenate([[0 * part[0]] * (length - len(part)), part]) for part in (a, b))
    return arrays.Array(a + b if sign > 0 else a - b)


def derived(p, m=1):
    """Return the coefficients of a derivative."""
    p = arrays.numbers(p)
    for _ in range(m):
        p = np.array([x * (len(p) - 1 - k) for k, x in enumerate(p[:-1])], dtype=object)
    return arrays.Array(p)


def integrated(p, m=1, k=0.0):
    """Return the coefficients of an integral."""
    p = arrays.numbers(p)
    for _ in range(m):
        p = np.array([*(x / (len(p) - i) for i, x in enumerate(p)), p[0] * 0 + k], dtype=object)
    return arrays.Array(p)


record(
    "vander",
    oracle=powers,
    recipes=["{V}", "{V}, 4", "{V}, increasing=True"],
    programs={
        "torch.vander(x)": np.vander(v.x),
        "np.vander(x, 2)": np.vander(v.x, 2),
        "vander(x, increasing=True)": np.vander(v.x, increasing=True),
    },
    values={"np.vander(x, N=0)": np.zeros((3, 0))},
)

record(
    "linalg.vander",
    oracle=lambda x, N=None: powers(x, N, increasing=True),
    recipes=["{V}", "{M}, N=3"],
    programs={"torch.linalg.vander(x)": np.vander(v.x, increasing=True)},
)

record(
    "polyval",
    oracle=horner,
    recipes=["{V}, {S}", "{V}, {M}"],
    programs={"np.polyval(x, s)": np.polyval(v.x, v.s), "np.polyval([2.0], p)": np.full(3, 2.0)},
)

record(
    "polyder",
    oracle=derived,
    recipes=["{V}"],
    programs={"np.polyder(x)": np.polyder(v.x), "np.polyder(x, m=2)": np.polyder(v.x, 2)},
)

record(
    "polyint",
    oracle=integrated,
    recipes=["{V}", "{V}, 2", "{V}, k=1.5"],
    programs={"np.polyint(x)": np.polyint(v.x), "np.polyint(x, 2, [1.0, 2.0])": np.polyint(v.x, 2, [1, 2])},
)

for _name, _sign in (("polyadd", 1), ("polysub", -1)):
    record(
        _name,
        oracle=lambda a, b, sign=_sign: wide(a, b, sign),
        recipes=["{V}, [{S}, {S}]", "[{S}], {V}"],
        programs={f"np.{_name}(x, b)": getattr(np, _name)(v.x, v.b)},
    )

for _name, _modes in (("convolve", ("full", "same", "valid")), ("polymul", ("full",))):
    record(
        _name,
        oracle=convolved,
        recipes=["{V}, [{S}, {S}]", *(f"{{V}}, [{{S}}, {{S}}], {mode!r}" for mode in _modes[1:])],
        programs={f"np.{_name}(x, b)": np.convolve(v.x, v.b), f"np.{_name}(b, x)": np.convolve(v.x, v.b)}
        | {f"np.{_name}(x, b, {mode!r})": np.convolve(v.x, v.b, mode) for mode in _modes[1:]},
    )

record(
    "correlate",
    oracle=lambda a, b, mode="valid": convolved(a, arrays.Array(arrays.numbers(b)[::-1]), mode),
    recipes=["{V}, [{S}, {S}]", "{V}, [{S}, {S}], 'full'"],
    programs={
        "np.correlate(x, b)": np.correlate(v.x, v.b),
        "np.correlate(x, b, mode='full')": np.correlate(v.x, v.b, "full"),
        "np.correlate(b, x, 'same')": np.correlate(v.b, v.x, "same"),
        "np.correlate(x, b, 'same')": np.correlate(v.x, v.b, "same"),
    },
)
