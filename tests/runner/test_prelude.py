"""The prelude's classes do what PyTorch's do: the same script with the one library and with the other.

A row is a script that leaves what is compared in ``out``. Equal means every bit: initial weights, draws, texts, names. What
PyTorch works out by functions of its own (recurrent layers, attention, running variances) agrees to rounding of float32.
"""

# ruff: noqa: E501, SIM905 - a row is a line
# fmt: off

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from docs.make_prelude import INDEX as INDEX_FILE

from oracles import TORCH, cases

if not TORCH:
    pytest.skip("PyTorch is not installed", allow_module_level=True)

import torch
from prelude_in_python import INDEX, PRELUDE, loaded, ours

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
HOME = Path(__file__).parent.parent.parent


def run(script: str, library):
    names = {
        "torch": library, "nn": library.nn, "F": library.nn.functional, "optim": library.optim,
        "schedulers": library.optim.lr_scheduler, "data": library.utils.data, "D": library.distributions, "init": library.nn.init,
        "utils": library.nn.utils, "x": torch.linspace(-2, 2, 12).reshape(4, 3),
    }
    torch.manual_seed(0)
    exec(script, names)  # noqa: S102 - constants of the tests
    torch.manual_seed(0)
    return names["out"]


def agrees(one, other, exact: bool) -> bool:
    if isinstance(one, torch.Tensor):
        same = one.shape == other.shape and one.dtype == other.dtype and one.requires_grad == other.requires_grad
        return same and (torch.equal(one, other) if exact else torch.allclose(one, other, rtol=2e-5, atol=2e-6))
    if isinstance(one, dict):
        return list(one) == list(other) and all(agrees(one[key], other[key], exact) for key in one)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(agrees(a, b, exact) for a, b in zip(one, other, strict=True))
    return one == other if exact or not isinstance(one, float) else one == pytest.approx(other, rel=1e-6)


def compare(script: str, exact: bool) -> None:
    theirs, mine = run(script, torch), run(script, ours())
    assert agrees(theirs, mine, exact), f"{script}\nPyTorch:\n{theirs}\nprelude:\n{mine}"


# --- modules: text, names, initial weights, values, gradients ---

