"""Layers of ``torch.nn`` are the functions that they are in PyTorch, called at once, by a name, or in a row."""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

import re

import numpy as np
import pytest
from gradcli.language.layer_names import FUNCTIONS, RANDOM
from gradcli.language.layers import signature

import gradcli
from gradcli.errors import GradcliError
from gradcli.explanation.evaluation import Function
from gradcli.ops import SPELLINGS, load_all
from oracles import portion

try:
    import torch
except ImportError:
    torch = None

INPUTS = {
    "x": np.array([[0.3, -0.5, 1.2, 0.1], [2.0, 0.25, -1.0, 0.7]]),
    "t": np.array([[0.2, 0.5, 0.3, 0.9], [0.1, 0.4, 0.6, 0.8]]),
}
CALLS = """
nn.ReLU()(x) | nn.ReLU6()(9*x) | nn.Sigmoid()(x) | nn.Tanh()(x) | nn.LogSigmoid()(x) | nn.Softsign()(x) | nn.Tanhshrink()(x) | nn.SiLU()(x) | nn.Mish()(x) | nn.Hardswish()(x)
nn.Hardtanh(-0.2, 0.4)(x) | nn.LeakyReLU(0.2)(x) | nn.RReLU(0.1, 0.3).eval()(x) | nn.ELU(alpha=0.5)(x) | nn.CELU(2.0)(x) | nn.SELU()(x) | nn.GELU()(x)
nn.GELU(approximate='tanh')(x) | nn.PReLU()(x) | nn.PReLU(4, 0.1)(x) | nn.Softplus(2, 1)(x) | nn.Softmin(dim=1)(x) | nn.Softmax(dim=0)(x) | nn.LogSoftmax(1)(x) | nn.Softshrink(0.3)(x)
nn.Hardshrink(0.3)(x) | nn.Threshold(0.2, 5.0)(x) | nn.GLU()(x) | nn.Flatten(0)(x) | nn.Flatten()(x[None]) | nn.Identity()(x) | nn.Softmax2d()(x[:, :, None])
nn.L1Loss()(x, t) | nn.MSELoss(reduction="sum")(x, t) | nn.MSELoss(False)(x, t) | nn.SmoothL1Loss(beta=0.5)(x, t) | nn.HuberLoss("none", 0.3)(x, t) | nn.KLDivLoss(reduction="batchmean")(x, t)
nn.PoissonNLLLoss(full=True)(x, 3*t) | nn.GaussianNLLLoss()(x, t, t) | nn.HingeEmbeddingLoss(0.5)(x, x.sign().detach()) | nn.MarginRankingLoss(0.1)(x, t, t.sign().detach())
nn.TripletMarginLoss(swap=True)(x, t, x*2) | nn.CosineEmbeddingLoss(0.1)(x, t, t[:, 1].sign().detach()) | nn.SoftMarginLoss()(x, x.sign().detach()) | nn.BCELoss()(t, t)
nn.MultiLabelSoftMarginLoss()(x, t) | nn.BCEWithLogitsLoss(reduction="sum")(x, t) | nn.CrossEntropyLoss(label_smoothing=0.1)(x, t) | nn.CrossEntropyLoss(weight=t[0].detach())(x, t.detach())
nn.MaxPool1d(2)(x) | nn.MaxPool2d(2, stride=1, padding=1)(x[None]) | nn.AvgPool1d(3, 1, 1, count_include_pad=False)(x) | nn.AvgPool2d((1, 2))(x[None]) | nn.AdaptiveAvgPool1d(3)(x)
nn.AdaptiveMaxPool2d((1, 2))(x[None]) | nn.LPPool1d(2, 2)(x**2 + 1) | nn.Upsample(scale_factor=2)(x[None]) | nn.UpsamplingBilinear2d(size=3)(x[None, None]) | nn.PixelShuffle(2)(x.reshape(4, 2, 1))
nn.ZeroPad2d(1)(x[None]) | nn.ReflectionPad1d(1)(x) | nn.ReplicationPad2d(2)(x[None]) | nn.ConstantPad1d(2, 3.5)(x) | nn.CircularPad1d(1)(x[None])
nn.LocalResponseNorm(2)(x[None]) | nn.LayerNorm(4)(x) | nn.LayerNorm([2, 4], eps=0.1)(x) | nn.RMSNorm(4)(x) | nn.GroupNorm(2, 4)(x) | nn.InstanceNorm1d(2)(x[None]) | nn.BatchNorm1d(4)(x)
nn.Dropout(0.5).eval()(x) | nn.Dropout(0.0)(x) | nn.Dropout2d().eval()(x[None]) | nn.ReLU(inplace=False)(x) | torch.nn.ReLU()(x) | nn.ReLU().double()(x) | nn.Sequential(nn.Tanh(), nn.Softmax(dim=1))(x)
act = nn.ReLU(); h = act(x); act(h - 0.2) | loss = nn.MSELoss(); loss(nn.Tanh()(x), t) | m = nn.Sequential(nn.Flatten(0), nn.Sequential(nn.ReLU(), nn.Softmax(dim=0))); m(x)*m(2*x)
m = nn.Dropout(); m.eval(); m(x) | m = nn.Dropout(); m = m.eval(); m(x) | y = 0*x; act = nn.Tanh(); y = y + act(x) if x[0, 0] > 0 else act(2*x); y*act(y)
f = nn.Softmax(dim=1); h = x*1.0; h = f(h)*2; h = f(h) + f(f(h)); h | w = t[0].detach(); loss = nn.CrossEntropyLoss(weight=w); loss(x, t.detach())
"""
PROGRAMS = [text.strip() for text in CALLS.replace("\n", "|").split("|") if text.strip()]


