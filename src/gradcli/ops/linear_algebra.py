"""Products of matrices and vectors, and what belongs to square matrices."""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import MUL
from gradcli.ops.declare import Apply, Explicit, Links, Op, Static, Tensor, Tensors, declare, function
from gradcli.ops.joining import STACK
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import DIAG


def outer(g: Any, b: Any) -> Any:
    """Return g, with one more axis at its end, times the vector b; for two vectors einsum is the fastest way."""
    return np.einsum("i,j->ij", g, b) if g.ndim == 1 else np.expand_dims(g, -1) * b


def matmul_vjp_left(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Return g·bᵀ; the engine sums over broadcast batches."""
    del y
    if b.ndim == 1:
        return outer(g, b)
    if a.ndim == 1:
        return np.matmul(b, np.expand_dims(g, -1))[..., 0]
    return np.matmul(g, np.swapaxes(b, -1, -2))


def matmul_vjp_right(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Return aᵀ·g; the engine sums over broadcast batches."""
    del y
    if a.ndim == 1:
        return a * g if b.ndim == 1 else np.expand_dims(a, -1) * np.expand_dims(g, -2)
    if b.ndim == 1 and a.ndim == 2:
        return np.matmul(g, a)
    if b.ndim == 1:
        return np.matmul(np.swapaxes(a, -1, -2), np.expand_dims(g, -1))[..., 0]
    return np.matmul(np.swapaxes(a, -1, -2), g)


def product_spec(a: Any, b: Any) -> str:
    """Return ``a @ b`` as subscripts, the shared batch axes as leading letters."""
    batch = string.ascii_letters[4:]
    depth_a, depth_b = max(np.ndim(a) - 2, 0), max(np.ndim(b) - 2, 0)
    depth = max(depth_a, depth_b)
    letters = batch[:depth]
    sub_a = letters[depth - depth_a :] + ("ab" if np.ndim(a) > 1 else "b")
    sub_b = letters[depth - depth_b :] + ("bc" if np.ndim(b) > 1 else "b")
    out = letters + ("a" if np.ndim(a) > 1 else "") + ("c" if np.ndim(b) > 1 else "")
    return f"{sub_a},{sub_b}->{out}"


def contraction_links(argument: int, values: tuple[Any, ...], spec: str) -> list[Links]:
    """Return the links of a sum of products: the coefficient of an entry is the product of the other factors.

    Every assignment of the subscripts is one term of the sum; its row, column and factors are read off by index.
    A length of 1 broadcasts.
    """
    inputs, out = spec.split("->")
    subs = inputs.split(",")
    lengths: dict[str, int] = {}
    for sub, value in zip(subs, values, strict=True):
        for letter, length in zip(sub, np.shape(value), strict=True):
            lengths[letter] = max(lengths.get(letter, 1), length) if length != 0 else 0
    letters = list(lengths)
    count = math.prod(lengths.values())
    grid = np.indices([lengths[letter] for letter in letters], dtype=np.intp).reshape(len(letters), count)
    where = dict(zip(letters, grid, strict=True))

    def flat(sub: str, shape: tuple[int, ...]) -> Any:
        index = np.zeros(count, dtype=np.intp)
        for letter, length in zip(sub, shape, strict=True):
            index = index * length + (where[letter] if length > 1 else 0)
        return index

    rows = flat(out, tuple(lengths[letter] for letter in out))
    places = [flat(sub, np.shape(value)) for sub, value in zip(subs, values, strict=True)]
    bound = tuple((k, place) for k, place in enumerate(places) if k != argument)
    factor = Explicit(lambda s, *factors: s.product(factors)) if bound else None
    return [Links(rows, places[argument], 1.0, factor, bound)]


def matmul_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link ``a @ b`` to one factor with the other as the coefficient."""
    del out, static
    return contraction_links(argument, values, product_spec(*values))


def matmul_size(a: Any, b: Any) -> int:
    """Return the elements of ``a @ b``, batches counted generously."""
    if a.ndim <= 2 and b.ndim <= 2:
        return (a.shape[0] if a.ndim > 1 else 1) * (b.shape[-1] if b.ndim > 1 else 1)
    batch = max(math.prod(np.shape(a)[:-2]), 1) * max(math.prod(np.shape(b)[:-2]), 1)
    return int(batch) * int(np.shape(a)[-2] if np.ndim(a) > 1 else 1) * int(np.shape(b)[-1] if np.ndim(b) > 1 else 1)


def einsum_size(*values: Any, spec: str) -> int:
    """Return the number of terms of the sum of products, which bounds its time as well as its memory."""
    lengths: dict[str, int] = {}
    for sub, value in zip(spec.split("->", maxsplit=1)[0].split(","), values, strict=True):
        lengths.update(zip(sub, np.shape(value), strict=True))
    return math.prod(lengths.values())


def shared_letters(j: int, subs: list[str], more: str) -> str:
    """Return the letters of factor j, each once, that another factor or ``more`` names too."""
    elsewhere = more + "".join(sub for i, sub in enumerate(subs) if i != j)
    return "".join(letter for letter in dict.fromkeys(subs[j]) if letter in elsewhere)


def einsum_vjp(k: int) -> Any:
    """Return the vjp of argument k of einsum: the sum of products with g in its place, spread over its other letters.

    What only one of the other factors names is summed there first, as PyTorch does: inf times a sum that is finite.
    """

    def vjp(g: Any, y: Any, *values: Any, spec: str) -> Any:
        del y
        inputs, out = spec.split("->")
        subs = inputs.split(",")
        own, x = subs.pop(k), values[k]
        letters = "".join(dict.fromkeys(own))
        summed = "".join(letter for letter in letters if letter in out + "".join(subs))
        # A broadcast g would be taken out of the sum: inf times the sum is not the sum of inf times each.
        others = [value for j, value in enumerate(values) if j != k]
        kept = [shared_letters(j, subs, own + out) for j in range(len(subs))]
        factors = [np.einsum(f"{sub}->{keep}", x) for sub, keep, x in zip(subs, kept, others, strict=True)]
        part = np.einsum(f"{','.join([out, *kept])}->{summed}", np.array(g), *factors)
        lengths = dict(zip(own, np.shape(x), strict=True))
        if not own:
            return part
        part = np.reshape(part, [lengths[letter] if letter in summed else 1 for letter in letters])
        back = np.zeros(np.shape(x))
        np.einsum(f"{own}->{letters}", back)[...] = part
        return back

    return vjp


# fmt: off
MATMUL = declare(Op("matmul", np.matmul, (matmul_vjp_left, matmul_vjp_right), local=matmul_local, shaped=True, size=matmul_size, terms=lambda a, b: np.size(a) * (np.shape(b)[-1] if np.ndim(b) > 1 else 1) * max(np.ndim(b) - 1, 1), torch_saves=("others",), text="{} @ {}", precedence=70))
EINSUM = declare(Op("einsum", lambda *values, spec: np.einsum(spec, *values), einsum_vjp, local=lambda argument, out, values, static: contraction_links(argument, values, static["spec"]), shaped=True, torch_saves=("others",), size=einsum_size, terms=einsum_size))
# fmt: on


def require_product(a: Any, b: Any, what: str) -> None:
    """Refuse shapes that ``a @ b`` does not take, with both shapes and the lengths that must be equal."""
    if not a.ndim or not b.ndim:
        raise GradcliError("shape", f"{what} needs arrays, not a number: shapes {a.shape} and {b.shape}", hint="use *")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise GradcliError(
            "shape",
            f"{what}: shapes {a.shape} and {b.shape} do not fit: {a.shape[-1]} columns on the left, {inner} rows on the right",
            hint=transposed_hint(a, b),
        )


def transposed_hint(a: Any, b: Any) -> str | None:
    """Return which factor to transpose so that the product exists, if one does."""
    if b.ndim == 2 and a.shape[-1] == b.shape[-1]:
        return f"transpose the right factor: its shape becomes {b.shape[::-1]}"
    if a.ndim == 2 and a.shape[0] == b.shape[0]:
        return f"transpose the left factor: its shape becomes {a.shape[::-1]}"
    return None


@function("matmul", "tn.", "linear algebra", op=MATMUL)
def build_matmul(f: Apply, x: Tensor, other: Tensor) -> Any:
    """the product of matrices and vectors, x @ other"""
    require_product(x, other, "@")
    return f(MATMUL, x, other)


@function("dot", "n.", "linear algebra", op=MATMUL)
def build_dot(f: Apply, x: Tensor, other: Tensor) -> Any:
    """the product of vectors and matrices; numpy pairs axes otherwise where there are more than two"""
    if not x.ndim or not other.ndim:
        return f(MUL, x, other)
    if max(x.ndim, other.ndim) > 2:
        raise GradcliError(
            "shape", f"dot takes vectors and matrices, not shapes {x.shape} and {other.shape}", hint="use @"
        )
    return build_matmul(f, x, other)


@function("torch.dot", "", "linear algebra", op=MATMUL)
def build_torch_dot(f: Apply, x: Tensor, other: Tensor) -> Any:
    """the product of two vectors, and of nothing else"""
    if (x.ndim, other.ndim) != (1, 1):
        raise GradcliError(
            "shape", f"torch.dot takes two vectors, not shapes {x.shape} and {other.shape}", hint="use @"
        )
    return build_matmul(f, x, other)


def exact_product(name: str, ndims: tuple[int, int], summary: str) -> None:
    """Enter a product that takes arrays of these numbers of axes and no others."""

    def build(f: Apply, x: Tensor, other: Tensor) -> Any:
        if (x.ndim, other.ndim) != ndims:
            raise GradcliError(
                "shape",
                f"{name} takes {ndims[0]} and {ndims[1]} axes, not shapes {x.shape} and {other.shape}",
                hint="use @",
            )
        require_product(x, other, name)
        return f(MATMUL, x, other)

    build.__doc__ = summary
    function(name, "t.", "linear algebra", op=MATMUL)(build)


exact_product("mm", (2, 2), "the product of two matrices")
exact_product("mv", (2, 1), "the product of a matrix and a vector")
exact_product("bmm", (3, 3), "the products of two batches of matrices")


@function("inner vdot", "tn.", "linear algebra")
def build_inner(f: Apply, x: Tensor, other: Tensor) -> Any:
    """the inner product of two vectors"""
    if x.ndim != 1 or other.ndim != 1:
        raise GradcliError("shape", f"inner takes two vectors, not shapes {x.shape} and {other.shape}")
    require_product(x, other, "inner")
    return f(MATMUL, x, other)


@function("outer ger", "tn.", "linear algebra")
def build_outer(f: Apply, x: Tensor, other: Tensor) -> Any:
    """the outer product of two vectors"""
    if x.ndim != 1 or other.ndim != 1:
        raise GradcliError("shape", f"outer takes two vectors, not shapes {x.shape} and {other.shape}")
    return f(EINSUM, x, other, spec="i,j->ij")


def as_named(f: Apply, spec: str, items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the operands: a list of several is one array where the subscripts name one."""
    single = "," not in spec and len(items) > 1 and len({item.shape for item in items}) == 1
    return (f(STACK, *items, dim=0),) if single else items


@function("einsum", "tn", "linear algebra", op=EINSUM)
def build_einsum(f: Apply, spec: Static, *tensors: Tensors) -> Any:
    """the sum of products that the subscripts describe, as in einsum("ij,j->i", W, x)"""
    if not isinstance(spec, str):
        raise GradcliError("value", "einsum needs its subscripts as text", hint='for example einsum("ij,j->i", W, x)')
    operands = as_named(f, spec, tensors)
    return f(EINSUM, *operands, spec=full_spec(spec.replace(" ", ""), operands))


def full_spec(spec: str, tensors: tuple[Any, ...]) -> str:
    """Return the subscripts with their output, checked letter by letter; raises ``value`` or ``shape``."""
    inputs, arrow, out = spec.partition("->")
    subs = inputs.split(",")
    if not arrow:
        out = "".join(sorted(letter for letter in set(inputs) - {","} if inputs.count(letter) == 1))
    if any(not c.isascii() or not c.isalpha() for c in inputs.replace(",", "") + out):
        raise GradcliError("value", f"einsum: {spec!r} may hold letters, commas and one ->")
    if len(subs) != len(tensors):
        raise GradcliError("value", f"einsum: {spec!r} names {len(subs)} arrays, {len(tensors)} given")
    if len(set(out)) != len(out) or set(out) - set(inputs):
        raise GradcliError("value", f"einsum: the output {out!r} must name letters of the inputs, each once")
    lengths: dict[str, int] = {}
    for sub, x in zip(subs, tensors, strict=True):
        if len(sub) != x.ndim:
            raise GradcliError("shape", f"einsum: {sub!r} names {len(sub)} axes, the array has shape {x.shape}")
        for letter, length in zip(sub, x.shape, strict=True):
            if lengths.setdefault(letter, length) != length:
                raise GradcliError("shape", f"einsum: {letter!r} stands for {lengths[letter]} and for {length}")
    return f"{','.join(subs)}->{out}"


@function("trace", "tn.", "linear algebra")
def build_trace(f: Apply, x: Tensor) -> Any:
    """the sum of the diagonal of a matrix"""
    if x.ndim != 2:
        raise GradcliError("shape", f"trace takes a matrix, not shape {x.shape}")
    return f(SUM, f(DIAG, x, k=0), dim=(0,), keepdim=False)
