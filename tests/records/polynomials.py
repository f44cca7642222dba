"""Polynomials by their coefficients, and convolutions of vectors."""

from __future__ import annotations

import numpy as np

from records import values as v
from records.record import record

record(
    "vander",
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
    recipes=["{V}", "{M}, N=3"],
    programs={"torch.linalg.vander(x)": np.vander(v.x, increasing=True)},
)

record(
    "polyval",
    recipes=["{V}, {S}", "{V}, {M}"],
    programs={"np.polyval(x, s)": np.polyval(v.x, v.s), "np.polyval([2.0], p)": np.full(3, 2.0)},
)


record(
    "convolve",
    recipes=["{V}, [{S}, {S}]", *(f"{{V}}, [{{S}}, {{S}}], {mode!r}" for mode in ("same", "valid"))],
    programs={"np.convolve(x, b)": np.convolve(v.x, v.b), "np.convolve(b, x)": np.convolve(v.x, v.b)}
    | {f"np.convolve(x, b, {mode!r})": np.convolve(v.x, v.b, mode) for mode in ("same", "valid")},
)
