"""Every formula in an answer is true: Python evaluates it to the number beside it, and so does gradcli."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from counting import calls
from formula_reading import check_formulas, leaves
from oracles import cases, portion
from programs import GROWING, NAMED, PROGRAMS, inputs_of


def answer(program, inputs):
    y = gradcli.function(program).value(**inputs)
    return gradcli.explain(program, v=np.ones(y.shape), inputs=inputs).to_dict()


@pytest.mark.parametrize("program", NAMED)
def test_named_intermediates(program):
    document = answer(program, NAMED[program])
    assert check_formulas(document) > 0
    assert document["agreement"]["agree"]
    assert all(j["symbolic"] is not None for j in document["jacobian"].values())


@pytest.mark.parametrize("case", cases("seed_cases.json"), ids=lambda case: case["id"])
def test_the_first_examples(case):
    document = gradcli.explain(
        case["expression"], calls=[c["v"] for c in case["calls"]], wrt=case["wrt"], inputs=case["inputs"]
    ).to_dict()
    assert document["output"]["symbolic"] is not None
    assert check_formulas(document) > 1


@pytest.mark.parametrize(
    "row", portion(cases("torch_cases.jsonl"), 4), ids=lambda row: f"{row['id']}: {row['expr']}"[:60]
)
def test_random_programs(row):
    document = gradcli.explain(row["expr"], v=row["v"], inputs={"x": row["x"]}).to_dict()
    assert document["jacobian"]["x"]["symbolic"] is not None
    check_formulas(document)


@pytest.mark.parametrize("program", portion([program for programs in PROGRAMS.values() for program in programs], 2))
def test_every_function(program):
    document = answer(program, inputs_of(program, gradcli.function(program).inputs))
    assert document["agreement"]["agree"]
    check_formulas(document)


@pytest.mark.parametrize("program", GROWING.values(), ids=GROWING)
@pytest.mark.parametrize("x", [0.9, [0.9, -0.4, 0.2]], ids=["scalar", "vector"])
def test_formulas_that_would_explode_stay_short_and_cheap(program, x):
    found = []
    assert calls(lambda: found.append(answer(program, {"x": x}))) < 1_250_000
    [document] = found
    j = document["jacobian"]["x"]
    texts = [*leaves(j["symbolic"] or []), *leaves(document["output"]["symbolic"] or []), *j["definitions"].values()]
    assert max(map(len, texts), default=0) < 700 * np.size(x)
    assert document["agreement"]["verdict"] in ("agree", "digits-lost")  # twelve turns in doubles may end at -1
    check_formulas(document, paste=sum(map(len, texts)) < 5000)  # more is over the budget of one program
