"""Entries taken, written and added at positions: each place by itself, by the definitions of the libraries."""

from __future__ import annotations

import itertools

import numpy as np

from generator.arrays import Array, Display, array, numbers
from generator.duals import Dual
from generator.shapes import whole


def positions(index):
    """Return positions as integers, from a list, an array of duals, or one that holds them."""
    data = index.data if isinstance(index, Array) else np.asarray(index)
    return np.asarray(np.frompyfunc(lambda entry: int(getattr(entry, "value", entry)), 1, 1)(data)).astype(int)


def truths(mask):
    """Return truth values."""
    data = mask.data if isinstance(mask, Array) else np.asarray(mask)
    return np.asarray(np.frompyfunc(lambda entry: bool(getattr(entry, "value", entry)), 1, 1)(data)).astype(bool)


def integers(values):
    """Return integers as positions, which have an arithmetic of their own."""
    return Array(np.asarray(values, dtype=int))


def parts(rule):
    """Return a function that gives several arrays from one that gives several of numpy's."""
    return lambda x, *given, **named: [Array(part) for part in rule(numbers(x), *given, **named)]


def gathered(x, dim, index):
    """Return the entry of x at the position along an axis, for each position."""
    x, index = numbers(x), positions(index)
    found = np.empty(index.shape, dtype=object)
    for place in np.ndindex(index.shape):
        found[place] = x[tuple(index[place] if k == dim % x.ndim else i for k, i in enumerate(place))]
    return Array(found)


def along_broadcast(x, indices, dim=None):
    """Return entries along an axis, the other axes broadcast."""
    x, index = numbers(x), positions(indices)
    if dim is None:
        return Array(np.array([x.ravel()[i] for i in index.ravel()], dtype=object))
    wide = [1 if k == dim % x.ndim else max(n, m) for k, (n, m) in enumerate(zip(x.shape, index.shape, strict=True))]
    index = np.broadcast_to(index, [index.shape[k] if k == dim % x.ndim else n for k, n in enumerate(wide)])
    spread = np.broadcast_to(x, [x.shape[k] if k == dim % x.ndim else n for k, n in enumerate(wide)])
    return gathered(Array(spread), dim, index)


def taken(x, index, dim=None):
    """Return the entries, or the layers of an axis, at positions."""
    return Array(np.take(numbers(x), positions(index), dim))


def selected(x, dim, index):
    """Return the layers of an axis at positions."""
    return taken(x, index, dim)


def scattered(combine):
    """Return what puts entries one after the other into a copy, each as ``combine(old, new, times)`` says."""

    def apply(x, dim, index, src, **options):
        x, index = numbers(x).copy(), positions(index)
        source = np.broadcast_to(numbers(src), index.shape) if not numbers(src).ndim else numbers(src)
        pairs = [
            (tuple(index[place] if k == dim % x.ndim else i for k, i in enumerate(place)), source[place])
            for place in np.ndindex(index.shape)
        ]
        return Array(put_all(x, pairs, combine, **options))

    return apply


def put_all(x, pairs, combine, include_self=True):
    """Return x with pairs of a place and an entry combined into it, one after the other."""
    groups = {}
    for place, entry in pairs:
        groups.setdefault(place, [x[place]] if include_self else []).append(entry)
    for place, group in groups.items():
        x[place] = combine(group)
    return x


def last(group):
    return group[-1]


def total(group):
    return sum(group[1:], group[0])


def product(group):
    found = group[0]
    for entry in group[1:]:
        found = found * entry
    return found


def mean(group):
    return total(group) / len(group)


def highest(group):
    """Return the mean of the largest entries."""
    best = [entry for entry in group if all(entry.value >= other.value for other in group)]
    return mean(best)


def lowest(group):
    """Return the mean of the smallest entries."""
    best = [entry for entry in group if all(entry.value <= other.value for other in group)]
    return mean(best)


BY_NAME = {"sum": total, "mean": mean, "prod": product, "amax": highest, "amin": lowest}


def scatter_reduced(x, dim, index, src, reduce, include_self=True):
    return scattered(BY_NAME[reduce])(x, dim, index, src, include_self=include_self)


