"""Reductions that are made of others: of what is no nan, of both extremes, with weights, and covariances."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradcli.ops.axes import number, one_axis, read_axes, require_entries
from gradcli.ops.declare import Apply, Parts
from gradcli.ops.exactly import is_nan
from gradcli.ops.further.positions import positions
from gradcli.ops.further.scatters import reduced
from gradcli.ops.joining import build_cat
from gradcli.ops.reductions import build_cumprod, build_prod
from gradcli.ops.selection import AMAX, AMIN
from gradcli.ops.signatures import Array, Indices, Mask, Raw, Static
from gradcli.ops.spread import spread
from gradcli.ops.values import ALL, AllAxes, Axes, Value, require, sqrt, square, where
from gradcli.ops.vocabulary import function

FLOATS, SAME = "numpy-float numpy-float yes", "same same yes"
reduction = partial(function, family="reductions")


def numpys(name: str, kinds: str) -> Callable[[Any], Any]:
    """Enter a function of NumPy and of JAX's copy of it alone."""
    return reduction(f"np.{name} numpy.{name} jnp.{name}", "", kinds=kinds)


def lacking(x: Value) -> Mask:
    """Return where an array is nan."""
    return is_nan(np.asarray(x.raw))


def without_nan(x: Value, fill: float = 0.0) -> Value:
    """Return x with ``fill`` where it is nan; no cotangent goes there."""
    return where(lacking(x), fill, x) if np.any(lacking(x)) else x


def present(x: Value, axes: Axes, keepdim: bool) -> Array:
    """Return how many entries along some axes are no nan."""
    return np.sum(~lacking(x), axis=axes, keepdims=keepdim, dtype=np.float64)


@reduction("nansum", "torch numpy method", kinds="integer integer yes")
def nansum(x: Value, dim: AllAxes = ALL, keepdim: bool = False) -> Value:
    """the sum of the entries that are no nan"""
    return without_nan(x).sum(*dim, keepdim=keepdim)


@reduction("nanmean", "torch numpy method", kinds=FLOATS)
def nanmean(x: Value, dim: AllAxes = ALL, keepdim: bool = False) -> Value:
    """the mean of the entries that are no nan"""
    return without_nan(x).sum(*dim, keepdim=keepdim) / present(x, dim, keepdim)


@numpys("nanprod", "integer integer yes")
def nanprod(x: Value, dim: Static = None, keepdim: Static = False) -> Value:
    """the product of the entries that are no nan"""
    return Value(x.f, build_prod(x.f, without_nan(x, 1.0).node, dim, keepdim, "np"))


def numpy_extreme(name: str, fill: float, word: str) -> None:
    """Enter NumPy's extreme of the entries that are no nan."""

    def build(x: Value, dim: Axes = ALL, keepdim: bool = False) -> Value:
        require_entries(x, dim, name)
        require(np.all(present(x, dim, keepdim=False)), "value", f"{name}: all entries are nan")
        return without_nan(x, fill).of(AMAX if name == "nanmax" else AMIN, dim=dim, keepdim=keepdim)

    build.__doc__ = f"the {word} of the entries that are no nan; ties share the gradient"
    numpys(name, SAME)(build)


numpy_extreme("nanmax", -math.inf, "largest")
numpy_extreme("nanmin", math.inf, "smallest")


@reduction("aminmax", "torch method", kinds=SAME)
def aminmax(x: Value, dim: Static = None, keepdim: bool = False) -> Parts:
    """the smallest and the largest entry, also along dim, as .min and .max; ties share the gradient"""
    axes = tuple(range(x.ndim)) if dim is None else read_axes(one_axis(dim, x.ndim), x.ndim)
    require_entries(x, axes, "aminmax")
    return Parts(("min", "max"), tuple(partial(x.of, op, dim=axes, keepdim=keepdim) for op in (AMIN, AMAX)))


@numpys("ptp", SAME)
def ptp(x: Value, dim: Axes = ALL, keepdim: bool = False) -> Value:
    """the largest entry minus the smallest; ties share the gradient"""
    require_entries(x, dim, "ptp")
    return x.of(AMAX, dim=dim, keepdim=keepdim) - x.of(AMIN, dim=dim, keepdim=keepdim)


@numpys("average", FLOATS)
def average(x: Value, dim: Axes = ALL, weights: Value | None = None, keepdim: bool = False) -> Value:
    """the mean of the entries, each as often as its weight says"""
    require_entries(x, dim, "average")
    if weights is None:
        return x.sum(*dim, keepdim=keepdim) / math.prod(x.shape[axis] for axis in dim)
    shares = weights
    if weights.shape != x.shape:
        fits = weights.ndim == 1 == len(dim) and weights.shape[0] == x.shape[dim[0]]
        require(fits, "shape", f"average: weights of shape {weights.shape} do not fit x of shape {x.shape}")
        shares = weights.reshape(*(-1 if axis == dim[0] else 1 for axis in range(x.ndim)))
    return (x * shares).sum(*dim, keepdim=keepdim) / shares.sum(*dim, keepdim=keepdim)


