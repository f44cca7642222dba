"""Attributes and methods of Python's own values: by tables of names, none is walked on the host."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradcli.runner.exceptions import Raised, raise_key, raised
from gradcli.runner.printing import format_template
from gradcli.runner.python.calls import bound, native_name
from gradcli.runner.python.containers import augmented, iterate, pop_item, put, subscript, take
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
    for kind, table in KINDS:
        if isinstance(base, kind):
            if name in table:
                return Bound(table[name], base)
            break
    for kind, readers in FIELDS:
        if isinstance(base, kind) and name in readers:
            return readers[name](run, base)
    if isinstance(base, Bound) and isinstance(base.function, Closure):
        return run.attribute(base.function, name)
    if isinstance(base, Bound):
        return host_attribute(run, base.function, name)
    if hasattr(type(base), "send") and name in GENERATORS:
        return Bound(GENERATORS[name], base)
    if name == "__class__":
        return run.type_of(base)
    if callable(base) and name in ("__name__", "__qualname__"):
        return native_name(run, base)
    if name == "__doc__":
        return None
    if name in DUNDERS and has_dunder(base, name):
        return Bound(DUNDERS[name], base)
    return UNBOUND


def has_dunder(base: Any, name: str) -> bool:
    """Return whether Python's own value has a method such as ``__len__``."""
    if name == "__call__":
        return callable(base) or isinstance(base, Closure | Bound | TableFunction)
    return (isinstance(base, HOST_KINDS) or hasattr(type(base), "__next__")) and hasattr(type(base), name)


def send(run: Run, generator: Any, value: Any) -> Any:
    """Run a generator to its next value."""
    return stepped(run, lambda: generator.send(value))


def throw(run: Run, generator: Any, error: Any, value: Any = None, *_: Any) -> Any:
    """Raise an exception where a generator waits."""
    made = run.call(error, [] if value is None else [value]) if isinstance(error, Class) else error
    return stepped(run, lambda: generator.throw(Raised(made)))


def close(run: Run, generator: Any) -> None:
    """End a generator."""
    del run
    try:
        generator.close()
    except Raised as error:
        if error.name not in ("GeneratorExit", "StopIteration"):
            raise


GENERATORS: Table = {"send": send, "throw": throw, "close": close, "__next__": lambda run, me: send(run, me, None)}


def stepped(run: Run, step: Any) -> Any:
    """Take one step of a generator; its end is StopIteration with what it returned."""
    try:
        return step()
    except StopIteration as error:
        ended = raised("StopIteration", "")
        ended.instance.fields["args"] = () if error.value is None else (error.value,)
        raise ended from None


def class_attribute(run: Run, base: Class, name: str) -> Any:
    """Return a method of one of Python's classes, called with its object: ``str.upper``, ``dict.fromkeys``."""
    if name == "maketrans" and base.name == "str":
        return lambda run, *parts: str.maketrans(*parts)
    if name == "fromhex" and base.name == "float":
        return lambda run, text: read_number(run, text, float.fromhex(text))
    if name == "fromkeys" and base.find("fromkeys") is UNBOUND and base.name in ("dict", "OrderedDict", "defaultdict"):
        return lambda run, keys, value=None: {hashable(run, key): value for key in iterate(run, keys)}
    tables = {getattr(kind, "__name__", "set"): table for kind, table in KINDS}
    return tables.get(base.name, {}).get(name, UNBOUND)


