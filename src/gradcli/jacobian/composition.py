"""The numeric Jacobian by the symbolic route: local derivatives, evaluated and multiplied along the graph.

Where asked, the sizes of the terms behind the entries of J count the rounding inside of the values that derivatives are
made of. An entry of ``inv(A)`` that is 0 comes out as 1e-17, and so does the derivative of ``inv(A) @ b`` that it is.
Composition takes the number for its own size; with rounding, what it may have left in each value is followed along the
graph, to first order (running error analysis: Wilkinson 1963), in units of the last digit, as sizes of terms are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, reaches
from gradcli.engine.reverse import accumulate
from gradcli.errors import GivenUp, GradcliError, over_budget
from gradcli.jacobian.local import (
    WIDEST,
    Batch,
    Link,
    Part,
    PartNumbers,
    Reading,
    batches,
    entries,
    numbers,
    numbers_of,
    parts_of,
    reading_of,
    weighed,
    worked_out,
)
from gradcli.jacobian.sparse import (
    FEW,
    Diagonals,
    Entries,
    Matrix,
    Small,
    Sparse,
    add,
    as_arrays,
    gathered,
    identity,
    joined,
    multiply,
    nothing,
    scale,
    settle,
    shortened,
)
from gradcli.ops.declare import Array, value_of
from gradcli.ops.links import OUT
from gradcli.records import dataclass


class Jacobians(dict[int, Sparse]):
    """Jacobians of the output by nodes, by node index; those of a few entries become arrays when asked for."""

    def __init__(self, entries: dict[int, Entries]) -> None:
        super().__init__()
        self.entries = entries

    def __missing__(self, index: int) -> Sparse:
        self[index] = as_arrays(self.entries[index])
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
        result = self.links.get((node.index, argument))
        if result is not None:
            return [one.part if isinstance(one, PartNumbers) else one for one in result]
        if any(batch.holds(node, argument) for batch in self.batches):
            return parts_of(node, argument, reading_of(node), node.value.size)
        return None

    def read(self, node: Operation, argument: int) -> list[PartNumbers]:
        """Return the local Jacobian of a node by one argument with its numbers, where it is in no batch."""
        with np.errstate(all="ignore"):
            reading = reading_of(node)
            result = self.links[node.index, argument]
            return [one if isinstance(one, PartNumbers) else worked_out(reading, one) for one in result]

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
    result = [Sparse(one.part.rows, one.part.columns, one.values, one.sizes, (rows, columns)) for one in parts]
    return gathered(result, (rows, columns))


def as_small(reading: Reading, parts: list[Part], shape: tuple[int, int]) -> Small | None:
    """Return a local Jacobian of a few entries as lists."""
    rows: list[int] = []
    columns: list[int] = []
    result: list[float] = []
    grown: list[float] = []
    for part in parts:
        values, sizes = numbers(reading, part)
        rows += part.rows.tolist()
        columns += part.columns.tolist()
        result += listed(values, len(part.rows))
        grown += listed(sizes, len(part.rows))
    return joined(Small(rows, columns, result, grown, shape))


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
        self.totals: dict[int, Entries] = {}
        self.diagonals: Iterator[tuple[Diagonals, int] | None] = iter(())
        self.links: dict[tuple[int, int], Sequence[PartNumbers | Part]] = {}
        self.batches: list[Batch] = []
        self.work = self.elements = 0

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
        self.totals |= {index: settle(total, self.few) for index, total in reached.items()}

    def _along(self, node: Operation, k: int, total: Matrix) -> Matrix:
        """Return the Jacobian by one argument of a node, through this node alone."""
        outer = self.totals[node.index] = settle(total, self.few)
        diagonal = next(self.diagonals)
        if diagonal is None:
            inner = self.read(node, k)
            self.work += len(inner.rows)
            part = multiply(outer, inner, self.most, self.few)
        else:
            width = len(diagonal[0].where)
            self.work += width
            self.elements += KEPT * width
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
            self.elements += KEPT * count
            return inner
        result = [worked_out(reading, part) for part in parts]
        self.links[node.index, k] = result
        self.elements += elements_of(result)
        return as_sparse(result, *shape)

    def _charge(self, entries: int) -> None:
        """Refuse so many entries of a Jacobian where all pass the graph's budget, or its time is over."""
        self.work += entries
        self.elements += KEPT * entries
        if self.graph is None:
            return
        self.graph.meter.watch()
        if self.elements > SHARE * self.graph.budget.total:
            raise over_budget("total", self.graph.budget.total, f"{self.elements:,} numbers of local Jacobians")


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
    result = Jacobians(walk.totals)
    size = int(np.size(output.value)) if isinstance(output, Node) else int(np.size(output))
    for leaf in wrt:
        result[leaf.index] = (
            result[leaf.index] if leaf.index in walk.totals else nothing(size, int(np.size(leaf.value)))
        )
    return Composition(result, nodes, walk.work, walk.links, walk.batches)


