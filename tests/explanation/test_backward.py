"""The lines of the backward pass: what they say, that each gives its number, and what is left out of long programs."""

import re

import numpy as np
import pytest

import gradcli
from gradcli.explanation.rereading import Reader
from oracles import cases, portion
from readback_programs import program

W = np.array([[0.5, -0.9], [1.0, 2.0]])
NETWORK = "z = W1 @ x + b1\nh = tanh(z)\ny = W2 @ h + b2\nloss = sum((y - t)**2)"
AT = {"W1": W.T, "b1": [0.1, 0.2], "W2": W, "b2": [1.0, 1.5], "x": [1.0, 2.0], "t": [1.0, 1.5]}
LINES = {row["program"]: (row["inputs"], row["lines"]) for row in cases("backward_lines.toml")["LINES"]}
"""The values of a program, and its lines for v = 1 or ones."""


def told(rule):
    return f"{rule.name}.grad = {rule.text}" + (f" ({rule.uses})" if rule.uses > 1 else "")


def answer(text, inputs, **options):
    y = gradcli.function(text).value(**inputs)
    return gradcli.explain(text, v=np.ones(y.shape), inputs=inputs, **options)


@pytest.mark.parametrize("text", LINES)
def test_the_lines_speak_the_program(text):
    inputs, lines = LINES[text]
    found = answer(text, inputs, wrt=[name for name in inputs if name != "t" and not (text == NETWORK and name == "x")])
    assert [told(rule) for rule in found.rules] == lines


def reread(found):
    """Return the lines of an answer that do not give their number, read with the names that the answer gives."""
    names = {**found.inputs, **{value.name: value.value for value in found.values}, **found.constants}
    cotangents = {rule.name: rule.value for rule in found.rules}
    made = [rule for rule in reversed(found.rules) if rule.made]
    for _ in made:
        for rule in made:
            value = Reader(names, {}).evaluate(rule.made)
            if value is not None:
                names[rule.name] = value
    wrong = []
    for number, rule in enumerate(found.rules):
        here = names | ({"v": found.seed} if number == 0 else {})
        value = None if rule.text is None else Reader(here, cotangents).evaluate(rule.text)
        if value is None or not np.allclose(np.broadcast_to(value, rule.value.shape), rule.value, rtol=1e-7, atol=1e-7):
            wrong.append((told(rule), value, rule.value))
    return wrong


BLOCKS = 8


@pytest.mark.slow
@pytest.mark.parametrize("block", portion(range(BLOCKS), 8))
def test_no_line_of_a_random_program_is_dropped(block):
    """Read with nothing but what the answer itself says, in the language."""
    lines, wrong = 0, {}
    for seed in range(block, 96, BLOCKS):
        given = program(seed)
        try:
            found = answer(given.text, given.inputs)
        except gradcli.GradcliError:
            continue
        lines += len(found.rules)
        finite = all(np.all(np.isfinite(rule.value)) for rule in found.rules)
        if finite and (bad := reread(found)):
            wrong[given.text] = bad
    assert wrong == {}
    assert lines > 10


def test_a_sum_over_several_v_is_told_once():
    found = gradcli.explain("h = x*x\nh*3", x=[1.0, 2.0], calls=[[1.0, 0.0], [0.5, 2.0]])
    assert found.rules[0].value.tolist() == [1.5, 2.0]
    assert found.rules[-1].value == pytest.approx(found.grad["x"])


def test_a_long_constant_without_a_name_gets_one():
    found = answer("sum(x*linspace(0, 1, 500))", {"x": np.linspace(1, 2, 500)})
    assert found.rules[-1].text == "c"
    assert found.constants["c"] == pytest.approx(np.linspace(0, 1, 500))


def test_a_value_that_a_line_cannot_hold_gets_a_name():
    found = answer(
        "sum(tanh(W @ sin(x + b))/exp(cos(W @ sin(x + b)) + x)**2)", {"W": W, "x": [0.1, 0.2], "b": [0.3, 0.4]}
    )
    made = {rule.name: rule.made for rule in found.rules if rule.made}
    assert made
    assert reread(found) == []
    assert max(len(rule.text) for rule in found.rules) < 160


TOO_LONG = {  # the value whose cotangent goes back to so many places that no text says them, and that cotangent
    "y = x*2\nsum(y[[0, 3, 3]])": ("y", np.bincount([0, 3, 3], minlength=1100)),
    "y = x*2\ny[[0, 3]] = 5\nsum(y)": ("y1", 1.0 - np.bincount([0, 3], minlength=1100)),
}


@pytest.mark.parametrize("text", TOO_LONG)
def test_a_line_that_would_list_too_many_places_is_a_value_alone(text):
    name, cotangent = TOO_LONG[text]
    found = answer(text, {"x": np.linspace(1.0, 2.0, 1100)})
    [rule] = [rule for rule in found.rules if rule.text is None]
    assert rule.name == name
    np.testing.assert_array_equal(rule.value, cotangent)
    np.testing.assert_array_equal(found.grad["x"], 2 * cotangent)
    assert found.agreement.agree


def test_a_long_program_has_its_first_and_last_lines():
    found = answer("y = x\nfor i in range(1000):\n    y = sin(y)*1.01\ny", {"x": 0.7})
    rules = found.rules
    assert rules[0].name == "y1001"
    assert [rule.text for rule in rules[:2]] == ["v", "y1001.grad*1.01*cos(y1000)"]
    assert rules[-1].text == "y2.grad*1.01*cos(x)"
    assert found.grad["x"] == pytest.approx(rules[-1].value)


def test_a_line_that_does_not_give_its_number_is_not_shown(monkeypatch):
    """A text that is wrong is found wherever it stands, and its value stands alone."""
    from gradcli.explanation import backward

    rule = backward.write_vjp

    def wrong(node, k, *rest):
        found = rule(node, k, *rest)
        return found * 1.001 if node.op.name == "tanh" else found

    monkeypatch.setattr(backward, "write_vjp", wrong)
    found = answer(NETWORK, AT)
    assert [rule.name for rule in found.rules if rule.text is None] == ["z"]
    assert next(rule for rule in found.rules if rule.name == "z").value == pytest.approx(
        next(rule for rule in found.rules if rule.name == "b1").value
    )


PATHS = cases("backward_lines.toml")["PATHS"]


@pytest.mark.parametrize(("text", "paths"), [row.values() for row in PATHS])
def test_paths_lead_over_single_numbers_and_add_up(text, paths):
    names = sorted(set(re.findall(r"\b[xw]\b", text)))
    found = gradcli.explain(text, inputs=dict(zip(names, [0.7, 1.3], strict=False)))
    assert {name: [list(path.names) for path in of_one] for name, of_one in found.paths.items()} == paths
    for name, of_one in found.paths.items():
        assert sum(path.product for path in of_one) == pytest.approx(found.grad[name].item(), rel=1e-12)
