"""Functions of NumPy: by NumPy itself where nothing is differentiated, by gradcli's table and its parts where it is.

``np.random``, by NumPy itself: generators that the run keeps, which begin at seed 0 where no seed is set.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.runner.converting import array_of
from gradcli.runner.events import note_draw
from gradcli.runner.library import TABLE, drawing, generator_of, methods_of_draws, unseeded
from gradcli.runner.numpy_values import as_view, back, by_numpy, estimate, flows, from_real, to_real, to_reals, work_of
from gradcli.runner.python.builtins import number_of
from gradcli.runner.python.calls import call_table, find_table
from gradcli.runner.python.containers import subscript, take, write_back
from gradcli.runner.python.operators import cut, rearrange, traced
from gradcli.runner.state import Run
from gradcli.runner.values import Class, TableFunction, Tensor

NAMES: dict[str, list[str]] = {
    kind: names.split() for kind, names in json.loads(Path(__file__).with_name("numpy_names.json").read_bytes()).items()
}
"""Names of NumPy: ``functions`` of arrays and numbers, those of ``linear`` algebra, ``methods`` that are functions too,
what changes in ``steps`` or not at all with what it is given, and what may give ``views`` of it."""
STEPS, VIEWS = frozenset(NAMES["steps"]), frozenset(NAMES["views"])
ORDERED = {"ravel": 1, "reshape": 2}
"""Functions that read entries in an order, with its place among their arguments."""
CUT = {"histogram", "histogram2d", "histogram_bin_edges"}
"""Functions whose results have a derivative that gradcli does not have."""


def tensors_in(values: Any, seen: set[int] | None = None) -> list[Tensor]:
    """Return the arrays among values, and those in lists, each of which is looked into once."""
    tensors: list[Tensor] = []
    seen = set() if seen is None else seen
    for value in values:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, list | tuple) and id(value) not in seen and {*map(type, value)} - {int, float}:
            seen.add(id(value))
            tensors += tensors_in(value, seen)
    return tensors


def any_flows(*values: Any) -> bool:
    """Return whether anything among values, or in lists of them, is differentiated."""
    return any(map(flows, tensors_in(values)))


class NumpyFunction:
    """A function of NumPy's."""

    def __init__(self, name: str, module: Any = np, prefix: str = "numpy") -> None:
        self.name = self.__name__ = name
        self.host: Any = getattr(module, name, None) or getattr(np, name, None)
        self.full = f"{prefix}.{name}"
        self.text = f"<ufunc '{name}'>" if isinstance(self.host, np.ufunc) else f"<function {name} at 0x7f0000000000>"

    def unknown(self, run: Run, rest: str = "") -> Exception:
        """Return the refusal of the function of what is differentiated."""
        library = "jnp" if self.full.startswith("jax") else "np"
        return run.refuse(f"{library}.{self.name}{rest} of what is differentiated is not part of gradcli")

    @property
    def table(self) -> TableFunction | None:
        """The function of gradcli's table of this name."""
        return find_table(self.full)

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call it, and write its result into ``out`` where that is given."""
        out = named.pop("out", None)
        made = self.result(run, arguments, named)
        if out is None:
            return made
        target = out[0] if isinstance(out, tuple) else out
        if isinstance(made, Tensor):
            write_back(run, target, made)
        return target

    def result(self, run: Run, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Return the result: by NumPy itself where nothing flows."""
        tensors = tensors_in((*arguments, *named.values()))
        of_torch = any(isinstance(x, Tensor) and x.library == "torch" for x in arguments)
        if of_torch and isinstance(self.host, np.ufunc) and not (run.held.through or any(traced(t) for t in tensors)):
            made = self.by_numpy(run, arguments, named)  # PyTorch wraps what NumPy makes, without truth values
            whole = made if isinstance(made, tuple) else (made,)
            wrapped = tuple([Tensor(t.node, "uint8" if t.dtype == "bool" else t.dtype) for t in whole])
            return wrapped if isinstance(made, tuple) else wrapped[0]
        if not any(flows(t) or (t.library in ("torch", "jax") and self.table is not None) for t in tensors):
            return self.by_numpy(run, arguments, named)
        if self.name in STEPS and not any(t.library == "torch" for t in tensors):
            return self.by_numpy(run, arguments, named)
        if any(traced(t) for t in tensors):
            if self.name in NEUTRAL and not {"where", "initial"}.isdisjoint(named):
                return reduced(run, self, *arguments, **named)
            if self.name in TRACED:
                return TRACED[self.name](run, *arguments, **named)
            if self.name in CUT:
                return cut(run, f"np.{self.name}", tensors, self.by_numpy(run, arguments, named))
        if self.table is None:
            raise self.unknown(run)
        return self.by_table(
            run, self.table, arguments, {k: v for k, v in named.items() if v is not None or k == "axis"}
        )

    def by_table(self, run: Run, table: TableFunction, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call the function of the table; entries that are read by columns are those of the turned array by rows."""
        named.pop("optimize", None)
        if self.name not in ORDERED:
            return call_table(run, table, list(arguments), named)
        x, *shape, order = arguments if len(arguments) > ORDERED[self.name] else (*arguments, named.pop("order", "C"))
        if order == "C":
            return call_table(run, table, [x, *shape], named)
        if order != "F":
            raise self.unknown(run, f" with order={order!r}")
        lengths = (*shape, *named.values(), -1)[0]
        lengths = tuple(lengths) if isinstance(lengths, tuple | list) else (lengths,)
        turned = run.function("np.reshape", run.function("np.transpose", x), lengths[::-1])
        return run.function("np.transpose", turned)

    def by_numpy(self, run: Run, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call NumPy."""
        given, options = to_reals(run, arguments, named)
        made = self.computed(run, given, options)
        if self.name in VIEWS and arguments and isinstance(arguments[0], Tensor) and isinstance(given[0], np.ndarray):
            return shared(run, arguments[0], given, options, made, self.host)
        return from_real(run, made)

    def computed(self, run: Run, given: list[Any], options: dict[str, Any]) -> Any:
        """Return what NumPy gives of its own values."""
        run.meter.charge(estimate(self.name, given, options))
        run.meter.spend(work_of(self.name, given, options))
        return by_numpy(run, lambda: self.host(*given, **options))

    attributes: dict[str, Any] = {  # noqa: RUF012
        "at": lambda run, me: lambda run, x, places, *values: add_at(run, me, x, places, *values),
        "nin": lambda run, me: me.host.nin,
        "nout": lambda run, me: me.host.nout,
        **{
            name: lambda run, me, name=name: lambda run, *a, **n: ufunc_method(run, me, name, *a, **n)
            for name in ("reduce", "accumulate", "outer", "reduceat")
        },
    }


WHOLE = {
    "reduce": {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
               "logical_or": "any"},
    "accumulate": {"add": "cumsum", "multiply": "cumprod"},
}  # fmt: skip
"""Functions of whole arrays that methods of functions of two numbers stand for."""


def ufunc_method(run: Run, function: NumpyFunction, name: str, x: Any, *arguments: Any, **named: Any) -> Any:
    """Do what ``np.add.reduce`` and its like do: where something flows, by the function that does the same."""
    if any_flows(x, *arguments):
        if name == "outer":
            a = run.function("reshape", x, *x.shape, *(1,) * len(arguments[0].shape))
            return function(run, a, *arguments, **named)
        if function.name not in WHOLE.get(name, {}):
            raise function.unknown(run, f".{name}")
        options = {"axis": 0} | named if not arguments else named
        return run.function(f"np.{WHOLE[name][function.name]}", x, *arguments, **options)
    given, options = to_reals(run, (x, *arguments), named)
    if name == "outer":
        run.meter.charge(int(np.size(given[0])) * int(np.size(given[1])))
    host = getattr(function.host, name)  # one of the four names above
    return from_real(run, by_numpy(run, lambda: host(*given, **options)))


def add_at(run: Run, function: NumpyFunction, x: Tensor, places: Any, *values: Any) -> None:
    """Do what ``np.add.at`` does: places that stand twice count twice."""
    if any_flows(x, *values):
        if function.name != "add":
            raise function.unknown(run, ".at")
        parts = places if isinstance(places, tuple) else (places,)
        index = tuple([array_of(run, part, "numpy") for part in parts])
        write_back(run, x, run.function("torch.index_put", x, index, values[0], accumulate=True))
        return
    change_in_place(run, function.host.at, x, (places, *values), {})


def change_in_place(run: Run, host: Any, x: Tensor, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Have NumPy change the array that it is given."""
    array, (given, options) = np.array(to_real(run, x)), to_reals(run, arguments, named)
    by_numpy(run, lambda: host(array, *given, **options))
    run.write(x, back(array))


def writing(name: str) -> Any:
    """Return a function that changes the array that it is given."""
    host = getattr(np, name)  # one of the names below

    def run_it(run: Run, x: Tensor, *arguments: Any, **named: Any) -> None:
        if any_flows(x, *arguments):
            write_traced(run, name, x, arguments, named)
        else:
            change_in_place(run, host, x, arguments, named)

    return run_it


def shared(run: Run, base: Tensor, given: list[Any], options: dict[str, Any], made: Any, host: Any) -> Any:
    """Return results as views of an array where they share its memory."""
    array = given[0]
    parts = list(made) if isinstance(made, list | tuple) else [made]
    if not any(isinstance(part, np.ndarray) and part.size and np.may_share_memory(part, array) for part in parts):
        return from_real(run, made)
    places = host(np.arange(array.size).reshape(array.shape), *given[1:], **options)
    if isinstance(made, np.ndarray):
        return base if made is array else as_view(run, base, made, places)
    return type(made)([as_view(run, base, part, where) for part, where in zip(made, places, strict=True)])


TABLE |= {
    function.full: function
    for name, module, prefix in (
        *((name, np, "numpy") for name in NAMES["functions"]),
        *((name, np.linalg, "numpy.linalg") for name in NAMES["linear"]),
    )
    if (function := NumpyFunction(name, module, prefix)).host is not None
}
for _old, _new in {
    "trapz": "trapezoid", "product": "prod", "cumproduct": "cumprod", "round_": "round", "in1d": "isin",
    "sometrue": "any", "alltrue": "all",
}.items():  # fmt: skip
    TABLE[f"numpy.{_old}"] = TABLE[f"numpy.{_new}"]
for _name in ("put", "place", "putmask", "fill_diagonal", "copyto", "put_along_axis"):
    TABLE[f"numpy.{_name}"] = writing(_name)


# ---- what the table does not have for what is differentiated, of parts that it has
def as_array(run: Run, x: Any) -> Tensor:
    """Return an array of NumPy's."""
    return run.array_of(x, "numpy")


def line(
    run: Run, start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0,
) -> Any:  # fmt: skip
    """Return numbers an equal distance apart, as ``linspace`` does."""
    del dtype
    span = run.operate("-", stop, start)
    parts = by_numpy(run, lambda: np.linspace(0.0, 1.0, num, endpoint=bool(endpoint)))
    run.meter.charge(parts.size * int(np.size(span.value)))
    steps = from_real(run, parts.reshape(-1, *(1,) * len(span.shape)))
    made = run.operate("+", start, run.operate("*", steps, span))
    if axis:
        made = run.function("np.moveaxis", made, 0, axis)
    return (made, run.operate("/", span, num - 1 if endpoint else num)) if retstep else made


def steps_from(run: Run, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Return numbers from a start by a step, as ``arange`` does."""
    del dtype
    start, stop = (0.0, start) if stop is None else (start, stop)
    count = len(by_numpy(run, lambda: np.arange(to_real(run, start), to_real(run, stop), to_real(run, step))))
    run.meter.charge(count)
    places = from_real(run, np.arange(count, dtype=np.float64))
    return run.operate("+", run.operate("*", places, step), start)


def counts(run: Run, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Return the sums of the weights of each whole number, as ``bincount`` does."""
    places = as_array(run, x)
    size = len(by_numpy(run, lambda: np.bincount(to_real(run, places), minlength=minlength)))
    zeros = from_real(run, np.zeros(size))
    return run.function("torch.index_put", zeros, (places,), as_array(run, weights), accumulate=True)


def entries_at(run: Run, x: Any, places: Any) -> Any:
    """Return the entries of an array, in one row, at places."""
    return subscript(run, run.function("np.reshape", as_array(run, x), (-1,)), from_real(run, places))


def distinct(run: Run, x: Any, return_index: bool = False, **options: Any) -> Any:
    """Return the numbers that an array has, each once, as ``unique`` does."""
    x = as_array(run, x)
    made = by_numpy(run, lambda: np.unique(to_real(run, x), return_index=True, **options))
    if options.get("axis") is not None:
        raise run.refuse("np.unique along an axis of what is differentiated is not part of gradcli")
    numbers = entries_at(run, x, made[1])
    others = [from_real(run, part) for part in made[1 if return_index else 2 :]]
    return (numbers, *others) if others else numbers


def interpolated(run: Run, x: Any, xp: Any, fp: Any, **options: Any) -> Any:
    """Return what lies between the points of a line, as ``interp`` does."""
    if options:
        raise run.refuse("np.interp with options of what is differentiated is not part of gradcli")
    x, xp, fp = as_array(run, x), as_array(run, xp), as_array(run, fp)
    given, points = np.asarray(to_real(run, x)), np.asarray(to_real(run, xp))
    place = np.clip(np.searchsorted(points, given, side="right") - 1, 0, len(points) - 2)
    (left, right), (low, high) = (
        [subscript(run, line, from_real(run, np.asarray(place + k))) for k in (0, 1)] for line in (xp, fp)
    )
    share = run.operate("/", run.operate("-", x, left), run.operate("-", right, left))
    made = run.operate("+", low, run.operate("*", share, run.operate("-", high, low)))
    for outside, end in ((given <= points[0], 0), (given >= points[-1], -1)):
        made = run.function("np.where", from_real(run, np.asarray(outside)), subscript(run, fp, end), made)
    return made


def polynomial(run: Run, p: Any, x: Any) -> Any:
    """Return a polynomial by its coefficients, the highest first, as ``polyval`` does."""
    made: Any = 0.0
    for coefficient in run.take(p):
        made = run.operate("+", run.operate("*", made, x), coefficient)
    return made


def blocks(run: Run, arrays: Any) -> Any:
    """Return arrays in nested lists joined, those of the innermost lists along the last axis, as ``block`` does."""

    def depth(part: Any) -> int:
        return 1 + depth(part[0]) if isinstance(part, list) else 0

    def joined(part: Any, level: int) -> Any:
        if not isinstance(part, list):
            array = as_array(run, part)
            return run.function("np.reshape", array, (*(1,) * (deepest - len(array.shape)), *array.shape))
        return run.function("np.concatenate", [joined(one, level - 1) for one in part], axis=-level)

    deepest = max(depth(arrays), *[len(x.shape) for x in tensors_in([arrays])])
    return joined(arrays, depth(arrays))


NEUTRAL = {
    "sum": (0.0, "np.add"), "mean": (0.0, ""), "prod": (1.0, "np.multiply"), "max": (-np.inf, "np.maximum"),
    "amax": (-np.inf, "np.maximum"), "min": (np.inf, "np.minimum"), "amin": (np.inf, "np.minimum"),
}  # fmt: skip
"""Reductions: the number that changes none of them, and the function that takes one number more into account."""


def reduced(
    run: Run, function: NumpyFunction, x: Any, *arguments: Any, where: Any = None, initial: Any = None, **named: Any
) -> Any:
    """Return a reduction of the entries where a condition holds, beginning with a number."""
    x, (neutral, join) = as_array(run, x), NEUTRAL[function.name]
    if where is not None:
        x = run.function("np.where", where, x, neutral)
    if where is None or function.name != "mean":
        made = function(run, x, *arguments, **named)
    else:
        mask = from_real(run, np.broadcast_to(np.asarray(to_real(run, where), np.float64), x.shape).copy())
        total, count = (run.function("np.sum", part, *arguments, **named) for part in (x, mask))
        made = run.operate("/", total, count)
    return made if initial is None else run.function(join, made, initial)


def write_traced(run: Run, name: str, x: Tensor, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Write what is differentiated: the function itself says which entry goes where, by their numbers."""
    values = as_array(run, arguments[-1])
    if named or any(traced(a) for a in arguments[:-1]) or not flows(values):
        raise run.refuse(f"np.{name} of what is differentiated is not part of gradcli")
    places = np.full(x.shape, -1)
    rest = [to_real(run, a) for a in arguments[:-1]]
    numbers = np.arange(np.size(values.value)).reshape(values.shape)
    by_numpy(run, lambda: getattr(np, name)(places, *rest, numbers))  # one of the functions that write
    read = entries_at(run, values, np.maximum(places, 0))
    run.write(x, run.function("np.where", from_real(run, places >= 0), read, x).node)


TRACED: dict[str, Callable[..., Any]] = {
    "linspace": line, "arange": steps_from, "bincount": counts, "unique": distinct, "interp": interpolated,
    "polyval": polynomial, "block": blocks,
    "logspace": lambda run, start, stop, num=50, endpoint=True, base=10.0: run.operate(
        "**", base, line(run, start, stop, num, endpoint)
    ),
    "extract": lambda run, condition, x: entries_at(run, x, np.flatnonzero(np.asarray(to_real(run, condition)))),
    "compress": lambda run, condition, x, **named: run.function(
        "np.compress", from_real(run, np.asarray(to_real(run, condition), np.bool_)), x, **named
    ),
    "correlate": lambda run, a, v, mode="valid": run.function("np.convolve", a, run.function("np.flip", v), mode),
    "divmod": lambda run, x, y: (run.operate("//", x, y), run.operate("%", x, y)),
}  # fmt: skip


# ---- ``np.random``

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
TABLE |= {
    f"numpy.random.{name}": drawing(work, lambda run: generator_of(run, "numpy", "NumPy", np.random.RandomState))
    for name, work in OF_MODULE.items()
}
TABLE |= {
    "numpy.random.seed": seed, "numpy.random.RandomState": OldDraws.script_class,
    "numpy.random.default_rng": make_generator, "numpy.random.Generator": Draws.script_class,
}  # fmt: skip
