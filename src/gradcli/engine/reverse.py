"""The reverse-mode engine: one walk back over the graph, from the output to the inputs.

The *cotangent* of a value is vᵀ·∂y/∂value, and that of y is v. An op hands its own on to its arguments by its vjps
(vector-Jacobian products); what the uses of a value hand on adds up. The same walk carries Jacobians, by products with
local ones. For y = x·x at x = 3 and v = 1 the two vjps give g·x = 3 each, and their sum is the gradient 6:

>>> from gradcli.engine.graph import Graph
>>> from gradcli.ops.arithmetic import MUL
>>> graph = Graph()
>>> x = graph.input("x", np.float64(3.0), active=True)
>>> backward(graph, graph(MUL, x, x), np.array(1.0), wrt=[x])
[array(6.)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from gradcli.engine.graph import LARGE, NODES, TURNS, Graph, Node, Operation, Totals, Visit, each_its_own, visits
from gradcli.ops.declare import Array
from gradcli.ops.values import unbroadcast

Double = np.float64
C = TypeVar("C")
Along = Callable[[Operation, int, C], C | None]
Plus = Callable[[C, C, bool], C]


def accumulate(totals: dict[int, C], nodes: Iterable[Node], along: Along[C], plus: Plus[C]) -> dict[int, C]:
    """Walk over ``nodes``, the last one first, and return what has reached the inputs, by node index.

    ``totals`` has the seed; what was handed on is let go. Argument k of a node gets ``along(node, k, total)``, for each
    of its links, None for nothing; ``plus(total, part, own)`` adds it up, in place if the walk has made that total.
    """
    sums: set[int] = set()
    for node in nodes:
        if type(node) is Operation and (total := totals.pop(node.index, None)) is not None:
            for k in node.links:
                part, index = along(node, k, total), node.arguments[k].index
                if part is None:
                    continue
                if index in totals:
                    part = plus(totals[index], part, index in sums)
                    sums.add(index)
                totals[index] = part
    return dict(sorted(totals.items()))


def cotangents(graph: Graph, output: Node, v: Array, kept: Totals | None = None, visit: Visit | None = None) -> Totals:
    """Return the cotangents of the inputs of ``output``, by node index; those on the way are ``kept``, if anywhere."""
    at: Node | None = None
    operands: list[Any] = []
    totals = {output.index: v[()]}
    nodes = visits(graph.nodes, output.index, totals.keys()) if visit is None else visit(totals)

    def along(node: Operation, k: int, g: Any) -> Any:
        nonlocal at, operands
        if at is not node:
            at, operands = node, [g, node.value]
            for a in node.arguments:
                operands.append(a.value if type(a) in NODES else a)
            if not node.index % TURNS or (type(g) is not Double and g.size >= LARGE):
                graph.meter.watch()
            if kept is not None:
                kept[node.index] = g
        vjps, static, value = node.op.vjps, node.static, operands[k + 2]
        vjp: Any = vjps[k] if type(vjps) is tuple else vjps(k)  # type: ignore[operator]
        part = vjp(*operands, **static) if static else vjp(*operands)
        if type(part) is type(value) is Double or part is None:
            return part
        return unbroadcast(part, value.shape)

    def add(total: Any, part: Any, own: bool) -> Any:
        return np.add(total, part, out=total) if own and type(total) is not Double else total + part

    with np.errstate(all="ignore"):
        return accumulate(totals, nodes, along, add)


def backward(graph: Graph, output: object, v: Array, wrt: Sequence[Node]) -> list[Array]:
    """Return vᵀ·J for each input of ``wrt``, as ``output.backward(v)`` leaves it in ``.grad``, in a fresh array."""
    totals = cotangents(graph, output, v) if isinstance(output, Node) and output.active else {}
    return each_its_own([totals[node.index] if node.index in totals else np.zeros(node.shape) for node in wrt])
