"""Sums with products, chains and powers of matrices, products that pair axes."""

from __future__ import annotations

from records.record import record

record(
    "addmm",

    recipes=["{Q}, {N}, {M}", "{V}, {N}, {M}, beta={c}", "{S}, {M}, {N}, alpha={c}, beta=2"],
)  # fmt: skip
record(
    "addmv",
    recipes=["{U}, {M}, {V}", "{S}, {M}, {V}, beta={c}, alpha=3"],
)
record(
    "multi_dot",
    recipes=["{f}([{M}, {N}, {M}])", "{f}([{U}, {M}, {V}])", "{f}([{M}, {N}])"],
)
record(
    "matrix_power",
    recipes=["{Q}, 2", "{Q:-1,1}, 3", "{Q:-1,1} + 3*eye({n}), -2", "{Q}, 1", "{Q}, 0"],
)
record(
    "tensordot",
    recipes=["{M}, {N}, 1", "{T}, {M}", "{V}, {U}, dims=0", "{M}, {N}, dims=([0], [1])", "{T}, {W}, ([0, 2], [0, -2])"],
)
record(
    "kron",
    recipes=["{V}, {U}", "{V}, {M}", "{S}, {M}"],
)
record(
    "cross",
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], dim=0"],
)
record(
    "linalg.cross",
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], dim=0"],
)
record(
    "np.cross",
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], axis=0"],
)
record(
    "vecdot",
    recipes=["{V}, {V}", "{M}, {V}", "{M}, {M}, dim=0"],
)
record(
    "vdot",
    recipes=["{V}, {V}"],
)
