"""Errors as the user of a shell sees them: one diagnostic, one way out, one exit code."""

import json
import re
from pathlib import Path

import pytest

from conftest import Closed, Faulty, stream
from gradcli.cli.app import run
from gradcli.cli.output import Environment
from oracles import cases, portion

TABLES = cases("errors.toml")

CASES = TABLES["CASES"]

AS_JSON = ("missing-v", "missing-inputs", "unknown-input", "unknown-function", "shape-mismatch", "v-mismatch",
           "budget-turns", "file-missing", "usage-typo", "value")  # fmt: skip


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_an_error_is_one_diagnostic(cli, snapshot, name):
    answer = cli("explain", *CASES[name])
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert all(len(line) <= 200 for line in answer.err.splitlines())
    assert answer.snapshot == snapshot


@pytest.mark.parametrize("name", AS_JSON)
def test_an_error_is_a_document_too_where_json_is_asked_for(cli, snapshot, name):
    plain, answer = cli("explain", *CASES[name]), cli("explain", *CASES[name], "--json")
    assert answer.code == 2
    assert answer.err == plain.err
    document = json.loads(answer.out)
    assert document["schema"] == 1
    assert document["error"]["message"] in answer.err
    assert answer.snapshot == snapshot


@pytest.mark.parametrize("flags", [["--json"], ["--format", "json"], ["--format=json"], ["-F", "json"], ["-Fjson"]])
def test_every_way_to_ask_for_json_gives_a_document(cli, flags):
    answer = cli("explain", "sinn(x)", "--x", "1", *flags)
    assert (answer.code, json.loads(answer.out)["error"]["kind"]) == (2, "unknown-function")


def test_the_span_counts_characters_of_the_program(cli):
    document = json.loads(cli("explain", "3*x + sinn(x)", "--x", "1", "--json").out)
    assert document["error"]["span"] == [6, 10]


def test_the_words_of_an_error_are_those_of_the_user(cli):
    """No class name of a library, and no name that the user did not write."""
    assert "Input should be" not in cli("explain", *CASES["usage-width"]).err
    assert "a + b" not in cli("explain", *CASES["shape-mismatch"]).err
    assert "--theta" in cli("explain", *CASES["missing-input-with-a-near-name"]).err


@pytest.mark.parametrize("command", ["explain", "grad"])
def test_both_commands_complain_alike(cli, command):
    for case in CASES.values():
        told = cli(command, *case)
        assert told.code == 2, case
        assert told.err.startswith("error: "), case


def test_a_fault_of_gradcli_is_an_apology_and_no_traceback(cli):
    fault = Faulty(ZeroDivisionError("inside"))
    answer = cli("explain", "-", "--x", "1", stdin=fault)
    assert answer.code == 70
    assert "Traceback" not in answer.err
    assert "fault of gradcli" in answer.err
    with pytest.raises(ZeroDivisionError):
        cli("explain", "-", "--x", "1", "--debug", stdin=fault)


def test_an_interrupt_ends_with_130_and_a_closed_pipe_with_0(cli):
    assert cli("explain", "-", "--x", "1", stdin=Faulty(KeyboardInterrupt())).code == 130
    assert run(["explain", "x", "--x", "1"], Environment(stdout=Closed(), stderr=stream())) == 0


ROWS = [json.loads(line) for line in (Path(__file__).parents[1] / "data" / "bad_inputs.jsonl").read_text().splitlines()]
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ud800-\udfff\ufeff]")


@pytest.mark.parametrize("row", portion(ROWS, 6), ids=lambda row: str(row["id"]))
def test_the_corpus_of_bad_input_ends_as_it_should(cli, row):
    answer = cli(*row["args"], stdin=row["stdin"] or "")
    assert (answer.code == 0) is (row["expect"] == "ok"), row["why"]
    assert answer.code != 70
    assert "Traceback" not in answer.err
    if row["expect"] == "error":
        assert answer.err.strip()
    assert not CONTROL.search(answer.out + answer.err)
    assert list(Path().iterdir()) == []
