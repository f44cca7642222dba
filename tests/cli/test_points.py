"""``gradcli check`` at several points: values that are given again, and the command that shows the failing one."""

import shlex

import numpy as np
import pytest

from oracles import cases, strict_json

TABLES = cases("points.json")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.ones(300))
    np.save("b.npy", -np.ones(300))
    (tmp_path / "s.py").write_text(
        "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = (x**2).sum()\ny.backward()\n"
    )
    return tmp_path


AGREE = TABLES["AGREE"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", AGREE)
def test_all_points_are_checked(cli, name):
    line, points = AGREE[name]
    answer = cli("check", *shlex.split(line), "--json")
    assert answer.code == 0, answer.err
    document = strict_json(answer.out)
    assert document["check"]["points"] == points
    assert document["reproduce"] is None


FAIL = TABLES["FAIL"]


@pytest.mark.long
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", FAIL)
def test_the_failing_point_is_a_command_that_shows_it_again(cli, name):
    words, command = FAIL[name]
    answer = cli("check", *words)
    assert answer.code == 1
    assert answer.out.splitlines()[1:] == [command]
    first = strict_json(cli("check", *words, "--json").out)
    assert first["reproduce"] == command
    again = cli(*shlex.split(command)[1:], "--json")
    assert again.code == 1
    worst = [document["check"]["worst"] for document in (first, strict_json(again.out))]
    assert worst[0]["values"] == worst[1]["values"]
    assert worst[0]["point"] == worst[1]["point"]


def test_one_point_alone_is_in_json_and_not_printed(cli):
    words = ("check", "x**3", "--x", "2", "--expect", "x**2")
    assert cli(*words).out.count("\n") == 1
    assert strict_json(cli(*words, "--json").out)["reproduce"] == "gradcli check 'x**3' --x 2 --expect 'x**2'"


def test_a_program_of_standard_input_is_written_out(cli):
    answer = cli("check", "-", "--x", "1", "--x", "-1", "--expect", "x**0", stdin="h = abs(x)\nh\n")
    assert answer.out.endswith("gradcli check 'h = abs(x)\nh' --x -1 --expect 'x**0'\n")


def test_a_value_of_standard_input_is_written_out(cli):
    answer = cli("check", "abs(x)*k", "--x", "1", "--x", "-1", "--k", "-", "--wrt", "x", "--expect", "k", stdin="2.5\n")
    assert answer.out.splitlines()[1:] == ["gradcli check 'abs(x)*k' --x -1 --k 2.5 --wrt x --expect k"]


@pytest.mark.usefixtures("here")
def test_a_random_point_of_a_script_is_written_out(cli):
    answer = cli("check", "s.py", "--expect", "x=x", "--samples", "2", "--json")
    assert answer.code == 1
    command = strict_json(answer.out)["reproduce"]
    assert cli(*shlex.split(command)[1:]).code == 1


REFUSED = {
    "unequal": ("x*k --x 1 --x 2 --x 3 --k 1 --k 2", "x is given 3 times and k 2 times"),
    "standard input": ("x --x - --x -", "standard input is one value, and not one for each point"),
    "no name": ("x --x 1 --x 2 --set k", "'k' is not NAME=VALUE"),
    "too many": ("x" + " --x 1" * 1001, "1,001 points are more than 1,000"),
    "another command": ("x --x 1 --x 2", "two values are given for x"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_points_that_do_not_go_together_are_refused(cli, name):
    line, message = REFUSED[name]
    answer = cli("grad" if name == "another command" else "check", *shlex.split(line), stdin="1")
    assert answer.code == 2
    assert message in answer.err
