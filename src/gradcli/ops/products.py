"""Products whose factors pass the range of doubles on the way, carried as mantissas and powers of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradcli.ops.contractions import pairs_along
from gradcli.ops.dispatch import in_one_step
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Links, Order
from gradcli.ops.signatures import Array, Axes, Indices, Integers, Options

NORMAL = np.finfo(np.float64).tiny
"""The smallest double that has all its digits."""


def is_safe(product: Array, factors: Array) -> bool:
    """Return whether products in doubles are as they should be: normal numbers, or not of normal factors alone."""
    size = np.abs(product)
    if np.all((size >= NORMAL) & (size < np.inf)):
        return True
    return not (np.all(np.isfinite(factors)) and np.all(factors != 0))


BLOCK = 256
"""Mantissas from 1/2 to 1 of which even the square of the product is a double."""
LONGEST = 4096
"""Entries of a line up to which sums of products are carried, one by one."""


def carried(x: Array) -> tuple[Array, Integers]:
    """Return the running products along the last axis, from the empty one on, as mantissas and exponents."""
    lines, count = x.shape[:-1], x.shape[-1]
    padded = np.ones((*lines, -(-count // BLOCK) * BLOCK))
    padded[..., :count] = x
    mantissas, exponents = np.frexp(padded)
    within = np.cumprod(mantissas.reshape(*lines, -1, BLOCK), axis=-1)
    lead, shifts = np.ones(within.shape[:-1]), np.zeros(within.shape[:-1], dtype=np.int64)
    for i in range(within.shape[-2] - 1):
        lead[..., i + 1], shift = np.frexp(lead[..., i] * within[..., i, -1])
        shifts[..., i + 1] = shifts[..., i] + shift
    m = (lead[..., None] * within).reshape(padded.shape)[..., :count]
    e = (np.cumsum(exponents, axis=-1).reshape(within.shape) + shifts[..., None]).reshape(padded.shape)[..., :count]
    return np.concatenate([np.ones((*lines, 1)), m], -1), np.concatenate([np.zeros((*lines, 1), dtype=np.int64), e], -1)


def joined(m: Array, e: Integers) -> Array:
    """Return mantissas times powers of two as doubles."""
    return np.ldexp(m, np.clip(e, -5000, 5000).astype(np.int32))


def running_products(x: Array) -> Array:
    """Return the running products along the last axis."""
    found = np.multiply.accumulate(x, axis=-1)
    return found if is_safe(found, x) else joined(*carried(x))[..., 1:]


def others(x: Array) -> Array:
    """Return for each entry the product of all others along the last axis."""
    (m, e), (n, f) = carried(x), carried(x[..., ::-1])
    return joined(m[..., :-1] * n[..., -2::-1], e[..., :-1] + f[..., -2::-1])


def weighed_others(g: Array, x: Array) -> Array:
    """Return for each entry j along the last axis Σ g[i]·(running product i without factor j), i from j on."""
    m, e = carried(x)
    found = np.empty(np.shape(x))
    mantissa, exponent = np.zeros(x.shape[:-1]), np.zeros(x.shape[:-1], dtype=np.int64)
    for j in range(x.shape[-1] - 1, -1, -1):  # h[j] = g[j] + x[j + 1]·h[j + 1]
        top = np.where(mantissa == 0, 0, np.maximum(exponent, 0))
        mantissa, shift = np.frexp(joined(g[..., j], -top) + joined(mantissa, exponent - top))
        exponent = top + shift
        found[..., j] = joined(m[..., j] * mantissa, e[..., j] + exponent)
        mantissa, shift = np.frexp(mantissa * x[..., j])
        exponent = exponent + shift
    return found


def products_of_others(x: Array, axes: Axes) -> Array:
    """Return for each entry the product of all others in its group, by prefix and suffix products."""
    if not axes or not np.size(x):
        return np.ones_like(x)
    kept = tuple(axis for axis in range(np.ndim(x)) if axis not in axes)
    order = kept + axes
    moved = np.transpose(x, order)
    rows = moved.reshape(*(moved.shape[: len(kept)]), -1)
    one = np.ones((*rows.shape[:-1], 1))
    before = np.concatenate([one, np.cumprod(rows[..., :-1], axis=-1)], axis=-1)
    after = np.concatenate([np.cumprod(rows[..., :0:-1], axis=-1)[..., ::-1], one], axis=-1)
    return np.transpose(others_beside(before * after, rows).reshape(moved.shape), np.argsort(order))


@in_one_step
def others_beside(found: Array, rows: Array) -> Array:
    """Return products of all others as they are ``found`` in doubles, and carried where these leave their range."""
    if np.all((np.abs(found) >= NORMAL) & (np.abs(found) < np.inf)) or not np.all(np.isfinite(rows)):
        return found
    return others(rows)


WRITTEN_OUT = 8
"""Factors up to which a derivative of their product is written as the product of the others, and not as y/x."""


def product_links(rows: Indices) -> Links:
    """Return the links of a product: entries with the same row, equally many for each, are multiplied."""
    order = np.argsort(rows, kind="stable")
    size = len(order) // (int(rows.max()) + 1) if len(order) else 1
    groups = order.reshape(-1, size)
    columns = groups.ravel()
    others = np.stack([np.delete(groups, i, axis=1) for i in range(size)], axis=1).reshape(len(columns), size - 1)
    bound = tuple((0, others[:, k]) for k in range(size - 1))
    return Links(np.asarray(rows)[columns], columns, 1.0, Explicit(lambda s, *factors: s.product(factors)), bound)


def quotient_links(rows: Indices, columns: Indices, x: Array, others: Array) -> Links:
    """Return the links of a long product: y/x, or the numbers themselves where an entry is 0."""
    if np.all(x != 0):
        return Links(rows, columns, 1.0, Explicit(lambda s, y, x: y / x), ((-1, rows), (0, columns)))
    return Links(rows, columns, others)


def cumprod_local(
    argument: int, out: Array, values: tuple[Array, ...], static: Options
) -> Sequence[Links | Contraction]:
    """Link output i to each entry j ≤ i with the product of the other entries up to i."""
    del argument
    x, dim = values[0], static["dim"]
    index = np.moveaxis(np.arange(np.size(x), dtype=np.intp).reshape(np.shape(x)), dim, 0)
    if len(index) > WRITTEN_OUT:
        return long_running_links(x, out, dim, index)
    links = []
    for i in range(len(index)):
        group = index[: i + 1].reshape(i + 1, -1)
        found = product_links(np.tile(np.arange(group.shape[1]), i + 1))
        where = group.ravel()
        bound = tuple((slot, where[chosen]) for slot, chosen in found.bound)
        links.append(Links(index[i].ravel()[found.rows], where[found.columns], 1.0, found.factor, bound))
    return links


MOST_LISTED = 4_000_000
"""Pairs of entries of the same line up to which their products are listed where an entry is 0."""


def long_running_links(x: Array, out: Array, dim: int, index: Indices) -> list[Links | Contraction]:
    """Return the links of a running product with many entries: y[i]/x[j], or numbers where an entry is 0."""
    if np.all(x != 0):
        quotient = Explicit(lambda s, y, x: y / x)
        return [pairs_along(out, dim, Order.NOT_BEFORE, 1.0, quotient, (OUT, "row"), (0, "column"))]
    moved = np.moveaxis(x, dim, 0)
    if np.size(x) * len(index) > MOST_LISTED:
        return [links_before_zero(x, out, dim), links_of_zero(moved, index)]
    later, earlier = np.tril_indices(len(index))
    before = np.concatenate([np.ones_like(moved[:1]), np.cumprod(moved[:-1], axis=0)])
    after = np.ones((len(moved), *moved.shape))
    for j in range(len(moved)):
        after[j + 1 :, j] = np.cumprod(moved[j + 1 :], axis=0)
    others = (before[earlier] * after[later, earlier]).ravel()
    return [Links(index[later].ravel(), index[earlier].ravel(), others)]


def links_before_zero(x: Array, out: Array, dim: int) -> Contraction:
    """Return the links to the entries before the first 0 of a line, y[i]/x[j]; those to all others are 0."""
    before = np.cumsum(x == 0, axis=dim) == 0
    inverse = np.where(before, 1 / np.where(before, x, 1.0), 0.0)
    factor = Explicit(lambda s, y, inverse: y * inverse)
    bound = ((OUT, "row"), (AUXILIARY, "column"))
    found = pairs_along(out, dim, Order.NOT_BEFORE, 1.0, factor, *bound)
    return replace(found, auxiliary=("1/{}", inverse))


def links_of_zero(moved: Array, index: Indices) -> Links:
    """Return the links to the first 0 of each line: the product of all entries before it and of those up to i."""
    zeros = np.cumsum(moved == 0, axis=0)
    first = np.argmax(zeros > 0, axis=0)
    lead = np.prod(np.where(zeros == 0, moved, 1.0), axis=0)
    at_zero = (zeros == 1) & (moved == 0)
    follow = lead * np.cumprod(np.where((zeros > 0) & ~at_zero, moved, 1.0), axis=0)
    columns = np.broadcast_to(np.take_along_axis(index, first[None], axis=0), index.shape)
    return Links(index[zeros > 0], columns[zeros > 0], follow[zeros > 0])
