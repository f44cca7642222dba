"""Products of matrices and vectors and sums of products: their values, vjps, links, and the functions that are such."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.ops import exactly
from gradcli.ops.arithmetic import MATRICES
from gradcli.ops.declare import Entries, Keeps, Text, Torch, declare, in_one_step, on_others
from gradcli.ops.joining import STACK
from gradcli.ops.links import ONE, Array, Contraction, Explicit, Library, Line, Order, Shape, Slot, Static, Tensor, Vjp
from gradcli.ops.shaping import DIAG, DIAGONAL
from gradcli.ops.values import LETTERS, Value, require
from gradcli.ops.values import einsum as einsum_of
from gradcli.ops.vocabulary import KEPT, Beside, Kinds, Made, function
from gradcli.ops.writing import Call

BLOCK = 131_072
"""Entries of an outer product that stay in a processor's cache: einsum passes over them twice."""


def outer_product(g: Array, b: Array) -> Array:
    """Return g, with one more axis at its end, times the vector b; of two vectors by einsum, some rows at a time.

    BLAS is no faster, and leaves 0·inf out here and there.
    """
    if g.ndim != 1:
        return np.expand_dims(g, -1) * b
    if g.size * b.size <= BLOCK:
        return np.einsum("i,j->ij", g, b)
    y, rows = np.empty((g.size, b.size)), max(BLOCK // b.size, 1)
    for start in range(0, g.size, rows):
        np.einsum("i,j->ij", g[start : start + rows], b, out=y[start : start + rows])
    return y


def matmul_vjp_left(g: Array, _y: Array, a: Array, b: Array) -> Array:
    """Return g·bᵀ; the engine sums over broadcast batches."""
    if b.ndim == 1:
        return outer_product(g, b)
    if a.ndim == 1:
        return np.matmul(b, np.expand_dims(g, -1))[..., 0]
    return np.matmul(g, np.swapaxes(b, -1, -2))


def matmul_vjp_right(g: Array, _y: Array, a: Array, b: Array) -> Array:
    """Return aᵀ·g; the engine sums over broadcast batches."""
    if a.ndim == 1:
        return a * g if b.ndim == 1 else np.expand_dims(a, -1) * np.expand_dims(g, -2)
    if b.ndim == 1 and a.ndim == 2:
        return np.matmul(g, a)
    if b.ndim == 1:
        return np.matmul(np.swapaxes(a, -1, -2), np.expand_dims(g, -1))[..., 0]
    return np.matmul(np.swapaxes(a, -1, -2), g)


def product_spec(a: Array, b: Array) -> str:
    """Return ``a @ b`` as subscripts, the shared batch axes as leading letters."""
    batch = LETTERS[4:]
    depth_a, depth_b = max(np.ndim(a) - 2, 0), max(np.ndim(b) - 2, 0)
    depth = max(depth_a, depth_b)
    letters = batch[:depth]
    sub_a = letters[depth - depth_a :] + ("ab" if np.ndim(a) > 1 else "b")
    sub_b = letters[depth - depth_b :] + ("bc" if np.ndim(b) > 1 else "b")
    out = letters + ("a" if np.ndim(a) > 1 else "") + ("c" if np.ndim(b) > 1 else "")
    return f"{sub_a},{sub_b}->{out}"


def contraction(argument: int, values: tuple[Array, ...], spec: str) -> Contraction:
    """Return the links of a sum of products: the coefficient of an entry is the product of the other factors.

    A length of 1 broadcasts.
    """
    inputs, out = spec.split("->")
    subs = inputs.split(",")
    lengths: dict[str, int] = {}
    for sub, value in zip(subs, values, strict=True):
        for letter, length in zip(sub, np.shape(value), strict=True):
            lengths[letter] = max(lengths.get(letter, 1), length) if length != 0 else 0
    subs = [with_ones(sub, np.shape(value), lengths) for sub, value in zip(subs, values, strict=True)]
    bound = tuple((k, sub) for k, sub in enumerate(subs) if k != argument)
    factor = Explicit(lambda s, *factors: s.product(factors)) if bound else None
    return Contraction(out, subs[argument], lengths, 1.0, factor, bound)


def with_ones(sub: str, shape: tuple[int, ...], lengths: dict[str, int]) -> str:
    """Return the subscripts of an array with ``ONE`` for an axis of length 1 that broadcasts."""
    return "".join(ONE if n == 1 != lengths[letter] else letter for letter, n in zip(sub, shape, strict=True))


def pairs_along(
    x: Array, dim: int, order: Order, weight: float = 1.0, factor: Explicit | None = None, *bound: tuple[Slot, str]
) -> Contraction:
    """Return the links between the entries of each line of ``x`` along ``dim`` that stand in this order.

    ``bound`` says for each symbol of the factor what it stands for: ``(slot, "row")``, or at the ``column`` of a link.
    """
    letters = LETTERS[2 : 2 + np.ndim(x)]
    lengths = dict(zip(letters, np.shape(x), strict=True))
    lengths["a"] = lengths["b"] = lengths.pop(letters[dim])
    at = {"row": letters.replace(letters[dim], "a"), "column": letters.replace(letters[dim], "b")}
    slots = tuple((slot, at[which]) for slot, which in bound)
    return Contraction(at["row"], at["column"], lengths, weight, factor, slots, line=Line("a", "b", order))


def matmul_size(a: Array, b: Array) -> int:
    """Return the elements of ``a @ b``, batches counted generously."""
    if a.ndim <= 2 and b.ndim <= 2:
        return (a.shape[0] if a.ndim > 1 else 1) * (b.shape[-1] if b.ndim > 1 else 1)
    batch = max(math.prod(np.shape(a)[:-2]), 1) * max(math.prod(np.shape(b)[:-2]), 1)
    return int(batch) * int(np.shape(a)[-2] if np.ndim(a) > 1 else 1) * int(np.shape(b)[-1] if np.ndim(b) > 1 else 1)


def matmul_steps(a: Array, b: Array) -> int:
    """Return what ``a @ b`` goes through: some sixteen products at a time."""
    return int(np.size(a)) * int(np.shape(b)[-1] if np.ndim(b) > 1 else 1) // 16


def einsum_size(*values: Array, spec: str) -> int:
    """Return the number of terms of the sum of products, which bounds its time as well as its memory."""
    lengths: dict[str, int] = {}
    for sub, value in zip(spec.split("->", maxsplit=1)[0].split(","), values, strict=True):
        lengths.update(zip(sub, np.shape(value), strict=True))
    return math.prod(lengths.values())


def shared_letters(j: int, subs: list[str], more: str) -> str:
    """Return the letters of factor j, each once, that another factor or ``more`` names too."""
    elsewhere = more + "".join(sub for i, sub in enumerate(subs) if i != j)
    return "".join(letter for letter in dict.fromkeys(subs[j]) if letter in elsewhere)


@in_one_step
def on_diagonal(part: Array, target: str, letters: str, shape: Shape) -> Array:
    """Return zeros with an array where the axes of the same letter have the same index."""
    back = np.zeros(shape)
    np.einsum(f"{target}->{letters}", back)[...] = part
    return back


def einsum_vjp(k: int) -> Vjp:
    """Return the vjp of argument k of einsum: the sum of products with g in its place, spread over its other letters.

    What only one of the other factors names is summed there first, as PyTorch does: inf times a sum that is finite.
    """

    def vjp(g: Array, _y: Array, *values: Array, spec: str) -> Array:
        inputs, out = spec.split("->")
        subs = inputs.split(",")
        target, x = subs.pop(k), values[k]
        letters = "".join(dict.fromkeys(target))
        summed = "".join(letter for letter in letters if letter in out + "".join(subs))
        # A broadcast g would be taken out of the sum: inf times the sum is not the sum of inf times each.
        others = [value for j, value in enumerate(values) if j != k]
        kept = [shared_letters(j, subs, target + out) for j in range(len(subs))]
        factors = [np.einsum(f"{sub}->{keep}", x) for sub, keep, x in zip(subs, kept, others, strict=True)]
        part = np.einsum(f"{','.join([out, *kept])}->{summed}", np.copy(g), *factors)
        lengths = dict(zip(target, np.shape(x), strict=True))
        if not target:
            return part
        part = np.reshape(part, [lengths[letter] if letter in summed else 1 for letter in letters])
        return (
            np.broadcast_to(part, np.shape(x)) if letters == target else on_diagonal(part, target, letters, np.shape(x))
        )

    return vjp


def matmul_work(out: Array, a: Array, b: Array) -> int:
    """Return the operations of ``a @ b`` in many digits, of which a term takes an eighth, in limbs hardly any."""
    entries, terms, results = int(np.size(a)) + int(np.size(b)), count_terms(a, b), int(np.size(out))
    if pays_in_limbs(a, b, terms):
        return 2 * entries // ENTRY + results + terms // IN_LIMBS
    return (entries + results) // ENTRY + terms // TERM


ENTRY, TERM, IN_LIMBS = 4, 8, 64
"""How many entries, terms, and terms in limbs take as long as one operation on numbers of many digits."""


def count_terms(a: Array, b: Array) -> int:
    """Return how many products ``a @ b`` adds up."""
    return matmul_size(a, b) * int(np.shape(a)[-1])


def pays_in_limbs(a: Array, b: Array, terms: int) -> bool:
    """Return whether a product of matrices has so many terms that it pays to cut the entries into limbs."""
    return terms > LIMBS_FROM and terms > TERM * (np.size(a) + np.size(b))


LIMBS_FROM = 20_000
"""Terms below which cutting takes longer than multiplying."""


# --- functions ---

algebra = partial(function, family="linear algebra")
NUMPYS = Kinds(Made.NUMPY_SAME, Made.SAME, Beside.NUMPY)


def require_product(a: Tensor, b: Tensor, what: str) -> None:
    """Refuse shapes that ``a @ b`` does not take, with both shapes and the lengths that must be equal."""
    if not a.ndim or not b.ndim:
        raise GradcliError("shape", f"{what} needs arrays, not a number: shapes {a.shape} and {b.shape}", hint="use *")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        widths = f"{a.shape[-1]} columns on the left, {inner} rows on the right"
        raise GradcliError(
            "shape", f"{what}: shapes {a.shape} and {b.shape} do not fit: {widths}", hint=transposed_hint(a, b)
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
    name = {"i,j->ij": "outer", "i,i->": "dot"}.get(call.static["spec"])
    if name:
        return f"{name}({', '.join(call.texts)})"
    return f'{call.name}("{call.static["spec"]}", {", ".join(call.texts)})'


def einsum_text_back(k: int, _out: Array, *values: Array, spec: str) -> str:
    """Return the text of the sum of products with g in the place of argument k.

    A letter that no other factor has is spread by ones, and one that the argument has twice by a matrix of ones on its
    diagonal.
    """
    if spec == "i,j->ij":
        return "{0} @ {g}" if k else "{g} @ {1}"
    inputs, out = spec.split("->")
    subs = inputs.split(",")
    subscripts, shape = subs[k], np.shape(values[k])
    factors = [(out, "{g}"), *((sub, f"{{{j}}}") for j, sub in enumerate(subs) if j != k)]
    free = iter(sorted(set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") - set(inputs)))
    seen = ""
    for letter, length in zip(subscripts, shape, strict=True):
        if letter in seen:
            other = next(free)
            factors.append((letter + other, f"eye({length})"))
            seen += other
            continue
        if not any(letter in sub for sub, _ in factors):
            factors.append((letter, f"ones({length})"))
        seen += letter
    return f'einsum("{",".join(sub for sub, _ in factors)}->{seen}", {", ".join(text for _, text in factors)})'


def matmul_text_back(k: int, _out: Array, a: Array, b: Array) -> tuple[str, ...]:
    """Return the text for vectors and matrices; with more axes the vjp writes itself."""
    texts = {
        (1, 1): ("{g}*{1}", "{g}*{0}"),
        (2, 1): ("outer({g}, {1})", "{0}.T @ {g}"),
        (1, 2): ("{1} @ {g}", "outer({0}, {g})"),
        (2, 2): ("{g} @ {1}.T", "{0}.T @ {g}"),
    }
    pair = texts.get((np.ndim(a), np.ndim(b)))
    return (pair[k],) if pair else ()


MATMUL = declare(
    "matmul",
    np.matmul,
    (matmul_vjp_left, matmul_vjp_right),
    lambda at: [contraction(at.argument, at.values, product_spec(*at.values))],
    size=matmul_size,
    steps=matmul_steps,
    work=matmul_work,
    exactly=exactly.matmul,
    entries=Entries(shaped=True, spec=product_spec, mentions=on_others),
    torch=Torch(saves=((Keeps.OTHERS,),)),
    text=Text(operator="@", template="{} @ {}", precedence=70, backward=matmul_text_back, rule="matrix product"),
    require=lambda a, b: require_product(a, b, "@"),
    whole=MATRICES,
)
EINSUM = declare(
    "einsum",
    lambda *values, spec: np.einsum(spec, *values),
    einsum_vjp,
    lambda at: [contraction(at.argument, at.values, at.static["spec"])],
    size=einsum_size,
    steps=einsum_size,
    work=lambda out, *values, spec: max(out.size, *map(np.size, values), einsum_size(*values, spec=spec)),
    entries=Entries(shaped=True, spec=lambda *values, spec: spec, mentions=on_others),
    torch=Torch(saves=((Keeps.OTHERS,),)),
    text=Text(write=einsum_text, backward=einsum_text_back, rule="sum of products"),
)


@algebra("matmul", "torch numpy linalg method", op=MATMUL, kinds=NUMPYS)
def matmul(x: Value, other: Value) -> Value:
    """the product of matrices and vectors, x @ other"""
    require_product(x, other, "@")
    return x @ other


@algebra("dot", "numpy method", op=MATMUL, kinds=NUMPYS)
def dot(x: Value, other: Value, library: Library = "torch") -> Value:
    """the product of vectors and matrices; of more axes numpy pairs the last of x with the last but one of other"""
    if not x.ndim or not other.ndim:
        return x * other
    if max(x.ndim, other.ndim) <= 2:
        return matmul(x, other)
    said = f"dot takes vectors and matrices, not shapes {x.shape} and {other.shape}"
    require(library == "np", "shape", said, hint="use @")
    require_product(x, other, "dot")
    left, right = LETTERS[: x.ndim], list(LETTERS[x.ndim : x.ndim + other.ndim])
    right[max(other.ndim - 2, 0)] = left[-1]
    free = "".join(letter for letter in right if letter != left[-1])
    return einsum_of(f"{left},{''.join(right)}->{left[:-1]}{free}", x, other)


@algebra("torch.dot", "", op=MATMUL, kinds=Kinds(Made.NO, Made.SAME, Beside.NO))
def torch_dot(x: Value, other: Value) -> Value:
    """the product of two vectors, and of nothing else"""
    said = f"torch.dot takes two vectors, not shapes {x.shape} and {other.shape}"
    require((x.ndim, other.ndim) == (1, 1), "shape", said, hint="use @")
    return matmul(x, other)


def exact_product(name: str, ndims: tuple[int, int], summary: str) -> None:
    """Enter a product that takes arrays of these numbers of axes and no others; PyTorch repeats no batch here."""

    @algebra(name, "torch method", op=MATMUL, kinds=Kinds(Made.NO, Made.SAME, Beside.NO), doc=summary)
    def build(x: Value, other: Value) -> Value:
        said = f"{name} takes {ndims[0]} and {ndims[1]} axes, not shapes {x.shape} and {other.shape}"
        require((x.ndim, other.ndim) == ndims, "shape", said, hint="use @")
        require_product(x, other, name)
        said = f"{name}: batches of {x.shape[0]} and of {other.shape[0]} matrices"
        require(x.shape[:-2] == other.shape[:-2], "shape", said)
        return x @ other


exact_product("mm", (2, 2), "the product of two matrices")
exact_product("mv", (2, 1), "the product of a matrix and a vector")
exact_product("bmm", (3, 3), "the products of two batches of matrices")


@algebra("inner", "torch numpy method", kinds=NUMPYS)
def inner(x: Value, other: Value) -> Value:
    """the sum of products over the last axes of both: of two vectors one number"""
    if not x.ndim or not other.ndim:
        return x * other
    said = f"inner: the last axes of shapes {x.shape} and {other.shape} differ in length"
    require(x.shape[-1] == other.shape[-1], "shape", said)
    if x.ndim == other.ndim == 1:
        return x @ other
    left, right = LETTERS[: x.ndim - 1], LETTERS[x.ndim : x.ndim + other.ndim - 1]
    return einsum_of(f"{left}Z,{right}Z->{left}{right}", x, other)


@algebra("vdot", "torch numpy method", op=MATMUL, kinds=NUMPYS)
def vdot(x: Value, other: Value, library: Library = "torch") -> Value:
    """the inner product of two vectors; numpy takes the entries of any two arrays in their order"""
    x, other = flattened("vdot", x, other, library)
    require_product(x, other, "vdot")
    return x @ other


def flattened(name: str, x: Value, other: Value, library: str) -> tuple[Value, Value]:
    """Return two vectors as they are, and under numpy's name the entries of any two arrays; else raises ``shape``."""
    if x.ndim == other.ndim == 1:
        return x, other
    require(library == "np", "shape", f"{name} takes two vectors, not shapes {x.shape} and {other.shape}")
    return x.flat, other.flat


@algebra("outer ger np.linalg.outer numpy.linalg.outer", "torch numpy method", kinds=KEPT)
def outer(x: Value, other: Value, library: Library = "torch") -> Value:
    """the outer product of two vectors; numpy takes the entries of any two arrays in their order"""
    return einsum_of("i,j->ij", *flattened("outer", x, other, library))


@algebra("einsum", "torch numpy shares", op=EINSUM, kinds=NUMPYS)
def einsum(spec: Static | Tensor, *tensors: Value) -> Value:
    """the sum of products that the subscripts describe, as in einsum("ij,j->i", W, x)"""
    if not isinstance(spec, str):
        said = "einsum needs its subscripts as text"
        raise GradcliError("value", said, hint='for example einsum("ij,j->i", W, x)')
    spec = spec.replace(" ", "")
    spec = named(spec, tensors) if "." in spec else spec
    if "," not in spec and len(tensors) > 1 and len({x.shape for x in tensors}) == 1:
        tensors = (tensors[0].of(STACK, *tensors[1:], dim=0),)  # a list of several where the subscripts name one
    return contracted(full_spec(spec, tensors), tensors)


def named(spec: str, tensors: tuple[Value, ...]) -> str:
    """Return subscripts with letters for ``...``: the axes that an array has beside those named, from the last on."""
    inputs, arrow, out = spec.partition("->")
    subs = inputs.split(",")
    if len(subs) != len(tensors):
        return spec
    free = [letter for letter in LETTERS if letter not in spec]
    depths = [x.ndim - len(sub.replace("...", "")) if "..." in sub else 0 for sub, x in zip(subs, tensors, strict=True)]
    most = max(depths)
    fits = min(depths) >= 0 and most <= len(free)
    require(fits, "shape", f"einsum: {spec!r} names more axes than an array has")
    letters = "".join(free[:most])
    result = ",".join(sub.replace("...", letters[most - n :], 1) for sub, n in zip(subs, depths, strict=True))
    if arrow:
        return f"{result}->{out.replace('...', letters, 1)}"
    once = sorted(c for c in set(inputs) - {",", "."} if inputs.count(c) == 1)
    return f"{result}->{letters}{''.join(once)}"


def contracted(spec: str, operands: tuple[Value, ...]) -> Value:
    """Return the sum of products, without the axes of length 1 along which others have more entries."""
    inputs, _, out = spec.partition("->")
    subs, kept, arrays = inputs.split(","), [], []
    wide = {c for sub, x in zip(subs, operands, strict=True) for c, n in zip(sub, x.shape, strict=True) if n != 1}
    for sub, x in zip(subs, operands, strict=True):
        stays = [n != 1 or c not in wide for c, n in zip(sub, x.shape, strict=True)]
        kept.append("".join(c for c, stay in zip(sub, stays, strict=True) if stay))
        arrays.append(x if all(stays) else x.reshape(*(n for n, stay in zip(x.shape, stays, strict=True) if stay)))
    [sub, *others] = kept
    if not others and sorted(sub) == sorted(out):  # a view, as PyTorch and NumPy have it
        return arrays[0].permute(*map(sub.index, out))
    if not others and sub == out * 2:
        return arrays[0].of(DIAGONAL, offset=0)
    return einsum_of(f"{','.join(kept)}->{out}", *arrays)


def full_spec(spec: str, tensors: tuple[Value, ...]) -> str:
    """Return the subscripts with their output, checked letter by letter; raises ``value`` or ``shape``."""
    inputs, arrow, out = spec.partition("->")
    subs = inputs.split(",")
    if not arrow:
        out = "".join(sorted(letter for letter in set(inputs) - {","} if inputs.count(letter) == 1))
    letters = all(c.isascii() and c.isalpha() for c in inputs.replace(",", "") + out)
    require(letters, "value", f"einsum: {spec!r} may hold letters, commas and one ->")
    said = f"einsum: {spec!r} names {counted(len(subs), 'array')}, {len(tensors)} given"
    require(len(subs) == len(tensors), "value", said)
    once = len(set(out)) == len(out) and set(out) <= set(inputs)
    require(once, "value", f"einsum: the output {out!r} must name letters of the inputs, each once")
    lengths: dict[str, int] = {}
    for sub, x in zip(subs, tensors, strict=True):
        said = f"einsum: {sub!r} names {counted(len(sub), 'axis')}, the array has shape {x.shape}"
        require(len(sub) == x.ndim, "shape", said)
        for letter, length in zip(sub, x.shape, strict=True):
            if lengths.setdefault(letter, length) == 1:
                lengths[letter] = length
            fits = length in (1, lengths[letter])
            require(fits, "shape", f"einsum: {letter!r} stands for {lengths[letter]} and for {length}")
    return f"{','.join(subs)}->{out}"


@algebra("trace", "torch method", kinds=Kinds(Made.NUMPY_INTEGER, Made.INTEGER))
def trace(x: Value) -> Value:
    """the sum of the diagonal of a matrix"""
    require(x.ndim == 2, "shape", f"trace takes a matrix, not shape {x.shape}")
    return x.of(DIAG, k=0).sum(0)
