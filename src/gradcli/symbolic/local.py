"""Local Jacobians: for each op and argument, which output depends on which entry, by which formula and how much."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Add, Dummy, Expr, powsimp

from gradcli.errors import over_budget
from gradcli.graph import Node
from gradcli.ops.declare import Array, Explicit, Implicit, Indices, Links, Partial, value_of
from gradcli.symbolic import functions as s
from gradcli.symbolic.evaluate import evaluate, magnitude

Bound = tuple[tuple[int, Indices], ...]


@dataclass(frozen=True, slots=True)
class Local:
    """Entries of a local Jacobian that share one formula.

    ``d out[rows] / d argument[columns] = weight * template``, where symbol k of the template is bound to item k of
    ``bound``. ``values`` are the numbers, ``sizes`` the sizes of the terms that they are differences of.
    """

    rows: Indices
    columns: Indices
    values: Array
    sizes: Array
    weight: Array
    template: Expr
    symbols: tuple[Any, ...]
    bound: Bound
    auxiliary: tuple[str, Array] | None


def constant_of(argument: Any) -> float | None:
    """Return the one number that an argument is, None for a node or an array."""
    if isinstance(argument, Node) or np.size(argument) != 1:
        return None
    number = float(np.reshape(argument, ()))
    return number if np.isfinite(number) else None


@lru_cache(maxsize=4096)
def _derivative(formula: Any, argument: int, constants: tuple[float | None, ...]) -> tuple[Expr, tuple[Any, ...]]:
    symbols = tuple(Dummy(f"a{k}", real=True) for k in range(len(constants)))
    given = [x if c is None else s.number(c) for x, c in zip(symbols, constants, strict=True)]
    given[argument] = symbols[argument]
    return s.as_expression(formula(s, *given)).diff(symbols[argument]), symbols


@lru_cache(maxsize=4096)
def _quotient(implicit: Implicit) -> tuple[Expr, tuple[Any, ...]]:
    x, y = Dummy("x", real=True), Dummy("y", real=True)
    quotient = s.as_expression(implicit.inner(s, x)).diff(x) / s.as_expression(implicit.outer(s, y)).diff(y)
    # exp(x - y) and not exp(x)*exp(-y), which overflows where the whole does not.
    return powsimp(quotient, combine="exp") if quotient.has(s.exp) else quotient, (x, y)


def template_of(links: Links, arguments: tuple[Any, ...]) -> tuple[Expr, tuple[Any, ...]]:
    """Return the formula of a link's factor in symbols, one for each bound item; sympy differentiates it."""
    factor = links.factor
    if factor is None:
        return s.number(1), ()
    if isinstance(factor, Partial):
        return _derivative(factor.formula, factor.argument, tuple(constant_of(a) for a in arguments))
    if isinstance(factor, Implicit):
        return _quotient(factor)
    assert isinstance(factor, Explicit)  # noqa: S101
    symbols = tuple(Dummy(f"b{k}", real=True) for k in range(len(links.bound)))
    return s.as_expression(factor.formula(s, *symbols)), symbols


@lru_cache(maxsize=4096)
def has_sum(template: Expr) -> bool:
    """Return whether a formula adds up terms, which may cancel."""
    return bool(template.has(Add))


def slot_values(node: Node, links: Links, slot: int) -> Any:
    """Return the numbers of an argument, of the output (-1), or of the auxiliary value (-2), in one row."""
    if slot == -2:
        assert links.auxiliary is not None  # noqa: S101
        return np.ravel(links.auxiliary[1])
    return np.ravel(node.value if slot == -1 else value_of(node.arguments[slot]))


def local_jacobian(node: Node, argument: int, bound: int) -> list[Local]:
    """Return the local Jacobian of a node by one argument; raises ``budget`` for more than ``bound`` entries."""
    assert node.op is not None  # noqa: S101
    assert node.op.local is not None  # noqa: S101
    values = tuple(value_of(a) for a in node.arguments)
    count = node.op.terms(*values, **node.static) if node.op.terms else np.size(node.value)
    if count > bound:
        raise over_budget("jacobian", bound, f"the derivative of {node.op.name} has {count:,} entries")
    found = []
    for links in node.op.local(argument, node.value, values, node.static):
        template, symbols = template_of(links, node.arguments)
        chosen = {
            symbol: slot_values(node, links, slot)[where]
            for symbol, (slot, where) in zip(symbols, links.bound, strict=True)
        }
        count = len(links.rows)
        weight = np.broadcast_to(np.asarray(links.weight, dtype=np.float64), (count,))
        factor = np.broadcast_to(evaluate(template, chosen), (count,))
        size = np.where(weight == 0, 0.0, np.abs(weight) * magnitude(template, chosen))
        if node.op.digits is not None:
            digits = node.op.digits(node.value, *values, **node.static)
            size = np.maximum(size, np.broadcast_to(digits, np.shape(node.value)).ravel()[links.rows])
        found.append(
            Local(
                links.rows,
                links.columns,
                np.where(weight == 0, 0.0, weight * _without_false_zeros(factor, chosen)),
                size,
                weight,
                template,
                symbols,
                links.bound,
                links.auxiliary,
            )
        )
    return found


def _without_false_zeros(factor: Array, chosen: dict[Any, Array]) -> Array:
    """Return the factors with nan where a 0 came of a number that is not finite: 1/inf is not a true zero."""
    unsure = np.zeros(np.shape(factor), dtype=bool)
    for value in chosen.values():
        unsure |= ~np.isfinite(value)
    return np.where(unsure & (factor == 0), np.nan, factor)
