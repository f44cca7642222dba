"""Reductions made of others, and what runs along an axis: differences, areas, sums of exp, lines, polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradcli.errors.hints import counted
from gradcli.ops.declare import BEYOND, Apply, Entries, Op, Paired, Parts, Text, Torch, beyond, declare
from gradcli.ops.exactly import is_nan, logaddexp
from gradcli.ops.further.casting import positions, searched
from gradcli.ops.further.indices import reduced
from gradcli.ops.further.shapes import axis_of, cat
from gradcli.ops.joining import CAT, build_cat
from gradcli.ops.linear_algebra import pairs_along
from gradcli.ops.links import OUT, Array, At, Contraction, Explicit, Indices, Library, Links, Mask, Order, Raw, Static
from gradcli.ops.reductions import CUMSUM, build_prod
from gradcli.ops.statistics import AMAX, AMIN, mean_of
from gradcli.ops.values import (
    ALL,
    AllAxes,
    Axes,
    Axis,
    Value,
    number,
    one_axis,
    read_axes,
    require,
    require_entries,
    sqrt,
    square,
    stack,
    where,
)
from gradcli.ops.vocabulary import BY_NUMPY, COUNTED, KEPT, OF_FLOATS, Kinds, Made, function
from gradcli.ops.writing import trailing

reduction = partial(function, family="reductions")


def numpys(name: str, kinds: Kinds, doc: str = "") -> Callable[[Any], Any]:
    """Enter a function of NumPy and of JAX's copy of it alone."""
    return reduction(f"np.{name} numpy.{name} jnp.{name}", "", kinds=kinds, doc=doc)


# --- of what is no nan ---


def lacking(x: Value) -> Mask:
    """Return where an array is nan."""
    return is_nan(np.asarray(x.raw))


def without_nan(x: Value, fill: float = 0.0) -> Value:
    """Return x with ``fill`` where it is nan; no cotangent goes there."""
    return where(lacking(x), fill, x) if np.any(lacking(x)) else x


def present(x: Value, axes: Axes, keepdim: bool) -> Array:
    """Return how many entries along some axes are no nan."""
    return np.sum(~lacking(x), axis=axes, keepdims=keepdim, dtype=np.float64)


@reduction("nansum", "torch numpy method", kinds=COUNTED)
def nansum(x: Value, dim: AllAxes = ALL, keepdim: bool = False) -> Value:
    """the sum of the entries that are no nan"""
    return without_nan(x).sum(*dim, keepdim=keepdim)


@reduction("nanmean", "torch numpy method", kinds=BY_NUMPY)
def nanmean(x: Value, dim: AllAxes = ALL, keepdim: bool = False) -> Value:
    """the mean of the entries that are no nan"""
    return nansum(x, dim, keepdim) / present(x, dim, keepdim)


@numpys("nanprod", COUNTED)
def nanprod(x: Value, dim: Static = None, keepdim: bool = False) -> Value:
    """the product of the entries that are no nan"""
    return build_prod(without_nan(x, 1.0), dim, keepdim, "np")


def enter_extreme(name: str, op: Op, fill: float, word: str) -> None:
    """Enter NumPy's extreme of the entries that are no nan."""

    @numpys(name, KEPT, doc=f"the {word} of the entries that are no nan; ties share the gradient")
    def build(x: Value, dim: Axes = ALL, keepdim: bool = False) -> Value:
        require_entries(x, dim, name)
        require(np.all(present(x, dim, keepdim=False)), "value", f"{name}: all entries are nan")
        return without_nan(x, fill).of(op, dim=dim, keepdim=keepdim)


enter_extreme("nanmax", AMAX, -math.inf, "largest")
enter_extreme("nanmin", AMIN, math.inf, "smallest")


def enter_spread(name: str, root: bool, word: str) -> None:
    """Enter NumPy's variance or standard deviation of the entries that are no nan."""

    @numpys(name, BY_NUMPY, doc=f"the {word} of the entries that are no nan")
    def build(x: Value, dim: Axes = ALL, correction: Static = 0, keepdim: bool = False) -> Value:
        apart = x - nanmean(x, dim, True)
        total = square(where(lacking(x), 0, apart) if np.any(lacking(x)) else apart).sum(*dim, keepdim=keepdim)
        count = present(x, dim, keepdim) - number(correction, "ddof")
        variance = total / np.where(count > 0, count, np.nan)[()]
        return sqrt(variance) if root else variance


