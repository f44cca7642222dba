"""Borders round an array, and the windows of images: ``F.pad``, ``np.pad``, ``F.unfold``, ``F.fold``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from gradcli.errors.hints import counted
from gradcli.ops.declare import Text
from gradcli.ops.further.indices import table_of
from gradcli.ops.further.shapes import MOVES
from gradcli.ops.joining import CAT
from gradcli.ops.links import Array, Indices, Static
from gradcli.ops.shaping import mover, whole_numbers
from gradcli.ops.values import Value, require, where
from gradcli.ops.vocabulary import LIKE_FIRST, function
from gradcli.ops.writing import Call

Pads = tuple[tuple[int, int], ...]
"""How many entries are added before and behind each axis; some are cut off where they are negative."""


def bordered(x: Array, *, pads: Pads) -> Array:
    """Return an array with zeros added round it, and entries cut off where a count is negative."""
    kept = x[tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pads, x.shape, strict=True))]
    found = np.zeros([n + max(a, 0) + max(b, 0) for (a, b), n in zip(pads, kept.shape, strict=True)], dtype=x.dtype)
    found[inner(pads, found.shape)] = kept
    return found


def inner(pads: Pads, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the index of what is no border."""
    return tuple(slice(max(a, 0), n - max(b, 0)) for (a, b), n in zip(pads, shape, strict=True))


def pads_text(call: Call) -> str:
    """Write ``F.pad(x, (1, 1))``, counts from the last axis on."""
    pads = call.static["pads"]
    counts = [n for pair in reversed(pads) for n in pair]
    while len(counts) > 2 and counts[-2:] == [0, 0]:
        counts = counts[:-2]
    return f"F.pad({call.texts[0]}, {tuple(counts)})"


def inner_text_back(_k: int, out: Array, _x: Array, *, pads: Pads) -> str:
    """Return the text of what is no border, with zeros where entries were cut off."""
    if all(n >= 0 for pair in pads for n in pair):
        parts = [f"{a or ''}:{n - b if b else ''}" for (a, b), n in zip(pads, np.shape(out), strict=True)]
        return f"{{g}}[{', '.join(parts)}]"
    return f"F.pad({{g}}, {tuple(-n for pair in reversed(pads) for n in pair)})"


PAD = mover(
    "pad",
    bordered,
    lambda g, _y, _x, *, pads: bordered(g, pads=tuple((-a, -b) for a, b in pads)),
    text=Text(backward=inner_text_back, write=pads_text),
    size=lambda x, pads: math.prod(max(n + a + b, 0) for (a, b), n in zip(pads, x.shape, strict=True)),
)


def mirrored(places: Indices, length: int) -> Indices:
    """Return places of an axis that goes on as its mirror image, the last entry once."""
    period = max(2 * (length - 1), 1)
    return length - 1 - np.abs(length - 1 - places % period)


def folded(places: Indices, length: int) -> Indices:
    """Return places of an axis that goes on as its mirror image, the last entry twice."""
    turned = places % (2 * length)
    return np.minimum(turned, 2 * length - 1 - turned)


CONTINUED: dict[str, Callable[[Indices, int], Indices]] = {
    "reflect": mirrored,
    "replicate": lambda places, length: np.clip(places, 0, length - 1),
    "circular": lambda places, length: places % length,
    "symmetric": folded,
}
"""By name: which entry of an axis stands at a place beyond it."""


def continued(x: Value, pads: Pads, mode: str) -> Value:
    """Return an array whose axes go on beyond their ends."""
    for axis, ((before, behind), length) in enumerate(zip(pads, x.shape, strict=True)):
        if (before, behind) != (0, 0):
            x = x.along(axis, CONTINUED[mode](np.arange(-before, length + behind), length))
    return x


