"""Eigenvalues, singular values, factors and inverses of matrices, and norms that are made of them."""

from __future__ import annotations

import numpy as np

from generator import linear as g
from generator.arrays import Array, numbers, product
from generator.layers import inv
from records import linear_mathematics as lm
from records import mathematics as m
from records import values as v
from records.record import record

SQUARES = [[[2.0]], [[1.0, 0.3], [0.3, -0.5]], [[2.0, 0.3, -0.5], [0.3, 1.5, 0.4], [-0.5, 0.4, -1.8]]]
SYMMETRIC = [*map(np.array, SQUARES), np.array([SQUARES[1], [[3.0, 1.0], [1.0, 0.2]]])]
DEFINITE = [
    np.array([[2.0]]),
    np.array([[2.0, 0.7], [0.7, 1.0]]),
    np.array([[3.0, 0.3, -0.5], [0.3, 1.5, 0.4], [-0.5, 0.4, 1.8]]),
]
TALL = np.array([[1.0, 0.5], [-0.3, 2.0], [0.7, 1.1]])
ANY = [np.array([[-1.5]]), np.array([[1.0, 0.5], [-0.3, 2.0]]), TALL, TALL.T, np.array([TALL, TALL[::-1] + 0.5])]
PAIR, SYM = "[[{S}, {S}], [{S}, {S}]]", "[[{S}, 0.75], [0.75, {S}]]"
POSITIVE = "[[{S:0.5,2} + 2, 0.75], [0.75, {S:0.5,2} + 1]]"
SUM, GRAM = v.S + v.S.T, v.S @ v.S.T
BOUNDS = {"atol": 0.0, "rtol": 1e-15}
LOWER, UNIT = np.tril(v.S), np.triu(v.S, 1) + np.eye(3)

