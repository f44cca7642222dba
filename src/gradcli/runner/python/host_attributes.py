"""Attributes and methods of Python's own values: what stands in the tables by their types, and nothing else.

Nothing is looked up on the host, and what makes a text or a list longer is bounded.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from gradcli.runner.exceptions import Raised, raised
from gradcli.runner.library import plain_value
from gradcli.runner.printing import format_template
from gradcli.runner.python.calls import OF_CLASSES, bound, native_name
from gradcli.runner.python.containers import augmented, iterate, put, subscript, take
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
    Hosted,
    Method,
    Named,
    Property,
    Size,
    TableFunction,
)

Table = dict[str, Callable[..., Any]]
MOST_ITEMS = "a list has too many items"
MOST_LETTERS = "a text is too long"


Read = Callable[[Run, Any], Any]
"""What reads an argument for a method of Python's own."""


def as_it_is(_run: Run, x: Any) -> Any:
    """Return an argument that needs no care."""
    return x


def item(_run: Run, x: Any) -> Any:
    """Return an argument that a container is to have."""
    return plain(x)


def keys(run: Run, items: Any) -> set[Any]:
    """Return items as those of a set."""
    return {hashable(run, each) for each in iterate(run, items)}


def by_host(kind: type, *names: str, reads: tuple[Read, ...] = (as_it_is,), grows: bool = False) -> Table:
    """Return methods that are those of Python's class: what they raise is what Python raises.

    Each argument has its reader, and the last of these reads all that follow; one that ``grows`` is bounded.
    """

    def method(function: Callable[..., Any]) -> Callable[..., Any]:
        def run_it(run: Run, me: Any, *arguments: Any, **named: Any) -> Any:
            read = [reads[min(k, len(reads) - 1)](run, x) for k, x in enumerate(arguments)]
            made = function(me, *read, **named)
            if grows:
                run.bound(len(me), MOST_ITEMS)
            return made

        return run_it

    return {name: method(getattr(kind, name)) for name in names}  # names of the tables below, none that a user wrote


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


def length_of(text: str, name: str, arguments: tuple[Any, ...]) -> int:
    """Return how long a method may make a text; arguments that it does not take are left to it."""
    try:
        return LENGTHS[name](text, *arguments) if name in LENGTHS else len(text)
    except TypeError:
        return len(text)


def of_text(name: str) -> Callable[..., Any]:
    """Return a method of texts that takes and gives texts and numbers alone."""
    function = getattr(str, name)  # one of the names below, and none that a user wrote

    def run_it(run: Run, text: str, *arguments: Any, **named: Any) -> Any:
        if any(isinstance(part, int) and abs(part) > 1_000_000 for part in (*arguments, *named.values())):
            run.bound(float("inf"), MOST_LETTERS)
        run.bound(length_of(text, name, arguments), MOST_LETTERS)
        made = function(text, *arguments, **named)
        if isinstance(made, str):
            run.bound(len(made), MOST_LETTERS)
        return made

    return run_it


def join(run: Run, text: str, items: Any) -> str:
    if isinstance(items, int | float | None):
        run.fail("TypeError", "can only join an iterable")
    parts = take(run, items)
    for k, part in enumerate(parts):
        if not isinstance(part, str):
            run.fail("TypeError", f"sequence item {k}: expected str instance, {run.type_name(part)} found")
    run.bound(sum(map(len, parts)) + len(text) * len(parts), MOST_LETTERS)
    return text.join(parts)


ENCODINGS = ("utf8", "ascii", "latin1", "utf16", "utf32")
"""Encodings that Python has without a module of their own."""


