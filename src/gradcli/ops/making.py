"""Functions that make arrays from shapes and numbers, and names of constants."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import without_slope
from gradcli.ops.declare import Apply, Entries, Pair, Piecewise, Text, tensor, variant
from gradcli.ops.links import Array, Library, Raw, Static, Tensor
from gradcli.ops.shaping import CLONE, EXPAND, whole_numbers
from gradcli.ops.values import Value, require, whole
from gradcli.ops.vocabulary import KEPT, LIKE_FIRST, Beside, Kinds, Made, function

CONSTANTS: dict[str, float] = {
    f"{prefix}{name}": value
    for prefix in ("", "math.", "np.", "numpy.", "torch.")
    for name, value in (("pi", math.pi), ("e", math.e))
} | {
    f"{prefix}{name}": value
    for prefix in ("math.", "np.", "numpy.", "torch.")
    for name, value in (("inf", math.inf), ("nan", math.nan))
}


def lengths(shape: tuple[Static, ...]) -> tuple[int, ...]:
    """Return a shape given as numbers or as one tuple; raises ``value`` for a negative length."""
    result = whole_numbers(shape, "a length")
    require(all(length >= 0 for length in result), "value", f"a length cannot be negative: {result}")
    return result


DETACH = without_slope(
    "detach",
    lambda x: x,
    pieces=Piecewise(lambda x: x, lambda piece, x: piece, held=True),
    flat=True,
    entries=Entries(moves=True, view=True),
    text=Text(write=lambda call: f"{call.tight[0]}.detach()"),
)
DATA = variant(DETACH, "data")
"""``x.data``: PyTorch does not count the writes to it with those to x, so that backward takes the numbers of later."""


HELD = variant(DETACH, "constant")
"""What is used as no more than a class or a condition on what is allowed: it does not move, and may be an integer."""


def held_numbers(x: Value) -> Array:
    """Return the numbers of x, in its shape, that decide what is allowed, or which classes are meant.

    They are those of x at x ± h too: a loss goes on beside a label of 0 or 1, and a class is none of its neighbours.
    """
    return x.of(HELD).numbers


def constants(names: str, number: float, words: str) -> None:
    """Enter arrays of one number: of a shape, of that of another array, and as a method of the kind of one."""
    word, like = words.partition(";")[0], " ".join(f"{name}_like" for name in names.split())

    @function(names, "torch numpy dtype", "making", doc=words)
    def build(f: Apply, *shape: Static) -> Tensor:
        wanted = lengths(shape)
        f.charge(math.prod(wanted))
        return np.full(wanted, number)

    @function(like, "torch numpy dtype", "making", kinds=KEPT, doc=f"{word} in the shape of x")
    def build_like(f: Apply, x: Tensor) -> Tensor:
        del f
        return np.full(x.shape, number)


constants("zeros empty", 0.0, "zeros; empty too gives zeros here, so that no answer depends on chance")
constants("ones", 1.0, "ones")


@function("full", "torch numpy dtype", "making", kinds=Kinds(Made.SAME, Made.SAME, Beside.PLAIN))
def build_full(f: Apply, shape: Static, fill_value: Tensor) -> Tensor:
    """an array with one number everywhere"""
    wanted = lengths((shape,))
    require(not fill_value.ndim, "shape", f"full takes one number, not shape {fill_value.shape}")
    f.charge(math.prod(wanted))
    return f(CLONE, f(EXPAND, fill_value, shape=wanted))


@function("eye identity", "torch numpy dtype", "making")
def build_eye(f: Apply, n: Static, m: Static = None, k: Static = 0, library: Library = "torch") -> Tensor:
    """the identity matrix, or in NumPy ones on the k-th diagonal"""
    rows, columns = lengths((n, n if m is None else m))
    f.charge(rows * columns)
    diagonal = whole(k, "k")
    if diagonal and library == "torch":
        f.remark("numpy-only", "eye with k: this is NumPy's answer, PyTorch has the main diagonal alone.")
    return np.eye(rows, columns, max(min(diagonal, columns), -rows))


def is_number(value: Static) -> TypeGuard[float]:
    """Return whether a value is a plain number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


@function("arange", "torch numpy dtype", "making")
def build_arange(f: Apply, start: Static, end: Static = None, step: Static = 1) -> Tensor:
    """numbers from start up to, not including, end; integers where all three are"""
    first, last = (0, start) if end is None else (start, end)
    if not (is_number(first) and is_number(last) and is_number(step)) or step == 0:
        raise GradcliError("value", "arange takes numbers, and a step that is not 0")
    count = (last - first) / step
    require(math.isfinite(count), "value", "arange takes finite numbers")
    whole_count = max(0, math.ceil(count))
    f.charge(whole_count)
    result = float(first) + float(step) * np.arange(whole_count, dtype=np.float64)
    return result.astype(np.int64) if all(type(n) is int for n in (first, last, step)) else result


