"""Convolution and transposed convolution: windows of the input, and a sum of products with the kernel."""

from __future__ import annotations

from functools import partial

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD
from gradcli.ops.declare import Apply
from gradcli.ops.further.neural_windows import each_axis, require_axes, sliding, turned, windows
from gradcli.ops.linear_algebra import EINSUM
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.signatures import Indices, Static, Tensor
from gradcli.ops.vocabulary import function

ALONG, WITHIN = "abd", "ijk"
"""Subscripts of the outputs along the axes, and of the entries of the kernel."""
Places = tuple[Indices, ...]


def convolved(f: Apply, x: Tensor, weight: Tensor, places: Places, groups: int, channels_first: bool) -> Tensor:
    """Return the sum of products of windows of x, of shape (N, C, …), and a kernel, for each group of channels."""
    axes = len(places)
    along, within = ALONG[:axes], WITHIN[:axes]
    kernel = f"gco{within}" if channels_first else f"goc{within}"
    batch, channels = x.shape[:2]
    found = windows(f, x, 2, places, 0.0).values
    found = f(RESHAPE, found, shape=(batch, groups, channels // groups, *found.shape[2:]))
    parts = weight.shape[1] if channels_first else weight.shape[0] // groups
    own = (groups, channels // groups, parts) if channels_first else (groups, parts, channels // groups)
    weight = f(RESHAPE, weight, shape=(*own, *weight.shape[2:]))
    found = f(EINSUM, found, weight, spec=f"ngc{along}{within},{kernel}->ngo{along}")
    return f(RESHAPE, found, shape=(batch, groups * parts, *found.shape[3:]))


def require_kernel(x: Tensor, weight: Tensor, axes: int, groups: Static, channels_first: bool, name: str) -> int:
    """Return the number of groups; raises ``shape`` where kernel, groups and channels do not fit."""
    require_axes(x, axes, name)
    if type(groups) is not int or groups < 1:
        raise GradcliError("value", f"{name}: groups is an integer from 1, not {groups!r}")
    channels = x.shape[-axes - 1]
    own = 0
    if weight.ndim == axes + 2:
        own = weight.shape[0] if channels_first else weight.shape[1] * groups
    if own != channels or weight.ndim != axes + 2 or weight.shape[0] % groups:
        what = f"input of shape {x.shape}, weight of shape {weight.shape}, {groups} groups"
        raise GradcliError("shape", f"{name}: {what} do not fit: {channels} channels, {own} by the weight")
    return groups


def finished(f: Apply, found: Tensor, bias: Tensor | None, x: Tensor, axes: int, name: str) -> Tensor:
    """Return the result with its bias, and without a batch where x has none."""
    if bias is not None:
        if bias.shape != (found.shape[1],):
            raise GradcliError("shape", f"{name}: bias has shape {bias.shape}, and there are {found.shape[1]} outputs")
        found = f(ADD, found, f(RESHAPE, bias, shape=(-1, *(1,) * axes)))
    return found if x.ndim == axes + 2 else f(RESHAPE, found, shape=found.shape[1:])


def batched(f: Apply, x: Tensor, axes: int) -> Tensor:
    """Return x with an axis for the batch."""
    return x if x.ndim == axes + 2 else f(RESHAPE, x, shape=(1, *x.shape))


def paddings(
    padding: Static, kernel: tuple[int, ...], dilation: tuple[int, ...], stride: tuple[int, ...], name: str
) -> tuple[tuple[int, int], ...]:
    """Return the padding before and behind each axis; ``"same"`` keeps the length, ``"valid"`` is none."""
    if padding == "same":
        if any(step != 1 for step in stride):
            raise GradcliError("value", f'{name}: padding="same" goes with a stride of 1, not {stride}')
        total = [step * (length - 1) for step, length in zip(dilation, kernel, strict=True)]
        return tuple((both // 2, both - both // 2) for both in total)
    sides = each_axis(0 if padding == "valid" else padding, len(kernel), f"{name}: padding")
    return tuple((side, side) for side in sides)


def enter_convolution(axes: int) -> None:
    """Enter the convolution along so many axes."""
    name = f"conv{axes}d"

    def build(
        f: Apply,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Static = 1,
        padding: Static = 0,
        dilation: Static = 1,
        groups: Static = 1,
    ) -> Tensor:
        parts = require_kernel(x, weight, axes, groups, channels_first=False, name=name)
        kernel = weight.shape[2:]
        steps, gaps = each_axis(stride, axes, f"{name}: stride", 1), each_axis(dilation, axes, f"{name}: dilation", 1)
        sides = paddings(padding, kernel, gaps, steps, name)
        places = tuple(map(partial(sliding, f), x.shape[-axes:], kernel, steps, sides, gaps))
        found = convolved(f, batched(f, x, axes), weight, places, parts, channels_first=False)
        return finished(f, found, bias, x, axes, name)

    build.__doc__ = f"the sums of products of a kernel with windows of the input, along {axes} axes"
    function(name, "torch functional", "neural", kinds="no no no")(build)


def enter_transposed(axes: int) -> None:
    """Enter the transposed convolution along so many axes."""
    name = f"conv_transpose{axes}d"

    def build(
        f: Apply,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Static = 1,
        padding: Static = 0,
        output_padding: Static = 0,
        groups: Static = 1,
        dilation: Static = 1,
    ) -> Tensor:
        parts = require_kernel(x, weight, axes, groups, channels_first=True, name=name)
        steps, gaps = each_axis(stride, axes, f"{name}: stride", 1), each_axis(dilation, axes, f"{name}: dilation", 1)
        sides = each_axis(padding, axes, f"{name}: padding")
        more = each_axis(output_padding, axes, f"{name}: output_padding")
        if any(n >= max(step, gap) for n, step, gap in zip(more, steps, gaps, strict=True)):
            raise GradcliError("value", f"{name}: output_padding has to be less than the stride or the dilation")
        places = tuple(map(partial(turned, f), x.shape[-axes:], weight.shape[2:], steps, sides, more, gaps))
        found = convolved(f, batched(f, x, axes), weight, places, parts, channels_first=True)
        return finished(f, found, bias, x, axes, name)

    build.__doc__ = f"the transpose of a convolution along {axes} axes: each entry adds a kernel to the output"
    function(name, "torch functional", "neural", kinds="no no no")(build)


for _axes in (1, 2, 3):
    enter_convolution(_axes)
    enter_transposed(_axes)
