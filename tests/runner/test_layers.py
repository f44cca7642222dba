"""Layers of ``torch.nn`` without random weights: value and gradients of each are PyTorch's, and so are its mistakes."""

# ruff: noqa: E501 - a row is a line

import re

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import cases

TABLES = cases("layers.toml")

torch = pytest.importorskip("torch")

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


MISTAKES = TABLES["MISTAKES"]


@pytest.mark.parametrize("program", MISTAKES)
def test_a_mistake_is_the_exception_that_pytorch_raises(program):
    with pytest.raises(Exception) as wanted:  # noqa: PT011 - of any type
        in_torch(program)
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(program, inputs={"x": INPUTS["x"]} if "x)" in program or "*x" in program else {})
    assert (caught.value.kind, caught.value.message.partition(":")[0]) == ("script", wanted.type.__name__)
