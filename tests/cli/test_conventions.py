"""What is as elsewhere: -o -, arrays in files, variables for defaults, colours, doctor, PowerShell, the man page."""

import io
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest
from docs import make_man

from conftest import Screen, stream, text_of
from gradcli.cli.app import run
from gradcli.cli.commands import EXTRAS, PACKAGES
from gradcli.cli.options import COMMANDS, DEFAULTS, flags_of
from gradcli.cli.output import Environment
from oracles import cases

TABLES = cases("conventions.toml")

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FORMULA = ("x**2", "--x", "3.")
MATRIX = ("sum(x**2)", "--x", "1,2;3,4.5")


def answered(*words, **variables):
    """Return how a command line ends in an environment with these variables."""
    out, err = stream(), stream()
    code = run(list(words), Environment(stdin=io.StringIO(), stdout=out, stderr=err, variables=variables))
    return code, text_of(out), text_of(err)


@pytest.mark.parametrize("suffix", ["json", "html", "svg", "dot", "tex", "md", "txt"])
def test_a_dash_gets_the_bytes_of_a_file(cli, tmp_path, suffix):
    form = {"html": "page", "tex": "latex", "md": "markdown", "txt": "table"}.get(suffix, suffix)
    file = tmp_path / f"answer.{suffix}"
    assert cli("explain", *FORMULA, "-o", str(file)).code == 0
    assert cli("explain", *FORMULA, "-o", "-", "--format", form).out == file.read_text(encoding="utf-8")
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    run(["explain", *FORMULA, "-o", "-", "-F", form], Environment(stdin=io.StringIO(), stdout=narrow, variables={}))
    assert narrow.buffer.getvalue() == file.read_bytes()


@pytest.mark.parametrize("words", [("explain", "--code", "numpy"), ("explain", "--figure", "dark"), ("grad", "--json"),
                                   ("check", "--format", "plain"), ("explain", "--format", "page")])  # fmt: skip
def test_a_dash_is_standard_output(cli, words):
    command, *options = words
    assert cli(command, *FORMULA, *options, "-o", "-").out == cli(command, *FORMULA, *options).out != ""


@pytest.mark.parametrize(("command", "formats"), [("explain", "dot"), ("grad", "npz"), ("check", "plain")])
def test_a_dash_alone_asks_for_a_format(cli, command, formats):
    answer = cli(command, *FORMULA, "-o", "-")
    assert (answer.code, answer.out) == (2, "")
    assert "help: --format says which: table, json, plain" in answer.err
    assert answer.err.rstrip().endswith(formats)


def test_records_and_checks_take_a_dash_too(cli, tmp_path):
    records = '{"program": "x**2", "inputs": {"x": 3}}\n'
    assert cli("batch", "-o", "-", stdin=records).out == cli("batch", stdin=records).out
    file = tmp_path / "checks.toml"
    file.write_text('[[check]]\nprogram = "x**2"\ninputs = {x = 3}\n', encoding="utf-8")
    assert json.loads(cli("check", str(file), "-o", "-", "--json").out)["verdict"] == "right"


@pytest.mark.parametrize("suffix", ["json", "npy", "npz", "csv", "tsv", "txt"])
@pytest.mark.parametrize("x", ["3.", "1,2,3", "1,2;3,4.5"])
def test_a_gradient_in_a_file_is_read_back(cli, tmp_path, suffix, x):
    file = tmp_path / f"g.{suffix}"
    answer = cli("grad", "sum(x**2)/2", "--x", x, "-o", str(file))
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    if suffix == "json":
        assert json.loads(file.read_text())["grad"]["x"] is not None
    else:
        assert cli("grad", "sum(g**2)/2", "--g", f"@{file}").out == f"{x.removesuffix('.')}\n"


