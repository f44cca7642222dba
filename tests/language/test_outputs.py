"""``--of NAME`` of a formula: the program up to the last line that assigns the name."""

import numpy as np
import pytest

import gradcli
from oracles import cases

TABLES = cases("outputs.json")

LINES = """
h = W @ x  # before
p = softmax(h, 0)
for i in range(2):
    h = h*2
loss = -log(p[0])*c
loss + sum(h)
"""
INPUTS = {"W": [[1.0, 2.0], [3.0, 4.0]], "x": [0.5, 1.0], "c": 3.0}
UP_TO = [  # the name, the same as a program of its own
    ("p", "softmax(W @ x, 0)"),
    ("h", "4*(W @ x)"),
    ("loss", "-log(softmax(W @ x, 0)[0])*c"),
]


@pytest.mark.parametrize(("name", "same"), UP_TO)
@pytest.mark.parametrize("joined", [False, True])
def test_a_name_is_the_output(name, same, joined):
    lines = "h = W @ x; p = softmax(h, 0); h = h*4; loss = -log(p[0])*c; loss + sum(h)" if joined else LINES
    v = None if name == "loss" else [1.0, 10.0]
    needed = {key: value for key, value in INPUTS.items() if key in gradcli.function(same).inputs}
    found, other = gradcli.explain(lines, of=name, v=v, inputs=INPUTS), gradcli.explain(same, v=v, inputs=needed)
    assert found.name == {"h": "h2" if joined else "h3"}.get(name, name), "h as it was last"
    np.testing.assert_allclose(found.output, other.output, rtol=1e-14)
    for variable, gradient in other.grad.items():
        np.testing.assert_allclose(found.grad[variable], gradient, rtol=1e-13)
    assert gradcli.check(lines, of=name, v=v, inputs=INPUTS, samples=2).agree


def test_what_writes_in_place_is_run_to_its_end():
    program = "a = x*1\nb = a[:1]\nb[0] = 5*x[1]\nsum(b)"
    assert gradcli.explain(program, x=[1.0, 2.0], of="a", v=[1.0, 10.0]).grad["x"].tolist() == [0.0, 15.0]


def test_the_name_of_the_last_line_changes_nothing():
    program = "h = x*2\nloss = h**2"
    assert str(gradcli.explain(program, x=3.0, of="loss")) == str(gradcli.explain(program, x=3.0))


def test_what_is_expected_is_the_derivative_of_that_name():
    assert gradcli.check(LINES, of="loss", wrt=["x"], inputs=INPUTS, expect="c*W.T @ (p - [1, 0])").agree
    assert not gradcli.check(LINES, wrt=["x"], inputs=INPUTS, expect="c*W.T @ (p - [1, 0])").agree


REFUSED = TABLES["REFUSED"]


@pytest.mark.parametrize(("program", "of", "wrt", "kind", "message", "hint"), REFUSED)
def test_what_is_no_output_is_refused(program, of, wrt, kind, message, hint):
    with pytest.raises(gradcli.GradcliError) as raised:
        gradcli.explain(program, of=of, wrt=wrt, inputs=INPUTS, v=1.0)
    assert (raised.value.kind, raised.value.message, raised.value.hint) == (kind, message, hint)


def test_lines_that_give_their_own_inputs_are_a_script():
    found = gradcli.explain("a = 3.0\nb = a**2\nc = b*a", of="c", wrt=["a"])
    assert found.grad["a"].item() == 27.0


def test_a_function_has_no_other_output():
    with pytest.raises(gradcli.GradcliError, match="of is for a text"):
        gradcli.explain(lambda x: x, x=1.0, of="x")
