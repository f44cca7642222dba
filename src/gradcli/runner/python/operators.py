"""What operators do of any two values: Python's own, tensors, and objects that define them.

A traced number that leaves the trace, as a text, a draw, or through what has no derivative of it, is cut off: the
answer is refused where it comes to what was made of it, and nowhere else.
"""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from functools import cmp_to_key
from typing import Any

import numpy as np

from gradcli.engine.graph import NO_OPTIONS, NODES, misfit
from gradcli.errors import GradcliError, over_budget
from gradcli.language.arithmetic import binary as table_binary
from gradcli.language.arithmetic import compare as table_compare
from gradcli.language.arithmetic import inverted
from gradcli.language.arithmetic import negative as table_negative
from gradcli.language.calls import BINARY, COMPARE, MASKS
from gradcli.ops import OPERATORS
from gradcli.ops.declare import Entries, Exactly, Op, Piecewise, Said, value_of
from gradcli.records import replace
from gradcli.runner import numpy_values
from gradcli.runner.exceptions import in_names_of, torch_error
from gradcli.runner.numpy_values import BY_SIGN, COMPARED, METHODS, flows
from gradcli.runner.state import Run, span_of
from gradcli.runner.values import (
    FLOATS,
    INTEGERS,
    TITLES,
    UNBOUND,
    VIEWS,
    Class,
    Closure,
    DType,
    Evaluate,
    Foreign,
    Frame,
    Hosted,
    Instance,
    Keyed,
    Size,
    Tensor,
    Union,
    Weak,
    as_dtype,
    ask,
    category,
    kind_of,
    own,
    promoted,
)

__all__ = ["COMPARED", "METHODS"]
CUT = Op(
    "cut",
    lambda *_values, made, **_static: made,
    lambda _k: lambda *_values, refuse, **_static: refuse(),
    lambda at: at.static["refuse"](),
    entries=Entries(index=Said()),
    exact=Exactly(
        pieces=Piecewise(lambda *_values, made, **_static: made, lambda piece, *_values, **_static: piece, held=True)
    ),
)
"""Floats that were made outside of the trace, beside what they were made of."""


class TracedKey(float):
    """A traced number as a key of a dictionary or a set: equal to Python's, and traced again when it is read."""

    tensor: Tensor


def traced(x: Any) -> bool:
    """Return whether a value is a traced number or array, and none of PyTorch's, which cuts its own graph."""
    return isinstance(x, Tensor) and x.library != "torch" and x.active


def untraced(x: Any) -> Any:
    """Return a traced number as Python has it."""
    return float(np.asarray(x.value).reshape(())[()]) if isinstance(x, Tensor) else x


def read_keys(items: Any) -> Any:
    """Return the items of a dictionary or a set with its keys traced again."""

    def read(key: Any) -> Any:
        return key.tensor if type(key) is TracedKey else key

    if not any(type(part) is TracedKey for item in items for part in (item if type(item) is tuple else (item,))):
        return items
    return [tuple(map(read, item)) if type(item) is tuple else read(item) for item in items]


def cut(run: Run, what: str, sources: Iterable[Any], made: Any) -> Any:
    """Return floats that were made of ``sources`` outside of the trace: a derivative of them is refused as ``what``."""
    leaves = [x for x in sources if traced(x)]
    if not leaves:
        return made
    if isinstance(made, list | tuple):
        return type(made)([cut(run, what, leaves, part) for part in made])
    if type(made) is float:
        made = Tensor(np.asarray(made), "float64", "python")
    if not isinstance(made, Tensor) or category(made.dtype) < 2:
        return made
    text = f"{what} takes the number out of the trace: the answer needs its derivative, and it has none"
    line, place = run.line, run.place

    def refuse() -> Any:
        raise GradcliError("not-differentiable", text, span=span_of(place, line), place=place)

    number = np.asarray(made.value)[()]
    static = {"made": number, "refuse": refuse, "why": f"{what} takes a number out of the record"}
    node = run.graph.apply(CUT, tuple([x.node for x in leaves]), static, [x.value for x in leaves])
    return Tensor(node, made.dtype, made.library)