record(
    "eigvalsh",
    of_arrays=m.each_matrix(lm.eigenvalues),
    cases=[([a], {}) for a in SYMMETRIC],
    oracle=lambda x, UPLO="L": g.eigenvalues(x),
    recipes=[SYM],
    programs={"torch.linalg.eigvalsh(S + S.T)": np.linalg.eigvalsh(SUM),
              "eigvalsh(S + S.T, UPLO='U')": np.linalg.eigvalsh(SUM)},
)  # fmt: skip
record(
    "eigenvectors",
    of_arrays=m.each_matrix(lm.eigenvectors),
    cases=[([a], {}) for a in SYMMETRIC],
    called=["eigh"],
)
record(
    "eigh",
    oracle=lambda x, UPLO="L": g.eigen(x),
    recipes=["{f}(" + SYM + ")[1][0, 1]**2", "{f}(" + SYM + ")[0]"],
    programs={
        "torch.linalg.eigh(S + S.T)[0]": np.linalg.eigvalsh(SUM),
        "L, V = np.linalg.eigh(S + S.T); V*L @ V.T": SUM,
    },
)
record(
    "svdvals",
    of_arrays=m.each_matrix(lm.singular_values),
    cases=[([a], {}) for a in ANY],
    kink=([[2.0, 1.0], [4.0, 2.0]], [[2.0, 1.0], [0.0, 3.0]]),
    oracle=g.singular_values,
    recipes=[PAIR],
    programs={
        "torch.linalg.svdvals(A)": np.linalg.svd(v.A, compute_uv=False),
        "torch.linalg.svdvals(outer(x, x))": [np.sum(v.x**2), 0.0, 0.0],
    },
)
record(
    "singular_vectors",
    of_arrays=lambda a, side: m.each_matrix(lambda x: lm.singular_vectors(x, side))(a),
    cases=[([a], {"side": side}) for a in ANY for side in ("U", "V")],
    called=["svd", "linalg.svd"],
)
record(
    "svd",
    oracle=lambda x, **_: g.svd(x),
    recipes=["{f}(" + PAIR + ")[0][0, 1]**2", "{f}(" + PAIR + ")[1]"],
    programs={"torch.svd(A).S": np.linalg.svd(v.A, compute_uv=False), "U, s, V = torch.svd(A); U*s @ V.T": v.A},
)
record(
    "linalg.svd",
    oracle=lambda x, *_, **__: (*g.svd(x)[:2], g.svd(x)[2].T),
    recipes=["{f}(" + PAIR + ")[2][0, 1]**2", "{f}(" + PAIR + ")[1]"],
    programs={
        "torch.linalg.svd(A).S": np.linalg.svd(v.A, compute_uv=False),
        "U, s, Vh = np.linalg.svd(A, full_matrices=False); U*s @ Vh": v.A,
        "np.linalg.svd(A, compute_uv=False)": np.linalg.svd(v.A, compute_uv=False),
        "torch.linalg.svd(A).Vh[:2]**2": np.linalg.svd(v.A)[2][:2] ** 2,
    },
)
record(
    "cholesky",
    of_arrays=m.each_matrix(lm.cholesky),
    cases=[([a], {}) for a in (*DEFINITE, np.array([DEFINITE[1], [[3.0, 1.0], [1.0, 2.0]]]))],
    oracle=g.cholesky,
    recipes=[POSITIVE, POSITIVE + ", upper=True"],
    programs={
        "torch.linalg.cholesky(S @ S.T)": np.linalg.cholesky(GRAM),
        "torch.cholesky(S @ S.T, upper=True)": np.linalg.cholesky(GRAM).T,
        "(S @ S.T).cholesky()": np.linalg.cholesky(GRAM),
    },
)
record(
    "orthogonal",
    of_arrays=m.each_matrix(lm.orthogonal),
    cases=[([a], {}) for a in (*ANY[:3], ANY[4], np.array(SQUARES[2]))],
    called=["qr", "linalg.qr"],
)
QR = {
    "qr(A.T).R**2": np.linalg.qr(v.A.T)[1] ** 2,
    "Q, R = torch.linalg.qr(S); Q @ R": v.S,
    "Q, R = np.linalg.qr(A); Q @ R": v.A,
}
record(
    "qr",
    oracle=g.factors,
    recipes=["{f}(" + PAIR + ")[1]**2", "{f}(" + PAIR + ")[0]**2"],
    programs={"torch.qr(A.T).R**2": np.linalg.qr(v.A.T)[1] ** 2, "Q, R = torch.qr(S); Q @ R": v.S},
)
record(
    "linalg.qr",
    oracle=lambda x, mode="reduced": g.factors(x)[1] if mode == "r" else g.factors(x),
    recipes=["{f}(" + PAIR + ")[1]**2", '{f}(' + PAIR + ', mode="r")**2'],
    programs={"Q, R = np.linalg.qr(A); Q @ R": v.A,
              'torch.linalg.qr(A, mode="complete").R**2': np.linalg.qr(v.A)[1] ** 2},
)  # fmt: skip
record(
    "solve_triangular",
    oracle=g.solve_triangular,
    recipes=["[[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]], [[{S}], [{S}]], upper=True",
             "[[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]], [[{S}, {S}]], upper=False, left=False"],
    programs={
        "torch.linalg.solve_triangular(S, B, upper=False)": np.linalg.solve(LOWER, v.B),
        "torch.linalg.solve_triangular(S, A, upper=True, left=False)": v.A @ np.linalg.inv(np.triu(v.S)),
        "torch.linalg.solve_triangular(S, B, upper=True, unitriangular=True)": np.linalg.solve(UNIT, v.B),
    },
)  # fmt: skip
record(
    "cholesky_solve",
    oracle=lambda b, low: product(inv(product(low, low.T)), b),
    recipes=["[[{S}], [{S}]], tril([[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]])"],
    programs={
        "torch.cholesky_solve(B, tril(S))": np.linalg.solve(LOWER @ LOWER.T, v.B),
        "torch.cholesky_solve(B, tril(S).T, upper=True)": np.linalg.solve(LOWER @ LOWER.T, v.B),
    },
)
record(
    "cholesky_inverse",
    oracle=lambda low: inv(product(low, low.T)),
    recipes=["tril([[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]])"],
    programs={"torch.cholesky_inverse(tril(S))": np.linalg.inv(LOWER @ LOWER.T)},
)
record(
    "logabsdet",
    of_arrays=m.each_matrix(lm.logabsdet),
    cases=[([a], {}) for a in (ANY[0], ANY[1], np.array(SQUARES[2]), SYMMETRIC[3])],
    called=["slogdet", "logdet"],
)
record(
    "slogdet",
    oracle=lambda x: (None, g.logarithm(x)),
    recipes=["{f}({Q} + 3*eye({n}))[1]"],
    programs={
        "torch.linalg.slogdet(S).logabsdet": np.linalg.slogdet(v.S)[1],
        "torch.slogdet(-S)[0]*s": -v.s,
        "sign, size = np.linalg.slogdet(-S); sign*size": -np.linalg.slogdet(v.S)[1],
    },
)
record(
    "logdet",
    oracle=g.logarithm,
    recipes=["{Q:-1,1} + 4*eye({n})"],
    programs={"torch.logdet(S)": np.linalg.slogdet(v.S)[1], "S.logdet()": np.linalg.slogdet(v.S)[1]},
)
record(
    "pinv",
    of_arrays=lambda a, **_: m.each_matrix(lm.pinv)(a),
    cases=[([a], BOUNDS) for a in ANY],
    kink=([[2.0, 1.0], [4.0, 2.0]], [[2.0, 1.0], [0.0, 3.0]]),
    kink_options=BOUNDS,
    oracle=g.pinv,
    recipes=[PAIR, "[[{S}, {S}]]"],
    programs={
        "torch.linalg.pinv(A)": np.linalg.pinv(v.A),
        "np.linalg.pinv(B)": np.linalg.pinv(v.B),
        "pinv(ones(2, 2)*s)": np.full((2, 2), 0.25 / v.s),
    },
)
record(
    "pinverse",
    oracle=g.pinv,
    recipes=[PAIR],
    programs={"torch.pinverse(A)": np.linalg.pinv(v.A), "A.pinverse()": np.linalg.pinv(v.A)},
)
record(
    "lstsq",
    oracle=lambda a, b: (product(g.pinv(a), b),),
    recipes=["{f}([[{S}, {S}], [{S}, {S}], [{S}, {S}]], [[{S}], [{S}], [{S}]])[0]"],
    programs={
        "torch.linalg.lstsq(B, S).solution": np.linalg.lstsq(v.B, v.S, rcond=None)[0],
        "np.linalg.lstsq(B, x)[0]": np.linalg.lstsq(v.B, v.x, rcond=None)[0],
    },
)
record(
    "matrix_exp",
    of_arrays=m.each_matrix(lm.exponential),
    cases=[([a], {}) for a in (ANY[0], ANY[1], np.array(SQUARES[2]), np.array([[0.0, 1.0], [0.0, 0.0]]), SYMMETRIC[3])],
    oracle=g.exponential,
    recipes=["{Q:-1,1}"],
    programs={
        "torch.linalg.matrix_exp([[0, s], [0, 0]])": [[1.0, v.s], [0.0, 1.0]],
        "torch.matrix_exp(S*0)": np.eye(3),
    },
)
record(
    "linalg.vector_norm",
    oracle=g.vector_norm,
    recipes=["{V}", "{M}, ord=3", "{M}, dim=1", "{V}, -2"],
    programs={"torch.linalg.vector_norm(A, ord=1)": np.sum(np.abs(v.A)),
              "linalg.vector_norm(x, -1)": 1 / np.sum(1 / np.abs(v.x))},
)  # fmt: skip
record(
    "matrix_norm",
    oracle=g.of_matrix,
    recipes=[f'{PAIR}, "nuc"', f"{PAIR}, 2", f"{PAIR}, -2", f"{PAIR}, 1", PAIR],
    programs={f"torch.linalg.matrix_norm(A, {order!r})": np.linalg.norm(v.A, order)
              for order in ("nuc", 2, -2, 1, -1, "fro")}
    | {"matrix_norm(T, dim=(0, 2))": np.linalg.norm(v.T, axis=(0, 2))},
)  # fmt: skip
record(
    "cond",
    oracle=lambda x, p=None: g.singular_values(x)[0] / g.singular_values(x)[1],
    recipes=[PAIR],
    programs={f"np.linalg.cond(S, {p})": np.linalg.cond(v.S, p) for p in (None, 1, -2)},
)
record(
    "dist",
    oracle=lambda x, other, p=2: g.norm(Array(numbers(x) - numbers(other)), p),
    recipes=["{V}, {V}", "{M}, {V}, 3", "{M}, {M}, p=1.5"],
    programs={"torch.dist(x, p)": np.linalg.norm(v.x - v.p), "x.dist(p, 1)": np.sum(np.abs(v.x - v.p))},
)
record(
    "cdist",
    oracle=g.cdist,
    recipes=["{M}, {M}", "{M}, [{V}, {V}], p=1", "{M}, {M}, 3"],
    programs={"torch.cdist(A, S)": np.linalg.norm(v.A[:, None] - v.S, axis=-1)},
)
record(
    "pairwise_distance",
    oracle=lambda a, b, p=2: g.norm(Array(numbers(a) - numbers(b) + 1e-6), p, -1),
    recipes=["{V}, {V}", "{M}, {V}, 3"],
    programs={"F.pairwise_distance(A, x)": np.linalg.norm(v.A - v.x + 1e-6, axis=-1)},
)
record(
    "normalize",
    oracle=g.normalize,
    recipes=["{M}", "{V}, dim=0", "{M}, 1.0, 0", "{M}, p=3, dim=-1"],
    programs={"F.normalize(A)": v.A / np.linalg.norm(v.A, axis=1, keepdims=True), "F.normalize(x*0, dim=0)": v.x * 0},
)
record(
    "cosine_similarity",
    oracle=g.cosine,
    recipes=["{V}, {V}, dim=0", "{M}, {M}", "{M}, {M}, dim=0"],
    programs={"F.cosine_similarity(x, p, dim=0)": v.x @ v.p / np.linalg.norm(v.x) / np.linalg.norm(v.p)},
)
