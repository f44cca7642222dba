"""Values with operators, in which builders are written as formulas, and how their arguments are read by annotation.

>>> from gradcli.engine.graph import Graph
>>> graph = Graph()
>>> x = Value(graph, graph.input("x", np.array([0.5, 2.0]), active=True))
>>> (1 - x * x).numbers.tolist()
[0.75, -3.0]

A builder takes no graph: each of its values has it. How its arguments are read stands in ``READERS``; before it stand
the axes: which ``dim`` names, what is put back where they were reduced, and how they lie in memory.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import links
from gradcli.ops.declare import OPERATORS, OPS, Apply, Op, Pair, value_of
from gradcli.ops.links import Array, Index, Indices, Shape, Static, Tensor

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Subscripts for axes."""


def one_axis(dim: Static, ndim: int) -> int:
    """Return ``dim`` as an axis counted from 0; a scalar has one axis by courtesy, as in PyTorch."""
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise GradcliError("value", f"dim must be an integer, not {dim!r}")
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise GradcliError(
            "shape",
            f"dim={dim} is out of range for an array with {ndim} axes",
            hint=f"it can be {-bound} to {bound - 1}",
        )
    return dim % bound


def number(value: Static, name: str) -> float:
    """Return a plain number; raises ``value`` for anything else."""
    if not isinstance(value, int | float):
        raise GradcliError("value", f"{name} must be a number, not {value!r}")
    return float(value)


def whole(value: Static, name: str) -> int:
    """Return ``value`` if it is an integer; raises ``value`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise GradcliError("value", f"{name} must be an integer, not {value!r}")
    return value


def read_axes(dim: Static, ndim: int, empty: str = "none") -> links.Axes:
    """Return the axes that ``dim`` names, all of them for None; raises ``shape`` for one out of range or twice.

    ``empty`` says what an empty tuple means: ``none`` of the axes, ``all``, or ``refused``.
    """
    if dim == () and empty == "refused":
        raise GradcliError("value", "dim is empty: PyTorch refuses that here", hint="leave dim out for all axes")
    if dim is None or (dim == () and empty == "all"):
        return tuple(range(ndim))
    dims = dim if isinstance(dim, tuple) else (dim,)
    axes = tuple(one_axis(item, ndim) for item in dims)
    if len(set(axes)) != len(axes):
        raise GradcliError("shape", f"dim={dim!r} names an axis twice")
    return axes if ndim else ()


def empty_of(library: str, torch: str = "all") -> str:
    """Return what an empty ``dim`` means under the names of a library: nothing is reduced in NumPy."""
    return "none" if library == "np" else torch


def as_keepdim(g: Array, axes: links.Axes, keepdim: bool) -> Array:
    """Return a reduced array with its reduced axes put back with length 1."""
    return g if keepdim or not axes or isinstance(g, np.float64) else np.expand_dims(g, axes)


WRITTEN = 4096
"""Entries up to which one number is written so often: beyond, a view reads it from one place, which is dear to make."""


def broadcast_back(g: Array, axes: links.Axes, keepdim: bool, x: Array) -> Array:
    """Return the cotangent of a sum at each of its terms: that of the sum."""
    if isinstance(g, np.float64) and x.size <= WRITTEN:
        return np.full(x.shape, g)
    return np.broadcast_to(as_keepdim(g, axes, keepdim), x.shape)


def unbroadcast(g: Array, shape: tuple[int, ...]) -> Array:
    """Sum a cotangent over the axes along which an argument of ``shape`` was broadcast; a single one is a number."""
    if g.shape == shape:
        return g if shape else g[()]
    lead = g.ndim - len(shape)
    if lead >= 0:
        stretched = tuple(lead + axis for axis, length in enumerate(shape) if length == 1 != g.shape[lead + axis])
        axes = (*range(lead), *stretched)
        summed = np.sum(fold_rows(g) if 0 in axes else g, axis=axes, keepdims=True)
        g = summed.reshape(summed.shape[lead:])
    return np.broadcast_to(g, shape)[()]


ROWS = 1024
"""Rows that numpy adds up one after the other: beyond, the rounding of so many additions counts."""


def fold_rows(g: Array) -> Array:
    """Return an array with no more than so many rows and the same sum over them, by sums of blocks of rows."""
    rows = len(g) // ROWS
    if g.ndim == 1 or rows < 2:
        return g
    blocks = g[: rows * ROWS].reshape(rows, ROWS, *g.shape[1:])
    return np.concatenate([fold_rows(np.sum(blocks, axis=1)), np.sum(g[rows * ROWS :], axis=0, keepdims=True)])


def group_rows(x: Array, axes: links.Axes) -> Indices:
    """Return, for each entry of ``x`` in flat order, the flat index of the output that it is reduced into."""
    shape = np.shape(x)
    kept = tuple(1 if axis in axes else length for axis, length in enumerate(shape))
    flat = np.arange(int(np.prod(kept)), dtype=np.intp).reshape(kept)
    return np.broadcast_to(flat, shape).ravel()


def require_entries(x: Tensor, axes: links.Axes, name: str) -> None:
    """Refuse to reduce over no entries at all where the result would not be a number."""
    if any(x.shape[axis] == 0 for axis in axes):
        raise GradcliError("shape", f"{name} of no entries: the array has shape {x.shape}")


def cloned(x: Array) -> Array:
    """Return a copy without gaps whose axes lie in memory as those of x, row by row where one entry stands for many.

    >>> columns = np.arange(6.0).reshape(2, 3).T
    >>> cloned(columns).flags.f_contiguous, cloned(np.broadcast_to(columns[0], (3, 2))).flags.c_contiguous
    (True, True)
    """
    return np.array(x, order="C" if 0 in np.squeeze(x).strides else "K")


# --- values ---

Axes: TypeAlias = links.Axes
"""A parameter that takes axes by number, or None for all of them; an empty tuple is none."""
AllAxes: TypeAlias = links.Axes
"""As ``Axes``, where an empty tuple is all of them too."""
LibraryAxes: TypeAlias = links.Axes
"""As ``AllAxes``, but under NumPy's names as ``Axes``."""
Axis: TypeAlias = int
"""A parameter that takes one axis."""
ALL = cast("links.Axes", None)
"""The default of a parameter for axes: all of them."""
S = TypeVar("S", bound="Operators")