def encode(run: Run, text: str, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    name = str(encoding).lower().replace("-", "").replace("_", "")
    if name not in ENCODINGS:
        run.fail("LookupError", f"unknown encoding: {encoding}")
    if errors not in ("strict", "ignore", "replace", "backslashreplace", "xmlcharrefreplace", "surrogatepass"):
        run.fail("LookupError", f"unknown error handler name '{errors}'")
    return text.encode(name, errors)


# ---- items
def append(run: Run, items: list[Any], item: Any) -> None:
    items.append(plain(item))
    if not len(items) & 0xFFFF:
        run.bound(len(items), MOST_ITEMS)


def place_of(run: Run, items: Any, item: Any, *bounds: int) -> int | None:
    """Return where the first item stands that equals another, None where there is none."""
    start, end = (*bounds, *(0, len(items))[len(bounds) :])
    places = range(len(items))[start:end]
    return next((k for k in places if items[k] is item or equal(run, items[k], item)), None)


MISSING = {list: "{} is not in list", tuple: "tuple.index(x): x not in tuple", deque: "{} is not in deque"}
"""What Python says of an item that is not there."""


def index(run: Run, items: Any, item: Any, *bounds: int) -> Any:
    place = place_of(run, items, item, *bounds)
    if place is not None:
        return place
    text = next(text for kind, text in MISSING.items() if isinstance(items, kind))
    return run.fail("ValueError", text.format(run.quoted(item)))


def remove(run: Run, items: Any, item: Any) -> None:
    place = place_of(run, items, item)
    if place is None:
        said = MISSING[deque].format(run.quoted(item)) if isinstance(items, deque) else "list.remove(x): x not in list"
        run.fail("ValueError", said)
    else:
        del items[place]


def count(run: Run, table: Counter[Any], by: int, items: Any = None, /, **named: int) -> None:
    """Count items, or add counts; ``by`` is -1 to take them off."""
    counts = items if isinstance(items, dict) else Counter([hashable(run, x) for x in iterate(run, items or ())])
    for key, times in [*counts.items(), *named.items()]:
        table[key] = table[key] + by * times


def replaced(run: Run, me: Named, /, **changes: Any) -> Named:
    """Return a tuple with names with other values of some."""
    unknown = [name for name in changes if name not in me.fields]
    if unknown:
        run.fail("ValueError", f"Got unexpected field names: {unknown!r}")
    return Named(me.name, dict(zip(me.fields, me, strict=True)) | changes, me.kind)


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
    made = run.call(error, [] if value is None else [value]) if isinstance(error, Class) else error
    return stepped(run, lambda: generator.throw(Raised(made)))


def close(_run: Run, generator: Any) -> None:
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
    "translate", "replace", "rindex",
)  # fmt: skip
COMBINING = ("intersection", "difference", "symmetric_difference")
FLOATS: Table = {
    "item": lambda run, x: x, "hex": lambda run, x: note_text(run, untraced(x).hex(), [x]),
    "is_integer": lambda run, x: untraced(x).is_integer(), "as_integer_ratio": ratio_of, "conjugate": lambda run, x: x,
    "__float__": lambda run, x: x, "__int__": lambda run, x: int(untraced(x)), **by_builtin("round", "abs"),
}  # fmt: skip
SEARCHING: Table = {
    "index": index,
    "count": lambda run, items, item: sum(1 for one in items if one is item or equal(run, one, item)),
}
KINDS: tuple[tuple[type, Table], ...] = (
    (str, {
        **{name: of_text(name) for name in TEXTS}, "join": join, "encode": encode,
        "format": lambda run, text, *arguments, **named: format_template(run, text, arguments, named),
    }),
    (bytes, {
        "decode": lambda run, data, encoding="utf-8", errors="strict": data.decode(encoding, errors),
        "hex": lambda run, data: data.hex(),
    }),
    (list, {
        **by_host(list, "clear", "reverse", "copy", "pop", "__len__"), "append": append,
        **by_host(list, "extend", reads=(take,), grows=True),
        **by_host(list, "insert", reads=(as_it_is, item), grows=True), **SEARCHING, "remove": remove,
        "sort": lambda run, items, *, key=None, reverse=False: items.__setitem__(
            slice(None), run.call(run.builtin("sorted"), [items], {"key": key, "reverse": reverse})),
    }),
    (deque, {
        **by_host(deque, "clear", "reverse", "copy", "pop", "popleft", "rotate", "__len__"),
        **by_host(deque, "append", "appendleft", reads=(item,), grows=True),
        **by_host(deque, "extend", "extendleft", reads=(take,), grows=True),
        **by_host(deque, "insert", reads=(as_it_is, item), grows=True), **SEARCHING, "remove": remove,
    }),
    (tuple, SEARCHING),
    (Named, {"_asdict": lambda run, me: dict(zip(me.fields, me, strict=True)), "_replace": replaced}),
    (Counter, {
        "update": lambda run, me, items=None, /, **named: count(run, me, 1, items, **named),
        "subtract": lambda run, me, items=None, /, **named: count(run, me, -1, items, **named),
        **by_host(Counter, "total", "most_common", "elements"),
    }),
    (OrderedDict, {
        **by_host(OrderedDict, "items", "keys", "values", "popitem"),
        **by_host(OrderedDict, "move_to_end", reads=(hashable, as_it_is)),
    }),
    (dict, {
        **by_host(dict, "items", "keys", "values", "popitem", "clear", "__len__"),
        "copy": lambda run, me: plain_value(me) if isinstance(me, Hosted) else me.copy(),
        **by_host(dict, "pop", "get", "setdefault", reads=(hashable, item)),
        "update": lambda run, me, other=(), /, **named: me.update(run.call(run.builtin("dict"), [other], named)),
    }),
    *[(kind, {
        **by_host(kind, "copy"),
        **by_host(kind, "union", "issubset", "issuperset", "isdisjoint", *COMBINING, reads=(keys,)),
    }) for kind in (set, frozenset)],
    (set, {
        **by_host(set, "clear", "pop"), **by_host(set, "add", "discard", "remove", reads=(hashable,)),
        **by_host(set, "update", *[f"{name}_update" for name in COMBINING], reads=(keys,)),
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
    (deque, {"maxlen": lambda run, me: me.maxlen}),
    (defaultdict, {"default_factory": lambda run, me: getattr(me.default_factory, "make", me.default_factory)}),
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


def host_member(run: Run, base: Any, name: str) -> Any:
    """Return a method or a field by the tables; UNBOUND where there is none."""
    for kind, methods in KINDS:
        if isinstance(base, kind) and name in methods:
            return Bound(methods[name], base)
    for kinds, readers in FIELDS:
        if isinstance(base, kinds) and name in readers:
            return readers[name](run, base)
    return UNBOUND


def host_attribute(run: Run, base: Any, name: str) -> Any:  # noqa: C901, PLR0911 - one case for each kind
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
    if (member := host_member(run, base, name)) is not UNBOUND:
        return member
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


CALLED_OF_CLASSES: dict[tuple[str, str], Callable[..., Any]] = {
    ("str", "maketrans"): lambda run, *parts: str.maketrans(*parts),
    ("float", "fromhex"): lambda run, text: read_number(run, text, float.fromhex(text)),
    **{
        (kind, "fromkeys"): lambda run, keys, value=None: {hashable(run, key): value for key in iterate(run, keys)}
        for kind in ("dict", "OrderedDict", "defaultdict")
    },
    **{(kind.__name__, name): method for kind, table in KINDS for name, method in table.items()},
}  # fmt: skip
OF_CLASSES |= CALLED_OF_CLASSES
