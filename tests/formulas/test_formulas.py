"""Every formula in an answer is true: Python evaluates it to the number beside it, and so does gradcli."""

import numpy as np
import pytest
from sympy.core.cache import clear_cache

import gradcli
from counting import calls
from formula_reading import check_formulas, leaves
from oracles import cases, portion, slow
from programs import GROWING, NAMED, PROGRAMS, inputs_of


def answer(program, inputs):
    y = gradcli.function(program).value(**inputs)
    return gradcli.explain(program, v=np.ones(y.shape), inputs=inputs).to_dict()


def cold_calls(work):
    """Return how many functions ``work`` calls where all modules are loaded and sympy remembers nothing."""
    answer("tanh(x)*2", {"x": [1.0, 2.0]})
    clear_cache()
    return calls(work)


@pytest.mark.parametrize("program", portion(NAMED, 3))
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
    "row", portion(cases("torch_cases.jsonl"), 10), ids=lambda row: f"{row['id']}: {row['expr']}"[:60]
)
def test_random_programs(row):
    document = gradcli.explain(row["expr"], v=row["v"], inputs={"x": row["x"]}).to_dict()
    assert document["jacobian"]["x"]["symbolic"] is not None
    check_formulas(document)


@pytest.mark.parametrize("program", portion([program for programs in PROGRAMS.values() for program in programs], 21))
def test_every_function(program):
    inputs = inputs_of(program, gradcli.function(program).inputs)
    found = gradcli.explain(program, v=np.ones(gradcli.function(program).value(**inputs).shape), inputs=inputs)
    document = found.to_dict()
    assert document["agreement"]["agree"]
    check_formulas(document)
    # None was taken back for its number, as one is that is not true.
    assert leaves(document["output"]["symbolic"] or []) == (found.output_formulas or [])


SIGNED = {  # a 0 of which the sign counts stands with it, beside numbers that are written as ever
    "atan2([-0.0, 2.0], x)": ["atan2(-0.0, x[0])", "atan2(2, x[1])"],
    "atan2([-0.0, -0.0], x)": ["atan2(-0.0, x[0])", "atan2(-0.0, x[1])"],
}


@pytest.mark.parametrize("program", portion([pytest.param(p, id=name) for name, p in GROWING.items()], 6))
@pytest.mark.parametrize("x", [0.9, slow([0.9, -0.4, 0.2])], ids=["scalar", "vector"])
def test_formulas_that_would_explode_stay_short_and_cheap(program, x):
    found = []
    assert cold_calls(lambda: found.append(answer(program, {"x": x}))) < 1_600_000  # it reads its formulas back
    [document] = found
    j = document["jacobian"]["x"]
    texts = [*leaves(j["symbolic"] or []), *leaves(document["output"]["symbolic"] or []), *j["definitions"].values()]
    assert max(map(len, texts), default=0) < 700 * np.size(x)
    assert document["agreement"]["verdict"] in ("agree", "digits-lost")  # twelve turns in doubles may end at -1
    check_formulas(document, paste=sum(map(len, texts)) < 5000)  # more is over the budget of one program


MANY = np.cos(np.arange(1100.0))
