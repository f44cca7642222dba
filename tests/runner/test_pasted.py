"""What stands round the code of a paste is taken off, and lines keep their numbers."""

import pytest

from gradcli.runner.reading import script_of_paste
from gradcli.runner.script import run_script
from oracles import cases

TABLES = cases("pasted.json")
PASTES = TABLES["PASTES"]


@pytest.mark.parametrize("name", PASTES)
def test_a_paste_is_run_as_its_code(name):
    text, out, line = PASTES[name]
    printed = []
    ended = run_script(text, emit=printed.append)
    assert ended.refused is None
    assert "".join(printed) == out
    assert ended.raised is not None
    assert (ended.raised.name, ended.raised.line) == ("ZeroDivisionError", line)


@pytest.mark.parametrize("name", PASTES)
def test_lines_keep_their_numbers(name):
    text = PASTES[name][0]
    typed = script_of_paste(text).split("\n")
    assert len(typed) == len(text.split("\n"))


@pytest.mark.parametrize(
    "text", ["```", "```\n```", ">>> ", "In [1]:", "%time", "tensor(", "~~~\n", "\n", "Out[1]:\n1"]
)
def test_what_holds_no_code_is_read_all_the_same(text):
    assert isinstance(script_of_paste(text), str)
