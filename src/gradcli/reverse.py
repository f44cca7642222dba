"""The reverse-mode engine: one sweep over the graph, from the output back to the inputs."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from gradcli.graph import LARGE, TURNS, Graph, Node
from gradcli.ops.declare import Array

Double = np.float64


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which an argument of ``shape`` was broadcast."""
    lead = np.ndim(g) - len(shape)
    if lead < 0:
        return np.broadcast_to(g, shape)
    stretched = tuple(lead + axis for axis, length in enumerate(shape) if length == 1 != np.shape(g)[lead + axis])
    summed = np.sum(g, axis=(*range(lead), *stretched), keepdims=True)
    return np.broadcast_to(np.reshape(summed, np.shape(summed)[lead:]), shape)


class Adjoints:
    """The cotangents of a sweep by node index, None where nothing has arrived yet.

    ``wanted`` are those that are asked for in the end. ``own`` are the indices of arrays that no rule, node or caller
    can still see: they may be added to in place, and handed out.
    """

    __slots__ = ("found", "own", "wanted")

    def __init__(self, count: int, wanted: Container[int]) -> None:
        self.found: list[Any] = [None] * count
        self.own: set[int] = set()
        self.wanted = wanted

    def add(self, index: int, part: Any, shared: tuple[Any, ...]) -> None:
        """Add an array to the cotangent of a node; ``shared`` are the arrays that its rule was given."""
        earlier = self.found[index]
        if earlier is None and part.size < LARGE and index not in self.wanted:
            self.found[index] = part if part.ndim else part[()]  # to find out whose it is would cost more than a copy
            return
        fresh = part.ndim > 0 and part.flags.owndata and part.dtype == np.float64 and not among(part, shared)
        if earlier is None:
            self.found[index] = part if part.ndim else part[()]
        elif index in self.own:
            np.add(earlier, part, out=earlier)
        else:
            self.found[index] = np.add(earlier, part, out=part) if fresh else earlier + part
            fresh = self.found[index].ndim > 0
        if fresh:
            self.own.add(index)


def among(part: Any, arrays: tuple[Any, ...]) -> bool:
    """Return whether an array is one of these, and no other with the same entries."""
    for array in arrays:  # noqa: SIM110
        if part is array:
            return True
    return False


def sweep(graph: Graph, output: Node, v: Array, wanted: Container[int]) -> Adjoints:
    """Go back over the graph from ``output``, where the cotangent is ``v``, and return those of the nodes before it.

    The cotangent of a node is the sum, over its uses, of each use's cotangent through that op's vector-Jacobian
    product. Once it has been handed on, only a node of ``wanted`` keeps it. The graph is left as it was, so two sweeps
    agree. Raises ``seconds`` when the time of the run is over.

    For y = x·x at x = 3 and v = 1, the product's two rules give g·x = 3 each, and their sum is the gradient 6.
    """
    adjoints = Adjoints(output.index + 1, wanted)
    found = adjoints.found
    found[output.index] = v[()]
    with np.errstate(all="ignore"):
        for node in reversed(graph.nodes[: output.index + 1]):
            index, op, g = node.index, node.op, found[node.index]
            if g is None or op is None:
                continue
            if not index % TURNS or (type(g) is not Double and g.size >= LARGE):
                graph.watch()
            rules, static = op.vjps, node.static
            values = [a.value if type(a) is Node else a for a in node.arguments]
            for k, argument in enumerate(node.arguments):
                if type(argument) is not Node or not argument.active:
                    continue
                rule = rules[k] if type(rules) is tuple else rules(k)  # type: ignore[operator]
                if rule is None:
                    continue
                part = rule(g, node.value, *values, **static) if static else rule(g, node.value, *values)
                if type(part) is Double and type(argument.value) is Double:
                    earlier = found[argument.index]
                    found[argument.index] = part if earlier is None else earlier + part
                    continue
                shape = argument.value.shape
                if part.shape != shape:
                    part = unbroadcast(part, shape)
                adjoints.add(argument.index, part, (g, node.value, *values))
            if index not in wanted:
                found[index] = None
    return adjoints


def cotangents(graph: Graph, output: Node, v: Array) -> dict[int, Any]:
    """Return vᵀ·∂output/∂node for every active node that ``output`` depends on, by node index.

    ``v`` has the shape of the output.
    """
    found = sweep(graph, output, v, range(output.index + 1)).found
    return {index: g for index, g in enumerate(found) if g is not None}


def backward(graph: Graph, output: Any, v: Array, wrt: Sequence[Node]) -> list[Array]:
    """Return vᵀ·J for each node of ``wrt``: what ``output.backward(v)`` leaves in its ``.grad``.

    An input that the output does not depend on gets zeros. Every array is a fresh one.
    """
    if type(output) is not Node or not output.active:
        return [np.zeros(node.shape) for node in wrt]
    adjoints = sweep(graph, output, v, {node.index for node in wrt})
    return [gradient_of(adjoints, node) for node in wrt]


def gradient_of(adjoints: Adjoints, leaf: Node) -> Array:
    """Return the cotangent of a leaf as an array that nothing else shares."""
    g = adjoints.found[leaf.index] if leaf.index < len(adjoints.found) else None
    if g is None:
        return np.zeros(leaf.shape)
    return g if leaf.index in adjoints.own else np.array(g, dtype=np.float64)
