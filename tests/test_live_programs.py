"""Random programs of PyTorch's vocabulary, each call with its options: what PyTorch says, and what gradcli says.

GRADCLI_SEED and GRADCLI_LIVE in the environment change which programs and how many.
"""

import os
from dataclasses import replace

import numpy as np
import pytest

from oracles import portion, slow

pytest.importorskip("torch")
from generator.calls.growing import NAMES, grown
from generator.in_torch import doubles
from generator.judges import faults
from night_calls import findings, mode_of

SEED, COUNT = int(os.environ.get("GRADCLI_SEED", "1")), int(os.environ.get("GRADCLI_LIVE", "1000"))


NUMBERS = [
    slow(number) if mode_of(number) == "edge" else number  # many digits take seconds there
    for number in range(COUNT)
]


@pytest.mark.parametrize("number", portion(NUMBERS, 50), ids=lambda number: f"seed {SEED}, number {number}")
def test_gradcli_says_what_pytorch_says(number):
    program, wrong = findings(SEED, number)
    assert not wrong, f"{program}\n{wrong}"


@pytest.mark.slow
def test_every_call_is_taken_by_pytorch():
    ran = {NAMES[number % len(NAMES)] for number in range(5 * len(NAMES)) if findings(SEED, number)[0] is not None}
    assert len(ran) > 0.97 * len(NAMES)


@pytest.fixture
def program():
    with doubles():
        found = next(p for p, _ in (grown("planted", number) for number in range(99)) if p is not None and p.jacobian)
        assert faults(found) == []
        yield found


@pytest.mark.parametrize(("fields", "kind"), [
    ({"value": lambda p: p.value + 1e-3}, "value"),
    ({"grad": lambda p: {name: g + 1e-3 for name, g in p.grad.items()}}, "grad"),
    ({"jacobian": lambda p: {name: J + 1e-3 for name, J in p.jacobian.items()}}, "formula"),
    ({"text": lambda p: p.text + " +"}, "refusal"),
])  # fmt: skip
def test_a_planted_fault_is_found(program, fields, kind):
    wrong = replace(program, **{name: spoil(program) for name, spoil in fields.items()})
    assert kind in [found for found, _ in faults(wrong)]


def test_what_is_not_finite_in_one_is_not_finite_in_the_other(program):
    wrong = replace(program, grad={name: np.full(g.shape, np.nan) for name, g in program.grad.items()})
    assert "grad" in [kind for kind, _ in faults(wrong)]
