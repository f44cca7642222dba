"""Answers as the user of a shell sees them: the tables, the bare numbers, the files."""

import json
import re
from pathlib import Path

import pytest

from oracles import cases, portion

TABLES = cases("answers.toml")

CASES = TABLES["CASES"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_an_answer_looks_like_this(cli, snapshot, name):
    answer = cli("explain", *CASES[name])
    assert answer.code == {"not-finite": 3, "routes-differ": 1}.get(name, 0)
    assert len(answer.out.splitlines()) < (60 if name.startswith("large") else 80)
    assert max(map(len, answer.out.splitlines())) <= 80
    assert all(line == line.rstrip() for line in answer.out.splitlines())
    assert answer.snapshot == snapshot


@pytest.mark.parametrize("flags", [("--ascii",), ("--format", "plain"), ("--width", "40"), ("--width", "200"),
                                   ("--precision", "3"), ("--width", "24")], ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("name", ["two-to-three", "chain-rule"])
def test_an_answer_in_another_form_looks_like_this(cli, snapshot, name, flags):
    answer = cli("explain", *CASES[name], *flags)
    assert answer.code == 0
    assert answer.snapshot == snapshot


@pytest.mark.parametrize("name", portion(CASES, 3))
@pytest.mark.parametrize("flags", [("--ascii",), ("--ascii", "--format", "plain"), ("--ascii", "--json")], ids=" ".join)
def test_ascii_is_ascii(cli, name, flags):
    answer = cli("explain", *CASES[name], *flags)
    assert (answer.out + answer.err).isascii()


@pytest.mark.parametrize("name", portion(sorted(set(CASES) - {"large-dense", "large-diagonal", "large-gradient"}), 2))
@pytest.mark.parametrize("precision", portion([6, 16], 2))
def test_nothing_is_cut_in_a_pipe(cli, name, precision):
    """Every number of the gradient stands in the tables, and neither cells nor columns give way to dots."""
    answer = cli("explain", *CASES[name], "--precision", str(precision), columns=None)
    turns_left_out = re.compile(r"… +[\d,]+ turns of the loop")
    assert not re.search("…|[.]{3}", turns_left_out.sub("", answer.out))
    for gradient in json.loads(cli("explain", *CASES[name], "--json").out)["grad"].values():
        for number in re.findall(r"[^\[\], \"]+", json.dumps(gradient)):
            word = {"NaN": "nan", "Infinity": "inf"}.get(number, f"{float(number):.{precision}g}")
            assert word in answer.out


@pytest.mark.parametrize(("program", "x", "said"), [
    ("log(x)", "-1", "y is not finite at this point: these numbers are no derivative of it"),
    ("sqrt(x)", "0", "not finite at this point, on both routes"),
    ("[log(x), x]", "-1", "y is not finite at this point"),
])  # fmt: skip
def test_what_is_not_finite_is_named(cli, program, x, said):
    answer = cli("explain", program, f"--x={x}", *(("--v", "1,1") if program.startswith("[") else ()))
    assert said in answer.out
    assert "agrees" not in answer.out
    assert answer.code == 3


def test_quiet_says_nothing_and_keeps_the_code(cli):
    assert (cli("explain", "x**2", "--x", "3", "-q").out, cli("grad", "x", "--x", "3", "-q").out) == ("", "")
    silent = cli("explain", "log(x)", "--x", "0", "-q")
    assert (silent.code, silent.out, silent.err) == (3, "", "")


PROGRAMS = TABLES["PROGRAMS"]


@pytest.mark.parametrize(("words", "stdin"), PROGRAMS)
def test_a_program_comes_from_the_command_line_a_file_or_standard_input(cli, words, stdin):
    Path("model.py").write_text("# a parabola\nx**2 + 1\n", encoding="utf-8")
    for order in ((*words[:-1], words[-1], "--x", "3"), ("--x", "3", *words)):
        answer = cli("grad", *order, stdin=stdin)
        assert (answer.code, answer.out, answer.err) == (0, "6\n", ""), order


GRADIENTS = TABLES["GRADIENTS"]


@pytest.mark.parametrize(("words", "numbers"), GRADIENTS)
def test_grad_prints_bare_numbers(cli, words, numbers):
    answer = cli("grad", *words)
    assert (answer.code, answer.out, answer.err) == (0, numbers, "")


@pytest.mark.parametrize("text", ["2", "0.1,-1e-300", "1,2;3,4", "[[[1,2]]]", "1e300,3.141592653589793", "7,", "5;6"])
def test_a_gradient_reads_back_as_a_value(cli, text):
    """The gradient of sum(x*a) by x is a, whatever a is; two lines go back through --set."""
    bare = cli("grad", "sum(x*a)", "--x", text, "--a", text, "--wrt", "x").out.strip()
    both = cli("grad", "sum(x*a)", "--x", text, "--a", bare).out.splitlines()
    again = cli("grad", "sum(x*a)", *(word for line in both for word in ("--set", line))).out.splitlines()
    assert sorted(both) == sorted(again) == [f"a={bare}", f"x={bare}"]


def test_an_output_file_is_whole_and_an_error_keeps_the_old_one(cli):
    target, table = Path("answer.json"), Path("answer.txt")
    assert cli("explain", *CASES["two-to-three"], "-o", "answer.json").out == ""
    assert json.loads(target.read_text(encoding="utf-8"))["grad"]["x"] == [26.0, 1240.0]
    cli("explain", *CASES["two-to-three"], "-o", "answer.txt")
    assert table.read_text(encoding="utf-8") == cli("explain", *CASES["two-to-three"]).out
    before = target.read_bytes(), table.read_bytes()
    for name in ("answer.json", "answer.txt"):
        assert cli("explain", "sinn(x)", "--x", "1", "-o", name).code == 2
        assert cli("explain", "x**2", "--x", "1,2", "-o", name).code == 2
    assert (target.read_bytes(), table.read_bytes()) == before
    assert sorted(path.name for path in Path().iterdir()) == ["answer.json", "answer.txt"]
