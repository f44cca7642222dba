"""Entries that are 0 in exact arithmetic and not in doubles: what rounding leaves of their terms is right, no more."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.ops.declare import OPS
from oracles import ask, tampered

MATRICES = {  # each has entries in its inverse that are 0
    "none on the diagonal": [[3.0, 4.0, 3.0], [-2.0, 1.0, 3.0], [0.0, 1.0, 3.0]],
    "one and three": [[1.0, 3.0, 1.0], [3.0, 3.0, 2.0], [3.0, 0.0, 2.0]],
    "a row of one number": [[3.0, 3.0, 4.0], [-3.0, 0.0, 0.0], [1.0, -2.0, 3.0]],
    "a column of one number": [[0.0, -2.0, -3.0], [0.0, 2.0, -1.0], [1.0, 2.0, -2.0]],
}
FACTORS = [  # b is multiplied by numbers of which some are truly 0
    "inv(A) @ b",
    "pinv(A) @ b",
    "lstsq(A, b).solution",
    "solve(A, b)",
    "inv(A).T @ b",
    "(inv(A)*b[0])[:, 1] + inv(A)[0] @ b",
    "A @ inv(A) @ b",
    "(sin(A)**2 + cos(A)**2 - 1) @ b",
    "tanh(inv(A)) @ b",
]


@pytest.mark.parametrize("program", FACTORS)
@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_what_rounding_leaves_of_a_true_zero_is_right(program, matrix):
    inputs = {"A": np.array(matrix), "b": np.array([1.0, 2.0, 0.5])}
    found = gradcli.check(program, wrt="b", inputs=inputs)
    assert found.verdict == "agree", found
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


@pytest.mark.parametrize(
    ("program", "point"),
    [
        ("((x + 1e16) - 1e16)**2", 1.3),
        ("x**2/(x**2 + 1)", 1e9),
        ("(x + 1e12*x - 1e12*x)*y", 1.3),
        ("sin(1e22*x)", 0.1),
    ],
)
def test_a_number_that_is_not_truly_zero_is_not_excused(program, point):
    inputs = {"x": point, **({"y": 2.0} if "y" in program else {})}
    assert not gradcli.explain(program, inputs=inputs).agreement.agree
