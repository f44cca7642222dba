"""Which tensors of a run share memory, as PyTorch has it: the storage of each, and the entries of it that it shows.

How PyTorch lays out the memory of what an operation makes, where numpy is known to do the same.
Entries of one tensor shown in another: as an operation with its derivative, and as text of the language.
Writes in place to tensors that share memory: what every other variable shows afterwards.
A write makes a new value of the tensor it is done to. Each other variable that shows a part of the same memory gets a
new value too: its old entries, and those of the written tensor where it shows them, with the derivatives of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node, Operation
from gradcli.errors import GradcliError
from gradcli.language.arithmetic import DOUBLE, Listed, is_tensor, number_kind
from gradcli.language.compiling import Assigned, Frame, Selection, Written
from gradcli.language.picking import as_view, basic, pick_entries
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import Op, value_of
from gradcli.ops.joining import INDEX, PUT
from gradcli.ops.links import Array, Index, Indices, Mask, Options, Shape
from gradcli.ops.making import DETACH
from gradcli.ops.shaping import CLONE, RESHAPE, TRANSPOSE
from gradcli.ops.writing import index_text

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


def is_no_float_node(value: object) -> bool:
    """Return whether a tensor is no node for what shares its memory: an array, or a node of integers or of a mask."""
    return type(value) not in NODES or getattr(value.value, "dtype", DOUBLE).kind in "bi"  # type: ignore[attr-defined]


def looks_on(node: object) -> TypeGuard[Operation]:
    """Return whether a node shows the memory of its argument, if only its layout allows that."""
    return isinstance(node, Operation) and node.op.entries.view and basic(node.static.get("key"))


def views_under(value: object) -> Iterator[Operation]:
    """Yield the views through which a tensor shows memory, itself first where it is one."""
    while looks_on(value):
        yield value
        value = value.arguments[0]


def storage_root(f: Graph, value: Any) -> Key:
    """Return the storage that a tensor may show: that which it does show, unless a reshape has copied."""
    while not is_no_float_node(value):
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
    return window_of(f, value).key if is_tensor(value) else None


def window_of(f: Graph, value: Any) -> Window:
    """Return what a tensor shows of a storage."""
    return window_of_array(f, value_of(value)) if is_no_float_node(value) else window_of_node(f, value)


def window_of_node(f: Graph, node: Node) -> Window:
    """Return what a node shows; what is found on the way is noted, as other views have it in common."""
    views: list[Operation] = []
    at: Any = node
    while not is_no_float_node(at) and at.index not in f.windows and looks_on(at):
        views.append(at)
        at = at.arguments[0]
    window = window_of_array(f, value_of(at)) if is_no_float_node(at) else f.windows.get(at.index)
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
    window = f.windows.get(key)
    if window is not None:
        key = window.key
    memory, size = np.arange(owner.size), owner.itemsize
    steps = tuple(step // size * memory.itemsize for step in array.strides)
    start = (address(array) - address(owner)) // size * memory.itemsize
    places: Indices = np.ndarray(array.shape, memory.dtype, memory, start, steps)
    return Window(key, places, key, owner)


def address(array: Array) -> int:
    """Return where the first entry of an array stands."""
    return int(array.__array_interface__["data"][0])


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


def is_layout_known(f: Graph, key: Any) -> bool:
    """Return whether PyTorch lays out the owner of a storage as numpy does; arrays without a node lie as they are."""
    stack = [f.nodes[key]] if isinstance(key, int) else []
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node.index in seen or not isinstance(node, Operation) or sum(length > 1 for length in node.shape) < 2:
            continue
        seen.add(node.index)
        sources = sources_of_layout(node)
        if sources is None:
            return False
        stack += [source for source in sources if type(source) in NODES]
    return True


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


def entry_numbers(shape: Shape) -> Indices:
    """Return the numbers of the entries of an array."""
    return np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)


class Form(NamedTuple):
    """One operation that selects entries, and how it is written behind its argument."""

    op: Op
    static: Options
    text: str


def forms_of(chosen: Selection) -> list[Form]:
    """Return the operations that make a selection of its source, as few as there are."""
    wanted, entries = chosen.chosen, entry_numbers(chosen.shape)
    if wanted.shape == entries.shape and np.array_equal(wanted, entries):
        return []
    key = basic_key(wanted, chosen.shape)
    if key is not None:
        return [Form(INDEX, {"key": key}, f"[{index_text(key)}]")]
    if wanted.size == entries.size and np.array_equal(wanted.ravel(), entries.ravel()):
        return [Form(RESHAPE, {"shape": wanted.shape}, f".reshape({', '.join(map(str, wanted.shape))})")]
    if wanted.shape == entries.T.shape and np.array_equal(wanted, entries.T):
        return [Form(TRANSPOSE, {"dims": tuple(reversed(range(wanted.ndim)))}, ".T")]
    listed = np.array(wanted)
    return [Form(RESHAPE, {"shape": (-1,)}, ".reshape(-1)"), Form(INDEX, {"key": listed}, f"[{index_text(listed)}]")]


def select_entries(f: Graph, source: Any, chosen: Selection) -> Any:
    """Return the entries of ``source`` that are chosen, in the shape of the choice."""
    for op, static, _ in forms_of(chosen):
        source = pick_entries(f, source, static["key"]) if op is INDEX else f(op, source, **static)
    return source


def put_into(f: Graph, x: Any, source: Any, chosen: Selection) -> Any:
    """Return ``x`` with the chosen entries of ``source`` in their places."""
    shown = chosen.chosen >= 0
    if not shown.ndim:
        return f(PUT, x, f(RESHAPE, source, shape=()), key=...)
    key = key_of_source(chosen, shown)
    if key is not None:
        return f(PUT, x, source, key=key)
    return f(PUT, x, select_entries(f, source, Selection(chosen.chosen[shown], chosen.shape)), key=shown)


def key_of_source(chosen: Selection, shown: Mask) -> Index | None:
    """Return the basic index at which a tensor shows the whole source as it is, None where it shows it otherwise."""
    size = int(np.prod(chosen.shape, dtype=np.int64))
    if np.count_nonzero(shown) != size:
        return None
    places = np.full(size, -1)
    places[chosen.chosen[shown]] = np.flatnonzero(shown)
    return None if np.any(places < 0) else basic_key(places.reshape(chosen.shape), chosen.chosen.shape)


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
    sharing = [(name, register) for name, register in others() if may_share(f, before, regs[register])]
    if not np.size(value_of(before)) or not (sharing or has_gaps(f, before)):
        f.bind(record.name, after, record)
        return after
    if is_no_float_node(before) and is_no_float_node(after) and number_kind(before) != number_kind(after):
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
    if chosen.whole:
        return Assigned(name, Written(target + "".join(form.text for form in forms_of(chosen))))
    return Assigned(name, Written(target), chosen=chosen)


def has_gaps(f: Graph, value: Any) -> bool:
    """Return whether a tensor is laid out in memory as no copy of it is."""
    numbers = value_of(value)
    if not is_no_float_node(value) and (window := f.windows.get(value.index)) is not None:
        numbers = window.places
    return isinstance(numbers, np.ndarray) and not numbers.flags.forc


class Writing:
    """One write: what its target shows before it, and what others show after it."""

    def __init__(self, f: Graph, before: Any, after: Any) -> None:
        self.f = f
        self.target = window_of(f, before)
        self.places = np.full(owner_of(self.target.places).size, -1)
        self.places[self.target.places] = np.arange(self.target.places.size).reshape(self.target.places.shape)
        self.before = before
        self.after: Any = after
        self.memory: Memory | None = None
        if isinstance(before, Listed):
            return
        if is_no_float_node(before) and is_no_float_node(after):
            owner = owner_of(value_of(before))
            flat = np.lib.stride_tricks.as_strided(owner, (owner.size,), (owner.itemsize,))
            self.memory = Memory(owner, owner_of(f(CLONE, flat)))
            shown = self.memory.after(value_of(before))
            shown[...] = value_of(after)
            self.after = shown
            f.windows["array", id(self.memory.store)] = self.target._replace(owner=(self.memory.store, owner))
        else:
            self.after = shown_as_window(f, as_graph_node(f, after), self.target)

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
        if self.memory is not None and is_no_float_node(value):
            return self.memory.after(value_of(value)), chosen
        if not np.any(chosen >= 0):
            return None
        if self.target.doubt or window.doubt:
            raise GradcliError(
                "in-place",
                f"whether this write changes '{name}' depends on how PyTorch lays out in memory what was reshaped",
                hint="clone() before the reshape, or after it, makes it certain",
            )
        return self.rewritten(name, value, window, Selection(chosen, np.shape(value_of(self.after)))), chosen

    def rewritten(self, name: str, value: Any, window: Window, chosen: Selection) -> Any:
        """Return a tensor with the entries of the target that it shows."""
        f, source = self.f, self.after
        if window.side != self.target.side:
            if isinstance(value, Node) and value.active:
                raise GradcliError(
                    "in-place",
                    f"a write to a detached tensor would change '{name}' too, as they share memory, but not its "
                    "derivative",
                    hint="detach().clone() shares no memory",
                )
            source = f(DETACH, source) if isinstance(source, Node) else source
        new = select_entries(f, source, chosen) if chosen.whole else put_into(f, value, source, chosen)
        if new is self.after and isinstance(new, Node):
            return new
        result = shown_as_window(f, as_graph_node(f, new), window)
        torn = isinstance(value, Node) and value.active
        if torn and (value.index in f.torn or any(view.op.torch.several for view in views_under(value))):
            f.torn.add(result.index)
        return result


class Memory(NamedTuple):
    """The memory of an array before a write, ``owner``, and after it, ``store``."""

    owner: Array
    store: Array

    def after(self, array: Array) -> Array:
        """Return what shows in the memory after the write what an array showed in that before it."""
        start = (address(array) - address(self.owner)) // array.itemsize
        return np.lib.stride_tricks.as_strided(self.store[start:], array.shape, array.strides)


def as_graph_node(f: Graph, value: Any) -> Any:
    """Return a node with a value, where a graph has kept none as no derivative depends on it."""
    return value if isinstance(value, Node) else f(DETACH, np.asarray(value))


def shown_as_window(f: Graph, node: Node, window: Window) -> Any:
    """Return a node that shows a part of a storage, its numbers laid out as they stand there."""
    f.windows[node.index] = window
    return laid_out_as(window.places, node)


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