def test_several_gradients_have_a_place_in_npz_alone(cli, tmp_path):
    words = ("grad", "sum(file*x)", "--set", "file=1,2", "--x", "3,4")
    first, second = tmp_path / "g.npz", tmp_path / "h.npz"
    for file in (first, second):
        assert cli(*words, "-o", str(file)).code == 0
    assert first.read_bytes() == second.read_bytes()
    assert {name: array.tolist() for name, array in np.load(first).items()} == {"file": [3, 4], "x": [1, 2]}
    for suffix in ("npy", "csv"):
        answer = cli(*words, "-o", str(tmp_path / f"g.{suffix}"))
        assert answer.err.splitlines() == [
            f"error: a file in .{suffix} holds one gradient, and not 2",
            "help: -o NAME.npz holds all, --wrt file chooses one",
        ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.npz", "h.npz"]


def test_a_table_has_two_axes(cli, tmp_path):
    answer = cli("grad", "sum(x)", "--x", "zeros(2, 2, 2)", "-o", str(tmp_path / "g.csv"))
    assert answer.err.splitlines()[0] == "error: a table in .csv has no place for shape (2, 2, 2)"


def test_bytes_are_for_no_terminal(cli):
    answer = cli("grad", *FORMULA, "-F", "npy", screen=True)
    assert (answer.code, answer.out) == (2, "")
    assert "npy is no text for a terminal" in answer.err


def test_a_table_of_tabs_has_no_other_delimiter(cli, tmp_path):
    file = tmp_path / "t.tsv"
    file.write_text("1,5\n2,5\n", encoding="utf-8")
    answer = cli("grad", "sum(x**2)", "--x", f"@{file}")
    assert answer.code == 2
    assert "column 1, row 1 of the table: '1,5' is not a number" in answer.err
    assert "write 1.5" in answer.err


COLORS = TABLES["COLORS"]  # variables, colours in a pipe, colours on a terminal


@pytest.mark.parametrize(("variables", "pipe", "terminal"), COLORS)
def test_who_says_whether_there_are_colours(variables, pipe, terminal):
    env = Environment(variables=variables)
    assert (env.coloured(stream()), env.coloured(Screen())) == (pipe, terminal)
    assert [env.coloured(stream(), color) for color in ("always", "never")] == [True, False]


def test_an_option_wins_over_a_variable():
    always = {"GRADCLI_COLOR": "always"}
    assert "\x1b[" in answered("explain", *FORMULA, **always)[1]
    assert "\x1b[" not in answered("explain", *FORMULA, "--color", "auto", **always)[1]
    assert "\x1b[" in answered("grad", "sinn(x)", **always)[2]
    formatted = {"GRADCLI_FORMAT": "json"}
    assert json.loads(answered("explain", *FORMULA, **formatted)[1])["grad"] == {"x": 6}
    assert json.loads(answered("functions", "sin", **formatted)[1])["functions"]
    assert json.loads(answered("grad", "sinn(x)", **formatted)[1])["error"]["kind"] == "unknown-function"
    for options in (("-F", "plain"), ("--format=plain",), ("--code", "numpy"), ("-Fplain",)):
        assert answered("explain", *FORMULA, *options, **formatted) == answered("explain", *FORMULA, *options)
    assert json.loads(answered("explain", *FORMULA, "-o", "-", **formatted)[1])


def test_a_file_wins_over_a_variable(tmp_path):
    assert answered("explain", *FORMULA, "-o", str(tmp_path / "g.dot"), GRADCLI_FORMAT="json") == (0, "", "")
    assert (tmp_path / "g.dot").read_text().startswith("digraph")


def test_a_format_that_a_command_lacks_is_passed_over():
    assert answered("grad", *FORMULA, GRADCLI_FORMAT="latex") == answered("grad", *FORMULA)
    assert answered("grad", *FORMULA, GRADCLI_FORMAT="") == answered("grad", *FORMULA)
    assert answered("schema", GRADCLI_FORMAT="json") == answered("schema")
    row = ("explain", "x**2", "--x", "3.,4", "--v", "1,1", "--row", "0")
    assert answered(*row, GRADCLI_FORMAT="page") == answered(*row)


@pytest.mark.parametrize("variable", DEFAULTS)
def test_a_wrong_variable_is_named(variable):
    code, out, err = answered("grad", *FORMULA, **{variable: "loud"})
    assert (code, out) == (2, "")
    assert err == f"error: {variable} 'loud' is not known\nhelp: one of {', '.join(DEFAULTS[variable])}\n"
    assert answered("grad", "--help", **{variable: "loud"})[0] == 0
    code, out, err = answered("doctor", **{variable: "loud"})
    assert (code, err) == (0, "")
    assert f"wrong: {variable} 'loud' is not known" in out


def test_doctor_says_what_is_there_and_what_is_missing(cli, monkeypatch):
    document = json.loads(cli("doctor", "--json").out)
    assert (document["packages"]["numpy"], document["error"]) == (np.__version__, None)
    assert document["output"] == {
        "terminal": False, "columns": 80, "colors": False, "encoding": "utf-8", "unicode": True
    }  # fmt: skip
    monkeypatch.setitem(EXTRAS, "repl", ("no-such-package", "lines"))
    answer = cli("doctor", screen=True, columns="40")
    assert answer.code == 0
    assert 'extra repl (missing): lines; pip install "gradcli[repl]"' in " ".join(answer.out.split())
    assert max(map(len, answer.out.splitlines())) <= 40
    assert "output: a terminal, 40 columns, no colours, utf-8" in " ".join(answer.out.split())
    assert "variables: NO_COLOR=1, COLUMNS=40" in answer.out


def test_doctor_knows_the_packages_of_the_project():
    needed = {re.split("[<>=]", one)[0] for one in PROJECT["dependencies"]}
    assert needed <= set(PACKAGES)
    for extra, (package, _) in EXTRAS.items():
        assert package in " ".join(PROJECT["optional-dependencies"][extra]).lower(), extra


@pytest.mark.parametrize(("line", "word", "wanted"), TABLES["powershell_completes_a_line"])
@pytest.mark.parametrize("shell", ["powershell", "pwsh"])
def test_powershell_completes_a_line(shell, line, word, wanted):
    variables = {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_WORD_TO_COMPLETE": word}
    code, out, err = answered(_GRADCLI_COMPLETE=f"complete_{shell}", **variables)
    assert (code, err) == (0, "")
    assert any(one.startswith(wanted) for one in out.splitlines())
    assert all(one.startswith(word) and one.count(":::") == 1 for one in out.splitlines())


def test_the_man_page_is_what_the_table_says():
    page = make_man.PAGE.read_text(encoding="utf-8")
    assert page == make_man.page(), "run python docs/make_man.py"
    assert page.isascii()
    sections = re.split(r"^\.SS gradcli (\w+)", page, flags=re.MULTILINE)[1:]
    for name, section in zip(sections[::2], sections[1::2], strict=True):
        assert all(f"\\fB{make_man.escaped(flag)}\\fR" in section for flag, _ in flags_of(name))
    assert sections[::2] == [*COMMANDS]


def test_the_man_page_is_one_that_roff_reads():
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    words = ["groff", "-man", "-ww", "-z", str(make_man.PAGE)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""