class Operators:
    """What has the operators of the language: each applies its op, by ``apply``."""

    __slots__ = ()

    def apply(self: S, op: Op, *arguments: Any, **static: Any) -> S:
        """Return the value of an op."""
        raise NotImplementedError

    # fmt: off
    def __add__(self: S, other: Any) -> S:       return self.apply(OPERATORS["+", 2], self, other)
    def __radd__(self: S, other: Any) -> S:      return self.apply(OPERATORS["+", 2], other, self)
    def __sub__(self: S, other: Any) -> S:       return self.apply(OPERATORS["-", 2], self, other)
    def __rsub__(self: S, other: Any) -> S:      return self.apply(OPERATORS["-", 2], other, self)
    def __mul__(self: S, other: Any) -> S:       return self.apply(OPERATORS["*", 2], self, other)
    def __rmul__(self: S, other: Any) -> S:      return self.apply(OPERATORS["*", 2], other, self)
    def __truediv__(self: S, other: Any) -> S:   return self.apply(OPERATORS["/", 2], self, other)
    def __rtruediv__(self: S, other: Any) -> S:  return self.apply(OPERATORS["/", 2], other, self)
    def __pow__(self: S, other: Any) -> S:       return self.apply(OPERATORS["**", 2], self, other)
    def __rpow__(self: S, other: Any) -> S:      return self.apply(OPERATORS["**", 2], other, self)
    def __matmul__(self: S, other: Any) -> S:    return self.apply(OPERATORS["@", 2], self, other)
    def __mod__(self: S, other: Any) -> S:       return self.apply(OPERATORS["%", 2], self, other)
    def __neg__(self: S) -> S:                   return self.apply(OPERATORS["-", 1], self)
    def __abs__(self: S) -> S:                   return self.apply(OPS["abs"], self)
    def __lt__(self: S, other: Any) -> S:        return self.apply(OPERATORS["<", 2], self, other)
    def __le__(self: S, other: Any) -> S:        return self.apply(OPERATORS["<=", 2], self, other)
    def __gt__(self: S, other: Any) -> S:        return self.apply(OPERATORS[">", 2], self, other)
    def __ge__(self: S, other: Any) -> S:        return self.apply(OPERATORS[">=", 2], self, other)
    def __eq__(self: S, other: object) -> S:  # type: ignore[override]
        return self.apply(OPERATORS["==", 2], self, other)
    def __ne__(self: S, other: object) -> S:  # type: ignore[override]
        return self.apply(OPERATORS["!=", 2], self, other)
    def __and__(self: S, other: Any) -> S:       return self.apply(OPERATORS["&", 2], self, other)
    def __rand__(self: S, other: Any) -> S:      return self.apply(OPERATORS["&", 2], other, self)
    def __or__(self: S, other: Any) -> S:        return self.apply(OPERATORS["|", 2], self, other)
    def __ror__(self: S, other: Any) -> S:       return self.apply(OPERATORS["|", 2], other, self)
    def __invert__(self: S) -> S:                return self.apply(OPERATORS["~", 1], self)
    __hash__ = None  # type: ignore[assignment]
    # fmt: on


