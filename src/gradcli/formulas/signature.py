"""When two runs of a program have the same formulas: what ``found_formulas`` reads, but for the numbers of nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node, Operation
from gradcli.formulas.entries import MOST_ENTRIES
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.kinds import frozen
from gradcli.jacobian.local import Part, is_shaped, reading_of
from gradcli.ops.declare import Op, value_of
from gradcli.ops.links import listed

LONG = 4096
"""Bytes of an array up to which a signature holds them all."""
MOST_NODES = 400
"""Nodes up to which a signature is taken: beyond, runs differ more often than not, and it takes as much memory."""


def signature(graph: Graph, output: Any, leaves: Mapping[str, Node], composition: Composition) -> Hashable | None:
    """Return what is equal for two runs where ``found_formulas`` finds the same for both; None for large ones.

    Equal signatures mean equal formulas, definitions and rules. Numbers that formulas hold are a part of it: those of
    the program, weights, what was detached. So is which entries there are, and which of them are 0 by convention.
    """
    nodes = composition.nodes
    if type(output) not in NODES or len(nodes) > MOST_NODES or composition.work > MOST_ENTRIES or composition.refusal:
        return None
    reached = {node.index for node in nodes}
    return (
        output.index,
        composition.work,
        tuple([(name, leaf.index) for name, leaf in leaves.items()]),
        tuple([(name, node.index if node and node.index in reached else -1) for name, node in graph.bindings]),
        tuple([node.name for node in graph.nodes if node.op is None]),
        tuple([of_node(node, composition) for node in nodes]),
        tuple([of_places(leaf, composition) for leaf in leaves.values()]),
    )


def of_places(leaf: Node, composition: Composition) -> Hashable:
    """Return which entries a Jacobian has."""
    found = composition.of[leaf.index]
    return found.shape, content(found.rows), content(found.columns)


def of_node(node: Node, composition: Composition) -> Hashable:
    """Return what formulas read of a node."""
    if not isinstance(node, Operation):
        return node.index, node.name, node.value.shape, node.active
    op = node.op
    arguments = tuple([a.index if type(a) in NODES else of_constant(a) for a in node.arguments])
    static = frozen(node.static) if node.static else ()
    zeros = op.splits_zero and tuple([op.has_signed_zero(k, node.arguments) for k in range(len(arguments))])
    shared = (node.index, op.name, op.local, op.formula, node.active, node.value.shape, arguments, static, zeros)
    return (*shared, chosen(node, op), of_links(node, composition)) if depends(op) else shared


def depends(op: Op) -> bool:
    """Return whether the links of an op may depend on numbers, if only by a convention."""
    return not op.shaped or op.zero_at is not None


def of_constant(value: Any) -> Hashable:
    """Return an argument that is no node: what it is and all its numbers."""
    if type(value) is int:
        return int, value
    array = np.asarray(value)
    return type(value), array.dtype.str, array.shape, content(array)


def content(array: Any) -> bytes:
    """Return the numbers of an array, a digest of those of a long one."""
    numbers = array.tobytes()
    return numbers if len(numbers) <= LONG else blake2b(numbers).digest()


def chosen(node: Node, op: Op) -> Hashable:
    """Return where the entries of an op that moves them came from, and what came from nowhere."""
    if not op.moves or op.shaped:
        return None
    values = tuple([value_of(a) for a in node.arguments])
    moved, left = [], np.ones(node.value.size, dtype=bool)
    for k in range(len(values)):
        with np.errstate(all="ignore"):
            found = op.local(k, node.value, values, node.static)
        for links in map(listed, found):
            moved.append((k, content(links.rows), content(links.columns)))
            left[links.rows] = False
    return tuple(moved), content(np.ravel(node.value)[left])


def of_links(node: Operation, composition: Composition) -> Hashable:
    """Return the parts of the local Jacobians of a node, and which arguments have one."""
    found = []
    for k, argument in enumerate(node.arguments):
        parts = composition.parts(node, k) if type(argument) in NODES else None
        same = parts is not None and is_shaped(reading_of(node), k)
        found.append(same if same or parts is None else tuple([of_part(part) for part in parts]))
    return tuple(found)


def of_part(part: Part) -> Hashable:
    """Return all of a part, its formula with it."""
    bound = tuple([(slot, content(where)) for slot, where in part.bound])
    auxiliary = tuple([(text, np.shape(value)) for text, value in filter(None, (part.auxiliary, part.second))])
    weight = part.weight if type(part.weight) is float else of_constant(part.weight)
    return content(part.rows), content(part.columns), weight, part.template.expression, bound, auxiliary
