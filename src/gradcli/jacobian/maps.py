"""Local Jacobians as linear maps: applied to vectors, and never listed where subscripts say them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.jacobian.contracting import Named, along_line, arranged, contract, named
from gradcli.jacobian.factors import Template, separated, template_of
from gradcli.jacobian.kinds import constant_of
from gradcli.jacobian.local import (
    PartNumbers,
    Reading,
    links_of,
    part_of,
    reading_of,
    require_few,
    slot_array,
    worked_out,
)
from gradcli.jacobian.sparse import Sparse, summing, times
from gradcli.ops.declare import Array
from gradcli.ops.links import Contraction, Indices, Links, listed
from gradcli.ops.signatures import Mask


@dataclass(frozen=True, slots=True)
class Vectors:
    """Several vectors, one in each row of ``values``; ``sizes`` and ``reached`` belong to their entries."""

    values: Array
    sizes: Array
    reached: Mask

    def __add__(self, other: Vectors) -> Vectors:
        """Return the sums, vector by vector."""
        return Vectors(self.values + other.values, self.sizes + other.sizes, self.reached | other.reached)

    def through(
        self, numbers: Callable[[Array], Array], sizes: Callable[[Array], Array], places: Callable[[Array], Array]
    ) -> Vectors:
        """Return what three linear maps make of values, sizes and places."""
        return Vectors(numbers(self.values), sizes(self.sizes), places(self.reached.astype(np.float64)) > 0)

    def sparse(self) -> Sparse:
        """Return the vectors as the rows of a matrix of the entries that can be other than 0."""
        rows, columns = np.nonzero(self.reached)
        shape = (len(self.values), self.values.shape[1])
        return Sparse(rows, columns, self.values[rows, columns], self.sizes[rows, columns], shape)


def vectors(values: Array) -> Vectors:
    """Return vectors as they are given: no entry is the result of a sum, and one that is 0 counts as out of reach."""
    return Vectors(values, np.abs(values), values != 0)


def nowhere(count: int, length: int) -> Vectors:
    """Return vectors of zeros that nothing reaches."""
    return Vectors(np.zeros((count, length)), np.zeros((count, length)), np.zeros((count, length), dtype=bool))


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a local Jacobian by its entries."""

    local: PartNumbers
    shape: tuple[int, int]

    def back(self, rows: Vectors) -> Vectors:
        """Return rows of ∂y/∂out times this part."""
        return self._moved(rows, self.local.part.rows, self.local.part.columns, self.shape[1])

    def forth(self, columns: Vectors) -> Vectors:
        """Return this part times columns of ∂argument/∂x."""
        return self._moved(columns, self.local.part.columns, self.local.part.rows, self.shape[0])

    def _moved(self, vectors: Vectors, source: Indices, target: Indices, length: int) -> Vectors:
        sums = summing(target, length)

        def weighed(by: Array | float) -> Callable[[Array], Array]:
            return lambda array: np.stack([sums(times(each[source], by)) for each in array])

        return vectors.through(weighed(self.local.values), weighed(self.local.sizes), weighed(1.0))


@dataclass(frozen=True, slots=True)
class Contracted:
    """A part of a local Jacobian by its subscripts: ``factors`` are arrays, ``sizes`` those of their terms.

    ``digits`` is by how much rounding grows in each entry of the output, if that is more.
    """

    links: Contraction
    weight: float
    factors: list[Named]
    sizes: list[Named]
    digits: Named | None

    def back(self, rows: Vectors) -> Vectors:
        """Return rows of ∂y/∂out times this part."""
        return self._moved(rows, self.links.rows, self.links.columns, back=True)

    def forth(self, columns: Vectors) -> Vectors:
        """Return this part times columns of ∂argument/∂x."""
        return self._moved(columns, self.links.columns, self.links.rows, back=False)

    def _moved(self, vectors: Vectors, source: str, target: str, back: bool) -> Vectors:
        def through(array: Array, factors: Sequence[Named]) -> Array:
            return self._through(array, factors, source, target, back)

        def sizes(array: Array) -> Array:
            found = abs(self.weight) * through(array, self.sizes)
            return found if self.digits is None else found + through(array, [self.digits])

        return vectors.through(
            lambda array: self.weight * through(array, self.factors), sizes, lambda array: through(array, [])
        )

    def _through(self, array: Array, factors: Sequence[Named], source: str, target: str, back: bool) -> Array:
        """Return vectors over ``source`` times the factors, summed into vectors over ``target``."""
        count = len(array)
        found = named(array.reshape(count, *self.links.shape_of(source)), EACH + source)
        line, left = self.links.line, list(factors)
        if line is not None:
            near, far = (line.row, line.column) if back else (line.column, line.row)
            here = [factor for factor in left if far not in factor.letters]
            left = [factor for factor in left if far in factor.letters]
            found = contract(found, here, EACH + near + target + "".join(factor.letters for factor in left))
            turned = along_line(found.array, found.letters.index(near), line.order, back)
            found = Named(turned, found.letters.replace(near, far))
        found = contract(found, left, EACH + target)
        whole = arranged(found, EACH + target, {EACH: count, **self.links.lengths})
        return whole.reshape(count, -1)


