"""Python's ``math`` and ``random``: by Python itself for plain numbers, by gradcli's table for those it differentiates.

Generators of random numbers are kept by the run, and begin at seed 0 where the script sets none.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from gradcli.errors import over_budget
from gradcli.runner.library import TABLE, drawing, generator_of, methods_of_draws, native, unseeded
from gradcli.runner.python.builtins import number_of, type_name
from gradcli.runner.python.calls import call_table, find_table
from gradcli.runner.python.containers import put, subscript, take
from gradcli.runner.python.operators import cut, operate, plain, untraced
from gradcli.runner.state import Run
from gradcli.runner.values import UNBOUND, Class, Instance, Tensor

TABLE |= {f"math.{name}": getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")}
NAMES = (
    "sqrt", "exp", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "fabs", "pow", "hypot", "degrees", "radians",
    "copysign", "fmod", "isnan", "isinf", "isfinite", "isclose", "erf", "erfc", "gamma", "lgamma", "modf", "frexp",
    "ldexp", "remainder", "nextafter", "ulp", "isqrt", "gcd", "lcm",
)  # fmt: skip
"""Functions of numbers, whose errors are Python's own."""
METHODS = {"floor": "__floor__", "ceil": "__ceil__", "trunc": "__trunc__"}
STEPS = {"floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "isclose", "ulp"}
"""Functions whose derivative is 0 wherever they have one."""


def as_number(run: Run, x: Any) -> Any:
    """Return an argument as a number of Python's; one that is differentiated stays a tensor."""
    x = plain(x)
    if isinstance(x, Tensor) and x.library == "python":
        return x
    x = number_of(run, x)
    if isinstance(x, Instance):
        member = next((m for m in ("__float__", "__index__") if x.kind.find(m) is not UNBOUND), None)
        if member is not None:
            return run.call(run.attribute(x, member))
    if not isinstance(x, int | float | Tensor):
        run.fail("TypeError", f"must be real number, not {type_name(x)}")
    return x


def hypotenuse(run: Run, *numbers: Any) -> Any:
    """Return the length of a vector of any number of entries."""
    squares = [operate(run, "*", x, x) for x in numbers[:-1]]
    return run.function("math.sqrt", run.call(run.builtin("sum"), [squares]))


BY_PARTS: dict[str, Callable[..., Any]] = {
    "gamma": lambda run, x, made: operate(  # the size of it by its logarithm
        run, "*", run.function("math.exp", run.function("math.lgamma", x)), math.copysign(1.0, made)
    ),
    "hypot": hypotenuse,
    "ldexp": lambda run, x, i, made: operate(run, "*", x, 2.0**i),
    "frexp": lambda run, x, made: (operate(run, "/", x, 2.0 ** made[1]), made[1]),
    "modf": lambda run, x, made: (operate(run, "-", x, made[1]), made[1]),
    "remainder": lambda run, x, y, made: operate(
        run, "-", x, operate(run, "*", y, round((untraced(x) - made) / untraced(y)))
    ),
    "nextafter": lambda run, x, y, made: operate(run, "+", x, made - untraced(x)),
}
"""Functions of traced numbers that the table does not have, of parts that it has; ``made`` is their value."""


def refuse_bits(run: Run, bits: float) -> None:
    """Refuse an integer of too many bits."""
    if bits > run.meter.budget.bits:
        raise over_budget("bits", run.meter.budget.bits, "an integer has too many bits")


def function_of(name: str) -> Any:
    """Return a function of ``math``."""
    host = getattr(math, name)  # one of the names above

    def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
        x = arguments[0] if name in METHODS else None
        if isinstance(x, Instance) and x.kind.find(METHODS[name]) is not UNBOUND:
            return run.call(run.attribute(x, METHODS[name]))
        numbers = [as_number(run, argument) for argument in arguments]
        made = host(*map(untraced, numbers), **named)
        if not any(isinstance(number, Tensor) for number in numbers):
            refuse_bits(run, made.bit_length() if isinstance(made, int) else 0)
            return made
        if name in STEPS:
            return made
        if name in BY_PARTS:
            return BY_PARTS[name](run, *numbers, made)
        table = find_table(f"math.{name}")
        return cut(run, f"math.{name}", numbers, made) if table is None else call_table(run, table, numbers, named)

    run_it.__name__ = name
    return run_it


@native("math.log")
def log(run: Run, x: Any, base: Any = None) -> Any:
    """Return a logarithm; of another base it is a quotient of two. Raises what Python's own does."""
    x = as_number(run, x)
    if isinstance(x, Tensor):
        math.log(untraced(x))
        made = run.function("math.log", x)
    elif base is None or isinstance(base, Tensor):
        made = math.log(x)
    else:
        return math.log(x, as_number(run, base))
    return made if base is None else operate(run, "/", made, log(run, base))


def whole(run: Run, x: Any) -> int:
    """Return an argument that has to be an integer."""
    x = as_number(run, x)
    if not isinstance(x, int):
        run.fail("TypeError", f"'{type_name(x)}' object cannot be interpreted as an integer")
    return x  # type: ignore[no-any-return]


@native("math.factorial")
def factorial(run: Run, n: Any) -> int:
    """Return a factorial."""
    n = whole(run, n)
    refuse_bits(run, 12 * n)
    return math.factorial(n)


def counted(host: Callable[[int, int], int]) -> Any:
    """Return ``comb`` or ``perm``: their results are bounded."""

    def run_it(run: Run, n: Any, k: Any = None) -> int:
        n = whole(run, n)
        k = n if k is None else whole(run, k)
        refuse_bits(run, n.bit_length() * min(abs(k), abs(n)) / 8)
        return host(n, k)

    return run_it


@native("math.prod")
def prod(run: Run, items: Any, *, start: Any = 1) -> Any:
    """Return the product of items."""
    for item in take(run, items):
        start = operate(run, "*", start, item)
    return start


@native("math.fsum")
def fsum(run: Run, items: Any) -> Any:
    """Return the exact sum of numbers, rounded once."""
    numbers = [as_number(run, item) for item in take(run, items)]
    if any(isinstance(number, Tensor) for number in numbers):
        return run.call(run.builtin("sum"), [numbers, 0.0])
    return math.fsum(numbers)


def pairs(run: Run, p: Any, q: Any) -> Any:
    """Walk over two lists of one length together."""
    return zip(take(run, p), take(run, q), strict=True)


@native("math.dist")
def dist(run: Run, p: Any, q: Any) -> Any:
    """Return the distance of two points."""
    parts = [operate(run, "**", operate(run, "-", a, b), 2) for a, b in pairs(run, p, q)]
    total = run.call(run.builtin("sum"), [parts, 0.0])
    if isinstance(total, Tensor):
        return TABLE["math.sqrt"](run, total)
    return math.dist(*[[as_number(run, x) for x in take(run, point)] for point in (p, q)])


TABLE |= {f"math.{name}": function_of(name) for name in NAMES}
TABLE |= {
    "math.comb": counted(math.comb), "math.perm": counted(math.perm),
    "math.sumprod": lambda run, p, q: run.call(
        run.builtin("sum"), [[operate(run, "*", a, b) for a, b in pairs(run, p, q)]]
    ),
}  # fmt: skip


# ---- random: work(run, generator, …)
def draw(run: Run, draws: random.Random, *arguments: Any, name: str, **named: Any) -> Any:
    """Draw a number by numbers."""
    given = [number_of(run, a) for a in arguments]
    options = {k: number_of(run, v) for k, v in named.items()}
    if name == "getrandbits":
        run.bound(given[0] * 100, "an integer has too many bits")
    host = getattr(draws, name)  # a name of the list below
    made = host(*map(untraced, given), **{k: untraced(v) for k, v in options.items()})
    return cut(run, f"random.{name}", [*given, *options.values()], made)


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
    rows = run.call(run.attribute(items, "copy"))
    for place, source in enumerate(order):
        put(run, items, place, subscript(run, rows, source))


def seed_of(run: Run, seed: Any) -> Any:
    """Return a seed, 0 where there is none."""
    if seed is None:
        unseeded(run, "Python")
    return 0 if seed is None else number_of(run, seed) if isinstance(seed, Tensor) else seed


DRAWS: dict[str, Any] = {
    **{name: partial(draw, name=name) for name in (
        "random", "uniform", "gauss", "normalvariate", "randint", "randrange", "triangular", "betavariate",
        "expovariate", "gammavariate", "lognormvariate", "vonmisesvariate", "paretovariate", "weibullvariate",
        "getrandbits",
    )},
    "choice": choice, "choices": choices, "sample": sample, "shuffle": shuffle,
    "seed": lambda run, draws, a=None, version=2: draws.seed(seed_of(run, a), version),
    "getstate": lambda run, draws: draws.getstate(),
    "setstate": lambda run, draws, state: draws.setstate(state),
}  # fmt: skip


class Draws:
    """``random.Random``: draws of its own."""

    script_class = Class("Random", [], {}, qualified="random.Random")

    def __init__(self, seed: Any) -> None:
        self.host = random.Random(seed)  # noqa: S311

    attributes = methods_of_draws(DRAWS)


def seed_module(run: Run, a: Any = None, version: int = 2) -> None:
    """Set the seed of the module."""
    run.generators["random"] = random.Random()  # noqa: S311
    run.generators["random"].seed(seed_of(run, a), version)


Draws.script_class.make = lambda run, a=None: Draws(seed_of(run, a))
TABLE |= {
    f"random.{name}": drawing(work, lambda run: generator_of(run, "random", "Python", random.Random))
    for name, work in DRAWS.items()
}
TABLE |= {"random.seed": seed_module, "random.Random": Draws.script_class}
