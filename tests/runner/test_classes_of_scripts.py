"""Scripts by class - lists, second names, memory, effects, layers - and what people paste: as PyTorch leaves them.

``tests/data/classes_of_scripts.jsonl`` has them with what ``script_recorder.py`` recorded of each, in doubles where the
library has them: what is printed, the gradients of each derivative call, the error that ends it.
"""

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import cases, needs_torch, numbers, portion
from script_comparison import DATA, Outcome, outcome_of, rows_of, text_fault, verdict_of

TABLES = cases("classes_of_scripts.toml")

ROWS = [pytest.param(row, id=row["id"]) for row in rows_of(DATA / "classes_of_scripts.jsonl")]
EXPLAINED = [parameter for parameter in ROWS if parameter.values[0]["calls"] and not parameter.values[0]["error"]]
CLOSE = {"rtol": 1e-12, "atol": 1e-15}


def test_every_class_has_its_scripts():
    classes = {parameter.id.rpartition(" ")[0].partition(":")[0] for parameter in ROWS}
    wanted = ("lists", "second names", "one list", "joined lists", "comprehensions", "memory", "no_grad", "effects")
    assert classes >= {*wanted, "layers"}
    assert len(ROWS) >= 750


@pytest.mark.parametrize("row", ROWS)
def test_a_script_runs_as_it_was_recorded(row):
    ran = gradcli.run(row["source"])
    assert text_fault(ran.printed, row["stdout"]) is None
    error = row["error"]
    assert ran.error == (error and f"{error['type']}: {error['text']}")
    close = CLOSE if "float64" in row["source"] else {"rtol": 2e-6, "atol": 1e-7}  # of what is float32 alone
    for event, call in zip(ran.calls, row["calls"], strict=not row.get("jax_calls")):
        assert (event.kind, event.line) == (call["kind"], call["line"])
        assert_left(event, call, close)


def assert_left(event, call, close):
    """Raise AssertionError unless an event has the gradients of a recorded call."""
    if event.kind == "grad":
        for got, want in zip(event.returns, call["grads"], strict=True):
            assert (got is None) == (want is None)
            if want is not None:
                np.testing.assert_allclose(np.asarray(got), numbers(want), **close)
        return
    wanted = [(name, want) for name, want in zip(call["names"], call["grads"], strict=True) if name]
    for name, want in wanted:
        got = next(grad for key, grad in event.grad.items() if key == name or len(wanted) == len(event.grad) == 1)
        np.testing.assert_allclose(got, numbers(want), err_msg=name, **close)


@pytest.mark.parametrize("row", portion(EXPLAINED, 5))
def test_the_answer_of_a_script_is_that_of_its_call(row):
    assert not verdict_of(row, outcome_of(row)).faults


@pytest.mark.long
@pytest.mark.parametrize("row", portion(EXPLAINED, 25))
def test_a_script_is_right_in_many_digits(row):
    assert gradcli.check(row["source"]).agree


@needs_torch
@pytest.mark.parametrize("row", portion(ROWS, 25))
def test_the_record_is_what_pytorch_does(row):
    from script_recorder import changes, recorded

    assert ">>>" in row["source"] or "%" in row["source"][:1] or changes(row, recorded(row)) == []


REFUSED = TABLES["REFUSED"]  # what would run a text, or reach out of the script


@pytest.mark.parametrize(("line", "words"), REFUSED.items())
def test_what_reaches_out_of_a_script_is_refused_where_it_stands(line, words):
    text = f"import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = x*2\n{line}\ny.sum().backward()"
    for ask in (gradcli.run, gradcli.explain):
        with pytest.raises(GradcliError, match=words) as caught:
            ask(text)
        assert caught.value.kind in ("not-allowed", "unknown-name")
        assert text.count("\n", 0, caught.value.span[0]) == 3


def test_an_outcome_that_is_otherwise_is_a_fault():
    row = ROWS[0].values[0]
    assert verdict_of(row, Outcome(1, "", "")).faults
