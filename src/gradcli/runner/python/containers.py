"""Writes in place: augmented assignments, methods that end in ``_``, and entries that are assigned.

Lists, dictionaries and what else has items: reading, writing and walking over them.
Lists and dictionaries of another kind that Python's library has: ``defaultdict``, ``Counter``, ``deque``.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from itertools import count as itertools_count
from itertools import islice, repeat
from typing import Any, ClassVar

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
from gradcli.runner.state import LONG, Run, show
from gradcli.runner.values import (
    TITLES,
    UNBOUND,
    Class,
    Foreign,
    Instance,
    Progress,
    Size,
    Tensor,
    View,
    as_dtype,
    ask,
    category,
    own,
)


def augmented(run: Run, sign: str, before: Any, change: Any) -> Any:
    """Return what an augmented assignment gives its target: the same object where it changes in place."""
    if isinstance(before, Tensor):
        if before.library in ("jax", "python") or (
            before.library == "numpy" and not before.shape and not (before.extra and before.extra.several)
        ):
            return operate(run, sign, before, change)
        if isinstance(change, Tensor) and change.library == "torch" and before.library == "numpy":
            return operate(run, sign, before, change)
        if plain_array(before) and not flows(change):
            in_place(run, sign, before, change)
            return before
        first = run.count
        refuse_stale(run, before)
        made = of_tensors(run, sign, before, change)
        write_back(run, before, made, first)
        return before
    if isinstance(before, list) and sign == "+":
        run.call(run.attribute(before, "extend"), [change])
        return before
    if type(before) is set and sign in "|&-^":
        made = operate(run, sign, before, change)
        before.clear()
        before.update(made)
        return before
    if type(before) is dict and sign == "|":
        before.update(change)
        return before
    made = ask(run, before, f"__i{METHODS[sign]}__", change)
    return operate(run, sign, before, change) if made is UNBOUND or made is NotImplemented else made


def refuse_stale(run: Run, target: Tensor) -> None:
    """Raise what PyTorch raises for a write to a view of no result, after its base became one, unread since."""
    if (
        type(target) is View and target.seen != target.base.version and type(target.shown) not in NODES
        and run.grad_enabled and target.library == "torch" and target.base.active and not target.base.leaf
    ):  # fmt: skip
        run.fail("RuntimeError", "a leaf Variable that requires grad is being used in an in-place operation.")


def assigned_again(x: Tensor) -> Any:
    """Return what a tensor holds after ``x[0] += 1``: PyTorch changes entries, and then assigns them to themselves."""
    x.root.version += 1
    return x.node


def write_back(run: Run, target: Tensor, made: Tensor, first: int | None = None, made_by: Any = None) -> None:
    """Write a result into a tensor in place; raises what PyTorch raises where shapes or types do not fit."""
    shape, new = target.shape, np.shape(made.value)
    if target.base is None:
        run.refuse_leaf(target)
    if shape != new:
        try:
            fits = np.broadcast_shapes(shape, new) == shape
        except ValueError:
            fits = False
        if not fits:
            run.fail("RuntimeError", f"output with shape {list(shape)} doesn't match the broadcast shape {list(new)}")
    if category(made.dtype) > category(target.dtype):
        if target.library == "torch":
            run.fail_as("wider type", TITLES[made.dtype][0], TITLES[target.dtype][0])
        run.fail("TypeError", "Cannot cast ufunc output to the type of the array")
    node = made.node
    if type(node) not in NODES:
        node = np.array(np.broadcast_to(value_of(node), shape))
    elif np.shape(node.value) != shape:
        node = run.function("expand", made, *shape).node
    run.write(target, node, first, made_by or made.made_by)


# ---- Lists, dictionaries and what else has items: reading, writing and walking over them

WRITTEN = "[]="
"""What an assignment to entries is called among the functions that make tensors."""
ITERABLE = (list, tuple, dict, set, frozenset, str, range, bytes)


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
    if isinstance(value, Instance):
        if not has_items(value):
            run.fail("TypeError", f"'{value.kind.name}' object is not iterable")
        return of_instance(run, value)
    if isinstance(value, Pair | Parts):
        return list(value)  # type: ignore[call-overload]
    if isinstance(value, Foreign):
        return walk(run, value.items) if isinstance(value, Progress) else []
    if hasattr(type(value), "__next__") or type(value) in (type({}.items()), type({}.keys()), type({}.values())):
        return with_keys(run, value)
    if isinstance(value, Class) and value.find("__members__") is not UNBOUND:
        return [one for name, one in value.find("__members__").items() if one.fields["name"] == name]
    if hasattr(type(value), "__iter__") and type(value).__module__ in ("builtins", "itertools", "collections"):
        return value
    return run.fail("TypeError", f"'{run.type_name(value)}' object is not iterable")


CHANGING: tuple[type, ...] = (dict, set, type({}.items()), type({}.keys()), type({}.values()))


def with_keys(run: Run, items: Any) -> Any:
    """Return items with the keys of dictionaries and sets as the numbers that they were made of."""
    return read_keys(items) if run.story is not None and isinstance(items, (*CHANGING, frozenset)) else items


def steady(run: Run, items: Any) -> Any:
    """Return what walks over items, with the exception of Python's where a dictionary or a set changes meanwhile."""
    return watched(run, items) if isinstance(items, CHANGING) else items


