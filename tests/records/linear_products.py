"""Sums with products, chains and powers of matrices, products that pair axes."""

from __future__ import annotations

from generator import arrays
from generator import linear as g
from records.record import record

record(
    "addmm",
    oracle=g.beside(arrays.product),
    recipes=["{Q}, {N}, {M}", "{V}, {N}, {M}, beta={c}", "{S}, {M}, {N}, alpha={c}, beta=2"],
)  # fmt: skip
record(
    "addmv",
    oracle=g.beside(arrays.product),
    recipes=["{U}, {M}, {V}", "{S}, {M}, {V}, beta={c}, alpha=3"],
)
record(
    "multi_dot",
    oracle=g.chain,
    recipes=["{f}([{M}, {N}, {M}])", "{f}([{U}, {M}, {V}])", "{f}([{M}, {N}])"],
)
record(
    "matrix_power",
    oracle=g.matrix_power,
    recipes=["{Q}, 2", "{Q:-1,1}, 3", "{Q:-1,1} + 3*eye({n}), -2", "{Q}, 1", "{Q}, 0"],
)
record(
    "tensordot",
    oracle=g.tensordot,
    recipes=["{M}, {N}, 1", "{T}, {M}", "{V}, {U}, dims=0", "{M}, {N}, dims=([0], [1])", "{T}, {W}, ([0, 2], [0, -2])"],
)
record(
    "kron",
    oracle=g.kron,
    recipes=["{V}, {U}", "{V}, {M}", "{S}, {M}"],
)
record(
    "cross",
    oracle=g.cross,
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], dim=0"],
)
record(
    "linalg.cross",
    oracle=lambda x, other, dim=-1: g.cross(x, other, dim),
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], dim=0"],
)
record(
    "np.cross",
    oracle=g.numpy_cross,
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], axis=0"],
)
record(
    "vecdot",
    oracle=g.vecdot,
    recipes=["{V}, {V}", "{M}, {V}", "{M}, {M}, dim=0"],
)
record(
    "vdot",
    oracle=arrays.product,
    recipes=["{V}, {V}"],
)
