"""The Huber loss of a difference: a parabola around 0, and straight lines beyond."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.declare import Op, declare
from gradcli.ops.entrywise import broadcast_index
from gradcli.ops.links import Links, Partial
from gradcli.ops.parts import Piecewise


def huber(d: Any, delta: Any) -> Any:
    """Return d²/2 for a difference below delta, and the straight line δ·(|d| - δ/2) beyond."""
    size = np.abs(d)
    return np.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))[()]


def huber_vjp(g: Any, _y: Any, d: Any, delta: Any) -> Any:
    """Return g·d, and ±g·δ where the line is straight."""
    return np.where(d <= -delta, -g * delta, np.where(d >= delta, g * delta, d * g))


def huber_vjp_delta(g: Any, _y: Any, d: Any, delta: Any) -> Any:
    """Return 0, and g·(|d| - δ) where the line is straight."""
    return np.where(np.abs(d) < delta, 0.0, g * (np.abs(d) - delta))


def parabola(s: Any, d: Any, delta: Any) -> Any:  # noqa: ARG001
    """Return the formula of the Huber loss around 0."""
    return d**2 / 2


def straight(s: Any, d: Any, delta: Any) -> Any:
    """Return the formula of the Huber loss beyond delta."""
    return delta * (s.abs(d) - delta / 2)


def huber_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link each entry by the derivative of the piece that it lies on."""
    del static
    near = np.broadcast_to(np.abs(values[0]) < values[1], np.shape(out)).ravel()
    links = []
    for piece, rows in ((parabola, np.flatnonzero(near)), (straight, np.flatnonzero(~near))):
        bound = tuple((k, broadcast_index(out, values, k)[rows]) for k in (0, 1))
        links.append(Links(rows, bound[argument][1], 1.0, Partial(piece, argument), bound))
    return links


HUBER = declare(
    Op(
        "huber",
        huber,
        (huber_vjp, huber_vjp_delta),
        huber_local,
        lambda s, d, delta: s.where_gt(delta, s.abs(d), parabola(s, d, delta), straight(s, d, delta)),
        pieces=Piecewise(
            exactly.huber_piece,
            lambda piece, d, delta: np.where(piece == 0, d * d / 2, delta * (piece * d - delta / 2)),
        ),
        text="where(abs({0}) < {1}, 0.5*{0}**2, {1}*(abs({0}) - 0.5*{1}))",
        precedence=99,
        domain=((1.2, 2), (0.3, 1)),
    )
)
