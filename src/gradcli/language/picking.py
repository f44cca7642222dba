"""What an index picks while a program runs: its parts checked against an array, and the entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Graph
from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.language.arithmetic import (
    Listed,
    Tupled,
    Tuples,
    array_of,
    is_kept_list,
    items_of,
    kept_list,
    stack_whole,
    takes_integers_apart,
    whole_array,
    words_for,
)
from gradcli.ops import Pair, Parts
from gradcli.ops.arithmetic import only_numpy
from gradcli.ops.declare import value_of
from gradcli.ops.joining import INDEX, PART


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
        from gradcli.ops.further.casting import positions

        result = positions(f, value)
        return result if result.ndim else int(result)
    shown = (
        repr(float(raw))
        if isinstance(raw, np.generic) or (isinstance(raw, np.ndarray) and raw.ndim == 0)
        else words_for(raw)
    )
    raise GradcliError(
        "index", f"an index must be an integer, a slice or a mask, not {shown}", hint="x[0], x[-1], x[1:3], x[x > 0]"
    )


def read_subscript(f: Graph, base: Any, parts: list[Any], single: bool) -> Any:
    """Return ``base[parts]``."""
    if type(base) in NODES and is_place(base.value, parts):
        key = parts[0] if single else tuple(parts)
        return f.enter(INDEX, (base,), {"key": key}, base.value[key])
    if type(base) is np.ndarray and is_place(base, parts):
        return base[(*parts, ...)]
    if type(base) in (tuple, Pair, Parts):
        return item_at(base, parts[0] if single else None)
    if isinstance(base, Listed) and single and type(parts[0]) is int and -len(base) <= parts[0] < len(base):
        return items_of(base)[parts[0]]
    x = array_of(base)
    key = index_key(f, x, parts, single)
    if type(x) not in NODES:
        f.charge(0)
    return pick_entries(f, x, key)


def is_place(x: Any, parts: list[Any]) -> bool:
    """Return whether an index is the place of one entry of ``x``, an array of floats."""
    if len(parts) != x.ndim or x.dtype != np.float64:
        return False
    for part, length in zip(parts, x.shape, strict=True):
        if type(part) is not int or not -length <= part < length:
            return False
    return True


def read_position(read: Callable[[list[Any]], Any], regs: list[Any]) -> Any:
    """Return an index of a list: to Python a truth value is 0 or 1 there, where it is a mask of an array."""
    value = read(regs)
    raw = value_of(value)
    one = isinstance(raw, bool) or (isinstance(raw, np.ndarray | np.generic) and raw.dtype == np.bool_ and not raw.ndim)
    return int(raw) if one else value


def index_key(f: Graph, x: Any, parts: list[Any], single: bool) -> Any:
    """Return a numpy index for an array, checked against its shape."""
    parts, single = axis_by_axis(f, x, parts, single)
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


def axis_by_axis(f: Graph, x: Any, parts: list[Any], single: bool) -> tuple[list[Any], bool]:
    """Return the parts of an index of ``x``: a tuple has one for each axis.

    So has a list of lists, or of tensors, in PyTorch.
    """
    whole: Any = parts[0] if single else None
    nested = (type(whole) in (Listed, Tuples) and whole.ndim > 1) or is_kept_list(f, whole)
    if nested and len(whole) > x.ndim:
        axes = counted(x.ndim, "axis")
        what = "lists" if whole.ndim > 1 else "tensors"
        only_numpy(f, f"{len(whole)} {what} as an index of {axes}", "np.array([...]) as an index says that to both")
        return parts, single
    if nested:
        f.remark(
            "numpy-differs",
            "A list of lists, or of tensors, as an index has one for each axis, as in PyTorch. NumPy picks "
            "along the first axis by all of them: np.array([...]) as an index says that to both.",
        )
    return (list(whole), False) if nested or type(whole) in (tuple, Tupled) else (parts, single)


def item_at(base: tuple[Any, ...] | Pair | Parts, place: object) -> Any:
    """Return one of several lengths or arrays by its place, and of lengths a slice; raises ``index``."""
    if type(base) is tuple and isinstance(place, slice):
        return base[place]
    count = 2 if type(base) is Pair else len(base.names) if type(base) is Parts else len(base)  # type: ignore[arg-type]
    if type(place) is int and -count <= place < count:
        return (base.values, base.indices)[place] if type(base) is Pair else base[place % count]  # type: ignore[index]
    if type(base) is Pair:
        message, hint = "max, min, median and sort give a pair: its values and their indices", "write .values[...]"
        raise GradcliError("index", message, hint=hint)
    if type(base) is Parts:
        raise GradcliError("index", f"there are {count} arrays here", hint=f"write .{base.names[0]}[...]")
    raise GradcliError("index", f"a shape of {counted(count, 'length')} has no index {place!r}")


def basic(key: object) -> bool:
    """Return whether an index takes a view: of integers and slices alone."""
    return not any(isinstance(part, np.ndarray) for part in (key if isinstance(key, tuple) else (key,)))


def as_view(key: object) -> Any:
    """Return a basic index that gives an array even where it picks one entry."""
    parts = key if isinstance(key, tuple) else (key,)
    return parts if ... in parts else (*parts, ...)


def pick_entries(f: Graph, x: Any, key: Any) -> Any:
    """Return ``x[key]``; of a constant too, a basic index shows the memory."""
    return f(INDEX, x, key=key if type(x) in NODES or not basic(key) else as_view(key))


def part_of(f: Graph, x: Any, position: int) -> Any:
    """Return what one of several variables gets of an array, as in ``a, b = x``."""
    return f(PART, x, key=position) if type(x) in NODES else pick_entries(f, x, position)


def slice_bound(f: Graph, value: object) -> int | None:
    """Return a bound of a slice; raises ``index`` for anything but an integer."""
    if value is None or type(value) is int:
        return value
    result = whole_index(f, value)
    if type(result) is not int:
        raise GradcliError("index", "the bounds of a slice must be integers")
    return result


def index_list(f: Graph, values: list[Any], shape: tuple[int, ...]) -> Any:
    """Return a list of lists in an index as an array of integers of this shape, or as a mask."""
    if values and all(isinstance(value, bool) for value in values):
        return np.array(values).reshape(shape)
    whole = stack_whole(values) if len(shape) == 1 and any(map(whole_array, values)) else None
    if whole is not None:
        return kept_list(f, values, whole)
    items = [whole_index(f, value) for value in values]
    if not all(type(item) is int for item in items):
        raise GradcliError("index", "a list in an index must hold integers")
    places = np.array(items, dtype=np.intp).reshape(shape)
    return places.view(Listed) if len(shape) > 1 else places
