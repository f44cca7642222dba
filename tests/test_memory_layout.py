"""Where the entries of a copy lie in memory, beside PyTorch's clone: permuted, sliced and expanded arrays."""

import numpy as np
import pytest

from gradcli.ops.values import cloned
from oracles import needs_torch


def rearranged(rng, t):
    """Return a tensor permuted, sliced or expanded, as chance will have it."""
    how, axis = rng.integers(3), int(rng.integers(t.ndim))
    if how == 0:
        return t.permute(*rng.permutation(t.ndim).tolist())
    if how == 1:
        return t[tuple(slice(None, None, int(rng.integers(1, 3))) for _ in range(t.ndim))]
    lengths = [int(rng.integers(1, 4)) if k == axis else n for k, n in enumerate(t.shape)]
    return t.narrow(axis, 0, 1).expand(lengths)


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