enter_spread("nanvar", root=False, word="variance")
enter_spread("nanstd", root=True, word="standard deviation")


# --- of two reductions ---


@reduction("aminmax", "torch method", kinds=KEPT)
def aminmax(x: Value, dim: Static = None, keepdim: bool = False) -> Parts:
    """the smallest and the largest entry, also along dim, as .min and .max; ties share the gradient"""
    axes = tuple(range(x.ndim)) if dim is None else read_axes(one_axis(dim, x.ndim), x.ndim)
    require_entries(x, axes, "aminmax")
    return Parts(("min", "max"), tuple(partial(x.of, op, dim=axes, keepdim=keepdim) for op in (AMIN, AMAX)))


@numpys("ptp", KEPT)
def ptp(x: Value, dim: Axes = ALL, keepdim: bool = False) -> Value:
    """the largest entry minus the smallest; ties share the gradient"""
    require_entries(x, dim, "ptp")
    return x.of(AMAX, dim=dim, keepdim=keepdim) - x.of(AMIN, dim=dim, keepdim=keepdim)


@numpys("average", BY_NUMPY)
def average(x: Value, dim: Axes = ALL, weights: Value | None = None, keepdim: bool = False) -> Value:
    """the mean of the entries, each as often as its weight says"""
    require_entries(x, dim, "average")
    if weights is None:
        return mean_of(x, dim, keepdim)
    shares = weights
    if weights.shape != x.shape:
        fits = weights.ndim == 1 == len(dim) and weights.shape[0] == x.shape[dim[0]]
        require(fits, "shape", f"average: weights of shape {weights.shape} do not fit x of shape {x.shape}")
        shares = weights.reshape(*(-1 if axis == dim[0] else 1 for axis in range(x.ndim)))
    return (x * shares).sum(*dim, keepdim=keepdim) / shares.sum(*dim, keepdim=keepdim)


@reduction("bincount", "torch numpy method", kinds=OF_FLOATS)
def bincount(f: Apply, x: Raw, weights: Value | None = None, minlength: int = 0) -> Value | Indices:
    """how often each integer from 0 on stands in x, or the sum of the weights where it does"""
    places = positions(f, x, "bincount")
    fits = places.ndim == 1 and not np.any(places < 0) and minlength >= 0
    require(fits, "value", "bincount takes a vector of integers from 0 on, and minlength of 0 or more")
    length = max(int(np.max(places, initial=-1)) + 1, minlength)
    f.charge(length)
    if weights is None:
        return np.bincount(places, minlength=length)
    fits = weights.shape == places.shape
    require(fits, "shape", f"bincount: weights of shape {weights.shape} for {places.size} places")
    if weights.active:
        f.remark("torch-refuses", "bincount: PyTorch has no derivative by weights; index_add has.")
    return reduced(Value(f, np.zeros(length)), places, weights, "sum")


# --- covariances ---


def rows_of(x: Value, name: str) -> Value:
    """Return variables as the rows of a matrix; raises ``shape`` for more axes."""
    require(x.ndim <= 2, "shape", f"{name} takes a matrix or a vector, not shape {x.shape}")
    return x if x.ndim == 2 else x.reshape(1, x.size)


def observed(x: Value, y: Value | None, rowvar: Static, name: str) -> Value:
    """Return the variables of one or two arrays as rows, as numpy reads them."""
    rows = [(part, rows_of(part, name)) for part in (x, y) if part is not None]
    return build_cat(x.f, [row if rowvar or part.ndim < 2 else row.mT for part, row in rows])


def covariances(x: Value, correction: float, fweights: Value | None = None, aweights: Value | None = None) -> Value:
    """Return the covariances of the rows of a matrix, whose columns may have weights: one number for one row."""
    parts = [part for part in (fweights, aweights) if part is not None]
    for part in parts:
        said = f"cov: weights of shape {parts[0].shape} for {x.shape[1]} columns"
        require(part.shape == (x.shape[1],), "shape", said)
    if not parts:
        centred = weighted = x - mean_of(x, (1,), keepdim=True)
        factor: Any = max(x.shape[1] - correction, 0)
    else:
        weights = parts[0] * parts[1] if len(parts) == 2 else parts[0]
        count = weights.sum(0)
        mean = (x * weights).sum(1, keepdim=True) / count
        lost: Any = correction if aweights is None else correction * (weights * aweights).sum(0) / count
        factor = count - lost
        factor = 0 if factor.raw <= 0 else factor
        centred = x - mean
        weighted = centred * weights
    products = weighted @ centred.mT / factor
    return products.reshape() if x.shape[0] == 1 else products


