"""What PyTorch leaves in detail, by class: writes in place and views, versions, types of results, errors, names, hooks.

``tests/data/torch_details.jsonl`` has one script for each class with what ``script_recorder.py`` recorded of it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from docs.make_torch_names import NAMES

from gradcli.runner.script import run_script
from oracles import needs_torch
from script_comparison import DATA, calls_fault, rows_of, text_fault

HOME = Path(__file__).parents[2]
ROWS = [pytest.param(row, id=row["id"]) for row in rows_of(DATA / "torch_details.jsonl")]


def event_of(event):
    """Return an event as the document of a script has it."""
    named = {name: None if grad is None else grad.tolist() for name, grad in event.grad.items()}
    returns = [None if grad is None else grad.tolist() for grad in event.returns or ()]
    return {"kind": event.kind, "line": event.line, "grad": named, "returns": returns}


@pytest.mark.parametrize("row", ROWS)
def test_a_class_is_as_pytorch_leaves_it(row):
    printed = []
    ended = run_script(row["source"], emit=printed.append)
    assert ended.refused is None
    assert text_fault("".join(printed), row["stdout"]) is None
    raised = ended.raised and {"type": ended.raised.name, "text": ended.raised.text}
    assert raised == (row["error"] and {key: row["error"][key] for key in ("type", "text")})
    assert calls_fault([event_of(event) for event in ended.run.log.events], row["calls"]) is None


@needs_torch
@pytest.mark.parametrize("row", ROWS[::9])
def test_the_record_is_what_pytorch_does(row):
    from script_recorder import changes, recorded

    assert changes(row, recorded(row)) == []


def test_every_class_has_its_script():
    assert len({parameter.id for parameter in ROWS}) == len(ROWS) >= 28


@needs_torch
def test_the_names_are_those_that_pytorch_has():
    words = [sys.executable, "-m", "docs.make_torch_names", "-"]  # what was imported before adds names
    made = subprocess.run(words, cwd=HOME, capture_output=True, check=True).stdout
    assert NAMES.read_bytes() == made, "run python docs/make_torch_names.py"
