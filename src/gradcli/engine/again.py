"""A reverse sweep that leaves a graph of its own, so that what it gives can be differentiated again.

Each vjp is run on arrays that apply the ops of the table (``ops/tracing.py``), and what comes out is a node of the same
graph. For y = x·x·x at x = 2 and v = 1 the gradient is 12, the gradient of that also 12, and of that 6:

>>> from gradcli.ops.arithmetic import MUL
>>> graph = Graph()
>>> x = graph.input("x", np.float64(2.0), active=True)
>>> first = differentiable_cotangents(graph, graph(MUL, graph(MUL, x, x), x), np.float64(1.0))[x.index]
>>> second = differentiable_cotangents(graph, first, np.float64(1.0))[x.index]
>>> third = differentiable_cotangents(graph, second, np.float64(1.0))[x.index]
>>> [float(value_of(slope)) for slope in (first, second, third)]
[12.0, 12.0, 6.0]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, TURNS, Graph, Node, Operation, Visit, visits
from gradcli.engine.reverse import accumulate
from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD
from gradcli.ops.declare import value_of
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import EXPAND, RESHAPE
from gradcli.ops.tracing import Traced, Untraceable, beside, moved_back, traced
from gradcli.ops.values import unbroadcast

FAILS = (Untraceable, TypeError, ValueError, AttributeError, IndexError)
"""What numpy raises where a rule does with an array that is traced what none can."""


def differentiable_cotangents(
    graph: Graph,
    output: Node,
    v: Any,
    nodes: Iterable[Node] | None = None,
    kept: dict[int, Any] | None = None,
    visit: Visit | None = None,
) -> dict[int, Any]:
    """Return the cotangents of the inputs of ``output`` by node index, each a node of the graph, or plain numbers.

    ``v`` may be a node. ``nodes`` are those that the sweep visits, the last one first; None: all that are reached. The
    cotangents of operations on the way are ``kept``, if anywhere. The graph has all its values: a ``LeanGraph`` has let
    some go. Raises ``not-allowed`` where an op on the way has no second derivative.
    """
    exact = value_of(output).dtype == object
    at: Node | None = None
    operands: list[Any] = []
    totals = {output.index: v}

    def along(node: Operation, k: int, g: Any) -> Any:
        nonlocal at, operands
        if at is not node:
            at = node
            operands = [traced(graph, x, exact) for x in (g, node, *node.arguments)]
            if not node.index % TURNS:
                graph.meter.watch()
            if kept is not None:
                kept[node.index] = g
        part = handed_on(graph, node, k, operands)
        if part is None:
            return None
        argument = node.arguments[k]
        made = summed(graph, part.node if type(part) is Traced else part, value_of(argument).shape)
        return beside(graph, node.op, made, argument)

    def add(total: Any, part: Any, _own: bool) -> Any:
        return graph(ADD, total, part)

    visited = nodes or visits(graph.nodes, output.index, totals.keys()) if visit is None else visit(totals)
    with np.errstate(all="ignore"):
        return accumulate(totals, visited, along, add)


def handed_on(graph: Graph, node: Operation, k: int, operands: list[Any]) -> Any:
    """Return what argument ``k`` of an operation gets; ``operands`` are its cotangent, its output and its arguments."""
    op = node.op
    vjp: Any = op.vjp_along(k) if op.double_vjps is None else op.double_vjps[k]
    try:
        return vjp(*operands, **node.static)
    except FAILS as error:
        if not (op.entries.moves or op.entries.by_shape):
            raise without_second(op.name) from error
    values = [value_of(x) for x in node.arguments]
    try:
        return moved_back(operands[0], op, k, node.value, values, node.static, graph)
    except FAILS as error:
        raise without_second(op.name) from error


def without_second(name: str) -> GradcliError:
    """Return the error where a vjp is no operation of the graph."""
    return GradcliError(
        "not-allowed",
        f"{name} has no second derivative in gradcli yet",
        hint="without create_graph=True its first derivative is there",
    )


def summed(graph: Graph, part: Any, shape: tuple[int, ...]) -> Any:
    """Return a cotangent summed over the axes along which an argument of ``shape`` was broadcast."""
    if type(part) not in NODES:
        part = np.asarray(part)
        if part.dtype != object:
            return unbroadcast(part, shape)
    if part.shape == shape:
        return part
    lead = part.ndim - len(shape)
    if lead >= 0:
        stretched = [lead + axis for axis, length in enumerate(shape) if length == 1 != part.shape[lead + axis]]
        axes = (*range(lead), *stretched)
        if axes:
            part = graph(SUM, part, dim=axes, keepdim=True)
        if lead:
            part = graph(RESHAPE, part, shape=part.shape[lead:])
    return part if part.shape == shape else graph(EXPAND, part, shape=shape)
