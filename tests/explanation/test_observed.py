"""The answer of a script's call is what the call added, as PyTorch 2.13 has it; what came past the record is told."""

import json

import pytest

import gradcli
from oracles import cases

TABLES = cases("observed.toml")

LEAF = "import torch, copy\nx = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor(3., requires_grad=True)\n"
ANSWERS = TABLES["ANSWERS"]
KINDS = {"accumulated", "hook", "custom-backward", "past-the-record", "digits-lost", "differ", "unclear"}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_what_the_call_added(name):
    row = ANSWERS[name]
    answer, grad, kinds = gradcli.explain(LEAF + row["lines"]), row.get("grad"), set(row["kinds"])
    assert {note.kind for note in answer.notes} & KINDS == kinds
    assert answer.verdict == ("differ" if "past-the-record" in kinds else "agree")
    if grad is not None:
        assert {name: g.tolist() for name, g in answer.grad.items()} == grad


def test_a_gradient_penalty_is_read_back():
    assert gradcli.check(LEAF + ANSWERS["a gradient penalty through tanh"]["lines"]).agree


RUNS = TABLES["RUNS"]


@pytest.mark.parametrize(("text", "printed"), [row[1:] for row in RUNS], ids=[row[0] for row in RUNS])
def test_a_call_finds_its_leaf(text, printed):
    assert gradcli.run(LEAF + text).printed == printed


def test_a_call_for_what_its_output_is_not_computed_from_has_the_gradient_0():
    answer = gradcli.explain(LEAF + "(x*x).sum().backward(inputs=[w])")
    assert {name: g.tolist() for name, g in answer.grad.items()} == {"w": 0.0}
    assert any("does not depend on w" in note.message for note in answer.notes)


OF = TABLES["OF"]


@pytest.mark.parametrize(("script", "name", "grad"), [row[1:] for row in OF], ids=[row[0] for row in OF])
def test_an_input_is_meant_as_the_output_was_computed_from_it(cli, tmp_path, script, name, grad):
    path = tmp_path / "a.py"
    path.write_text(script, encoding="utf-8")
    answer = json.loads(cli("explain", str(path), "--of", "loss", "--wrt", name, "--json").out)
    assert answer["grad"] == {name: grad}
    assert "events" in answer


def test_a_jvp_is_answered_with_the_product_along_its_tangent(cli, tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        LEAF + "u = torch.tensor([1., 10.])\nprint(torch.func.jvp(lambda x: x**2, (x,), (u,))[1])", encoding="utf-8"
    )
    answer = json.loads(cli("explain", str(path), "--json").out)
    assert answer["jvp"]["value"] == [2.0, 40.0]
