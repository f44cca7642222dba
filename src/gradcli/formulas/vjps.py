"""The vjp of one operation as an expression: run on arrays that write down what numpy does, it writes itself.

>>> g, y = write("g", np.ones(2)), write("y", np.array([0.5, 0.25]))
>>> (g * (1 - y * y)).expression.text
'g*(1 - y**2)'

The numbers go along, so that a rule takes the branch that it took for them: ``noting_answers`` tells of it. A text may
give fewer entries than the array has, those of a smaller shape that broadcasts to it: ``stands`` is that shape. What
has no text in the language raises ``Unwritable``. Where a rule cannot write itself, its record has the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.formulas import expression as e
from gradcli.formulas.expression import Expression, read_expression
from gradcli.formulas.texts import TooLarge, constant_text
from gradcli.ops.arithmetic import COMPARISONS
from gradcli.ops.declare import OPERATORS, Array, Op
from gradcli.ops.links import Shape
from gradcli.ops.writing import index_text, option_text

SAME_NAME = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sqrt"),
    *("cbrt", "hypot", "logaddexp", "maximum", "minimum", "sign", "isnan", "floor", "trunc"),
)
INFIX = {"floor_divide": "//", "remainder": "%", "bitwise_and": "&", "bitwise_or": "|"}
UFUNCS: dict[str, Callable[..., Expression]] = {
    "add": e.add,
    "subtract": e.subtract,
    "multiply": e.multiply,
    "divide": e.divide,
    "negative": e.negate,
    "power": e.raise_to,
    "square": lambda x: e.raise_to(x, e.number(2)),
    "invert": e.invert,
    "logical_not": e.invert,
    "absolute": partial(e.call, "abs"),
    **{ufunc.__name__: partial(e.compare, sign) for sign, ufunc in COMPARISONS.items()},
    **{name: partial(e.infix, sign, OPERATORS[sign, 2].text.precedence) for name, sign in INFIX.items()},
    **{f"arc{name}": partial(e.call, f"a{name}") for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    **{name: partial(e.call, name) for name in SAME_NAME},
}
"""What the ufuncs of numpy are in the language."""
ANSWERS: ContextVar[list[Any] | None] = ContextVar("ANSWERS", default=None)
ONE_HOT = re.compile(r"one_hot\([^()]*\)")
"""Rows that are 1 at a class and 0 elsewhere."""


@contextmanager
def noting_answers() -> Iterator[list[Any]]:
    """Give a list of what rules are told about their numbers meanwhile: empty, their texts are those of all numbers."""
    answers: list[Any] = []
    token = ANSWERS.set(answers)
    try:
        yield answers
    finally:
        ANSWERS.reset(token)


class Unwritable(Exception):
    """Something was done with a written array that the language has no text for."""


class Written(np.lib.mixins.NDArrayOperatorsMixin):
    """An array with the expression that gives it, or gives what broadcasts to it from the shape ``stands``."""

    __slots__ = ("expression", "stands", "value")

    def __init__(self, expression: Expression, value: Array, stands: Shape) -> None:
        self.expression = expression if expression.shape is not None else expression._replace(shape=stands)
        self.value = value
        self.stands = () if expression.value is not None else stands

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return np.ndim(self.value)

    def __bool__(self) -> bool:
        raise Unwritable("a branch is taken by a text")

    def __float__(self) -> float:
        raise Unwritable("a number is taken out of a text")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Unwritable("an array is made of a text")

    def __getitem__(self, key: Any) -> Written:
        if isinstance(key, tuple) and not key:
            return self
        entries = self.value[key]
        if not self.stands:
            return Written(self.expression, entries, ())
        return in_full(e.after(grown(self), f"[{index_text(key)}]"), entries)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise Unwritable(f"{ufunc.__name__}.{method}")
        if ufunc in FUNCTIONS:
            return FUNCTIONS[ufunc](*inputs)
        rule = UFUNCS.get(ufunc.__name__)
        if rule is None:
            raise Unwritable(ufunc.__name__)
        parts = [lift(x) for x in inputs]
        value = ufunc(*(part.value for part in parts))
        added = ufunc in (np.add, np.subtract)
        return Written(rule(*(part.expression for part in parts)), value, joint_shape(parts, added))

    def __array_function__(self, function: Any, _types: Any, args: Any, options: Any) -> Any:
        if function in (np.shape, np.ndim, np.size):
            return function(*(x.value if isinstance(x, Written) else x for x in args), **options)
        rule = FUNCTIONS.get(function)
        if rule is None:
            raise Unwritable(function.__name__)
        return rule(*args, **options)


def write(text: str, value: Any) -> Written:
    """Return an array under a name."""
    return in_full(e.name(text), value)


def in_full(expression: Expression, value: Any) -> Written:
    """Return an array that an expression gives in its whole shape."""
    return Written(expression, value, np.shape(value))


def lift(x: Any) -> Written:
    """Return a constant with its text; one of equal entries is a number. Raises ``Unwritable`` for a long one."""
    if isinstance(x, Written):
        return x
    value = np.asarray(x)
    if value.size and (value.ndim == 0 or np.all(value == value.flat[0])):
        return Written(e.number(value.flat[0]), value, ())
    try:
        text = constant_text(value.astype(np.float64) if value.dtype == np.bool_ else value)
    except TooLarge:
        raise Unwritable("a constant is long") from None
    constant = e.name(text)
    return in_full(e.compare("==", constant, e.number(1)) if value.dtype == np.bool_ else constant, value)


def grown(x: Written) -> Expression:
    """Return an expression that gives the array in its whole shape."""
    if x.stands == x.shape:
        return x.expression
    what, lengths = x.expression, ", ".join(map(str, x.shape))
    if what.value is None and not (what.factors and all(part.value is not None for part, _ in what.factors)):
        return e.name(f"expand({what.text}, {lengths})")
    if what.value == 1 and e.FORMS.get():
        return e.name(f"ones({lengths})")
    return e.name(f"full(({lengths}{',' if len(x.shape) == 1 else ''}), {what.text})")


def joint_shape(parts: Sequence[Written], added: bool = False) -> Shape:
    """Return the shape that expressions have which are joined entry by entry; a 0 that is ``added`` is left out."""
    return np.broadcast_shapes(*(part.stands for part in parts if not (added and part.expression.value == 0)))


def reduce_sum(x: Written, axis: Any = None, keepdims: bool = False) -> Written:
    """Write a sum over axes; over one along which the text is repeated it is a multiple of the text."""
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in as_tuple(axis)]
    if e.FORMS.get() is None:
        return plain_sum(x, axes, keepdims)
    outside, inside, shape = take_apart(x, axes, keepdims)
    inner = plain_sum(Written(inside, x.value, x.stands), axes, keepdims)
    return Written(e.multiply(outside, inner.expression), inner.value, np.broadcast_shapes(inner.stands, shape))


def as_tuple(axis: Any) -> tuple[int, ...]:
    """Return one axis, or several, as a tuple."""
    return axis if isinstance(axis, tuple) else (axis,)


def take_apart(x: Written, axes: Sequence[int], keepdims: bool) -> tuple[Expression, Expression, Shape]:
    """Return the factors of a text that may stand before its sum along axes, the others, and the shape of the first.

    They are the same along the axes. Arrays among them may where all others have the whole shape without them.
    """
    factors, sign = x.expression.factors, e.number(-1 if x.expression.negative else 1)
    shapes = [() if part.is_scalar else part.shape for part, _ in factors]
    if not factors or all(shape == () for shape in shapes):
        return e.number(1), x.expression, ()

    def is_same(shape: Shape | None) -> bool:
        """Return whether what broadcasts from a shape is the same along the axes, and beside their sum too."""
        if shape is None:
            return False
        lead = x.ndim - len(shape)
        return all(a < lead or (keepdims and shape[a - lead] == 1) for a in axes)

    outside = list(map(is_same, shapes))
    rest = [shape for shape, is_outside in zip(shapes, outside, strict=True) if not is_outside]
    if None in rest or not rest or np.broadcast_shapes(*(shape or () for shape in rest)) != x.stands:
        outside = [shape == () for shape in shapes]
    first, second = (
        e.product([factor for factor, is_outside in zip(factors, outside, strict=True) if is_outside is wanted])
        for wanted in (True, False)
    )
    taken = [shape for shape, is_outside in zip(shapes, outside, strict=True) if shape and is_outside]
    return e.multiply(sign, first), second, np.broadcast_shapes(*taken)


def plain_sum(x: Written, axes: Sequence[int], keepdims: bool) -> Written:
    """Write a sum over axes of a text as it is."""
    lead, stands, text = x.ndim - len(x.stands), x.stands, x.expression
    along = tuple(sorted(a - lead for a in axes if a >= lead))
    times = math.prod(x.shape[a] for a in axes if a < lead or stands[a - lead] == 1)
    if along and not (keepdims and all(stands[a] == 1 for a in along)):
        kept = keepdims and along != tuple(range(len(along)))
        options: dict[str, Any] = {} if len(along) == len(stands) else {"dim": along[0] if len(along) == 1 else along}
        total = sum_of_places(text, along, stands) or e.call(
            "sum", e.negate(text) if text.negative else text, **options, **({"keepdim": True} if kept else {})
        )
        text = e.negate(total) if text.negative else total
        stands = tuple(1 if a in along else length for a, length in enumerate(stands) if kept or a not in along)
    value = np.sum(x.value, axis=tuple(axes), keepdims=keepdims)
    return Written(e.multiply(e.number(times), text), value, stands)


def sum_of_places(text: Expression, axes: tuple[int, ...], stands: Shape) -> Expression | None:
    """Return the sum of a list of entries, and that of rows that are 1 at a class; None for all else."""
    if e.FORMS.get() is None:
        return None
    if text.items and len(stands) == 1:
        return e.add(*text.items)
    return e.number(1) if ONE_HOT.fullmatch(text.text) and axes == (len(stands) - 1,) else None


def write_call(name: str, x: Written, value: Any, *arguments: Any) -> Written:
    """Write a call with the array in its whole shape, and with what follows it as text."""
    return write(f"{name}({', '.join(map(str, (grown(x).text, *arguments)))})", value)


def multiply_matrices(left: Any, right: Any) -> Written:
    """Write a product of matrices."""
    a, b = lift(left), lift(right)
    return in_full(e.infix("@", 70, grown(a), grown(b)), np.matmul(a.value, b.value))


def permute(x: Written, order: Any = None) -> Written:
    """Write axes in another order."""
    every = tuple(range(x.ndim))
    axes = every[::-1] if order is None else tuple(int(a) % x.ndim for a in order)
    if axes == every:
        return x
    value = np.transpose(x.value, axes)
    if len(axes) > 2 or axes != every[::-1]:
        return write_call("permute", x, value, *axes)
    return in_full(e.after(grown(x), ".T"), value)


def swap(x: Written, first: int, second: int) -> Written:
    """Write two axes swapped."""
    if x.ndim > 2:
        return write_call("transpose", x, np.swapaxes(x.value, first, second), first, second)
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return permute(x, order)


def unsqueeze(x: Written, axis: Any) -> Written:
    """Write new axes of length 1, where broadcasting does not do it."""
    value = np.expand_dims(x.value, axis)
    axes = sorted(a % value.ndim for a in as_tuple(axis))
    trailing = value.ndim - len(x.stands)
    if all(a < trailing for a in axes):
        return Written(x.expression, value, x.stands)
    first = next(a for a in range(value.ndim) if a not in axes)
    key = ", ".join("None" if a in axes else ":" for a in range(first, axes[-1] + 1))
    return Written(e.after(grown(x), f"[{key}]"), value, value.shape[first:])


def write_reshape(x: Written, shape: Any) -> Written:
    """Write the same entries in another shape."""
    value = np.reshape(x.value, shape)
    if value.shape == x.shape:
        return x
    return write_call("reshape", x, value, *(value.shape or ["()"])) if x.stands else Written(x.expression, value, ())


def write_choice(condition: Any, left: Any, right: Any) -> Written:
    """Write a choice."""
    parts = [lift(condition), lift(left), lift(right)]
    value = np.where(*(part.value for part in parts))
    return Written(e.choose(*(part.expression for part in parts)), value, joint_shape(parts))


def flip(x: Written, axis: Any = None) -> Written:
    """Write entries in reverse."""
    axes = tuple(range(x.ndim)) if axis is None else as_tuple(axis)
    return write_call("flip", x, np.flip(x.value, axes), *axes) if axes else x


def roll(x: Written, shift: Any, axis: Any) -> Written:
    """Write entries moved round."""
    shifts, axes = ([int(n) for n in np.ravel(part)] for part in (shift, axis))
    one = len(axes) == 1
    along = {} if x.ndim == 1 and one else {"dim": axes[0] if one else tuple(axes)}
    by = e.name(str(shifts[0] if one else tuple(shifts)))
    return in_full(e.call("roll", grown(x), by, **along), np.roll(x.value, shift, axis))


def write_take(x: Written, places: Any, axis: int) -> Written:
    """Write a layer of an array, or a stretch of layers that follow each other."""
    value, flat = np.take(x.value, places, axis=axis), np.ravel(places)
    if not x.stands:
        return Written(x.expression, value, ())
    if flat.size > 1 and np.any(np.diff(flat) != 1):
        raise Unwritable("take")
    stretch = str(int(flat[0])) if np.ndim(places) == 0 else f"{flat[0]}:{flat[-1] + 1}" if flat.size else "0:0"
    return in_full(e.after(grown(x), f"[{', '.join([':'] * axis + [stretch])}]"), value)


def write_einsum(spec: str, *operands: Any) -> Written:
    """Write a sum of products."""
    parts = [lift(x) for x in operands]
    texts = [grown(part) for part in parts]
    call = e.call("outer", *texts) if spec == "i,j->ij" else e.call("einsum", e.name(f'"{spec}"'), *texts)
    return in_full(call, np.einsum(spec, *(part.value for part in parts)))


def of_matrices(name: str, function: Any, *arrays: Any) -> Written:
    """Write a function of whole matrices."""
    parts = [lift(x) for x in arrays]
    return in_full(e.call(name, *map(grown, parts)), function(*(part.value for part in parts)))


def note_answer(function: Any, x: Written, **options: Any) -> Any:
    """Answer a question about the numbers, which a branch is taken by, and note the answer."""
    answer, answers = function(x.value, **options), ANSWERS.get()
    if answers is not None:
        answers.append(answer)
    return answer


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.matmul: multiply_matrices,
    np.sum: reduce_sum,
    np.where: write_choice,
    np.transpose: permute,
    np.swapaxes: swap,
    np.expand_dims: unsqueeze,
    np.reshape: write_reshape,
    np.broadcast_to: lambda x, shape: Written(x.expression, np.broadcast_to(x.value, shape), x.stands),
    np.flip: flip,
    np.roll: roll,
    np.cumsum: lambda x, axis: in_full(e.call("cumsum", grown(x), dim=axis), np.cumsum(x.value, axis=axis)),
    np.take: write_take,
    np.einsum: write_einsum,
    np.tril: lambda x, *numbers: write_call("tril", x, np.tril(x.value, *numbers), *numbers),
    np.triu: lambda x, *numbers: write_call("triu", x, np.triu(x.value, *numbers), *numbers),
    np.linalg.inv: partial(of_matrices, "inv", np.linalg.inv),
    np.linalg.solve: partial(of_matrices, "linalg.solve", np.linalg.solve),
    np.any: partial(note_answer, np.any),
    np.all: partial(note_answer, np.all),
}
"""What numpy's functions of whole arrays write."""

