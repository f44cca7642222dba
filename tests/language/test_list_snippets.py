"""Random snippets of lists, second names and writes in place: PyTorch's gradient, or a refusal, or a note."""

from __future__ import annotations

import warnings
from random import Random

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from list_snippets import snippet
from oracles import needs_torch, portion

X = [1.0, 2.0, 3.0, 4.0]
PER_TEST = 60


def theirs(text):
    """Return PyTorch's gradient, None where it raises."""
    import torch

    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    names = {"x": x}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(text, names)  # noqa: S102 - made in list_snippets
            names["y"].backward()
        except (RuntimeError, ValueError, IndexError, TypeError, NameError, AttributeError):
            return None
    return x.grad.numpy()


def answered(text):
    """Return whether a snippet has an answer; fails where that is not PyTorch's and no note says so."""
    try:
        found = gradcli.explain(text, x=X)
    except GradcliError:
        return False
    kinds = {note.kind for note in found.notes}
    wanted = theirs(text)
    if wanted is not None and "overlapping-write" not in kinds:
        np.testing.assert_allclose(found.grad["x"], wanted, rtol=1e-12, err_msg=text)
    return wanted is not None


@needs_torch
@pytest.mark.parametrize("seed", portion(range(40), 20))
def test_a_random_snippet_of_lists_is_as_in_pytorch(seed):
    texts = [snippet(Random(f"{seed}:{number}")) for number in range(PER_TEST)]  # noqa: S311
    assert sum(map(answered, texts)) > PER_TEST // 10
