"""``gradcli check``: one line and an exit code."""

import io
import shlex

import numpy as np
import pytest

from oracles import cases, strict_json

TABLES = cases("check_command.json")

EXAMPLE = "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]"
LINES = TABLES["LINES"]


@pytest.mark.parametrize("name", LINES)
def test_lines(cli, snapshot, name):
    answer = cli("check", *LINES[name])
    assert answer.snapshot == snapshot
    lines = 1 if answer.code != 2 or "--json" in answer.args else 0
    assert answer.out.count("\n") == lines + (name == "wrong at a sample")  # and the command that shows it again


CODES = [("agrees", 0), ("kink", 0), ("wrong factor", 1), ("untaken branch", 1), ("wrong shape", 1), ("not finite", 3),
         ("value not finite", 3)]  # fmt: skip


@pytest.mark.parametrize(("name", "code"), CODES)
def test_exit_codes(cli, name, code):
    assert cli("check", *LINES[name]).code == code
    quiet = cli("check", *LINES[name], "-q")
    assert quiet.code == code
    assert quiet.out == ""


FILES = {
    "j.npy": lambda: saved(np.save, np.diag([3.0, 12.0])),
    "j.npz": lambda: saved(np.savez, np.diag([3.0, 12.0])),
    "j.json": lambda: b"[[3, 0], [0, 12]]",
    "j.csv": lambda: b"a,b\n3,0\n0,12\n",
    "j.txt": lambda: b"3 0\n0 12\n",
    "formula.txt": lambda: b"3*x**2\n",
    "formula.py": lambda: b"h = 3*x\nh*x\n",
    "formula": lambda: b"3*x**2",
}


def saved(save, array):
    stream = io.BytesIO()
    save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("prefix", ["", "x="])
def test_files(cli, tmp_path, name, prefix):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    assert cli("check", "x**3", "--x", "1,2", "--expect", f"{prefix}@{path}").code == 0
    assert cli("check", "x**4", "--x", "1,2", "--expect", f"{prefix}@{path}").code == 1


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"[[1, 2], [3]]"])
@pytest.mark.parametrize("suffix", [".json", ".txt", ".npy"])
def test_files_that_cannot_be_read(cli, tmp_path, content, suffix):
    path = tmp_path / f"j{suffix}"
    path.write_bytes(content)
    answer = cli("check", "x**3", "--x", "1,2", "--expect", f"@{path}")
    assert answer.code == 2
    assert answer.err.startswith("error: ")


SOFTMAX = ("p = softmax(z, 0)\nloss = -log(p[0])\nloss*c", "--z", "2,1,0.1", "--c", "3")
OUTPUTS = TABLES["OUTPUTS"]  # what stands on the command line after the program, the exit code, what is said


@pytest.mark.parametrize(("options", "code", "says"), OUTPUTS)
def test_a_name_of_a_formula_is_the_output(cli, options, code, says):
    answer = cli("check", *SOFTMAX, *options)
    assert answer.code == code, answer.err
    assert says in answer.out + answer.err
    if options[:2] == ("--of", "p"):
        assert cli("grad", *SOFTMAX, "--of", "p", "--v", "1,1,1").code == 0
        assert "J = " in cli("explain", *SOFTMAX, "--of", "p", "--v", "1,1,1").out


DRAWN = """import torch
x = torch.randn(3, requires_grad=True)
(x**2).sum().backward()
for k in range(3):
    y = (x**3).sum() * (k + 1)
    y.backward()
h = 4 * x
"""
CALLS = [  # options of both commands, whether their inputs are those of --seed 0
    (("--at", "3"), True), (("--at", "6", "--turn", "2"), True), (("--of", "y", "--wrt", "x"), True),
    (("--at", "3", "--seed", "7"), False), (("--of", "h", "--wrt", "x", "--seed", "7"), False),
]  # fmt: skip


@pytest.mark.parametrize(("options", "first"), CALLS)
def test_the_call_of_a_script_is_chosen_as_explain_chooses_it(cli, tmp_path, options, first):
    path = tmp_path / "drawn.py"
    path.write_text(DRAWN)
    more = ("--v", "1,1,1") if "h" in options else ()
    found = strict_json(cli("check", str(path), *options, *more, "--json").out)
    same = strict_json(cli("explain", str(path), *options, *more, "--json").out)
    assert found["inputs"]["x"]["value"] == same["inputs"]["x"]["value"]
    zero = strict_json(cli("check", str(path), "--at", "3", "--json").out)["inputs"]["x"]["value"]
    assert (found["inputs"]["x"]["value"] == zero) is first


