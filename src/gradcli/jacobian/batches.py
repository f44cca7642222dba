"""Local Jacobians of many nodes at once: an op that works entry by entry is the same op on one long array.

A loop of 10,000 steps leaves as many nodes of an op. Their numbers are laid side by side, and numpy is asked once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.jacobian.factors import has_plain_derivative, is_plain
from gradcli.jacobian.kinds import argument_kind, constant_of, free_kind, kind_of
from gradcli.jacobian.local import PartNumbers, Reading, read, worked_out
from gradcli.jacobian.matrix import FEW, Diagonals
from gradcli.jacobian.sparse import rising, same
from gradcli.ops.declare import value_of
from gradcli.records import dataclass

WIDEST = 1024
"""Entries of a node up to which numpy takes longer to be asked than to answer."""
MANY = 8
"""Nodes of a kind from which it is worth while to lay their numbers side by side."""

Link = tuple[Operation, int, Node]
"""A node, the number of one of its arguments, and that argument."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The local Jacobians by their argument number ``argument`` of ``nodes``, the output's first, all diagonal.

    ``local`` has them one behind the other; ``places`` says where the nodes stand in the list of all links.
    """

    nodes: list[Operation]
    argument: int
    places: list[int]
    local: PartNumbers

    @property
    def width(self) -> int:
        """The entries of one node."""
        return len(self.local.values) // len(self.nodes)

    def diagonals(self) -> Diagonals:
        """Return the matrix of each node, those of a few entries as lists."""
        values, sizes, where = self.local.values, self.local.sizes, self.local.part.rows[: self.width]
        return (
            Diagonals(values, sizes, where) if self.width > FEW else Diagonals(values.tolist(), sizes.tolist(), where)
        )

    def holds(self, node: Node, argument: int) -> bool:
        """Return whether the local Jacobian of a node by an argument is one of these."""
        place = bisect_left(self.nodes, -node.index, key=lambda other: -other.index)
        return argument == self.argument and place < len(self.nodes) and self.nodes[place] is node


def batches(links: Sequence[Link], widest: int) -> list[Batch]:
    """Return the batches of all links that work entry by entry on ``widest`` entries at most."""
    by_op: dict[Hashable, list[int]] = {}
    for place, (node, k, argument) in enumerate(links):
        few = 0 < node.value.size <= widest and argument.value.shape == node.value.shape
        if few and node.op.formula is not None:
            by_op.setdefault((id(node.op), k), []).append(place)
    groups = [group for many in by_op.values() if len(many) >= MANY for group in of_one_kind(links, many)]
    return [found for group in groups if (found := batch(links, group)) is not None]


def of_one_kind(links: Sequence[Link], places: list[int]) -> list[list[int]]:
    """Return the places of links of one op and argument by kind, where these are many."""
    node, k, _ = links[places[0]]
    kind = free_kind if takes_numbers(node, k) else argument_kind
    groups: dict[Hashable, list[int]] = {}
    for place in places:
        groups.setdefault(kind_of(links[place][0], kind), []).append(place)
    return [group for group in groups.values() if len(group) >= MANY]


def takes_numbers(node: Operation, argument: int) -> bool:
    """Return whether the constants of an op may be taken as numbers are, each its own: ``x/1``, ``x/2``, ``x/3`` …"""
    return not node.static and has_plain_derivative(node.op.formula, argument, len(node.arguments))


def batch(links: Sequence[Link], places: list[int]) -> Batch | None:
    """Return one batch; None where the local reading of the op is not one of all entries, as in pieces of a formula."""
    nodes, argument = [links[place][0] for place in places], links[places[0]][1]
    first = nodes[0]
    free = takes_numbers(first, argument)
    constants = tuple([constant_of(a) for a in first.arguments])
    fixed = tuple([None if free and c else c for c in constants])
    values = tuple(
        a if c is not None else side_by_side([value_of(node.arguments[k]) for node in nodes], first.ndim)
        for k, (a, c) in enumerate(zip(first.arguments, fixed, strict=True))
    )
    reading = Reading(first.op, side_by_side([node.value for node in nodes], first.ndim), values, first.static)
    parts = read(reading, argument, fixed)
    whole = len(parts) == 1 and len(parts[0].rows) == np.size(reading.out)
    if not whole or not rising(parts[0].rows) or not same(parts[0].rows, parts[0].columns):
        return None
    if fixed != constants and not is_plain(parts[0].template.expression):
        return None
    return Batch(nodes, argument, places, worked_out(reading, parts[0]))


def side_by_side(arrays: list[Any], ndim: int) -> Any:
    """Return arrays of one shape along a new first axis, so that the others broadcast as they did."""
    stacked = np.asarray(arrays[0])[None] if len(arrays) == 1 else np.array(arrays)
    shape = stacked.shape[1:]
    return stacked.reshape(len(arrays), *(1,) * (ndim - len(shape)), *shape)
