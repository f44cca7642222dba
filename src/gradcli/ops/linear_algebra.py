"""Products of matrices and vectors, and what belongs to square matrices."""

from __future__ import annotations

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.ops.arithmetic import MUL
from gradcli.ops.axes import LETTERS
from gradcli.ops.backward_texts import einsum_text_back, matmul_text_back
from gradcli.ops.contractions import (
    einsum_local,
    einsum_size,
    einsum_vjp,
    einsum_work,
    matmul_local,
    matmul_size,
    matmul_steps,
    matmul_vjp_left,
    matmul_vjp_right,
    matmul_work,
    product_spec,
)
from gradcli.ops.declare import Apply, Op, declare
from gradcli.ops.integers import MATRICES
from gradcli.ops.joining import STACK
from gradcli.ops.parts import on_others
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import DIAG, DIAGONAL, RESHAPE, TRANSPOSE
from gradcli.ops.signatures import Library, Static, Tensor
from gradcli.ops.vocabulary import function
from gradcli.ops.writing import Call

"""Subscripts of axes."""


def require_product(a: Tensor, b: Tensor, what: str) -> None:
    """Refuse shapes that ``a @ b`` does not take, with both shapes and the lengths that must be equal."""
    if not a.ndim or not b.ndim:
        raise GradcliError("shape", f"{what} needs arrays, not a number: shapes {a.shape} and {b.shape}", hint="use *")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        widths = f"{a.shape[-1]} columns on the left, {inner} rows on the right"
        raise GradcliError(
            "shape",
            f"{what}: shapes {a.shape} and {b.shape} do not fit: {widths}",
            hint=transposed_hint(a, b),
        )


