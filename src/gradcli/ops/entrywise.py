"""Ops that work entry by entry and broadcast: one vjp an argument and one formula declare them whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gradcli.ops.declare import Apply, Array, Indices, Links, Local, Op, Partial, Tensor, declare, enter


def broadcast_index(out: Any, values: tuple[Any, ...], argument: int) -> Indices:
    """Return, for each entry of ``out``, the flat index of the entry of an argument that broadcasts to it."""
    shape = np.shape(values[argument])
    flat = np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape)
    return np.broadcast_to(flat, np.shape(out)).ravel()


@lru_cache(maxsize=1024)
def with_options(formula: Callable[..., Any], options: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    """Return a formula with its options filled in: one function for the same options, so that it is derived once."""
    return partial(formula, **dict(options))


def elementwise_local(formula: Callable[..., Any], zero_at: Callable[..., Any] | None) -> Local:
    """Return the local reading of an op that works entry by entry and broadcasts."""

    def local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
        rows = np.arange(np.size(out), dtype=np.intp)
        bound = tuple(
            (k, rows if np.shape(x) == np.shape(out) else broadcast_index(out, values, k)) for k, x in enumerate(values)
        )
        rule = with_options(formula, tuple(sorted(static.items()))) if static else formula
        weight: Array | float = 1.0
        if zero_at is not None:
            weight = np.broadcast_to(np.where(zero_at(argument, *values), 0.0, 1.0), np.shape(out)).ravel()
        return [Links(rows, bound[argument][1], weight, Partial(rule, argument), bound)]

    return local


def elementwise(
    name: str,
    forward: Callable[..., Any],
    *rules: Any,
    also: str = "",
    of: str = "tn.",
    family: str = "elementwise",
    doc: str = "",
    **options: Any,
) -> Op:
    """Declare an op of one or more arguments that works entry by entry: one vjp an argument, then the formula."""
    *vjps, formula = rules
    op = declare(
        Op(
            name,
            forward,
            tuple(vjps),
            local=elementwise_local(formula, options.get("zero_at")),
            formula=formula,
            shaped=True,
            **options,
        )
    )
    if of and len(vjps) == 1:
        enter(f"{name} {also}", of, family, doc or f"{name} of each entry", op=op)
    elif of:
        enter(f"{name} {also}", of, family, doc or f"{name} of each pair of entries", op=op, build=_binary(op))
    return op


def _binary(op: Op) -> Callable[..., Any]:
    def build(f: Apply, x: Tensor, other: Tensor) -> Any:
        return f(op, x, other)

    return build
