"""Borders round an array, and the windows of images: ``F.pad``, ``np.pad``, ``F.unfold``, ``F.fold``."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.declare import Apply, value_of
from gradcli.ops.further.shapes import MOVES
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import CAT
from gradcli.ops.piecewise import WHERE
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import CLONE, RESHAPE, mover, whole_numbers
from gradcli.ops.signatures import Array, Indices, Static, Tensor
from gradcli.ops.vocabulary import function
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
    backward_text=inner_text_back,
    size=lambda x, pads: math.prod(max(n + a + b, 0) for (a, b), n in zip(pads, x.shape, strict=True)),
    write=pads_text,
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


def continued(f: Apply, x: Tensor, pads: Pads, mode: str) -> Tensor:
    """Return an array whose axes go on beyond their ends."""
    for axis, ((before, behind), length) in enumerate(zip(pads, x.shape, strict=True)):
        if (before, behind) != (0, 0):
            places = CONTINUED[mode](np.arange(-before, length + behind), length)
            x = f(INDEX, x, key=(*[slice(None)] * axis, places))
    return x


def filled_border(f: Apply, x: Tensor, pads: Pads, value: Tensor) -> Tensor:
    """Return an array with one constant number round it; raises ``shape`` where nothing would be left."""
    if value.ndim or getattr(value, "active", False):
        raise GradcliError("value", "pad takes a plain number as its value", hint="value=s.item()")
    if any(n + a + b < 0 for (a, b), n in zip(pads, x.shape, strict=True)):
        raise GradcliError("shape", f"more is cut off than an array of shape {x.shape} has")
    found = f(PAD, x, pads=pads) if pads else f(CLONE, x)  # one number has no axis that a border could go round
    if np.asarray(value_of(value)) == 0 and not np.signbit(np.asarray(value_of(value), dtype=np.float64)):
        return found
    border = np.ones(found.shape)
    border[inner(pads, found.shape)] = 0.0
    return f(WHERE, border, value, found)


TORCH_AXES = {2: (2, 3), 4: (3, 4), 6: (4, 5)}
"""How many axes an array may have of which one, two or three go on."""


@function("pad", "functional not-bare", "shaping", op=PAD, kinds="same same first")
def build_pad(f: Apply, x: Tensor, pad: Static, mode: Static = "constant", value: Tensor | None = None) -> Tensor:
    """with numbers round it: pairs of counts from the last axis on; constant, reflect, replicate or circular"""
    counts = whole_numbers((pad,), "a count")
    if len(counts) % 2 or len(counts) > 2 * x.ndim:
        raise GradcliError("shape", f"pad: pairs of counts for at most {counted(x.ndim, 'axis')}, not {counts}")
    own = [(counts[k], counts[k + 1]) for k in range(0, len(counts), 2)][::-1]
    pads = (*[(0, 0)] * (x.ndim - len(own)), *own)
    if mode == "constant":
        return filled_border(f, x, pads, np.float64(0.0) if value is None else value)
    if mode not in ("reflect", "replicate", "circular") or value is not None:
        raise GradcliError("value", f"pad: mode {mode!r} with value {value!r} is not supported")
    if x.ndim not in TORCH_AXES.get(len(counts), ()) or min(counts) < 0:
        raise GradcliError("shape", f"pad: {mode} of shape {x.shape} with {counts} is not supported by PyTorch")
    most = {"reflect": -1, "replicate": math.inf, "circular": 0}[str(mode)]
    if any(max(pair) > n + most or not n for pair, n in zip(pads, x.shape, strict=True) if any(pair)):
        raise GradcliError("shape", f"pad: {mode} reaches beyond the other end of shape {x.shape} with {counts}")
    return continued(f, x, pads, str(mode))


NUMPY_MODES = {"edge": "replicate", "reflect": "reflect", "symmetric": "symmetric", "wrap": "circular"}


@function("np.pad numpy.pad jnp.pad", "", "shaping", kinds="same same first")
def build_numpy_pad(
    f: Apply, x: Tensor, pad_width: Static, mode: Static = "constant", constant_values: Tensor | None = None
) -> Tensor:
    """with numbers round it, as numpy has it: constant, edge, reflect, symmetric or wrap"""
    pads = read_widths(pad_width, x.ndim)
    if min((n for pair in pads for n in pair), default=0) < 0:
        raise GradcliError("value", "np.pad: a width cannot be negative")
    if mode == "constant":
        return filled_border(f, x, pads, np.float64(0.0) if constant_values is None else constant_values)
    if mode not in NUMPY_MODES:
        raise GradcliError("value", f"np.pad: mode {mode!r} is not supported", hint=f"{', '.join(NUMPY_MODES)}")
    if any(any(pair) and not n for pair, n in zip(pads, x.shape, strict=True)):
        raise GradcliError("shape", f"np.pad: nothing of shape {x.shape} goes on")
    return continued(f, x, pads, NUMPY_MODES[str(mode)])


def read_widths(widths: Static, ndim: int) -> Pads:
    """Return numpy's widths as a pair for each axis: from one number, one pair, or all pairs."""
    if isinstance(widths, tuple) and any(isinstance(item, tuple) for item in widths):
        pairs = [whole_numbers((item,), "a width") for item in widths]
    else:
        pairs = [whole_numbers((widths,), "a width")]
    full = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    full = full * ndim if len(full) == 1 else full
    if len(full) != ndim or any(len(pair) != 2 for pair in full):
        raise GradcliError("shape", f"np.pad: a width, a pair, or a pair for each of {counted(ndim, 'axis')}")
    return tuple((pair[0], pair[1]) for pair in full)


