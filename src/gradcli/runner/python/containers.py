"""Lists, dictionaries and what else has items: reading, writing and walking over them, and writes in place."""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.errors import GradcliError
from gradcli.language.picking import as_view, basic, index_key
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import value_of
from gradcli.ops.joining import INDEX, PUT
from gradcli.ops.shaping import MOST_AXES, too_many_axes
from gradcli.runner import numpy_values
from gradcli.runner.exceptions import Raised, of_expand, raise_key, raised_of, said
from gradcli.runner.numpy_values import flows, in_place, plain_array
from gradcli.runner.python.operators import (
    HOST_KINDS,
    METHODS,
    has_items,
    hashable,
    of_tensors,
    operate,
    plain,
    read_keys,
)
from gradcli.runner.state import LONG, Fused, Run, show
from gradcli.runner.values import (
    TITLES,
    UNBOUND,
    VIEWS,
    Bound,
    Class,
    Closure,
    Foreign,
    Instance,
    Method,
    Progress,
    Size,
    TableFunction,
    Tensor,
    View,
    as_dtype,
    ask,
    category,
    own,
)

WRITTEN = "[]="
"""What an assignment to entries is called among the functions that make tensors."""
ITERABLE = (list, tuple, dict, set, frozenset, str, range, bytes, deque)
CHANGING: tuple[type, ...] = (dict, set, deque, *VIEWS)
LONGEST_TUPLE = 32
"""Items up to which PyTorch takes a list in an index for a tuple."""
NO_INDEX = "only integer tensors of a single element can be converted to an index"


# ---- walking
def iterate(run: Run, value: Any) -> Any:
    """Return what walks over the items of a value, for code that counts no turns: a long walk counts them itself."""
    items = walk(run, value)
    if hasattr(type(items), "__next__") or (type(items) is range and bool(items[LONG:])):
        return counted(run, items)
    return items


def counted(run: Run, items: Any) -> Iterator[Any]:
    """Yield items, each of which is a turn."""
    turn = run.meter.turn
    for item in items:
        turn()
        yield item


def walk(run: Run, value: Any) -> Any:
    """Return what walks over the items of a value; raises TypeError for what has none."""
    if isinstance(value, ITERABLE):
        made = ask(run, value, "__iter__")
        return with_keys(run, value) if made is UNBOUND else made
    if isinstance(value, Tensor):
        return rows(run, value)
    if isinstance(value, Instance) and has_items(value):
        return of_instance(run, value)
    if isinstance(value, Pair | Parts):
        return list(value)  # type: ignore[call-overload]
    if isinstance(value, Foreign):
        run.require(value)
        return walk(run, value.items) if isinstance(value, Progress) else []
    if hasattr(type(value), "__next__") or type(value) in VIEWS:
        return with_keys(run, value)
    if isinstance(value, Class) and value.find("__members__") is not UNBOUND:
        return [one for name, one in value.find("__members__").items() if one.fields["name"] == name]
    if hasattr(type(value), "__iter__") and type(value).__module__ in ("builtins", "itertools", "collections"):
        return value
    return run.fail("TypeError", f"'{run.type_name(value)}' object is not iterable")


def with_keys(run: Run, items: Any) -> Any:
    """Return items with the keys of dictionaries and sets as the numbers that they were made of."""
    return read_keys(items) if run.story is not None and isinstance(items, (*CHANGING, frozenset)) else items


def steady(run: Run, items: Any) -> Iterator[Any]:
    """Yield items, with the exception of Python's where a dictionary or a set changes meanwhile."""
    try:
        yield from items
    except RuntimeError as error:
        run.fail("RuntimeError", str(error))


def of_instance(run: Run, value: Instance) -> Any:
    """Return what walks over an object that defines ``__iter__``, or ``__getitem__``."""
    made = ask(run, value, "__iter__")
    if made is UNBOUND:
        return by_calls(run, value, "__getitem__", "IndexError", ((k,) for k in itertools.count()))
    if not isinstance(made, Instance):
        return walk(run, made)
    if own(made, "__next__") is UNBOUND:
        run.fail("TypeError", f"iter() returned non-iterator of type '{made.kind.name}'")
    return by_calls(run, made, "__next__", "StopIteration", itertools.repeat(()))


