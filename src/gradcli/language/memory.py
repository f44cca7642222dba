"""Which tensors of a run share memory, as PyTorch has it, and writes in place to those that do.

A view is a node that looks on its argument: what it shows is found along its views, down to the root that has the
memory. A write makes a new value of the tensor it is done to, and a new root with that in its place. Each other
variable that shows a part of the memory gets a new value too: its views, taken of the new root.
How PyTorch lays out the memory of what an operation makes, where numpy is known to do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node, Operation
from gradcli.errors import GradcliError
from gradcli.language.arithmetic import DOUBLE, Listed, is_tensor, number_kind
from gradcli.language.compiling import Assigned, Frame, Selection, Written
from gradcli.language.picking import as_view, basic
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import value_of
from gradcli.ops.joining import PUT
from gradcli.ops.links import Array, Index, Indices, Shape
from gradcli.ops.making import DETACH
from gradcli.ops.shaping import CLONE, RESHAPE
from gradcli.ops.writing import index_text

Key = Any
"""What tells a storage from all others: the index of a node, or the identity of an array."""


def is_no_float_node(value: object) -> bool:
    """Return whether a tensor is no node for what shares its memory: an array, or a node of integers or of a mask."""
    return type(value) not in NODES or getattr(value.value, "dtype", DOUBLE).kind in "bi"  # type: ignore[attr-defined]


def looks_on(node: object) -> TypeGuard[Operation]:
    """Return whether a node shows the memory of its argument, if only its layout allows that."""
    return isinstance(node, Operation) and node.op.entries.view and basic(node.static.get("key"))


def shares(view: Operation) -> bool:
    """Return whether what a view shows is the memory that it was made of: a reshape may have copied it."""
    shown, whole = view.value, value_of(view.arguments[0])
    arrays = isinstance(shown, np.ndarray) and isinstance(whole, np.ndarray)
    return "shape" not in view.static or not arrays or not shown.size or bool(np.may_share_memory(shown, whole))


def views_under(value: object) -> Iterator[Operation]:
    """Yield the views through which a tensor shows memory, itself first where it is one."""
    while looks_on(value):
        yield value
        value = value.arguments[0]


def storage_root(f: Graph, value: Any) -> Key:
    """Return the storage that a tensor may show: that which it does show, unless a reshape has copied."""
    while not is_no_float_node(value):
        if value.index in f.windows:
            value = f.windows[value.index]
        elif looks_on(value):
            value = value.arguments[0]
        else:
            break
    return storage_with(f, value)


def key_of(root: Any) -> Key:
    """Return what tells apart what has memory: a node, or the owner of an array."""
    return ("array", id(owner_of(value_of(root)))) if is_no_float_node(root) else ("node", root.index)


def storage_with(f: Graph, root: Any) -> Key:
    """Return the storage that a root has the memory of: the one that it had before any write."""
    first = f.windows.get(key_of(root), root)
    return key_of(first)


def may_share(f: Graph, a: object, b: object) -> bool:
    """Return whether two values may show one storage."""
    if isinstance(b, Pair | Parts | tuple):
        return any(may_share(f, a, part) for part in parts_of(b))
    if isinstance(a, Listed) or isinstance(b, Listed):
        return a is b
    return is_tensor(a) and is_tensor(b) and storage_root(f, a) == storage_root(f, b)


def parts_of(value: Any) -> tuple[Any, ...]:
    """Return the tensors that a value holds: those of a pair, of a tuple or of a decomposition, or the value itself."""
    if isinstance(value, Pair):
        return value.values, value.indices
    if isinstance(value, Parts):
        return tuple(value.made.values())
    return value if isinstance(value, tuple) else (value,)


def storage_of(f: Graph, value: object) -> Key:
    """Return the storage that a tensor shows, None for what is no tensor."""
    return storage_with(f, shown_by(f, value).root) if is_tensor(value) else None


class Shown(NamedTuple):
    """What a tensor shows: ``views``, of which the first is of ``root``, which has the memory.

    ``side`` is the last node that was detached, or the root, and the last ``own`` views are of it: derivatives flow
    between views of one side. ``doubt`` says that the tensor may as well be a copy, where it is not known how PyTorch
    lays out what was reshaped.
    """

    root: Any
    views: list[Operation]
    side: Any
    own: int
    doubt: bool

    @property
    def places(self) -> Indices:
        """The places in memory that the entries show, laid out as these are."""
        return seen_through(self.views, places_of(self.root))


def shown_by(f: Graph, value: Any) -> Shown:
    """Return what a tensor shows; ``Graph.windows`` has views for what was written through others."""
    views: list[Operation] = []
    side, own, doubt = None, 0, False
    while not is_no_float_node(value):
        view = f.windows.get(value.index, value)
        if view is value:
            unknown = looks_on(value) and is_copied_perhaps(f, value)
            if not looks_on(value) or not (unknown or shares(value)):
                break
            doubt = doubt or unknown
        if view.op.flat and side is None:
            side, own = value, len(views)
        if view is value:
            views.append(value)
        value = value.arguments[0] if view is value else view
    if side is None:
        side, own = value, len(views)
    return Shown(value, views[::-1], side, own, doubt)


def seen_through(views: Sequence[Operation], numbers: Indices) -> Indices:
    """Return what views show of numbers in the place of entries."""
    for view in views:
        key = view.static.get("key")
        numbers = np.asarray(view.op.forward(numbers, **view.static)) if key is None else numbers[as_view(key)]
    return numbers


def places_of(root: Any) -> Indices:
    """Return the places that entries have in memory: of a node's own, without gaps in the order of its axes."""
    if is_no_float_node(root):
        return places_of_array(value_of(root))
    strides = getattr(root.value, "strides", ())
    order = sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))
    lengths = tuple(root.shape[axis] for axis in order)
    return entry_numbers(lengths).transpose(np.argsort(order).astype(int))


