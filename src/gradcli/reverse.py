"""The reverse-mode engine: one sweep over the graph, from the output back to the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.graph import Graph, Node


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which an argument of ``shape`` was broadcast."""
    if np.shape(g) == shape:
        return g
    lead = np.ndim(g) - len(shape)
    if lead < 0:
        return np.broadcast_to(g, shape)
    stretched = tuple(lead + axis for axis, length in enumerate(shape) if length == 1 != np.shape(g)[lead + axis])
    summed = np.sum(g, axis=(*range(lead), *stretched), keepdims=True)
    return np.broadcast_to(np.reshape(summed, np.shape(summed)[lead:]), shape)


def cotangents(graph: Graph, output: Node, v: Any) -> dict[int, Any]:
    """Return the cotangent of every active node that ``output`` depends on, by node index.

    ``v`` has the shape of the output. The cotangent of a node is the sum, over its uses, of each use's cotangent
    through that op's vector-Jacobian product: vᵀ·∂output/∂node. The graph is left as it was, so two sweeps agree.
    Raises ``seconds`` when the time of the run is over.

    For y = x·x at x = 3 and v = 1, the product's two rules give g·x = 3 each, and their sum is the gradient 6.
    """
    found: dict[int, Any] = {output.index: v}
    with np.errstate(all="ignore"):
        for node in reversed(graph.nodes[: output.index + 1]):
            g = found.get(node.index)
            if g is None or node.op is None:
                continue
            graph.watch()
            values = [a.value if type(a) is Node else a for a in node.arguments]
            for k, argument in enumerate(node.arguments):
                if type(argument) is not Node or not argument.active:
                    continue
                rule = node.op.vjp(k)
                if rule is None:
                    continue
                part = unbroadcast(rule(g, node.value, *values, **node.static), np.shape(values[k]))
                earlier = found.get(argument.index)
                found[argument.index] = part if earlier is None else earlier + part
    return found


def backward(graph: Graph, output: Any, v: Any, wrt: Sequence[Node]) -> list[Any]:
    """Return vᵀ·J for each node of ``wrt``: what ``output.backward(v)`` leaves in its ``.grad``.

    An input that the output does not depend on gets zeros. An array of the input's shape is always a fresh one.
    """
    found = cotangents(graph, output, v) if type(output) is Node and output.active else {}
    return [
        np.array(found[node.index], dtype=np.float64) if node.index in found else np.zeros(np.shape(node.value))
        for node in wrt
    ]
