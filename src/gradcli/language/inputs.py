"""Values from outside: inputs and v as arrays of double precision, checked."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.meter import Meter
from gradcli.errors import Budget, GradcliError
from gradcli.errors.counting import counted
from gradcli.errors.facts import MisshapenV, MissingV
from gradcli.ops.declare import Array


def as_input(name: str, value: object) -> Array:
    """Return a value as an array of finite real numbers, the same one if it is that; raises ``value`` otherwise."""
    array = as_array(name, value)
    require_finite(name, array)
    return array


def doubles(array: object) -> Array:
    """Return an array of numbers in double precision, the same one if it is that."""
    return np.asarray(array, dtype=np.float64)[()]


def as_array(name: str, value: object) -> Array:
    """Return a value as an array of real numbers in double precision; raises ``value`` for anything else."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.ndim and value.size:
        return value
    try:
        found = np.asarray(detached(value))
    except (TypeError, ValueError, OverflowError):
        raise GradcliError("value", f"{name} is not an array of real numbers") from None
    if found.dtype.kind not in "iuf":
        raise GradcliError("value", f"{name} is not an array of real numbers")
    if not found.size:
        Meter(Budget()).charge_empty(found.shape)
    with np.errstate(over="ignore"):  # of a longer double: inf, which is refused
        return found.astype(np.float64)[()]


def detached(value: Any) -> Any:
    """Return a tensor of PyTorch's that requires a gradient without it, and any other value as it is."""
    return value.detach() if getattr(value, "requires_grad", False) else value


def require_finite(name: str, array: Array) -> None:
    """Raise ``value`` where an entry is inf or nan."""
    if not all_finite(array):
        raise GradcliError("value", f"{name} must be finite: it has {first_non_finite(np.asarray(array))}")


def all_finite(array: Array) -> bool:
    """Return whether every entry is finite; their sum of squares says yes with one pass over the memory."""
    return math.isfinite(np.vdot(array, array)) or bool(np.all(np.isfinite(array)))


def first_non_finite(array: Array) -> str:
    """Return the first entry that is not finite and its place."""
    place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0]) if array.ndim else ()
    return f"{array[place]} at {list(place)}" if place else str(array)


class Cotangent(NamedTuple):
    """One v: as it counts (``seed``, in the shape of y), as it is shown, and how it came about.

    - ``seed``: v in the shape of y.
    - ``shown``: v as an answer shows it: several entries for a y with one are shown as they came.
    - ``source``: ``given``, ``default``, ``reshaped`` or ``broadcast``.
    - ``came``: the shape in which it was given.

    >>> gradcli.explain("x**2", x=[1.0, 2.0], v=[[1], [10]]).backward[0].v.source
    'reshaped'
    """

    seed: Array
    shown: Array
    source: str
    came: tuple[int, ...] = ()


MOST_CALLS = 1_000
"""Entries of y up to which an identity in the place of v is a call for each."""


def each_call(value: object, shape: tuple[int, ...]) -> list[object]:
    """Return the calls that a v stands for: itself, or one with each row of the identity of n×n for n entries of y."""
    size = math.prod(shape)
    if not 1 < size <= MOST_CALLS or np.shape(detached(value)) != (size, size):
        return [value]
    rows = np.asarray(detached(value))
    return [row.reshape(shape) for row in rows] if np.array_equal(rows, np.eye(size)) else [value]


def read_v(value: object, shape: tuple[int, ...], strict: bool, name: str = "y") -> Cotangent:
    """Return v for an output of ``shape``, which errors call by its ``name``.

    A missing v is 1 for an output with one entry. As many entries in another shape are reshaped. Several entries for
    a single output mean J once for each of them, as in early PyTorch: the seed is their sum. ``strict`` refuses both.
    Raises ``missing-v`` or ``shape``.
    """
    size = math.prod(shape)
    if value is None:
        if size != 1:
            raise GradcliError(
                "missing-v",
                f"{name} has shape {shape}, so backward() needs a v of that shape: a weight for each of the "
                f"{counted(size, 'entry')}",
                facts=MissingV(shape, name),
            )
        one = np.ones(shape)
        return Cotangent(one, one, "default")
    v = np.asarray(as_input("v", value))
    if v.shape == shape:
        return Cotangent(v, v, "given", v.shape)
    mismatch = MisshapenV(v.shape, shape, name)
    if v.size == size and not strict:
        return Cotangent(v.reshape(shape), v.reshape(shape), "reshaped", v.shape)
    if size == 1 and v.size > 1 and not strict:
        with np.errstate(all="ignore"):
            return Cotangent(np.full(shape, np.sum(v)), v, "broadcast", v.shape)
    raise GradcliError("shape", f"v has shape {v.shape}, {name} has shape {shape}", facts=mismatch)