def pair_of(value: Static, name: str, lowest: int = 1) -> tuple[int, int]:
    """Return a height and a width, given as one number or two; raises ``value`` below ``lowest``."""
    found = whole_numbers((value,), name)
    if len(found) not in (1, 2) or min(found) < lowest:
        raise GradcliError("value", f"{name} is one number or two, of {lowest} or more: {found}")
    return found[0], found[-1]


def places_of_windows(length: int, size: int, dilation: int, stride: int) -> Indices:
    """Return the places along an axis of each entry of a window, a row, in each window, a column."""
    count = (length - dilation * (size - 1) - 1) // stride + 1
    if count < 1:
        raise GradcliError("shape", f"windows of {size} with dilation {dilation} do not fit into a length of {length}")
    return np.arange(size)[:, None] * dilation + np.arange(count) * stride


def window_places(
    channels: int, lengths: tuple[int, int], kernel: tuple[int, int], dilation: tuple[int, int], stride: tuple[int, int]
) -> Indices:
    """Return the flat places of all entries of windows: a row for a channel and place in it, a column for a window."""
    rows, columns = (places_of_windows(*each) for each in zip(lengths, kernel, dilation, stride, strict=True))
    height, width = lengths
    plane = rows[:, None, :, None] * width + columns[None, :, None, :]
    layers = np.arange(channels)[:, None, None, None, None] * (height * width)
    return (layers + plane).reshape(channels * kernel[0] * kernel[1], -1)


@function("F.unfold nn.functional.unfold torch.nn.functional.unfold", "", "shaping", kinds=MOVES)
def build_image_windows(
    f: Apply, x: Tensor, kernel_size: Static, dilation: Static = 1, padding: Static = 0, stride: Static = 1
) -> Tensor:
    """the windows of images, each as a column"""
    if x.ndim not in (3, 4):
        raise GradcliError("shape", f"F.unfold takes an image (C, H, W) or a batch of them, not shape {x.shape}")
    kernel, spread, apart = (
        pair_of(kernel_size, "kernel_size"),
        pair_of(dilation, "dilation"),
        pair_of(stride, "stride"),
    )
    high, wide = pair_of(padding, "padding", 0)
    padded = f(PAD, x, pads=(*[(0, 0)] * (x.ndim - 2), (high, high), (wide, wide)))
    channels, height, width = padded.shape[-3:]
    places = window_places(channels, (height, width), kernel, spread, apart)
    flat = f(RESHAPE, padded, shape=(*padded.shape[:-3], channels * height * width))
    return f(INDEX, flat, key=(*[slice(None)] * (x.ndim - 3), places))


@function("F.fold nn.functional.fold torch.nn.functional.fold", "", "shaping", kinds=MOVES)
def build_fold(
    f: Apply,
    x: Tensor,
    output_size: Static,
    kernel_size: Static,
    dilation: Static = 1,
    padding: Static = 0,
    stride: Static = 1,
) -> Tensor:
    """images of windows: each entry is the sum of those that windows have there"""
    kernel, spread, apart = (
        pair_of(kernel_size, "kernel_size"),
        pair_of(dilation, "dilation"),
        pair_of(stride, "stride"),
    )
    size, edges = pair_of(output_size, "output_size"), pair_of(padding, "padding", 0)
    if x.ndim not in (2, 3) or x.shape[-2] % math.prod(kernel):
        raise GradcliError("shape", f"F.fold takes windows of {math.prod(kernel)} entries as columns, not {x.shape}")
    channels = x.shape[-2] // math.prod(kernel)
    lengths = size[0] + 2 * edges[0], size[1] + 2 * edges[1]
    places = window_places(channels, lengths, kernel, spread, apart)
    if places.shape != x.shape[-2:]:
        raise GradcliError("shape", f"F.fold: shape {x.shape} for windows that make up {places.shape}")
    summed = sums_at(f, x, places, channels * math.prod(lengths))
    images = f(RESHAPE, summed, shape=(*x.shape[:-2], channels, *lengths))
    own = tuple(slice(edge, edge + length) for edge, length in zip(edges, size, strict=True))
    return f(INDEX, images, key=(..., *own)) if any(edges) else images


def sums_at(f: Apply, x: Tensor, places: Indices, size: int) -> Tensor:
    """Return for each of ``size`` places the sum of the entries of the last two axes that are meant for it."""
    batch, flat = x.shape[:-2], np.ravel(places)
    order = np.argsort(flat, kind="stable")
    row = flat[order]
    table = np.full((size, int(np.max(np.bincount(flat), initial=0))), flat.size)
    table[row, np.arange(flat.size) - np.searchsorted(row, row)] = order
    f.charge(table.size * math.prod(batch))
    pool = f(CAT, f(RESHAPE, x, shape=(*batch, flat.size)), np.zeros((*batch, 1)), dim=len(batch))
    picked = f(INDEX, pool, key=(*[slice(None)] * len(batch), table))
    return f(SUM, picked, dim=(len(batch) + 1,), keepdim=False)