def places_of_array(array: Array) -> Indices:
    """Return the places of its owner's memory that an array shows."""
    owner = owner_of(array)
    memory, size = np.arange(owner.size), owner.itemsize
    steps = tuple(step // size * memory.itemsize for step in array.strides)
    return np.ndarray(array.shape, memory.dtype, memory, place_in(owner, array) * memory.itemsize, steps)


def owner_of(array: Any) -> Array:
    """Return the array whose memory an array shows."""
    while getattr(array, "base", None) is not None and not isinstance(array.base, bytes):
        array = array.base
    return array  # type: ignore[no-any-return]


def place_in(owner: Array, array: Array) -> int:
    """Return the place in its owner's memory where the first entry of an array stands."""
    start, first = (int(one.__array_interface__["data"][0]) for one in (owner, array))
    return (first - start) // owner.itemsize


def entry_numbers(shape: Shape) -> Indices:
    """Return the numbers of the entries of an array."""
    return np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)


def is_gapless(places: Indices) -> bool:
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
    if not (is_gapless(target) and is_gapless(source)) or not np.intersect1d(target, source).size:
        return False
    return not (target.size == source.size and target.strides == source.strides and target.min() == source.min())


def is_copied_perhaps(f: Graph, view: Operation) -> bool:
    """Return whether a view may have copied its argument: it is a reshape of what PyTorch may lay out otherwise."""
    if "shape" not in view.static or not np.size(view.value):
        return False
    one, other = ([length for length in value.shape if length != 1] for value in (view, view.arguments[0]))
    return one != other and not is_layout_known(f, shown_by(f, view.arguments[0]).root)


def is_layout_known(f: Graph, root: Any) -> bool:
    """Return whether PyTorch lays out what has memory as numpy does; arrays without a node lie as they are."""
    stack, seen, known = [root], dict[Key, bool](), True
    while stack and known:
        node = stack.pop()
        place = "layout", getattr(node, "index", None)
        if not isinstance(node, Operation) or place in seen or sum(length > 1 for length in node.shape) < 2:
            continue
        if place in f.windows:
            known = f.windows[place]
            continue
        seen[place] = True
        sources = sources_of_layout(node)
        known = sources is not None
        stack += sources or ()
    f.windows.update(seen if known else {("layout", root.index): False})
    return known


def sources_of_layout(node: Operation) -> list[Any] | None:
    """Return the arguments whose layout decides on that of an operation, None where what they decide is not known.

    Entrywise operations lay out as their one matrix does, or row by row where all matrices lie so; stacks, joins and
    products row by row from such alone; what lists pick from a matrix lies so whatever that does.
    """
    op, arguments = node.op, node.arguments
    listed = not basic(node.static.get("key"))
    if op in (CLONE, PUT) or (op.entries.view and not listed):
        return [arguments[0]]
    matrices = [a for a in arguments if len(getattr(value_of(a), "shape", ())) > 1]
    if op.entries.view:
        return [] if matrices and matrices[0].ndim == 2 else None
    shapes = [(value_of(a).strides, value_of(a).shape) for a in matrices]
    steps = [[step for step, length in zip(*pair, strict=True) if length > 1] for pair in shapes]
    by_rows = all(strides == sorted(strides, reverse=True) for strides in steps)
    if op.formula is not None and (by_rows or len(matrices) == 1):
        return matrices
    return matrices if by_rows and (op.entries.moves or op.text.operator == "@") else None


MOST_LISTED = 64
"""Entries of a tensor up to which an answer says where each is from."""
MOST_FIXED = 8
"""Axes of which one entry is shown up to which all ways to index them are tried."""


