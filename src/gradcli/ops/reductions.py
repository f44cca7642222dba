"""Functions that reduce along axes: sums, means, products, norms, and the running forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import Axes, group_rows, one_axis, read_axes, require_entries, restore
from gradcli.ops.declare import Apply, Explicit, Implicit, Links, Op, Static, Tensor, declare, function
from gradcli.ops.piecewise import ABS
from gradcli.ops.shaping import RESHAPE


def all_entries(x: Any) -> Any:
    """Return the flat index of every entry of ``x``."""
    return np.arange(np.size(x), dtype=np.intp)


def reduced(inner: Any, outer: Any, flat_at_zero: bool = False) -> Any:
    """Return the local reading of y with ``outer(y) = sum of inner(x)``; ``flat_at_zero``: 0 by convention at y = 0."""

    def local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
        del argument
        x, columns = values[0], all_entries(values[0])
        rows = group_rows(x, static["dim"])
        count = np.size(x) / max(np.size(out), 1)
        order = static.get("p")
        extra = () if order is None else (order,)
        weight: Any = np.where(np.ravel(out)[rows] == 0, 0.0, 1.0) if flat_at_zero else 1.0
        factor = Implicit(lambda s, x: inner(s, x, *extra), lambda s, y: outer(s, y, int(count), *extra))
        return [Links(rows, columns, weight, factor, ((0, columns), (-1, rows)))]

    return local


def products_of_others(x: Any, axes: Axes) -> Any:
    """Return for each entry the product of all others in its group, by prefix and suffix products."""
    if not axes:
        return np.ones_like(x)
    kept = tuple(axis for axis in range(np.ndim(x)) if axis not in axes)
    order = kept + axes
    moved = np.transpose(x, order)
    rows = moved.reshape(*(moved.shape[: len(kept)]), -1)
    one = np.ones((*rows.shape[:-1], 1))
    before = np.concatenate([one, np.cumprod(rows[..., :-1], axis=-1)], axis=-1)
    after = np.concatenate([np.cumprod(rows[..., :0:-1], axis=-1)[..., ::-1], one], axis=-1)
    return np.transpose((before * after).reshape(moved.shape), np.argsort(order))


def cumprod_vjp(g: Any, y: Any, x: Any, *, dim: int) -> Any:
    """Return the cotangent of x by two recurrences along ``dim``, without a division: right where x has zeros."""
    del y
    g, x = np.moveaxis(g, dim, 0), np.moveaxis(x, dim, 0)
    later = np.zeros_like(x)
    for i in range(len(x) - 1, -1, -1):
        later[i] = g[i] + (x[i + 1] * later[i + 1] if i + 1 < len(x) else 0.0)
    before = np.concatenate([np.ones_like(x[:1]), np.cumprod(x[:-1], axis=0)])
    return np.moveaxis(before * later, 0, dim)


def prod_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link each entry with the product of the others in its group as the coefficient."""
    del argument, out
    return [product_links(values[0], group_rows(values[0], static["dim"]))]


def product_links(x: Any, rows: Any) -> Links:
    """Return the links of a product: entries with the same row are multiplied."""
    order = np.argsort(rows, kind="stable")
    size = len(order) // (int(rows.max()) + 1) if len(order) else 0
    groups = order.reshape(-1, size) if size else order.reshape(0, 0)
    columns = groups.ravel()
    others = tuple(
        (0, np.concatenate([np.delete(group, i)[[k]] for group in groups for i in range(size)]))
        for k in range(size - 1)
    )
    product = Explicit(lambda s, *factors: s.product(factors))
    return Links(np.asarray(rows)[columns], columns, 1.0, product, others)


def cumsum_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link each entry to itself and to all later outputs along the axis."""
    del argument, out
    index = np.moveaxis(all_entries(values[0]).reshape(np.shape(values[0])), static["dim"], 0)
    later, earlier = np.tril_indices(len(index))
    return [Links(index[later].ravel(), index[earlier].ravel())]


def cumprod_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link output i to each entry j ≤ i with the product of the other entries up to i."""
    del argument, out
    index = np.moveaxis(all_entries(values[0]).reshape(np.shape(values[0])), static["dim"], 0)
    links = []
    for i in range(len(index)):
        group = index[: i + 1].reshape(i + 1, -1)
        found = product_links(values[0], np.tile(np.arange(group.shape[1]), i + 1))
        where = group.ravel()
        bound = tuple((slot, where[chosen]) for slot, chosen in found.bound)
        links.append(Links(index[i].ravel()[found.rows], where[found.columns], 1.0, found.factor, bound))
    return links