def by_calls(run: Run, value: Instance, method: str, end: str, arguments: Iterator[tuple[int, ...]]) -> Iterator[Any]:
    """Yield what a method of an object gives, until an exception is its end."""
    for each in arguments:
        try:
            item = ask(run, value, method, *each)
        except (Raised, GradcliError) as error:
            ended = raised_of(error)
            if ended is not None and ended.name == end:
                return
            raise
        yield item


def rows(run: Run, x: Tensor) -> list[Any]:
    """Return the entries of a tensor along its first axis."""
    if not x.shape:
        run.fail("TypeError", f"iteration over a 0-d {'tensor' if x.library == 'torch' else 'array'}")
    entries = [entry(run, x, k) for k in range(x.shape[0])]
    for k, one in enumerate(entries):
        if isinstance(one, View):
            one.made_by, one.part = "UnbindBackward0", k
            if one.active:
                run.fused[one.node] = Fused(one.node.index, one.made_by, [x.node])
    return entries


def take(run: Run, value: Any) -> list[Any]:
    """Return all items as a list; raises ``budget`` where there is no end of them."""
    items = walk(run, value)
    if hasattr(items, "__len__"):
        run.bound(len(items), "a list has too many items")
        return list(items)
    taken: list[Any] = []
    while part := list(itertools.islice(items, 4096)):
        taken += part
        run.bound(len(taken), "a list has too many items")
        run.meter.watch()
    return taken


def unpacked(run: Run, value: Any, number: int, star: int | None) -> list[Any]:
    """Return a value's items for so many targets; raises ValueError where they are not as many."""
    if type(value) is Foreign:
        return [value] * number
    if isinstance(value, int | float | None):
        run.fail("TypeError", f"cannot unpack non-iterable {run.type_name(value)} object")
    items = list(itertools.islice(iter(walk(run, value)), number + 1)) if star is None else take(run, value)
    least = number - (star is not None)
    if star is None and len(items) > number:
        run.fail("ValueError", f"too many values to unpack (expected {number})")
    if len(items) < least:
        words = "" if star is None else "at least "
        run.fail("ValueError", f"not enough values to unpack (expected {words}{least}, got {len(items)})")
    if star is None:
        return items
    end = len(items) - (least - star)
    return [*items[:star], items[star:end], *items[end:]]


# ---- items of Python's own values
def subscript(run: Run, base: Any, key: Any) -> Any:
    """Return ``base[key]``."""
    key = plain(key)
    if isinstance(base, Tensor):
        return entry(run, base, key)
    if (made := ask(run, base, "__getitem__", key)) is not UNBOUND:
        return made
    if isinstance(base, dict | list | tuple | str | range | bytes | deque):
        return of_items(run, base, "__getitem__", key)
    if isinstance(base, Foreign):
        return base
    if isinstance(base, Class):
        members = base.find("__members__")
        if members is not UNBOUND:
            return members[key] if key in members else raise_key(key)
        if base.find("__class_getitem__") is UNBOUND:
            return base
        return run.call(run.attribute(base, "__class_getitem__"), [key])
    if hasattr(type(base), "subscript"):
        return base.subscript(run, key)
    is_function = isinstance(base, Closure | Bound | Method | TableFunction) or callable(base)
    if not isinstance(base, (*HOST_KINDS, Instance)) and not is_function:
        return base  # a subscript of a type, as in list[int]
    return run.fail("TypeError", f"'{run.type_name(base)}' object is not subscriptable")


def by_python(run: Run, work: Callable[[], Any]) -> Any:
    """Return what Python itself does of items; its errors are exceptions of the script."""
    try:
        return work()
    except (IndexError, TypeError, ValueError) as error:
        return run.fail(type(error).__name__, str(error))


