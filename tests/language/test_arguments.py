"""Arguments at the edge of what they may be: the shapes, axes, counts and indices that functions refuse or still take.

A row of a refusal is ``(program, kind, words, marked)``: words stand in the message or in the hint, and ``marked`` is
the text under the caret. A row of an accepted program is ``(program, value, gradients)``: the gradients of the sum of
the output, zero by the variables that are not listed.
"""

import math
from unittest import mock

import numpy as np
import pytest

import gradcli
from gradcli.errors import Budget, GradcliError
from gradcli.language.program import compile_program
from gradcli.language.values import read_value
from oracles import cases

TABLES = cases("arguments.json")
INPUTS = TABLES["INPUTS"]
"""The point at which every program of the tables is evaluated; each gets those that it names."""
ROOT = math.sqrt(30)

REFUSED = [row for name, table in TABLES.items() if name not in ("ACCEPTED", "INPUTS") for row in table]

ACCEPTED = TABLES["ACCEPTED"]

NOT_FINITE = [
    ("(-2)**x", math.nan),
    ("det(x*diag([1, 1, 1, torch.nan]))", math.nan),
    ("det(x*diag([1, 1, 1, torch.inf]))", math.inf),
    ("det([[0, 0], [x, torch.inf]])", math.nan),
    ("det([[0*x, 0*x], [torch.nan*x, x]])", math.nan),
    ("det([[0, 0], [x/0, x]])", math.nan),
    ("sum(linalg.solve([[0, 0], [1, torch.inf]], [x, 2]))", math.nan),
]
"""Rows ``(program, value)``: in PyTorch too, the gradient of each is nan."""


def given(program, budget=None):
    """Return the inputs that a program names."""
    return {name: INPUTS[name] for name in gradcli.function(program, budget=budget).inputs}


def refusal(program, budget=None):
    """Return the error of a program at the point of the tables."""
    with pytest.raises(GradcliError) as caught:
        gradcli.function(program, budget=budget).value(**given(program, budget))
    return caught.value


@pytest.mark.parametrize(("program", "kind", "words", "marked"), REFUSED)
def test_an_argument_is_refused_with_its_reason_and_its_place(program, kind, words, marked):
    error = refusal(program)
    assert error.kind == kind
    assert words in f"{error.message}\n{error.hint}"
    assert error.span is not None
    assert error.place is not None
    assert error.place.text[slice(*error.span)] == marked


def test_factors_that_no_transpose_fits_get_no_hint():
    error = refusal("A @ ones(3, 3)")
    assert (error.kind, error.hint) == ("shape", None)
    assert "2 columns on the left, 3 rows on the right" in error.message


@pytest.mark.parametrize(("program", "value", "gradients"), ACCEPTED)
def test_an_argument_is_taken_with_this_value_and_gradient(program, value, gradients):
    inputs = given(program)
    found = gradcli.explain(program, inputs=inputs, v=np.ones(np.shape(value)))
    assert found.agreement.agree
    assert np.shape(found.output) == np.shape(value)
    np.testing.assert_allclose(found.output, value, rtol=1e-13)
    for name, point in inputs.items():
        by_formula = found.jacobian[name].vjp(np.ones(np.shape(value)))
        for route in (found.grad[name], by_formula):
            np.testing.assert_allclose(route, gradients.get(name, np.zeros(np.shape(point))), rtol=1e-13, atol=0)


@pytest.mark.parametrize(("program", "value"), NOT_FINITE)
def test_where_numbers_end_the_gradient_is_the_one_of_pytorch(program, value):
    found = gradcli.explain(program, x=1.5)
    np.testing.assert_array_equal(found.output, value)
    assert math.isnan(found.grad["x"])
    assert not found.agreement.finite


def test_a_number_beyond_double_precision_is_refused_although_its_digits_may_be_written():
    digits = "1" * 400
    error = refusal(f"{digits}*x", Budget(digits=500))
    assert (error.kind, error.place.text[slice(*error.span)]) == ("number", digits)
    assert "too large for double precision" in error.message


def test_an_array_that_no_memory_holds_is_refused_whatever_the_budget():
    error = refusal("x*sum(ones(10**15))", Budget(elements=10**16, total=10**16))
    assert error.kind == "budget"
    assert "more memory than there is" in error.message
    assert error.hint == "make it smaller"


def test_a_value_with_too_many_characters_is_refused_by_the_budget_of_the_text():
    bounds = Budget(text=1)
    assert read_value("3" + " " * 1023, "--x", bounds) == 3
    with pytest.raises(GradcliError, match="the budget 'text' of 1,024") as caught:
        read_value("3" + " " * 1024, "--x", bounds)
    assert (caught.value.kind, caught.value.span) == ("budget", (0, 1025))


@pytest.mark.parametrize(
    ("details", "span"), [((), None), (("", None, None, ""), None), (("", 9, 1, ""), (3, 3)), (("", 1, 9, ""), (3, 3))]
)
def test_an_error_of_the_parser_with_no_place_in_the_text_says_that_the_program_ends(details, span):
    """Today's parser has a place for every error, but that is no promise of Python's."""
    with (
        mock.patch("ast.parse", side_effect=SyntaxError("invalid syntax", *[details] if details else [])),
        pytest.raises(GradcliError) as caught,
    ):
        compile_program("x +")
    assert (caught.value.kind, caught.value.message) == ("syntax", "the program ends too early")
    assert caught.value.span == span
