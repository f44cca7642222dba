"""Random scripts of views, writes in place, lists and second names: what is printed and raised is PyTorch's.

GRADCLI_SEED and GRADCLI_RANDOM_SCRIPTS in the environment change which and how many.
"""

import os
from random import Random

import numpy as np
import pytest

import gradcli
from generator.lists import random_lists
from oracles import portion

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:The use of .x.T. on tensors of dimension other than 2")

from generator.aliases import random_writes  # noqa: E402
from script_recorder import record  # noqa: E402

SEED, COUNT = int(os.environ.get("GRADCLI_SEED", "1")), int(os.environ.get("GRADCLI_RANDOM_SCRIPTS", "1000"))
DOUBLES = "import torch\ntorch.set_default_dtype(torch.float64)\n"
SHOWN = "\nprint(y.item())\ny.backward()\nprint(x.grad.tolist())"


def of_writes(number):
    lines, last, inputs = random_writes(SEED, number, torch)
    given = [f"{name} = torch.tensor({value}, requires_grad={name == 'x'})" for name, value in inputs.items()]
    return "\n".join([*given, *lines, f"y = {last}"])


def of_lists(number):
    text = random_lists(Random(f"{SEED}:{number}"))  # noqa: S311
    return "\n".join(["x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)", text])


KINDS = {"writes": of_writes, "lists": of_lists}


def fault(text):
    """Return what gradcli leaves otherwise than PyTorch, or the type of the error that one of them raises."""
    row, ran = record(text), gradcli.run(text)
    raised = row["error"] and row["error"]["type"]
    if raised or ran.error:
        return "" if (ran.error or "").partition(":")[0] == raised else f"{ran.error} and not {row['error']}"
    got, want = ([np.array(eval(line)) for line in out.split("\n")[-3:-1]] for out in (ran.printed, row["stdout"]))  # noqa: S307
    same = all(np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(got, want, strict=True))
    return "" if same else f"{ran.printed} and not {row['stdout']}"


@pytest.mark.parametrize("start", portion(range(0, COUNT, 50), 5))
@pytest.mark.parametrize("kind", KINDS)
def test_a_random_script_leaves_what_pytorch_leaves(kind, start):
    texts = [DOUBLES + KINDS[kind](number) + SHOWN for number in range(start, start + 50)]
    faults = {text: found for text in texts if (found := fault(text))}
    assert not faults, "\n\n".join(f"{text}\n{found}" for text, found in faults.items())
