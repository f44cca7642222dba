"""How far entries are spread: variance, standard deviation, norms."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.declare import (
    BEYOND,
    OUTPUT,
    WITH_OUTPUT,
    Entries,
    Exactly,
    Kink,
    Op,
    Reduced,
    Said,
    Text,
    Torch,
    beyond,
    declare,
    variant,
)
from gradcli.ops.links import Array, Axes, Explicit, Links, Options, Static
from gradcli.ops.piecewise import sign as sign_of
from gradcli.ops.reductions import all_entries, mean, scatter_rows
from gradcli.ops.selection import PEAK, VALLEY
from gradcli.ops.values import Value, group_rows, number, read_axes, require, require_entries, restore, sign
from gradcli.ops.vocabulary import BY_NUMPY, OF_FLOATS, function


def var(x: Array, dim: Axes, keepdim: bool, correction: float) -> Array:
    """Return the mean squared distance from the mean, over n - correction."""
    count = math.prod(np.shape(x)[axis] for axis in dim)
    centred = x - mean(x, dim, keepdim=True)
    divisor = np.float64(max(count - correction, 0))
    with np.errstate(all="ignore"):
        found = np.sum(centred * centred, axis=dim, keepdims=keepdim) / divisor
        if divisor and np.any(np.isinf(found)):  # the sum may be beyond doubles where the variance is not
            return np.sum(centred * (centred / divisor), axis=dim, keepdims=keepdim)
        return found


def var_vjp(g: Array, _y: Array, x: Array, *, dim: Axes, keepdim: bool, correction: float) -> Array:
    """Return g·2(x - mean)/(n - correction), and g·inf or nan where n is no more than the correction."""
    count = math.prod(np.shape(x)[axis] for axis in dim)
    if count <= correction:
        return restore(g, dim, keepdim) * np.where(x == mean(x, dim, keepdim=True), np.nan, np.inf)
    return var_along_vjp(g, None, x, dim=dim, keepdim=keepdim, correction=correction)


def var_along_vjp(g: Array, _y: Array | None, x: Array, *, dim: Axes, keepdim: bool, correction: float) -> Array:
    """Return g·2(x - mean)/(n - correction) whatever n is, as PyTorch does where dim is named."""
    count = math.prod(np.shape(x)[axis] for axis in dim)
    return 2.0 / np.float64(count - correction) * restore(g, dim, keepdim) * (x - mean(x, dim, keepdim=True))


def var_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each entry with 2(x - m)/(n - correction), m the mean as an auxiliary value."""
    del argument, out
    x, dim = values[0], static["dim"]
    columns, rows = all_entries(x), group_rows(x, dim)
    count = math.prod(np.shape(x)[axis] for axis in dim)
    axes = "" if len(dim) == np.ndim(x) else f", dim={dim[0] if len(dim) == 1 else dim}"
    auxiliary = (f"mean({{}}{axes})", mean(x, dim, keepdim=False))
    weight = 2.0 / np.float64(count - static["correction"])
    centred = Explicit(lambda s, x, m: x - m)
    return [Links(rows, columns, weight, centred, ((0, columns), (-2, rows)), auxiliary)]


SAFE = 1e-280
"""From here on a sum of powers has lost nothing to terms that are too small for a double."""


def norm_of(x: Array, dim: Axes, keepdim: bool, p: float) -> Array:
    """Return (Σ|x|^p)^(1/p); where the powers are too large or small for doubles, in units of the largest entry."""
    if all(np.shape(x)[axis] == 1 for axis in dim):
        return np.abs(x) if keepdim else np.squeeze(np.abs(x), axis=dim)
    powers = x * x if p == 2 else np.power(np.abs(x), p)
    total = np.sum(powers, axis=dim, keepdims=keepdim)
    found = np.sqrt(total) if p == 2 else np.power(total, 1 / p)
    if np.all((total > SAFE) & (total < np.inf)) or not np.size(x):
        return found
    unit = (np.max if p > 0 else np.min)(np.abs(x), axis=dim, keepdims=True)
    unit = np.where((unit > 0) & np.isfinite(unit), unit, 1.0)
    scaled = np.power(np.sum(np.power(np.abs(x) / unit, p), axis=dim, keepdims=keepdim), 1 / p)
    return (unit if keepdim else np.squeeze(unit, axis=dim)) * scaled


