"""``np.random``, by NumPy itself: generators that the run keeps, which begin at seed 0 where no seed is set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.runner.events import note_draw
from gradcli.runner.libraries.numpy_arrays import tensors_in
from gradcli.runner.library import TABLE
from gradcli.runner.numpy_values import by_numpy, from_real, to_real
from gradcli.runner.python.builtins import number_of
from gradcli.runner.python.containers import subscript, take
from gradcli.runner.python.operators import cut, rearrange, traced
from gradcli.runner.state import Run
from gradcli.runner.values import Class, Tensor

OLD = (
    "rand", "randn", "randint", "random", "random_sample", "ranf", "sample", "uniform", "normal", "standard_normal",
    "binomial", "poisson", "exponential", "standard_exponential", "beta", "gamma", "standard_gamma", "dirichlet",
    "multinomial", "multivariate_normal", "laplace", "lognormal", "logistic", "gumbel", "chisquare", "geometric",
    "pareto", "power", "rayleigh", "standard_cauchy", "standard_t", "triangular", "vonmises", "weibull",
    "random_integers", "negative_binomial", "f", "wald", "zipf",
)  # fmt: skip
NEW = (
    *(
        name
        for name in OLD
        if name not in ("rand", "randn", "randint", "random_sample", "ranf", "sample", "random_integers")
    ),
    "integers",
)
NOTE = "The script sets no seed: draws begin at seed {}, and NumPy draws other numbers at every run"
STATE = Class("RandomState", [], {}, qualified="numpy.random.mtrand.RandomState")
GENERATOR = Class("Generator", [], {}, qualified="numpy.random._generator.Generator")


class Draws:
    """A generator of NumPy's: ``RandomState``, or what ``default_rng`` gives."""

    def __init__(self, host: Any, new: bool) -> None:
        self.host, self.new = host, new
        self.script_class = GENERATOR if new else STATE
        self.text = f"{'Generator(PCG64)' if new else 'RandomState(MT19937)'} at 0x7F0000000000"
        self.attributes_here = NEW if new else OLD

    attributes: dict[str, Any]