def require_square(x: Tensor, name: str) -> None:
    """Refuse anything but square matrices."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or not x.shape[-1]:
        raise GradcliError("shape", f"{name} takes a square matrix, not shape {x.shape}")


def transposed_hint(a: Tensor, b: Tensor) -> str | None:
    """Return which factor to transpose so that the product exists, if one does."""
    if b.ndim == 2 and a.shape[-1] == b.shape[-1]:
        return f"transpose the right factor: its shape becomes {b.shape[::-1]}"
    if a.ndim == 2 and a.shape[0] == b.shape[0]:
        return f"transpose the left factor: its shape becomes {a.shape[::-1]}"
    return None


def einsum_text(call: Call) -> str:
    """Write a call of ``einsum``, or of ``outer`` and ``dot`` which are one."""
    known = {"i,j->ij": "outer", "i,i->": "dot"}.get(call.static["spec"])
    if known:
        return f"{known}({', '.join(call.texts)})"
    return f'{call.name}("{call.static["spec"]}", {", ".join(call.texts)})'


MATMUL = declare(
    Op(
        "matmul",
        np.matmul,
        (matmul_vjp_left, matmul_vjp_right),
        matmul_local,
        size=matmul_size,
        steps=matmul_steps,
        work=matmul_work,
        shaped=True,
        spec=product_spec,
        mentions=on_others,
        torch_saves=("others",),
        operator="@",
        text="{} @ {}",
        precedence=70,
        require=lambda a, b: require_product(a, b, "@"),
        whole=MATRICES,
        backward_text=matmul_text_back,
    )
)
EINSUM = declare(
    Op(
        "einsum",
        lambda *values, spec: np.einsum(spec, *values),
        einsum_vjp,
        einsum_local,
        size=einsum_size,
        steps=einsum_size,
        work=einsum_work,
        shaped=True,
        spec=lambda *values, spec: spec,
        mentions=on_others,
        torch_saves=("others",),
        write=einsum_text,
        backward_text=einsum_text_back,
    )
)


@function("matmul", "torch numpy linalg method", "linear algebra", op=MATMUL, kinds="numpy-same same numpy")
def build_matmul(f: Apply, x: Tensor, other: Tensor) -> Tensor:
    """the product of matrices and vectors, x @ other"""
    require_product(x, other, "@")
    return f(MATMUL, x, other)


@function("dot", "numpy method", "linear algebra", op=MATMUL, kinds="numpy-same same numpy")
def build_dot(f: Apply, x: Tensor, other: Tensor, library: Library = "torch") -> Tensor:
    """the product of vectors and matrices; of more axes numpy pairs the last of x with the last but one of other"""
    if not x.ndim or not other.ndim:
        return f(MUL, x, other)
    if max(x.ndim, other.ndim) <= 2:
        return build_matmul(f, x, other)
    if library != "np":
        raise GradcliError(
            "shape", f"dot takes vectors and matrices, not shapes {x.shape} and {other.shape}", hint="use @"
        )
    require_product(x, other, "dot")
    left, right = LETTERS[: x.ndim], list(LETTERS[x.ndim : x.ndim + other.ndim])
    right[max(other.ndim - 2, 0)] = left[-1]
    free = "".join(letter for letter in right if letter != left[-1])
    return f(EINSUM, x, other, spec=f"{left},{''.join(right)}->{left[:-1]}{free}")


@function("torch.dot", "", "linear algebra", op=MATMUL, kinds="no same no")
def build_torch_dot(f: Apply, x: Tensor, other: Tensor) -> Tensor:
    """the product of two vectors, and of nothing else"""
    if (x.ndim, other.ndim) != (1, 1):
        raise GradcliError(
            "shape", f"torch.dot takes two vectors, not shapes {x.shape} and {other.shape}", hint="use @"
        )
    return build_matmul(f, x, other)


def require_one_batch(x: Tensor, other: Tensor, name: str) -> None:
    """Raise ``shape`` where two batches have not as many matrices; PyTorch repeats none of them here."""
    if x.shape[:-2] != other.shape[:-2]:
        raise GradcliError("shape", f"{name}: batches of {x.shape[0]} and of {other.shape[0]} matrices")


def exact_product(name: str, ndims: tuple[int, int], summary: str) -> None:
    """Enter a product that takes arrays of these numbers of axes and no others."""

    def build(f: Apply, x: Tensor, other: Tensor) -> Tensor:
        if (x.ndim, other.ndim) != ndims:
            raise GradcliError(
                "shape",
                f"{name} takes {ndims[0]} and {ndims[1]} axes, not shapes {x.shape} and {other.shape}",
                hint="use @",
            )
        require_product(x, other, name)
        require_one_batch(x, other, name)
        return f(MATMUL, x, other)

    build.__doc__ = summary
    function(name, "torch method", "linear algebra", op=MATMUL, kinds="no same no")(build)


exact_product("mm", (2, 2), "the product of two matrices")
exact_product("mv", (2, 1), "the product of a matrix and a vector")
exact_product("bmm", (3, 3), "the products of two batches of matrices")


@function("inner", "torch numpy method", "linear algebra", kinds="numpy-same same numpy")
def build_inner(f: Apply, x: Tensor, other: Tensor) -> Tensor:
    """the sum of products over the last axes of both: of two vectors one number"""
    if not x.ndim or not other.ndim:
        return f(MUL, x, other)
    if x.shape[-1] != other.shape[-1]:
        raise GradcliError("shape", f"inner: the last axes of shapes {x.shape} and {other.shape} differ in length")
    if x.ndim == other.ndim == 1:
        return f(MATMUL, x, other)
    left, right = LETTERS[: x.ndim - 1], LETTERS[x.ndim : x.ndim + other.ndim - 1]
    return f(EINSUM, x, other, spec=f"{left}Z,{right}Z->{left}{right}")


@function("vdot", "torch numpy method", "linear algebra", op=MATMUL, kinds="numpy-same same numpy")
def build_vdot(f: Apply, x: Tensor, other: Tensor, library: Library = "torch") -> Tensor:
    """the inner product of two vectors; numpy takes the entries of any two arrays in their order"""
    x, other = flattened(f, "vdot", (x, other), library)
    require_product(x, other, "vdot")
    return f(MATMUL, x, other)


def flattened(f: Apply, name: str, arrays: tuple[Tensor, Tensor], library: str) -> tuple[Tensor, ...]:
    """Return two vectors as they are, and under numpy's name the entries of any two arrays; else raises ``shape``."""
    if all(x.ndim == 1 for x in arrays):
        return arrays
    if library != "np":
        shapes = " and ".join(str(x.shape) for x in arrays)
        raise GradcliError("shape", f"{name} takes two vectors, not shapes {shapes}")
    return tuple(f(RESHAPE, x, shape=(-1,)) for x in arrays)


