"""Windows over the last axes of an array, and what is made of them: convolution, pooling, and images of other sizes."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple, cast

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.declare import Apply
from gradcli.ops.losses import as_numbers
from gradcli.ops.signatures import Indices, Mask, Static
from gradcli.ops.values import Value, einsum, require, where
from gradcli.ops.vocabulary import function

NOWHERE = -1
"""The place of what lies in the padding."""
Places = tuple[Indices, ...]
"""The places along each axis, a row for a window."""


class Windows(NamedTuple):
    """The ``values`` of windows: the axes before, the outputs along each axis, then the places along each axis.

    ``inside`` are the places that are not padding, None where all are.
    """

    values: Value
    inside: Mask | None
    places: Places


def each_axis(value: Static, count: int, name: str, least: int = 0) -> tuple[int, ...]:
    """Return an integer for each of ``count`` axes, given as one or as a tuple; raises ``value``."""
    given = value if isinstance(value, tuple) else (value,)
    found = [cast(int, item) for item in given if type(item) is int and item >= least]
    fits = len(found) == len(given) and len(found) in (1, count)
    require(fits, "value", f"{name} is an integer from {least}, or one for each of {count} axes, not {value!r}")
    return tuple(found * count if len(found) == 1 else found)


def require_axes(x: Value, count: int, name: str) -> None:
    """Refuse an array without a channel, and perhaps a batch, before so many axes."""
    fits = x.ndim in (count + 1, count + 2)
    require(fits, "shape", f"{name} takes {count + 1} or {count + 2} axes, not shape {x.shape}")


def sliding(
    f: Apply, length: int, kernel: int, stride: int, padding: tuple[int, int], dilation: int = 1, ceil: bool = False
) -> Indices:
    """Return the places of each window along an axis, ``NOWHERE`` for those in the padding; raises ``shape``.

    Windows of 2 entries of 4, 2 apart, with one of padding on both sides, are at [[-1, 0], [1, 2], [3, -1]].
    """
    before, after = padding
    room = length + before + after - dilation * (kernel - 1) - 1
    count = -(-room // stride) + 1 if ceil else room // stride + 1
    require(count > 0, "shape", f"a window of {kernel} does not fit into {length} entries with this padding")
    if ceil and (count - 1) * stride >= length + before:
        count -= 1
    f.charge(count * kernel)
    places = np.arange(count)[:, None] * stride - before + np.arange(kernel) * dilation
    return np.where((places < 0) | (places >= length), NOWHERE, places)


def adaptive(f: Apply, length: int, count: int) -> Indices:
    """Return the places of as many windows as are asked for, which cover an axis evenly."""
    f.charge(count * -(-length // max(count, 1)) + count)
    starts = np.arange(count) * length // count
    ends = -(-(np.arange(count) + 1) * length // count)
    places = starts[:, None] + np.arange(int(np.max(ends - starts, initial=1)))
    return np.where(places < ends[:, None], places, NOWHERE)


def turned(f: Apply, length: int, kernel: int, stride: int, padding: int, more: int, dilation: int) -> Indices:
    """Return the places that each output of a transposed convolution adds up, one for each entry of the kernel."""
    count = (length - 1) * stride - 2 * padding + dilation * (kernel - 1) + more + 1
    require(count > 0, "shape", f"a transposed convolution of {length} entries has none left with this padding")
    f.charge(count * kernel)
    reached = np.arange(count)[:, None] + padding - np.arange(kernel) * dilation
    places = reached // stride
    return np.where((reached % stride == 0) & (places >= 0) & (places < length), places, NOWHERE)


def windows(x: Value, first: int, places: Places, fill: float) -> Windows:
    """Return the windows at ``places`` along the axes from ``first`` on, with ``fill`` where there is nothing."""
    count = len(places)
    x.f.charge(math.prod(x.shape[:first]) * math.prod(p.size for p in places) * math.prod(x.shape[first + count :]))
    shaped = [
        p.reshape([len(p) if k == axis else p.shape[1] if k == count + axis else 1 for k in range(2 * count)])
        for axis, p in enumerate(places)
    ]
    values = x[(*(slice(None) for _ in range(first)), *(np.maximum(p, 0) for p in shaped))]
    inside = np.asarray(np.all(np.broadcast_arrays(*(p != NOWHERE for p in shaped)), axis=0))
    if np.all(inside):
        return Windows(values, None, places)
    behind = inside.reshape(*inside.shape, *(1,) * (x.ndim - first - count))
    return Windows(where(as_numbers(behind), values, fill), inside, places)


# --- convolutions ---

ALONG, WITHIN = "abd", "ijk"
"""Subscripts of the outputs along the axes, and of the entries of the kernel."""


def convolved(
    x: Value, weight: Value, bias: Value | None, places: Places, groups: int, transposed: bool, name: str
) -> Value:
    """Return the sum of products of windows of x and a kernel, for each group of channels, with its bias."""
    axes = len(places)
    along, within = ALONG[:axes], WITHIN[:axes]
    batched = x if x.ndim == axes + 2 else x.reshape(1, *x.shape)
    batch, channels = batched.shape[:2]
    found = windows(batched, 2, places, 0.0).values
    found = found.reshape(batch, groups, channels // groups, *found.shape[2:])
    parts = weight.shape[1] if transposed else weight.shape[0] // groups
    own = (groups, channels // groups, parts) if transposed else (groups, parts, channels // groups)
    kernel = f"gco{within}" if transposed else f"goc{within}"
    weight = weight.reshape(*own, *weight.shape[2:])
    found = einsum(f"ngc{along}{within},{kernel}->ngo{along}", found, weight)
    found = found.reshape(batch, groups * parts, *found.shape[3:])
    if bias is not None:
        said = f"{name}: bias has shape {bias.shape}, and there are {found.shape[1]} outputs"
        require(bias.shape == (found.shape[1],), "shape", said)
        found = found + bias.reshape(-1, *(1,) * axes)
    return found if x.ndim == axes + 2 else found.reshape(*found.shape[1:])


def require_kernel(x: Value, weight: Value, axes: int, groups: Static, transposed: bool, name: str) -> int:
    """Return the number of groups; raises ``shape`` where kernel, groups and channels do not fit."""
    require_axes(x, axes, name)
    if type(groups) is not int or groups < 1:
        raise GradcliError("value", f"{name}: groups is an integer from 1, not {groups!r}")
    channels = x.shape[-axes - 1]
    own = 0
    if weight.ndim == axes + 2:
        own = weight.shape[0] if transposed else weight.shape[1] * groups
    fits = own == channels and weight.ndim == axes + 2 and not weight.shape[0] % groups
    what = f"input of shape {x.shape}, weight of shape {weight.shape}, {groups} groups"
    require(fits, "shape", f"{name}: {what} do not fit: {channels} channels, {own} by the weight")
    return groups


def paddings(
    padding: Static, kernel: tuple[int, ...], dilation: tuple[int, ...], stride: tuple[int, ...], name: str
) -> tuple[tuple[int, int], ...]:
    """Return the padding before and behind each axis; ``"same"`` keeps the length, ``"valid"`` is none."""
    if padding == "same":
        ones = all(step == 1 for step in stride)
        require(ones, "value", f'{name}: padding="same" goes with a stride of 1, not {stride}')
        total = [step * (length - 1) for step, length in zip(dilation, kernel, strict=True)]
        return tuple((both // 2, both - both // 2) for both in total)
    sides = each_axis(0 if padding == "valid" else padding, len(kernel), f"{name}: padding")
    return tuple((side, side) for side in sides)


def enter_convolutions(axes: int) -> None:
    """Enter the convolution along so many axes, and its transpose."""
    name, other = f"conv{axes}d", f"conv_transpose{axes}d"

    def build(
        x: Value, weight: Value, bias: Value | None = None, stride: Static = 1, padding: Static = 0,
        dilation: Static = 1, groups: Static = 1,
    ) -> Value:  # fmt: skip
        parts = require_kernel(x, weight, axes, groups, transposed=False, name=name)
        kernel = weight.shape[2:]
        steps, gaps = each_axis(stride, axes, f"{name}: stride", 1), each_axis(dilation, axes, f"{name}: dilation", 1)
        sides = paddings(padding, kernel, gaps, steps, name)
        places = tuple(map(partial(sliding, x.f), x.shape[-axes:], kernel, steps, sides, gaps))
        return convolved(x, weight, bias, places, parts, transposed=False, name=name)

    def build_transposed(
        x: Value, weight: Value, bias: Value | None = None, stride: Static = 1, padding: Static = 0,
        output_padding: Static = 0, groups: Static = 1, dilation: Static = 1,
    ) -> Value:  # fmt: skip
        parts = require_kernel(x, weight, axes, groups, transposed=True, name=other)
        steps, gaps = each_axis(stride, axes, f"{other}: stride", 1), each_axis(dilation, axes, f"{other}: dilation", 1)
        sides = each_axis(padding, axes, f"{other}: padding")
        more = each_axis(output_padding, axes, f"{other}: output_padding")
        fits = all(n < max(step, gap) for n, step, gap in zip(more, steps, gaps, strict=True))
        require(fits, "value", f"{other}: output_padding has to be less than the stride or the dilation")
        places = tuple(map(partial(turned, x.f), x.shape[-axes:], weight.shape[2:], steps, sides, more, gaps))
        return convolved(x, weight, bias, places, parts, transposed=True, name=other)

    build.__doc__ = f"the sums of products of a kernel with windows of the input, along {counted(axes, 'axis')}"
    words = f"the transpose of a convolution along {counted(axes, 'axis')}: each entry adds a kernel to the output"
    build_transposed.__doc__ = words
    function(name, "torch functional", "neural", kinds="no no no")(build)
    function(other, "torch functional", "neural", kinds="no no no")(build_transposed)


for _axes in (1, 2, 3):
    enter_convolutions(_axes)
