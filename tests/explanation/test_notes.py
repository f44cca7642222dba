"""What deserves a sentence: each kind of note where it belongs, and silence elsewhere."""

import numpy as np
import pytest

import gradcli
from oracles import ask, cases, flags, portion_of_rows, strict_json

SAID = [
    *cases("notes.json"),
    ("x[0]*ones(9).sum()", {"x": [0.5] * 2005}, None, "unused-input", "on x[1], x[2], x[3] and 2,001 others."),
]  # program, inputs, v, kind, words of the sentence


def explained(program, inputs, v):
    ones = np.ones(gradcli.function(program, wrt=()).value(**inputs).shape) if v == "ones" else v
    return gradcli.explain(program, inputs=inputs, v=ones)


@pytest.mark.parametrize(("program", "inputs", "v", "kind", "words"), SAID)
def test_notes(program, inputs, v, kind, words):
    notes = explained(program, inputs, v).notes
    if kind is None:
        assert notes == []
        return
    found = [note.message for note in notes if note.kind == kind]
    assert any(words in message for message in found), notes


@pytest.mark.parametrize(
    ("program", "inputs", "kind"), portion_of_rows([(p, x, kind) for p, x, v, kind, _ in SAID if kind and v is None], 3)
)
def test_notes_are_in_every_format(program, inputs, kind):
    document = strict_json(ask("explain", program, "--json", *flags(inputs)).out)
    assert kind in [note["kind"] for note in document["notes"]]
    message = next(note["message"] for note in document["notes"] if note["kind"] == kind)
    assert f"note: {message}" in ask("explain", program, "--format", "plain", *flags(inputs)).out
    table = ask("explain", program, "--width", "400", *flags(inputs)).out
    assert message in table
    assert all(len(note["message"]) < 260 for note in document["notes"]), "a sentence, not a page"


@pytest.mark.parametrize("text", ["3", "[1,2]", "1,2;3,4", "-5"])
def test_integers_are_noticed_as_they_are_typed(text):
    assert "given in integers" in ask("explain", "sum(x)", "--x", text).out


@pytest.mark.parametrize("text", ["3.0", "3.", "1e3", "1,2.5", "-0", "9007199254740993", "pi"])
def test_floats_are_floats(text):
    assert "given in integers" not in ask("explain", "sum(x)", "--x", text).out


def test_a_step_of_a_long_program_is_not_written_out():
    program = "y = x\nfor i in range(3000):\n    y = y*1.001\nlog(y - y)"
    [note, *_] = [n for n in gradcli.explain(program, x=1.5).notes if n.kind == "not-finite"]
    assert note.message.startswith("log is the first value")
