"""The numeric Jacobian by the symbolic route: local derivatives, evaluated and multiplied along the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.reach import reaches
from gradcli.engine.reverse import accumulate
from gradcli.errors import GradcliError, over_budget
from gradcli.jacobian.batches import WIDEST, Batch, Link, batches
from gradcli.jacobian.local import Part, PartNumbers, Reading, numbers, parts_of, reading_of, worked_out
from gradcli.jacobian.matrix import (
    FEW,
    Diagonals,
    Entries,
    Matrix,
    Small,
    add,
    as_arrays,
    joined,
    multiply,
    scale,
    settle,
    shortened,
)
from gradcli.jacobian.sparse import Sparse, gathered, identity, nothing
from gradcli.records import dataclass


class Jacobians(dict[int, Sparse]):
    """Jacobians of the output by nodes, by node index; those of a few entries become arrays when asked for."""

    def __init__(self, found: dict[int, Entries]) -> None:
        super().__init__()
        self.found = found

    def __missing__(self, index: int) -> Sparse:
        self[index] = as_arrays(self.found[index])
        return self[index]


@dataclass(frozen=True, slots=True)
class Composition:
    """Jacobians of the output by nodes (``of``, by node index), and the local Jacobians they were composed from.

    ``nodes`` are those that the output depends on, ``work`` counts the products of entries that the composition took.
    ``links`` are the local Jacobians that stand alone, by node index and argument: with their numbers, or without. The
    others are in ``batches``. ``refusal`` says why
    entries were not composed, if not.
    """

    of: Mapping[int, Sparse]
    nodes: list[Node]
    work: int
    links: Mapping[tuple[int, int], Sequence[PartNumbers | Part]]
    batches: Sequence[Batch] = ()
    refusal: GradcliError | None = None

    def entries(self, leaf: Node) -> Sparse:
        """Return the Jacobian by an input; raises ``budget`` where its entries are not held."""
        if self.refusal is not None and leaf.index not in self.of:
            raise self.refusal
        return self.of[leaf.index]

    def parts(self, node: Operation, argument: int) -> list[Part] | None:
        """Return the parts of the local Jacobian of a node by one argument, None where none took part."""
        found = self.links.get((node.index, argument))
        if found is not None:
            return [one.part if isinstance(one, PartNumbers) else one for one in found]
        if any(batch.holds(node, argument) for batch in self.batches):
            return parts_of(node, argument, reading_of(node), node.value.size)
        return None

    def read(self, node: Operation, argument: int) -> list[PartNumbers]:
        """Return the local Jacobian of a node by one argument with its numbers, where it is in no batch."""
        with np.errstate(all="ignore"):
            reading = reading_of(node)
            found = self.links[node.index, argument]
            return [one if isinstance(one, PartNumbers) else worked_out(reading, one) for one in found]

    def link(self, node: Operation, argument: Node) -> Sparse:
        """Return the derivative of a node by one that it is computed from, with all others fixed."""
        rows, columns = int(np.size(node.value)), int(np.size(argument.value))
        reading, uses = reading_of(node), [k for k, other in enumerate(node.arguments) if other is argument]
        with np.errstate(all="ignore"):
            parts = [worked_out(reading, part) for k in uses for part in self.parts(node, k) or ()]
            return as_sparse(parts, rows, columns)


def as_sparse(parts: list[PartNumbers], rows: int, columns: int) -> Sparse:
    """Return a local Jacobian as one sparse matrix of numbers."""
    if not parts:
        return nothing(rows, columns)
    found = [Sparse(one.part.rows, one.part.columns, one.values, one.sizes, (rows, columns)) for one in parts]
    return gathered(found, (rows, columns))


def as_small(reading: Reading, parts: list[Part], shape: tuple[int, int]) -> Small | None:
    """Return a local Jacobian of a few entries as lists."""
    rows: list[int] = []
    columns: list[int] = []
    found: list[float] = []
    grown: list[float] = []
    for part in parts:
        values, sizes = numbers(reading, part)
        rows += part.rows.tolist()
        columns += part.columns.tolist()
        found += listed(values, len(part.rows))
        grown += listed(sizes, len(part.rows))
    return joined(Small(rows, columns, found, grown, shape))


def listed(numbers: Any, count: int) -> list[float]:
    """Return ``count`` numbers as a list, which may be one number for all."""
    if type(numbers) is np.float64 or not np.ndim(numbers):
        return [float(numbers)] * count
    return numbers.tolist()  # type: ignore[no-any-return]


KEPT = 4
"""Elements of an entry that is kept: its row, its column, its value, its size."""
SHARE = 2
"""Elements that local Jacobians may hold for each element that the values of the program may have."""


def elements_of(parts: list[PartNumbers]) -> int:
    """Return how many elements the arrays of a local Jacobian hold, those that it shares counted once."""
    arrays = {
        id(array): np.size(array)
        for one in parts
        for array in (one.part.rows, one.part.columns, one.values, one.sizes, *(where for _, where in one.part.bound))
    }
    return sum(arrays.values())


class Composing:
    """One walk back from the output, with what it has found and what it holds.

    A Jacobian of a few entries goes as lists, unless the bound is so low that even these might be refused.
    """

    def __init__(self, graph: Graph | None, most: int) -> None:
        self.graph = graph
        self.most = most
        self.few = FEW if most >= FEW * FEW else -1
        self.found: dict[int, Entries] = {}
        self.diagonals: Iterator[tuple[Diagonals, int] | None] = iter(())
        self.links: dict[tuple[int, int], Sequence[PartNumbers | Part]] = {}
        self.batches: list[Batch] = []
        self.work = self.held = 0

    def run(self, output: Node, nodes: list[Node]) -> None:
        """Find the Jacobians by those of ``nodes``, the last one first, that derivatives flow to."""
        links = links_between(output, nodes)
        self.batches = batches(links, min(WIDEST, self.most)) if self.few > 0 else []
        whose: list[tuple[Diagonals, int] | None] = [None] * len(links)
        for batch in self.batches:
            diagonals = batch.diagonals()
            for row, place in enumerate(batch.places):
                whose[place] = diagonals, row
        self.diagonals = iter(whose)
        one: Matrix = shortened(identity(int(np.size(output.value)), 1.0, np.float64), self.few)
        reached = accumulate({output.index: one}, nodes, self._along, self._plus)
        self.found |= {index: settle(total, self.few) for index, total in reached.items()}

    def _along(self, node: Operation, k: int, total: Matrix) -> Matrix:
        """Return the Jacobian by one argument of a node, through this node alone."""
        outer = self.found[node.index] = settle(total, self.few)
        diagonal = next(self.diagonals)
        if diagonal is None:
            inner = self.read(node, k)
            self.work += len(inner.rows)
            part = multiply(outer, inner, self.most, self.few)
        else:
            width = len(diagonal[0].where)
            self.work += width
            self.held += KEPT * width
            part = scale(outer, *diagonal, self.most, self.few)
        self._charge(len(part.rows))
        return part

    def _plus(self, total: Matrix, part: Any, own: bool) -> Matrix:
        """Return the sum of two Jacobians."""
        del own
        return add(total, part, self.few)

    def read(self, node: Operation, k: int) -> Entries:
        """Return the local Jacobian of a node by an argument."""
        reading, shape = reading_of(node), (node.value.size, node.arguments[k].value.size)
        parts = parts_of(node, k, reading, self.most)
        count = sum([len(part.rows) for part in parts])
        inner = as_small(reading, parts, shape) if count <= self.few else None
        if inner is not None:
            self.links[node.index, k] = parts
            self.held += KEPT * count
            return inner
        found = [worked_out(reading, part) for part in parts]
        self.links[node.index, k] = found
        self.held += elements_of(found)
        return as_sparse(found, *shape)

    def _charge(self, entries: int) -> None:
        """Refuse so many entries of a Jacobian where all pass the graph's budget, or its time is over."""
        self.work += entries
        self.held += KEPT * entries
        if self.graph is None:
            return
        self.graph.meter.watch()
        if self.held > SHARE * self.graph.budget.total:
            raise over_budget("total", self.graph.budget.total, f"{self.held:,} numbers of local Jacobians")