def var(x: Any, dim: Axes, keepdim: bool, correction: float) -> Any:
    """Return the mean squared distance from the mean, over n - correction."""
    count = math.prod(np.shape(x)[axis] for axis in dim)
    centred = x - np.mean(x, axis=dim, keepdims=True)
    with np.errstate(all="ignore"):
        return np.sum(centred * centred, axis=dim, keepdims=keepdim) / np.float64(max(count - correction, 0))


def var_vjp(g: Any, y: Any, x: Any, *, dim: Axes, keepdim: bool, correction: float) -> Any:
    """Return g·2(x - mean)/(n - correction)."""
    del y
    count = math.prod(np.shape(x)[axis] for axis in dim)
    return (
        2.0 / np.float64(count - correction) * restore(g, x, dim, keepdim) * (x - np.mean(x, axis=dim, keepdims=True))
    )


def var_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link each entry with 2(x - m)/(n - correction), m the mean as an auxiliary value."""
    del argument, out
    x, dim = values[0], static["dim"]
    columns, rows = all_entries(x), group_rows(x, dim)
    count = math.prod(np.shape(x)[axis] for axis in dim)
    axes = "" if len(dim) == np.ndim(x) else f", dim={dim[0] if len(dim) == 1 else dim}"
    auxiliary = (f"mean({{}}{axes})", np.mean(x, axis=dim))
    weight = 2.0 / np.float64(count - static["correction"])
    centred = Explicit(lambda s, x, m: x - m)
    return [Links(rows, columns, weight, centred, ((0, columns), (-2, rows)), auxiliary)]


def norm(x: Any, dim: Axes, keepdim: bool, p: float) -> Any:
    """Return (Σ|x|^p)^(1/p)."""
    if p == 2:
        return np.sqrt(np.sum(x * x, axis=dim, keepdims=keepdim))
    return np.power(np.sum(np.power(np.abs(x), p), axis=dim, keepdims=keepdim), 1 / p)


def norm_vjp(g: Any, y: Any, x: Any, *, dim: Axes, keepdim: bool, p: float) -> Any:
    """Return g·sign(x)·(|x|/y)^(p-1), and 0 where the norm is 0."""
    g, y = restore(g, x, dim, keepdim), restore(y, x, dim, keepdim)
    if p == 1:
        return g * np.sign(x)
    if p == 2:
        return x * np.where(y == 0, 0.0, g / y)
    base = np.sign(x) * np.power(np.abs(x), p - 1)
    return np.where(x == 0, 0.0, base) * np.where(y == 0, 0.0, g / np.power(y, p - 1))


def logsumexp(x: Any, dim: Axes, keepdim: bool) -> Any:
    """Return log Σ exp x, shifted by the largest entry so that nothing overflows."""
    top = np.max(x, axis=dim, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.log(np.sum(np.exp(x - top), axis=dim, keepdims=True)) + top
    return total if keepdim else np.squeeze(total, axis=dim)


def _scatter_rows(name: str, inner: Any, outer: Any, *, forward: Any, vjp: Any, zero: bool = False) -> Op:
    return declare(Op(name, forward, (vjp,), local=reduced(inner, outer, zero), digits=None))


# fmt: off
SUM       = _scatter_rows("sum", lambda s, x: x, lambda s, y, n: y,
                forward=lambda x, dim, keepdim: np.sum(x, axis=dim, keepdims=keepdim),
                vjp=lambda g, y, x, *, dim, keepdim: np.broadcast_to(restore(g, x, dim, keepdim), np.shape(x)))
MEAN      = _scatter_rows("mean", lambda s, x: x, lambda s, y, n: n * y,
                forward=lambda x, dim, keepdim: np.mean(x, axis=dim, keepdims=keepdim),
                vjp=lambda g, y, x, *, dim, keepdim: np.broadcast_to(restore(g, x, dim, keepdim), np.shape(x)) / (np.size(x) / np.size(y)))
LOGSUMEXP = _scatter_rows("logsumexp", lambda s, x: s.exp(x), lambda s, y, n: s.exp(y),
                forward=logsumexp,
                vjp=lambda g, y, x, *, dim, keepdim: restore(g, x, dim, keepdim) * np.exp(x - restore(y, x, dim, keepdim)))
NORM      = _scatter_rows("norm", lambda s, x, p: x**2 if p == 2 else s.power(s.abs(x), s.number(p)), lambda s, y, n, p: s.power(y, s.number(p)),
                forward=norm, vjp=norm_vjp, zero=True)
PROD      = declare(Op("prod", lambda x, dim, keepdim: np.prod(x, axis=dim, keepdims=keepdim),
                (lambda g, y, x, *, dim, keepdim: restore(g, x, dim, keepdim) * products_of_others(x, dim),), local=prod_local))
VAR       = declare(Op("var", var, (var_vjp,), local=var_local))
CUMSUM    = declare(Op("cumsum", lambda x, dim: np.cumsum(x, axis=dim),
                (lambda g, y, x, *, dim: np.flip(np.cumsum(np.flip(g, dim), axis=dim), dim),), local=cumsum_local))
CUMPROD   = declare(Op("cumprod", lambda x, dim: np.cumprod(x, axis=dim), (cumprod_vjp,), local=cumprod_local))
# fmt: on

SQRT_FLAT = declare(
    Op(
        "sqrt0",
        np.sqrt,
        (lambda g, y, x: np.where(y == 0, 0.0, g / (2 * y)),),
        local=lambda argument, out, values, static: [
            Links(
                all_entries(out),
                all_entries(out),
                np.where(np.ravel(out) == 0, 0.0, 0.5),
                Explicit(lambda s, y: 1 / y),
                ((-1, all_entries(out)),),
            )
        ],
        formula=lambda s, x: s.sqrt(x),
        text="sqrt({})",
    )
)


@function("sum", "tn.", "reductions", op=SUM)
def build_sum(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Any:
    """the sum of the entries, or of those along dim"""
    return f(SUM, x, dim=read_axes(dim, x.ndim), keepdim=bool(keepdim))


@function("mean", "tn.", "reductions", op=MEAN)
def build_mean(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Any:
    """the mean of the entries, or of those along dim"""
    axes = read_axes(dim, x.ndim)
    require_entries(x, axes, "mean")
    return f(MEAN, x, dim=axes, keepdim=bool(keepdim))


@function("prod", "tnm.", "reductions", op=PROD)
def build_prod(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Any:
    """the product of the entries, or of those along dim"""
    return f(PROD, x, dim=read_axes(dim, x.ndim), keepdim=bool(keepdim))


@function("logsumexp", "ts.", "reductions", op=LOGSUMEXP)
def build_logsumexp(f: Apply, x: Tensor, dim: Static = None, keepdim: Static = False) -> Any:
    """log(sum(exp(x))), without overflow"""
    axes = read_axes(dim, x.ndim)
    require_entries(x, axes, "logsumexp")
    return f(LOGSUMEXP, x, dim=axes, keepdim=bool(keepdim))


@function("cumsum", "t.", "reductions", op=CUMSUM)
def build_cumsum(f: Apply, x: Tensor, dim: Static = None) -> Any:
    """the running sum along dim"""
    return f(CUMSUM, x, dim=running_axis(x, dim, "cumsum")) if x.ndim else x


@function("cumprod", "t.", "reductions", op=CUMPROD)
def build_cumprod(f: Apply, x: Tensor, dim: Static = None) -> Any:
    """the running product along dim"""
    return f(CUMPROD, x, dim=running_axis(x, dim, "cumprod")) if x.ndim else x


def running_axis(x: Any, dim: Any, name: str) -> int:
    """Return the axis of a running reduction: it may be left out for a vector alone."""
    if dim is None and x.ndim > 1:
        raise GradcliError("value", f"{name} of an array of shape {x.shape} needs dim", hint=f"write {name}(…, dim=0)")
    return one_axis(0 if dim is None else dim, x.ndim)


def spread(f: Apply, x: Any, dim: Any, keepdim: Any, correction: Any, root: bool) -> Any:
    """Return the variance, or its root, whose derivative at 0 is 0."""
    axes = read_axes(dim, x.ndim)
    require_entries(x, axes, "std" if root else "var")
    result = f(VAR, x, dim=axes, keepdim=bool(keepdim), correction=float(correction))
    return f(SQRT_FLAT, result) if root else result


@function("var", "t.", "reductions", op=VAR)
def build_var(
    f: Apply,
    x: Tensor,
    dim: Static = None,
    unbiased: Static = True,
    keepdim: Static = False,
    correction: Static = None,
) -> Any:
    """the variance; over n - 1 unless correction= or unbiased=False says otherwise (np.var: over n)"""
    return spread(f, x, dim, keepdim, int(bool(unbiased)) if correction is None else correction, root=False)


@function("std", "t.", "reductions")
def build_std(
    f: Apply,
    x: Tensor,
    dim: Static = None,
    unbiased: Static = True,
    keepdim: Static = False,
    correction: Static = None,
) -> Any:
    """the standard deviation; over n - 1 unless correction= or unbiased=False says otherwise (np.std: over n)"""
    return spread(f, x, dim, keepdim, int(bool(unbiased)) if correction is None else correction, root=True)


@function("np.var numpy.var", "", "reductions")
def build_numpy_var(f: Apply, x: Tensor, dim: Static = None, ddof: Static = 0, keepdim: Static = False) -> Any:
    """the variance as numpy has it, over n - ddof"""
    return spread(f, x, dim, keepdim, ddof, root=False)


@function("np.std numpy.std", "", "reductions")
def build_numpy_std(f: Apply, x: Tensor, dim: Static = None, ddof: Static = 0, keepdim: Static = False) -> Any:
    """the standard deviation as numpy has it, over n - ddof"""
    return spread(f, x, dim, keepdim, ddof, root=True)


@function("np.cumsum numpy.cumsum", "", "reductions")
def build_numpy_cumsum(f: Apply, x: Tensor, dim: Static = None) -> Any:
    """the running sum as numpy has it: of the flattened array where no axis is given"""
    return build_cumsum(f, x if dim is not None else f(RESHAPE, x, shape=(-1,)), dim)


def finite_order(p: Any) -> float:
    """Return the order of a norm as a number; ``"fro"`` is 2."""
    if p in ("fro", None):
        return 2.0
    if isinstance(p, bool) or not isinstance(p, int | float) or not p > 0:
        raise GradcliError("value", f"a norm of order {p!r} is not supported", hint="p can be 1, 2, any p > 0, or inf")
    return float(p)


@function("norm linalg.vector_norm torch.linalg.vector_norm", "t.", "reductions", op=NORM)
def build_norm(f: Apply, x: Tensor, p: Static = 2, dim: Static = None, keepdim: Static = False) -> Any:
    """(sum(abs(x)**p))**(1/p) over all entries or along dim; its derivative at 0 is 0"""
    from gradcli.ops.selection import AMAX  # noqa: PLC0415

    axes, order = read_axes(dim, x.ndim), finite_order(p)
    if math.isinf(order):
        require_entries(x, axes, "norm")
        return f(AMAX, f(ABS, x), dim=axes, keepdim=bool(keepdim))
    return f(NORM, x, dim=axes, keepdim=bool(keepdim), p=order)


@function("linalg.norm torch.linalg.norm np.linalg.norm numpy.linalg.norm", "", "reductions")
def build_linalg_norm(f: Apply, x: Tensor, ord: Static = None, dim: Static = None, keepdim: Static = False) -> Any:  # noqa: A002
    """the norm of a vector, or the Frobenius norm of a matrix"""
    reduced_axes = len(read_axes(dim, x.ndim))
    if reduced_axes == 2 and ord not in ("fro", None):
        raise GradcliError("value", f"linalg.norm of a matrix with ord={ord!r} is not supported", hint="leave ord out")
    return build_norm(f, x, 2 if ord is None else ord, dim, keepdim)
