"""Entries that are 0 in exact arithmetic and not in doubles: what rounding leaves of their terms is right, no more."""

import numpy as np
import pytest

import gradcli
from gradcli.jacobian.composition import sizes_of_output
from gradcli.language.program import compile_program
from gradcli.ops.declare import OPS
from oracles import ask, cases, tampered

TABLES = cases("true_zeros.toml")

MATRICES = TABLES["MATRICES"]  # each has entries in its inverse that are 0
FACTORS = TABLES["FACTORS"]  # b is multiplied by numbers of which some are truly 0


@pytest.mark.long
@pytest.mark.parametrize("program", FACTORS)
@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_what_rounding_leaves_of_a_true_zero_is_right(program, matrix):
    inputs = {"A": np.array(matrix), "b": np.array([1.0, 2.0, 0.5])}
    found = gradcli.check(program, wrt="b", inputs=inputs)
    assert found.verdict == "right", found
    assert gradcli.explain(program, v=[1.0, 2.0, 3.0], wrt="b", inputs=inputs).agreement.agree


def test_it_is_shown_as_such():
    table = ask("explain", FACTORS[0], "--A", "3,4,3;-2,1,3;0,1,3", "--b", "1,2,0.5", "--wrt", "b", "--v", "1,0,0")
    assert table.code == 0
    assert "inv(A)[0,0] ~= 0" in table.out


def test_more_than_rounding_leaves_is_wrong():
    """A rule that is off by 1e-10 in each entry is right to ten digits, but not where the truth is 0."""
    first, right = OPS["matmul"].vjps
    with tampered(OPS["matmul"], vjps=(first, lambda g, out, a, b: right(g, out, a, b) + 1e-10)):
        found = gradcli.check("inv(A) @ b", wrt="b", A=MATRICES["one and three"], b=[1.0, 2.0, 0.5])
    assert not found.agree
    assert ("reverse mode", "many digits") in {c.routes for c in found.comparisons if c.wrong}


EXPRESSIONS = TABLES["EXPRESSIONS"]
"""Some values, or all, are truly 0, or constants that rounding has made of 0."""


@pytest.mark.parametrize("program", EXPRESSIONS)
def test_the_formulas_beside_it_are_right_too(program):
    matrix = MATRICES["none on the diagonal"]
    inputs = {"b": np.array([1.0, 2.0, 0.5]), **({"A": np.array(matrix)} if "A" in program else {})}
    found = gradcli.check(program, wrt="b", inputs=inputs)
    assert found.verdict == "right", found
    assert not found.misprints
    assert gradcli.explain(program, v=[1.0, 2.0, 3.0], wrt="b", inputs=inputs).agreement.agree


@pytest.mark.parametrize("program", ["sum(inv(A)[0]*b)", "A[0] @ inv(A)[:, 1]"])
def test_an_output_that_is_truly_zero_may_have_the_rounding_of_its_terms(program):
    matrix = 1e-6 * np.array(MATRICES["none on the diagonal"])
    inputs = {"A": matrix, **({"b": np.array([4e-6, 1e-6, 1e-6])} if "b" in program else {})}
    found = gradcli.explain(program, inputs=inputs)
    assert 0 < abs(found.output) < 1e-12
    assert found.agreement.digits["y"] == 16


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_numbers_of_the_users_own_may_have_that_rounding_too(matrix):
    """The pseudo-inverse has 1e-16 where the inverse has 0, whatever J itself has there."""
    b = np.array([1.0, 2.0, 0.5])
    right, wrong = np.linalg.pinv(np.array(matrix)), np.linalg.inv(np.array(matrix)) + 1e-10
    assert gradcli.check("inv(A) @ b", wrt="b", A=matrix, b=b, expect={"b": right}).agree
    assert not gradcli.check("inv(A) @ b", wrt="b", A=matrix, b=b, expect={"b": wrong}).agree


@pytest.mark.parametrize("program", TABLES["a_number_that_shows_is_not_excused_by_what_was_lost_on_the_way"])
def test_a_number_that_shows_is_not_excused_by_what_was_lost_on_the_way(program):
    inputs = {"b": 2.0, "c": 1.3, **({"d": 1e9} if "d" in program else {})}
    found = gradcli.explain(program, wrt="b", inputs=inputs)
    assert abs(found.grad["b"]) > 0.1
    assert not found.agreement.agree
    assert not gradcli.check(program, wrt="b", inputs=inputs).agree


def doubts(program, **inputs):
    """Return by how many ε each entry of a program's output may be off, in flat order."""
    compiled = compile_program(program)
    graph, output, _ = compiled.evaluate(
        {name: np.array(value, dtype=float) for name, value in inputs.items()}, frozenset(inputs)
    )
    return sizes_of_output(graph, output)[1].tolist()


@pytest.mark.parametrize(
    ("program", "inputs", "units"),
    [
        ("x*3.0", {"x": 2.0}, [6]),
        ("x*3.0*2.0", {"x": 2.0}, [12 + 12]),
        ("(x*3.0).detach()", {"x": 2.0}, [6]),
        ("exp(x*1.0)", {"x": 2.0}, [np.exp(2)*2 + np.exp(2)]),
        ("sum(x*2.0)", {"x": [1.0, -3.0]}, [2 + 6 + 4 + (2 + 6)]),
        ("(x*2.0)[1]", {"x": [1.0, -3.0]}, [6]),
        ("x - 2.0", {"x": 2.0}, [0]),
    ],
)  # fmt: skip
def test_the_rounding_of_a_value_is_that_of_its_op_and_what_it_hands_on(program, inputs, units):
    np.testing.assert_allclose(doubts(program, **inputs), units, rtol=1e-12)


def test_a_matrix_of_a_batch_does_not_excuse_another():
    small, large = np.eye(2), 1e12 * np.array([[1.0, 2.0], [3.0, 5.0]])
    units = np.reshape(doubts("inv(A)", A=[large, small]), (2, 2, 2))
    assert np.all(units[0] < 1e-9)
    assert np.all(units[1] >= 1)


@pytest.mark.parametrize(("program", "matrix"), TABLES["a_regular_matrix_may_have_sizes_that_are_singular"])
def test_a_regular_matrix_may_have_sizes_that_are_singular(program, matrix):
    """Whether digits may be lost is looked for in |A|, which has no inverse here."""
    b = np.eye(len(matrix))[-1]
    found = gradcli.explain(program, v=np.ones(len(matrix)), A=np.array(matrix, dtype=float), b=b)
    assert found.agreement.agree
    assert np.any(found.output == 0)
