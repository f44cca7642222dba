"""How ops are computed in many digits, where their forward as it stands is not how.

Entries are numbers with operators and the methods that numpy calls on objects (``sin``, ``exp``, ``floor`` …), so
most forwards need no word here. A *piecewise* op says which piece of its definition a point lies on, and its value on
a given piece: so a run can be told to stay on the pieces of another run, which is where a kink has PyTorch's choice of
a derivative (abs at 0 stays on the piece 0·x, a tie of two on the piece of their mean).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.ops.arithmetic import COMPARISONS
from gradcli.ops.selection import middle_of, pick_indices


@dataclass(frozen=True, slots=True)
class Piecewise:
    """``piece(*values, **static)`` is an array that tells pieces apart; ``on(piece, *values, **static)`` the value there.

    A piece that is ``held`` is that of x at x ± h too: what is detached does not move.
    """

    piece: Callable[..., Any]
    on: Callable[..., Any]
    held: bool = False


def each(name: str) -> Callable[[Any], Any]:
    """Return what calls a method of each entry."""
    return np.frompyfunc(operator.methodcaller(name), 1, 1)


def sign_of(x: Any) -> Any:
    """Return -1, 0 or 1 for each entry as plain integers; 0 for nan."""
    return np.asarray(x > 0, dtype=int) - np.asarray(x < 0, dtype=int)


def order_of(a: Any, b: Any) -> Any:
    """Return 1, 0 or -1 where a is larger than b, equal, or smaller."""
    return np.asarray(a > b, dtype=int) - np.asarray(a < b, dtype=int)


def is_nan(x: Any) -> Any:
    """Return where an entry is nan: nothing else differs from itself."""
    return np.asarray(x != x, dtype=bool)  # noqa: PLR0124


def true(x: Any) -> Any:
    """Return where an array of truth values or numbers is true."""
    return x if getattr(x, "dtype", None) == np.bool_ else np.asarray(x != 0, dtype=bool)


def one_like(x: Any) -> Any:
    """Return ones as numbers of the same kind, for constants that have all digits."""
    return 0 * x + 1


def pi_like(x: Any) -> Any:
    """Return π as a number of the same kind."""
    return 4 * np.arctan(one_like(x))


def gelu(x: Any, approximate: str) -> Any:
    """Return x·Φ(x), or its approximation by tanh."""
    if approximate == "tanh":
        return x * (1 + np.tanh(np.sqrt(2 / pi_like(x)) * (x + 0.044715 * x**3))) / 2
    return x * (1 + each("erf")(x / np.sqrt(2 * one_like(x)))) / 2


def logaddexp(a: Any, b: Any) -> Any:
    """Return log(exp a + exp b)."""
    return np.maximum(a, b) + np.log1p(np.exp(-abs(a - b)))


def logsumexp(x: Any, dim: Any, keepdim: bool) -> Any:
    """Return log Σ exp x."""
    top = np.max(x, axis=dim, keepdims=True)
    total = np.log(np.sum(np.exp(x - top), axis=dim, keepdims=True)) + top
    return total if keepdim else np.squeeze(total, axis=dim)


def norm(x: Any, dim: Any, keepdim: bool, p: float) -> Any:
    """Return (Σ|x|^p)^(1/p)."""
    total = np.sum(abs(x) ** p, axis=dim, keepdims=keepdim)
    return np.sqrt(total) if p == 2 else np.asarray(total) ** (one_like(total) / p)


def var(x: Any, dim: Any, keepdim: bool, correction: float) -> Any:
    """Return the mean squared distance from the mean, over n - correction."""
    count = np.size(x) // max(np.size(np.sum(x, axis=dim)), 1)
    centred = x - np.sum(x, axis=dim, keepdims=True) / (count * one_like(np.sum(x, axis=dim, keepdims=True)))
    total = np.sum(centred * centred, axis=dim, keepdims=keepdim)
    return total / (max(count - correction, 0) * one_like(total))


def mean(x: Any, dim: Any, keepdim: bool) -> Any:
    """Return the sum over the count."""
    total = np.asarray(np.sum(x, axis=dim, keepdims=keepdim))
    return total / (np.size(x) // max(total.size, 1) * one_like(total))


def eliminated(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the X with A·X = B and the determinant of A, by elimination with the largest pivot of each column.

    Where A is singular X is nan and the determinant 0.
    """
    a, b = np.array(a, dtype=object), np.array(b, dtype=object)
    size, det = len(a), 1
    for k in range(size):
        pivot = k + int(np.argmax(abs(a[k:, k])))
        if a[pivot, k] == 0 or is_nan(a[pivot, k]):
            return b * np.nan, a[pivot, k] * 0.0
        if pivot != k:
            a[[k, pivot]], b[[k, pivot]] = a[[pivot, k]], b[[pivot, k]]
            det = -det
        det = det * a[k, k]
        factors = a[k + 1 :, k : k + 1] / a[k, k]
        a[k + 1 :] = a[k + 1 :] - factors * a[k]
        b[k + 1 :] = b[k + 1 :] - factors * b[k]
    for k in reversed(range(size)):
        b[k] = (b[k] - a[k, k + 1 :] @ b[k + 1 :]) / a[k, k] if k + 1 < size else b[k] / a[k, k]
    return b, det