def norm_vjp(g: Array, y: Array, x: Array, *, dim: Axes, keepdim: bool, p: float) -> Array:
    """Return g·sign(x)·(|x|/y)^(p-1), and 0 where the norm is 0; the ratio first, where powers may be no doubles."""
    g, y = restore(g, dim, keepdim), restore(y, dim, keepdim)
    if p == 1:
        return g * sign_of(x)
    if p == 2:
        return g * np.where(y == 0, 0.0, x / y)
    if p < 0:
        ratio = np.abs(x) / np.where((x == 0) & (y == 0), 1.0, y)
        return sign_of(x) * np.where(x == 0, 0.0, g * np.power(ratio, p - 1))
    if p < 1:
        return sign_of(x) * np.where(x == 0, 0.0, np.power(np.abs(x), p - 1)) * g * np.power(y, 1 - p)
    if p > 2 and np.all(np.isfinite(y)):
        ratio = x / np.where(y == 0, 1.0, y)
        return np.where(y == 0, 0.0, g * (ratio * np.abs(ratio) ** (p - 2)))
    slope = np.power(np.abs(x), p - 1) / np.power(y, p - 1)
    return sign_of(x) * np.where(y == 0, 0.0, g * slope)


def norm_in_torch(y: Array, x: Array, dim: Axes, keepdim: bool, p: float) -> tuple[Array, Array | None]:  # noqa: ARG001
    """Return the root of the sum of powers, which leave double precision before their root does, and its slope."""
    size = np.sum(np.abs(x) ** p, axis=dim, keepdims=True) ** (1 / p)
    slope = np.where(size == 0, 0.0, x / size) if p == 2 else None
    return np.where(y == 0, y, np.reshape(size, np.shape(y))), slope


def norm_text_back(_k: int, _out: Array, _x: Array, *, dim: Axes, keepdim: bool, p: float) -> tuple[str, ...]:
    """Return the text of g·sign(x)·(|x|/y)^(p - 1), and of 0 where the norm is 0."""
    del dim, keepdim
    if p == 1:
        return ("{G}*sign({0})",)
    if p == 2:
        return "{G}*{0}/{Y}", "where({Y} == 0, 0, {G}*{0}/{Y})"
    text = f"{{G}}*sign({{0}})*(abs({{0}})/{{Y}})**({p!r} - 1)"
    return text, f"where(({{Y}} == 0) | ({{0}} == 0), 0, {text})"


def var_text_back(_k: int, _out: Array, x: Array, *, dim: Axes, keepdim: bool, correction: float) -> str:
    """Return the text of g·2(x - mean)/(n - correction)."""
    del keepdim
    count = math.prod(np.shape(x)[axis] for axis in dim) - correction
    axes = "" if len(dim) == np.ndim(x) else f", dim={dim[0] if len(dim) == 1 else dim}, keepdim=True"
    return f"{{G}}*2/{count!r}*({{0}} - mean({{0}}{axes}))"


NORM = scatter_rows(
    "norm",
    lambda s, x, p: x**2 if p == 2 else s.power(s.abs(x), s.number(p)),
    lambda s, y, n, p: s.power(y, s.number(p)),
    forward=norm_of,
    vjp=norm_vjp,
    zero=True,
    zero_text=("{y} == 0",),
    kink=Kink(
        lambda x, dim, keepdim, p: (np.any if p <= 1 else np.all)(x == 0, axis=dim, keepdims=keepdim),
        "0 is taken",
        steep=True,
    ),
    exact=Exactly(value=exactly.norm),
    entries=Entries(index=Reduced("{x}/{y}", lambda p, **options: p == 2)),
    text=Text(backward=norm_text_back, defaults={"p": 2.0, "keepdim": False}),
    torch=Torch(doubles=norm_in_torch),
    reads=WITH_OUTPUT,
)


VAR = declare(
    Op(
        "var",
        var,
        (var_vjp,),
        var_local,
        exact=Exactly(value=exactly.var),
        entries=Entries(index=Said()),
        text=Text(defaults={"keepdim": False, "correction": 1.0}, backward=var_text_back),
        torch=Torch(
            saves=((0,),),
            differs=lambda y, x: ~np.isfinite(y),
            says="its var of too few entries, or of too large ones, has no finite gradient or 0",
        ),
    )
)
VAR_ALONG = variant(VAR, "var along axes", vjps=(var_along_vjp,))


