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

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from gradcli.graph import Graph, Node, Operation
from gradcli.meter import LARGE, TURNS
from gradcli.ops.declare import Array

Double = np.float64
C = TypeVar("C")
Along = Callable[[Operation, C], Iterable[tuple[Node, C]]]
Plus = Callable[[C, C, bool], C]


def accumulate(
    output: Node, seed: C, nodes: Iterable[Node], along: Along[C], plus: Plus[C]
) -> Iterator[tuple[Node, C]]:
    """Walk over ``nodes``, the last one first, and yield each that ``output`` depends on with all that has reached it.

    The output starts with ``seed``. ``along(node, total)`` gives the arguments that derivatives flow to, each with what
    it gets through this node; ``plus(total, part, own)`` adds that to its total, in place where ``own`` says that the
    walk has made this sum. What was handed on is let go.
    """
    totals: list[C | None] = [None] * (output.index + 1)
    totals[output.index] = seed
    sums: set[int] = set()
    for node in nodes:
        total = totals[node.index]
        if total is None:
            continue
        totals[node.index] = None
        yield node, total
        for argument, part in along(node, total) if isinstance(node, Operation) else ():
            index = argument.index
            earlier = totals[index]
            if earlier is None:
                totals[index] = part
            else:
                totals[index] = plus(earlier, part, index in sums)
                sums.add(index)


def cotangents(graph: Graph, output: Node, v: Array) -> Iterator[tuple[Node, Any]]:
    """Yield each active node that ``output`` depends on with its cotangent, the output's first; ``v`` has y's shape."""

    def along(node: Operation, g: Any) -> Iterable[tuple[Node, Any]]:
        if not node.index % TURNS or (type(g) is not Double and g.size >= LARGE):
            graph.meter.watch()
        rules: Any = node.op.vjps
        arguments, static = node.arguments, node.static
        values: list[Any] = []
        for argument in arguments:  # a comprehension is slower where there are one or two
            values.append(argument.value if isinstance(argument, Node) else argument)  # noqa: PERF401
        parts = []
        for k in node.links:
            vjp = rules[k] if type(rules) is tuple else rules(k)
            part = vjp(g, node.value, *values, **static) if static else vjp(g, node.value, *values)
            if type(part) is not Double or type(values[k]) is not Double:
                part = unbroadcast(part, values[k].shape)
            parts.append((arguments[k], part))
        return parts

    return accumulate(output, v[()], graph.nodes[output.index :: -1], along, add)


def add(total: Any, part: Any, own: bool) -> Any:
    """Return the sum of two cotangents, in the array of the first where it is ``own``."""
    return np.add(total, part, out=total) if own and type(total) is not Double else total + part


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which an argument of ``shape`` was broadcast."""
    if g.shape == shape:
        return g if shape else g[()]
    if (lead := g.ndim - len(shape)) >= 0:
        stretched = tuple(lead + axis for axis, length in enumerate(shape) if length == 1 != g.shape[lead + axis])
        g = np.sum(g, axis=(*range(lead), *stretched), keepdims=True)
        g = g.reshape(g.shape[lead:])
    return np.broadcast_to(g, shape)[()]


def backward(graph: Graph, output: Any, v: Array, wrt: Sequence[Node]) -> list[Array]:
    """Return vᵀ·J for each node of ``wrt``, zeros where nothing flows: what ``output.backward(v)`` leaves in ``.grad``.

    Each array is the caller's alone: what a vjp hands on may be what it was given, or a view, and is copied here.
    """
    found: dict[int, Any] = {}
    if isinstance(output, Node) and output.active:
        wanted = {node.index for node in wrt}
        with np.errstate(all="ignore"):
            found = {node.index: g for node, g in cotangents(graph, output, v) if node.index in wanted}
    gradients: list[Array] = []
    for node in wrt:
        g = found[node.index] if node.index in found else np.zeros(node.shape)
        alone = type(g) is np.ndarray and g.flags.owndata and not any(g is other for other in gradients)
        gradients.append(g if alone else np.array(g, dtype=Double))
    return gradients
