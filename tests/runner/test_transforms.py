"""Functions of functions, backward passes that scripts write, and hooks: recorded scripts of PyTorch, JAX and autograd.

``python tests/script_recorder.py tests/data/transform_scripts.jsonl`` records them anew.
"""

from __future__ import annotations

import pytest

from gradcli.runner.script import run_script
from oracles import portion
from script_comparison import DATA, calls_fault, jax_fault, rows_of, text_fault

ROWS = [pytest.param(row, id=row["id"]) for row in rows_of(DATA / "transform_scripts.jsonl")]


def events_of(ended):
    """Return the derivative calls of a run as a document has them."""
    return [
        {
            "kind": event.kind,
            "line": event.line,
            "grad": as_lists(event.grad),
            "returns": [plain(g) for g in event.returns],
        }
        for event in ended.run.log.events
        if event.kind in ("backward", "grad")
    ]


def as_lists(grads):
    return {name: plain(grad) for name, grad in grads.items()}


def plain(array):
    return None if array is None else array.tolist() if hasattr(array, "tolist") else array


@pytest.mark.parametrize("row", portion(ROWS, 2))
def test_a_script_leaves_what_was_recorded(row):
    printed = []
    ended = run_script(row["source"], emit=printed.append)
    assert ended.refused is None, ended.refused.diagnostic()
    assert text_fault("".join(printed), row["stdout"]) is None
    raised = None if ended.raised is None else (ended.raised.line, ended.raised.name, ended.raised.text)
    assert raised == (
        None if row["error"] is None else (row["error"]["line"], row["error"]["type"], row["error"]["text"])
    )
    if row["calls"]:
        assert calls_fault(events_of(ended), row["calls"]) is None
    if row.get("jax_calls"):
        assert jax_fault(events_of(ended), row["jax_calls"]) is None
