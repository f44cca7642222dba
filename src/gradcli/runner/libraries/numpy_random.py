"""``np.random``, by NumPy itself: generators that the run keeps, which begin at seed 0 where no seed is set."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gradcli.runner.events import note_draw
from gradcli.runner.libraries.numpy_functions import tensors_in
from gradcli.runner.library import TABLE, drawing, generator_of, methods_of_draws, unseeded
from gradcli.runner.numpy_values import by_numpy, from_real, to_real, to_reals
from gradcli.runner.python.builtins import number_of
from gradcli.runner.python.containers import subscript, take
from gradcli.runner.python.operators import cut, rearrange, traced
from gradcli.runner.state import Run
from gradcli.runner.values import Class, Tensor

BOTH = (
    "random", "uniform", "normal", "standard_normal", "binomial", "poisson", "exponential", "standard_exponential",
    "beta", "gamma", "standard_gamma", "dirichlet", "multinomial", "multivariate_normal", "laplace", "lognormal",
    "logistic", "gumbel", "chisquare", "geometric", "pareto", "power", "rayleigh", "standard_cauchy", "standard_t",
    "triangular", "vonmises", "weibull", "negative_binomial", "f", "wald", "zipf",
)  # fmt: skip
OLD = ("rand", "randn", "randint", "random_sample", "ranf", "sample", "random_integers")
"""Draws of ``RandomState`` and of the module that the generators of ``default_rng`` do not have."""


def draw(run: Run, host: Any, *arguments: Any, name: str, **named: Any) -> Any:
    """Draw numbers."""
    given, options = to_reals(run, arguments, named)
    if name in ("rand", "randn"):
        shape: Any = given
    else:
        place = 2 if name in ("randint", "integers") else len(given) - 1
        shape = options.get("size", given[place] if 0 <= place < len(given) else ())
    lengths = shape if isinstance(shape, tuple | list) else [shape]
    run.meter.charge(math.prod(abs(n) for n in lengths if isinstance(n, int)))
    made = by_numpy(run, lambda: getattr(host, name)(*given, **options))  # one of the names above
    return cut(run, f"np.random.{name}", tensors_in((*arguments, *named.values())), drawn(run, made))


def drawn(run: Run, made: Any) -> Any:
    """Return what was drawn as values of a script."""
    values = from_real(run, made)
    if isinstance(values, Tensor):
        note_draw(run, values)
    return values


def choice(
    run: Run, host: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, *more: Any, **named: Any
) -> Any:
    """Draw items by their chances: what is no number is drawn by its place."""
    options = {key: to_real(run, value) for key, value in (named | {"size": size, "replace": replace, "p": p}).items()}
    if not isinstance(a, int) and any(map(traced, tensors_in([a]))):
        array, axis = run.array_of(a, "numpy"), named.get("axis", 0)
        places = by_numpy(run, lambda: host.choice(array.shape[axis], **options))
        return run.function("np.take", array, from_real(run, np.asarray(places)), axis=axis)
    if not isinstance(a, list | tuple) or all(isinstance(item, int | float | Tensor) for item in a):
        return drawn(run, by_numpy(run, lambda: host.choice(to_real(run, a), **options)))
    places = by_numpy(run, lambda: host.choice(len(a), **options))
    return a[int(places)] if np.ndim(places) == 0 else picked(a, places.tolist())


def picked(items: Any, places: Any) -> Any:
    """Return items at nested places."""
    return [picked(items, place) if isinstance(place, list) else items[place] for place in places]


def shuffle(run: Run, host: Any, x: Any, axis: int = 0) -> None:
    """Put the rows of an array, or a list, in a drawn order."""
    length = run.call(run.builtin("len"), [x])
    if isinstance(x, list):
        places = list(range(length))
        host.shuffle(places)
        x[:] = [x[k] for k in places]
        return
    if axis:
        raise run.refuse("shuffle along another axis is not part of gradcli")
    order = np.arange(length).reshape(-1, *(1,) * (len(x.shape) > 1))
    host.shuffle(order)
    rearrange(run, x, subscript(run, x, from_real(run, order.ravel())))


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


class State:
    """What a generator stood at."""

    def __init__(self, state: Any) -> None:
        self.state = state


def seed_of(run: Run, seed: Any) -> Any:
    """Return a seed as NumPy takes it: 0 where there is none, with a note."""
    if seed is None:
        return unseeded(run, "NumPy")
    if isinstance(seed, list | tuple):
        return [number_of(run, one) for one in take(run, seed)]
    return number_of(run, seed) if isinstance(seed, Tensor) else seed


EITHER: dict[str, Any] = {
    **{name: partial(draw, name=name) for name in BOTH},
    "choice": choice, "shuffle": shuffle, "permutation": permutation,
    "get_state": lambda run, host, *_, **__: State(host.get_state()),
    "set_state": lambda run, host, state: host.set_state(state.state),
}  # fmt: skip
OF_MODULE = EITHER | {name: partial(draw, name=name) for name in OLD}
OF_GENERATOR = EITHER | {"integers": partial(draw, name="integers")}
"""Functions of a generator of NumPy's: ``work(run, host, …)``."""
OF_OBJECTS: dict[str, Any] = {
    "permuted": lambda run, host, x, **named: cut(
        run, "permuted", [x], from_real(run, by_numpy(run, lambda: host.permuted(to_real(run, x), **named)))
    ),
    "seed": lambda run, host, seed=None: host.seed(seed_of(run, seed)),
    "spawn": lambda run, host, n: [Draws(one) for one in host.spawn(n)],
}


class Draws:
    """A generator of NumPy's that ``default_rng`` gives."""

    script_class = Class("Generator", [], {}, qualified="numpy.random._generator.Generator")
    text = "Generator(PCG64) at 0x7F0000000000"

    def __init__(self, host: Any) -> None:
        self.host = host

    attributes = methods_of_draws(OF_GENERATOR | OF_OBJECTS) | {"bit_generator": lambda run, me: State(me.host)}


class OldDraws(Draws):
    """A generator of the old kind: ``RandomState``."""

    script_class = Class("RandomState", [], {}, qualified="numpy.random.mtrand.RandomState")
    text = "RandomState(MT19937) at 0x7F0000000000"
    attributes = methods_of_draws(OF_MODULE | OF_OBJECTS)


def module_draws(run: Run) -> Any:
    """Return the generator of the module."""
    return generator_of(run, "numpy", "NumPy", np.random.RandomState)


def seed(run: Run, seed: Any = None) -> None:
    """Set the seed of the module."""
    run.generators["numpy"] = by_numpy(run, lambda: np.random.RandomState(seed_of(run, seed)))


def make_generator(run: Run, seed: Any = None) -> Draws:
    """Return a generator of the new kind."""
    if isinstance(seed, Draws):
        return seed
    return Draws(by_numpy(run, lambda: np.random.default_rng(seed_of(run, seed))))


OldDraws.script_class.make = lambda run, seed=None: OldDraws(
    by_numpy(run, lambda: np.random.RandomState(seed_of(run, seed)))
)
TABLE |= {f"numpy.random.{name}": drawing(work, module_draws) for name, work in OF_MODULE.items()}
TABLE |= {
    "numpy.random.seed": seed, "numpy.random.RandomState": OldDraws.script_class,
    "numpy.random.default_rng": make_generator, "numpy.random.Generator": Draws.script_class,
}  # fmt: skip
