"""Writes in place to tensors that share memory: what every other variable shows afterwards.

A write makes a new value of the tensor it is done to. Each other variable that shows a part of the same memory gets a
new value too: its old entries, and those of the written tensor where it shows them, with the derivatives of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph, Node
from gradcli.errors import GradcliError
from gradcli.language.compiling import Frame
from gradcli.language.kinds import Listed, number_kind
from gradcli.language.selecting import MOST_LISTED, put_into, select, select_text
from gradcli.language.storage import Window, address, is_array, may_share, owner_of, parts_of, views_under, window_of
from gradcli.language.trace import Assigned, Selection, Written
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import value_of
from gradcli.ops.making import DETACH
from gradcli.ops.shaping import CLONE
from gradcli.ops.signatures import Array, Indices


def write_through(
    regs: Frame, others: Callable[[], Iterator[tuple[str, int]]], told: Assigned, before: Any, after: Any
) -> Any:
    """Do a write in place: return the value of the tensor after it, and give that of others that share its memory.

    The value ``before`` is that of the variable that ``told`` names, ``after`` what its entries are then; ``others``
    are the other variables. Raises ``in-place`` for what PyTorch would write without its derivatives.
    """
    f = regs[0]
    sharing = [(name, register) for name, register in others() if may_share(f, before, regs[register])]
    if not np.size(value_of(before)) or not (sharing or has_gaps(f, before)):
        f.bind(told.name, after, told)
        return after
    if is_array(before) and is_array(after) and number_kind(before) != number_kind(after):
        f.bind(told.name, after, told)
        return after
    write = Writing(f, before, after)
    changes: dict[int, tuple[Any, Indices | None] | None] = {}  # one for each tensor: its variables stay one
    for name, register in sharing:
        value = regs[register]
        if id(value) not in changes:
            changes[id(value)] = write.changed(name, value)
    f.bind(told.name, write.after, told)
    for name, register in sharing:
        change = changes[id(regs[register])]
        if change is not None:
            regs[register], chosen = change
            if name:
                f.bind(name, change[0], None if f.story is None else shown_as(name, chosen, told.name, after))
    return write.after


def shown_as(name: str, entries: Indices | None, target: str, after: Any) -> Assigned:
    """Return what tells that a variable shows entries of another one, by which it was changed."""
    if entries is None or entries.size > MOST_LISTED:
        return Assigned(name, Written(""))
    chosen = Selection(entries, np.shape(value_of(after)))
    if chosen.whole:
        return Assigned(name, Written(select_text(target, chosen)))
    return Assigned(name, Written(target), chosen=chosen)


def has_gaps(f: Graph, value: Any) -> bool:
    """Return whether a tensor is laid out in memory as no copy of it is."""
    numbers = value_of(value)
    if not is_array(value) and (window := f.windows.get(value.index)) is not None:
        numbers = window.places
    return isinstance(numbers, np.ndarray) and not numbers.flags.forc


class Writing:
    """One write: what its target shows before it, and what others show after it."""

    def __init__(self, f: Graph, before: Any, after: Any) -> None:
        self.f = f
        self.target = window_of(f, before)
        self.places = np.full(memory_size(self.target), -1)
        self.places[self.target.places] = np.arange(self.target.places.size).reshape(self.target.places.shape)
        self.before = before
        self.after: Any = after
        self.memory: Memory | None = None
        if isinstance(before, Listed):
            return
        if is_array(before) and is_array(after):
            owner = owner_of(value_of(before))
            self.memory = Memory(owner, owner_of(f(CLONE, flat_memory(owner))))
            shown = self.memory.after(value_of(before))
            shown[...] = value_of(after)
            self.after = shown
            f.windows["array", id(self.memory.store)] = self.target._replace(owner=(self.memory.store, owner))
        else:
            self.after = shown_as_window(f, held(f, after), self.target)

    def changed(self, name: str, value: Any) -> tuple[Any, Indices | None] | None:
        """Return what a variable holds after the write; None where it stays as it is.

        With it comes, for each of its entries, the number of the entry of the written tensor that it shows, -1 for
        none; None where it holds several tensors of which not the first is shown in answers.
        """
        parts = parts_of(value)
        changes = [self.change(name, part) for part in parts]
        if not any(changes):
            return None
        new = [part if change is None else change[0] for part, change in zip(parts, changes, strict=True)]
        chosen = None if changes[0] is None or isinstance(value, tuple | Parts) else changes[0][1]
        if isinstance(value, Pair):
            return Pair(*new), chosen
        if isinstance(value, Parts):
            value.made.update(zip(value.made, new, strict=True))
            return value, chosen
        return tuple(new) if isinstance(value, tuple) else new[0], chosen

    def change(self, name: str, value: Any) -> tuple[Any, Indices] | None:
        """Return what a tensor is after the write, and which of its entries show the target; None where it stays."""
        if not may_share(self.f, self.before, value):
            return None
        if isinstance(value, Listed):
            return self.after, np.arange(value.size).reshape(value.shape)
        window = window_of(self.f, value)
        if window.key != self.target.key:
            return None
        chosen = self.places[window.places]
        if self.memory is not None and is_array(value):
            return self.memory.after(value_of(value)), chosen
        if not np.any(chosen >= 0):
            return None
        if self.target.doubt or window.doubt:
            raise in_doubt(name)
        return self.rewritten(name, value, window, Selection(chosen, np.shape(value_of(self.after)))), chosen

    def rewritten(self, name: str, value: Any, window: Window, chosen: Selection) -> Any:
        """Return a tensor with the entries of the target that it shows."""
        f, source = self.f, self.after
        if window.side != self.target.side:
            if isinstance(value, Node) and value.active:
                raise changed_apart(name)
            source = f(DETACH, source) if isinstance(source, Node) else source
        new = select(f, source, chosen) if chosen.whole else put_into(f, value, source, chosen)
        if new is self.after and isinstance(new, Node):
            return new
        found = shown_as_window(f, held(f, new), window)
        torn = isinstance(value, Node) and value.active
        if torn and (value.index in f.torn or any(view.op.several for view in views_under(value))):
            f.torn.add(found.index)
        return found


class Memory(NamedTuple):
    """The memory of an array before a write, ``owner``, and after it, ``store``."""

    owner: Array
    store: Array

    def after(self, array: Array) -> Array:
        """Return what shows in the memory after the write what an array showed in that before it."""
        start = (address(array) - address(self.owner)) // array.itemsize
        return np.lib.stride_tricks.as_strided(self.store[start:], array.shape, array.strides)


def memory_size(window: Window) -> int:
    """Return how many places the storage of a window has."""
    return int(owner_of(window.places).size)


def flat_memory(owner: Array) -> Array:
    """Return the memory of an array that owns it, entry after entry."""
    return np.lib.stride_tricks.as_strided(owner, (owner.size,), (owner.itemsize,))


def held(f: Graph, value: Any) -> Any:
    """Return a node with a value, where a graph has kept none as no derivative depends on it."""
    return value if isinstance(value, Node) else f(DETACH, np.asarray(value))


def shown_as_window(f: Graph, node: Node, window: Window) -> Node:
    """Return a node that shows a part of a storage, its numbers laid out as they stand there."""
    f.windows[node.index] = window
    numbers, steps = node.value, window.places.strides
    if isinstance(numbers, np.ndarray) and not window.places.flags.c_contiguous and 0 not in steps and numbers.size:
        apart = [step // window.places.itemsize for step in steps]
        room = np.empty(
            1 + sum((n - 1) * abs(step) for n, step in zip(numbers.shape, apart, strict=True)), numbers.dtype
        )
        start = sum((1 - n) * step for n, step in zip(numbers.shape, apart, strict=True) if step < 0)
        strides = tuple(step * numbers.itemsize for step in apart)
        node.value = np.lib.stride_tricks.as_strided(room[start:], numbers.shape, strides)
        node.value[...] = numbers
    return node


def in_doubt(name: str) -> GradcliError:
    """Return the error for a write that reaches another variable or not by a layout that is not known."""
    return GradcliError(
        "in-place",
        f"whether this write changes '{name}' depends on how PyTorch lays out in memory what was reshaped",
        hint="clone() before the reshape, or after it, makes it certain",
    )


def changed_apart(name: str) -> GradcliError:
    """Return the error for a write through ``detach`` to what is differentiated."""
    return GradcliError(
        "in-place",
        f"a write to a detached tensor would change '{name}' too, as they share memory, but not its derivative",
        hint="detach().clone() shares no memory",
    )
