"""Eigenvalues, singular values, factors and inverses of matrices, and norms that are made of them."""

import numpy as np

from records import linear_mathematics as lm
from records import mathematics as m
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
BOUNDS = {"atol": 0.0, "rtol": 1e-15}

record(
    "mean_of_equals",
    of_arrays=lm.mean_of_equals,
    cases=[([np.array(x)], {"least": -1.0}) for x in ([3.0, 2.0, 1.0], [[4.0, 2.0, 1.0], [1.0, 0.0, -1.0]])],
    kink=([[2.0, 2.0]], [[2.0, 1.0]]),
    kink_options={"least": -1.0},
    called=["svdvals", "eigvalsh"],
)
record("eigvalsh", of_arrays=m.each_matrix(lm.eigenvalues), cases=[([a], {}) for a in SYMMETRIC])
record("eigenvectors", of_arrays=m.each_matrix(lm.eigenvectors), cases=[([a], {}) for a in SYMMETRIC], called=["eigh"])
record("svdvals", of_arrays=m.each_matrix(lm.singular_values), cases=[([a], {}) for a in ANY])
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
)
record(
    "matrix_exp",
    of_arrays=m.each_matrix(lm.exponential),
    cases=[([a], {}) for a in (ANY[0], ANY[1], np.array(SQUARES[2]), np.array([[0.0, 1.0], [0.0, 0.0]]), SYMMETRIC[3])],
)
