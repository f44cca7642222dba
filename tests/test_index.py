"""The index of functions says what the code says, and a name loads the one module that has it."""

import subprocess
import sys
from pathlib import Path

import pytest
from docs.make_index import CORE, INDEX

from counting import cold
from gradcli.ops import FUNCTIONS, METHODS, SPELLINGS, load, methods, rows, spellings

HOME = Path(__file__).parent.parent


def test_the_index_is_what_the_code_says():
    words = [sys.executable, "-m", "docs.make_index", "-"]
    made = subprocess.run(words, cwd=HOME, capture_output=True, check=True).stdout
    assert INDEX.read_bytes() == made, "run python docs/make_index.py"


def test_every_name_means_the_same_function():
    assert {name: load(row) for name, row in spellings().items()} == SPELLINGS
    assert {name: load(row) for name, row in methods().items()} == METHODS
    assert [load(row) for row in rows()] == [FUNCTIONS[row.name] for row in rows()]
    assert {row.name for row in rows()} == {*FUNCTIONS}


LOADED = """
import json, sys
from gradcli.ops import METHODS, SPELLINGS, find
before = {*sys.modules}
function = find(METHODS if sys.argv[1].startswith(".") else SPELLINGS, sys.argv[1].lstrip("."))
print(json.dumps([function and function.name, sorted(name for name in sys.modules if "ops.further." in name)]))
"""
FURTHER = sorted({row.module: row for row in rows() if row.module != CORE}.values())


@pytest.mark.parametrize("row", FURTHER[::7], ids=lambda row: row.module.rpartition(".")[2])
def test_a_name_loads_the_module_that_has_it(row):
    name, modules = cold(LOADED, row.spellings[0] if row.spellings else f".{row.methods[0]}")
    assert name == row.name
    assert row.module in modules
    assert len(modules) <= 6


@pytest.mark.parametrize(("name", "function"), [("sin", "sin"), (".sum", "sum"), ("sinn", None), (".summ", None)])
def test_a_name_of_the_core_or_of_nothing_loads_none(name, function):
    assert cold(LOADED, name) == [function, []]


STARTS = [
    (("grad", "sinn(x)", "--x", "1"), 0),
    (("functions",), 0),
    (("functions", "cum"), 0),
    (("functions", "sin"), 0),
    (("grad", "F.smooth_l1_loss(x, 0.5*x)", "--x", "1"), 3),
]
COMMAND = """
import contextlib, io, json, sys
from gradcli.cli.app import run
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    run(sys.argv[1:])
print(json.dumps([name for name in sys.modules if "ops.further." in name]))
"""


@pytest.mark.parametrize(("words", "most"), STARTS, ids=str)
def test_a_command_loads_no_function_that_it_does_not_call(words, most):
    assert len(cold(COMMAND, *words)) <= most
