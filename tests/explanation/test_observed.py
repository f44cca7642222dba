"""The answer of a script's call is what the call added, as PyTorch 2.13 has it; what came past the record is told."""

import json

import pytest

import gradcli
from oracles import cases

TABLES = cases("observed.toml")

LEAF = "import torch, copy\nx = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor(3., requires_grad=True)\n"
CLAMP = """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g): return g.clamp(-1, 1)
"""
ANSWERS = [
    ("a copy is a constant", "c = copy.deepcopy(w)\nc.requires_grad_(False)\n(3*w - 5*c).backward()", {"w": 3.0},
     set()),
    ("several roots", "torch.autograd.backward([(x*w).sum(), w**2])", {"x": [3.0, 3.0], "w": 9.0}, set()),
    ("roots with v", "torch.autograd.backward([x*w, w**2], [torch.tensor([1., 10.]), torch.tensor(2.)])",
     {"x": [3.0, 30.0], "w": 33.0}, set()),
    ("inputs= of leaves", "(x*w).sum().backward(inputs=[w])", {"w": 3.0}, set()),
    ("inputs= of an inner value", "h = x*w\n(h**2).sum().backward(inputs=[h])", {"h": [6.0, 12.0]}, set()),
    ("grad by an inner value", "h = x*w\ng = torch.autograd.grad((h**2).sum(), h)", {"h": [6.0, 12.0]}, set()),
    ("a hook of a leaf", "x.register_hook(lambda g: g*10)\n(x**2).sum().backward()", {"x": [20.0, 40.0]}, {"hook"}),
    ("a hook of an inner value", "h = x*w\nh.register_hook(lambda g: g*2)\nh.sum().backward()",
     {"x": [6.0, 6.0], "w": 6.0}, {"hook"}),
    ("one hook of two leaves",
     "def double(g): return g*2\nfor p in (x, w):\n    p.register_hook(double)\n(x*w).sum().backward()",
     {"x": [6.0, 6.0], "w": 6.0}, {"hook"}),
    ("a hook that only looks", "seen = []\nx.register_hook(lambda g: seen.append(g))\n(x**2).sum().backward()",
     {"x": [2.0, 4.0]}, set()),
    ("a hook that clips", "x.register_hook(lambda g: g.clamp(max=3))\n(x**2).sum().backward()", {"x": [2.0, 3.0]},
     {"hook"}),
    ("a backward that is not linear", CLAMP + "(3*Clamp.apply(x)).sum().backward()", {"x": [1.0, 1.0]},
     {"custom-backward"}),
    ("a write past the record", "y = (w*x).sum()\nw.data.fill_(10.)\ny.backward()", {"x": [10.0, 10.0], "w": 3.0},
     {"past-the-record"}),
    ("a gradient penalty through tanh",
     "g, = torch.autograd.grad(torch.tanh(x*w).sum(), x, create_graph=True)\n((g.norm() - 1)**2).backward()", None,
     set()),
    ("a leaf written by a view", "with torch.no_grad():\n    x.view(-1)[0] = 5.\n(x**2).sum().backward()",
     {"x": [10.0, 4.0]}, set()),
    ("an error that is caught", "try:\n    torch.ones(3) + x\nexcept RuntimeError:\n    pass\n(x*x).sum().backward()",
     {"x": [2.0, 4.0]}, set()),
    ("a call that failed", "y = w*w\ny.backward()\ntry:\n    for i in range(2):\n        y.backward()\n"
     "except RuntimeError:\n    pass\n(x*5).sum().backward()", {"x": [5.0, 5.0]}, set()),
    ("a call after another", "(x**2).sum().backward()\n(x*3).sum().backward()", {"x": [3.0, 3.0]}, {"accumulated"}),
]  # fmt: skip
KINDS = {"accumulated", "hook", "custom-backward", "past-the-record", "digits-lost", "differ", "unclear"}


@pytest.mark.parametrize(("text", "grad", "kinds"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_an_answer_is_what_the_call_added(text, grad, kinds):
    answer = gradcli.explain(LEAF + text)
    assert {note.kind for note in answer.notes} & KINDS == kinds
    assert answer.verdict == ("differ" if "past-the-record" in kinds else "agree")
    if grad is not None:
        assert {name: g.tolist() for name, g in answer.grad.items()} == grad


def test_a_gradient_penalty_is_read_back():
    assert gradcli.check(LEAF + ANSWERS[-1][1]).agree


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
