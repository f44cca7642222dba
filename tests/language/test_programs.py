"""The language by example: what a program gives, and the gradient of the sum of its output.

Each row is ``(program, inputs, value, gradient)``; an input list is an array. A gradient that is no dictionary is the
one by ``x``. Both routes must give it: reverse mode, and the columns of the symbolic Jacobian added up.
"""

import math

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import cases

X = [1.0, 2.0, 3.0]

TABLES = cases("programs.json")
PRECEDENCE = TABLES["PRECEDENCE"]

NUMBERS = TABLES["NUMBERS"]

ARRAYS = TABLES["ARRAYS"]

INDEXING = TABLES["INDEXING"]

STATEMENTS = TABLES["STATEMENTS"]

BRANCHES = TABLES["BRANCHES"]

LOOPS = TABLES["LOOPS"]

READINGS = TABLES["READINGS"]

SPELLINGS = TABLES["SPELLINGS"]

ANSWERED = [PRECEDENCE, NUMBERS, ARRAYS, INDEXING, STATEMENTS, BRANCHES, LOOPS, READINGS, SPELLINGS]


@pytest.mark.parametrize(("program", "x", "value", "gradient"), [row for table in ANSWERED for row in table])
def test_a_program_has_this_value_and_gradient(program, x, value, gradient):
    function = gradcli.function(program)
    found = function.value(x=x)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, value, rtol=1e-13, strict=False)
    assert found.shape == np.shape(value)
    by_reverse = function.grad(x=x, v=np.ones(found.shape))["x"]
    by_formula = function.jacobian(x=x)["x"].reshape(-1, *np.shape(x)).sum(axis=0)
    for route in (by_reverse, by_formula):
        assert np.shape(route) == np.shape(x)
        np.testing.assert_allclose(route, np.asarray(gradient, dtype=float), rtol=1e-13, atol=1e-15)


def test_names_are_case_sensitive_and_may_shadow_constants():
    found = gradcli.explain("e*X + x", e=2, X=3, x=4)
    assert found.output == 10
    assert {name: float(g) for name, g in found.grad.items()} == {"e": 3, "X": 2, "x": 1}


def test_inputs_are_listed_in_the_order_of_their_first_use():
    assert gradcli.function("h = W @ x + b\nsum((h - t)**2)").inputs == ("W", "x", "b", "t")


@pytest.mark.parametrize(("program", "gradient"), [("sum(x*ones(10**5))", 1e5), ("mean(x*arange(10**5))", 49999.5)])
def test_a_long_array_is_explained_as_a_short_one_is(program, gradient):
    found = gradcli.explain(program, x=2)
    assert found.agreement.agree
    assert float(found.grad["x"]) == pytest.approx(gradient)


@pytest.mark.parametrize(("program", "value"), [("1/0*x", math.inf), ("-1/0*x", -math.inf), ("10**400*x", math.inf)])
def test_a_constant_beyond_all_numbers_is_answered_as_not_finite(program, value):
    found = gradcli.explain(program, x=2)
    assert (float(found.output), found.agreement.finite) == (value, False)


ASSIGNED_SOMETIMES = TABLES["ASSIGNED_SOMETIMES"]


@pytest.mark.parametrize("name", ASSIGNED_SOMETIMES)
def test_a_given_value_counts_where_no_statement_that_ran_assigns_it(name):
    program, x, a, y, by_x, by_a = ASSIGNED_SOMETIMES[name]
    found = gradcli.explain(program, x=x, a=a)
    assert (float(found.output), float(found.grad["x"]), float(found.grad["a"])) == (y, by_x, by_a)
    assert gradcli.check(program, x=x, a=a).agree


def test_a_value_for_what_the_program_always_assigns_is_refused():
    with pytest.raises(GradcliError, match="'a' is computed by the program, and no input"):
        gradcli.explain("if x > 0:\n    a = x\nelse:\n    a = -x\na*x", x=1.0, a=2.0)