def item_of(run: Run, base: Any, key: Any) -> Any:
    """Return an item or a slice of a list, a tuple, a text or a range."""
    place = whole(run, key)
    if not isinstance(place, int | slice) and not isinstance(base, deque):
        if isinstance(place, Tensor) and place.library == "torch":
            run.fail("TypeError", NO_INDEX)
        if isinstance(base, str):
            run.fail("TypeError", f"string indices must be integers, not '{run.type_name(key)}'")
        run.fail("TypeError", f"{run.type_name(base)} indices must be integers or slices, not {run.type_name(key)}")
    made = by_python(run, lambda: base[place])
    if isinstance(place, slice) and not isinstance(made, range):
        run.bound(len(made), "a list has too many items")
    return Size(made) if type(base) is Size and isinstance(place, slice) else made


def whole(run: Run, key: Any) -> Any:
    """Return a key as a plain integer or slice of them, where it is one."""
    if isinstance(key, Tensor) and np.size(key.value) == 1 and category(key.dtype) < 2:
        return int(np.ravel(key.value)[0])
    if isinstance(key, slice):
        return slice(*[whole(run, part) for part in (key.start, key.stop, key.step)])
    made = ask(run, key, "__index__")
    return key if made is UNBOUND else made


def put(run: Run, base: Any, key: Any, value: Any) -> None:
    """Do ``base[key] = value``."""
    key, value = plain(key), plain(value)
    if isinstance(base, Tensor):
        put_entry(run, base, key, value)
    elif ask(run, base, "__setitem__", key, value) is UNBOUND:
        of_items(run, base, "__setitem__", key, value)


def delete(run: Run, base: Any, key: Any) -> None:
    """Do ``del base[key]``."""
    if isinstance(base, Tensor) and base.library == "torch":
        run.fail("TypeError", "Tensor does not support deleting items")
    if ask(run, base, "__delitem__", key) is UNBOUND:
        of_items(run, base, "__delitem__", key)


REFUSED_ITEMS = {"__setitem__": "does not support item assignment", "__delitem__": "doesn't support item deletion"}


def of_items(run: Run, base: Any, method: str, key: Any, *values: Any) -> Any:
    """Read, write or delete an item as Python's own class does, past a method that the script has for it."""
    if isinstance(base, dict):
        try:
            return getattr(base, method)(hashable(run, key), *values)  # one of the three
        except KeyError:
            return raise_key(key)
    if method == "__getitem__":
        return item_of(run, base, key)
    if isinstance(base, list | deque):
        items = [take(run, value) if isinstance(key, slice) else value for value in values]
        return by_python(run, lambda: getattr(base, method)(whole(run, key), *items))
    if not isinstance(base, Foreign):
        run.fail("TypeError", f"'{run.type_name(base)}' object {REFUSED_ITEMS[method]}")
    return None


# ---- entries of tensors
def key_of(run: Run, x: Tensor, key: Any, beyond: list[Any] | None = None) -> Any:
    """Return a checked index of a tensor; PyTorch takes a list of tensors, lists or slices for a tuple.

    Where JAX reads beyond the end of an axis, it has the entry at the end; ``beyond`` takes what is so by a list.
    """
    if type(key) is list and x.library == "torch" and len(key) < LONGEST_TUPLE:
        several = any(item is None or item is ... or isinstance(item, Tensor | list | tuple | slice) for item in key)
        key = tuple(key) if several else key
    parts = [index_part(run, part) for part in (key if type(key) in (tuple, Size) else (key,))]
    for part in parts:
        if part is not None and part is not Ellipsis and not isinstance(part, int | slice | np.ndarray):
            if type(part) is str and x.library == "torch":
                run.fail("TypeError", "new(): invalid data type 'str'")
            kinds = "integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"
            run.fail("IndexError", f"only {kinds} (got {type(part).__name__})")
    single, axes, new = type(key) not in (tuple, Size), len(x.shape), sum(part is None for part in parts)
    if axes + new > MOST_AXES:
        raise too_many_axes(axes + new)
    used = sum(
        p.ndim if isinstance(p, np.ndarray) and p.dtype == np.bool_ else p is not None and p is not Ellipsis
        for p in parts
    )
    if used > axes:
        if x.library == "torch" and not axes:
            if single and type(parts[0]) is int and parts[0]:
                run.fail("IndexError", f"index {parts[0]} is out of bounds for dimension 0 with size 0")
            run.fail_as("index number")
        run.fail_as("many indices" if x.library == "torch" else "many places", axes, used)
    check_bounds(run, x, parts, used, beyond if x.library == "jax" else None)
    return index_key(run.f, x.node if type(x.node) in NODES else np.asarray(x.node), parts, single)


