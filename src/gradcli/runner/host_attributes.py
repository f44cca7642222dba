"""Attributes and methods of Python's own values: by tables of names, none is walked on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.runner.containers import iterate, take
from gradcli.runner.exceptions import raised
from gradcli.runner.objects import UNBOUND, Bound, Class, Closure, Property, TableFunction
from gradcli.runner.operators import equal, hashable, plain
from gradcli.runner.state import Run
from gradcli.runner.tuples import Named
from gradcli.runner.values import DType, Size

Table = dict[str, Callable[..., Any]]


def host_attribute(run: Run, base: Any, name: str) -> Any:
    """Return an attribute of a value of Python's; UNBOUND where there is none."""
    if isinstance(base, Named) and name in base.fields:
        return base.field(name)
    for kind, table in KINDS:
        if isinstance(base, kind):
            if name in table:
                return Bound(table[name], base)
            break
    if isinstance(base, Closure):
        return closure_attribute(base, name)
    if isinstance(base, DType):
        return {"is_floating_point": base.name.startswith(("float", "bfloat")), "name": base.name}.get(name, UNBOUND)
    if isinstance(base, int | float) and name in ("real", "imag"):
        return base if name == "real" else 0
    if isinstance(base, Size) and name == "numel":
        return Bound(lambda run, size: product(size), base)
    if isinstance(base, slice | range) and name in ("start", "stop", "step"):
        return {"start": base.start, "stop": base.stop, "step": base.step}[name]
    if isinstance(base, Property) and name == "setter":
        return Bound(lambda run, prop, setter: Property(prop.getter, setter), base)
    if isinstance(base, TableFunction) and name == "__name__":
        return base.name.rpartition(".")[2]
    if name == "__class__":
        from gradcli.runner.builtins import type_of

        return type_of(run, base)
    reader = getattr(type(base), "attributes", None)
    if isinstance(reader, dict) and name in reader:
        return reader[name](run, base)
    return UNBOUND


def closure_attribute(base: Closure, name: str) -> Any:
    """Return an attribute of a function."""
    if name in ("__name__", "__qualname__"):
        return base.code.name
    if name == "__doc__":
        return base.code.doc
    if name in ("__defaults__", "__module__", "__wrapped__"):
        return tuple(base.defaults) if name == "__defaults__" else "__main__" if name == "__module__" else UNBOUND
    return UNBOUND


def class_attribute(run: Run, base: Class, name: str) -> Any:
    """Return a method of one of Python's classes, called with its object: ``str.upper``, ``dict.fromkeys``."""
    del run
    tables = {"str": STRINGS, "list": LISTS, "dict": DICTS, "set": SETS, "tuple": TUPLES, "int": INTEGERS, "float": FLOATS}
    if name == "fromkeys" and base.name == "dict":
        return lambda run, keys, value=None: {hashable(run, key): value for key in iterate(run, keys)}
    return tables.get(base.name, {}).get(name, UNBOUND)


def product(numbers: Any) -> int:
    """Return the product of lengths."""
    made = 1
    for number in numbers:
        made *= number
    return made


# ---- texts
def of_text(name: str) -> Callable[..., Any]:
    """Return a method of texts that takes and gives texts and numbers alone."""
    function = getattr(str, name)  # one of the names below, and none that a user wrote

    def run_it(run: Run, text: str, *arguments: Any) -> Any:
        for argument in arguments:
            if isinstance(argument, int) and abs(argument) > 1_000_000:
                run.bound(float("inf"), "a text is too long")
        made = function(text, *arguments)
        if isinstance(made, str):
            run.bound(len(made), "a text is too long")
        return made

    return run_it


def join(run: Run, text: str, items: Any) -> str:
    """Join texts."""
    parts = take(run, items)
    for k, part in enumerate(parts):
        if not isinstance(part, str):
            from gradcli.runner.builtins import type_name

            run.fail("TypeError", f"sequence item {k}: expected str instance, {type_name(part)} found")
    made = text.join(parts)
    run.bound(len(made), "a text is too long")
    return made


def replace(run: Run, text: str, old: str, new: str, count: int = -1) -> str:
    """Replace parts of a text."""
    run.bound(len(text) + max(text.count(old), 1) * len(new), "a text is too long")
    return text.replace(old, new, count)


def format_it(run: Run, text: str, *arguments: Any, **named: Any) -> str:
    """Format a template."""
    from gradcli.runner.strings import format_template

    return format_template(run, text, arguments, named)