def watched(run: Run, items: Any) -> Iterator[Any]:
    """Yield items that must not change in number."""
    try:
        yield from items
    except RuntimeError as error:
        run.fail("RuntimeError", str(error))


def of_instance(run: Run, value: Instance) -> Any:
    """Return what walks over an object that defines ``__iter__``, or ``__getitem__``."""
    made = ask(run, value, "__iter__")
    if made is UNBOUND:
        return by_calls(run, value, "__getitem__", "IndexError", itertools_count())
    if isinstance(made, Instance) and own(made, "__next__") is UNBOUND:
        run.fail("TypeError", f"iter() returned non-iterator of type '{made.kind.name}'")
    return (
        by_calls(run, made, "__next__", "StopIteration", repeat(None))
        if isinstance(made, Instance)
        else walk(run, made)
    )


def by_calls(run: Run, value: Instance, method: str, end: str, numbers: Iterator[Any]) -> Iterator[Any]:
    """Yield what a method of an object gives, called with numbers or with nothing, until an exception is its end."""
    for number in numbers:
        try:
            item = ask(run, value, method, *(() if number is None else (number,)))
        except (Raised, GradcliError) as error:
            found = raised_of(error)
            if found is not None and found.name == end:
                return
            raise
        yield item


def rows(run: Run, x: Tensor) -> list[Any]:
    """Return the entries of a tensor along its first axis."""
    if not x.shape:
        what = "iteration over a 0-d tensor" if x.library == "torch" else "iteration over a 0-d array"
        run.fail("TypeError", what)
    found = [entry(run, x, k) for k in range(x.shape[0])]
    for k, one in enumerate(found):
        if isinstance(one, View):
            one.made_by, one.part = "UnbindBackward0", k
    return found


def take(run: Run, value: Any) -> list[Any]:
    """Return all items as a list; raises ``budget`` where there is no end of them."""
    items = walk(run, value)
    if hasattr(items, "__len__"):
        run.bound(len(items), "a list has too many items")
        return list(items)
    found: list[Any] = []
    while part := list(islice(items, 4096)):
        found += part
        run.bound(len(found), "a list has too many items")
        run.meter.watch()
    return found


