"""The functions of the language that move entries or make arrays: numpy's, which take arrays of any kind of object."""

from __future__ import annotations

import functools

import numpy as np

from generator.arrays import Array, array, numbers
from generator.duals import Dual, dual


def whole(values):
    """Return lengths or axes that were given one by one or as one list."""
    items = values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values
    return tuple(int(item) for item in items)


def moving(rule):
    """Return a function of arrays from one of numpy's arrays."""

    @functools.wraps(rule)  # whose names of options are those that a call is read by
    def apply(x, *given, **named):
        found = rule(numbers(x), *given, **named)
        return Array(of_duals(found)) if isinstance(found, np.ndarray) else array(of_duals(np.array(found))[()])

    return apply


def of_duals(found):
    """Return an array of objects whose entries are all duals: numpy fills in plain zeros."""
    if found.dtype != object:
        return found
    entries = np.empty(found.size, dtype=object)
    entries[:] = [dual(entry) if isinstance(entry, int | float) else entry for entry in found.ravel()]
    return entries.reshape(found.shape)


def fixed(rule):
    """Return a function that makes an array of constants."""
    return lambda *given, **named: array(rule(*given, **named))


def flatten(x, start_dim=0, end_dim=-1):
    """Return an array with the axes from one to another made one."""
    first, last = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:first], -1, *x.shape[last + 1 :])


def squeeze(x, dim=None):
    """Return an array without axes of length 1."""
    if dim is None:
        return np.squeeze(x)
    return np.squeeze(x, dim) if x.shape[dim] == 1 else x


def swapped_axes(x, dim0=None, dim1=None):
    """Return an array with two axes swapped."""
    return x.T if dim0 is None else np.swapaxes(x, dim0, dim1)


def expand(x, *shape):
    """Return an array repeated along new axes and axes of length 1; -1 keeps a length."""
    wanted = whole(shape)
    lead = len(wanted) - x.ndim
    return np.broadcast_to(x, tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(wanted)))


def roll(x, shifts, dim=None):
    """Return an array with its entries moved round."""
    return np.roll(x, shifts, dim)


def triangle(kept):
    """Return what keeps one side of a diagonal and makes the rest 0."""

    def apply(x, diagonal=0):
        rows, columns = np.indices(x.shape[-2:])
        return np.where(kept(columns - rows, diagonal), x, numbers(0.0))

    return apply


def diag(x, diagonal=0):
    """Return a matrix with a vector on its diagonal, or the diagonal of a matrix."""
    if x.ndim == 2:
        return np.diagonal(x, diagonal)
    side = len(x) + abs(diagonal)
    found = np.full((side, side), numbers(0.0))
    for i, entry in enumerate(x):
        found[i + max(-diagonal, 0), i + max(diagonal, 0)] = entry
    return found


def joined(rule):
    """Return stack or cat: a function of a list of arrays."""
    return lambda tensors, dim=0: Array(rule([numbers(x) for x in tensors], axis=dim))


def filled(shape, fill_value):
    """Return an array with one number everywhere."""
    return Array(np.broadcast_to(numbers(fill_value), whole((shape,))).copy())


def detached(x):
    """Return the numbers of an array without their slopes."""
    return array(np.frompyfunc(lambda entry: Dual(entry.value, entry.noise), 1, 1)(numbers(x)))