def layered(combine):
    """Return what puts layers of an array into those of another."""

    def apply(x, dim, index, source, include_self=True):
        x, source, index = numbers(x).copy(), numbers(source), positions(index)
        dim %= x.ndim
        pairs = [
            ((*place[:dim], index[place[dim]], *place[dim + 1 :]), source[place]) for place in np.ndindex(source.shape)
        ]
        return Array(put_all(x, pairs, combine, include_self))

    return apply


def index_added(x, dim, index, source, alpha=1):
    return layered(total)(x, dim, index, array(source) * alpha)


def index_reduced(x, dim, index, source, reduce, include_self=True):
    return layered(BY_NAME[reduce])(x, dim, index, source, include_self)


def index_filled(x, dim, index, value):
    x, index = numbers(x).copy(), positions(index)
    for place in np.ndindex(x.shape):
        if place[dim] in index:
            x[place] = numbers(value)[()]
    return Array(x)


def index_written(x, indices, values, accumulate=False):
    x = numbers(x).copy()
    places = list(zip(*(positions(index).ravel().tolist() for index in indices), strict=True))
    source = np.broadcast_to(numbers(values), len(places))
    return Array(put_all(x, list(zip(places, source, strict=True)), total if accumulate else last))


def written_flat(x, index, source, accumulate=False):
    x = numbers(x)
    pairs = list(zip([(i,) for i in positions(index).ravel().tolist()], numbers(source).ravel(), strict=True))
    return Array(put_all(x.ravel().copy(), pairs, total if accumulate else last).reshape(x.shape))


def masked(x, mask):
    x, held = np.broadcast_arrays(numbers(x), truths(mask))
    return Array(x[held])


def filled(x, mask, value):
    x, held = np.broadcast_arrays(numbers(x), truths(mask))
    return Array(np.where(held, np.broadcast_to(numbers(value), x.shape), x))


def chosen(x, mask, other):
    return Array(np.where(truths(mask), numbers(x), numbers(other)))


def compressed(test, x, dim=None):
    return Array(np.compress(truths(test), numbers(x), dim))


def mask_scattered(x, mask, source):
    x, held = (part.copy() for part in np.broadcast_arrays(numbers(x), truths(mask)))
    x[held] = numbers(source).ravel()[: int(held.sum())]
    return Array(x)


def replaced(key):
    """Return what writes an array at an index that ``key`` gives."""

    def apply(x, src, *given):
        x = numbers(x).copy()
        x[key(x, *given)] = numbers(src)
        return Array(x)

    return apply


def diagonal_replaced(x, src, offset=0, dim1=0, dim2=1):
    x, src = numbers(x).copy(), numbers(src)
    for k in range(len(src)):
        place = [0, 0]
        place[dim1], place[dim2] = k + max(-offset, 0), k + max(offset, 0)
        x[tuple(place)] = src[k]
    return Array(x)


def hot(classes, num_classes=-1):
    classes = positions(classes)
    count = classes.max() + 1 if num_classes == -1 else num_classes
    return integers(classes[..., None] == np.arange(count))


def embedded(places, weight, padding_idx=None):
    weight, places = numbers(weight).copy(), positions(places)
    if padding_idx is not None:
        weight[padding_idx] = [Dual(entry.value, entry.noise) for entry in weight[padding_idx]]
    return Array(weight[places])


def counted(edges, values, right=False):
    """Return how many edges are below each value."""
    edges, values = numbers(edges), numbers(values)
    held = [[edge.value <= v.value if right else edge.value < v.value for edge in edges] for v in values.ravel()]
    return integers(np.reshape([sum(row) for row in held], values.shape))


def nonzero(x, as_tuple=False):
    places = np.argwhere(truths(x))
    return [integers(column) for column in places.T] if as_tuple else integers(places)


def padded(x, pad, mode="constant", value=0.0):
    """Return an array with a border, from the last axis on."""
    x = numbers(x)
    own = [(pad[k], pad[k + 1]) for k in range(0, len(pad), 2)][::-1]
    widths = [(0, 0)] * (x.ndim - len(own)) + own
    return framed(x, widths, {"constant": mode, "reflect": mode, "replicate": "edge", "circular": "wrap"}[mode], value)


def framed(x, widths, mode="constant", value=0.0):
    """Return an array with a border, entry by entry; some are cut off where a width is negative."""
    shape = [n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)]
    found = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        inside = tuple(i - a for i, (a, _) in zip(place, widths, strict=True))
        within = all(0 <= i < n for i, n in zip(inside, x.shape, strict=True))
        if mode == "constant":
            found[place] = x[inside] if within else numbers(value)[()]
        else:
            found[place] = x[tuple(beyond(i, n, mode) for i, n in zip(inside, x.shape, strict=True))]
    return Array(found)