STEP = 2.0**-26
"""How far a value is moved, as a share of what it may be off by, to see how much a derivative depends on it.

√ε: half of the digits go to the difference, and half to what the formula's bend adds.
"""
Doubts = Mapping[int, Array]
"""By how many units of its last digit each entry of a value may be off, in flat order, by the index of its node."""


def sizes_with_rounding(graph: Graph, output: Node, leaf: Node, sizes: Array) -> Array:
    """Return the sizes of the terms of each entry of J by an input, the rounding inside of all values counted.

    ``sizes`` are those without, one for each place of J in its order; they are returned where the others take more than
    the budget of the graph.
    """
    nodes, most = reaches(output), graph.budget.jacobian
    try:
        walk = _Rounded(graph, round_values(nodes, most))
        with np.errstate(all="ignore"):
            walk.run(output, [node for node in reversed(nodes) if node.index >= leaf.index])
    except GivenUp:
        raise
    except GradcliError as error:
        if error.kind != "budget":
            raise
        return sizes
    result = as_arrays(walk.totals[leaf.index]).sizes
    return sizes if result is None or result.shape != sizes.shape else result


def sizes_of_output(graph: Graph, output: Node) -> tuple[Array, Array]:
    """Return the sizes of the terms of each entry of y, in flat order: of its own op alone, and with all rounding."""
    if not isinstance(output, Operation):
        return np.zeros(np.size(output.value)), np.zeros(np.size(output.value))
    most = graph.budget.jacobian
    rounded = round_values(reaches(output), most)
    with np.errstate(all="ignore"):
        return terms_of(output, reading_of(output), most), rounded[output.index]


class _Rounded(Composing):
    """A walk back from the output in which each local Jacobian is as unsure as the values that it is made of."""

    def __init__(self, graph: Graph, doubts: Doubts) -> None:
        super().__init__(graph, graph.budget.jacobian)
        self.few = -1  # no Jacobian goes as lists or in a batch, which read their numbers by themselves
        self.doubts = doubts

    def read(self, node: Operation, k: int) -> Entries:
        """Return the local Jacobian of a node by an argument."""
        reading = reading_of(node)
        result = [
            PartNumbers(one.part, one.values, one.sizes + doubt_of_part(node, reading, one.part, self.doubts))
            for one in read_parts(node, k, reading, self.most)
        ]
        return as_sparse(result, node.value.size, node.arguments[k].value.size)


def read_parts(node: Operation, k: int, reading: Reading, most: int) -> list[PartNumbers]:
    """Return the local Jacobian of a node by an argument with its numbers."""
    return [worked_out(reading, part) for part in parts_of(node, k, reading, most)]


def round_values(nodes: Sequence[Node], most: int) -> Doubts:
    """Return how far rounding may have moved each value that is computed."""
    result: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        for node in nodes:
            if isinstance(node, Operation):
                result[node.index] = or_zero(round_value(node, result, most))
    return result


