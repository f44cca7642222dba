"""What PyTorch says of a call whose shapes, axes or indices do not fit, by the function that was called.

It is asked where the table has refused a call: what it does not know keeps gradcli's own words. What is said stands in
``words.toml``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from gradcli.runner.values import FLOATS, TITLES, Tensor

Given = Mapping[str, Any]
"""The arguments of a call under the names of the table's parameters; of several under one name they are a list."""
Said = tuple[str, str] | None
"""The class of an exception and what it says."""


@cache
def words() -> dict[str, Any]:
    """Return what PyTorch and JAX say, by names."""
    import tomllib  # no run that ends well needs it

    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def said(name: str, *parts: Any, **fields: Any) -> tuple[str, str]:
    """Return the class of an exception and what it says, by the name of its words."""
    kind, _, text = words()[name].partition(": ")
    return kind, text.format(*parts, **fields)


def advice_of(run: Any, error: Any, line: str) -> str | None:
    """Return what to do about an exception that ends a script, None where its words say it.

    Of advice for the same words the first counts of which all fields are at hand.
    """
    for pattern, advice in words()["advice"].items():
        match = re.search(pattern, error.text)
        if match is None:
            continue
        called, owner = re.search(r"([\w.\[\]']+)\.backward\(", line), re.search(r"([\w.\[\]']+)\.grad\b", line)
        name = called[1] if called else "y"
        y = next((frame[k] for code, frame in run.frames for own, k in code.places.items() if own == name), None)
        shape = f" has shape {y.shape}" if isinstance(y, Tensor) else " has several entries"
        fields = {"name": name, "shape": shape, "at": error.about, "owner": owner and owner[1]}
        fields["hint"] = error.cause and error.cause.hint
        if any(field in fields and fields[field] is None for _, field, _, _ in Formatter().parse(advice) if field):
            continue
        return str(advice.format(match[0], *match.groups(), **fields))
    return None


def of_integers(name: str, dtype: str) -> Said:
    """Return the exception that a function of floats raises for another type, None where it takes it."""
    whole = not dtype.startswith(("float", "bfloat")) and f"whole {name}" in words()
    return said(f"whole {name}", TITLES[dtype][0]) if whole else None


def of_types(name: str, given: Given) -> Said:
    """Return the exception for arguments whose types PyTorch looks at before their numbers, None where they fit."""
    tensors = [given.get("x", given.get("input")), given.get("target", given.get("weight"))]
    return TYPED[name](*tensors) if all(isinstance(t, Tensor) for t in tensors) else None


def types_of_classes(x: Any, target: Any) -> Said:
    """Losses of classes take one integer for each row; cross entropy takes probabilities in the shape of scores too."""
    title = TITLES[target.dtype][0]
    if x.shape == target.shape and x.shape:
        return None if target.dtype in FLOATS else said("class probabilities", title)
    if target.dtype in ("int64", "uint8") or target.shape != without_classes(x.shape):
        return None
    return said("target type", title)


def without_classes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of scores without the axis of classes: the second, or that of a vector."""
    return shape[:1] + shape[2:] if len(shape) > 1 else ()


def types_of_bce(x: Any, target: Any) -> Said:
    """Binary cross entropy takes a target of the type of its probabilities."""
    if x.shape != target.shape or x.dtype == target.dtype:
        return None
    return said("bce type", TITLES[target.dtype][0], TITLES[x.dtype][0])


def types_of_scores(x: Any, target: Any) -> Said:
    """Binary cross entropy of scores takes floats."""
    if x.shape != target.shape:
        return said("scores size", list(target.shape), list(x.shape))
    if x.dtype not in FLOATS:
        return said("scores type", TITLES[x.dtype][0])
    return None if target.dtype in FLOATS else said("wider type", TITLES[x.dtype][0], TITLES[target.dtype][0])


def types_of_places(input: Any, weight: Any) -> Said:
    """An embedding takes integers."""
    if input.dtype in ("int64", "int32"):
        return None
    return said("places", "CPUBoolType" if input.dtype == "bool" else f"torch.{TITLES[input.dtype][0]}Tensor")


TYPED: dict[str, Callable[[Any, Any], Said]] = {
    **dict.fromkeys(("nll_loss", "cross_entropy"), types_of_classes),
    "bce": types_of_bce,
    "binary_cross_entropy_with_logits": types_of_scores,
    "embedding": types_of_places,
}
"""What is said of the types of two arguments before the function is called, by the table's name of a function."""


