"""What PyTorch is asked of functions of numbers, orders and reductions: rows of ``torch_rows``, kept apart."""

# ruff: noqa: E501, SIM905 - a row is a line
# fmt: off

from __future__ import annotations

from itertools import product
from math import inf, isnan, nan

from records.constants import CANCELS

PAIRS = [-inf, -2.5, -0.0, 0.0, 0.5, 3.0, inf, nan]
LEFT, RIGHT = (list(side) for side in zip(*product(PAIRS, PAIRS), strict=True))
FINITE = [x for x in PAIRS if abs(x) < inf]
FLAT_LEFT, FLAT_RIGHT = (list(side) for side in zip(*product(FINITE, [-2.5, 0.5, 1.0]), strict=True))
ODD_LEFT, ODD_RIGHT = [inf, -inf, nan, 1.0, nan, -0.0], [1.0, -inf, 2.0, inf, nan, 0.0]
X, P = [0.3, -1.2, 0.8, 0.3], [0.2, 0.5, 0.7, 0.2]
TIED = [[1.0, 2.0, 2.0, 3.0, 1.0, 2.0], [3.0, 3.0, 1.0, 0.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]]
LINES = [*TIED, [2.0, nan, 1.0, nan, 3.0, 2.0], [inf, 1.0, -inf, inf, 0.0, 1.0], [0.0, -0.0, 0.0, 1.0, -1.0, 0.0]]
MANY = [float(7 * k % 5) for k in range(40)]
SOME_NAN = [[2.0, nan, 1.0, 5.0], [nan, 4.0, 3.0, 1.0]]
MATRIX = [[0.5, -1.0, 2.0, 0.7], [1.5, 0.7, -0.4, 2.0], [3.0, 0.1, 0.2, -5.0]]
SEEDS = (None, [1.0, -2.0, 3.0], 0.0)
WEIGHTS = [1.0, -2.0, 3.0, 0.5, 7.0, -1.0]


def add(row):
    """Add all rows to a table."""
    numbers(row)
    masks(row)
    orders(row)
    quantiles(row)
    reductions(row)
    neighbours(row)


def numbers(row):
    """Add functions of two and three numbers."""
    row.each(
        "torch.fmod(a, b) | torch.copysign(a, b) | torch.ldexp(a, b) | torch.rsub(a, b, alpha=-2) | torch.add(a, b, alpha=2) | torch.sub(a, b, alpha=0.5)",
        vs=(None, -2.0, 1e300), a=LEFT, b=RIGHT,
    )
    row.each("torch.logaddexp2(a, b)", vs=(None, -2.0, 1e300), a=LEFT, b=RIGHT, atol=CANCELS)
    row.each('torch.div(a, b, rounding_mode="floor") | torch.div(a, b, rounding_mode="trunc")', vs=(None, inf), a=LEFT, b=RIGHT)
    row.each("torch.lerp(a, b, 0.3) | torch.lerp(a, b, 0.75) | torch.lerp(a, b, 1.) | torch.lerp(a, b, 0.)", vs=(None, -2.0), a=LEFT, b=RIGHT)
    row.each("torch.lerp(a, b, w)", vs=(None, inf), a=[0.5, 2.0, 3.0], b=[1.0, -1.0, 3.0], w=[0.25, 0.5, 1.5])
    row.each("torch.addcmul(x, a, b) | torch.addcmul(x, a, b, value=2.) | torch.addcdiv(x, a, b) | torch.addcdiv(x, a, b, value=0.5)", vs=(None, -2.0), x=1.0, a=FLAT_LEFT, b=FLAT_RIGHT)
    row("torch.positive(x)*x", x=[0.5, -2.0])
    row.each("torch.polygamma(1, x) | torch.polygamma(2, x) | torch.polygamma(3, x)", vs=(None, -2.0), x=[0.5, 1.0, 2.0, 10.0], rtol=1e-9)
    row.each("torch.logit(x, 0.25) | torch.logit(x, eps=0.) | torch.special.logit(x, 0.1)", vs=(None, -2.0, inf), x=[0.0, 1e-12, 0.01, 0.25, 0.3, 0.5, 0.75, 0.999, 1.0, -0.5, 2.0])
    row.each("torch.nan_to_num(x) | torch.nan_to_num(x, nan=2., posinf=5.) | torch.nan_to_num(x, neginf=-1.)", vs=(None, -2.0, 0.0), x=PAIRS)
    row.each("torch.nan_to_num(torch.log(x), neginf=0.) | torch.nan_to_num(1/x, posinf=0.)", x=[0.0, 1.0, -1.0])


