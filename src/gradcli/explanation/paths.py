"""The paths that lead from an input to the output where every value with a name is a single number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.reach import reaches
from gradcli.engine.reverse import accumulate
from gradcli.explanation.rules import Path
from gradcli.ops.axes import unbroadcast

MOST_PATHS = 6
"""Paths from one input up to which they are told."""
MOST_NAMED = 40
"""Values with a name up to which paths are looked for."""
Edges = Mapping[int, Mapping[int, float]]


def find_paths(output: Any, leaves: Mapping[str, Node], names: Mapping[int, str]) -> dict[str, list[Path]]:
    """Return the paths from each of the ``leaves`` that few lead from, shortest last; those of one link alone are none.

    The derivatives along a path are those of one named value by the one before it, all others fixed: their products,
    summed over all paths, are the derivative of the output.
    """
    if not isinstance(output, Operation) or not output.active:
        return {}
    nodes = [node for node in reaches(output) if node.active]
    named = [node for node in nodes if node.index in names]
    if len(named) > MOST_NAMED or any(node.shape for node in named):
        return {}
    edges = {node.index: links_below(node, nodes, names) for node in named if isinstance(node, Operation)}
    found = {}
    for name, leaf in leaves.items():
        if leaf.index in names and 0 < count_paths(edges, output.index, leaf.index) <= MOST_PATHS:
            paths = [path_of(way, edges, names) for way in ways(edges, output.index, leaf.index)]
            paths = sorted(paths, key=lambda path: -len(path.factors))
            if len(paths[0].factors) > 1 and all(np.isfinite(path.product) for path in paths):
                found[name] = paths
    return found


def links_below(top: Operation, nodes: Sequence[Node], names: Mapping[int, str]) -> dict[int, float]:
    """Return the derivatives of one named number by the named numbers next below it."""
    found: dict[int, float] = {}

    def along(node: Operation, k: int, total: Any) -> Any:
        if node is not top and node.index in names:
            found[node.index] = float(total)
            return None
        values = [getattr(x, "value", x) for x in node.arguments]
        part = node.op.vjp_along(k)(total, node.value, *values, **node.static)
        return unbroadcast(np.asarray(part)[()], np.shape(values[k]))

    below = [node for node in reversed(nodes) if node.index <= top.index]
    with np.errstate(all="ignore"):
        reached = accumulate({top.index: np.float64(1.0)}, below, along, lambda total, part, _own: total + part)
    return found | {index: float(total) for index, total in reached.items() if index in names}


def count_paths(edges: Edges, top: int, leaf: int) -> int:
    """Return how many paths lead from a leaf to the top, nodes being in the order of their indices."""
    counts = {leaf: 1}
    for index in sorted(edges):
        counts[index] = sum(counts.get(below, 0) for below in edges[index])
    return counts.get(top, 0)


def ways(edges: Edges, top: int, leaf: int) -> Iterator[list[int]]:
    """Yield each way from a leaf up to the top."""
    if top == leaf:
        yield [leaf]
        return
    for below in edges.get(top, {}):
        yield from ([*way, top] for way in ways(edges, below, leaf))


def path_of(way: Sequence[int], edges: Edges, names: Mapping[int, str]) -> Path:
    """Return a way with its names and derivatives."""
    factors = [edges[above][below] for below, above in pairwise(way)]
    return Path(tuple(names[index] for index in way), tuple(factors))
