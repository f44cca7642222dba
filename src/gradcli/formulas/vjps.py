"""Arrays that write down what numpy does with them: a vjp that is run on them writes itself.

What numpy's functions of whole arrays write: sums, products of matrices, moves of entries, choices.
The vjp of one operation as an expression: it writes itself, or its record has the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.formulas import expression as e
from gradcli.formulas.expression import Expression, read_expression
from gradcli.formulas.texts import TooLarge, constant_text
from gradcli.ops.declare import Array, Op
from gradcli.ops.links import Shape
from gradcli.ops.writing import index_text, option_text


def called(name: str) -> Callable[..., Expression]:
    """Return the rule of a function that is called."""
    return lambda *parts: e.call(name, *parts)


def between(sign: str, rank: int) -> Callable[..., Expression]:
    """Return the rule of an operator."""
    return lambda left, right: e.infix(sign, rank, left, right)


def compared(sign: str) -> Callable[..., Expression]:
    """Return the rule of a comparison."""
    return lambda left, right: e.compare(sign, left, right)


COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
CALLED = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sqrt"),
    *("cbrt", "hypot", "logaddexp", "maximum", "minimum", "sign", "isnan", "floor", "trunc"),
)
"""Functions that have the same name in both."""
UFUNCS: dict[str, Callable[..., Expression]] = {
    "add": e.add,
    "subtract": e.subtract,
    "multiply": e.multiply,
    "divide": e.divide,
    "negative": e.negate,
    "power": e.raise_to,
    "square": lambda x: e.raise_to(x, e.number(2)),
    "invert": lambda x: Expression(f"~{x.within(e.NEGATED - 1)}", e.NEGATED),
    "logical_not": lambda x: Expression(f"~{x.within(e.NEGATED - 1)}", e.NEGATED),
    "floor_divide": between("//", 70),
    "remainder": between("%", 70),
    "bitwise_and": between("&", 50),
    "bitwise_or": between("|", 40),
    **{name: compared(sign) for name, sign in COMPARISONS.items()},
    "absolute": called("abs"),
    **{f"arc{name}": called(f"a{name}") for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    **{name: called(name) for name in CALLED},
}
"""What the ufuncs of numpy are in the language."""


FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""What numpy's functions that are no plain ufuncs write, entered by ``recording``."""

ANSWERS: ContextVar[list[Any] | None] = ContextVar("ANSWERS", default=None)


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
        found = self.value[key]
        if not self.stands:
            return Written(self.expression, found, ())
        return Written(e.after(settle(self), f"[{index_text(key)}]"), found, np.shape(found))

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
        return Written(rule(*(part.expression for part in parts)), value, together(parts, added))

    def __array_function__(self, function: Any, _types: Any, args: Any, options: Any) -> Any:
        if function in (np.shape, np.ndim, np.size):
            return function(*(x.value if isinstance(x, Written) else x for x in args), **options)
        rule = FUNCTIONS.get(function)
        if rule is None:
            raise Unwritable(function.__name__)
        return rule(*args, **options)


def write(text: str, value: Any) -> Written:
    """Return an array under a name."""
    return Written(e.name(text), value, np.shape(value))


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
    found = e.name(text)
    return Written(e.compare("==", found, e.number(1)) if value.dtype == np.bool_ else found, value, value.shape)


def settle(x: Written) -> Expression:
    """Return an expression that gives the array in its whole shape."""
    if x.stands == x.shape:
        return x.expression
    if is_number(x.expression):
        ones = x.expression.value == 1 and e.FORMS.get()
        return e.name(
            f"ones({', '.join(map(str, x.shape))})" if ones else f"full({lengths(x.shape)}, {x.expression.text})"
        )
    return e.name(f"expand({x.expression.text}, {', '.join(map(str, x.shape))})")


def is_number(what: Expression) -> bool:
    """Return whether an expression is a number, or a fraction of two."""
    return what.value is not None or (bool(what.factors) and all(part.value is not None for _, part in what.factors))


