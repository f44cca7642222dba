"""Scripts of libraries leave what was recorded of them: functions of functions, hooks, writes in place, names, errors.

``torch_details.jsonl`` has a script for each class of what PyTorch leaves in detail, ``transform_scripts.jsonl`` those
of PyTorch, JAX and autograd whose functions take functions, ``array_scripts.jsonl`` what functions of arrays give, by
types of numbers: their values, and the slopes of JAX's. ``python tests/script_recorder.py FILE`` records them anew.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from docs.make_torch_names import NAMES

from gradcli.runner.script import run_script
from oracles import needs_torch, portion
from script_comparison import DATA, calls_fault, jax_fault, rows_of, text_fault

HOME = Path(__file__).parents[2]
DETAILS = [pytest.param(row, id=row["id"]) for row in rows_of(DATA / "torch_details.jsonl")]
TRANSFORMS, ARRAYS = (
    [pytest.param(row, id=row["id"]) for row in rows_of(DATA / f"{name}_scripts.jsonl")]
    for name in ("transform", "array")
)


def plain(array):
    return array.tolist() if hasattr(array, "tolist") else array


def event_of(event):
    """Return an event as the document of a script has it."""
    named = {name: plain(grad) for name, grad in event.grad.items()}
    return {"kind": event.kind, "line": event.line, "grad": named, "returns": [plain(g) for g in event.returns or ()]}


@pytest.mark.parametrize("row", [*DETAILS, *portion(TRANSFORMS, 2), *portion(ARRAYS, 3)])
def test_a_script_leaves_what_was_recorded(row):
    printed = []
    ended = run_script(row["source"], emit=printed.append)
    assert ended.refused is None, ended.refused.diagnostic()
    assert text_fault("".join(printed), row["stdout"]) is None
    raised = ended.raised and {"line": ended.raised.line, "type": ended.raised.name, "text": ended.raised.text}
    assert raised == (row["error"] and {key: row["error"][key] for key in ("line", "type", "text")})
    events = [event_of(event) for event in ended.run.log.events if event.kind in ("backward", "grad")]
    if row["calls"]:
        assert calls_fault(events, row["calls"]) is None
    if row.get("jax_calls"):
        assert jax_fault(events, row["jax_calls"]) is None


@needs_torch
@pytest.mark.parametrize("row", DETAILS[::9])
def test_the_record_is_what_pytorch_does(row):
    from script_recorder import changes, recorded

    assert changes(row, recorded(row)) == []


@needs_torch
def test_the_names_are_those_that_pytorch_has():
    words = [sys.executable, "-m", "docs.make_torch_names", "-"]  # what was imported before adds names
    made = subprocess.run(words, cwd=HOME, capture_output=True, check=True).stdout
    assert NAMES.read_bytes() == made, "run python docs/make_torch_names.py"
