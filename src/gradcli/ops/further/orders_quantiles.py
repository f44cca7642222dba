"""Quantiles and medians, of all entries or of those that are no nan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import one_axis, read_axes, require_entries
from gradcli.ops.backward_texts import extreme_text_back
from gradcli.ops.declare import Apply, Op, Pair, declare, value_of
from gradcli.ops.exactly import is_nan, shared
from gradcli.ops.further.orders import ordered
from gradcli.ops.further.pointwise import LERP
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import STACK
from gradcli.ops.parts import Kink
from gradcli.ops.picking import extreme_local, whole_extreme_vjp
from gradcli.ops.selection import PICK
from gradcli.ops.shaping import RESHAPE, TRANSPOSE
from gradcli.ops.signatures import Array, Axes, Indices, Mask, Static, Tensor
from gradcli.ops.vocabulary import function

WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def entry_at(f: Apply, rows: Tensor, places: Indices) -> Tensor:
    """Return from each line, the last axis, the entry at a place of its own."""
    if places.size and np.all(places == places.flat[0]):
        return f(INDEX, rows, key=(..., int(places.flat[0])))
    lines = np.indices(places.shape)
    return f(INDEX, rows, key=(*lines, places))


def between(f: Apply, rows: Tensor, rank: Array, way: str) -> Tensor:
    """Return the entry of sorted lines at a rank, or what lies between the two that are next to it."""
    low, high = np.floor(rank).astype(np.intp), np.ceil(rank).astype(np.intp)
    if way in ("lower", "higher"):
        return entry_at(f, rows, low if way == "lower" else high)
    if way == "nearest":
        return entry_at(f, rows, np.round(rank).astype(np.intp))
    below = entry_at(f, rows, low)
    if np.all(low == high):
        return below
    weight = rank - low if way == "linear" else np.full(rank.shape, 0.5)
    return f(LERP, below, entry_at(f, rows, high), weight[()])


def lines_of(f: Apply, x: Tensor, axes: Axes) -> Tensor:
    """Return an array with some axes as one, the last."""
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    order = (*kept, *axes)
    turned = x if order == tuple(range(x.ndim)) else f(TRANSPOSE, x, dims=order)
    shape = (*(x.shape[axis] for axis in kept), -1)
    return turned if len(axes) == 1 else f(RESHAPE, turned, shape=shape)


def quantiles(
    f: Apply, x: Tensor, chances: Sequence[float], axes: Axes, keepdim: bool, way: str, skip_nan: bool
) -> list[Tensor]:
    """Return the quantiles along some axes, one array for each chance; without ``skip_nan`` one nan makes nan."""
    if way not in WAYS:
        raise GradcliError("value", f"quantile: interpolation is one of {', '.join(WAYS)}, not {way!r}")
    require_entries(x, axes, "quantile")
    rows = lines_of(f, x, axes)
    lacking = is_nan(np.asarray(value_of(rows)))
    count = np.asarray(rows.shape[-1] - np.count_nonzero(lacking, axis=-1))
    sorted_rows = f(PICK, rows, kind="sort", dim=rows.ndim - 1, descending=False)
    found = []
    for chance in chances:
        if not 0 <= chance <= 1:
            raise GradcliError("value", f"quantile: q lies between 0 and 1, and {chance:g} does not")
        rank = np.asarray(chance * (np.maximum(count, 1) - 1), dtype=np.float64)
        if not skip_nan:
            rank = np.where(count < rows.shape[-1], rows.shape[-1] - 1.0, rank)
        one = between(f, sorted_rows, rank, way)
        shape = tuple(1 if axis in axes else length for axis, length in enumerate(x.shape))
        found.append(f(RESHAPE, one, shape=shape) if keepdim else one)
    return found


def chances_of(q: Tensor | Static) -> tuple[list[float], bool]:
    """Return the chances as plain numbers, and whether they are a list; raises ``value`` for those of an input."""
    values = np.asarray(q if isinstance(q, int | float | tuple) else value_of(q), dtype=np.float64)
    if getattr(q, "active", False) or values.ndim > 1:
        raise GradcliError("value", "quantile: q is a plain number, or a list of them")
    return [float(chance) for chance in np.ravel(values)], bool(values.ndim)


def quantile(
    f: Apply, x: Tensor, q: Tensor, scale: float, axes: Axes, keepdim: Static, way: Static, skip_nan: bool
) -> Tensor:
    """Return the quantiles of an array: for a list of chances one after the other, along a new first axis."""
    chances, several = chances_of(q)
    given = [chance / scale for chance in chances]
    found = quantiles(f, x, given, axes, bool(keepdim), str(way), skip_nan)
    return f(STACK, *found, dim=0) if several else found[0]


def torch_quantile(name: str, skip_nan: bool, words: str) -> None:
    """Enter PyTorch's quantile, of all entries or of those that are no nan."""

    def build(
        f: Apply,
        x: Tensor,
        q: Tensor,
        dim: Static = None,
        keepdim: Static = False,
        interpolation: Static = "linear",
    ) -> Tensor:
        axes = tuple(range(x.ndim)) if dim is None else (one_axis(dim, x.ndim),) if x.ndim else ()
        return quantile(f, x, q, 1.0, axes, keepdim, interpolation, skip_nan)

    build.__doc__ = words
    function(name, "torch method", "reductions", kinds="no no yes")(build)


