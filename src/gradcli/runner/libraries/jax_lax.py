"""``jax.nn`` and ``jax.lax``: what is not of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.runner.libraries.jax_arrays import At, array, canonical, lengths, numbers, put
from gradcli.runner.library import TABLE, native
from gradcli.runner.python.containers import entry, iterate
from gradcli.runner.python.operators import plain_in_jax
from gradcli.runner.state import Run, constant
from gradcli.runner.transforms import mapped
from gradcli.runner.values import Tensor, strong


# ---- jax.nn
@native("jax.nn.one_hot")
def one_hot(run: Run, x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Tensor:
    """Return rows of zeros with a one."""
    labels = np.asarray(array(run, x).value)
    run.meter.charge(labels.size * num_classes)
    rows = (labels[..., None] == np.arange(num_classes)).astype(np.float64)
    rows = np.moveaxis(rows, -1, axis)
    return run.make(rows, canonical(run, dtype) or strong(plain_in_jax(run, 1.0)), "jax")


def branches(run: Run, x: Any, condition: str, above: Callable[[Any], Any], below: Callable[[Any], Any]) -> Any:
    """Return one formula where an entry is above 0, another below."""
    x = array(run, x)
    return run.function("jax.numpy.where", run.operate(condition, x, 0), above(x), below(x))


@native("jax.nn.leaky_relu")
def leaky_relu(run: Run, x: Any, negative_slope: Any = 1e-2) -> Any:
    """x, and a part of it below 0; at 0 the slope is 1."""
    return branches(run, x, ">=", lambda x: x, lambda x: run.operate("*", negative_slope, x))


@native("jax.nn.hard_tanh")
def hard_tanh(run: Run, x: Any) -> Any:
    """x between -1 and 1, where the slope is 1 at both ends too."""
    x = array(run, x)
    low = run.function("jax.numpy.where", run.operate("<", x, -1), -1.0, x)
    return run.function("jax.numpy.where", run.operate(">", x, 1), 1.0, low)


# ---- jax.lax
SAME = (
    "exp", "log", "sin", "cos", "tan", "tanh", "sqrt", "square", "add", "sign", "floor", "ceil", "log1p", "expm1",
    "dot", "cumsum", "cumprod", "reshape", "transpose", "expand_dims",
)  # fmt: skip
for _theirs, _own in {
    **dict(zip(SAME, SAME, strict=True)),
    "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min", "power": "pow",
    "negative": "neg", "arctan2": "atan2", "where": "select", "equal": "eq", "greater": "gt", "less": "lt",
    "greater_equal": "ge", "less_equal": "le", "fmod": "rem",
}.items():  # fmt: skip
    TABLE[f"jax.lax.{_own}"] = lambda run, *arguments, theirs=_theirs, **named: run.call(
        run.member(f"jax.numpy.{theirs}"), arguments, named
    )
TABLE["jax.nn.identity"] = array
TABLE["jax.lax.integer_pow"] = lambda run, x, y: run.operate("**", array(run, x), y)
TABLE["jax.lax.rsqrt"] = lambda run, x: run.operate("/", 1, run.function("jax.numpy.sqrt", x))
TABLE["jax.lax.reciprocal"] = lambda run, x: run.operate("/", 1, array(run, x))
TABLE["jax.lax.logistic"] = lambda run, x: run.function("jax.nn.sigmoid", x)


@native("jax.lax.stop_gradient")
def stop_gradient(run: Run, tree: Any) -> Any:
    """Return arrays through which no derivative flows."""
    return mapped(run, lambda leaf: stopped(run, leaf), tree)


def stopped(run: Run, leaf: Any) -> Any:
    """Return an array through which no derivative flows."""
    if not isinstance(leaf, Tensor) or not leaf.active:
        return leaf
    made = constant(run, leaf.node)
    return Tensor(made if type(made) in NODES else np.asarray(made), leaf.dtype, leaf.library)


@native("jax.lax.dynamic_slice")
def dynamic_slice(run: Run, operand: Any, start_indices: Any, slice_sizes: Any) -> Any:
    """Return a part of an array of given lengths."""
    x = array(run, operand)
    return entry(run, x, part_of(run, x, start_indices, lengths(run, slice_sizes)))


def part_of(run: Run, x: Tensor, start_indices: Any, sizes: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the index of a part of an array: it begins so that all of it is within."""
    starts = [int(numbers(s)) for s in iterate(run, start_indices)]
    within = [min(max(s, 0), n - k) for s, n, k in zip(starts, x.shape, sizes, strict=True)]
    return tuple([slice(s, s + k) for s, k in zip(within, sizes, strict=True)])


@native("jax.lax.dynamic_update_slice")
def dynamic_update_slice(run: Run, operand: Any, update: Any, start_indices: Any) -> Any:
    """Return an array with a part of it replaced."""
    x, part = array(run, operand), array(run, update)
    return put(run, At(x, part_of(run, x, start_indices, part.shape)), "set", part)


@native("jax.lax.dynamic_index_in_dim")
def dynamic_index_in_dim(run: Run, operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """Return the entries at one place of an axis."""
    made = run.function("jax.numpy.take", array(run, operand), int(numbers(index)), axis=axis)
    return run.function("jax.numpy.expand_dims", made, axis) if keepdims else made


@native("jax.lax.concatenate")
def concatenate(run: Run, operands: Any, dimension: int) -> Any:
    """Return arrays one after the other."""
    return run.function("jax.numpy.concatenate", operands, axis=dimension)
