"""Where the entries of a copy lie in memory, beside PyTorch's clone: permuted and sliced arrays."""

import numpy as np
import pytest

from gradcli.ops.values import cloned
from oracles import needs_torch


def rearranged(rng, t):
    """Return a tensor permuted or sliced, as chance will have it."""
    if rng.integers(2):
        return t.permute(*rng.permutation(t.ndim).tolist())
    return t[tuple(slice(None, None, int(rng.integers(1, 3))) for _ in range(t.ndim))]


def steps(strides, shape):
    return [step for step, length in zip(strides, shape, strict=True) if length > 1]


@needs_torch
@pytest.mark.parametrize("seed", range(40))
def test_a_copy_lies_in_memory_as_in_pytorch(seed):
    import torch

    rng = np.random.default_rng(seed)
    for _ in range(25):
        shape = tuple(rng.integers(1, 4, rng.integers(1, 5)).tolist())
        t = torch.arange(float(np.prod(shape))).double().reshape(shape)
        for _ in range(rng.integers(4)):
            t = rearranged(rng, t)
        source = np.lib.stride_tricks.as_strided(np.arange(200.0), t.shape, [8 * step for step in t.stride()])
        found = cloned(source)
        assert steps([step // 8 for step in found.strides], t.shape) == steps(t.clone().stride(), t.shape)
        assert not np.may_share_memory(found, source)