def masks(row):
    """Add comparisons, logic and tests: what is chosen by them."""
    names = "eq ne gt ge lt le isclose logical_and logical_or logical_xor".split()
    row.each(" | ".join(f"torch.{name}(a, b)*a" for name in names), a=FLAT_LEFT, b=FLAT_RIGHT)
    row.each(" | ".join(f"torch.where(torch.{name}(a, b), a, b)" for name in names), a=ODD_LEFT, b=ODD_RIGHT)
    row.each("torch.isclose(a, b, rtol=0.5)*a | torch.where(torch.isclose(a, b, equal_nan=True), a, b)", a=[1.0, 2.0, -3.0], b=[1.4, 5.0, -2.0])
    tests = "isfinite isinf isposinf isneginf signbit logical_not".split()
    row.each(" | ".join(f"torch.where(torch.{name}(x), 2*x, x)" for name in tests), x=PAIRS)
    row.each("torch.where(torch.bitwise_and(x > 0, x < 1), 2*x, x) | torch.where(torch.bitwise_or(x < 0, x > 1), 2*x, x) | torch.where(torch.bitwise_xor(x < 1, x > 0), 2*x, x) | torch.where(torch.bitwise_not(x > 0), 2*x, x)", x=PAIRS)
    row.each("torch.allclose(x, p)*x | torch.equal(x, p)*x", x=X, p=P)
    row.each("torch.equal(x, x)*x | torch.count_nonzero(x)*x", x=X)
    row("torch.count_nonzero(x, dim=1)*p", x=MATRIX, p=[1.0, 2.0, 3.0])
    row("torch.histc(x.detach(), 4)*x", x=X)
    row("torch.histc(x.detach(), 4, -1, 1)*x", x=X)
    row("torch.floor_divide(x.detach(), p.detach())*x", x=X, p=P)