def both(name: str, root: bool, words: str) -> None:
    """Enter PyTorch's pair of a variance or standard deviation and a mean."""

    def build(
        x: Value, dim: Static = None, unbiased: bool = True, keepdim: bool = False, correction: Static = None
    ) -> tuple[Value, Value]:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        found = spread(x, dim, keepdim, int(unbiased) if correction is None else correction, root, "all")
        axes = read_axes(dim, x.ndim, "all")
        return found, x.sum(*axes, keepdim=keepdim) / math.prod(x.shape[axis] for axis in axes)

    build.__doc__ = words
    reduction(name, "torch", kinds="no no yes")(build)


both("std_mean", root=True, words="the standard deviation and the mean")
both("var_mean", root=False, words="the variance and the mean")


@numpys("cumprod", "integer integer yes")
def numpy_cumprod(x: Value, dim: Static = None) -> Value:
    """the running product as numpy has it: of the flattened array where no axis is given"""
    return Value(x.f, build_cumprod(x.f, (x.flat if dim is None else x).node, 0 if dim is None else dim))


# --- covariances ---


def rows_of(x: Value, name: str) -> Value:
    """Return variables as the rows of a matrix; raises ``shape`` for more axes."""
    require(x.ndim <= 2, "shape", f"{name} takes a matrix or a vector, not shape {x.shape}")
    return x if x.ndim == 2 else x.reshape(1, x.size)


def covariances(x: Value, correction: float, fweights: Value | None = None, aweights: Value | None = None) -> Value:
    """Return the covariances of the rows of a matrix, whose columns may have weights: one number for one row."""
    given = [part for part in (fweights, aweights) if part is not None]
    for part in given:
        said = f"cov: weights of shape {given[0].shape} for {x.shape[1]} columns"
        require(part.shape == (x.shape[1],), "shape", said)
    if not given:
        centred = weighted = x - x.sum(1, keepdim=True) / x.shape[1]
        factor: Any = max(x.shape[1] - correction, 0)
    else:
        weights = given[0] * given[1] if len(given) == 2 else given[0]
        count = weights.sum(0)
        mean = (x * weights).sum(1, keepdim=True) / count
        lost: Any = correction if aweights is None else correction * (weights * aweights).sum(0) / count
        factor = count - lost
        factor = 0 if factor.raw <= 0 else factor
        centred = x - mean
        weighted = centred * weights
    found = weighted @ centred.mT / factor
    return found.reshape() if x.shape[0] == 1 else found


def correlations(found: Value) -> Value:
    """Return covariances over the roots of both variances."""
    if not found.ndim:
        return found / found
    places = np.arange(found.shape[0])
    deviations = sqrt(found[places, places])
    return found / deviations.reshape(found.shape[0], 1) / deviations


@reduction("cov", "torch method", kinds="no no yes")
def cov(x: Value, *, correction: float = 1, fweights: Value | None = None, aweights: Value | None = None) -> Value:
    """the covariances of the rows, which are variables; of one variable its variance"""
    return covariances(rows_of(x, "cov"), correction, fweights, aweights)


@reduction("corrcoef", "torch method", kinds="no no yes")
def corrcoef(x: Value) -> Value:
    """the correlations of the rows, which are variables"""
    return correlations(covariances(rows_of(x, "corrcoef"), 1))


def observed(x: Value, y: Value | None, rowvar: Static, name: str) -> Value:
    """Return the variables of one or two arrays as rows, as numpy reads them."""
    rows = [(part, rows_of(part, name)) for part in (x, y) if part is not None]
    return Value(x.f, build_cat(x.f, [(row if rowvar or part.ndim < 2 else row.mT).node for part, row in rows], 0))


@numpys("cov", "no numpy-float yes")
def numpy_cov(
    x: Value, y: Value | None = None, rowvar: Static = True, bias: Static = False, ddof: Static = None,
    fweights: Value | None = None, aweights: Value | None = None,
) -> Value:  # fmt: skip
    """the covariances of the variables, which are rows unless rowvar=False, over n - 1, or over n with bias=True"""
    by = int(not bias) if ddof is None else number(ddof, "correction")
    return covariances(observed(x, y, rowvar, "cov"), by, fweights, aweights)


@numpys("corrcoef", "no numpy-float yes")
def numpy_corrcoef(x: Value, y: Value | None = None, rowvar: Static = True) -> Value:
    """the correlations of the variables, which are rows unless rowvar=False"""
    return correlations(covariances(observed(x, y, rowvar, "corrcoef"), 1))


def numpy_spread(name: str, root: bool, word: str) -> None:
    """Enter NumPy's variance or standard deviation of the entries that are no nan."""

    def build(x: Value, dim: Axes = ALL, correction: Static = 0, keepdim: bool = False) -> Value:
        apart = x - nanmean(x, dim, True)
        total = square(where(lacking(x), 0, apart) if np.any(lacking(x)) else apart).sum(*dim, keepdim=keepdim)
        count = present(x, dim, keepdim) - number(correction, "ddof")
        found = total / np.where(count > 0, count, np.nan)[()]
        return sqrt(found) if root else found

    build.__doc__ = f"the {word} of the entries that are no nan"
    numpys(name, FLOATS)(build)


numpy_spread("nanvar", root=False, word="variance")
numpy_spread("nanstd", root=True, word="standard deviation")


@reduction("bincount", "torch numpy method", kinds="no no yes")
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
