"""Numbers between two bounds: one op where both are plain numbers, and one for each bound where a gradient may flow."""

from __future__ import annotations

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.activations import at_least, at_most
from gradcli.ops.declare import Apply, value_of
from gradcli.ops.entrywise import elementwise
from gradcli.ops.parts import Kink, Piecewise
from gradcli.ops.piecewise import CLAMP_MAX, CLAMP_MIN, WHERE
from gradcli.ops.signatures import Array, Indices, Tensor
from gradcli.ops.vocabulary import function
from gradcli.ops.writing import with_numbers


def between(x: Array, low: float, high: float) -> Array:
    """Return x, but at least the lower bound, and then at most the upper one."""
    return at_most(at_least(x, low), high)


def side(x: Array, low: float, high: float) -> Indices:
    """Return -1 below the lower bound, 1 above the upper one, 0 between and at a bound."""
    return np.where(x < low, -1, np.asarray(x > high, dtype=int))


CLIP = elementwise(
    "clip",
    between,
    lambda g, _y, x, *, low, high: np.where((x >= low) & (x <= high), g, 0.0),
    lambda s, x, low, high: s.clamp_max(s.clamp_min(x, low), high),
    spelled=None,
    defaults={"low": -1.0, "high": 1.0},
    write=with_numbers,
    backward_text=("where(({0} >= {low}) & ({0} <= {high}), {g}, 0)",),
    kink=Kink(lambda x, low, high: (x == low) | (x == high), "1 is taken"),
    pieces=Piecewise(
        side, lambda piece, x, low, high: np.where(piece < 0, min(low, high), np.where(piece > 0, high, x))
    ),
)


@function("clip clamp", "torch numpy method", "elementwise", kinds="same same yes")
def build_clip(f: Apply, x: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """x between min and max; its derivative at a bound is 1"""
    if min is None or max is None:
        low = x if min is None else f(CLAMP_MIN, x, min)
        return low if max is None else f(CLAMP_MAX, low, max)
    if is_plain(min) and is_plain(max):
        return f(CLIP, x, low=np.asarray(min).item(), high=np.asarray(max).item())
    try:
        np.broadcast_shapes(x.shape, min.shape, max.shape)
    except ValueError:
        raise GradcliError("shape", f"clip: {x.shape}, {min.shape}, {max.shape} of x, min, max do not fit") from None
    return f(CLAMP_MAX, f(CLAMP_MIN, x, bound_below(f, min, max)), max)


def is_plain(bound: Tensor) -> bool:
    """Return whether a bound is one number that depends on no input."""
    return value_of(bound) is bound and np.ndim(bound) == 0


def bound_below(f: Apply, low: Tensor, high: Tensor) -> Tensor:
    """Return the lower bound, without its gradient where both bounds are equal: PyTorch gives neither any there."""
    if not np.any(value_of(low) == value_of(high)):
        return low
    return f(WHERE, value_of(low) == value_of(high), np.array(value_of(low)), low)