def note_text(run: Run | None, text: str, sources: Iterable[Any]) -> str:
    """Return a text, noted with the traced numbers that it shows."""
    if run is not None and run.story is not None:
        for x in filter(traced, sources):
            run.story.texts[text] = x
    return text


def read_number(run: Run, text: str, made: Any) -> Any:
    """Return a number that was read from a text; one that shows a traced number is cut off from it."""
    if run.story is None or not any(letter.isdigit() for letter in text):
        return made
    shown = text.strip()
    sources = [x for written, x in run.story.texts.items() if shown in written or written in shown]
    return cut(run, f"a number that is read from the text {shown[:40]!r}", sources, made)


def rearrange(run: Run, x: Tensor, made: Tensor) -> None:
    """Give an array its own entries in another order in place: an input stays the one that it was."""
    x.leaf = False
    run.write(x, made.node)


# ---- any two values
Double = np.float64
PLAIN = (int, float, bool)
HOST_KINDS: tuple[type, ...] = (
    int, float, bool, complex, str, list, tuple, dict, set, frozenset, range, type(None), bytes, slice, deque, *VIEWS,
    type(cmp_to_key(max)(0)),
)  # fmt: skip


KINDS_OF_TYPES = (Class, Union, Foreign, type(None))
SEQUENCES = (str, list, tuple, bytes, deque)
ROWS = (list, tuple, deque)
ITEMS = (*ROWS, dict)
"""Containers whose items are compared one by one."""
LEFT, BOTH = (0,), (0, 1)
RAISING = ("/", "//", "%", "**")
"""Operators that raise for some numbers of Python's."""
BY_RULES = ("python", "jax")
"""Libraries of whose numbers these operators ask more than their value."""
SIGNS: dict[type, str] = {
    **BINARY, **MASKS, **COMPARE, ast.LShift: "<<", ast.RShift: ">>", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
}  # fmt: skip
"""How the operators of the syntax tree are written."""


def binary(sign: str, left: Evaluate | None, right: Evaluate | None, i: int, j: int) -> Evaluate:
    """Return what evaluates an operator; a side is an expression, or a place of the frame where it is None.

    Two numbers of which one is differentiated take a short way.
    """
    op = OPERATORS.get((sign, 2))
    if op is None or op.flat or op.require is not None or sign not in METHODS:
        return lambda regs: operate(regs[0], sign, left(regs) if left else regs[i], right(regs) if right else regs[j])
    forward = op.forward
    raises = sign in RAISING

    def run(regs: Frame) -> Any:
        a = left(regs) if left else regs[i]
        b = right(regs) if right else regs[j]
        if type(a) is Tensor:
            p = a.node
            if type(p) in NODES and type(p.value) is Double and p.active and not (raises and a.library in BY_RULES):
                kind = type(b)
                if kind is float or kind is int:
                    b, kind = Double(b), Double
                if kind is Double:
                    node = regs[0].f.enter(op, (p, b), NO_OPTIONS, forward(p.value, b), LEFT)
                    return Tensor(node, a.dtype, a.library)
                if kind is Tensor and a.dtype is b.dtype:
                    q = b.node
                    if type(q) in NODES and type(q.value) is Double and q.active:
                        node = regs[0].f.enter(op, (p, q), NO_OPTIONS, forward(p.value, q.value), BOTH)
                        return Tensor(node, a.dtype, a.library)
        elif type(a) is Double and type(b) is Double:  # constants of the text are doubles there
            return BY_SIGN[sign](float(a), float(b))
        return operate(regs[0], sign, a, b)

    return run


def plain(x: Any) -> Any:
    """Return a number of Python's for a constant that stands as a double in a frame, and for a key what it was."""
    return float(x) if type(x) is Double else x.tensor if type(x) is TracedKey else x


