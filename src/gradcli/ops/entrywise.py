"""Ops that work entry by entry and broadcast: one vjp an argument and one formula declare them whole."""

from __future__ import annotations

import inspect
from functools import lru_cache, partial, wraps
from typing import Any

import numpy as np

from gradcli.ops.axes import number
from gradcli.ops.declare import Apply, Op, declare
from gradcli.ops.links import Links, Local, Partial
from gradcli.ops.signatures import (
    Array,
    Expression,
    Formula,
    Indices,
    Options,
    Symbols,
    Tensor,
    Test,
)
from gradcli.ops.vocabulary import Builder, Spelled, enter


def broadcast_index(out: Array, values: tuple[Array, ...], argument: int) -> Indices:
    """Return, for each entry of ``out``, the flat index of the entry of an argument that broadcasts to it."""
    shape = np.shape(values[argument])
    flat = np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape)
    return np.broadcast_to(flat, np.shape(out)).ravel()


@lru_cache(maxsize=1024)
def with_options(formula: Formula, options: tuple[tuple[str, Any], ...]) -> Formula:
    """Return a formula with its options filled in: one function for the same options, so that it is derived once."""
    return partial(formula, **dict(options))


def elementwise_local(formula: Formula, zero_at: Test | None) -> Local:
    """Return the local reading of an op that works entry by entry and broadcasts."""

    def local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
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


def with_slopes(name: str, formula: Formula, slopes: Formula) -> Formula:
    """Return a formula whose derivatives are ``slopes``, one for each argument, and not those that sympy would take."""

    @wraps(formula)
    def whole(s: Symbols, *symbols: Expression, **options: Any) -> Expression:
        return s.with_slopes(s, name, formula, slopes, tuple(options.items()))(*symbols)

    return whole


def named(name: str, slopes: Formula) -> Formula:
    """Return the formula of a function that is written as a call of its name, with its derivatives."""
    return lambda s, *symbols: s.named(s, name, slopes)(*symbols)


def elementwise(
    name: str,
    forward: Any,
    *rules: Any,
    spelled: Spelled | None,
    slopes: Formula | None = None,
    **record: Any,
) -> Op:
    """Declare an op of one or more arguments that works entry by entry: one vjp an argument, then the formula.

    ``spelled`` enters a function of its name, which takes the arguments of the op and its ``defaults``; None enters
    none. ``slopes(s, *symbols, **options)`` are the derivatives of the formula where sympy's own lose digits; None:
    they do not. A formula None stands for a call of the function itself, which has these ``slopes``. All else is the
    ``record``.
    """
    *vjps, formula = rules
    if slopes is not None:
        formula = with_slopes(name, formula, slopes) if formula else named(name, slopes)
    local = elementwise_local(formula, record.get("zero_at"))
    op = declare(Op(name, forward, tuple(vjps), local, formula, shaped=True, **record))
    if spelled is not None:
        plain = len(vjps) == 1 and not op.defaults
        enter(name, spelled, op=op, build=None if plain else builder(op, len(vjps)))
    return op


def builder(op: Op, count: int) -> Builder:
    """Return the builder of a function of one or two arrays that takes the options of an op; numbers are checked."""

    def build(f: Apply, *given: Any, **named: Any) -> Tensor:
        bound = signature.bind(f, *given, **named)
        bound.apply_defaults()
        _, *values = bound.arguments.values()
        options = zip(op.defaults.items(), values[count:], strict=True)
        static = {key: number(x, key) if isinstance(default, float) else x for (key, default), x in options}
        return f(op, *values[:count], **static)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arrays = [inspect.Parameter(name, kind, annotation="Tensor") for name in ("x", "other")[:count]]
    options = [inspect.Parameter(name, kind, annotation="Static", default=value) for name, value in op.defaults.items()]
    signature = inspect.Signature([inspect.Parameter("f", kind, annotation="Apply"), *arrays, *options])
    build.__signature__ = signature  # type: ignore[attr-defined]
    return build
