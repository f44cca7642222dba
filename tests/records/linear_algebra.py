"""Products of matrices and vectors, and what belongs to square matrices."""

from __future__ import annotations

import numpy as np

from records import constants as c
from records import figures
from records import mathematics as m
from records import values as v
from records.record import MoreExact, record

record(
    "matmul",
    of_arrays=m.matmul,
    cases=[
        ([(3,), (3,)], {}),
        ([(2, 3), (3,)], {}),
        ([(3,), (3, 2)], {}),
        ([(2, 3), (3, 2)], {}),
        ([(2, 2, 3), (3, 2)], {}),
        ([(2, 1, 2, 2), (3, 2, 1)], {}),
        ([(3,), (2, 3, 1)], {}),
        ([(2, 2, 3), (3,)], {}),
    ],
    recipes=["{M}, {V}", "{M}, {N}", "{V}, {V}", "{V}, {N}"],
    programs={
        "A @ x": [np.sum(v.A[0] * v.x), np.sum(v.A[1] * v.x)],
        "matmul(A, B)": [[np.sum(r * c) for c in v.B.T] for r in v.A],
        "T @ T": [[[np.sum(r * c) for c in M.T] for r in M] for M in v.T],
    },
)

record(
    "einsum",
    of_arrays=m.einsum,
    cases=[
        ([(2,), (3,)], {"spec": "i,j->ij"}),
        ([(3, 3)], {"spec": "ii->"}),
        ([(2, 3), (3, 2), (2,)], {"spec": "ab,bc,c->a"}),
        ([(3, 3), (3,)], {"spec": "ii,i->i"}),
        ([(2, 3)], {"spec": "ij->ji"}),
    ],
    recipes=[
        '"ij,j->i", {M}, {V}',
        '"ij,jk,k->", {M}, {N}, {U}',
        '"ij", {M} + 0',
        '"ii->i", {Q}*1',
        '"ij->j", -{M}',
        '"aij,jk->aik", {T}, {N}',
        '"i,j", {V}, {U}',
        '"ij,ij", {M}, {M}',
        '"ii", {Q} + {Q}',
        '"...ij,...jk->...ik", {T}, {N}',
        '"...j,j", {T}, {V}',
        "{M}, [0, 1], {V}, [1], [0]",
    ],
    programs={
        'einsum("ij,j->i", A, x)': [np.sum(v.A[0] * v.x), np.sum(v.A[1] * v.x)],
        'einsum(",i->i", s, x)': v.s * v.x,
        'einsum("ij,jk,k->", A, B, b)': np.sum(v.A[:, :, None] * v.B * v.b),
        'torch.einsum("ij", A)': v.A,
        'einsum("ii->i", [[s, 1], [2, s]])': [v.s, v.s],
        'einsum("...j,j->...", A, x)': v.A @ v.x,
        'einsum("ij,ij->i", A, A[:, :1])': np.sum(v.A * v.A[:, :1], 1),
        "torch.einsum(A, [0, 1], x, [1])": v.A @ v.x,
    },
)

record(
    "det",
    of_arrays=m.each_matrix(m.determinant),
    cases=[([(1, 1)], {}), ([(2, 2)], {}), ([(3, 3)], {}), ([(4, 4)], {}), ([(2, 2, 2)], {})],
    further=[([c.NEARLY_SINGULAR], {}), ([[c.NEARLY_SINGULAR, c.NEARLY_SINGULAR.T]], {})],
    recipes=["{Q}", "{Q} + 2*eye({n})"],
    programs={"det(S)": np.dot(v.S[0], np.cross(v.S[1], v.S[2])), "torch.linalg.det(T)": [4.5 - 6.0, 0.1 + 1.5]},
    more_exact=[
        MoreExact("torch.det(a)", "PyTorch solves with the determinant, which underflows to 0", figure=figures.det)
    ],
)

record(
    "inv",
    of_arrays=m.each_matrix(m.inverse),
    cases=[([(1, 1)], {}), ([(2, 2)], {}), ([(3, 3)], {}), ([(2, 2, 2)], {})],
    recipes=["{Q:-1,1} + 3*eye({n})", "{Q}"],
    programs={
        "inv(S)": np.array([np.cross(v.S[1], v.S[2]), np.cross(v.S[2], v.S[0]), np.cross(v.S[0], v.S[1])]).T
        / np.dot(v.S[0], np.cross(v.S[1], v.S[2]))
    },
)

record(
    "solve",
    of_arrays=m.solution,
    cases=[([(3, 3), (3,)], {}), ([(2, 2), (2, 3)], {}), ([(2, 2, 2), (2, 2)], {}), ([(2, 2), (3, 2, 1)], {})],
    recipes=["{Q:-1,1} + 3*eye({n}), {V}", "{Q:-1,1} - 3*eye({n}), {N}"],
    programs={
        "linalg.solve(S, x)": np.linalg.solve(v.S, v.x),
        "np.linalg.solve(S, B)": np.linalg.solve(v.S, v.B),
        "torch.linalg.solve(S, A, left=False)": v.A @ np.linalg.inv(v.S),
    },
)

record(
    "dot",
    recipes=["{M}, {V}", "{M}, {N}", "{V}, {V}"],
    programs={
        "x.dot(p)": np.sum(v.x * v.p),
        "np.dot(A, B)": [[np.sum(r * c) for c in v.B.T] for r in v.A],
        "dot(s, A)": v.s * v.A,
        "np.dot(T, T)": np.dot(v.T, v.T),
    },
)

record(
    "torch.dot",
    recipes=["{V}, {V}"],
    programs={"torch.dot(x, p)": np.sum(v.x * v.p)},
)

record(
    "mm",
    recipes=["{M}, {N}", "{Q}, {Q}"],
    programs={"mm(A, B)": [[np.sum(r * c) for c in v.B.T] for r in v.A]},
)

record(
    "mv",
    recipes=["{M}, {V}"],
    programs={"mv(A, x)": [np.sum(v.A[0] * v.x), np.sum(v.A[1] * v.x)]},
)

record(
    "bmm",
    recipes=["{T}, {W}"],
    programs={"bmm(T, T)": [[[np.sum(r * c) for c in M.T] for r in M] for M in v.T]},
)

record(
    "inner",
    recipes=["{V}, {V}", "{M}, {V}", "{T}, {M}", "{S}, {V}"],
    programs={"inner(x, p)": np.sum(v.x * v.p), "np.inner(A, S)": v.A @ v.S.T, "torch.inner(s, x)": v.s * v.x},
)

record(
    "outer",
    recipes=["{V}, {U}"],
    programs={"outer(x, b)": [[0.03, -0.06], [-0.12, 0.24], [0.08, -0.16]]},
)

record(
    "trace",
    recipes=["{Q}", "{M}"],
    programs={"trace(S)": 5.3},
)
record(
    "np.trace",
    recipes=["{Q}", "{M}, 1", "{M}, offset=-1"],
    programs={"np.trace(S)": 5.3, "np.trace(A, 1)": np.trace(v.A, 1), "np.trace(S, axis1=1, axis2=0)": 5.3},
)
