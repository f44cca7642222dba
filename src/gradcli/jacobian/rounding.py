"""How large the terms behind the entries of J are, with those inside of the values that derivatives are made of.

An entry of ``inv(A)`` that is 0 comes out as 1e-17, and so does the derivative of ``inv(A) @ b`` that it is.
Composition takes the number for its own size; here what rounding may have left in each value is followed along the
graph, to first order (running error analysis: Wilkinson 1963), in units of the last digit, as sizes of terms are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.reach import reaches
from gradcli.errors import GivenUp, GradcliError
from gradcli.jacobian.composition import Composing, as_sparse
from gradcli.jacobian.local import (
    Part,
    PartNumbers,
    Reading,
    entries,
    numbers_of,
    parts_of,
    reading_of,
    weighed,
    worked_out,
)
from gradcli.jacobian.matrix import Entries, as_arrays
from gradcli.ops.declare import Array, value_of
from gradcli.ops.links import OUT

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
    found = as_arrays(walk.found[leaf.index]).sizes
    return sizes if found is None or found.shape != sizes.shape else found


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
        found = [
            PartNumbers(one.part, one.values, one.sizes + doubt_of_part(node, reading, one.part, self.doubts))
            for one in read_parts(node, k, reading, self.most)
        ]
        return as_sparse(found, node.value.size, node.arguments[k].value.size)


def read_parts(node: Operation, k: int, reading: Reading, most: int) -> list[PartNumbers]:
    """Return the local Jacobian of a node by an argument with its numbers."""
    return [worked_out(reading, part) for part in parts_of(node, k, reading, most)]


def round_values(nodes: Sequence[Node], most: int) -> Doubts:
    """Return how far rounding may have moved each value that is computed."""
    found: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        for node in nodes:
            if isinstance(node, Operation):
                found[node.index] = or_zero(round_value(node, found, most))
    return found


def round_value(node: Operation, doubts: Doubts, most: int) -> Array:
    """Return what an op adds by its own rounding, and what it hands on of that of its arguments.

    An op that works entry by entry is right to its last digit, one that adds up has the rounding of its terms, and one
    that takes a matrix apart may have that of the largest entry in all of it.
    """
    op, reading = node.op, reading_of(node)
    own = np.zeros(reading.out.size) if op.moves else np.abs(np.ravel(reading.out)).astype(np.float64)
    if op.formula is None and not op.moves:
        own += terms_of(node, reading, most)
    if op.formula is None and op.digits is not None:
        own = largest_in_each(own.reshape(np.shape(reading.out)))
    handed_on = doubt_at(node, 0, doubts) if op.pieces is not None and op.pieces.held else np.zeros(own.size)
    for k, one in linked(node, reading, most):
        slopes = np.abs(or_zero(one.values))
        handed_on = handed_on + np.bincount(
            one.part.rows, slopes * doubt_at(node, k, doubts)[one.part.columns], own.size
        )
    return handed_on + own


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
