"""J applied to vectors: one pass over the graph by local Jacobians for vᵀ·J, a row or a column, and no entry held."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.reach import reaches
from gradcli.engine.reverse import accumulate
from gradcli.jacobian.batches import Link
from gradcli.jacobian.maps import count_listed, local_jacobian
from gradcli.jacobian.sparse import Sparse
from gradcli.jacobian.vectors import Vectors, nowhere, vectors
from gradcli.ops.declare import Array

Read = TypeVar("Read")
BLOCK = 2**20
"""Numbers of one node that go through the graph side by side."""


@dataclass(frozen=True, slots=True)
class Passes:
    """∂output/∂leaves as a linear map. Its vectors are flat; those of the output are rows, those of a leaf columns.

    ``output`` depends on a leaf that is differentiated: other Jacobians have no entries, which are composed.
    """

    output: Node
    leaves: Sequence[Node]
    graph: Graph

    def back(self, rows: Array) -> dict[int, Vectors]:
        """Return each row times J, by the index of each leaf."""
        first = min(leaf.index for leaf in self.leaves)
        nodes = [node for node in reversed(reaches(self.output)) if node.index >= first]
        with np.errstate(all="ignore"):
            found = accumulate({self.output.index: vectors(rows)}, nodes, self._back, lambda a, b, _own: a + b)
        return {
            leaf.index: found.get(leaf.index) or nowhere(len(rows), int(np.size(leaf.value))) for leaf in self.leaves
        }

    def forth(self, leaf: Node, columns: Array) -> Vectors:
        """Return J by one leaf times each column, which are the rows of ``columns``."""
        found = self.tangents({leaf.index: columns})
        if self.output.index in found:
            return found[self.output.index]
        return nowhere(len(columns), int(np.size(self.output.value)))

    def tangents(self, moved: Mapping[int, Array]) -> dict[int, Vectors]:
        """Return what each node gets of leaves that move, by node index; those that nothing reaches are left out.

        ``moved`` has as many rows for each of these leaves, by its index: the directions that go side by side.
        """
        found = {index: vectors(rows) for index, rows in moved.items()}
        with np.errstate(all="ignore"):
            for node in reaches(self.output):
                if isinstance(node, Operation):
                    for k in node.links:
                        self._forth(node, k, found)
        return found

    def all_rows(self) -> dict[int, Sparse]:
        """Return J by each leaf, a block of rows at a time, by the entries that can be other than 0."""
        size = int(np.size(self.output.value))
        widest = max(int(np.size(node.value)) for node in reaches(self.output))
        step = max(BLOCK // widest, 1)
        blocks = [self.back(np.eye(min(step, size - start), size, start)) for start in range(0, size, step)]
        return {leaf.index: stacked([block[leaf.index] for block in blocks]) for leaf in self.leaves}

    def listed(self, links: Iterable[Link]) -> int:
        """Return how many entries of local Jacobians each row goes through one by one."""
        return sum(self._within(count_listed, node, k) for node, k, _ in links)

    def _back(self, node: Operation, k: int, rows: Vectors) -> Vectors:
        """Return what an argument of a node gets of its rows."""
        return self._within(local_jacobian, node, k).back(rows)

    def _forth(self, node: Operation, k: int, found: dict[int, Vectors]) -> None:
        """Add what a node gets of one of its arguments to what it has."""
        columns = found.get(node.arguments[k].index)
        if columns is not None:
            moved = self._within(local_jacobian, node, k).forth(columns)
            found[node.index] = found[node.index] + moved if node.index in found else moved

    def _within(self, read: Callable[[Operation, int, int], Read], node: Operation, k: int) -> Read:
        """Return what is read of a local Jacobian, while there is time."""
        self.graph.meter.watch()
        return read(node, k, self.graph.budget.elements)


def stacked(blocks: Sequence[Vectors]) -> Sparse:
    """Return blocks of vectors as the rows of one matrix."""
    parts = [np.concatenate(arrays) for arrays in zip(*[(b.values, b.sizes, b.reached) for b in blocks], strict=True)]
    return Vectors(*parts).sparse()