@function("linspace", "torch dtype", "making")
def build_linspace(f: Apply, start: Static, end: Static, steps: Static) -> Tensor:
    """steps numbers from start to end, both included"""
    return between(f, start, end, steps, endpoint=True)


@function("np.linspace numpy.linspace jnp.linspace", "dtype", "making")
def build_numpy_linspace(f: Apply, start: Static, stop: Static, num: Static = 50, endpoint: Static = True) -> Tensor:
    """num numbers from start to stop, which endpoint=False leaves out"""
    return between(f, start, stop, num, endpoint=bool(endpoint))


def between(f: Apply, start: Static, end: Static, steps: Static, *, endpoint: bool) -> Array:
    """Return numbers an equal distance apart, the last of them ``end`` or one step before it."""
    count = lengths((whole(steps, "steps"),))[0]
    f.charge(count)
    if not isinstance(start, int | float) or not isinstance(end, int | float):
        raise GradcliError("value", "linspace takes two numbers and a count")
    return np.linspace(float(start), float(end), count, endpoint=endpoint)


@function("full_like", "torch numpy dtype", "making", kinds=LIKE_FIRST)
def build_full_like(f: Apply, x: Tensor, fill_value: Tensor) -> Tensor:
    """one number in the shape of x"""
    return f(CLONE, f(EXPAND, fill_value, shape=x.shape))


@function("float", "not-bare method", "making")
def build_float(f: Apply, x: Tensor) -> Tensor:
    """a copy: all numbers are double precision here"""
    return f(CLONE, x)


@function("double", "not-bare method", "making")
def build_double(f: Apply, x: Tensor) -> Tensor:
    """x itself: all numbers are double precision here"""
    del f
    return x


@function("detach torch.detach jax.lax.stop_gradient", "method", "making", op=DETACH, kinds=KEPT)
def build_detach(f: Apply, x: Tensor) -> Tensor:
    """the same numbers, in the same memory, as constants: no gradient flows through"""
    return f(DETACH, x)


def constant(data: Raw, name: str) -> Any:
    """Return a list, a number or an array as an array of its kind: floats, integers or truth values.

    Raises ``not-differentiable`` where a copy would cut the graph.
    """
    said = f"{name}([...]) copies numbers and cuts the graph: no gradient would flow"
    hint = "write the list by itself, or torch.stack([...])"
    require(not getattr(data, "active", False), "not-differentiable", said, hint)
    result = data.values if isinstance(data, Pair) else data
    if (
        result is None
        or isinstance(result, str)
        or (isinstance(result, tuple) and any(type(n) is not int for n in result))
    ):
        raise GradcliError("type", f"{name} takes a list of numbers", hint="torch.stack([...]) joins arrays")
    if isinstance(result, bool | int | tuple) or (isinstance(result, np.ndarray) and result.dtype.kind in "bi"):
        return np.array(result)
    return tensor(result)


@function("tensor torch.tensor", "dtype", "making", kinds=KEPT)
def build_tensor(f: Apply, data: Raw) -> Tensor:
    """a list as a new array; torch.tensor would cut the graph, so it takes constants alone"""
    result = constant(data, "torch.tensor")
    return result if type(result) is np.ndarray and result.dtype.kind in "bi" else f(CLONE, result)


@function("np.array numpy.array jnp.array", "dtype", "making", kinds=KEPT)
def build_array(f: Apply, data: Raw) -> Tensor:
    """a list as a new array, through which gradients flow as in JAX"""
    return f(CLONE, data) if getattr(data, "active", False) else build_tensor(f, data)


@function("np.asarray numpy.asarray jnp.asarray", "dtype", "making", kinds=KEPT)
def build_asarray(f: Apply, data: Raw) -> Tensor:
    """a list as an array, and an array as it is; gradients flow through it as in JAX"""
    return data if getattr(data, "active", False) else build_as_tensor(f, data)


@function("as_tensor torch.as_tensor", "dtype", "making", kinds=KEPT)
def build_as_tensor(f: Apply, data: Raw) -> Tensor:
    """a list as an array, and an array as it is; it takes constants alone"""
    del f
    return data if type(data) is np.ndarray else constant(data, "torch.as_tensor")