def operate(run: Run, sign: str, a: Any, b: Any) -> Any:
    """Return what an operator makes of any two values; raises the exceptions of Python and of the libraries."""
    a, b = plain(a), plain(b)
    if type(a) in PLAIN and type(b) in PLAIN:
        return of_host(run, sign, a, b)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return of_host(run, sign, a, b) if isinstance(a, str) or isinstance(b, str) else of_tensors(run, sign, a, b)
    return of_objects(run, sign, a, b)


def of_objects(run: Run, sign: str, a: Any, b: Any) -> Any:
    """Return an operator by the methods of objects: of the left one, then the reflected one of the right.

    Without such methods it is that of Python's own values, or of types.
    """
    first, second = COMPARED.get(sign) or (METHODS[sign], f"r{METHODS[sign]}")
    names = ((a, f"__{first}__", b), (b, f"__{second}__", a))
    if isinstance(b, Instance) and isinstance(a, Instance) and b.kind is not a.kind and b.kind.is_a(a.kind):
        names = names[::-1] if own(b, names[1][1]) is not own(a, names[1][1]) else names
    for owner, name, other in names:
        made = ask(run, owner, name, other)
        if made is not UNBOUND and made is not NotImplemented:
            return made
    if isinstance(a, HOST_KINDS) and (isinstance(b, HOST_KINDS) or (sign == "%" and type(a) is str)):
        return of_host(run, sign, a, b)
    if sign in COMPARED:
        run.require(a, b)
    if sign in ("==", "!="):
        return same_objects(run, sign, a, b)
    if sign == "|" and isinstance(a, KINDS_OF_TYPES) and isinstance(b, KINDS_OF_TYPES):
        return Union((*(a if isinstance(a, tuple) else (a,)), *(b if isinstance(b, tuple) else (b,))))
    if isinstance(a, Foreign) or isinstance(b, Foreign):
        return a if isinstance(a, Foreign) else b
    return refuse_operands(run, sign, a, b)


def same_objects(run: Run, sign: str, a: Any, b: Any) -> bool:
    """Return ``a == b`` or ``a != b`` where no method of theirs answers: unequal is what is not equal."""
    if isinstance(a, DType) or isinstance(b, DType):
        return (a == b if isinstance(a, DType) else b == a) is (sign == "==")
    for owner, other in ((a, b), (b, a)) if sign == "!=" else ():
        made = ask(run, owner, "__eq__", other)
        if made is not UNBOUND and made is not NotImplemented:
            return not truth(run, made)
    same = a is b or (not isinstance(a, Instance | Class) and not isinstance(b, Instance | Class) and bool(a == b))
    return same is (sign == "==")


def of_host(run: Run, sign: str, a: Any, b: Any) -> Any:
    """Return an operator of Python's own values, within bounds."""
    if sign == "%" and type(a) is str:
        return run.percent(a, b)
    if sign in COMPARED and isinstance(a, ITEMS) and isinstance(b, ITEMS):
        if sign in ("==", "!="):
            return equal(run, a, b) is (sign == "==")
        if type(a) is type(b) and not isinstance(a, dict):
            return ordered(run, sign, a, b)
    refuse_large(run, sign, a, b)
    try:
        made = BY_SIGN[sign](a, b)
    except (ZeroDivisionError, OverflowError, TypeError, ValueError) as error:
        return run.fail(type(error).__name__, in_names_of(run, str(error), (a, b)))
    if type(made) is complex:
        raise run.refuse("complex numbers are not part of gradcli")
    return Size(made) if type(a) is Size and sign == "+" else made


BITS_MADE: dict[str, Callable[[int, int], int]] = {
    "*": lambda a, b: a.bit_length() + b.bit_length(),
    "**": lambda a, b: a.bit_length() * abs(b) if a.bit_length() > 1 else b.bit_length(),
    "<<": lambda a, b: a.bit_length() + b,
}
"""How many bits an operator of integers makes, where these are more than its operands have."""


