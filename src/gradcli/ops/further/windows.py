"""Windows over the last axes of an array, and what is made of them: convolution, pooling, and images of other sizes.

Pooling, the largest, the mean or a norm of each window, and images made larger or smaller.
"""

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
from gradcli.ops.links import Array, Axes, Indices, Mask, Static
from gradcli.ops.neural import as_numbers
from gradcli.ops.statistics import PICK, SAFE
from gradcli.ops.values import Value, einsum, number, relu, require, sign, square, where
from gradcli.ops.vocabulary import OF_FLOATS, OF_NUMBERS, STRICT, function

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
    function(name, "torch functional", "neural", kinds=STRICT)(build)
    function(other, "torch functional", "neural", kinds=STRICT)(build_transposed)


for _axes in (1, 2, 3):
    enter_convolutions(_axes)


# ---- Pooling, the largest, the mean or a norm of each window, and images made larger or smaller


def largest(x: Value, places: Places, return_indices: Static) -> Value | Pair:
    """Return the largest of each window, the first of several, and perhaps where it stands in the last axes of x."""
    axes = len(places)
    first = x.ndim - axes
    found = windows(x, first, places, -np.inf).values
    flat = found.reshape(*found.shape[: first + axes], math.prod(found.shape[first + axes :]))
    values = flat.of(PICK, kind="max", dim=first + axes, keepdim=False)
    if not return_indices:
        return values
    picked = np.squeeze(x.f.piece(PICK, flat.node, kind="max", dim=first + axes), axis=first + axes)
    return Pair(values, standing(picked, places, x.shape[first:]))


def standing(picked: Indices, places: Places, lengths: tuple[int, ...]) -> Indices:
    """Return the flat place in the last axes of an input of what was picked from each window."""
    within = np.unravel_index(picked, [p.shape[1] for p in places])
    axes, flat = len(places), np.zeros(picked.shape, dtype=np.intp)
    for axis, (own, length) in enumerate(zip(within, lengths, strict=True)):
        outputs = np.arange(len(places[axis])).reshape([-1 if k == axis else 1 for k in range(axes)])
        flat = flat * length + places[axis][outputs, own]
    return flat


def averaged(found: Windows, axes: int, divisor: Array | float) -> Value:
    """Return the sum of each window over a divisor for each."""
    first = found.values.ndim - 2 * axes
    own = tuple(range(first + axes, first + 2 * axes))
    if found.inside is None and np.all(divisor == math.prod(found.values.shape[first + axes :])):
        return found.values.mean(*own)
    return found.values.sum(*own) / np.asarray(divisor, dtype=np.float64)[()]


def outer_product(counts: list[Array]) -> Array:
    """Return the products of one number from each list, an axis for each."""
    axes = len(counts)
    shaped = [c.reshape([-1 if k == axis else 1 for k in range(axes)]) for axis, c in enumerate(counts)]
    return math.prod(shaped[1:], start=shaped[0])


def entries_in(places: Places) -> list[Array]:
    """Return along each axis how many entries of each window are no padding."""
    return [np.sum(p >= 0, axis=1).astype(np.float64) for p in places]


