"""The factors of Gauss's elimination with exchanged rows, and ranks of matrices."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MUL, SUB
from gradcli.ops.axes import number
from gradcli.ops.declare import Apply, Parts, value_of
from gradcli.ops.further.linear_inverses import EPSILON, rank_of
from gradcli.ops.further.linear_singular import require_matrix
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import build_cat
from gradcli.ops.shaping import TRIL, TRIU
from gradcli.ops.signatures import Array, Indices, Static, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


def order_of_rows(a: Array) -> tuple[Indices, Indices]:
    """Return the order in which elimination takes the rows, and the exchanges that lead there, counted from 0."""
    left, order, swaps = np.array(a, dtype=np.float64), np.arange(len(a)), []
    for k in range(min(left.shape)):
        best = k + int(np.argmax(np.abs(left[k:, k])))
        swaps.append(best)
        left[[k, best]], order[[k, best]] = left[[best, k]], order[[best, k]]
        if left[k, k]:
            left[k + 1 :] -= np.outer(left[k + 1 :, k] / left[k, k], left[k])
    return order, np.array(swaps, dtype=np.intp)


def eliminated(f: Apply, x: Tensor) -> Tensor:
    """Return U, and L without its ones, in one matrix, by elimination in the order of the rows.

    Raises ``not-differentiable`` where a pivot is 0.
    """
    rows, columns = x.shape
    steps = min(rows, columns)
    f.charge(steps * rows * columns)
    done: list[Tensor] = []
    left = x
    for k in range(steps):
        pivot = f(INDEX, left, key=(0, 0))
        if not value_of(pivot):
            raise GradcliError("not-differentiable", "lu of a matrix without full rank has no derivative")
        upper, below = f(INDEX, left, key=0), f(INDEX, left, key=(slice(1, None), 0))
        shares = f(INDEX, f(DIV, below, pivot), key=(slice(None), None))
        done.append(placed(f, upper, shares, k))
        left = f(SUB, f(INDEX, left, key=(slice(1, None), slice(1, None))),
                 f(MUL, shares, f(INDEX, upper, key=slice(1, None))))  # fmt: skip
    return reduce(partial(f, ADD), done)


def placed(f: Apply, upper: Tensor, shares: Tensor, k: int) -> Tensor:
    """Return row k of U and column k of L where they stand in the whole matrix."""
    rows, columns = k + 1 + shares.shape[0], k + upper.shape[0]
    row = build_cat(f, [np.zeros(k), upper], 0) if k else upper
    below = [np.zeros((rows - k - 1, k)), shares, np.zeros((rows - k - 1, columns - k - 1))]
    lower = build_cat(f, [part for part in below if part.shape[1]], 1)
    parts = [np.zeros((k, columns)), f(INDEX, row, key=(None, slice(None))), lower]
    return build_cat(f, [part for part in parts if part.shape[0]], 0)


def require_pivot(pivot: Static, name: str) -> None:
    """Refuse an elimination without exchanges of rows, which PyTorch has on GPUs alone."""
    if pivot is not True:
        raise GradcliError("value", f"{name}: elimination without pivots is not part of the language")


def taken_apart(f: Apply, x: Tensor) -> tuple[Tensor, Indices, Indices]:
    """Return both factors in one matrix, the order of the rows and the exchanges."""
    require_matrix(x, "lu")
    if x.ndim != 2 or 0 in x.shape:
        raise GradcliError("shape", f"lu takes one matrix, not shape {x.shape}")
    order, swaps = order_of_rows(np.asarray(value_of(x), dtype=np.float64))
    return eliminated(f, f(INDEX, x, key=order)), order, swaps


@function("linalg.lu torch.linalg.lu scipy.linalg.lu jax.scipy.linalg.lu", "", FAMILY)
def build_lu(f: Apply, x: Tensor, *, pivot: Static = True) -> Parts:
    """P, L and U with P @ L @ U = A: the order of the rows, and a lower and an upper triangular matrix"""
    require_pivot(pivot, "lu")
    both, order, _ = taken_apart(f, x)
    rows, columns = x.shape
    steps = min(rows, columns)

    def lower() -> Tensor:
        ones = np.eye(rows, steps)
        return f(ADD, f(TRIL, both if columns == steps else f(INDEX, both, key=(slice(None), slice(0, steps))), k=-1),
                 ones)  # fmt: skip

    def upper() -> Tensor:
        return f(TRIU, both if rows == steps else f(INDEX, both, key=slice(0, steps)), k=0)

    return Parts(("P", "L", "U"), (lambda: np.eye(rows)[:, order], lower, upper))


@function("linalg.lu_factor torch.linalg.lu_factor", "", FAMILY)
def build_lu_factor(f: Apply, x: Tensor, *, pivot: Static = True) -> Parts:
    """both factors of elimination in one matrix, L without its ones, and the rows that were exchanged, from 1 on"""
    require_pivot(pivot, "lu_factor")
    both, _, swaps = taken_apart(f, x)
    return Parts(("LU", "pivots"), (lambda: both, lambda: swaps + 1))


@function("matrix_rank", "linalg", FAMILY, kinds="no no yes")
def build_matrix_rank(
    f: Apply, x: Tensor, tol: Static = None, hermitian: Static = False, *, atol: Static = None, rtol: Static = None
) -> Tensor:
    """how many singular values of a matrix lie above a bound, tol or atol, or rtol times the largest"""
    del f, hermitian
    require_matrix(x, "matrix_rank")
    low = 0.0 if tol is None and atol is None else number(tol if atol is None else atol, "tol")
    share = number(rtol, "rtol") if rtol is not None else 0.0 if low > 0 else max(x.shape[-2:]) * EPSILON
    return np.asarray(rank_of(np.asarray(value_of(x), dtype=np.float64), low, share))