def unpacked(run: Run, value: Any, count: int, star: int | None) -> list[Any]:
    """Return a value's items for so many targets; raises ValueError where they are not as many."""
    if type(value) is Foreign:
        return [value] * count
    if isinstance(value, int | float | None):
        run.fail("TypeError", f"cannot unpack non-iterable {run.type_name(value)} object")
    items = list(islice(iter(walk(run, value)), count + 1)) if star is None else take(run, value)
    if star is None:
        if len(items) > count:
            run.fail("ValueError", f"too many values to unpack (expected {count})")
        if len(items) < count:
            run.fail("ValueError", f"not enough values to unpack (expected {count}, got {len(items)})")
        return items
    if len(items) < count - 1:
        run.fail("ValueError", f"not enough values to unpack (expected at least {count - 1}, got {len(items)})")
    end = len(items) - (count - star - 1)
    return [*items[:star], items[star:end], *items[end:]]


def subscript(run: Run, base: Any, key: Any) -> Any:  # noqa: C901, PLR0911 - one case for each kind of value
    """Return ``base[key]``."""
    key = plain(key)
    if isinstance(base, Tensor):
        return entry(run, base, key)
    if (made := ask(run, base, "__getitem__", key)) is not UNBOUND:
        return made
    if isinstance(base, dict):
        place = hashable(run, key)
        if place in base:
            return base[place]
        missing = getattr(base, "missing", None)
        return raise_key(key) if missing is None else missing(run, place)
    if isinstance(base, list | tuple | str | range | bytes):
        return item_of(run, base, key)
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
    if not isinstance(base, (*HOST_KINDS, Instance)):
        return base  # a subscript of a type, as in list[int]
    return run.fail("TypeError", f"'{run.type_name(base)}' object is not subscriptable")


def item_of(run: Run, base: Any, key: Any) -> Any:
    """Return an item or a slice of a list, a tuple, a text or a range."""
    place = whole(run, key)
    if not isinstance(place, int | slice):
        if isinstance(place, Tensor) and place.library == "torch":
            run.fail("TypeError", "only integer tensors of a single element can be converted to an index")
        if isinstance(base, str):
            run.fail("TypeError", f"string indices must be integers, not '{run.type_name(key)}'")
        run.fail("TypeError", f"{run.type_name(base)} indices must be integers or slices, not {run.type_name(key)}")
    try:
        made = base[place]
    except (IndexError, ValueError, TypeError) as error:
        return run.fail(type(error).__name__, str(error))
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


def index_part(run: Run, part: Any) -> Any:
    """Return one part of an index as the table takes it."""
    if isinstance(part, Tensor):
        value = part.value
        if category(part.dtype) == 2:
            run.fail("IndexError", "tensors used as indices must be long, int, byte or bool tensors")
        return np.asarray(value)
    if isinstance(part, slice):
        return slice(*[whole(run, bound) for bound in (part.start, part.stop, part.step)])
    if isinstance(part, list | range):
        return np.asarray(run.array_of(list(part), "numpy").value)
    if type(part) is tuple:
        return np.array([index_part(run, each) for each in part], dtype=np.int64)
    return part


LONGEST_TUPLE = 32
"""Items up to which PyTorch takes a list in an index for a tuple."""


def is_part(item: Any) -> bool:
    """Return whether an item of a list in an index says that the list is a tuple."""
    return item is None or item is Ellipsis or isinstance(item, Tensor | list | tuple | slice)


