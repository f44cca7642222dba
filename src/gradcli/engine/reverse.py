"""The reverse-mode engine: one walk back over the graph, from the output to the inputs.

The *cotangent* of a value is vᵀ·∂y/∂value; the output's is v. An op hands its own on to each of its arguments through a
vector-Jacobian product (vjp), and what the uses of a value hand on to it adds up to its cotangent. For y = x·x at x = 3
and v = 1 the two vjps of the product give g·x = 3 each, and their sum is the gradient 6:

>>> from gradcli.engine.graph import Graph
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

from gradcli.engine.graph import Graph, Input, Node, Operation
from gradcli.engine.meter import LARGE, TURNS
from gradcli.ops.axes import unbroadcast
from gradcli.ops.declare import Array

Double = np.float64
C = TypeVar("C")
Reached = Iterator[tuple[Node, C]]
Along = Callable[[Operation, C], Reached[C]]
Plus = Callable[[C, C, bool], C]


def accumulate(output: Node, seed: C, nodes: Iterable[Node], along: Along[C], plus: Plus[C]) -> Reached[C]:
    """Walk over ``nodes``, the last one first, and yield each that ``output`` depends on with all that has reached it.

    ``along(node, total)`` yields the arguments that derivatives flow to, each with what it gets through this node;
    ``plus(total, part, own)`` adds that to its total, in place if the walk has made it. What was handed on is let go.
    """
    totals: list[C | None] = [*[None] * output.index, seed]
    sums: set[int] = set()
    for node in nodes:
        total, totals[node.index] = totals[node.index], None
        if total is None:
            continue
        yield node, total
        for argument, part in along(node, total) if isinstance(node, Operation) else ():
            index = argument.index
            earlier = totals[index]
            totals[index] = part if earlier is None else plus(earlier, part, index in sums)
            if earlier is not None:
                sums.add(index)


def cotangents(graph: Graph, output: Node, v: Array) -> Reached[Any]:
    """Yield each active node that ``output`` depends on with its cotangent, the output's first; ``v`` has y's shape."""

    def along(node: Operation, g: Any) -> Reached[Any]:
        if not node.index % TURNS or (type(g) is not Double and g.size >= LARGE):
            graph.meter.watch()
        arguments, static, vjps, given = node.arguments, node.static, node.op.vjps, [g, node.value]
        for a in arguments:  # a comprehension takes longer over one or two
            given.append(a.value if isinstance(a, Node) else a)  # noqa: PERF401
        for k in node.links:
            vjp: Any = vjps[k] if isinstance(vjps, tuple) else vjps(k)
            argument, part = arguments[k], vjp(*given, **static) if static else vjp(*given)
            single = type(part) is type(argument.value) is Double
            yield argument, part if single else unbroadcast(part, argument.value.shape)

    return accumulate(output, v[()], graph.nodes[output.index :: -1], along, add)


def add(total: Any, part: Any, own: bool) -> Any:
    """Return the sum of two cotangents, in the array of the first where it is ``own``."""
    return np.add(total, part, out=total) if own and type(total) is not Double else total + part


def backward(graph: Graph, output: Any, v: Array, wrt: Sequence[Node]) -> list[Array]:
    """Return vᵀ·J for each input of ``wrt``, as ``output.backward(v)`` leaves it in ``.grad``, in a fresh array."""
    walk = cotangents(graph, output, v) if isinstance(output, Node) and output.active else ()
    with np.errstate(all="ignore"):
        found = {node.index: g for node, g in walk if isinstance(node, Input)}
    gradients: list[Array] = []
    for node in wrt:  # a vjp may have handed on what it was given, or a view of it: such gradients are copied
        g = found[node.index] if node.index in found else np.zeros(node.shape)
        alone = type(g) is np.ndarray and g.flags.owndata and not any(g is other for other in gradients)
        gradients.append(g if alone else np.array(g, dtype=Double))
    return gradients
