"""What belongs to square matrices: cofactors, determinant, inverse, solving."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import exactly
from gradcli.ops.declare import Entries, Keeps, Op, Said, Text, Torch, declare, in_one_step
from gradcli.ops.linear_algebra import require_product, require_square, with_ones
from gradcli.ops.links import AUXILIARY, OUT, Array, At, Contraction, Explicit, Formula, Forward, Links, Mask, Static
from gradcli.ops.values import Value, require
from gradcli.ops.vocabulary import BY_NUMPY, Beside, Kinds, Made, function


def cofactors(a: Array) -> Array:
    """Return the matrix of cofactors: minors of up to three rows, else by the singular value decomposition.

    Both are right for singular matrices too; minors keep the digits of entries that are small beside others.
    """
    if a.shape[-1] == 2:
        return np.flip(a, (-1, -2)) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    if a.shape[-1] == 3:
        below, beyond = np.roll(a, -1, -2), np.roll(a, -2, -2)
        return np.roll(below, -1, -1) * np.roll(beyond, -2, -1) - np.roll(below, -2, -1) * np.roll(beyond, -1, -1)
    u, sigma, vt = np.linalg.svd(a)
    n = sigma.shape[-1]
    others = np.stack([np.prod(np.delete(sigma, i, axis=-1), axis=-1) for i in range(n)], axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign[..., None, None] * np.matmul(u * others[..., None, :], vt)


MOST_MINORS = 64
"""Rows up to which all minors of a matrix are taken: there are as many as entries."""


def cofactors_by_minors(a: Array) -> Array:
    """Return the matrix of cofactors by the determinants of all minors, which shares nothing with singular values."""
    places = range(a.shape[-1])
    signs = 1.0 - 2.0 * (np.add.outer(places, places) % 2)
    rows = [np.delete(a, i, -2) for i in places]
    minors = [np.stack([np.linalg.det(np.delete(row, j, -1)) for j in places], axis=-1) for row in rows]
    return signs * np.stack(minors, axis=-2)


ILL = 1e6
"""Condition number from which det·inv(A) loses too many digits to stand for the cofactors."""


def cofactor_terms(y: Array, a: Array) -> Array:
    """Return how large the terms are that a cofactor is a difference of.

    A small change of A shows in a cofactor times all singular values but the two smallest.
    """
    if not np.all(np.isfinite(a)):
        return np.full(np.shape(y), np.nan)
    sigma = np.linalg.svd(a, compute_uv=False)
    n = sigma.shape[-1]
    return np.asarray(n * sigma[..., 0] * np.prod(sigma[..., : n - 2], axis=-1)).reshape(np.shape(y))


# --- determinant, inverse, solving ---


def det(a: Array) -> Array:
    """Return the determinant, and nan where numpy takes a matrix with inf or nan for singular: there 0 is no number."""
    y = np.linalg.det(a)
    return np.where((y == 0) & ~np.all(np.isfinite(a), axis=(-1, -2)), np.nan, y)[()]


def det_vjp(g: Array, y: Array, a: Array) -> Array:
    """Return g·cofactors, and g·0 where the matrix is singular: PyTorch solves with g·det on the right.

    Where that is not finite, so do we: which entries are nan is a matter of the substitution.
    """
    g, y = np.asarray(g)[..., None, None], np.asarray(y)[..., None, None]
    flat = (y == 0) & (a.shape[-1] > 1) & is_singular(a)
    odd = ~np.isfinite(g * y) & (y != 0)
    result = np.where(flat, g * 0.0, g * cofactors(np.where(odd, 0.0, a)))
    if np.any(odd):
        unit = np.eye(a.shape[-1])
        left, right = np.where(odd, np.swapaxes(a, -1, -2), unit), np.where(unit == 1, g * y, 0.0)
        np.copyto(result, solved(left, right), where=odd)
    return result


@in_one_step
def is_singular(a: Array) -> Mask:
    """Return which matrices have a determinant of 0 in units of about their largest entry, where it does not underflow.

    The units are powers of 2, so that elimination rounds as it does in ``det``.
    """
    largest = np.max(np.abs(a), axis=(-1, -2), keepdims=True, initial=0.0)
    exponent = np.where(np.isfinite(largest), np.frexp(largest)[1], 0)
    return np.linalg.det(np.ldexp(a, -exponent))[..., None, None] == 0


def det_again(g: Array, y: Array, a: Array) -> Array:
    """Return g·cofactors: of up to three rows their formulas, else y·inv(A)ᵀ; g·0 where the matrix is singular."""
    count, flat = a.shape[-1], is_singular(a)
    each = g[..., None, None] * np.ones_like(a)
    if count == 1:
        return each
    regular = np.where(flat, np.eye(count), a) if np.any(flat) else a
    few = count <= 3
    result = cofactors(regular) if few else y[..., None, None] * np.swapaxes(np.linalg.inv(regular), -1, -2)
    return np.where(flat, each * 0.0, each * result)


def solved(a: Array, b: Array) -> Array:
    """Return inv(A)·B, and nan where A has entries that are not finite and numpy takes it for singular."""
    try:
        return np.linalg.solve(a, b)  # type: ignore[return-value] # numpy types other floats
    except np.linalg.LinAlgError:
        return np.full(np.shape(b), np.nan)


def is_regular(a: Array, inverse: Array) -> Mask:
    """Return which matrices stay regular where the entries of a row change by rounding.

    Where they do not, elimination may end with 0 or with what rounding left, as the processor has it.
    """
    return np.max(np.sum(np.abs(a * np.swapaxes(inverse, -1, -2)), axis=-1), axis=-1, initial=0.0) < 1 / ROUNDED


ROUNDED = 32 * 2.0**-52
"""What rounding makes of the entries of a matrix."""
MOST_INVERTED = 128
"""Rows of a system up to which its matrix is looked at by its inverse, which takes three times as long."""


def inverted(a: Array) -> Array:
    """Return the inverse of a matrix that has one but for rounding."""
    result = triangular_as(a, np.asarray(np.linalg.inv(a), dtype=np.float64))
    if np.all(np.isfinite(a)) and not np.all(is_regular(a, result)):
        raise np.linalg.LinAlgError
    return result


def det_local(at: At) -> list[Links]:
    """Link the determinant to each entry with its cofactor: det·inv(A)[j, i] where A is not singular."""
    a = at.x
    n = a.shape[-1]
    if n <= 3 and a.ndim == 2:
        return small_det_links(a)
    columns = np.arange(np.size(a), dtype=np.intp)
    rows = columns // (n * n)
    if not np.all(np.isfinite(a)):
        return [Links(rows, columns, np.full(np.size(a), np.nan))]
    if np.any(np.linalg.cond(a) > ILL):
        by_entry = cofactors_by_minors if n <= MOST_MINORS else cofactors
        return [Links(rows, columns, by_entry(a).ravel())]
    flipped = columns.reshape(a.shape).swapaxes(-1, -2).ravel()
    factor = Explicit(lambda s, y, inverse: y * inverse)
    inverse = np.asarray(np.linalg.inv(a), dtype=np.float64)
    return [Links(rows, columns, 1.0, factor, ((-1, rows), (-2, flipped)), ("inv({})", inverse))]


MINOR_FORMULAS: tuple[Formula, ...] = (lambda s: s.number(1), lambda s, m: m, lambda s, a, b, c, d: a * d - b * c)
"""The determinant of a minor of a matrix of one, two or three rows."""


def small_det_links(a: Array) -> list[Links]:
    """Return the cofactors of a matrix of up to three rows as formulas in its entries."""
    n = a.shape[-1]
    index = np.arange(a.size).reshape(a.shape)
    links = []
    for i, j in np.ndindex(n, n):
        minor = np.delete(np.delete(index, i, 0), j, 1).ravel()
        factor = Explicit(MINOR_FORMULAS[n - 1])
        bound = tuple((0, np.array([k])) for k in minor)
        links.append(Links(np.array([0]), np.array([index[i, j]]), (-1.0) ** (i + j), factor, bound))
    return links


BATCHES = string.ascii_letters[12:]
"""Letters for the axes of batches, beside those for the rows and columns of their matrices."""


def inv_local(at: At) -> list[Contraction]:
    """Link inv(A)[i, j] to A[k, l] with -inv(A)[i, k]·inv(A)[l, j]."""
    batch = BATCHES[: at.out.ndim - 2]
    lengths = dict(zip(batch + "ijkl", at.out.shape + at.out.shape[-2:], strict=True))
    factor = Explicit(lambda s, left, right: left * right)
    bound = ((OUT, f"{batch}ik"), (OUT, f"{batch}lj"))
    return [Contraction(f"{batch}ij", f"{batch}kl", lengths, -1.0, factor, bound)]


def triangular_as(a: Array, inverse: Array) -> Array:
    """Return the inverse of A with the zeros of a triangular A, where elimination by rows leaves rounding."""
    if not np.any(np.triu(a, 1)):
        return np.tril(inverse)
    return np.triu(inverse) if not np.any(np.tril(a, -1)) else inverse


def inv_vjp(g: Array, y: Array, _a: Array) -> Array:
    """Return -Yᵀ·g·Yᵀ for Y = inv(A)."""
    yt = np.swapaxes(y, -1, -2)
    return -np.matmul(yt, np.matmul(g, yt))


NEAR_SINGULAR = 1e5
"""Condition number from which rounding in an inverse is reckoned with."""


def inv_digits(y: Array, a: Array) -> Array:
    """Return by how much rounding grows in Y = inv(A), |Y|·|A|·|Y|, times the factor Y beside it: the most by entry.

    It is 0 for a matrix far from singular, whose inverse has eleven digits and more.
    """
    y = np.abs(y)
    spread = np.matmul(y, np.abs(a))
    near = np.max(np.sum(spread, axis=-1), axis=-1)[..., None, None] > NEAR_SINGULAR
    grown = np.matmul(np.where(near, spread, 0.0), y)
    rows, columns = ([np.max(x, axis=axis, keepdims=True) for x in (y, grown)] for axis in (-1, -2))
    return np.asarray(rows[1] * columns[0] + rows[0] * columns[1])


def no_singular(rule: Forward) -> Forward:
    """Return ``rule`` with numpy's complaint about a singular matrix turned into an error of ours."""

    def forward(*values: Array) -> Array:
        try:
            return rule(*values)
        except np.linalg.LinAlgError:
            raise GradcliError("value", "the matrix is singular: it has no inverse at this point") from None

    return forward