def filled_border(x: Value, pads: Pads, value: Value | None) -> Value:
    """Return an array with one constant number round it, 0 for None; raises ``shape`` where nothing would be left."""
    plain = value is None or not (value.ndim or value.active)
    require(plain, "value", "pad takes a plain number as its value", hint="value=s.item()")
    fits = all(n + a + b >= 0 for (a, b), n in zip(pads, x.shape, strict=True))
    require(fits, "shape", f"more is cut off than an array of shape {x.shape} has")
    found = x.of(PAD, pads=pads) if pads else x.clone()  # one number has no axis that a border could go round
    if value is None or (value.raw == 0 and not np.signbit(value.numbers)):
        return found
    border = np.ones(found.shape)
    border[inner(pads, found.shape)] = 0.0
    return where(border, value, found)


TORCH_AXES = {2: (2, 3), 4: (3, 4), 6: (4, 5)}
"""How many axes an array may have of which one, two or three go on."""


@function("pad", "functional not-bare", "shaping", op=PAD, kinds=LIKE_FIRST)
def pad_axes(x: Value, pad: Static, mode: Static = "constant", value: Value | None = None) -> Value:
    """with numbers round it: pairs of counts from the last axis on; constant, reflect, replicate or circular"""
    counts = whole_numbers((pad,), "a count")
    fits = len(counts) % 2 == 0 and len(counts) <= 2 * x.ndim
    require(fits, "shape", f"pad: pairs of counts for at most {counted(x.ndim, 'axis')}, not {counts}")
    own = [(counts[k], counts[k + 1]) for k in range(0, len(counts), 2)][::-1]
    pads = (*[(0, 0)] * (x.ndim - len(own)), *own)
    if mode == "constant":
        return filled_border(x, pads, value)
    known = mode in ("reflect", "replicate", "circular") and value is None
    told = None if value is None else value.node
    require(known, "value", f"pad: mode {mode!r} with value {told!r} is not supported")
    fits = x.ndim in TORCH_AXES.get(len(counts), ()) and min(counts) >= 0
    require(fits, "shape", f"pad: {mode} of shape {x.shape} with {counts} is not supported by PyTorch")
    most = {"reflect": -1, "replicate": math.inf, "circular": 0}[str(mode)]
    fits = all(max(pair) <= n + most and n for pair, n in zip(pads, x.shape, strict=True) if any(pair))
    require(fits, "shape", f"pad: {mode} reaches beyond the other end of shape {x.shape} with {counts}")
    return continued(x, pads, str(mode))


NUMPY_MODES = {"edge": "replicate", "reflect": "reflect", "symmetric": "symmetric", "wrap": "circular"}


@function("np.pad numpy.pad jnp.pad", "", "shaping", kinds=LIKE_FIRST)
def numpy_pad(x: Value, pad_width: Static, mode: Static = "constant", constant_values: Value | None = None) -> Value:
    """with numbers round it, as numpy has it: constant, edge, reflect, symmetric or wrap"""
    pads = read_widths(pad_width, x.ndim)
    fits = min((n for pair in pads for n in pair), default=0) >= 0
    require(fits, "value", "np.pad: a width cannot be negative")
    if mode == "constant":
        return filled_border(x, pads, constant_values)
    known = mode in NUMPY_MODES
    require(known, "value", f"np.pad: mode {mode!r} is not supported", hint=f"{', '.join(NUMPY_MODES)}")
    fits = all(n or not any(pair) for pair, n in zip(pads, x.shape, strict=True))
    require(fits, "shape", f"np.pad: nothing of shape {x.shape} goes on")
    return continued(x, pads, NUMPY_MODES[str(mode)])


def read_widths(widths: Static, ndim: int) -> Pads:
    """Return numpy's widths as a pair for each axis: from one number, one pair, or all pairs."""
    nested = isinstance(widths, tuple) and any(isinstance(item, tuple) for item in widths)
    pairs = [whole_numbers((item,), "a width") for item in (cast("Any", widths) if nested else (widths,))]
    full = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    full = full * ndim if len(full) == 1 else full
    fits = len(full) == ndim and all(len(pair) == 2 for pair in full)
    require(fits, "shape", f"np.pad: a width, a pair, or a pair for each of {counted(ndim, 'axis')}")
    return tuple((pair[0], pair[1]) for pair in full)


