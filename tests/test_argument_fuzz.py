"""Every function with every kind of argument: an answer or one clear error, and nothing else."""

from __future__ import annotations

import pytest

from fuzz.arguments import faults, outcome
from gradcli.ops import FUNCTIONS
from oracles import portion

ROUNDS = 3
"""Calls of each function for a seed."""

FOUND = (
    "einsum('i,->i', x, s)", "einsum(',i->i', s, x)", "einsum('->', s)", "einsum(',->', s, s)", "sum(sort(E).values)",
    "sort(Z)[0]", "np.sort(Z)", "clamp(x, [1, 2], [1, 2, 3])", "clip([1, 2], x*0, (0.5, 1))", "leaky_relu(x, 'a')",
    "elu(x, None)", "softplus(x, beta=(1, 2))", "np.std(x, ddof='a')", "linspace(0, 1, [])", "layer_norm(Z, (0,))",
    "layer_norm(E, (0,))", "layer_norm(Z, -0.0)", "np.median(0.5, dim=0)", "huber_loss(x, x, delta='mean')",
)  # fmt: skip
"""What this way of asking has brought to light."""


@pytest.mark.parametrize("seed", portion([1, 2, 3], 3))
def test_every_function_takes_or_refuses_every_kind_of_argument(seed: int) -> None:
    assert faults(seed, 0, ROUNDS * len(FUNCTIONS)) == []


@pytest.mark.parametrize("text", FOUND)
def test_what_was_found_is_answered_or_refused(text: str) -> None:
    assert outcome(text, readings=True).fault is None


@pytest.mark.parametrize(("text", "fault"), [("x + unheard", None), ("sum(x)", None)])
def test_an_error_and_an_answer_are_no_faults(text: str, fault: str | None) -> None:
    assert outcome(text, readings=True).fault is fault


def test_an_exception_of_another_kind_is_a_fault() -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("planted")

    assert outcome("sum(x)", readings=False, run=fail).fault == "ZeroDivisionError: planted"
