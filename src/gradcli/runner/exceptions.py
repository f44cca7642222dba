"""Exceptions of a script: Python's classes, what is raised, and what PyTorch says of a call that does not fit.

``WORDS`` has for each function of the table what finds the words for its arguments; the words stand in ``words.toml``.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from gradcli.errors import GivenUp, GradcliError
from gradcli.runner.values import FLOATS, TITLES, Class, Instance, Property, Tensor

Arguments = Mapping[str, Any]
"""The arguments of a call under the names of the table's parameters; of several under one name they are a list."""
Said = tuple[str, str] | None
"""The class of an exception and what it says."""
Shape = tuple[int, ...]


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
        behind = run.place.text.split("\n")[error.about - 1].strip() if type(error.about) is int else ""
        fields["step"] = behind if re.search(r"\.step\(", behind) else None
        if any(field in fields and fields[field] is None for _, field, _, _ in Formatter().parse(advice) if field):
            continue
        return str(advice.format(match[0], *match.groups(), **fields))
    return None


# ---- types of arguments, which PyTorch looks at before their numbers
def types_of_classes(x: Any, target: Any) -> Said:
    """Losses of classes take one integer for each row; cross entropy takes probabilities in the shape of scores too."""
    title = TITLES[target.dtype][0]
    if x.shape == target.shape and x.shape:
        return None if target.dtype in FLOATS else said("class probabilities", title)
    if target.dtype in ("int64", "uint8") or target.shape != without_classes(x.shape):
        return None
    return said("target type", title)


def without_classes(shape: Shape) -> Shape:
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


def types_of_places(places: Any, _weight: Any) -> Said:
    """An embedding takes integers."""
    if places.dtype in ("int64", "int32"):
        return None
    return said("places", "CPUBoolType" if places.dtype == "bool" else f"torch.{TITLES[places.dtype][0]}Tensor")


def repeats(x: Any, reps: Any = (), **_: Any) -> Said:
    """``repeat`` takes a number for each axis, and more."""
    return said("repeats") if len(flat(reps)) < len(shape_of(x)) else None


CHECKED: dict[str, Callable[..., Said]] = {
    "repeat": repeats,
    "clip": lambda min=None, max=None, **_: said("clamp") if min is None and max is None else None,  # noqa: A006
}
"""What is said of arguments that the table takes and PyTorch does not."""
TYPED: dict[str, Callable[[Any, Any], Said]] = {
    "nll_loss": types_of_classes, "cross_entropy": types_of_classes, "bce": types_of_bce,
    "binary_cross_entropy_with_logits": types_of_scores, "embedding": types_of_places,
}  # fmt: skip
"""What is said of the types of two arguments, by the table's name of a function."""


LINEAR_ALGEBRA = {
    **{name: f"linalg.{name}" for name in ("det", "inv", "slogdet", "solve", "cholesky", "vecdot")},
    **{name: name for name in ("linalg.qr", "linalg.svd", "logdet")}, "linalg.norm": "linalg.vector_norm",
    **dict.fromkeys(("linalg.svdvals", "svdvals", "cond", "matrix_rank"), "linalg.svd"),
}  # fmt: skip
"""Functions of PyTorch's that take floats alone, each by what an exception calls it."""


def type_error(name: str, dtype: str | None, arguments: Callable[[], Arguments]) -> Said:
    """Return the exception for arguments of other types than a function takes, None where they fit.

    ``dtype`` is that of the first tensor, None where the call gives the type of its result.
    """
    if dtype is not None and dtype not in FLOATS:
        if f"whole {name}" in words():
            return said(f"whole {name}", TITLES[dtype][0])
        if name in LINEAR_ALGEBRA:
            return said("whole linalg", TITLES[dtype][0], LINEAR_ALGEBRA[name])
    if name in CHECKED:
        return CHECKED[name](**arguments())
    if name not in TYPED:
        return None
    values = arguments()
    tensors = [values.get("x", values.get("input")), values.get("target", values.get("weight"))]
    return TYPED[name](*tensors) if all(isinstance(t, Tensor) for t in tensors) else None


# ---- shapes, axes and places that do not fit
def torch_error(name: str, arguments: Arguments) -> Said:
    """Return the exception that PyTorch raises for a call, None where it is not known."""
    error = WORDS[name](**arguments) if name in WORDS else None
    error = error or wrong_dim(name, arguments)
    tensors = [value for value in arguments.values() if isinstance(value, Tensor)]
    if error is not None or name in WORDS or name.startswith("conv") or len(tensors) < 2:
        return error
    return misfit(tensors[0].shape, tensors[1].shape)