def lengths(shape: Shape) -> str:
    """Return a shape as text."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def together(parts: Sequence[Written], added: bool = False) -> Shape:
    """Return the shape that expressions have which are joined entry by entry; a 0 that is ``added`` is left out."""
    return np.broadcast_shapes(*(part.stands for part in parts if not (added and part.expression.value == 0)))


# ---- What numpy's functions of whole arrays write: sums, products of matrices, moves of entries, choices

ONE_HOT = re.compile(r"one_hot\([^()]*\)")
"""Rows that are 1 at a class and 0 elsewhere."""


def reduce_sum(x: Written, axis: Any = None, keepdims: bool = False) -> Written:
    """Write a sum over axes; over one along which the text is repeated it is a multiple of the text."""
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))]
    if e.FORMS.get() is None:
        return plain_sum(x, axes, keepdims)
    outside, inside, shape = apart(x, axes, keepdims)
    found = plain_sum(Written(inside, x.value, x.stands), axes, keepdims)
    whole = e.multiply(outside, found.expression)
    stands = np.broadcast_shapes(found.stands, shape)
    return Written(whole, np.sum(x.value, axis=tuple(axes), keepdims=keepdims), stands)


def apart(x: Written, axes: Sequence[int], keepdims: bool) -> tuple[e.Expression, e.Expression, Shape]:
    """Return the factors of a text that may stand before its sum along axes, the others, and the shape of the first.

    They are the same along the axes. Arrays among them may where all others have the whole shape without them.
    """
    factors, sign = x.expression.factors, e.number(-1 if x.expression.negative else 1)
    shapes = [() if part.is_scalar else part.shape for _, part in factors]
    if not factors or all(shape == () for shape in shapes):
        return e.number(1), x.expression, ()
    scalars = [shape == () for shape in shapes]
    outside = [shape is not None and is_same_along(shape, axes, x.ndim, keepdims) for shape in shapes]
    rest = [shape for shape, is_outside in zip(shapes, outside, strict=True) if not is_outside]
    if None in rest or not rest or np.broadcast_shapes(*(shape or () for shape in rest)) != x.stands:
        outside = scalars
    first, second = (
        e.product([factor for factor, is_outside in zip(factors, outside, strict=True) if is_outside is wanted])
        for wanted in (True, False)
    )
    taken = [shape for shape, is_outside in zip(shapes, outside, strict=True) if shape and is_outside]
    return e.multiply(sign, first), second, np.broadcast_shapes(*taken)


def is_same_along(shape: Shape, axes: Sequence[int], ndim: int, keepdims: bool) -> bool:
    """Return whether what broadcasts from a shape to ``ndim`` axes is the same along some, and beside their sum too."""
    lead = ndim - len(shape)
    return all(a < lead or (keepdims and shape[a - lead] == 1) for a in axes)


def plain_sum(x: Written, axes: Sequence[int], keepdims: bool) -> Written:
    """Write a sum over axes of a text as it is."""
    lead, stands, text = x.ndim - len(x.stands), x.stands, x.expression
    own = tuple(sorted(a - lead for a in axes if a >= lead))
    times = math.prod(x.shape[a] for a in axes if a < lead or stands[a - lead] == 1)
    if own and not (keepdims and all(stands[a] == 1 for a in own)):
        kept = keepdims and own != tuple(range(len(own)))
        options: dict[str, Any] = {} if len(own) == len(stands) else {"dim": own[0] if len(own) == 1 else own}
        found = sum_of_places(text, own, stands) or e.call(
            "sum", e.negate(text) if text.negative else text, **options, **({"keepdim": True} if kept else {})
        )
        text = e.negate(found) if text.negative else found
        stands = tuple(1 if a in own else length for a, length in enumerate(stands) if kept or a not in own)
    value = np.sum(x.value, axis=tuple(axes), keepdims=keepdims)
    return Written(e.multiply(e.number(times), text), value, stands)


def sum_of_places(text: e.Expression, axes: tuple[int, ...], stands: Shape) -> e.Expression | None:
    """Return the sum of a list of entries, and that of rows that are 1 at a class; None for all else."""
    if e.FORMS.get() is None:
        return None
    if text.items and len(stands) == 1:
        return e.add(*text.items)
    return e.number(1) if ONE_HOT.fullmatch(text.text) and axes == (len(stands) - 1,) else None


def multiply_matrices(left: Any, right: Any) -> Written:
    """Write a product of matrices."""
    a, b = lift(left), lift(right)
    value = np.matmul(a.value, b.value)
    return Written(e.infix("@", 70, settle(a), settle(b)), value, np.shape(value))


def permute(x: Written, order: Any = None) -> Written:
    """Write axes in another order."""
    axes = tuple(range(x.ndim))[::-1] if order is None else tuple(int(a) % x.ndim for a in order)
    value = np.transpose(x.value, axes)
    if axes == tuple(range(x.ndim)):
        return x
    if len(axes) > 2 or axes != tuple(range(x.ndim))[::-1]:
        return Written(e.name(f"permute({settle(x).text}, {', '.join(map(str, axes))})"), value, value.shape)
    return Written(e.after(settle(x), ".T"), value, value.shape)


def swap(x: Written, first: int, second: int) -> Written:
    """Write two axes swapped."""
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    if x.ndim <= 2:
        return permute(x, order)
    value = np.swapaxes(x.value, first, second)
    return Written(e.name(f"transpose({settle(x).text}, {first}, {second})"), value, value.shape)


def unsqueeze(x: Written, axis: Any) -> Written:
    """Write new axes of length 1, where broadcasting does not do it."""
    value = np.expand_dims(x.value, axis)
    axes = sorted(a % value.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))
    trailing = value.ndim - len(x.stands)
    if all(a < trailing for a in axes):
        return Written(x.expression, value, x.stands)
    first = next(a for a in range(value.ndim) if a not in axes)
    key = ", ".join("None" if a in axes else ":" for a in range(first, axes[-1] + 1))
    return Written(e.after(settle(x), f"[{key}]"), value, value.shape[first:])


def reshape(x: Written, shape: Any) -> Written:
    """Write the same entries in another shape."""
    value = np.reshape(x.value, shape)
    if value.shape == x.shape:
        return x
    if x.stands == ():
        return Written(x.expression, value, ())
    sizes = ", ".join(map(str, value.shape)) or "()"
    return Written(e.name(f"reshape({settle(x).text}, {sizes})"), value, value.shape)


def broadcast(x: Written, shape: Any) -> Written:
    """Write an array repeated along axes: its text stands for it."""
    return Written(x.expression, np.broadcast_to(x.value, shape), x.stands)


def choose(condition: Any, left: Any, right: Any) -> Written:
    """Write a choice."""
    parts = [lift(condition), lift(left), lift(right)]
    value = np.where(*(part.value for part in parts))
    return Written(e.choose(*(part.expression for part in parts)), value, together(parts))


def move(name: str, function: Any) -> Callable[..., Written]:
    """Return the rule of a function that is called with the array in its whole shape and whole numbers."""

    def rule(x: Written, *numbers: Any) -> Written:
        value = function(x.value, *numbers)
        given = [str(n) for n in numbers]
        return Written(e.name(f"{name}({', '.join([settle(x).text, *given])})"), value, np.shape(value))

    return rule


def flip(x: Written, axis: Any = None) -> Written:
    """Write entries in reverse."""
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not axes:
        return x
    value = np.flip(x.value, axes)
    return Written(e.name(f"flip({settle(x).text}, {', '.join(map(str, axes))})"), value, value.shape)


def roll(x: Written, shift: Any, axis: Any) -> Written:
    """Write entries moved round."""
    value = np.roll(x.value, shift, axis)
    shifts, axes = ([int(n) for n in np.ravel(part)] for part in (shift, axis))
    many = (str(tuple(shifts)), str(tuple(axes))) if len(axes) != 1 else (str(shifts[0]), str(axes[0]))
    along = {} if x.ndim == 1 and len(axes) == 1 else {"dim": many[1]}
    return Written(e.call("roll", settle(x), e.name(many[0]), **along), value, value.shape)


def run_sum(x: Written, axis: int) -> Written:
    """Write a running sum."""
    value = np.cumsum(x.value, axis=axis)
    return Written(e.call("cumsum", settle(x), dim=axis), value, value.shape)


def take(x: Written, places: Any, axis: int) -> Written:
    """Write a layer of an array, or a stretch of layers that follow each other."""
    value = np.take(x.value, places, axis=axis)
    found = np.ravel(places)
    if not x.stands:
        return Written(x.expression, value, ())
    stretch = str(int(found[0])) if np.ndim(places) == 0 else f"{found[0]}:{found[-1] + 1}" if found.size else "0:0"
    if found.size > 1 and np.any(np.diff(found) != 1):
        raise Unwritable("take")
    return Written(e.after(settle(x), f"[{', '.join([':'] * axis + [stretch])}]"), value, value.shape)


def contract(spec: str, *operands: Any) -> Written:
    """Write a sum of products."""
    parts = [lift(x) for x in operands]
    value = np.einsum(spec, *(part.value for part in parts))
    texts = [settle(part) for part in parts]
    if spec == "i,j->ij":
        return Written(e.call("outer", *texts), value, value.shape)
    return Written(e.call("einsum", e.name(f'"{spec}"'), *texts), value, value.shape)


def of_matrices(name: str, function: Any) -> Callable[..., Written]:
    """Return the rule of a function of whole matrices."""

    def rule(*arrays: Any) -> Written:
        parts = [lift(x) for x in arrays]
        value = function(*(part.value for part in parts))
        return Written(e.call(name, *map(settle, parts)), value, np.shape(value))

    return rule


def asked(function: Any) -> Callable[..., Any]:
    """Return the rule of a question about the numbers, which a branch is taken by; the answer is noted."""

    def rule(x: Written, **options: Any) -> Any:
        answer, answers = function(x.value, **options), ANSWERS.get()
        if answers is not None:
            answers.append(answer)
        return answer

    return rule


FUNCTIONS.update(
    {
        np.matmul: multiply_matrices,
        np.sum: reduce_sum,
        np.where: choose,
        np.transpose: permute,
        np.swapaxes: swap,
        np.expand_dims: unsqueeze,
        np.reshape: reshape,
        np.broadcast_to: broadcast,
        np.flip: flip,
        np.roll: roll,
        np.cumsum: run_sum,
        np.take: take,
        np.einsum: contract,
        np.tril: move("tril", np.tril),
        np.triu: move("triu", np.triu),
        np.linalg.inv: of_matrices("inv", np.linalg.inv),
        np.linalg.solve: of_matrices("linalg.solve", np.linalg.solve),
        np.any: asked(np.any),
        np.all: asked(np.all),
    }
)


# ---- The vjp of one operation as an expression: it writes itself, or its record has the text

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
    if choice < len(texts) or (texts and not runs(node, k, g, out, arguments)):
        value = node.op.vjp_along(k)(g.value, out.value, *values, **node.static)
        text = with_places(texts[min(choice, len(texts) - 1)], places)
        return written_by(text, node, [g, out, *map(lift, arguments)], value)
    found = run(node, k, g, out, arguments)
    if found is None:
        raise Unwritable(node.op.name)
    return found


def with_places(text: str, places: Mapping[str, str]) -> str:
    """Return a text in which the positions that ``one_hot`` and an index are given go by their names."""
    if not places:
        return text
    named = HOT.sub(lambda found: f"{found[1]}{places.get(found[2], found[2])}, ", text)
    return AT.sub(lambda found: f"[{places[found[1]]}]" if found[1] in places else found[0], named)


def backward_texts(op: Op, k: int, out: Any, values: Sequence[Any], static: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that a record has for the vjp of one argument, at these numbers."""
    rules = op.text.backward
    found = rules(k, out, *values, **static) if callable(rules) else rules[k] if k < len(rules) else ()
    return (found,) if isinstance(found, str) else tuple(found)


