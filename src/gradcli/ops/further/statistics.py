"""Covariances and correlations, the spread of what is no nan, and counts with weights."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import DIV, MUL, SUB
from gradcli.ops.axes import number, read_axes
from gradcli.ops.declare import OPS, Apply, value_of
from gradcli.ops.exactly import is_nan
from gradcli.ops.further.positions import positions
from gradcli.ops.further.reducing import build_nanmean, present
from gradcli.ops.further.scatters import reduced
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import build_cat
from gradcli.ops.linear_algebra import MATMUL
from gradcli.ops.piecewise import WHERE
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import RESHAPE, transpose_matrices, whole
from gradcli.ops.signatures import Raw, Static, Tensor
from gradcli.ops.vocabulary import function


def rows_of(f: Apply, x: Tensor, name: str) -> Tensor:
    """Return variables as the rows of a matrix; raises ``shape`` for more axes."""
    if x.ndim > 2:
        raise GradcliError("shape", f"{name} takes a matrix or a vector, not shape {x.shape}")
    return x if x.ndim == 2 else f(RESHAPE, x, shape=(1, math.prod(x.shape)))


def weights_of(f: Apply, x: Tensor, fweights: Tensor | None, aweights: Tensor | None) -> Tensor | None:
    """Return the weight of each column of a matrix, None for equal ones; raises ``shape``."""
    given = [part for part in (fweights, aweights) if part is not None]
    if any(part.shape != (x.shape[1],) for part in given):
        raise GradcliError("shape", f"cov: weights of shape {given[0].shape} for {x.shape[1]} columns")
    return f(MUL, *given) if len(given) == 2 else given[0] if given else None


def covariances(
    f: Apply, x: Tensor, correction: Static, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Return the covariances of the rows of a matrix: one number for one row."""
    by = number(correction, "correction")
    weights = weights_of(f, x, fweights, aweights)
    count: Tensor = np.float64(x.shape[1])
    factor: Tensor = np.float64(max(x.shape[1] - by, 0))
    if weights is None:
        average = f(DIV, f(SUM, x, dim=(1,), keepdim=True), count)
    else:
        count = f(SUM, weights, dim=(0,), keepdim=False)
        average = f(DIV, f(SUM, f(MUL, x, weights), dim=(1,), keepdim=True), count)
        lost: Tensor = np.float64(by)
        if aweights is not None:
            lost = f(DIV, f(MUL, lost, f(SUM, f(MUL, weights, aweights), dim=(0,), keepdim=False)), count)
        factor = f(SUB, count, lost)
        factor = np.float64(0) if value_of(factor) <= 0 else factor
    centred = f(SUB, x, average)
    weighted = centred if weights is None else f(MUL, centred, weights)
    found = f(DIV, f(MATMUL, weighted, transpose_matrices(f, centred)), factor)
    return f(RESHAPE, found, shape=()) if x.shape[0] == 1 else found


def correlations(f: Apply, found: Tensor) -> Tensor:
    """Return covariances over the roots of both variances."""
    if not found.ndim:
        return f(DIV, found, found)
    places = np.arange(found.shape[0])
    deviations = f(OPS["sqrt"], f(INDEX, found, key=(places, places)))
    columns = f(RESHAPE, deviations, shape=(found.shape[0], 1))
    return f(DIV, f(DIV, found, columns), deviations)


@function("cov", "torch method", "reductions", kinds="no no yes")
def build_cov(
    f: Apply,
    x: Tensor,
    *,
    correction: Static = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """the covariances of the rows, which are variables; of one variable its variance"""
    return covariances(f, rows_of(f, x, "cov"), correction, fweights, aweights)


@function("corrcoef", "torch method", "reductions", kinds="no no yes")
def build_corrcoef(f: Apply, x: Tensor) -> Tensor:
    """the correlations of the rows, which are variables"""
    return correlations(f, covariances(f, rows_of(f, x, "corrcoef"), 1))


def observed(f: Apply, x: Tensor, y: Tensor | None, rowvar: Static, name: str) -> Tensor:
    """Return the variables of one or two arrays as rows, as numpy reads them."""
    parts = [
        rows if rowvar or part.ndim < 2 else transpose_matrices(f, rows)
        for part in (x, y)
        if part is not None
        for rows in [rows_of(f, part, name)]
    ]
    return build_cat(f, parts, 0)


@function("np.cov numpy.cov jnp.cov", "", "reductions", kinds="no numpy-float yes")
def build_numpy_cov(
    f: Apply,
    x: Tensor,
    y: Tensor | None = None,
    rowvar: Static = True,
    bias: Static = False,
    ddof: Static = None,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """the covariances of the variables, which are rows unless rowvar=False, over n - 1, or over n with bias=True"""
    by = int(not bias) if ddof is None else ddof
    return covariances(f, observed(f, x, y, rowvar, "cov"), by, fweights, aweights)


@function("np.corrcoef numpy.corrcoef jnp.corrcoef", "", "reductions", kinds="no numpy-float yes")
def build_numpy_corrcoef(f: Apply, x: Tensor, y: Tensor | None = None, rowvar: Static = True) -> Tensor:
    """the correlations of the variables, which are rows unless rowvar=False"""
    return correlations(f, covariances(f, observed(f, x, y, rowvar, "corrcoef"), 1))


# --- what is no nan ---


def numpy_spread(name: str, root: bool, word: str) -> None:
    """Enter NumPy's variance or standard deviation of the entries that are no nan."""

    def build(f: Apply, x: Tensor, dim: Static = None, correction: Static = 0, keepdim: Static = False) -> Tensor:
        axes = read_axes(dim, x.ndim)
        apart = f(SUB, x, build_nanmean(f, x, axes, True))
        lacking = is_nan(np.asarray(value_of(x)))
        square = f(OPS["square"], f(WHERE, lacking, np.float64(0), apart) if np.any(lacking) else apart)
        total = f(SUM, square, dim=axes, keepdim=bool(keepdim))
        count = value_of(present(x, axes, bool(keepdim))) - number(correction, "ddof")
        found = f(DIV, total, np.where(count > 0, count, np.nan)[()])
        return f(OPS["sqrt"], found) if root else found

    build.__doc__ = f"the {word} of the entries that are no nan"
    function(f"np.{name} numpy.{name} jnp.{name}", "", "reductions", kinds="numpy-float numpy-float yes")(build)


numpy_spread("nanvar", root=False, word="variance")
numpy_spread("nanstd", root=True, word="standard deviation")


# --- counts ---


@function("bincount", "torch numpy method", "reductions", kinds="no no yes")
def build_bincount(f: Apply, x: Raw, weights: Tensor | None = None, minlength: Static = 0) -> Tensor:
    """how often each integer from 0 on stands in x, or the sum of the weights where it does"""
    places, least = positions(f, x, "bincount"), whole(minlength, "minlength")
    if places.ndim != 1 or np.any(places < 0) or least < 0:
        raise GradcliError("value", "bincount takes a vector of integers from 0 on, and minlength of 0 or more")
    length = max(int(np.max(places, initial=-1)) + 1, least)
    f.charge(length)
    if weights is None:
        return np.bincount(places, minlength=length)
    if weights.shape != places.shape:
        raise GradcliError("shape", f"bincount: weights of shape {weights.shape} for {places.size} places")
    if getattr(weights, "active", False):
        f.remark("torch-refuses", "bincount: PyTorch has no derivative by weights; index_add has.")
    return reduced(f, np.zeros(length), places, weights, "sum")
