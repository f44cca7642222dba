"""Python's ``itertools``, ``functools``, ``operator``, ``heapq``, ``bisect`` and ``contextlib``."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

from gradcli.runner.exceptions import Raised
from gradcli.runner.library import TABLE, Setting, Within, attributes_of, native, own_attributes
from gradcli.runner.numpy_values import COMPARED, METHODS
from gradcli.runner.python.builtins import sorted_
from gradcli.runner.python.containers import iterate, put, subscript, take
from gradcli.runner.python.operators import contains, equal, hashable, negative, operate, truth
from gradcli.runner.python.statements import fits
from gradcli.runner.state import Run
from gradcli.runner.values import UNBOUND, Class, Closure, Context, Instance, Named, Property


# ---- itertools
def own_kind(host: type) -> Any:
    """Return a class of walks like the host's, which a run can tell from others."""
    return type(host.__name__, (host,), {})


Chained, Islice, ZipLongest, TakeWhile, DropWhile = map(
    own_kind, (itertools.chain, itertools.islice, itertools.zip_longest, itertools.takewhile, itertools.dropwhile)
)


def over(function: Any) -> Any:
    """Have a run told of what walks over other walks."""

    @functools.wraps(function)
    def made(run: Run, *arguments: Any, **named: Any) -> Any:
        return run.over(function(run, *arguments, **named), arguments)

    return made


def without_end(run: Run, items: Iterator[Any]) -> Iterator[Any]:
    """Yield items of which there may be no end: each is a turn."""
    for item in items:
        run.meter.turn()
        yield item


class Chain:
    """``itertools.chain``, which has a function of its own."""

    def __call__(self, run: Run, *parts: Any) -> Iterator[Any]:
        """Walk over several one after the other."""
        walked = Chained.from_iterable(iterate(run, part) for part in parts)
        return run.over(walked, parts)  # type: ignore[no-any-return]

    attributes: ClassVar[dict[str, Any]] = {
        "from_iterable": lambda run, me: (
            lambda run, parts: run.over(Chained.from_iterable(iterate(run, p) for p in iterate(run, parts)), [iter(())])
        )
    }


def passes(run: Run, test: Any, item: Any) -> bool:
    """Return whether an item passes a test, or is true where there is none."""
    return truth(run, item if test is None else run.call(test, [item]))


TABLE |= {
    "itertools.chain": Chain(),
    "itertools.cycle": lambda run, items: without_end(run, itertools.cycle(take(run, items))),
    **{
        f"itertools.{host.__name__}": lambda run, *a, host=host, **n: without_end(run, host(*a, **n))
        for host in (itertools.count, itertools.repeat)
    },
    **{
        f"itertools.{host.__name__}": lambda run, items, *a, host=host: without_end(run, host(take(run, items), *a))
        for host in (
            itertools.permutations, itertools.combinations, itertools.combinations_with_replacement, itertools.pairwise,
        )
    },
}  # fmt: skip
for _name, _walk in {
    "islice": lambda run, items, *bounds: Islice(iterate(run, items), *bounds),
    "zip_longest": lambda run, *parts, fillvalue=None: ZipLongest(
        *[iterate(run, part) for part in parts], fillvalue=fillvalue
    ),
    "takewhile": lambda run, test, items: TakeWhile(lambda item: passes(run, test, item), iterate(run, items)),
    "dropwhile": lambda run, test, items: DropWhile(lambda item: passes(run, test, item), iterate(run, items)),
    "filterfalse": lambda run, test, items: (item for item in iterate(run, items) if not passes(run, test, item)),
    "starmap": lambda run, function, items: (run.call(function, take(run, parts)) for parts in iterate(run, items)),
    "compress": lambda run, items, marks: (
        item for item, mark in zip(iterate(run, items), iterate(run, marks), strict=False) if truth(run, mark)
    ),
}.items():
    TABLE[f"itertools.{_name}"] = over(_walk)


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


@native("itertools.batched")
@over
def batched(run: Run, items: Any, n: int) -> Iterator[Any]:
    """Yield so many items at a time."""
    walk = iter(iterate(run, items))
    while part := tuple(itertools.islice(walk, n)):
        yield part


