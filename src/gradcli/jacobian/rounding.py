"""How large the terms behind the entries of J are, with those inside of the values that derivatives are made of.

An entry of ``inv(A)`` that is 0 comes out as 1e-17, and so does the derivative of ``inv(A) @ b`` that it is.
Composition takes the number for its own size; here what rounding may have left in each value is followed along the
graph, to first order (running error analysis: Wilkinson 1963), in units of the last digit, as sizes of terms are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradcli.engine.graph import Node, Operation, reaches
from gradcli.errors import GradcliError
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
"""How far a value is moved, as a share of what it may be off by, to see how much a derivative depends on it."""
Rounding = Mapping[int, Array]
"""By how many units of its last digit each entry of a value may be off, in flat order, by the index of its node."""


def sizes_with_rounding(output: Node, leaf: Node, sizes: Array, most: int) -> Array:
    """Return the sizes of the terms of each entry of J by an input, the rounding inside of all values counted.

    ``sizes`` are those without; they are returned where the others take more than ``most`` products of entries.
    """
    nodes = reaches(output)
    try:
        walk = _Rounded(round_values(nodes, most), most)
        with np.errstate(all="ignore"):
            walk.run(output, [node for node in reversed(nodes) if node.index >= leaf.index])
    except GradcliError:
        return sizes
    found = as_arrays(walk.found[leaf.index]).sizes
    return sizes if found is None or found.shape != sizes.shape else np.maximum(sizes, found)


class _Rounded(Composing):
    """A walk back from the output in which each local Jacobian is as unsure as the values that it is made of."""

    def __init__(self, rounding: Rounding, most: int) -> None:
        super().__init__(None, most)
        self.few = -1
        self.rounding = rounding

    def read(self, node: Operation, k: int) -> Entries:
        """Return the local Jacobian of a node by an argument."""
        reading = reading_of(node)
        found = [
            PartNumbers(one.part, one.values, one.sizes + doubt(node, reading, one.part, self.rounding))
            for one in read_parts(node, k, reading, self.most)
        ]
        return as_sparse(found, node.value.size, node.arguments[k].value.size)


def read_parts(node: Operation, k: int, reading: Reading, most: int) -> list[PartNumbers]:
    """Return the local Jacobian of a node by an argument with its numbers."""
    return [worked_out(reading, part) for part in parts_of(node, k, reading, most)]


def round_values(nodes: Sequence[Node], most: int) -> Rounding:
    """Return how far rounding may have moved each value that is computed; inputs and literals are what they are."""
    found: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        for node in nodes:
            if isinstance(node, Operation):
                found[node.index] = finite(round_value(node, found, most))
    return found


def round_value(node: Operation, earlier: Rounding, most: int) -> Array:
    """Return what an op adds by its own rounding, and what it hands on of that of its arguments.

    An op that works entry by entry is right to its last digit, one that adds up has the rounding of its terms, and one
    that takes a matrix apart may have that of the largest entry in all of them.
    """
    op, reading = node.op, reading_of(node)
    count = np.size(node.value)
    own = np.zeros(count) if op.moves else np.abs(np.ravel(node.value)).astype(np.float64)
    handed_on = np.zeros(count)
    for k, one in linked(node, reading, most):
        rows, columns, slopes = one.part.rows, one.part.columns, np.abs(finite(one.values))
        unsure = earlier.get(getattr(node.arguments[k], "index", -1))
        if unsure is not None:
            handed_on += np.bincount(rows, slopes * unsure[columns], count)
        if op.formula is None and not op.moves:
            own += np.bincount(rows, slopes * np.abs(np.ravel(value_of(node.arguments[k]))[columns]), count)
    apart = op.formula is None and op.digits is not None
    return handed_on + (np.max(own, initial=0.0) if apart else own)


def linked(node: Operation, reading: Reading, most: int) -> Iterator[tuple[int, PartNumbers]]:
    """Yield the parts of the local Jacobians of a node, each with the number of its argument."""
    for k in range(len(node.arguments)):
        if node.op.vjp(k) is not None:
            for part in read_parts(node, k, reading, most):
                yield k, part


def doubt(node: Operation, reading: Reading, part: Part, rounding: Rounding) -> Array:
    """Return how far each entry of a local Jacobian may be off, as the values in its formula may be."""
    template, count = part.template, len(part.rows)
    chosen = [numbers_of(reading, part, *bound) for bound in part.bound]
    off = np.zeros(count)
    for k in template.used:
        slot, where = part.bound[k]
        index = node.index if slot == OUT else getattr(node.arguments[slot], "index", -1) if slot >= 0 else -1
        if index in rounding:
            moved = [*chosen]
            moved[k] = chosen[k] + STEP * entries(rounding[index], where)
            off += np.abs(finite(template.value(moved) - template.value(chosen))) / STEP
    return np.asarray(weighed(np.abs(part.weight), off))


def finite(numbers: Array) -> Array:
    """Return numbers with 0 for those that are not finite: such a one excuses nothing."""
    return np.where(np.isfinite(numbers), numbers, 0.0)
