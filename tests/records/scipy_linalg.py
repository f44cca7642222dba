"""Functions of scipy.linalg."""

from __future__ import annotations

from records.linear_decompositions import PAIR, POSITIVE
from records.record import record

SQUARE = "[[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]]"

record(
    "scipy.linalg.cholesky",
    recipes=[POSITIVE, POSITIVE + ", lower=True"],
)

record(
    "scipy.linalg.qr",
    recipes=["{f}(" + PAIR + ")[1][0, 0]**2"],
)

record(
    "scipy.linalg.solve_triangular",
    recipes=[SQUARE + ", [[{S}], [{S}]]", SQUARE + ", [[{S}], [{S}]], lower=True"],
)
