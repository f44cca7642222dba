"""What is reused at another point gives the answer of a fresh run, byte for byte; what would not is derived anew."""

import json
import random

import numpy as np
import pytest

import gradcli
from counting import calls_of
from generator.programs import random_program
from gradcli.batch.answers import Answers, Memory, Recent
from gradcli.batch.records import Wanted
from gradcli.explanation.evaluation import Function, stand
from gradcli.explanation.explaining import Ask, explain_run
from gradcli.interface import Explanation
from oracles import cases, portion, portion_of_rows

TABLES = cases("batch_reuse.toml")

CASES = cases("seed_cases.json")


def fresh(record):
    """Return the answer of a run that shares nothing with any other."""
    return reused(Answers(Wanted()), record)


def reused(answers, record):
    found = answers.of({"id": None, **record}).document
    del found["id"]
    return json.dumps(found)


def moved(value, by):
    """Return nested lists with every number moved."""
    return [moved(item, by) for item in value] if isinstance(value, list) else value * (1 + by) + by / 7


@pytest.mark.parametrize("case", portion(CASES, 4), ids=lambda case: case["id"])
def test_the_examples_at_other_points(case):
    answers = Answers(Wanted())
    calls = [call["v"] for call in case["calls"]]
    for by in (0.0, 0.01, -0.02, 0.0):
        inputs = {name: moved(value, by) for name, value in case["inputs"].items()}
        record = {"program": case["expression"], "inputs": inputs, "calls": calls, "wrt": case["wrt"]}
        assert reused(answers, record) == fresh(record)


BRANCHES = TABLES["BRANCHES"]  # a program, and points of which some take another way


@pytest.mark.parametrize(
    ("program", "points"), portion_of_rows(BRANCHES, 3), ids=lambda item: item if isinstance(item, str) else ""
)
def test_another_branch_is_another_formula(program, points):
    answers = Answers(Wanted())
    for point in [*points, *reversed(points)]:
        record = {"program": program, "inputs": {"x": point}}
        entries = Function(program).value(x=point).size
        record["calls"] = [[1.0, -2.0][:entries]]
        assert reused(answers, record) == fresh(record)


@pytest.mark.long
@pytest.mark.parametrize("number", portion(range(40), 20))
def test_random_programs_at_random_points(number):
    program, by = random_program(97, number), random.Random(number).uniform(-0.4, 0.4)  # noqa: S311 - the same always
    answers = Answers(Wanted())
    for factor in (0.0, by, by / 3):
        inputs = {name: moved(value.tolist(), factor) for name, value in program.inputs.items()}
        record = {"program": program.text, "inputs": inputs, "calls": [program.v.tolist()], "wrt": list(program.wrt)}
        try:
            expected = fresh(record)
        except gradcli.GradcliError:
            assert answers.of(record).document["error"] is not None
            continue
        assert reused(answers, record) == expected


def test_formulas_are_derived_once_for_points_on_one_branch():
    answers = Answers(Wanted())

    def derived(program, *points):
        records = [{"program": program, "inputs": {"x": x}} for x in points]
        return calls_of("found_formulas", "gradcli", lambda: [reused(answers, record) for record in records])

    assert derived("x**2 if x > 1 else 3*x", 0.5, 0.6, 2.0, 3.0, 0.7) == 2
    assert derived("x**2 if x > 1 else 4*x", 0.5) == 1


@pytest.mark.parametrize(
    "program", ["[x[0]**2, x[0]*x[1]]", "h = tanh(x); sum(h*h)", "softmax(x[:2]*2)", "det([[x[0], 1], [1, x[1]]])"]
)
def test_lines_of_the_backward_pass_are_written_once_for_points_on_one_branch(program):
    answers, v = Answers(Wanted()), np.ones(Function(program).value(x=[0.5, 0.7]).shape).tolist()
    records = [{"program": program, "inputs": {"x": [0.5, x]}, "calls": [v]} for x in (0.7, 0.8, 0.9)]
    assert calls_of("rules_of", "gradcli", lambda: [reused(answers, record) for record in records]) == 1


def test_definitions_have_the_values_of_their_own_point():
    program, memory = "z = tanh(x); y = z*exp(z)*sin(z)*cos(z); y*y*z", Memory()
    function = Function(program)
    for x in (0.25, 0.5):
        found = explain_run(
            stand(function, {"x": x}, [None], strict=False), Ask.WHERE_DOUBTFUL, Explanation, memory.derive
        )
        alone = gradcli.explain(program, x=x)
        assert found.definitions
        assert found.definition_values == alone.definition_values
        assert str(found) == str(alone)
    assert len(memory) == 1


def test_what_is_recent_is_bounded_by_number_and_weight():
    kept = Recent(3, 10)
    for key in "abcd":
        kept.keep(key, key.upper())
    assert [kept.get(key) for key in "abcd"] == [None, "B", "C", "D"]
    kept.get("b")
    kept.keep("e", "E")
    assert [kept.get(key) for key in "bcde"] == ["B", None, "D", "E"]
    kept.keep("f", "F", 9)
    assert (len(kept), kept.weight) == (2, 10)
    kept.keep("g", "G", 11)
    assert kept.get("g") is None
    kept.keep("f", "G", 2)
    assert (kept.get("f"), kept.weight) == ("G", 3)


def test_a_change_of_the_budget_or_the_inputs_is_another_program():
    record = {"program": "sum(e*x)", "inputs": {"x": 1.0}}
    answers = Answers(Wanted())
    assert answers.of(record).document["grad"] == {"x": pytest.approx(2.718281828459045)}
    assert answers.of({**record, "inputs": {"x": 1.0, "e": 2.0}}).document["grad"] == {"e": 1.0, "x": 2.0}
    assert answers.of(record).document["grad"] == {"x": pytest.approx(2.718281828459045)}
    small = gradcli.answer(
        {"program": "ones(9)*x", "inputs": {"x": 1}, "v": [1] * 9}, budget=gradcli.Budget(elements=5)
    )
    assert small["error"]["kind"] == "budget"