BATCH, IMAGE, LINE, BOX = "x", "torch.randn(2, 4, 6, 6)", "torch.randn(2, 4, 9)", "torch.randn(1, 2, 5, 5, 5)"
LAYERS = {
    "nn.Linear(3, 2)": BATCH, "nn.Linear(3, 2, bias=False)": BATCH, "nn.Linear(3, 2, dtype=torch.float64)": "x.double()",
    "nn.Identity(7)": BATCH, "nn.Flatten()": IMAGE, "nn.Flatten(0, 1)": IMAGE, "nn.Unflatten(1, (2, 2))": IMAGE,
    "nn.Bilinear(3, 3, 2)": "x, x * 2", "nn.Bilinear(3, 3, 2, bias=False)": "x, x * 2",
    "nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Sequential(nn.Linear(5, 2), nn.Tanh()))": BATCH,
    "nn.Sequential()": BATCH,
    "nn.Conv1d(4, 6, 3)": LINE, "nn.Conv1d(4, 6, 3, padding='same', dilation=2)": LINE,
    "nn.Conv1d(4, 6, 4, padding='same', padding_mode='circular')": LINE,
    "nn.Conv2d(4, 6, 3)": IMAGE, "nn.Conv2d(4, 6, (3, 2), stride=2, padding=1, groups=2, bias=False)": IMAGE,
    "nn.Conv2d(4, 6, 3, padding=(2, 1), padding_mode='reflect')": IMAGE, "nn.Conv3d(2, 3, 2)": BOX,
    "nn.ConvTranspose1d(4, 6, 3, stride=2)": LINE, "nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1)": IMAGE,
    "nn.ConvTranspose3d(2, 3, 2, dilation=2)": BOX,
    "nn.MaxPool1d(2)": LINE, "nn.MaxPool2d(3, stride=2, padding=1)": IMAGE, "nn.MaxPool2d(2, return_indices=True)": IMAGE, "nn.MaxPool3d(2)": BOX,
    "nn.AvgPool1d(2)": LINE, "nn.AvgPool2d((2, 3))": IMAGE, "nn.AvgPool3d(2, ceil_mode=True)": BOX,
    "nn.LPPool1d(2, 3)": LINE, "nn.LPPool2d(2, 3, stride=1)": IMAGE,
    "nn.AdaptiveAvgPool1d(3)": LINE, "nn.AdaptiveAvgPool2d((1, 2))": IMAGE, "nn.AdaptiveAvgPool3d(2)": BOX,
    "nn.AdaptiveMaxPool1d(3)": LINE, "nn.AdaptiveMaxPool2d(2, return_indices=True)": IMAGE, "nn.AdaptiveMaxPool3d(2)": BOX,
    "nn.ConstantPad1d(1, 2.5)": LINE, "nn.ConstantPad2d((1, 2, 0, 1), 3)": IMAGE, "nn.ConstantPad3d(1, 0.5)": BOX,
    "nn.ZeroPad1d(1)": LINE, "nn.ZeroPad2d(2)": IMAGE, "nn.ZeroPad3d(1)": BOX,
    "nn.ReflectionPad1d(2)": LINE, "nn.ReflectionPad2d(1)": IMAGE, "nn.ReplicationPad1d((1, 2))": LINE, "nn.ReplicationPad2d(1)": IMAGE,
    "nn.ReplicationPad3d(1)": BOX, "nn.CircularPad1d(1)": LINE, "nn.CircularPad2d(1)": IMAGE, "nn.CircularPad3d(1)": BOX, "nn.ReflectionPad3d(1)": BOX,
    "nn.Upsample(scale_factor=2)": IMAGE, "nn.Upsample(size=(3, 4), mode='bilinear')": IMAGE, "nn.UpsamplingNearest2d(scale_factor=2)": IMAGE,
    "nn.UpsamplingBilinear2d(size=(8, 8))": IMAGE, "nn.PixelShuffle(2)": IMAGE, "nn.PixelUnshuffle(2)": IMAGE, "nn.ChannelShuffle(2)": IMAGE,
    "nn.Unfold(2)": IMAGE, "nn.Fold((3, 3), 2)": "torch.randn(1, 8, 4)",
    "nn.LayerNorm(3)": BATCH, "nn.LayerNorm([6, 6], eps=1e-3, bias=False)": IMAGE, "nn.LayerNorm(3, elementwise_affine=False)": BATCH,
    "nn.GroupNorm(2, 4)": IMAGE, "nn.GroupNorm(4, 4, affine=False)": IMAGE, "nn.RMSNorm(3)": BATCH, "nn.RMSNorm((3,), eps=1e-3, elementwise_affine=False)": BATCH,
    "nn.LocalResponseNorm(2)": IMAGE, "nn.BatchNorm1d(3)": BATCH, "nn.BatchNorm2d(4, momentum=None)": IMAGE, "nn.BatchNorm3d(2, affine=False)": BOX,
    "nn.BatchNorm1d(4, track_running_stats=False)": LINE, "nn.InstanceNorm1d(4)": LINE, "nn.InstanceNorm2d(4, affine=True)": IMAGE,
    "nn.InstanceNorm2d(4, track_running_stats=True)": IMAGE, "nn.InstanceNorm3d(2)": BOX, "nn.InstanceNorm1d(4, affine=True).eval()": "torch.randn(4, 9)",
    "nn.Dropout(0.3)": BATCH, "nn.Dropout()": BATCH, "nn.Dropout1d(0.4)": LINE, "nn.Dropout2d(0.4)": IMAGE, "nn.Dropout3d(0.4)": BOX,
    "nn.AlphaDropout(0.2)": BATCH, "nn.FeatureAlphaDropout(0.2)": IMAGE, "nn.Dropout(0.3, inplace=True)": "x.clone()",
    "nn.Embedding(5, 3)": "torch.tensor([[1, 2], [0, 4]])", "nn.Embedding(5, 3, padding_idx=-2)": "torch.tensor([1, 3])",
    "nn.Embedding(5, 3, max_norm=0.5)": "torch.tensor([1, 3])", "nn.Embedding.from_pretrained(torch.ones(2, 3))": "torch.tensor([1, 0])",
    "nn.PairwiseDistance()": "x, x * 2", "nn.CosineSimilarity(eps=1e-3)": "x, x ** 2",
    "nn.Softmax2d()": IMAGE, "nn.PReLU()": BATCH, "nn.PReLU(3, init=0.5)": BATCH,
}
ACTIVATIONS = (
    "ReLU() ReLU(inplace=True) ReLU6() ReLU6(True) SELU() SiLU() SiLU(True) Mish() Hardswish() Hardsigmoid() Threshold(0.1,20) Threshold(0.1,20,True) "
    "RReLU() RReLU(0.1,0.3,True) Hardtanh() Hardtanh(-2.0,0.5,True) ELU() ELU(0.5,True) CELU(2.0) LeakyReLU() LeakyReLU(0.2,True) GELU() "
    "GELU(approximate='tanh') Softplus() Softplus(2,10) Hardshrink() Softshrink(0.2) Sigmoid() Tanh() LogSigmoid() Softsign() Tanhshrink() "
    "Softmax(dim=1) LogSoftmax(-1) Softmin(dim=0)"
).split()
LAYERS |= {f"nn.{made}": "x.clone()" for made in ACTIVATIONS} | {"nn.GLU(1)": IMAGE}
RECURRENT = {
    "nn.RNNCell(3, 5)": BATCH, "nn.RNNCell(3, 5, nonlinearity='relu', bias=False)": "x, torch.ones(4, 5)", "nn.RNNCell(3, 5).double()": "x[0].double()",
    "nn.LSTMCell(3, 5)": BATCH, "nn.LSTMCell(3, 5, bias=False)": "x, (torch.ones(4, 5), torch.zeros(4, 5))", "nn.GRUCell(3, 5)": BATCH, "nn.GRUCell(3, 2) ": "x[1], torch.ones(2)",
    "nn.RNN(3, 5)": "torch.randn(6, 4, 3)", "nn.RNN(3, 5, 2, nonlinearity='relu', batch_first=True, bidirectional=True)": "torch.randn(4, 6, 3)",
    "nn.RNN(3, 5, bias=False)": "torch.randn(6, 4, 3), torch.randn(1, 4, 5)", "nn.RNN(3, 5, num_layers=2) ": "torch.randn(6, 3)",
    "nn.LSTM(3, 5)": "torch.randn(6, 4, 3)", "nn.LSTM(3, 5, 2, batch_first=True, bidirectional=True)": "torch.randn(4, 6, 3)",
    "nn.LSTM(3, 5, proj_size=2, num_layers=2)": "torch.randn(6, 4, 3)", "nn.LSTM(3, 2) ": "torch.randn(6, 3), (torch.ones(1, 2), torch.ones(1, 2))",
    "nn.GRU(3, 5)": "torch.randn(6, 4, 3)", "nn.GRU(3, 5, 3, batch_first=True)": "torch.randn(4, 6, 3), torch.randn(3, 4, 5)", "nn.GRU(3, 5, bidirectional=True)": "torch.randn(6, 3)",
    "nn.GRU(3, 5, 2, dropout=0.25)": "torch.randn(6, 4, 3)",
    "nn.MultiheadAttention(4, 2)": "*[torch.randn(5, 3, 4)] * 3", "nn.MultiheadAttention(4, 2, batch_first=True, add_bias_kv=True)": "torch.randn(3, 5, 4), *[torch.randn(3, 6, 4)] * 2",
    "nn.MultiheadAttention(4, 1, kdim=3, vdim=2, bias=False, add_zero_attn=True)": "torch.randn(5, 3, 4), torch.randn(6, 3, 3), torch.randn(6, 3, 2)",
    "nn.MultiheadAttention(4, 4, dropout=0.0)": "*[torch.randn(5, 4)] * 3, None, True, torch.triu(torch.ones(5, 5), 1).bool()",
    "nn.MultiheadAttention(4, 2) ": "*[torch.randn(5, 3, 4)] * 3, torch.tensor([[False] * 4 + [True]] * 3), False",
    "nn.MultiheadAttention(4, 2, dropout=0.2)": "*[torch.randn(5, 3, 4)] * 3",
    "nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)": "torch.randn(5, 3, 4)", "nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=True, activation='gelu', dropout=0.1)": "torch.randn(3, 5, 4)",
    "nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0)": "torch.randn(5, 3, 4), torch.randn(6, 3, 4)",
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 2, nn.LayerNorm(4))": "torch.randn(5, 3, 4), torch.triu(torch.ones(5, 5), 1).bool()",
    "nn.Transformer(4, 2, 1, 2, 8, dropout=0.0)": "torch.randn(5, 3, 4), torch.randn(6, 3, 4)",
}
FIRST = """
m = {made}
out = [repr(m), str(m), list(m.state_dict()), {{**m.state_dict()}}, [n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()],
       [(n, type(c).__name__) for n, c in m.named_modules()]]
"""
VALUES = """
m = {made}
given = [{given}]
for v in given:
    if isinstance(v, torch.Tensor) and v.is_floating_point() and not 'inplace=True' in repr(m): v.requires_grad_()
y = m(*given)
ys = [y] if isinstance(y, torch.Tensor) else [v for part in y for v in ([part] if isinstance(part, torch.Tensor) else part or [])]
torch.manual_seed(1)
loss = sum([(v * torch.randn_like(v)).sum() for v in ys if v.is_floating_point()])
if loss.requires_grad: loss.backward()
out = [ys, [p.grad for p in m.parameters()], [v.grad for v in given if isinstance(v, torch.Tensor)], {{**m.state_dict()}}, m.eval()(*given)]
"""
EVERY = LAYERS | RECURRENT


