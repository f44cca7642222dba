"""Where PyTorch's own formula loses digits that are right here: a note stands there, with PyTorch's number."""

import warnings
from functools import cache

import numpy as np
import pytest

import gradcli
from backward_rows import torch_functions
from oracles import needs_torch
from records import FUNCTIONS, OPS, RECORDS, torch_call
from records.constants import LINE

DIGITS, NORMAL = 1e-6, 1e-300
NEAR_POLES = {"lgamma", "digamma", "logit"}
"""Where PyTorch loses digits by the code of the function itself, which no formula here repeats."""
CALLS = {
    name: f"{torch_call(FUNCTIONS[name])}(x)"
    for name, op in OPS.items()
    if op.formula is not None and not callable(op.vjps) and len(op.vjps) == 1
    if name in FUNCTIONS and torch_call(FUNCTIONS[name]) and name != "clip"
}
"""Calls of PyTorch's functions of one number that need no other argument, by our names of them."""
NAMES = list(CALLS)


@cache
def functions():
    import torch

    return torch_functions() | {"torch": torch}


def theirs(name, x):
    """Return PyTorch's value and slope."""
    import torch

    leaf = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = eval(CALLS[name], functions() | {"x": leaf})  # noqa: S307 - constants of the tests
    if not y.requires_grad:
        return y.item(), 0.0
    y.backward()
    return y.item(), leaf.grad.item()


def is_lost(own, other):
    return bool(np.isfinite(own) and abs(own) > NORMAL and not abs(own - other) <= DIGITS * abs(own))


def ours(name, x):
    """Return the value and the slope, and what the notes say of PyTorch's."""
    found = gradcli.explain(CALLS[name], x=x)
    notes = [note.message for note in found.notes if note.kind == "torch-loses-digits"]
    return (float(found.output), float(found.grad["x"])), notes


@needs_torch
@pytest.mark.parametrize("name", [name for name in NAMES if OPS[name].torch.rounding is not None])
def test_a_note_has_the_number_of_pytorch(name):
    low, high = RECORDS[name].within
    for x in [x for x in (*LINE[::3], 711.0, -711.0) if low < x < high]:
        own, notes = ours(name, x)
        for what, mine, other in zip(("value", "derivative"), own, theirs(name, x), strict=True):
            said = [note for note in notes if note.startswith(f"PyTorch's {what} ")]
            assert bool(said) is is_lost(mine, other), (x, what, mine, other, notes)
            number = [float(note.partition("it is ")[2].partition(" there")[0]) for note in said]
            np.testing.assert_allclose(number, [other] * len(said), rtol=1e-2, err_msg=f"{x} {what}")


@needs_torch
@pytest.mark.parametrize("name", [n for n in NAMES if OPS[n].torch.rounding is None and n not in NEAR_POLES])
def test_where_there_is_no_note_pytorch_has_the_digits(name):
    low, high = RECORDS[name].within
    for x in [x for x in (*LINE[::3], 711.0, -711.0) if low < x < high]:
        own, _ = ours(name, x)
        assert not any(map(is_lost, own, theirs(name, x))), x


@pytest.mark.parametrize(("program", "x", "said"), [
    ("norm(x)", [1e-200, 1e-200], "PyTorch's value of norm has lost its digits: it is 0 there, and 1.41421e-200 is"),
    ("norm(x, 2, dim=1)", [[3.0, 4.0]], ""),
    ("norm(x, 3)", [1e120, 1e120], "PyTorch's value of norm has lost its digits: it is inf there"),
    ("sum(tanh(x))", [1.0, 30.0], "PyTorch's derivative of tanh has lost its digits in entry [1]: it is 0 there"),
    ("F.normalize(x, dim=0)[0]", [1e-200, 2e-200], ""),
    ("norm(x)", [3.0, 4.0], ""), ("norm(x)", [0.0, 0.0], ""), ("F.gelu(x, approximate='tanh')", -10.0, ""),
])  # fmt: skip
def test_a_note_says_what_is_right(program, x, said):
    notes = [note.message for note in gradcli.explain(program, x=x).notes if note.kind == "torch-loses-digits"]
    assert [note[: len(said)] for note in notes[:1]] == ([said] if said else [])


@needs_torch
@pytest.mark.parametrize("x", [[1e-200, 1e-200], [3e200, -4e200], [0.0, 0.0], [3.0, 4.0], [1e-170, 1e-150]])
def test_a_norm_has_a_note_where_pytorch_gives_another_gradient(x):
    import torch

    leaf = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    torch.norm(leaf).backward()
    found = gradcli.explain("torch.norm(x)", x=x)
    says = any(note.message.startswith("PyTorch's derivative of norm") for note in found.notes)
    assert says is any(map(is_lost, found.grad["x"].tolist(), leaf.grad.tolist()))
