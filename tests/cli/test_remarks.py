"""What a run remarks: shown by every voice, and refused by ``--strict``."""

import json

import pytest

from gradcli import answer
from oracles import ask

MASKED, WRITTEN = "sum((1 - (x > 0))*x)", "a = exp(x)\na[0] = 5\nsum(a)"
CASES = [(MASKED, "numpy-only"), (WRITTEN, "torch-refuses"), ("sum(x//2*x)", "torch-refuses"),
         ("x.softmax()[0]", "torch-refuses"), ("2**sum(argmax([x, x], dim=0) - 1)*x[0]", "torch-only")]  # fmt: skip


def note_of(program, kind):
    notes = json.loads(ask("explain", program, "--x", "2,0.5", "--json").out)["notes"]
    [message] = [note["message"] for note in notes if note["kind"] == kind]
    return str(message)


@pytest.mark.parametrize(("program", "kind"), CASES)
def test_every_voice_says_it(program, kind):
    message = note_of(program, kind)
    words = " ".join(message.split()[:4])
    assert words in " ".join(ask("explain", program, "--x", "2,0.5", "--width", "200").out.split())
    assert words in ask("explain", program, "--x", "2,0.5", "--format", "plain").out
    grad = ask("grad", program, "--x", "2,0.5")
    assert f"note: {message}" in grad.err
    assert message not in grad.out
    assert "note" not in ask("grad", program, "--x", "2,0.5", "-q").err
    note = {"kind": kind, "message": message}
    assert note in json.loads(ask("grad", program, "--x", "2,0.5", "--json").out)["notes"]
    for symbolic in (True, False):
        found = answer({"program": program, "inputs": {"x": [2, 0.5]}}, symbolic=symbolic)
        assert note in found["notes"]


@pytest.mark.parametrize(("program", "kind"), CASES)
@pytest.mark.parametrize("command", ["explain", "grad"])
def test_strict_refuses_it_at_its_place(command, program, kind):
    found = ask(command, program, "--x", "2,0.5", "--strict", "--json")
    assert found.code == 2
    error = json.loads(found.out)["error"]
    assert error["kind"] == kind
    assert error["span"] is not None
    assert answer({"program": program, "inputs": {"x": [2, 0.5]}, "strict": True})["error"]["kind"] == kind


def test_a_run_without_remarks_has_no_notes_in_its_gradient():
    assert json.loads(ask("grad", "sum(x**2)", "--x", "2,0.5", "--json").out)["notes"] == []


@pytest.mark.parametrize("words", [("check",), ("grad", "--confirm")], ids=" ".join)
def test_a_note_on_several_numbers_can_be_shown_everywhere(words):
    found = ask(words[0], "sum((S // 2 - S) % S)", "--S", "2,0.3,-0.5", *words[1:])
    assert "Rounding decides -0.29999999999999999 % 0.29999999999999999 in entry [1]" in found.err
    assert found.err.isascii()