@pytest.mark.parametrize("made", EVERY)
def test_modules_begin_as_those_of_pytorch(made):
    compare(FIRST.format(made=made), exact=True)


@pytest.mark.parametrize("made", EVERY)
def test_modules_compute_what_those_of_pytorch_do(made):
    compare(VALUES.format(made=made, given=EVERY[made]), exact=False)


LOSSES = {
    "L1Loss(reduction='sum')": "x, x * 0", "MSELoss()": "x, x * 2", "MSELoss(reduction='none')": "x, x * 2", "MSELoss(size_average=False)": "x, x * 2", "MSELoss(reduce=False)": "x, x * 2",
    "SmoothL1Loss(beta=0.5)": "x, x * 0", "HuberLoss(delta=0.5)": "x, x * 0", "CrossEntropyLoss()": "x, torch.tensor([0, 1, 2, 0])",
    "CrossEntropyLoss(torch.tensor([1., 2., 3.]), ignore_index=1, label_smoothing=0.1)": "x, torch.tensor([0, 1, 2, 0])", "CrossEntropyLoss(reduction='sum')": "x, x.softmax(1)",
    "NLLLoss(weight=torch.tensor([1., 2., 3.]))": "x.log_softmax(1), torch.tensor([0, 1, 2, 0])", "BCELoss()": "x.sigmoid(), (x > 0).float()",
    "BCEWithLogitsLoss(pos_weight=torch.tensor([1., 2., 3.]))": "x, (x > 0).float()", "KLDivLoss(reduction='batchmean', log_target=True)": "x.log_softmax(1), x.log_softmax(0)",
    "PoissonNLLLoss(full=True)": "x, x.abs()", "GaussianNLLLoss(full=True)": "x, x * 2, x.abs() + 0.1", "HingeEmbeddingLoss()": "x, x.sign()", "SoftMarginLoss()": "x, x.detach().sign()",
    "MultiLabelMarginLoss()": "x, torch.tensor([[0, -1, 1]] * 4)", "MultiLabelSoftMarginLoss()": "x, (x > 0).float()", "MultiMarginLoss(p=2)": "x, torch.tensor([0, 1, 2, 0])",
    "CosineEmbeddingLoss(margin=0.1)": "x, x ** 2, torch.tensor([1, -1, 1, -1])", "MarginRankingLoss(0.3)": "x, x ** 2, x.sign()", "TripletMarginLoss(swap=True)": "x, x ** 2, x * 3",
    "TripletMarginWithDistanceLoss(margin=0.5)": "x, x ** 2, x * 3", "TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), swap=True)": "x, x ** 2, x * 3",
}


