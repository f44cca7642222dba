"""Functions of scipy.linalg."""

from __future__ import annotations

import numpy as np

from records import values as v
from records.linear_decompositions import LOWER, PAIR, POSITIVE
from records.record import record

GRAM = v.S @ v.S.T
SQUARE = "[[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]]"

record(
    "scipy.linalg.cholesky",
    recipes=[POSITIVE, POSITIVE + ", lower=True"],
    programs={
        "scipy.linalg.cholesky(S @ S.T)": np.linalg.cholesky(GRAM).T,
        "jax.scipy.linalg.cholesky(S @ S.T, lower=True)": np.linalg.cholesky(GRAM),
    },
)

record(
    "scipy.linalg.qr",
    recipes=["{f}(" + PAIR + ")[1][0, 0]**2"],
    programs={
        "scipy.linalg.qr(S)[1][0, 0]**2": v.S[:, 0] @ v.S[:, 0],
        'scipy.linalg.qr(S, mode="r")[0][0, 0]**2': v.S[:, 0] @ v.S[:, 0],
        'Q, R = scipy.linalg.qr(B, mode="economic"); Q @ R': v.B,
    },
)

record(
    "scipy.linalg.solve_triangular",
    recipes=[SQUARE + ", [[{S}], [{S}]]", SQUARE + ", [[{S}], [{S}]], lower=True"],
    programs={
        "scipy.linalg.solve_triangular(S, B)": np.linalg.solve(np.triu(v.S), v.B),
        "scipy.linalg.solve_triangular(S, x, lower=True)": np.linalg.solve(LOWER, v.x),
        "scipy.linalg.solve_triangular(S, x, trans='T', lower=True)": np.linalg.solve(LOWER.T, v.x),
        "jax.scipy.linalg.solve_triangular(S, x, 1, unit_diagonal=True)": np.linalg.solve(
            (np.triu(v.S, 1) + np.eye(3)).T, v.x
        ),
    },
)
