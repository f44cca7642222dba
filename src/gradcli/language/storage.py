"""Which tensors of a run share memory, as PyTorch has it: the storage of each, and the entries of it that it shows.

Values of a run never change: a write makes new ones. That a view shows the memory of another tensor is read off the
graph, or off numpy's arrays where nothing is differentiated; what a write has made is noted in ``Graph.windows``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node, Operation
from gradcli.language.kinds import DOUBLE, Listed, is_tensor
from gradcli.language.picking import as_view, basic
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import value_of
from gradcli.ops.signatures import Array, Indices

Key = Any
"""What tells a storage from all others: the index of a node, or the identity of an array."""


class Window(NamedTuple):
    """What a tensor shows of a storage.

    ``places`` has the tensor's shape and the layout of its memory, and in each entry the number of the place that it
    shows. ``side`` is the node that was detached, or the storage itself: derivatives flow between views of one side.
    ``owner`` keeps an array alive whose identity is a key. ``doubt`` says that it may as well be a copy, where
    it is not known how PyTorch lays out what was reshaped.
    """

    key: Key
    places: Indices
    side: Key
    owner: object = None
    doubt: bool = False


def is_array(value: object) -> bool:
    """Return whether a tensor is no node for what shares its memory: an array, or a node of integers or of a mask."""
    return type(value) not in NODES or getattr(value.value, "dtype", DOUBLE).kind in "bi"  # type: ignore[attr-defined]


def looks_on(node: object) -> TypeGuard[Operation]:
    """Return whether a node shows the memory of its argument, if only its layout allows that."""
    return isinstance(node, Operation) and node.op.view and basic(node.static.get("key"))


def views_under(value: object) -> Iterator[Operation]:
    """Yield the views through which a tensor shows memory, itself first where it is one."""
    while looks_on(value):
        yield value
        value = value.arguments[0]


def root(f: Graph, value: Any) -> Key:
    """Return the storage that a tensor may show: that which it does show, unless a reshape has copied."""
    while not is_array(value):
        window = f.windows.get(value.index)
        if window is not None:
            return window.key
        if not looks_on(value):
            return value.index
        value = value.arguments[0]
    owner = owner_of(value_of(value))
    window = f.windows.get(("array", id(owner)))
    return ("array", id(owner)) if window is None else window.key


def may_share(f: Graph, a: object, b: object) -> bool:
    """Return whether two values may show one storage."""
    if isinstance(b, Pair | Parts | tuple):
        return any(may_share(f, a, part) for part in parts_of(b))
    if isinstance(a, Listed) or isinstance(b, Listed):
        return a is b
    return is_tensor(a) and is_tensor(b) and root(f, a) == root(f, b)


def parts_of(value: Any) -> tuple[Any, ...]:
    """Return the tensors that a value holds: those of a pair, of a tuple or of a decomposition, or the value itself."""
    if isinstance(value, Pair):
        return value.values, value.indices
    if isinstance(value, Parts):
        return tuple(value.made.values())
    return value if isinstance(value, tuple) else (value,)


def storage_of(f: Graph, value: object) -> Key:
    """Return the storage that a tensor shows, None for what is no tensor."""
    return window_of(f, value).key if is_tensor(value) else None


def window_of(f: Graph, value: Any) -> Window:
    """Return what a tensor shows of a storage."""
    return window_of_array(f, value_of(value)) if is_array(value) else window_of_node(f, value)


def window_of_node(f: Graph, node: Node) -> Window:
    """Return what a node shows; what is found on the way is noted, as other views have it in common."""
    views: list[Operation] = []
    at: Any = node
    while not is_array(at) and at.index not in f.windows and looks_on(at):
        views.append(at)
        at = at.arguments[0]
    window = window_of_array(f, value_of(at)) if is_array(at) else f.windows.get(at.index)
    if window is None:
        window = f.windows[at.index] = own_window(at)
    for view in reversed(views):
        window = f.windows[view.index] = seen_through(f, view, window)
    return window


def own_window(node: Node) -> Window:
    """Return what a node shows that has a storage of its own, laid out without gaps in the order of its axes."""
    strides = getattr(node.value, "strides", ())
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    memory = np.arange(int(np.prod(node.shape, dtype=np.int64)))
    places = memory.reshape([node.shape[axis] for axis in order]).transpose(np.argsort(order).astype(int))
    return Window(node.index, places, node.index)


def seen_through(f: Graph, view: Operation, window: Window) -> Window:
    """Return what a view of a tensor shows, given what that shows; a reshape that its layout does not allow copies."""
    key = view.static.get("key")
    if view.op.flat:
        return window._replace(side=view.index)
    if key is not None:
        return window._replace(places=window.places[as_view(key)])
    from gradcli.language.layout import is_layout_known

    places: Any = view.op.forward(window.places, **view.static)
    same_axes = [n for n in places.shape if n != 1] == [n for n in window.places.shape if n != 1]
    if places.size and not same_axes and "shape" in view.static and not is_layout_known(f, window.key):
        return window._replace(places=places, doubt=True)
    if places.size and not np.may_share_memory(places, window.places):
        return own_window(view)
    return window._replace(places=places)


def owner_of(array: Any) -> Array:
    """Return the array whose memory an array shows."""
    while getattr(array, "base", None) is not None and not isinstance(array.base, bytes):
        array = array.base
    return array  # type: ignore[no-any-return]


def window_of_array(f: Graph, array: Array) -> Window:
    """Return what an array shows of the memory of its owner."""
    owner = owner_of(array)
    key = ("array", id(owner))
    known = f.windows.get(key)
    if known is not None:
        key = known.key
    memory, size = np.arange(owner.size), owner.itemsize
    steps = tuple(step // size * memory.itemsize for step in array.strides)
    start = (address(array) - address(owner)) // size * memory.itemsize
    places: Indices = np.ndarray(array.shape, memory.dtype, memory, start, steps)
    return Window(key, places, key, owner)


def address(array: Array) -> int:
    """Return where the first entry of an array stands."""
    return int(array.__array_interface__["data"][0])


def without_gaps(places: Indices) -> bool:
    """Return whether entries fill a stretch of the memory, in any order of the axes."""
    size = places.itemsize
    for step, length in sorted(zip(places.strides, places.shape, strict=True)):
        if length > 1:
            if step != size:
                return False
            size *= length
    return True


def in_part(target: Indices, source: Indices) -> bool:
    """Return whether two places have entries in common and are not the same; PyTorch looks at those without gaps."""
    if not (without_gaps(target) and without_gaps(source)) or not np.intersect1d(target, source).size:
        return False
    return not (target.size == source.size and target.strides == source.strides and target.min() == source.min())
