"""What lines do to leaves besides derivative calls: draws, gradients that are zeroed, numbers that are written."""

import pytest

from gradcli.runner.script import run_script
from oracles import cases, named

TABLES = cases("noting.toml")

LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n(x**2).sum().backward()\n"
MODULE = "import torch\nfrom torch import nn\n"
EVENTS = TABLES["EVENTS"]  # script, events other than derivative calls and prints


@pytest.mark.parametrize(("text", "wanted"), named(EVENTS))
def test_what_a_line_does_is_one_event(text, wanted):
    ended = run_script(text)
    assert (ended.raised, ended.refused) == (None, None)
    noted = [event for event in ended.run.log.events if event.kind in ("draw", "zero", "update")]
    assert [[event.kind, event.line, event.names] for event in noted] == wanted


OWN = TABLES["OWN"]  # the script's own functions, called by a library's code: the lines of their derivative calls


@pytest.mark.parametrize(("text", "lines"), named(OWN))
def test_events_are_the_calls_of_the_script_itself(text, lines):
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
