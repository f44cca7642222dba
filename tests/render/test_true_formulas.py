"""Formulas of the document equal the numbers beside them, where sympy's form has lost all digits or has no value."""

import math

import numpy as np
import pytest

import gradcli
from gradcli.document.verdicts import with_true_formulas
from oracles import cases

TABLES = cases("true_formulas.json")

CASES = TABLES["CASES"]


@pytest.mark.parametrize(("program", "inputs"), CASES)
@pytest.mark.parametrize("batch", [False, True])
def test_formulas_are_their_numbers(program, inputs, batch):
    v = np.ones_like(gradcli.function(program).value(**inputs)).tolist()
    if batch:
        document = gradcli.answer({"program": program, "inputs": inputs, "v": v})
    else:
        document = gradcli.explain(program, **inputs, v=v).to_dict()
    count = 0
    for text, number, names in formulas(document, inputs):
        assert same(read(text, names), number), text
        count += 1
    assert count >= 2


@pytest.mark.parametrize(("program", "x", "formula"), TABLES["the_short_form_gives_way_where_it_is_not_true"])
def test_the_short_form_gives_way_where_it_is_not_true(program, x, formula):
    assert gradcli.explain(program, x=x).to_dict()["jacobian"]["x"]["symbolic"] == formula


def test_a_saturated_record_leaves_the_formulas_of_the_next_as_they_are():
    told = [gradcli.answer({"program": "tanh(x)", "inputs": {"x": x}}) for x in (0.5, 20.0, 0.5)]
    symbolic = [answer["jacobian"]["x"]["symbolic"] for answer in told]
    assert symbolic == ["1 - tanh(x)**2", "1/cosh(x)**2", "1 - tanh(x)**2"]


def formulas(document, inputs):
    """Yield every formula of a document with the number beside it and the values of the names that it may use."""
    names = dict(inputs)
    for jacobian in document["jacobian"].values():
        for name, text in jacobian["definitions"].items():
            names[name] = read(text, names)
    parts = [(document["output"]["symbolic"], document["output"]["value"])]
    parts += [(jacobian["symbolic"], jacobian["numeric"]) for jacobian in document["jacobian"].values()]
    for symbolic, numeric in parts:
        for text, number in zip(flat(symbolic), numbers(numeric), strict=True):
            yield text, number, names


def flat(found):
    return [part for inner in found for part in flat(inner)] if isinstance(found, list) else [found]


def numbers(found):
    return [float(number) for number in flat(found)]


def read(text, names):
    function = gradcli.function(text)
    return function.value(**{name: names[name] for name in function.inputs})


def same(found, number):
    if not math.isfinite(number):
        return not math.isfinite(found)
    return abs(float(found) - number) <= 1e-9 * abs(number)


LONG = np.linspace(-20.0, 20.0, 2000)
RULES = {  # program, x: the rules that hold at every entry
    "a saturated tanh": ("tanh(x)", LONG, ["dy[i]/dx[i] = 1/cosh(x[i])**2"]),
    "a saturated sigmoid": ("sigmoid(2*x)", LONG, ["dy[i]/dx[i] = 2*sigmoid(2*x[i])*sigmoid(-2*x[i])"]),
    "none that is saturated": ("tanh(x)", LONG / 20, ["dy[i]/dx[i] = 1 - tanh(x[i])**2"]),
    "moved entries": (
        "flip(tanh(x), dims=[0])",
        LONG,
        ["dy/dx = dy/dh0 @ dh0/dx", "dy[i]/dh0[1999 - i] = 1", "dh0[i]/dx[i] = 1/cosh(x[i])**2"],
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_the_number_at_saturated_entries_too(name):
    program, x, rules = RULES[name]
    found = with_true_formulas(gradcli.explain(program, x=x, v=np.ones(x.shape)))
    assert found.jacobian["x"].formulas is None
    assert found.jacobian["x"].rules == rules


@pytest.mark.slow
def test_a_rule_that_rounding_makes_another_number_is_said_in_words():
    found = gradcli.explain("exp(x)/(1 + exp(x))", x=2 * LONG, v=np.ones(LONG.shape))
    assert found.jacobian["x"].rules == ["dy[i]/dx[i] = exp(x[i])/(1 + exp(x[i]))**2"]
    words = "dy[i]/dx[i]: by numbers alone, as rounding makes the formula another number here"
    assert with_true_formulas(found).jacobian["x"].rules == [words]