def torch_error(name: str, given: Given) -> Said:
    """Return the exception that PyTorch raises for a call, None where it is not known."""
    error = WORDS[name](**given) if name in WORDS else None
    return error or wrong_dim(name, given) or (of_pair(given) if name not in PRODUCTS else None)


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the lengths of the axes of a tensor, or of a number."""
    return value.shape if isinstance(value, Tensor) else np.shape(value)


def misfit(a: tuple[int, ...], b: tuple[int, ...]) -> Said:
    """Return the error for two shapes that do not broadcast, None where they do."""
    for k in range(1, min(len(a), len(b)) + 1):
        if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
            dim = max(len(a), len(b)) - k
            return said("no broadcast", a=a[-k], b=b[-k], dim=dim)
    return None


def of_pair(given: Given) -> Said:
    """Return the error for the first pair of tensors that do not broadcast."""
    tensors = [value for value in given.values() if isinstance(value, Tensor)]
    return misfit(tensors[0].shape, tensors[1].shape) if len(tensors) > 1 else None


def wrong_dim(name: str, given: Given) -> Said:
    """Return the error for an axis that a tensor does not have."""
    tensors = given.get("tensors")
    x = given.get("x") if tensors is None else (tensors[0] if tensors else None)
    if not isinstance(x, Tensor):
        return None
    count = max(len(x.shape) + (name in ("unsqueeze", "stack")), 1)
    for key in ("dim", "dims", "dim0", "dim1", "dim2", "start_dim", "end_dim", "source", "destination"):
        value = given.get(key)
        for dim in value if isinstance(value, list | tuple) else (value,):
            if type(dim) is int and not -count <= dim < count:
                return said("no dim", low=-count, high=count - 1, dim=dim)
    return None


def flat(sizes: Any) -> list[int]:
    """Return lengths that are given one by one or as one tuple."""
    sizes = list(sizes) if isinstance(sizes, list | tuple) else [sizes]
    return list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes


# ---- products
def of_mm(x: Any, other: Any, **_: Any) -> Said:
    """``mm`` takes two matrices."""
    a, b = shape_of(x), shape_of(other)
    if len(a) != 2 or len(b) != 2:
        return said("self no matrix" if len(a) != 2 else "mat2 no matrix")
    return said("matrices", *a, *b)


def of_mv(x: Any, other: Any, **_: Any) -> Said:
    """``mv`` takes a matrix and a vector."""
    a, b = shape_of(x), shape_of(other)
    if len(a) != 2 or len(b) != 1:
        return said("no matrix vector", len(a), len(b))
    return said("matrix vector", *a, *b)


def of_dot(x: Any, other: Any, **_: Any) -> Said:
    """``dot`` takes two vectors of one length."""
    a, b = shape_of(x), shape_of(other)
    if len(a) != 1 or len(b) != 1:
        return said("no vectors", len(a), len(b))
    return said("vectors", *a, *b)


def of_bmm(x: Any, other: Any, **_: Any) -> Said:
    """``bmm`` takes two batches of matrices."""
    a, b = shape_of(x), shape_of(other)
    if len(a) != 3 or len(b) != 3:
        return said("no batch", 1 if len(a) != 3 else 2)
    return said("batches", [a[0], a[2]], list(b[:2]))


def of_matmul(x: Any, other: Any, **_: Any) -> Said:
    """``matmul`` and ``@`` are products of vectors, matrices and batches of them."""
    a, b = shape_of(x), shape_of(other)
    if not a or not b:
        return said("no axes", len(a), len(b))
    if len(a) == len(b) == 1:
        return of_dot(x, other)
    if len(b) <= 2:
        return said("matrix vector" if len(b) == 1 else "matrices", math.prod(a[:-1]), a[-1], *b)
    lead = misfit(a[:-2], b[:-2])
    if lead is not None or len(a) < 2:
        return lead
    batch = math.prod(np.broadcast_shapes(a[:-2], b[:-2]))
    return said("batches", [batch, a[-1]], [batch, b[-2]])


def of_linear(x: Any, weight: Any, **_: Any) -> Said:
    """``linear`` is the product with a transposed matrix."""
    a, b = shape_of(x), shape_of(weight)
    if len(b) != 2 or not a or a[-1] == b[1]:
        return None
    if len(a) == 1:
        return said("matrix vector", *b, *a)
    return said("matrices", math.prod(a[:-1]), a[-1], b[1], b[0])


def of_addmm(mat1: Any, mat2: Any, **_: Any) -> Said:
    """``addmm`` adds to a product of matrices."""
    a, b = shape_of(mat1), shape_of(mat2)
    return said("matrices", *a, *b) if len(a) == len(b) == 2 and a[1] != b[0] else None


# ---- joining and shapes
def of_cat(tensors: Any, dim: Any = 0, **_: Any) -> Said:
    """``cat`` takes tensors that differ along one axis alone."""
    if not tensors:
        return said("cat nothing")
    shapes = [t.shape for t in tensors]
    first = shapes[0]
    if () in shapes:
        return said("cat number", shapes.index(()))
    if not -len(first) <= dim < len(first):
        return None
    dim %= len(first)
    for place, shape in enumerate(shapes):
        if len(shape) != len(first):
            return said("cat axes", len(first), len(shape))
        for axis, (one, other) in enumerate(zip(first, shape, strict=True)):
            if one != other and axis != dim:
                return said("cat sizes", dim, one, other, place)
    return None


def of_stack(tensors: Any, **_: Any) -> Said:
    """``stack`` takes tensors of one shape."""
    if not tensors:
        return said("stack nothing")
    shapes = [list(t.shape) for t in tensors]
    place = next((k for k, shape in enumerate(shapes) if shape != shapes[0]), 0)
    return said("stack", shapes[0], shapes[place], place) if place else None


def of_reshape(x: Any, shape: Any = (), **_: Any) -> Said:
    """``view`` and ``reshape`` take as many entries as there are."""
    shape, size = flat(shape), math.prod(shape_of(x))
    if shape.count(-1) > 1:
        return said("two inferred")
    return said("reshape", shape, size)


def of_expand(x: Any, shape: Any = (), **_: Any) -> Said:
    """``expand`` stretches axes of length 1."""
    shape, old = flat(shape), shape_of(x)
    if len(shape) < len(old):
        return said("expand axes", list(old), shape, len(shape), len(old))
    for axis in range(1, len(old) + 1):
        if old[-axis] not in (1, shape[-axis]) and shape[-axis] != -1:
            return said("expand", shape[-axis], old[-axis], len(shape) - axis, shape, list(old))
    return None


def of_permute(x: Any, dims: Any = (), **_: Any) -> Said:
    """``permute`` names each axis once."""
    dims, count = flat(dims), len(shape_of(x))
    if len(dims) != count:
        return said("permute axes", count, len(dims))
    return said("permute") if all(-count <= dim < count for dim in dims) else None


def of_narrow(x: Any, dim: Any, start: Any, length: Any, **_: Any) -> Said:
    """``narrow`` takes a stretch of an axis."""
    shape = shape_of(x)
    if type(dim) is not int or not -len(shape) <= dim < len(shape) or type(start) is not int:
        return None
    return said("narrow", start, length, shape[dim])


def of_split(x: Any, split_size_or_sections: Any, dim: Any = 0, **_: Any) -> Said:
    """``split`` takes lengths that sum to that of the axis."""
    size, shape = split_size_or_sections, shape_of(x)
    if type(dim) is not int or not -len(shape) <= dim < len(shape):
        return None
    return (
        said("split sizes", shape[dim], dim, list(size))
        if isinstance(size, list | tuple)
        else said("split", shape[dim])
    )


# ---- entries at places
def of_gather(x: Any, index: Any, dim: Any = 0, **_: Any) -> Said:
    """``gather`` and its like take an index of as many axes."""
    places, shape = np.asarray(getattr(index, "value", index)), shape_of(x)
    if places.ndim != len(shape):
        return said("gather axes")
    bad = places[(places < 0) | (places >= shape[dim])]
    return said("gather", bad[0], dim, shape[dim]) if bad.size else None


def of_take(x: Any, index: Any, **_: Any) -> Said:
    """``take`` takes places of all entries."""
    places, size = np.asarray(getattr(index, "value", index)), math.prod(shape_of(x))
    bad = places[(places < -size) | (places >= size)]
    return said("take", bad[0], size) if bad.size else None


def of_target(x: Any, target: Any, weight: Any = None, ignore_index: Any = -100, **_: Any) -> Said:
    """Losses of classes take one class for each row."""
    if not isinstance(target, Tensor) or not x.shape:
        return None
    shape = x.shape
    classes = np.asarray(target.value)
    axis = 0 if len(shape) == 1 else 1
    if classes.shape != without_classes(shape):
        return of_target_shape(shape, classes.shape)
    if isinstance(weight, Tensor) and weight.shape != (shape[axis],):
        return said("class weights", shape[axis], list(weight.shape))
    bad = classes[(classes != ignore_index) & ((classes < 0) | (classes >= shape[axis]))]
    return said("target", bad.ravel()[0]) if bad.size else None


def of_target_shape(shape: tuple[int, ...], target: tuple[int, ...]) -> Said:
    """Return the error for classes of another shape than the scores have without the axis of classes."""
    if len(shape) <= 2 and len(target) > 1:
        return said("several targets")
    if len(shape) == 1:
        return said("target of vector", target[0])
    batch = target[0] if target else 0
    if shape[0] != batch:
        return said("batch size", shape[0], batch)
    if len(shape) == 4 and len(target) != 3:
        return said("spatial targets", len(target))
    return said("classes size", list(without_classes(shape)), list(target))


def of_loss(x: Any, target: Any, weight: Any = None, **_: Any) -> Said:
    """Losses compare tensors of one shape, which their weights have too."""
    if isinstance(weight, Tensor) and weight.shape != x.shape:
        return said("weights size")
    return misfit(shape_of(x), shape_of(target))


def of_bce(x: Any, target: Any, **_: Any) -> Said:
    """Binary cross entropy takes a target of the same shape, and probabilities."""
    if x.shape != target.shape:
        return said("target size", list(target.shape), list(x.shape))
    inside = np.all((np.asarray(x.value) >= 0) & (np.asarray(x.value) <= 1))
    return said("bce", "target" if inside else "input")


def of_empty(name: str) -> Callable[..., Said]:
    """Return what says that a reduction of no entries needs an axis."""

    def error(x: Any, dim: Any = None, **_: Any) -> Said:
        if math.prod(shape_of(x)) or dim is not None:
            return None
        return said("empty place" if name.startswith("arg") else "empty", name)

    return error


# ---- matrices
def square(name: str) -> Callable[..., Said]:
    """Return what says that a matrix is not square, or singular."""

    def error(x: Any = None, A: Any = None, **_: Any) -> Said:
        matrix = A if x is None else x
        shape = shape_of(matrix)
        if len(shape) < 2:
            return said("no matrix", name)
        return said("square", name, *shape[-2:]) if shape[-1] != shape[-2] else singular(name, np.asarray(matrix.value))

    return error


def singular(name: str, a: Any) -> Said:
    """Return the error for a matrix that has no inverse, or no Cholesky factor."""
    if name == "solve":
        return said("solve")
    if a.ndim != 2 or a.dtype == object or name not in ("inv", "cholesky"):
        return None
    parts = [a[:k, :k] for k in range(1, len(a) + 1)]
    if name == "inv":
        fails = [np.linalg.matrix_rank(part) < len(part) for part in parts]
    else:
        fails = [np.linalg.det(part) <= 0 for part in parts]
    return said(name, fails.index(True) + 1 if True in fails else len(a))


PRODUCTS = ("mm", "mv", "torch.dot", "bmm", "matmul", "linear", "addmm")
WORDS: dict[str, Callable[..., Said]] = {
    "mm": of_mm,
    "mv": of_mv,
    "torch.dot": of_dot,
    "bmm": of_bmm,
    "matmul": of_matmul,
    "linear": of_linear,
    "addmm": of_addmm,
    "cat": of_cat,
    "stack": of_stack,
    "reshape": of_reshape,
    "expand": of_expand,
    "permute": of_permute,
    "narrow": of_narrow,
    "split": of_split,
    "chunk": lambda chunks, **_: said("chunk", chunks),
    "t": lambda x, **_: said("t", len(shape_of(x))),
    **dict.fromkeys(("gather", "scatter", "scatter_add"), of_gather),
    **dict.fromkeys(("index_select", "embedding"), lambda **_: said("select")),
    "take": of_take,
    **dict.fromkeys(("nll_loss", "cross_entropy"), of_target),
    "bce": of_bce,
    **dict.fromkeys(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"), of_loss),
    **dict.fromkeys(("masked_fill", "masked_select"), lambda x, mask, **_: misfit(shape_of(mask), shape_of(x))),
    "topk": lambda **_: said("topk"),
    "kthvalue": lambda x, dim=-1, **_: said("kthvalue", dim % max(len(shape_of(x)), 1)),
    **{name: of_empty(name) for name in ("max", "min", "argmax", "argmin")},
    **{name: square(name) for name in ("inv", "det", "solve", "cholesky")},
    "trace": lambda x, **_: said("trace", len(shape_of(x))),
    "outer": lambda x, other, **_: (
        said("outer", "vec2", len(shape_of(other)))
        if len(shape_of(x)) == 1
        else said("outer", "self", len(shape_of(x)))
    ),
    "where": lambda condition, x, other: (
        misfit(shape_of(condition), shape_of(x)) or misfit(shape_of(x), shape_of(other))
    ),
}
"""By the table's name of a function, with the table's parameters."""