def test_points_and_draws_may_have_seeds_of_their_own(cli, tmp_path):
    path = tmp_path / "drawn.py"
    path.write_text(DRAWN)
    found = [
        strict_json(cli("check", str(path), "--at", "3", *more, "--samples", "2", "--json").out)
        for more in (("--seed", "7"), ("--seed", "7", "--draw-seed", "0"), ("--draw-seed", "7"))
    ]
    assert [one["check"]["seed"] for one in found] == [7, 7, 0]
    values = [one["inputs"]["x"]["value"] for one in found]
    assert values[0] == values[2] != values[1]


STANDARDS = TABLES["STANDARDS"]  # options, the exit code, what is said


@pytest.mark.parametrize(("options", "code", "says"), STANDARDS)
def test_digits_and_tolerance(cli, options, code, says):
    answer = cli("check", "x**2", "--x", "3", *options)
    assert answer.code == code
    assert says in answer.out + answer.err
    assert code != 2 or answer.err.count("error: ") == 1


@pytest.mark.parametrize(("dtype", "factor", "code"), [
    ("float32", 1 + 1e-6, 0), ("float32", 1 + 1e-4, 1), ("float16", 1 + 1e-3, 0), ("float64", 1 + 1e-6, 1),
])  # fmt: skip
@pytest.mark.parametrize("save", [np.save, np.savez])
def test_an_array_in_a_file_is_held_to_the_digits_of_its_type(cli, tmp_path, dtype, factor, code, save):
    path = tmp_path / ("g.npy" if save is np.save else "g.npz")
    path.write_bytes(saved(save, (np.array([3.0, 12.0]) * factor).astype(dtype)))
    answer = cli("check", "sum(x**3)", "--x", "1,2", "--expect", f"@{path}")
    assert answer.code == code
    assert (f"(held to the digits of {dtype})" in answer.out) is (dtype != "float64")


@pytest.mark.parametrize(("expect", "code"), [
    (("x=@g.npz", "c=@g.npz"), 0), (("x=@g.npz:x",), 0), (("c=@g.npz:dc",), 0), (("x=@g.npz:c",), 1),
    (("x=@g.npz:y",), 2), (("x=@d.json:x",), 0),
])  # fmt: skip
def test_an_archive_has_the_array_of_each_variable(cli, tmp_path, monkeypatch, expect, code):
    monkeypatch.chdir(tmp_path)
    np.savez("g.npz", x=np.array([6.0, 24.0]), c=np.float32(9), dc=9)
    (tmp_path / "d.json").write_text('{"x": [6, 24]}')
    words = [word for one in expect for word in ("--expect", one)]
    assert cli("check", "sum(x**3)*c", "--x", "1,2", "--c", "2", *words).code == code


def test_the_answer_goes_to_a_file(cli, tmp_path):
    path = tmp_path / "check.json"
    answer = cli("check", "x**2", "--x", "3", "-o", str(path))
    assert (answer.code, answer.out) == (0, "")
    assert strict_json(path.read_text())["check"]["agree"] is True


def test_a_failing_sample_can_be_pasted_back(cli):
    said = cli("check", "abs(x)", "--x", "1,2", "--expect", "x**0", "--samples", "5").out
    _, command = said.splitlines()
    assert "--samples" not in command
    assert cli(*shlex.split(command)[1:]).code == 1


def test_an_array_is_called_by_the_name_of_its_file(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("grad_x.npy", np.array([6.0, 25.0]))
    (tmp_path / "f.py").write_text("import numpy as np\nx = np.array([3.0, 4.0])\nloss = np.sum(x**3)\n")
    answer = cli("check", "sum(x**3)", "--x", "3,4", "--expect", "@grad_x.npy")
    assert "dy/dx[0] is 6.0 by grad_x.npy and truly 27.0" in answer.out
    answer = cli("check", "f.py", "--of", "loss", "--expect", "x=@grad_x.npy")
    assert "dloss/dx[0] is 6.0 by grad_x.npy and truly 27.0" in answer.out


@pytest.mark.parametrize(("words", "code"), TABLES["the_word_of_the_last_line_is_that_of_the_exit_code"])
def test_the_word_of_the_last_line_is_that_of_the_exit_code(cli, words, code):
    answer = cli("check", *words)
    assert answer.code == code
    assert answer.out.splitlines()[-1].startswith({3: "not finite: ", 4: "unclear: "}[code])
