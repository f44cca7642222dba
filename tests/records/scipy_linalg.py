"""Functions of scipy.linalg."""

from records.linear_decompositions import PAIR, POSITIVE
from records.record import calls

SQUARE = "[[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]]"

calls(
    {
        "scipy.linalg.cholesky": [POSITIVE, POSITIVE + ", lower=True"],
        "scipy.linalg.qr": ["{f}(" + PAIR + ")[1][0, 0]**2"],
        "scipy.linalg.solve_triangular": [SQUARE + ", [[{S}], [{S}]]", SQUARE + ", [[{S}], [{S}]], lower=True"],
    }
)
