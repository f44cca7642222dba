"""Windows over the last axes of an array, and what is made of them: convolution, pooling, images of other sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from operator import add
from typing import NamedTuple, cast

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.ops.declare import Apply, Pair
from gradcli.ops.links import Array, Indices, Mask, Static, along_axis
from gradcli.ops.neural import as_numbers
from gradcli.ops.statistics import PICK
from gradcli.ops.values import Value, einsum, number, relu, require, sign, square, where
from gradcli.ops.vocabulary import KEPT, OF_FLOATS, OF_NUMBERS, STRICT, function

NOWHERE = -1
"""The place of what lies in the padding."""
Places = tuple[Indices, ...]
"""The places along each axis, a row for a window."""
EVERYWHERE = "torch functional"
neural = partial(function, family="neural")


class Windows(NamedTuple):
    """The ``values`` of windows: the axes before, the outputs along each axis, then the places along each axis.

    ``padded`` says that some of their places are padding.
    """

    values: Value
    padded: bool


def each_axis(value: Static, count: int, name: str, least: int = 0) -> tuple[int, ...]:
    """Return an integer for each of ``count`` axes, given as one or as a tuple; raises ``value``."""
    items = value if isinstance(value, tuple) else (value,)
    integers = [cast(int, item) for item in items if type(item) is int and item >= least]
    fits = len(integers) == len(items) and len(integers) in (1, count)
    require(fits, "value", f"{name} is an integer from {least}, or one for each of {count} axes, not {value!r}")
    return tuple(integers * count if len(integers) == 1 else integers)


def require_axes(x: Value, count: int, name: str) -> None:
    """Refuse an array without a channel, and perhaps a batch, before so many axes."""
    fits = x.ndim in (count + 1, count + 2)
    require(fits, "shape", f"{name} takes {count + 1} or {count + 2} axes, not shape {x.shape}")


def whole_factor(value: Static, name: str) -> int:
    """Return an integer from 1; raises ``value``."""
    if type(value) is not int or value < 1:
        raise GradcliError("value", f"{name} is an integer from 1, not {value!r}")
    return value


# --- places ---


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


def transposed(f: Apply, length: int, kernel: int, stride: int, padding: int, more: int, dilation: int) -> Indices:
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
    inside: Mask = np.asarray(np.all(np.broadcast_arrays(*(p != NOWHERE for p in shaped)), axis=0))
    if np.all(inside):
        return Windows(values, padded=False)
    behind = inside.reshape(*inside.shape, *(1,) * (x.ndim - first - count))
    return Windows(where(as_numbers(behind), values, fill), padded=True)


# --- convolutions ---

ALONG, WITHIN = "abd", "ijk"
"""Subscripts of the outputs along the axes, and of the entries of the kernel."""


def convolved(
    x: Value, weight: Value, bias: Value | None, places: Places, groups: int, flipped: bool, name: str
) -> Value:
    """Return the sum of products of windows of x and a kernel, for each group of channels, with its bias."""
    axes = len(places)
    along, within = ALONG[:axes], WITHIN[:axes]
    batched = x if x.ndim == axes + 2 else x.reshape(1, *x.shape)
    batch, channels = batched.shape[:2]
    values = windows(batched, 2, places, 0.0).values
    values = values.reshape(batch, groups, channels // groups, *values.shape[2:])
    parts = weight.shape[1] if flipped else weight.shape[0] // groups
    inside = (channels // groups, parts) if flipped else (parts, channels // groups)
    weight = weight.reshape(groups, *inside, *weight.shape[2:])
    sums = einsum(f"ngc{along}{within},{'gco' if flipped else 'goc'}{within}->ngo{along}", values, weight)
    sums = sums.reshape(batch, groups * parts, *sums.shape[3:])
    if bias is not None:
        said = f"{name}: bias has shape {bias.shape}, and there are {sums.shape[1]} outputs"
        require(bias.shape == (sums.shape[1],), "shape", said)
        sums = sums + bias.reshape(-1, *(1,) * axes)
    return sums if x.ndim == axes + 2 else sums.reshape(*sums.shape[1:])


def require_kernel(x: Value, weight: Value, axes: int, groups: Static, flipped: bool, name: str) -> int:
    """Return the number of groups; raises ``shape`` where kernel, groups and channels do not fit."""
    require_axes(x, axes, name)
    count = whole_factor(groups, f"{name}: groups")
    channels, reads = x.shape[-axes - 1], 0
    if weight.ndim == axes + 2:
        reads = weight.shape[0] if flipped else weight.shape[1] * count
    fits = reads == channels and weight.ndim == axes + 2 and not weight.shape[0] % count
    what = f"input of shape {x.shape}, weight of shape {weight.shape}, {count} groups"
    require(fits, "shape", f"{name}: {what} do not fit: {channels} channels, {reads} by the weight")
    return count


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
    words = f"the transpose of a convolution along {counted(axes, 'axis')}: each entry adds a kernel to the output"
    about = f"the sums of products of a kernel with windows of the input, along {counted(axes, 'axis')}"

    @neural(name, EVERYWHERE, kinds=STRICT, doc=about)
    def build(
        x: Value,
        weight: Value,
        bias: Value | None = None,
        stride: Static = 1,
        padding: Static = 0,
        dilation: Static = 1,
        groups: Static = 1,
    ) -> Value:
        parts = require_kernel(x, weight, axes, groups, flipped=False, name=name)
        kernel = weight.shape[2:]
        steps, gaps = each_axis(stride, axes, f"{name}: stride", 1), each_axis(dilation, axes, f"{name}: dilation", 1)
        sides = paddings(padding, kernel, gaps, steps, name)
        places = tuple(map(partial(sliding, x.f), x.shape[-axes:], kernel, steps, sides, gaps))
        return convolved(x, weight, bias, places, parts, flipped=False, name=name)

    @neural(other, EVERYWHERE, kinds=STRICT, doc=words)
    def build_transposed(
        x: Value,
        weight: Value,
        bias: Value | None = None,
        stride: Static = 1,
        padding: Static = 0,
        output_padding: Static = 0,
        groups: Static = 1,
        dilation: Static = 1,
    ) -> Value:
        parts = require_kernel(x, weight, axes, groups, flipped=True, name=other)
        steps, gaps = each_axis(stride, axes, f"{other}: stride", 1), each_axis(dilation, axes, f"{other}: dilation", 1)
        sides = each_axis(padding, axes, f"{other}: padding")
        more = each_axis(output_padding, axes, f"{other}: output_padding")
        fits = all(n < max(step, gap) for n, step, gap in zip(more, steps, gaps, strict=True))
        require(fits, "value", f"{other}: output_padding has to be less than the stride or the dilation")
        places = tuple(map(partial(transposed, x.f), x.shape[-axes:], weight.shape[2:], steps, sides, more, gaps))
        return convolved(x, weight, bias, places, parts, flipped=True, name=other)


# --- pooling ---


def largest(x: Value, places: Places, return_indices: Static) -> Value | Pair:
    """Return the largest of each window, the first of several, and perhaps where it stands in the last axes of x."""
    axes = len(places)
    first = x.ndim - axes
    values = windows(x, first, places, -np.inf).values
    flat = values.reshape(*values.shape[: first + axes], math.prod(values.shape[first + axes :]))
    peaks = flat.of(PICK, kind="max", dim=first + axes, keepdim=False)
    if not return_indices:
        return peaks
    picked = np.squeeze(x.f.piece(PICK, flat.node, kind="max", dim=first + axes), axis=first + axes)
    within, stands = np.unravel_index(picked, [p.shape[1] for p in places]), np.zeros(picked.shape, dtype=np.intp)
    for axis, (inside, length) in enumerate(zip(within, x.shape[first:], strict=True)):
        outputs = along_axis(np.arange(len(places[axis])), axis, axes)
        stands = stands * length + places[axis][outputs, inside]
    return Pair(peaks, stands)


def averaged(parts: Windows, axes: int, divisor: Array | float) -> Value:
    """Return the sum of each window over a divisor for each."""
    first = parts.values.ndim - 2 * axes
    inside = tuple(range(first + axes, first + 2 * axes))
    if not parts.padded and np.all(divisor == math.prod(parts.values.shape[first + axes :])):
        return parts.values.mean(*inside)
    return parts.values.sum(*inside) / np.asarray(divisor, dtype=np.float64)[()]


def outer_product(counts: list[Array]) -> Array:
    """Return the products of one number from each list, an axis for each."""
    shaped = [along_axis(c, axis, len(counts)) for axis, c in enumerate(counts)]
    return math.prod(shaped[1:], start=shaped[0])


def entries_in(places: Places) -> Array:
    """Return how many entries of each window are no padding."""
    return outer_product([np.sum(p >= 0, axis=1).astype(np.float64) for p in places])


def pooled_places(
    x: Value,
    axes: int,
    kernel_size: Static,
    stride: Static,
    padding: Static,
    dilation: Static,
    ceil_mode: bool,
    name: str,
) -> tuple[Places, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the places of the windows, and kernel, stride and padding along each axis."""
    require_axes(x, axes, name)
    kernel = each_axis(kernel_size, axes, f"{name}: kernel_size", 1)
    steps = kernel if stride in (None, ()) else each_axis(stride, axes, f"{name}: stride", 1)
    sides, gaps = each_axis(padding, axes, f"{name}: padding"), each_axis(dilation, axes, f"{name}: dilation", 1)
    fits = all(side <= (gap * (n - 1) + 1) // 2 for side, n, gap in zip(sides, kernel, gaps, strict=True))
    require(fits, "value", f"{name}: padding is at most half of the kernel, not {padding}")
    both = [(side, side) for side in sides]
    places = tuple(map(partial(sliding, x.f), x.shape[-axes:], kernel, steps, both, gaps, [ceil_mode] * axes))
    return places, kernel, steps, sides


def enter_max(axes: int) -> None:
    """Enter max pooling along so many axes."""
    name = f"max_pool{axes}d"
    words = f"the largest entry of each window along {counted(axes, 'axis')}, of several the first"

    @neural(name, EVERYWHERE, kinds=OF_NUMBERS, doc=words)
    def build(
        x: Value,
        kernel_size: Static,
        stride: Static = None,
        padding: Static = 0,
        dilation: Static = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Value | Pair:
        places, *_ = pooled_places(x, axes, kernel_size, stride, padding, dilation, ceil_mode, name)
        return largest(x, places, return_indices)


def enter_average(axes: int) -> None:
    """Enter average pooling along so many axes."""
    name = f"avg_pool{axes}d"
    words = f"the mean of each window along {counted(axes, 'axis')}, padding counted unless count_include_pad=False"

    @neural(name, EVERYWHERE if axes == 1 else "functional", kinds=OF_FLOATS, doc=words)
    def build(
        x: Value,
        kernel_size: Static,
        stride: Static = None,
        padding: Static = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: float | None = None,
    ) -> Value:
        places, kernel, steps, sides = pooled_places(x, axes, kernel_size, stride, padding, 1, ceil_mode, name)
        parts, counts = windows(x, x.ndim - axes, places, 0.0), entries_in(places)
        if divisor_override is not None:
            require(divisor_override, "value", f"{name}: divisor_override cannot be 0")
            return averaged(parts, axes, divisor_override)
        if count_include_pad:
            starts = [np.arange(len(p)) * step - side for p, step, side in zip(places, steps, sides, strict=True)]
            ends = [n + side for n, side in zip(x.shape[-axes:], sides, strict=True)]
            lengths = [np.minimum(s + n, e) - s for s, n, e in zip(starts, kernel, ends, strict=True)]
            counts = outer_product([length.astype(np.float64) for length in lengths])
        return averaged(parts, axes, counts)


def adaptive_places(x: Value, axes: int, output_size: Static, name: str) -> Places:
    """Return the places of as many windows along each axis as ``output_size`` says, None for all of its entries."""
    require_axes(x, axes, name)
    sizes = output_size if isinstance(output_size, tuple) else (output_size,) * axes
    filled = tuple(n if size is None else size for n, size in zip(x.shape[-axes:], sizes, strict=False))
    counts = each_axis(filled if len(sizes) == axes else sizes, axes, f"{name}: output_size")
    require(0 not in x.shape[-axes:], "shape", f"{name} of no entries: the array has shape {x.shape}")
    return tuple(map(partial(adaptive, x.f), x.shape[-axes:], counts))


def enter_adaptive(axes: int) -> None:
    """Enter both poolings that are told how many windows to make along so many axes."""
    mean, most = f"adaptive_avg_pool{axes}d", f"adaptive_max_pool{axes}d"
    where = EVERYWHERE if axes == 1 else "functional"
    words = f"of as many windows as output_size says, along {counted(axes, 'axis')}"

    @neural(mean, where, kinds=OF_FLOATS, doc=f"the means {words}")
    def build_mean(x: Value, output_size: Static) -> Value:
        places = adaptive_places(x, axes, output_size, mean)
        return averaged(windows(x, x.ndim - axes, places, 0.0), axes, entries_in(places))

    @neural(most, where, kinds=OF_NUMBERS, doc=f"the largest entries {words}")
    def build_most(x: Value, output_size: Static, return_indices: bool = False) -> Value | Pair:
        return largest(x, adaptive_places(x, axes, output_size, most), return_indices)


def enter_norm(axes: int) -> None:
    """Enter pooling by norms along so many axes."""
    name = f"lp_pool{axes}d"

    @neural(name, "functional", kinds=OF_FLOATS, doc=f"(sum(x**p))**(1/p) of each window along {counted(axes, 'axis')}")
    def build(
        x: Value, norm_type: Static, kernel_size: Static, stride: Static = None, ceil_mode: bool = False
    ) -> Value:
        places, kernel, *_ = pooled_places(x, axes, kernel_size, stride, 0, 1, ceil_mode, name)
        order, first = number(norm_type, "norm_type"), x.ndim - axes
        said = f"{name}: norm_type is a number other than 0, not {norm_type}"
        require(order and not math.isnan(order), "value", said)
        if math.isinf(order):
            peaks = cast("Value", largest(abs(x) if order > 0 else -abs(x), places, return_indices=False))
            return peaks if order > 0 else -peaks
        mean = averaged(windows(x**order, first, places, 0.0), axes, entries_in(places))
        signed = sign(mean) * relu(abs(mean))  # as PyTorch takes the root
        return (signed * math.prod(kernel)) ** (1 / order)


for _axes in (1, 2, 3):
    for _enter in (enter_convolutions, enter_max, enter_average, enter_adaptive, enter_norm):
        _enter(_axes)


@neural("local_response_norm", "functional", kinds=STRICT)
def local_response_norm(x: Value, size: Static, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Value:
    """x/(k + alpha*mean(x**2))**beta, the mean over the neighbouring channels"""
    require(x.ndim > 2, "shape", f"local_response_norm takes 3 axes or more, not shape {x.shape}")
    [width] = each_axis(size, 1, "local_response_norm: size", 1)
    places = sliding(x.f, x.shape[1], width, 1, (width // 2, (width - 1) // 2))
    mean = windows(square(x), 1, (places,), 0.0).values.sum(2) / width
    return x / (mean * alpha + k) ** beta


# --- windows as columns ---


def pair_of(value: Static, name: str, least: int = 1) -> tuple[int, int]:
    """Return a height and a width, given as one number or two."""
    return cast("tuple[int, int]", each_axis(value, 2, name, least))


def window_places(
    f: Apply, channels: int, lengths: tuple[int, ...], kernel: tuple[int, ...], dilation: Static, stride: Static
) -> Indices:
    """Return the flat places of all entries of windows: a row for a channel and place in it, a column for a window."""
    how = kernel, pair_of(stride, "stride"), [(0, 0)] * 2, pair_of(dilation, "dilation")
    rows, columns = (places.T for places in map(partial(sliding, f), lengths, *how))
    plane = rows[:, None, :, None] * lengths[1] + columns[None, :, None, :]
    layers = np.arange(channels)[:, None, None, None, None] * math.prod(lengths)
    return (layers + plane).reshape(channels * math.prod(kernel), -1)


@function("F.unfold nn.functional.unfold torch.nn.functional.unfold", "", "shaping", kinds=KEPT)
def image_windows(
    x: Value, kernel_size: Static, dilation: Static = 1, padding: Static = 0, stride: Static = 1
) -> Value:
    """the windows of images, each as a column"""
    from gradcli.ops.further.shapes import PAD

    fits = x.ndim in (3, 4)
    require(fits, "shape", f"F.unfold takes an image (C, H, W) or a batch of them, not shape {x.shape}")
    kernel, (high, wide) = pair_of(kernel_size, "kernel_size"), pair_of(padding, "padding", 0)
    padded = x.of(PAD, pads=(*[(0, 0)] * (x.ndim - 2), (high, high), (wide, wide)))
    channels, *lengths = padded.shape[-3:]
    places = window_places(x.f, channels, tuple(lengths), kernel, dilation, stride)
    return padded.reshape(*padded.shape[:-3], math.prod(padded.shape[-3:])).along(x.ndim - 3, places)


@function("F.fold nn.functional.fold torch.nn.functional.fold", "", "shaping", kinds=KEPT)
def fold(
    x: Value, output_size: Static, kernel_size: Static, dilation: Static = 1, padding: Static = 0, stride: Static = 1
) -> Value:
    """images of windows: each entry is the sum of those that windows have there"""
    from gradcli.ops.further.indices import reduced

    kernel, size = pair_of(kernel_size, "kernel_size"), pair_of(output_size, "output_size")
    edges, count = pair_of(padding, "padding", 0), math.prod(kernel)
    fits = x.ndim in (2, 3) and not x.shape[-2] % count
    require(fits, "shape", f"F.fold takes windows of {count} entries as columns, not {x.shape}")
    channels, batch = x.shape[-2] // count, x.shape[:-2]
    lengths = tuple(length + 2 * edge for length, edge in zip(size, edges, strict=True))
    places = window_places(x.f, channels, lengths, kernel, dilation, stride)
    fits = places.shape == x.shape[-2:]
    require(fits, "shape", f"F.fold: shape {x.shape} for windows that make up {places.shape}")
    entries = channels * math.prod(lengths)
    flat = np.arange(math.prod(batch))[:, None, None] * entries + places
    images = reduced(Value(x.f, np.zeros(flat.shape[0] * entries)), flat, x, "sum").reshape(*batch, channels, *lengths)
    inside = tuple(slice(edge, edge + length) for edge, length in zip(edges, size, strict=True))
    return images[(..., *inside)] if any(edges) else images


# --- images made larger or smaller ---

Tap = tuple[Indices, Array]
"""The places along an axis that a part of each output comes from, and the share that it has."""
Taps = Callable[[int, int, float | None, bool], list[Tap]]
Factors = tuple[float | None, ...]
CUBIC = -0.75
"""The free parameter of cubic convolution, as PyTorch has it."""


def nearest(shift: float) -> Taps:
    """Return the taps of the nearest entry, which PyTorch finds in single precision."""

    def taps(length: int, count: int, factor: float | None, align: bool) -> list[Tap]:
        del align
        step = np.float32(1 / factor if factor else length / count)
        places = np.floor((np.arange(count, dtype=np.float32) + np.float32(shift)) * step)
        return [(np.minimum(places.astype(np.intp), length - 1), np.ones(count))]

    return taps


def sources(length: int, count: int, factor: float | None, align: bool) -> Array:
    """Return where between the entries of an axis each output lies."""
    places = np.arange(count, dtype=np.float64)
    if align:
        return places * ((length - 1) / (count - 1) if count > 1 else 0.0)
    return (places + 0.5) * (1 / factor if factor else length / count) - 0.5


def linear(length: int, count: int, factor: float | None, align: bool) -> list[Tap]:
    """Return the taps of a straight line between two neighbours."""
    source = np.maximum(sources(length, count, factor, align), 0.0)
    first = np.minimum(source.astype(np.intp), length - 1)
    share = np.clip(source - first, 0.0, 1.0)
    return [(first, 1 - share), (np.minimum(first + 1, length - 1), share)]


def cubic(length: int, count: int, factor: float | None, align: bool) -> list[Tap]:
    """Return the taps of a cubic through four neighbours: one formula up to a distance of 1, another up to 2."""

    def near(t: Array) -> Array:
        return ((CUBIC + 2) * t - (CUBIC + 3)) * t * t + 1

    def far(t: Array) -> Array:
        return ((CUBIC * t - 5 * CUBIC) * t + 8 * CUBIC) * t - 4 * CUBIC

    source = sources(length, count, factor, align)
    first = np.floor(source)
    t = source - first
    places = [np.clip(first.astype(np.intp) + k, 0, length - 1) for k in (-1, 0, 1, 2)]
    return list(zip(places, [far(t + 1), near(t), near(1 - t), far(2 - t)], strict=True))


MODES: dict[str, tuple[Taps, tuple[int, ...]]] = {
    "nearest": (nearest(0.0), (1, 2, 3)),
    "nearest-exact": (nearest(0.5), (1, 2, 3)),
    "linear": (linear, (1,)),
    "bilinear": (linear, (2,)),
    "trilinear": (linear, (3,)),
    "bicubic": (cubic, (2,)),
}
"""The taps of each way to interpolate, and along how many axes there is one."""


def resized(x: Value, axis: int, taps: list[Tap]) -> Value:
    """Return x with other entries along an axis: the sum of what each output takes."""
    shape = (-1, *(1,) * (x.ndim - axis - 1))
    if len(taps) == 1:
        return x.along(axis, taps[0][0])
    return reduce(add, [x.along(axis, places) * shares.reshape(shape) for places, shares in taps])


def sizes_of(x: Value, size: Static, scale_factor: Static, again: bool) -> tuple[tuple[int, ...], Factors]:
    """Return the lengths of the result and the factors, None where they follow from the lengths."""
    axes = x.ndim - 2
    one = (size is None) != (scale_factor is None)
    require(one, "value", "interpolate takes size or scale_factor, one of them")
    if size is not None:
        require(not again, "value", "interpolate: recompute_scale_factor goes with scale_factor")
        return each_axis(size, axes, "interpolate: size", 1), (None,) * axes
    items = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * axes
    said = f"interpolate: scale_factor is a number, or one for each of {axes} axes"
    require(len(items) == axes, "value", said)
    factors = tuple(number(factor, "scale_factor") for factor in items)
    grown = [length * factor for length, factor in zip(x.shape[2:], factors, strict=True)]
    what = "interpolate: scale_factor must be finite, as the lengths that it leaves"
    require(all(map(math.isfinite, grown)), "value", f"{what}, not {scale_factor}")
    lengths = tuple(map(math.floor, grown))
    some = all(length > 0 for length in lengths)
    require(some, "shape", f"interpolate by {scale_factor}: nothing is left of shape {x.shape}")
    return lengths, (None,) * axes if again else factors


@neural("interpolate upsample", "functional", kinds=OF_FLOATS)
def interpolate(
    x: Value,
    size: Static = None,
    scale_factor: Static = None,
    mode: Static = "nearest",
    align_corners: Static = None,
    recompute_scale_factor: Static = None,
    antialias: Static = False,
) -> Value:
    """the array with other lengths behind batch and channels, by mode"""
    fits = 3 <= x.ndim <= 5
    require(fits, "shape", f"interpolate takes a batch of channels with 1 to 3 axes, not shape {x.shape}")
    require(not antialias, "value", "interpolate: antialias is not supported", hint="leave it out")
    axes = x.ndim - 2
    names = [name for name, (_, counts) in MODES.items() if axes in counts]
    is_mode = mode in (*names, "area")
    require(is_mode, "value", f"interpolate: {mode!r} is no mode for {axes} axes", hint=f"use {', '.join(names)}")
    bare = align_corners is None or mode not in ("nearest", "nearest-exact", "area")
    require(bare, "value", f"interpolate: align_corners does not go with mode={mode!r}")
    again = bool(recompute_scale_factor) or (mode == "area" and scale_factor is not None)
    lengths, factors = sizes_of(x, size, scale_factor, again)
    x.f.charge(math.prod(x.shape[:2]) * math.prod(lengths))
    if mode == "area":
        places = tuple(map(partial(adaptive, x.f), x.shape[2:], lengths))
        return averaged(windows(x, 2, places, 0.0), axes, entries_in(places))
    taps = MODES[str(mode)][0]
    for axis, (count, factor) in enumerate(zip(lengths, factors, strict=True), start=2):
        length = x.shape[axis]
        # PyTorch takes no factor for the nearest entry of an image whose length stays or doubles.
        by = None if mode == "nearest" and axes == 2 and count in (length, 2 * length) else factor
        x = resized(x, axis, taps(length, count, by, bool(align_corners)))
    return x


@neural("pixel_shuffle", EVERYWHERE, kinds=OF_NUMBERS)
def pixel_shuffle(x: Value, upscale_factor: Static) -> Value:
    """r*r channels spread over squares of r by r pixels"""
    r = whole_factor(upscale_factor, "upscale_factor")
    fits = x.ndim > 2 and not x.shape[-3] % (r * r)
    require(fits, "shape", f"pixel_shuffle: {r}·{r} does not divide the channels of shape {x.shape}")
    *batch, channels, height, width = x.shape
    n, inside = len(batch), channels // (r * r)
    parts = x.reshape(*batch, inside, r, r, height, width).permute(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return parts.reshape(*batch, inside, height * r, width * r)


@neural("pixel_unshuffle", EVERYWHERE, kinds=OF_NUMBERS)
def pixel_unshuffle(x: Value, downscale_factor: Static) -> Value:
    """squares of r by r pixels gathered into r*r channels"""
    r = whole_factor(downscale_factor, "downscale_factor")
    fits = x.ndim > 2 and not x.shape[-1] % r and not x.shape[-2] % r
    require(fits, "shape", f"pixel_unshuffle: {r} does not divide height and width of shape {x.shape}")
    *batch, channels, height, width = x.shape
    n, rows, columns = len(batch), height // r, width // r
    parts = x.reshape(*batch, channels, rows, r, columns, r).permute(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return parts.reshape(*batch, channels * r * r, rows, columns)