def runs(node: Operation, k: int, g: Written, out: Written, arguments: Sequence[Any]) -> bool:
    """Return whether a vjp writes itself."""
    return run(node, k, g, out, arguments) is not None


def run(node: Operation, k: int, g: Written, out: Written, arguments: Sequence[Any]) -> Written | None:
    """Return what a vjp writes when it is run on written arrays; None where numpy or the language cannot."""
    try:
        return lift(node.op.vjp_along(k)(g, out, *arguments, **node.static))
    except (Unwritable, TypeError, ValueError, AttributeError):
        return None


def written_by(text: str, node: Operation, parts: Sequence[Written], value: Array) -> Written:
    """Return the text of a record with expressions put in: ``{g}``, ``{y}``, ``{0}`` for argument 0, and options.

    ``{G}`` and ``{Y}`` are g and y with the axes back that a reduction has taken away, ``{C}`` is g as a column, and
    ``{S}`` is the sum of g along an axis, which is kept: they stand beside other arrays, entry by entry.
    """
    g, y, *arguments = parts
    known = {"g": g, "y": y, **{str(k): x for k, x in enumerate(arguments)}}
    used = [name for name in PLACEHOLDER.findall(text) if name in known or name in BESIDE]
    if "C" in used:
        known["C"] = unsqueeze(g, -1)
    if "S" in used:
        known["S"] = sum_along(g, node.static["dim"])
    if {"G", "Y"} & set(used):
        dim, keepdim = node.static["dim"], node.static.get("keepdim", True)
        kept = keepdim or dim == ()
        known |= {name: x if kept else unsqueeze(x, dim) for name, x in (("G", g), ("Y", y))}
    entrywise = node.op.formula is not None
    told: dict[str, Expression] = {f"_{name}": known[name].expression for name in used}
    if not entrywise:
        told = {f"_{name}": known[name].expression if name in BESIDE else settle(known[name]) for name in used}
    plain = PLACEHOLDER.sub(
        lambda found: f"_{found[1]}" if found[1] in known else option_text(node.static[found[1]]), text
    )
    stands = together([known[name] for name in used]) if entrywise and used else np.shape(value)
    return Written(read_expression(plain, told), value, stands)