def draw(run: Run, host: Any, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Draw numbers."""
    given, options = [to_real(run, a) for a in arguments], {key: to_real(run, value) for key, value in named.items()}
    if name in ("rand", "randn"):
        shape = given
    else:
        place = 2 if name in ("randint", "integers") else len(given) - 1
        shape = options.get("size", given[place] if 0 <= place < len(given) else ())
    lengths = shape if isinstance(shape, tuple | list) else [shape]
    run.meter.charge(math.prod(abs(n) for n in lengths if isinstance(n, int)))
    made = from_real(run, by_numpy(run, lambda: getattr(host, name)(*given, **options)))  # one of the names above
    if isinstance(made, Tensor):
        note_draw(run, made)
    return cut(run, f"np.random.{name}", tensors_in((*arguments, *named.values())), made)


def choice(
    run: Run, host: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, *more: Any, **named: Any
) -> Any:
    """Draw items by their chances: what is no number is drawn by its place."""
    options = {key: to_real(run, value) for key, value in (named | {"size": size, "replace": replace, "p": p}).items()}
    if not isinstance(a, int) and any(map(traced, tensors_in([a]))):
        array = run.array_of(a, "numpy")
        places = by_numpy(run, lambda: host.choice(array.shape[named.get("axis", 0)], **options))
        return run.function("np.take", array, from_real(run, np.asarray(places)), axis=named.get("axis", 0))
    texts = isinstance(a, list | tuple) and any(not isinstance(item, int | float | Tensor) for item in a)
    if not texts:
        made = from_real(run, by_numpy(run, lambda: host.choice(to_real(run, a), **options)))
        if isinstance(made, Tensor):
            note_draw(run, made)
        return made
    places = by_numpy(run, lambda: host.choice(len(a), **options))
    return a[int(places)] if np.ndim(places) == 0 else picked(a, places.tolist())


def picked(items: Any, places: Any) -> Any:
    """Return items at nested places."""
    return [picked(items, place) if isinstance(place, list) else items[place] for place in places]


def shuffle(run: Run, host: Any, x: Any, axis: int = 0) -> None:
    """Put the rows of an array, or a list, in a drawn order."""
    length = run.call(run.builtin("len"), [x])
    order: Any = np.arange(length)
    if isinstance(x, list):
        places = list(range(length))
        host.shuffle(places)
        x[:] = [x[k] for k in places]
        return
    if axis:
        raise run.refuse("shuffle along another axis is not part of gradcli")
    if len(x.shape) > 1:
        order = order.reshape(-1, 1)
    host.shuffle(order)
    rows = subscript(run, x, from_real(run, order.ravel()))
    rearrange(run, x, rows)


def permutation(run: Run, host: Any, x: Any, axis: int = 0) -> Any:
    """Return numbers up to one, or the rows of an array, in a drawn order."""
    if isinstance(x, Tensor) and x.shape and not isinstance(x.value, np.ndarray | np.generic):
        raise run.refuse("a permutation of what is differentiated is not part of gradcli")
    if not isinstance(x, int) and any(map(traced, tensors_in([x]))):
        x = run.array_of(x, "numpy")
        return subscript(run, x, from_real(run, by_numpy(run, lambda: host.permutation(x.shape[0]))))
    if isinstance(x, list | tuple) and any(isinstance(item, str) for item in x):
        return [x[int(k)] for k in host.permutation(len(x))]
    if isinstance(x, int):
        run.meter.charge(x)
    return from_real(run, by_numpy(run, lambda: host.permutation(to_real(run, x))))


SPECIAL: dict[str, Any] = {"choice": choice, "shuffle": shuffle, "permutation": permutation}


def method_of(name: str) -> Any:
    """Return what reads a method of a generator."""

    def read(run: Run, me: Draws) -> Any:
        if name not in SPECIAL and name not in me.attributes_here:
            from gradcli.runner.python.calls import no_attribute

            return no_attribute(run, me, name)
        if name in SPECIAL:
            return lambda run, *a, **n: SPECIAL[name](run, me.host, *a, **n)
        return lambda run, *a, **n: draw(run, me.host, name, a, n)

    return read


Draws.attributes = {name: method_of(name) for name in (*OLD, *NEW, *SPECIAL)}
Draws.attributes |= {
    "permuted": lambda run, me: (
        lambda run, x, **n: cut(
            run, "permuted", [x], from_real(run, by_numpy(run, lambda: me.host.permuted(to_real(run, x), **n)))
        )
    ),
    "seed": lambda run, me: lambda run, seed=None: me.host.seed(seed_of(run, seed)),
    "get_state": lambda run, me: lambda run, *_, **__: State(me.host.get_state()),
    "set_state": lambda run, me: lambda run, state: me.host.set_state(state.state),
    "spawn": lambda run, me: lambda run, n: [Draws(one, new=True) for one in me.host.spawn(n)],
    "bit_generator": lambda run, me: State(me.host),
}


class State:
    """What a generator stood at."""

    def __init__(self, state: Any) -> None:
        self.state = state


def seed_of(run: Run, seed: Any) -> Any:
    """Return a seed as NumPy takes it: 0 where there is none, with a note."""
    if seed is None:
        run.note("seed", NOTE.format(run.seed))
        return run.seed
    if isinstance(seed, list | tuple):
        return [number_of(run, one) for one in take(run, seed)]
    return number_of(run, seed) if isinstance(seed, Tensor) else seed


def module_draws(run: Run) -> Any:
    """Return the generator of the module; without a seed it begins at 0, and a note says so."""
    if "numpy" not in run.generators:
        run.generators["numpy"] = np.random.RandomState(run.seed)
        run.note("seed", NOTE.format(run.seed))
    return run.generators["numpy"]


def function_of(name: str) -> Any:
    """Return a function of ``np.random``."""
    if name in SPECIAL:
        return lambda run, *a, **n: SPECIAL[name](run, module_draws(run), *a, **n)
    return lambda run, *a, **n: draw(run, module_draws(run), name, a, n)


TABLE |= {f"numpy.random.{name}": function_of(name) for name in (*OLD, *SPECIAL)}


def seed(run: Run, seed: Any = None) -> None:
    """Set the seed of the module."""
    run.generators["numpy"] = by_numpy(run, lambda: np.random.RandomState(seed_of(run, seed)))


def make_state(run: Run, seed: Any = None) -> Draws:
    """Return a generator of the old kind."""
    return Draws(by_numpy(run, lambda: np.random.RandomState(seed_of(run, seed))), new=False)


def make_generator(run: Run, seed: Any = None) -> Draws:
    """Return a generator of the new kind."""
    if isinstance(seed, Draws):
        return seed
    return Draws(by_numpy(run, lambda: np.random.default_rng(seed_of(run, seed))), new=True)


STATE.make = make_state
TABLE |= {
    "numpy.random.seed": seed,
    "numpy.random.RandomState": STATE,
    "numpy.random.default_rng": make_generator,
    "numpy.random.Generator": GENERATOR,
    "numpy.random.get_state": lambda run, *_, **__: State(module_draws(run).get_state()),
    "numpy.random.set_state": lambda run, state: module_draws(run).set_state(state.state),
}
