"""Pooling: the largest, the mean or a norm of each window."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, OF_TWO
from gradcli.ops.axes import number
from gradcli.ops.declare import OPS, Apply, Pair, value_of
from gradcli.ops.further.neural_windows import Windows, adaptive, each_axis, require_axes, sliding, windows
from gradcli.ops.piecewise import ABS, BENT
from gradcli.ops.reductions import MEAN, SUM
from gradcli.ops.selection import PICK
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.signatures import Array, Axes, Indices, Static, Tensor
from gradcli.ops.spread import SAFE
from gradcli.ops.vocabulary import function

POW = OF_TWO["pow"]
Places = tuple[Indices, ...]


def largest(f: Apply, x: Tensor, places: Places, return_indices: Static) -> Tensor | Pair:
    """Return the largest of each window, the first of several, and perhaps where it stands in the last axes of x."""
    axes = len(places)
    first = x.ndim - axes
    found = windows(f, x, first, places, -np.inf).values
    kernel = math.prod(found.shape[first + axes :])
    flat = f(RESHAPE, found, shape=(*found.shape[: first + axes], kernel))
    values = f(PICK, flat, kind="max", dim=first + axes, keepdim=False)
    if not return_indices:
        return values
    picked = np.squeeze(f.piece(PICK, flat, kind="max", dim=first + axes), axis=first + axes)
    return Pair(values, standing(picked, places, x.shape[first:]))


def standing(picked: Indices, places: Places, lengths: tuple[int, ...]) -> Indices:
    """Return the flat place in the last axes of an input of what was picked from each window."""
    within = np.unravel_index(picked, [p.shape[1] for p in places])
    axes, flat = len(places), np.zeros(picked.shape, dtype=np.intp)
    for axis, (own, length) in enumerate(zip(within, lengths, strict=True)):
        outputs = np.arange(len(places[axis])).reshape([-1 if k == axis else 1 for k in range(axes)])
        flat = flat * length + places[axis][outputs, own]
    return flat


def averaged(f: Apply, found: Windows, axes: int, divisor: Array | float) -> Tensor:
    """Return the sum of each window over a divisor for each."""
    first = found.values.ndim - 2 * axes
    own = tuple(range(first + axes, first + 2 * axes))
    if found.inside is None and np.all(divisor == math.prod(found.values.shape[first + axes :])):
        return f(MEAN, found.values, dim=own, keepdim=False)
    return f(DIV, f(SUM, found.values, dim=own, keepdim=False), np.asarray(divisor, dtype=np.float64)[()])


def outer_product(counts: list[Array]) -> Array:
    """Return the products of one number from each list, an axis for each."""
    axes = len(counts)
    shaped = [c.reshape([-1 if k == axis else 1 for k in range(axes)]) for axis, c in enumerate(counts)]
    return math.prod(shaped[1:], start=shaped[0])


def pooled_places(
    f: Apply,
    x: Tensor, axes: int, kernel_size: Static, stride: Static, padding: Static, dilation: Static, ceil_mode: Static,
    name: str,
) -> tuple[Places, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:  # fmt: skip
    """Return the places of the windows, and kernel, stride and padding along each axis."""
    require_axes(x, axes, name)
    kernel = each_axis(kernel_size, axes, f"{name}: kernel_size", 1)
    steps = kernel if stride in (None, ()) else each_axis(stride, axes, f"{name}: stride", 1)
    sides, gaps = each_axis(padding, axes, f"{name}: padding"), each_axis(dilation, axes, f"{name}: dilation", 1)
    if any(side > (gap * (n - 1) + 1) // 2 for side, n, gap in zip(sides, kernel, gaps, strict=True)):
        raise GradcliError("value", f"{name}: padding is at most half of the kernel, not {padding}")
    both = [(side, side) for side in sides]
    ceilings = [bool(ceil_mode)] * axes
    places = tuple(map(partial(sliding, f), x.shape[-axes:], kernel, steps, both, gaps, ceilings))
    return places, kernel, steps, sides


def enter_max(axes: int) -> None:
    """Enter max pooling along so many axes."""
    name = f"max_pool{axes}d"

    def build(
        f: Apply,
        x: Tensor,
        kernel_size: Static,
        stride: Static = None,
        padding: Static = 0,
        dilation: Static = 1,
        ceil_mode: Static = False,
        return_indices: Static = False,
    ) -> Tensor | Pair:
        places, *_ = pooled_places(f, x, axes, kernel_size, stride, padding, dilation, ceil_mode, name)
        return largest(f, x, places, return_indices)

    build.__doc__ = f"the largest entry of each window along {axes} axes, of several the first"
    function(name, "torch functional", "neural", kinds="no same yes")(build)


def enter_average(axes: int) -> None:
    """Enter average pooling along so many axes."""
    name = f"avg_pool{axes}d"

    def build(
        f: Apply,
        x: Tensor,
        kernel_size: Static,
        stride: Static = None,
        padding: Static = 0,
        ceil_mode: Static = False,
        count_include_pad: Static = True,
        divisor_override: Static = None,
    ) -> Tensor:
        places, kernel, steps, sides = pooled_places(f, x, axes, kernel_size, stride, padding, 1, ceil_mode, name)
        found = windows(f, x, x.ndim - axes, places, 0.0)
        if divisor_override is not None:
            if not number(divisor_override, "divisor_override"):
                raise GradcliError("value", f"{name}: divisor_override cannot be 0")
            return averaged(f, found, axes, number(divisor_override, "divisor_override"))
        counts = [np.sum(p >= 0, axis=1).astype(np.float64) for p in places]
        if count_include_pad:
            starts = [np.arange(len(p)) * step - side for p, step, side in zip(places, steps, sides, strict=True)]
            ends = [n + side for n, side in zip(x.shape[-axes:], sides, strict=True)]
            counts = [np.minimum(s + n, e) - s + 0.0 for s, n, e in zip(starts, kernel, ends, strict=True)]
        return averaged(f, found, axes, outer_product(counts))

    build.__doc__ = f"the mean of each window along {axes} axes, padding counted unless count_include_pad=False"
    where = "torch functional" if axes == 1 else "functional"
    function(name, where, "neural", kinds="no no yes")(build)


def adaptive_places(f: Apply, x: Tensor, axes: int, output_size: Static, name: str) -> Places:
    """Return the places of as many windows along each axis as ``output_size`` says, None for all of its entries."""
    require_axes(x, axes, name)
    given = output_size if isinstance(output_size, tuple) else (output_size,) * axes
    filled = tuple(n if size is None else size for n, size in zip(x.shape[-axes:], given, strict=False))
    counts = each_axis(filled if len(given) == axes else given, axes, f"{name}: output_size")
    if 0 in x.shape[-axes:]:
        raise GradcliError("shape", f"{name} of no entries: the array has shape {x.shape}")
    return tuple(map(partial(adaptive, f), x.shape[-axes:], counts))


def enter_adaptive(axes: int) -> None:
    """Enter both poolings that are told how many windows to make along so many axes."""
    mean, most = f"adaptive_avg_pool{axes}d", f"adaptive_max_pool{axes}d"

    def build_mean(f: Apply, x: Tensor, output_size: Static) -> Tensor:
        places = adaptive_places(f, x, axes, output_size, mean)
        counts = outer_product([np.sum(p >= 0, axis=1).astype(np.float64) for p in places])
        return averaged(f, windows(f, x, x.ndim - axes, places, 0.0), axes, counts)

    def build_most(f: Apply, x: Tensor, output_size: Static, return_indices: Static = False) -> Tensor | Pair:
        return largest(f, x, adaptive_places(f, x, axes, output_size, most), return_indices)

    where = "torch functional" if axes == 1 else "functional"
    build_mean.__doc__ = f"the means of as many windows as output_size says, along {axes} axes"
    build_most.__doc__ = f"the largest entries of as many windows as output_size says, along {axes} axes"
    function(mean, where, "neural", kinds="no no yes")(build_mean)
    function(most, where, "neural", kinds="no same yes")(build_most)


def extreme(f: Apply, x: Tensor, places: Places, most: bool) -> Tensor:
    """Return the largest or the smallest of each window."""
    found = largest(f, x if most else f(NEG, x), places, return_indices=False)
    assert not isinstance(found, Pair)  # noqa: S101
    return found if most else f(NEG, found)


def rooted(f: Apply, mean: Tensor, size: np.float64, order: float) -> Tensor:
    """Return the root of ``size`` times a mean of powers, as PyTorch takes it."""
    signed = f(MUL, f(OPS["sign"], mean), f(BENT["relu"], f(ABS, mean)))
    return f(POW, f(MUL, signed, size), np.float64(1 / order))


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
        f: Apply,
        x: Tensor,
        norm_type: Static,
        kernel_size: Static,
        stride: Static = None,
        ceil_mode: Static = False,
    ) -> Tensor:
        places, kernel, *_ = pooled_places(f, x, axes, kernel_size, stride, 0, 1, ceil_mode, name)
        order, size = number(norm_type, "norm_type"), np.float64(math.prod(kernel))
        if not order or math.isnan(order):
            raise GradcliError("value", f"{name}: norm_type is a number other than 0, not {norm_type}")
        if math.isinf(order):
            return extreme(f, f(ABS, x), places, order > 0)
        counts = outer_product([np.sum(p >= 0, axis=1).astype(np.float64) for p in places])
        if not leaves_doubles(value_of(x), order):
            powers = windows(f, f(POW, x, np.float64(order)), x.ndim - axes, places, 0.0)
            return rooted(f, averaged(f, powers, axes, counts), size, order)
        own = windows(f, x, x.ndim - axes, places, 0.0)
        unit = unit_of(value_of(own.values), tuple(range(x.ndim, x.ndim + axes)))
        powers = own._replace(values=f(POW, f(DIV, own.values, unit), np.float64(order)))
        result = rooted(f, averaged(f, powers, axes, counts), size, order)
        return f(MUL, result, unit.reshape(result.shape))

    build.__doc__ = f"(sum(x**p))**(1/p) of each window along {axes} axes"
    function(name, "functional", "neural", kinds="no no yes")(build)


ENTER: tuple[Callable[[int], None], ...] = (enter_max, enter_average, enter_adaptive, enter_norm)
for _axes in (1, 2, 3):
    for _enter in ENTER:
        _enter(_axes)


@function("local_response_norm", "functional", "neural", kinds="no no no")
def build_local_response_norm(
    f: Apply, x: Tensor, size: Static, alpha: Static = 1e-4, beta: Static = 0.75, k: Static = 1.0
) -> Tensor:
    """x/(k + alpha*mean(x**2))**beta, the mean over the neighbouring channels"""
    if x.ndim < 3:
        raise GradcliError("shape", f"local_response_norm takes 3 axes or more, not shape {x.shape}")
    [width] = each_axis(size, 1, "local_response_norm: size", 1)
    places = sliding(f, x.shape[1], width, 1, (width // 2, (width - 1) // 2))
    near = windows(f, f(OPS["square"], x), 1, (places,), 0.0).values
    mean = f(DIV, f(SUM, near, dim=(2,), keepdim=False), np.float64(width))
    base = f(ADD, f(MUL, mean, np.float64(number(alpha, "alpha"))), np.float64(number(k, "k")))
    return f(DIV, x, f(POW, base, np.float64(number(beta, "beta"))))