def correlations(covariance: Value) -> Value:
    """Return covariances over the roots of both variances."""
    if not covariance.ndim:
        return covariance / covariance
    places = np.arange(covariance.shape[0])
    deviations = sqrt(covariance[places, places])
    return covariance / deviations.reshape(covariance.shape[0], 1) / deviations


@reduction("cov", "torch method", kinds=OF_FLOATS)
def cov(x: Value, *, correction: float = 1, fweights: Value | None = None, aweights: Value | None = None) -> Value:
    """the covariances of the rows, which are variables; of one variable its variance"""
    return covariances(rows_of(x, "cov"), correction, fweights, aweights)


@reduction("corrcoef", "torch method", kinds=OF_FLOATS)
def corrcoef(x: Value) -> Value:
    """the correlations of the rows, which are variables"""
    return correlations(covariances(rows_of(x, "corrcoef"), 1))


@numpys("cov", Kinds(Made.NO, Made.NUMPY_FLOAT))
def numpy_cov(
    x: Value,
    y: Value | None = None,
    rowvar: Static = True,
    bias: Static = False,
    ddof: Static = None,
    fweights: Value | None = None,
    aweights: Value | None = None,
) -> Value:
    """the covariances of the variables, which are rows unless rowvar=False, over n - 1, or over n with bias=True"""
    by = int(not bias) if ddof is None else number(ddof, "correction")
    return covariances(observed(x, y, rowvar, "cov"), by, fweights, aweights)


@numpys("corrcoef", Kinds(Made.NO, Made.NUMPY_FLOAT))
def numpy_corrcoef(x: Value, y: Value | None = None, rowvar: Static = True) -> Value:
    """the correlations of the variables, which are rows unless rowvar=False"""
    return correlations(covariances(observed(x, y, rowvar, "corrcoef"), 1))


# --- differences and slopes ---


def steps_along(x: Value, axis: int) -> Value:
    """Return the differences of neighbours along an axis."""
    return x.along(axis, slice(1, None)) - x.along(axis, slice(0, -1))


@reduction("diff", "torch numpy method", kinds=Kinds(Made.NO, Made.INTEGER))
def diff(x: Value, n: int = 1, dim: Static = -1, prepend: Value | None = None, append: Value | None = None) -> Value:
    """the differences of neighbours along dim, n times over"""
    axis = axis_of(x, dim, "diff")
    require(n >= 0, "value", f"diff: n is 0 or more, not {n}")
    if n == 0:
        return x  # without what stands before and behind it, in every library
    edge = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    parts = [
        part if part.ndim or x is part else part.expand(*edge) for part in (prepend, x, append) if part is not None
    ]
    wide = parts[0].of(CAT, *parts[1:], dim=axis) if len(parts) > 1 else x
    for _ in range(min(n, wide.shape[axis])):
        wide = steps_along(wide, axis)
    return wide


def slopes_along(x: Value, axis: int, spacing: Value, edge_order: int) -> Value:
    """Return the slope at each place: of the parabola through three neighbours, at an end of that or of a line.

    ``spacing`` is the distance of neighbours, or the places along the axis.
    """
    length, near = x.shape[axis], range(edge_order + 1)
    fits = not spacing.ndim or spacing.shape == (length,)
    require(fits, "shape", f"gradient: {counted((*spacing.shape, 0)[0], 'place')} for an axis of length {length}")
    said = f"gradient: an axis of length {length} is too short, it takes {edge_order + 1} entries"
    require(length > edge_order, "shape", said)
    steps = steps_along(spacing, 0) if spacing.ndim else spacing
    left = [x.along(axis, slice(k, k + 1)) for k in near]
    right = [x.along(axis, slice(length - 1 - k, length - k)) for k in near]
    first, last = (
        [steps if not steps.ndim else steps[k] for k in places]
        for places in (range(edge_order), range(length - 2, length - 2 - edge_order, -1))
    )
    inner = [inner_slopes(x, axis, steps)] if length > 2 else []
    return end_slope(left, first).of(CAT, *inner, end_slope(right, [-h for h in last]), dim=axis)