def solve(a: Any, b: Any) -> Any:
    """Return the X with A·X = B for a vector or matrices, batches broadcast."""
    if np.ndim(b) == 1:
        return solve(a, b[:, None])[..., 0]
    batch = np.broadcast_shapes(np.shape(a)[:-2], np.shape(b)[:-2])
    left = np.broadcast_to(a, (*batch, *np.shape(a)[-2:])).reshape(-1, *np.shape(a)[-2:])
    right = np.broadcast_to(b, (*batch, *np.shape(b)[-2:])).reshape(-1, *np.shape(b)[-2:])
    found = np.empty(right.shape, dtype=object)
    for k in range(len(left)):
        found[k] = eliminated(left[k], right[k])[0]
    return found.reshape(*batch, *np.shape(b)[-2:])


def inv(a: Any) -> Any:
    """Return the inverse of matrices."""
    return solve(a, np.eye(np.shape(a)[-1]))


def det(a: Any) -> Any:
    """Return the determinant of matrices."""
    matrices = np.reshape(a, (-1, *np.shape(a)[-2:]))
    found = np.empty(len(matrices), dtype=object)
    for k, matrix in enumerate(matrices):
        found[k] = eliminated(matrix, np.eye(len(matrix)))[1]
    return found.reshape(np.shape(a)[:-2])


def put(x: Any, value: Any, *, key: Any) -> Any:
    """Return a copy of x with ``value`` written at ``key``."""
    result = np.array(x)
    result[key] = value[()]
    return result


EXACT: dict[str, Callable[..., Any]] = {
    "pow": lambda x, p: np.asarray(x) ** p if isinstance(x, np.ndarray) else one_like(p) * x**p,
    "div": lambda a, b: a / b,
    "erf": each("erf"),
    "sinc": each("sinc"),
    "gelu": gelu,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "logsigmoid": lambda x: -logaddexp(0 * x, -x),
    "softsign": lambda x: x / (1 + abs(x)),
    "hypot": lambda x, y: np.sqrt(x * x + y * y),
    "xlogy": lambda x, y: np.where((x == 0) & ~is_nan(y), 0, x * np.log(y)),
    "logaddexp": logaddexp,
    "bce_with_logits": lambda x, t: (1 - t) * x + logaddexp(0 * x, -x),
    "logsumexp": logsumexp,
    "log_softmax": lambda x, dim: x - logsumexp(x, dim, keepdim=True),
    "softmax": lambda x, dim: np.exp(x - logsumexp(x, dim, keepdim=True)),
    "norm": norm,
    "prod": lambda x, dim, keepdim: np.prod(x, axis=dim, keepdims=keepdim),
    "cumprod": lambda x, dim: np.cumprod(x, axis=dim),
    "var": var,
    "mean": mean,
    "solve": solve,
    "inv": inv,
    "det": det,
    "sqrt0": np.sqrt,
    "put": put,
    "stack": lambda *values, dim: np.stack(values, axis=dim),
}


def decided(forward: Callable[..., Any]) -> Piecewise:
    """Return the pieces of an op that is constant on each: the value itself tells them apart."""
    return Piecewise(forward, lambda piece, *values, **static: piece)


def shared(hit: Callable[..., Any]) -> Piecewise:
    """Return the pieces of a reduction to the entries that ``hit``, which share its derivative evenly."""
    return Piecewise(
        hit,
        lambda piece, x, dim, keepdim: (
            np.sum(np.where(piece, x, 0), axis=dim, keepdims=keepdim) / np.sum(piece, axis=dim, keepdims=keepdim)
        ),
    )


def picked_entries(piece: Any, x: Any, kind: str, dim: int, keepdim: bool = True, descending: bool = False) -> Any:
    """Return the entries along ``dim`` at the positions that were picked."""
    del kind, descending
    found = np.take_along_axis(x, piece, axis=dim)
    return found if keepdim else np.squeeze(found, axis=dim)


def huber_piece(d: Any, delta: Any) -> Any:
    """Return 0 around 0, and the sign of d where the line is straight."""
    return np.where(abs(d) < delta, 0, sign_of(d))


