"""Python's ``itertools``, ``functools``, ``operator``, ``heapq``, ``bisect`` and ``contextlib``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import wraps as wraps_host
from typing import Any, ClassVar

from gradcli.runner.builtins import sorted_
from gradcli.runner.containers import iterate, put, subscript, take
from gradcli.runner.exceptions import Raised
from gradcli.runner.library import TABLE, native
from gradcli.runner.objects import UNBOUND, Class, Closure, Context, Instance, Property
from gradcli.runner.operators import COMPARED, METHODS, contains, equal, hashable, negative, operate, truth
from gradcli.runner.state import Run
from gradcli.runner.statements import fits

KINDS = 400_000
"""Arguments whose results ``lru_cache`` keeps at most."""


# ---- itertools
class Chained(itertools.chain):  # type: ignore[type-arg]
    """``itertools.chain``, which a run can tell from others."""


class Islice(itertools.islice):  # type: ignore[type-arg]
    """``itertools.islice``."""


class ZipLongest(itertools.zip_longest):  # type: ignore[type-arg]
    """``itertools.zip_longest``."""


class TakeWhile(itertools.takewhile):  # type: ignore[type-arg]
    """``itertools.takewhile``."""


class DropWhile(itertools.dropwhile):  # type: ignore[type-arg]
    """``itertools.dropwhile``."""


def over(function: Any) -> Any:
    """Have a run told of what walks over other walks."""

    @wraps_host(function)
    def made(run: Run, *arguments: Any, **named: Any) -> Any:
        return run.over(function(run, *arguments, **named), arguments)

    return made


def without_end(run: Run, items: Iterator[Any]) -> Iterator[Any]:
    """Yield items of which there may be no end: each is a turn."""
    for item in items:
        run.meter.turn()
        yield item


@native("itertools.count")
def count(run: Run, start: Any = 0, step: Any = 1) -> Iterator[Any]:
    """Count without end."""
    return without_end(run, itertools.count(start, step))


@native("itertools.cycle")
def cycle(run: Run, items: Any) -> Iterator[Any]:
    """Walk over items again and again."""
    return without_end(run, itertools.cycle(take(run, items)))


@native("itertools.repeat")
def repeat(run: Run, item: Any, times: Any = None) -> Iterator[Any]:
    """Give one item again and again."""
    return without_end(run, itertools.repeat(item) if times is None else itertools.repeat(item, times))


class Chain:
    """``itertools.chain``, which has a function of its own."""

    def __call__(self, run: Run, *parts: Any) -> Iterator[Any]:
        """Walk over several one after the other."""
        return run.over(Chained.from_iterable(iterate(run, part) for part in parts), parts)  # type: ignore[no-any-return]

    attributes: ClassVar[dict[str, Any]] = {
        "from_iterable": lambda run, me: (
            lambda run, parts: run.over(Chained.from_iterable(iterate(run, p) for p in iterate(run, parts)), [iter(())])
        ),
    }


TABLE["itertools.chain"] = Chain()


@native("itertools.islice")
@over
def islice(run: Run, items: Any, *bounds: Any) -> Iterator[Any]:
    """Walk over a part of items."""
    return Islice(iterate(run, items), *bounds)


@native("itertools.zip_longest")
@over
def zip_longest(run: Run, *parts: Any, fillvalue: Any = None) -> Iterator[Any]:
    """Put items together to the end of the longest."""
    return ZipLongest(*[iterate(run, part) for part in parts], fillvalue=fillvalue)


def of_items(name: str) -> Any:
    """Return a function that combines items: lazily, of a list."""
    host = getattr(itertools, name)  # one of the names below
    return lambda run, items, *arguments: without_end(run, host(take(run, items), *arguments))


for _name in ("permutations", "combinations", "combinations_with_replacement", "pairwise"):
    TABLE[f"itertools.{_name}"] = of_items(_name)


@native("itertools.product")
def product(run: Run, *parts: Any, repeat: int = 1) -> Iterator[Any]:
    """Walk over all choices of one item of each."""
    pools = [take(run, part) for part in parts]
    run.bound(repeat * sum(map(len, pools)), "a product has too many parts")
    return without_end(run, itertools.product(*pools, repeat=repeat))


@native("itertools.accumulate")
@over
def accumulate(run: Run, items: Any, func: Any = None, *, initial: Any = None) -> Iterator[Any]:
    """Yield what has added up so far."""
    walk = iter(iterate(run, items))
    total = next(walk, UNBOUND) if initial is None else initial
    if total is UNBOUND:
        return
    yield total
    for item in walk:
        total = operate(run, "+", total, item) if func is None else run.call(func, [total, item])
        yield total


@native("itertools.groupby")
@over
def groupby(run: Run, items: Any, key: Any = None) -> Iterator[Any]:
    """Yield neighbours of one key together."""
    group: list[Any] = []
    last: Any = UNBOUND
    for item in iterate(run, items):
        mark = item if key is None else run.call(key, [item])
        if last is not UNBOUND and not equal(run, mark, last):
            yield last, iter(group)
            group = []
        group.append(item)
        last = mark
    if group:
        yield last, iter(group)


@native("itertools.takewhile")
@over
def takewhile(run: Run, test: Any, items: Any) -> Iterator[Any]:
    """Yield items as long as they pass."""
    return TakeWhile(lambda item: truth(run, run.call(test, [item])), iterate(run, items))


@native("itertools.dropwhile")
@over
def dropwhile(run: Run, test: Any, items: Any) -> Iterator[Any]:
    """Yield items from the first that does not pass."""
    return DropWhile(lambda item: truth(run, run.call(test, [item])), iterate(run, items))


@native("itertools.filterfalse")
@over
def filterfalse(run: Run, test: Any, items: Any) -> Iterator[Any]:
    """Yield the items that do not pass."""
    return (item for item in iterate(run, items) if not truth(run, item if test is None else run.call(test, [item])))


@native("itertools.starmap")
@over
def starmap(run: Run, function: Any, items: Any) -> Iterator[Any]:
    """Call a function with each item's parts."""
    return (run.call(function, take(run, parts)) for parts in iterate(run, items))


