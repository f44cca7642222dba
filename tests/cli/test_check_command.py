"""``gradcli check``: one line and an exit code."""

from __future__ import annotations

import io
import shlex

import numpy as np
import pytest

from oracles import strict_json

EXAMPLE = "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]"
LINES = {
    "agrees": (EXAMPLE, "--x", "1,2"),
    "samples": (EXAMPLE, "--x", "1,2", "--samples", "10", "--seed", "7"),
    "kink": ("relu(x)", "--x", "1,0,-1"),
    "not finite": ("sqrt(x)", "--x", "0,4"),
    "value not finite": ("log(x)", "--x", "-1"),
    "untaken branch": ("where(x > 0, sqrt(x), x)", "--x", "-4"),
    "expected": ("x**3", "--x", "1,2", "--expect", "3*x**2"),
    "wrong factor": ("x**3", "--x", "1,2", "--expect", "2*x**2"),
    "wrong at a sample": ("abs(x)", "--x", "1", "--expect", "1", "--samples", "9"),
    "wrong gradient": ("W @ x", "--W", "1,2;3,4", "--x", "1,1", "--v", "1,10", "--wrt", "x", "--expect", "W @ v"),
    "which variable": ("W @ x", "--W", "1,2;3,4", "--x", "1,1", "--expect", "W"),
    "wrong shape": ("x**3", "--x", "1,2", "--expect", "3"),
    "wrong formula": ("x**3", "--x", "1,2", "--expect", "3*q**2"),
    "too many samples": ("x", "--x", "1", "--samples", "-1"),
    "bad seed": ("x", "--x", "1", "--seed", "-1"),
    "two vs": ("x", "--x", "1", "--v", "1", "--v", "2"),
    "strict": ("x[None]", "--x", "1,2", "--v", "1,2", "--strict"),
    "json": ("x**2", "--x", "3", "--json"),
    "json wrong": ("x**2", "--x", "3", "--expect", "x", "--json"),
    "json error": ("x**2", "--x", "3", "--expect", "(x", "--json"),
}


@pytest.mark.parametrize("name", LINES)
def test_lines(cli, snapshot, name):
    answer = cli("check", *LINES[name])
    assert answer.snapshot == snapshot
    lines = 1 if answer.code != 2 or "--json" in answer.args else 0
    assert answer.out.count("\n") == lines + (name == "wrong at a sample")  # and the command that shows it again


CODES = [("agrees", 0), ("kink", 0), ("wrong factor", 1), ("untaken branch", 1), ("wrong shape", 2), ("not finite", 3),
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


def test_a_file_that_is_not_there(cli):
    assert "there is no file" in cli("check", "x", "--x", "1", "--expect", "@nowhere.txt").err


def test_the_answer_goes_to_a_file(cli, tmp_path):
    path = tmp_path / "check.json"
    answer = cli("check", "x**2", "--x", "3", "-o", str(path))
    assert (answer.code, answer.out) == (0, "")
    assert strict_json(path.read_text())["check"]["agree"] is True


def test_a_failing_sample_can_be_pasted_back(cli):
    said = cli("check", "abs(x)", "--x", "1,2", "--expect", "[1, 1]", "--samples", "5").out
    _, command = said.splitlines()
    assert "--samples" not in command
    assert cli(*shlex.split(command)[1:]).code == 1
