"""A command line without a command, files where a program stands, and snippets by every command."""

import json

import pytest

SNIPPET = (
    "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\ny.backward(torch.ones(2))\nprint(x.grad)\n"
)


@pytest.mark.parametrize("words", [
    ("x**2", "--x", "3"), ("--x", "3", "x**2"), ("-x**2", "--x", "-3"), ("x", "--x=6"), ("x*2", "--x", "3", "--v", "3"),
    ("--json", "x**2", "--x", "3"), ("-F", "json", "x**2", "--x", "3"), ("x**2", "--x", "3", "--json"),
])  # fmt: skip
def test_a_program_without_a_command_is_explained(cli, words):
    short, long = cli(*words), cli("explain", *words)
    assert (short.code, short.out, short.err) == (0, long.out, long.err)


@pytest.mark.parametrize(("words", "message"), [
    (("explane", "x**2"), "no such command 'explane'\nhelp: did you mean 'explain'?"),
    (("chek",), "no such command 'chek'\nhelp: did you mean 'check'?"),
    (("frob", "--x", "3"), "no such command 'frob'"),
    (("x**2",), "no value for the variable x"),
])  # fmt: skip
def test_a_word_that_may_be_a_command_stays_one(cli, words, message):
    answer = cli(*words)
    assert answer.code == 2
    assert message in answer.err


def test_help_is_a_word_too(cli):
    assert cli("help").out == cli("--help").out
    assert cli("help", "grad").out == cli("grad", "--help").out
    assert cli("help", "nothing").out == cli("--help").out


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(SNIPPET, encoding="utf-8")
    (tmp_path / "data.csv").write_text("1,2\n", encoding="utf-8")
    return "script.py"


@pytest.mark.parametrize(
    "words", [("explain", "script.py"), ("script.py",), ("explain", "@script.py"), ("-f", "script.py")]
)
@pytest.mark.usefixtures("script")
def test_a_file_where_a_program_stands_is_read(cli, words):
    answer = cli(*words, "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    assert (found["program"], found["grad"]) == (SNIPPET, {"x": [2.0, 4.0]})
    assert found["notes"] == []
    assert json.loads(cli(*words, "--json", "--x", "3,4").out)["grad"] == {"x": [6.0, 8.0]}


@pytest.mark.parametrize(("words", "message", "hint"), [
    (("explain", "data.csv"), "data.csv holds numbers, and no program", "--x @data.csv"),
    (("data.csv",), "data.csv holds numbers, and no program", "--x @data.csv"),
    (("explain", "nothing.py"), "there is no file nothing.py", ""),
])  # fmt: skip
@pytest.mark.usefixtures("script")
def test_a_file_that_is_no_program_is_refused(cli, words, message, hint):
    answer = cli(*words)
    assert answer.code == 2
    assert message in answer.err
    assert hint in answer.err


def test_grad_check_and_batch_take_snippets(cli, script):
    answer = cli("grad", script)
    assert (answer.code, answer.out) == (0, "2,4\n")
    assert answer.err == ""
    assert cli("check", script).out.startswith("right: ")
    assert cli("check", script, "--expect", "2*x").code == 0
    record = json.dumps({"program": SNIPPET})
    found = json.loads(cli("batch", "-", stdin=record + "\n").out)
    assert found["grad"] == {"x": [2.0, 4.0]}