@pytest.mark.parametrize("made", LOSSES)
def test_losses(made):
    compare(f"m = nn.{made}\nx.requires_grad_()\ny = m({LOSSES[made]})\ny.sum().backward()\nout = [y, x.grad, repr(m), list(m.state_dict())]", exact=False)


# --- what users do with modules ---

NET = """
class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.name = 'net'
        self.fc1 = nn.Linear(3, n)
        self.scale = nn.Parameter(torch.ones(2))
        self.blocks = nn.ModuleList([nn.Linear(n, n) for _ in range(3)] + [nn.Sequential(nn.Linear(n, 2), nn.ReLU())])
        self.heads = nn.ModuleDict({'a': nn.Linear(2, 1), 'b': nn.Linear(2, 2)})
        self.ws = nn.ParameterList([torch.zeros(2), nn.Parameter(torch.ones(2, 2))])
        self.ps = nn.ParameterDict({'w': torch.ones(3), 'a': nn.Parameter(torch.zeros(1))})
        self.register_buffer('steps', torch.zeros(2))
        self.register_buffer('hidden', torch.ones(1), persistent=False)
        self.tied = self.fc1
    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        for block in self.blocks: x = block(x)
        return self.heads['b'](x) * self.scale + self.ws[1].sum() + self.ps['w'].sum()
net = Net()
"""
TABLES = cases("prelude.json")
USES = TABLES["USES"]


@pytest.mark.parametrize("use", USES)
def test_modules_in_use(use):
    compare(f"{NET}\n{USES[use]}", exact=False)


ERRORS = TABLES["ERRORS"]


@pytest.mark.parametrize("script", ERRORS)
def test_errors_are_those_of_pytorch(script):
    def error(library):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - any, and the same one
            run(f"{script}\nout = None", library)
        return type(caught.value), str(caught.value)

    assert error(ours()) == error(torch)


# --- initial values, clipping, vectors ---

BEGINNINGS = (
    "uniform_(w) uniform_(w,-1,2) normal_(w,1,0.5) constant_(w,3) ones_(w) zeros_(w) xavier_uniform_(w) xavier_uniform_(w,init.calculate_gain('relu')) xavier_normal_(w,2.0) "
    "kaiming_uniform_(w) kaiming_uniform_(w,nonlinearity='relu') kaiming_normal_(w,mode='fan_out',nonlinearity='relu') kaiming_normal_(w,a=0.1) trunc_normal_(w) trunc_normal_(w,0.5,2.0,-1.0,0.2) "
    "trunc_normal_(w,0.0,1.0,3.0,4.0) orthogonal_(w) orthogonal_(w.T,gain=2) sparse_(w,0.4) eye_(w) eye_(w.T)"
).split()


