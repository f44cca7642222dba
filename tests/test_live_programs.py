"""PyTorch's own samples of its calls, each with its options: what PyTorch says, and what gradcli says.

GRADCLI_SEED in the environment changes which.
"""

import os
from dataclasses import replace

import numpy as np
import pytest

from oracles import portion

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's samples need it")
from generator.in_torch import doubles
from generator.judges import faults
from generator.samples import NAMES, sampled
from night_calls import findings

SEED = int(os.environ.get("GRADCLI_SEED", "1"))


@pytest.mark.parametrize(
    "number", portion(range(2 * len(NAMES)), 40), ids=lambda number: f"seed {SEED}, number {number}"
)
def test_gradcli_says_what_pytorch_says(number):
    program, wrong = findings(SEED, number)
    assert not wrong, f"{program}\n{wrong}"


@pytest.mark.slow
def test_most_calls_have_a_sample():
    with doubles():
        assert sum(sampled(name, SEED) is not None for name in NAMES) > 0.6 * len(NAMES)


@pytest.fixture
def program():
    with doubles():
        found = next(one for one in (sampled(name, SEED) for name in NAMES) if one is not None and one.jacobian)
        assert faults(found) == []
        yield found


@pytest.mark.parametrize(("fields", "kind"), [
    ({"value": lambda p: p.value + 1e-3}, "value"),
    ({"grad": lambda p: {name: g + 1e-3 for name, g in p.grad.items()}}, "grad"),
    ({"grad": lambda p: {name: np.full(g.shape, np.nan) for name, g in p.grad.items()}}, "grad"),
    ({"jacobian": lambda p: {name: J + 1e-3 for name, J in p.jacobian.items()}}, "formula"),
    ({"text": lambda p: p.text + " +"}, "refusal"),
])  # fmt: skip
def test_a_planted_fault_is_found(program, fields, kind):
    wrong = replace(program, **{name: spoil(program) for name, spoil in fields.items()})
    assert kind in [found for found, _ in faults(wrong)]
