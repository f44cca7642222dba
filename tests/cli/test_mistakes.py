"""Mistakes of the first five minutes: each with what is said of it, and the way out."""

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from gradcli.errors import Budget
from gradcli.language.values import read_value
from oracles import cases

TABLES = cases("mistakes.json")

FILES = TABLES["FILES"]
CHARACTER = "the program may hold ASCII characters only, not "
ROWS = TABLES["ROWS"]


@pytest.mark.parametrize(("line", "message", "hint"), ROWS, ids=[row[0] for row in ROWS])
def test_a_mistake_is_named_with_the_way_out(cli, tmp_path, monkeypatch, line, message, hint):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    answer = cli(*shlex.split(line))
    said = [text for text in answer.err.splitlines() if text.startswith(("error: ", "help: "))]
    assert (answer.code, said) == (2, [f"error: {message}", *([f"help: {hint}"] if hint else [])])


@pytest.mark.parametrize("name", ["pretty.json", "array.json", "table.csv"])
def test_the_command_that_a_hint_gives_makes_records(cli, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    hint = cli("batch", name).err.partition("help: ")[2].strip()
    command = re.fullmatch(r"make it .*?: python (.*?)(?:< )?FILE", hint)[1]
    words = [*shlex.split(command), *([name] if "json.tool" in command else [])]
    made = subprocess.run([sys.executable, *words], input=FILES[name], capture_output=True, check=True, text=True)
    answer = cli("batch", "-", "--only", "grad", stdin=made.stdout)
    assert [json.loads(line)["grad"] for line in answer.out.splitlines()] == [{"x": 6.0}]


READ = TABLES["READ"]  # files and how they are named, with what is read


@pytest.mark.parametrize(("given", "wanted"), READ.items())
def test_a_file_is_read_by_its_suffix_and_key(cli, tmp_path, monkeypatch, given, wanted):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    files = {**FILES, "t.tsv": "1\t2\n3\t4\n", "one.csv": "5\n", "home.json": "[7, 8]"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    answer = cli("grad", "sum(x**2)", "--x", given)
    assert answer.code == 0
    np.testing.assert_array_equal(read_value(answer.out.strip(), "x", Budget()), 2 * np.array(wanted))
