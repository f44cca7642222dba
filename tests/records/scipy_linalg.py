"""Functions of scipy.linalg."""

from __future__ import annotations

from generator import linear as g
from records.linear_decompositions import PAIR, POSITIVE
from records.record import record

SQUARE = "[[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]]"

record(
    "scipy.linalg.cholesky",
    oracle=lambda x, lower=False: g.cholesky(x, not lower),
    recipes=[POSITIVE, POSITIVE + ", lower=True"],
)

record(
    "scipy.linalg.qr",
    oracle=lambda x, **_: g.factors(x),
    recipes=["{f}(" + PAIR + ")[1][0, 0]**2"],
)

record(
    "scipy.linalg.solve_triangular",
    oracle=lambda a, b, trans=0, lower=False: g.solve_triangular(a.T if trans else a, b, bool(lower) == bool(trans)),
    recipes=[SQUARE + ", [[{S}], [{S}]]", SQUARE + ", [[{S}], [{S}]], lower=True"],
)
