"""Subscripts of einsum that are not letters: ``...`` for axes without a name, and lists of numbers."""

from __future__ import annotations

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import LETTERS
from gradcli.ops.declare import value_of
from gradcli.ops.signatures import Static, Tensor

Operands = tuple[Tensor, ...]


def spelled_out(spec: Static | Tensor, tensors: Operands) -> tuple[str, Operands]:
    """Return subscripts in letters, and the arrays; of ``W, [0, 1], x, [1]`` too, which is PyTorch's other form.

    >>> spelled_out("...j,j->...", (np.zeros((2, 3)), np.zeros(3)))[0]
    'aj,j->a'
    """
    if isinstance(spec, str):
        return named(spec.replace(" ", ""), tensors), tensors
    if spec is None or isinstance(spec, int | float | tuple):
        raise GradcliError("value", "einsum needs its subscripts as text", hint='for example einsum("ij,j->i", W, x)')
    return with_letters((spec, *tensors))


def with_letters(given: Operands) -> tuple[str, Operands]:
    """Return subscripts as text, and the arrays, where each array is followed by the numbers of its axes."""
    lists = [np.asarray(value_of(x), dtype=np.float64) for x in given[1::2] + given[len(given) & ~1 :]]
    if len(given) < 2 or not all(x.ndim == 1 and np.isin(x, range(len(LETTERS))).all() for x in lists):
        raise GradcliError("value", "einsum needs its subscripts as text", hint='for example einsum("ij,j->i", W, x)')
    subs = ["".join(LETTERS[int(number)] for number in x) for x in lists]
    count = len(given) // 2
    return ",".join(subs[:count]) + "".join(f"->{out}" for out in subs[count:]), given[: 2 * count : 2]


def named(spec: str, tensors: Operands) -> str:
    """Return subscripts with letters for ``...``: the axes that an array has beside those named, from the last on."""
    inputs, arrow, out = spec.partition("->")
    subs = inputs.split(",")
    if len(subs) != len(tensors):
        return spec
    free = [letter for letter in LETTERS if letter not in spec]
    depths = [x.ndim - len(sub.replace("...", "")) if "..." in sub else 0 for sub, x in zip(subs, tensors, strict=True)]
    most = max(depths)
    if min(depths) < 0 or most > len(free):
        raise GradcliError("shape", f"einsum: {spec!r} names more axes than an array has")
    letters = "".join(free[:most])
    found = ",".join(sub.replace("...", letters[most - n :], 1) for sub, n in zip(subs, depths, strict=True))
    if arrow:
        return f"{found}->{out.replace('...', letters, 1)}"
    once = sorted(c for c in set(inputs) - {",", "."} if inputs.count(c) == 1)
    return f"{found}->{letters}{''.join(once)}"
