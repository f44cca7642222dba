"""The recorder of scripts: what is recorded is what PyTorch, NumPy and JAX leave today."""

import pytest

from oracles import portion
from script_comparison import DATA, rows_of

pytest.importorskip("torch")
pytest.importorskip("jax")

from script_recorder import changes, record, recorded

FILES = ("scripts.jsonl", "more_scripts.jsonl", "generated_scripts.jsonl")
FOREIGN = ("autograd", "matplotlib", "tqdm")
"""Modules that scripts import and that tests do not need to be installed."""
ROWS = [
    pytest.param(row, id=row["id"])
    for name in FILES
    for row in rows_of(DATA / name)
    if not any(f"import {word}" in row["source"] or f"from {word}" in row["source"] for word in FOREIGN)
]


@pytest.mark.parametrize("row", portion(ROWS, 15))
def test_a_row_is_recorded_anew_as_it_was(row):
    assert changes(row, recorded(row)) == []


def test_calls_are_those_of_the_script_alone():
    source = """
import torch
from torch.autograd import gradcheck, grad
from torch.func import vjp
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
gradcheck(lambda t: t**2, (x,))
def inner(t):
    return grad((t**3).sum(), t, create_graph=True)[0]
torch.autograd.functional.jacobian(inner, x)
y, pull = vjp(torch.sin, x.detach())
pull(torch.ones(2, dtype=torch.float64))
inner(x).sum().backward()
try:
    grad(y, x)
except RuntimeError:
    pass
"""
    calls = [(call["kind"], call["line"], call.get("names")) for call in record(source)["calls"]]
    assert calls == [("grad", 9, None), ("grad", 11, None), ("grad", 8, None), ("backward", 12, ["x"])]


def test_an_error_has_the_innermost_line_and_sys_exit_its_code():
    error = record("def f(x):\n    return x.nope\n\nf(1)\n")["error"]
    assert error == {"line": 2, "type": "AttributeError", "text": "'int' object has no attribute 'nope'"}
    ended = record("import sys\nprint(1)\nsys.exit(3)\n")
    assert (ended["stdout"], ended["error"], ended["exit"]) == ("1\n", None, 3)


def test_scripts_follow_one_another_without_a_trace():
    source = "import torch\nprint(torch.randn(2), torch.tensor(1 / 3).dtype, torch.is_grad_enabled())\n"
    first = record(source)
    record("import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_printoptions(precision=1)\n"
           "torch.set_grad_enabled(False)\ntorch.manual_seed(7)\n")  # fmt: skip
    assert record(source) == first