def orders(row):
    """Add what is picked by its order: ties, nan, and both infinities."""
    for line in LINES:
        mode = ["torch.mode(x).values"] * (not any(map(isnan, line)))  # with a nan it depends on how PyTorch's sort goes astray
        calls = ["torch.sort(x, dim=0, stable=True).values", "torch.msort(x)"]
        calls += [f"torch.topk(x, {k}{more}).values" for k in (1, 2, 3, 6) for more in ("", ", largest=False")]
        calls += [f"torch.kthvalue(x, {k}).values" for k in (1, 2, 4, 6)]
        calls += [*mode, "torch.cummax(x, 0).values", "torch.cummin(x, 0)[0]", "torch.nanmedian(x, 0).values"]
        for call in calls:
            wide = ".values" in call or "[0]" in call or "msort" in call
            single = any(word in call for word in ("kth", "mode", "nanmedian"))
            count = 1 if single else int(call.split(", ")[1].split(")")[0]) if "topk" in call else 6
            row(call, v=3.0 if count == 1 else WEIGHTS[:count] if wide else None, x=line)
        row.each("torch.nanmedian(x) | torch.aminmax(x)[0] | torch.aminmax(x)[1] | torch.aminmax(x, dim=0)[0]", vs=(None, -2.0), x=line)
    for k, more in product((1, 5, 17, 30), ("", ", largest=False")):
        row(f"torch.topk(x, {k}{more}).values", v=[float(i + 1) for i in range(k)], x=MANY)
        row(f"torch.kthvalue(x, {k}).values", x=MANY)
    row.each("torch.sort(x, 0).values | torch.sort(x, descending=True)[0] | torch.sort(x, dim=0, stable=True)[0] | torch.msort(x)", vs=([float(k) for k in range(40)],), x=MANY)
    row.each("torch.mode(x).values | torch.median(x, 0).values | torch.quantile(x, 0.3)", x=MANY)
    row.each("torch.topk(x, 2, dim=0).values | torch.kthvalue(x, 2, 0).values | torch.kthvalue(x, 2, dim=1, keepdim=True)[0] | torch.mode(x, 0)[0] | torch.mode(x, 1, True)[0] | torch.cummax(x, 1)[0] | torch.cummin(x, dim=-2)[0] | torch.nanmedian(x, 1, True)[0] | torch.aminmax(x, dim=1)[1] | torch.aminmax(x, dim=0, keepdim=True)[0] | torch.topk(x, 1, -1, False)[0]", x=TIED)
    row.each("torch.topk(x, 1)[0] | torch.kthvalue(x, 1)[0] | torch.mode(x)[0] | torch.cummax(x, 0)[0] | torch.msort(x)", x=2.5)
    row.each("torch.argsort(x)*x => torch.argsort(x)*x | torch.argsort(x, descending=True)*x | x[torch.argsort(x)]", x=[0.3, -1.2, 0.8])
    row("x[np.argsort(x)]", "x[torch.argsort(x)]", x=[0.3, -1.2, 0.8])
    row.each("torch.topk(x, 0)[0] | torch.cummax(x, 0)[0]", x=[])


def quantiles(row):
    """Add quantiles of all entries and along an axis, between entries and at one, with nan and with ties."""
    for name, x in product(("quantile", "nanquantile"), (MATRIX, SOME_NAN, TIED)):
        for q, more in product((0.0, 0.3, 0.5, 1.0), ("", ", dim=0", ", dim=1, keepdim=True", ", 1")):
            row(f"torch.{name}(x, {q}{more})", x=x)
        row.each(" | ".join(f'torch.{name}(x, 0.35, dim=1, interpolation="{way}")' for way in ("lower", "higher", "midpoint", "nearest")), x=x)
        row(f"torch.{name}(x, [0.1, 0.8], dim=1)", f"torch.{name}(x, torch.tensor([0.1, 0.8], dtype=torch.float64), dim=1)", x=x)
    row.each("np.quantile(x, 0.3) => torch.quantile(x, 0.3) | np.percentile(x, 30) => torch.quantile(x, 0.3) | np.nanquantile(x, 0.3, axis=1) => torch.nanquantile(x, 0.3, dim=1) | np.nanpercentile(x, 30, 0) => torch.nanquantile(x, 0.3, dim=0) | np.nanmedian(x) => torch.nanquantile(x, 0.5) | np.nanmedian(x, axis=0) => torch.nanquantile(x, 0.5, dim=0)", x=SOME_NAN)
    row("np.quantile(x, 0.3, axis=(0, 2))", "torch.quantile(x.permute(1, 0, 2).reshape(3, 8), 0.3, dim=1)", x=[MATRIX, MATRIX[::-1]])


