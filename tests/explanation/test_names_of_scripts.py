"""Forward and Backward of a script speak its own names: constants, what was computed from them, calls, modules."""

import numpy as np
import pytest

import gradcli
from gradcli.explanation.parts import Value
from gradcli.explanation.rereading import Reader

TORCH = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
NUMPY = "import autograd.numpy as np\nfrom autograd import grad\n"
X = "X = torch.tensor([[0.5, 1.2], [1.5, -0.3], [-1.0, 0.8]])\n"
LOGITS = "z = torch.tensor([[1., 2., 3.], [0., 1., 0.]], requires_grad=True)\n"
PROGRAMS = {  # script, lines of Forward
    "a constant that was computed": (
        f"{TORCH}{X}t = torch.tensor([1., 0., 1.])\nw = torch.tensor([0.1, -0.2], requires_grad=True)\n"
        "p = torch.sigmoid(X @ w)\nloss = -(t*torch.log(p) + (1 - t)*torch.log(1 - p)).mean()\nloss.backward()",
        ["p = sigmoid(X @ w)", "loss = -mean(t*log(p) + (1 - t)*log(1 - p))"],
    ),
    "a constant of NumPy": (
        f"{NUMPY}t = np.array([1., 0., 1.])\ndef f(p):\n    q = p*2\n    return np.sum(t*q + (1 - t)/q)\n"
        "grad(f)(np.array([0.5, 1.0, 2.0]))",
        ["q = p*2", "y = sum(t*q + (1 - t)/q)"],
    ),
    "rows of a constant": (
        f"{TORCH}{X}W = torch.tensor([[0.5, -0.1], [0.2, 0.3]], requires_grad=True)\nh = torch.ones(2)\n"
        "for k in range(2):\n    h = torch.tanh(W @ X[k] + h)\nloss = (h**2).sum()\nloss.backward()",
        ["h1 = tanh(W @ X[0] + h)", "h2 = tanh(W @ X[1] + h1)", "loss = sum(h2**2)"],
    ),
    "a mask, and an index": (
        f"{TORCH}w = torch.tensor([1., 2., 3.], requires_grad=True)\nmask = torch.tensor([1., -1., 2.]) > 0\n"
        "at = torch.tensor([2, 0])\nloss = (w*mask).sum() + w[at].prod()\nloss.backward()",
        ["loss = sum(w*mask) + prod(w[at])"],
    ),
    "a function of several operations": (
        f"{TORCH}{LOGITS}t = torch.tensor([2, 0])\nloss = F.cross_entropy(z, t)\nloss.backward()",
        ["loss = cross_entropy(z, t)"],
    ),
    "a loss as a module, without what it takes by itself": (
        f"{TORCH}{LOGITS}t = torch.tensor([2, 0])\nloss = nn.CrossEntropyLoss(reduction='sum')(z, t)\nloss.backward()",
        ['loss = cross_entropy(z, t, reduction="sum")'],
    ),
    "a line for each module": (
        f"{TORCH}{X}y = torch.ones(3, 1)\nnet = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))\n"
        "loss = F.mse_loss(net(X), y)\nloss.backward()",
        ["h1 = X @ net[0].weight.T + net[0].bias", "h2 = relu(h1)", "h3 = h2 @ net[2].weight.T + net[2].bias",
         "loss = mse_loss(h3, y)"],
    ),
    "modules, where h is the script's own": (
        f"{TORCH}{X}net = nn.Sequential(nn.Linear(2, 1), nn.Tanh())\nh = net(X)\nloss = h.sum()\nloss.backward()",
        ["a = X @ net[0].weight.T + net[0].bias", "h = tanh(a)", "loss = sum(h)"],
    ),
    "a part of a long line": (
        f"{TORCH}{X}first_weight = torch.ones(2, 3, requires_grad=True)\n"
        "first_bias = torch.ones(3, requires_grad=True)\nsecond_weight = torch.ones(3, 1, requires_grad=True)\n"
        "loss = (torch.tanh(X @ first_weight + first_bias) @ second_weight + first_bias[0]).exp().sum()\n"
        "loss.backward()",
        ["h3 = tanh(X @ first_weight + first_bias) @ second_weight", "loss = sum(exp(h3 + first_bias[0]))"],
    ),
}  # fmt: skip


def formulas_of(found):
    """Return the lines of Forward as a document has them, with the program's own ways to its values."""
    return [f"{value['name']} = {value['formula']}" for value in found.to_dict()["forward"] if value["formula"]]


@pytest.mark.parametrize(("text", "lines"), PROGRAMS.values(), ids=PROGRAMS)
def test_lines_are_those_of_the_script(text, lines):
    assert formulas_of(gradcli.explain(text)) == lines


@pytest.mark.parametrize(("text", "lines"), PROGRAMS.values(), ids=PROGRAMS)
def test_formulas_read_names_before_them(text, lines):
    found = gradcli.explain(text)
    values = [event for event in found.forward if isinstance(event, Value)]
    reader = Reader({value.name: value.value for value in values if value.role in ("input", "constant")}, {})
    for value in values:
        if value.formula is not None:
            np.testing.assert_allclose(reader.evaluate(value.formula), value.value, rtol=1e-12)
        reader.add(value.name, value.value)
    assert sum(value.formula is not None for value in values) == len(lines)
    back = Reader(reader.names | found.constants, {rule.name: rule.value for rule in found.rules})
    for rule in reversed(found.rules):
        if rule.made is not None:
            back.add(rule.name, back.evaluate(rule.made))
    for rule in found.rules[1:]:
        given = np.broadcast_to(back.evaluate(rule.text), rule.value.shape)
        np.testing.assert_allclose(given, rule.value, rtol=1e-9, atol=1e-12)


def test_names_in_other_letters_keep_their_formulas():
    script = (
        f"{TORCH}θ = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\nx = torch.ones(2, requires_grad=True)\n"
    )
    answer = gradcli.explain(f"{script}torch.tanh(θ @ x).sum().backward()")
    assert {rule.text for rule in answer.rules} >= {"outer(1 - tanh(θ @ x)**2, x)", "θ.T @ (1 - tanh(θ @ x)**2)"}


def test_backward_has_the_names_of_constants():
    text, _ = PROGRAMS["rows of a constant"]
    lines = {rule.name: rule.text for rule in gradcli.explain(text).rules}
    assert "X[1]" in lines["W"]
    assert "X[0]" in lines["W"]


def test_a_constant_that_is_written_to_later_has_the_numbers_that_were_read():
    text = (
        f"{TORCH}w = torch.tensor([1., 2.], requires_grad=True)\nt = torch.tensor([1., 0.])\ny = w*(1 - t)\n"
        "t += 1\nloss = y.sum()\nloss.backward()"
    )
    found = gradcli.explain(text)
    assert formulas_of(found) == ["y = w*(1 - t)", "loss = sum(y)"]
    assert [value["value"] for value in found.to_dict()["forward"] if value["name"] == "t"] == [[1.0, 0.0]]


def test_a_transposed_matrix_needs_no_name():
    text = (
        f"{TORCH}{X}a_long_weight = torch.ones(3, 2, requires_grad=True)\n"
        "loss = ((X @ a_long_weight.T).tanh() @ a_long_weight).exp().sum()\nloss.backward()"
    )
    assert "a_long_weight.T" not in [rule.made for rule in gradcli.explain(text).rules]
