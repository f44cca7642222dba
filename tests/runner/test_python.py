"""gradcli from Python: errors, answers and functions as a session shows them."""

import numpy as np
import pytest

import gradcli
from oracles import cases

TABLES = cases("python.toml")

ERRORS = TABLES["ERRORS"]


@pytest.mark.parametrize("program", ERRORS)
def test_an_error_reads_as_on_the_command_line(program):
    inputs, text = ERRORS[program]
    with pytest.raises(gradcli.GradcliError) as caught:
        gradcli.explain(program, **inputs)
    assert str(caught.value) == text


LINES = {
    ("x**2", 3.0): "<gradcli explanation of x**2 at x = 3: y = 9, x.grad = 6, agree>",
    ("sum(x**2)", (1.0, 2.0)): "<gradcli explanation of sum(x**2) at x = [1, 2]: y = 5, x.grad = [2, 4], agree>",
    ("a = x*2\na.sum()", tuple(range(100))): "<gradcli explanation of a = x*2; a.sum() at "
    "x = [0, 1, 2, ..., 97, 98, 99]: y = 9900, x.grad = [2, 2, 2, ..., 2, 2, 2], agree>",
    ("sum(W)", ((0.5,) * 6,) * 5): "<gradcli explanation of sum(W) at "
    "W = array of shape (5, 6): y = 15, W.grad = array of shape (5, 6), agree>",
}


@pytest.mark.parametrize(("program", "x"), LINES)
def test_an_answer_is_one_line_in_a_session(program, x):
    name = "W" if "W" in program else "x"
    said = repr(gradcli.explain(program, inputs={name: np.asarray(x, dtype=np.float64)}))
    assert said == LINES[program, x]
    assert "\n" not in said


def test_a_check_is_one_line_in_a_session_and_in_a_notebook():
    found = gradcli.check("x**2", x=3.0)
    assert repr(found) == f"<gradcli check: {found}>"
    assert found._repr_html_() == f"<pre>{found}</pre>"


def test_a_function_is_called():
    f = gradcli.function("x**2*w")
    assert f(x=3.0, w=2.0) == f.value(x=3.0, w=2.0) == 18


class Tensor:
    """What a tensor of PyTorch's is to numpy: refused while it requires a gradient."""

    def __init__(self, numbers, requires_grad):
        self.numbers, self.requires_grad = numbers, requires_grad

    def detach(self):
        return Tensor(self.numbers, requires_grad=False)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.asarray(self.numbers)


def test_a_tensor_that_requires_a_gradient_is_an_input_and_a_v():
    x, v = Tensor([1.0, 2.0], requires_grad=True), Tensor([1.0, 10.0], requires_grad=True)
    np.testing.assert_array_equal(gradcli.explain("x**2", x=x, v=v).grad["x"], [2, 40])
    assert gradcli.check("x**2", x=x, v=v).agree
    np.testing.assert_array_equal(gradcli.function("x**2").grad(x=x, v=v)["x"], [2, 40])


@pytest.mark.parametrize(
    ("held", "name"),
    [
        (gradcli.Budget(), "work"),
        (gradcli.explain("x**2", x=3.0), "program"),
        (gradcli.explain("x**2", x=3.0).jacobian["x"], "values"),
        (gradcli.check("x**2", x=3.0), "comparisons"),
    ],
    ids=["budget", "explanation", "jacobian", "check"],
)
def test_nobody_assigns_to_what_a_user_holds(held, name):
    with pytest.raises(AttributeError):
        setattr(held, name, None)
