"""Products that pair axes: tensordot, kron, cross, and the inner products of numpy and of torch.linalg."""

from __future__ import annotations

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import MUL, SUB
from gradcli.ops.axes import LETTERS, one_axis
from gradcli.ops.declare import Apply
from gradcli.ops.diagonals import build_diagonal
from gradcli.ops.linear_algebra import EINSUM
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import RESHAPE, ROLL, TRANSPOSE
from gradcli.ops.signatures import Axes, Static, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


def paired(f: Apply, x: Tensor, other: Tensor, own: Axes, others: Axes, name: str) -> Tensor:
    """Return the sum of products over pairs of axes; those that are left stand in their order, those of x first."""
    for left, right in zip(own, others, strict=True):
        if x.shape[left] != other.shape[right]:
            raise GradcliError(
                "shape",
                f"{name}: axis {left} of shape {x.shape} and axis {right} of shape {other.shape} differ in length",
            )
    ours = LETTERS[: x.ndim]
    theirs = list(LETTERS[x.ndim : x.ndim + other.ndim])
    for left, right in zip(own, others, strict=True):
        theirs[right] = ours[left]
    out = [c for k, c in enumerate(ours) if k not in own] + [c for k, c in enumerate(theirs) if k not in others]
    return f(EINSUM, x, other, spec=f"{ours},{''.join(theirs)}->{''.join(out)}")


def pairs_of(dims: Static, x: Tensor, other: Tensor) -> tuple[Axes, Axes]:
    """Return the axes that ``dims`` of tensordot pairs: the last and first so many, or those of two lists."""
    if isinstance(dims, int) and not isinstance(dims, bool):
        if not 0 <= dims <= min(x.ndim, other.ndim):
            raise GradcliError("value", f"tensordot: dims={dims} for arrays of {x.ndim} and {other.ndim} axes")
        return tuple(range(x.ndim - dims, x.ndim)), tuple(range(dims))
    if not isinstance(dims, tuple) or len(dims) != 2:
        raise GradcliError("value", "tensordot: dims is a number of axes, or two lists of axes", hint="dims=([1], [0])")
    own, others = (
        tuple(one_axis(d, array.ndim) for d in (side if isinstance(side, tuple) else (side,)))
        for side, array in zip(dims, (x, other), strict=True)
    )
    if len(own) != len(others) or len(set(own)) != len(own) or len(set(others)) != len(others):
        raise GradcliError("value", f"tensordot: dims={dims!r} must name as many axes of each array, each once")
    if own and not (x.ndim and other.ndim):
        raise GradcliError("shape", "tensordot: a single number has no axis to pair", hint="dims=0")
    return own, others


@function("tensordot", "torch numpy", FAMILY, kinds="numpy-same same numpy")
def build_tensordot(f: Apply, x: Tensor, other: Tensor, dims: Static = 2) -> Tensor:
    """the sum of products over the last and first dims axes, or over those that two lists pair"""
    own, others = pairs_of(dims, x, other)
    return paired(f, x, other, own, others, "tensordot")


@function("kron", "torch numpy method tensors", FAMILY, kinds="same same yes")
def build_kron(f: Apply, x: Tensor, other: Tensor) -> Tensor:
    """x with each of its entries times the whole of other in its place"""
    depth = max(x.ndim, other.ndim)
    outer, inner = ((1,) * (depth - array.ndim) + array.shape for array in (x, other))
    wide = f(RESHAPE, x, shape=tuple(n for length in outer for n in (length, 1)))
    narrow = f(RESHAPE, other, shape=tuple(n for length in inner for n in (1, length)))
    return f(RESHAPE, f(MUL, wide, narrow), shape=tuple(a * b for a, b in zip(outer, inner, strict=True)))


def crossed(f: Apply, x: Tensor, other: Tensor, axes: tuple[int, int], name: str) -> Tensor:
    """Return the cross product along an axis of 3 entries of each, counted from the last one."""
    if (
        not x.ndim
        or not other.ndim
        or any(array.shape[axis] != 3 for array, axis in zip((x, other), axes, strict=True))
    ):
        raise GradcliError("shape", f"{name} takes 3 entries along dim, not shapes {x.shape} and {other.shape}")

    def turned(array: Tensor, axis: int, by: int) -> Tensor:
        return f(ROLL, array, shifts=(-by,), dims=(axis % array.ndim,))

    ahead = f(MUL, turned(x, axes[0], 1), turned(other, axes[1], 2))
    return f(SUB, ahead, f(MUL, turned(x, axes[0], 2), turned(other, axes[1], 1)))


