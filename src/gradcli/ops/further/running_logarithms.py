"""Running sums in logarithms."""

from __future__ import annotations

import numpy as np

from gradcli.ops.axes import one_axis
from gradcli.ops.backward_texts import trailing_matrix
from gradcli.ops.contractions import pairs_along
from gradcli.ops.declare import BEYOND, Apply, Op, beyond, declare
from gradcli.ops.exactly import logaddexp
from gradcli.ops.links import OUT, Contraction, Explicit, Links, Order
from gradcli.ops.parts import Paired
from gradcli.ops.signatures import Array, Options, Static, Tensor
from gradcli.ops.vocabulary import function


def logcumsumexp(x: Array, dim: int) -> Array:
    """Return the logarithm of the running sum of exp x, without overflow."""
    if np.asarray(x).dtype == object:
        found: Array = np.frompyfunc(logaddexp, 2, 1).accumulate(x, axis=dim)  # type: ignore[assignment]
        return found
    return np.logaddexp.accumulate(x, axis=dim)


def logcumsumexp_vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    """Return Σ g·exp(x - y) over the later outputs, the positive and the negative g apart, in logarithms.

    Where y is large, x - y has lost digits: there the sum is formed entry by entry, without y.
    """
    g = np.broadcast_to(g, np.shape(y))
    if np.all(np.isfinite(x)) and np.max(np.abs(y), initial=0.0) > LARGE:
        return sum_later(g, x, dim)
    found = np.zeros(np.shape(x))
    for sign in (1.0, -1.0):
        logarithms = np.where(sign * g > 0, np.log(np.abs(g)) - y, -np.inf)
        later = np.flip(np.logaddexp.accumulate(np.flip(logarithms, dim), axis=dim), dim)
        found = found + sign * np.exp(later + x)
    return found


def logcumsumexp_again(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    """Return Σ g·exp(x - y) over the later outputs, pair by pair."""
    count, axis = x.shape[dim], dim % x.ndim
    later = np.triu(np.ones((count, count), dtype=bool)).reshape((count, count, *(1,) * (x.ndim - 1 - axis)))
    apart = np.where(later, np.expand_dims(x, axis + 1) - np.expand_dims(y, axis), 0.0)
    return np.sum(np.where(later, np.exp(apart) * np.expand_dims(g, axis), 0.0), axis=axis + 1)


LARGE = 1e3
"""Size of a logarithm from which its last digit is more than 1e-13 of the number that it is the logarithm of."""


def sum_later(g: Array, x: Array, dim: int) -> Array:
    """Return Σ g·exp(x - y) over the later outputs by the shares of the last entry in each running sum of exp x."""
    x, g = np.moveaxis(x, dim, 0), np.moveaxis(g, dim, 0)
    top = np.maximum.accumulate(x, axis=0)
    own, kept, total = np.exp(x - top), np.ones(x.shape), np.zeros(x.shape[1:])
    for k in range(len(x)):
        before = total * np.exp(top[k - 1] - top[k]) if k else total
        total = before + own[k]
        own[k], kept[k] = own[k] / total, before / total
    found, later = np.empty(x.shape), np.zeros(x.shape[1:])
    for k in reversed(range(len(x))):
        later = g[k] + later
        found[k] = own[k] * later
        later = kept[k] * later
    return np.moveaxis(found, 0, dim)


def logcumsumexp_local(
    argument: int, out: Array, values: tuple[Array, ...], static: Options
) -> list[Links | Contraction]:
    """Link each entry to itself and to all later outputs with exp(x - y)."""
    del argument, out
    share = Explicit(lambda s, x, y: s.exp(x - y))
    return [pairs_along(values[0], static["dim"], Order.NOT_BEFORE, 1.0, share, (0, "column"), (OUT, "row"))]


def logcumsumexp_text_back(_k: int, _y: Array, x: Array, *, dim: int) -> str:
    """Return the text of the sum over the later outputs."""
    shape = np.shape(x)
    later = f"triu(ones({shape[dim]}, {shape[dim]})){trailing_matrix(len(shape) - 1 - dim)}"
    shares = f"exp(unsqueeze({{0}}, {dim + 1}) - unsqueeze({{y}}, {dim}))"
    return f"sum(where({later} == 1, {shares}, 0)*unsqueeze({{g}}, {dim}), dim={dim + 1})"


LOGCUMSUMEXP = declare(
    Op(
        "logcumsumexp",
        logcumsumexp,
        (logcumsumexp_vjp,),
        logcumsumexp_local,
        shaped=True,
        differs=beyond,
        says=BEYOND,
        digits=lambda y, x, dim: np.where(np.isfinite(y), np.abs(y), 0.0),  # exp(x - y) has the last digits of y
        backward_text=logcumsumexp_text_back,
        index=Paired("where({j} <= {i}, exp({x}[{j}] - {y}[{i}]), 0)"),
        write=lambda call: f"logcumsumexp({call.texts[0]}, dim={call.static['dim']})",
        again=(logcumsumexp_again,),
    )
)


@function("logcumsumexp", "torch method", "reductions", op=LOGCUMSUMEXP)
def build_logcumsumexp(f: Apply, x: Tensor, dim: Static) -> Tensor:
    """the logarithm of the running sum of exp(x) along dim, without overflow"""
    axis = one_axis(dim, x.ndim)
    return f(LOGCUMSUMEXP, x, dim=axis) if x.ndim else x
