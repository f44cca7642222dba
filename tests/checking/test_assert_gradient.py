"""``gradcli.assert_gradient``: what it lets pass, and what a test report shows of what it does not."""

import shlex

import numpy as np
import pytest

import gradcli
from oracles import ask


def cube(x):
    return x**3


def layer(W, x):
    return np.sum(np.tanh(W @ x) ** 2)


W, X = np.array([[1.0, -0.5], [0.25, 2.0]]), np.array([0.5, 1.0])
H = np.tanh(W @ X)

PASSES = {
    "a formula": ("x**3", {"x": 2.0, "expect": "3*x**2"}),
    "nothing expected": ("x**3", {"x": 2.0}),
    "a function": (cube, {"x": 2.0, "expect": "3*x**2"}),
    "a lambda": (lambda x: x**3, {"x": 2.0, "expect": "3*x**2"}),
    "an array": (layer, {"W": W, "x": X, "wrt": ["W"], "expect": {"W": np.outer(2 * H * (1 - H**2), X)}}),
    "with v": ("W @ x", {"W": W, "x": X, "v": [1, 10], "wrt": ["x"], "expect": "W.T @ v"}),
    "at points": ("abs(x)", {"x": 1.0, "points": [{"x": -1.0}], "samples": 3, "expect": "sign(x)"}),
}


@pytest.mark.parametrize("name", PASSES)
def test_a_right_gradient_passes(name):
    program, asked = PASSES[name]
    found = gradcli.assert_gradient(program, **asked)
    assert (found.agree, found.finite) == (True, True)


FAILS = {  # what is asked, and the lines of the message after the sentence
    "a formula": (
        "x**3",
        {"x": 2.0, "expect": "x**2"},
        ["  dy/dx:", "  expected     4.0", "  truly        12.0", "  gradcli check 'x**3' --x 2 --expect 'x**2'"],
    ),
    "a function": (
        cube,
        {"x": 2.0, "expect": "x**2"},
        ["  dy/dx:", "  expected     4.0", "  truly        12.0", "  gradcli.check(cube, x=2, expect='x**2')"],
    ),
    "at a point": (
        "abs(x)*k",
        {"x": 1.0, "k": 2.0, "wrt": ["x"], "points": [{"x": -3.0}], "expect": {"x": "k"}},
        [
            "  dy/dx:", "  expected     2.0", "  truly        -2.0",
            "  gradcli check 'abs(x)*k' --x -3 --k 2 --wrt x --expect x=k",
        ],
    ),
    "with v, strictly": (
        "W @ x",
        {"W": W, "x": X, "v": np.array([1, 10]), "wrt": ["x"], "expect": "W @ v", "strict": True},
        [
            "  x.grad[0]:", "  expected     -4.0", "  truly        3.5",
            "  gradcli check 'W @ x' --W '1,-0.5;0.25,2' --x 0.5,1 --v '[1,10]' --wrt x --expect 'W @ v' --strict",
        ],
    ),
    "a long name, and numbers": (
        "sum(weight**2)",
        {"weight": [1.0, 2.0], "expect": [2.0, 5.0], "budget": gradcli.Budget(work=2_000_000)},
        [
            "  dy/dweight[1]:", "  expected     5.0", "  truly        4.0",
            "  gradcli check 'sum(weight**2)' --set weight=1,2 --expect '[2,5]' --budget work=2000000",
        ],
    ),
    "large arrays": (
        "sum(x**2)",
        {"x": np.ones(100), "expect": "x"},
        [
            "  dy/dx[0]:", "  expected     1.0", "  truly        2.0",
            '  np.save("x.npy", x)', "  gradcli check 'sum(x**2)' --x @x.npy --expect x",
        ],
    ),
    "not finite": (
        "sqrt(x)",
        {"x": 0.0},
        [
            "  note: y is infinitely steep at this point, by x. Symbols take inf, reverse mode inf.",
            "  gradcli check 'sqrt(x)' --x 0",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILS)
def test_a_message_that_a_report_shows(name):
    program, asked, lines = FAILS[name]
    with pytest.raises(AssertionError) as raised:
        gradcli.assert_gradient(program, **asked)
    sentence, *rest = str(raised.value).split("\n")
    assert sentence.startswith("not finite: " if name == "not finite" else "wrong: ")
    assert rest == lines
    command = rest[-1].strip()
    if not callable(program) and name != "large arrays":
        assert ask(*shlex.split(command)[1:]).code == (3 if name == "not finite" else 1)


def test_what_is_unclear_is_no_pass():
    with pytest.raises(AssertionError, match=r"^unclear: "):
        gradcli.assert_gradient("sum(sin(x)*x)", x=[1.0, 2.0], budget=gradcli.Budget(work=1))


def test_what_is_wrong_with_the_question_is_raised_as_ever():
    with pytest.raises(gradcli.GradcliError, match="unknown function"):
        gradcli.assert_gradient("sinn(x)", x=2.0)


def test_a_report_begins_where_it_was_called():
    with pytest.raises(AssertionError) as raised:
        gradcli.assert_gradient("x**3", x=2.0, expect="x**2")
    assert raised.traceback[-1].frame.f_locals["__tracebackhide__"] is True


def test_tolerance_and_budget_of_python_are_those_of_the_shell(tmp_path):
    assert gradcli.check("x**2", x=3.0, expect="2.00001*x", tolerance=1e-4).verdict == "right"
    assert gradcli.check("x**2", x=3.0, expect="2.00001*x", tolerance=1e-6).verdict == "wrong"
    assert gradcli.check("sum(x**2)", x=[1.0, 2.0], budget={"work": 10}).verdict == "unclear"
    for wrong in ({"budget": {"wrok": 1}}, {"budget": 3}, {"digits": 3, "tolerance": 1e-3}):
        with pytest.raises(gradcli.GradcliError) as error:
            gradcli.check("x**2", x=3.0, expect="2*x", **wrong)
        assert error.value.kind == "option"
    (tmp_path / "net.py").write_text("import numpy as np\nw = np.array([1., 2.])\nloss = np.sum(w**2)\ndw = 2*w\n")
    assert gradcli.assert_gradient(str(tmp_path / "net.py")).expected[0].text == "dw"
    with pytest.raises(gradcli.GradcliError, match=r"nothing\.py cannot be read"):
        gradcli.check("nothing.py")


class Square:
    def loss(self, x):
        return x**2


def test_a_method_is_no_program():
    with pytest.raises(gradcli.GradcliError, match=r"Square\.loss is a method"):
        gradcli.check(Square().loss, x=1.0)