def inner_slopes(x: Value, axis: int, steps: Value) -> Value:
    """Return the slopes between the ends."""
    after, before = x.along(axis, slice(2, None)), x.along(axis, slice(0, -2))
    if not steps.ndim:
        return (after - before) / (steps * 2.0)
    shape = tuple(-1 if k == axis else 1 for k in range(x.ndim))
    left, right = steps.along(0, slice(0, -1)).reshape(*shape), steps.along(0, slice(1, None)).reshape(*shape)
    here = x.along(axis, slice(1, -1))
    ahead = (after - here) * (left / right)
    behind = (here - before) * (right / left)
    return (ahead + behind) / (left + right)


def end_slope(near: list[Value], steps: list[Value]) -> Value:
    """Return the slope at an end from the entries ``near`` it, the end first, which are ``steps`` apart."""
    first = (near[1] - near[0]) / steps[0]
    if len(steps) == 1:
        return first
    a, b = steps
    second = (near[2] - near[1]) / b
    return first + (first - second) * (a / (a + b))


def slopes_of(x: Value, dim: Static, spacings: list[Value], edge_order: int) -> tuple[Value, ...]:
    """Return the slopes along each of some axes, of all of them for None."""
    require(edge_order in (1, 2), "value", f"gradient: edge_order is 1 or 2, not {edge_order}")
    named = range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    axes = [axis_of(x, axis, "gradient") for axis in named]
    each = spacings or [Value(x.f, np.ones(()))]
    each = each * len(axes) if len(each) == 1 else each
    require(len(each) == len(axes), "value", f"gradient: {len(each)} spacings for {len(axes)} axes")
    return tuple(slopes_along(x, axis, spacing, edge_order) for axis, spacing in zip(axes, each, strict=True))


@reduction("gradient", "torch", kinds=OF_FLOATS)
def gradient(x: Value, spacing: Value | None = None, dim: Static = None, edge_order: int = 1) -> tuple[Value, ...]:
    """the slopes of x along each axis, by differences: a tuple with one array for each"""
    each = [] if spacing is None else [spacing]
    if spacing is not None and spacing.ndim:
        each = [spacing[k] for k in range(spacing.shape[0])]
    return slopes_of(x, dim, each, edge_order)


@reduction("np.gradient numpy.gradient jnp.gradient", "", kinds=Kinds(Made.NO, Made.NUMPY_FLOAT))
def numpy_gradient(
    x: Value,
    spacing: Value | None = None,
    second: Value | None = None,
    third: Value | None = None,
    dim: Static = None,
    edge_order: int = 1,
) -> Value | tuple[Value, ...]:
    """the slopes of x along each axis, by differences: one array where there is one axis, as numpy has it"""
    slopes = slopes_of(x, dim, [part for part in (spacing, second, third) if part is not None], edge_order)
    return slopes[0] if len(slopes) == 1 else slopes


# --- areas ---


def areas(y: Value, x: Value | None, dx: Static, axis: int) -> Value:
    """Return the area between each two neighbours, from their places or from one distance."""
    both = y.along(axis, slice(1, None)) + y.along(axis, slice(0, -1))
    if x is None:
        return both * (number(1.0 if dx is None else dx, "dx") / 2)
    require(dx is None, "arguments", "trapezoid takes x or dx, not both")
    places = x
    if x.ndim == 1 and y.ndim > 1:
        places = x.reshape(*(-1 if k == axis else 1 for k in range(y.ndim)))
    along = axis - y.ndim + places.ndim
    fits = along >= 0 and places.shape[along] == y.shape[axis]
    require(fits, "shape", f"trapezoid: x of shape {x.shape} does not fit y of shape {y.shape}")
    return both * (steps_along(places, along) / 2.0)


@reduction("trapezoid trapz", "torch numpy", kinds=Kinds(Made.NO, Made.NUMPY_FLOAT))
def trapezoid(y: Value, x: Value | None = None, dx: Static = None, dim: Static = -1) -> Value:
    """the area below y by the rule of trapezoids, with places x or a distance dx"""
    axis = axis_of(y, dim, "trapezoid")
    return areas(y, x, dx, axis).sum(axis)


