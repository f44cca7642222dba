"""J where its entries are too many to be composed: applied by passes over the graph, and held where that is cheap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.reach import reaches
from gradcli.engine.reverse import accumulate
from gradcli.errors import GradcliError
from gradcli.errors.facts import OverBudget
from gradcli.jacobian.batches import Link
from gradcli.jacobian.composition import Composition, compose, links_between
from gradcli.jacobian.factors import template_of
from gradcli.jacobian.kinds import constant_of
from gradcli.jacobian.local import Part, PartNumbers, links_of, part_of, reading_of, worked_out
from gradcli.jacobian.maps import Vectors, count_listed, local_jacobian, nowhere, vectors
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array, value_of
from gradcli.ops.links import Contraction, Links
from gradcli.records import dataclass, field

MOST_PASSED = 20_000_000
"""Numbers that go through the graph, all rows together, up to which every row of J is asked for."""


@dataclass(frozen=True, slots=True)
class Applied(Composition):
    """Jacobians by inputs alone, as far as they are held; local ones are read when they are asked for.

    ``links`` has their names alone. A local Jacobian that subscripts say is not listed.
    """

    refusal: GradcliError = field(kw_only=True)

    def parts(self, node: Operation, argument: int) -> list[Part] | None:
        """Return the parts of the local Jacobian of a node by one argument, None where none took part."""
        if (node.index, argument) not in self.links:
            return None
        constants = tuple([constant_of(a) for a in node.arguments])
        return [outline(links, constants) for links in links_of(reading_of(node), argument)]

    def read(self, node: Operation, argument: int) -> list[PartNumbers]:
        """Return the local Jacobian of a node by one argument with its numbers, as far as it is listed."""
        reading = reading_of(node)
        with np.errstate(all="ignore"):
            return [worked_out(reading, part) for part in self.parts(node, argument) or () if len(part.rows)]

    def link(self, node: Operation, argument: Node) -> Sparse:
        """Refuse the entries of a local Jacobian: they are as many as those of J."""
        del node, argument
        raise self.refusal


def outline(links: Links | Contraction, constants: tuple[Any, ...]) -> Part:
    """Return links with their formula, without a list of those that subscripts say."""
    template = template_of(links, constants)
    if isinstance(links, Links):
        return part_of(links, template)
    none = np.zeros(0, dtype=np.intp)
    return Part(none, none, links.weight, template, (), links.auxiliary, links.second)


def derive(output: Any, wrt: Sequence[Node], most: int, graph: Graph) -> Composition:
    """Return the Jacobian of ``output`` by entries, and where these are more than ``most``, by passes.

    Then ``of`` has the Jacobians by ``wrt`` where ``output`` has one entry, or where all their rows are affordable.
    """
    try:
        return compose(output, wrt, most, graph)
    except GradcliError as error:
        if not isinstance(error.facts, OverBudget) or error.facts.name not in ("jacobian", "total"):
            raise
        refusal = error.with_traceback(None)  # which holds all that was composed
    return apply(output, wrt, most, graph, refusal)


def apply(output: Node, wrt: Sequence[Node], most: int, graph: Graph, refusal: GradcliError) -> Applied:
    """Return the Jacobian of ``output`` by passes; ``refusal`` says why it is not composed."""
    nodes, passes = reaches(output), Passes(output, wrt, graph)
    first = min(leaf.index for leaf in wrt)
    links = links_between(output, [node for node in reversed(nodes) if node.index >= first])
    rows, columns = int(output.value.size), max(int(leaf.value.size) for leaf in wrt)
    numbers = sum(int(np.size(value_of(node))) for node in nodes)
    cheap = rows * columns <= most and rows * numbers <= MOST_PASSED and rows * passes.listed(links) <= MOST_PASSED
    held = passes.all_rows() if rows == 1 or cheap else {}
    return Applied(held, nodes, 0, {(node.index, k): () for node, k, _ in links}, refusal=refusal)


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