def eliminated(a: Array, *_others: Array, **_static: Static) -> int:
    """Return what an elimination goes through: some sixteen products at a time."""
    return decomposed_in(a) // 16


def decomposed_in(a: Array, *_others: Array, **_static: Static) -> int:
    """Return what a search for singular values or eigenvalues goes through: every row with every entry, some times."""
    return int(np.size(a)) * max(np.shape(a)[-1:], default=1) * 4


def row_by_row(out: Array, a: Array, *others: Array) -> int:
    """Return the operations of an elimination: those of every row with every entry."""
    return max(map(np.size, (out, a, *others))) * int(np.shape(a)[-1])


def det_text_back(_k: int, _out: Array, a: Array) -> tuple[str, ...]:
    """Return the text of g·y·inv(A)ᵀ, and of 0 where the determinant is exactly 0."""
    axes = "[..., None, None]" if np.ndim(a) > 2 else ""
    if np.shape(a)[-1] == 1:
        return (f"{{g}}{axes}",)
    turned = "transpose(inv({0}), -1, -2)" if axes else "inv({0}).T"
    return f"{{g}}{axes}*{{y}}{axes}*{turned}", f"0*{{g}}{axes}"


def solve_text_back(k: int, _out: Array, a: Array, b: Array) -> tuple[str, ...]:
    """Return the text for one matrix; for batches of them the vjp writes itself."""
    if np.ndim(a) > 2:
        return ()
    back = "solve({0}.T, {g})"
    if k == 1 and np.ndim(b) <= 2:
        return (back,)
    return (f"-outer({back}, {{y}})",) if np.ndim(b) == 1 else (f"-{back} @ {{y}}.T",) if np.ndim(b) == 2 else ()


