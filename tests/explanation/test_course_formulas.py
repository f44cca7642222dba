"""The formulas of the courses: each as a textbook has it, and equal to what PyTorch's autograd finds."""

from typing import NamedTuple

import numpy as np
import pytest

import gradcli
from gradcli.explanation.rereading import Reader, evaluate
from oracles import TORCH, cases, needs_torch

if TORCH:
    import torch
    import torch.nn.functional as F  # noqa: N812 - its name everywhere


class Formula(NamedTuple):
    """A program in the language and in PyTorch, its inputs, and the lines of Backward by the names that they are of."""

    program: str
    torch: str
    inputs: dict
    lines: dict[str, str]


COURSES = {name: Formula(**row) for name, row in cases("course_formulas.toml")["COURSES"].items()}
SCORES, THREE = [2.0, 1.0, 0.1], [1.0, 2.0, -0.5]


def answer(course, **options):
    """Return gradcli's answer by all inputs that are no classes."""
    wrt = [name for name, value in course.inputs.items() if np.asarray(value).dtype.kind == "f"]
    return gradcli.explain(course.program, wrt=wrt, inputs=course.inputs, **options)


def autograd(course, v=1.0):
    """Return PyTorch's cotangents of the inputs and of every value that the program names."""
    text = course.torch or course.program
    names = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in course.inputs.items()
    }
    functions = {"torch": torch, "F": F, "exp": torch.exp, "log": torch.log, "sigmoid": torch.sigmoid, "sum": torch.sum}
    for line in text.splitlines():
        name, _, right = line.partition(" = ")
        names[name] = eval(right, functions, names)  # noqa: S307 - of this file
        names[name].retain_grad()
    names[name].backward(torch.tensor(v, dtype=torch.float64))
    return {name: value.grad.numpy() for name, value in names.items() if value.grad is not None}


@pytest.mark.parametrize("name", COURSES)
def test_a_line_is_what_a_textbook_has(name):
    course = COURSES[name]
    lines = {rule.name: rule.text for rule in answer(course).rules}
    assert {of: lines.get(of) for of in course.lines} == course.lines


@needs_torch
@pytest.mark.parametrize("v", [1.0, 0.7])
@pytest.mark.parametrize("name", COURSES)
def test_every_line_is_the_number_of_autograd(name, v):
    """With another v the lines have its factor, and no less are they true."""
    course = COURSES[name]
    found, wanted = answer(course, v=v), autograd(COURSES[name], v)
    values = {**found.inputs, **{value.name: value.value for value in found.values}, "v": found.seed}
    for rule in [rule for rule in reversed(found.rules) if rule.made]:
        values[rule.name] = Reader(values, {}).evaluate(rule.made)
    reader = Reader(values, {rule.name: rule.value for rule in found.rules})
    for rule in found.rules:
        read = np.broadcast_to(reader.evaluate(rule.text), rule.value.shape)
        np.testing.assert_allclose(read, rule.value, rtol=1e-9, atol=1e-12, err_msg=rule.name)
        if rule.name in wanted:
            np.testing.assert_allclose(read, wanted[rule.name], rtol=1e-9, atol=1e-12, err_msg=rule.name)


def test_a_factor_of_v_stays_where_it_is_not_1():
    lines = {rule.name: rule.text for rule in answer(COURSES["mean squared error"], v=0.7).rules}
    assert lines == {"loss": "v", "p": "loss.grad*2*(p - t)/3", "t": "loss.grad*2*(t - p)/3"}


@needs_torch
def test_softmax_is_written_in_its_own_name():
    """J is diag(s) - outer(s, s), entry by entry."""
    found = gradcli.explain("s = softmax(x)", x=THREE, v=[1.0, 0.0, 0.0]).jacobian["x"]
    s, wanted = (
        gradcli.function("softmax(x)").value(x=THREE),
        torch.autograd.functional.jacobian(
            lambda x: torch.softmax(x, 0), torch.tensor(THREE, dtype=torch.float64)
        ).numpy(),
    )
    assert found.formulas[:3] == ["s[0]*(1 - s[0])", "-s[0]*s[1]", "-s[0]*s[2]"]
    np.testing.assert_allclose(np.diag(s) - np.outer(s, s), wanted, rtol=1e-12)
    np.testing.assert_allclose(found.numeric, wanted, rtol=1e-12)


@pytest.mark.parametrize("shares", [[0.2, 0.5, 0.3], [2.0, 1.0, 0.5]])
def test_a_target_whose_sum_is_not_1_keeps_its_sum(shares):
    found = gradcli.explain("cross_entropy(z, t)", z=SCORES, t=shares, wrt=["z"])
    assert found.rules[-1].text is not None
    assert (found.rules[-1].text == "softmax(z) - t") is (sum(shares) == 1)


def test_a_value_of_0_over_0_is_not_cancelled():
    """The slope of x/x is 0 but at 0: the line there is in the order of its operations."""
    texts = [gradcli.explain("y = sum(x/x)", x=[start, 0.5]).rules[-1].text for start in (1.0, 0.0)]
    assert texts == ["0", "1/x - x/x/x"]


WHOLE = {  # of a program that names no value: J of one row as one formula
    "F.cross_entropy(z, t)": ({"z": [[2.0, 1.0, 0.1], [0.0, 1.0, 2.0]], "t": [1.0, 0.0]}, "z",
                              "(softmax(z, dim=1) - one_hot(t, 3))/2"),
    "F.binary_cross_entropy(p, t)": ({"p": [0.2, 0.7], "t": [0.0, 1.0]}, "p", "(p - t)/(2*p*(1 - p))"),
    "F.mse_loss(p, t)": ({"p": [0.2, 0.7, 0.4], "t": [0.0, 1.0, 3.0]}, "p", None),
    "round(p)*2": ({"p": 1.3}, "p", None),
}  # fmt: skip


@pytest.mark.parametrize("program", WHOLE)
def test_j_of_one_row_is_written_as_in_a_textbook(program):
    inputs, name, text = WHOLE[program]
    found = gradcli.explain(program, inputs=inputs, wrt=[name])
    [part] = found.document().section("jacobian").parts
    assert part.rows
    if text is not None:
        assert [row.sides for row in part.rows] == [(text,)]
        np.testing.assert_allclose(evaluate(text, inputs), found.grad[name], rtol=1e-12)
