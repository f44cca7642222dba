"""What the closures of a compiled program do when they run: arithmetic on numbers and nodes, truth, indices."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node
from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.language.kinds import (
    Listed,
    Tupled,
    bits,
    kept_list,
    stacked,
    whole_array,
)
from gradcli.ops import OPERATORS, Pair, Parts
from gradcli.ops.declare import Op, value_of
from gradcli.ops.joining import STACK
from gradcli.ops.signatures import Tensor

EXACT = 2**53
"""Integers up to here are exact in double precision; larger results become floats."""


NUMBERS = (np.dtype(np.float64), np.dtype(object))
"""What the numbers of arrays are: doubles, or objects with more digits."""


def literal(value: Any) -> Any:
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


def kind_of(value: object) -> str:
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
    raise GradcliError("type", f"a number or an array is needed here, not {kind_of(value)}")


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
        raise GradcliError("type", f"a condition is needed here, not {kind_of(value)}")
    if raw.size != 1:
        raise GradcliError(
            "type",
            f"a condition with {counted(raw.size, 'entry')} is neither true nor false",
            hint="use all(...) or any(...), or where(condition, a, b) for each entry",
        )
    return bool(raw.reshape(()))


def is_truth(value: object) -> bool:
    """Return whether a value is True or False, and no number."""
    raw = value_of(value)
    return isinstance(raw, bool) or getattr(raw, "dtype", None) == np.bool_


def array_of(value: object) -> Any:
    """Return a node or an array as it is, of floats, integers or truth values; raises ``type`` for anything else."""
    return value_of(value) if whole_array(value) else as_tensor(value)


def stack_items(f: Graph, items: list[Any]) -> Any:
    """Return a list display as an array; raises ``shape`` for entries of different shapes."""
    whole = stacked(items)
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


def is_index(item: object) -> bool:
    """Return whether a value is an index and no number: positions or a mask as an array, a slice, None or ``...``."""
    return item is None or item is Ellipsis or isinstance(item, slice) or whole_array(item)


def stack_tuple(f: Graph, items: list[Any]) -> Any:
    """Return a tuple display as an array; one of plain integers stays a tuple as an index and as lengths."""
    if any(is_index(item) for item in items) and all(type(item) is int or is_index(item) for item in items):
        return tuple(items)
    found = stack_items(f, items)
    return found.view(Tupled) if isinstance(found, Listed) else found


def compare_chain(f: Graph, ops: list[Op], values: list[Any]) -> Any:
    """Apply ``a < b < c``: true where every comparison is."""
    found = [value_of(compare(f, op, left, right)) for op, left, right in zip(ops, values, values[1:], strict=False)]
    return reduce(partial(compare, f, OPERATORS["&", 2]), found)