def root_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each root to its argument with 1/(2y), and 0 where it is 0."""
    del argument, values, static
    every = all_entries(out)
    weight = np.where(np.ravel(out) == 0, 0.0, 0.5)
    return [Links(every, every, weight, Explicit(lambda s, y: 1 / y), ((-1, every),))]


SQRT_FLAT = declare(
    Op(
        "sqrt0",
        np.sqrt,
        (lambda g, y, _x: np.where(y == 0, 0.0, g / (2 * y)),),
        root_local,
        lambda s, x: s.sqrt(x),
        text=Text(template="sqrt({})", backward=(("{g}/(2*{y})", "where({y} == 0, 0, {g}/(2*{y}))"),), spelled="sqrt"),
        kink=Kink(lambda x: x == 0, "0 is taken", steep=True),
        zero_text=("{y} == 0",),
        torch=Torch(differs=beyond, says=BEYOND),
        reads=OUTPUT,
    )
)


def spread(x: Value, dim: Static, keepdim: bool, correction: Static, root: bool, empty: str) -> Value:
    """Return the variance, or its root, whose derivative at 0 is 0."""
    axes = read_axes(dim, x.ndim, empty)
    if dim == () and empty == "all" and x.ndim:
        x.f.remark(
            "torch-differs",
            "dim is empty: PyTorch takes the variance over all axes, and in backward divides by 1 - correction and not "
            "by n - correction; this is the derivative of what it takes.",
        )
    require_entries(x, axes, "std" if root else "var")
    op = VAR if dim is None or not x.ndim else VAR_ALONG
    variance = x.of(op, dim=axes, keepdim=keepdim, correction=number(correction, "correction"))
    return variance.of(SQRT_FLAT) if root else variance


def deviation(name: str, root: bool, summary: str) -> None:
    """Enter PyTorch's variance or standard deviation, and NumPy's."""

    def build(
        x: Value, dim: Static = None, unbiased: bool = True, keepdim: bool = False, correction: Static = None
    ) -> Value:
        if isinstance(dim, bool):  # x.std(False): PyTorch takes a truth value alone for unbiased
            dim, unbiased = None, dim
        return spread(x, dim, keepdim, int(unbiased) if correction is None else correction, root, "all")

    def build_numpy(x: Value, dim: Static = None, ddof: Static = 0, keepdim: bool = False) -> Value:
        return spread(x, dim, keepdim, ddof, root, "none")

    build.__doc__ = f"{summary}; over n - 1 unless correction= or unbiased=False says otherwise (np.{name}: over n)"
    build_numpy.__doc__ = f"{summary} as numpy has it, over n - ddof"
    function(name, "torch method", "reductions", op=None if root else VAR, kinds=OF_FLOATS)(build)
    function(f"np.{name} numpy.{name}", "", "reductions", kinds=BY_NUMPY)(build_numpy)


deviation("var", root=False, summary="the variance")
deviation("std", root=True, summary="the standard deviation")


@function("norm", "torch method dtype", "reductions", op=NORM, kinds=OF_FLOATS)
def norm(x: Value, p: Static = 2, dim: Static = None, keepdim: bool = False) -> Value:
    """(sum(abs(x)**p))**(1/p) over all entries or along dim; its derivative at 0 is 0; p="nuc" is that of a matrix"""
    if p == "nuc":
        return matrix_norm(x, p, (0, 1) if dim is None and x.ndim == 2 else dim, keepdim)
    return vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim)


def matrix_norm(x: Value, order: Static, dim: Static, keepdim: bool) -> Value:
    """Return the norm of the matrices in two axes."""
    from gradcli.ops.further.linear_decompositions import of_matrix

    if order == "fro" and x.ndim > 1 and len(read_axes(dim, x.ndim)) == 2:
        return x.of(NORM, dim=read_axes(dim, x.ndim), keepdim=keepdim, p=2.0)
    return of_matrix(x, order, dim, keepdim)


def vector_norm(x: Value, p: Static, dim: Static, keepdim: bool) -> Value:
    """Return the norm of all entries, or of those along dim, as one vector."""
    if isinstance(p, bool) or not isinstance(p, int | float) or math.isnan(p):
        raise GradcliError("value", f"a norm has no order {p!r}", hint="p can be any number, math.inf, -math.inf or 0")
    axes = read_axes(dim, x.ndim, "all")
    if math.isinf(p) or p < 0:
        require_entries(x, axes, "norm")
    if math.isinf(p):
        return abs(x).of(PEAK if p > 0 else VALLEY, dim=axes, keepdim=keepdim)
    if p == 0:
        return abs(sign(x)).sum(*axes, keepdim=keepdim)
    return x.of(NORM, dim=axes, keepdim=keepdim, p=float(p))


@function(
    "linalg.norm torch.linalg.norm np.linalg.norm numpy.linalg.norm", "", "reductions",
    kinds=BY_NUMPY,
)  # fmt: skip
def linalg_norm(x: Value, ord: Static = None, dim: Static = None, keepdim: bool = False) -> Value:
    """the norm of a vector or of all entries; with ord, or two axes, that of a matrix"""
    if dim is None and ord is None:
        return vector_norm(x, 2, None, keepdim)
    if dim is None:
        fits = x.ndim in (1, 2)
        require(fits, "shape", f"linalg.norm with ord needs dim for an array of shape {x.shape}")
    axes = read_axes(dim, x.ndim, "refused")
    if len(axes) == 1 and not isinstance(ord, str):
        return vector_norm(x, 2 if ord is None else ord, axes, keepdim)
    return matrix_norm(x, "fro" if ord is None else ord, axes, keepdim)