def round_value(node: Operation, doubts: Doubts, most: int) -> Array:
    """Return what an op adds by its own rounding, and what it hands on of that of its arguments.

    An op that works entry by entry is right to its last digit, one that adds up has the rounding of its terms, and one
    that takes a matrix apart may have that of the largest entry in all of it.
    """
    op, reading = node.op, reading_of(node)
    rounding = np.zeros(reading.out.size) if op.entries.moves else np.abs(np.ravel(reading.out)).astype(np.float64)
    if op.formula is None and not op.entries.moves:
        rounding += terms_of(node, reading, most)
    if op.formula is None and op.digits is not None:
        rounding = largest_in_each(rounding.reshape(np.shape(reading.out)))
    handed_on = (
        doubt_at(node, 0, doubts) if op.exact.pieces is not None and op.exact.pieces.held else np.zeros(rounding.size)
    )
    for k, one in linked(node, reading, most):
        slopes = np.abs(or_zero(one.values))
        handed_on = handed_on + np.bincount(
            one.part.rows, slopes * doubt_at(node, k, doubts)[one.part.columns], rounding.size
        )
    return handed_on + rounding


def terms_of(node: Operation, reading: Reading, most: int) -> Array:
    """Return how large the terms of each entry of a value are: Σ |∂out/∂a|·|a| over the entries of its arguments."""
    terms = np.zeros(np.size(node.value))
    for k, one in linked(node, reading, most):
        numbers = np.abs(np.ravel(reading.values[k])[one.part.columns])
        terms = terms + np.bincount(one.part.rows, np.abs(or_zero(one.values)) * numbers, terms.size)
    return terms


def largest_in_each(numbers: Array) -> Array:
    """Return the largest entry of each matrix of a batch in place of all of its entries, in flat order."""
    axes = tuple(range(numbers.ndim))[-2:]
    return np.ravel(np.broadcast_to(np.max(numbers, axes, keepdims=True, initial=0.0), numbers.shape))


def linked(node: Operation, reading: Reading, most: int) -> Iterator[tuple[int, PartNumbers]]:
    """Yield the parts of the local Jacobians of a node, each with the number of its argument."""
    for k in range(len(node.arguments)):
        if node.op.vjp(k) is not None:
            for part in read_parts(node, k, reading, most):
                yield k, part


def doubt_at(node: Operation, slot: int, doubts: Doubts) -> Array:
    """Return how far an argument of a node, or its own value, may be off.

    Inputs are what they are. An array of constants may have been computed: it may be off by its largest entry's last
    digit. What an op works out on the way has no doubt of its own here.
    """
    if slot < OUT:
        return np.zeros(1)
    value = node if slot == OUT else node.arguments[slot]
    if isinstance(value, Node):
        return doubts.get(value.index, np.zeros(np.size(value.value)))
    numbers = np.ravel(value_of(value))
    computed = numbers.size > 1 and bool(np.any(numbers != np.trunc(numbers)))
    return np.full(numbers.size, np.max(np.abs(or_zero(numbers)), initial=0.0) if computed else 0.0)


def doubt_of_part(node: Operation, reading: Reading, part: Part, doubts: Doubts) -> Array:
    """Return how far each entry of a local Jacobian may be off, as the values in its formula may be."""
    template = part.template
    chosen = [numbers_of(reading, part, *bound) for bound in part.bound]
    off = np.zeros(len(part.rows))
    for k in template.used:
        slot, where = part.bound[k]
        doubt = doubt_at(node, slot, doubts)
        if np.any(doubt):
            moved = [*chosen]
            moved[k] = chosen[k] + STEP * entries(doubt, where)
            off += np.abs(or_zero(template.value(moved) - template.value(chosen))) / STEP
    return np.asarray(weighed(np.abs(part.weight), off))


def or_zero(numbers: Array) -> Array:
    """Return numbers with 0 for those that are not finite: such a one excuses nothing."""
    return np.where(np.isfinite(numbers), numbers, 0.0)
