"""Sums with products, chains and powers of matrices, products that pair axes."""

from __future__ import annotations

import functools

import numpy as np

from records import values as v
from records.record import record

AB = v.A @ v.B

record(
    "addmm",
    recipes=["{Q}, {N}, {M}", "{V}, {N}, {M}, beta={c}", "{S}, {M}, {N}, alpha={c}, beta=2"],
    programs={"addmm(b, A, B)": v.b + AB, "torch.addmm(b, A, B, beta=2, alpha=-0.5)": 2 * v.b - 0.5 * AB,
              "b.addmm(A, B, beta=0)": AB},
)  # fmt: skip
record(
    "addmv",
    recipes=["{U}, {M}, {V}", "{S}, {M}, {V}, beta={c}, alpha=3"],
    programs={"addmv(b, A, x)": v.b + v.A @ v.x, "b.addmv(A, x, alpha=2)": v.b + 2 * (v.A @ v.x)},
)
record(
    "multi_dot",
    recipes=["{f}([{M}, {N}, {M}])", "{f}([{U}, {M}, {V}])", "{f}([{M}, {N}])"],
    programs={"linalg.multi_dot([A, B, b])": AB @ v.b, "torch.linalg.multi_dot((b, A, x))": v.b @ v.A @ v.x},
)
record(
    "matrix_power",
    recipes=["{Q}, 2", "{Q:-1,1}, 3", "{Q:-1,1} + 3*eye({n}), -2", "{Q}, 1", "{Q}, 0"],
    programs={
        "matrix_power(S, 5)": functools.reduce(np.matmul, [v.S] * 5),
        "torch.linalg.matrix_power(T, 3)": v.T @ v.T @ v.T,
        "S.matrix_power(-1)": np.linalg.inv(v.S),
        "np.linalg.matrix_power(S, 0)*s": np.eye(3) * v.s,
    },
)
record(
    "tensordot",
    recipes=["{M}, {N}, 1", "{T}, {M}", "{V}, {U}, dims=0", "{M}, {N}, dims=([0], [1])", "{T}, {W}, ([0, 2], [0, -2])"],
    programs={
        "tensordot(A, B, dims=([1], [0]))": AB,
        "np.tensordot(A, B, axes=1)": AB,
        "torch.tensordot(A, B, dims=((0, 1), (1, 0)))": np.trace(AB),
        "tensordot(T, T)": np.tensordot(v.T, v.T),
    },
)
record(
    "kron",
    recipes=["{V}, {U}", "{V}, {M}", "{S}, {M}"],
    programs={"kron(A, b)": np.kron(v.A, v.b), "np.kron(x, A)": np.kron(v.x, v.A), "s.kron(x)": v.s * v.x},
)
record(
    "cross",
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], dim=0"],
    programs={
        "cross(x, p)": np.cross(v.x, v.p),
        "x.cross(p, dim=0)": np.cross(v.x, v.p),
        "torch.cross(S, S**2)": np.cross(v.S, v.S**2, axis=0),
        "torch.cross(A, 2*A[:1], dim=-1)": np.cross(v.A, 2 * v.A[:1]),
    },
)
record(
    "linalg.cross",
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], dim=0"],
    programs={"torch.linalg.cross(S, S**2)": np.cross(v.S, v.S**2), "np.linalg.cross(S, x)": np.cross(v.S, v.x)},
)
record(
    "np.cross",
    recipes=["[{S}, {S}, {S}], [{S}, {S}, {S}]", "[{V}, {V}, {V}], [{V}, {V}, {V}], axis=0"],
    programs={
        "np.cross(S, x)": np.cross(v.S, v.x),
        "np.cross(S, S**2, 0)": np.cross(v.S, v.S**2, 0),
        "np.cross(S, S**2, axisb=0, axisc=0)": np.cross(v.S, v.S**2, axisb=0, axisc=0),
        "np.cross(S, S**2, axis=0)": np.cross(v.S, v.S**2, axis=0),
    },
)
record(
    "vecdot",
    recipes=["{V}, {V}", "{M}, {V}", "{M}, {M}, dim=0"],
    programs={"torch.linalg.vecdot(A, x)": v.A @ v.x, "linalg.vecdot(A, A, dim=0)": np.sum(v.A**2, 0)},
)
record(
    "vdot",
    recipes=["{V}, {V}"],
    programs={"torch.vdot(x, p)": v.x @ v.p, "np.vdot(A, B.T)": np.sum(v.A * v.B.T)},
)
