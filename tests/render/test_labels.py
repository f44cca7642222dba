"""Every voice calls a leaf as the script does; a script to run elsewhere has identifiers."""

import io
import json
from html import unescape

import pytest
from rich.console import Console

import gradcli

SCRIPT = """import torch
params = {"W1": torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)}
ws = [torch.tensor([0.5, 1.0], requires_grad=True)]
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.tensor([0.1, 0.2]))
    def forward(self, h):
        return h + self.bias
net = Net()
x = torch.tensor([1.0, 2.0])
loss = (torch.tanh(net(params["W1"] @ x)) * ws[0]).sum()
loss.backward()
"""
LABELS = {"params__W1__": "params['W1']", "ws_0_": "ws[0]", "net_bias": "net.bias"}


def terminal(answer):
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(answer)
    return console.export_text()


VOICES = {
    "terminal": terminal,
    "plain": str,
    "markdown": lambda answer: answer.to_markdown(),
    "latex": lambda answer: answer.to_latex(),
    "html": lambda answer: unescape(answer._repr_html_()),
    "json": lambda answer: json.dumps(answer.to_dict()),
    "check": lambda answer: json.dumps(gradcli.check(answer.program).to_dict()),
}


@pytest.fixture(scope="module")
def answer():
    return gradcli.explain(SCRIPT)


@pytest.mark.long
@pytest.mark.parametrize("voice", VOICES)
def test_a_leaf_is_called_as_the_script_calls_it(voice, answer):
    said = VOICES[voice](answer).replace("{'}", "'")  # LaTeX
    assert [label for label in LABELS.values() if label not in said] == []
    assert [word for word in LABELS if word in said.replace(r"\_", "_")] == []


def test_a_script_for_elsewhere_defines_identifiers_and_the_arrays_of_the_script(answer):
    lines = answer.to_code("torch").splitlines()
    assert {line.partition(" = ")[0] for line in lines} >= {*LABELS, "x", "loss"}


def test_a_word_that_the_script_has_stays_its_own():
    answer = gradcli.explain(SCRIPT.replace("x = torch", "net_bias = 1\nx = torch"))
    assert answer.labels.keys() == {"params__W1__", "ws_0_"}
    assert "net.bias" not in str(answer).partition("net_bias = ")[2].partition("program")[0]