class Value(Operators):
    """An array of a program, a node of the graph ``f`` or plain numbers, in the formula of a builder."""

    __slots__ = ("f", "node")
    __array_ufunc__ = None

    def __init__(self, f: Apply, node: Any) -> None:
        self.f = f
        self.node = node

    def apply(self, op: Op, *arguments: Any, **static: Any) -> Value:
        """Return the value of an op; a plain number is a double."""
        return Value(self.f, self.f(op, *map(as_node, arguments), **static))

    def of(self, op: Op, *others: Any, **static: Any) -> Value:
        """Return an op of this value and others."""
        return Value(self.f, self.f(op, self.node, *map(as_node, others), **static))

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        return self.node.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.node.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.node.shape)

    @property
    def active(self) -> bool:
        """Whether it depends on a variable that is differentiated."""
        return bool(getattr(self.node, "active", False))

    @property
    def raw(self) -> Any:
        """The numbers as they are, doubles or numbers of many digits."""
        return value_of(self.node)

    @property
    def numbers(self) -> Array:
        """The numbers as an array of doubles."""
        return np.asarray(value_of(self.node), dtype=np.float64)

    def __bool__(self) -> bool:
        raise TypeError("a value has no truth: ask its numbers")

    def __getitem__(self, key: Index) -> Value:
        return self.of(OPS["index"], key=key)

    def along(self, axis: int, part: Any) -> Value:
        """Return what an index picks along one axis."""
        return self[(*[slice(None)] * axis, part)]

    def reshape(self, *shape: int) -> Value:
        """Return the same entries in another shape."""
        return self.of(OPS["reshape"], shape=shape)

    def permute(self, *dims: int) -> Value:
        """Return the axes in another order."""
        return self.of(OPS["permute"], dims=dims)

    def swap(self, first: int, second: int) -> Value:
        """Return two axes swapped; one number as it is."""
        order = list(range(self.ndim))
        if order:
            order[first], order[second] = order[second], order[first]
        return self.permute(*order)

    def expand(self, *shape: int) -> Value:
        """Return an array repeated along axes of length 1 and new axes."""
        return self.of(OPS["expand"], shape=shape)

    def clone(self) -> Value:
        """Return a copy."""
        return self.of(OPS["clone"])

    def detach(self) -> Value:
        """Return the same numbers as constants."""
        return self.of(OPS["detach"])

    def sum(self, *axes: int, keepdim: bool = False) -> Value:
        """Return the sum along axes."""
        return self.of(OPS["sum"], dim=axes, keepdim=keepdim)

    def mean(self, *axes: int, keepdim: bool = False) -> Value:
        """Return the mean along axes."""
        return self.of(OPS["mean"], dim=axes, keepdim=keepdim)

    def total(self) -> Value:
        """Return the sum of all entries."""
        return self.sum(*range(self.ndim))

    @property
    def flat(self) -> Value:
        """All entries in one row: a vector as it is."""
        return self if self.ndim == 1 else self.reshape(-1)

    @property
    def mT(self) -> Value:  # noqa: N802 - as PyTorch calls it
        """Each matrix transposed."""
        return self.swap(-2, -1)