def in_torch(program):
    """Return y and the gradients by PyTorch for the sum of y times cosines."""
    given = {name: torch.tensor(value, requires_grad=True) for name, value in INPUTS.items()}
    *statements, last = program.split("; ")
    names = {"torch": torch, "nn": torch.nn, **given}
    torch.set_default_dtype(torch.float64)
    try:
        exec("; ".join(statements), names)  # noqa: S102 - constants of the tests
        y = eval(last, names)  # noqa: S307
    finally:
        torch.set_default_dtype(torch.float32)
    seed = np.cos(np.arange(y.numel(), dtype=float)).reshape(y.shape)
    y.backward(torch.tensor(seed))
    return y.detach().numpy(), seed, {name: None if x.grad is None else x.grad.numpy() for name, x in given.items()}


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_layer_is_what_it_is_in_pytorch(program):
    y, seed, grads = in_torch(program)
    used = [name for name in INPUTS if re.search(rf"\b{name}\b", program)]
    found = gradcli.explain(program, v=seed, inputs={name: INPUTS[name] for name in used})
    assert found.agreement.agree
    np.testing.assert_allclose(found.output, y, rtol=1e-12, atol=1e-14)
    for name in used:
        want = np.zeros(INPUTS[name].shape) if grads[name] is None else grads[name]
        np.testing.assert_allclose(found.grad[name], want, rtol=1e-10, atol=1e-14)


def test_every_layer_has_a_function_and_is_tried():
    load_all()
    here = {name: signature(name)[0] for name in FUNCTIONS}
    missing = {name for name, function in here.items() if function not in SPELLINGS}
    elsewhere = {"Unflatten", "CosineSimilarity", "PairwiseDistance", "Unfold", "Fold"}
    assert {name for name in missing if "Pad" not in name} <= elsewhere
    tried = set(re.findall(r"nn\.(\w+)\(", CALLS)) | elsewhere
    assert {re.sub(r"\dd$", "", name) for name in here if "Pad" not in name} - {
        re.sub(r"\dd$", "", name) for name in tried
    } == UNTRIED


UNTRIED = {
    "MultiMarginLoss", "MultiLabelMarginLoss", "NLLLoss", "UpsamplingNearest", "PixelUnshuffle", "ChannelShuffle",
    "AlphaDropout", "FeatureAlphaDropout", "Hardsigmoid",
}  # fmt: skip
"""Layers of integers, of what others show, and the one whose 1/6 PyTorch has in single precision."""


@pytest.mark.parametrize(("program", "text"), [
    ("loss = nn.MSELoss(reduction='sum')\ny = 2*x\nz = loss(y, t)\nz", "F.mse_loss(y, t, reduction='sum')"),
    ("act = nn.LeakyReLU(0.2)\nz = act(act(x))\nz", "F.leaky_relu(F.leaky_relu(x, negative_slope=0.2), negative_slope=0.2)"),
    ("z = nn.Sequential(nn.Tanh(), nn.Softmax(dim=1))(x) + 1\nz", "F.softmax(torch.tanh(x), dim=1) + 1"),
])  # fmt: skip
def test_the_answer_names_the_function(program, text):
    names = [name for name in INPUTS if re.search(rf"\b{name}\b", program)]
    found = gradcli.explain(
        program, v=1.0 if "loss" in program else np.ones((2, 4)), inputs={n: INPUTS[n] for n in names}
    )
    assert text in [event.get("formula") for event in found.to_dict()["forward"]]