def of_matrices(name: str, *rules: Any, work: Callable[..., int] = row_by_row, **record: Any) -> Op:
    """Declare an op of whole matrices, by elimination unless it takes other ``work``; it has no rule by index."""
    steps = eliminated if work is row_by_row else decomposed_in
    return declare(name, *rules, work=work, steps=steps, entries=Entries(index=Said()), **record)


DET = of_matrices(
    "det",
    det,
    (det_vjp,),
    det_local,
    exactly=exactly.det,
    digits=cofactor_terms,
    text=Text(backward=det_text_back),
    torch=Torch(
        differs=lambda y, a: (y == 0) | ~np.isfinite(y),
        says="it solves with the determinant, so that one of 0 has gradient 0 and one beyond doubles none",
    ),
    double_vjps=(det_again,),
)


INV = of_matrices("inv", no_singular(inverted), (inv_vjp,), inv_local, exactly=exactly.inv, digits=inv_digits)


def solve(a: Array, b: Array) -> Array:
    """Return the X with A·X = B, B a vector or matrices."""
    if a.shape[-1] <= MOST_INVERTED:
        inverted(a)
    columns = b[:, None] if np.ndim(b) == 1 else b
    result = np.asarray(np.linalg.solve(a, columns), dtype=np.float64)
    return result[..., 0] if np.ndim(b) == 1 else result


def solve_vjp_right(g: Array, _y: Array, a: Array, b: Array) -> Array:
    """Return the solution of Aᵀ·G = g; the engine sums over broadcast batches."""
    turned = np.swapaxes(a, -1, -2)
    return solved(turned, g[..., None])[..., 0] if np.ndim(b) == 1 else solved(turned, g)


