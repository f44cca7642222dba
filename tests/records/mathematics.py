"""The mathematics that definitions of ops are written in, for mpmath's numbers and for arrays of any exact numbers."""

import itertools

import mpmath
import numpy as np
from mpmath import mp

FAR = 10**4
"""Beyond, a saturated function is its limit to thousands of digits, and exp(x²) takes mpmath long."""


def above(x, y=0):
    return mp.re(x) > mp.re(mp.mpc(y))


def absolute(x):
    return -x if above(0, x) else x


def power(x, p):
    return mp.mpc(1) if x == 1 or p == 0 else mp.exp(p * mp.log(x))


def exact(values):
    """Return numbers as mpmath's, each exactly; truth values and integers too."""
    found = np.empty(np.shape(values), dtype=object)
    for place in np.ndindex(found.shape):
        found[place] = mp.mpc(float(np.asarray(values)[place]))
    return found


def built(shape, entry):
    """Return an array whose entry at each place is ``entry(place)``."""
    found = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        found[place] = entry(place)
    return found


def at(x, place):
    """Return the entry of an array that stands at a place of what it is broadcast to."""
    last = place[len(place) - x.ndim :]
    return x[tuple(0 if length == 1 else i for i, length in zip(last, x.shape, strict=True))]


def reducing(of_group):
    """Return the definition of an op that makes one number of those along some axes, in flat order."""

    def definition(x, dim=None, keepdim=False, **static):
        axes = tuple(range(x.ndim)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
        kept = [1 if axis in axes else length for axis, length in enumerate(x.shape)]
        shape = kept if keepdim else [length for axis, length in enumerate(x.shape) if axis not in axes]

        def entry(place):
            outer = list(place) if keepdim else [0 if axis in axes else None for axis in range(x.ndim)]
            left = iter(place)
            outer = outer if keepdim else [next(left) if i is None else i for i in outer]
            group = [
                x[tuple(i if axis in axes else o for axis, (i, o) in enumerate(zip(inner, outer, strict=True)))]
                for inner in itertools.product(*(range(n) if axis in axes else (0,) for axis, n in enumerate(x.shape)))
            ]
            return of_group(group, **static)

        return built(tuple(shape), entry)

    return definition


def along(of_line):
    """Return the definition of an op that makes of each line along an axis another line."""

    def definition(x, dim, **static):
        def entry(place):
            line = [x[(*place[:dim], i, *place[dim + 1 :])] for i in range(x.shape[dim])]
            return of_line(line, place[dim], **static)

        return built(x.shape, entry)

    return definition


def ordered(group):
    return sorted(group, key=mp.re)


def middle(group):
    return ordered(group)[(len(group) - 1) // 2]


def norm(group, p):
    return power(mp.fsum(power(absolute(x), p) for x in group if x != 0), 1 / mp.mpf(p)) if any(group) else mp.mpc(0)


def variance(group, correction):
    mean = mp.fsum(group) / len(group)
    return mp.fsum((x - mean) ** 2 for x in group) / (len(group) - mp.mpf(correction))


def first(group, best):
    return next(i for i, x in enumerate(group) if x == best(group, key=mp.re))


def put(x, value, key):
    found = x.copy()
    found[key] = value[()]  # numpy would keep an array without axes as one entry
    return found


def joined(arrays, dim):
    """Return arrays end to end."""
    starts = [0, *itertools.accumulate(x.shape[dim] for x in arrays)]

    def entry(place):
        which = max(k for k in range(len(arrays)) if starts[k] <= place[dim])
        return arrays[which][(*place[:dim], place[dim] - starts[which], *place[dim + 1 :])]

    return built((*arrays[0].shape[:dim], starts[-1], *arrays[0].shape[dim + 1 :]), entry)


def stacked(*arrays, dim):
    shape = (*arrays[0].shape[:dim], len(arrays), *arrays[0].shape[dim:])
    return built(shape, lambda place: arrays[place[dim]][place[:dim] + place[dim + 1 :]])


def rolled(x, shifts, dims):
    by = [sum(s for s, dim in zip(shifts, dims, strict=True) if dim == axis) for axis in range(x.ndim)]
    return built(x.shape, lambda place: x[tuple((i - s) % n for i, s, n in zip(place, by, x.shape, strict=True))])


def tiled(x, reps):
    depth = max(x.ndim, len(reps))
    x, reps = x.reshape((1,) * (depth - x.ndim) + x.shape), (1,) * (depth - len(reps)) + reps
    shape = tuple(n * r for n, r in zip(x.shape, reps, strict=True))
    return built(shape, lambda place: x[tuple(i % n for i, n in zip(place, x.shape, strict=True))])


def repeated(x, repeats, dim):
    shape = tuple(n * repeats if axis == dim else n for axis, n in enumerate(x.shape))
    return built(shape, lambda place: x[tuple(i // repeats if axis == dim else i for axis, i in enumerate(place))])


def diagonal(x, k):
    down, right = max(-k, 0), max(k, 0)
    if x.ndim == 1:
        n = len(x) + abs(k)
        return built((n, n), lambda place: x[place[0] - down] if place[1] - place[0] == k else mp.mpc(0))
    count = min(x.shape[0] - down, x.shape[1] - right)
    return built((count,), lambda place: x[place[0] + down, place[0] + right])


def triangle(lower):
    def definition(x, k):
        inside = lambda i, j: j - i <= k if lower else j - i >= k  # noqa: E731
        return built(x.shape, lambda place: x[place] if inside(*place[-2:]) else mp.mpc(0))

    return definition


def matmul(a, b):
    left = a.reshape((1, *a.shape)) if a.ndim == 1 else a
    right = b.reshape((*b.shape, 1)) if b.ndim == 1 else b
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])

    def entry(place):
        *outer, i, j = place
        return mp.fsum(at(left, (*outer, i, k)) * at(right, (*outer, k, j)) for k in range(left.shape[-1]))

    found = built((*batch, left.shape[-2], right.shape[-1]), entry)
    shape = batch + ((left.shape[-2],) if a.ndim > 1 else ()) + ((right.shape[-1],) if b.ndim > 1 else ())
    return found.reshape(shape)


def einsum(*arrays, spec):
    inputs, out = spec.split("->")
    subs = inputs.split(",")
    lengths = {c: n for sub, x in zip(subs, arrays, strict=True) for c, n in zip(sub, x.shape, strict=True)}
    summed = [c for c in lengths if c not in out]

    def entry(place):
        total = mp.mpc(0)
        for inner in itertools.product(*(range(lengths[c]) for c in summed)):
            index = dict(zip([*out, *summed], [*place, *inner], strict=True))
            total += mp.fprod(x[tuple(index[c] for c in sub)] for sub, x in zip(subs, arrays, strict=True))
        return total

    return built(tuple(lengths[c] for c in out), entry)


def determinant(a):
    """Return the determinant by its sum over permutations."""
    n = len(a)
    return mp.fsum(
        parity(order) * mp.fprod(a[i, order[i]] for i in range(n)) for order in itertools.permutations(range(n))
    )


def parity(order):
    return (-1) ** sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order)))


