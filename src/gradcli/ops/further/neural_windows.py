"""Windows over the last axes of an array, which convolution and pooling are made of."""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply
from gradcli.ops.indexing import INDEX
from gradcli.ops.losses import as_numbers
from gradcli.ops.piecewise import WHERE
from gradcli.ops.signatures import Indices, Mask, Static, Tensor

NOWHERE = -1
"""The place of what lies in the padding."""


class Windows(NamedTuple):
    """The ``values`` of windows: the axes before, the outputs along each axis, then the places along each axis.

    ``inside`` are the places that are not padding, None where all are.
    """

    values: Tensor
    inside: Mask | None
    places: tuple[Indices, ...]


def each_axis(value: Static, count: int, name: str, least: int = 0) -> tuple[int, ...]:
    """Return an integer for each of ``count`` axes, given as one or as a tuple; raises ``value``."""
    given = value if isinstance(value, tuple) else (value,)
    found = [cast(int, item) for item in given if type(item) is int and item >= least]
    if len(found) != len(given) or len(found) not in (1, count):
        raise GradcliError(
            "value", f"{name} is an integer from {least}, or one for each of {count} axes, not {value!r}"
        )
    return tuple(found * count if len(found) == 1 else found)


def require_axes(x: Tensor, count: int, name: str) -> None:
    """Refuse an array without a channel, and perhaps a batch, before so many axes."""
    if x.ndim not in (count + 1, count + 2):
        raise GradcliError("shape", f"{name} takes {count + 1} or {count + 2} axes, not shape {x.shape}")


def sliding(
    f: Apply,
    length: int,
    kernel: int,
    stride: int,
    padding: tuple[int, int],
    dilation: int = 1,
    ceil_mode: bool = False,
) -> Indices:
    """Return the places of each window along an axis, ``NOWHERE`` for those in the padding; raises ``shape``.

    Windows of 2 entries of 4, 2 apart, with one of padding on both sides, are at [[-1, 0], [1, 2], [3, -1]].
    """
    before, after = padding
    room = length + before + after - dilation * (kernel - 1) - 1
    count = -(-room // stride) + 1 if ceil_mode else room // stride + 1
    if count < 1:
        raise GradcliError("shape", f"a window of {kernel} does not fit into {length} entries with this padding")
    if ceil_mode and (count - 1) * stride >= length + before:
        count -= 1
    f.charge(count * kernel)
    places = np.arange(count)[:, None] * stride - before + np.arange(kernel) * dilation
    return np.where((places < 0) | (places >= length), NOWHERE, places)


def adaptive(f: Apply, length: int, count: int) -> Indices:
    """Return the places of as many windows as are asked for, which cover an axis evenly."""
    f.charge(count * -(-length // max(count, 1)) + count)
    starts = np.arange(count) * length // count
    ends = -(-(np.arange(count) + 1) * length // count)
    widest = int(np.max(ends - starts, initial=1))
    places = starts[:, None] + np.arange(widest)
    return np.where(places < ends[:, None], places, NOWHERE)


def turned(f: Apply, length: int, kernel: int, stride: int, padding: int, more: int, dilation: int) -> Indices:
    """Return the places that each output of a transposed convolution adds up, one for each entry of the kernel."""
    count = (length - 1) * stride - 2 * padding + dilation * (kernel - 1) + more + 1
    if count < 1:
        raise GradcliError("shape", f"a transposed convolution of {length} entries has none left with this padding")
    f.charge(count * kernel)
    reached = np.arange(count)[:, None] + padding - np.arange(kernel) * dilation
    places = reached // stride
    return np.where((reached % stride == 0) & (places >= 0) & (places < length), places, NOWHERE)


def windows(f: Apply, x: Tensor, first: int, places: tuple[Indices, ...], fill: float) -> Windows:
    """Return the windows at ``places`` along the axes from ``first`` on, with ``fill`` where there is nothing."""
    count = len(places)
    f.charge(math.prod(x.shape[:first]) * math.prod(p.size for p in places) * math.prod(x.shape[first + count :]))
    shaped = [
        p.reshape([len(p) if k == axis else p.shape[1] if k == count + axis else 1 for k in range(2 * count)])
        for axis, p in enumerate(places)
    ]
    key = (*(slice(None) for _ in range(first)), *(np.maximum(p, 0) for p in shaped))
    values = f(INDEX, x, key=key)
    inside = np.asarray(np.all(np.broadcast_arrays(*(p != NOWHERE for p in shaped)), axis=0))
    if np.all(inside):
        return Windows(values, None, places)
    behind = inside.reshape(*inside.shape, *(1,) * (x.ndim - first - count))
    return Windows(f(WHERE, as_numbers(behind), values, np.float64(fill)), inside, places)
