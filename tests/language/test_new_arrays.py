"""What a function gives shows the memory of its argument where it does in PyTorch and NumPy, and is new elsewhere."""

import numpy as np
import pytest

from gradcli.errors import GradcliError
from gradcli.language import arithmetic
from gradcli.language.program import compile_program
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import value_of
from oracles import portion
from share_rows import INPUTS, answers, of_torch, recorded

try:
    import torch
except ImportError:
    torch = None

NUMPY_ALONE = ("flip", "fliplr", "flipud", "rot90", "diag", "diff", "matrix_power", "broadcast_to", "real", "unstack")
"""Where NumPy shows memory and PyTorch copies, or the other way round: PyTorch's answer is taken."""


def first_of(value):
    """Return the numbers of a result, of several the first."""
    value = value.values if type(value) is Pair else value[0] if type(value) in (Parts, tuple) else value
    return np.array(value_of(value), dtype=np.float64)


def does_share(call, name, differentiated, monkeypatch):
    """Return whether a write to the argument of a call shows in its result, None for a refusal."""
    monkeypatch.setattr(arithmetic, "as_output", lambda value, _: value)
    made = f"{name}*1" if differentiated else f"torch.tensor({INPUTS[name]})"
    found = []
    for write in ("", "a *= 3\n"):
        try:
            program = compile_program(f"a = {made}\nb = {call}\n{write}b")
            given = {one: np.array(INPUTS[one])[()] for one in program.inputs}
            found.append(first_of(program.evaluate(given, frozenset(given))[1]))
        except GradcliError:
            return None
    return not np.array_equal(*found, equal_nan=True)


def wrong(rows, differentiated, monkeypatch):
    """Return the rows that are answered otherwise, and how many are answered."""
    said = [(call, name, does_share(call, name, differentiated, monkeypatch), wanted)
            for call, row in rows.items() for name, wanted in row.items()]  # fmt: skip
    return [f"{call} of {name}" for call, name, does, wanted in said if does not in (None, wanted)], len(
        [does for _, _, does, _ in said if does is not None]
    )


@pytest.mark.long
@pytest.mark.parametrize("differentiated", portion([True, False], 2))
def test_a_result_shows_its_argument_where_that_of_pytorch_does(differentiated, monkeypatch):
    rows = recorded()
    found, answered = wrong(rows, differentiated, monkeypatch)
    assert found == []
    assert answered > 0.6 * sum(map(len, rows.values()))


@pytest.mark.long
def test_a_result_shows_its_argument_where_that_of_numpy_does(monkeypatch):
    rows = answers(np, ("np.",), methods=False)
    found, answered = wrong(rows, True, monkeypatch)
    assert [one for one in found if not one.partition("(")[0].endswith(NUMPY_ALONE)] == []
    assert answered > 0.6 * sum(map(len, rows.values()))


@pytest.mark.slow
def test_the_recorded_answers_are_those_of_pytorch():
    pytest.importorskip("torch")
    assert of_torch(torch) == recorded()


@pytest.mark.parametrize("call", [
    "a.cumsum(0)", "a.sort().values", "a.topk(1).values", "a.index_select(0, torch.tensor([0]))",
    "a.gather(0, torch.tensor(0))",
])  # fmt: skip
def test_what_is_picked_of_one_number_is_a_new_array(call, monkeypatch):
    assert does_share(call, "number", differentiated=True, monkeypatch=monkeypatch) is False
    assert does_share("a.view(())", "number", differentiated=True, monkeypatch=monkeypatch) is True
