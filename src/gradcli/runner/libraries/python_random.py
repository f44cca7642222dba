"""Python's ``random``, by Python itself: generators that the run keeps, which begin at seed 0 without a seed."""

from __future__ import annotations

import random
from typing import Any

from gradcli.runner.library import TABLE
from gradcli.runner.python.builtins import number_of
from gradcli.runner.python.containers import subscript, take
from gradcli.runner.python.operators import cut, untraced
from gradcli.runner.state import Run
from gradcli.runner.values import Class, Tensor

RANDOM = Class("Random", [], {}, qualified="random.Random")
NUMBERS = (
    "random", "uniform", "gauss", "normalvariate", "randint", "randrange", "triangular", "betavariate", "expovariate",
    "gammavariate", "lognormvariate", "vonmisesvariate", "paretovariate", "weibullvariate", "getrandbits",
)  # fmt: skip
"""Draws of numbers by numbers."""


NOTE = "The script sets no seed: draws begin at seed {}, and Python draws other numbers at every run"


class Draws:
    """``random.Random``: draws of its own."""

    script_class = RANDOM

    def __init__(self, seed: Any = 0) -> None:
        self.random = random.Random(seed)  # noqa: S311

    attributes: dict[str, Any]


def numbers(name: str) -> Any:
    """Return a draw of a number."""

    def run_it(run: Run, draws: random.Random, *arguments: Any, **named: Any) -> Any:
        given = [number_of(run, a) for a in arguments]
        options = {k: number_of(run, v) for k, v in named.items()}
        if name == "getrandbits":
            run.bound(given[0] * 100, "an integer has too many bits")
        draw = getattr(draws, name)  # a name of the list above
        made = draw(*map(untraced, given), **{k: untraced(v) for k, v in options.items()})
        return cut(run, f"random.{name}", [*given, *options.values()], made)

    return run_it


def choice(run: Run, draws: random.Random, items: Any) -> Any:
    """Draw an item."""
    length = run.call(run.builtin("len"), [items])
    if not length:
        run.fail("IndexError", "Cannot choose from an empty sequence")
    return subscript(run, items, draws.choice(range(length)))


def choices(
    run: Run, draws: random.Random, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
) -> list[Any]:
    """Draw items with replacement, by their weights."""
    items = take(run, population)
    run.bound(k, "a list has too many items")
    shares, sums = (
        [untraced(number_of(run, w)) for w in take(run, part)] if part is not None else None
        for part in (weights, cum_weights)
    )
    return draws.choices(items, shares, cum_weights=sums, k=k)


def sample(run: Run, draws: random.Random, population: Any, k: int, *, counts: Any = None) -> list[Any]:
    """Draw items without replacement."""
    items = population if isinstance(population, range) else take(run, population)
    return draws.sample(items, k, counts=None if counts is None else take(run, counts))


def shuffle(run: Run, draws: random.Random, items: Any) -> None:
    """Put a list, or the rows of an array, in a drawn order."""
    if isinstance(items, list):
        run.bound(len(items), "a list has too many items")
        draws.shuffle(items)
        return
    order = list(range(run.call(run.builtin("len"), [items])))
    draws.shuffle(order)
    from gradcli.runner.python.containers import put

    rows = run.call(run.attribute(items, "copy"))
    for place, source in enumerate(order):
        put(run, items, place, subscript(run, rows, source))


def seed(run: Run, draws: random.Random, a: Any = None, version: int = 2) -> None:
    """Set the seed."""
    a = number_of(run, a) if isinstance(a, Tensor) else a
    if a is None:
        run.note("seed", NOTE.format(run.seed))
    draws.seed(0 if a is None else a, version)


METHODS: dict[str, Any] = {
    **{name: numbers(name) for name in NUMBERS},
    "choice": choice,
    "choices": choices,
    "sample": sample,
    "shuffle": shuffle,
    "seed": seed,
    "getstate": lambda run, draws: draws.getstate(),
    "setstate": lambda run, draws, state: draws.setstate(state),
}


def method_of(name: str) -> Any:
    """Return what reads a method of ``random.Random``."""
    return lambda run, me: lambda run, *a, **n: METHODS[name](run, me.random, *a, **n)


def module_draws(run: Run) -> random.Random:
    """Return the generator of the module; without a seed it begins at 0, and a note says so."""
    if "random" not in run.generators:
        run.generators["random"] = random.Random(run.seed)  # noqa: S311
        run.note("seed", NOTE.format(run.seed))
    return run.generators["random"]  # type: ignore[no-any-return]


def function_of(name: str) -> Any:
    """Return a function of the module."""

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        if name == "seed":
            run.generators.setdefault("random", random.Random(run.seed))  # noqa: S311
        return METHODS[name](run, module_draws(run), *arguments, **named)

    return run_it


TABLE |= {f"random.{name}": function_of(name) for name in METHODS}
Draws.attributes = {name: method_of(name) for name in METHODS}


def make(run: Run, a: Any = None) -> Draws:
    """Return a generator of one's own."""
    if a is None:
        run.note("seed", NOTE.format(run.seed))
    return Draws(0 if a is None else a)


RANDOM.make = make
TABLE["random.Random"] = RANDOM