STRINGS: Table = {
    **{
        name: of_text(name)
        for name in (
            "upper", "lower", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "startswith", "endswith", "find",
            "rfind", "index", "count", "title", "capitalize", "ljust", "rjust", "center", "zfill", "isdigit", "isalpha",
            "isalnum", "isspace", "isupper", "islower", "isnumeric", "isidentifier", "swapcase", "partition", "rpartition",
            "removeprefix", "removesuffix", "casefold", "expandtabs", "encode",
        )
    },
    "join": join, "replace": replace, "format": format_it,
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


def pop(run: Run, items: list[Any], place: int = -1) -> Any:
    """Take an item out."""
    if not items:
        run.fail("IndexError", "pop from empty list")
    if not -len(items) <= place < len(items):
        run.fail("IndexError", "pop index out of range")
    return items.pop(place)


def index(run: Run, items: Any, item: Any, *bounds: int) -> int:
    """Return where an item stands."""
    for k in range(len(items))[slice(*bounds, None) if bounds else slice(None)]:
        if items[k] is item or equal(run, items[k], item):
            return k
    from gradcli.runner.strings import to_repr

    return run.fail("ValueError", f"{to_repr(run, item)} is not in list")  # type: ignore[no-any-return]


def remove(run: Run, items: list[Any], item: Any) -> None:
    """Remove the first such item."""
    items.pop(index(run, items, item))


def sort(run: Run, items: list[Any], *, key: Any = None, reverse: bool = False) -> None:
    """Sort a list in place."""
    from gradcli.runner.builtins import sorted_

    items[:] = sorted_(run, items, key=key, reverse=reverse)


LISTS: Table = {
    "append": append, "extend": extend, "pop": pop, "index": index, "remove": remove, "sort": sort,
    "insert": lambda run, items, place, item: items.insert(place, item), "clear": lambda run, items: items.clear(),
    "reverse": lambda run, items: items.reverse(), "copy": lambda run, items: list(items),
    "count": lambda run, items, item: sum(1 for one in items if one is item or equal(run, one, item)),
    "popleft": lambda run, items: items.pop(0), "appendleft": lambda run, items, item: items.insert(0, item),
}  # fmt: skip
TUPLES: Table = {"index": index, "count": LISTS["count"], "_asdict": lambda run, named: dict(zip(named.fields, named, strict=True)),
                 "_replace": lambda run, named, **new: Named(named.name, dict(zip(named.fields, named, strict=True)) | new)}


# ---- dictionaries and sets
def pop_key(run: Run, table: dict[Any, Any], key: Any, *default: Any) -> Any:
    """Take an entry out of a dictionary."""
    place = hashable(run, key)
    if place in table or default:
        return table.pop(place, *default)
    error = raised("KeyError", "")
    error.instance.fields["args"] = (key,)
    raise error


def update(run: Run, table: dict[Any, Any], *others: Any, **named: Any) -> None:
    """Enter what other dictionaries have."""
    for other in others:
        if isinstance(other, dict):
            table.update(other)
        else:
            table.update({hashable(run, key): value for key, value in iterate(run, other)})
    table.update(named)


def set_default(run: Run, table: dict[Any, Any], key: Any, value: Any = None) -> Any:
    """Return an entry, newly entered where there is none."""
    return table.setdefault(hashable(run, key), value)


def get(run: Run, table: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """Return an entry, or the default."""
    return table.get(hashable(run, key), default)


def most_common(run: Run, table: dict[Any, int], count: int | None = None) -> list[Any]:
    """Return the entries of a Counter, the largest first."""
    return sorted(table.items(), key=lambda pair: -pair[1])[:count]


def move_to_end(run: Run, table: dict[Any, Any], key: Any, last: bool = True) -> None:
    """Move an entry of an OrderedDict."""
    value = table.pop(key)
    others = list(table.items())
    table.clear()
    table.update([*others, (key, value)] if last else [(key, value), *others])


DICTS: Table = {
    "items": lambda run, table: table.items(), "keys": lambda run, table: table.keys(), "values": lambda run, table: table.values(),
    "get": get, "update": update, "pop": pop_key, "setdefault": set_default, "clear": lambda run, table: table.clear(),
    "copy": lambda run, table: table.copy(), "popitem": lambda run, table: table.popitem(), "most_common": most_common,
    "move_to_end": move_to_end,
    "elements": lambda run, table: [key for key, count in table.items() for _ in range(count)],
}  # fmt: skip


def combined(name: str) -> Callable[..., Any]:
    """Return a method that combines sets."""
    function = getattr(set, name)  # one of the names below, and none that a user wrote
    return lambda run, items, *others: function(set(items), *[{hashable(run, i) for i in iterate(run, o)} for o in others])


def update_set(run: Run, items: set[Any], *others: Any) -> None:
    """Add what others have."""
    for other in others:
        items.update([hashable(run, item) for item in iterate(run, other)])


SETS: Table = {
    **{name: combined(name) for name in ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint")},
    "add": lambda run, items, item: items.add(hashable(run, item)),
    "discard": lambda run, items, item: items.discard(hashable(run, item)),
    "remove": lambda run, items, item: items.remove(hashable(run, item)),
    "update": update_set, "clear": lambda run, items: items.clear(), "copy": lambda run, items: set(items),
    "pop": lambda run, items: items.pop(),
}  # fmt: skip
FLOATS: Table = {"is_integer": lambda run, x: float(x).is_integer(), "item": lambda run, x: x, "as_integer_ratio": lambda run, x: x.as_integer_ratio()}
INTEGERS: Table = {"bit_length": lambda run, x: x.bit_length(), "item": lambda run, x: x, "is_integer": lambda run, x: True}
KINDS: tuple[tuple[Any, Table], ...] = (
    (str, STRINGS), (list, LISTS), (tuple, TUPLES), (dict, DICTS), (set | frozenset, SETS), (bool, INTEGERS), (int, INTEGERS), (float, FLOATS),
)  # fmt: skip
