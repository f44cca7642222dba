"""Reductions that are made of others: of what is no nan, of both extremes, with weights."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import DIV, MUL, SUB
from gradcli.ops.axes import one_axis, read_axes, require_entries
from gradcli.ops.declare import Apply, Parts, value_of
from gradcli.ops.exactly import is_nan
from gradcli.ops.piecewise import WHERE
from gradcli.ops.reductions import SUM, build_cumprod, build_prod
from gradcli.ops.selection import AMAX, AMIN
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.signatures import Axes, Static, Tensor
from gradcli.ops.spread import spread
from gradcli.ops.vocabulary import function


def without_nan(f: Apply, x: Tensor, fill: float = 0.0) -> Tensor:
    """Return x with ``fill`` where it is nan; no cotangent goes there."""
    lacking = is_nan(np.asarray(value_of(x)))
    return f(WHERE, lacking, np.float64(fill), x) if np.any(lacking) else x


def present(x: Tensor, axes: Axes, keepdim: bool) -> Tensor:
    """Return how many entries along some axes are no nan."""
    lacking = is_nan(np.asarray(value_of(x)))
    return np.sum(~lacking, axis=axes, keepdims=keepdim, dtype=np.float64)


@function("nansum", "torch numpy method", "reductions", kinds="integer integer yes")
def build_nansum(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
    """the sum of the entries that are no nan"""
    return f(SUM, without_nan(f, x), dim=read_axes(dim, x.ndim, "all"), keepdim=bool(keepdim))


@function("nanmean", "torch numpy method", "reductions", kinds="numpy-float numpy-float yes")
def build_nanmean(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
    """the mean of the entries that are no nan"""
    axes = read_axes(dim, x.ndim, "all")
    total = f(SUM, without_nan(f, x), dim=axes, keepdim=bool(keepdim))
    return f(DIV, total, present(x, axes, bool(keepdim)))


@function("np.nanprod numpy.nanprod jnp.nanprod", "", "reductions", kinds="integer integer yes")
def build_nanprod(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
    """the product of the entries that are no nan"""
    return build_prod(f, without_nan(f, x, 1.0), dim, keepdim, "np")


def numpy_extreme(name: str, fill: float, word: str) -> None:
    """Enter NumPy's extreme of the entries that are no nan."""
    op = AMAX if name == "nanmax" else AMIN

    def build(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
        axes = read_axes(dim, x.ndim)
        require_entries(x, axes, name)
        if not np.all(value_of(present(x, axes, keepdim=False))):
            raise GradcliError("value", f"{name}: all entries are nan")
        return f(op, without_nan(f, x, fill), dim=axes, keepdim=bool(keepdim))

    build.__doc__ = f"the {word} of the entries that are no nan; ties share the gradient"
    names = " ".join(f"{library}.{name}" for library in ("np", "numpy", "jnp"))
    function(names, "", "reductions", kinds="same same yes")(build)


numpy_extreme("nanmax", -math.inf, "largest")
numpy_extreme("nanmin", math.inf, "smallest")


@function("aminmax", "torch method", "reductions", kinds="same same yes")
def build_aminmax(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Parts:
    """the smallest and the largest entry, also along dim, as .min and .max; ties share the gradient"""
    axes = tuple(range(x.ndim)) if dim is None else read_axes(one_axis(dim, x.ndim), x.ndim)
    require_entries(x, axes, "aminmax")
    options = {"dim": axes, "keepdim": bool(keepdim)}
    return Parts(("min", "max"), (lambda: f(AMIN, x, **options), lambda: f(AMAX, x, **options)))


@function("np.ptp numpy.ptp jnp.ptp", "", "reductions", kinds="same same yes")
def build_ptp(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Tensor:
    """the largest entry minus the smallest; ties share the gradient"""
    axes = read_axes(dim, x.ndim)
    require_entries(x, axes, "ptp")
    options = {"dim": axes, "keepdim": bool(keepdim)}
    return f(SUB, f(AMAX, x, **options), f(AMIN, x, **options))


def weights_along(weights: Tensor, x: Tensor, axes: Axes, f: Apply) -> Tensor:
    """Return weights that have the shape of x, or stand along the one axis that is averaged over."""
    if weights.shape == x.shape:
        return weights
    if weights.ndim != 1 or len(axes) != 1 or weights.shape[0] != x.shape[axes[0]]:
        raise GradcliError("shape", f"average: weights of shape {weights.shape} do not fit x of shape {x.shape}")
    return f(RESHAPE, weights, shape=tuple(-1 if axis == axes[0] else 1 for axis in range(x.ndim)))


@function("np.average numpy.average jnp.average", "", "reductions", kinds="numpy-float numpy-float yes")
def build_average(
    f: Apply, x: Tensor, dim: Static = None, weights: Tensor | None = None, keepdim: Static = False
) -> Tensor:
    """the mean of the entries, each as often as its weight says"""
    axes = read_axes(dim, x.ndim)
    require_entries(x, axes, "average")
    options = {"dim": axes, "keepdim": bool(keepdim)}
    if weights is None:
        count = float(math.prod(x.shape[axis] for axis in axes))
        return f(DIV, f(SUM, x, **options), count)
    shares = weights_along(weights, x, axes, f)
    whole_weights = weights if shares.shape == x.shape else shares
    return f(DIV, f(SUM, f(MUL, x, shares), **options), f(SUM, whole_weights, **options))


def both(name: str, root: bool, words: str) -> None:
    """Enter PyTorch's pair of a variance or standard deviation and a mean."""

    def build(
        f: Apply,
        x: Tensor,
        dim: Static = None,
        unbiased: Static = True,
        keepdim: Static = False,
        correction: Static = None,
    ) -> tuple[Tensor, Tensor]:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        by = int(bool(unbiased)) if correction is None else correction
        found = spread(f, x, dim, keepdim, by, root, "all")
        axes = read_axes(dim, x.ndim, "all")
        count = float(math.prod(x.shape[axis] for axis in axes))
        return found, f(DIV, f(SUM, x, dim=axes, keepdim=bool(keepdim)), count)

    build.__doc__ = words
    function(name, "torch", "reductions", kinds="no no yes")(build)


both("std_mean", root=True, words="the standard deviation and the mean")
both("var_mean", root=False, words="the variance and the mean")


@function("np.cumprod numpy.cumprod jnp.cumprod", "", "reductions", kinds="integer integer yes")
def build_numpy_cumprod(f: Apply, x: Tensor, dim: Static = None) -> Tensor:
    """the running product as numpy has it: of the flattened array where no axis is given"""
    flat = f(RESHAPE, x, shape=(-1,)) if dim is None else x
    return build_cumprod(f, flat, 0 if dim is None else dim)
