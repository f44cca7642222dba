"""Cofactors of matrices near to singular ones: both routes against mpmath, and answers of any size."""

import mpmath
import numpy as np
import pytest

import gradcli
from gradcli.ops.matrices import cofactor_terms, cofactors, cofactors_by_minors, det

ROUNDING = 64 * 2.0**-52


def decaying(n, decades):
    """Return a matrix whose singular values fall by so many decades."""
    rng = np.random.default_rng([n, decades])
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    return left @ np.diag(np.logspace(0, -decades, n)) @ right


def of_rank(n, rank):
    """Return a matrix of small integers of this rank."""
    rng = np.random.default_rng([n, rank])
    return (rng.integers(-3, 4, (n, rank)) @ rng.integers(-3, 4, (rank, n))).astype(float)


MATRICES = {
    "of full rank": decaying(5, 1),
    "near to singular": decaying(6, 8),
    "nearer": decaying(10, 13),
    "without one rank": of_rank(5, 4),
    "without two": of_rank(6, 4),
    "zero": np.zeros((4, 4)),
    "a triangle of ones": 2 * np.eye(20) - np.triu(np.ones((20, 20))),
}


def true_cofactors(a):
    """Return the cofactors as det·inv of a matrix 10⁻⁶⁰ away, which is not singular, in 150 digits."""
    n = len(a)
    with mpmath.workdps(150):
        moved = mpmath.matrix(a.tolist()) + mpmath.diag([mpmath.mpf(k + 1) / 10**60 for k in range(n)])
        inverse, whole = moved**-1, mpmath.det(moved)
        return np.array([[float(whole * inverse[j, i]) for j in range(n)] for i in range(n)])


@pytest.mark.parametrize("name", MATRICES)
def test_cofactors_are_right_to_what_rounding_leaves(name):
    a = MATRICES[name]
    allowed = ROUNDING * (cofactor_terms(det(a), a) + np.abs(true_cofactors(a)).max())
    assert np.abs(cofactors_by_minors(a) - true_cofactors(a)).max() <= allowed + 1e-50


GRADED = [  # matrices of small entries beside large ones, and their cofactors
    ([[1.0, 1e-20], [1e-20, 2.0]], [[2.0, -1e-20], [-1e-20, 1.0]]),
    ([[1e300, 2.0], [3.0, 1e-300]], [[1e-300, -3.0], [-2.0, 1e300]]),
    ([[1e-300, 2e-300], [3e-300, -4e-300]], [[-4e-300, -3e-300], [-2e-300, 1e-300]]),
    ([[1.0, 1e-20, 0], [0, 2, 0], [0, 0, 1e8]], [[2e8, 0, 0], [-1e-12, 1e8, 0], [0, 0, 2]]),
]


@pytest.mark.parametrize(("a", "wanted"), GRADED)
def test_small_cofactors_keep_their_digits_on_both_routes(a, wanted):
    found = gradcli.explain("det(A)", A=a)
    assert found.to_dict()["notes"] == [] or {n["kind"] for n in found.to_dict()["notes"]} == {"integers-as-floats"}
    for numbers in (found.grad["A"], found.jacobian["A"].numeric):
        np.testing.assert_allclose(np.ravel(numbers), np.ravel(wanted), rtol=1e-12, atol=0)


def test_an_inverse_of_a_triangle_is_a_triangle():
    lower = [[3e-5, 0.0], [3e7, 7.0]]
    assert gradcli.explain("inv(A)[0, 1] + inv(A.T)[1, 0]", A=lower).output == 0
    found = gradcli.explain("linalg.solve_triangular(A, [[1.0], [2.0]], upper=False).sum()", A=lower)
    np.testing.assert_array_equal(found.jacobian["A"].numeric[0, 1], 0)
    assert abs(found.jacobian["A"].numeric[1, 0]) == pytest.approx(1 / 3e-5 / 7, rel=1e-12)


def test_a_batch_has_its_cofactors_one_by_one():
    batch = np.stack([decaying(5, 2), of_rank(5, 4)])
    for one, found in zip(batch, cofactors_by_minors(batch), strict=True):
        np.testing.assert_allclose(found, cofactors_by_minors(one), rtol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("n", [47, 48, 60, 100])
def test_a_determinant_of_many_rows_near_to_a_singular_one_is_answered(n):
    a = decaying(n, 7) * 10 ** (7 / 2)  # so that the determinant is a double
    found = gradcli.function("det(A)").jacobian(A=a)["A"]
    largest = np.abs(cofactors(a)).max()
    assert largest > 0
    assert np.abs(found - cofactors(a)).max() <= ROUNDING * cofactor_terms(det(a), a)


@pytest.mark.parametrize("program", ["inv(A)", "sum(inv(A))", "linalg.solve(A, x)"])
def test_what_rounding_has_spoiled_never_agrees(program):
    a, x = decaying(12, 13), np.linspace(1, 2, 12)
    inputs = {"A": a} if "x" not in program else {"A": a, "x": x}
    y = gradcli.function(program).value(**inputs)
    found = gradcli.explain(program, v=np.ones(y.shape), inputs=inputs)
    assert found.agreement.verdict in ("digits-lost", "unclear")
