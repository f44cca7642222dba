"""What the formulas of a run depend on: equal signatures, equal formulas."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from gradcli.graph import Graph, Node, reaches
from gradcli.ops.declare import value_of
from gradcli.symbolic.jacobian import Composition
from gradcli.symbolic.local import Local


def signature(graph: Graph, output: Any, leaves: Mapping[str, Node], composition: Composition) -> Hashable | None:
    """Return what two runs of one program share where ``derive`` gives the same formulas; None where none is known.

    The operations with their constants and shapes, the names, and which entries the local Jacobians link with which
    weights: a branch, a mask, an order of sorting or a kink that is another at another point makes a difference.
    """
    nodes = reaches(output) if isinstance(output, Node) else []
    return (
        tuple(leaves),
        tuple((name, node.index) for name, node in graph.bindings),
        tuple(node.name for node in graph.nodes if node.op is None),
        tuple(written(node, composition) for node in nodes),
    )


def written(node: Node, composition: Composition) -> Hashable:
    """Return what a node adds: where it stands, what it does with what, and how its entries are linked."""
    op = node.op
    if op is None:
        return node.index, node.name, node.shape, node.active
    return (
        node.index,
        op.name,
        node.shape,
        node.active,
        tuple(a.index if type(a) is Node else frozen(a) for a in node.arguments),
        tuple((key, frozen(value)) for key, value in node.static.items()),
        tuple(
            tuple(linked(part) for part in composition.locals.get((node.index, k), ()))
            for k in range(len(node.arguments))
        ),
        moved(node) if op.moves else None,
    )


def linked(part: Local) -> Hashable:
    """Return which entries a local Jacobian links, with which weights; its formula follows from the operation."""
    bound = tuple((slot, np.asarray(where).tobytes()) for slot, where in part.bound)
    auxiliary = part.auxiliary and (part.auxiliary[0], np.shape(part.auxiliary[1]))
    return part.rows.tobytes(), part.columns.tobytes(), part.weight.tobytes(), bound, auxiliary


def moved(node: Node) -> Hashable:
    """Return from where each entry of a node came that only moves entries; one from nowhere is a number."""
    assert node.op is not None  # noqa: S101
    assert node.op.local is not None  # noqa: S101
    values = tuple(value_of(a) for a in node.arguments)
    unlinked = np.ones(np.size(node.value), dtype=bool)
    links = []
    for k in range(len(node.arguments)):
        if node.op.name == "where" and k == 0:
            continue
        for part in node.op.local(k, node.value, values, node.static):
            links.append((k, part.rows.tobytes(), part.columns.tobytes()))
            unlinked[part.rows] = False
    return tuple(links), np.ravel(node.value)[unlinked].tobytes()


def frozen(value: Any) -> Hashable:
    """Return a constant as something to compare: equal only where type, shape and every bit are."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple | list):
        return type(value).__name__, *(frozen(item) for item in value)
    if isinstance(value, dict):
        return "dict", *((key, frozen(item)) for key, item in value.items())
    return type(value).__name__, repr(value)