def pooled_places(
    x: Value, axes: int, kernel_size: Static, stride: Static, padding: Static, dilation: Static, ceil_mode: bool,
    name: str,
) -> tuple[Places, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:  # fmt: skip
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

    def build(
        x: Value, kernel_size: Static, stride: Static = None, padding: Static = 0, dilation: Static = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Value | Pair:  # fmt: skip
        places, *_ = pooled_places(x, axes, kernel_size, stride, padding, dilation, ceil_mode, name)
        return largest(x, places, return_indices)

    build.__doc__ = f"the largest entry of each window along {counted(axes, 'axis')}, of several the first"
    function(name, "torch functional", "neural", kinds=OF_NUMBERS)(build)


def enter_average(axes: int) -> None:
    """Enter average pooling along so many axes."""
    name = f"avg_pool{axes}d"

    def build(
        x: Value, kernel_size: Static, stride: Static = None, padding: Static = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: float | None = None,
    ) -> Value:  # fmt: skip
        places, kernel, steps, sides = pooled_places(x, axes, kernel_size, stride, padding, 1, ceil_mode, name)
        found = windows(x, x.ndim - axes, places, 0.0)
        if divisor_override is not None:
            require(divisor_override, "value", f"{name}: divisor_override cannot be 0")
            return averaged(found, axes, divisor_override)
        counts = entries_in(places)
        if count_include_pad:
            starts = [np.arange(len(p)) * step - side for p, step, side in zip(places, steps, sides, strict=True)]
            ends = [n + side for n, side in zip(x.shape[-axes:], sides, strict=True)]
            counts = [
                (np.minimum(s + n, e) - s).astype(np.float64) for s, n, e in zip(starts, kernel, ends, strict=True)
            ]
        return averaged(found, axes, outer_product(counts))

    build.__doc__ = (
        f"the mean of each window along {counted(axes, 'axis')}, padding counted unless count_include_pad=False"
    )
    where = "torch functional" if axes == 1 else "functional"
    function(name, where, "neural", kinds=OF_FLOATS)(build)


def adaptive_places(x: Value, axes: int, output_size: Static, name: str) -> Places:
    """Return the places of as many windows along each axis as ``output_size`` says, None for all of its entries."""
    require_axes(x, axes, name)
    given = output_size if isinstance(output_size, tuple) else (output_size,) * axes
    filled = tuple(n if size is None else size for n, size in zip(x.shape[-axes:], given, strict=False))
    counts = each_axis(filled if len(given) == axes else given, axes, f"{name}: output_size")
    require(0 not in x.shape[-axes:], "shape", f"{name} of no entries: the array has shape {x.shape}")
    return tuple(map(partial(adaptive, x.f), x.shape[-axes:], counts))


def enter_adaptive(axes: int) -> None:
    """Enter both poolings that are told how many windows to make along so many axes."""
    mean, most = f"adaptive_avg_pool{axes}d", f"adaptive_max_pool{axes}d"

    def build_mean(x: Value, output_size: Static) -> Value:
        places = adaptive_places(x, axes, output_size, mean)
        counts = outer_product(entries_in(places))
        return averaged(windows(x, x.ndim - axes, places, 0.0), axes, counts)

    def build_most(x: Value, output_size: Static, return_indices: bool = False) -> Value | Pair:
        return largest(x, adaptive_places(x, axes, output_size, most), return_indices)

    where = "torch functional" if axes == 1 else "functional"
    build_mean.__doc__ = f"the means of as many windows as output_size says, along {counted(axes, 'axis')}"
    build_most.__doc__ = f"the largest entries of as many windows as output_size says, along {counted(axes, 'axis')}"
    function(mean, where, "neural", kinds=OF_FLOATS)(build_mean)
    function(most, where, "neural", kinds=OF_NUMBERS)(build_most)


def rooted(mean: Value, size: int, order: float) -> Value:
    """Return the root of ``size`` times a mean of powers, as PyTorch takes it."""
    signed = sign(mean) * relu(abs(mean))
    return (signed * size) ** (1 / order)


def leaves_doubles(x: Array, order: float) -> bool:
    """Return whether a power of an entry that is not 0 is no normal double; not of exact numbers."""
    if np.asarray(x).dtype == object or order < 0:
        return False
    with np.errstate(all="ignore"):
        powers = np.abs(x) ** order
    return bool(np.any((x != 0) & ~((powers > SAFE) & (powers < np.inf))))


def unit_of(x: Array, axes: Axes) -> Array:
    """Return a power of two near the largest entry along axes, 1 where there is none."""
    top = np.max(np.abs(x), axis=axes, keepdims=True, initial=0.0)
    return np.where((top > 0) & np.isfinite(top), np.ldexp(1.0, np.frexp(top)[1] - 1), 1.0)


def enter_norm(axes: int) -> None:
    """Enter pooling by norms along so many axes."""
    name = f"lp_pool{axes}d"

    def build(
        x: Value, norm_type: Static, kernel_size: Static, stride: Static = None, ceil_mode: bool = False
    ) -> Value:
        places, kernel, *_ = pooled_places(x, axes, kernel_size, stride, 0, 1, ceil_mode, name)
        order, size = number(norm_type, "norm_type"), math.prod(kernel)
        require(
            order and not math.isnan(order), "value", f"{name}: norm_type is a number other than 0, not {norm_type}"
        )
        if math.isinf(order):
            found = largest(abs(x) if order > 0 else -abs(x), places, return_indices=False)
            assert isinstance(found, Value)  # noqa: S101 - no indices are asked for
            return found if order > 0 else -found
        counts = outer_product(entries_in(places))
        if not leaves_doubles(x.raw, order):
            return rooted(averaged(windows(x**order, x.ndim - axes, places, 0.0), axes, counts), size, order)
        own = windows(x, x.ndim - axes, places, 0.0)
        unit = unit_of(own.values.raw, tuple(range(x.ndim, x.ndim + axes)))
        powers = own._replace(values=(own.values / unit) ** order)
        result = rooted(averaged(powers, axes, counts), size, order)
        return result * unit.reshape(result.shape)

    build.__doc__ = f"(sum(x**p))**(1/p) of each window along {counted(axes, 'axis')}"
    function(name, "functional", "neural", kinds=OF_FLOATS)(build)


for _axes in (1, 2, 3):
    for _enter in (enter_max, enter_average, enter_adaptive, enter_norm):
        _enter(_axes)


@function("local_response_norm", "functional", "neural", kinds=STRICT)
def local_response_norm(x: Value, size: Static, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Value:
    """x/(k + alpha*mean(x**2))**beta, the mean over the neighbouring channels"""
    require(x.ndim > 2, "shape", f"local_response_norm takes 3 axes or more, not shape {x.shape}")
    [width] = each_axis(size, 1, "local_response_norm: size", 1)
    places = sliding(x.f, x.shape[1], width, 1, (width // 2, (width - 1) // 2))
    mean = windows(square(x), 1, (places,), 0.0).values.sum(2) / width
    return x / (mean * alpha + k) ** beta


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
        found = np.floor((np.arange(count, dtype=np.float32) + np.float32(shift)) * step)
        return [(np.minimum(found.astype(np.intp), length - 1), np.ones(count))]

    return taps


def exact_nearest(f: Apply, axes: int, length: int, count: int, factor: float | None) -> float | None:
    """Return the factor that PyTorch takes for the nearest entry: of images none where the length stays or doubles.

    Along one axis or three its backward does so too, and its forward does not, which leaves a remark.
    """
    if factor is None or count not in (length, 2 * length):
        return factor
    if axes == 2:
        return None
    [(own, _)], [(plain, _)] = (nearest(0.0)(length, count, by, False) for by in (factor, None))
    if np.any(own != plain):
        f.remark(
            "torch-differs",
            f"interpolate by {factor}: PyTorch's backward takes other entries than its forward where the length stays "
            "or doubles; this is the derivative of what it takes forward.",
        )
    return factor


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
    """Return the taps of a cubic through four neighbours."""
    source = sources(length, count, factor, align)
    first = np.floor(source)
    t = source - first
    shares = [outer_share(t + 1), inner_share(t), inner_share(1 - t), outer_share(2 - t)]
    places = [np.clip(first.astype(np.intp) + k, 0, length - 1) for k in (-1, 0, 1, 2)]
    return list(zip(places, shares, strict=True))


def inner_share(t: Array) -> Array:
    """Return the share of an entry at a distance up to 1."""
    return ((CUBIC + 2) * t - (CUBIC + 3)) * t * t + 1


def outer_share(t: Array) -> Array:
    """Return the share of an entry at a distance from 1 to 2."""
    return ((CUBIC * t - 5 * CUBIC) * t + 8 * CUBIC) * t - 4 * CUBIC


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
    given = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * axes
    said = f"interpolate: scale_factor is a number, or one for each of {axes} axes"
    require(len(given) == axes, "value", said)
    factors = tuple(number(factor, "scale_factor") for factor in given)
    grown = [length * factor for length, factor in zip(x.shape[2:], factors, strict=True)]
    what = "interpolate: scale_factor must be finite, as the lengths that it leaves"
    require(all(map(math.isfinite, grown)), "value", f"{what}, not {scale_factor}")
    found = tuple(map(math.floor, grown))
    some = all(length > 0 for length in found)
    require(some, "shape", f"interpolate by {scale_factor}: nothing is left of shape {x.shape}")
    return found, (None,) * axes if again else factors


@function("interpolate upsample", "functional", "neural", kinds=OF_FLOATS)
def interpolate(
    x: Value, size: Static = None, scale_factor: Static = None, mode: Static = "nearest", align_corners: Static = None,
    recompute_scale_factor: Static = None, antialias: Static = False,
) -> Value:  # fmt: skip
    """the array with other lengths behind batch and channels, by mode"""
    fits = 3 <= x.ndim <= 5
    require(fits, "shape", f"interpolate takes a batch of channels with 1 to 3 axes, not shape {x.shape}")
    require(not antialias, "value", "interpolate: antialias is not supported", hint="leave it out")
    axes = x.ndim - 2
    known = [name for name, (_, counts) in MODES.items() if axes in counts]
    is_mode = mode in (*known, "area")
    require(is_mode, "value", f"interpolate: {mode!r} is no mode for {axes} axes", hint=f"use {', '.join(known)}")
    bare = align_corners is None or mode not in ("nearest", "nearest-exact", "area")
    require(bare, "value", f"interpolate: align_corners does not go with mode={mode!r}")
    again = bool(recompute_scale_factor) or (mode == "area" and scale_factor is not None)
    lengths, factors = sizes_of(x, size, scale_factor, again)
    x.f.charge(math.prod(x.shape[:2]) * math.prod(lengths))
    if mode == "area":
        places = tuple(map(partial(adaptive, x.f), x.shape[2:], lengths))
        return averaged(windows(x, 2, places, 0.0), axes, outer_product(entries_in(places)))
    taps = MODES[str(mode)][0]
    for axis, (length, factor) in enumerate(zip(lengths, factors, strict=True), start=2):
        by = exact_nearest(x.f, axes, x.shape[axis], length, factor) if mode == "nearest" else factor
        x = resized(x, axis, taps(x.shape[axis], length, by, bool(align_corners)))
    return x


def whole_factor(value: Static, name: str) -> int:
    """Return an integer from 1; raises ``value``."""
    if type(value) is not int or value < 1:
        raise GradcliError("value", f"{name} is an integer from 1, not {value!r}")
    return value


@function("pixel_shuffle", "torch functional", "neural", kinds=OF_NUMBERS)
def pixel_shuffle(x: Value, upscale_factor: Static) -> Value:
    """r*r channels spread over squares of r by r pixels"""
    r = whole_factor(upscale_factor, "upscale_factor")
    fits = x.ndim > 2 and not x.shape[-3] % (r * r)
    require(fits, "shape", f"pixel_shuffle: {r}·{r} does not divide the channels of shape {x.shape}")
    *batch, channels, height, width = x.shape
    n, own = len(batch), channels // (r * r)
    parts = x.reshape(*batch, own, r, r, height, width).permute(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return parts.reshape(*batch, own, height * r, width * r)


@function("pixel_unshuffle", "torch functional", "neural", kinds=OF_NUMBERS)
def pixel_unshuffle(x: Value, downscale_factor: Static) -> Value:
    """squares of r by r pixels gathered into r*r channels"""
    r = whole_factor(downscale_factor, "downscale_factor")
    fits = x.ndim > 2 and not x.shape[-1] % r and not x.shape[-2] % r
    require(fits, "shape", f"pixel_unshuffle: {r} does not divide height and width of shape {x.shape}")
    *batch, channels, height, width = x.shape
    n, own = len(batch), (height // r, width // r)
    parts = x.reshape(*batch, channels, own[0], r, own[1], r).permute(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return parts.reshape(*batch, channels * r * r, *own)


@function("channel_shuffle", "torch functional", "neural", kinds=OF_NUMBERS)
def channel_shuffle(x: Value, groups: Static) -> Value:
    """the channels, one of each group after the other"""
    count = whole_factor(groups, "groups")
    fits = x.ndim > 2 and not x.shape[1] % count
    require(fits, "shape", f"channel_shuffle: {count} does not divide the channels of shape {x.shape}")
    parts = x.reshape(x.shape[0], count, x.shape[1] // count, *x.shape[2:])
    return parts.permute(0, 2, 1, *range(3, parts.ndim)).reshape(*x.shape)
