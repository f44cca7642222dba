"""What the steps of a compiled program do when they run: arithmetic on numbers and nodes, truth, indices."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node
from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.language.kinds import Listed, Tupled, bits, items_of, stacked, takes_integers_apart, whole_array
from gradcli.ops import OPERATORS, Pair, Parts
from gradcli.ops.declare import Op, value_of
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import STACK
from gradcli.ops.signatures import Tensor

EXACT = 2**53
"""Integers up to here are exact in double precision; larger results become floats."""


NUMBERS = (np.dtype(np.float64), np.dtype(object))
"""What the numbers of arrays are: doubles, or objects with more digits."""


class Unbound:
    """Marks a variable that no statement has assigned yet."""


UNBOUND = Unbound()


def kind_of(value: object) -> str:
    """Return a word for what a value is, for messages."""
    if value is None:
        return "None"
    names = {type(...): "'...'", bool: "a truth value", str: "text", slice: "a slice", tuple: "a tuple"}
    return names.get(type(value), "a number")


def as_tensor(value: Any) -> Tensor:
    """Return a node or a float array; raises ``type`` for what is no number."""
    kind = type(value)
    if type(value) in NODES:
        node: Tensor = value if value.value.dtype in NUMBERS else np.asarray(value.value, dtype=np.float64)
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
        return whole
    tensors = [as_tensor(item) for item in items]
    if not tensors:
        return np.zeros(0)
    shapes = [item.shape for item in tensors]
    for shape in shapes:
        if shape != shapes[0]:
            raise GradcliError(
                "shape",
                f"the entries of a list must have one shape, not {shapes[0]} and {shape}",
                hint="cat([a, b]) joins vectors of different lengths",
            )
    f.charge(len(tensors) * value_of(tensors[0]).size)
    return f(STACK, *tensors, dim=0)


def stack_tuple(f: Graph, items: list[Any]) -> Any:
    """Return a tuple display as an array; one of plain integers stays a tuple as an index and as lengths."""
    found = stack_items(f, items)
    return found.view(Tupled) if isinstance(found, Listed) else found


def whole_index(f: Graph, value: object) -> Any:
    """Return one part of an index as numpy takes it; raises ``index`` for what is not an integer, slice or mask.

    Inputs are doubles; one of whole numbers is taken as positions.
    """
    if type(value) is int or value is None or value is Ellipsis or isinstance(value, slice):
        return value
    raw = value_of(value)
    if type(raw) is bool or (isinstance(raw, np.ndarray | np.generic) and raw.dtype == np.bool_):
        return np.asarray(raw)
    if isinstance(raw, np.ndarray | np.generic) and np.issubdtype(raw.dtype, np.integer):
        return int(raw) if raw.ndim == 0 else np.asarray(raw)
    if isinstance(raw, tuple) and all(type(item) is int for item in raw):
        return np.array(raw, dtype=np.intp)
    if f.is_input(value):
        from gradcli.ops.further.positions import positions

        found = positions(f, value)
        return found if found.ndim else int(found)
    shown = (
        repr(float(raw))
        if isinstance(raw, np.generic) or (isinstance(raw, np.ndarray) and raw.ndim == 0)
        else kind_of(raw)
    )
    raise GradcliError(
        "index", f"an index must be an integer, a slice or a mask, not {shown}", hint="x[0], x[-1], x[1:3], x[x > 0]"
    )


def subscript(f: Graph, base: Any, parts: list[Any], single: bool) -> Any:
    """Return ``base[parts]``."""
    if type(base) in NODES and is_place(base.value, parts):
        key = parts[0] if single else tuple(parts)
        return f.enter(INDEX, (base,), {"key": key}, base.value[key])
    if type(base) is np.ndarray and is_place(base, parts):
        return base[(*parts, ...)]
    if type(base) is tuple:
        return _tuple_item(base, parts[0] if single else None)
    if type(base) is Pair:
        return _pair_item(base, parts[0] if single else None)
    if type(base) is Parts:
        return _part_item(base, parts[0] if single else None)
    if single and type(parts[0]) in (tuple, Tupled) and not isinstance(base, Listed):
        return subscript(f, base, list(parts[0]), single=False)
    if isinstance(base, Listed) and single and type(parts[0]) is int and -len(base) <= parts[0] < len(base):
        return items_of(base)[parts[0]]
    x = array_of(base)
    key = index_key(f, x, parts, single)
    if type(x) not in NODES:
        f.charge(0)
    return picked(f, x, key)


def is_place(x: Any, parts: list[Any]) -> bool:
    """Return whether an index is the place of one entry of ``x``, an array of floats."""
    if len(parts) != x.ndim or x.dtype != np.float64:
        return False
    for part, length in zip(parts, x.shape, strict=True):
        if type(part) is not int or not -length <= part < length:
            return False
    return True


def index_key(f: Graph, x: Any, parts: list[Any], single: bool) -> Any:
    """Return a numpy index for an array, checked against its shape."""
    items = [whole_index(f, part) for part in parts]
    used = sum(
        item.ndim if isinstance(item, np.ndarray) and item.dtype == np.bool_ else 1
        for item in items
        if item is not None and item is not Ellipsis
    )
    if used > x.ndim:
        raise GradcliError(
            "index",
            f"{counted(used, 'index')} for an array of shape {x.shape}",
            hint=None if x.ndim else "a scalar has no entries to pick",
        )
    if sum(item is Ellipsis for item in items) > 1:
        raise GradcliError("index", "an index may hold one ... only")
    if takes_integers_apart(items):
        f.remark(
            "torch-differs",
            "Between an integer and a list of places stands a slice: NumPy puts the list's axis in front, as here, and "
            "PyTorch takes the integer first. Index twice, x[0][:, [0, 1]], and both are the same.",
        )
    return items[0] if single else tuple(items)


def _tuple_item(base: tuple[Any, ...], position: object) -> Any:
    if isinstance(position, slice):
        return base[position]
    if type(position) is not int or not -len(base) <= position < len(base):
        raise GradcliError("index", f"a shape of {counted(len(base), 'length')} has no index {position!r}")
    return base[position]


def _pair_item(base: Pair, position: object) -> Any:
    if type(position) is not int or not -2 <= position < 2:
        raise GradcliError(
            "index", "max, min, median and sort give a pair: its values and their indices", hint="write .values[...]"
        )
    return base.values if position % 2 == 0 else base.indices


def _part_item(base: Parts, position: object) -> Any:
    count = len(base.names)
    if type(position) is not int or not -count <= position < count:
        raise GradcliError("index", f"there are {count} arrays here", hint=f"write .{base.names[0]}[...]")
    return base[position % count]


def basic(key: object) -> bool:
    """Return whether an index takes a view: of integers and slices alone."""
    return not any(isinstance(part, np.ndarray) for part in (key if isinstance(key, tuple) else (key,)))


def as_view(key: object) -> Any:
    """Return a basic index that gives an array even where it picks one entry."""
    parts = key if isinstance(key, tuple) else (key,)
    return parts if ... in parts else (*parts, ...)


def picked(f: Graph, x: Any, key: Any) -> Any:
    """Return ``x[key]``; of a constant too, a basic index shows the memory."""
    return f(INDEX, x, key=key if type(x) in NODES or not basic(key) else as_view(key))


def compare_chain(f: Graph, ops: list[Op], values: list[Any]) -> Any:
    """Apply ``a < b < c``: true where every comparison is."""
    found = [value_of(compare(f, op, left, right)) for op, left, right in zip(ops, values, values[1:], strict=False)]
    return reduce(partial(compare, f, OPERATORS["&", 2]), found)


def slice_bound(f: Graph, value: object) -> int | None:
    """Return a bound of a slice; raises ``index`` for anything but an integer."""
    if value is None or type(value) is int:
        return value
    found = whole_index(f, value)
    if type(found) is not int:
        raise GradcliError("index", "the bounds of a slice must be integers")
    return found


def slice_of(start: int | None, stop: int | None, step: int | None) -> slice:
    """Return a slice; raises ``index`` for a step of 0."""
    if step == 0:
        raise GradcliError("index", "the step of a slice cannot be 0")
    return slice(start, stop, step)


def index_list(f: Graph, values: list[Any], shape: tuple[int, ...]) -> Any:
    """Return a list of lists in an index as an array of integers of this shape, or as a mask."""
    if values and all(isinstance(value, bool) for value in values):
        return np.array(values).reshape(shape)
    found = [whole_index(f, value) for value in values]
    if not all(type(item) is int for item in found):
        raise GradcliError("index", "a list in an index must hold integers")
    return np.array(found, dtype=np.intp).reshape(shape)