def reductions(row):
    """Add reductions of what is no nan, of both extremes, with weights, and pairs."""
    for x in (MATRIX, SOME_NAN):
        row.each(" | ".join(f"torch.{name}(x{more})" for name in ("nansum", "nanmean") for more in ("", ", 0", ", dim=1, keepdim=True", ", (0, 1)")), vs=(None, -2.0), x=x)
    row.each("np.nanmax(x, axis=0) => torch.amax(torch.where(torch.isnan(x), -torch.inf, x), 0) | np.nanmin(x) => torch.amin(torch.where(torch.isnan(x), torch.inf, x)) | np.nanprod(x, 1) => torch.prod(torch.where(torch.isnan(x), 1., x), 1)", x=SOME_NAN)
    row.each("np.nan_to_num(x) => torch.nan_to_num(x) | np.nan_to_num(x, True, 2.) => torch.nan_to_num(x, 2.)", vs=(None, -2.0), x=SOME_NAN)
    row.each("np.ptp(x) => torch.amax(x) - torch.amin(x) | np.ptp(x, axis=1) => torch.amax(x, 1) - torch.amin(x, 1)", x=TIED)
    row.each("np.average(x, weights=w) => (x*w).sum()/w.sum()", x=X, w=P)
    row.each("np.average(x, axis=1, weights=w) => (x*w).sum(1)/w.sum()", x=MATRIX, w=P)
    row.each("np.average(x, 0) => x.mean(0) | np.cumprod(x) => x.flatten().cumprod(0) | np.cumprod(x, 1) => x.cumprod(1)", x=MATRIX)
    for name, k in product(("std_mean", "var_mean"), (0, 1)):
        row.each(" | ".join(f"torch.{name}(x{more})[{k}]" for more in ("", ", False", ", 1", ", dim=0, correction=0", ", 1, False, True", ", (0, 1)", ", unbiased=False")), x=MATRIX)
    row.each("x.std(False) | x.var(True) | x.std(0, False) | x.var(1, True, True) | x.var(unbiased=False) | x.std(correction=2) | torch.std(x, False) | torch.var(x, 1, False)", x=MATRIX)


def neighbours(row):
    """Add differences, slopes, areas, and running sums in logarithms."""
    for dim in ("", ", dim=0", ", n=2", ", n=2, dim=0", ", 1, 1", ", n=0"):
        row(f"torch.diff(x{dim})", x=MATRIX)
    row("torch.diff(x, n=5)", x=X)
    row.each("torch.diff(x, prepend=p) | torch.diff(x, append=p, n=2) | torch.diff(x, 1, -1, p, p)", x=X, p=P)
    row.each("torch.gradient(x)[0] | torch.gradient(x)[1] | torch.gradient(x, spacing=0.5, dim=1)[0] | torch.gradient(x, dim=0, edge_order=2)[0] | torch.gradient(x, spacing=[2., 0.5])[1] | np.gradient(x, axis=1) => torch.gradient(x, dim=1)[0] | np.gradient(x)[0] => torch.gradient(x)[0] | np.gradient(x, 2., 0.5)[1] => torch.gradient(x, spacing=[2., 0.5])[1]", x=MATRIX)
    for order in (1, 2):
        row(f"np.gradient(x, [0.0, 0.5, 2.0, 3.0], edge_order={order})", f"torch.gradient(x, spacing=(torch.tensor([0.0, 0.5, 2.0, 3.0], dtype=torch.float64),), edge_order={order})[0]", x=X)
    row.each("torch.trapezoid(x) | torch.trapezoid(x, dx=0.5) | torch.trapezoid(x, dim=0) | torch.cumulative_trapezoid(x) | torch.cumulative_trapezoid(x, dx=2., dim=0)", x=MATRIX)
    row.each("torch.trapezoid(x, p) | torch.cumulative_trapezoid(x, p) | torch.trapz(x, p)", x=MATRIX, p=P)
    row.each("torch.trapezoid(x, p) | torch.trapz(x, p, dim=0)", x=X, p=P)
    for x in ([0.0, -0.0, 1.0], [800.0, 0.0, -800.0], [-800.0, 0.0, 800.0], [0.3, -1.2, 0.8]):
        row.each("torch.logcumsumexp(x, 0)", vs=SEEDS, x=x)
    row.each("torch.logcumsumexp(x, 1) | torch.logcumsumexp(x, dim=0)", x=MATRIX)
    row("torch.logcumsumexp(x, 0)", x=2.5)
