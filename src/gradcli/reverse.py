"""The reverse-mode engine: one walk back over the graph, from the output to the inputs.

The *cotangent* of a value is vᵀ·∂y/∂value; the output's is v. An op hands its own on to each of its arguments through a
vector-Jacobian product (vjp), and what the uses of a value hand on to it adds up to its cotangent. For y = x·x at x = 3
and v = 1 the two vjps of the product give g·x = 3 each, and their sum is the gradient 6:

>>> from gradcli.graph import Graph
>>> from gradcli.ops.arithmetic import MUL
>>> graph = Graph()
>>> x = graph.input("x", np.float64(3.0), active=True)
>>> backward(graph, graph(MUL, x, x), np.array(1.0), wrt=[x])
[array(6.)]

The same walk carries Jacobians, of numbers or of formulas: from the identity on, by products with local Jacobians.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from gradcli.graph import NODES, Graph, Node, Operation
from gradcli.meter import LARGE, TURNS
from gradcli.ops.axes import unbroadcast
from gradcli.ops.declare import Array

Double = np.float64
C = TypeVar("C")
Along = Callable[[Operation, C], Iterable[tuple[Node, C]]]
Plus = Callable[[C, C, bool], C]


def accumulate(output: Node, seed: C, nodes: Iterable[Node], along: Along[C], plus: Plus[C]) -> dict[int, C]:
    """Walk over ``nodes``, the last one first, and return what has reached the inputs of ``output``, by node index.

    ``along(node, total)`` gives the arguments that derivatives flow to, each with what it gets through this node;
    ``plus(total, part, own)`` adds that to its total, in place if the walk has made it. What was handed on is let go.
    """
    totals, sums = {output.index: seed}, set[int]()
    for node in nodes:
        if type(node) is Operation and node.index in totals:
            total = totals[node.index]
            del totals[node.index]
            for argument, part in along(node, total):
                index = argument.index
                if index in totals:
                    totals[index] = plus(totals[index], part, index in sums)
                    sums.add(index)
                else:
                    totals[index] = part
    return totals


def cotangents(graph: Graph, output: Node, v: Array, kept: dict[int, Any] | None = None) -> dict[int, Any]:
    """Return the cotangents of the inputs of ``output``, by node index; those on the way are ``kept``, if anywhere."""

    def along(node: Operation, g: Any) -> Iterator[tuple[Node, Any]]:
        if not node.index % TURNS or (type(g) is not Double and g.size >= LARGE):
            graph.meter.watch()
        if kept is not None:
            kept[node.index] = g
        arguments, static, vjps = node.arguments, node.static, node.op.vjps
        given = [g, node.value, *[a.value if type(a) in NODES else a for a in arguments]]
        for k in node.links:
            vjp: Any = vjps[k] if isinstance(vjps, tuple) else vjps(k)
            argument, part = arguments[k], vjp(*given, **static) if static else vjp(*given)
            single = type(part) is type(argument.value) is Double
            yield argument, part if single else unbroadcast(part, argument.value.shape)

    with np.errstate(all="ignore"):
        return accumulate(output, v[()], graph.nodes[output.index :: -1], along, add)


def add(total: Any, part: Any, own: bool) -> Any:
    """Return the sum of two cotangents, in the array of the first where it is ``own``."""
    return np.add(total, part, out=total) if own and type(total) is not Double else total + part


def backward(graph: Graph, output: Any, v: Array, wrt: Sequence[Node]) -> list[Array]:
    """Return vᵀ·J for each input of ``wrt``, as ``output.backward(v)`` leaves it in ``.grad``, in a fresh array."""
    found = cotangents(graph, output, v) if isinstance(output, Node) and output.active else {}
    gradients: list[Array] = []
    for node in wrt:  # a vjp may have handed on what it was given, or a view of it: such gradients are copied
        g = found[node.index] if node.index in found else np.zeros(node.shape)
        alone = type(g) is np.ndarray and g.flags.owndata and not any(g is other for other in gradients)
        gradients.append(g if alone else np.array(g, dtype=Double))
    return gradients
