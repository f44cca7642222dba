"""Attributes and methods of Python's own values: what stands in the tables by their types, and nothing else.

Nothing is looked up on the host, and what makes a text or a list longer is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradcli.runner.exceptions import Raised, raise_key, raised
from gradcli.runner.printing import format_template
from gradcli.runner.python.calls import (
    bound,
    native_name,
)
from gradcli.runner.python.containers import (
    augmented,
    iterate,
    pop_item,
    put,
    subscript,
    take,
)
from gradcli.runner.python.operators import (
    COMPARED,
    HOST_KINDS,
    contains,
    cut,
    equal,
    hashable,
    note_text,
    operate,
    plain,
    read_number,
    traced,
    untraced,
)
from gradcli.runner.python.operators import METHODS as OPERATORS
from gradcli.runner.state import Run
from gradcli.runner.values import (
    UNBOUND,
    Bound,
    Class,
    Closure,
    Context,
    DType,
    Method,
    Named,
    Property,
    Size,
    TableFunction,
)

Table = dict[str, Callable[..., Any]]
MOST_ITEMS = "a list has too many items"
MOST_LETTERS = "a text is too long"


def by_host(kind: type, *names: str) -> Table:
    """Return methods of one of Python's classes that need nothing of the run."""

    def method(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda run, me, *arguments: function(me, *arguments)

    return {name: method(getattr(kind, name)) for name in names}


def by_builtin(*names: str) -> Table:
    """Return methods such as ``__len__``, which do what the builtin does."""

    def method(name: str) -> Callable[..., Any]:
        return lambda run, me, *arguments: run.call(run.builtin(name), [me, *arguments])

    return {f"__{name}__": method(name) for name in names}


# ---- texts
LENGTHS: dict[str, Callable[..., int]] = {
    "expandtabs": lambda text, size=8, *_: len(text) * (size if isinstance(size, int) else 8),
    "translate": lambda text, table, *_: (
        len(text) * max((len(part) for part in table.values() if isinstance(part, str)), default=1)),
    "replace": lambda text, old, new, *_: len(text) + max(text.count(old), 1) * len(new),
}  # fmt: skip
"""How long a method may make a text that is longer than its own."""


def of_text(name: str) -> Callable[..., Any]:
    """Return a method of texts that takes and gives texts and numbers alone."""
    function = getattr(str, name)  # one of the names below, and none that a user wrote

    def run_it(run: Run, text: str, *arguments: Any, **named: Any) -> Any:
        if any(isinstance(part, int) and abs(part) > 1_000_000 for part in (*arguments, *named.values())):
            run.bound(float("inf"), MOST_LETTERS)
        run.bound(LENGTHS[name](text, *arguments) if name in LENGTHS else len(text), MOST_LETTERS)
        made = function(text, *arguments, **named)
        if isinstance(made, str):
            run.bound(len(made), MOST_LETTERS)
        return made

    return run_it


def join(run: Run, text: str, items: Any) -> str:
    """Join texts."""
    parts = take(run, items)
    for k, part in enumerate(parts):
        if not isinstance(part, str):
            run.fail("TypeError", f"sequence item {k}: expected str instance, {run.type_name(part)} found")
    run.bound(sum(map(len, parts)) + len(text) * len(parts), MOST_LETTERS)
    return text.join(parts)


ENCODINGS = ("utf8", "ascii", "latin1", "utf16", "utf32")
"""Encodings that Python has without a module of their own."""


def encode(run: Run, text: str, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """Return a text as bytes."""
    name = str(encoding).lower().replace("-", "").replace("_", "")
    if name not in ENCODINGS:
        run.fail("LookupError", f"unknown encoding: {encoding}")
    if errors not in ("strict", "ignore", "replace", "backslashreplace", "xmlcharrefreplace", "surrogatepass"):
        run.fail("LookupError", f"unknown error handler name '{errors}'")
    return text.encode(name, errors)


# ---- items
def append(run: Run, items: list[Any], item: Any) -> None:
    """Append an item."""
    items.append(plain(item))
    if not len(items) & 0xFFFF:
        run.bound(len(items), MOST_ITEMS)


def grow(run: Run, items: list[Any], change: Callable[..., None], *arguments: Any) -> None:
    """Put more items into a list."""
    change(*arguments)
    run.bound(len(items), MOST_ITEMS)


def pop(run: Run, items: list[Any], place: int = -1) -> Any:
    """Take an item out."""
    if not -len(items) <= place < len(items):
        run.fail("IndexError", "pop index out of range" if items else "pop from empty list")
    return items.pop(place)


def place_of(run: Run, items: Any, item: Any, *bounds: int) -> int | None:
    """Return where the first item stands that equals another, None where there is none."""
    start, end = (*bounds, *(0, len(items))[len(bounds) :])
    places = range(len(items))[start:end]
    return next((k for k in places if items[k] is item or equal(run, items[k], item)), None)


def index(run: Run, items: Any, item: Any, *bounds: int) -> Any:
    """Return where an item stands."""
    place = place_of(run, items, item, *bounds)
    if place is not None:
        return place
    text = "tuple.index(x): x not in tuple" if isinstance(items, tuple) else f"{run.quoted(item)} is not in list"
    return run.fail("ValueError", text)


def remove(run: Run, items: list[Any], item: Any) -> None:
    """Remove the first such item."""
    place = place_of(run, items, item)
    if place is None:
        run.fail("ValueError", "list.remove(x): x not in list")
    else:
        del items[place]


def count_of(run: Run, items: Any, item: Any) -> int:
    """Return how often an item stands in a list or a tuple."""
    return sum(1 for one in items if one is item or equal(run, one, item))


def pop_key(run: Run, table: dict[Any, Any], key: Any, *default: Any) -> Any:
    """Take an entry out of a dictionary."""
    place = hashable(run, key)
    return table.pop(place, *default) if place in table or default else raise_key(key)


def update(run: Run, table: dict[Any, Any], *others: Any, **named: Any) -> None:
    """Enter what other dictionaries have."""
    for other in others:
        pairs = other if isinstance(other, dict) else {hashable(run, k): v for k, v in iterate(run, other)}
        table.update(pairs)
    table.update(named)


def move_to_end(_run: Run, table: dict[Any, Any], key: Any, last: bool = True) -> None:
    """Move an entry of an OrderedDict."""
    value = table.pop(key)
    others = list(table.items())
    table.clear()
    table.update([*others, (key, value)] if last else [(key, value), *others])


def combined(name: str) -> Callable[..., Any]:
    """Return a method that combines sets."""
    function = getattr(set, name)  # one of the names below, and none that a user wrote
    return lambda run, items, *others: function(
        set(items), *[{hashable(run, i) for i in iterate(run, o)} for o in others]
    )


def updated(name: str) -> Callable[..., Any]:
    """Return a method that changes a set to what a combination gives."""
    combine = combined(name)

    def run_it(run: Run, items: set[Any], *others: Any) -> None:
        made = combine(run, items, *others)
        items.clear()
        items.update(made)

    return run_it


def ratio_of(run: Run, x: Any) -> Any:
    """Return the two numbers whose ratio a float is: whole ones, but for a traced one."""
    made = untraced(x).as_integer_ratio()
    return cut(run, "as_integer_ratio", [x], tuple(map(float, made)) if traced(x) else made)


# ---- generators
def stepped(_run: Run, step: Any) -> Any:
    """Take one step of a generator; its end is StopIteration with what it returned."""
    try:
        return step()
    except StopIteration as error:
        raise raised("StopIteration", *(() if error.value is None else (error.value,))) from None


def throw(run: Run, generator: Any, error: Any, value: Any = None, *_: Any) -> Any:
    """Raise an exception where a generator waits."""
    made = run.call(error, [] if value is None else [value]) if isinstance(error, Class) else error
    return stepped(run, lambda: generator.throw(Raised(made)))


def close(_run: Run, generator: Any) -> None:
    """End a generator."""
    try:
        generator.close()
    except Raised as error:
        if error.name not in ("GeneratorExit", "StopIteration"):
            raise


# ---- tables
TEXTS = (
    "upper", "lower", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "startswith", "endswith", "find",
    "rfind", "index", "count", "title", "capitalize", "ljust", "rjust", "center", "zfill", "isdigit", "isalpha",
    "isalnum", "isspace", "isupper", "islower", "isnumeric", "isidentifier", "swapcase", "partition", "rpartition",
    "removeprefix", "removesuffix", "casefold", "expandtabs", "istitle", "isdecimal", "isascii", "isprintable",
    "translate", "replace",
)  # fmt: skip
COMBINING = ("intersection", "difference", "symmetric_difference")
FLOATS: Table = {
    "item": lambda run, x: x, "hex": lambda run, x: note_text(run, untraced(x).hex(), [x]),
    "is_integer": lambda run, x: untraced(x).is_integer(), "as_integer_ratio": ratio_of, "conjugate": lambda run, x: x,
    "__float__": lambda run, x: x, "__int__": lambda run, x: int(untraced(x)), **by_builtin("round", "abs"),
}  # fmt: skip
KINDS: tuple[tuple[Any, Table], ...] = (
    (str, {
        **{name: of_text(name) for name in TEXTS}, "join": join, "encode": encode,
        "format": lambda run, text, *arguments, **named: format_template(run, text, arguments, named),
    }),
    (bytes, {
        "decode": lambda run, data, encoding="utf-8", errors="strict": data.decode(encoding, errors),
        "hex": lambda run, data: data.hex(),
    }),
    (list, {
        **by_host(list, "clear", "reverse", "copy", "__len__"), "append": append, "pop": pop, "index": index,
        "remove": remove, "count": count_of,
        "extend": lambda run, items, more: grow(run, items, items.extend, take(run, more)),
        "insert": lambda run, items, place, item: grow(run, items, items.insert, place, plain(item)),
        "sort": lambda run, items, *, key=None, reverse=False: items.__setitem__(
            slice(None), run.call(run.builtin("sorted"), [items], {"key": key, "reverse": reverse})),
    }),
    (tuple, {
        "index": index, "count": count_of, "_asdict": lambda run, named: dict(zip(named.fields, named, strict=True)),
        "_replace": lambda run, named, **new: Named(
            named.name, dict(zip(named.fields, named, strict=True)) | new, named.kind),
    }),
    (dict, {
        **by_host(dict, "items", "keys", "values", "__len__", "clear"), "update": update, "pop": pop_key,
        "get": lambda run, table, key, default=None: table.get(hashable(run, key), default),
        "setdefault": lambda run, table, key, value=None: table.setdefault(hashable(run, key), value),
        "copy": lambda run, table: table.copy(), "popitem": pop_item,
        "move_to_end": move_to_end,
    }),
    (set | frozenset, {
        **by_host(set, "clear", "copy", "pop"),
        **{name: combined(name) for name in ("union", "issubset", "issuperset", "isdisjoint", *COMBINING)},
        **{f"{name}_update": updated(name) for name in COMBINING},
        "add": lambda run, items, item: items.add(hashable(run, item)),
        "discard": lambda run, items, item: items.discard(hashable(run, item)),
        "remove": lambda run, items, item: items.remove(hashable(run, item)),
        "update": lambda run, items, *others: items.update(
            hashable(run, item) for other in others for item in iterate(run, other)),
    }),
    (int, {
        **by_host(int, "bit_count", "conjugate", "bit_length", "as_integer_ratio", "__round__"),
        "item": lambda run, x: x, "is_integer": lambda run, x: True,
    }),
    (float, FLOATS),
)  # fmt: skip
"""Methods of Python's own values, by their types."""
FIELDS: tuple[tuple[Any, Table], ...] = (
    (Closure, {
        "__name__": lambda run, me: me.code.name, "__qualname__": lambda run, me: me.code.qualified,
        "__doc__": lambda run, me: me.code.doc, "__code__": lambda run, me: me.code,
        "__get__": lambda run, me: lambda run, owner, kind=None: Bound(me, owner),
        "__defaults__": lambda run, me: tuple(me.defaults) or None, "__module__": lambda run, me: "__main__",
        "__dict__": lambda run, me: me.attributes, "__annotations__": lambda run, me: {},
    }),
    (Property, {
        "setter": lambda run, me: lambda run, setter: Property(me.getter, setter, me.deleter),
        "getter": lambda run, me: lambda run, getter: Property(getter, me.setter, me.deleter),
        "deleter": lambda run, me: lambda run, deleter: Property(me.getter, me.setter, deleter),
        "fget": lambda run, me: me.getter, "fset": lambda run, me: me.setter, "fdel": lambda run, me: me.deleter,
    }),
    (Bound, {"__self__": lambda run, me: me.owner, "__func__": lambda run, me: me.function}),
    (DType, {
        "is_floating_point": lambda run, me: me.name.startswith(("float", "bfloat")), "name": lambda run, me: me.name,
    }),
    (int | float, {"real": lambda run, me: me, "imag": lambda run, me: 0}),
    (Size, {"numel": lambda run, me: lambda run: math.prod(me)}),
    (Context, {
        "__enter__": lambda run, me: me.enter,
        "__exit__": lambda run, me: lambda run, exc_type, exc_value, traceback: me.leave_by(run, exc_value),
    }),
    (slice | range, {name: lambda run, me, name=name: getattr(me, name) for name in ("start", "stop", "step")}),
    (TableFunction | Method, {"__name__": lambda run, me: me.name.rpartition(".")[2]}),
)  # fmt: skip
"""Attributes of Python's own values and of the interpreter's, by their types."""
GENERATORS: Table = {
    "send": lambda run, me, value: stepped(run, lambda: me.send(value)), "throw": throw, "close": close,
    "__next__": lambda run, me: stepped(run, lambda: me.send(None)),
}  # fmt: skip
DUNDERS: Table = {
    **{
        f"__{prefix}{word}__": lambda run, me, x, sign=sign, work=work: work(run, sign, me, x)
        for prefix, work in (
            ("", operate), ("r", lambda run, sign, me, x: operate(run, sign, x, me)), ("i", augmented))
        for sign, word in OPERATORS.items()
    },
    **{f"__{words[0]}__": lambda run, me, x, s=sign: operate(run, s, me, x) for sign, words in COMPARED.items()},
    **by_builtin("len", "str", "repr", "iter", "hash", "bool", "next", "format"),
    "__getitem__": subscript, "__setitem__": put, "__contains__": lambda run, me, item: contains(run, item, me),
    "__call__": lambda run, me, *a, **n: run.call(me, list(a), n), "__neg__": lambda run, me: operate(run, "-", 0, me),
}  # fmt: skip
"""Methods that Python's own values have for operators and the like."""


def host_attribute(run: Run, base: Any, name: str) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case for each kind
    """Return an attribute of a value of Python's; UNBOUND where there is none."""
    reader = getattr(type(base), "attributes", None)
    if isinstance(reader, dict) and name in reader:
        return reader[name](run, base)
    if isinstance(base, Named):
        if name in base.fields:
            return base[base.fields.index(name)]
        if name == "_fields":
            return base.fields
        if base.kind is not None and (member := base.kind.find(name)) is not UNBOUND:
            return bound(run, base, base.kind, member)
    table = next((table for kind, table in KINDS if isinstance(base, kind)), {})
    if name in table:
        return Bound(table[name], base)
    for kind, readers in FIELDS:
        if isinstance(base, kind) and name in readers:
            return readers[name](run, base)
    if isinstance(base, Bound):
        of_closure = isinstance(base.function, Closure)
        return run.attribute(base.function, name) if of_closure else host_attribute(run, base.function, name)
    if hasattr(type(base), "send") and name in GENERATORS:
        return Bound(GENERATORS[name], base)
    if name == "__class__":
        return run.type_of(base)
    if callable(base) and name in ("__name__", "__qualname__"):
        return native_name(run, base)
    if name == "__doc__":
        return None
    if name == "__call__" and (callable(base) or isinstance(base, Closure | Bound | TableFunction)):
        return Bound(DUNDERS[name], base)
    is_host = isinstance(base, HOST_KINDS) or hasattr(type(base), "__next__")
    return Bound(DUNDERS[name], base) if name in DUNDERS and is_host and hasattr(type(base), name) else UNBOUND


OF_CLASSES: dict[tuple[str, str], Callable[..., Any]] = {
    ("str", "maketrans"): lambda run, *parts: str.maketrans(*parts),
    ("float", "fromhex"): lambda run, text: read_number(run, text, float.fromhex(text)),
    **{
        (kind, "fromkeys"): lambda run, keys, value=None: {hashable(run, key): value for key in iterate(run, keys)}
        for kind in ("dict", "OrderedDict", "defaultdict")
    },
    **{
        (getattr(kind, "__name__", "set"), name): method
        for kind, table in KINDS for name, method in table.items()
    },
}  # fmt: skip
"""Methods that are called of Python's classes, with their object if any: ``str.upper``, ``dict.fromkeys``."""
