"""Lists and dictionaries of another kind that Python's library has: ``defaultdict``, ``Counter``, ``deque``."""

from __future__ import annotations

import collections
from typing import Any, ClassVar

from gradcli.runner.containers import iterate, take
from gradcli.runner.exceptions import raise_key
from gradcli.runner.objects import Class
from gradcli.runner.operators import hashable
from gradcli.runner.state import Run


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
