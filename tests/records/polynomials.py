"""Polynomials by their coefficients, and convolutions of vectors."""

from __future__ import annotations

from records.record import record

record(
    "vander",
    recipes=["{V}", "{V}, 4", "{V}, increasing=True"],
)

record(
    "linalg.vander",
    recipes=["{V}", "{M}, N=3"],
)

record(
    "polyval",
    recipes=["{V}, {S}", "{V}, {M}"],
)


record(
    "convolve",
    recipes=["{V}, [{S}, {S}]", *(f"{{V}}, [{{S}}, {{S}}], {mode!r}" for mode in ("same", "valid"))],
)