def refuse_large(run: Run, sign: str, a: Any, b: Any) -> None:
    """Refuse integers, texts and lists that would be too large."""
    if type(a) is int and type(b) is int:
        bits = BITS_MADE[sign](a, b) if sign in BITS_MADE else max(a.bit_length(), b.bit_length())
        if bits > run.meter.budget.bits:
            raise over_budget("bits", run.meter.budget.bits, "an integer has too many bits")
    elif sign == "*":
        for one, times in ((a, b), (b, a)):
            if isinstance(one, SEQUENCES) and isinstance(times, int):
                run.bound(len(one) * times, "a list or a text is too long")
    elif sign == "+" and isinstance(a, SEQUENCES) and isinstance(b, type(a)):
        run.bound(len(a) + len(b), "a list or a text is too long")


def equal(run: Run, a: Any, b: Any) -> bool:
    """Return whether two values are equal as Python has it, entry by entry in containers."""
    if a is b:
        return True
    if isinstance(a, ROWS) and isinstance(b, ROWS):
        alike = any(isinstance(a, kind) and isinstance(b, kind) for kind in ROWS)
        return alike and len(a) == len(b) and all_equal(run, a, b)
    if isinstance(a, Counter) and isinstance(b, Counter):
        return all_equal(run, *([one[key] for key in (*a, *b)] for one in (a, b)))
    if isinstance(a, dict) and isinstance(b, dict):
        if isinstance(a, OrderedDict) and isinstance(b, OrderedDict) and list(a) != list(b):
            return False
        return a.keys() == b.keys() and all_equal(run, a.values(), [b[key] for key in a])
    if isinstance(a, HOST_KINDS) and isinstance(b, HOST_KINDS):
        return bool(a == b)
    return truth(run, operate(run, "==", a, b))


def all_equal(run: Run, a: Any, b: Any) -> bool:
    """Return whether the items of two containers are equal one by one: a call within others, as they may nest."""
    with run.deeper():
        return all(equal(run, x, y) for x, y in zip(a, b, strict=True))


def ordered(run: Run, sign: str, a: Any, b: Any) -> Any:
    """Return which of two lists or tuples comes first: by the first items that differ."""
    for x, y in zip(a, b, strict=False):
        if x is not y and not equal(run, x, y):
            with run.deeper():
                return operate(run, sign, x, y)
    return BY_SIGN[sign](len(a), len(b))


def refuse_operands(run: Run, sign: str, a: Any, b: Any) -> Any:
    """Raise the TypeError for operands that an operator does not take."""
    if sign in COMPARED:
        text = f"'{sign}' not supported between instances of '{run.type_name(a)}' and '{run.type_name(b)}'"
    elif sign == "*" and isinstance(a, SEQUENCES) != isinstance(b, SEQUENCES):
        text = f"can't multiply sequence by non-int of type '{run.type_name(b if isinstance(a, SEQUENCES) else a)}'"
    elif sign == "+" and isinstance(a, str | list | tuple):
        text = f'can only concatenate {run.type_name(a)} (not "{run.type_name(b)}") to {run.type_name(a)}'
    else:
        written = "** or pow()" if sign == "**" else sign
        text = f"unsupported operand type(s) for {written}: '{run.type_name(a)}' and '{run.type_name(b)}'"
    return run.fail("TypeError", text)


# ---- tensors
LIBRARY_ORDER = ("torch", "jax", "numpy", "python")
"""Whose array an operator gives: that of the first of its two libraries."""


def of_tensors(run: Run, sign: str, a: Any, b: Any) -> Any:
    """Return an operator of which a side is a tensor."""
    library = min((x.library for x in (a, b) if isinstance(x, Tensor)), key=LIBRARY_ORDER.index)
    sides = a, b
    a, b = as_operand(run, sign, a, sides, library), as_operand(run, sign, b, sides, library)
    if a is None or b is None:
        return None if sign not in ("==", "!=") else sign == "!="
    if isinstance(a, Instance) or isinstance(b, Instance):
        return of_objects(run, sign, a, b)
    if sign == "@" and (type(a) in PLAIN or type(b) in PLAIN) and library == "torch":
        refuse_operands(run, sign, a, b)
    if library == "numpy" and not flows(a) and not flows(b):
        return numpy_values.operated(run, sign, a, b)
    if library == "jax":
        refuse_shapes_in_jax(run, sign, a, b)
    if library == "torch" and type(b) is Tensor and b.library == "numpy" and b.shape:
        numpy_values.refuse_active(run, a)
    if library == "python" and sign in RAISING:
        of_host(run, sign, untraced(a), untraced(b))  # for its exceptions alone
    return applied(run, sign, a, b, library)


