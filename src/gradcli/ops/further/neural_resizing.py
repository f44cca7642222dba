"""Images made larger or smaller: interpolation, and pixels shuffled with channels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, MUL
from gradcli.ops.axes import number
from gradcli.ops.declare import Apply
from gradcli.ops.further.neural_pooling import averaged, outer_product
from gradcli.ops.further.neural_windows import adaptive, each_axis, windows
from gradcli.ops.indexing import INDEX
from gradcli.ops.shaping import RESHAPE, TRANSPOSE
from gradcli.ops.signatures import Array, Indices, Static, Tensor
from gradcli.ops.vocabulary import function

Tap = tuple[Indices, Array]
"""The places along an axis that a part of each output comes from, and the share that it has."""
Taps = Callable[[int, int, float | None, bool], list[Tap]]
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


def resized(f: Apply, x: Tensor, axis: int, taps: list[Tap]) -> Tensor:
    """Return x with other entries along an axis: the sum of what each output takes."""
    before = (slice(None),) * axis
    shape = (-1, *(1,) * (x.ndim - axis - 1))
    parts = []
    for places, shares in taps:
        part = f(INDEX, x, key=(*before, places))
        parts.append(part if len(taps) == 1 else f(MUL, part, shares.reshape(shape)))
    total = parts[0]
    for part in parts[1:]:
        total = f(ADD, total, part)
    return total


def sizes_of(
    x: Tensor, size: Static, scale_factor: Static, again: Static
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Return the lengths of the result and the factors, None where they follow from the lengths."""
    lengths = x.shape[2:]
    axes = len(lengths)
    if (size is None) == (scale_factor is None):
        raise GradcliError("value", "interpolate takes size or scale_factor, one of them")
    if size is not None:
        if again:
            raise GradcliError("value", "interpolate: recompute_scale_factor goes with scale_factor")
        return each_axis(size, axes, "interpolate: size", 1), (None,) * axes
    given = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * axes
    if len(given) != axes:
        raise GradcliError("value", f"interpolate: scale_factor is a number, or one for each of {axes} axes")
    factors = tuple(number(factor, "scale_factor") for factor in given)
    grown = [length * factor for length, factor in zip(lengths, factors, strict=True)]
    if not all(map(math.isfinite, grown)):
        what = "interpolate: scale_factor must be finite, as the lengths that it leaves"
        raise GradcliError("value", f"{what}, not {scale_factor}")
    found = tuple(map(math.floor, grown))
    if any(length < 1 for length in found):
        raise GradcliError("shape", f"interpolate by {scale_factor}: nothing is left of shape {x.shape}")
    return found, (None,) * axes if again else factors


@function("interpolate upsample", "functional", "neural", kinds="no no yes")
def build_interpolate(
    f: Apply,
    x: Tensor,
    size: Static = None,
    scale_factor: Static = None,
    mode: Static = "nearest",
    align_corners: Static = None,
    recompute_scale_factor: Static = None,
    antialias: Static = False,
) -> Tensor:
    """the array with other lengths behind batch and channels, by mode"""
    if not 3 <= x.ndim <= 5:
        raise GradcliError("shape", f"interpolate takes a batch of channels with 1 to 3 axes, not shape {x.shape}")
    if antialias:
        raise GradcliError("value", "interpolate: antialias is not supported", hint="leave it out")
    axes = x.ndim - 2
    known = [name for name, (_, counts) in MODES.items() if axes in counts]
    if mode not in (*known, "area"):
        raise GradcliError("value", f"interpolate: {mode!r} is no mode for {axes} axes", hint=f"use {', '.join(known)}")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise GradcliError("value", f"interpolate: align_corners does not go with mode={mode!r}")
    again = bool(recompute_scale_factor) or (mode == "area" and scale_factor is not None)
    lengths, factors = sizes_of(x, size, scale_factor, again)
    f.charge(math.prod(x.shape[:2]) * math.prod(lengths))
    if mode == "area":
        places = tuple(map(partial(adaptive, f), x.shape[2:], lengths))
        counts = outer_product([np.sum(p >= 0, axis=1).astype(np.float64) for p in places])
        return averaged(f, windows(f, x, 2, places, 0.0), axes, counts)
    taps = MODES[str(mode)][0]
    for axis, (length, factor) in enumerate(zip(lengths, factors, strict=True), start=2):
        if mode == "nearest":
            factor = exact_nearest(f, axes, x.shape[axis], length, factor)  # noqa: PLW2901
        x = resized(f, x, axis, taps(x.shape[axis], length, factor, bool(align_corners)))
    return x


def whole_factor(value: Static, name: str) -> int:
    """Return an integer from 1; raises ``value``."""
    if type(value) is not int or value < 1:
        raise GradcliError("value", f"{name} is an integer from 1, not {value!r}")
    return value


@function("pixel_shuffle", "torch functional", "neural", kinds="no same yes")
def build_pixel_shuffle(f: Apply, x: Tensor, upscale_factor: Static) -> Tensor:
    """r*r channels spread over squares of r by r pixels"""
    r = whole_factor(upscale_factor, "upscale_factor")
    if x.ndim < 3 or x.shape[-3] % (r * r):
        raise GradcliError("shape", f"pixel_shuffle: {r}·{r} does not divide the channels of shape {x.shape}")
    *batch, channels, height, width = x.shape
    n = len(batch)
    parts = f(RESHAPE, x, shape=(*batch, channels // (r * r), r, r, height, width))
    turned = f(TRANSPOSE, parts, dims=(*range(n + 1), n + 3, n + 1, n + 4, n + 2))
    return f(RESHAPE, turned, shape=(*batch, channels // (r * r), height * r, width * r))


@function("pixel_unshuffle", "torch functional", "neural", kinds="no same yes")
def build_pixel_unshuffle(f: Apply, x: Tensor, downscale_factor: Static) -> Tensor:
    """squares of r by r pixels gathered into r*r channels"""
    r = whole_factor(downscale_factor, "downscale_factor")
    if x.ndim < 3 or x.shape[-1] % r or x.shape[-2] % r:
        raise GradcliError("shape", f"pixel_unshuffle: {r} does not divide height and width of shape {x.shape}")
    *batch, channels, height, width = x.shape
    n = len(batch)
    parts = f(RESHAPE, x, shape=(*batch, channels, height // r, r, width // r, r))
    turned = f(TRANSPOSE, parts, dims=(*range(n + 1), n + 2, n + 4, n + 1, n + 3))
    return f(RESHAPE, turned, shape=(*batch, channels * r * r, height // r, width // r))


@function("channel_shuffle", "torch functional", "neural", kinds="no same yes")
def build_channel_shuffle(f: Apply, x: Tensor, groups: Static) -> Tensor:
    """the channels, one of each group after the other"""
    count = whole_factor(groups, "groups")
    if x.ndim < 3 or x.shape[1] % count:
        raise GradcliError("shape", f"channel_shuffle: {count} does not divide the channels of shape {x.shape}")
    parts = f(RESHAPE, x, shape=(x.shape[0], count, x.shape[1] // count, *x.shape[2:]))
    return f(RESHAPE, f(TRANSPOSE, parts, dims=(0, 2, 1, *range(3, parts.ndim))), shape=x.shape)
