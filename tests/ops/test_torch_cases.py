"""Numbers that PyTorch gave: random programs, and points where a derivative is a matter of convention."""

import math

import numpy as np
import pytest

import gradcli
from oracles import assert_close, cases, numbers, portion

ROWS = cases("torch_cases.jsonl")
CONVENTIONS = [case for case in cases("torch_conventions.json")["cases"] if case["torch"]]
TOLERANCE = 1e-10


@pytest.fixture(scope="module", params=portion(ROWS, 12), ids=lambda row: f"{row['id']}: {row['expr']}"[:60])
def row_and_answer(request):
    row = request.param
    return row, gradcli.explain(row["expr"], v=row["v"], inputs={"x": row["x"]})


def test_value(row_and_answer):
    row, found = row_and_answer
    assert_close(found.output, numbers(row["y"]), TOLERANCE, "y")


def test_jacobian(row_and_answer):
    row, found = row_and_answer
    shape = np.shape(row["y"]) + np.shape(row["x"])
    assert found.jacobian["x"].shape == shape
    assert_close(found.jacobian["x"].numeric, numbers(row["J"]).reshape(shape), TOLERANCE, "J")


def test_both_routes_give_the_gradient(row_and_answer):
    row, found = row_and_answer
    assert_close(found.grad["x"], numbers(row["grad"]), TOLERANCE, "grad")
    assert_close(found.vjp["x"], numbers(row["grad"]), TOLERANCE, "vjp")
    assert found.agreement.agree
    assert found.agreement.finite
    assert found.agreement.max_abs_error <= TOLERANCE * max(1.0, np.max(np.abs(numbers(row["grad"]))))


def test_the_rows_cover_scalars_vectors_and_matrices():
    assert len(ROWS) == 100
    assert {row["xkind"] for row in ROWS} == {row["ykind"] for row in ROWS} == {"scalar", "vector", "matrix"}


def seed_of(case):
    return np.ones(numbers(case["torch"]["value"]).shape) if case["v"] is None else case["v"]


@pytest.mark.parametrize("case", CONVENTIONS, ids=lambda case: case["name"])
class TestConventions:
    def test_reverse_mode_gives_the_same(self, case):
        f = gradcli.function(case["code"]["torch"])
        assert_close(f.value(**case["inputs"]), numbers(case["torch"]["value"]), 1e-15, "y")
        grad = f.grad(v=seed_of(case), **case["inputs"])
        assert set(grad) == set(case["torch"]["grads"])
        for name, want in case["torch"]["grads"].items():
            assert_close(grad[name], numbers(want), 1e-15, name)

    def test_an_explanation_says_so_too_and_whether_j_differs(self, case):
        found = gradcli.explain(case["code"]["torch"], v=seed_of(case), inputs=case["inputs"])
        finite = True
        for name, want in case["torch"]["grads"].items():
            assert_close(found.grad[name], numbers(want), 1e-15, name)
            finite = finite and bool(np.all(np.isfinite(numbers(want))))
            if found.agreement.agree and finite:
                assert_close(found.vjp[name], numbers(want), 1e-14, f"vjp by {name}")
        assert finite <= found.agreement.agree, "a finite gradient of PyTorch's is also vᵀ·J"
        assert found.agreement.finite == (finite and bool(np.all(np.isfinite(found.output))))


WHERE_ONE_ROUTE_IS_NAN = {"where(x>0, sqrt x, x) at -4": 1.0, "where(x==0, 1, sin(x)/x) at 0": 0.0}


@pytest.mark.parametrize("name", WHERE_ONE_ROUTE_IS_NAN)
def test_a_branch_that_was_not_taken_spoils_reverse_mode_alone(name):
    [case] = [case for case in CONVENTIONS if case["name"] == name]
    found = gradcli.explain(case["code"]["torch"], inputs=case["inputs"])
    assert found.vjp["x"] == WHERE_ONE_ROUTE_IS_NAN[name]
    assert math.isnan(found.grad["x"])
    assert not found.agreement.agree
    assert "routes-differ" in [note.kind for note in found.notes]