@function("outer ger np.linalg.outer numpy.linalg.outer", "torch numpy method", "linear algebra", kinds="same same yes")
def build_outer(f: Apply, x: Tensor, other: Tensor, library: Library = "torch") -> Tensor:
    """the outer product of two vectors; numpy takes the entries of any two arrays in their order"""
    return f(EINSUM, *flattened(f, "outer", (x, other), library), spec="i,j->ij")


def as_named(f: Apply, spec: str, items: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return the operands: a list of several is one array where the subscripts name one."""
    single = "," not in spec and len(items) > 1 and len({item.shape for item in items}) == 1
    return (f(STACK, *items, dim=0),) if single else items


@function("einsum", "torch numpy shares", "linear algebra", op=EINSUM, kinds="numpy-same same numpy")
def build_einsum(f: Apply, spec: Static | Tensor, *tensors: Tensor) -> Tensor:
    """the sum of products that the subscripts describe, as in einsum("ij,j->i", W, x)"""
    if not isinstance(spec, str) or "." in spec:
        from gradcli.ops.further.linear_subscripts import spelled_out

        spec, tensors = spelled_out(spec, tensors)
    operands = as_named(f, spec, tensors)
    return contracted(f, full_spec(spec.replace(" ", ""), operands), operands)


def contracted(f: Apply, spec: str, operands: tuple[Tensor, ...]) -> Tensor:
    """Return the sum of products, without the axes of length 1 along which others have more entries."""
    inputs, _, out = spec.partition("->")
    subs, kept, arrays = inputs.split(","), [], []
    wide = {c for sub, x in zip(subs, operands, strict=True) for c, n in zip(sub, x.shape, strict=True) if n != 1}
    for sub, x in zip(subs, operands, strict=True):
        stays = [n != 1 or c not in wide for c, n in zip(sub, x.shape, strict=True)]
        shape = tuple(n for n, stay in zip(x.shape, stays, strict=True) if stay)
        kept.append("".join(c for c, stay in zip(sub, stays, strict=True) if stay))
        arrays.append(x if all(stays) else f(RESHAPE, x, shape=shape))
    [sub, *others] = kept
    if not others and sorted(sub) == sorted(out):  # a view, as PyTorch and NumPy have it
        return f(TRANSPOSE, *arrays, dims=tuple(map(sub.index, out)))
    if not others and sub == out * 2:
        return f(DIAGONAL, *arrays, offset=0)
    return f(EINSUM, *arrays, spec=f"{','.join(kept)}->{out}")


def full_spec(spec: str, tensors: tuple[Tensor, ...]) -> str:
    """Return the subscripts with their output, checked letter by letter; raises ``value`` or ``shape``."""
    inputs, arrow, out = spec.partition("->")
    subs = inputs.split(",")
    if not arrow:
        out = "".join(sorted(letter for letter in set(inputs) - {","} if inputs.count(letter) == 1))
    if any(not c.isascii() or not c.isalpha() for c in inputs.replace(",", "") + out):
        raise GradcliError("value", f"einsum: {spec!r} may hold letters, commas and one ->")
    if len(subs) != len(tensors):
        raise GradcliError("value", f"einsum: {spec!r} names {counted(len(subs), 'array')}, {len(tensors)} given")
    if len(set(out)) != len(out) or set(out) - set(inputs):
        raise GradcliError("value", f"einsum: the output {out!r} must name letters of the inputs, each once")
    lengths: dict[str, int] = {}
    for sub, x in zip(subs, tensors, strict=True):
        if len(sub) != x.ndim:
            raise GradcliError(
                "shape", f"einsum: {sub!r} names {counted(len(sub), 'axis')}, the array has shape {x.shape}"
            )
        for letter, length in zip(sub, x.shape, strict=True):
            if lengths.setdefault(letter, length) == 1:
                lengths[letter] = length
            if length not in (1, lengths[letter]):
                raise GradcliError("shape", f"einsum: {letter!r} stands for {lengths[letter]} and for {length}")
    return f"{','.join(subs)}->{out}"


@function("trace", "torch method", "linear algebra", kinds="numpy-integer integer yes")
def build_trace(f: Apply, x: Tensor) -> Tensor:
    """the sum of the diagonal of a matrix"""
    if x.ndim != 2:
        raise GradcliError("shape", f"trace takes a matrix, not shape {x.shape}")
    return f(SUM, f(DIAG, x, k=0), dim=(0,), keepdim=False)