Values: TypeAlias = Sequence[Value]
"""A parameter that takes a list of arrays, not stacked."""
Operand: TypeAlias = "Value | Array | links.Mask | float"


def as_node(x: Any) -> Any:
    """Return what a graph takes: the node of a value, a plain number as a double, and arrays as they are."""
    if type(x) is Value:
        return x.node
    return np.float64(x) if type(x) in (int, float) else x


def op_of(op: Op, *arguments: Any, **static: Any) -> Value:
    """Return an op of arguments of which one is a value."""
    return next(x for x in arguments if type(x) is Value).apply(op, *arguments, **static)


def entrywise(name: str) -> Callable[[Value], Value]:
    """Return a function of each entry, by the name of its op."""
    return lambda x: x.of(OPS[name])


exp, log, sqrt, square, sign, relu, sigmoid, logsigmoid = map(
    entrywise, ("exp", "log", "sqrt", "square", "sign", "relu", "sigmoid", "logsigmoid")
)


def where(condition: Any, a: Operand, b: Operand) -> Value:
    """Return the entries of a where a condition holds, those of b elsewhere."""
    return op_of(OPS["where"], condition, a, b)


def clamp_min(x: Value, low: Operand) -> Value:
    """Return x, but at least the bound; its derivative at the bound is 1, as PyTorch's clamp_min has it."""
    return x.of(OPS["clamp_min"], low)


def einsum(spec: str, *arrays: Value) -> Value:
    """Return the sum of products that subscripts describe."""
    return op_of(OPS["einsum"], *arrays, spec=spec)


def stack(arrays: Sequence[Any], dim: int = 0) -> Value:
    """Return arrays of one shape along a new axis."""
    return op_of(OPS["stack"], *arrays, dim=dim)


def require(holds: object, kind: str, message: str, hint: str | None = None) -> None:
    """Raise an error of a kind unless a condition holds."""
    if not holds:
        raise GradcliError(kind, message, hint=hint)


def common_shape(said: str, *shapes: Shape) -> Shape:
    """Return the shape that shapes broadcast to; raises ``shape``, with what is ``said`` then, where they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise GradcliError("shape", said) from None


class Reduction(NamedTuple):
    """A parameter that takes how losses become one number: ``mean``, ``sum`` or ``none``.

    Called ``how``, it stands for three of PyTorch's: ``size_average``, ``reduce`` and ``reduction``.
    """

    word: Static = "mean"

    def __call__(self, losses: Value) -> Value:
        """Return the mean, the sum, or the losses as they are."""
        if self.word == "none":
            return losses
        require(self.word in ("mean", "sum"), "value", f"reduction must be 'mean', 'sum' or 'none', not {self.word!r}")
        return losses.total() if self.word == "sum" else losses.mean(*range(losses.ndim))


MEAN = Reduction()
Around: TypeAlias = Reduction
"""A parameter ``how`` of which ``size_average`` stands before the next parameter, and the other two behind it."""


def how_reduced(size_average: Static, reduce: Static, reduction: Static) -> Reduction:
    """Return ``reduction``, or what PyTorch's older flags say in its place; raises ``value`` for a word among these."""
    if isinstance(size_average, str) or isinstance(reduce, str):
        word = size_average if isinstance(size_average, str) else reduce
        raise GradcliError("value", f"{word!r} stands where size_average does", hint=f'write reduction="{word}"')
    if size_average is None and reduce is None:
        return Reduction(reduction)
    if reduce is not None and not reduce:
        return Reduction("none")
    return Reduction("mean" if size_average is None or size_average else "sum")


