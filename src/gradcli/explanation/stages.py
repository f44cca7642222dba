"""The chain rule, stage by stage: the program's own variables that every path runs through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradcli.engine.graph import Graph, Input, Node, Operation, reaches
from gradcli.engine.naming import numbered
from gradcli.engine.reverse import cotangents
from gradcli.explanation.evaluation import Evaluation
from gradcli.explanation.explained import Stage
from gradcli.ops.declare import Array

SMALL_FACTOR = 36
"""Entries of one factor of the chain rule up to which it is worked out and shown."""


def find_stages(run: Evaluation, leaves: Mapping[str, Node], seed: Array) -> list[Stage]:
    """Return the program's own variables that every path from the inputs to y runs through, and then the inputs.

    Nothing where there is no such variable: the chain rule has one stage then, and the table shows it.
    """
    output = run.output
    if not isinstance(output, Node) or not output.active or not 0 < len(run.graph.bindings) <= 50:
        return []
    nodes = [node for node in reaches(output) if node.active]
    found: dict[int, Array] = {}
    found |= cotangents(run.graph, output, seed, found)
    shown: list[Stage] = []
    outer, passed = output, set[int]()
    for name, node in reversed(numbered(run.graph)):
        if node is output or not node.active or isinstance(node, Input) or node.index not in found:
            continue
        if node.index in passed or not separates(node, output, nodes, leaves):
            continue
        shown.append(Stage(name, False, np.asarray(found[node.index]), *factor(run.graph, outer, node)))
        outer = node
        passed.add(node.index)
    if not shown:
        return []
    inputs = {name: leaf for name, leaf in leaves.items() if leaf.index in found}
    return shown + [
        Stage(name, True, np.asarray(found[leaf.index]), *factor(run.graph, outer, leaf))
        for name, leaf in inputs.items()
    ]


def factor(graph: Graph, outer: Node, inner: Node) -> tuple[Array | None, Array | None]:
    """Return ∂outer/∂inner as a matrix of numbers, and the sizes of their terms; None where there are more than 36."""
    from gradcli.jacobian.large import derive  # noqa: PLC0415

    size = int(np.size(outer.value)) * int(np.size(inner.value))
    if size > SMALL_FACTOR:
        return None, None
    found = derive(outer, [inner], SMALL_FACTOR * 1000, graph).of[inner.index]
    sizes = found.values if found.sizes is None else found.sizes
    return found.dense(), replace(found, values=sizes).dense()


def separates(node: Node, output: Node, nodes: list[Node], leaves: Mapping[str, Node]) -> bool:
    """Return whether every path from the leaves to the output runs through ``node``."""
    reached = {leaf.index for leaf in leaves.values()}
    for other in nodes:
        if other is node or not isinstance(other, Operation):
            continue
        if any(isinstance(a, Node) and a.index in reached for a in other.arguments):
            reached.add(other.index)
    return output.index not in reached