def key_of(run: Run, x: Tensor, key: Any) -> Any:
    """Return a checked index of a tensor; PyTorch takes a list of tensors, lists or slices for a tuple."""
    if type(key) is list and x.library == "torch" and len(key) < LONGEST_TUPLE and any(map(is_part, key)):
        key = tuple(key)
    parts = [index_part(run, part) for part in (key if type(key) in (tuple, Size) else (key,))]
    for part in parts:
        if part is not None and part is not Ellipsis and not isinstance(part, int | slice | np.ndarray):
            shown = type(part).__name__
            if shown == "str" and x.library == "torch":
                run.fail("TypeError", "new(): invalid data type 'str'")
            kinds = "integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"
            run.fail("IndexError", f"only {kinds} (got {shown})")
    single = type(key) not in (tuple, Size)
    node = x.node
    axes = len(x.shape) + sum(part is None for part in parts)
    if axes > MOST_AXES:
        raise too_many_axes(axes)
    used = sum(
        p.ndim if isinstance(p, np.ndarray) and p.dtype == np.bool_ else p is not None and p is not Ellipsis
        for p in parts
    )
    if used > len(x.shape):
        if x.library == "torch" and not x.shape:
            if single and type(parts[0]) is int and parts[0]:
                run.fail("IndexError", f"index {parts[0]} is out of bounds for dimension 0 with size 0")
            run.fail_as("index number")
        run.fail_as("many indices" if x.library == "torch" else "many places", len(x.shape), used)
    check_bounds(run, x, parts, used)
    return index_key(run.f, node if type(node) in NODES else np.asarray(node), parts, single)


def check_bounds(run: Run, x: Tensor, parts: list[Any], used: int) -> None:
    """Raise the exception for an integer beyond an axis, and PyTorch's for a misfitting mask and a negative step."""
    axis = 0
    lists = [part for part in parts if isinstance(part, np.ndarray) and part.dtype != np.bool_]
    if len(lists) > 1 and x.library == "torch":
        check_lists(run, lists)
    for part in parts:
        if part is Ellipsis:
            axis += len(x.shape) - used
        elif isinstance(part, np.ndarray) and part.dtype == np.bool_:
            if x.library == "torch":
                check_mask(run, x, part, axis)
            axis += part.ndim
        elif part is not None and type(part) is not bool:
            length = x.shape[axis] if axis < len(x.shape) else 0
            if type(part) is int and not -length <= part < length:
                word = "dimension" if x.library == "torch" else "axis"
                run.fail("IndexError", f"index {part} is out of bounds for {word} {axis} with size {length}")
            if isinstance(part, slice) and x.library == "torch" and isinstance(part.step, int) and part.step <= 0:
                run.fail("ValueError", "step must be greater than zero" if part.step else "slice step cannot be zero")
            if (
                isinstance(part, np.ndarray)
                and x.library == "torch"
                and part.size
                and (part.min() < -length or part.max() >= length)
            ):
                bad = part[(part < -length) | (part >= length)].ravel()[0]
                run.fail("IndexError", f"index {bad} is out of bounds for dimension {axis} with size {length}")
            axis += 1


