"""The functions of the language on arrays of duals, each by its definition, with PyTorch's conventions."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from generator.arrays import Array, Pair, array, each, numbers
from generator.duals import ELEMENTARY, Dual, dual

exp, log, sqrt, tanh, erf = (each(ELEMENTARY[name]) for name in ("exp", "log", "sqrt", "tanh", "erf"))


def axes_of(dim, ndim):
    """Return the axes that dim names, counted from 0; all of them for None."""
    if dim is None:
        return tuple(range(ndim))
    return tuple(axis % ndim for axis in (dim if isinstance(dim, list | tuple) else (dim,))) if ndim else ()


def masks(x):
    """Return the numpy array of truth values of a mask."""
    return array(x).data


def reduced(rule, of=numbers):
    """Return a reduction of arrays along axes from a function of a list of numbers, or of truth values."""

    def apply(x, dim=None, keepdim=False, **options):
        data = of(x)
        axes = axes_of(dim, data.ndim)
        kept = tuple(axis for axis in range(data.ndim) if axis not in axes)
        lengths = tuple(data.shape[axis] for axis in kept)
        rows = data.transpose(kept + axes).reshape(math.prod(lengths), -1)
        found = [rule(list(row), **options) for row in rows]
        flat = np.empty(len(found), dtype=object if isinstance(found[0], Dual) else np.asarray(found).dtype)
        flat[:] = found
        result = flat.reshape(lengths)
        return Array(np.expand_dims(result, axes) if keepdim else result)

    return apply


def total(row):
    """Return the sum of a list of numbers."""
    return functools.reduce(operator.add, row)


def average(row):
    """Return the mean of a list of numbers."""
    return total(row) / len(row)


def variance(row, correction=1, unbiased=True):
    """Return the mean squared distance from the mean, over n - correction."""
    middle = average(row)
    return total([(x - middle) ** 2 for x in row]) / (len(row) - (correction if unbiased else 0))


def magnitude(x):
    """Return the absolute value, at a distance from 0."""
    return x if x > 0 else -x


def length(row, p=2):
    """Return the norm of order p of a list of numbers."""
    if p == 2:
        return ELEMENTARY["sqrt"](total([x * x for x in row]))
    sizes = [magnitude(x) for x in row]
    return {math.inf: max, -math.inf: min}[p](sizes) if math.isinf(p) else total([x**p for x in sizes]) ** (1 / p)


def place(pick):
    """Return where in a list the extreme entry is that ``pick`` takes."""

    def apply(row):
        extreme = pick(row)
        return next(i for i, x in enumerate(row) if x is extreme)

    return apply


def middle_of(row):
    """Return the lower median of a list of numbers."""
    return sorted(row)[(len(row) - 1) // 2]


sum_, mean, prod = reduced(total), reduced(average), reduced(lambda row: functools.reduce(operator.mul, row))
amax, amin, var = reduced(max), reduced(min), reduced(variance)


def std(x, dim=None, keepdim=False, **options):
    """Return the standard deviation."""
    return sqrt(var(x, dim, keepdim=keepdim, **options))


def numpy_spread(rule):
    """Return a variance or deviation with numpy's default: over n."""
    return lambda x, dim=None, ddof=0, keepdim=False: rule(x, dim, keepdim, correction=ddof)


def logsumexp(x, dim=None, keepdim=False):
    """Return log(sum(exp(x)))."""
    return log(sum_(exp(x), dim, keepdim))


def norm(x, p=2, dim=None, keepdim=False):
    """Return the norm of order p."""
    return reduced(length)(x, dim, keepdim, p=2 if p in ("fro", None) else p)


def scanned(ufunc):
    """Return a running reduction along an axis."""
    return lambda x, dim=0: Array(ufunc.accumulate(numbers(x), axis=dim))


cumsum, cumprod = scanned(np.add), scanned(np.multiply)


def ordered(x, dim=-1, descending=False):
    """Return the entries in order along an axis, and where they stood."""
    data = numbers(x)
    where = np.argsort(-data if descending else data, axis=dim, kind="stable")
    return Pair(Array(np.take_along_axis(data, where, axis=dim)), Array(where))


def extreme(over_all, pick, both):
    """Return max, min or median: of all entries, along an axis with places, or of two arrays."""

    def apply(x, dim=None, keepdim=False):
        if dim is None:
            return over_all(x)
        if not isinstance(dim, int):
            return both(x, dim)
        return Pair(reduced(pick)(x, dim, keepdim), reduced(place(pick))(x, dim, keepdim))

    return apply


larger = each(lambda a, b: max(dual(a), dual(b)))
smaller = each(lambda a, b: min(dual(a), dual(b)))


def numpy_median(x, dim=None):
    """Return the middle entry, or the mean of the two."""
    return reduced(lambda row: average(sorted(row)[(len(row) - 1) // 2 : len(row) // 2 + 1]))(x, dim)


def where(condition, x, other):
    """Return x where the condition holds, other elsewhere."""
    return Array(np.where(array(condition).data, numbers(x), numbers(other)))


def clip(x, min=None, max=None):
    """Return x between two bounds."""
    low = array(x) if min is None else larger(x, min)
    return low if max is None else smaller(low, max)


def softmax(x, dim=-1):
    """Return exp(x)/sum(exp(x)) along an axis."""
    raised = exp(x)
    return raised / sum_(raised, dim, keepdim=True)


def log_softmax(x, dim=-1):
    """Return x - logsumexp(x) along an axis."""
    return array(x) - logsumexp(x, dim, keepdim=True)


def sigmoid(x):
    """Return 1/(1 + exp(-x))."""
    return 1 / (1 + exp(-array(x)))


def gelu(x, approximate="none"):
    """Return x times the normal distribution function of x, or its approximation."""
    x = array(x)
    if approximate == "tanh":
        return x / 2 * (1 + tanh((x + 0.044715 * x**3) * sqrt(dual(2) / pi())))
    return x / 2 * (1 + erf(x / sqrt(2)))


def pi():
    """Return π with all digits of the field, not the double that a program has under this name."""
    return Dual(+Dual.field.pi)


def sinc(x):
    """Return sin(πx)/(πx), at a distance from 0."""
    turned = array(x) * pi()
    return each(ELEMENTARY["sin"])(turned) / turned


def softplus(x, beta=1.0, threshold=20.0):
    """Return log(1 + exp(βx))/β, and x above the threshold."""

    def rule(x):
        return x if x * beta > threshold else ELEMENTARY["log1p"](ELEMENTARY["exp"](x * beta)) / beta

    return each(lambda x: rule(dual(x)))(x)


def signed(right, left):
    """Return a function of numbers that has one rule above 0 and one below."""
    return each(lambda x: right(dual(x)) if dual(x) > 0 else left(dual(x)))


absolute = signed(lambda x: x, lambda x: -x)