def from_end(dim: Static, x: Tensor, other: Tensor, name: str) -> int:
    """Return an axis of two arrays of as many axes, counted from the last."""
    if x.ndim != other.ndim or not x.ndim:
        raise GradcliError("shape", f"{name} takes arrays of as many axes, not shapes {x.shape} and {other.shape}")
    return one_axis(dim, x.ndim) - x.ndim


@function("cross", "torch method", FAMILY, kinds="no same yes")
def build_cross(f: Apply, x: Tensor, other: Tensor, dim: Static = None) -> Tensor:
    """the cross product along dim; without one, along the first axis with 3 entries"""
    if dim is None:
        three = next((axis for axis, length in enumerate(x.shape) if length == 3), None)
        if three is None:
            raise GradcliError("shape", f"cross needs an axis with 3 entries, and shape {x.shape} has none")
        dim = three
    axis = from_end(dim, x, other, "cross")
    return crossed(f, x, other, (axis, axis), "cross")


@function("linalg.cross torch.linalg.cross np.linalg.cross numpy.linalg.cross", "", FAMILY, kinds="no same yes")
def build_last_cross(f: Apply, x: Tensor, other: Tensor, dim: Static = -1) -> Tensor:
    """the cross product along dim, the last axis unless it is given"""
    axis = from_end(dim, x, other, "cross") if x.ndim == other.ndim or dim != -1 else -1
    return crossed(f, x, other, (axis, axis), "cross")


@function("np.cross numpy.cross jnp.cross", "", FAMILY, kinds="no same yes")
def build_numpy_cross(
    f: Apply,
    x: Tensor,
    other: Tensor,
    axisa: Static = -1,
    axisb: Static = -1,
    axisc: Static = -1,
    axis: Static = None,
) -> Tensor:
    """the cross product of the vectors that stand along axisa and axisb, along axisc, or all along axis"""
    first, second, last = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    found = crossed(f, behind(f, x, first), behind(f, other, second), (-1, -1), "cross")
    place = one_axis(last, found.ndim)
    order = [*range(found.ndim - 1)]
    order.insert(place, found.ndim - 1)
    return f(TRANSPOSE, found, dims=tuple(order))


@function(
    "linalg.diagonal torch.linalg.diagonal np.linalg.diagonal numpy.linalg.diagonal",
    "shares",
    FAMILY,
    kinds="same same yes",
)
def build_linalg_diagonal(f: Apply, x: Tensor, *, offset: Static = 0, dim1: Static = -2, dim2: Static = -1) -> Tensor:
    """the diagonal of a matrix, or of those that the last two axes span"""
    return build_diagonal(f, x, offset, dim1, dim2)


@function("np.trace numpy.trace jnp.trace", "", FAMILY, kinds="numpy-integer integer yes")
def build_numpy_trace(f: Apply, x: Tensor, offset: Static = 0, axis1: Static = 0, axis2: Static = 1) -> Tensor:
    """the sum of a diagonal of a matrix, or of those that two axes span"""
    diagonal = build_diagonal(f, x, offset, axis1, axis2)
    return f(SUM, diagonal, dim=(diagonal.ndim - 1,), keepdim=False)


def behind(f: Apply, x: Tensor, dim: Static) -> Tensor:
    """Return an array with one axis moved behind the others."""
    axis = one_axis(dim, x.ndim)
    return f(TRANSPOSE, x, dims=(*(other for other in range(x.ndim) if other != axis), axis))


@function("vecdot", "torch linalg numpy", FAMILY, kinds="numpy-same same numpy")
def build_vecdot(f: Apply, x: Tensor, other: Tensor, dim: Static = -1) -> Tensor:
    """the inner product along dim, entry by entry of the other axes"""
    product = f(MUL, x, other)
    return f(SUM, product, dim=(one_axis(dim, product.ndim),), keepdim=False)