def index_part(run: Run, part: Any) -> Any:
    """Return one part of an index as the table takes it."""
    if isinstance(part, Tensor):
        if category(part.dtype) == 2:
            run.fail("IndexError", "tensors used as indices must be long, int, byte or bool tensors")
        return np.asarray(part.value)
    if isinstance(part, slice | Instance):
        return whole(run, part)
    if isinstance(part, list | range):
        return np.asarray(run.array_of(list(part), "numpy").value)
    if type(part) is tuple:
        return np.array([index_part(run, each) for each in part], dtype=np.int64)
    return part


def check_bounds(run: Run, x: Tensor, parts: list[Any], used: int, beyond: list[Any] | None) -> None:
    """Raise the exception for an integer beyond an axis, and PyTorch's for lists, masks and steps that do not fit.

    With ``beyond`` the ends of an axis come among the parts in the place of what is beyond it.
    """
    axis, torch, axes, raw = 0, x.library == "torch", {}, list(parts)
    arrays = [part for part in parts if isinstance(part, np.ndarray) and part.dtype != np.bool_]
    if len(arrays) > 1 and torch:
        check_together(run, arrays)
    for k, part in enumerate(parts):
        if part is Ellipsis:
            axis += len(x.shape) - used
        elif isinstance(part, np.ndarray) and part.dtype == np.bool_:
            pairs = list(zip(part.shape, x.shape[axis:], strict=False)) if torch else []
            place = next((k for k, (length, own_length) in enumerate(pairs) if length != own_length), None)
            if place is not None:
                run.fail_as("mask", list(part.shape), place, list(x.shape), axis + place)
            axis += part.ndim
        elif part is not None and type(part) is not bool:
            parts[k], axes[k] = part_within(run, x, part, axis, beyond is not None), axis
            axis += 1
    lists = [k for k in axes if np.ndim(parts[k])]
    if beyond is None or not lists or all(parts[place] is raw[place] for place in axes):
        return
    k = lists[0]
    outside = sum(np.not_equal(raw[each], parts[each]) for each in axes if not isinstance(raw[each], slice))
    marks = np.arange(2).reshape(2, *[1] * (len(x.shape) - axes[k] - 1)) > 0
    marks = np.broadcast_to(marks, (*x.shape[: axes[k]], 2, *x.shape[axes[k] + 1 :]))
    beyond.append(marks[(*parts[:k], (outside + np.zeros(parts[k].shape) > 0).astype(int), *parts[k + 1 :])])


def part_within(run: Run, x: Tensor, part: Any, axis: int, cuts: bool) -> Any:
    """Return a part of an index, an integer, a list of them or a slice, as it stands within an axis."""
    length, torch = x.shape[axis] if axis < len(x.shape) else 0, x.library == "torch"
    if isinstance(part, slice):
        if torch and isinstance(part.step, int) and part.step <= 0:
            run.fail("ValueError", "step must be greater than zero" if part.step else "slice step cannot be zero")
        return part
    if cuts and length:
        cut = np.clip(part, -length, length - 1)
        return cut if isinstance(part, np.ndarray) else int(cut)
    places = np.ravel(part) if torch or type(part) is int else np.zeros(0)
    bad = places[(places < -length) | (places >= length)]
    if bad.size:
        word = "dimension" if torch else "axis"
        run.fail("IndexError", f"index {bad[0]} is out of bounds for {word} {axis} with size {length}")
    return part