@reduction("cumulative_trapezoid", "torch", kinds=OF_FLOATS)
def cumulative_trapezoid(y: Value, x: Value | None = None, dx: Static = None, dim: Static = -1) -> Value:
    """the area below y up to each entry, by the rule of trapezoids"""
    axis = axis_of(y, dim, "cumulative_trapezoid")
    return areas(y, x, dx, axis).of(CUMSUM, dim=axis)


# --- running sums in logarithms ---


def logcumsumexp(x: Array, dim: int) -> Array:
    """Return the logarithm of the running sum of exp x, without overflow."""
    if np.asarray(x).dtype == object:
        running: Array = np.frompyfunc(logaddexp, 2, 1).accumulate(x, axis=dim)  # type: ignore[assignment]
        return running
    return np.logaddexp.accumulate(x, axis=dim)


def logcumsumexp_vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    """Return Σ g·exp(x - y) over the later outputs, the positive and the negative g apart, in logarithms."""
    total = np.zeros(np.shape(x))
    for sign in (1.0, -1.0):
        logarithms = np.where(sign * g > 0, np.log(np.abs(g)) - y, -np.inf)
        later = np.flip(np.logaddexp.accumulate(np.flip(logarithms, dim), axis=dim), dim)
        total = total + sign * np.exp(later + x)
    return total