def shape_of(value: Any) -> Shape:
    """Return the lengths of the axes of a tensor, or of a number."""
    return value.shape if isinstance(value, Tensor) else np.shape(value)


def misfit(a: Shape, b: Shape) -> Said:
    """Return the error for two shapes that do not broadcast, None where they do."""
    for k in range(1, min(len(a), len(b)) + 1):
        if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
            return said("no broadcast", a=a[-k], b=b[-k], dim=max(len(a), len(b)) - k)
    return None


def wrong_dim(name: str, arguments: Arguments) -> Said:
    """Return the error for an axis that a tensor does not have."""
    tensors = arguments.get("tensors")
    x = arguments.get("x") if tensors is None else (tensors[0] if tensors else None)
    if not isinstance(x, Tensor):
        return None
    count = max(len(x.shape) + (name in ("unsqueeze", "stack")), 1)
    for key in ("dim", "dims", "dim0", "dim1", "dim2", "start_dim", "end_dim", "source", "destination"):
        value = arguments.get(key)
        for dim in value if isinstance(value, list | tuple) else (value,):
            if type(dim) is int and not -count <= dim < count:
                return said("no dim", low=-count, high=count - 1, dim=dim)
    return None


def flat(sizes: Any) -> list[int]:
    """Return lengths that are written one by one or as one tuple."""
    sizes = list(sizes) if isinstance(sizes, list | tuple) else [sizes]
    return list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes


def of_shapes(ranks: tuple[int, int], other_ranks: Callable[..., Said], these: Callable[..., Said]) -> Any:
    """Return what is said of a product of two arrays, of other ranks than it takes or of these."""

    def error(x: Any, other: Any, **_: Any) -> Said:
        a, b = shape_of(x), shape_of(other)
        return these(a, b) if (len(a), len(b)) == ranks else other_ranks(a, b)

    return error


of_dot = of_shapes(
    (1, 1), lambda a, b: said("no vectors", len(a), len(b)), lambda a, b: said("vectors", *a, *b)
)  # fmt: skip


def of_matmul(x: Any, other: Any, **_: Any) -> Said:
    """``matmul`` and ``@`` are products of vectors, matrices and batches of them."""
    a, b = shape_of(x), shape_of(other)
    if not a or not b:
        return said("no axes", len(a), len(b))
    if len(a) == len(b) == 1:
        return of_dot(x, other)  # type: ignore[no-any-return]
    if len(b) <= 2:
        return said("matrix vector" if len(b) == 1 else "matrices", math.prod(a[:-1]), a[-1], *b)
    lead = misfit(a[:-2], b[:-2])
    if lead is not None or len(a) < 2:
        return lead
    batch = math.prod(np.broadcast_shapes(a[:-2], b[:-2]))
    return said("batches", [batch, a[-1]], [batch, b[-2]])


def of_linear(x: Any, weight: Any, **_: Any) -> Said:
    """``linear`` is the product with a transposed matrix; a vector is a matrix of one row."""
    a, b = shape_of(x), shape_of(weight)
    if len(b) != 2 or not a or a[-1] == b[1]:
        return None
    return said("matrices", math.prod(a[:-1]), a[-1], b[1], b[0])


def of_convolution(x: Any, weight: Any, bias: Any = None, groups: int = 1, **named: Any) -> Said:
    """A convolution takes a batch of channels, or one without a batch, no smaller than its kernel."""
    shape, kernel, padding = shape_of(x), shape_of(weight), named.get("padding", 0)
    axes = len(kernel) - 2
    if len(shape) not in (axes + 1, axes + 2):
        return said("convolved axes", axes + 1, axes + 2, f"conv{axes}d", list(shape))
    if min(flat(named.get("stride", 1))) < 1:
        return said("convolved stride")
    batch = [1] * (axes + 2 - len(shape)) + list(shape)
    if batch[1] != kernel[1] * groups:
        return said("convolved channels", groups, list(kernel), batch, kernel[1] * groups, batch[1])
    if bias is not None and shape_of(bias) != kernel[:1]:
        return said("convolved bias", list(kernel), kernel[0], list(shape_of(bias)))
    if isinstance(padding, str):
        return None
    sides, steps = ([v] * axes if isinstance(v, int) else list(v) for v in (padding, named.get("dilation", 1)))
    padded = [length + 2 * side for length, side in zip(batch[2:], sides, strict=False)]
    spans = [step * (length - 1) + 1 for length, step in zip(kernel[2:], steps, strict=False)]
    fits = all(span <= length for span, length in zip(spans, padded, strict=False))
    return None if fits else said("convolved size", *(" x ".join(map(str, sizes)) for sizes in (padded, spans)))