def sum_along(g: Written, dim: int) -> Written:
    """Write the sum of what arrived along an axis.

    A textbook takes the entries of a target as shares, whose sum is 1: a line where that is not true is not shown.
    """
    found = reduce_sum(g, dim, keepdims=True)
    factors = g.expression.factors or (e.Factor(below=False, what=g.expression),)
    arrays = [what for _, what in factors if not what.is_scalar]
    if e.FORMS.get() is None or len(arrays) != 1 or not arrays[0].text.isidentifier():
        return found
    scalars = e.product([factor for factor in factors if factor.what.is_scalar])
    return Written(e.negate(scalars) if g.expression.negative else scalars, found.value, ())


def undo_broadcast(part: Written, shape: tuple[int, ...]) -> Written:
    """Write the sum over the axes along which an argument of ``shape`` was broadcast."""
    if part.shape == shape:
        return part
    lead = part.ndim - len(shape)
    stretched = tuple(lead + axis for axis, length in enumerate(shape) if length == 1 != part.shape[lead + axis])
    found = part
    if stretched:
        found = reduce_sum(found, stretched, keepdims=True)
    if lead:
        found = reduce_sum(found, tuple(range(lead)))
    return Written(found.expression, np.broadcast_to(found.value, shape), found.stands)


def plus(left: Written, right: Written) -> Written:
    """Write the sum of what two uses of a value hand on."""
    return Written(
        e.add(left.expression, right.expression), left.value + right.value, together([left, right], added=True)
    )
