"""``jax.random``: keys and draws. The numbers are NumPy's, for the same key always the same; a note says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.runner.events import note_draw
from gradcli.runner.libraries.jax_arrays import array, canonical, lengths, numbers
from gradcli.runner.library import TABLE, native
from gradcli.runner.python.operators import plain_in_jax
from gradcli.runner.state import Run
from gradcli.runner.values import Tensor, strong

OTHERS = "JAX's random numbers are drawn by NumPy here: for the same keys JAX draws others"


@native("jax.random.PRNGKey", "jax.random.key")
def key(run: Run, seed: Any, **_: Any) -> Tensor:
    """Return the key of a seed."""
    return Tensor(np.array([0, int(numbers(seed)) & 0x7FFFFFFF]), "int64", "jax")


def source(run: Run, one: Tensor) -> np.random.Generator:
    """Return what draws for a key."""
    run.note("seed", OTHERS)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([int(n) for n in np.ravel(one.value)])))


@native("jax.random.split")
def split(run: Run, key: Tensor, num: Any = 2) -> Tensor:
    """Return new keys of one."""
    shape = (num,) if isinstance(num, int) else tuple(num)
    made = source(run, key).integers(0, 2**31 - 1, size=(*shape, 2))
    return Tensor(made.astype(np.int64), "int64", "jax")


@native("jax.random.fold_in")
def fold_in(run: Run, key: Tensor, data: Any) -> Tensor:
    """Return the key of a key and a number."""
    parts = [*[int(n) for n in np.ravel(key.value)], int(numbers(data)) & 0x7FFFFFFF]
    made = np.random.SeedSequence(parts).generate_state(2, np.uint32) >> 1
    return Tensor(made.astype(np.int64), "int64", "jax")


def drawing(draw: Callable[..., Any], order: str, **defaults: Any) -> Callable[..., Tensor]:
    """Return a function that draws floats; ``order`` names its parameters after the key."""
    names = order.split()

    def run_it(run: Run, key: Tensor, *arguments: Any, **named: Any) -> Tensor:
        values = defaults | dict(zip(names, arguments, strict=False)) | named
        shape, dtype = values.get("shape"), values.get("dtype")
        passed = [values[name] for name in names if name not in ("shape", "dtype")]
        given = [np.asarray(v.value) if isinstance(v, Tensor) else v for v in passed]
        size = np.broadcast_shapes(*map(np.shape, given)) if shape is None else lengths(run, shape)
        array = np.asarray(draw(source(run, key), size, *given), dtype=np.float64)
        made = run.make(array, canonical(run, dtype) or strong(plain_in_jax(run, 1.0)), "jax")
        note_draw(run, made)
        return made

    return run_it


TABLE["jax.random.uniform"] = drawing(
    lambda g, n, low, high: low + (high - low) * g.random(n), "shape dtype minval maxval", minval=0.0, maxval=1.0
)
for _name, _draw, _order in (
    ("normal", lambda g, n: g.standard_normal(n), "shape dtype"),
    ("truncated_normal", lambda g, n, low, high: np.clip(g.standard_normal(n), low, high), "lower upper shape dtype"),
    ("exponential", lambda g, n: g.exponential(size=n), "shape dtype"),
    ("gamma", lambda g, n, a: g.gamma(a, size=n), "a shape dtype"),
    ("beta", lambda g, n, a, b: g.beta(a, b, size=n), "a b shape dtype"),
    ("laplace", lambda g, n: g.laplace(size=n), "shape dtype"),
    ("gumbel", lambda g, n: g.gumbel(size=n), "shape dtype"),
    ("cauchy", lambda g, n: g.standard_cauchy(size=n), "shape dtype"),
    ("rademacher", lambda g, n: 2.0 * g.integers(0, 2, size=n) - 1, "shape dtype"),
):
    TABLE[f"jax.random.{_name}"] = drawing(_draw, _order)


@native("jax.random.randint")
def randint(run: Run, key: Tensor, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Tensor:
    """Draw integers."""
    made = source(run, key).integers(numbers(minval), numbers(maxval), size=lengths(run, shape))
    return run.make(np.asarray(made, dtype=np.int64), canonical(run, dtype) or strong(plain_in_jax(run, 1)), "jax")


@native("jax.random.bernoulli")
def bernoulli(run: Run, key: Tensor, p: Any = 0.5, shape: Any = None) -> Tensor:
    """Draw truth values."""
    chance = np.asarray(p.value) if isinstance(p, Tensor) else p
    size = np.shape(chance) if shape is None else lengths(run, shape)
    return Tensor(np.asarray(source(run, key).random(size) < chance), "bool", "jax")


@native("jax.random.permutation")
def permutation(run: Run, key: Tensor, x: Any, axis: int = 0, independent: bool = False) -> Tensor:
    """Draw an order, or put an array into one."""
    if isinstance(x, int):
        run.meter.charge(x)
        return run.make(source(run, key).permutation(x), strong(plain_in_jax(run, 1)), "jax")
    rows = array(run, x)
    order = source(run, key).permutation(rows.shape[axis])
    return run.function("jax.numpy.take", rows, Tensor(order, "int64", "jax"), axis=axis)  # type: ignore[no-any-return]


@native("jax.random.choice")
def choice(
    run: Run, key: Tensor, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0
) -> Tensor:
    """Draw entries of an array."""
    rows = None if isinstance(a, int) else array(run, a)
    count = a if rows is None else rows.shape[axis]
    chances = None if p is None else np.asarray(p.value, np.float64) / np.sum(np.asarray(p.value, np.float64))
    places = source(run, key).choice(count, size=lengths(run, shape), replace=replace, p=chances)
    where = run.make(np.asarray(places, dtype=np.int64), strong(plain_in_jax(run, 1)), "jax")
    return where if rows is None else run.function("jax.numpy.take", rows, where, axis=axis)


@native("jax.random.categorical")
def categorical(run: Run, key: Tensor, logits: Any, axis: int = -1, shape: Any = None) -> Tensor:
    """Draw classes by the logarithms of their chances."""
    given = np.asarray(array(run, logits).value, np.float64)
    size = given.shape if shape is None else (*lengths(run, shape), given.shape[axis])
    made = np.argmax(given + source(run, key).gumbel(size=size), axis=axis)
    return run.make(np.asarray(made, dtype=np.int64), strong(plain_in_jax(run, 1)), "jax")


def initializer(kind: str, scale: str) -> Callable[..., Any]:
    """Return a maker of initial weights of ``jax.nn.initializers``."""

    def make(run: Run, *_: Any, **__: Any) -> Any:
        def init(run: Run, key: Tensor, shape: Any, dtype: Any = None) -> Tensor:
            size = lengths(run, shape)
            ins, outs = (size[-2], size[-1]) if len(size) > 1 else (size[0], size[0])
            variance = {"glorot": 2.0 / (ins + outs), "he": 2.0 / ins, "lecun": 1.0 / ins}[scale]
            g = source(run, key)
            made = (
                g.standard_normal(size) * np.sqrt(variance)
                if kind == "normal"
                else (2 * g.random(size) - 1) * np.sqrt(3 * variance)
            )
            return run.make(made, canonical(run, dtype) or strong(plain_in_jax(run, 1.0)), "jax")

        return init

    return make


for _scale in ("glorot", "he", "lecun"):
    for _kind in ("normal", "uniform"):
        TABLE[f"jax.nn.initializers.{_scale}_{_kind}"] = initializer(_kind, _scale)