# --- windows of images ---


def pair_of(value: Static, name: str, lowest: int = 1) -> tuple[int, int]:
    """Return a height and a width, given as one number or two; raises ``value`` below ``lowest``."""
    found = whole_numbers((value,), name)
    fits = len(found) in (1, 2) and min(found) >= lowest
    require(fits, "value", f"{name} is one number or two, of {lowest} or more: {found}")
    return found[0], found[-1]


def window_places(
    channels: int, lengths: tuple[int, int], kernel: tuple[int, int], dilation: Static, stride: Static
) -> Indices:
    """Return the flat places of all entries of windows: a row for a channel and place in it, a column for a window."""
    gaps, steps, along = pair_of(dilation, "dilation"), pair_of(stride, "stride"), []
    for length, size, gap, step in zip(lengths, kernel, gaps, steps, strict=True):
        count = (length - gap * (size - 1) - 1) // step + 1
        require(count > 0, "shape", f"windows of {size} with dilation {gap} do not fit into a length of {length}")
        along.append(np.arange(size)[:, None] * gap + np.arange(count) * step)
    (rows, columns), (height, width) = along, lengths
    plane = rows[:, None, :, None] * width + columns[None, :, None, :]
    layers = np.arange(channels)[:, None, None, None, None] * (height * width)
    return (layers + plane).reshape(channels * kernel[0] * kernel[1], -1)


@function("F.unfold nn.functional.unfold torch.nn.functional.unfold", "", "shaping", kinds=MOVES)
def image_windows(
    x: Value, kernel_size: Static, dilation: Static = 1, padding: Static = 0, stride: Static = 1
) -> Value:
    """the windows of images, each as a column"""
    fits = x.ndim in (3, 4)
    require(fits, "shape", f"F.unfold takes an image (C, H, W) or a batch of them, not shape {x.shape}")
    kernel, (high, wide) = pair_of(kernel_size, "kernel_size"), pair_of(padding, "padding", 0)
    padded = x.of(PAD, pads=(*[(0, 0)] * (x.ndim - 2), (high, high), (wide, wide)))
    channels, height, width = padded.shape[-3:]
    places = window_places(channels, (height, width), kernel, dilation, stride)
    return padded.reshape(*padded.shape[:-3], channels * height * width).along(x.ndim - 3, places)


@function("F.fold nn.functional.fold torch.nn.functional.fold", "", "shaping", kinds=MOVES)
def fold(
    x: Value, output_size: Static, kernel_size: Static, dilation: Static = 1, padding: Static = 0, stride: Static = 1
) -> Value:
    """images of windows: each entry is the sum of those that windows have there"""
    kernel, size = pair_of(kernel_size, "kernel_size"), pair_of(output_size, "output_size")
    edges, count = pair_of(padding, "padding", 0), math.prod(kernel)
    fits = x.ndim in (2, 3) and not x.shape[-2] % count
    require(fits, "shape", f"F.fold takes windows of {count} entries as columns, not {x.shape}")
    channels = x.shape[-2] // count
    lengths = size[0] + 2 * edges[0], size[1] + 2 * edges[1]
    places = window_places(channels, lengths, kernel, dilation, stride)
    fits = places.shape == x.shape[-2:]
    require(fits, "shape", f"F.fold: shape {x.shape} for windows that make up {places.shape}")
    batch, entries = x.shape[:-2], channels * math.prod(lengths)
    table = table_of(places, entries, 0, int(np.max(np.bincount(np.ravel(places)), initial=0)))
    x.f.charge(table.size * math.prod(batch))
    pool = x.reshape(*batch, places.size).of(CAT, np.zeros((*batch, 1)), dim=len(batch))
    images = pool.along(len(batch), table).sum(len(batch) + 1).reshape(*batch, channels, *lengths)
    own = tuple(slice(edge, edge + length) for edge, length in zip(edges, size, strict=True))
    return images[(..., *own)] if any(edges) else images
