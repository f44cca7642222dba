"""``check`` of scripts that import modules of the user's own, which gradcli does not have."""

import pytest

import gradcli

TORCH = """import torch
from clampmod import clip_
w = torch.tensor([1., 2.], requires_grad=True)
{before}
loss = (w**3).sum()
loss.backward()
{after}
"""
NUMPY = """import numpy as np
from mynet import tweak
W = np.array([1., 2.])
loss = np.sum(W**2)
dW = 2*W
{after}
"""


def kinds(found):
    return {note.kind for note in found.notes}


@pytest.mark.parametrize("call", ["clip_(w)", "clip_(w=w)", "clip_([{'w': w}])"])
def test_unknown_call_before_backward_is_unclear(call):
    found = gradcli.check(TORCH.format(before=call, after=""))
    assert found.verdict == "unclear"
    assert "clampmod.clip_ (line 4)" in found.reason
    assert {"foreign", "left-out"} <= kinds(found)


@pytest.mark.parametrize("before", ["", "clip_(3)", "clip_"])
def test_script_that_hands_over_no_tensor_is_right_with_a_note(before):
    found = gradcli.check(TORCH.format(before=before, after="clip_(w)"))
    assert found.verdict == "right"
    assert kinds(found) == {"foreign"}


@pytest.mark.parametrize("gradient", ["2*W", "3*W"])
def test_gradient_that_an_unknown_function_may_change_is_unclear(gradient):
    script = NUMPY.replace("2*W", gradient).format(after="tweak(dW)")
    assert gradcli.check(script).verdict == "unclear"
    assert gradcli.check(script, of="loss", expect={"W": "dW"}).verdict == "unclear"


def test_claims_carry_the_notes_of_the_script():
    found = gradcli.check(NUMPY.format(after="tweak()"))
    assert (found.verdict, kinds(found)) == ("right", {"foreign"})


def test_no_budget_is_offered_for_an_unknown_function(cli):
    answer = cli("check", TORCH.format(before="clip_(w)", after=""))
    assert answer.code == 4
    assert "--budget" not in answer.err
    assert "write its definition" in answer.err