def by_host(kind: type, *names: str) -> Table:
    """Return methods of one of Python's classes that need nothing of the run."""

    def method(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda run, me, *arguments: function(me, *arguments)

    return {name: method(getattr(kind, name)) for name in names}


# ---- texts
def largest(name: str, text: str, arguments: tuple[Any, ...]) -> int:
    """Return how long a text may become."""
    if name == "expandtabs":
        return len(text) * (arguments[0] if arguments and isinstance(arguments[0], int) else 8)
    if name == "translate":
        return len(text) * max((len(part) for part in arguments[0].values() if isinstance(part, str)), default=1)
    return len(text)


def of_text(name: str) -> Callable[..., Any]:
    """Return a method of texts that takes and gives texts and numbers alone."""
    function = getattr(str, name)  # one of the names below, and none that a user wrote

    def run_it(run: Run, text: str, *arguments: Any, **named: Any) -> Any:
        for argument in (*arguments, *named.values()):
            if isinstance(argument, int) and abs(argument) > 1_000_000:
                run.bound(float("inf"), "a text is too long")
        run.bound(largest(name, text, arguments), "a text is too long")
        made = function(text, *arguments, **named)
        if isinstance(made, str):
            run.bound(len(made), "a text is too long")
        return made

    return run_it


def join(run: Run, text: str, items: Any) -> str:
    """Join texts."""
    parts = take(run, items)
    for k, part in enumerate(parts):
        if not isinstance(part, str):
            run.fail("TypeError", f"sequence item {k}: expected str instance, {run.type_name(part)} found")
    run.bound(sum(map(len, parts)) + len(text) * len(parts), "a text is too long")
    return text.join(parts)


def replace(run: Run, text: str, old: str, new: str, count: int = -1) -> str:
    """Replace parts of a text."""
    run.bound(len(text) + max(text.count(old), 1) * len(new), "a text is too long")
    return text.replace(old, new, count)


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


def decode(run: Run, data: bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return bytes as a text."""
    return data.decode(encoding, errors)


BYTES: Table = {"decode": decode, "hex": lambda run, data: data.hex()}
STRINGS: Table = {
    **{
        name: of_text(name)
        for name in (
            "upper", "lower", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "startswith", "endswith",
            "find", "rfind", "index", "count", "title", "capitalize", "ljust", "rjust", "center", "zfill", "isdigit",
            "isalpha", "isalnum", "isspace", "isupper", "islower", "isnumeric", "isidentifier", "swapcase", "partition",
            "rpartition", "removeprefix", "removesuffix", "casefold", "expandtabs", "istitle", "isdecimal", "isascii",
            "isprintable", "translate",
        )
    },
    "join": join, "replace": replace, "encode": encode,
    "format": lambda run, text, *arguments, **named: format_template(run, text, arguments, named),
}  # fmt: skip


# ---- lists
def append(run: Run, items: list[Any], item: Any) -> None:
    """Append an item."""
    items.append(plain(item))
    if not len(items) & 0xFFFF:
        run.bound(len(items), "a list has too many items")


def extend(run: Run, items: list[Any], more: Any) -> None:
    """Append several items."""
    items.extend(take(run, more))
    run.bound(len(items), "a list has too many items")


def insert(run: Run, items: list[Any], place: int, item: Any) -> None:
    """Put an item in before a place."""
    items.insert(place, plain(item))
    run.bound(len(items), "a list has too many items")


def pop(run: Run, items: list[Any], place: int = -1) -> Any:
    """Take an item out."""
    if not items:
        run.fail("IndexError", "pop from empty list")
    if not -len(items) <= place < len(items):
        run.fail("IndexError", "pop index out of range")
    return items.pop(place)


def index(run: Run, items: Any, item: Any, *bounds: int) -> int:
    """Return where an item stands."""
    for k in range(len(items))[
        slice(*bounds) if len(bounds) > 1 else slice(bounds[0], None) if bounds else slice(None)
    ]:
        if items[k] is item or equal(run, items[k], item):
            return k
    if isinstance(items, tuple):
        run.fail("ValueError", "tuple.index(x): x not in tuple")
    return run.fail("ValueError", f"{run.quoted(item)} is not in list")  # type: ignore[no-any-return]


def remove(run: Run, items: list[Any], item: Any) -> None:
    """Remove the first such item."""
    for k, one in enumerate(items):
        if one is item or equal(run, one, item):
            del items[k]
            return
    run.fail("ValueError", "list.remove(x): x not in list")


def sort(run: Run, items: list[Any], *, key: Any = None, reverse: bool = False) -> None:
    """Sort a list in place."""
    items[:] = run.call(run.builtin("sorted"), [items], {"key": key, "reverse": reverse})


LISTS: Table = {
    "append": append, "extend": extend, "pop": pop, "index": index, "remove": remove, "sort": sort,
    "insert": insert, **by_host(list, "clear", "reverse", "copy", "__len__"),
    "count": lambda run, items, item: sum(1 for one in items if one is item or equal(run, one, item)),
}  # fmt: skip
TUPLES: Table = {
    "index": index, "count": LISTS["count"],
    "_asdict": lambda run, named: dict(zip(named.fields, named, strict=True)),
    "_replace": lambda run, named, **new: Named(
        named.name, dict(zip(named.fields, named, strict=True)) | new, named.kind
    ),
}  # fmt: skip


# ---- dictionaries and sets
def pop_key(run: Run, table: dict[Any, Any], key: Any, *default: Any) -> Any:
    """Take an entry out of a dictionary."""
    place = hashable(run, key)
    if place in table or default:
        return table.pop(place, *default)
    return raise_key(key)


def update(run: Run, table: dict[Any, Any], *others: Any, **named: Any) -> None:
    """Enter what other dictionaries have."""
    for other in others:
        if isinstance(other, dict):
            table.update(other)
        else:
            table.update({hashable(run, key): value for key, value in iterate(run, other)})
    table.update(named)


def move_to_end(run: Run, table: dict[Any, Any], key: Any, last: bool = True) -> None:
    """Move an entry of an OrderedDict."""
    value = table.pop(key)
    others = list(table.items())
    table.clear()
    table.update([*others, (key, value)] if last else [(key, value), *others])


DICTS: Table = {
    **by_host(dict, "items", "keys", "values", "__len__", "clear"), "update": update, "pop": pop_key,
    "get": lambda run, table, key, default=None: table.get(hashable(run, key), default),
    "setdefault": lambda run, table, key, value=None: table.setdefault(hashable(run, key), value),
    "copy": lambda run, table: table.copy(), "popitem": lambda run, table: pop_item(run, table, last=True),
    "move_to_end": move_to_end,
}  # fmt: skip


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


def update_set(run: Run, items: set[Any], *others: Any) -> None:
    """Add what others have."""
    for other in others:
        items.update([hashable(run, item) for item in iterate(run, other)])


SETS: Table = {
    **{name: combined(name) for name in ("union", "intersection", "difference", "symmetric_difference")},
    **{name: combined(name) for name in ("issubset", "issuperset", "isdisjoint")},
    "add": lambda run, items, item: items.add(hashable(run, item)),
    "discard": lambda run, items, item: items.discard(hashable(run, item)),
    "remove": lambda run, items, item: items.remove(hashable(run, item)),
    "update": update_set, **by_host(set, "clear", "copy", "pop"),
    **{f"{name}_update": updated(name) for name in ("intersection", "difference", "symmetric_difference")},
}  # fmt: skip


def ratio_of(x: Any) -> Any:
    """Return the two numbers whose ratio a float is: whole ones, but for a traced one."""
    made = untraced(x).as_integer_ratio()
    return tuple(map(float, made)) if traced(x) else made


FLOATS: Table = {
    "item": lambda run, x: x,
    "hex": lambda run, x: note_text(run, untraced(x).hex(), [x]), "is_integer": lambda run, x: untraced(x).is_integer(),
    "as_integer_ratio": lambda run, x: cut(run, "as_integer_ratio", [x], ratio_of(x)), "conjugate": lambda run, x: x,
    "__round__": lambda run, x, *digits: run.call(run.builtin("round"), [x, *digits]), "__float__": lambda run, x: x,
    "__int__": lambda run, x: int(untraced(x)), "__abs__": lambda run, x: run.call(run.builtin("abs"), [x]),
}  # fmt: skip
INTEGERS: Table = {
    **by_host(int, "bit_count", "conjugate", "bit_length", "as_integer_ratio", "__round__"), "item": lambda run, x: x,
    "is_integer": lambda run, x: True,
}  # fmt: skip
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
KINDS: tuple[tuple[Any, Table], ...] = (
    (str, STRINGS), (bytes, BYTES), (list, LISTS), (tuple, TUPLES), (dict, DICTS), (set | frozenset, SETS),
    (int, INTEGERS), (float, FLOATS),
)  # fmt: skip


def operator_method(sign: str, reflected: bool) -> Callable[..., Any]:
    """Return a method such as ``__add__`` of Python's own values."""
    return lambda run, me, other: operate(run, sign, other, me) if reflected else operate(run, sign, me, other)


DUNDERS: Table = {
    **{f"__{word}__": operator_method(sign, reflected=False) for sign, word in OPERATORS.items()},
    **{f"__r{word}__": operator_method(sign, reflected=True) for sign, word in OPERATORS.items()},
    **{f"__{words[0]}__": operator_method(sign, reflected=False) for sign, words in COMPARED.items()},
    **{f"__i{word}__": lambda run, me, x, sign=sign: augmented(run, sign, me, x) for sign, word in OPERATORS.items()},
    "__len__": lambda run, me: run.call(run.builtin("len"), [me]),
    "__str__": lambda run, me: run.call(run.builtin("str"), [me]),
    "__repr__": lambda run, me: run.call(run.builtin("repr"), [me]),
    "__iter__": lambda run, me: run.call(run.builtin("iter"), [me]),
    "__getitem__": subscript,
    "__setitem__": put,
    "__contains__": lambda run, me, item: contains(run, item, me),
    "__call__": lambda run, me, *a, **n: run.call(me, list(a), n),
    "__hash__": lambda run, me: run.call(run.builtin("hash"), [me]),
    "__bool__": lambda run, me: run.call(run.builtin("bool"), [me]),
    "__next__": lambda run, me: run.call(run.builtin("next"), [me]),
    "__neg__": lambda run, me: operate(run, "-", 0, me),
    "__format__": lambda run, me, spec: run.call(run.builtin("format"), [me, spec]),
}  # fmt: skip
"""Methods that Python's own values have for operators and the like."""