PLACEHOLDER = re.compile(r"\{(\w+)\}")
BESIDE = "GYCS"
"""Placeholders that stand beside other arrays, entry by entry."""
HOT = re.compile(r"(\bone_hot\()(\[[\d, ]+\]|\d+), ")
AT = re.compile(r"(?<=\w)\[(\[[\d, ]+\]),?\]")
"""Positions that are given to ``one_hot``, and a list of them in an index."""


def write_vjp(
    node: Operation,
    k: int,
    g: Written,
    out: Written,
    arguments: Sequence[Any],
    choice: int,
    places: Mapping[str, str] = MappingProxyType({}),
) -> Written:
    """Return what argument ``k`` of an operation gets of its cotangent ``g``.

    ``arguments`` are written arrays, or numbers where they are constants. There may be several ways to write a rule,
    the plainest first, which does not hold for all numbers: ``choice`` says which, and beyond the last it is the last.
    ``places`` has the names of positions by their texts. Raises ``Unwritable``.
    """
    values = [x.value if isinstance(x, Written) else x for x in arguments]
    texts = backward_texts(node.op, k, node.value, values, node.static)
    ran = run_rule(node, k, g, out, arguments) if choice >= len(texts) else None
    if ran is not None:
        return ran
    if not texts:
        raise Unwritable(node.op.name)
    value = node.op.vjp_along(k)(g.value, out.value, *values, **node.static)
    text = with_places(texts[min(choice, len(texts) - 1)], places)
    return fill_record(text, node, [g, out, *map(lift, arguments)], value)