def put_at_places(f: Any, x: Any, written: Any, places: Indices) -> Any:
    """Return ``x`` with what is written at the numbers of its entries."""
    shape = np.shape(value_of(x))
    if not shape:
        return f(PUT, x, f(RESHAPE, written, shape=()) if places.shape else written, key=...)
    key = basic_key(places, shape)
    return f(PUT, x, written, key=np.unravel_index(places, shape) if key is None else key)


def basic_key(wanted: Indices, shape: Shape) -> Index | None:
    """Return the index of integers and slices that picks ``wanted`` of the numbered entries, None where there is none.

    >>> basic_key(np.array([[1, 2], [4, 5]]), (2, 3))
    (slice(None, None, None), slice(1, None, None))
    """
    if not wanted.size or not shape:
        return None
    first = np.unravel_index(wanted.flat[0], shape)
    last = np.unravel_index(wanted.flat[-1], shape)
    fixed = [axis for axis in range(len(shape)) if first[axis] == last[axis]]
    kept = wanted.ndim - (len(shape) - len(fixed))
    if kept < 0 or len(fixed) > MOST_FIXED:
        return None
    entries = entry_numbers(shape)
    for sliced in combinations(fixed, kept):
        lengths = iter(wanted.shape)
        parts: list[Any] = [
            int(first[axis])
            if axis in fixed and axis not in sliced
            else slice_through(int(first[axis]), int(last[axis]), next(lengths), shape[axis])
            for axis in range(len(shape))
        ]
        while len(parts) > 1 and parts[-1] == slice(None):
            parts.pop()
        key = parts[0] if len(parts) == 1 else tuple(parts)
        if np.array_equal(entries[key], wanted):
            return key
    return None


def slice_through(first: int, last: int, count: int, length: int) -> slice:
    """Return the slice of ``count`` entries from ``first`` to ``last``, as short as it is written."""
    step = (last - first) // (count - 1) if count > 1 else 1
    step = step or 1
    end: int | None = last + (1 if step > 0 else -1)
    start: int | None = first
    if step > 0:
        start, end = first or None, None if last + step >= length else end
    elif last + step < 0:
        end = None
    return slice(start, end, None if step == 1 else step)


def write_through(
    regs: Frame, others: Callable[[], Iterator[tuple[str, int]]], record: Assigned, before: Any, after: Any
) -> Any:
    """Do a write in place: return the value of the tensor after it, and give that of others that share its memory.

    The value ``before`` is that of the variable that ``record`` names, ``after`` what its entries are then; ``others``
    are the other variables. Raises ``in-place`` for what PyTorch would write without its derivatives.
    """
    f = regs[0]
    after = laid_out_as(value_of(before), after)
    sharing = [(name, register) for name, register in others() if may_share(f, before, regs[register])]
    arrays = is_no_float_node(before) and is_no_float_node(after)
    if not sharing or not np.size(value_of(before)) or (arrays and number_kind(before) != number_kind(after)):
        f.bind(record.name, after, record)
        return after
    write = Writing(f, before, after)
    changes: dict[int, tuple[Any, Indices | None] | None] = {}  # one for each tensor: its variables stay one
    for name, register in sharing:
        value = regs[register]
        if id(value) not in changes:
            changes[id(value)] = write.changed(name, value)
    f.bind(record.name, write.after, record)
    for name, register in sharing:
        change = changes[id(regs[register])]
        if change is not None:
            regs[register], chosen = change
            if name:
                f.bind(name, change[0], None if f.story is None else shown_as(name, chosen, record.name, after))
    return write.after


def shown_as(name: str, entries: Indices | None, target: str, after: Any) -> Assigned:
    """Return what tells that a variable shows entries of another one, by which it was changed."""
    if entries is None or entries.size > MOST_LISTED:
        return Assigned(name, Written(""))
    chosen = Selection(entries, np.shape(value_of(after)))
    numbers = entry_numbers(chosen.shape)
    if entries.shape == chosen.shape and np.array_equal(entries, numbers):
        return Assigned(name, Written(target))
    key = basic_key(entries, chosen.shape) if chosen.whole else None
    return Assigned(
        name, Written(target if key is None else f"{target}[{index_text(key)}]"), chosen=chosen if key is None else None
    )


