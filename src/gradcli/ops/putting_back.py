"""Texts, in the language, of vjps that put cotangents back to where entries came from: what numpy does in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


LISTED = 6
"""Entries of a vector up to which it is written out with its zeros."""
MOST_PLACES = 256
"""Places that an index may list so that its rule has a text."""
MOST_ROWS = 1024
"""Rows of a matrix of zeros and ones that a text may make."""

Shape = tuple[int, ...]
Key = tuple[Any, ...]


def numbers(values: Any) -> str:
    """Return whole numbers with commas between them."""
    return ", ".join(str(int(value)) for value in values)


def axis_text(length: int, axis: int, ndim: int) -> str:
    """Return the positions along an axis, as they stand beside an array of ``ndim`` axes."""
    return f"arange({length}){trailing(ndim - 1 - axis)}"


def trailing(count: int) -> str:
    """Return the index that adds so many axes behind the first."""
    return f"[:{', None' * count}]" if count else ""


def full_key(key: Any, shape: Shape) -> Key:
    """Return an index with a part for every axis: no ellipsis, and slices where it ends early."""
    parts = key if isinstance(key, tuple) else (key,)
    used = sum(mask_depth(part) for part in parts if part is not None and part is not Ellipsis)
    rest = (slice(None),) * (len(shape) - used)
    at = next((n for n, part in enumerate(parts) if part is Ellipsis), None)
    return (*parts, *rest) if at is None else (*parts[:at], *rest, *parts[at + 1 :])


def mask_depth(part: Any) -> int:
    """Return how many axes one part of an index takes up."""
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 1


def is_basic(key: Key) -> bool:
    """Return whether an index is made of integers, slices and new axes."""
    return not any(isinstance(part, np.ndarray | list) for part in key)


def index_text_back(_k: int, out: Any, x: Any, *, key: Any) -> tuple[str, ...]:
    """Return the text of zeros in the shape of x with g where the index picked."""
    shape, parts = np.shape(x), full_key(key, np.shape(x))
    found = basic_back(parts, shape) if is_basic(parts) else listed_back(parts, shape)
    return (found,) if found else by_places(key, shape, np.shape(out))


def basic_back(key: Key, shape: Shape) -> str:
    """Return the text for integers and slices: zeros round g, and between where a slice leaves entries out."""
    own = [part for part in key if part is not None]
    if len(shape) == 1 and isinstance(own[0], int) and shape[0] <= LISTED and len(key) == 1:
        return f"[{', '.join('{g}' if i == own[0] % shape[0] else '0' for i in range(shape[0]))}]"
    places = [places_of(part, length) for part, length in zip(own, shape, strict=True)]
    lengths, text = [len(along_axis) for along_axis in places], "{g}"
    if None in key:
        text = f"reshape({text}, {numbers(lengths) or '()'})"
    elif any(not isinstance(part, slice) for part in own):
        text += f"[{', '.join(':' if isinstance(part, slice) else 'None' for part in own)}]"
    for axis, picked in enumerate(places):
        text = spread_along(text, picked, axis, lengths, shape)
        lengths[axis] = shape[axis]
    return text


def places_of(part: Any, length: int) -> range:
    """Return the places along an axis that an integer or a slice picks."""
    if isinstance(part, slice):
        return range(*part.indices(length))
    return range(int(part) % length, int(part) % length + 1)


def spread_along(text: str, picked: range, axis: int, lengths: list[int], shape: Shape) -> str:
    """Return a text of ``lengths`` spread along an axis to the places that were picked, with zeros elsewhere."""
    length, count = shape[axis], len(picked)
    if not count:
        return zeros_text((*lengths[:axis], length, *lengths[axis + 1 :]))
    low, high, step = min(picked[0], picked[-1]), max(picked[0], picked[-1]), abs(picked.step) if count > 1 else 1
    if picked.step < 0 and count > 1:
        text = f"flip({text}, {axis})"
    if step > 1:
        text = f"repeat_interleave({text}, {step}, {axis})"
        if low + count * step > length:
            text += f"[{':, ' * axis}:{length - low}]"
        high = min(low + count * step, length) - 1
    before, after = (
        zeros_text((*lengths[:axis], many, *lengths[axis + 1 :])) if many else "" for many in (low, length - 1 - high)
    )
    if before or after:
        inner = ", ".join(piece for piece in (before, text, after) if piece)
        text = f"cat([{inner}]{f', dim={axis}' if axis else ''})"
    if step == 1:
        return text
    return f"where({axis_text(length, axis, len(shape))} % {step} == {low % step}, {text}, 0)"


def zeros_text(shape: Shape) -> str:
    """Return an array of zeros."""
    return f"zeros({numbers(shape)})"


def listed_back(key: Key, shape: Shape) -> str:
    """Return the text for one list of places along the first axis; empty for others."""
    first, *others = key
    if len(shape) == len(key) == 2 and all(isinstance(part, np.ndarray) for part in key):
        rows, columns = key
        each = rows.dtype != np.bool_ and np.array_equal(rows, np.arange(shape[0])) and columns.shape == rows.shape
        return f"{{C}}*eye({shape[1]})[[{numbers(columns)}]]" if each and columns.size <= MOST_PLACES else ""
    if any(not isinstance(part, slice) or part != slice(None) for part in others) or not isinstance(first, np.ndarray):
        return ""
    places = np.flatnonzero(first) if first.dtype == np.bool_ else first
    if first.ndim != 1 or len(shape) > 2 or shape[0] > MOST_ROWS or not 0 < places.size <= MOST_PLACES:
        return ""
    rows = f"eye({shape[0]})[[{numbers(places)}]]"
    return f"{{g}} @ {rows}" if len(shape) == 1 else f"{rows}.T @ {{g}}"


def by_places(key: Any, shape: Shape, picked: Shape) -> tuple[str, ...]:
    """Return the text for any index: the flat places that it picks, as rows of a matrix of zeros and ones."""
    size, count = math.prod(shape), math.prod(picked)
    if not count:
        return (zeros_text(shape),)
    if size > MOST_ROWS or count > MOST_PLACES:
        return ()
    places = np.ravel(np.arange(size).reshape(shape)[key])
    return (f"reshape(flatten({{g}}) @ eye({size})[[{numbers(places)}]], {numbers(shape)})",)


def put_text_back(k: int, out: Any, x: Any, _value: Any, *, key: Any) -> tuple[str, ...]:
    """Return the text of g with zeros where a value was written; what the value gets writes itself."""
    del out
    shape = np.shape(x)
    if k == 1:
        return ()
    parts = full_key(key, shape)
    if is_basic(parts):
        tests = [test for axis, part in enumerate(p for p in parts if p is not None) for test in along(part, axis, shape)]
        if not tests:
            return ("0*{g}",)
        condition = tests[0] if len(tests) == 1 else " & ".join(f"({test})" for test in tests)
        return (f"where({condition}, 0, {{g}})",)
    if math.prod(shape) > MOST_PLACES:
        return ()
    written = np.zeros(shape, dtype=bool)
    written[key] = True
    return (f"where({written.astype(int).tolist()} == 1, 0, {{g}})",)


def along(part: Any, axis: int, shape: Shape) -> list[str]:
    """Return the conditions that a place along an axis fulfils which an integer or a slice picks."""
    length, place = shape[axis], axis_text(shape[axis], axis, len(shape))
    if isinstance(part, int | np.integer):
        return [f"{place} == {int(part) % length}"]
    places = range(*part.indices(length))
    if len(places) == length:
        return []
    if not places:
        return [f"{place} < 0"]
    low, high, step = min(places), max(places), abs(places.step)
    tests = [f"{place} >= {low}"] * (low > 0) + [f"{place} <= {high}"] * (high < length - 1)
    return [*tests, *([f"{place} % {step} == {low % step}"] if step > 1 and len(places) > 1 else [])]


def tile_text_back(_k: int, _out: Any, x: Any, *, reps: Shape) -> str:
    """Return the text of the sum over all copies."""
    shape = (1,) * (len(reps) - np.ndim(x)) + np.shape(x)
    counts = (1,) * (len(shape) - len(reps)) + tuple(reps)
    split = numbers(n for pair in zip(counts, shape, strict=True) for n in pair)
    total = f"sum(reshape({{g}}, {split}), dim={tuple(range(0, 2 * len(shape), 2))})" if shape else "{g}"
    return total if len(shape) == np.ndim(x) else f"reshape({total}, {numbers(np.shape(x)) or '()'})"


def repeat_text_back(_k: int, _out: Any, x: Any, *, repeats: int, dim: int) -> str:
    """Return the text of the sum over the copies of each entry."""
    shape = np.shape(x)
    split = numbers((*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return f"sum(reshape({{g}}, {split}), dim={dim + 1})"


def diagonal_text_back(_k: int, out: Any, x: Any, *, k: int = 0, offset: int = 0) -> str:
    """Return the text of a vector from a diagonal, or of zeros with a vector on one."""
    k = k or offset
    if np.ndim(x) == 1:
        return f"diagonal({{g}}, {k})" if k else "diagonal({g})"
    rows, columns = np.shape(x)
    if rows == columns:
        return f"diag({{g}}, {k})" if k else "diag({g})"
    shift = f" + {k}" if k > 0 else f" - {-k}" if k < 0 else ""
    count = int(np.size(out))
    text = "{g}"
    if count != columns:
        before, after = max(-k, 0), rows - max(-k, 0) - count
        pieces = [f"zeros({before})"] * (before > 0) + [text] + [f"zeros({after})"] * (after > 0)
        text = (f"cat([{', '.join(pieces)}])" if len(pieces) > 1 else text) + "[:, None]"
    return f"where(arange({columns}) == arange({rows})[:, None]{shift}, {text}, 0)"


def einsum_text_back(k: int, _out: Any, *values: Any, spec: str) -> str:
    """Return the text of the sum of products with g in the place of argument k.

    A letter that no other factor has is spread by ones, and one that the argument has twice by a matrix of ones on its
    diagonal.
    """
    if spec == "i,j->ij":
        return "{0} @ {g}" if k else "{g} @ {1}"
    inputs, out = spec.split("->")
    subs = inputs.split(",")
    own, shape = subs[k], np.shape(values[k])
    factors = [(out, "{g}"), *((sub, f"{{{j}}}") for j, sub in enumerate(subs) if j != k)]
    free = iter(sorted(set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") - set(inputs)))
    seen = ""
    for letter, length in zip(own, shape, strict=True):
        if letter in seen:
            other = next(free)
            factors.append((letter + other, f"eye({length})"))
            seen += other
            continue
        if not any(letter in sub for sub, _ in factors):
            factors.append((letter, f"ones({length})"))
        seen += letter
    return f'einsum("{",".join(sub for sub, _ in factors)}->{seen}", {", ".join(text for _, text in factors)})'


def matmul_text_back(k: int, _out: Any, a: Any, b: Any) -> tuple[str, ...]:
    """Return the text for vectors and matrices; with more axes the vjp writes itself."""
    texts = {
        (1, 1): ("{g}*{1}", "{g}*{0}"),
        (2, 1): ("outer({g}, {1})", "{0}.T @ {g}"),
        (1, 2): ("{1} @ {g}", "outer({0}, {g})"),
        (2, 2): ("{g} @ {1}.T", "{0}.T @ {g}"),
    }
    found = texts.get((np.ndim(a), np.ndim(b)))
    return (found[k],) if found else ()


def det_text_back(_k: int, y: Any, a: Any) -> tuple[str, ...]:
    """Return the text of g·y·inv(A)ᵀ, and of 0 where the determinant is exactly 0."""
    axes = "[..., None, None]" if np.ndim(a) > 2 else ""
    if np.shape(a)[-1] == 1:
        return (f"{{g}}{axes}",)
    if np.any(np.asarray(y) == 0):
        return (f"0*{{g}}{axes}",)
    turned = "transpose(inv({0}), -1, -2)" if axes else "inv({0}).T"
    return (f"{{g}}{axes}*{{y}}{axes}*{turned}",)


def solve_text_back(k: int, _out: Any, a: Any, b: Any) -> tuple[str, ...]:
    """Return the text for one matrix; for batches of them the vjp writes itself."""
    if np.ndim(a) > 2:
        return ()
    back = "solve({0}.T, {g})"
    if k == 1 and np.ndim(b) <= 2:
        return (back,)
    return (f"-outer({back}, {{y}})",) if np.ndim(b) == 1 else (f"-{back} @ {{y}}.T",) if np.ndim(b) == 2 else ()


def others_text(x: str, axis: int, shape: Shape) -> str:
    """Return an array with one more axis before ``axis``, in whose layer j entry j along the axis is 1."""
    own = f"eye({shape[axis]}){trailing_matrix(len(shape) - 1 - axis)}"
    return f"where({own} == 1, 1, unsqueeze({x}, {axis}))"


def trailing_matrix(count: int) -> str:
    """Return the index that adds so many axes behind the two of a matrix."""
    return f"[:, :{', None' * count}]" if count else ""


def prod_text_back(_k: int, _out: Any, x: Any, *, dim: Shape, keepdim: bool) -> tuple[str, ...]:
    """Return the text of g·y/x, and of the products of all others where x has zeros."""
    del keepdim
    shape = np.shape(x)
    if not dim:
        return ("{g}",)
    if len(dim) == 1:
        return "{G}*{Y}/{0}", f"{{G}}*prod({others_text('{0}', dim[0], shape)}, dim={dim[0] + 1})"
    kept = tuple(axis for axis in range(len(shape)) if axis not in dim)
    order = (*kept, *dim)
    moved = tuple(shape[axis] for axis in order)
    rows = (*moved[: len(kept)], math.prod(moved[len(kept) :]))
    flat = f"reshape(permute({{0}}, {numbers(order)}), {numbers(rows)})"
    products = f"reshape(prod({others_text(flat, len(kept), rows)}, dim={len(rows)}), {numbers(moved)})"
    return "{G}*{Y}/{0}", f"{{G}}*permute({products}, {numbers(np.argsort(order))})"


def cumprod_text_back(_k: int, _out: Any, x: Any, *, dim: int) -> tuple[str, ...]:
    """Return the text of the running sum of g·y from its end over x, and of all products where x has zeros."""
    shape = np.shape(x)
    later = f"triu(ones({shape[dim]}, {shape[dim]})){trailing_matrix(len(shape) - 1 - dim)}"
    products = f"cumprod({others_text('{0}', dim, shape)}, {dim + 1})"
    return (
        f"flip(cumsum(flip({{g}}*{{y}}, {dim}), dim={dim}), {dim})/{{0}}",
        f"sum({later}*unsqueeze({{g}}, {dim})*{products}, dim={dim + 1})",
    )


def extreme_text_back(_k: int, _out: Any, _x: Any, *, dim: Shape, keepdim: bool) -> tuple[str, str]:
    """Return the text of g where an entry is the extreme, and of equal shares where several are."""
    del keepdim
    return "where({0} == {Y}, {G}, 0)", f"where({{0}} == {{Y}}, {{G}}/sum({{0}} == {{Y}}, dim={dim}, keepdim=True), 0)"


def pick_text_back(
    _k: int, _out: Any, x: Any, *, kind: str, dim: int, keepdim: bool = True, descending: bool = False
) -> str:
    """Return the text of g put back where each entry was picked."""
    del keepdim
    shape = np.shape(x)
    along_axis = axis_text(shape[dim], dim, len(shape))
    if kind != "sort":
        return f"where({along_axis} == {kind}({{0}}, dim={dim}, keepdim=True).indices, {{G}}, 0)"
    order = f"sort({{0}}, dim={dim}{', descending=True' if descending else ''}).indices"
    if len(shape) == 1:
        return f"{{g}}[sort({order}).indices]"
    return f"sum(where(unsqueeze({order}, {dim + 1}) == {along_axis}, unsqueeze({{g}}, {dim + 1}), 0), dim={dim})"


def norm_text_back(_k: int, _out: Any, _x: Any, *, dim: Shape, keepdim: bool, p: float) -> tuple[str, ...]:
    """Return the text of g·sign(x)·(|x|/y)^(p - 1), and of 0 where the norm is 0."""
    del dim, keepdim
    if p == 1:
        return ("{G}*sign({0})",)
    if p == 2:
        return "{G}*{0}/{Y}", "where({Y} == 0, 0, {G}*{0}/{Y})"
    text = f"{{G}}*sign({{0}})*(abs({{0}})/{{Y}})**({p!r} - 1)"
    return text, f"where(({{Y}} == 0) | ({{0}} == 0), 0, {text})"


def softmax_text_back(_k: int, _out: Any, x: Any, *, dim: int) -> tuple[str, str]:
    """Return the text of y·(g - Σ g·y), and of that for the distances of g from its entry where y is largest."""
    options = "" if np.ndim(x) == 1 else f", dim={dim}, keepdim=True"
    own = f"sum(where({{0}} == amax({{0}}, dim={dim}, keepdim=True), {{g}}, 0){options})"
    plain = f"{{y}}*({{g}} - sum({{g}}*{{y}}{options}))"
    return plain, plain.replace("{g}", f"({{g}} - {own})")


def var_text_back(_k: int, _out: Any, x: Any, *, dim: Shape, keepdim: bool, correction: float) -> str:
    """Return the text of g·2(x - mean)/(n - correction)."""
    del keepdim
    count = math.prod(np.shape(x)[axis] for axis in dim) - correction
    axes = "" if len(dim) == np.ndim(x) else f", dim={dim[0] if len(dim) == 1 else dim}, keepdim=True"
    return f"{{G}}*2/{count!r}*({{0}} - mean({{0}}{axes}))"