def numpy_quantile(names: str, scale: float, skip_nan: bool, words: str) -> None:
    """Enter NumPy's quantile or percentile, along several axes too."""

    def build(
        f: Apply,
        x: Tensor,
        q: Tensor,
        dim: Static = None,
        method: Static = "linear",
        keepdim: Static = False,
        interpolation: Static = None,
    ) -> Tensor:
        way = method if interpolation is None else interpolation
        return quantile(f, x, q, scale, read_axes(dim, x.ndim), keepdim, way, skip_nan)

    build.__doc__ = words
    function(names, "", "reductions", kinds="numpy-float numpy-float yes")(build)


torch_quantile("quantile", skip_nan=False, words="the quantile of x for a chance q, of all entries or along dim")
torch_quantile("nanquantile", skip_nan=True, words="the quantile of the entries that are no nan")
for _prefix, _skip in (("", False), ("nan", True)):
    for _name, _scale in (("quantile", 1.0), ("percentile", 100.0)):
        numpy_quantile(
            " ".join(f"{library}.{_prefix}{_name}" for library in ("np", "numpy", "jnp")), _scale, _skip,
            f"the {_name} of x for q from 0 to {_scale:g}, as numpy has it",
        )  # fmt: skip


# --- the median of what is no nan ---


def nan_middle(x: Array, dim: Axes, keepdim: bool) -> Array:  # noqa: ARG001
    """Return the lower median of the entries that are no nan, nan where all are."""
    flat = np.ravel(x)
    kept = np.sort(flat[~is_nan(flat)])
    found = kept[(len(kept) - 1) // 2] if len(kept) else np.nan
    return np.reshape(found, (1,) * np.ndim(x) if keepdim else ())[()]


def at_nan_middle(x: Array, dim: Axes, keepdim: bool) -> Mask:  # noqa: ARG001
    """Return where an entry is that median."""
    found = nan_middle(x, dim, keepdim=False)
    return x == found if found == found else is_nan(x)  # noqa: PLR0124


def several_nan_middles(x: Array, dim: Axes, keepdim: bool) -> bool:
    """Return whether more than one entry is that median."""
    return bool(np.sum(at_nan_middle(x, dim, keepdim)) > 1)


NANMEDIAN = declare(
    Op(
        "nanmedian",
        nan_middle,
        (whole_extreme_vjp,),
        extreme_local,
        pieces=shared(at_nan_middle),
        moves=True,
        kink=Kink(several_nan_middles, "the gradient is shared evenly"),
        defaults={"keepdim": False},
        backward_text=extreme_text_back,
    )
)


@function("nanmedian", "torch method", "reductions", op=NANMEDIAN, kinds="no same yes")
def build_nanmedian(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor | Pair:
    """the middle entry of those that are no nan, the lower of two (np.nanmedian: their mean)"""
    axes = read_axes(dim, x.ndim, "refused")
    require_entries(x, axes, "nanmedian")
    if dim is None:
        return f(NANMEDIAN, x, dim=axes, keepdim=False)
    return ordered(f, x, "nanmedian", dim, bool(keepdim))


@function("np.nanmedian numpy.nanmedian jnp.nanmedian", "", "reductions", kinds="numpy-float numpy-float yes")
def build_numpy_nanmedian(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
    """the middle entry of those that are no nan, or the mean of the two, as numpy has it"""
    return quantiles(f, x, [0.5], read_axes(dim, x.ndim), bool(keepdim), "midpoint", skip_nan=True)[0]