REFUSED = [
    *((f"nn.{name}(2, 2)(x)", "random weights", f"nn.{name}(2, 2)") for name in RANDOM),
    ("nn.Dropout(0.5)(x)", "at random", "nn.Dropout(0.5)(x)"), ("nn.ReLU(inplace=True)(x)", "inplace=True", None),
    ("nn.Relu()(x)", "unknown layer 'nn.Relu'", "nn.Relu()"), ("nn.ReLU(3, 4, 5, 6)(x)", "takes fewer", "nn.ReLU(3, 4, 5, 6)"),
    ("nn.Softmax(axis=1)(x)", "no argument 'axis'", "nn.Softmax(axis=1)"), ("y = nn.ReLU() + 1; y", "makes a layer", "nn.ReLU()"),
    ("act = nn.ReLU()", "the last line makes a layer", "act = nn.ReLU()"), ("act = nn.ReLU(); act*x", "'act' is a layer", "act"),
    ("act = nn.ReLU(); act = x*2; act", "gets another value", "act"), ("nn.Sequential()(x)", "without layers", None),
    ("w = x[0]; f = nn.CrossEntropyLoss(weight=w); w = w*2; f(x, x)", "an option of a layer", "w"),
    ("nn.Sequential(x)(x)", "takes layers", "nn.Sequential(x)"), ("nn.BatchNorm1d(4).eval()(x)", "running statistics", None),
    ("if x[0, 0] > 0:\n    act = nn.ReLU()\n    x = act(x)\nx", "makes a layer", "nn.ReLU()"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "words", "place"), REFUSED)
def test_what_is_no_function_is_refused(program, words, place):
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(program, x=INPUTS["x"])
    assert words in caught.value.message
    if place is not None:
        assert program[slice(*caught.value.span)] == place


@pytest.mark.parametrize("program", portion([text for text in PROGRAMS if "BatchNorm" not in text], 4))
def test_a_layer_of_a_snippet_is_that_of_a_program(program):
    used = {name: value for name, value in INPUTS.items() if re.search(rf"\b{name}\b", program)}
    plain, pasted = (
        Function("\n".join([*head, *program.split("; ")]))
        for head in ([], ["import torch", "from torch import nn", "import torch.nn.functional as F"])
    )
    np.testing.assert_array_equal(plain.value(**used), pasted.value(**used))
    seed = np.cos(np.arange(plain.value(**used).size, dtype=float)).reshape(plain.value(**used).shape)
    for name, grad in plain.grad(v=seed, **used).items():
        np.testing.assert_array_equal(grad, pasted.grad(v=seed, **used)[name])


SNIPPETS = """
net = nn.Sequential(nn.Tanh(), nn.Softmax(dim=1)); y = net(x)[0][1]
net = nn.Sequential(nn.Tanh(), nn.Sequential(nn.Sigmoid(), nn.Flatten(0))); y = net[0](x).sum() + net[-1](x)[3]
act = nn.Softplus(); act = act.double(); loss = nn.MSELoss(reduction='sum'); y = loss(act(x), target=torch.ones(2, 4))
net = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.ReLU(inplace=True)).eval(); h = x*2; z = net(h); y = (z*h).sum()
drop = nn.Dropout(0.5); drop.eval(); y = (drop(x)**2).sum()
act = nn.ReLU(inplace=True); h = x*1; z = act(h)*2; y = (z*h).sum()
drop = nn.Dropout(0.5); drop.train(False); y = drop(x).sum()
act = nn.Sigmoid(); f = lambda t: act(t)*2; y = f(x).sum()
def f(t): act = nn.Tanh(); return act(t).sum(); y = f(x)*f(2*x)
act = nn.PReLU(); y = act(x).sum() + nn.GELU()(x)[0, 0]
fc = nn.Linear(4, 2); y = fc(x).sin().sum()
fc = nn.Linear(4, 2, bias=False); y = fc(x).sin().sum() + fc.weight[0, 1]**2
net = nn.Sequential(nn.Linear(4, 2), nn.LeakyReLU(0.1, inplace=True), nn.Linear(2, 1)); y = net(x).sum()*net[2].bias[0]
net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(inplace=True), nn.Linear(3, 2, False)); y = nn.MSELoss()(net(x), x[:, :2])
conv = nn.Conv1d(2, 3, 2, padding=1, stride=2); y = conv(x).pow(2).sum()
both = nn.Bilinear(4, 4, 2); y = both(x, 2*x).sum()
up = nn.ConvTranspose1d(2, 1, kernel_size=3, bias=False); y = nn.Sequential(up, nn.Tanh())(x).sum()
"""
PASTED = SNIPPETS.strip().split("\n")