class Reading(NamedTuple):
    """What a reader knows beside its argument: the first array of the call, and whose name was used."""

    f: Apply
    first: Any
    library: str


def wrapped(x: Any, name: str, call: Reading) -> Any:
    """Return an argument as a value, and a list of them as values; None as it is."""
    del name
    if x is None:
        return None
    return [Value(call.f, item) for item in x] if isinstance(x, list) else Value(call.f, x)


def plainly(read: Callable[[Any, str], Any]) -> Callable[[Any, str, Reading], Any]:
    """Return a reader that needs an argument and its name alone."""
    return lambda x, name, call: read(x, name)


def axes_by(empty: Callable[[str], str]) -> Callable[[Any, str, Reading], Any]:
    """Return the reader of axes of the first array, of which none mean what a library says."""
    return lambda x, name, call: read_axes(x, call.first.ndim, empty(call.library))


READERS: dict[str, tuple[str, Callable[[Any, str, Reading], Any]]] = {
    "Value": ("Tensor", wrapped),
    "Value | None": ("Tensor | None", wrapped),
    "Values": ("Tensors", wrapped),
    "float": ("Static", plainly(number)),
    "float | None": ("Static", lambda x, name, call: None if x is None else number(x, name)),
    "int": ("Static", plainly(whole)),
    "int | None": ("Static", lambda x, name, call: None if x is None else whole(x, name)),
    "bool": ("Static", lambda x, name, call: bool(x)),
    "Axis": ("Static", lambda x, name, call: one_axis(x, call.first.ndim)),
    "Axes": ("Static", axes_by(lambda library: "none")),
    "AllAxes": ("Static", axes_by(lambda library: "all")),
    "LibraryAxes": ("Static", axes_by(empty_of)),
    "Reduction": ("Static", lambda x, name, call: Reduction(x)),
    **{name: (name, lambda x, name, call: x) for name in ("Apply", "Around", "Library", "Raw", "Raws", "Static")},
    "Static | Tensor": ("Static | Tensor", lambda x, name, call: x),
}
"""By annotation: what the language takes there, and how it is read. There is no parameter of another one."""
EMPTY = inspect.Parameter.empty
FLAGS = {"size_average": None, "reduce": None, "reduction": "mean"}


