"""Linear algebra beyond products and inverses on arrays of duals, each by its definition."""

from __future__ import annotations

import functools

import numpy as np

from generator.arrays import Array, array, numbers, product
from generator.functions import sum_
from generator.layers import inv


def beside(of):
    """Return beta·x + alpha times a product."""
    return lambda x, a, b, beta=1, alpha=1: array(x) * beta + of(array(a), array(b)) * alpha


def outer(a, b):
    """Return the products of all pairs of entries."""
    return a[:, None] * b


def chain(*given):
    """Return the product of arrays from left to right, given one by one or as a list."""
    return functools.reduce(product, given[0] if len(given) == 1 and isinstance(given[0], list | tuple) else given)


def matrix_power(x, n):
    """Return the product of n copies of a matrix, or of its inverse."""
    x = array(x)
    return chain(*[inv(x) if n < 0 else x] * abs(n)) if n else Array(numbers(x) * 0 + np.eye(x.shape[-1]))


def tensordot(x, other, dims=2):
    """Return the sum of products over pairs of axes."""
    a, b = numbers(x), numbers(other)
    own, others = (range(a.ndim - dims, a.ndim), range(dims)) if isinstance(dims, int) else dims
    sides = [side if hasattr(side, "__len__") else [side] for side in (own, others)]
    own, others = ([int(axis) % data.ndim for axis in side] for side, data in zip(sides, (a, b), strict=True))
    free = [axis for axis in range(a.ndim) if axis not in own], [axis for axis in range(b.ndim) if axis not in others]
    left = a.transpose(*free[0], *own).reshape(-1, int(np.prod([a.shape[axis] for axis in own])))
    right = b.transpose(*others, *free[1]).reshape(left.shape[1], -1)
    shape = [a.shape[axis] for axis in free[0]] + [b.shape[axis] for axis in free[1]]
    return Array(numbers(product(left, right)).reshape(shape))


def kron(x, other):
    """Return x with each entry times the whole of other in its place."""
    return Array(np.kron(numbers(x), numbers(other)))


def cross(x, other, dim=None, *, first=True):
    """Return the cross product along dim, or along the first or last axis with 3 entries."""
    a, b = numbers(x), numbers(other)
    axis = dim if dim is not None else a.shape.index(3) if first else -1
    a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    found = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return Array(np.moveaxis(np.stack([np.asarray(entry) for entry in found]), 0, axis))


def vecdot(x, other, dim=-1):
    """Return the inner products along an axis."""
    return sum_(array(x) * array(other), dim)


def inner(x, other):
    """Return the sum of products over the last axes."""
    a, b = numbers(x), numbers(other)
    return array(a * b) if not a.ndim or not b.ndim else tensordot(x, other, ([a.ndim - 1], [b.ndim - 1]))
