"""Recorded scripts: what they print, each derivative call and the error, as PyTorch, NumPy and JAX left them."""

import json

import pytest

from oracles import cases, portion
from script_comparison import DATA, Outcome, calls_fault, outcome_of, rows_of, text_fault, verdict_of

TABLES = cases("recorded_scripts.toml")

FILES = ("scripts.jsonl", "more_scripts.jsonl", "long_scripts.jsonl", "generated_scripts.jsonl")
SHORT = {
    "printing-fstrings": "complex numbers are refused",
    "errors-python_ones": "explain asks for the value of a name that only a lambda reads; run does not",
    "jax_training": "a slope that is 0 but for float32's rounding, by whose sign Adam moves",
}
"""Scripts whose record is not reached, and why: each fails, and is to be taken out of here where it no longer does."""
ROWS = [pytest.param(row, id=row["id"]) for name in FILES for row in rows_of(DATA / name)]
RUNS = [
    pytest.param(
        row,
        id=row["id"],
        marks=[
            *([pytest.mark.xfail(reason=SHORT[row["id"]])] if row["id"] in SHORT else []),
            *([pytest.mark.long] if row["id"].startswith("long-") else []),
        ],
    )
    for name in FILES
    for row in rows_of(DATA / name)
]


@pytest.mark.parametrize("row", portion(RUNS, 4))
def test_a_script_leaves_what_was_recorded(row):
    verdict = verdict_of(row, outcome_of(row))
    assert not verdict.faults, "\n".join([*verdict.faults, verdict.refusal])


def document_of(row):
    """Return what ``explain`` says of a script that gradcli runs as PyTorch does."""
    events = [
        call | ({"returns": call["grads"]} if call["kind"] == "grad" else {"grad": named_grads(call)})
        for call in row["calls"] or row.get("jax_calls", [])
    ]
    return {"events": events, "explained": len(events) - 1}


def named_grads(call):
    return {
        name or str(place): grad for place, (name, grad) in enumerate(zip(call["names"], call["grads"], strict=True))
    }


def perfect(row):
    error = row["error"]
    said = f"{error['type']}: {error['text']}" if error else ""
    code = 1 if error else row.get("exit", 0)
    has_calls = row["calls"] or row.get("jax_calls")
    return Outcome(code, row["stdout"], said, code if has_calls else None, document_of(row), said)


SPOILED = [
    (lambda row, outcome: setattr(outcome, "stdout", outcome.stdout + "more\n"), "printed lines"),
    (lambda row, outcome: setattr(outcome, "code", 0 if row["error"] else 1), "run exits with"),
    (lambda row, outcome: outcome.document["events"].pop(), "derivative calls for"),
    (lambda row, outcome: outcome.document["events"][0].update(line=999), "in line 999"),
    (lambda row, outcome: outcome.document.update(explained=None), "explained is None"),
    (lambda row, outcome: setattr(outcome, "explained", 2), "explain exits with 2"),
    (lambda row, outcome: setattr(outcome, "said", "Traceback (most recent call last)"), "a traceback"),
]


@pytest.mark.parametrize(("spoil", "words"), SPOILED, ids=[words for _, words in SPOILED])
def test_what_is_spoiled_is_faulted(spoil, words):
    row = next(parameter.values[0] for parameter in ROWS if len(parameter.values[0]["calls"]) > 1)
    outcome = perfect(row)
    spoil(row, outcome)
    assert words in "; ".join(verdict_of(row, outcome).faults)


TEXTS = TABLES["TEXTS"]


@pytest.mark.parametrize(("got", "want", "same"), TEXTS)
def test_printed_lines_are_compared_by_words_and_floats(got, want, same):
    assert (text_fault(got, want) is None) is same


def test_a_wrong_gradient_is_named():
    call = {"line": 3, "kind": "backward", "grads": [[1.0, 2.0]], "names": ["x"]}
    event = {"line": 3, "kind": "backward", "grad": {"x": [1.0, 2.5]}}
    assert (
        calls_fault([event], [call]) == f"line 3: x.grad is {json.dumps([1.0, 2.5])} and not {json.dumps([1.0, 2.0])}"
    )
