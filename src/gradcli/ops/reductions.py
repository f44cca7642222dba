"""Functions that reduce along axes: sums, means, products, and the running forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import (
    BEYOND,
    NO_ENTRIES,
    NO_TORCH,
    Entries,
    Op,
    Paired,
    Reduced,
    Said,
    Text,
    Torch,
    beyond,
    declare,
    on_none,
    variant,
)
from gradcli.ops.elementwise import log_of_sum
from gradcli.ops.linear_algebra import pairs_along
from gradcli.ops.links import (
    AUXILIARY,
    OUT,
    Array,
    At,
    Axes,
    Contraction,
    Explicit,
    Formula,
    Forward,
    Implicit,
    Indices,
    Library,
    Links,
    Local,
    Number,
    Order,
    Shape,
    Static,
    Vjp,
)
from gradcli.ops.values import (
    ALL,
    LibraryAxes,
    Value,
    as_keepdim,
    broadcast_back,
    empty_of,
    group_rows,
    one_axis,
    read_axes,
    require_entries,
)
from gradcli.ops.vocabulary import BY_NUMPY, COUNTED, function
from gradcli.ops.writing import numbers, trailing


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
    return np.transpose((before * after).reshape(moved.shape), np.argsort(order))


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


def cumprod_local(at: At) -> Sequence[Links | Contraction]:
    """Link output i to each entry j ≤ i with the product of the other entries up to i."""
    x, dim = at.x, at.static["dim"]
    index = np.moveaxis(np.arange(np.size(x), dtype=np.intp).reshape(np.shape(x)), dim, 0)
    if len(index) > WRITTEN_OUT:
        return long_running_links(x, at.out, dim, index)
    links = []
    for i in range(len(index)):
        group = index[: i + 1].reshape(i + 1, -1)
        products = product_links(np.tile(np.arange(group.shape[1]), i + 1))
        where = group.ravel()
        bound = tuple((slot, where[chosen]) for slot, chosen in products.bound)
        links.append(Links(index[i].ravel()[products.rows], where[products.columns], 1.0, products.factor, bound))
    return links


def long_running_links(x: Array, out: Array, dim: int, index: Indices) -> list[Links | Contraction]:
    """Return the links of a running product with many entries: y[i]/x[j], or numbers where an entry is 0."""
    if np.all(x != 0):
        quotient = Explicit(lambda s, y, x: y / x)
        return [pairs_along(out, dim, Order.NOT_BEFORE, 1.0, quotient, (OUT, "row"), (0, "column"))]
    return [links_before_zero(x, out, dim), links_of_zero(np.moveaxis(x, dim, 0), index)]


def links_before_zero(x: Array, out: Array, dim: int) -> Contraction:
    """Return the links to the entries before the first 0 of a line, y[i]/x[j]; those to all others are 0."""
    before = np.cumsum(x == 0, axis=dim) == 0
    inverse = np.where(before, 1 / np.where(before, x, 1.0), 0.0)
    factor = Explicit(lambda s, y, inverse: y * inverse)
    links = pairs_along(out, dim, Order.NOT_BEFORE, 1.0, factor, (OUT, "row"), (AUXILIARY, "column"))
    return replace(links, auxiliary=("1/{}", inverse))


def links_of_zero(moved: Array, index: Indices) -> Links:
    """Return the links to the first 0 of each line: the product of all entries before it and of those up to i."""
    zeros = np.cumsum(moved == 0, axis=0)
    first = np.argmax(zeros > 0, axis=0)
    lead = np.prod(np.where(zeros == 0, moved, 1.0), axis=0)
    at_zero = (zeros == 1) & (moved == 0)
    follow = lead * np.cumprod(np.where((zeros > 0) & ~at_zero, moved, 1.0), axis=0)
    columns = np.broadcast_to(np.take_along_axis(index, first[None], axis=0), index.shape)
    return Links(index[zeros > 0], columns[zeros > 0], follow[zeros > 0])


def running_slopes(x: Array) -> Array:
    """Return the derivative of each running product, the last axis, by each entry, the one before: of others so far."""
    before = np.concatenate([np.ones((*x.shape[:-1], 1)), np.cumprod(x[..., :-1], axis=-1)], axis=-1)
    later = np.triu(np.ones((x.shape[-1],) * 2, dtype=bool), 1)
    between = np.cumprod(np.where(later, np.expand_dims(x, -2), 1.0), axis=-1)
    return np.where(np.triu(np.ones_like(later)), np.expand_dims(before, -1) * between, 0.0)


# --- sums, means and products ---


def all_entries(x: Array) -> Indices:
    """Return the flat index of every entry of ``x``."""
    return np.arange(np.size(x), dtype=np.intp)


def implicit_local(inner: Formula, outer: Formula, flat_at_zero: bool = False) -> Local:
    """Return the local reading of y with ``outer(y) = sum of inner(x)``; ``flat_at_zero``: 0 by convention at y = 0.

    So is the derivative of a norm of an order below 1 by an entry that is 0.
    """

    def local(at: At) -> list[Links]:
        x, columns = at.x, all_entries(at.x)
        rows = group_rows(x, at.static["dim"])
        count = np.size(x) / max(np.size(at.out), 1)
        order = at.static.get("p")
        extra = () if order is None else (order,)
        flat = (np.ravel(at.out)[rows] == 0) | ((np.ravel(x) == 0) & (order is not None and order < 1))
        weight: Number = np.where(flat, 0.0, 1.0) if flat_at_zero else 1.0
        factor = Implicit(lambda s, x: inner(s, x, *extra), lambda s, y: outer(s, y, int(count), *extra))
        return [Links(rows, columns, weight, factor, ((0, columns), (-1, rows)))]

    return local


def prod_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return zeros where x has two zeros or more, even for infinite g, else as along a named axis."""
    if np.count_nonzero(x == 0) > 1:
        return np.zeros_like(x)
    return prod_along_vjp(g, y, x, dim=dim, keepdim=keepdim)


