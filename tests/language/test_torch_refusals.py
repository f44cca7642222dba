"""What PyTorch raises on is answered with a note, what it takes without one; ``strict`` refuses the former."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from backward_rows import CONSTANT, INPUTS, ours, recorded, refuses, rows
from gradcli.errors import GradcliError
from gradcli.explanation.evaluation import Function
from oracles import portion

try:
    import torch
except ImportError:
    torch = None


@cache
def kept() -> dict[str, bool]:
    return recorded()


def function_of(text: str) -> tuple[Function, dict[str, Any]]:
    names = [name for name in INPUTS if re.search(rf"\b{name}\b", text)]
    values = {name: np.asarray(INPUTS[name], dtype=float)[()] for name in names}
    return Function(ours(text), [name for name in names if name not in CONSTANT]), values


def remarked(text: str, record: bool) -> bool:
    """Return whether a run leaves a note that PyTorch refuses it."""
    function, values = function_of(text)
    return any(kind == "torch-refuses" for kind, _ in function.evaluate(values, record).graph.remarks)


@pytest.mark.parametrize("text", portion(dict.fromkeys(rows()), 3))
def test_what_torch_refuses_has_a_note_and_nothing_else_has(text: str) -> None:
    wanted = kept()[text] if torch is None else refuses(text)
    assert [remarked(text, record) for record in (True, False)] == [wanted, wanted]
    function, values = function_of(text)
    if not wanted:
        function.evaluate(values, strict=True)
        return
    with pytest.raises(GradcliError) as caught:
        function.evaluate(values, strict=True)
    assert caught.value.kind == "torch-refuses"
    assert caught.value.span is not None


@pytest.mark.parametrize(("text", "refused"), [
    ("h = x*1\nfor q in h:\n    q += 1\ny = h", True), ("h = x*1\nfor q in h:\n    q = q + 1\ny = h", False),
])  # fmt: skip
def test_a_row_of_a_loop_is_one_of_several_views(text: str, refused: bool) -> None:
    assert remarked(text, record=True) is refused
    assert torch is None or refuses(text) is refused


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_what_was_recorded_is_what_torch_does() -> None:
    assert {text: refuses(text) for text in kept()} == kept()
