"""Functions of NumPy that the table does not have for what is differentiated, of parts that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.runner.numpy_values import by_numpy, flows, from_real, to_real
from gradcli.runner.python.containers import subscript
from gradcli.runner.python.operators import traced
from gradcli.runner.state import Run
from gradcli.runner.values import Tensor


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
    axes = len(span.shape)
    parts = by_numpy(run, lambda: np.linspace(0.0, 1.0, num, endpoint=bool(endpoint)))
    run.meter.charge(parts.size * int(np.size(span.value)))
    steps = from_real(run, parts.reshape(-1, *(1,) * axes))
    made = run.operate("+", start, run.operate("*", steps, span))
    if axis:
        made = run.function("np.moveaxis", made, 0, axis)
    return (made, run.operate("/", span, num - 1 if endpoint else num)) if retstep else made


def powers(run: Run, start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0) -> Any:
    """Return powers whose exponents are an equal distance apart, as ``logspace`` does."""
    return run.operate("**", base, line(run, start, stop, num, endpoint))


def quotients(run: Run, start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    """Return numbers of equal quotients, as ``geomspace`` does."""
    steps = from_real(run, by_numpy(run, lambda: np.linspace(0.0, 1.0, num, endpoint=bool(endpoint))))
    return run.operate("*", start, run.operate("**", run.operate("/", stop, start), steps))


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


def distinct(run: Run, x: Any, return_index: bool = False, **options: Any) -> Any:
    """Return the numbers that an array has, each once, as ``unique`` does."""
    x = as_array(run, x)
    made = by_numpy(run, lambda: np.unique(to_real(run, x), return_index=True, **options))
    if options.get("axis") is not None:
        raise run.refuse("np.unique along an axis of what is differentiated is not part of gradcli")
    numbers = subscript(run, run.function("np.reshape", x, (-1,)), from_real(run, made[1]))
    others = [from_real(run, part) for part in made[1 if return_index else 2 :]]
    return (numbers, *others) if others else numbers


def parted(run: Run, x: Any, kth: Any, axis: int = -1) -> Any:
    """Return an array with what is smaller before entry ``kth``, as ``partition`` does."""
    x = as_array(run, x)
    order = by_numpy(run, lambda: np.argpartition(to_real(run, x), kth, axis))
    return run.function("np.take_along_axis", x, from_real(run, order), axis)


def split_whole(run: Run, x: Any) -> Any:
    """Return the fractions and the whole parts, as ``modf`` does."""
    whole = from_real(run, np.trunc(to_real(run, x)))
    return run.operate("-", x, whole), whole


def split_powers(run: Run, x: Any) -> Any:
    """Return numbers as fractions and powers of two, as ``frexp`` does."""
    exponents = np.frexp(to_real(run, x))[1]
    return run.operate("*", x, from_real(run, np.ldexp(1.0, -exponents))), from_real(run, exponents)


def scaled(run: Run, x: Any, exponents: Any) -> Any:
    """Return numbers times powers of two, as ``ldexp`` does."""
    return run.operate("*", x, from_real(run, np.ldexp(1.0, to_real(run, exponents))))


def neighbour(run: Run, x: Any, y: Any) -> Any:
    """Return the double next to each number, as ``nextafter`` does."""
    given = to_real(run, x)
    return run.operate("+", x, from_real(run, np.nextafter(given, to_real(run, y)) - given))


def picked(run: Run, condition: Any, x: Any) -> Any:
    """Return the entries where a condition holds, as ``extract`` does."""
    places = np.flatnonzero(np.asarray(to_real(run, condition)))
    return subscript(run, run.function("np.reshape", as_array(run, x), (-1,)), from_real(run, places))


def chosen(run: Run, places: Any, choices: Any, **_: Any) -> Any:
    """Return for each place the entry of the choice that it names, as ``choose`` does."""
    parts = choices if isinstance(choices, list | tuple) else run.take(choices)
    made, numbers = parts[-1], as_array(run, places)
    for k, part in reversed(list(enumerate(parts[:-1]))):
        made = run.function("np.where", run.operate("==", numbers, k), part, made)
    return made


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
    made = run.function("np.where", from_real(run, np.asarray(given <= points[0])), subscript(run, fp, 0), made)
    return run.function("np.where", from_real(run, np.asarray(given >= points[-1])), subscript(run, fp, -1), made)


def polynomial(run: Run, p: Any, x: Any) -> Any:
    """Return a polynomial by its coefficients, the highest first, as ``polyval`` does."""
    made: Any = 0.0
    for coefficient in run.take(p):
        made = run.operate("+", run.operate("*", made, x), coefficient)
    return made


NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "amax": -np.inf, "min": np.inf, "amin": np.inf}
JOINED = {"sum": "np.add", "prod": "np.multiply", "max": "np.maximum", "amax": "np.maximum", "min": "np.minimum",
          "amin": "np.minimum"}  # fmt: skip


def reduced(run: Run, name: str, x: Any, *arguments: Any, where: Any = None, initial: Any = None, **named: Any) -> Any:
    """Return a reduction of the entries where a condition holds, beginning with a number."""
    x = as_array(run, x)
    if where is not None:
        x = run.function("np.where", where, x, NEUTRAL[name])
    if where is None or name != "mean":
        made = run.function(f"np.{name}", x, *arguments, **named)
    else:
        mask = from_real(run, np.broadcast_to(np.asarray(to_real(run, where), np.float64), x.shape).copy())
        total, count = (run.function("np.sum", part, *arguments, **named) for part in (x, mask))
        made = run.operate("/", total, count)
    return made if initial is None else run.function(JOINED[name], made, initial)


def write_traced(run: Run, name: str, x: Tensor, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Write what is differentiated: the function itself says which entry goes where, by their numbers."""
    values = as_array(run, arguments[-1])
    if named or any(traced(a) for a in arguments[:-1]) or not flows(values):
        raise run.refuse(f"np.{name} of what is differentiated is not part of gradcli")
    places = np.full(x.shape, -1)
    rest = [to_real(run, a) for a in arguments[:-1]]
    numbers = np.arange(np.size(values.value)).reshape(values.shape)
    by_numpy(run, lambda: getattr(np, name)(places, *rest, numbers))  # one of the functions that write
    read = subscript(run, run.function("np.reshape", values, (-1,)), from_real(run, np.maximum(places, 0)))
    run.write(x, run.function("np.where", from_real(run, places >= 0), read, x).node)


TRACED: dict[str, Callable[..., Any]] = {
    "linspace": line, "logspace": powers, "geomspace": quotients, "arange": steps_from, "bincount": counts,
    "unique": distinct, "partition": parted, "modf": split_whole, "frexp": split_powers, "ldexp": scaled,
    "nextafter": neighbour, "extract": picked,
    "compress": lambda run, condition, x, **named: run.function(
        "np.compress", from_real(run, np.asarray(to_real(run, condition), np.bool_)), x, **named
    ), "choose": chosen, "interp": interpolated, "polyval": polynomial,
    "divmod": lambda run, x, y: (run.operate("//", x, y), run.operate("%", x, y)),
}  # fmt: skip