def as_operand(run: Run, sign: str, x: Any, sides: tuple[Any, Any], library: str) -> Any:
    """Return one side of an operator beside a tensor: arrays for lists where NumPy makes them."""
    if isinstance(x, Tensor) or type(x) in PLAIN or isinstance(x, Instance):
        return x
    if type(x) in (list, tuple) and library in ("numpy", "python"):
        return run.array_of(x, "numpy")
    if sign in ("==", "!="):
        return None
    if sign == "*" and not {*map(run.type_name, sides)}.isdisjoint(("list", "tuple", "str")):
        run.fail("TypeError", "only integer tensors of a single element can be converted to an index")
    return refuse_operands(run, sign, *sides)


BITS = {"&": "bitwise_and_cpu", "|": "bitwise_or_cpu", "^": "bitwise_xor_cpu", "<<": "lshift_cpu", ">>": "rshift_cpu"}
"""What PyTorch calls operators of bits, which floats have none of."""
STEEP_POWER = replace(
    OPERATORS["**", 2],
    vjps=(lambda g, _y, x, p: g * (p * x ** (p - 1)), OPERATORS["**", 2].vjps[1]),  # type: ignore[index]
)
"""JAX's power by floats: its slope at 0 is 0·0⁻¹ for the power 0, which is nan."""


def applied(run: Run, sign: str, a: Any, b: Any, library: str) -> Any:
    """Return an operator of two operands that go together, by the ops of the graph."""
    x, y = ((v.node if isinstance(v, Tensor) else Double(v) if type(v) is float else v) for v in (a, b))
    if type(x) is np.ndarray and not x.ndim and type(a) is Tensor and x.dtype == np.float64:
        x = x[()] if type(y) is not Double else x
    kinds = [v.dtype if isinstance(v, Tensor) else "bool" if type(v) is bool else "int64" for v in (a, b)]
    if library == "torch":
        refuse_kinds(run, sign, a, b, kinds)
    if sign in ("<<", ">>"):
        run.charge_together(np.asarray(value_of(x)), np.asarray(value_of(y)))
        shifted = BY_SIGN[sign](value_of(x), value_of(y))
        return wrap_result(run, shifted, together(run, [a, b], library), library)
    by_float = category(b.dtype) == 2 if isinstance(b, Tensor) else type(b) is float
    op = STEEP_POWER if library == "jax" and sign == "**" and by_float else OPERATORS[sign, 2]
    if sign in COMPARED or sign in "&|^":
        made = table_compare(run.f, op, x, y)
        bits = promoted(*kinds) if library == "numpy" else together(run, [a, b], library)
        return wrap_result(run, made, bits if sign in "&|^" else "bool", library)
    dtype = together(run, [a, b], library)
    if sign == "/" and category(dtype) < 2:
        floats = run.default_dtype if library == "torch" else "float64"
        dtype = quotient_type(run, dtype) if library == "jax" else floats
    if category(dtype) < 2 and sign in "+-*//%**":
        return wrap_result(run, whole_arithmetic(run, sign, x, y), dtype, library)
    try:
        made = table_binary(run.f, op, x, y)
    except GradcliError as error:
        if library == "torch" and error.kind == "shape":
            run.fail_with(torch_error("matmul" if sign == "@" else sign, {"x": a, "other": b}))
        raise
    return wrap_result(run, made, dtype, library)


def refuse_kinds(run: Run, sign: str, a: Any, b: Any, kinds: list[str]) -> None:
    """Raise what PyTorch raises for types of numbers that an operator does not take."""
    floats = [v.dtype for v in (a, b) if isinstance(v, Tensor) and v.dtype in FLOATS]
    if sign in BITS and floats:
        run.fail("NotImplementedError", f"\"{BITS[sign]}\" not implemented for '{TITLES[floats[0]][0]}'")
    if sign == "@":
        refuse_types(run, "matmul", [a, b])
    if sign == "-" and "bool" in kinds:
        run.fail_as("minus masks" if kinds == ["bool", "bool"] else "minus mask")