class FormulaBuilder:
    """The builder of a function by its ``rule``, a formula on values, which may ask for the graph ``f`` too."""

    def __init__(self, rule: Callable[..., Any]) -> None:
        self.rule = rule
        self.__doc__ = rule.__doc__

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of the rule."""
        return list(inspect.signature(self.rule).parameters.values())

    @cached_property
    def __signature__(self) -> inspect.Signature:
        """What the language sees: a graph, and parameters by what they take."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        seen = [inspect.Parameter("f", kind, annotation="Apply")]
        rest: list[inspect.Parameter] = []
        for p in self.parameters:
            if p.name == "how":
                flags = [inspect.Parameter(n, kind, default=x, annotation="Static") for n, x in FLAGS.items()]
                seen, rest = (seen + flags[:1], flags[1:]) if p.annotation == "Around" else (seen + flags, [])
            elif p.name != "f":
                default = p.default.word if isinstance(p.default, Reduction) else p.default
                seen.append(p.replace(annotation=READERS[p.annotation][0], default=default))
                seen, rest = seen + rest, []
        names = {p.name for p in self.parameters}
        if "library" not in names and any(p.annotation == "LibraryAxes" for p in self.parameters):
            seen.append(inspect.Parameter("library", kind, default="torch", annotation="Library"))
        returns = str(inspect.signature(self.rule).return_annotation).replace("Value", "Tensor")
        return inspect.Signature(seen, return_annotation=returns)

    @cached_property
    def readers(self) -> list[tuple[str, Any, Callable[[Any, str, Reading], Any]]]:
        """The name, the kind and the reader of each parameter."""
        return [(p.name, p.kind, READERS[p.annotation][1]) for p in self.parameters]

    @cached_property
    def plain(self) -> list[tuple[str, Callable[[Any, str, Reading], Any]]] | None:
        """The readers of a rule that takes its parameters by place, and nothing beside them; None for another one."""
        by_place = all(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for _, kind, _ in self.readers)
        alone = not {"f", "how"} & {name for name, _, _ in self.readers}
        return [(name, read) for name, _, read in self.readers] if by_place and alone else None

    def __call__(self, f: Apply, *arguments: Any, **options: Any) -> Any:
        """Return what the rule makes of arguments as the language has them."""
        bound = self.bound(f, arguments, options)
        call = Reading(f, first_array(bound.values()), bound.get("library", "torch"))
        if self.plain is not None:
            return unwrapped(self.rule(*[read(bound[name], name, call) for name, read in self.plain]))
        places, names = [], {}
        for name, kind, read in self.readers:
            if name in ("f", "how"):
                places.append(f if name == "f" else how_reduced(*(bound[flag] for flag in FLAGS)))
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                places += [read(item, name, call) for item in bound[name]]
            elif kind is inspect.Parameter.KEYWORD_ONLY:
                names[name] = read(bound[name], name, call)
            else:
                places.append(read(bound[name], name, call))
        return unwrapped(self.rule(*places, **names))

    @cached_property
    def places(self) -> tuple[list[str], str | None, list[str], dict[str, Any]]:
        """The parameters by place, the one of all the rest, those that have to be given, and all defaults."""
        seen = list(self.__signature__.parameters.values())[1:]
        names = [p.name for p in seen if p.kind is p.POSITIONAL_OR_KEYWORD]
        rest = next((p.name for p in seen if p.kind is p.VAR_POSITIONAL), None)
        needed = [p.name for p in seen if p.default is EMPTY and p.name != rest]
        return names, rest, needed, {p.name: () if p.name == rest else p.default for p in seen}

    def bound(self, f: Apply, arguments: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return each parameter's argument; Python's own way to bind them takes longer than many an op."""
        names, rest, needed, defaults = self.places
        result = {**defaults, **dict(zip(names, arguments, strict=False)), **options}
        if rest and rest not in options:
            result[rest] = arguments[len(names) :]
        fits = len(result) == len(defaults) and (rest not in options if rest else len(arguments) <= len(names))
        if fits and not any(result[name] is EMPTY for name in needed):
            return result
        bound = self.__signature__.bind(f, *arguments, **options)
        bound.apply_defaults()
        return {name: x for name, x in bound.arguments.items() if name != "f"}


def first_array(values: Iterable[Any]) -> Any:
    """Return the first argument that has axes; None where there is none."""
    for x in values:
        if hasattr(x, "ndim"):
            return x
    return None


def unwrapped(result: Any) -> Any:
    """Return what a formula gives as the language has it: nodes and plain numbers."""
    if type(result) is Value:
        return result.node
    if type(result) is tuple:
        return tuple(map(unwrapped, result))
    return Pair(unwrapped(result.values), result.indices) if type(result) is Pair else result


def as_builder(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Return the builder of a rule: a formula on values is read by its annotations, and any other as it is."""
    formula = any("Value" in str(a) for a in rule.__annotations__.values())
    return cast("Callable[..., Any]", FormulaBuilder(rule)) if formula else rule
