"""Values, vjps and local readings of softmax and its logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.contractions import pairs_along
from gradcli.ops.links import AUXILIARY, OUT, Contraction, Explicit, Links, Order
from gradcli.ops.reductions import all_entries
from gradcli.ops.slopes import log_of_sum


def softmax(x: Any, dim: int) -> Any:
    """Return exp x / Σ exp x, shifted so that nothing overflows."""
    shifted = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return shifted / np.sum(shifted, axis=dim, keepdims=True)


NEARLY = 0.999
"""From here on, 1 - y of an entry y of softmax is taken as the sum of the others."""


def softmax_vjp(g: Any, y: Any, _x: Any, *, dim: int) -> Any:
    """Return y·(g - Σ g·y); where one entry is nearly 1, for the distances of g from its own."""
    if np.any(y > NEARLY):
        own = np.take_along_axis(g, np.argmax(y, axis=dim, keepdims=True), axis=dim)
        g = g - np.where(np.isfinite(own), own, 0.0)
    return y * (g - np.sum(g * y, axis=dim, keepdims=True))


def sum_of_others(x: Any, dim: int) -> Any:
    """Return 1 - softmax(x): for the largest entry the sum of the others."""
    top = np.argmax(x, axis=dim, keepdims=True)
    shifted = np.exp(x - np.take_along_axis(x, top, axis=dim))
    others = shifted.copy()
    np.put_along_axis(others, top, 0.0, axis=dim)
    rest, total = (np.sum(part, axis=dim, keepdims=True) for part in (others, shifted))
    found = 1 - shifted / total
    np.put_along_axis(found, top, rest / total, axis=dim)
    return found


def softmax_local(
    argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]
) -> list[Links | Contraction]:
    """Link y[i] to x[i] with y[i]·(1 - y[i]) and to x[j] with -y[i]·y[j]."""
    del argument
    dim, own = static["dim"], all_entries(out)
    itself = Links(own, own, 1.0, Explicit(lambda s, y: y * (1 - y)), ((OUT, own),))
    if np.any(out > NEARLY):
        text = "(1 - softmax({}))" if np.ndim(out) == 1 else f"(1 - softmax({{}}, dim={dim}))"
        auxiliary = (text, sum_of_others(values[0], dim))
        itself = Links(own, own, 1.0, Explicit(lambda s, y, rest: y * rest), ((OUT, own), (AUXILIARY, own)), auxiliary)
    return [
        itself,
        pairs_along(
            out, dim, Order.OTHER, -1.0, Explicit(lambda s, y, other: y * other), (OUT, "row"), (OUT, "column")
        ),
    ]


def log_softmax_local(
    argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]
) -> list[Links | Contraction]:
    """Link y[i] to x[i] with -(exp(y[i]) - 1) and to x[j] with -exp(y[j])."""
    del argument, values
    own = all_entries(out)
    return [
        Links(own, own, 1.0, Explicit(lambda s, y: -s.expm1(y)), ((OUT, own),)),
        pairs_along(out, static["dim"], Order.OTHER, -1.0, Explicit(lambda s, other: s.exp(other)), (OUT, "column")),
    ]


def log_softmax(x: Any, dim: int) -> Any:
    """Return x - logsumexp(x), shifted first as PyTorch does: an infinite x gives nan."""
    shifted = x - np.max(x, axis=dim, keepdims=True)
    return shifted - log_of_sum(np.exp(shifted), dim)


def log_softmax_vjp(g: Any, y: Any, _x: Any, *, dim: int) -> Any:
    """Return g - exp(y)·Σg; where exp(y) is nearly 1, g·(1 - exp(y)) and the other g by themselves."""
    total = np.sum(g, axis=dim, keepdims=True)
    if not np.any(y > -1e-3):
        return g - np.exp(y) * total
    return g * -np.expm1(y) - np.exp(y) * (total - g)