def prod_along_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return g·(y/x), and by prefix and suffix products where x has zeros (PyTorch's ``prod_backward``)."""
    g, y = as_keepdim(g, dim, keepdim), as_keepdim(y, dim, keepdim)
    if dim and np.all(x != 0) and np.all((y != 0) & np.isfinite(y)):
        return g * (y / x)
    return g * products_of_others(x, dim)


def cumprod_vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    """Return Σ g·y over the later entries divided by x (PyTorch's ``cumprod_backward``).

    No entry behind the first zero of its line matters, except to that zero: its derivatives are the running products
    without it, up to the next zero.
    """
    if np.shape(x)[dim] == 1:
        return g
    zeros = np.cumsum(x == 0, axis=dim)
    first = (x == 0) & (zeros == 1)
    before = np.where(zeros == 0, g * y, 0.0)
    quotients = np.flip(np.cumsum(np.flip(before, dim), axis=dim), dim) / x
    without = np.cumprod(np.where((zeros == 1) & ~first, x, 1.0), axis=dim)
    up_to_next = np.sum(without * np.where(zeros == 1, g, 0.0), axis=dim, keepdims=True)
    lead = np.prod(np.where(zeros == 0, x, 1.0), axis=dim, keepdims=True)
    return np.where(zeros == 0, quotients, np.where(first, up_to_next * lead, 0.0))


def cumprod_again(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    """Return Σ g·y over the later entries divided by x, and pair by pair where x has zeros."""
    if np.all(x != 0):
        return np.flip(np.cumsum(np.flip(g * y, dim), axis=dim), dim) / x
    slopes = running_slopes(np.moveaxis(x, dim, -1))
    return np.moveaxis(np.sum(slopes * np.expand_dims(np.moveaxis(g, dim, -1), -2), axis=-1), -1, dim)


def prod_local(at: At) -> list[Links]:
    """Link each entry with the product of the others in its group: of many y/x, or numbers where an entry is 0."""
    x, rows = at.x, group_rows(at.x, at.static["dim"])
    if np.size(x) <= WRITTEN_OUT * max(np.size(at.out), 1):
        return [product_links(rows)]
    columns = all_entries(x)
    if np.all(x != 0):
        return [Links(rows, columns, 1.0, Explicit(lambda s, y, x: y / x), ((OUT, rows), (0, columns)))]
    return [Links(rows, columns, np.ravel(products_of_others(x, at.static["dim"])))]


def logsumexp(x: Array, dim: Axes, keepdim: bool) -> Any:
    """Return log Σ exp x, shifted by the largest entry so that nothing overflows."""
    top = np.max(x, axis=dim, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = log_of_sum(np.exp(x - top), dim) + top
    return total if keepdim else np.squeeze(total, axis=dim)


def declare_reduction(
    name: str, inner: Formula, outer: Formula, *, forward: Forward, vjp: Vjp, zero: bool = False, **record: Any
) -> Op:
    """Declare a reduction with ``outer(y) = sum of inner(x)``."""
    return declare(
        name,
        forward,
        (vjp,),
        implicit_local(inner, outer, zero),
        entries=replace(record.pop("entries", NO_ENTRIES), shaped=not zero),
        torch=replace(record.pop("torch", NO_TORCH), differs=beyond, says=BEYOND),
        **record,
    )


def logsumexp_text_back(_k: int, _out: Array, x: Array, *, dim: Axes, keepdim: bool) -> tuple[str, ...]:
    """Return the text of g·softmax(x) along one axis; along several the vjp writes itself."""
    del keepdim
    return (f"{{G}}*softmax({{0}}{'' if np.ndim(x) == 1 else f', dim={dim[0]}'})",) if len(dim) == 1 else ()


def running_sum(x: Array, dim: int) -> Array:
    """Return the running sum from 0 on, so that a leading -0 becomes 0, as PyTorch's."""
    return np.cumsum(x, axis=dim) + 0.0


def mean(x: Array, dim: Axes, keepdim: bool) -> Array:
    """Return the sum over the count: nan, without a word, of no entries at all."""
    count = np.float64(math.prod(np.shape(x)[axis] for axis in dim))
    with np.errstate(all="ignore"):
        result = np.sum(x, axis=dim, keepdims=keepdim) / count
        overflows = not np.all(np.isfinite(result)) and np.all(np.isfinite(x)) and np.size(x)
        return np.sum(x / count, axis=dim, keepdims=keepdim) if overflows else result


def mean_vjp(g: Array, _y: Array, x: Array, *, dim: Axes, keepdim: bool) -> Array:
    """Return g over the count, at each entry."""
    return broadcast_back(g, dim, keepdim, x) / np.float64(math.prod(np.shape(x)[axis] for axis in dim))


def others_text(x: str, axis: int, shape: Shape) -> str:
    """Return an array with one more axis before ``axis``, in whose layer j entry j along the axis is 1."""
    diagonal = f"eye({shape[axis]}){trailing(len(shape) - 1 - axis, ':, :')}"
    return f"where({diagonal} == 1, 1, unsqueeze({x}, {axis}))"


def prod_text_back(_k: int, _out: Array, x: Array, *, dim: Axes, keepdim: bool) -> tuple[str, ...]:
    """Return the text of g·y/x, and of the products of all others where x has zeros."""
    del keepdim
    shape = np.shape(x)
    if not dim:
        return ("{g}",)
    if len(dim) == 1:
        return "{G}*{Y}/{0}", f"{{G}}*prod({others_text('{0}', dim[0], shape)}, dim={dim[0] + 1})"
    kept = tuple(axis for axis in range(len(shape)) if axis not in dim)
    order = (*kept, *dim)
    moved = tuple(shape[axis] for axis in order)
    rows = (*moved[: len(kept)], math.prod(moved[len(kept) :]))
    flat = f"reshape(permute({{0}}, {numbers(order)}), {numbers(rows)})"
    products = f"reshape(prod({others_text(flat, len(kept), rows)}, dim={len(rows)}), {numbers(moved)})"
    return "{G}*{Y}/{0}", f"{{G}}*permute({products}, {numbers(np.argsort(order))})"


def cumprod_text_back(_k: int, _out: Array, x: Array, *, dim: int) -> tuple[str, ...]:
    """Return the text of the running sum of g·y from its end over x, and of all products where x has zeros."""
    shape = np.shape(x)
    later = f"triu(ones({shape[dim]}, {shape[dim]})){trailing(len(shape) - 1 - dim, ':, :')}"
    products = f"cumprod({others_text('{0}', dim, shape)}, {dim + 1})"
    return (
        f"flip(cumsum(flip({{g}}*{{y}}, {dim}), dim={dim}), {dim})/{{0}}",
        f"sum({later}*unsqueeze({{g}}, {dim})*{products}, dim={dim + 1})",
    )


def leaves_doubles(y: Array, *values: Array) -> bool:
    """Return whether a product, or the factors on the way to it, may be no doubles."""
    sizes = np.abs(np.asarray(values[0], dtype=np.float64))
    lost = np.any((y == 0) | np.isinf(np.asarray(y, dtype=np.float64)))
    return beyond(y, *values) or bool(lost and np.all((sizes > 0) & (sizes < np.inf)))


# fmt: off
KEEPDIM, OF_PRODUCTS = {"keepdim": False}, Torch(leaves_doubles, BEYOND)
SUM = declare_reduction(
    "sum", lambda s, x: x, lambda s, y, n: y,
    forward=lambda x, dim, keepdim: np.add.reduce(x, axis=dim, keepdims=keepdim),
    vjp=lambda g, _y, x, *, dim, keepdim: broadcast_back(g, dim, keepdim, x),
    entries=Entries(by_shape=True, folds=lambda s, entries: s.total(entries), index=Reduced("1"), mentions=on_none),
    text=Text(defaults=KEEPDIM, rule="sum of entries"))
MEAN = declare_reduction(
    "mean", lambda s, x: x, lambda s, y, n: n * y,
    forward=mean, vjp=mean_vjp, exactly=exactly.mean,
    entries=Entries(by_shape=True, folds=lambda s, entries: s.total(entries) / s.number(len(entries)),
                    index=Reduced("1/{n}"), mentions=on_none),
    text=Text(defaults=KEEPDIM, rule="mean of entries"))
LOGSUMEXP = declare_reduction(
    "logsumexp", lambda s, x: s.exp(x), lambda s, y, n: s.exp(y),
    forward=logsumexp,
    vjp=lambda g, y, x, *, dim, keepdim: as_keepdim(g, dim, keepdim) * np.exp(x - as_keepdim(y, dim, keepdim)),
    exactly=exactly.logsumexp, entries=Entries(index=Reduced("exp({x} - {y})")),
    text=Text(defaults=KEEPDIM, backward=logsumexp_text_back))
PROD = declare(
    "prod", lambda x, dim, keepdim: np.prod(x, axis=dim, keepdims=keepdim), (prod_vjp,), prod_local,
    double_vjps=(prod_along_vjp,), torch=OF_PRODUCTS,
    entries=Entries(folds=lambda s, entries: s.product(entries), index=Said()),
    text=Text(defaults=KEEPDIM, backward=prod_text_back))
PROD_ALONG = variant(PROD, "prod along axes", vjps=(prod_along_vjp,))
CUMSUM = declare(
    "cumsum", running_sum, (lambda g, _y, _x, *, dim: np.flip(running_sum(np.flip(g, dim), dim), dim),),
    lambda at: [pairs_along(at.x, at.static["dim"], Order.NOT_BEFORE)],
    entries=Entries(shaped=True, folds=lambda s, entries: s.total(entries), index=Paired("where({j} <= {i}, 1, 0)"),
                    mentions=on_none))
CUMPROD = declare(
    "cumprod", lambda x, dim: np.cumprod(x, axis=dim), (cumprod_vjp,), cumprod_local, double_vjps=(cumprod_again,),
    torch=OF_PRODUCTS, entries=Entries(index=Said()), text=Text(backward=cumprod_text_back))
# fmt: on

reduction = partial(function, family="reductions")


@reduction("sum", "torch numpy method dtype", op=SUM, kinds=COUNTED)
def build_sum(x: Value, dim: LibraryAxes = ALL, keepdim: bool = False) -> Value:
    """the sum of the entries, or of those along dim"""
    return x.sum(*dim, keepdim=keepdim)


@reduction("mean", "torch numpy method dtype", op=MEAN, kinds=BY_NUMPY)
def build_mean(x: Value, dim: LibraryAxes = ALL, keepdim: bool = False) -> Value:
    """the mean of the entries, or of those along dim"""
    require_entries(x, dim, "mean")
    return x.mean(*dim, keepdim=keepdim)


@reduction("prod", "torch numpy math method dtype", op=PROD, kinds=COUNTED)
def build_prod(x: Value, dim: Static = None, keepdim: bool = False, library: Library = "torch") -> Value:
    """the product of the entries, or of those along dim"""
    axes = read_axes(dim, x.ndim, empty_of(library, "refused"))
    return x.of(PROD if dim is None else PROD_ALONG, dim=axes, keepdim=keepdim)


@reduction("logsumexp", "torch special method", op=LOGSUMEXP)
def build_logsumexp(x: Value, dim: Static = None, keepdim: bool = False) -> Value:
    """log(sum(exp(x))), without overflow"""
    if dim is None:
        x.f.remark("torch-refuses", "logsumexp without dim: PyTorch needs it.")
    axes = read_axes(dim, x.ndim, "all" if keepdim else "refused")
    require_entries(x, axes, "logsumexp")
    return x.of(LOGSUMEXP, dim=axes, keepdim=keepdim)


def running(op: Op, what: str) -> None:
    """Enter a running reduction, PyTorch's and NumPy's, which takes all entries where no axis is named."""
    words = f"the running {what} as numpy has it: of the flattened array where no axis is given"

    @reduction(op.name, "torch method dtype", op=op, kinds=COUNTED, doc=f"the running {what} along dim")
    def build(x: Value, dim: Static = None) -> Value:
        if dim is None and x.ndim:
            x.f.remark("numpy-only", f"{op.name} without dim: this is NumPy's answer, PyTorch needs it.")
        return along(x, dim) if x.ndim else x

    @reduction(f"np.{op.name} numpy.{op.name}", "dtype", kinds=COUNTED, doc=words)
    def along(x: Value, dim: Static = None) -> Value:
        row = x.flat if dim is None else x
        return row.of(op, dim=0 if dim is None else one_axis(dim, x.ndim)) if row.ndim else row


running(CUMSUM, "sum")
running(CUMPROD, "product")
