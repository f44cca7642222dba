"""``--expect``: a derivative that was written by hand."""

import numpy as np
import pytest

import gradcli
from oracles import cases, portion

TABLES = cases("expected.json")

RIGHT = TABLES["RIGHT"]


def asked(program, inputs, v, expect):
    wrt = list(expect) if isinstance(expect, dict) else None
    return gradcli.check(program, inputs=inputs, v=v, expect=expect, wrt=wrt)


@pytest.mark.parametrize(("program", "inputs", "v", "expect"), RIGHT)
def test_what_is_right_is_confirmed(program, inputs, v, expect):
    found = asked(program, inputs, v, expect)
    assert found.agree, found
    assert found.routes[-1] == "--expect"
    assert str(found).startswith("right: ")
    assert [one.verdict for one in found.expected] == ["right"] * len(found.expected)


def off(expect, how):
    if isinstance(expect, dict):
        return {name: off(item, how) for name, item in expect.items()}
    if not isinstance(expect, str):
        return np.array(expect) * how
    *lines, last = expect.replace("; ", "\n").split("\n")
    return "\n".join([*lines, f"({last})*{how}"])


@pytest.mark.parametrize(("program", "inputs", "v", "expect"), RIGHT)
@pytest.mark.parametrize("how", [1 + 1e-9, -1.0, 2.0])
def test_what_is_wrong_is_found(program, inputs, v, expect, how):
    found = asked(program, inputs, v, off(expect, how))
    assert not found.agree, found
    assert str(found).startswith("wrong: ")


WHATEVER_THE_CONDITION = TABLES["WHATEVER_THE_CONDITION"]


@pytest.mark.parametrize(("program", "x", "expect", "right"), WHATEVER_THE_CONDITION)
def test_a_formula_is_right_or_wrong_whatever_the_condition(program, x, expect, right):
    comparisons = gradcli.check(program, x=x, expect=expect).comparisons
    assert [not c.wrong for c in comparisons if c.routes[0] == "--expect"] == [right]


TYPED = TABLES["TYPED"]  # a number for the derivative of x**2 at 3 or 3.14, and whether it is right


@pytest.mark.parametrize(("x", "expect", "right"), TYPED)
def test_a_typed_number_is_held_to_its_last_digit_and_to_three(x, expect, right):
    assert gradcli.check("x**2", x=x, expect=expect).agree is right


CONSTANTS = TABLES["CONSTANTS"]
"""A derivative with π or e in it, whichever of the double and the number the formula means."""


@pytest.mark.parametrize(("program", "x", "expect", "right"), CONSTANTS)
def test_a_constant_may_be_the_double_or_the_number(program, x, expect, right):
    assert gradcli.check(program, x=x, expect=expect).agree is right


def test_an_infinite_reading_of_several_entries_is_no_mistake_of_a_factor():
    assert not gradcli.check("sum(tan(pi*x/4))", x=[2.0, 1.0], expect="-pi/4/cos(pi*x/4)**2").agree


def test_a_variable_called_e_is_no_constant():
    assert gradcli.check("e*x**2", inputs={"e": 2.0, "x": 3.0}, wrt=["x"], expect="2*e*x").agree


@pytest.mark.parametrize("x", portion(np.random.default_rng(3).uniform(-3, 3, 40), 4))
@pytest.mark.parametrize("program", ["1/x", "sin(x)", "x**3*exp(x)", "tanh(x)*x"])
def test_a_number_that_was_printed_is_right(program, x):
    printed = float(gradcli.explain(program, x=x).grad["x"])
    assert gradcli.check(program, x=x, expect=repr(printed)).agree


FAR = TABLES["FAR"]  # a program, a point, a formula whose digits cancel, and whether it is right


@pytest.mark.parametrize(("program", "x", "expect", "right"), FAR)
def test_a_formula_whose_digits_cancel_is_computed_in_more(program, x, expect, right):
    comparisons = gradcli.check(program, x=x, expect=expect).comparisons
    assert [not c.wrong for c in comparisons if c.routes[0] == "--expect"] == [right]


LISTS = [("[[6, 0], [0, 2.5]]", True), ("[[6, 0], [0, 2.4]]", False), ("[6, 2.5]", True), ("[6, 2.51]", False),
         ("[6.0, 5/2]", True)]  # fmt: skip


@pytest.mark.parametrize(("expect", "right"), LISTS)
def test_lists_of_typed_numbers_are_held_entry_by_entry(expect, right):
    assert gradcli.check("x**2", x=[3.0, 1.25], expect=expect).agree is right


def test_an_array_may_have_the_rounding_of_its_own_terms():
    x = np.array([1.0, 1e8])
    program = "(x[0]*1e9 + x[1]*10 - x[0]*1e9)*x[0]"
    truth = 1e9 + 0.0
    assert gradcli.check(program, x=x, expect={"x": [truth * (1 + 1e-14), 10.0]}).agree
    assert not gradcli.check(program, x=x, expect={"x": [truth * (1 + 1e-5), 10.0]}).agree


AT_AN_EDGE = TABLES["AT_AN_EDGE"]  # where some of a formula's runs with other last digits have no value


@pytest.mark.parametrize(("program", "x", "expect", "right"), AT_AN_EDGE)
def test_at_an_edge_of_its_domain_a_formula_is_held_to_its_value(program, x, expect, right):
    assert gradcli.check(program, x=x, expect=expect).agree is right


HINTS = TABLES["HINTS"]


@pytest.mark.parametrize(("program", "inputs", "expect", "hint"), HINTS)
def test_a_usual_mistake_is_named(program, inputs, expect, hint):
    found = asked(program, inputs, None, expect)
    assert not found.agree
    assert (found.hint or None) == hint
    assert hint is None or str(found).endswith(hint)


REFUSED = TABLES["REFUSED"]


@pytest.mark.parametrize(("program", "inputs", "v", "expect", "kind", "message"), REFUSED)
def test_what_does_not_fit_is_refused(program, inputs, v, expect, kind, message):
    with pytest.raises(gradcli.GradcliError) as raised:
        gradcli.check(program, inputs=inputs, v=v, expect=expect)
    assert raised.value.kind == kind
    assert message in raised.value.message
    if kind in ("missing-input", "unknown-function", "syntax"):
        assert raised.value.place.name == "--expect"
        assert raised.value.place.text == expect


def test_a_formula_is_checked_at_every_sample():
    assert gradcli.check("abs(x)*x", x=1.0, expect="2*abs(x)", samples=20).agree
    found = gradcli.check("abs(x)*x", x=1.0, expect="2*x", samples=20)
    assert not found.agree, "2*x is right at positive points, the given one among them"
    assert "; at --x -" in str(found)
