"""Arrays that carry a value of the graph through a vjp: what numpy does with them is done by ops of the table.

A vjp is written in numpy. Run on ``Traced`` arrays it applies the op that each function of numpy's is, so that what it
gives is a value of the graph too, and can be differentiated like any other:

>>> from gradcli.engine.graph import Graph
>>> graph = Graph()
>>> x = Traced(graph, graph.input("x", np.array([0.5, 2.0]), active=True))
>>> (1 - x * x).node.op.name, (1 - x * x).value.tolist()
('sub', [0.75, -3.0])

Comparisons are ops too, without a derivative: a branch that a rule takes by them is that of the numbers at hand. What
cannot be traced, as an entry that is written in place, raises ``Untraceable``. A slope whose formula loses its own
slope, by overflow or at a bend of a part, is an op of its own here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from gradcli.ops import exactly
from gradcli.ops.arithmetic import ADD, DIV, MAXIMUM, MINIMUM, MUL, NEG, POW, REMAINDER, SUB, power
from gradcli.ops.declare import (
    OPERATORS,
    OPS,
    RULES,
    Apply,
    Entries,
    Exactly,
    Keeps,
    Op,
    Said,
    Text,
    Torch,
    on_none,
    rule_for,
)
from gradcli.ops.elementwise import asin_slope, cospi, erfc, recomputed, sigmoid, sigmoid_slope, sinpi, tanh_slope
from gradcli.ops.joining import CAT, INDEX, STACK
from gradcli.ops.linear_algebra import EINSUM, MATMUL, on_diagonal
from gradcli.ops.links import Array, At, Formula, Indices, Links, Options, Rule, Shape, Vjp
from gradcli.ops.matrices import DET, INV, SOLVE, is_singular
from gradcli.ops.piecewise import ABS, CLAMP_MAX, CLAMP_MIN, CLIP, SIGMOID, SIGN, TRUNC, WHERE, sign
from gradcli.ops.reductions import CUMPROD, CUMSUM, PROD_ALONG, SUM
from gradcli.ops.shaping import CLONE, DIAGONAL, EXPAND, FLIP, RESHAPE, ROLL, TRANSPOSE, TRIL, TRIU
from gradcli.ops.values import Operators
from gradcli.ops.vocabulary import SPELLINGS, elementwise_local, find, load_all


def slope_op(forward: Any, vjp: Vjp, formula: Formula, text: str, exact: Rule | None = None) -> Op:
    """Return the op of a function of ``slopes``, which is written as ``text``: x itself, or X before an operator."""
    plain = forward.__wrapped__
    return Op(
        plain.__name__, plain, (vjp,), elementwise_local(formula, None), formula,
        entries=Entries(shaped=True), exact=Exactly(value=exact),
        text=Text(write=lambda call: text.format(x=call.texts[0], X=call.tight[0])),
    )  # fmt: skip


# fmt: off
SLOPES = {
    asin_slope: slope_op(
        asin_slope, lambda g, y, x: g * (x * (y * y * y)), lambda s, x: 1 / s.sqrt(1 - x**2),
        "(1/sqrt(1 - {X}**2))"),
    tanh_slope: slope_op(
        tanh_slope, lambda g, y, x: -2 * g * np.tanh(x) * y, lambda s, x: 1 / s.cosh(x)**2,
        "(1 - tanh({x})**2)"),
    sigmoid_slope: slope_op(
        sigmoid_slope, lambda g, y, x: -g * np.tanh(0.5 * x) * y, lambda s, x: 1 / (2 + 2 * s.cosh(x)),
        "(sigmoid({x})*(1 - sigmoid({x})))"),
    sinpi: slope_op(
        sinpi, lambda g, _y, x: g * (np.pi * cospi(x)), lambda s, x: s.sin(s.pi * x),
        "sin(pi*{X})", exactly.in_mpmath(lambda mp, x: mp.sinpi(x))),
    cospi: slope_op(
        cospi, lambda g, _y, x: -g * (np.pi * sinpi(x)), lambda s, x: s.cos(s.pi * x),
        "cos(pi*{X})", exactly.in_mpmath(lambda mp, x: mp.cospi(x))),
}
# fmt: on
"""By function: the op that an array which is traced takes in its place."""


# --- slopes that are flat, and that PyTorch differentiates all the same ---

CALLED = {
    "relu": "ThresholdBackwardBackward0",
    "leaky_relu": "LeakyReluBackwardBackward0",
    "abs": "MulBackward0",
    "hardtanh": "HardtanhBackwardBackward0",
    "hardsigmoid": "HardsigmoidBackwardBackward0",
    "hardshrink": "HardshrinkBackwardBackward0",
    "softshrink": "SoftshrinkBackwardBackward0",
}
"""What PyTorch calls the function that made the gradient of an op whose slope is flat."""
BESIDE = Op(
    "beside",
    lambda part, x, *, called: part,
    (lambda g, _y, _part, _x, *, called: g, lambda _g, _y, _part, x, *, called: np.zeros(np.shape(x))),
    lambda at: [] if at.argument else CLONE.local_jacobian(At(0, at.out, at.values[:1], {})),
    entries=Entries(index=Said(), moves=True, by_shape=True),
    torch=Torch(saves=((Keeps.OWN,),)),
    text=Text(write=lambda call: call.tight[0]),
)
"""A cotangent beside the value that its slope is of, with zeros as its derivative by that."""


def beside(f: Any, op: Op, part: Any, x: Any) -> Any:
    """Return a cotangent of ``x`` through an op: where the slope is flat, as one that depends on ``x`` by zeros."""
    called = CALLED.get(op.name)
    return part if called is None else f(BESIDE, part, x, called=called)


# --- traced arrays ---


class Untraceable(Exception):
    """Something was done with a traced array that no op does."""


class Traced(Operators):
    """An array of a vjp that is a value of the graph ``f``: a node, or numbers that the graph computes with."""

    __slots__ = ("f", "node", "value")

    def __init__(self, f: Apply, node: Any) -> None:
        self.f = f
        self.node = node
        self.value = getattr(node, "value", node)

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.value.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.value.size

    @property
    def dtype(self) -> Any:
        """The kind of the entries."""
        return self.value.dtype

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __float__(self) -> float:
        raise Untraceable("a number is taken out of an array")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable("an array is made of another")

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and (not key or (key == (Ellipsis,))):
            return self
        return applied(self.f, INDEX, self, key=plain_key(key))

    def reshape(self, *shape: Any) -> Any:
        """Return the same entries in another shape."""
        return reshaped(self.f, self, shape[0] if len(shape) == 1 else shape)

    def copy(self) -> Traced:
        """Return the array: nobody writes to it."""
        return self

    def astype(self, dtype: Any) -> Any:
        """Return truth values as numbers, and numbers as they are."""
        return self if np.dtype(dtype).kind == "f" and not is_mask(self) else numbers(self).astype(dtype)

    def apply(self, op: Op, *arguments: Any, **static: Any) -> Any:
        """Return the value of an op."""
        return applied(self.f, op, *arguments, **static)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise Untraceable(f"{ufunc.__name__}.{method}")
        return self.in_one_step(ufunc, inputs, {})

    def __array_function__(self, function: Any, _types: Any, args: Any, options: Any) -> Any:
        return self.in_one_step(function, args, options)

    def in_one_step(self, function: Any, args: Any, options: Any) -> Any:
        """Return what a function gives, by its op or its rule."""
        rule = RULES.get(function) or rule_of(function)
        if type(rule) is Op:
            return applied(self.f, rule, *args, **options)
        return rule(self.f, *args, **options)


def rule_of(function: Any) -> Any:
    """Return the op that a function is the forward of; raises ``Untraceable`` where there is none."""
    for further in (False, True):
        if further:
            load_all()
        for op in OPS.values():
            if op.formula is not None:
                RULES.setdefault(op.forward, op)
        if function in RULES:
            return RULES[function]
    return RULES.setdefault(function, untraceable(getattr(function, "__name__", str(function))))


def complement_of_erf(f: Apply, x: Any) -> Any:
    """Return 1 - erf(x), which few programs call, as an op."""
    row = find(SPELLINGS, "erfc")
    return applied(f, cast("Op", row and row.op), x)


def untraceable(name: str) -> Callable[..., Any]:
    """Return the rule of a function that no op does."""

    def rule(*_: Any, **__: Any) -> Any:
        raise Untraceable(name)

    return rule


def applied(f: Apply, op: Op, *arguments: Any, **static: Any) -> Any:
    """Apply an op to traced arrays and numbers; to compare what depends on nothing decides nothing."""
    if (
        (op.flat or op.formula is None)
        and op.exact.pieces is not None
        and not any(type(a) is Traced and hasattr(a.node, "active") for a in arguments)
    ):
        return op.forward(*[a.node if type(a) is Traced else a for a in arguments], **static)
    return traced(f, f(op, *[a.node if type(a) is Traced else a for a in arguments], **static))


def traced(f: Apply, value: Any, exact: bool = False) -> Any:
    """Return a node as a traced array, and plain doubles as they are; exact numbers are computed with by the graph."""
    if type(value) is np.ndarray or isinstance(value, np.generic | np.ndarray):
        return Traced(f, value) if exact or value.dtype == object else value
    return Traced(f, value) if hasattr(value, "active") else value


def numbers(x: Any) -> Any:
    """Return the numbers of an array, traced or not."""
    return x.value if type(x) is Traced else x


def is_mask(x: Traced) -> bool:
    """Return whether an array holds truth values."""
    value = x.value
    return bool(value.dtype == np.bool_ or (value.dtype == object and value.size and isinstance(value.flat[0], bool)))


def plain_key(key: Any) -> Any:
    """Return an index of numbers alone: one that was traced has no derivative."""
    if isinstance(key, tuple):
        return tuple(plain_key(part) for part in key)
    return np.asarray(numbers(key)) if type(key) is Traced else key


def asked(function: Any) -> Callable[..., Any]:
    """Return the rule of a question about numbers, or of positions among them: no derivative flows through."""

    def rule(_f: Apply, *args: Any, **options: Any) -> Any:
        parts = [numbers(x) for x in args]
        if function in TRUTHS:
            parts[0] = np.asarray(parts[0], dtype=bool)
        return function(*parts, **options)

    return rule


TRUTHS = (np.any, np.all, np.count_nonzero)


def of_doubles(function: Any) -> Callable[..., Any]:
    """Return the rule of a question that numpy asks doubles alone."""
    return lambda _f, x, *args, **options: function(np.asarray(numbers(x), dtype=np.float64), *args, **options)


def axes_of(x: Any, axis: Any) -> tuple[int, ...]:
    """Return axes counted from 0, all for None."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(int(a) % max(x.ndim, 1) for a in (axis if isinstance(axis, tuple | list) else (axis,)))