class Writing:
    """One write: what its target shows before it, and what others show after it.

    ``whole`` is what the target's side is then, and ``root`` what has the memory. ``memory`` is that of arrays alone.
    """

    def __init__(self, f: Graph, before: Any, after: Any) -> None:
        self.f, self.target = f, shown_by(f, before)
        self.before, self.after, self.whole, self.root = before, after, after, after
        places = self.target.places
        self.places = np.full(owner_of(places).size, -1)
        self.places[places] = entry_numbers(places.shape)
        self.taken: dict[tuple[int, int], Any] = {}
        self.memory: Memory | None = None
        if isinstance(before, Listed):
            return
        if is_no_float_node(before) and is_no_float_node(after):
            owner = owner_of(value_of(before))
            flat = np.lib.stride_tricks.as_strided(owner, (owner.size,), (owner.itemsize,))
            self.memory = Memory(owner, owner_of(f(CLONE, flat)))
            self.after = self.whole = self.root = self.memory.after(value_of(before))
            self.after[...] = value_of(after)
        else:
            self.write(after)
        f.windows[key_of(self.root)] = f.windows.get(key_of(self.target.root), self.target.root)

    def write(self, after: Any) -> None:
        """Write to what the target shows through its views, and note what that shows then."""
        root, views, side, own, _ = self.target
        detached, shown = views[: len(views) - own], views[len(views) - own :]
        if shown:
            self.whole = self.put(side, shown, after)
        if detached:
            self.root = self.put(root, views, self.f(DETACH, after))
            self.whole = self.note(self.whole, self.take(self.root, detached))
        else:
            self.root = self.whole
        self.after = self.note(after, self.take(self.whole, shown)) if shown else self.whole

    def put(self, x: Any, views: Sequence[Operation], written: Any) -> Any:
        """Return ``x`` after a write through views of it."""
        made = put_at_places(self.f, x, written, seen_through(views, entry_numbers(np.shape(value_of(x)))))
        return laid_out_as(value_of(x), made)

    def note(self, value: Any, view: Any) -> Any:
        """Return a value that was written, noted as what a view shows; an array is that view from now on."""
        if not isinstance(value, Node):
            return view
        self.f.windows[value.index] = view
        return value

    def take(self, base: Any, views: Sequence[Operation]) -> Any:
        """Return views of another base, the same for all variables."""
        value = base
        for view in views:
            place = id(base), view.index
            if place not in self.taken:
                self.taken[place] = self.f(view.op, value, **view.static)
            value = self.taken[place]
        return value

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
            return self.after, entry_numbers(value.shape)
        shown = shown_by(self.f, value)
        if key_of(shown.root) != key_of(self.target.root):
            return None
        chosen = self.places[shown.places]
        if self.memory is not None and is_no_float_node(value):
            return self.memory.after(value_of(value)), chosen
        if not np.any(chosen >= 0):
            self.f.windows[value.index] = self.take(self.root, shown.views)
            return None
        if self.target.doubt or shown.doubt:
            raise GradcliError(
                "in-place",
                f"whether this write changes '{name}' depends on how PyTorch lays out in memory what was reshaped",
                hint="clone() before the reshape, or after it, makes it certain",
            )
        return self.rewritten(name, value, shown), chosen

    def rewritten(self, name: str, value: Any, shown: Shown) -> Any:
        """Return a tensor with the entries of the target that it shows."""
        is_active = isinstance(value, Node) and value.active
        same = key_of(shown.side) == key_of(self.target.side)
        if is_active and not same:
            raise GradcliError(
                "in-place",
                f"a write to a detached tensor would change '{name}' too, as they share memory, but not its derivative",
                hint="detach().clone() shares no memory",
            )
        views = shown.views[len(shown.views) - shown.own :] if same else shown.views
        result = self.take(self.whole if same else self.root, views)
        if is_active and any(view.op.torch.several for view in shown.views):
            self.f.torn.add(result.index)
        return result


class Memory(NamedTuple):
    """The memory of an array before a write, ``owner``, and after it, ``store``."""

    owner: Array
    store: Array

    def after(self, array: Array) -> Array:
        """Return what shows in the memory after the write what an array showed in that before it."""
        start = place_in(self.owner, array)
        return np.lib.stride_tricks.as_strided(self.store[start:], array.shape, array.strides)


def laid_out_as(before: Any, made: Any) -> Any:
    """Return what is written in place, its numbers laid out in memory as those before: what is a view depends on it."""
    numbers = value_of(made)
    if not isinstance(before, np.ndarray) or not isinstance(numbers, np.ndarray) or numbers.shape != before.shape:
        return made
    steps = [step // before.itemsize for step in before.strides]
    if not numbers.size or 0 in steps or steps == [step // numbers.itemsize for step in numbers.strides]:
        return made
    reach = [(length - 1) * step for length, step in zip(numbers.shape, steps, strict=True)]
    room = np.empty(1 + sum(map(abs, reach)), numbers.dtype)
    strides = tuple(step * numbers.itemsize for step in steps)
    start = -sum(step for step in reach if step < 0)
    laid = np.lib.stride_tricks.as_strided(room[start:], numbers.shape, strides)
    laid[...] = numbers
    if type(made) not in NODES:
        return laid
    made.value = laid
    return made
