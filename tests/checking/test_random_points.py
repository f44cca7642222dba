"""``--samples``: random points at which the program has a value; numbers hold at the point given alone, beside them."""

import numpy as np
import pytest

import gradcli
from gradcli.checking.check import random_points

DOMAINS = [  # program, the given point, what holds at each sample
    ("log(x)", 1.0, lambda x: x > 0),
    ("sqrt(x)*sqrt(2 - x)", [1.0, 1.5], lambda x: (x >= 0) & (x <= 2)),
    ("acosh(x)", [2.0], lambda x: x >= 1),
    ("asin(x)/acos(x)", 0.5, lambda x: np.abs(x) < 1),
    ("x**x", 2.0, lambda x: (x > 0) | (x == np.floor(x))),
    ("log(x - 1000)", 1500.0, lambda x: x > 1000),
    ("log(-x)", -0.5, lambda x: x < 0),
    ("inv(x)", [[1.0, 0.2], [0.3, 1.0]], np.isfinite),
    ("sin(x)", [[0.1]], np.isfinite),
]


@pytest.mark.parametrize(("program", "x", "holds"), DOMAINS)
def test_samples_lie_in_the_domain(program, x, holds):
    function = gradcli.function(program)
    points = list(random_points(function, {"x": np.array(x)}, ["x"], 25, 3))
    assert len(points) == 25
    assert all(np.all(holds(point["x"])) for point in points)
    assert len({point["x"].tobytes() for point in points}) == 25, "no point comes twice"
    assert all(np.array_equal(point["x"], np.round(point["x"], 4)) for point in points), "they can be typed"
    assert gradcli.check(program, x=x, samples=25).agree


def test_what_is_not_differentiated_stays_as_given():
    function = gradcli.function("W @ x + b")
    given = {"W": np.eye(2), "x": np.ones(2), "b": np.zeros(2)}
    points = random_points(function, given, ["x"], 4, 0)
    assert all(point["W"] is given["W"] and point["b"] is given["b"] for point in points)


def test_the_seed_chooses_the_points():
    function = gradcli.function("x*y")
    given = {"x": np.ones(3), "y": np.float64(2.0)}
    first, again, other = (list(random_points(function, given, ["x", "y"], 3, seed)) for seed in (1, 1, 2))
    assert str(first) == str(again) != str(other)


def test_a_program_without_a_value_is_refused():
    with pytest.raises(gradcli.GradcliError, match="no random point"):
        gradcli.check("log(-1 - x*x)", x=1.0, samples=3)


def test_samples_reach_branches_that_the_given_point_does_not():
    program = "y = x\nif x < 0:\n    y = x*x\ny"
    found = gradcli.check(program, x=1.0, expect="1 + 0*x", samples=10)
    assert not found.agree


FAR = [{"x": np.array([3.0, -1.0])}]


@pytest.mark.parametrize("expect", [np.array([2.0, 4.0]), [2, 4], "[2.0, 4.0]"])
@pytest.mark.parametrize("more", [{"samples": 3}, {"points": FAR}, {"samples": 2, "points": FAR}])
def test_numbers_are_held_at_the_point_given_alone(expect, more):
    found = gradcli.check("sum(x**2)", x=[1.0, 2.0], expect=expect, **more)
    assert found.verdict == "right"
    assert found.samples == more.get("samples", 0)
    assert str(found).endswith("at the point given")
    assert "expect-fixed" in [note.kind for note in found.notes]


@pytest.mark.parametrize("more", [{"samples": 3}, {"points": FAR}])
def test_wrong_numbers_are_wrong_at_the_point_given(more):
    found = gradcli.check("sum(x**2)", x=[1.0, 2.0], expect=np.array([2.0, 5.0]), **more)
    assert found.verdict == "wrong"
    assert found.expected[0].wrong == 1


def test_formula_is_held_at_every_point():
    assert gradcli.check("abs(x)", x=1.0, expect="x**0", samples=9).verdict == "wrong"
    assert gradcli.check("abs(x)", x=1.0, expect="x/abs(x)", samples=9).verdict == "right"


@pytest.mark.parametrize("more", [["--samples", "3"], ["--x", "3,4"]])
def test_typed_numbers_of_a_command_line(cli, more):
    answer = cli("check", "sum(x**2)", "--x", "1,2", *more, "--expect", "2,4")
    assert (answer.code, answer.out.count("\n")) == (0, 1)
    assert "at the point given alone" in answer.err


def test_right_check_of_a_script_has_no_command(cli):
    script = "import numpy as np\nw = np.array([1., 2.])\nloss = np.sum(w**3)\ndw = 3*w**2\n"
    answer = cli("check", script, "--samples", "3")
    assert (answer.code, answer.out.count("\n")) == (0, 1)
