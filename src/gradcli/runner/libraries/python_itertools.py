"""``itertools``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import wraps as wraps_host
from typing import Any, ClassVar

from gradcli.runner.library import TABLE, native
from gradcli.runner.python.containers import iterate, take
from gradcli.runner.python.operators import equal, operate, truth
from gradcli.runner.state import Run
from gradcli.runner.values import UNBOUND


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


class Chain:
    """``itertools.chain``, which has a function of its own."""

    def __call__(self, run: Run, *parts: Any) -> Iterator[Any]:
        """Walk over several one after the other."""
        walked = Chained.from_iterable(iterate(run, part) for part in parts)
        return run.over(walked, parts)  # type: ignore[no-any-return]

    attributes: ClassVar[dict[str, Any]] = {
        "from_iterable": lambda run, me: (
            lambda run, parts: run.over(Chained.from_iterable(iterate(run, p) for p in iterate(run, parts)), [iter(())])
        ),
    }


TABLE["itertools.chain"] = Chain()


def of_items(name: str) -> Any:
    """Return a function that combines items: lazily, of a list."""
    host = getattr(itertools, name)  # one of the names below
    return lambda run, items, *arguments: without_end(run, host(take(run, items), *arguments))


for _name in ("permutations", "combinations", "combinations_with_replacement", "pairwise"):
    TABLE[f"itertools.{_name}"] = of_items(_name)


def passes(run: Run, test: Any, item: Any) -> bool:
    """Return whether an item passes a test, or is true where there is none."""
    return truth(run, item if test is None else run.call(test, [item]))


TABLE["itertools.cycle"] = lambda run, items: without_end(run, itertools.cycle(take(run, items)))
for _name in ("count", "repeat"):
    TABLE[f"itertools.{_name}"] = lambda run, *arguments, name=_name, **named: without_end(
        run,
        getattr(itertools, name)(*arguments, **named),  # one of the two above
    )
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


@native("itertools.tee")
def tee(run: Run, items: Any, n: int = 2) -> tuple[Any, ...]:
    """Return several walks over the same items."""
    run.bound(n, "a list has too many items")
    return itertools.tee(iterate(run, items), n)


@native("itertools.batched")
@over
def batched(run: Run, items: Any, n: int) -> Iterator[Any]:
    """Yield so many items at a time."""
    walk = iter(iterate(run, items))
    while part := tuple(itertools.islice(walk, n)):
        yield part
