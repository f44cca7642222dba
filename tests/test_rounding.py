"""Where digits are lost: the two routes may differ by rounding there, and that is no disagreement."""

import numpy as np
import pytest

import gradcli
from gradcli.explanation.jacobians import Jacobian
from gradcli.jacobian.sparse import Pattern
from oracles import NUMERIC, cases, difference, portion, slow

TABLES = cases("rounding.json")

ROUNDED = ("agree", "digits-lost")
"""What an answer says of rounding: nothing, or how many digits it has left. That the routes differ is another thing."""

NEAR_AN_EDGE = TABLES["NEAR_AN_EDGE"]


@pytest.mark.parametrize(("program", "x"), [(program, x) for program, xs in NEAR_AN_EDGE.items() for x in xs])
def test_rounding_is_no_disagreement(program, x):
    found = gradcli.explain(program, x=x)
    assert found.agreement.verdict in ROUNDED, f"{found.vjp} and {found.grad}"
    assert found.agreement.finite


SOFT = TABLES["SOFT"]


@pytest.mark.parametrize("program", portion(SOFT, 3))
@pytest.mark.parametrize(
    "x", [[1e-9, 0.0, 1.0], [50.0, 0.0, -50.0], [800.0, 0.0, -800.0], [3.0, 3.0, 3.000001]], ids=str
)
@pytest.mark.parametrize("v", [[1.0, 1.0, 1.0], [1.0, -1.0, 1e-9], [1e10, 1e10, 1.0]], ids=str)
def test_rounding_in_sums_that_cancel_is_no_disagreement(program, x, v):
    shape = gradcli.function(program).value(x=x).shape
    found = gradcli.explain(program, x=x, v=v if shape else v[0])
    assert found.agreement.verdict in ROUNDED, f"{found.vjp} and {found.grad}"


SINGULAR = [[[1.0, 2.0], [2.0, 4.0]], np.diag([1.0, 2.0, 3.0, 0.0]), np.diag([1.0, 0.0, 5.0]),
            [[1.0, 2, 3, 4], [4, 3, 1, 2], [5, 5, 4, 6], [2, 0, 1, 3]], np.zeros((3, 3))]  # fmt: skip


@pytest.mark.parametrize("A", SINGULAR, ids=lambda A: str(np.shape(A)))
def test_the_determinant_of_a_singular_matrix_has_its_true_jacobian_and_the_gradient_of_pytorch(A):
    A = np.array(A)
    found = gradcli.explain("det(A)", A=A)
    true = difference(np.linalg.det, A).reshape(A.shape)
    assert found.output == 0
    assert np.max(np.abs(found.jacobian["A"].numeric - true)) < NUMERIC * (1 + np.max(np.abs(true)))
    assert not np.any(found.grad["A"]), "PyTorch solves with det(A) on the right, which is 0"
    assert found.agreement.agree == (not np.any(found.jacobian["A"].numeric))
    assert not any("report" in note.message for note in found.notes), "it is known why the routes differ"


@pytest.mark.parametrize("rank", [slow(1), 2, slow(3)])
def test_rounding_in_the_cofactors_of_a_singular_matrix_is_no_disagreement(rank):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        A = rng.uniform(-1, 1, (4, rank)) @ rng.uniform(-1, 1, (rank, 4))
        found = gradcli.explain("det(A)", A=A)
        close = bool(np.max(np.abs(found.grad["A"] - found.vjp["A"])) < 1e-14)
        assert (found.agreement.verdict != "differ") == close, f"seed {seed}"


@pytest.mark.parametrize(("x", "t"), [(0.0, 0.5), (1.0, 1.0), (0.0, 0.0), (1.0, 0.5)])
def test_where_pytorch_bounds_the_cross_entropy_the_answer_says_so(x, t):
    found = gradcli.explain("binary_cross_entropy(x, t)", x=[x], t=[t], wrt=["x"])
    [note] = [note for note in found.notes if note.kind == "routes-differ"]
    assert not found.agreement.agree
    assert "binary_cross_entropy keeps" in note.message


@pytest.mark.parametrize("n", [60, 65, slow(1000), slow(30_000)])
@pytest.mark.parametrize(
    "program", ["sin(x)*arange({n})", "x*linspace(0.1, 0.7, {n})", "stack([x, x*x])[:, None]*ones({n})"]
)
def test_sums_of_many_terms_agree_as_sums_of_few_do(program, n):
    text = program.format(n=n)
    shape = gradcli.function(text).value(x=0.7).shape
    found = gradcli.explain(text, x=0.7, v=np.random.default_rng(0).uniform(0.5, 1.5, shape))
    assert found.agreement.agree
    assert abs(found.vjp["x"] - found.grad["x"]) <= 1e-13 * abs(found.grad["x"])


def test_an_output_that_v_leaves_out_widens_no_tolerance():
    pattern = Pattern(np.array([0, 1]), np.array([0, 0]), (2, 1))
    jacobian = Jacobian((2,), (), pattern, np.array([0.0, 6.0]), np.array([np.inf, 6.0]), None)
    assert jacobian.scale(np.array([0.0, 2.0])) == 12.0
    assert jacobian.scale(np.array([1.0, 2.0])) == np.inf


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "x"),
    [
        ("sinc(x[0] + 1.2)*x[1]", [-0.2, 1.0]),
        ("sum(x[:3])*x[3]", [-0.22, 1.98, -1.76, 1.0]),
        ("(x[:3] @ ones(3))*x[3]", [-0.22, 1.98, -1.76, 1.0]),
    ],
)
def test_a_large_program_is_looked_at_where_a_smooth_op_makes_zero_of_what_is_none(program, x):
    # In truth -0.2 + 1.2 is a little less than 1, and the three numbers have a sum that is not 0.
    A = np.linspace(0, 1, 400).reshape(20, 20)
    found = gradcli.explain(f"{program}*sum(sinh(A) @ cosh(A))", x=x, A=A, wrt=["x"])
    assert found.agreement.verdict == "digits-lost"
    assert found.agreement.digits["y"] == 0
