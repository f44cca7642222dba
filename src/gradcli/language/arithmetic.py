"""Numbers of a program: floats, integers, masks, and what operators make of them, as PyTorch and NumPy have it.

Numbers are floats. Comparisons give *masks*, positions and counts are *integers*, and both stay what they are where
both libraries leave them so. What only one of the two answers is answered with a remark.
"""

from __future__ import annotations

import math
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from gradcli.engine.graph import NO_OPTIONS, NODES, TENSORS, Graph, Node, misfit
from gradcli.errors import GradcliError, Span
from gradcli.errors.hints import counted
from gradcli.language.compiling import Evaluate, Frame
from gradcli.ops import OPERATORS, Parts
from gradcli.ops.arithmetic import only_numpy
from gradcli.ops.declare import Bits, Op, Pair, tensor, value_of
from gradcli.ops.joining import STACK
from gradcli.ops.links import Tensor
from gradcli.ops.shaping import MOST_AXES, too_many_axes

DOUBLE = np.dtype(np.float64)
FLOAT, INTEGER, MASK = "float", "integer", "mask"
KINDS = {"b": MASK, "i": INTEGER, "u": INTEGER}
NAMES = {MASK: "truth values", INTEGER: "integers", FLOAT: "floats"}


class Listed(np.ndarray[Any, np.dtype[np.int64]]):
    """A list of plain integers: positions as an index and for ``torch.tensor``, doubles in arithmetic.

    No operation sees one: ``as_tensor`` takes its ``doubles``, which are one array, so that it keeps its name.
    """

    @cached_property
    def doubles(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The same numbers in double precision."""
        return np.array(self, dtype=np.float64, subok=False)


class Tupled(Listed):
    """A tuple of plain integers: an index for each axis, where a list is several along one."""


class Tuples(Listed):
    """A list of tuples of plain integers: each of them is an index for several axes."""


def number_kind(value: object) -> str:
    """Return what numbers these are: ``float``, ``integer`` or ``mask``; a plain number is of its kind too."""
    raw = value.values if type(value) is Pair else value
    raw = value_of(raw)
    if isinstance(raw, Listed):
        return FLOAT
    if type(raw) is bool:
        return MASK
    if type(raw) is int:
        return INTEGER
    return KINDS.get(getattr(raw, "dtype", DOUBLE).kind, FLOAT)


def is_odd(value: Any) -> bool:
    """Return whether a value is a truth value, a mask or an array of integers: neither floats nor a plain integer."""
    kind = type(value)
    if type(value) in NODES:
        return value.value.dtype is not DOUBLE and number_kind(value) != FLOAT
    return kind not in (int, np.float64) and number_kind(value) != FLOAT


def is_tensor(value: object) -> bool:
    """Return whether a value is a tensor in PyTorch: a node or an array, and no plain number of Python.

    Two variables share a plain number, and no write changes it.
    """
    return type(value) in TENSORS or isinstance(value, Listed)


def whole_array(value: object) -> bool:
    """Return whether a value holds masks or integers as an array, and not as a plain number."""
    raw = value_of(value)
    if not isinstance(raw, np.ndarray | np.generic) or raw.dtype is DOUBLE or isinstance(raw, Listed):
        return False
    return raw.dtype.kind in KINDS


def neither(what: str) -> GradcliError:
    """Return the error for what both libraries refuse."""
    return GradcliError(
        "type", f"{what}: neither PyTorch nor NumPy does that", hint="(...).float() makes numbers of it"
    )


def operands_text(name: str, a: str, b: str) -> str:
    """Return how a message names an operator between two kinds."""
    both = NAMES[a] if a == b else f"{NAMES[a]} and {NAMES[b]}"
    return f"{name} of {both}"


def combine_whole(f: Graph, op: Op, a: object, b: object) -> Any:
    """Return an operator on two masks or arrays of integers; raises ``type`` for what both libraries refuse.

    The result is a mask for ``+`` and ``*`` of masks, floats for ``/``, integers otherwise; it has no gradient.
    """
    rule = op.whole
    assert rule is not None  # noqa: S101
    left, right = number_kind(a), number_kind(b)
    x, y = value_of(a), value_of(b)
    answers = rule.masks if left == right == MASK else rule.mixed if left != right else "both"
    what = operands_text(op.text.operator, left, right)
    if answers == "neither":
        raise neither(what)
    if answers == "numpy":
        only_numpy(f, what)
    if op.require is not None:
        op.require(np.asarray(x), np.asarray(y))
    f.charge(op.size(x, y) if op.size is not None else math.prod(np.broadcast_shapes(np.shape(x), np.shape(y))))
    return tensor(rule.rule(f, x, y))


def with_floats(f: Graph, op: Op, a: object, b: object) -> None:
    """Remark where an operator joins floats with a mask or integers that PyTorch would not join."""
    left, right = number_kind(a), number_kind(b)
    assert op.whole is not None  # noqa: S101
    if (op.whole.beside if MASK in (left, right) else op.whole.beside_integers) == "numpy":
        only_numpy(f, operands_text(op.text.operator, left, right))


def bits(f: Graph, op: Op, rule: Bits, a: object, b: object) -> Any:
    """Return ``&``, ``|`` or ``^`` of masks or integers; raises ``type`` for floats."""
    if FLOAT in (number_kind(a), number_kind(b)):
        raise rule.error()
    if isinstance(a, int) and isinstance(b, int):
        if not rule.of_integers and type(a) is type(b) is int:
            raise rule.error()
        return rule.plain(a, b)
    return f(op, a, b)


def inverted(f: Graph, op: Op, a: object) -> Any:
    """Return ``~`` of a mask or of integers; raises ``type`` for floats."""
    kind = number_kind(a)
    if kind == FLOAT:
        raise GradcliError("type", "'~' turns masks round, not numbers", hint="write -x for the opposite")
    if isinstance(a, int):
        return -int(a) - 1
    return f(op, a) if kind == MASK else np.invert(value_of(a))


def with_sign(a: object, sign: str) -> Any:
    """Return integers with a sign; raises ``type`` for a mask."""
    if number_kind(a) == MASK and type(a) is not bool:
        raise neither(f"unary {sign} of truth values")
    raw = int(a) if type(a) is bool else value_of(a)
    return -raw if sign == "-" else raw


def kept_in_place(f: Graph, op: Op, before: object, result: object, name: str) -> None:
    """Refuse an augmented assignment that would make floats of integers, numbers of a mask, or an array of one number.

    NumPy's single numbers are no arrays: it gives the name another value where PyTorch refuses.
    """
    if not np.ndim(value_of(before)) and np.ndim(value_of(result)):
        what = f"'{name}' is one number, and in place it cannot become an array"
        only_numpy(f, what, f"{name} = {name} ... is right in both")
    old, new = number_kind(before), number_kind(result)
    if op.whole is not None and op.whole.in_place and new == MASK and np.ndim(value_of(before)):
        f.remark("torch-only", f"'{name}' {op.text.operator}= ...: {op.whole.in_place}.")
    if RANKS[new] <= RANKS[old] or not whole_array(before):
        return
    what = f"'{name}' holds {NAMES[old]}, and in place it cannot become {NAMES[new]}"
    if getattr(value_of(before), "ndim", 0):
        raise GradcliError("type", what, hint=f"write {name} = {name} ... instead")
    only_numpy(f, what, f"{name} = {name} ... is right in both")


def written_as(f: Graph, x: object, value: object, listed: bool, op: Op | None) -> Any:
    """Return what is written into an array, in its kind: PyTorch and NumPy cast to it, and cut a fraction off.

    ``listed`` says that the index holds lists, ``op`` is that of an augmented assignment.
    """
    if not whole_array(x):
        if listed and whole_array(value) and np.ndim(value_of(value)):
            only_numpy(f, f"{NAMES[number_kind(value)]} written into floats at a list of places")
        return value
    old, new = number_kind(x), number_kind(value)
    if op is not None and RANKS[new] > RANKS[old]:
        what = f"an entry of {NAMES[old]} cannot become one of {NAMES[new]} in place"
        if np.ndim(value_of(value)):
            raise neither(what)
        only_numpy(f, what, "there it is cut to fit")
    elif listed and old != new and np.ndim(value_of(value)):
        only_numpy(f, f"{NAMES[new]} written into {NAMES[old]} at a list of places")
    numbers = np.asarray(value_of(value))
    numbers = numbers.astype(np.float64) if numbers.dtype == object else numbers  # of many digits, which are cut off
    if old == INTEGER and not np.all(np.isfinite(numbers)):
        raise GradcliError("value", f"inf or nan cannot become one of {NAMES[old]}")
    return numbers.astype(value_of(x).dtype)[()]


RANKS = {MASK: 0, INTEGER: 1, FLOAT: 2}


def stack_whole(items: list[Any]) -> Any:
    """Return a list of truth values, or of integers, as an array of that kind; None for other lists.

    Plain integers are ``Listed``; beside integers that were computed they are what those are.
    """
    if items and all(type(item) in (int, bool) for item in items) and not all(type(item) is bool for item in items):
        return listed([int(item) for item in items])
    if items and all(type(item) is int or isinstance(item, Listed) for item in items):
        return listed(items)
    if not items or any(number_kind(item) == FLOAT for item in items):
        return None
    if not any(map(whole_array, items)) and any(number_kind(item) != MASK for item in items):
        return None
    raws = [np.asarray(value_of(item)) for item in items]
    return stack_equal(raws)


def stack_equal(raws: list[Any]) -> Any:
    """Return arrays of one shape as one with an axis more, None for others; raises ``shape`` beyond the most axes."""
    if len({raw.shape for raw in raws}) != 1:
        return None
    if raws[0].ndim >= MOST_AXES:
        raise too_many_axes(raws[0].ndim + 1)
    return np.stack(raws)


def kept_list(f: Graph, items: list[Any], whole: Any) -> Any:
    """Return the array that a list became; where tensors stand in it, an index knows it again by ``is_kept_list``."""
    if any(map(whole_array, items)):
        f.windows["list", id(whole)] = whole
    return whole


def is_kept_list(f: Graph, value: object) -> bool:
    """Return whether an array is a list of integer or mask tensors, which PyTorch takes apart as an index."""
    return value is not None and f.windows.get(("list", id(value))) is value


def listed(items: list[Any]) -> Listed | None:
    """Return a list of plain integers, or of such lists, as one array; None where they are ragged."""
    raws = [np.asarray(item) for item in items]
    kind = Tuples if all(type(item) is Tupled for item in items) else Listed
    whole = stack_equal(raws)
    return None if whole is None else whole.view(kind)


def items_of(value: Listed) -> Any:
    """Return what a list of integers holds: plain integers, or lists of them."""
    if type(value) is Tuples and value.ndim > 1:
        return [row.view(Tupled) for row in value]
    return value.tolist() if value.ndim == 1 else list(value)


def plain_items(value: Any) -> Any:
    """Return nested lists as nested tuples."""
    return tuple(map(plain_items, value)) if isinstance(value, list) else value


def takes_integers_apart(items: list[Any]) -> bool:
    """Return whether an index gives axes in another order where its integers are taken before its lists of places."""
    lists = [k for k, item in enumerate(items) if isinstance(item, np.ndarray) and item.ndim]
    spans = [k for k, item in enumerate(items) if item is None or item is Ellipsis or isinstance(item, slice)]
    if not lists or not any(span < lists[0] for span in spans):
        return False
    integers = [k for k, item in enumerate(items) if isinstance(item, int)]
    return any(min(i, k) < span < max(i, k) for i in integers for k in lists for span in spans)


EXACT = 2**53
"""Integers up to here are exact in double precision; larger results become floats."""


NUMBERS = (np.dtype(np.float64), np.dtype(object))
"""What the numbers of arrays are: doubles, or objects with more digits."""


def constant_value(value: Any) -> Any:
    """Return a constant of the program: integers stay exact up to 2**53, other numbers are double precision."""
    if value is None or value is Ellipsis or isinstance(value, bool | str):
        return value
    if type(value) is int and abs(value) <= EXACT:
        return value
    if type(value) in (int, float):
        try:
            number = np.float64(value)
        except OverflowError:
            number = np.float64(np.inf)
        if np.isfinite(number):
            return number
        raise GradcliError("number", "the number is too large for double precision (above 1.8e308)")
    kind = "complex numbers" if isinstance(value, complex) else "bytes"
    raise GradcliError("not-allowed", f"{kind} are not part of the language")


def words_for(value: object) -> str:
    """Return a word for what a value is, for messages."""
    if value is None:
        return "None"
    names = {type(...): "'...'", bool: "a truth value", str: "text", slice: "a slice", tuple: "a tuple"}
    return names.get(type(value), "a number")


def as_output(value: object, truths: bool) -> Any:
    """Return the output of a program as a node or an array of numbers.

    Raises ``type`` for a truth value and the like; ``truths`` says that it may be one.
    """
    raw = getattr(value, "value", value)
    if not isinstance(raw, bool) and getattr(raw, "dtype", None) != np.bool_:
        return as_tensor(value)
    if truths:
        return value
    raise GradcliError(
        "type", "the output is a truth value: it has no gradient", hint="where(condition, a, b) gives numbers"
    )


def as_tensor(value: Any) -> Tensor:
    """Return a node or a float array; raises ``type`` for what is no number."""
    kind = type(value)
    if kind in NODES or kind is np.float64:
        number = kind is np.float64 or value.value.dtype in NUMBERS
        node: Tensor = value if number else np.asarray(value.value, dtype=np.float64)
        return node
    if kind is int:
        return np.float64(value)
    if isinstance(value, Pair):
        return value.values
    if isinstance(value, Listed):
        doubles: Tensor = value.doubles
        return doubles
    if isinstance(value, np.ndarray | np.generic):
        return value if value.dtype in NUMBERS else np.asarray(value, dtype=np.float64)
    if kind is Parts:
        raise GradcliError("type", "one array is needed here, not several", hint=f"take one: .{value.names[0]}, or [0]")
    if kind is tuple and all(type(item) is int for item in value):
        return np.array(value, dtype=np.float64)
    raise GradcliError("type", f"a number or an array is needed here, not {words_for(value)}")


def as_operand(value: object) -> Any:
    """Return a value that arithmetic takes: as ``as_tensor``, but plain integers stay as they are; True is 1."""
    if type(value) is bool:
        return int(value)
    return value if type(value) is int else as_tensor(value)


def comparable(value: object) -> Any:
    """Return a value that comparisons and masks take: numbers, arrays, masks, truth values."""
    if isinstance(value, bool | np.ndarray | np.generic | Node) and not isinstance(value, Listed):
        return value
    return as_operand(value)


def compare(f: Graph, op: Op, a: object, b: object) -> Any:
    """Apply a comparison or a mask operator; its result has no gradient."""
    if op.bits is not None:
        return bits(f, op, op.bits, a, b)
    if isinstance(a, int) and isinstance(b, int):
        return bool(op.forward(a, b))
    return f(op, comparable(a), comparable(b))


def truth(value: object) -> bool:
    """Return whether a condition holds; raises ``type`` for an array with several entries."""
    raw = value_of(as_tensor(value) if type(value) is Pair else value)
    if isinstance(raw, bool | int):
        return bool(raw)
    if not isinstance(raw, np.ndarray | np.generic):
        raise GradcliError("type", f"a condition is needed here, not {words_for(value)}")
    if raw.size != 1:
        raise GradcliError(
            "type",
            f"a condition with {counted(raw.size, 'entry')} is neither true nor false",
            hint="use all(...) or any(...), or where(condition, a, b) for each entry",
        )
    return bool(raw.reshape(()))


def array_of(value: object) -> Any:
    """Return a node or an array as it is, of floats, integers or truth values; raises ``type`` for anything else."""
    return value_of(value) if whole_array(value) else as_tensor(value)


def stack_items(f: Graph, items: list[Any]) -> Any:
    """Return a list display as an array; raises ``shape`` for entries of different shapes."""
    whole = stack_whole(items)
    if whole is not None:
        f.charge(whole.size)
        return kept_list(f, items, whole)
    tensors = [as_tensor(item) for item in items]
    if not tensors:
        return np.zeros(0)
    shapes = [item.shape for item in tensors]
    if shapes.count(shapes[0]) != len(shapes):
        other = next(shape for shape in shapes if shape != shapes[0])
        raise GradcliError(
            "shape",
            f"the entries of a list must have one shape, not {shapes[0]} and {other}",
            hint="cat([a, b]) joins vectors of different lengths",
        )
    return f(STACK, *tensors, dim=0)


def is_index_part(item: object) -> bool:
    """Return whether a value is an index and no number: positions or a mask as an array, a slice, None or ``...``."""
    return item is None or item is Ellipsis or isinstance(item, slice) or whole_array(item)


def stack_tuple(f: Graph, items: list[Any]) -> Any:
    """Return a tuple display as an array; one of plain integers stays a tuple as an index and as lengths."""
    if any(is_index_part(item) for item in items) and all(type(item) is int or is_index_part(item) for item in items):
        return tuple(items)
    result = stack_items(f, items)
    return result.view(Tupled) if isinstance(result, Listed) else result


def compare_chain(f: Graph, ops: list[Op], values: list[Any]) -> Any:
    """Apply ``a < b < c``: true where every comparison is."""
    result = [value_of(compare(f, op, left, right)) for op, left, right in zip(ops, values, values[1:], strict=False)]
    return reduce(partial(compare, f, OPERATORS["&", 2]), result)


def integer_arithmetic(f: Graph, op: Op, a: int, b: int) -> int | Any:
    """Return an operation on two plain integers: an integer while it stays exact, a number beyond."""
    result = None if op.whole is None or op.whole.plain is None else op.whole.plain(a, b)
    if result is not None and abs(result) <= EXACT:
        return result
    return f(op, np.float64(a), np.float64(b))


def binary(f: Graph, op: Op, a: object, b: object) -> Any:
    """Apply a binary operator."""
    if isinstance(a, int) and isinstance(b, int) and op.require is None:
        return integer_arithmetic(f, op, int(a), int(b))
    if is_odd(a) or is_odd(b):
        if FLOAT not in (number_kind(a), number_kind(b)):
            try:
                return combine_whole(f, op, a, b)
            except ValueError as error:
                raise misfit(op, [value_of(a), value_of(b)], error) from None
        with_floats(f, op, a, b)
    left, right = as_operand(a), as_operand(b)
    if op.require is not None:
        left, right = as_tensor(left), as_tensor(right)
        op.require(left, right)
    return f(op, left, right)


def negative(f: Graph, op: Op, a: object) -> Any:
    """Apply unary minus."""
    if type(a) is int:
        return -a
    return with_sign(a, "-") if is_odd(a) else f(op, as_tensor(a))


def positive(a: object) -> Any:
    """Apply unary plus."""
    return with_sign(a, "+") if is_odd(a) else as_operand(a)


def unary_operator(op: Op, register: int, otherwise: Evaluate) -> Evaluate:
    """Return what applies an op of one argument, entry by entry; ``otherwise`` that for what is no float."""
    forward, flows = op.forward, not op.flat

    def run(regs: Frame) -> Any:
        a = regs[register]
        if type(a) not in NODES:
            return otherwise(regs) if is_odd(a) or type(a) is Pair else regs[0](op, as_tensor(a))
        x = a.value
        if type(x) is Double and a.active and flows:
            return regs[0].enter(op, (a,), NO_OPTIONS, forward(x), LEFT)
        if x.dtype is DOUBLE:
            return regs[0].apply(op, (a,), NO_OPTIONS, (x,), LEFT if a.active and flows else NONE)
        return otherwise(regs)

    return run


Side = tuple[Evaluate | None, int]
"""An operand: what evaluates it, or None and the register that has it."""


def binary_operator(op: Op, first: Side, second: Side, span: Span | None = None) -> Evaluate:
    """Return what applies a binary operator, whose errors have the place ``span``."""
    (left, i), (right, j) = first, second
    forward, flows, general = op.forward, not op.flat, op.require is not None

    def run(regs: Frame) -> Any:
        a = regs[i] if left is None else left(regs)
        b = regs[j] if right is None else right(regs)
        try:
            if general:
                return binary(regs[0], op, a, b)
            x, y, links = a, b, NONE
            if type(a) in NODES:
                x, links = a.value, LEFT if a.active else NONE
            elif type(a) is np.ndarray and not a.ndim:
                x = a[()]
            if type(b) in NODES:
                y = b.value
                if b.active:
                    links = BOTH if links else RIGHT
            elif type(b) is np.ndarray and not b.ndim:
                y = b[()]
            if links and flows and (type(x), type(y)) in PLAIN_NUMBERS:
                return regs[0].enter(op, (a, b), NO_OPTIONS, forward(x, y), links)
            return of_arrays(regs[0], op, (a, b), (x, y), links if flows else NONE)
        except GradcliError as error:
            raise error.at(span) from None

    return run


def of_arrays(f: Graph, op: Op, operands: tuple[Any, Any], values: tuple[Any, Any], links: Links) -> Any:
    """Apply a binary operator where an operand may be an array; floats whose result is no larger go the short way."""
    x, y = values
    if (type(x), type(y)) not in PLAIN_NUMBERS:
        doubles = getattr(x, "dtype", DOUBLE) is DOUBLE and getattr(y, "dtype", DOUBLE) is DOUBLE
        if not doubles or (type(x), type(y)) not in ARRAYS:
            return binary(f, op, *operands)
    if op.size is None and (type(x) is not type(y) or x.shape == y.shape):
        return f.apply(op, operands, NO_OPTIONS, values, links)
    return f(op, *operands)


Links = tuple[int, ...]
NONE: Links = ()
LEFT: Links = (0,)
RIGHT: Links = (1,)
BOTH: Links = (0, 1)
"""Which operands of an operator derivatives flow to."""
Double = np.float64
PLAIN_NUMBERS = {(Double, Double), (Double, int), (int, Double)}
ARRAYS = {(np.ndarray, np.ndarray), (np.ndarray, Double), (Double, np.ndarray), (np.ndarray, int), (int, np.ndarray)}
"""Kinds of two operands that make floats."""
