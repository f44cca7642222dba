"""Arithmetic of truth values and integers, as PyTorch and NumPy have it: masks, positions, counts.

Numbers of a program are floats. Comparisons give *masks*, positions and counts are *integers*, and both stay what they
are where both libraries leave them so. What only one of the two answers is answered with a remark.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, TENSORS, Graph
from gradcli.errors import GradcliError
from gradcli.ops.declare import Op, Pair, tensor, value_of
from gradcli.ops.integers import only_numpy
from gradcli.ops.parts import Bits
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


def pair_of(name: str, a: str, b: str) -> str:
    """Return how a message names an operator between two kinds."""
    both = NAMES[a] if a == b else f"{NAMES[a]} and {NAMES[b]}"
    return f"{name} of {both}"


def combined(f: Graph, op: Op, a: object, b: object) -> Any:
    """Return an operator on two masks or arrays of integers; raises ``type`` for what both libraries refuse.

    The result is a mask for ``+`` and ``*`` of masks, floats for ``/``, integers otherwise; it has no gradient.
    """
    rule = op.whole
    assert rule is not None  # noqa: S101
    left, right = number_kind(a), number_kind(b)
    x, y = value_of(a), value_of(b)
    answers = rule.masks if left == right == MASK else rule.mixed if left != right else "both"
    what = pair_of(op.operator, left, right)
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
        only_numpy(f, pair_of(op.operator, left, right))


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


def signed(a: object, sign: str) -> Any:
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
        f.remark("torch-only", f"'{name}' {op.operator}= ...: {op.whole.in_place}.")
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


def stacked(items: list[Any]) -> Any:
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
    return together(raws)


def together(raws: list[Any]) -> Any:
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
    whole = together(raws)
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