def reduction(op: Op, plain: Any, running: bool = False) -> Callable[..., Any]:
    """Return the rule of a reduction along axes, or of a running one along an axis; truth values are counted."""

    def rule(f: Apply, x: Any, axis: Any = None, initial: Any = None, **options: Any) -> Any:
        del initial
        if is_mask(x):
            return plain(np.asarray(x.value, dtype=bool), axis=axis, **options)
        if running and not options:
            return applied(f, op, x, dim=int(axis) % x.ndim)
        keepdim = options.pop("keepdims", False)
        if options or running:
            raise Untraceable(plain.__name__)
        return applied(f, op, x, dim=axes_of(x, axis), keepdim=keepdim)

    return rule


def reshaped(f: Apply, x: Any, shape: Any) -> Any:
    """Return the same entries in another shape."""
    sizes = tuple(int(n) for n in np.atleast_1d(shape))
    if -1 in sizes:
        fixed = math.prod(n for n in sizes if n != -1)
        sizes = tuple(x.size // max(fixed, 1) if n == -1 else n for n in sizes)
    return x if sizes == x.shape else applied(f, RESHAPE, x, shape=sizes)


def unsqueezed(f: Apply, x: Any, axis: Any) -> Any:
    """Return an array with new axes of length 1."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    count = x.ndim + len(axes)
    places, lengths = {a % count for a in axes}, iter(x.shape)
    return reshaped(f, x, tuple(1 if k in places else next(lengths) for k in range(count)))


def squeezed(f: Apply, x: Any, axis: Any = None) -> Any:
    """Return an array without axes of length 1."""
    axes = axes_of(x, axis)
    return reshaped(f, x, tuple(n for k, n in enumerate(x.shape) if k not in axes or n != 1))


def permuted(f: Apply, x: Any, axes: Any = None) -> Any:
    """Return the axes in another order."""
    order = tuple(range(x.ndim))[::-1] if axes is None else axes_of(x, tuple(axes))
    return x if order == tuple(range(x.ndim)) else applied(f, TRANSPOSE, x, dims=order)


def swapped(f: Apply, x: Any, first: int, second: int) -> Any:
    """Return two axes exchanged."""
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return permuted(f, x, order)


def moved_axis(f: Apply, x: Any, source: int, destination: int) -> Any:
    """Return one axis moved to another place."""
    order = [k for k in range(x.ndim) if k != source % x.ndim]
    order.insert(destination % x.ndim, source % x.ndim)
    return permuted(f, x, order)


def expanded(f: Apply, x: Any, shape: Any) -> Any:
    """Return an array repeated along axes."""
    sizes = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    return x if x.shape == sizes else applied(f, EXPAND, x, shape=sizes)


def taken(f: Apply, x: Any, places: Any, axis: int) -> Any:
    """Return layers of an array."""
    where = numbers(places)
    if np.ndim(where) == 0:
        part: Any = int(where)
    else:
        steps = np.asarray(where)
        even = steps.size and np.array_equal(steps, np.arange(steps[0], steps[0] + steps.size)) and steps[0] >= 0
        part = slice(int(steps[0]), int(steps[0]) + steps.size) if even else steps
    return applied(f, INDEX, x, key=(*[slice(None)] * (axis % x.ndim), part))


def taken_along(f: Apply, x: Any, places: Any, axis: int) -> Any:
    """Return the entries at positions along an axis."""
    where, key = np.asarray(numbers(places), dtype=np.intp), list(np.indices(np.shape(numbers(places)), sparse=True))
    if type(x) is not Traced:
        return np.take_along_axis(x, where, axis)
    shape = np.broadcast_shapes(*(k.shape for j, k in enumerate(key) if j != axis % x.ndim), where.shape)
    for k, length in enumerate(x.shape):
        key[k] = (
            np.broadcast_to(np.indices(x.shape, sparse=True)[k] if length != where.shape[k] else key[k], shape)
            if k != axis % x.ndim
            else np.broadcast_to(where, shape)
        )
    return applied(f, INDEX, x, key=tuple(key))


def flipped(f: Apply, x: Any, axis: Any = None) -> Any:
    """Return entries in reverse."""
    axes = axes_of(x, axis)
    return applied(f, FLIP, x, dims=axes) if axes else x


def rolled(f: Apply, x: Any, shift: Any, axis: Any) -> Any:
    """Return entries moved round."""
    shifts = tuple(int(n) for n in np.ravel(shift))
    return applied(f, ROLL, x, shifts=shifts, dims=axes_of(x, tuple(np.ravel(axis).tolist())))


def diagonal(f: Apply, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the diagonal of the matrices that two axes span, on a last axis."""
    plane = axes_of(x, (axis1, axis2))
    return applied(f, DIAGONAL, permuted(f, x, (*plane, *(k for k in range(x.ndim) if k not in plane))), offset=offset)


def contracted(f: Apply, spec: str, *operands: Any) -> Any:
    """Return a sum of products; of one operand it may be its axes in another order, or itself."""
    inputs, _, out = spec.partition("->")
    if "," not in inputs and sorted(inputs) == sorted(out):
        return permuted(f, operands[0], [inputs.index(c) for c in out])
    return applied(f, EINSUM, *operands, spec=spec)


def joined(f: Apply, arrays: Sequence[Any], axis: int = 0) -> Any:
    """Return arrays end to end."""
    return applied(f, CAT, *arrays, dim=axis % arrays[0].ndim)


def stacked(f: Apply, arrays: Sequence[Any], axis: int = 0) -> Any:
    """Return arrays along a new axis."""
    return applied(f, STACK, *arrays, dim=axis % (arrays[0].ndim + 1))


def bounded(by_constant: Op, of_two: Op) -> Callable[..., Any]:
    """Return the rule of an extreme of two; of an array and a constant bound the array's slope is 1 at the bound."""

    def rule(f: Apply, a: Any, b: Any) -> Any:
        if type(b) is Traced and type(a) is not Traced:
            a, b = b, a
        return applied(f, by_constant if type(b) is not Traced else of_two, a, b)

    return rule


def constant_like(make: Any) -> Callable[..., Any]:
    """Return the rule of a function that makes an array of another's shape."""
    return lambda _f, x, *args, **_options: make(x.shape, *args)


# fmt: off
RULES.update(SLOPES)
RULES.update({
    np.add: ADD, np.subtract: SUB, np.multiply: MUL, np.divide: DIV, np.negative: NEG, np.absolute: ABS,
    np.power: POW, power: POW, np.remainder: REMAINDER, np.trunc: TRUNC, np.sign: SIGN,
    np.less: OPERATORS["<", 2], np.less_equal: OPERATORS["<=", 2], np.greater: OPERATORS[">", 2],
    np.greater_equal: OPERATORS[">=", 2], np.equal: OPERATORS["==", 2], np.not_equal: OPERATORS["!=", 2],
    np.bitwise_and: OPERATORS["&", 2], np.bitwise_or: OPERATORS["|", 2], np.invert: OPERATORS["~", 1],
    np.logical_not: OPERATORS["~", 1], np.floor_divide: OPERATORS["//", 2],
    np.where: WHERE, np.matmul: MATMUL, np.maximum: bounded(CLAMP_MIN, MAXIMUM),
    np.minimum: bounded(CLAMP_MAX, MINIMUM), sigmoid: SIGMOID, sign: SIGN,
    np.sum: reduction(SUM, np.sum), np.prod: reduction(PROD_ALONG, np.prod),
    np.max: reduction(OPS["amax"], np.max), np.min: reduction(OPS["amin"], np.min),
    np.cumsum: reduction(CUMSUM, np.cumsum, running=True), np.cumprod: reduction(CUMPROD, np.cumprod, running=True),
    np.transpose: permuted, np.swapaxes: swapped, np.moveaxis: moved_axis,
    np.expand_dims: unsqueezed, np.squeeze: squeezed, np.reshape: reshaped, np.ravel: lambda f, x: reshaped(f, x, -1),
    np.broadcast_to: expanded, np.flip: flipped, np.roll: rolled, np.take: taken, np.take_along_axis: taken_along,
    np.einsum: contracted, np.diagonal: diagonal, np.concatenate: joined, np.stack: stacked,
    np.tril: lambda f, x, k=0: applied(f, TRIL, x, k=k), np.triu: lambda f, x, k=0: applied(f, TRIU, x, k=k),
    np.clip: lambda f, x, low, high: applied(f, CLIP, x, low=low, high=high), np.copy: lambda f, x: x,
    np.linalg.inv: INV, np.linalg.solve: SOLVE, np.linalg.det: DET,
    np.ones_like: constant_like(np.ones), np.zeros_like: constant_like(np.zeros),
    recomputed: lambda _f, slopes, *_: slopes,
    erfc: complement_of_erf, is_singular: of_doubles(is_singular),
    np.shape: asked(np.shape), np.ndim: asked(np.ndim), np.size: asked(np.size),
    np.any: asked(np.any), np.all: asked(np.all), np.count_nonzero: asked(np.count_nonzero),
    np.argmax: asked(np.argmax), np.argmin: asked(np.argmin), np.argsort: asked(np.argsort),
    np.isfinite: of_doubles(np.isfinite), np.isinf: of_doubles(np.isinf), np.isnan: of_doubles(np.isnan),
    np.isin: of_doubles(np.isin), np.round: of_doubles(np.round), np.floor: of_doubles(np.floor),
})
# fmt: on


# --- entries put back to where they came from ---


def put_back(x: Array, places: Indices, shape: Shape) -> Array:
    """Return entries added up at flat places of zeros."""
    if x.dtype == object:
        back = np.zeros(math.prod(shape), dtype=object)
        np.add.at(back, places, np.ravel(x))
        return back.reshape(shape)
    result = np.bincount(places, weights=np.ravel(x), minlength=math.prod(shape))
    return result.reshape(shape)  # type: ignore[return-value] # numpy types counts


PUT_BACK = Op(
    "put_back",
    put_back,
    (lambda g, _y, x, *, places, shape: np.reshape(np.reshape(g, (-1,))[places], np.shape(x)),),
    lambda at: [Links(at.static["places"], np.arange(np.size(at.x), dtype=np.intp))],
    entries=Entries(
        by_shape=True, shaped=True, folds=lambda s, entries: s.total(entries), index=Said(), mentions=on_none
    ),
    exact=Exactly(value=put_back),
    text=Text(listed=True),
)
"""What is left to do for the vjp of an op that moves entries, as an op: its own vjp picks them again."""


def moved_back(g: Any, op: Op, k: int, out: Any, values: Sequence[Any], static: Options, f: Apply) -> Any:
    """Return the cotangent of an argument of an op that moves entries, by the places that they came from."""
    shape = np.shape(values[k])
    total: Any = None
    for links in op.local_jacobian(At(k, out, tuple(values), static)):
        if not isinstance(links, Links) or links.factor is not None:
            raise Untraceable(op.name)
        flat = reshaped(f, expanded(f, g, np.shape(out)), (-1,))
        part = applied(f, INDEX, flat, key=np.asarray(links.rows))
        if not np.all(np.equal(links.weight, 1)):
            part = applied(f, MUL, part, np.asarray(links.weight, dtype=np.float64))
        part = applied(f, PUT_BACK, part, places=np.asarray(links.columns), shape=shape)
        total = part if total is None else applied(f, ADD, total, part)
    return np.zeros(shape) if total is None else total


@rule_for(on_diagonal)
def put_on_diagonal(f: Apply, part: Any, target: str, letters: str, shape: Shape) -> Any:
    """Return zeros with an array where the axes of the same letter have the same index."""
    places = np.einsum(f"{target}->{letters}", np.arange(math.prod(shape)).reshape(shape))
    whole = expanded(f, part, places.shape)
    return applied(f, PUT_BACK, reshaped(f, whole, -1), places=np.ravel(places), shape=shape)
