"""Where there is no time for a direction for each variable, all share one, and entries that cancel are asked for."""

import numpy as np
import pytest

import gradcli
from gradcli.checking import check
from gradcli.ops import OPS
from oracles import tampered

NETWORK = "h = tanh(X @ W + b)\nloss = sum((h @ u - t)**2)"
POINT = {
    "X": np.cos(np.arange(12.0)).reshape(4, 3),
    "W": np.sin(np.arange(6.0)).reshape(3, 2),
    "b": np.array([0.5, -0.25]),
    "u": np.array([1.5, -2.0]),
    "t": np.arange(4.0),
}
CANCELS = "h = x*a - x*c\nsum(h*w) + sum(a**2)"
NEAR = {
    "x": np.array([0.3, 0.7]),
    "a": np.array([1.1, 2.3]),
    "c": np.array([1.1 - 1e-11, 1.3]),
    "w": np.array([3.1, 2.0]),
}


LITTLE = gradcli.Budget(work=2_000)
LESS = gradcli.Budget(work=1_500)


def places(found):
    """Return what each route was held against the truth by: the place of its worst entry."""
    return {c.routes[0]: c.worst.column for c in found.comparisons if c.routes[1] == "many digits"}


@pytest.mark.parametrize("v", [None, 2.5])
def test_all_variables_are_confirmed_by_one_direction(v):
    found = gradcli.check(NETWORK, inputs=POINT, wrt=["W", "b", "u"], v=v, budget=LITTLE)
    assert (found.verdict, found.reason) == ("right", "")
    assert set(places(found).values()) == {"(all variables in a random direction)"}
    assert sum(c.compared for c in found.comparisons if c.routes == ("symbols", "reverse mode")) == 6 + 2 + 2


def test_several_outputs_are_held_too():
    found = gradcli.check(
        "h = tanh(X @ W + b)\nh @ u", inputs={n: POINT[n] for n in "XWbu"}, wrt=["W", "b", "u"], budget=LESS
    )
    assert found.verdict == "right"
    assert places(found)["symbols"] == "(all variables in a random direction)"


def test_a_wrong_rule_is_found():
    with tampered(OPS["tanh"], vjps=(lambda g, y, _x: g * (1 - y * y) * 1.001,)):
        assert gradcli.check(NETWORK, inputs=POINT, wrt=["W", "b", "u"], budget=LITTLE).verdict == "wrong"


def test_an_entry_that_cancels_is_asked_for_alone():
    found = gradcli.check(CANCELS, inputs=NEAR, wrt=["x", "a", "c", "w"], budget=LITTLE)
    assert places(found)["reverse mode"] in ("x[0]", "w[0]")
    assert found.verdict != "right"


@pytest.mark.parametrize(
    ("program", "inputs", "verdict"),
    [
        ("h = sin(x*1e15)*a\nsum(h*b)", {"x": 1.37, "a": 1.5, "b": 2.5}, "wrong"),
        ("h = sin(1/x)*x**2*a\nsum(h*b)", {"x": 1e-9, "a": 1.5, "b": 2.5}, "right"),
    ],
)
def test_one_direction_decides_as_one_for_each_does(monkeypatch, program, inputs, verdict):
    assert gradcli.check(program, inputs=inputs).verdict == verdict
    monkeypatch.setattr(check, "goes_together", lambda *_: True)
    assert gradcli.check(program, inputs=inputs).verdict == verdict
