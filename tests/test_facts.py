"""Errors carry facts, and each front end words its own hint from them."""

import json

import pytest

import gradcli
from gradcli.errors import Budget, GradcliError
from gradcli.errors.hints import MisshapenV, MissingInputs, MissingV, NoValue, OverBudget, OwnInput, OwnInputs
from gradcli.language.values import read_value

RECORDS = '"v" is an array in the shape of y: ones give the gradient of the sum'
OWN = OwnInputs((OwnInput("x", "x = 3", 1, "3", (0, 5)),))
ROWS = {  # program, inputs, v: the facts, and the hint of Python, of the command line and of a batch
    ("x**2", "x=1,2"): (
        MissingV((2,)),
        "--v '1,1' is y.sum().backward(), --v '1/2,1/2' is y.mean().backward(), --v '1,0' is y[0].backward()",
        "--v '1,1' is y.sum().backward(), --v '1/2,1/2' is y.mean().backward(), --v '1,0' is y[0].backward()",
        RECORDS,
    ),
    ("x**2", "x=1,2", "1,2,3"): (
        MisshapenV((3,), (2,)),
        "give 2 numbers, one for each entry of y: --v 'ones(2)' for the sum, 'ones(2)/2' the mean",
        "give 2 numbers, one for each entry of y: --v 'ones(2)' for the sum, 'ones(2)/2' the mean",
        RECORDS,
    ),
    ("x**2", "x=1,2", "1,2;3,4"): (
        MisshapenV((2, 2), (2,)),
        "give one row of it at a time: --v '1,0' is row 0 of J, and any v shows all of J in its table",
        "give one row of it at a time: --v '1,0' is row 0 of J, and any v shows all of J in its table",
        RECORDS,
    ),
    ("x*y", "x=1"): (MissingInputs(("y",)), "add y=...", "add --y VALUE", 'give its value in "inputs"'),
    ("width*x", "x=1"): (
        MissingInputs(("width",)),
        "add width=...",
        "add --set width=VALUE",
        'give its value in "inputs"',
    ),
    ("weight*2", "wieght=1"): (
        MissingInputs(("weight",), near=("wieght", "weight")),
        "wieght was given: did you mean weight?",
        "--wieght was given: did you mean --weight?",
        '"wieght" was given: did you mean "weight"?',
    ),
    ("sin*2",): (MissingInputs(("sin",), function="sin"), *["'sin' is a function: call it, sin(x)"] * 3),
    ("x = 3; x**2",): (
        OWN,
        "leave out line 1, 'x = 3', and give x=3",
        "leave out line 1, 'x = 3', and give --x 3",
        'leave out line 1, \'x = 3\', and give "x": 3 in "inputs"',
    ),
}


@pytest.mark.parametrize(("asked", "wanted"), ROWS.items(), ids=lambda part: " ".join(map(str, part))[:40])
def test_each_front_end_words_its_own_hint(cli, asked, wanted):
    program, given, v = (*asked, "", "")[:3]
    name, _, text = given.partition("=")
    inputs, v_given = (
        {name: read_value(text, name, Budget())} if given else {},
        read_value(v, "v", Budget()) if v else None,
    )
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(program, v=v_given, inputs=inputs)
    flags = [*(["--set", given] if given else []), *(["--v", v] if v else [])]
    record = {"program": program, "inputs": {name: text} if given else {}, "v": v or None}
    said = json.loads(cli("explain", program, *flags, "--json").out)["error"], gradcli.answer(record)["error"]
    assert (caught.value.facts, caught.value.hint, *(error["hint"] for error in said)) == wanted


@pytest.mark.parametrize(
    ("text", "path", "flag", "record"),
    [
        ("two", None, "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]], or @FILE",
         "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]]"),
        ("x.csv", "x.csv", "write @x.csv to read a file", "a record names no file: write the numbers themselves"),
    ],
)  # fmt: skip
def test_a_record_is_not_told_to_read_a_file(cli, text, path, flag, record):
    with pytest.raises(GradcliError) as caught:
        read_value(text, "--x", Budget())
    assert caught.value.facts == NoValue(path)
    assert f"help: {flag}\n" in cli("explain", "x**2", "--x", text).err
    assert gradcli.answer({"program": "x**2", "inputs": {"x": text}})["error"]["hint"] == record


def test_a_budget_is_named():
    with pytest.raises(GradcliError) as caught:
        gradcli.explain("x**2 + x**3", x=1.0, budget=Budget(nodes=1))
    assert caught.value.facts == OverBudget("nodes", 1)


def test_an_error_under_another_name_keeps_its_facts():
    error = GradcliError("value", "it is none", facts=NoValue(), span=(0, 1)).under("--x")
    assert (error.message, error.span, error.facts) == ("--x: it is none", None, NoValue())
