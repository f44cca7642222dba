"""PyTorch's own samples of its calls, those of its tests, written as programs: arguments in all forms and shapes."""

import functools
import itertools
import random

import numpy as np
import torch

from generator.in_torch import REFUSED
from generator.judges import of_pytorch
from records import FUNCTIONS, torch_call

MOST = 40
"""Entries of the inputs of a call, so that J stays small."""


NAMES = sorted({torch_call(function) for function in FUNCTIONS.values()} - {None})


@functools.cache
def tables():
    """Return PyTorch's tables of samples, by the name of the call."""
    from torch.testing._internal.common_methods_invocations import op_db  # it takes seconds

    found = {}
    for info in op_db:
        name = info.name.removeprefix("nn.functional.")
        found.setdefault(f"{'torch' if name == info.name else 'F'}.{name}", []).append(info)
    return found


class NotWritten(Exception):
    """No program has such a sample: another one is taken."""


def written(value, inputs):
    """Return an argument as a program has it; a tensor of floats becomes an input."""
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.float64 and value.isfinite().all():
            inputs[f"x{len(inputs)}"] = value.detach().numpy().copy()
            return f"x{len(inputs) - 1}"
        if value.dtype in (torch.bool, torch.int64) and value.numel():
            return f"torch.tensor({value.tolist()})"
        raise NotWritten
    if isinstance(value, list | tuple):
        items = ", ".join(written(item, inputs) for item in value)
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, bool | int | float | str | None | torch.dtype):
        return repr(value)
    raise NotWritten


def program_of(name, sample):
    """Return the text of a sample's call, and its inputs; of a tensor alone, as large as it may be, the beginning."""
    inputs, alone = {}, not sample.args and not sample.kwargs and isinstance(sample.input, torch.Tensor)
    first = sample.input.flatten()[:MOST] if alone and sample.input.numel() > MOST else sample.input
    words = [written(value, inputs) for value in (first, *sample.args)]
    words += [f"{key}={written(value, inputs)}" for key, value in sample.kwargs.items()]
    if not inputs or sum(value.size for value in inputs.values()) > MOST:
        raise NotWritten
    return f"{name}({', '.join(words)})", inputs


def sampled(name, seed):
    """Return what PyTorch says of a random one of its samples of a call; None where no program has one.

    The same name and seed always give the same one.
    """
    rng = random.Random(f"{seed}/{name}")  # noqa: S311
    torch.manual_seed(rng.randrange(2**32))
    samples = [one for info in tables().get(name, ()) for one in info.sample_inputs("cpu", torch.float64, True)]
    for sample, part in itertools.product(rng.sample(samples, len(samples)), ("", "[0]", "[-1]")):
        try:
            text, inputs = program_of(name, sample)
            return of_pytorch(text + part, inputs, lambda shape: np.random.default_rng(seed).uniform(-2, 2, shape))
        except (NotWritten, *REFUSED):  # also several results, and what has no derivative
            continue
    return None