def check_lists(run: Run, lists: list[Any]) -> None:
    """Raise what PyTorch raises for lists of places that do not go together."""
    try:
        np.broadcast_shapes(*[part.shape for part in lists])
    except ValueError:
        shapes = ", ".join(str(list(part.shape)) for part in lists)
        run.fail("IndexError", f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")


def check_mask(run: Run, x: Tensor, mask: Any, axis: int) -> None:
    """Raise what PyTorch raises for a mask of another shape."""
    for place, length in enumerate(mask.shape):
        if axis + place < len(x.shape) and length != x.shape[axis + place]:
            run.fail_as("mask", list(mask.shape), place, list(x.shape), axis + place)


def entry(run: Run, x: Tensor, key: Any) -> Any:
    """Return ``x[key]`` of a tensor: a view where the index is basic."""
    node = x.node
    if x.library == "numpy" and plain_array(x):
        return numpy_values.entry(run, x, key)
    if (
        type(node) in NODES
        and type(key) is int
        and node.ndim == 1
        and node.value.dtype != object
        and -node.shape[0] <= key < node.shape[0]
    ):
        f = run.f
        made = f.enter(INDEX, (node,), {"key": key}, node.value[key])
        return show(
            x,
            lambda node: f(INDEX, node, key=key) if type(node) in NODES else node[key, ...],
            made,
            x.dtype,
            "SelectBackward0",
        )
    place = key_of(run, x, key)
    if not basic(place):
        array = node if type(node) in NODES else np.asarray(node)
        made = run.f(INDEX, array, key=place)
        return Tensor(made, x.dtype, x.library, "index")

    f = run.f

    def look(node: Any) -> Any:
        if type(node) in NODES:
            return f(INDEX, node, key=place)
        return np.asarray(node)[as_view(place)]

    made = look(node)
    run.graph.note_origin(made, INDEX, (node,), {"key": place})
    return show(x, look, made, x.dtype, ("[]", key, x.shape))


def put(run: Run, base: Any, key: Any, value: Any) -> None:
    """Do ``base[key] = value``."""
    key, value = plain(key), plain(value)
    if isinstance(base, Tensor):
        put_entry(run, base, key, value)
    elif ask(run, base, "__setitem__", key, value) is not UNBOUND:
        return
    elif isinstance(base, dict):
        base[hashable(run, key)] = value
    elif isinstance(base, list):
        try:
            if isinstance(key, slice):
                base[whole(run, key)] = take(run, value)
            else:
                base[whole(run, key)] = value
        except IndexError:
            run.fail("IndexError", "list assignment index out of range")
        except (TypeError, ValueError) as error:
            run.fail(type(error).__name__, str(error))
    elif not isinstance(base, Foreign):
        run.fail("TypeError", f"'{run.type_name(base)}' object does not support item assignment")


def refuse_entry(run: Run, x: Tensor, value: Any, place: Any) -> None:
    """Raise what PyTorch raises for a value that no entries of a tensor can be."""
    if not isinstance(value, Tensor | int | float | np.generic) and not (
        isinstance(value, list | tuple) and not basic(place)
    ):
        run.fail_as("no entry", type(value).__name__, TITLES[x.dtype][0])


def refuse_shape(run: Run, x: Tensor, change: Tensor, shape: Any, want: Any, place: Any) -> None:
    """Raise what a library raises for values whose shape does not go into that of the entries."""
    if x.library == "torch":
        error = of_expand(change, list(want)) if basic(place) else None
        run.fail(*error or said("misfitting entries", list(shape), list(want)))
    run.fail("ValueError", f"could not broadcast input array from shape {shape} into shape {want}")


def with_entries(old: Any, place: Any, new: Any, rank: int) -> Any:
    """Return an array with other entries in a place, which has ``rank`` axes; axes of length one before those go."""
    array = np.array(old)
    if not rank:
        array[place] = np.reshape(new, ())
    else:
        array[place] = np.reshape(new, np.shape(new)[-rank:]) if np.ndim(new) > rank else new
    return array


def put_entry(run: Run, x: Tensor, key: Any, value: Any) -> None:
    """Write entries of a tensor."""
    if x.library == "jax":
        run.fail_as("immutable")
    if plain_array(x) and not flows(value) and not (isinstance(value, list | tuple) and any(map(flows, value))):
        numpy_values.put_entry(run, x, key, value)
        return
    place = key_of(run, x, key)
    if x.library == "torch":
        refuse_entry(run, x, value, place)
    change = value if isinstance(value, Tensor) else run.array_of(value, x.library if x.library != "torch" else "numpy")
    node = change.node if category(x.dtype) >= 2 else as_dtype(np.asarray(value_of(change.node)), x.dtype)
    if x.base is None:
        run.refuse_leaf(x, "a view of a leaf")
    target = np.empty(x.shape, np.bool_)[place]
    if not fits(np.shape(value_of(node)), np.shape(target)):
        refuse_shape(run, x, change, np.shape(value_of(node)), np.shape(target), place)
    if x.base is not None and x.library == "torch" and basic(place) and type(x) is View:
        part = x if key is Ellipsis else entry(run, x, key)
        run.write(part, spread(run, node, part.shape), run.count)
        return
    if type(node) in NODES and x.library == "numpy" and any(level.kind == "boxes" for level in run.levels):
        run.fail("ValueError", "setting an array element with a sequence.")
    if type(node) not in NODES and type(x.node) not in NODES:
        run.write(x, with_entries(x.node, place, node, target.ndim), run.count)
        return
    f, first = run.f, run.count
    if np.ndim(value_of(node)) > np.ndim(target):
        node = run.function("reshape", Tensor(node), *np.shape(target)).node
    rank = np.ndim(value_of(node)) if isinstance(value, Tensor) else None
    shown = key if not isinstance(key, Tensor) or key.shape else int(key.value) if category(key.dtype) == 1 else key
    run.write(x, f(PUT, x.node, node, key=place), first, (WRITTEN, shown, x.shape, rank))


def spread(run: Run, node: Any, shape: tuple[int, ...]) -> Any:
    """Return a value broadcast to a shape; leading axes of length 1 are left out."""
    old = np.shape(value_of(node))
    if old == shape:
        return node
    if type(node) not in NODES:
        return np.array(
            np.broadcast_to(np.reshape(node, old[len(old) - len(shape) :] if len(old) > len(shape) else old), shape)
        )
    whole = Tensor(node)
    if len(old) > len(shape):
        whole = run.function("reshape", whole, *old[len(old) - len(shape) :])
    return run.function("expand", whole, *shape).node


def fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Return whether an array broadcasts to a target; leading axes of length 1 are left out."""
    while len(shape) > len(target) and shape[0] == 1:
        shape = shape[1:]
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def delete(run: Run, base: Any, key: Any) -> None:
    """Do ``del base[key]``."""
    if ask(run, base, "__delitem__", key) is not UNBOUND:
        return
    if isinstance(base, dict):
        if hashable(run, key) not in base:
            raise_key(key)
        del base[hashable(run, key)]
    elif isinstance(base, list):
        try:
            del base[whole(run, key)]
        except IndexError:
            run.fail("IndexError", "list assignment index out of range")
        except TypeError as error:
            run.fail("TypeError", str(error))
    elif not isinstance(base, Foreign):
        own = isinstance(base, Tensor) and base.library == "torch"
        run.fail(
            "TypeError",
            "Tensor does not support deleting items"
            if own
            else f"'{run.type_name(base)}' object doesn't support item deletion",
        )


# ---- Lists and dictionaries of another kind that Python's library has: ``defaultdict``, ``Counter``, ``de


class DefaultDict(dict):  # type: ignore[type-arg]
    """``collections.defaultdict``: a key that is not there is entered with what its factory gives."""

    script_class: Class

    def __init__(self, default: Any = None, items: Any = ()) -> None:
        super().__init__(items)
        self.default = default

    def missing(self, run: Run, key: Any) -> Any:
        """Return the entry of a new key."""
        if self.default is None:
            raise_key(key)
        self[key] = made = run.call(self.default)
        return made

    def copy(self) -> DefaultDict:
        """Return a copy."""
        return DefaultDict(self.default, self)

    def shown(self, quoted: Any) -> str:
        """Return how it is shown."""
        return f"defaultdict({quoted(self.default)}, {quoted(dict(self))})"

    attributes: ClassVar[dict[str, Any]] = {"default_factory": lambda run, me: me.default}


class OrderedDict(dict):  # type: ignore[type-arg]
    """``collections.OrderedDict``."""

    script_class: Class

    def copy(self) -> OrderedDict:
        """Return a copy."""
        return OrderedDict(self)

    def shown(self, quoted: Any) -> str:
        """Return how it is shown."""
        return f"OrderedDict({quoted(list(self.items())) if self else ''})"

    attributes: ClassVar[dict[str, Any]] = {"popitem": lambda run, me: lambda run, last=True: pop_item(run, me, last)}


def pop_item(run: Run, table: dict[Any, Any], last: bool) -> Any:
    """Take the last or the first entry out."""
    if not table:
        raise_key("dictionary is empty")
    key = next(reversed(table)) if last else next(iter(table))
    return key, table.pop(key)


class Counter(collections.Counter):  # type: ignore[type-arg]
    """``collections.Counter``."""

    script_class: Class

    def missing(self, run: Run, key: Any) -> int:
        """Return how often a key that is not there was counted."""
        del run, key
        return 0

    def copy(self) -> Counter:
        """Return a copy."""
        return Counter(self)

    def shown(self, quoted: Any) -> str:
        """Return how it is shown: the most frequent first."""
        return f"Counter({quoted(dict(self.most_common()))})" if self else "Counter()"

    def __add__(self, other: Any) -> Counter:
        return Counter(super().__add__(other))

    def __sub__(self, other: Any) -> Counter:
        return Counter(super().__sub__(other))

    def __and__(self, other: Any) -> Counter:
        return Counter(super().__and__(other))

    def __or__(self, other: Any) -> Counter:  # type: ignore[override]
        return Counter(super().__or__(other))

    attributes: ClassVar[dict[str, Any]] = {
        "update": lambda run, me: lambda run, items=(), **named: count(run, me, items, named, 1),
        "subtract": lambda run, me: lambda run, items=(), **named: count(run, me, items, named, -1),
        "total": lambda run, me: lambda run: sum(me.values()),
        "most_common": lambda run, me: lambda run, n=None: me.most_common(n),
        "elements": lambda run, me: lambda run: me.elements(),
    }


def count(run: Run, table: Counter, items: Any, named: dict[str, Any], by: int) -> None:
    """Count items, or add counts."""
    if isinstance(items, dict):
        for key, value in (items | named).items():
            table[key] = table.get(key, 0) + by * value
        return
    for item in iterate(run, items):
        key = hashable(run, item)
        table[key] = table.get(key, 0) + by
    for key, value in named.items():
        table[key] = table.get(key, 0) + by * value


class Deque(list):  # type: ignore[type-arg]
    """``collections.deque``: a list that lets go of items at its other end where it is full."""

    script_class: Class

    def __init__(self, items: Any = (), longest: int | None = None) -> None:
        super().__init__(items)
        self.longest = longest
        self.trim()

    def trim(self, first: bool = True) -> None:
        """Let go of what is too much, at the front or at the end."""
        if self.longest is not None and len(self) > self.longest:
            over = len(self) - self.longest
            del self[slice(over) if first else slice(self.longest, None)]

    def copy(self) -> Deque:
        """Return a copy."""
        return Deque(self, self.longest)

    def shown(self, quoted: Any) -> str:
        """Return how it is shown."""
        return f"deque({quoted(list(self))}{'' if self.longest is None else f', maxlen={self.longest}'})"

    attributes: ClassVar[dict[str, Any]] = {
        "maxlen": lambda run, me: me.longest,
        "append": lambda run, me: lambda run, item: grow(run, me, [item]),
        "appendleft": lambda run, me: lambda run, item: grow(run, me, [item], left=True),
        "extend": lambda run, me: lambda run, items: grow(run, me, take(run, items)),
        "extendleft": lambda run, me: lambda run, items: grow(run, me, take(run, items), left=True),
        "popleft": lambda run, me: lambda run: pop_left(run, me),
        "pop": lambda run, me: lambda run: pop_left(run, me, -1),
        "rotate": lambda run, me: lambda run, n=1: rotate(me, n),
        "copy": lambda run, me: lambda run: me.copy(),
    }


def grow(run: Run, items: Deque, more: list[Any], left: bool = False) -> None:
    """Add items at one end, and let go of as many at the other."""
    if left:
        items[:0] = reversed(more)
    else:
        items += more
    items.trim(first=not left)
    run.bound(len(items), "a list has too many items")


def pop_left(run: Run, items: Deque, place: int = 0) -> Any:
    """Take the first or the last item out."""
    if not items:
        run.fail("IndexError", "pop from an empty deque")
    return items.pop(place)


def rotate(items: Deque, n: int) -> None:
    """Move so many items from the end to the front."""
    if items:
        n %= len(items)
        items[:] = [*items[-n:], *items[:-n]] if n else items
