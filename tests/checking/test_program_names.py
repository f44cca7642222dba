"""What is expected may use every name that the program assigns, in as many digits as the program itself."""

import shlex

import pytest

import gradcli
from oracles import cases

TABLES = cases("program_names.toml")

Z = {"z": [2.0, 1.0, 0.1]}
X = {"x": [0.5, 2.0]}
SOFTMAX = "p = softmax(z, 0)\nloss = -log(p[0])"
ROWS = TABLES["ROWS"]  # program, inputs, variable, what is expected, whether it is right


@pytest.mark.parametrize(("program", "inputs", "variable", "expect", "right"), ROWS)
def test_a_formula_may_use_the_names_of_the_program(program, inputs, variable, expect, right):
    found = gradcli.check(program, inputs=inputs, wrt=[variable], expect=expect)
    comparisons = [one for one in found.comparisons if one.routes[0] == "--expect"]
    assert [not one.wrong for one in comparisons] == [right], found


NUMPY = """import numpy as np
X = np.array([[1.0, 2.0], [3.0, -1.0]])
W = np.array([[0.5, -0.2, 0.1], [0.3, 0.8, -0.5]])
e = np.exp(X @ W)
p = e/e.sum(axis=1, keepdims=True)
t = np.array([0, 2])
loss = -np.log(p[np.arange(2), t]).mean()
d = p.copy()
d[np.arange(2), t] -= 1
dW = X.T @ (d/2)
half = X.T @ d
"""
TORCH = """import torch
z = torch.tensor([2.0, 1.0, 0.1], requires_grad=True)
p = torch.softmax(z, 0)
loss = -torch.log(p[0])
loss.backward()
p = p*2
"""
SCRIPTS = [  # script, of, by what, what is expected, whether it is right
    (NUMPY, "loss", "W", "dW", True), (NUMPY, "loss", "W", "X.T @ d/2", True), (NUMPY, "loss", "W", "half", False),
    (NUMPY, "loss", "W", "X.T @ (e/sum(e, 1, keepdims=True) - [[1, 0, 0], [0, 0, 1]])/2", True),
    (NUMPY, "loss", "W", "dW*(1 + 1e-9)", False),
    (TORCH, None, "z", "p/2 - [1, 0, 0]", True), (TORCH, "loss", "z", "p/2 - [1, 0, 0]", True),
    (TORCH, None, "z", "p - [1, 0, 0]", False),
]  # fmt: skip


@pytest.mark.parametrize(("script", "of", "variable", "expect", "right"), SCRIPTS)
def test_a_formula_may_use_the_variables_of_a_script(script, of, variable, expect, right):
    found = gradcli.check(script, of=of, wrt=[variable], expect={variable: expect}, samples=2)
    assert found.agree is right, found


FREE = "import numpy as np\nh = x - 1\nloss = np.sum(h**2)\n"


@pytest.mark.parametrize(("line", "words", "code", "says"), [
    ("dx = 2*h", [], 0, "right: dx"), ("dx = h", [], 1, "half of the true one"),
    ("dx = h", ["--of", "loss", "--expect", "x=dx"], 1, "wrong: dx"),
    ("dh = 2*h", ["--of", "loss", "--expect", "h=dh"], 0, "right: dh"),
    ("dx = h", ["--of", "loss", "--expect", "dx=7"], 2, "'loss' is not computed from 'dx'"),
])  # fmt: skip
def test_what_a_script_takes_from_outside_has_a_gradient_by_hand(cli, line, words, code, says):
    answer = cli("check", FREE + line, "--x", "1.,3", *words)
    assert (answer.code, says in answer.out + answer.err) == (code, True), answer


def test_a_variable_that_is_no_number_is_refused():
    with pytest.raises(gradcli.GradcliError, match="no value for the variable torch"):
        gradcli.check(TORCH, expect="torch*2")
    with pytest.raises(gradcli.GradcliError, match="no value for the variable q") as raised:
        gradcli.check(TORCH, expect="q*2")
    assert raised.value.hint == "it may use loss, z, p"


def test_v_and_the_output_are_what_is_given():
    program = "v = 3*x\ny = v**2\ny*2"
    assert gradcli.check(program, inputs=X, v=[1.0, 2.0], expect="v*36*x").agree
    assert gradcli.check(SOFTMAX, inputs=Z, v=2.0, expect="v*(p - [1, 0, 0])").agree


def test_every_point_has_its_own_values():
    assert gradcli.check(SOFTMAX, inputs=Z, expect="p - [1, 0, 0]", samples=5).agree
    assert not gradcli.check("h = abs(x)\nh*x", x=1.0, expect="2*x", samples=9).agree
    assert gradcli.check("h = abs(x)\nh*x", x=1.0, expect="2*h", samples=9).agree


UNKNOWN = [  # what is expected, kind, message, hint, the characters that are shown
    ("q - [1, 0, 0]", "missing-input", "no value for the variable q", "it may use loss, z, p", (0, 1)),
    ("2*lost*p", "missing-input", "variable lost", "did you mean 'loss'? It may use loss, z, p", (2, 6)),
    ("p - softmx(p)", "unknown-function", "unknown function 'softmx'", "did you mean 'softmax'?", (4, 10)),
    ("p - [1, 0]", "shape", "shapes (3,) and (2,) do not fit", "lengths must be equal", (0, 10)),
    ("p[5]", "index", "index 5 is out of bounds", None, (0, 4)),
    ("p - (1", "syntax", "'(' was never closed", None, (4, 5)),
]


@pytest.mark.parametrize(("expect", "kind", "message", "hint", "span"), UNKNOWN)
def test_an_error_shows_its_place_in_the_formula(expect, kind, message, hint, span):
    with pytest.raises(gradcli.GradcliError) as raised:
        gradcli.check(SOFTMAX, inputs=Z, expect=expect)
    error = raised.value
    assert (error.kind, error.span, error.place.name, error.place.text) == (kind, span, "--expect", expect)
    assert message in error.message
    assert hint is None or hint in error.hint


def unchecked(found):
    return [note.message for note in found.notes if note.kind == "not-checked"]


@pytest.mark.parametrize("program", ["f = x**2; df = 3*x", "f = x**2\ndx = 3*x", "f = x**2; grad = 3*x"])
def test_a_derivative_that_is_not_held_is_said_with_the_way_to_hold_it(cli, program):
    [note] = unchecked(gradcli.check(program, x=3.0))
    words = shlex.split(note.partition(": ")[2].removesuffix(" does that."))
    assert words == ["--of", "f", "--expect", "3 * x"]
    assert cli("check", program, "--x", "3", *words).code == 1


@pytest.mark.parametrize("program", ["h = x**2; h + x", "dx = x**2; y = dx + x; y", "delta = x**2; f = 3*x; f"])
def test_other_names_are_not(program):
    assert unchecked(gradcli.check(program, x=3.0)) == []
