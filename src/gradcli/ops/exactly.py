"""How ops are computed in many digits where their forward as it stands is not how: ``exactly`` and ``pieces`` of ops.

Entries are numbers with operators and the methods that numpy calls on objects (``sin``, ``exp``, ``floor`` …), so
most forwards need no word here. A *piecewise* op says which piece of its definition a point lies on, and its value on
a given piece: so a run can be told to stay on the pieces of another run, which is where a kink has PyTorch's choice of
a derivative (abs at 0 stays on the piece 0·x, a tie of two on the piece of their mean).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.ops.declare import Piecewise
from gradcli.ops.links import Array, Axes, Forward, Indices, Mask, Number, Rule, Test


def each(name: str) -> Forward:
    """Return what calls a method of each entry."""
    return np.frompyfunc(operator.methodcaller(name), 1, 1)


def in_mpmath(rule: Callable[..., Any], arguments: int = 1) -> Forward:
    """Return what is ``rule(mpmath, *entries)`` of each entry."""
    return np.frompyfunc(lambda x, *others: x.in_mpmath(rule, *others), arguments, 1)


def sign_of(x: Array) -> Indices:
    """Return -1, 0 or 1 for each entry as plain integers; 0 for nan."""
    return np.asarray(x > 0, dtype=int) - np.asarray(x < 0, dtype=int)


def order_of(a: Array, b: Array) -> Indices:
    """Return 1, 0 or -1 where a is larger than b, equal, or smaller."""
    return np.asarray(a > b, dtype=int) - np.asarray(a < b, dtype=int)


def is_nan(x: Array) -> Mask:
    """Return where an entry is nan: nothing else differs from itself."""
    return np.asarray(x != x, dtype=bool)  # noqa: PLR0124


def true(x: Any) -> Mask:
    """Return where an array of truth values or numbers is true."""
    return x if getattr(x, "dtype", None) == np.bool_ else np.asarray(x != 0, dtype=bool)


def one_like(x: Array) -> Array:
    """Return ones as numbers of the same kind, for constants that have all digits; at inf and nan too."""
    return x**0


def zero_like(x: Array) -> Array:
    """Return zeros as numbers of the same kind, at inf and nan too."""
    return one_like(x) - 1


def pi_like(x: Array) -> Array:
    """Return π as a number of the same kind."""
    return 4 * np.arctan(one_like(x))


def gelu(x: Array, approximate: str) -> Array:
    """Return x·Φ(x), or its approximation by tanh; by erfc, as 1 + erf of -30 is 0 in 200 digits."""
    if approximate == "tanh":
        return x * (1 + np.tanh(np.sqrt(2 / pi_like(x)) * (x + 0.044715 * x**3))) / 2
    return x * each("erfc")(-x / np.sqrt(2 * one_like(x))) / 2


def matmul(a: Array, b: Array) -> Array:
    """Return ``a @ b``, which numbers of many digits know a faster way to."""
    if not all(isinstance(x, np.ndarray) and x.dtype == object and x.size for x in (a, b)):
        return np.matmul(a, b)
    first: Any = a.flat[0]
    return np.asarray(first.matmul(a, b))


def logaddexp(a: Array, b: Array) -> Array:
    """Return log(exp a + exp b)."""
    return np.maximum(a, b) + np.log1p(np.exp(-gap(a, b)))


def gap(a: Array, b: Array) -> Array:
    """Return the distance of two numbers, 0 where both are the same infinity."""
    return np.where(a == b, zero_like(a), abs(a - b))


def logsigmoid(x: Array) -> Array:
    """Return -log(1 + exp(-x))."""
    return -logaddexp(zero_like(x), -x)


def logsumexp(x: Array, dim: int | Axes, keepdim: bool) -> Array:
    """Return log Σ exp x."""
    top = np.max(x, axis=dim, keepdims=True)
    total = np.log(np.sum(np.exp(x - top), axis=dim, keepdims=True)) + top
    return total if keepdim else np.squeeze(total, axis=dim)


def norm(x: Array, dim: Axes, keepdim: bool, p: float) -> Array:
    """Return (Σ|x|^p)^(1/p), in units but for p = 2: decimals too end somewhere, and 1e300**100 is beyond."""
    return np.sqrt(np.sum(x * x, axis=dim, keepdims=keepdim)) if p == 2 else norm_in_units(x, dim, keepdim, p)


def norm_in_units(x: Array, dim: Axes, keepdim: bool, p: float) -> Array:
    """Return a norm in units of the largest entry, for p < 0 of the smallest, and of 1 where that is 0 or inf."""
    size = np.asarray(abs(x))
    unit = (np.max if p > 0 else np.min)(size, axis=dim, keepdims=True) if size.size else size
    unit = np.where((unit > 0) & np.isfinite(np.asarray(unit, dtype=np.float64)), unit, one_like(unit))
    total = np.asarray(np.sum((size / unit) ** p, axis=dim, keepdims=True)) ** (one_like(unit) / p) * unit
    return total if keepdim else np.squeeze(total, axis=dim)


def var(x: Array, dim: Axes, keepdim: bool, correction: float) -> Array:
    """Return the mean squared distance from the mean, over n - correction."""
    count = np.size(x) // max(np.size(np.sum(x, axis=dim)), 1)
    centred = x - np.sum(x, axis=dim, keepdims=True) / (count * one_like(np.sum(x, axis=dim, keepdims=True)))
    total = np.sum(centred * centred, axis=dim, keepdims=keepdim)
    return total / (max(count - correction, 0) * one_like(total))


def mean(x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return the sum over the count."""
    total = np.asarray(np.sum(x, axis=dim, keepdims=keepdim))
    return total / (np.size(x) // max(total.size, 1) * one_like(total))


def eliminated(a: Array, b: Array) -> tuple[Array, Number]:
    """Return the X with A·X = B and the determinant of A, by elimination with the largest pivot of each column.

    Where A is singular X is nan and the determinant 0.
    """
    a, b = np.array(a, dtype=object), np.array(b, dtype=object)
    size, det = len(a), 1
    for k in range(size):
        pivot = k + int(np.argmax(abs(a[k:, k])))
        if a[pivot, k] == 0 or is_nan(a[pivot, k]):
            return b * np.nan, a[pivot, k] * 0.0
        if pivot != k:
            a[[k, pivot]], b[[k, pivot]] = a[[pivot, k]], b[[pivot, k]]
            det = -det
        det = det * a[k, k]
        factors = a[k + 1 :, k : k + 1] / a[k, k]
        a[k + 1 :] = a[k + 1 :] - factors * a[k]
        b[k + 1 :] = b[k + 1 :] - factors * b[k]
    for k in reversed(range(size)):
        b[k] = (b[k] - a[k, k + 1 :] @ b[k + 1 :]) / a[k, k] if k + 1 < size else b[k] / a[k, k]
    return b, det


def each_matrix(rule: Callable[..., Any], *arrays: Any) -> Any:
    """Return a rule of matrices, or of what stands in their place, at each place of a batch."""
    batch = np.shape(arrays[0])[:-2]
    flat = [np.reshape(x, (-1, *np.shape(x)[len(batch) :])) for x in arrays]
    each = [np.asarray(rule(*matrices), dtype=object) for matrices in zip(*flat, strict=True)]
    return np.stack(each).reshape(batch + each[0].shape)


def solve(a: Array, b: Array) -> Array:
    """Return the X with A·X = B for a vector or matrices, batches broadcast."""
    if np.ndim(b) == 1:
        return solve(a, b[:, None])[..., 0]
    batch = np.broadcast_shapes(np.shape(a)[:-2], np.shape(b)[:-2])
    left, right = (np.broadcast_to(x, (*batch, *np.shape(x)[-2:])) for x in (a, b))
    return each_matrix(lambda *system: eliminated(*system)[0], left, right)


def inv(a: Array) -> Array:
    """Return the inverse of matrices."""
    return solve(a, np.eye(np.shape(a)[-1]))


def det(a: Array) -> Array:
    """Return the determinant of matrices."""
    return each_matrix(lambda x: eliminated(x, np.eye(len(x)))[1], a)


def decided(forward: Rule) -> Piecewise:
    """Return the pieces of an op that is constant on each: the value itself tells them apart."""
    return Piecewise(forward, lambda piece, *values, **static: piece)


def shared(hit: Test) -> Piecewise:
    """Return the pieces of a reduction to the entries that ``hit``, which share its derivative evenly."""
    return Piecewise(
        hit,
        lambda piece, x, dim, keepdim: (
            np.sum(np.where(piece, x, 0), axis=dim, keepdims=keepdim) / np.sum(piece, axis=dim, keepdims=keepdim)
        ),
    )


def rest_of(whole: Array, a: Array, b: Array) -> Array:
    """Return a - whole·b, which is a where b is infinite and goes into it no time."""
    return a - np.where(whole == 0, zero_like(b), whole * b)


def cut_side(y: Array, x: Array) -> Indices:
    """Return on which side of the cut of atan2, the negative x axis, a point lies: 1 above, -1 below, 0 elsewhere."""
    return np.where(x < 0, np.where(np.arctan2(y, -one_like(x)) > 0, 1, -1), 0)


def angle_on(piece: Indices, y: Array, x: Array) -> Array:
    """Return the angle, continued over the cut."""
    angle = np.arctan2(y, x)
    over = np.where((piece > 0) & (angle < 0), 2, np.where((piece < 0) & (angle > 0), -2, 0))
    return np.where(over == 0, angle, angle + over * pi_like(angle))