def check_together(run: Run, arrays: list[Any]) -> None:
    """Raise what PyTorch raises for lists of places that do not go together."""
    try:
        np.broadcast_shapes(*[part.shape for part in arrays])
    except ValueError:
        shapes = ", ".join(str(list(part.shape)) for part in arrays)
        what = "shape mismatch: indexing tensors could not be broadcast together with shapes"
        run.fail("IndexError", f"{what} {shapes}")


def entry(run: Run, x: Tensor, key: Any) -> Any:
    """Return ``x[key]`` of a tensor: a view where the index is basic."""
    node, f = x.node, run.f
    if x.library == "numpy" and plain_array(x):
        return numpy_values.entry(run, x, key)
    in_row = type(key) is int and type(node) in NODES and node.ndim == 1 and -node.shape[0] <= key < node.shape[0]
    if in_row and node.value.dtype != object:
        made = f.enter(INDEX, (node,), {"key": key}, node.value[key])
        return show(
            x,
            lambda node: f(INDEX, node, key=key) if type(node) in NODES else node[key, ...],
            made,
            x.dtype,
            "SelectBackward0",
        )
    beyond: list[Any] = []
    place = key_of(run, x, key, beyond)
    if not basic(place):
        made = f(INDEX, node if type(node) in NODES else np.asarray(node), key=place)
        picked = Tensor(made, x.dtype, x.library, "index")
        if beyond and flows(x) and not any(level.forward for level in run.levels[-1:]):
            # JAX reads an end there, and drops what comes back to it
            still = run.call(run.member("jax.lax.stop_gradient"), [picked])
            return run.function("jax.numpy.where", run.make(beyond[0], "bool", "jax"), still, picked)
        return picked

    def look(node: Any) -> Any:
        return f(INDEX, node, key=place) if type(node) in NODES else np.asarray(node)[as_view(place)]

    made = look(node)
    run.graph.note_origin(made, INDEX, (node,), {"key": place})
    return show(x, look, made, x.dtype, ("[]", key, x.shape))


def put_entry(run: Run, x: Tensor, key: Any, value: Any) -> None:
    """Write entries of a tensor."""
    if x.library == "jax":
        run.fail_as("immutable")
    if plain_array(x) and not flows(value) and not (isinstance(value, list | tuple) and any(map(flows, value))):
        numpy_values.put_entry(run, x, key, value)
        return
    place = key_of(run, x, key)
    is_entry = isinstance(value, Tensor | int | float | np.generic)
    if x.library == "torch" and not is_entry and not (isinstance(value, list | tuple) and not basic(place)):
        run.fail_as("no entry", type(value).__name__, TITLES[x.dtype][0])
    change = value if isinstance(value, Tensor) else run.array_of(value, x.library if x.library != "torch" else "numpy")
    node = change.node if category(x.dtype) >= 2 else as_dtype(np.asarray(value_of(change.node)), x.dtype)
    run.refuse_leaf(x, "a view of a leaf")
    shape, target = np.shape(value_of(node)), np.empty(x.shape, np.bool_)[place]
    refuse_misfit(run, x, change, shape, np.shape(target), place)
    if x.base is not None and x.library == "torch" and basic(place) and type(x) is View:
        part = x if key is Ellipsis else entry(run, x, key)
        run.write(part, spread(run, node, part.shape), run.count)
        return
    if type(node) in NODES and x.library == "numpy" and any(level.kind == "boxes" for level in run.levels):
        run.fail("ValueError", "setting an array element with a sequence.")
    rank = np.ndim(target)
    if type(node) not in NODES and type(x.node) not in NODES:
        array = np.array(x.node)
        array[place] = np.reshape(node, np.shape(node)[len(shape) - rank :] if len(shape) > rank else shape)
        run.write(x, array, run.count)
        return
    first = run.count
    if len(shape) > rank:
        node = run.function("reshape", Tensor(node), *np.shape(target)).node
    shown = key if not isinstance(key, Tensor) or key.shape else int(key.value) if category(key.dtype) == 1 else key
    written = (WRITTEN, shown, x.shape, np.ndim(value_of(node)) if isinstance(value, Tensor) else None)
    run.write(x, run.f(PUT, x.node, node, key=place), first, written)