@native("itertools.tee")
def tee(run: Run, items: Any, n: int = 2) -> tuple[Any, ...]:
    """Return several walks over the same items."""
    run.bound(n, "a list has too many items")
    return itertools.tee(iterate(run, items), n)


@native("itertools.compress")
@over
def compress(run: Run, items: Any, marks: Any) -> Iterator[Any]:
    """Yield the items that are marked."""
    return (item for item, mark in zip(iterate(run, items), iterate(run, marks), strict=False) if truth(run, mark))


@native("itertools.batched")
@over
def batched(run: Run, items: Any, n: int) -> Iterator[Any]:
    """Yield so many items at a time."""
    walk = iter(iterate(run, items))
    while part := tuple(itertools.islice(walk, n)):
        yield part


# ---- functools
@native("functools.reduce")
def reduce(run: Run, function: Any, items: Any, *initial: Any) -> Any:
    """Put items together two by two."""
    walk = iter(iterate(run, items))
    total = initial[0] if initial else next(walk, UNBOUND)
    if total is UNBOUND:
        run.fail("TypeError", "reduce() of empty iterable with no initial value")
    for item in walk:
        total = run.call(function, [total, item])
    return total


class Partial:
    """``functools.partial``: a function with some of its arguments."""

    def __init__(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.function, self.arguments, self.named = function, arguments, named

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call the function with the other arguments."""
        return run.call(self.function, [*self.arguments, *arguments], self.named | named)

    attributes: ClassVar[dict[str, Any]] = {
        "func": lambda run, me: me.function, "args": lambda run, me: me.arguments, "keywords": lambda run, me: me.named,
    }  # fmt: skip


@native("functools.partial", "functools.partialmethod")
def partial(run: Run, func: Any, /, *arguments: Any, **named: Any) -> Partial:
    """Return a function with some of its arguments."""
    return Partial(func, arguments, named)


class Cached:
    """A function that keeps its results."""

    def __init__(self, function: Any, longest: int | None, typed: bool = False) -> None:
        self.function, self.longest, self.typed = function, longest, typed
        self.results: dict[Any, Any] = {}
        self.hits = self.misses = 0

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Return the result that it has, or call the function."""
        key = hashable(run, (arguments, *named.items())) if named else hashable(run, arguments)
        if self.typed:
            key = (key, tuple(type(a).__name__ for a in arguments))
        if key in self.results:
            self.hits += 1
            value = self.results.pop(key)
            self.results[key] = value
            return value
        self.misses += 1
        value = run.call(self.function, list(arguments), named)
        longest = KINDS if self.longest is None else self.longest
        if longest:
            self.results[key] = value
            if len(self.results) > longest:
                self.results.pop(next(iter(self.results)))
        return value

    def info(self) -> Any:
        """Return how often there was a result."""
        from gradcli.runner.tuples import Named

        fields = {"hits": self.hits, "misses": self.misses, "maxsize": self.longest, "currsize": len(self.results)}
        return Named("CacheInfo", fields)

    def clear(self) -> None:
        """Let go of the results."""
        self.results.clear()
        self.hits = self.misses = 0

    attributes: ClassVar[dict[str, Any]] = {
        "cache_info": lambda run, me: lambda run: me.info(), "cache_clear": lambda run, me: lambda run: me.clear(),
        "__wrapped__": lambda run, me: me.function, "__name__": lambda run, me: run.attribute(me.function, "__name__"),
        "__doc__": lambda run, me: run.attribute(me.function, "__doc__"),
    }  # fmt: skip


@native("functools.lru_cache")
def lru_cache(run: Run, maxsize: Any = 128, typed: bool = False) -> Any:
    """Keep results of a function."""
    if maxsize is None or isinstance(maxsize, int):
        return lambda run, function: Cached(function, maxsize, typed)
    return Cached(maxsize, 128)


@native("functools.cache")
def cache(run: Run, function: Any) -> Cached:
    """Keep all results of a function."""
    return Cached(function, None)


@native("functools.wraps")
def wraps(run: Run, wrapped: Any, *_: Any, **__: Any) -> Any:
    """Give a function the name of another."""
    return lambda run, wrapper: update_wrapper(run, wrapper, wrapped)


@native("functools.update_wrapper")
def update_wrapper(run: Run, wrapper: Any, wrapped: Any, *_: Any, **__: Any) -> Any:
    """Give a function the name of another."""
    fields = (
        wrapper.attributes
        if isinstance(wrapper, Closure)
        else wrapper.fields
        if isinstance(wrapper, Instance)
        else None
    )
    if fields is not None:
        for name in ("__name__", "__qualname__", "__doc__"):
            try:
                fields[name] = run.attribute(wrapped, name)
            except Raised:
                continue
        fields["__wrapped__"] = wrapped
        if isinstance(wrapped, Closure):
            fields |= {name: value for name, value in wrapped.attributes.items() if name not in fields}
    return wrapper


@native("functools.cached_property")
def cached_property(run: Run, function: Any) -> Property:
    """Return an attribute that is computed once."""
    name = function.code.name

    def read(run: Run, me: Instance) -> Any:
        if name not in me.fields:
            me.fields[name] = run.call(function, [me])
        return me.fields[name]

    return Property(read, lambda run, me, value: me.fields.__setitem__(name, value))


@native("functools.total_ordering")
def total_ordering(run: Run, kind: Class) -> Class:
    """Give a class the comparisons that it lacks, by the one that it has."""
    ways = {
        "lt": {"gt": ("not", "or ="), "le": ("", "or ="), "ge": ("not", "")},
        "le": {"ge": ("not", "or ="), "lt": ("", "and !="), "gt": ("not", "")},
        "gt": {"lt": ("not", "or ="), "ge": ("", "or ="), "le": ("not", "")},
        "ge": {"le": ("not", "or ="), "gt": ("", "and !="), "lt": ("not", "")},
    }
    root = next((word for word in ("lt", "le", "gt", "ge") if f"__{word}__" in kind.members), None)
    if root is None:
        run.fail("ValueError", "must define at least one ordering operation: < > <= >=")
    for word, (turned, further) in ways[root or "lt"].items():
        if f"__{word}__" not in kind.members:
            kind.members[f"__{word}__"] = derived(f"__{root}__", turned, further)
    return kind


def derived(root: str, turned: str, further: str) -> Any:
    """Return a comparison by another one and by ``==``."""

    def compare(run: Run, me: Instance, other: Any) -> Any:
        made = run.call(me.kind.find(root), [me, other])
        if made is NotImplemented:
            return made
        first = truth(run, made) is not (turned == "not")
        if further == "or =":
            return first or equal(run, me, other) if turned != "not" else first and not equal(run, me, other)
        return first and not equal(run, me, other) if further else first

    return compare


@native("functools.cmp_to_key")
def cmp_to_key(run: Run, function: Any) -> Any:
    """Return a key by which ``sorted`` compares with a function."""
    kind = Class(
        "K",
        [],
        {
            "__lt__": lambda run, me, other: operate(
                run, "<", run.call(function, [me.fields["obj"], other.fields["obj"]]), 0
            )
        },
    )

    def key(run: Run, item: Any) -> Instance:
        made = Instance(kind)
        made.fields["obj"] = item
        return made

    return key


@native("functools.singledispatch")
def singledispatch(run: Run, function: Any) -> Any:
    """Return a function that has others for types of its first argument."""
    return Dispatch(function)


class Dispatch:
    """A function that has others for types of its first argument."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.kinds: list[tuple[Class, Any]] = []

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call the function of the type that is nearest."""
        own = run.call(run.builtin("type"), [arguments[0]])
        order = own.order if isinstance(own, Class) else []
        found = min(((order.index(kind), k) for k, (kind, _) in enumerate(self.kinds) if kind in order), default=None)
        return run.call(self.function if found is None else self.kinds[found[1]][1], list(arguments), named)

    def register(self, kind: Any, function: Any) -> Any:
        """Enter the function of a type."""
        self.kinds.append((kind, function))
        return function

    attributes: ClassVar[dict[str, Any]] = {
        "register": lambda run, me: (
            lambda run, kind, function=None: (
                me.register(kind, function)
                if function is not None
                else lambda run, function: me.register(kind, function)
            )
        )
    }


# ---- operator
for _sign, _word in METHODS.items():
    for _spelled in (_word, f"{_word}_", f"__{_word}__", f"i{_word}"):
        TABLE[f"operator.{_spelled}"] = lambda run, a, b, sign=_sign: operate(run, sign, a, b)
for _sign, (_word, _) in COMPARED.items():
    TABLE[f"operator.{_word}"] = lambda run, a, b, sign=_sign: operate(run, sign, a, b)
TABLE |= {
    "operator.neg": lambda run, a: negative(run, a, "-"),
    "operator.pos": lambda run, a: negative(run, a, "+"),
    "operator.invert": lambda run, a: negative(run, a, "~"),
    "operator.not_": lambda run, a: not truth(run, a),
    "operator.truth": truth,
    "operator.contains": lambda run, items, item: contains(run, item, items),
    "operator.getitem": subscript,
    "operator.setitem": put,
    "operator.is_": lambda run, a, b: a is b,
    "operator.is_not": lambda run, a, b: a is not b,
    "operator.concat": lambda run, a, b: operate(run, "+", a, b),
    "operator.abs": lambda run, a: run.call(run.builtin("abs"), [a]),
    "operator.index": lambda run, a: run.call(run.builtin("int"), [a]),
    "operator.countOf": lambda run, items, item: sum(1 for one in iterate(run, items) if equal(run, one, item)),
}


@native("operator.itemgetter")
def itemgetter(run: Run, *keys: Any) -> Any:
    """Return a function that reads items."""
    if len(keys) == 1:
        return lambda run, x: subscript(run, x, keys[0])
    return lambda run, x: tuple([subscript(run, x, key) for key in keys])


@native("operator.attrgetter")
def attrgetter(run: Run, *names: str) -> Any:
    """Return a function that reads attributes."""

    def read(run: Run, x: Any, name: str) -> Any:
        for part in name.split("."):
            x = run.attribute(x, part)
        return x

    if len(names) == 1:
        return lambda run, x: read(run, x, names[0])
    return lambda run, x: tuple([read(run, x, name) for name in names])


@native("operator.methodcaller")
def methodcaller(run: Run, name: str, *arguments: Any, **named: Any) -> Any:
    """Return a function that calls a method."""
    return lambda run, x: run.call(run.attribute(x, name), list(arguments), named)


# ---- heapq
def less(run: Run, a: Any, b: Any) -> bool:
    """Return whether one item comes before another."""
    return truth(run, operate(run, "<", a, b))


def sift_down(run: Run, heap: list[Any], start: int, place: int) -> None:
    """Move an item up to where it belongs."""
    item = heap[place]
    while place > start:
        above = (place - 1) >> 1
        if not less(run, item, heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


def sift_up(run: Run, heap: list[Any], place: int) -> None:
    """Move the smaller items up, and an item down to where it belongs."""
    end, start, item = len(heap), place, heap[place]
    child = 2 * place + 1
    while child < end:
        if child + 1 < end and not less(run, heap[child], heap[child + 1]):
            child += 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = item
    sift_down(run, heap, start, place)


@native("heapq.heappush")
def heappush(run: Run, heap: list[Any], item: Any) -> None:
    """Put an item on a heap."""
    heap.append(item)
    sift_down(run, heap, 0, len(heap) - 1)


@native("heapq.heappop")
def heappop(run: Run, heap: list[Any]) -> Any:
    """Take the smallest item off a heap."""
    if not heap:
        run.fail("IndexError", "index out of range")
    last = heap.pop()
    if not heap:
        return last
    first, heap[0] = heap[0], last
    sift_up(run, heap, 0)
    return first


@native("heapq.heapify")
def heapify(run: Run, heap: list[Any]) -> None:
    """Make a list a heap."""
    for place in reversed(range(len(heap) // 2)):
        sift_up(run, heap, place)


@native("heapq.heappushpop")
def heappushpop(run: Run, heap: list[Any], item: Any) -> Any:
    """Put an item on a heap, and take the smallest off."""
    if heap and less(run, heap[0], item):
        item, heap[0] = heap[0], item
        sift_up(run, heap, 0)
    return item


@native("heapq.heapreplace")
def heapreplace(run: Run, heap: list[Any], item: Any) -> Any:
    """Take the smallest item off a heap, and put another on."""
    first, heap[0] = heap[0], item
    sift_up(run, heap, 0)
    return first


@native("heapq.nsmallest")
def nsmallest(run: Run, n: int, items: Any, key: Any = None) -> list[Any]:
    """Return the smallest items."""
    return list(sorted_(run, items, key=key))[: max(n, 0)]


@native("heapq.nlargest")
def nlargest(run: Run, n: int, items: Any, key: Any = None) -> list[Any]:
    """Return the largest items."""
    return list(sorted_(run, items, key=key, reverse=True))[: max(n, 0)]


@native("heapq.merge")
def merge(run: Run, *parts: Any, key: Any = None, reverse: bool = False) -> Iterator[Any]:
    """Merge sorted items."""
    return iter(sorted_(run, [item for part in parts for item in iterate(run, part)], key=key, reverse=reverse))


# ---- bisect
def searched(right: bool) -> Any:
    """Return ``bisect_left`` or ``bisect_right``."""

    def run_it(run: Run, a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> int:
        hi = run.call(run.builtin("len"), [a]) if hi is None else hi
        while lo < hi:
            middle = (lo + hi) // 2
            item = subscript(run, a, middle)
            item = item if key is None else run.call(key, [item])
            if (not less(run, x, item)) if right else less(run, item, x):
                lo = middle + 1
            else:
                hi = middle
        return lo

    return run_it


def inserted(right: bool) -> Any:
    """Return ``insort_left`` or ``insort_right``."""

    def run_it(run: Run, a: list[Any], x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
        mark = x if key is None else run.call(key, [x])
        a.insert(searched(right)(run, a, mark, lo, hi, key=key), x)

    return run_it


TABLE |= {
    "bisect.bisect_left": searched(right=False),
    "bisect.bisect_right": searched(right=True),
    "bisect.bisect": searched(right=True),
    "bisect.insort_left": inserted(right=False),
    "bisect.insort_right": inserted(right=True),
    "bisect.insort": inserted(right=True),
}


# ---- contextlib
class Managed(Context):
    """What a function with ``@contextmanager`` gives: it runs to its ``yield``, and goes on after the block."""

    def __init__(self, function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.function, self.arguments, self.named = function, arguments, named
        self.generator: Any = None
        self.error: Raised | None = None

    def enter(self, run: Run) -> Any:
        """Run to the yield."""
        self.generator = run.call(self.function, list(self.arguments), self.named)
        for value in self.generator:
            return value
        return run.fail("RuntimeError", "generator didn't yield")

    def leave(self, run: Run) -> None:
        """Go on after the block."""
        for _ in self.generator:
            run.fail("RuntimeError", "generator didn't stop")

    def leave_by(self, run: Run, error: Raised | None) -> bool:
        """Go on after the block, with the exception that ended it."""
        if error is None:
            self.leave(run)
            return False
        try:
            self.generator.throw(error)
        except StopIteration:
            return True
        except Raised as again:
            if again.instance is error.instance:
                return False
            raise
        return run.fail("RuntimeError", "generator didn't stop after throw()")  # type: ignore[no-any-return]

    def __call__(self, run: Run, function: Any) -> Any:
        """Return a function that runs within the context, as a decorator."""

        def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
            inner = Managed(self.function, self.arguments, self.named)
            inner.enter(run)
            try:
                made = run.call(function, list(arguments), named)
            except Raised as error:
                if not inner.leave_by(run, error):
                    raise
                return None
            inner.leave(run)
            return made

        return run_it


@native("contextlib.contextmanager")
def contextmanager(run: Run, function: Any) -> Any:
    """Return a function that gives contexts."""
    return ManagedFunction(function)


class ManagedFunction:
    """A function with ``@contextmanager``."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Managed:
        """Return a context."""
        return Managed(self.function, arguments, named)

    attributes: ClassVar[dict[str, Any]] = {"__name__": lambda run, me: run.attribute(me.function, "__name__")}


class Suppress(Context):
    """``contextlib.suppress``: exceptions of these classes end at the block."""

    def __init__(self, kinds: tuple[Any, ...]) -> None:
        self.kinds = kinds

    def enter(self, run: Run) -> None:
        """Begin."""

    def leave(self, run: Run) -> None:
        """End."""

    def swallows(self, error: Any) -> bool:
        """Return whether an exception is of these classes."""
        return error is not None and fits(error.instance, self.kinds)


TABLE["contextlib.suppress"] = lambda run, *kinds: Suppress(kinds)


class Null(Context):
    """``contextlib.nullcontext``."""

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def enter(self, run: Run) -> Any:
        """Return what it was given."""
        return self.value

    def leave(self, run: Run) -> None:
        """End."""


TABLE["contextlib.nullcontext"] = lambda run, enter_result=None: Null(enter_result)


class Closing(Null):
    """``contextlib.closing``: what it was given is closed at the end."""

    def leave(self, run: Run) -> None:
        """Close it."""
        run.call(run.attribute(self.value, "close"))


TABLE["contextlib.closing"] = lambda run, thing: Closing(thing)


class Redirected(Null):
    """``contextlib.redirect_stdout``: what is printed goes to another stream."""

    def enter(self, run: Run) -> Any:
        """Begin."""
        self.before, run.emit_to = run.emit_to, self.value
        return self.value

    def leave(self, run: Run) -> None:
        """End."""
        run.emit_to = self.before


TABLE["contextlib.redirect_stdout"] = lambda run, target: Redirected(target)
TABLE["contextlib.AbstractContextManager"] = Class(
    "AbstractContextManager", [], {"__enter__": lambda run, me: me, "__exit__": lambda run, me, *_: None}
)
TABLE["contextlib.ContextDecorator"] = Class("ContextDecorator", [], {})


class Stack(Context):
    """``contextlib.ExitStack``: several contexts that end together."""

    def __init__(self) -> None:
        self.ends: list[Any] = []

    def enter(self, run: Run) -> Any:
        """Begin."""
        return self

    def leave(self, run: Run) -> None:
        """End them all, the last first."""
        while self.ends:
            self.ends.pop()()

    def enter_context(self, run: Run, context: Any) -> Any:
        """Enter one more."""
        from gradcli.runner.statements import enter

        entered = enter(run, context)
        self.ends.append(lambda: entered.leave(run, None))
        return entered.value

    attributes: ClassVar[dict[str, Any]] = {
        "enter_context": lambda run, me: me.enter_context,
        "callback": lambda run, me: (
            lambda run, function, *a, **n: me.ends.append(lambda: run.call(function, list(a), n))
        ),
        "close": lambda run, me: me.leave,
    }


TABLE["contextlib.ExitStack"] = lambda run: Stack()