def with_places(text: str, places: Mapping[str, str]) -> str:
    """Return a text in which the positions that ``one_hot`` and an index are given go by their names."""
    if not places:
        return text
    named = HOT.sub(lambda match: f"{match[1]}{places.get(match[2], match[2])}, ", text)
    return AT.sub(lambda match: f"[{places[match[1]]}]" if match[1] in places else match[0], named)


def backward_texts(op: Op, k: int, out: Any, values: Sequence[Any], static: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that a record has for the vjp of one argument, at these numbers."""
    rules = op.text.backward
    texts = rules(k, out, *values, **static) if callable(rules) else rules[k] if k < len(rules) else ()
    return (texts,) if isinstance(texts, str) else tuple(texts)


def run_rule(node: Operation, k: int, g: Written, out: Written, arguments: Sequence[Any]) -> Written | None:
    """Return what a vjp writes when it is run on written arrays; None where numpy or the language cannot."""
    try:
        return lift(node.op.vjp_along(k)(g, out, *arguments, **node.static))
    except (Unwritable, TypeError, ValueError, AttributeError):
        return None


def fill_record(text: str, node: Operation, parts: Sequence[Written], value: Array) -> Written:
    """Return the text of a record with expressions put in: ``{g}``, ``{y}``, ``{0}`` for argument 0, and options.

    ``{G}`` and ``{Y}`` are g and y with the axes back that a reduction has taken away, ``{C}`` is g as a column, and
    ``{S}`` is the sum of g along an axis, which is kept: they stand beside other arrays, entry by entry.
    """
    g, y, *arguments = parts
    names = {"g": g, "y": y, **{str(k): x for k, x in enumerate(arguments)}}
    used = [name for name in PLACEHOLDER.findall(text) if name in names or name in BESIDE]
    if "C" in used:
        names["C"] = unsqueeze(g, -1)
    if "S" in used:
        names["S"] = sum_along(g, node.static["dim"])
    if {"G", "Y"} & set(used):
        dim = node.static["dim"]
        kept = node.static.get("keepdim", True) or dim == ()
        names |= {name: x if kept else unsqueeze(x, dim) for name, x in (("G", g), ("Y", y))}
    by_entry = node.op.formula is not None
    expressions = {
        f"_{name}": names[name].expression if by_entry or name in BESIDE else grown(names[name]) for name in used
    }
    plain = PLACEHOLDER.sub(
        lambda match: f"_{match[1]}" if match[1] in names else option_text(node.static[match[1]]), text
    )
    stands = joint_shape([names[name] for name in used]) if by_entry and used else np.shape(value)
    return Written(read_expression(plain, expressions), value, stands)


def sum_along(g: Written, dim: int) -> Written:
    """Write the sum of what arrived along an axis.

    A textbook takes the entries of a target as shares, whose sum is 1: a line where that is not true is not shown.
    """
    total = reduce_sum(g, dim, keepdims=True)
    factors = g.expression.parts
    arrays = [what for what, _ in factors if not what.is_scalar]
    if e.FORMS.get() is None or len(arrays) != 1 or not arrays[0].text.isidentifier():
        return total
    scalars = e.product([factor for factor in factors if factor.what.is_scalar])
    return Written(e.negate(scalars) if g.expression.negative else scalars, total.value, ())


def undo_broadcast(part: Written, shape: tuple[int, ...]) -> Written:
    """Write the sum over the axes along which an argument of ``shape`` was broadcast."""
    if part.shape == shape:
        return part
    lead = part.ndim - len(shape)
    stretched = tuple(lead + axis for axis, length in enumerate(shape) if length == 1 != part.shape[lead + axis])
    if stretched:
        part = reduce_sum(part, stretched, keepdims=True)
    if lead:
        part = reduce_sum(part, tuple(range(lead)))
    return Written(part.expression, np.broadcast_to(part.value, shape), part.stands)


def plus(left: Written, right: Written) -> Written:
    """Write the sum of what two uses of a value hand on."""
    total = e.add(left.expression, right.expression)
    return Written(total, left.value + right.value, joint_shape([left, right], added=True))