PRODUCTS = {
    "matmul", "mm", "mv", "bmm", "dot", "torch.dot", "linear", "conv1d", "conv2d", "conv3d", "addmm", "addmv", "inner",
    "outer_", "conv_transpose1d", "conv_transpose2d", "bilinear", "vdot",
}  # fmt: skip
"""Functions whose tensors PyTorch wants to be of one type of floats."""


def refuse_types(run: Run, name: str, values: list[Any]) -> None:
    """Raise what PyTorch raises for a product of tensors of several types."""
    tensors = [t for t in values if isinstance(t, Tensor)]
    if len({t.dtype for t in tensors}) < 2:
        return
    (left, a), (right, b) = (TITLES[t.dtype] for t in tensors[:2])
    ranks = [len(t.shape) for t in tensors[:2]]
    text = f"expected scalar type {left} but found {right}"
    if name == "linear" and len(tensors) > 2:
        text = f"mat1 and mat2 must have the same dtype, but got {left} and {right}"
    elif ranks == [1, 1] and not name.startswith("conv"):
        text = f"dot : expected both vectors to have same dtype, but found {left} and {right}"
    elif ranks == [2, 1] and not name.startswith("conv"):
        text = f"addmv input tensors must have the same dtype, but got {right}, {left}, and {right}"
    elif max(ranks) == 2 and not name.startswith("conv"):
        text = f"expected m1 and m2 to have the same dtype, but got: {a} != {b}"
    run.fail("RuntimeError", text)


def whole_arithmetic(run: Run, sign: str, x: Any, y: Any) -> Any:
    """Return arithmetic of integers and truth values."""
    p, q = np.asarray(value_of(x)), np.asarray(value_of(y))
    run.charge_together(p, q)
    if sign in ("//", "%") and np.any(q == 0):
        run.fail("RuntimeError", "ZeroDivisionError")
    if sign == "**" and np.any(q < 0):
        if not isinstance(y, np.ndarray):
            run.fail("RuntimeError", "Integers to negative integer powers are not allowed.")
        signs = np.where(q % 2, -1, 1)
        powers = np.where(q < 0, 0, p.astype(np.int64) ** np.abs(q))
        return np.where(p == 1, 1, np.where(p == -1, signs, powers))
    both = p.dtype == q.dtype == np.bool_
    p, q = (n if both and sign in "+*" else n.astype(np.int64) for n in (p, q))
    try:
        np.broadcast_shapes(p.shape, q.shape)
    except ValueError as error:
        raise misfit(OPERATORS[sign, 2], [p, q], error) from None
    return np.asarray(BY_SIGN[sign](p, q))


def together(run: Run, values: list[Any], library: str) -> str:
    """Return the type that several values make together, as PyTorch and NumPy promote."""
    if library == "jax":
        return together_in_jax(run, values)
    floats = "float64" if library in ("numpy", "python") else run.default_dtype
    ranked: list[str | None] = [None, None, None]  # of arrays, of arrays without axes, of plain numbers
    for x in values:
        if isinstance(x, Tensor):
            place, dtype = (0 if x.shape or library == "numpy" else 1), x.dtype
        else:
            kind = type(x)
            place, dtype = 2, "bool" if kind is bool else "int64" if kind is int else floats
        before = ranked[place]
        ranked[place] = dtype if before is None else promoted(before, dtype)
    result: str | None = None
    for dtype in ranked:  # type: ignore[assignment]
        if dtype is not None and (result is None or category(dtype) > category(result)):
            weak = result is not None and category(dtype) == 2
            result = floats if weak and library == "torch" and dtype not in FLOATS else dtype
    return result or floats


# ---- JAX
NAMES_IN_JAX = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow", "%": "rem", "//": "floor_divide", "<": "lt",
    "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