def solve_vjp_left(g: Array, y: Array, a: Array, b: Array) -> Array:
    """Return -G·Xᵀ for the solution G of Aᵀ·G = g."""
    back = solve_vjp_right(g, y, a, b)
    if np.ndim(b) == 1:
        return -back[..., None] * y[..., None, :]
    return -np.matmul(back, np.swapaxes(y, -1, -2))


def solve_local(at: At) -> list[Contraction]:
    """Link X[i, c] to B[j, c] with inv(A)[i, j], and to A[j, l] with -inv(A)[i, j]·X[l, c]."""
    a, b = at.values
    column = "" if np.ndim(b) == 1 else "c"
    batch, n = BATCHES[: at.out.ndim - 1 - len(column)], np.shape(a)[-1]
    lengths = dict(zip(f"{batch}i{column}", at.out.shape, strict=True)) | {"j": n}
    by_matrix = with_ones(batch[len(batch) - np.ndim(a) + 2 :] + "ij", np.shape(a), lengths)
    auxiliary = ("inv({})", triangular_as(a, solved(a, np.eye(n))))
    inverse = (AUXILIARY, by_matrix)
    if at.argument == 1:
        columns = with_ones(f"{batch}j{column}"[-np.ndim(b) :], np.shape(b), lengths)
        factor = Explicit(lambda s, inverse: inverse)
        return [Contraction(f"{batch}i{column}", columns, lengths, 1.0, factor, (inverse,), auxiliary)]
    factor = Explicit(lambda s, inverse, x: inverse * x)
    columns, bound = by_matrix[:-2] + "jl", (inverse, (OUT, f"{batch}l{column}"))
    return [Contraction(f"{batch}i{column}", columns, lengths | {"l": n}, -1.0, factor, bound, auxiliary)]


def solve_digits(out: Array, a: Array, b: Array) -> Array:
    """Return by how much rounding grows in X: |inv(A)|·|A|·|inv(A)| and its like for X, the most of each row."""
    x = np.abs(out)[..., None] if np.ndim(b) == 1 else np.abs(out)
    inverse = np.abs(solved(a, np.eye(a.shape[-1])))
    grown = np.matmul(inverse, np.abs(a))
    to_b = np.max(np.matmul(grown, inverse), axis=-1, keepdims=True)
    to_a = to_b * np.max(x, axis=-2, keepdims=True)
    to_a = to_a + np.max(inverse, axis=-1, keepdims=True) * np.max(np.matmul(grown, x), axis=-2, keepdims=True)
    size = np.maximum(to_a, to_b)
    return size[..., 0] if np.ndim(b) == 1 else size


SOLVE = of_matrices(
    "solve",
    no_singular(solve),
    (solve_vjp_left, solve_vjp_right),
    solve_local,
    exactly=exactly.solve,
    torch=Torch(saves=((0, Keeps.OUTPUT),)),
    size=lambda a, b: max(np.size(a), 1) * max(np.size(b), 1),
    digits=solve_digits,
    text=Text(backward=solve_text_back, template="inv({}) @ {}", precedence=70),
)


@function("det", "torch linalg method", "linear algebra", op=DET, kinds=BY_NUMPY)
def build_det(x: Value) -> Value:
    """the determinant of a square matrix"""
    require_square(x, "det")
    return x.of(DET)


@function("inv inverse", "torch linalg method", "linear algebra", op=INV, kinds=BY_NUMPY)
def build_inv(x: Value) -> Value:
    """the inverse of a square matrix"""
    require_square(x, "inv")
    return x.of(INV)


@function("solve", "linalg", "linear algebra", op=SOLVE, kinds=Kinds(Made.NUMPY_FLOAT, Made.NUMPY_FLOAT, Beside.NUMPY))
def build_solve(A: Value, B: Value, left: bool = True) -> Value:
    """the X with A @ X = B, or X @ A = B with left=False; B may be a vector, or one vector for each of several A"""
    require_square(A, "solve")
    vectors = B.ndim > 1 and B.shape == A.shape[:-1]
    if not left:
        fits = B.ndim > 1 and not vectors
        require(fits, "shape", f"solve takes a matrix B with left=False, not shape {B.shape}")
        turned = A.mT, B.mT
        require_product(*turned, "solve")
        return turned[0].of(SOLVE, turned[1]).mT
    if vectors:
        return A.of(SOLVE, B.reshape(*B.shape, 1)).reshape(*B.shape)
    require_product(A, B, "solve")
    return A.of(SOLVE, B)