def inverse(a):
    """Return the inverse by Cramer's rule."""
    minor = lambda i, j: np.delete(np.delete(a, i, 0), j, 1)  # noqa: E731
    return built(a.shape, lambda place: (-1) ** sum(place) * determinant(minor(*place[::-1])) / determinant(a))


def solution(a, b):
    """Return the X with A·X = B."""
    return matmul(each_matrix(inverse)(a), b)


def each_matrix(of_matrix):
    def definition(a):
        found = [of_matrix(a[outer]) for outer in np.ndindex(a.shape[:-2])]
        return built(a.shape[:-2] + np.shape(found[0]), lambda place: found_at(found, a.shape[:-2], place))

    return definition


def found_at(found, batch, place):
    one = found[int(np.ravel_multi_index(place[: len(batch)], batch)) if batch else 0]
    return one[place[len(batch) :]] if isinstance(one, np.ndarray) else one


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def gelu(x, approximate):
    if approximate == "tanh":
        return x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3)))
    return x / 2 * (1 + mp.erf(x / mp.sqrt(2)))


def softplus(x, beta, threshold):
    return x if above(x * beta, threshold) else mp.log(1 + mp.exp(beta * x)) / beta


def step(x, half):
    return half if mp.re(x) == 0 else mp.mpc(above(x))


def nearest(x):
    """Return the nearest integer, of two the even one."""
    low = mp.floor(mp.re(x))
    gap = mp.re(x) - low
    return mp.mpc(low + (gap > 0.5 or (gap == 0.5 and low % 2 == 1)))


def larger(a, b):
    return a if above(a, b) else b


def smaller(a, b):
    return b if above(a, b) else a


def isnan(x):
    return mpmath.isnan(mp.re(x))


def fmax(a, b):
    return a if isnan(b) else b if isnan(a) else larger(a, b)


def fmin(a, b):
    return a if isnan(b) else b if isnan(a) else smaller(a, b)


def floored(a, b):
    return mp.floor(mp.re(a) / mp.re(b))


def s(x):
    return 1 / (1 + mp.exp(-x)) if abs(x) < FAR else mp.mpf(x > 0)


def phi(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2 if abs(x) < FAR else mp.mpf(x > 0)


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi) if abs(x) < FAR else mp.mpf(0)


def bend(x):
    return mp.sqrt(8 / mp.pi) * (x + mp.mpf(0.044715) * x**3), mp.sqrt(8 / mp.pi) * (1 + 3 * mp.mpf(0.044715) * x**2)


def gelu_slope(x, approximate):
    if approximate == "none":
        return phi(x) + x * density(x)
    v, slope = bend(x)
    return s(v) + x * slope * s(v) * s(-v)


def inside(x, place):
    """Return the entry at a place, and 0 beyond the ends of an array."""
    return x[tuple(place)] if all(0 <= i < n for i, n in zip(place, x.shape, strict=True)) else mp.mpc(0)
