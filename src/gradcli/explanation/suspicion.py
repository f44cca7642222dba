"""When an answer is confirmed: wherever that is cheap, and beyond where its numbers look as if digits were lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.errors import GradcliError
from gradcli.exact.run import operations, same
from gradcli.exact.work import CALL
from gradcli.explanation.jacobians import Jacobian
from gradcli.ops.declare import Array, holds_somewhere, value_of
from gradcli.ops.parts import Piecewise

CHEAP = 115
"""Which part of the budget's work an answer spends on confirming itself unasked: 13,000 units, about 20 ms."""
RUNS = 6
"""Runs that one direction takes where two settings of digits agree: y at x, x + h and x - h in each."""
MORE_RUNS = 4
"""Runs that one more direction takes."""
DEAR = 10
"""How many times as much it spends on every entry where digits may be lost, before it asks along one direction."""


def largest(value: Any) -> float:
    """Return the size of the largest entry."""
    return float(np.max(np.abs(value), initial=0.0))


def count_work(graph: Graph, entry: int = 1) -> int:
    """Return what one run in many digits costs: operations on single numbers, and calls that cost as much as some.

    ``entry`` are the units of a number that an op goes through entry by entry; an exponential takes several.
    """
    total = 0
    for node in graph.nodes:
        if node.op is None:
            continue
        if node.op.formula is not None and node.op.work is None:  # entry by entry: most nodes of a loop
            total += CALL + entry * getattr(node.value, "size", 1)
            continue
        values = [value_of(a) for a in node.arguments]
        total += CALL + operations(node.op, values, node.static, node.value)
    return total


ELEMENTARY = 8
"""Units of an exponential or a sine in 100 digits."""


def enough_work(graph: Graph, formulas: int) -> int:
    """Return work that is enough for one direction, and to evaluate so many formulas of derivatives, rounded up."""
    needed = count_work(graph, ELEMENTARY) * (RUNS + MORE_RUNS) * (1 + formulas)
    unit = int("1".ljust(len(str(needed)) - 1, "0"))
    return -(-needed // unit) * unit


def affordable(graph: Graph, jacobians: Mapping[str, Jacobian], dear: bool) -> str:
    """Return how much can be asked: ``entries``, ``direction``, or nothing; ``dear`` where it may take seconds."""
    cheap = graph.budget.work // CHEAP
    most, furthest = (DEAR * cheap, graph.budget.work) if dear else (cheap, cheap)
    if RUNS * CALL * len(graph.nodes) > furthest:
        return ""
    work, links = count_work(graph), sum(len(jacobian.rows) for jacobian in jacobians.values())
    if links <= most and all(jacobian.held for jacobian in jacobians.values()):
        directions = sum(count_directions(jacobian) for jacobian in jacobians.values())
        if (RUNS + 4 * directions) * work + links <= most:
            return "entries"
    return "direction" if RUNS * work + links <= furthest else ""


def fits_a_check(graph: Graph, variables: int) -> bool:
    """Return whether ``check``, which takes a direction for each variable, can evaluate the program so often."""
    often = RUNS * variables
    most = graph.budget.work
    return often * CALL * len(graph.nodes) <= most and often * count_work(graph) <= most


def count_directions(jacobian: Jacobian) -> int:
    """Return how many directions ask for every column at least: as many as the fullest row has entries."""
    return int(jacobian.pattern.by_row.max(initial=1))


def list_operations(nodes: Sequence[Node]) -> list[Operation]:
    """Return the nodes that are operations."""
    return [node for node in nodes if isinstance(node, Operation)]


def is_edgy(done: Sequence[Operation]) -> bool:
    """Return whether pieces of the program may meet here: kinks and ties, and sides of comparisons that are equal."""
    with np.errstate(all="ignore"):
        return any(map(stands_on_an_edge, done))


def is_beyond_doubles(done: Sequence[Operation]) -> bool:
    """Return whether numbers beyond doubles were met, or digits may be lost in a value.

    What is looked for: values that are not finite, or so large or small that a product of two leaves double precision;
    zeros that are left of numbers that are not 0.
    """
    with np.errstate(all="ignore"):
        return any(map(leaves_doubles, find_far_away(done)))


def stands_on_an_edge(node: Operation) -> bool:
    """Return whether an operation stands at a kink, a step, a tie or a power of 0, or takes a wave of a large x."""
    op = node.op
    at, pieces = op.edge if op.kink is None else op.kink.at, op.pieces
    if at is not None:
        return holds_somewhere(at(*map(value_of, node.arguments), **node.static))
    if pieces is None or pieces.held or pieces.open or op.chooses:
        return False
    return differs_nearby(pieces, [value_of(argument) for argument in node.arguments], node.static)


def differs_nearby(parts: Piecewise, values: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Return whether a piecewise op is on another piece a little above or below; ties break."""
    with np.errstate(all="ignore"):
        here = parts.piece(*map(np.asarray, values), **static)
        for sign in (1.0, -1.0):
            moved = [nudge(value, sign * (0.5 + 0.3 * k)) for k, value in enumerate(values)]
            if not same(here, parts.piece(*moved, **static)):
                return True
    return False


def nudge(value: Any, share: float) -> Any:
    """Return numbers moved by about a billionth of themselves, each by its own share of that."""
    x = np.asarray(value, dtype=np.float64)
    shares = share * np.cos(np.arange(x.size)).reshape(x.shape)
    return x + shares * (1e-9 * np.abs(x) + 1e-100)


def find_far_away(nodes: Sequence[Operation]) -> list[Operation]:
    """Return the nodes with an entry that is not finite, or so large or small that its square leaves doubles."""
    single = [node for node in nodes if type(node.value) is np.float64]
    several = [node for node in nodes if type(node.value) is np.ndarray and node.value.dtype == np.float64]
    odd = np.flatnonzero(outside(np.array([node.value for node in single])))
    return [*(single[k] for k in odd.tolist()), *(node for node in several if outside(node.value).any())]


def outside(values: Array) -> Any:
    """Return where a number is not finite, or its square no normal double."""
    size = np.abs(values)
    return ~((size > 1e-150) & (size < 1e150))


def leaves_doubles(node: Operation) -> bool:
    """Return whether a value is beyond doubles and no plain 0.

    A smooth op that makes 0 of numbers that are not 0 has a product beyond doubles, a sum that cancels, or is at a root
    (sinc at 1), where its argument's rounding is all that there is.
    """
    op = node.op
    zero = node.value == 0
    if np.any(outside(node.value) & ~zero):
        return True
    if op.pieces is not None:
        return False
    sizes = [np.abs(value) if np.asarray(value).dtype.kind == "f" else value for value in map(value_of, node.arguments)]
    if op.formula is None:
        try:
            return bool(np.any(zero & (op.forward(*sizes, **node.static) != 0)))
        except GradcliError:  # a matrix is taken apart, and that of the sizes is singular
            return bool(np.any(zero))
    return bool(np.any(zero & reduce(np.logical_and, [np.asarray(size) != 0 for size in sizes])))