def of_batch_norm(x: Any, training: bool = False, **named: Any) -> Said:
    """``batch_norm`` takes as many channels as it has means, and more than one number for each."""
    shape = shape_of(x)
    channels = shape[1] if len(shape) > 1 else 0
    for name in ("running_mean", "running_var", "weight", "bias"):
        if (count := (*shape_of(named.get(name)), channels)[0]) != channels:
            return said("normalized channels", name, channels, count)
    return said("normalized numbers", list(shape)) if training and math.prod(shape) == channels else None


def of_addmm(mat1: Any, mat2: Any, **_: Any) -> Said:
    """``addmm`` adds to a product of matrices."""
    a, b = shape_of(mat1), shape_of(mat2)
    return said("matrices", *a, *b) if len(a) == len(b) == 2 and a[1] != b[0] else None


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
    shapes = [list(t.shape) for t in tensors]
    place = next((k for k, shape in enumerate(shapes) if shape != shapes[0]), 0)
    if not shapes:
        return said("stack nothing")
    return said("stack", shapes[0], shapes[place], place) if place else None


def of_reshape(x: Any, shape: Any = (), **_: Any) -> Said:
    """``view`` and ``reshape`` take as many entries as there are."""
    shape = flat(shape)
    return said("two inferred") if shape.count(-1) > 1 else said("reshape", shape, math.prod(shape_of(x)))


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


def of_stretch(
    x: Any, dim: Any = 0, start: Any = None, length: Any = None, split_size_or_sections: Any = None, **_: Any
) -> Said:
    """``narrow`` takes a stretch of an axis, and ``split`` lengths that sum to that of the axis."""
    shape, sizes = shape_of(x), split_size_or_sections
    if type(dim) is not int or not -len(shape) <= dim < len(shape) or (sizes is None and type(start) is not int):
        return None
    if sizes is None:
        return said("narrow", start, length, shape[dim])
    return said("split sizes", shape[dim], dim, list(sizes)) if type(sizes) is not int else said("split", shape[dim])


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
    shape, classes = x.shape, np.asarray(target.value)
    count = shape[0 if len(shape) == 1 else 1]
    if classes.shape != without_classes(shape):
        return of_target_shape(shape, classes.shape)
    if isinstance(weight, Tensor) and weight.shape != (count,):
        return said("class weights", count, list(weight.shape))
    bad = classes[(classes != ignore_index) & ((classes < 0) | (classes >= count))]
    return said("target", bad.ravel()[0]) if bad.size else None


def of_target_shape(shape: Shape, target: Shape) -> Said:
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
    key = "empty place" if name.startswith("arg") else "empty"
    return lambda x, dim=None, **_: None if math.prod(shape_of(x)) or dim is not None else said(key, name)


def of_matrix(name: str) -> Callable[..., Said]:
    """Return what says that a matrix is not square, that it has no inverse, or no Cholesky factor."""

    def error(x: Any = None, A: Any = None, B: Any = None, **_: Any) -> Said:
        matrix = A if x is None else x
        a = np.asarray(getattr(matrix, "value", matrix))
        if a.ndim < 2:
            return said("no matrix", name)
        if a.shape[-1] != a.shape[-2] and name != "qr":
            return said("square", name, *a.shape[-2:])
        if name == "solve":
            b = shape_of(B)
            b = (*b, 1) if len(b) == 1 or b == a.shape[:-1] else b
            if len(b) < 2:
                return said("no matrix B", name)
            return said("solve shapes", *a.shape[-2:], *b[-2:]) if b[-2] != a.shape[-1] else said("solve")
        if a.ndim != 2 or a.dtype == object or name not in ("inv", "cholesky"):
            return None
        parts = [a[:k, :k] for k in range(1, len(a) + 1)]
        if name == "inv":
            fails = [np.linalg.matrix_rank(part) < len(part) for part in parts]
        else:
            fails = [np.linalg.det(part) <= 0 for part in parts]
        return said(name, fails.index(True) + 1 if True in fails else len(a))

    return error