def links_between(output: Node, nodes: Iterable[Node]) -> list[Link]:
    """Return along which arguments derivatives flow from the output back through ``nodes``, the last one first."""
    wanted, links = {output.index}, []
    for node in nodes:
        if type(node) is Operation and node.index in wanted:
            for k in node.links:
                argument = node.arguments[k]
                wanted.add(argument.index)
                links.append((node, k, argument))
    return links


def compose(output: Any, wrt: Sequence[Node], most: int, graph: Graph | None = None) -> Composition:
    """Return the Jacobian of ``output`` by every active node between it and ``wrt``.

    Row i of a Jacobian belongs to entry i of the output in flat order, column j to entry j of the node. Entries that
    are kept are those that can be non-zero; one that is zero at this point is kept with the value 0.
    Raises ``budget`` where a product of two Jacobians has more than ``most`` terms, and, with a ``graph``, where all
    entries together take more memory than its values may, or its time is over.
    """
    nodes = reaches(output) if isinstance(output, Node) else []
    walk = Composing(graph, most)
    if isinstance(output, Node) and output.active:
        first = min((leaf.index for leaf in wrt), default=0)
        with np.errstate(all="ignore"):
            walk.run(output, [node for node in reversed(nodes) if node.index >= first])
    found = Jacobians(walk.found)
    size = int(np.size(output.value)) if isinstance(output, Node) else int(np.size(output))
    for leaf in wrt:
        found[leaf.index] = found[leaf.index] if leaf.index in walk.found else nothing(size, int(np.size(leaf.value)))
    return Composition(found, nodes, walk.work, walk.links, walk.batches)