def beyond(place, length, mode):
    """Return the place along an axis that stands for one beyond its ends."""
    if mode == "edge":
        return min(max(place, 0), length - 1)
    if mode == "wrap":
        return place % length
    line = (
        [*range(length), *reversed(range(length))]
        if mode == "symmetric"
        else [*range(length), *range(length - 2, 0, -1)]
    )
    return line[place % len(line)]


def numpy_padded(x, pad_width, mode="constant", constant_values=0.0):
    flat = not isinstance(pad_width, list | tuple) or not isinstance(pad_width[0], list | tuple)
    widths = [whole((pair,)) for pair in ([pad_width] if flat else pad_width)]
    widths = [pair * 2 if len(pair) == 1 else pair for pair in widths]
    x = numbers(x)
    return framed(x, widths * x.ndim if len(widths) == 1 else widths, mode, constant_values)


def windows(x, kernel_size, stride=1, padding=0):
    """Return the square windows of images as columns."""
    x, size = numbers(x), kernel_size
    wide = framed(x, [(0, 0)] * (x.ndim - 2) + [(padding, padding)] * 2).data
    starts = itertools.product(*(range(0, n - size + 1, stride) for n in wide.shape[-2:]))
    columns = [wide[..., i : i + size, j : j + size].reshape(*x.shape[:-3], -1) for i, j in starts]
    return Array(np.stack(columns, axis=-1))


def folded(x, output_size, kernel_size):
    """Return images of square windows that overlap: each entry is the sum of those that windows have there."""
    x, (height, width), size = numbers(x), output_size, kernel_size
    images = np.full((*x.shape[:-2], x.shape[-2] // size**2, height, width), numbers(0.0))
    starts = itertools.product(range(height - size + 1), range(width - size + 1))
    for k, (i, j) in enumerate(starts):
        block = x[..., k].reshape(*images.shape[:-2], size, size)
        images[..., i : i + size, j : j + size] = images[..., i : i + size, j : j + size] + block
    return Array(images)


def stretches(x, dimension, size, step):
    """Return stretches of an axis on a last axis."""
    starts = range(0, x.shape[dimension] - size + 1, step)
    cut = [np.moveaxis(np.take(x, range(k, k + size), dimension), dimension, -1) for k in starts]
    return np.stack(cut, axis=dimension)


def block_diagonal(*blocks):
    blocks = [np.atleast_2d(numbers(block)) for block in blocks]
    found = np.full(np.sum([block.shape for block in blocks], axis=0), numbers(0.0))
    row = column = 0
    for block in blocks:
        found[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return Array(found)


def grid(*vectors, indexing="ij"):
    vectors = vectors[0] if len(vectors) == 1 and isinstance(vectors[0], list | Display) else vectors
    return [Array(part) for part in np.meshgrid(*map(numbers, vectors), indexing=indexing)]


def all_pairs(*vectors):
    return Array(np.array(list(itertools.product(*map(numbers, vectors))), dtype=object))


def choices(x, r=2, with_replacement=False):
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return Array(np.array(list(choose(numbers(x), r)), dtype=object))


def embed_diagonal(x, offset=0, dim1=-2, dim2=-1):
    side = x.shape[-1] + abs(offset)
    found = np.full((*x.shape[:-1], side, side), numbers(0.0))
    for k in range(x.shape[-1]):
        found[..., k + max(-offset, 0), k + max(offset, 0)] = x[..., k]
    return np.moveaxis(found, (-2, -1), (dim1, dim2))


def constants(value):
    """Return a method that makes an array of one number."""
    return lambda x, *shape: array(np.full(whole(shape), value))


def held(x):
    """Return the numbers of an array without their slopes."""
    return array(np.frompyfunc(lambda entry: Dual(entry.value, entry.noise), 1, 1)(numbers(x)))


def cut(x):
    """Return integer parts."""
    return integers(np.frompyfunc(lambda entry: int(entry.value), 1, 1)(numbers(x)))


def as_floats(x):
    """Return the numbers of an array of duals in double precision."""
    return np.frompyfunc(lambda entry: float(entry.value), 1, 1)(numbers(x)).astype(float)