SHORT = {"float64": "float32", "int64": "int32"}
"""What JAX makes of types of 64 bits unless it is told to have them."""
LONG = ("float32", "float64")
WEAK_FLOAT = Weak("float32"), Weak("float64")
WEAK_WHOLE = Weak("int32"), Weak("int64")


def refuse_shapes_in_jax(run: Run, sign: str, a: Any, b: Any) -> None:
    """Raise what JAX raises for shapes that do not go together."""
    p, q = (x.shape if isinstance(x, Tensor) else () for x in (a, b))
    if sign == "@":
        length = q[-2 if len(q) > 1 else -1] if q else None
        if p and q and p[-1] != length:
            what = f"dot_general requires contracting dimensions to have the same shape, got {p[-1:]} and {(length,)}."
            run.fail("TypeError", what)
        return
    try:
        np.broadcast_shapes(p, q)
    except ValueError:
        run.fail("TypeError", f"{NAMES_IN_JAX.get(sign, sign)} got incompatible shapes for broadcasting: {p}, {q}.")


def together_in_jax(run: Run, values: list[Any]) -> str:
    """Return the type that several values make together in JAX: Python's numbers give way to arrays of their kind."""
    strong: str | None = None
    weak: str | None = None
    for x in values:
        dtype = x.dtype if isinstance(x, Tensor) else plain_in_jax(run, x)
        if isinstance(x, Tensor) and not isinstance(dtype, Weak):
            dtype = dtype if run.x64 else SHORT.get(dtype, dtype)
            strong = dtype if strong is None else promoted(strong, dtype)
        elif weak is None or category(dtype) > category(weak):
            weak = dtype
    if weak is not None and (strong is None or category(weak) > category(strong)):
        return weak
    return strong or plain_in_jax(run, 1.0)


def plain_in_jax(run: Run, x: Any) -> str:
    """Return the type that JAX gives a number of Python's."""
    kind = type(x)
    return "bool" if kind is bool else (WEAK_WHOLE if kind is int else WEAK_FLOAT)[run.x64]


def quotient_type(run: Run, dtype: str) -> str:
    """Return the type of floats that JAX makes of one: of integers of 64 bits it has as many."""
    if category(dtype) == 2:
        return dtype
    return plain_in_jax(run, 1.0) if isinstance(dtype, Weak) else LONG[dtype == "int64"]


# ---- results
def wrap_result(run: Run, made: Any, dtype: str, library: str, made_by: Any = None) -> Any:
    """Return a result of the table as a tensor of a type; what has lost its fractions is cut to it."""
    kind = kind_of(value_of(made))
    is_narrow = kind == "i" and dtype in INTEGERS and dtype != "int64"
    if is_narrow or kind != ("f", "i", "b")[2 - category(dtype)]:
        if category(dtype) == 1 or kind == "f":
            made = as_dtype(value_of(made), dtype)
        elif category(dtype) == 2:
            made = np.asarray(value_of(made), dtype=np.float64)
        if category(dtype) < 2 and kind_of(value_of(made)) == "b":
            dtype = "bool"
    if type(made) not in NODES:
        made = made if isinstance(made, np.ndarray) else np.asarray(made)
        if library == "python":
            return Tensor(made, "float64", "python") if made.dtype == object or made.ndim else made.item()
    return Tensor(made, dtype, library, made_by)


UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def negative(run: Run, a: Any, sign: str) -> Any:
    """Return ``-a``, ``+a`` or ``~a``."""
    a = plain(a)
    if isinstance(a, Tensor):
        return a if sign == "+" else negative_tensor(run, a, sign)
    if (made := ask(run, a, UNARY[sign])) is not UNBOUND:
        return made
    if isinstance(a, PLAIN) and not (sign == "~" and isinstance(a, float)):
        return -a if sign == "-" else +a if sign == "+" else ~int(a)
    if isinstance(a, Foreign):
        return a
    if isinstance(a, Counter) and sign != "~":
        return -a if sign == "-" else +a
    return run.fail("TypeError", f"bad operand type for unary {sign}: '{run.type_name(a)}'")