def logcumsumexp_again(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    """Return Σ g·exp(x - y) over the later outputs, pair by pair."""
    count, axis = x.shape[dim], dim % x.ndim
    later = np.triu(np.ones((count, count), dtype=bool)).reshape((count, count, *(1,) * (x.ndim - 1 - axis)))
    apart = np.where(later, np.expand_dims(x, axis + 1) - np.expand_dims(y, axis), 0.0)
    return np.sum(np.where(later, np.exp(apart) * np.expand_dims(g, axis), 0.0), axis=axis + 1)


def logcumsumexp_local(at: At) -> list[Links | Contraction]:
    """Link each entry to itself and to all later outputs with exp(x - y)."""
    share = Explicit(lambda s, x, y: s.exp(x - y))
    return [pairs_along(at.x, at.static["dim"], Order.NOT_BEFORE, 1.0, share, (0, "column"), (OUT, "row"))]


def logcumsumexp_text_back(_k: int, _y: Array, x: Array, *, dim: int) -> str:
    """Return the text of the sum over the later outputs."""
    shape = np.shape(x)
    later = f"triu(ones({shape[dim]}, {shape[dim]})){trailing(len(shape) - 1 - dim, ':, :')}"
    shares = f"exp(unsqueeze({{0}}, {dim + 1}) - unsqueeze({{y}}, {dim}))"
    return f"sum(where({later} == 1, {shares}, 0)*unsqueeze({{g}}, {dim}), dim={dim + 1})"


LOGCUMSUMEXP = declare(
    "logcumsumexp",
    logcumsumexp,
    (logcumsumexp_vjp,),
    logcumsumexp_local,
    entries=Entries(shaped=True, index=Paired("where({j} <= {i}, exp({x}[{j}] - {y}[{i}]), 0)")),
    torch=Torch(differs=beyond, says=BEYOND),
    digits=lambda y, x, dim: np.where(np.isfinite(y), np.abs(y), 0.0),  # exp(x - y) has the last digits of y
    text=Text(
        backward=logcumsumexp_text_back, write=lambda call: f"logcumsumexp({call.texts[0]}, dim={call.static['dim']})"
    ),
    double_vjps=(logcumsumexp_again,),
)


@reduction("logcumsumexp", "torch method", op=LOGCUMSUMEXP)
def build_logcumsumexp(x: Value, dim: Axis) -> Value:
    """the logarithm of the running sum of exp(x) along dim, without overflow"""
    return x.of(LOGCUMSUMEXP, dim=dim) if x.ndim else x


# --- lines between points, and polynomials by their coefficients, the highest power first as numpy has them ---


@function("interp", "numpy not-bare", "elementwise", kinds=OF_FLOATS)
def interp(x: Value, xp: Value, fp: Value, left: Value | None = None, right: Value | None = None) -> Value:
    """heights at x on the lines between points, whose places xp increase; beyond them the first and the last height"""
    fits = xp.ndim == 1 and xp.shape == fp.shape and xp.shape[0]
    require(fits, "shape", f"interp: places of shape {xp.shape}, heights of shape {fp.shape}")
    require(not np.any(np.diff(np.asarray(xp.raw)) <= 0), "value", "interp: the places xp have to increase")
    before, count = positions(x.f, searched(x.f, xp.node, x.node, right=True)), xp.shape[0]
    beyond = positions(x.f, searched(x.f, xp.node, x.node, right=False)) == count
    if count == 1:
        height = fp.reshape().expand(*x.shape)
    else:
        low = np.clip(before - 1, 0, count - 2)
        x0, x1, y0, y1 = xp[low], xp[low + 1], fp[low], fp[low + 1]
        share = (x - x0) / (x1 - x0)
        height = y0 + (y1 - y0) * share
    for outside, end, other in ((before == 0, 0, left), (beyond, -1, right)):
        if np.any(outside):
            height = where(outside, fp[end] if other is None else other, height)
    return height


def powers(x: Value, count: int, increasing: bool) -> Value | Array:
    """Return x to the powers from 0 up to ``count`` - 1, or down to 0, along a new last axis."""
    x.f.charge(x.size * count)
    if count < 2:
        return np.ones((*x.shape, count))
    columns = [np.ones(x.shape), x, *(x**k for k in range(2, count))]
    return stack(columns if increasing else columns[::-1], x.ndim)


@function("vander", "torch numpy", "making", kinds=OF_FLOATS)
def vander(x: Value, N: int | None = None, increasing: bool = False, library: Library = "torch") -> Value | Array:
    """the powers of each entry as rows, from N - 1 down to 0, or up with increasing=True"""
    require(x.ndim == 1, "shape", f"vander takes a vector, not shape {x.shape}")
    if library == "torch" and x.active:
        x.f.remark(
            "torch-refuses",
            "vander: PyTorch writes its powers in place and refuses backward; linalg.vander is the same in the order "
            "of increasing powers.",
        )
    count = x.size if N is None else N
    require(count >= 0, "value", f"vander: N is 0 or more, not {count}")
    return powers(x, count, increasing)


@function("linalg.vander torch.linalg.vander", "", "making", kinds=OF_FLOATS)
def linalg_vander(x: Value, *, N: int | None = None) -> Value | Array:
    """the powers of each entry along a new last axis, from 0 up to N - 1"""
    require(x.ndim, "shape", "linalg.vander takes an array with an axis, not one number")
    count = x.shape[-1] if N is None else N
    require(count > 1, "value", f"linalg.vander: N is more than 1, not {count}")
    return powers(x, count, increasing=True)


def row(x: Value, name: str) -> Value:
    """Return a vector with an entry; raises ``shape`` for anything else."""
    require(x.ndim == 1 and x.size, "shape", f"{name} takes a vector of one number or more, not shape {x.shape}")
    return x


@function("polyval", "numpy not-bare", "elementwise", kinds=OF_FLOATS)
def polyval(p: Value, x: Value) -> Value:
    """the polynomial with these coefficients at x, the highest power first"""
    total, *parts = [p[k] for k in range(row(p, "polyval").size)]
    for part in parts:
        total = total * x + part
    return total if total.shape == x.shape else total.expand(*x.shape)


@function("convolve", "numpy not-bare", "making", kinds=OF_FLOATS)
def convolve(a: Value, v: Value, mode: Static = "full") -> Value:
    """the convolution of two vectors: all of it, as long as the longer, or where they overlap wholly"""
    longer, shorter = sorted((row(part, "convolve") for part in (a, v)), key=lambda part: -part.size)
    most, least = longer.size, shorter.size
    a.f.charge((most + least - 1) * least)
    edge = [np.zeros(least - 1)] * (least > 1)
    places = np.arange(most + least - 1)[:, None] + np.arange(least - 1, -1, -1)
    sums = (cat([*edge, longer, *edge], 0)[places] * shorter).sum(1)
    if mode == "full":
        return sums
    require(mode in ("same", "valid"), "value", f"convolve: mode is 'full', 'same' or 'valid', not {mode!r}")
    start, count = (least - 1 - least // 2, most) if mode == "same" else (least - 1, most - least + 1)
    return sums[slice(start, start + count)]
