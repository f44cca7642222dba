"""Arithmetic of truth values and integers, as PyTorch and NumPy have it: masks, positions, counts.

Numbers of a program are floats. Comparisons give *masks*, positions and counts are *integers*, and both stay what they
are where both libraries leave them so. What only one of the two answers is answered with a remark.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.graph import Graph, Node
from gradcli.ops.declare import Op, Pair, value_of
from gradcli.ops.linear_algebra import matmul_size, require_product

DOUBLE = np.dtype(np.float64)
FLOAT, INTEGER, MASK = "float", "integer", "mask"
KINDS = {"b": MASK, "i": INTEGER, "u": INTEGER}
NAMES = {MASK: "truth values", INTEGER: "integers", FLOAT: "floats"}


class NotFloats(Exception):  # noqa: N818
    """Raised where a function that is about to be called is given a mask or integers."""


def number_kind(value: Any) -> str:
    """Return what numbers these are: ``float``, ``integer`` or ``mask``; a plain number is of its kind too."""
    raw = value.values if type(value) is Pair else value
    raw = value_of(raw)
    if type(raw) is bool:
        return MASK
    if type(raw) is int:
        return INTEGER
    return KINDS.get(getattr(raw, "dtype", DOUBLE).kind, FLOAT)


def is_odd(value: Any) -> bool:
    """Return whether a value is a truth value, a mask or an array of integers: neither floats nor a plain integer."""
    kind = type(value)
    if isinstance(value, Node):
        return value.value.dtype is not DOUBLE and number_kind(value) != FLOAT
    return kind not in (int, np.float64) and number_kind(value) != FLOAT


def whole_array(value: Any) -> bool:
    """Return whether a value holds masks or integers as an array, and not as a plain number."""
    raw = value_of(value)
    return isinstance(raw, np.ndarray | np.generic) and raw.dtype is not DOUBLE and raw.dtype.kind in KINDS


def only_numpy(f: Graph, what: str, hint: str = "(...).float() makes numbers of them for both") -> None:
    """Remark that PyTorch refuses an operation that NumPy answers."""
    f.remark("numpy-only", f"{what}: this is NumPy's answer, PyTorch refuses; {hint}.")


def neither(what: str) -> GradcliError:
    """Return the error for what both libraries refuse."""
    return GradcliError(
        "type", f"{what}: neither PyTorch nor NumPy does that", hint="(...).float() makes numbers of it"
    )


def pair_of(name: str, a: str, b: str) -> str:
    """Return how a message names an operator between two kinds."""
    both = NAMES[a] if a == b else f"{NAMES[a]} and {NAMES[b]}"
    return f"{name} of {both}"


BITS: dict[str, Callable[[Any, Any], Any]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
WORDS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
    "matmul": "@",
}
"""How each operator is written."""


def combined(f: Graph, op: Op, a: Any, b: Any) -> Any:
    """Return an operator on two masks or arrays of integers; raises ``type`` for what both libraries refuse.

    The result is a mask for ``+`` and ``*`` of masks, floats for ``/``, integers otherwise; it has no gradient.
    """
    left, right = number_kind(a), number_kind(b)
    x, y = value_of(a), value_of(b)
    name = WORDS.get(op.name, op.name)
    what = pair_of(name, left, right)
    masks = left == right == MASK
    if op.name == "sub" and masks:
        raise neither(what)
    if (op.name == "sub" and MASK in (left, right)) or (
        masks and (op.name in ("floor_divide", "remainder") or (op.name == "pow" and type(b) is not bool))
    ):
        only_numpy(f, what)
    if op.name == "matmul" and (masks or left != right):
        only_numpy(f, what)
    if op.name == "matmul":
        require_product(np.asarray(x), np.asarray(y), "@")
        f.charge(matmul_size(x, y))
        return np.matmul(x, y)
    f.charge(math.prod(np.broadcast_shapes(np.shape(x), np.shape(y))))
    if op.name == "div":
        return np.true_divide(x, y)
    if op.name in ("add", "mul"):
        return (np.add if op.name == "add" else np.multiply)(x, y)
    if op.name == "pow" and left == MASK and type(b) is bool:
        return np.power(whole(x), int(b)).astype(np.bool_)
    x, y = whole(x), whole(y)
    if op.name in ("floor_divide", "remainder"):
        if np.any(np.equal(y, 0)):
            only_numpy(f, f"{name} of integers by 0", "float division by 0 is inf or nan in both")
        return (np.floor_divide if op.name == "floor_divide" else np.remainder)(x, y)
    return np.subtract(x, y) if op.name == "sub" else integer_power(f, x, y)


def whole(x: Any) -> Any:
    """Return integers for a mask, and integers as they are."""
    return x if type(x) is int else np.asarray(x).astype(np.int64)[()]


def integer_power(f: Graph, x: Any, p: Any) -> Any:
    """Return a power of integers; one below 0 is 0 in PyTorch, but for 1 and -1, and refused by NumPy."""
    if not np.any(np.less(p, 0)):
        return np.power(x, p)
    if type(p) is int:
        raise GradcliError(
            "value", "an array of integers to a negative power: neither PyTorch nor NumPy does that",
            hint="(...).float() makes numbers of it",
        )  # fmt: skip
    f.remark(
        "torch-only",
        "A negative power of integers is rounded towards 0 in PyTorch, and refused by NumPy; (...).float() makes "
        "numbers of them for both.",
    )
    size = np.where(np.abs(x) == 1, np.power(x, np.abs(p)), 0)
    return np.where(np.less(p, 0), size, np.power(x, np.maximum(p, 0)))[()]


def with_floats(f: Graph, op: Op, a: Any, b: Any) -> None:
    """Remark where an operator joins floats with a mask or integers that PyTorch would not join."""
    left, right = number_kind(a), number_kind(b)
    if op.name == "matmul" or (op.name == "sub" and MASK in (left, right)):
        only_numpy(f, pair_of(WORDS[op.name], left, right))


def bits(f: Graph, op: Op, a: Any, b: Any) -> Any:
    """Return ``&``, ``|`` or ``^`` of masks or integers; raises ``type`` for floats."""
    if FLOAT in (number_kind(a), number_kind(b)):
        raise bits_of_floats(op)
    if isinstance(a, int) and isinstance(b, int):
        if op.name == "^" and type(a) is type(b) is int:
            raise bits_of_floats(op)
        return BITS[op.name](a, b)
    return f(op, a, b)


def bits_of_floats(op: Op) -> GradcliError:
    """Return the error for a bitwise operator on floats."""
    if op.name == "^":
        return GradcliError("not-allowed", "'^' is not the power", hint="write **")
    word = {"&": "and", "|": "or"}[op.name]
    return GradcliError(
        "type", f"'{op.name}' joins masks or integers, not floats", hint=f"(x > 0) {op.name} (x < 1), or '{word}'"
    )


def inverted(f: Graph, op: Op, a: Any) -> Any:
    """Return ``~`` of a mask or of integers; raises ``type`` for floats."""
    kind = number_kind(a)
    if kind == FLOAT:
        raise GradcliError("type", "'~' turns masks round, not numbers", hint="write -x for the opposite")
    if isinstance(a, int):
        return -int(a) - 1
    return f(op, a) if kind == MASK else np.invert(value_of(a))


def signed(a: Any, sign: str) -> Any:
    """Return integers with a sign; raises ``type`` for a mask."""
    if number_kind(a) == MASK and type(a) is not bool:
        raise neither(f"unary {sign} of truth values")
    raw = int(a) if type(a) is bool else value_of(a)
    return -raw if sign == "-" else raw


def kept_in_place(f: Graph, op: Op, before: Any, result: Any, name: str) -> None:
    """Refuse an augmented assignment that would make floats of integers, numbers of a mask, or an array of one number.

    NumPy's single numbers are no arrays: it gives the name another value where PyTorch refuses.
    """
    if not np.ndim(value_of(before)) and np.ndim(value_of(result)):
        what = f"'{name}' is one number, and in place it cannot become an array"
        only_numpy(f, what, f"{name} = {name} ... is right in both")
    old, new = number_kind(before), number_kind(result)
    if op.name == "pow" and new == MASK and np.ndim(value_of(before)):
        f.remark(
            "torch-only", f"'{name}' **= ...: a power of truth values is an integer in NumPy, which refuses it here."
        )
    if RANKS[new] <= RANKS[old] or not whole_array(before):
        return
    what = f"'{name}' holds {NAMES[old]}, and in place it cannot become {NAMES[new]}"
    if getattr(value_of(before), "ndim", 0):
        raise GradcliError("type", what, hint=f"write {name} = {name} ... instead")
    only_numpy(f, what, f"{name} = {name} ... is right in both")


def written_as(f: Graph, x: Any, value: Any, listed: bool, op: Op | None) -> Any:
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
    if old == INTEGER and not np.all(np.isfinite(value_of(value))):
        raise GradcliError("value", f"inf or nan cannot become one of {NAMES[old]}")
    return np.asarray(value_of(value)).astype(value_of(x).dtype)[()]


RANKS = {MASK: 0, INTEGER: 1, FLOAT: 2}


def stacked(items: list[Any]) -> Any:
    """Return a list of masks, or of integers that were computed, as an array of that kind; None for other lists."""
    kinds = {number_kind(item) for item in items}
    if not items or FLOAT in kinds or not any(map(whole_array, items)):
        return None
    raws = [np.asarray(value_of(item)) for item in items]
    return np.stack(raws) if len({raw.shape for raw in raws}) == 1 else None