WORDS: dict[str, Callable[..., Said]] = {
    "mm": of_shapes(
        (2, 2), lambda a, b: said("self no matrix" if len(a) != 2 else "mat2 no matrix"),
        lambda a, b: said("matrices", *a, *b)),
    "mv": of_shapes(
        (2, 1), lambda a, b: said("no matrix vector", len(a), len(b)), lambda a, b: said("matrix vector", *a, *b)),
    "bmm": of_shapes(
        (3, 3), lambda a, b: said("no batch", 1 if len(a) != 3 else 2),
        lambda a, b: said("batches", [a[0], a[2]], list(b[:2]))),
    "torch.dot": of_dot, "matmul": of_matmul, "linear": of_linear, "addmm": of_addmm,
    **{f"conv{axes}d": of_convolution for axes in (1, 2, 3)}, "batch_norm": of_batch_norm,
    "layer_norm": lambda x, normalized_shape, **_: (
        None if x.shape[-len(sizes := flat([normalized_shape])) :] == (*sizes,)
        else said("normalized shape", sizes, ", ".join(map(str, sizes)), list(x.shape))),
    "pow": lambda x, other, **_: misfit(shape_of(x), shape_of(other)) or said("negative power"),
    "cat": of_cat, "stack": of_stack, "reshape": of_reshape, "expand": of_expand, "permute": of_permute,
    "narrow": of_stretch, "split": of_stretch, "chunk": lambda chunks, **_: said("chunk", chunks),
    "t": lambda x, **_: said("t", len(shape_of(x))), "take": of_take,
    **dict.fromkeys(("gather", "scatter", "scatter_add"), of_gather),
    **dict.fromkeys(("index_select", "embedding"), lambda **_: said("select")),
    **dict.fromkeys(("nll_loss", "cross_entropy"), of_target), "bce": of_bce,
    **dict.fromkeys(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"), of_loss),
    **dict.fromkeys(("masked_fill", "masked_select"), lambda x, mask, **_: misfit(shape_of(mask), shape_of(x))),
    "topk": lambda **_: said("topk"),
    "kthvalue": lambda x, dim=-1, **_: said("kthvalue", dim % max(len(shape_of(x)), 1)),
    **{name: of_empty(name) for name in ("max", "min", "argmax", "argmin")},
    **{name: of_matrix(name) for name in ("inv", "det", "solve", "cholesky", "eigh")}, "linalg.qr": of_matrix("qr"),
    "trace": lambda x, **_: said("trace", len(shape_of(x))),
    "outer": lambda x, other, **_: (
        said("outer", "vec2", len(shape_of(other)))
        if len(shape_of(x)) == 1 else said("outer", "self", len(shape_of(x)))),
    "where": lambda condition, x, other: (
        misfit(shape_of(condition), shape_of(x)) or misfit(shape_of(x), shape_of(other))),
}  # fmt: skip
"""By the table's name of a function, with the table's parameters."""

# ---- exceptions of a script
LIBRARIES_OWN = {
    "LinAlgError": "ValueError", "_LinAlgError": "RuntimeError", "AxisError": "ValueError",
    "UFuncTypeError": "TypeError", "DTypePromotionError": "TypeError", "FrozenInstanceError": "AttributeError",
    "StatisticsError": "ValueError", "JSONDecodeError": "ValueError",
}  # fmt: skip
"""Exceptions that are no builtins, each with the class that it is derived from."""
TREE = {
    **{
        name: "" if name == "BaseException" else str(getattr(kind.__base__, "__name__", ""))
        for name, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, BaseException) and kind.__name__ == name
    },
    "ExceptionGroup": "Exception", "ConcretizationTypeError": "TypeError",
    "TracerBoolConversionError": "ConcretizationTypeError", **LIBRARIES_OWN,
}  # fmt: skip
"""All exceptions: Python's, and those of libraries."""
CLASSES: dict[str, Class] = {}
FIRST_ARGUMENT = {"StopIteration": "value", "SystemExit": "code"}
"""What the first argument of an exception is called."""


def exception_class(name: str) -> Class:
    """Return one of Python's classes of exceptions."""
    if name not in CLASSES:
        base = TREE[name]
        members: dict[str, Any] = {} if base else dict(MEMBERS)
        if name in FIRST_ARGUMENT:
            members[FIRST_ARGUMENT[name]] = Property(lambda run, me: (me.fields.get("args") or (None,))[0])
        CLASSES[name] = Class(name, [exception_class(base)] if base else [], members)
    return CLASSES[name]


