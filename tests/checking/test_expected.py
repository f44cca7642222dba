"""``--expect``: a derivative that was written by hand."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli

W = [[1.0, 2.0], [3.0, -4.0], [0.5, 1.0]]
SQUARE = [[1.0, 2.0], [3.0, -4.0]]
RIGHT = [  # program, inputs, v, what is expected
    ("x**3", {"x": 2.0}, None, "3*x**2"),
    ("x**3", {"x": [1.0, 2.0]}, None, "3*x**2"),
    ("x**3", {"x": [1.0, 2.0]}, None, "diag(3*x**2)"),
    ("x**3", {"x": [1.0, 2.0]}, None, {"x": [[3.0, 0.0], [0.0, 12.0]]}),
    ("x**3", {"x": [1.0, 2.0]}, [1.0, 10.0], "v*3*x**2"),
    ("sigmoid(x)", {"x": [-3.0, 40.0]}, None, "y*(1 - y)"),
    ("tanh(x)", {"x": 1.8}, None, "1 - tanh(x)**2"),
    ("tanh(x)", {"x": 1.8}, None, "1/cosh(x)**2"),
    ("softmax(x)", {"x": [1.0, 2.0, 0.3]}, None, "diag(y) - outer(y, y)"),
    ("softmax(x)", {"x": [1.0, 2.0, 0.3]}, [1.0, 0.0, 0.0], "y*(v - dot(v, y))"),
    ("W @ x", {"W": W, "x": [1.0, 2.0]}, None, {"x": "W"}),
    ("W @ x", {"W": W, "x": [1.0, 2.0]}, [1.0, 2.0, 3.0], {"x": "W.T @ v", "W": "outer(v, x)"}),
    ("sum((W @ x)**2)", {"W": W, "x": [1.0, 2.0]}, None, {"x": "2*W.T @ (W @ x)", "W": "2*outer(W @ x, x)"}),
    ("norm(x)", {"x": [3.0, 4.0]}, None, "x/norm(x)"),
    ("inv(S)[0, 0]", {"S": SQUARE}, None, "A = inv(S); -outer(A[0], A[:, 0])"),
    ("det(S)", {"S": SQUARE}, None, "det(S)*inv(S).T"),
    ("outer(x, x)", {"x": [1.0, 2.0]}, None, "[[[2*x[0], 0], [x[1], x[0]]], [[x[1], x[0]], [0, 2*x[1]]]]"),
    ("relu(x)", {"x": [0.0, 1.0]}, None, "[0, 1]"),
    ("h = exp(x)\nh*h", {"x": 0.5}, None, "h = exp(x)\n2*h*h"),
]


def asked(program, inputs, v, expect):
    wrt = list(expect) if isinstance(expect, dict) else None
    return gradcli.check(program, inputs=inputs, v=v, expect=expect, wrt=wrt)


@pytest.mark.parametrize(("program", "inputs", "v", "expect"), RIGHT)
def test_what_is_right_is_confirmed(program, inputs, v, expect):
    found = asked(program, inputs, v, expect)
    assert found.agree, found
    assert found.routes[-1] == "--expect"
    assert "--expect agree" in str(found)


def off(expect, how):
    if isinstance(expect, dict):
        return {name: off(item, how) for name, item in expect.items()}
    if not isinstance(expect, str):
        return np.array(expect) * how
    *lines, last = expect.replace("; ", "\n").split("\n")
    return "\n".join([*lines, f"({last})*{how}"])


@pytest.mark.parametrize(("program", "inputs", "v", "expect"), RIGHT)
@pytest.mark.parametrize("how", [1 + 1e-9, -1.0, 2.0])
def test_what_is_wrong_is_found(program, inputs, v, expect, how):
    found = asked(program, inputs, v, off(expect, how))
    assert not found.agree, found
    assert str(found).startswith("differs: ")


@pytest.mark.parametrize("expect", ["1 - tanh(x)**2", "1/cosh(x)**2"])
def test_where_a_formula_has_lost_its_digits_rounding_is_no_mistake(expect):
    assert gradcli.check("tanh(x)", x=18.0, expect=expect).agree
    assert gradcli.check("(x + 1e8) - x", x=18.0, expect="0").agree


AT_AN_EDGE = [  # where some of a formula's runs with other last digits have no value
    ("x**2", 1.0, "2*x + sqrt(x - 1)", True),
    ("x**2", 1.0, "2*x + acos(x)", True),
    ("sin(x)", np.pi / 2, "sqrt(1 - sin(x)**2)", True),
    ("x**2", 1.0, "2*x + sqrt(x - 1) + 5", False),
    ("x**2", 1.0, "3*x + acos(x)", False),
    ("x**2", [1.0, 2.0], "2*x + sqrt(x - 1) - sqrt(x - 1) + [5, 0]", False),
]


@pytest.mark.parametrize(("program", "x", "expect", "right"), AT_AN_EDGE)
def test_at_an_edge_of_its_domain_a_formula_is_held_to_its_value(program, x, expect, right):
    assert gradcli.check(program, x=x, expect=expect).agree is right


HINTS = [
    ("x**3", {"x": [1.0, 2.0]}, "6*x**2", "it is 2 times J"),
    ("x**2/2", {"x": [1.0, 2.0]}, "-x", "its sign is wrong"),
    ("S @ x", {"S": SQUARE, "x": [1.0, 2.0]}, {"x": "S.T"}, "it is the transpose"),
    ("x**3", {"x": [1.0, 2.0]}, "2*x**3", None),
]


@pytest.mark.parametrize(("program", "inputs", "expect", "hint"), HINTS)
def test_a_usual_mistake_is_named(program, inputs, expect, hint):
    found = asked(program, inputs, None, expect)
    assert not found.agree
    assert (found.hint or None) == hint
    assert hint is None or str(found).endswith(hint)


REFUSED = [
    ("W @ x", {"W": W, "x": [1.0, 2.0]}, None, "W", "option", "by which variable"),
    ("5.0", {}, None, "0", "option", "by which variable: the program has none"),
    ("x**2", {"x": [1.0, 2.0]}, None, {"z": "x"}, "option", "'z' is not differentiated"),
    ("x**2", {"x": [1.0, 2.0]}, None, "x[:1]", "shape", "has shape (1,), and not (2, 2)"),
    ("sum(x**2)", {"x": [1.0, 2.0]}, None, "x[0]", "shape", "has shape (), and not (2,)"),
    ("x**2", {"x": [1.0, 2.0]}, [1.0, 1.0], "diag(x)", "shape", "has shape (2, 2), and not (2,)"),
    ("x**2", {"x": [1.0, 2.0]}, None, "2*z", "missing-input", "no value for the variable z"),
    ("x**2", {"x": [1.0, 2.0]}, None, "2*sinn(x)", "unknown-function", "unknown function 'sinn'"),
    ("x**2", {"x": [1.0, 2.0]}, None, "2*(x", "syntax", "never closed"),
    ("x**2", {"x": [1.0, 2.0]}, None, "", "syntax", "empty"),
]


@pytest.mark.parametrize(("program", "inputs", "v", "expect", "kind", "message"), REFUSED)
def test_what_does_not_fit_is_refused(program, inputs, v, expect, kind, message):
    with pytest.raises(gradcli.GradcliError) as raised:
        gradcli.check(program, inputs=inputs, v=v, expect=expect)
    assert raised.value.kind == kind
    assert message in raised.value.message
    if kind in ("missing-input", "unknown-function", "syntax"):
        assert raised.value.place.name == "--expect"
        assert raised.value.place.text == expect


def test_a_formula_is_checked_at_every_sample():
    assert gradcli.check("abs(x)*x", x=1.0, expect="2*abs(x)", samples=20).agree
    found = gradcli.check("abs(x)*x", x=1.0, expect="2*x", samples=20)
    assert not found.agree, "2*x is right at positive points, the given one among them"
    assert "; at --x -" in str(found)
