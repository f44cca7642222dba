"""Eigenvalues, singular values, factors and inverses of matrices, and norms that are made of them."""

import numpy as np

from records import linear_mathematics as lm
from records import mathematics as m
from records.record import calls, record

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
BOUNDS = {"atol": 0.0, "rtol": 1e-15}

record(
    "mean_of_equals",
    of_arrays=lm.mean_of_equals,
    cases=[([np.array(x)], {"least": -1.0}) for x in ([3.0, 2.0, 1.0], [[4.0, 2.0, 1.0], [1.0, 0.0, -1.0]])],
    kink=([[2.0, 2.0]], [[2.0, 1.0]]),
    kink_options={"least": -1.0},
    called=["svdvals", "eigvalsh"],
)
record("eigvalsh", of_arrays=m.each_matrix(lm.eigenvalues), cases=[([a], {}) for a in SYMMETRIC], recipes=[SYM])
record("eigenvectors", of_arrays=m.each_matrix(lm.eigenvectors), cases=[([a], {}) for a in SYMMETRIC], called=["eigh"])
record("svdvals", of_arrays=m.each_matrix(lm.singular_values), cases=[([a], {}) for a in ANY], recipes=[PAIR])
record(
    "singular_vectors",
    of_arrays=lambda a, side: m.each_matrix(lambda x: lm.singular_vectors(x, side))(a),
    cases=[([a], {"side": side}) for a in ANY for side in ("U", "V")],
    called=["svd", "linalg.svd"],
)
record(
    "cholesky",
    of_arrays=m.each_matrix(lm.cholesky),
    cases=[([a], {}) for a in (*DEFINITE, np.array([DEFINITE[1], [[3.0, 1.0], [1.0, 2.0]]]))],
    recipes=[POSITIVE, POSITIVE + ", upper=True"],
)
record(
    "orthogonal",
    of_arrays=m.each_matrix(lm.orthogonal),
    cases=[([a], {}) for a in (*ANY[:3], ANY[4], np.array(SQUARES[2]))],
    called=["qr", "linalg.qr"],
)
record(
    "logabsdet",
    of_arrays=m.each_matrix(lm.logabsdet),
    cases=[([a], {}) for a in (ANY[0], ANY[1], np.array(SQUARES[2]), SYMMETRIC[3])],
    called=["slogdet", "logdet"],
)
record(
    "pinv",
    of_arrays=lambda a, **_: m.each_matrix(lm.pinv)(a),
    cases=[([a], BOUNDS) for a in ANY],
    kink=([[2.0, 1.0], [4.0, 2.0]], [[2.0, 1.0], [0.0, 3.0]]),
    kink_options=BOUNDS,
    recipes=[PAIR, "[[{S}, {S}]]"],
)
record(
    "matrix_exp",
    of_arrays=m.each_matrix(lm.exponential),
    cases=[([a], {}) for a in (ANY[0], ANY[1], np.array(SQUARES[2]), np.array([[0.0, 1.0], [0.0, 0.0]]), SYMMETRIC[3])],
    recipes=["{Q:-1,1}"],
)

calls(
    {
        "eigh": ["{f}(" + SYM + ")[1][0, 1]**2", "{f}(" + SYM + ")[0]"],
        "svd": ["{f}(" + PAIR + ")[0][0, 1]**2", "{f}(" + PAIR + ")[1]"],
        "linalg.svd": ["{f}(" + PAIR + ")[2][0, 1]**2", "{f}(" + PAIR + ")[1]"],
        "qr": ["{f}(" + PAIR + ")[1]**2", "{f}(" + PAIR + ")[0]**2"],
        "linalg.qr": ["{f}(" + PAIR + ")[1]**2", "{f}(" + PAIR + ', mode="r")**2'],
        "solve_triangular": [
            "[[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]], [[{S}], [{S}]], upper=True",
            "[[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]], [[{S}, {S}]], upper=False, left=False",
        ],
        "cholesky_solve": ["[[{S}], [{S}]], tril([[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]])"],
        "cholesky_inverse": ["tril([[{S:0.5,2}, {S}], [{S}, {S:0.5,2}]])"],
        "slogdet": ["{f}({Q} + 3*eye({n}))[1]"],
        "logdet": ["{Q:-1,1} + 4*eye({n})"],
        "pinverse": [PAIR],
        "lstsq": ["{f}([[{S}, {S}], [{S}, {S}], [{S}, {S}]], [[{S}], [{S}], [{S}]])[0]"],
        "linalg.vector_norm": ["{V}", "{M}, ord=3", "{M}, dim=1", "{V}, -2"],
        "matrix_norm": [f'{PAIR}, "nuc"', f"{PAIR}, 2", f"{PAIR}, -2", f"{PAIR}, 1", PAIR],
        "cond": [PAIR],
        "dist": ["{V}, {V}", "{M}, {V}, 3", "{M}, {M}, p=1.5"],
        "cdist": ["{M}, {M}", "{M}, [{V}, {V}], p=1", "{M}, {M}, 3"],
        "pairwise_distance": ["{V}, {V}", "{M}, {V}, 3"],
        "normalize": ["{M}", "{V}, dim=0", "{M}, 1.0, 0", "{M}, p=3, dim=-1"],
        "cosine_similarity": ["{V}, {V}, dim=0", "{M}, {M}", "{M}, {M}, dim=0"],
    }
)