@pytest.mark.parametrize("call", BEGINNINGS)
def test_initial_values(call):
    compare(f"w = torch.zeros(5, 4, requires_grad=True)\ny = init.{call}\nout = [w.detach(), w.grad_fn is None, torch.rand(1)]", exact="orthogonal" not in call)


@pytest.mark.parametrize("shape", ["2, 2, 3", "4, 2, 3, 3", "4, 3, 1, 3, 5"])
def test_initial_values_of_convolutions(shape):
    compare(f"w = torch.zeros({shape})\nout = [init.dirac_(w).clone(), init.kaiming_uniform_(w).clone(), init.xavier_normal_(w), init._calculate_fan_in_and_fan_out(w)]", exact=True)


GRADS = "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))\n(net(x) ** 2).sum().backward()\nps = list(net.parameters())\n"
CLIPS = ["utils.clip_grad_norm_(net.parameters(), 0.5)", "utils.clip_grad_norm_(net.parameters(), 100)", "utils.clip_grad_norm_(ps, 0.3, norm_type=float('inf'))", "utils.clip_grad_norm_(ps[0], 0.3, 1)",
         "utils.clip_grad_value_(net.parameters(), 0.1)", "utils.parameters_to_vector(net.parameters())", "utils.vector_to_parameters(torch.arange(26.0), net.parameters())", "utils.clip_grad_norm_([], 1.0)"]


@pytest.mark.parametrize("call", CLIPS)
def test_clipping_and_vectors(call):
    compare(f"{GRADS}\ny = {call}\nout = [y, [p.grad for p in ps], [p.detach() for p in ps]]", exact=False)


# --- optimizers and schedulers ---

OPTIMIZERS = (
    "SGD(ps,lr=0.1) SGD(ps,0.1,momentum=0.9) SGD(ps,0.1,0.9,dampening=0.5) SGD(ps,0.1,momentum=0.9,nesterov=True,weight_decay=0.01) SGD(ps,0.01,maximize=True) SGD(ps,torch.tensor(0.1)) SGD(net.named_parameters(),0.1) "
    "Adam(ps) Adam(ps,0.1,(0.8,0.99),1e-6) Adam(ps,0.1,weight_decay=0.1) Adam(ps,0.1,amsgrad=True) Adam(ps,0.1,maximize=True) AdamW(ps,0.1) AdamW(ps,0.1,weight_decay=0.2,amsgrad=True) RMSprop(ps) RMSprop(ps,0.05,momentum=0.9) "
    "RMSprop(ps,0.05,centered=True,weight_decay=0.1) RMSprop(ps,0.05,momentum=0.5,centered=True) Adagrad(ps,0.1) Adagrad(ps,0.1,lr_decay=0.1,weight_decay=0.1,initial_accumulator_value=0.1) Adadelta(ps) Adadelta(ps,0.5,rho=0.8,weight_decay=0.1) "
    "Adamax(ps) Adamax(ps,0.1,weight_decay=0.1) NAdam(ps,0.05) NAdam(ps,0.05,weight_decay=0.1) NAdam(ps,0.05,weight_decay=0.1,decoupled_weight_decay=True) RAdam(ps,0.05) RAdam(ps,0.05,weight_decay=0.1,decoupled_weight_decay=True) "
    "Rprop(ps) Rprop(ps,0.05,etas=(0.4,1.3),step_sizes=(1e-3,1)) ASGD(ps) ASGD(ps,0.1,weight_decay=0.1,t0=3)"
).split()
TRAINING = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
ps = [{'params': net[0].parameters(), 'lr': 0.05}, {'params': list(net[2].parameters())}] if groups else net.parameters()
opt = OPT
text, losses = repr(opt), []
for step in range(20):
    opt.zero_grad()
    loss = ((net(x) - x[:, :2].sin()) ** 2).mean()
    loss.backward()
    r = opt.step()
    losses.append(loss.item())
