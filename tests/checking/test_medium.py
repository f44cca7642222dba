"""Derivatives with many entries: asked for along random directions and by some entries, and wrong ones located."""

import numpy as np
import pytest

import gradcli
from gradcli.exact import slopes
from gradcli.explanation.checked import Asked
from oracles import slow

RNG = np.random.default_rng(0)


def normal(*shape, size=1.0):
    return RNG.normal(size=shape) * size


ATTENTION = "sum((softmax(Q@K.T/4, -1)@V)**2)", {name: normal(32, 16) for name in "QKV"}
LAYER_NORM = "sum(tanh(layer_norm(X,128,g,b)))", {"X": normal(64, 128), "g": normal(128), "b": normal(128)}
WEIGHTS = {"W1": normal(784, 128, size=0.05), "b1": normal(128), "W2": normal(128, 10, size=0.05), "b2": normal(10)}
ONE_ROW = "cross_entropy(relu(x@W1+b1)@W2+b2, 3)", {"x": normal(784), **WEIGHTS}
ROWS = "cross_entropy(relu(X@W1+b1)@W2+b2, t)", {"X": normal(32, 784), "t": RNG.integers(0, 10, 32), **WEIGHTS}
MEDIUM = {
    "attention": (*ATTENTION, ["Q", "K", "V"]),
    "layer norm": (*LAYER_NORM, ["X", "g", "b"]),
    "one row": (*ONE_ROW, list(WEIGHTS)),
    "rows": (*ROWS, list(WEIGHTS)),
}
SMALL = "sum(tanh(X @ W + b)**2)", {"X": normal(6, 4), "W": normal(4, 5), "b": normal(5)}
WRT = ["W", "b"]
LITTLE = gradcli.Budget(work=2_500)


def gradients(program, inputs, wrt):
    return gradcli.function(program, wrt=wrt).grad(**inputs)


def spoiled(array, place, factor=1.001):
    wrong = array.copy()
    wrong.ravel()[place] *= factor
    return wrong


@slow
@pytest.mark.parametrize("name", MEDIUM)
def test_a_medium_size_is_decided(name):
    program, inputs, wrt = MEDIUM[name]
    right = gradients(program, inputs, wrt)
    found = gradcli.check(program, inputs=inputs, wrt=wrt, expect=right)
    assert (found.verdict, found.reason) == ("right", "")
    assert found.asked.directions
    assert found.asked.entries == sum(value.size for value in right.values())
    assert min(found.digits.values()) > 12


@slow
@pytest.mark.parametrize("name", MEDIUM)
def test_one_wrong_entry_of_many_is_located(name):
    program, inputs, wrt = MEDIUM[name]
    right = gradients(program, inputs, wrt)[wrt[0]]
    place = int(np.argsort(np.abs(right), axis=None)[right.size * 3 // 4])
    found = gradcli.check(program, inputs=inputs, wrt=wrt, expect={wrt[0]: spoiled(right, place)})
    i, j = np.unravel_index(place, right.shape)
    held = found.comparisons[[c.routes[0] for c in found.comparisons].index("--expect")]
    assert found.verdict == "wrong"
    assert (held.worst.place, held.wrong, held.compared) == (f"dy/d{wrt[0]}[{i},{j}]", 1, right.size)


@pytest.mark.long
def test_gelu_far_out_is_asked_for_entry_by_entry():
    x = np.linspace(-30, 30, 61)
    found = gradcli.check("gelu(x)", x=x, expect="0.5*(1+erf(x/sqrt(2))) + x*exp(-x**2/2)/sqrt(2*pi)")
    assert (found.verdict, found.asked) == ("right", Asked(61 * 61, 61 * 61, 0))


def held_to(expect, **more):
    program, inputs = SMALL
    return gradcli.check(program, inputs=inputs, wrt=WRT, expect=expect, budget=LITTLE, **more)


@pytest.mark.long
def test_the_record_says_what_was_asked():
    program, inputs = SMALL
    assert gradcli.check(program, inputs=inputs, wrt=WRT).asked == Asked(25, 25, 0)
    asked = held_to({}).asked
    assert (asked.entries, asked.how) == (25, "along a direction")
    assert "checked all 25 entries along 1 random direction" in str(held_to({}))
    assert held_to({}).to_dict()["check"]["asked"]["directions"] == 1


@pytest.mark.long
@pytest.mark.parametrize("v", [None, 2.0])
def test_expected_arrays_share_the_direction(v):
    right = {name: value * (v or 1.0) for name, value in gradients(*SMALL, WRT).items()}
    assert held_to(right, v=v).verdict == "right"
    for name, value in right.items():
        for place in range(value.size):
            found = held_to({**right, name: spoiled(value, place)}, v=v)
            assert found.verdict == "wrong", (name, place)


def test_a_whole_that_is_wrong_has_its_hint():
    right = gradients(*SMALL, WRT)
    found = held_to({"W": right["W"] * 2})
    assert found.expected[0].wrong == 20
    assert "2" in found.hint


def test_a_formula_has_a_direction_of_its_own():
    formula = "2*X.T @ (tanh(X@W+b)*(1-tanh(X@W+b)**2))"
    budget = gradcli.Budget(work=14_000)
    program, inputs = SMALL
    for text, verdict in ((formula, "right"), (formula.replace("2*", "2.001*", 1), "wrong")):
        found = gradcli.check(program, inputs=inputs, wrt=WRT, expect={"W": text}, budget=budget)
        assert (found.verdict, found.asked.how) == (verdict, "along a direction")


def test_picked_entries_are_the_same_each_time():
    budget = gradcli.Budget(work=60_000)
    program, inputs = SMALL[0], {"X": normal(12, 8), "W": normal(8, 10), "b": normal(10)}
    first, second = (gradcli.check(program, inputs=inputs, wrt=WRT, budget=budget) for _ in range(2))
    assert first.asked.how == "sampled"
    assert first.asked == second.asked
    assert first.digits == second.digits


def test_a_direction_is_run_once(monkeypatch):
    runs = []
    original = slopes.Exact.beside
    monkeypatch.setattr(slopes.Exact, "beside", lambda self, *args: runs.append(1) or original(self, *args))
    gradcli.check("sum(sin(x)*x)", x=np.linspace(1, 2, 3), wrt=["x"])
    several = len(runs)
    gradcli.check("sin(x)*x", x=np.linspace(1, 2, 3))
    assert len(runs) - several == 8  # all columns at once and half of them turned, each in two settings of digits


def test_a_program_that_is_too_dear_says_what_is_enough():
    program, inputs = SMALL
    few = gradcli.check(program, inputs=inputs, wrt=WRT, budget=gradcli.Budget(work=500))
    assert few.verdict == "unclear"
    enough = gradcli.check(program, inputs=inputs, wrt=WRT, budget=gradcli.Budget(work=few.needed))
    assert enough.verdict == "right"