class Raised(Exception):
    """An exception of the script, on its way up; ``line`` is where it was raised.

    ``about`` is what its advice names: the line behind it, a variable, or the numbers of two ways out.
    """

    about: int | str | None = None
    said: str | None = None

    def __init__(self, instance: Instance, line: int = 0, cause: GradcliError | None = None) -> None:
        super().__init__(instance.kind.name)
        self.instance = instance
        self.line = line
        self.cause = cause

    @property
    def name(self) -> str:
        """What its class is called."""
        return self.instance.kind.name

    @property
    def text(self) -> str:
        """What it says: as the run has it once the run has looked, else by its arguments."""
        return ", ".join(map(str, self.instance.fields.get("args", ()))) if self.said is None else self.said


def show(run: Any, instance: Instance) -> str:
    """Return what ``str`` gives of an exception."""
    arguments = instance.fields.get("args", ())
    if isinstance(arguments, tuple) and len(arguments) == 1:
        shown = run.quoted if instance.kind.is_a(exception_class("KeyError")) else run.text
        return shown(arguments[0])  # type: ignore[no-any-return]
    return run.quoted(arguments) if arguments != () else ""


def new(_run: Any, kind: Class, *arguments: Any, **_: Any) -> Instance:
    """Return a new exception: it has its arguments, whatever ``__init__`` does with them."""
    made = Instance(kind)
    made.fields["args"] = arguments
    return made


MEMBERS = {
    "__new__": new, "add_note": lambda run, me, note: me.fields.setdefault("__notes__", []).append(note),
    "__context__": None, "__suppress_context__": False,
    "__init__": lambda run, me, *arguments, **named: me.fields.update({"args": arguments} | named),
    "__str__": show,
    "__repr__": lambda run, me: f"{me.kind.name}({', '.join([run.quoted(a) for a in me.fields.get('args', ())])})",
    "with_traceback": lambda run, instance, _traceback: instance,
    "__traceback__": None, "__cause__": None,
}  # fmt: skip


def raised(kind: str, *arguments: Any, cause: GradcliError | None = None) -> Raised:
    """Return an exception of one of Python's classes."""
    return Raised(new(None, exception_class(kind), *arguments), cause=cause)


KINDS = {
    "shape": "RuntimeError", "index": "IndexError", "type": "TypeError", "value": "ValueError",
    "in-place": "RuntimeError", "arguments": "TypeError", "not-differentiable": "RuntimeError",
    "numpy-only": "RuntimeError", "torch-refuses": "RuntimeError", "singular": "LinAlgError",
    "integers": "RuntimeError",
}  # fmt: skip
"""Errors of the engine that are exceptions of the script: all others end the run, as what gradcli does not do."""


def raised_of(error: Raised | GradcliError) -> Raised | None:
    """Return an error as the exception that PyTorch raises, None for one that ends the run."""
    if isinstance(error, Raised):
        return error
    if isinstance(error, GivenUp) or error.kind not in KINDS:
        return None
    return raised(KINDS[error.kind], in_torch_words(error), cause=error)


def in_torch_words(error: GradcliError) -> str:
    """Return an error of shapes or indices as PyTorch words it."""
    pair = re.search(r"shapes (\([\d, ]*\)) and (\([\d, ]*\)) do not fit", error.message)
    if error.kind == "shape" and pair is not None:
        a, b = (np.broadcast_to(0.0, tuple(map(int, re.findall(r"\d+", text)))) for text in pair.groups())
        product = of_matmul(a, b) if re.search("@|mm|matmul|linear", error.message) and a.ndim and b.ndim else None
        error_words = product or misfit(a.shape, b.shape)
        return error.message if error_words is None else error_words[1]
    return re.sub(
        r"^index (-?\d+) is out of bounds for axis (\d+) with size (\d+).*",
        r"index \1 is out of bounds for dimension \2 with size \3", error.message, flags=re.DOTALL,
    )  # fmt: skip


def raise_key(key: Any) -> Any:
    """Raise KeyError for a key."""
    raise raised("KeyError", key)


def of_host(error: Exception) -> Raised | None:
    """Return an error of the host's as one of the script, None where Python has no such exception."""
    kind = type(error).__name__
    if kind not in TREE:
        return None
    argument = error.args[0] if error.args else ""
    return raised(kind, argument if kind == "KeyError" else str(argument))


def in_names_of(run: Any, text: str, values: Iterable[Any]) -> str:
    """Return what Python says of values, with the script's names for the types that are none of Python's."""
    for value in values:
        if type(value).__module__.startswith("gradcli."):
            text = re.sub(rf"\b{type(value).__name__}\b", run.type_name(value), text)
    return text