state = opt.state_dict()
out = [text, losses, [p.detach() for p in net.parameters()], state, r, [p.requires_grad for p in net.parameters()]]
"""


@pytest.mark.parametrize("made", OPTIMIZERS)
def test_twenty_steps_of_an_optimizer(made):
    compare(f"groups = {'named' not in made and len(made) % 2}\n" + TRAINING.replace("OPT", f"optim.{made}"), exact=True)


OPTIMIZER_USES = {
    "closure": "def c():\n    opt.zero_grad(); l = (net(x) ** 2).sum(); l.backward(); return l\nopt = optim.Adam(net.parameters(), 0.1)\nout = [opt.step(c), opt.step(c), {**net.state_dict()}]",
    "load": "opt = optim.Adam(net.parameters(), 0.1); (net(x) ** 2).sum().backward(); opt.step()\nnew = optim.Adam(net.parameters(), 0.3); new.load_state_dict(opt.state_dict()); new.step()\nout = [new.state_dict(), {**net.state_dict()}, new.param_groups[0]['lr']]",
    "a later group": "w = torch.ones(2, requires_grad=True); opt = optim.SGD(net.parameters(), 0.1); opt.add_param_group({'params': w, 'lr': 0.5}); (w ** 2).sum().backward(); opt.step(); out = [repr(opt), w.detach(), len(opt.param_groups), opt.state_dict()]",
    "no gradient": "opt = optim.Adam(net.parameters()); opt.step(); out = [opt.state_dict(), {**net.state_dict()}]",
    "zeros": "opt = optim.SGD(net.parameters(), 0.1); (net(x) ** 2).sum().backward(); opt.zero_grad(set_to_none=False); a = [p.grad.clone() for p in net.parameters()]; opt.zero_grad(); out = [a, [p.grad for p in net.parameters()]]",
    "one's own": "class Mine(optim.Optimizer):\n    def __init__(self, params, lr=0.1): super().__init__(params, dict(lr=lr))\n    @torch.no_grad()\n    def step(self):\n        for g in self.param_groups:\n            for p in g['params']:\n                s = self.state[p]; s['n'] = s.get('n', 0) + 1; p.add_(p.grad, alpha=-g['lr'] * s['n'])\nopt = Mine(net.parameters()); (net(x) ** 2).sum().backward(); opt.step(); opt.step(); out = [{**net.state_dict()}, repr(opt), opt.state[net[0].weight]]",
    "defaults": "opt = optim.AdamW(net.parameters()); opt.param_groups[0]['lr'] = 0.5; out = [opt.defaults, {k: v for k, v in opt.param_groups[0].items() if k != 'params'}, opt.param_groups[0]['params'][0] is net[0].weight, type(opt.state).__name__]",
}


@pytest.mark.parametrize("use", OPTIMIZER_USES)
def test_optimizers_in_use(use):
    compare(f"net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))\n{OPTIMIZER_USES[use]}", exact=True)


LBFGS = """
w = torch.tensor([-1.5, 2.0], dtype=torch.float64, requires_grad=True)
opt = optim.LBFGS([w]OPTIONS)
losses = []
def closure():
    opt.zero_grad()
    loss = LOSS
    loss.backward()
    losses.append(loss.item())
    return loss
