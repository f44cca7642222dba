"""Arrays that are made like another one, and numbers on a scale of powers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import number, whole
from gradcli.ops.declare import Apply
from gradcli.ops.further.casting import as_array, as_kind, kind_of
from gradcli.ops.making import build_full, constant, lengths
from gradcli.ops.shaping import CLONE
from gradcli.ops.signatures import Raw, Static, Tensor
from gradcli.ops.vocabulary import Builder, function


@function("range", "", "making")
def build_range(f: Apply, start: Static, end: Static = None, step: Static = 1) -> Tensor:
    """integers from start up to, not including, end"""
    first, last = (0, start) if end is None else (start, end)
    bounds = whole(first, "start"), whole(last, "end"), whole(step, "step")
    if not bounds[2]:
        raise GradcliError("value", "the step of range cannot be 0")
    f.charge(len(range(*bounds)))
    return np.arange(*bounds)


def constants(value: float) -> Builder:
    """Return the builder of new_zeros or new_ones."""

    def build(f: Apply, x: Raw, *shape: Static) -> Tensor:
        wanted = lengths(shape)
        f.charge(math.prod(wanted))
        return as_kind(f, np.full(wanted, value), kind_of(as_array(x)))

    build.__doc__ = f"{'ones' if value else 'zeros'} of the kind of x"
    return build


function("new_zeros new_empty", "not-bare method dtype", "making")(constants(0.0))
function("new_ones", "not-bare method dtype", "making")(constants(1.0))


@function("new_full", "not-bare method dtype", "making", kinds="same same first")
def build_new_full(f: Apply, x: Tensor, shape: Static, fill_value: Tensor) -> Tensor:
    """one number everywhere, of the kind of x"""
    del x
    return build_full(f, shape, fill_value)


@function("new_tensor", "not-bare method dtype", "making")
def build_new_tensor(f: Apply, x: Raw, data: Raw) -> Tensor:
    """a list as an array of the kind of x"""
    found = as_kind(f, as_array(constant(data, "new_tensor")), kind_of(as_array(x)))
    return f(CLONE, found) if kind_of(found) == "float" else np.array(found)


def powers(f: Apply, bounds: tuple[Static, Static], steps: Static, base: Static) -> Any:
    """Return powers of a base whose exponents are evenly apart."""
    count = lengths((whole(steps, "steps"),))[0]
    f.charge(count)
    first, last = (number(bound, "a bound") for bound in bounds)
    return np.power(number(base, "base"), np.linspace(first, last, count))


@function("logspace", "torch dtype", "making")
def build_logspace(f: Apply, start: Static, end: Static, steps: Static, base: Static = 10.0) -> Tensor:
    """steps powers of base, from base**start to base**end"""
    return powers(f, (start, end), steps, base)


@function("np.logspace numpy.logspace jnp.logspace", "dtype", "making")
def build_numpy_logspace(
    f: Apply, start: Static, stop: Static, num: Static = 50, endpoint: Static = True, base: Static = 10.0
) -> Tensor:
    """num powers of base, from base**start to base**stop"""
    if endpoint:
        return powers(f, (start, stop), num, base)
    found: Tensor = powers(f, (start, stop), whole(num, "num") + 1, base)[:-1]
    if not isinstance(found, np.ndarray):
        raise GradcliError("value", "np.logspace takes numbers")
    return found