def cut_side(y: Any, x: Any) -> Any:
    """Return on which side of the cut of atan2, the negative x axis, a point lies: 1 above, -1 below, 0 elsewhere."""
    return np.where(x < 0, np.where(np.arctan2(y, -one_like(x)) > 0, 1, -1), 0)


def angle_on(piece: Any, y: Any, x: Any) -> Any:
    """Return the angle, continued over the cut."""
    angle = np.arctan2(y, x)
    over = np.where((piece > 0) & (angle < 0), 2, np.where((piece < 0) & (angle > 0), -2, 0))
    return np.where(over == 0, angle, angle + over * pi_like(angle))


# fmt: off
PIECEWISE: dict[str, Piecewise] = {
    **{name: decided(forward) for name, forward in COMPARISONS.items()},
    "isnan":        decided(is_nan),
    "argmax":       decided(lambda x, dim, keepdim: np.argmax(x, axis=dim, keepdims=keepdim)),
    "argmin":       decided(lambda x, dim, keepdim: np.argmin(x, axis=dim, keepdims=keepdim)),
    "sign":         Piecewise(sign_of, lambda piece, x: np.asarray(piece, dtype=object)),
    "any":          decided(lambda x, dim, keepdim: np.any(true(x), axis=dim, keepdims=keepdim)),
    "all":          decided(lambda x, dim, keepdim: np.all(true(x), axis=dim, keepdims=keepdim)),
    "floor":        decided(np.floor),
    "ceil":         decided(np.ceil),
    "trunc":        decided(np.trunc),
    "round":        decided(np.rint),
    "floor_divide": decided(np.floor_divide),
    "remainder":    Piecewise(np.floor_divide, lambda whole, a, b: a - whole * b),
    "heaviside":    Piecewise(lambda x, y: sign_of(x), lambda piece, x, y: np.where(piece < 0, 0, np.where(piece > 0, 1, y))),
    "abs":          Piecewise(sign_of, lambda piece, x: piece * x),
    "relu":         Piecewise(sign_of, lambda piece, x: np.where(piece > 0, x, 0)),
    "leaky_relu":   Piecewise(lambda x, slope: x > 0, lambda piece, x, slope: np.where(piece, x, slope * x)),
    "elu":          Piecewise(lambda x, alpha: x > 0, lambda piece, x, alpha: np.where(piece, x, alpha * np.expm1(x))),
    "softplus":     Piecewise(lambda x, beta, threshold: x * beta > threshold,
                              lambda piece, x, beta, threshold: np.where(piece, x, np.log1p(np.exp(x * beta)) / beta)),
    "huber":        Piecewise(huber_piece, lambda piece, d, delta: np.where(piece == 0, d * d / 2, delta * (piece * d - delta / 2))),
    "clamp_min":    Piecewise(lambda x, low: x >= low, np.where),
    "clamp_max":    Piecewise(lambda x, high: x <= high, np.where),
    "maximum":      Piecewise(order_of, lambda piece, a, b: np.where(piece > 0, a, np.where(piece < 0, b, (a + b) / 2))),
    "minimum":      Piecewise(order_of, lambda piece, a, b: np.where(piece < 0, a, np.where(piece > 0, b, (a + b) / 2))),
    "fmax":         Piecewise(lambda a, b: a >= b, np.where),
    "fmin":         Piecewise(lambda a, b: a <= b, np.where),
    "bce":          Piecewise(lambda x, t: sign_of(x) - sign_of(1 - x),
                              lambda piece, x, t: -t * np.where(x == 0, -100, np.log(x)) - (1 - t) * np.where(x == 1, -100, np.log1p(-x))),
    "amax":         shared(lambda x, dim, keepdim: x == np.max(x, axis=dim, keepdims=True)),
    "amin":         shared(lambda x, dim, keepdim: x == np.min(x, axis=dim, keepdims=True)),
    "max":          shared(lambda x, dim, keepdim: x == np.max(x, axis=dim, keepdims=True)),
    "min":          shared(lambda x, dim, keepdim: x == np.min(x, axis=dim, keepdims=True)),
    "median":       shared(lambda x, dim, keepdim: x == middle_of(x)),
    "pick":         Piecewise(lambda x, keepdim=True, **how: pick_indices(x, **how), picked_entries),
    "where":        Piecewise(lambda c, a, b: true(c), lambda piece, c, a, b: np.where(piece, a, b)),
    "atan2":        Piecewise(cut_side, angle_on),
    "detach":       Piecewise(lambda x: x, lambda piece, x: piece, held=True),
}
# fmt: on
