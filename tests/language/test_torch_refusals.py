"""What PyTorch raises on is answered with a note, what it takes without one; ``strict`` refuses the former."""

import numpy as np
import pytest

from backward_rows import CONSTANT, INPUTS, names_of, recorded, refuses
from gradcli.errors import GradcliError
from gradcli.explanation.evaluation import Function
from oracles import portion_of_rows

try:
    import torch
except ImportError:
    torch = None


RECORDED = recorded("torch_refusals.json")


def function_of(text):
    names = names_of(text)
    values = {name: np.asarray(INPUTS[name], dtype=float)[()] for name in names}
    return Function(f"{text}\ny*1", [name for name in names if name not in CONSTANT]), values


def remarked(text, record):
    """Return whether a run leaves a note that PyTorch refuses it."""
    function, values = function_of(text)
    return any(kind == "torch-refuses" for kind, _ in function.evaluate(values, record).graph.remarks)


@pytest.mark.parametrize(("text", "wanted"), portion_of_rows(RECORDED.items(), 3))
def test_what_torch_refuses_has_a_note_and_nothing_else_has(text, wanted):
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
def test_a_row_of_a_loop_is_one_of_several_views(text, refused):
    assert remarked(text, record=True) is refused
    assert torch is None or refuses(text) is refused