def lines_of(text):
    """Return a snippet of statements on a line; the body of a function stands in one."""
    if not text.startswith("def"):
        return text.split("; ")
    head, value, *rest = text.split("; ")
    return [head.replace(": ", ":\n    "), f"    {value}", *rest]


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("text", PASTED)
def test_layers_of_a_snippet_are_those_of_pytorch(text):
    head = ["import torch", "from torch import nn", f"x = torch.tensor({INPUTS['x'].tolist()}, requires_grad=True)"]
    names: dict[str, object] = {}
    torch.set_default_dtype(torch.float64)
    try:
        exec("\n".join([*head, *lines_of(text), "y.backward()"]), names)  # noqa: S102 - constants of the tests
    finally:
        torch.set_default_dtype(torch.float32)
    weights = {
        f"{owner}_{name}".replace(".", "_"): one
        for owner, layer in names.items()
        if isinstance(layer, torch.nn.Module) and "PReLU" not in text
        for name, one in layer.named_parameters()
    }
    given = {name: one.detach().numpy() for name, one in weights.items()}
    found = gradcli.explain("\n".join([*head, *lines_of(text), "y.backward()", "print(x.grad)"]), inputs=given)
    assert found.agreement.agree
    assert set(found.grad) == {"x", *given}
    for name, grad in found.grad.items():
        want = names["x"].grad if name == "x" else weights[name].grad
        np.testing.assert_allclose(grad, want.numpy(), rtol=1e-10, atol=1e-14, err_msg=name)


HEAD = "import torch\nfrom torch import nn\nx = torch.ones(2, 4, requires_grad=True)\n"
NOT_READ = [
    ("fc = nn.Linear(4, 2)\nfc(x).sum().backward()", "random", "draws 'fc_weight' at random"),
    ("nn.Linear(4, 2)(x).sum().backward()", "not-allowed", "nn.Linear is not part of the language"),
    ("def f(t):\n    fc = nn.Linear(4, 2)\n    return fc(t)\nf(x).backward()", "not-allowed", "nn.Linear is not part"),
    ("fc_bias = 1\nfc = nn.Linear(4, 2)\nfc(fc_bias*x).sum().backward()", "not-allowed", "a name that is taken"),
    ("fc = nn.Linear(4, 2, 3, 4, 5)\nfc(x).sum().backward()", "arguments", "nn.Linear takes in_features"),
    ("fc = nn.Linear(4, 2, bias=x)\nfc(x).sum().backward()", "not-allowed", "bias is True or False"),
    ("fc = nn.LSTM(4, 2)\nfc(x).sum().backward()", "not-allowed", "nn.LSTM is not part of the language"),
    ("net = nn.Sequential()\nnet(x).sum().backward()", "not-allowed", "takes layers"),
    ("net = nn.Sequential(x)\nnet(x).sum().backward()", "not-allowed", "takes layers"),
    ("net = nn.Sequential(nn.Tanh())\nnet[1](x).sum().backward()", "not-allowed", "'net' is a function"),
    ("norm = nn.BatchNorm1d(4)\nnorm.eval()\nnorm(x).sum().backward()", "not-allowed", "running statistics"),
    ("w = torch.ones(2)\nf = nn.MSELoss(w)\nw = w*2\nf(x, x).backward()", "not-allowed", "an option of a layer"),
    ("act = nn.ELU(inplace=True)\nh = x*1\n(act(h)*h).sum().backward()", "arguments", "inplace"),
    ("d = nn.Dropout()\nif x.sum() > 0:\n    d.eval()\nd(x).sum().backward()", "not-allowed", "may not run"),
    ("f = nn.ReLU(inplace=True)\nh = x*1\nwith torch.no_grad():\n    z = f(h)\nh.backward()", "not-allowed", "no_grad"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "words"), NOT_READ)
def test_what_a_layer_of_a_snippet_cannot_do_is_refused(text, kind, words):
    with pytest.raises(GradcliError) as raised:
        gradcli.explain(HEAD + text)
    assert (raised.value.kind, words in raised.value.message) == (kind, True), raised.value


def test_a_layer_after_the_first_backward_is_left_out():
    found = gradcli.explain(HEAD + "x.sum().backward()\nfc = nn.Linear(4, 2)\nfc(x).sum().backward()")
    assert "later-lines" in {note.kind for note in found.notes}
