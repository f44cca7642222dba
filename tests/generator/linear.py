"""Linear algebra beyond products and inverses on arrays of duals, each by its definition."""

from __future__ import annotations

import functools

import numpy as np

from generator.arrays import Array, array, numbers, product
from generator.duals import ELEMENTARY, LEAST, dual, require
from generator.functions import absolute, amax, log, norm, sqrt, sum_
from generator.layers import det, inv


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


def numpy_cross(x, other, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Return the cross products of the vectors along two axes, along a third."""
    first, second, last = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a, b = np.moveaxis(numbers(x), first, -1), np.moveaxis(numbers(other), second, -1)
    return Array(np.moveaxis(numbers(cross(Array(a), Array(b), -1)), -1, last))


def vecdot(x, other, dim=-1):
    """Return the inner products along an axis."""
    return sum_(array(x) * array(other), dim)


def inner(x, other):
    """Return the sum of products over the last axes."""
    a, b = numbers(x), numbers(other)
    return array(a * b) if not a.ndim or not b.ndim else tensordot(x, other, ([a.ndim - 1], [b.ndim - 1]))


def entries(x):
    """Return the four entries of a matrix of 2 by 2."""
    [[a, b], [c, d]] = numbers(x)
    return a, b, c, d


def eigenvalues(x):
    """Return the eigenvalues of a symmetric matrix of 2 by 2."""
    a, b, _, d = entries(x)
    apart = ELEMENTARY["sqrt"](((a - d) / 2) ** 2 + b * b)
    return array([(a + d) / 2 - apart, (a + d) / 2 + apart])


def eigen(x):
    """Return the eigenvalues and eigenvectors of a symmetric matrix of 2 by 2, these up to their signs."""
    a, b, _, _ = entries(x)
    values, columns = eigenvalues(x), []
    for k in range(2):
        rest = values[k].data.item() - a
        length = ELEMENTARY["sqrt"](b * b + rest * rest)
        columns.append([b / length, rest / length])
    return values, Array(numbers(columns).T)


def svd(x):
    """Return U, the singular values and V of a matrix of 2 by 2, U and V up to the signs of their columns."""
    (a, b, c, d), largest_first = entries(x), slice(None, None, -1)
    _, left = eigen([[a * a + b * b, a * c + b * d], [a * c + b * d, c * c + d * d]])
    values, right = eigen([[a * a + c * c, a * b + c * d], [a * b + c * d, b * b + d * d]])
    return left[:, largest_first], sqrt(values[largest_first]), right[:, largest_first]


def singular_values(x):
    """Return the singular values of a matrix of 2 by 2: the roots of the eigenvalues of its transpose times it."""
    return svd(x)[1]


def cholesky(x, upper=False):
    """Return the triangular factor of a matrix of 2 by 2."""
    a, _, c, d = entries(x)
    first = ELEMENTARY["sqrt"](a)
    low = array([[first, dual(0)], [c / first, ELEMENTARY["sqrt"](d - c * c / a)]])
    return low.T if upper else low


def factors(x, **_):
    """Return Q and R of a matrix of 2 by 2, up to signs."""
    a, b, c, d = entries(x)
    size = ELEMENTARY["sqrt"](a * a + c * c)
    det = (a * d - b * c) / size
    require(abs(det.value) >= LEAST)
    q = array([[a / size, -c / size], [c / size, a / size]])
    return q, array([[size, (a * b + c * d) / size], [dual(0), det]])


def logarithm(x):
    """Return the logarithm of the size of a determinant."""
    return log(absolute(det(x)))


def pinv(x, **_):
    """Return the inverse of a matrix with independent columns, or rows."""
    x = array(x)
    if x.shape[0] >= x.shape[1]:
        return product(inv(product(x.T, x)), x.T)
    return product(x.T, inv(product(x, x.T)))


def exponential(x):
    """Return the exponential of a matrix by its series."""
    x = array(x)
    term = total = Array(numbers(x) * 0 + np.eye(x.shape[-1]))
    for k in range(1, 40):
        term = product(term, x) / k
        total = total + term
    return total


def solve_triangular(a, b, upper=False, left=True, unitriangular=False):
    """Return the X with A·X = B, or X·A = B, for one triangle of A."""
    data = numbers(a)
    kept = (np.triu if upper else np.tril)(np.ones(data.shape), (1 if upper else -1) if unitriangular else 0)
    triangle = Array(data * kept + np.eye(len(data)) * unitriangular)
    return product(inv(triangle), b) if left else product(b, inv(triangle))


def of_matrix(x, order="fro"):
    """Return the norm of a matrix of 2 by 2."""
    if order in ("nuc", 2, -2):
        values = singular_values(x)
        return {"nuc": values[0] + values[1], 2: values[0], -2: values[1]}[order]
    sizes = absolute(x)
    return norm(x) if order == "fro" else amax(sum_(sizes, 0 if order == 1 else 1))


def vector_norm(x, ord=2, dim=None, keepdim=False):
    """Return the norm of order ord of all entries, or along an axis."""
    return norm(x, ord, dim, keepdim)


def matrix_norm(x, ord=None, dim=None, keepdim=False):
    """Return the norm of a vector, of all entries, or of a matrix."""
    if ord is None or array(x).ndim == 1 or isinstance(dim, int):
        return norm(x, 2 if ord is None else ord, dim, keepdim)
    return of_matrix(x, ord)


def every_norm(x, p=2, dim=None, keepdim=False):
    """Return the norm of order p, of a matrix for "nuc"."""
    return of_matrix(x, "nuc") if p == "nuc" else norm(x, p, dim, keepdim)


def cdist(a, b, p=2):
    """Return the distances of all pairs of rows."""
    return norm(array(a)[:, None] - array(b), p, -1)


def normalize(x, p=2, dim=1, eps=1e-12):  # noqa: ARG001
    """Return x over its norm along an axis."""
    return array(x) / norm(x, p, dim, keepdim=True)


def cosine(a, b, dim=1, eps=1e-8):  # noqa: ARG001
    """Return the cosine of the angle along an axis."""
    return sum_(array(a) * array(b), dim) / (norm(a, 2, dim) * norm(b, 2, dim))
