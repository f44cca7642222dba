"""Losses, layers and the algebra of matrices on arrays of duals, each by its definition."""

from __future__ import annotations

import itertools
import math

import numpy as np

from generator.arrays import Array, array, numbers, product
from generator.duals import dual, require
from generator.functions import absolute, log, log_softmax, mean, sqrt, sum_, total, var, where


def reduce_loss(losses, reduction):
    """Return the mean, the sum, or the losses as they are."""
    return {"mean": mean, "sum": sum_, "none": lambda x: x}[reduction](losses)


def loss(rule):
    """Return a loss function from the losses of all pairs."""
    return lambda x, target, reduction="mean", **options: reduce_loss(
        rule(array(x), array(target), **options), reduction
    )


def huber(x, t, delta=1.0):
    """Return half the square of a difference below delta, a straight line above."""
    size = absolute(x - t)
    return where(size < delta, (x - t) ** 2 / 2, delta * (size - delta / 2))


def entropy(x, t):
    """Return -t·log x - (1 - t)·log(1 - x)."""
    return -t * log(x) - (1 - t) * log(1 - x)


def picked_losses(x, target):
    """Return minus the entry of each row that its class names."""
    classes = np.array([int(c.value) for c in numbers(target).ravel()]).reshape(target.shape)
    return -x[int(classes)] if x.ndim == 1 else -x[np.arange(len(classes)), classes]


def cross_entropy(x, target):
    """Return minus the log-softmax at the target's class, or weighed by its probabilities."""
    logs = log_softmax(x)
    return -sum_(target * logs, -1) if target.shape == x.shape else picked_losses(logs, target)


def linear(x, weight, bias=None):
    """Return x @ weight.T + bias."""
    found = product(x, array(weight).T)
    return found if bias is None else found + bias


def standardized(x, axes, eps=1e-5):
    """Return (x - mean)/sqrt(var + eps) over axes."""
    return (x - mean(x, axes, keepdim=True)) / sqrt(var(x, axes, keepdim=True, correction=0) + eps)


def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    """Return (x - mean)/sqrt(var + eps) over the last axes, times weight plus bias."""
    found = standardized(array(x), tuple(range(-len(shape) if isinstance(shape, list | tuple) else -1, 0)), eps)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


def determinant(matrix):
    """Return the determinant as the sum over all permutations."""
    n = len(matrix)
    terms = []
    for order in itertools.permutations(range(n)):
        turns = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        terms.append(math.prod((matrix[i][order[i]] for i in range(n)), start=dual((-1) ** turns)))
    return total(terms)


def square(rule):
    """Return a function of square matrices, or of a batch of them."""

    def apply(x):
        data = numbers(x)
        require(data.shape[-1] == data.shape[-2])
        found = np.stack([array(rule(matrix)).data for matrix in data.reshape(-1, *data.shape[-2:])])
        return Array(found.reshape(data.shape[:-2] + found.shape[1:]))

    return apply


def inverse(matrix):
    """Return the inverse by cofactors."""
    n, whole = len(matrix), determinant(matrix)
    return [
        [
            determinant(np.delete(np.delete(matrix, j, 0), i, 1)) * (-1) ** (i + j) / whole if n > 1 else 1 / whole
            for j in range(n)
        ]
        for i in range(n)
    ]


det, inv = square(determinant), square(inverse)


def solve(a, b):
    """Return the X with a @ X = b."""
    return product(inv(a), b)


def einsum(spec, *tensors):
    """Return the sum of products that the subscripts describe, as text or as a list behind each array."""
    if not isinstance(spec, str):
        given = [spec, *tensors]
        lists = [[int(c.value) for c in numbers(x)] for x in (*given[1::2], *given[len(given) & ~1 :])]
        pairs = zip(map(numbers, given[: len(given) & ~1 : 2]), lists, strict=False)
        return array(np.einsum(*itertools.chain(*pairs), *lists[len(given) // 2 :]))
    return array(np.einsum(spec, *[numbers(x) for x in tensors]))
