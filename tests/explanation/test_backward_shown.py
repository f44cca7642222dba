"""The section Backward at any width, and the paths: nothing is cut, columns are aligned, loops are short."""

import re

import numpy as np
import pytest

import gradcli
from gradcli.document.passes import terms_of
from shown import lines_of, sections

W = np.array([[0.5, -0.9], [1.0, 2.0]])
NETWORK = gradcli.explain(
    "z = W1 @ x + b1\nh = tanh(z)\ny = W2 @ h + b2\nloss = sum((y - t)**2)",
    inputs={"W1": W.T, "b1": [0.1, 0.2], "W2": W, "b2": [1.0, 1.5], "x": [1.0, 2.0], "t": [1.0, 1.5]},
    wrt=["W1", "b1", "W2", "b2"],
)
LOOP = gradcli.explain("y = x\nfor i in range(1000):\n    a = sin(y)\n    y = a*w\ny", x=0.7, w=1.01)
TWICE = gradcli.explain("h = tanh(x)\ny = h*h + x", x=0.7)
LONG = gradcli.explain("z = W @ x\nh = tanh(z)*exp(-z**2/2) + log(cosh(z))*z\nsum(h*h)", W=W, x=[0.1, 0.2])


def test_the_network_takes_a_line_for_each_value():
    lines = lines_of(NETWORK, "backward")
    assert [line.split(" = ")[0].strip() for line in lines] == [
        *("loss.grad", "y.grad", "W2.grad", "b2.grad", "h.grad", "z.grad", "W1.grad", "b1.grad")
    ]
    assert len({line.index("[") for line in lines if "[" in line}) == 1, "values begin in one column"
    assert not any("[" in line for line in lines if line.startswith(("W", "b"))), "gradients stand above"


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("found", [NETWORK, LOOP, TWICE, LONG], ids=["network", "loop", "twice", "long"])
def test_lines_fit_and_hold_every_rule(found, width):
    lines = lines_of(found, "backward", width)
    assert max(map(len, lines)) + 3 <= width
    joined = re.sub(r"\s+", "", "".join(lines))
    shown = [rule for rule in found.rules if f"{rule.name}.grad=" in joined]
    assert len(shown) == (len(found.rules) if found is not LOOP else 8)
    for rule in shown:
        if rule.text is not None:
            assert f"{rule.name}.grad={re.sub(' ', '', rule.text)}" in joined


def test_a_loop_shows_its_last_turn_a_count_and_its_first():
    lines = lines_of(LOOP, "backward")
    assert [line.split(" = ")[0].strip() for line in lines] == [
        *("y1001.grad", "a1000.grad", "y1000.grad", "…   997 turns of the loop between"),
        *("a2.grad", "y2.grad", "w.grad", "a1.grad", "x.grad"),
    ]
    assert "the sum over its 1,000 uses" in lines[6]


def test_paths_are_products_and_a_sum():
    assert sections(TWICE, "paths")[0].title == "Two paths lead from x to y, and their products add up"
    assert lines_of(TWICE, "paths") == [
        "x → h → y  0.63474 · 1.20874 ≈  0.767232",
        "x → y                           1",
        "∂y/∂x                           1.76723",
    ]
    assert lines_of(TWICE, "paths", unicode=False)[0].startswith("x -> h -> y")


SHORT = ["3*x**2", "[3*x[0]**2, x[0]**2 + x[1]]", "sin(x)*2"]


@pytest.mark.parametrize("text", SHORT)
def test_a_function_of_one_step_has_no_backward_section(text):
    y = gradcli.function(text).value(x=[1.0, 2.0])
    assert lines_of(gradcli.explain(text, x=[1.0, 2.0], v=np.ones(y.shape)), "backward") == []


@pytest.mark.parametrize("text", ["x*x", "h = sin(x)\nh*2", "x + exp(x)"])
def test_a_name_or_a_second_use_gives_it_one(text):
    assert len(lines_of(gradcli.explain(text, x=1.5), "backward")) >= 2


def test_terms_are_split_at_their_own_signs():
    assert terms_of("a*(b + c) - f(d - e) + [g - 1]") == ["a*(b + c)", " - f(d - e)", " + [g - 1]"]