def refuse_misfit(run: Run, x: Tensor, change: Tensor, shape: Any, target: Any, place: Any) -> None:
    """Raise what a library raises for values whose shape does not go into that of the entries, or that are of them."""
    if fits(shape, target):
        run.refuse_overlap(x, [change] if basic(place) else (), place, copied=True, expanded=True)
        return
    if x.library == "torch":
        words = of_expand(change, list(target)) if basic(place) else None
        run.fail(*words or said("misfitting entries", list(shape), list(target)))
    run.fail("ValueError", f"could not broadcast input array from shape {shape} into shape {target}")


def fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Return whether an array broadcasts to a target; leading axes of length 1 are left out."""
    while len(shape) > len(target) and shape[0] == 1:
        shape = shape[1:]
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def spread(run: Run, node: Any, shape: tuple[int, ...]) -> Any:
    """Return a value broadcast to a shape; leading axes of length 1 are left out."""
    old = np.shape(value_of(node))
    if old == shape:
        return node
    rest = old[len(old) - len(shape) :] if len(old) > len(shape) else old
    if type(node) not in NODES:
        return np.array(np.broadcast_to(np.reshape(node, rest), shape))
    x = Tensor(node) if rest == old else run.function("reshape", Tensor(node), *rest)
    return run.function("expand", x, *shape).node


# ---- writes in place
def augmented(run: Run, sign: str, before: Any, change: Any) -> Any:
    """Return what an augmented assignment gives its target: the same object where it changes in place."""
    if isinstance(before, Tensor):
        by_torch = isinstance(change, Tensor) and change.library == "torch"
        if before.library in ("jax", "python") or (before.library == "numpy" and (by_torch or is_number(before))):
            return operate(run, sign, before, change)
        if plain_array(before) and not flows(change):
            in_place(run, sign, before, change)
            return before
        first = run.count
        refuse_stale(run, before)
        run.refuse_overlap(before, [change])
        write_back(run, before, of_tensors(run, sign, before, change), first)
    elif isinstance(before, list | deque) and sign == "+":
        run.call(run.attribute(before, "extend"), [change])
    elif type(before) in (set, Counter) and sign in "|&-^+":
        made = operate(run, sign, before, change)
        before.clear()
        before.update(made)
    elif type(before) in (dict, OrderedDict, defaultdict) and sign == "|":
        run.call(run.attribute(before, "update"), [change])
    else:
        made = ask(run, before, f"__i{METHODS[sign]}__", change)
        return operate(run, sign, before, change) if made is UNBOUND or made is NotImplemented else made
    return before


def is_number(x: Tensor) -> bool:
    """Return whether an array of NumPy's is a single number, which nothing is written to."""
    return not x.shape and not (x.extra and x.extra.several)


def refuse_stale(run: Run, target: Tensor) -> None:
    """Raise what PyTorch raises for a write to a view of no result, after its base became one, unread since."""
    if (
        type(target) is View and target.seen != target.base.version and type(target.shown) not in NODES
        and run.grad_enabled and target.library == "torch" and target.base.active and not target.base.leaf
    ):  # fmt: skip
        run.fail("RuntimeError", "a leaf Variable that requires grad is being used in an in-place operation.")


def write_back(run: Run, target: Tensor, made: Tensor, first: int | None = None, made_by: Any = None) -> None:
    """Write a result into a tensor in place; raises what PyTorch raises where shapes or types do not fit."""
    shape, new = target.shape, np.shape(made.value)
    if target.base is None:
        run.refuse_leaf(target)
    if shape != new and (len(new) > len(shape) or not fits(new, shape)):
        run.fail("RuntimeError", f"output with shape {list(shape)} doesn't match the broadcast shape {list(new)}")
    if category(made.dtype) > category(target.dtype):
        if target.library == "torch":
            run.fail_as("wider type", TITLES[made.dtype][0], TITLES[target.dtype][0])
        run.fail("TypeError", "Cannot cast ufunc output to the type of the array")
    node = spread(run, made.node, shape)
    run.write(target, node if type(node) in NODES else np.array(node), first, made_by or made.made_by)
