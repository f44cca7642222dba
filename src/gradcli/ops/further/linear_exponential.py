"""The exponential of a matrix."""

from __future__ import annotations

import numpy as np

from gradcli.ops.declare import Apply, Op, declare
from gradcli.ops.dispatch import RULES, in_one_step
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.further.linear_spectra import decomposed
from gradcli.ops.linear_algebra import require_square
from gradcli.ops.links import Links
from gradcli.ops.matrices import decomposed_in, row_by_row
from gradcli.ops.parts import Said
from gradcli.ops.signatures import Array, Options, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


@in_one_step
def matrix_exp(a: Array) -> Array:
    """Return exp(A): the series of a part of A that is small, squared as often as it was halved."""
    size = np.max(np.sum(np.abs(a), axis=-1), initial=0.0)
    halves = max(0, int(np.ceil(np.log2(size))) + 1) if size > 0.5 else 0
    part, unit = a / 2.0**halves, np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    total = unit
    for k in range(18, 0, -1):
        total = unit + np.matmul(part, total) / k
    for _ in range(halves):
        total = np.matmul(total, total)
    return total


def matrix_exp_vjp(g: Array, _y: Array, a: Array) -> Array:
    """Return the upper right part of exp((Aᵀ, g; 0, Aᵀ)) (PyTorch's ``linalg_matrix_exp_differential``)."""
    turned = np.swapaxes(a, -1, -2)
    size = np.max(np.abs(g), initial=0.0)
    scale = size if 0 < size < np.inf else 1.0
    whole = np.concatenate(
        [np.concatenate([turned, g / scale], -1), np.concatenate([np.zeros_like(a), turned], -1)], axis=-2
    )
    n = a.shape[-1]
    return matrix_exp(whole)[..., :n, n:] * scale


def matrix_exp_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link exp(A) to A with the integral of exp(s·A)[a, i]·exp((1 - s)·A)[j, b] over s from 0 to 1, by its numbers."""
    del argument, static
    a, n = values[0], out.shape[-1]
    size = float(np.max(np.sum(np.abs(a), axis=-1), initial=0.0))
    nodes, weights = np.polynomial.legendre.leggauss(24 + int(min(2 * size, 400)))
    before = np.stack([matrix_exp(s * a) for s in (nodes + 1) / 2])
    after = np.stack([matrix_exp((1 - s) * a) for s in (nodes + 1) / 2])
    slopes = np.einsum("qzai,qzjb,q->zabij", *(x.reshape(len(nodes), -1, n, n) for x in (before, after)), weights / 2)
    place = np.arange(np.size(a), dtype=np.intp).reshape(-1, n, n)
    rows = np.broadcast_to(place[:, :, :, None, None], slopes.shape).ravel()
    columns = np.broadcast_to(place[:, None, None], slopes.shape).ravel()
    return [Links(rows, columns, slopes.ravel())]


def exponential_text_back(_k: int, out: Array, _a: Array) -> str:
    """Return the text of the vjp of exp."""
    n = out.shape[-1]
    whole = "cat([cat([{0}.mT, {g}], -1), cat([zeros_like({0}), {0}.mT], -1)], -2)"
    return f"matrix_exp({whole})[..., :{n}, {n}:]"


MATRIX_EXP = declare(
    Op(
        "matrix_exp",
        decomposed(matrix_exp),
        (matrix_exp_vjp,),
        matrix_exp_local,
        exactly=lambda a: decimals.each_matrix(decimals.exponential, a),
        terms=lambda a: int(np.size(a)) * int(a.shape[-1]) ** 2,
        work=lambda out, a: 60 * row_by_row(out, a) * int(a.shape[-1]),
        steps=decomposed_in,
        digits=lambda out, a: exponential_digits(a),
        index=Said(),
        backward_text=exponential_text_back,
        torch_saves=("0",),
    )
)

RULES[matrix_exp] = MATRIX_EXP


def exponential_digits(a: Array) -> Array:
    """Return how rounding grows in exp(A): as exp of the norm of A."""
    size = np.exp(np.minimum(np.linalg.norm(a, 2, (-2, -1)), 700.0))
    return np.broadcast_to(size[..., None, None], a.shape)


@function(
    "matrix_exp scipy.linalg.expm jax.scipy.linalg.expm",
    "torch linalg method",
    FAMILY,
    op=MATRIX_EXP,
    kinds="no no yes",
)
def build_matrix_exp(f: Apply, x: Tensor) -> Tensor:
    """the exponential of a square matrix, and not of its entries"""
    require_square(x, "matrix_exp")
    return f(MATRIX_EXP, x)
