"""How large the terms are that a line of the backward pass adds up: what rounding leaves of them is no error."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.reverse import accumulate
from gradcli.ops.declare import Array


def line_sizes(
    output: Operation, seed: Array, nodes: Sequence[Node], kept: Mapping[int, Array], names: Collection[int]
) -> dict[int, Array]:
    """Return the sizes of the terms of each line, by the index of its node.

    ``nodes`` are those of the sweep, in its order; ``kept`` has the engine's cotangents. Those of ``names`` have lines:
    what stands in others for the cotangent of one is its name.
    """
    found: dict[int, Array] = {}

    def along(node: Operation, k: int, sizes: Array) -> Array:
        if node.index not in names:
            return sizes_of(node, k, sizes)
        found[node.index] = sizes
        return sizes_of(node, k, np.abs(kept[node.index]))

    return found | accumulate({output.index: np.abs(seed)}, nodes, along, lambda left, right, _own: left + right)


def sizes_of(node: Operation, k: int, g: Array) -> Array:
    """Return the sizes of the terms that argument k's part of a cotangent is a sum of, from those of the cotangent.

    A product of arrays has them by the sizes of its factors; the rules of others are taken as they are.
    """
    values, y = [getattr(x, "value", x) for x in node.arguments], node.value
    if node.op.spec is not None:
        values, y = [np.abs(x) for x in values], np.abs(y)
    part = np.abs(node.op.vjp_along(k)(g, y, *values, **node.static))
    shape = np.shape(values[k])
    lead = np.ndim(part) - len(shape)
    if lead > 0:
        part = np.sum(part, axis=tuple(range(lead)))
    axes = tuple(axis for axis, length in enumerate(shape) if lead >= 0 and length == 1 != np.shape(part)[axis])
    return np.broadcast_to(np.sum(part, axis=axes, keepdims=True) if axes else part, shape)[()]