def negative_tensor(run: Run, a: Tensor, sign: str) -> Any:
    """Return ``-a`` or ``~a`` of a tensor."""
    op = OPERATORS[sign, 1]
    if a.library == "torch" and a.dtype in FLOATS and sign == "~":
        run.fail("TypeError", "~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    if a.library in ("torch", "jax") and a.dtype == "bool" and sign == "-":
        run.fail_as("negative mask" if a.library == "torch" else "jax negative mask")
    if sign == "~" and category(a.dtype) == 1:
        return run.make(~np.asarray(a.value, np.int64), a.dtype, a.library)
    if sign == "-" and a.library == "numpy" and not flows(a):
        return numpy_values.from_real(run, numpy_values.by_numpy(run, lambda: -numpy_values.real(a)))
    if sign == "~":
        made = inverted(run.f, op, a.node)
    else:
        made = table_negative(run.f, op, a.node) if category(a.dtype) == 2 else -np.asarray(a.value, np.int64)
    return wrap_result(run, made, a.dtype, a.library)


# ---- conditions and keys
def truth(run: Run, x: Any) -> bool:
    """Return whether a condition holds; raises what the library raises for an array of more or less than one entry."""
    if x is True or x is False:
        return x
    if isinstance(x, Tensor):
        size = np.size(x.value)
        if size != 1 and x.library != "torch":
            text = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            run.fail("ValueError", text)
        if size != 1:
            count = "more than one value" if size else "no values"
            run.fail("RuntimeError", f"Boolean value of Tensor with {count} is ambiguous")
        return bool(np.ravel(np.asarray(x.value))[0])
    for name in ("__bool__", "__len__") if isinstance(x, Instance | Hosted) else ():
        if (made := ask(run, x, name)) is not UNBOUND:
            return bool(made)
    run.require(x)
    return bool(x)


def contains(run: Run, item: Any, container: Any) -> bool:
    """Return whether an item is in a container, as ``in`` has it."""
    item = plain(item)
    if (made := ask(run, container, "__contains__", item)) is not UNBOUND:
        return truth(run, made)
    if isinstance(container, Tensor):
        return bool(np.any(np.asarray(container.value) == (item.value if isinstance(item, Tensor) else item)))
    if isinstance(container, str):
        if not isinstance(item, str):
            run.fail("TypeError", f"'in <string>' requires string as left operand, not {run.type_name(item)}")
        return item in container
    if type(container) is range and type(item) is float:
        return item.is_integer() and int(item) in container
    if isinstance(container, dict | set | frozenset | range):
        return hashable(run, item) in container
    no_items = isinstance(container, int | float | slice | Closure | None)
    if no_items or (isinstance(container, Instance) and not has_items(container)):
        run.fail("TypeError", f"argument of type '{run.type_name(container)}' is not iterable")
    return any(each is item or equal(run, item, each) for each in run.iterate(container))


def has_items(x: Instance) -> bool:
    """Return whether an object can be walked over."""
    return any(x.kind.find(name) is not UNBOUND for name in ("__iter__", "__getitem__"))


def hashable(run: Run, key: Any) -> Any:
    """Return a value as a key of a dictionary or a set; raises TypeError as Python does."""
    key = plain(key)
    if isinstance(key, Tensor):
        if key.library == "torch":
            return key
        if not key.shape:
            if key.library == "numpy" and not flows(key):
                return numpy_values.key_number(key)
            if key.active:
                made = TracedKey(untraced(key))
                made.tensor = key
                return made
            return key.value.item() if hasattr(key.value, "item") else key.value
    by_no_hash = type(key) is Keyed and key.kind.find("__hash__") is None
    if by_no_hash or isinstance(key, list | dict | set | deque | Tensor):
        return run.fail("TypeError", f"unhashable type: '{run.type_name(key)}'")
    if type(key) is tuple:
        run.meter.turn(1, "the parts of a key do not end")
        return tuple([hashable(run, part) for part in key])
    return key
