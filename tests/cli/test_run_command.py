"""``gradcli run``: what a script prints and nothing else, and the exit code that Python would end with."""

import json

import pytest

from oracles import cases
from processes import imported, on_terminal

TABLES = cases("run_command.toml")

LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"
NO_SCALAR = "RuntimeError: grad can be implicitly created only for scalar outputs"
ENDS = TABLES["ENDS"]  # text, exit code, standard output, standard error


@pytest.mark.parametrize("name", ENDS)
def test_how_a_script_ends(cli, tmp_path, name):
    text, code, out, err = ENDS[name]
    path = tmp_path / "a.py"
    path.write_text(text, encoding="utf-8")
    for answer in (cli("run", str(path)), cli("run", "-", stdin=text)):
        assert (answer.code, answer.out, answer.err) == (code, out, err)


REFUSED = {
    "what gradcli does not run": ("print(1)\nopen('x')", "1\n", "'open'", "2 | open('x')"),
    "syntax": ("print(1)\nx = (1 +\n", "", "never closed", "2 | x = (1 +"),
    "a control character": ("x = 1\nx\x00", "", "U+0000", "2 | x\\x00"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_gradcli_refuses_has_an_excerpt_and_a_caret(cli, name):
    text, out, words, line = REFUSED[name]
    answer = cli("run", "-", stdin=text)
    assert (answer.code, answer.out) == (2, out)
    assert words in answer.err
    assert line in answer.err
    assert "^" in answer.err


COMMAND_LINES = {
    ("run",): "no script is given",
    ("run", "nowhere.py"): "there is no file nowhere.py",
    ("run", "print(1)\n"): "the name of a file",
    ("run", "data.npy"): "holds numbers",
    ("run", "-", "--budget", "paces=3"): "has no bound",
    ("run", "-", "--y", "3"): "has no variable 'y'",
    ("run", "-", "--x", "a b"): "--x",
}


@pytest.mark.parametrize("args", COMMAND_LINES, ids=" ".join)
def test_a_command_line_that_is_wrong(cli, args):
    answer = cli(*args, stdin="print(x)")
    assert (answer.code, answer.out) == (2, "")
    assert COMMAND_LINES[args] in answer.err


FREE = TABLES["FREE"]  # script, command and values, what is printed


@pytest.mark.parametrize("name", FREE)
def test_a_variable_that_the_script_leaves_free(cli, name):
    text, (command, *values), out = FREE[name]
    answer = cli(command, "-", *values, stdin=text)
    assert (answer.code, answer.out, answer.err) == (0, out, "")


@pytest.mark.parametrize(
    ("text", "words"), [("x = 1\nprint(x)", "gives 'x' a value itself"), ("xy = 2", "no variable 'x'")]
)
def test_a_value_that_has_no_place_is_refused(cli, text, words):
    answer = cli("run", "-", "--set", "x=3", stdin=text)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


DRAWS = "import torch\nprint(torch.rand(1).item())"


def test_draws_begin_at_the_seed_and_a_note_says_so(cli):
    plain, zero, seven = (cli("run", "-", *words, stdin=DRAWS) for words in ((), ("--seed", "0"), ("--seed", "7")))
    assert plain.out == zero.out == "0.49625658988952637\n"
    assert seven.out == "0.5349225401878357\n"
    assert plain.err.startswith("note: ")
    assert plain.err.count("\n") == 1
    quiet = cli("run", "-", "-q", stdin=DRAWS)
    assert (quiet.code, quiet.out, quiet.err) == (0, plain.out, "")


def test_a_budget_is_that_of_the_script(cli):
    answer = cli("run", "-", "--budget", "turns=10", stdin="for i in range(20):\n    pass")
    assert answer.code == 2
    assert "'turns' of 10" in answer.err


SHOWN = TABLES["SHOWN"]


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_printed_moves_no_terminal(cli, name):
    inner, out = SHOWN[name]
    answer = cli("run", "-", stdin=f"print('{inner}')\n")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == out


def test_what_an_error_says_moves_no_terminal(cli):
    answer = cli("run", "-", stdin="raise ValueError('\\x1b[31m\\u202e')")
    assert answer.code == 1
    assert answer.err.startswith("ValueError: \\x1b[31m\\u202e\n")
    assert answer.err.isascii()


CELLS = TABLES["CELLS"]


@pytest.mark.parametrize("by_lines", [True, False])
def test_the_cells_of_a_notebook_are_run_in_order(cli, tmp_path, by_lines):
    cells = [
        {"cell_type": kind, "source": text.splitlines(keepends=True) if by_lines else text, "outputs": [{"text": "no"}]}
        for kind, text in CELLS
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")
    answer = cli("run", str(path))
    assert (answer.code, answer.out) == (1, "tensor([1., 1.])\n")
    assert answer.err.endswith("\n  cell 4, line 3: x.backward()\n")


@pytest.mark.parametrize("words", [("grad",), ("grad", "-f")])
def test_the_cells_of_a_notebook_are_explained(cli, tmp_path, words):
    cells = ["import torch\n%matplotlib inline", "x = torch.tensor([1., 2.], requires_grad=True)", "%%bash\nls",
             "(x**2).sum().backward()"]  # fmt: skip
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}), encoding="utf-8")
    assert cli(*words, str(path)).out == "2,4\n"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": 3}', '{"cells": [1]}', '{"worksheets": []}', "[" * 5000])
def test_what_is_no_notebook_is_refused(cli, tmp_path, text):
    path = tmp_path / "a.ipynb"
    path.write_text(text, encoding="utf-8")
    answer = cli("run", str(path))
    assert (answer.code, answer.out) == (2, "")
    assert "is no notebook" in answer.err


@pytest.mark.parametrize("end", ["lf", "crlf", "bom"])
def test_lines_end_and_files_begin_as_on_other_machines(cli, tmp_path, end):
    path = tmp_path / "a.py"
    text = "x = 1\nif x:\n    print(x)\n"
    path.write_bytes({"lf": text, "crlf": text.replace("\n", "\r\n"), "bom": "\ufeff" + text}[end].encode())
    assert cli("run", str(path)).out == "1\n"


def test_a_line_is_there_as_soon_as_it_is_printed_on_a_terminal(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("print('a')\n1/0\n", encoding="utf-8")
    code, seen = on_terminal("run", str(path))
    assert (code, seen) == (1, "a\nZeroDivisionError: division by zero\n  line 2: 1/0\n")


def test_it_imports_neither_sympy_nor_the_rooms_of_explanations(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(f"{LEAF}(x**2).sum().backward()\nprint(x.grad)\n", encoding="utf-8")
    modules = imported("run", str(path))
    assert "gradcli.runner.script" in modules
    unneeded = (
        "sympy",
        "mpmath",
        "rich",
        *(f"gradcli.{room}" for room in ("explanation", "render", "formulas", "jacobian")),
    )
    assert [name for name in sorted(modules) if name.startswith(unneeded)] == []
