"""Numbers that are expected hold at the point given alone, beside random and further points."""

import numpy as np
import pytest

import gradcli

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