for _ in range(4): opt.step(closure)
out = [losses, w.detach(), opt.state[w]['func_evals'], opt.state[w]['n_iter']]
"""
ROSENBROCK, SQUARE = "(1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2", "((w - 1) ** 2 * torch.tensor([1.0, 30.0])).sum()"


@pytest.mark.parametrize("options", ["", ", lr=0.1, max_iter=7", ", history_size=3, max_iter=30", ", line_search_fn='strong_wolfe'", ", lr=0.5, max_iter=40, line_search_fn='strong_wolfe', history_size=5"])
@pytest.mark.parametrize("loss", [ROSENBROCK, SQUARE, "w.abs().sqrt().sum()", "(w ** 4).sum() + w.sin().prod()"])
def test_lbfgs(options, loss):
    compare(LBFGS.replace("OPTIONS", options).replace("LOSS", loss), exact=False)


SCHEDULERS = (
    "StepLR(opt,3) StepLR(opt,2,gamma=0.5) MultiStepLR(opt,[2,5,5]) ExponentialLR(opt,0.9) LambdaLR(opt,lambda:e:0.95**e) LambdaLR(opt,[lambda:e:1/(1+e),lambda:e:e]) MultiplicativeLR(opt,lambda:e:0.9) ConstantLR(opt,0.5,4) "
    "LinearLR(opt) LinearLR(opt,0.2,0.8,6) PolynomialLR(opt,6,2.0) CosineAnnealingLR(opt,5) CosineAnnealingLR(opt,T_max=20,eta_min=0.01) CosineAnnealingWarmRestarts(opt,3) CosineAnnealingWarmRestarts(opt,2,2,0.001) "
    "OneCycleLR(opt,0.5,total_steps=15) OneCycleLR(opt,[0.3,0.6],epochs=4,steps_per_epoch=5,anneal_strategy='linear',three_phase=True) OneCycleLR(opt,0.2,15,cycle_momentum=False) "
    "SequentialLR(opt,[schedulers.LinearLR(opt,0.1,total_iters=3),schedulers.ExponentialLR(opt,0.5)],[4]) ChainedScheduler([schedulers.StepLR(opt,2),schedulers.ExponentialLR(opt,0.9)])"
).replace("lambda:", "lambda ").split(") ")
PLATEAU = "factor=0.5, patience=1", "'max', 0.1, 0, cooldown=2", "patience=0, threshold=0.1, threshold_mode='abs', min_lr=0.02", "'max', patience=1, threshold_mode='abs', min_lr=[0.01, 0.05]"
RATES = "ws = [torch.ones(1, requires_grad=True) for _ in range(2)]\nopt = optim.{kind}([{{'params': ws[0]}}, {{'params': ws[1], 'lr': 0.4}}], lr=0.1)\n"


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("made", SCHEDULERS)
def test_schedulers(made, kind):
    script = f"s = schedulers.{made.rstrip(')')})\nout = [s.get_last_lr()]\nfor _ in range(14):\n    opt.step(); s.step(); out.append([s.get_last_lr(), s.last_epoch if hasattr(s, 'last_epoch') else 0, [g['lr'] for g in opt.param_groups], [g.get('momentum', g.get('betas')) for g in opt.param_groups]])"
    closing = made.count("(") - made.rstrip(")").count(")") - 1
    compare(RATES.format(kind=kind) + script.replace(f"{made.rstrip(')')})", made.rstrip(")") + ")" * (closing + 1)), exact=True)


@pytest.mark.parametrize("options", PLATEAU)
def test_reduce_on_plateau(options):
    losses = [1.0, 0.9, 0.95, 0.95, 0.95, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.4]
    compare(RATES.format(kind="SGD") + f"s = schedulers.ReduceLROnPlateau(opt, {options})\nout = []\nfor l in {losses}:\n    s.step(torch.tensor(l)); out.append([s.get_last_lr(), s.num_bad_epochs, s.best])", exact=True)


# --- data ---

ITEMS = "xs = torch.arange(10.0).reshape(5, 2); ys = torch.tensor([0, 1, 0, 1, 1]); ds = data.TensorDataset(xs, ys); g = torch.Generator().manual_seed(7)\n"
LOADERS = (
    "ds|ds,batch_size=2|ds,2,shuffle=True|ds,5,True|ds,2,True,drop_last=True|ds,2,shuffle=True,generator=g|ds,batch_size=None|ds,batch_size=3,num_workers=0,pin_memory=False|ds,2,sampler=data.RandomSampler(ds,replacement=True,num_samples=40)|"
    "ds,2,sampler=data.SubsetRandomSampler([4,0,2])|ds,2,sampler=data.WeightedRandomSampler([1.0,2.0,3.0,0.5,1.0],7)|ds,batch_sampler=data.BatchSampler(data.SequentialSampler(ds),2,False)|list(range(7)),3|[0.5,1.5,2.5],2|['a','b','c'],2|"
    "[{'x':torch.ones(2)*i,'y':i,'z':(i,[float(i)])} for i in range(4)],2|[(i,i/2.0,str(i),[i,i+1]) for i in range(4)],3|[True,False],2|ds,2,collate_fn=lambda b: len(b)|data.Subset(ds,[3,1,1]),2|data.ConcatDataset([ds,ds]),4,True|ds+ds,4|"
    "[__import__('numpy').ones(2)*i for i in range(3)],2"
).split("|")


@pytest.mark.parametrize("options", LOADERS)
def test_batches(options):
    compare(f"{ITEMS}l = data.DataLoader({options})\nout = [len(l), list(l), torch.rand(1), [b for b in l], torch.rand(2), torch.rand(1, generator=g)]", exact=True)


DATA_USES = {
    "one batch": "l = data.DataLoader(ds, 2, shuffle=True)\nit = iter(l); a = torch.rand(1); b = next(it); out = [a, b, torch.rand(1), next(iter(l)), torch.rand(1)]",
    "split": "a, b = data.random_split(ds, [3, 2]); c = data.random_split(range(7), [0.5, 0.3, 0.2], generator=g); out = [a.indices, b.indices, len(a), list(a), [list(s) for s in c], torch.rand(1)]",
    "one's own": "class S(data.Dataset):\n    def __len__(self): return 5\n    def __getitem__(self, i): return xs[i], i * 2\nl = data.DataLoader(S(), 2, True); out = [[(a, b) for a, b in l], len(l.dataset), l.batch_size]",
    "a stream": "class S(data.IterableDataset):\n    def __iter__(self): return iter([1, 2, 3])\nout = [list(data.DataLoader(S(), 2)), torch.rand(1), list(data.DataLoader(S(), batch_size=None))]",
    "two epochs": "l = data.DataLoader(ds, 2, shuffle=True)\nout = [[b[0] for b in l] for _ in range(3)] + [torch.randn(2)]",
    "enumerate": "out = [(i, a, b) for i, (a, b) in enumerate(data.DataLoader(ds, 4))]",
    "collate": "out = [data.default_collate([(torch.ones(1), 2), (torch.zeros(1), 3)]), ds[1:3], ds[0], len(ds)]",
}


@pytest.mark.parametrize("use", DATA_USES)
def test_data_in_use(use):
    compare(ITEMS + DATA_USES[use], exact=True)


# --- distributions ---

DISTRIBUTIONS = {
    "Normal(0.0, 1.0)": "0.3", "Normal(a, b)": "[0.3, -1.0]", "Normal(a, 2.0)": "[[0.3], [1.0]]", "Laplace(a, b)": "[0.3, -1.0]", "Uniform(-1.0, 2.0)": "0.5", "Uniform(a, a + b)": "[0.6, 1.4]", "Exponential(b)": "[0.5, 2.0]",
    "Exponential(0.5)": "1.5", "Bernoulli(b / 3)": "[0.0, 1.0]", "Bernoulli(logits=a)": "[0.0, 1.0]", "Bernoulli(0.25)": "1.0", "Categorical(b)": "1", "Categorical(logits=torch.stack([a, b]))": "[1, 0]", "Poisson(b)": "[2.0, 3.0]",
    "MultivariateNormal(a, torch.diag(b))": "[0.3, -1.0]", "MultivariateNormal(a, scale_tril=torch.tensor([[1.0, 0.0], [0.5, 2.0]]))": "[0.3, -1.0]", "MultivariateNormal(torch.stack([a, b]), precision_matrix=torch.tensor([[2.0, 0.5], [0.5, 1.0]]))": "[0.3, -1.0]",
    "Independent(D.Normal(a, b), 1)": "[0.3, -1.0]",
}
DISTRIBUTION = """
a, b = torch.tensor([0.5, -0.2], requires_grad=True), torch.tensor([0.8, 1.7], requires_grad=True)
d = D.{made}
p = d.log_prob(torch.tensor({value}))
s = [d.sample(), d.sample((3,)), d.sample(torch.Size([2, 2]))]
r = [d.rsample(), d.rsample((2,))] if d.has_rsample else []
e = d.entropy() if type(d).__name__ != 'Poisson' else p
total = p.sum() + e.sum() + sum(v.sum() for v in r)
if total.requires_grad: total.backward()
out = [repr(D.{made}), p, s, r, e, a.grad, b.grad, torch.rand(1), d.batch_shape, d.event_shape]
if type(d).__name__ != 'Categorical': out += [d.mean, d.variance, d.stddev]
"""


@pytest.mark.parametrize("made", DISTRIBUTIONS)
def test_distributions(made):
    compare(DISTRIBUTION.format(made=made, value=DISTRIBUTIONS[made]), exact=False)


PAIRS = [
    "Normal(a, b), D.Normal(b, 1.5)", "Laplace(a, b), D.Laplace(b, b + 1)", "Uniform(a, a + 1), D.Uniform(a - 1, a + b)", "Exponential(b), D.Exponential(b + 1)", "Poisson(b), D.Poisson(b + 1)", "Bernoulli(b / 2), D.Bernoulli(logits=a)",
    "Categorical(b), D.Categorical(logits=a)", "MultivariateNormal(a, torch.diag(b)), D.MultivariateNormal(b, scale_tril=torch.eye(2) * 2)", "Independent(D.Normal(a, b), 1), D.Independent(D.Normal(b, b), 1)",
    "Bernoulli(torch.tensor([0.0, 1.0])), D.Bernoulli(b / 2)",
]


@pytest.mark.parametrize("pair", PAIRS)
def test_divergences(pair):
    start = "a, b = torch.tensor([0.5, -0.2], requires_grad=True), torch.tensor([0.8, 1.7], requires_grad=True)\n"
    compare(f"{start}k = D.kl_divergence(D.{pair})\nk.sum().backward()\nout = [k, a.grad, b.grad]", exact=False)


@pytest.mark.parametrize("options", ["x", "x, tau=0.5", "x, hard=True", "x, 0.7, True, dim=0"])
def test_gumbel_softmax(options):
    compare(f"x.requires_grad_(); y = F.gumbel_softmax({options}); (y * x.detach()).sum().backward(); out = [y, x.grad]", exact=False)


# --- the texts themselves ---

TEXTS = sorted(PRELUDE.glob("*.py.txt"))


def test_the_index_is_what_the_texts_say():
    words = [sys.executable, "-m", "docs.make_prelude", "-"]
    made = subprocess.run(words, cwd=HOME, capture_output=True, check=True).stdout
    assert INDEX_FILE.read_bytes() == made, "run python docs/make_prelude.py"
    assert all(name.rpartition(".")[2] in loaded(text) for name, text in INDEX.items())


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_text_keeps_to_what_the_interpreter_runs(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
    decorators = {ast.unparse(d) for node in ast.walk(tree) for d in getattr(node, "decorator_list", ())}
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert imports <= {"torch", "math", "torch.nn.functional", "collections", "copy"}
    assert decorators <= {"property", "staticmethod", "torch.no_grad()"}
    assert not called & {"eval", "exec", "compile", "open", "globals", "locals", "__import__", "print"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.Global | ast.Match | ast.Try)]
