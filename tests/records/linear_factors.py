"""The factors of elimination, ranks, distances of rows, and layers with a bound on their length."""

from __future__ import annotations

import numpy as np

from records import values as v
from records.record import record

record(
    "matrix_rank",
    recipes=["{f}([[{S:0.5,1} + 2, {S}], [0.0, {S:0.5,1}]])*{S}"],
    programs={"torch.linalg.matrix_rank(S)*s": 3 * v.s, "np.linalg.matrix_rank(outer(x, p))*s": v.s,
              "np.linalg.matrix_rank(S, tol=2.0)*s": np.sum(np.linalg.svd(v.S)[1] > 2) * v.s,
              "torch.linalg.matrix_rank(S, rtol=0.9)*s": v.s if np.linalg.svd(v.S)[1][1] <= 0.9 * np.linalg.svd(v.S)[
                  1][0] else 2 * v.s},
)  # fmt: skip