KINDS = 400_000
"""Arguments whose results ``lru_cache`` keeps at most."""


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

    def cache_info(self, run: Run) -> Any:
        """Return how often there was a result."""
        fields = {"hits": self.hits, "misses": self.misses, "maxsize": self.longest, "currsize": len(self.results)}
        return Named("CacheInfo", fields)

    def cache_clear(self, run: Run) -> None:
        """Let go of the results."""
        self.results.clear()
        self.hits = self.misses = 0

    attributes: ClassVar[dict[str, Any]] = {
        **own_attributes("cache_info", "cache_clear"), **attributes_of("function", "__name__", "__doc__"),
        "__wrapped__": lambda run, me: me.function,
    }  # fmt: skip


@native("functools.lru_cache")
def lru_cache(run: Run, maxsize: Any = 128, typed: bool = False) -> Any:
    """Keep results of a function."""
    if maxsize is None or isinstance(maxsize, int):
        return lambda run, function: Cached(function, maxsize, typed)
    return Cached(maxsize, 128)


@native("functools.update_wrapper")
def update_wrapper(run: Run, wrapper: Any, wrapped: Any, *_: Any, **__: Any) -> Any:
    """Give a function the name of another."""
    has_fields = isinstance(wrapper, Instance)
    fields = wrapper.attributes if isinstance(wrapper, Closure) else wrapper.fields if has_fields else None
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


TABLE |= {
    **dict.fromkeys(
        ("functools.partial", "functools.partialmethod"),
        lambda run, func, /, *arguments, **named: Partial(func, arguments, named),
    ),
    "functools.cache": lambda run, function: Cached(function, None),
    "functools.wraps": lambda run, wrapped, *_, **__: lambda run, wrapper: update_wrapper(run, wrapper, wrapped),
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


def getter(read: Any) -> Any:
    """Return ``itemgetter`` or ``attrgetter``: of one key they make a function of a value, of several of a tuple."""

    def make(run: Run, *keys: Any) -> Any:
        if len(keys) == 1:
            return lambda run, x: read(run, x, keys[0])
        return lambda run, x: tuple([read(run, x, key) for key in keys])

    return make


TABLE |= {
    "operator.itemgetter": getter(subscript), "operator.attrgetter": getter(
        lambda run, x, path: functools.reduce(run.attribute, path.split("."), x)
    ),
    "operator.methodcaller": lambda run, name, *arguments, **named: (
        lambda run, x: run.call(run.attribute(x, name), list(arguments), named)
    ),
}  # fmt: skip


# ---- heapq: what sorts; all else of it, and ``bisect``, stands in the prelude
TABLE |= {
    "heapq.nsmallest": lambda run, n, items, key=None: list(sorted_(run, items, key=key))[: max(n, 0)],
    "heapq.nlargest": lambda run, n, items, key=None: list(sorted_(run, items, key=key, reverse=True))[: max(n, 0)],
    "heapq.merge": lambda run, *parts, key=None, reverse=False: iter(
        sorted_(run, [item for part in parts for item in iterate(run, part)], key=key, reverse=reverse)
    ),
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
        return Within(lambda: Managed(self.function, self.arguments, self.named), function)


class ManagedFunction:
    """A function with ``@contextmanager``: it gives contexts."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Managed:
        """Return a context."""
        return Managed(self.function, arguments, named)

    attributes = attributes_of("function", "__name__")


class Suppress(Context):
    """``contextlib.suppress``: exceptions of the classes that are its value end at the block."""

    def enter(self, run: Run) -> None:
        """Begin."""

    def swallows(self, error: Any) -> bool:
        """Return whether an exception is of these classes."""
        return error is not None and fits(error.instance, self.value)


TABLE |= {
    "contextlib.suppress": lambda run, *kinds: Suppress(kinds),
    "contextlib.nullcontext": lambda run, enter_result=None: Context(enter_result),
    "contextlib.redirect_stdout": lambda run, new_target: Setting("emit_to", lambda run: new_target, new_target),
    "contextlib.contextmanager": lambda run, func: ManagedFunction(func),
    "contextlib.AbstractContextManager": Class(
        "AbstractContextManager", [], {"__enter__": lambda run, me: me, "__exit__": lambda run, me, *_: None}
    ),
    "contextlib.ContextDecorator": Class("ContextDecorator", [], {}),
}
