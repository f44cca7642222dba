"""What lines do to leaves besides derivative calls: draws, gradients that are zeroed, numbers that are written."""

import pytest

from gradcli.runner.script import run_script

LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n(x**2).sum().backward()\n"
MODULE = "import torch\nfrom torch import nn\n"
EVENTS = {  # script, events other than derivative calls and prints
    "a draw": ("import torch\nx = torch.randn(3)", [("draw", 2, ["x"])]),
    "draws of one line": ("import torch\nx, y = torch.rand(2), torch.rand(1)", [("draw", 2, ["x", "y"])]),
    "a draw in place": ("import torch\nw = torch.empty(2)\nw.normal_()", [("draw", 3, ["w"])]),
    "a parameter": ("import torch\nW = torch.nn.Parameter(torch.randn(2))", [("draw", 2, ["W"])]),
    "a draw of NumPy's": (
        "import numpy as np\nnp.random.seed(0)\nW = 0.1 * np.random.randn(2, 2)\n"
        "x = np.random.default_rng(1).normal(size=2)",
        [("draw", 3, ["W"]), ("draw", 4, ["x"])],
    ),
    "a layer": (f"{MODULE}fc = nn.Linear(2, 1)", [("draw", 3, ["fc.weight", "fc.bias"])]),
    "layers of a module": (
        f"{MODULE}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Linear(1, 1)\n        self.b = nn.Linear(1, 1, bias=False)\nnet = Net()",
        [("draw", 6, ["net.a.weight", "net.a.bias"]), ("draw", 7, ["net.b.weight"])],
    ),
    "zero_ of a gradient": (f"{LEAF}x.grad.zero_()", [("zero", 4, ["x"])]),
    "a gradient of None": (f"{LEAF}x.grad = None", [("zero", 4, ["x"])]),
    "zeros that are no gradient": (f"{LEAF}y = torch.ones(2)\ny.zero_()", []),
    "a write under no_grad": (f"{LEAF}with torch.no_grad():\n    x -= 0.1 * x.grad", [("update", 5, ["x"])]),
    "a method under no_grad": (f"{LEAF}with torch.no_grad():\n    x.sub_(x.grad)", [("update", 5, ["x"])]),
    "other data": (f"{LEAF}x.data = x.data - x.grad", [("update", 4, ["x"])]),
    "a write to what is no leaf": ("import torch\nx = torch.ones(2)\nx += 1", []),
    "an optimizer": (
        "import torch\nw = torch.ones(1, requires_grad=True)\nb = torch.ones(1, requires_grad=True)\n"
        "opt = torch.optim.SGD([w, b], lr=0.1)\nfor i in range(2):\n    opt.zero_grad()\n    (w*b).sum().backward()\n"
        "    opt.step()",
        [("update", 8, ["w", "b"]), ("zero", 6, ["w", "b"]), ("update", 8, ["w", "b"])],
    ),
    "a loop over parameters": (
        f"{MODULE}fc = nn.Linear(1, 1)\nfor i in range(2):\n    fc(torch.ones(1, 1)).sum().backward()\n"
        "    with torch.no_grad():\n        for p in fc.parameters():\n"
        "            p -= p.grad\n            p.grad = None",
        [("draw", 3, ["fc.weight", "fc.bias"])]
        + [
            (kind, line, [name])
            for _ in range(2)
            for name in ("fc.weight", "fc.bias")
            for kind, line in (("update", 8), ("zero", 9))
        ],
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_what_a_line_does_is_one_event(name):
    text, wanted = EVENTS[name]
    ended = run_script(text)
    assert (ended.raised, ended.refused) == (None, None)
    noted = [event for event in ended.run.log.events if event.kind in ("draw", "zero", "update")]
    assert [(event.kind, event.line, event.names) for event in noted] == wanted


OWN = {  # the script's own functions, called by a library's code: the lines of their derivative calls
    "a closure": (
        "import torch\nx = torch.ones(1, requires_grad=True)\nopt = torch.optim.SGD([x], lr=0.1)\ndef closure():\n"
        "    opt.zero_grad()\n    y = (x*2).sum()\n    y.backward()\n    return y\n"
        "opt.step(closure)\nopt.step(closure)",
        [7, 7],
    ),
    "forward": (
        f"{MODULE}class Net(nn.Module):\n    def forward(self, x):\n        y = (x**2).sum()\n"
        "        return torch.autograd.grad(y, x)[0]\nNet()(torch.ones(1, requires_grad=True))",
        [6],
    ),
    "a transformation": ("import torch\ndef f(x):\n    return (x**2).sum()\ntorch.func.grad(f)(torch.ones(2))", [4]),
    "what a transformation calls": (
        "import torch\nx = torch.ones(1, requires_grad=True)\ndef f(t):\n"
        "    (x*2).sum().backward()\n    return t.sum()\n"
        "torch.func.grad(f)(torch.ones(2))",
        [6],
    ),
}


@pytest.mark.parametrize("name", OWN)
def test_events_are_the_calls_of_the_script_itself(name):
    text, lines = OWN[name]
    ended = run_script(text)
    assert (ended.raised, ended.refused) == (None, None)
    assert [event.line for event in ended.run.log.events if event.kind in ("backward", "grad")] == lines


def test_events_stand_in_the_order_in_which_lines_ran():
    text = f"{LEAF}print(1)\nx.grad = None\nprint(2)\n(x**2).sum().backward()\nwith torch.no_grad():\n    x -= 1\n1/0"
    kinds = [event.kind for event in run_script(text).run.log.events]
    assert kinds == ["backward", "print", "zero", "print", "backward", "update", "error"]


def test_leaves_keep_their_names_when_a_loop_has_gone_over_them():
    text = (
        f"{MODULE}net = nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 1))\n"
        "for p in net.parameters():\n    print(p.shape)\n"
        "net(torch.ones(1, 1)).sum().backward()"
    )
    events = run_script(text).run.log.events
    names = [f"net[{k}].{part}" for k in (0, 1) for part in ("weight", "bias")]
    assert [list(event.grad) for event in events if event.kind == "backward"] == [names]


def test_a_variable_of_a_loop_is_a_name_where_there_is_no_other():
    text = "import torch\nfor w in [torch.ones(1, requires_grad=True)]:\n    (w*2).sum().backward()"
    assert [list(event.grad) for event in run_script(text).run.log.events] == [["w"]]


def test_names_of_what_inner_functions_share_are_the_variables():
    text = (
        "import torch\ndef f():\n    ws = [torch.ones(1, requires_grad=True)]\n    def g():\n        return ws[0]*2\n"
        "    g().sum().backward()\nf()"
    )
    assert [list(event.grad) for event in run_script(text).run.log.events] == [["ws[0]"]]
