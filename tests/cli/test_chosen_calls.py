"""``check --at`` and ``--turn`` choose a derivative call; a script's own gradients are those at its end."""

import pytest

NUMPY = """import numpy as np
w = np.array([1., 2.])
for i in range(4):
    loss = np.sum(w**2)
    dw = 2*w
    w = w - 0.1*dw
"""
TORCH = """import torch
w = torch.tensor([1., 2.], requires_grad=True)
loss = (w**2).sum()
loss.backward()
dw = 2*w
"""


@pytest.mark.parametrize("option", ["--turn", "--at"])
@pytest.mark.parametrize("words", [[], ["--of", "loss", "--expect", "w=dw"]])
def test_a_choice_without_a_call_is_refused(cli, option, words):
    answer = cli("check", NUMPY, *words, option, "3")
    assert answer.code == 2
    assert f"{option} 3 chooses a derivative call, and the script makes no derivative call" in answer.err


def test_a_choice_beside_own_gradients_is_refused(cli):
    answer = cli("check", TORCH, "--of", "loss", "--expect", "w=dw", "--at", "4")
    assert (answer.code, "--at 4" in answer.err) == (2, True)


def test_a_call_is_chosen_where_the_script_makes_it(cli):
    assert cli("check", TORCH, "--at", "4").code == 0