EACH = "*"
"""The letter of the axis along which vectors stand side by side."""
Map = Listed | Contracted


@dataclass(frozen=True, slots=True)
class LocalJacobian:
    """∂node/∂argument as a linear map between flat vectors: the sum of its ``parts``."""

    parts: list[Map]
    shape: tuple[int, int]

    def back(self, rows: Vectors) -> Vectors:
        """Return rows of ∂y/∂node times this."""
        return sum([part.back(rows) for part in self.parts], nowhere(len(rows.values), self.shape[1]))

    def forth(self, columns: Vectors) -> Vectors:
        """Return this times columns of ∂argument/∂x."""
        return sum([part.forth(columns) for part in self.parts], nowhere(len(columns.values), self.shape[0]))


def local_jacobian(node: Operation, argument: int, most: int) -> LocalJacobian:
    """Return the local Jacobian of a node by one argument, with its numbers.

    Raises ``budget`` where it takes more than ``most`` operations to read it.
    """
    reading, constants = reading_of(node), tuple([constant_of(a) for a in node.arguments])
    shape = (node.value.size, node.arguments[argument].value.size)
    parts: list[Map] = []
    for links in affordable_links(reading, argument, most):
        if isinstance(links, Contraction) and (factors := separated(template_of(links, ()))):
            parts.append(contracted(reading, links, *factors))
        else:
            part = part_of(listed(links), template_of(links, constants))
            parts.append(Listed(worked_out(reading, part), shape))
    return LocalJacobian(parts, shape)


def count_listed(node: Operation, argument: int, most: int) -> int:
    """Return how many entries of a local Jacobian are listed, without their numbers; raises ``budget`` as that does."""
    return sum(
        len(listed(links).rows)
        for links in affordable_links(reading_of(node), argument, most)
        if isinstance(links, Links) or separated(template_of(links, ())) is None
    )


def affordable_links(reading: Reading, argument: int, most: int) -> Sequence[Links | Contraction]:
    """Return the links of an op by one argument; raises ``budget`` for more than ``most`` operations to read them."""
    if reading.op.terms is not None:
        require_few(reading, int(reading.op.terms(*reading.values, **reading.static)), most)
    return links_of(reading, argument)


def contracted(reading: Reading, links: Contraction, weight: float, templates: Sequence[Template]) -> Contracted:
    """Return a contraction with its numbers, whose factor is ``weight`` times a template of one symbol each."""
    factors, sizes = [], []
    for (slot, subscripts), template in zip(links.bound, templates, strict=True):
        array = np.asarray(slot_array(reading, links, slot)).reshape(links.shape_of(subscripts))
        value = np.broadcast_to(template.value([array]), array.shape)
        size = np.abs(value) if template.size is None else np.broadcast_to(template.size([array]), array.shape)
        factors.append(named(value, subscripts))
        sizes.append(named(size, subscripts))
    digits = None
    if reading.op.digits is not None:
        grown = reading.op.digits(reading.out, *reading.values, **reading.static)
        summed = math.prod(n for letter, n in links.lengths.items() if letter not in links.rows + links.columns)
        digits = named(summed * np.broadcast_to(grown, np.shape(reading.out)), links.rows)
    line = links.line
    if line is not None and (line.row not in links.rows or line.column not in links.columns):
        allowed = named(line.allowed(links.lengths[line.row]), line.letters)
        links, factors, sizes = replace(links, line=None), [*factors, allowed], [*sizes, allowed]
    return Contracted(links, float(links.weight) * weight, factors, sizes, digits)
